package mixer

import (
	"math"
	"testing"
)

// Voices in a queue follow one another without a frame between them, even within a block.
func TestQueue(t *testing.T) {
	r := seconds(t)
	a := r.play(count(3), Params{})
	b := r.play(count(2), Params{After: a, Gain: 20})
	c := r.play(count(1), Params{After: a}) // behind b, the last one
	d := r.play(count(2), Params{After: b})
	r.want("one after the other", 1, 2, 3, 10, 20, 1, 1, 2, 0)
	for i, v := range []Voice{a, b, c, d} {
		if !r.State(v).Ended {
			t.Errorf("voice %d lives", i)
		}
	}
	r.play(count(2), Params{After: a})
	r.want("behind one that has ended: at once", 1, 2, 0)
	a = r.play(count(2), Params{At: 15})
	r.play(count(1), Params{After: a})
	r.want("the first one waits for its frame", 0, 0, 0, 1, 2, 1, 0)
}

func TestQueueStates(t *testing.T) {
	r := seconds(t)
	a := r.play(count(5), Params{})
	b := r.play(count(5), Params{After: a})
	r.mix(2)
	if s := r.State(b); s != (State{Waiting: true}) {
		t.Errorf("%+v, want waiting", s)
	}
	r.mix(5)
	if s := r.State(b); s != (State{Playing: true, Position: 2}) {
		t.Errorf("%+v, want playing at 2", s)
	}
	if last, idle := r.Idle(); last != 5 || idle {
		t.Errorf("idle %v since %d", idle, last)
	}
}

// However a voice ends, the next one begins with the frame behind.
func TestQueueStops(t *testing.T) {
	r := seconds(t)
	a := r.play(count(9), Params{})
	b := r.play(count(9), Params{After: a})
	c := r.play(count(9), Params{After: b})
	d := r.play(count(3), Params{After: c})
	r.want("plays", 1, 2)
	r.ok(r.Stop(b, 0)) // waits still: it leaves the queue
	r.want("goes on", 3)
	r.ok(r.Stop(a, 0))
	r.want("stopped within a frame", 0, 1, 2)
	r.ok(r.Pause(c))
	r.want("paused", 0, 0)
	r.ok(r.Stop(c, 0))
	r.want("the last", 1, 2, 3, 0)
	if !r.State(d).Ended {
		t.Error("not ended")
	}
	a = r.play(count(9), Params{})
	b = r.play(count(3), Params{After: a})
	r.play(count(3), Params{After: b})
	for _, v := range []Voice{a, b} { // with one block
		r.ok(r.Stop(v, 0))
	}
	r.want("both gone", 1, 2, 3, 0)
}

// A feed says at its end only that it ends, and still the next one follows at once.
func TestQueueFeeds(t *testing.T) {
	r := seconds(t)
	a := r.feed(&soundFeed{p: count(3)}, Params{})
	b := r.feed(&soundFeed{p: count(2)}, Params{After: a})
	c := r.play(count(2), Params{After: b})
	r.play(count(1), Params{After: c, Paused: true})
	r.want("in turn", 1, 2, 3, 1, 2, 1, 2, 0)
}

// Two halves of a sound in a queue are the sound, bit for bit, whatever the blocks.
func TestQueueIsGapless(t *testing.T) {
	whole := noise16(1, 2, 2000)
	for _, size := range []int{1, 100, 256, 1000, 3000} {
		for _, cut := range []int{1, 999, 1000, 1024} {
			r := newRig(t, Config{})
			a := r.play(&PCM{Channels: 2, S16: whole.S16[:2*cut]}, Params{})
			r.play(&PCM{Channels: 2, S16: whole.S16[2*cut:]}, Params{After: a})
			var x []float32
			for len(x) < 4000 {
				x = append(x, r.mix(size)...)
			}
			for i, s := range whole.S16 {
				if x[i] != float32(s)/32768 {
					t.Fatalf("cut at %d, blocks of %d: sample %d is %v, want %v", cut, size, i, x[i], float32(s)/32768)
				}
			}
		}
	}
}

