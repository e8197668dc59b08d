package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sndpak/sndpak/player"
	"github.com/sndpak/sndpak/soundpack"
)

// held are what a process holds of the system: open files, mappings of a pack, goroutines.
type held struct{ files, maps, goroutines int }

func holds(t *testing.T, pack string) held {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("needs /proc: %v", err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return held{len(files), bytes.Count(maps, []byte(pack)), runtime.NumGoroutine()}
}

// F33: ten thousand starts, stops and seeks, and a thousand reloads of a pack, leave open files,
// mappings and goroutines as they were. All of them with SNDPAK_SOAK alone; in CI there are a tenth.
func TestHeldStaysFlat(t *testing.T) {
	starts, reloads := 200, 20
	if os.Getenv("SNDPAK_CI") != "" {
		starts, reloads = 1000, 100
	}
	if os.Getenv("SNDPAK_SOAK") != "" {
		starts, reloads = 10000, 1000
	}
	path := filepath.Join(t.TempDir(), "flat.data")
	copyFile(t, music, path)
	copyFile(t, "../../testdata/music.inx", filepath.Join(filepath.Dir(path), "flat.inx"))
	open := func() *soundpack.Pack {
		p, err := soundpack.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	pack := open()
	p := player.New(pack, &player.Options{Ahead: 20 * time.Millisecond})
	names := []string{"jaguar.wav", "theme.ogg", "swish.wav", "theme.mp3", "drumloop.wav"}
	rnd := rand.New(rand.NewPCG(1, 2))
	block := make([]float32, 2*256)
	play := func(i int) {
		s, err := p.Load(names[i%5], player.Mode(rnd.IntN(3)))
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Play(player.Params{Loop: &player.Loop{}, Gain: -20})
		if err != nil {
			t.Fatal(err)
		}
		p.Mix(block)
		if err := v.SeekTo(rnd.Int64N(s.Frames())); err != nil {
			t.Fatal(err)
		}
		p.Mix(block)
		v.Stop(0)
		s.Unload()
		p.Mix(block)
		p.Mix(block)
		p.Mix(block)
	}
	reload := func() {
		next := open()
		if err := p.Reload(next, player.ReloadOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := pack.Close(); err != nil {
			t.Fatal(err)
		}
		pack = next
	}
	for i := range 100 { // whatever is made once
		play(i)
	}
	reload()
	before := settled(t, path, p, nil)
	for i := range starts {
		play(i)
		if i%(starts/reloads) == 0 {
			reload()
		}
	}
	after := settled(t, path, p, &before)
	if after.files > before.files || after.maps > before.maps || after.goroutines > before.goroutines {
		t.Errorf("holds %+v after %d starts and %d reloads, before %+v", after, starts, reloads, before)
	}
	if st := p.Stats(); st.Clips.Held != 0 || st.Clips.Loading != 0 {
		t.Errorf("%d clips held, %d loading, want none", st.Clips.Held, st.Clips.Loading)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := pack.Close(); err != nil {
		t.Error(err)
	}
	if h := holds(t, path); h.maps != 0 {
		t.Errorf("%d mappings after Close", h.maps)
	}
}

// settled is what is held once all voices are over and their goroutines gone; with want, once it is no
// more than that, for which it waits as long as a test may.
func settled(t *testing.T, path string, p *player.Player, want *held) (h held) {
	t.Helper()
	block := make([]float32, 2*256)
	for range 2000 {
		p.Mix(block)
		h = holds(t, path)
		voices := p.Stats().Voices
		if voices == 0 && (want == nil && len(p.Voices()) == 0 || want != nil && h.files <= want.files && h.maps <= want.maps && h.goroutines <= want.goroutines) {
			if want == nil {
				time.Sleep(50 * time.Millisecond)
				h = holds(t, path)
			}
			return h
		}
		time.Sleep(5 * time.Millisecond)
	}
	return h
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o666)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("copy: %w", err))
	}
}
