package mixer

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// level is PCM of n frames that all have one value, which tells voices apart in a sum.
func level(value float32, n int) *PCM {
	return &PCM{Channels: 1, F32: slices.Repeat([]float32{value}, n)}
}

func (r rig) group(l Limit) Group {
	r.t.Helper()
	g, err := r.NewGroup(l)
	r.ok(err)
	return g
}

func TestLimitRefuses(t *testing.T) {
	r := seconds(t)
	g := r.group(Limit{Voices: 2})
	in := Params{Groups: [2]Group{g}}
	r.play(level(1, 9), in)
	r.play(level(2, 3), in)
	late := r.play(level(4, 9), in)
	r.play(level(8, 9), Params{}) // another group
	r.want("the third is refused", 11, 11, 11, 9)
	if s := r.Stats(); s.Refused != 1 || s.Stolen != 0 || !r.State(late).Ended {
		t.Errorf("%+v, %+v", s, r.State(late))
	}
	in.At = 6
	r.play(level(16, 9), in) // one of two has ended by then
	r.want("room again", 9, 9, 25)
}

func TestLimitSteals(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  Limit
		others [3]Params
		last   Params
		want   float32
	}{
		{"the quietest", Limit{Voices: 3, Steal: true}, [3]Params{{}, {Gain: -1}, {}}, Params{}, 1 + 4 + 8},
		{"quietest by a fade", Limit{Voices: 3, Steal: true}, [3]Params{{Gain: -1}, {}, {Gain: -1, FadeIn: 0}}, Params{}, 2 + 8 + 4*0.8912509},
		{"the oldest", Limit{Voices: 3, Steal: true, Oldest: true}, [3]Params{{}, {Gain: -1}, {}}, Params{}, 2*0.8912509 + 4 + 8},
		{"the lowest priority first", Limit{Voices: 3, Steal: true}, [3]Params{{}, {Gain: -1, Priority: 1}, {Priority: -1}}, Params{Priority: 1}, 1 + 2*0.8912509 + 8},
		{"never a higher one", Limit{Voices: 3, Steal: true}, [3]Params{{Priority: 1}, {Priority: 2}, {Priority: 3}}, Params{}, 1 + 2 + 4},
		{"never a protected one", Limit{Voices: 3, Steal: true, Oldest: true}, [3]Params{{Protected: true}, {Protected: true}, {}}, Params{}, 1 + 2 + 8},
		{"all protected", Limit{Voices: 3, Steal: true}, [3]Params{{Protected: true}, {Protected: true}, {Protected: true}}, Params{}, 1 + 2 + 4},
	} {
		r := seconds(t)
		g := r.group(c.limit)
		for i, o := range c.others {
			o.Groups[i%2] = g
			r.play(level(float32(int(1)<<i), 9), o)
		}
		r.mix(1)
		c.last.Groups[1] = g
		r.play(level(8, 9), c.last)
		r.mix(1)
		if got := r.left(1)[0]; math.Abs(float64(got-c.want)) > 1e-5 {
			t.Errorf("%s: the sum is %v, want %v", c.name, got, c.want)
		}
	}
}

// The zero group is that of all voices, and what fades out to its end does not count.
func TestLimitOfAll(t *testing.T) {
	r := seconds(t)
	r.ok(r.SetLimit(0, Limit{Voices: 2, Steal: true}))
	r.play(level(1, 100), Params{})
	a := r.play(level(2, 100), Params{})
	r.want("both", 3)
	r.ok(r.Fade(a, Fade{Frames: 50, Stop: true}))
	r.play(level(4, 100), Params{})
	if x := r.left(10)[9]; x < 5 || x > 7 {
		t.Errorf("one fades, two play: %v", x)
	}
	if s := r.Stats(); s.Stolen != 0 || s.Voices != 3 {
		t.Errorf("%+v", s)
	}
	r.ok(r.SetLimit(0, Limit{}))
	r.play(level(8, 100), Params{})
	if s := r.Stats(); s.Stolen != 0 {
		t.Errorf("stolen without a limit: %+v", s)
	}
}

