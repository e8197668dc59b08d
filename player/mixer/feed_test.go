package mixer

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// tap is a feed that gives what it is told to: give[i] frames at the i-th call, all of them where
// there is no such entry, counting 1, 2, 3 ... A negative entry ends it with so many.
type tap struct {
	channels int
	give     []int
	value    func(i int) float32 // of sample i, nil = i/channels + 1
	calls    int
	asked    []int
	given    int // samples
}

func (f *tap) Channels() int { return f.channels }

func (f *tap) Read(dst []float32) (frames int, end bool) {
	n := len(dst) / f.channels
	f.asked = append(f.asked, n)
	if f.calls < len(f.give) {
		g := f.give[f.calls]
		end = g < 0
		n = min(n, max(g, -g))
		if g == ended {
			n = 0
		}
	}
	f.calls++
	for i := range n * f.channels {
		k := f.given + i
		dst[i] = float32(k/f.channels + 1)
		if f.value != nil {
			dst[i] = f.value(k)
		}
	}
	f.given += n * f.channels
	return n, end
}

// ended has a tap end without another frame.
const ended = math.MinInt

func TestFeed(t *testing.T) {
	r := seconds(t)
	f := &tap{channels: 1, give: []int{2, 1, -3}}
	id := r.feed(f, Params{})
	r.want("two, then one", 1, 2)
	if s := r.State(id); s.Position != 2 || s.Underruns != 0 || !s.Playing {
		t.Errorf("%+v", s)
	}
	r.want("one", 3)
	r.want("the last three", 4, 5, 6, 0)
	if !slices.Equal(f.asked, []int{2, 1, 4}) {
		t.Errorf("asked for %v frames", f.asked)
	}
	if s := r.State(id); !s.Ended {
		t.Errorf("%+v", s)
	}
	r.want("nothing more", 0)
	if f.calls != 3 {
		t.Errorf("a feed that has ended is read again")
	}
	if last, idle := r.Idle(); last != 6 || !idle {
		t.Errorf("idle %v since %d, want since 6", idle, last)
	}
}

func TestFeedStereo(t *testing.T) {
	r := seconds(t)
	r.feed(&tap{channels: 2, value: func(i int) float32 { return float32(i) }, give: []int{-2}}, Params{})
	if got := r.mix(3); !slices.Equal(got, []float32{0, 1, 2, 3, 0, 0}) {
		t.Errorf("got %v", got)
	}
}

// An underrun is silence, and the voice lives. At one frame a second the fades are one frame, so
// that the frame behind the gap is whole again.
func TestUnderrun(t *testing.T) {
	r := seconds(t)
	f := &tap{channels: 1, give: []int{2, 0, 0, 1, -1}}
	id := r.feed(f, Params{})
	r.want("runs dry", 1, 2, 0, 0)
	r.want("dry", 0)
	r.want("dry", 0)
	if s := r.State(id); s.Underruns != 1 || s.Position != 2 || !s.Playing {
		t.Errorf("dry: %+v", s)
	}
	r.want("one frame", 3, 0)
	r.want("the last", 4, 0)
	if s := r.Stats(); s.Underruns != 2 {
		t.Errorf("%d underruns, want 2", s.Underruns)
	}
}

// A voice whose feed runs dry fades out from its last frame, and what follows fades in.
func TestUnderrunFades(t *testing.T) {
	for _, channels := range []int{1, 2} {
		own := 2 * math.Pi * 100 / 48000
		value := func(i int) float32 { return float32(math.Sin(2 * math.Pi * 100 * float64(i/channels) / 48000)) }
		for _, give := range [][]int{
			{300}, {300, 0}, {250, 10, 0, 300}, {300, 256, 256, 3, 2, 1}, {0, 0, 256}, {260, 1, 1, 1, 1}, {77, ended}, {300, 50, 0, ended}, {300, 50, 0, -20},
		} {
			r := newRig(t, Config{})
			r.feed(&tap{channels: channels, give: give, value: value}, Params{})
			x := r.mix(3000)
			for i := 2; i < len(x); i++ {
				if d := math.Abs(float64(x[i] - x[i-2])); d > own*1.1 && give[len(give)-1] != -20 {
					t.Errorf("%v: step of %.4f at frame %d, own %.4f", give, d, i/2, own)
					break
				}
			}
		}
	}
}

func TestFeedHostile(t *testing.T) {
	nan := float32(math.NaN())
	r := seconds(t)
	r.feed(&tap{channels: 1, value: func(i int) float32 {
		return []float32{nan, 1, float32(math.Inf(1)), 2, float32(math.Inf(-1)), 3, 3e30}[i%7]
	}}, Params{})
	r.want("mended", 0, 1, sampleMax, 2, -sampleMax, 3, sampleMax)

	r = seconds(t)
	r.feed(liar{frames: -5}, Params{})
	r.feed(liar{frames: math.MaxInt}, Params{})
	r.want("lengths out of range", 7, 7, 7)

	for i, err := range []error{
		func() error { _, err := r.PlayFeed(nil, Params{}); return err }(),
		func() error { _, err := r.PlayFeed(&tap{channels: 0}, Params{}); return err }(),
		func() error { _, err := r.PlayFeed(&tap{channels: 3}, Params{}); return err }(),
		func() error { _, err := r.PlayFeed(&tap{channels: 1}, Params{Start: 1}); return err }(),
		func() error { _, err := r.PlayFeed(&tap{channels: 1}, Params{Loop: &Loop{}}); return err }(),
	} {
		if !errors.Is(err, ErrValue) {
			t.Errorf("case %d: %v, want ErrValue", i, err)
		}
	}
}

// liar claims to have given frames that it has no right to.
type liar struct{ frames int }

func (l liar) Channels() int { return 1 }

func (l liar) Read(dst []float32) (int, bool) {
	for i := range dst {
		dst[i] = 7
	}
	return l.frames, false
}

// A paused feed is not read.
func TestFeedPaused(t *testing.T) {
	r := seconds(t)
	f := &tap{channels: 1}
	id := r.feed(f, Params{})
	r.want("plays", 1, 2)
	r.ok(r.Pause(id))
	r.want("pauses", 0, 0, 0)
	if f.given != 3 { // the frame of the ramp
		t.Errorf("%d frames were read", f.given)
	}
	r.ok(r.Resume(id))
	r.want("goes on", 4, 5)
	r.ok(r.Stop(id, 0))
	r.want("stops", 0, 0)
	if s := r.State(id); !s.Ended {
		t.Errorf("%+v", s)
	}
}
