package player

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sndpak/sndpak/soundpack/content"
)

// many is a file system of n sounds of a second of mono float each, 192,000 bytes.
func many(n int) fstest.MapFS {
	data := floatWAV(48000, 1, sine(440, 48000, 48000, 0.1))
	m := fstest.MapFS{}
	for i := range n {
		m[fmt.Sprintf("%d.wav", i)] = &fstest.MapFile{Data: data}
	}
	return m
}

const manyBytes = 192000 + 512 // what one of them costs

// Clips that nobody plays go where room is wanted, the one used longest ago first; those that are
// loaded or heard do not.
func TestBudget(t *testing.T) {
	c := &countingFS{FS: many(10)}
	p := New(c, &Options{InStep: true, Budget: 3 * manyBytes})
	defer p.Close()
	keep := load(t, p, "0.wav", Auto)
	heard := load(t, p, "1.wav", Auto)
	v := start(t, heard, Params{})
	heard.Unload()
	for i := 2; i < 10; i++ {
		load(t, p, fmt.Sprintf("%d.wav", i), Auto).Unload()
	}
	st := p.Stats().Clips
	if st.Used > st.Budget || st.Held != 2 || st.Evicted != 7 || st.Loads != 10 {
		t.Errorf("%+v, want 2 held, 7 evicted, 10 loads", st)
	}
	load(t, p, "0.wav", Memory).Unload()
	load(t, p, "9.wav", Auto).Unload()
	if again := p.Stats().Clips.Loads; again != 10 {
		t.Errorf("%d loads, want 10: what is kept was loaded anew", again)
	}
	// With no room left Auto streams, and Memory says why not.
	other := load(t, p, "2.wav", Auto)
	if s := load(t, p, "3.wav", Auto); s.Clip() != nil || start(t, s, Params{}) == nil {
		t.Error("a sound without room does not stream")
	}
	if _, err := p.Load("4.wav", Memory); !errors.Is(err, content.ErrBudget) || !strings.Contains(err.Error(), "4.wav") {
		t.Errorf("%v, want content.ErrBudget and the name", err)
	}
	other.Unload()
	pull(p, 48000) // what is heard ends
	<-v.Done()
	if st := p.Stats().Clips; st.Held != 1 {
		t.Errorf("%d held after the end, want 1", st.Held)
	}
	if _, err := heard.Play(Params{}); !errors.Is(err, ErrClosed) {
		t.Errorf("Play after Unload: %v, want ErrClosed", err)
	}
	keep.Unload()
	if err := p.Close(); err != nil || c.open.Load() != 0 {
		t.Errorf("Close: %v, %d files open", err, c.open.Load())
	}
}

// Memory of clips that went is used again; that of those heard, or given out by Sound.Clip, is not.
func TestMemoryIsUsedAgainOnlyWhenFree(t *testing.T) {
	const frames = 48000
	level := func(i int) float32 { return float32(i+1) / 64 }
	fsys := fstest.MapFS{}
	for i := range 8 {
		fsys[fmt.Sprintf("%d.wav", i)] = &fstest.MapFile{Data: floatWAV(48000, 1, slicesRepeat(level(i), frames))}
	}
	p := New(fsys, &Options{Rate: 48000, InStep: true, NoLimiter: true, Budget: 3 * manyBytes})
	defer p.Close()
	given := load(t, p, "1.wav", Memory)
	clip := given.Clip()
	given.Unload()
	if given.Clip() != nil {
		t.Error("an unloaded sound gives a clip")
	}
	heard := load(t, p, "0.wav", Memory)
	start(t, heard, Params{})
	heard.Unload()
	for i := 0; i < frames; i += 480 {
		n := 2 + i/480%6
		s := load(t, p, fmt.Sprintf("%d.wav", n), Memory)
		if got := s.asset().clip.pcm.F32[i]; got != level(n) {
			t.Fatalf("frame %d of %d.wav is %v, want %v", i, n, got, level(n))
		}
		s.Unload()
		for k, x := range pull(p, 480) {
			if i+k/2 > 480 && x != level(0) {
				t.Fatalf("frame %d heard is %v, want %v", i+k/2, x, level(0))
			}
		}
	}
	if st := p.Stats().Clips; st.Evicted < 50 {
		t.Errorf("%d clips went, want most of them", st.Evicted)
	}
	var block [480][2]float64
	for in := clip.Streamer(); ; {
		n, ok := in.Stream(block[:])
		for i, f := range block[:n] {
			if f[0] != float64(level(1)) {
				t.Fatalf("frame %d of the clip given out is %v, want %v", i, f[0], level(1))
			}
		}
		if !ok {
			return
		}
	}
}

// slowFS opens its files only once it may.
type slowFS struct {
	fs.FS
	may   chan struct{}
	opens atomic.Int64
}

func (s *slowFS) Open(name string) (fs.File, error) {
	if s.opens.Add(1) > 1 {
		<-s.may
	}
	return s.FS.Open(name)
}

// Loads of one sound that come at a time are one.
func TestLoadsAreShared(t *testing.T) {
	p := New(many(1), &Options{InStep: true})
	defer p.Close()
	var loading sync.WaitGroup
	for i := range 8 {
		loading.Go(func() {
			mode := Mode(i % 2)
			if s, err := p.Load("0.wav", mode); err != nil || s.Clip() == nil {
				t.Error(err)
			}
		})
	}
	loading.Wait()
	if st := p.Stats().Clips; st.Loads != 1 || st.Held != 1 {
		t.Errorf("%+v, want one load, one held", st)
	}
}