// Both groups of a voice and that of all must have room before any is taken.
func TestLimitOfTwoGroups(t *testing.T) {
	r := seconds(t)
	sound, kind := r.group(Limit{Voices: 1, Steal: true}), r.group(Limit{Voices: 1})
	r.play(level(1, 9), Params{Groups: [2]Group{sound}})
	r.play(level(2, 9), Params{Groups: [2]Group{0, kind}})
	r.play(level(4, 9), Params{Groups: [2]Group{sound, kind}})
	r.want("refused by one, taken from none", 3, 3)
	r.ok(r.SetLimit(kind, Limit{Voices: 1, Steal: true}))
	r.play(level(4, 9), Params{Groups: [2]Group{sound, kind}})
	r.want("taken from both", 4, 4)
}

func TestGap(t *testing.T) {
	r := seconds(t)
	g := r.group(Limit{Gap: 3})
	for at := range int64(8) {
		r.play(level(1, 1), Params{At: at, Groups: [2]Group{g}})
	}
	r.want("every third", 1, 0, 0, 1, 0, 0, 1, 0)
	if s := r.Stats(); s.Refused != 5 {
		t.Errorf("%+v, want 5 refused", s)
	}
}

// What is stolen fades out within 5 ms, without a step.
func TestStealingTakesNoStep(t *testing.T) {
	r := newRig(t, Config{})
	p := tone(100, 48000, 1, 48000)
	own, _ := largestStep(r2(p.F32))
	r.ok(r.SetLimit(0, Limit{Voices: 1, Steal: true}))
	r.play(p, Params{})
	for i := range int64(8) {
		r.play(p, Params{At: 777 + i*777, Gain: math.Inf(-1)})
	}
	if step, at := largestStep(r.mix(6000)); step > own*1.00001 {
		t.Errorf("step of %v at frame %d, own %v", step, at, own)
	}
}

