package console

import (
	"bytes"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// movingEngine has voices that go on and meters that jump with every look at it.
type movingEngine struct {
	*fakeEngine
	looks atomic.Int64
}

func (e *movingEngine) Snapshot(s *Snapshot) {
	look := e.looks.Add(1)
	for i := range e.snap.Playing {
		v := &e.snap.Playing[i]
		v.At = (v.At + 40*time.Millisecond) % v.Length
	}
	for i := range e.snap.Buses {
		level := 0.5 + 0.45*math.Sin(float64(look*int64(i+1)))
		e.snap.Buses[i].RMS, e.snap.Buses[i].Hold = [2]float64{level / 2, level / 3}, [2]float64{level, level}
	}
	e.snap.CPU = 0.03 + 0.01*float64(look%3)
	e.fakeEngine.Snapshot(s)
}

// wire is a terminal's line: what is written to it, a frame at a time.
type wire struct {
	mu     sync.Mutex // guards frames
	frames [][]byte
	more   chan struct{}
}

func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	w.frames = append(w.frames, bytes.Clone(b))
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (w *wire) wait(frames int) {
	for {
		w.mu.Lock()
		n := len(w.frames)
		w.mu.Unlock()
		if n >= frames {
			return
		}
		<-w.more
	}
}

// While voices play and meters move, only what changes is written: the screen is never cleared, the other
// screen of the terminal is entered once, and a frame is a few hundred bytes and allocations.
func TestFramesDoNotFlicker(t *testing.T) {
	for _, c := range []struct {
		w, h, most int // bytes of a frame; the whole screen is some three times w*h
	}{{80, 24, 800}, {160, 48, 1500}} {
		s, fake := newTestScreen(t, manyNames(500), c.w, c.h)
		e := &movingEngine{fakeEngine: fake}
		s.engine = e
		s.Update(waveMsg{name: s.list.chosen(), wave: testWave(testDetails("theme.ogg"))})
		in, hold := io.Pipe() // nobody types
		out := &wire{more: make(chan struct{}, 1)}
		p := tea.NewProgram(s, tea.WithContext(t.Context()), tea.WithInput(in), tea.WithOutput(out), tea.WithWindowSize(c.w, c.h),
			tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}), tea.WithFPS(30), tea.WithoutSignalHandler())
		done := make(chan error, 1)
		go func() { _, err := p.Run(); done <- err }()

		const first, frames = 10, 25
		var before, after runtime.MemStats
		out.wait(first)
		runtime.ReadMemStats(&before)
		looks := e.looks.Load()
		out.wait(first + frames)
		runtime.ReadMemStats(&after)
		looks = max(e.looks.Load()-looks, 1)
		p.Quit()
		hold.Close()
		if err := <-done; err != nil {
			t.Fatal(err)
		}

		all := string(bytes.Join(out.frames, nil))
		sum, largest := 0, 0
		for _, f := range out.frames[first : first+frames] {
			sum, largest = sum+len(f), max(largest, len(f))
		}
		if n := strings.Count(all, "\x1b[?1049h"); n != 1 {
			t.Errorf("%dx%d: the other screen is entered %d times", c.w, c.h, n)
		}
		steady := string(bytes.Join(out.frames[first:first+frames], nil))
		for _, clear := range []string{"\x1b[2J", "\x1b[3J", "\x1b[J", "\x1b[0J", "\x1b[1J", "\x1bc", "\x1b[?1049", "\x1b[?25h\x1b[?25l"} {
			if strings.Contains(steady, clear) {
				t.Errorf("%dx%d: %q is written while it plays", c.w, c.h, clear)
			}
		}
		if largest > c.most {
			t.Errorf("%dx%d: a frame has %d bytes, want %d at the most", c.w, c.h, largest, c.most)
		}
		allocs, garbage := int64(after.Mallocs-before.Mallocs)/looks, int64(after.TotalAlloc-before.TotalAlloc)/looks
		if allocs > 1000 || garbage > 200<<10 { // a third and a tenth of it in fact
			t.Errorf("%dx%d: a frame makes %d allocations of %d bytes", c.w, c.h, allocs, garbage)
		}
		t.Logf("%dx%d: the first frames %d bytes, then %d a frame, %d the largest; %d allocations, %d bytes of them",
			c.w, c.h, len(bytes.Join(out.frames[:first], nil)), sum/frames, largest, allocs, garbage)
	}
}