func TestPreload(t *testing.T) {
	fsys := many(6)
	fsys["bad.wav"] = &fstest.MapFile{Data: []byte("no sound")}
	fsys["theme.ogg"] = file(t, "theme.ogg")
	p := New(fsys, &Options{InStep: true})
	defer p.Close()
	var seen []int
	err := p.Preload(context.Background(), []string{"0.wav", "1.wav", "bad.wav", "theme.ogg", "2.wav", "gone.wav"}, Auto, func(done, total int) {
		if total != 6 {
			t.Errorf("total %d, want 6", total)
		}
		seen = append(seen, done)
	})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "bad.wav") || strings.Contains(err.Error(), "2.wav") {
		t.Errorf("%v, want the faults of bad.wav and gone.wav", err)
	}
	if fmt.Sprint(seen) != "[1 2 3 4 5 6]" {
		t.Errorf("progress %v", seen)
	}
	load(t, p, "0.wav", Auto)
	load(t, p, "2.wav", Auto)
	if st := p.Stats().Clips; st.Loads != 3 || st.Items != 3 {
		t.Errorf("%+v, want 3 loads in all", st)
	}
}

// A preload that is canceled, or whose player closes, ends though its storage does not answer.
func TestPreloadEnds(t *testing.T) {
	for _, close := range []bool{false, true} {
		slow := &slowFS{FS: many(3), may: make(chan struct{})}
		p := New(slow, &Options{InStep: true})
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan error)
		go func() { over <- p.Preload(ctx, []string{"0.wav"}, Memory, nil) }()
		for slow.opens.Load() < 2 {
			time.Sleep(time.Millisecond)
		}
		if close {
			go p.Close()
		} else {
			cancel()
		}
		want := map[bool]error{false: context.Canceled, true: ErrClosed}[close]
		if !close {
			if err := <-over; !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		for close && !p.isClosed() {
			time.Sleep(time.Millisecond)
		}
		closeChan(slow.may)
		if close {
			if err := <-over; !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		cancel()
		p.Close()
	}
}

func closeChan(c chan struct{}) { close(c) }

// F13: reloads and Close race with whatever reads.
func TestReloadRacesReads(t *testing.T) {
	c := &countingFS{FS: sounds()}
	p := New(c, &Options{Rate: 44100})
	names := []string{"jaguar.wav", "theme.ogg", "drumloop.wav", "theme.mp3"}
	stop := make(chan struct{})
	var pulling, commanding sync.WaitGroup
	pulling.Go(func() {
		for block := make([]float32, 512); ; {
			select {
			case <-stop:
				return
			default:
				p.Mix(block)
			}
		}
	})
	for i := range 8 {
		commanding.Go(func() {
			for n := range 10 {
				s, err := p.Load(names[(i+n)%4], Auto)
				if err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
				if v, err := s.Play(Params{Loop: &Loop{}}); err == nil {
					v.SeekTo(int64(1000 * n))
					v.Stop(0)
				}
				s.Unload()
			}
		})
	}
	for i := range 20 {
		if err := p.Reload(c, ReloadOptions{Crossfade: time.Duration(i%2) * 10 * time.Millisecond}); err != nil {
			t.Error(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	commanding.Wait()
	close(stop)
	pulling.Wait()
	if n := c.open.Load(); n != 0 {
		t.Errorf("%d files open after Close", n)
	}
}

// A sound is loaded again and again while reloads bring one that is good and one that is not: whoever loads
// it gets the one or the other, and nothing stays open. One that somebody keeps stays good.
func TestReloadRacesLoads(t *testing.T) {
	for _, kept := range []bool{false, true} {
		t.Run(fmt.Sprintf("kept_%v", kept), func(t *testing.T) { reloadRacesLoads(t, kept) })
	}
}

func reloadRacesLoads(t *testing.T, kept bool) {
	good := &countingFS{FS: fstest.MapFS{"theme.ogg": file(t, "theme.ogg")}}
	bad := &countingFS{FS: fstest.MapFS{"theme.ogg": {Data: []byte("no sound")}}}
	p := New(good, &Options{InStep: true})
	if kept {
		load(t, p, "theme.ogg", Stream)
	}
	stop := make(chan struct{})
	var loading, reloading sync.WaitGroup
	reloading.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			// Its errors are those of bad sounds.
			_ = p.Reload([]fs.FS{good, bad}[i%2], ReloadOptions{})
		}
	})
	var failed atomic.Int64
	for range 4 {
		loading.Go(func() {
			for range 100 {
				s, err := p.Load("theme.ogg", Stream)
				if err != nil {
					failed.Add(1)
					continue
				}
				s.Unload()
			}
		})
	}
	loading.Wait()
	close(stop)
	reloading.Wait()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if n := failed.Load(); kept && n > 0 {
		t.Errorf("%d loads of a sound that is there failed", n)
	}
	if n := good.open.Load() + bad.open.Load(); n != 0 {
		t.Errorf("%d files open after Close", n)
	}
}
