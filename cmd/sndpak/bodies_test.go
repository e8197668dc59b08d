package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/lint"
	"github.com/sndpak/sndpak/soundpack"
)

// What entries share is looked into once for each extension that says something, and overlaps do not
// make a small pack a long job.
func TestBodiesOnce(t *testing.T) {
	record := func(name string, off, size int) []byte {
		b := make([]byte, 28)
		copy(b, name)
		for i := range 4 {
			b[20+i], b[24+i] = byte(off>>(8*i)), byte(size>>(8*i))
		}
		return b
	}
	const size = 1 << 20
	var same, overlaps []byte
	for i := range 100 {
		same = append(same, record(fmt.Sprintf("%d.%s", i, []string{"wav", "ogg", "txt", "bin"}[i%4]), 0, size)...)
		overlaps = append(overlaps, record(fmt.Sprint(i, ".wav"), i, size-i)...)
	}
	for _, c := range []struct {
		what  string
		index []byte
		looks int // at wav, ogg and what is neither
		found int
	}{{"the same", same, 3, 100}, {"overlaps", overlaps, 64, 100}} {
		dir := t.TempDir()
		path := filepath.Join(dir, "music.data")
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "music.inx"), c.index, 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := soundpack.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		once, looks, found := newBodies(p), 0, 0
		for e := range p.Entries() {
			f, err := p.OpenEntry(e)
			if err != nil {
				t.Fatal(err)
			}
			found += len(once.check(f, func(f *soundpack.File) []soundpack.Finding {
				looks++
				return []soundpack.Finding{{Kind: "sound", Text: "found"}}
			}))
			f.Close()
		}
		if looks != c.looks || found != c.found {
			t.Errorf("%s: %d looks and %d findings, want %d and %d", c.what, looks, found, c.looks, c.found)
		}
	}
}

// Each of the names that the same bytes have is measured as if it had its own.
func TestLintOfSharedBytes(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	if err := os.Mkdir(src, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.wav", "b.wav", "c.ogg", "d"} {
		if err := os.WriteFile(filepath.Join(src, name), tone(8000, 4000, 440), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	pack := filepath.Join(dir, "p.data")
	if status, _, errs := sndpak(t, "create", pack, src); status != 0 {
		t.Fatal(errs)
	}
	p, err := soundpack.Open(pack, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, err := lintPack(t.Context(), p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprint([]lint.Format{{Format: "wav", Entries: 4, Bytes: 4 * 8044, Seconds: 2}}); fmt.Sprint(r.Formats) != want || r.Median == nil {
		t.Errorf("formats %v, want %s; median %v", r.Formats, want, r.Median)
	}
	for _, f := range r.Findings {
		if f.Rule == "same-sound" {
			t.Errorf("the same bytes are told for the same sound: %+v", f)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "1": 1, "4096": 4096, "2k": 2048, "500M": 500 << 20, "20GiB": 20 << 30, "3TB": 3 << 40,
		"0": -1, "-5": -1, "many": -1, "5X": -1, "G": -1, "9000000T": -1, "1.5G": -1, "5KK": -1,
	} {
		got, err := parseBytes(text)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}