func TestFadeCurves(t *testing.T) {
	ones := make([]float32, 5000)
	for i := range ones {
		ones[i] = 1
	}
	p := &PCM{Channels: 1, F32: ones}
	const n = 1000
	for _, c := range []struct {
		curve    Curve
		up, down func(x float64) float64
	}{
		{Smooth, func(x float64) float64 { return (1 - math.Cos(math.Pi*x)) / 2 }, func(x float64) float64 { return (1 + math.Cos(math.Pi*x)) / 2 }},
		{Linear, func(x float64) float64 { return x }, func(x float64) float64 { return 1 - x }},
		{EqualPower, func(x float64) float64 { return math.Sin(math.Pi / 2 * x) }, func(x float64) float64 { return math.Cos(math.Pi / 2 * x) }},
		{Decibels, func(x float64) float64 { return math.Pow(10, 4*(x-1)) }, func(x float64) float64 { return math.Pow(10, -4*x) }},
	} {
		r := newRig(t, Config{})
		id := r.play(p, Params{FadeIn: n, Curve: c.curve})
		check(t, c.curve, "up", r.left(n), c.up)
		r.mix(100)
		r.ok(r.Fade(id, Fade{Gain: math.Inf(-1), Frames: n, Curve: c.curve}))
		check(t, c.curve, "down", r.left(n), func(x float64) float64 {
			if x == 1 {
				return 0
			}
			return c.down(x)
		})
		if s := r.State(id); !s.Playing {
			t.Errorf("curve %d: %+v after a fade to silence, want it to play on", c.curve, s)
		}
		r.ok(r.Fade(id, Fade{}))
		r.mix(240)
		if x := r.left(1); x[0] != 1 {
			t.Errorf("curve %d: %v after the fade back, want 1", c.curve, x[0])
		}
		r.ok(r.Fade(id, Fade{Gain: -20, Frames: n, Curve: c.curve, Stop: true}))
		if x := r.left(n); x[n-1] != 0 || !r.State(id).Ended {
			t.Errorf("curve %d: %v at the end of the last fade, %+v", c.curve, x[n-1], r.State(id))
		}
	}
}

func check(t *testing.T, c Curve, way string, got []float32, want func(x float64) float64) {
	t.Helper()
	for k, g := range got {
		if w := want(float64(k+1) / float64(len(got))); math.Abs(float64(g)-w) > 1e-5 {
			t.Errorf("curve %d %s: frame %d of %d is %v, want %v", c, way, k, len(got), g, w)
			return
		}
	}
}

func TestFadeToLevel(t *testing.T) {
	r := seconds(t)
	id := r.play(count(9), Params{Gain: 20})
	r.want("plays", 10, 20)
	r.ok(r.Fade(id, Fade{Gain: -20}))
	r.want("down", 3)
	r.ok(r.SetGain(id, 0))
	r.ok(r.At(5).Fade(id, Fade{Gain: 20, Frames: 2, Curve: Linear}))
	x := r.left(4)
	for i, want := range []float64{0.1 * 4, 0.1 * 5, (0.1 + (10-0.1)/2) * 6, 10 * 7} {
		if math.Abs(float64(x[i])-want) > 1e-5 {
			t.Errorf("both gains count: frame %d is %v, want %v", 3+i, x[i], want)
		}
	}
	for _, bad := range []Fade{{Gain: 61}, {Gain: math.NaN()}, {Frames: -1}, {Curve: 9}} {
		if err := r.Fade(id, bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// An heir goes between a voice and those that are queued behind it.
func TestQueueHeir(t *testing.T) {
	r := seconds(t)
	a := r.play(count(5), Params{})
	r.play(count(2), Params{After: a, Gain: 20})
	b := r.play(count(3), Params{After: a, Heir: true, Gain: 40})
	r.want("plays", 1, 2)
	r.ok(r.At(4).Stop(a, 1))
	r.want("the heir follows the stop, and the queue the heir", 3, 4, 0, 100, 200, 300, 10, 20, 0)
	if !r.State(b).Ended {
		t.Error("the heir lives")
	}
	r.play(count(2), Params{Faded: 20})
	r.want("faded from the start", 10, 20, 0)
	r.play(count(4), Params{Faded: 20, FadeIn: 2, Curve: Linear})
	r.want("faded in to there", 5, 20, 30, 40, 0)
}