func TestGroupErrors(t *testing.T) {
	m := New(Config{Queue: 1 << 14})
	for _, l := range []Limit{{Voices: -1}, {Gap: -1}} {
		if err := m.SetLimit(0, l); !errors.Is(err, ErrValue) {
			t.Errorf("%+v: %v", l, err)
		}
	}
	if err := m.SetLimit(maxGroups, Limit{}); !errors.Is(err, ErrValue) {
		t.Errorf("no such group: %v", err)
	}
	if _, err := m.PlayPCM(count(1), Params{Groups: [2]Group{0, maxGroups}}); !errors.Is(err, ErrValue) {
		t.Errorf("no such group: %v", err)
	}
	for range maxGroups - 1 {
		if _, err := m.NewGroup(Limit{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.NewGroup(Limit{}); !errors.Is(err, ErrValue) {
		t.Errorf("too many groups: %v", err)
	}
}

// With more voices than may be heard the loudest are, and the others stay in time.
func TestUnheard(t *testing.T) {
	r := newRig(t, Config{Rate: 1, Heard: 2})
	var ids [4]Voice
	for i := range ids {
		ids[i] = r.play(level(float32(int(1)<<i), 100), Params{Gain: -float64(i) / 100})
	}
	r.want("the loudest two", 1+2*0.9988494, 1+2*0.9988494)
	for i, id := range ids {
		if s := r.State(id); s.Unheard != (i >= 2) || !s.Playing || s.Position != 2 {
			t.Errorf("voice %d: %+v", i, s)
		}
	}
	r.ok(r.SetGain(ids[3], 20))
	r.mix(1)
	if x := r.left(1)[0]; math.Abs(float64(x-81)) > 1e-4 {
		t.Errorf("after one has become louder: %v, want 81", x)
	}
	r.ok(r.Stop(ids[3], 0))
	r.mix(2)
	if x := r.left(1)[0]; math.Abs(float64(x-2.9977)) > 1e-4 {
		t.Errorf("after it has ended: %v, want 2.9977", x)
	}
	if s := r.State(ids[2]); !s.Unheard || s.Position != 7 {
		t.Errorf("the third: %+v, want it unheard at 7", s)
	}
}

// Unheard or not, priority comes before loudness, and a voice of two equal ones is not turned out.
func TestUnheardOrder(t *testing.T) {
	r := newRig(t, Config{Rate: 1, Heard: 1})
	a := r.play(level(1, 100), Params{Gain: -10, Priority: 1})
	r.play(level(2, 100), Params{})
	r.want("priority", 0.31622776, 0.31622776)
	r.ok(r.SetGain(a, -20))
	r.mix(2)
	r.want("still", 0.1)
	r.ok(r.Stop(a, 0))
	r.mix(2)
	r.want("the other", 2)
	r.play(level(4, 100), Params{Gain: 3})
	r.want("3 dB are not enough", 2, 2)
	r.play(level(8, 100), Params{Protected: true, Gain: -60})
	r.want("protected", 0.008)
}

// A voice that is unheard for a while comes back where it would have been, ended or not, pitched,
// looped, streamed or not.
func TestUnheardKeepsTime(t *testing.T) {
	p := noise16(1, 2, 3000)
	for name, o := range map[string]Params{
		"plain": {}, "looped": {Loop: &Loop{Start: 100, End: 400, Count: 5}}, "pitched": {Pitch: 1.3},
		"pitched loop": {Pitch: 0.7, Loop: &Loop{Start: 100, End: 400, Count: 5}}, "limited": {Length: 1500},
		"fading": {FadeIn: 2000},
	} {
		for _, streamed := range []bool{false, true} {
			if streamed && o.Loop != nil {
				continue
			}
			var outs [2][]float32
			for k := range outs {
				r := newRig(t, Config{Rate: 8000, Heard: 1})
				if streamed {
					r.feed(&soundFeed{p: p}, o)
				} else {
					r.play(p, o)
				}
				silent := Params{At: 500, Priority: 1, Gain: math.Inf(-1)}
				if k == 1 {
					r.play(level(1, 700), silent)
				}
				outs[k] = r.mix(4000)
			}
			for i := range outs[0] {
				if n := i / 2; n >= 500 && n < 1300 {
					if n > 600 && n < 1200 && outs[1][i] != 0 {
						t.Fatalf("%s: sample %d is heard: %v", name, i, outs[1][i])
					}
					continue
				}
				if outs[0][i] != outs[1][i] {
					t.Fatalf("%s, streamed %v: sample %d is %v, without having been unheard %v", name, streamed, i, outs[1][i], outs[0][i])
				}
			}
		}
	}
}

// Limits and the choice of what is heard do not depend on the blocks either.
func TestLimitsAreDeterministic(t *testing.T) {
	seed := rand.Uint64()
	run := func(size int) []float32 {
		rnd := rand.New(rand.NewPCG(seed, 0))
		r := newRig(t, Config{Rate: 8000, Heard: 5, Voices: 1000, Queue: 5000})
		groups := [3]Group{r.group(Limit{Voices: 4, Steal: true}), r.group(Limit{Voices: 3, Steal: true, Oldest: true}), r.group(Limit{Gap: 100})}
		p := noise16(seed, 1, 2000)
		var ids []Voice
		for range 120 {
			o := Params{
				At: rnd.Int64N(6000), Gain: -rnd.Float64() * 20, Priority: int8(rnd.IntN(3)), Pitch: 0.5 + rnd.Float64(),
				Groups: [2]Group{groups[rnd.IntN(3)], groups[rnd.IntN(3)]}, Protected: rnd.IntN(10) == 0,
			}
			if len(ids) > 0 && rnd.IntN(3) == 0 {
				o.After = ids[rnd.IntN(len(ids))]
			}
			ids = append(ids, r.play(p, o))
			r.ok(r.At(1+rnd.Int64N(6000)).SetGain(ids[rnd.IntN(len(ids))], -rnd.Float64()*30))
			r.ok(r.At(1 + rnd.Int64N(6000)).Pause(ids[rnd.IntN(len(ids))]))
			r.ok(r.At(1 + rnd.Int64N(6000)).Resume(ids[rnd.IntN(len(ids))]))
		}
		var out []float32
		for len(out) < 12000 {
			out = append(out, r.mix(min(size, 6000-len(out)/2))...)
		}
		return out
	}
	want := run(6000)
	for _, size := range []int{1, 39, 40, 41, 256, 1000} {
		compareBits(t, seed, size, run(size), want)
	}
}
