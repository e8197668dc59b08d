package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/soundpack"
)

// A manifest that tells what is not so of its sounds is told by verify, and nothing plays or loops by it.
func TestManifestIsNotBelieved(t *testing.T) {
	src, err := soundpack.Sources([]string{filepath.Join(musicDir, "sounds")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what  string
		lie   func(f *soundpack.Facts)
		warns bool // that it is another sound
	}{
		{"the truth", func(*soundpack.Facts) {}, false},
		{"longer", func(f *soundpack.Facts) { f.Frames += 1000; f.Loop = [2]int64{0, f.Frames} }, true},
		{"another rate", func(f *soundpack.Facts) { f.Rate++ }, true},
		{"another format", func(f *soundpack.Facts) { f.Format = strings.Repeat("x", 1000) }, true},
		{"more channels", func(f *soundpack.Facts) { f.Channels = 8 }, true},
		{"more than there can be", func(f *soundpack.Facts) { f.Frames = 1<<63 - 1; f.Rate = 1 }, true},
	} {
		pack := filepath.Join(t.TempDir(), "p.data")
		lying := func(r io.ReaderAt, size int64) (soundpack.Facts, error) {
			f, err := soundFacts(r, size)
			if f.Format == "wav" && f.Rate == 22050 { // jaguar.wav
				c.lie(&f)
			}
			return f, err
		}
		if err := soundpack.Create(t.Context(), pack, src, &soundpack.CreateOptions{Facts: lying}); err != nil {
			t.Fatal(err)
		}
		for _, deep := range []string{"--deep=false", "--deep"} {
			status, out, errs := sndpak(t, "verify", pack, deep)
			const says = `"jaguar.wav" (entry 1, at 0x35dc4): the manifest tells of another sound: `
			if status != 0 || strings.Contains(out, says) != c.warns || strings.Count(out, "another sound") > 1 || len(out) > 1000 {
				t.Errorf("%s, %s: status %d, %s%s", c.what, deep, status, out, errs)
			}
		}
		if status, _, errs := sndpak(t, "render", pack, "jaguar.wav", "--loop", "2", "--hash"); status != 0 || errs != "" {
			t.Errorf("%s: render: status %d, %s", c.what, status, errs)
		}
		if status, out, _ := sndpak(t, "list", pack); status != 0 || c.what[:4] == "more" && c.what != "more channels" && !strings.Contains(out, "0:01.00  WAV, 16-bit PCM, 22.05 kHz mono") {
			t.Errorf("%s: list: status %d, %s", c.what, status, out)
		}
	}
}
