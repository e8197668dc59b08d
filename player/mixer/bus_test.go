package mixer

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopxl/beep/v2"
	"github.com/gopxl/beep/v2/effects"
	"github.com/gopxl/beep/v2/generators"
)

func (r rig) bus(parent Bus) Bus {
	r.t.Helper()
	b, err := r.NewBus(parent)
	r.ok(err)
	return b
}

// in is where a voice plays.
func in(b Bus) Params { return Params{Bus: b} }

func TestBusTree(t *testing.T) {
	r := seconds(t)
	music := r.bus(0)
	drums, keys := r.bus(music), r.bus(music)
	r.play(level(1, 99), in(0))
	r.play(level(2, 99), in(music))
	r.play(level(4, 99), in(drums))
	r.play(level(8, 99), in(keys))
	r.want("all", 15)
	r.ok(r.SetBusGain(drums, 20))
	r.want("one louder", 51)
	r.ok(r.SetBusGain(music, math.Inf(-1)))
	r.want("those below go with it", 1)
	r.ok(r.SetBusGain(music, 0))
	r.ok(r.SetMaster(20))
	r.want("the root", 510)
	r.ok(r.At(6).SetBusGain(drums, 0))
	r.ok(r.At(7).SetMaster(0))
	r.want("planned", 510, 510, 150, 15)
}

func TestBusFade(t *testing.T) {
	r := seconds(t)
	b := r.bus(0)
	r.play(level(1, 99), in(b))
	r.want("as it is", 1)
	r.ok(r.FadeBus(b, Fade{Gain: math.Inf(-1), Frames: 4, Curve: Linear}))
	r.want("straight down", 0.75, 0.5, 0.25, 0, 0)
	r.ok(r.FadeBus(b, Fade{}))
	r.want("back", 1)
	if err := r.FadeBus(b, Fade{Stop: true}); !errors.Is(err, ErrValue) {
		t.Errorf("a bus that is to end: %v", err)
	}
}

func TestMute(t *testing.T) {
	r := seconds(t)
	a := r.bus(0)
	b := r.bus(a)
	r.play(level(1, 99), in(0))
	id := r.play(level(2, 99), in(b))
	r.want("both", 3)
	r.ok(r.MuteBus(a, true))
	r.want("muted", 1, 1)
	if s := r.State(id); s.Position != 3 || !s.Playing {
		t.Errorf("%+v: a voice of a bus that is muted goes on", s)
	}
	r.ok(r.MuteBus(a, false))
	r.want("back", 3)
}

// Solo silences the voices of all other buses, but no bus on the way to the root.
func TestSolo(t *testing.T) {
	r := seconds(t)
	a, b := r.bus(0), r.bus(0)
	a1 := r.bus(a)
	r.play(level(1, 99), in(0))
	r.play(level(2, 99), in(a))
	r.play(level(4, 99), in(a1))
	r.play(level(8, 99), in(b))
	r.want("all", 15)
	r.ok(r.SoloBus(a1, true))
	r.want("the lowest", 4)
	r.ok(r.SoloBus(b, true))
	r.want("two", 12)
	late := r.bus(b)
	r.play(level(16, 99), in(late))
	r.want("a new one below", 28)
	other := r.bus(a)
	r.play(level(32, 99), in(other))
	r.want("a new one elsewhere", 28)
	r.ok(r.SoloBus(a1, false))
	r.ok(r.SoloBus(b, false))
	r.ok(r.SoloBus(a, true))
	r.want("a branch", 2+4+32)
	r.ok(r.SoloBus(a, false))
	r.want("all again", 63)
}

func TestPauseBus(t *testing.T) {
	r := seconds(t)
	a := r.bus(0)
	b := r.bus(a)
	id := r.play(count(99), in(b))
	next := r.play(count(99), Params{After: id, Bus: a})
	r.want("plays", 1, 2)
	r.ok(r.PauseBus(a, true))
	r.want("pauses within frame 3", 0, 0, 0)
	if s := r.State(id); s.Position != 3 || !s.Paused || s.Playing {
		t.Errorf("%+v", s)
	}
	late := r.play(count(9), in(b))
	r.want("a start waits", 0)
	r.ok(r.PauseBus(a, false))
	r.want("goes on", 4+1, 5+2)
	r.ok(r.Stop(late, 0))
	r.want("without it", 6)
	r.ok(r.PauseBus(b, true))
	r.want("another pause", 0)
	r.ok(r.Stop(id, 0))
	r.want("what stands still ends at once, and the next one begins", 1, 2)
	if !r.State(id).Ended || !r.State(next).Playing {
		t.Errorf("%+v, %+v", r.State(id), r.State(next))
	}
}

func TestStopBus(t *testing.T) {
	r := seconds(t)
	a, b := r.bus(0), r.bus(0)
	a1 := r.bus(a)
	r.play(level(1, 99), in(a))
	r.play(level(2, 99), in(a1))
	r.play(level(4, 99), in(b))
	r.play(level(8, 99), Params{Bus: a1, At: 50})
	r.want("all", 7)
	r.ok(r.StopBus(a, 0))
	r.want("one branch gone", 4, 4)
	if s := r.Stats(); s.Voices != 1 {
		t.Errorf("%d voices left, want 1", s.Voices)
	}
}

func TestBusErrors(t *testing.T) {
	m := New(Config{Queue: 200})
	b, err := m.NewBus(0)
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{
		m.SetBusGain(b+1, 0), m.SetBusGain(b, 99), m.FadeBus(b+1, Fade{}), m.FadeBus(b, Fade{Gain: 99}), m.MuteBus(200, true),
		m.SoloBus(b+1, true), m.PauseBus(b+1, true), m.StopBus(b+1, 0), m.StopBus(b, -1), m.SetEffect(b+1, nil), m.MeterBus(b+1, true),
		m.SetDuck(b+1, nil), m.SetDuck(b, &Duck{By: b + 1}), m.SetDuck(b, &Duck{Threshold: 1}), m.SetDuck(b, &Duck{Depth: math.NaN()}),
		m.SetDuck(b, &Duck{Attack: -1}), second(m.NewBus(b + 1)), second2(m.PlayPCM(count(1), in(b+1))),
	} {
		if !errors.Is(err, ErrValue) {
			t.Errorf("case %d: %v, want ErrValue", i, err)
		}
	}
	for range maxBuses - 2 {
		if b, err = m.NewBus(b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.NewBus(0); !errors.Is(err, ErrValue) {
		t.Errorf("too many buses: %v", err)
	}
	if _, err := m.PlayPCM(level(1, 10), in(b)); err != nil {
		t.Fatal(err)
	}
	block := make([]float32, 2)
	if m.Mix(block); block[0] != 1 {
		t.Errorf("through %d buses: %v, want 1", maxBuses, block[0])
	}
	for range 100 {
		if m.SetEffect(b, nil) == ErrFull {
			return
		}
	}
	t.Error("effects without end are taken")
}

func second(_ Bus, err error) error    { return err }
func second2(_ Voice, err error) error { return err }

// No transition of a bus takes a step larger than the tone itself.
func TestBusTakesNoStep(t *testing.T) {
	p := sineTone(48000, true)
	own, _ := largestStep(p.F32)
	for name, do := range map[string]func(r rig, b Bus){
		"gain":              func(r rig, b Bus) { r.ok(r.SetBusGain(b, -50)) },
		"mute":              func(r rig, b Bus) { r.ok(r.MuteBus(b, true)) },
		"pause":             func(r rig, b Bus) { r.ok(r.PauseBus(b, true)); r.ok(r.At(r.now+1000).PauseBus(b, false)) },
		"solo":              func(r rig, b Bus) { r.ok(r.SoloBus(r.bus(0), true)) },
		"muted for a while": func(r rig, b Bus) { r.ok(r.MuteBus(b, true)); r.ok(r.At(r.now+300).MuteBus(b, false)) },
		"solo for a while": func(r rig, b Bus) {
			other := r.bus(0)
			r.ok(r.SoloBus(other, true))
			r.ok(r.At(r.now+100).SoloBus(other, false))
		},
		"fade": func(r rig, b Bus) { r.ok(r.FadeBus(b, Fade{Gain: math.Inf(-1), Frames: 500})) },
		"all": func(r rig, b Bus) {
			r.ok(r.MuteBus(b, true))
			r.ok(r.At(r.now+120).PauseBus(b, true))
			r.ok(r.At(r.now+130).MuteBus(b, false))
			r.ok(r.At(r.now+500).PauseBus(b, false))
		},
		"stop": func(r rig, b Bus) { r.ok(r.StopBus(b, 0)) },
		"effect": func(r rig, b Bus) {
			r.ok(r.SetEffect(b, func(in beep.Streamer) beep.Streamer { return &effects.Gain{Streamer: in, Gain: -0.9} }))
		},
	} {
		for phase := range 16 {
			r := newRig(t, Config{})
			b := r.bus(0)
			r.play(p, in(b))
			x := r.mix(1000 + phase*30)
			do(r, b)
			x = append(x, r.mix(3000)...)
			if step, at := largestStep(x); step > own*1.00001 {
				t.Errorf("%s, phase %d/16: step of %.6f at frame %d, own %.6f", name, phase, step, at, own)
				break
			}
		}
	}
}

func TestEffect(t *testing.T) {
	r := seconds(t)
	b := r.bus(0)
	r.play(count(99), in(b))
	r.play(level(100, 99), in(0))
	r.ok(r.SetEffect(b, func(in beep.Streamer) beep.Streamer { return &effects.Gain{Streamer: in, Gain: 1} }))
	r.want("twice as loud", 102, 104)
	r.ok(r.SetBusGain(b, 20))
	r.want("ahead of the gain", 160, 180)
	r.ok(r.SetEffect(b, func(in beep.Streamer) beep.Streamer { return beep.Take(1, in) }))
	r.want("one that ends is silence", 150, 100)
	r.ok(r.SetEffect(b, nil))
	r.want("none", 170, 180)
	r.ok(r.SetEffect(b, func(in beep.Streamer) beep.Streamer { return generators.Silence(-1) }))
	r.want("one that does not read", 100)
	r.ok(r.SetEffect(b, func(in beep.Streamer) beep.Streamer {
		return beep.StreamerFunc(func(x [][2]float64) (int, bool) {
			in.Stream(make([][2]float64, 2*len(x)))
			for i := range x {
				x[i] = [2]float64{math.NaN(), math.Inf(1)}
			}
			return len(x), true
		})
	}))
	if x := r.mix(2); x[0] != 100 || x[1] < sampleMax || x[1]-x[1] != 0 {
		t.Errorf("what is no number: %v", x)
	}
}

// delayed is an effect with a tail.
type delayed struct {
	in   beep.Streamer
	line []float64
	at   int
}

func (d *delayed) Stream(x [][2]float64) (int, bool) {
	n, ok := d.in.Stream(x)
	for i := range x[:n] {
		x[i][0], d.line[d.at] = d.line[d.at], x[i][0]
		d.at = (d.at + 1) % len(d.line)
	}
	return n, ok
}

func (d *delayed) Err() error { return nil }

// An effect is heard out when its bus has gone silent.
func TestEffectTail(t *testing.T) {
	r := seconds(t)
	b := r.bus(0)
	r.ok(r.SetEffect(b, func(in beep.Streamer) beep.Streamer { return &delayed{in: in, line: make([]float64, 300)} }))
	r.mix(1)
	r.play(count(3), in(b))
	x := r.left(600)
	for i, v := range x {
		want := float32(0)
		if i >= 300 && i < 303 {
			want = float32(i - 299)
		}
		if v != want {
			t.Fatalf("frame %d is %v, want %v", i, v, want)
		}
	}
}

func TestDuck(t *testing.T) {
	r := newRig(t, Config{})
	music, speech := r.bus(0), r.bus(0)
	r.play(level(0.5, 100000), in(music))
	d := Duck{By: speech, Threshold: -20, Depth: -12, Attack: 100, Hold: 1000, Release: 500}
	r.ok(r.SetDuck(music, &d))
	r.play(&PCM{Channels: 2, F32: interleave(0.00001, 0.2, 3000)}, Params{Bus: speech, At: 5000})
	r.ok(r.MuteBus(0, false))
	r.mix(5000 + 256)
	x := r.left(20000)
	depth := math.Pow(10, -12.0/20)
	for _, c := range []struct {
		at   int
		want float64
	}{
		{100, 0.5 * (depth + (1-depth)*math.Exp(-1))},
		{1000, 0.5 * depth},
		{3000 + 900, 0.5 * depth},
		{4000 + 500, 0.5 * (1 - (1-depth)*math.Exp(-1))},
		{15000, 0.5},
	} {
		speech := 0.0
		if c.at < 3000-256 {
			speech = 0.00001
		}
		if got := float64(x[c.at-1]) - speech; math.Abs(got-c.want) > 0.002 {
			t.Errorf("frame %d behind the start of the speech: %.4f, want %.4f", c.at, got, c.want)
		}
	}
	r.ok(r.SetDuck(music, nil))
	r.play(level(0.2, 5000), in(speech))
	if x := r.left(4000); math.Abs(float64(x[3999])-0.7) > 1e-6 {
		t.Errorf("without ducking: %v, want 0.7", x[3999])
	}
}

// interleave is n frames of two constants.
func interleave(left, right float32, n int) (x []float32) {
	for range n {
		x = append(x, left, right)
	}
	return x
}

// Buses, ducks and pauses do not depend on the blocks.
func TestBusesAreDeterministic(t *testing.T) {
	seed := rand.Uint64()
	run := func(size int) []float32 {
		rnd := rand.New(rand.NewPCG(seed, 0))
		r := newRig(t, Config{Rate: 8000, Voices: 1000, Queue: 5000})
		var buses []Bus
		buses = append(buses, 0)
		for range 6 {
			buses = append(buses, r.bus(buses[rnd.IntN(len(buses))]))
		}
		for _, b := range buses[1:] {
			r.ok(r.SetDuck(b, &Duck{By: buses[rnd.IntN(len(buses))], Threshold: -10, Depth: -10, Attack: 50, Hold: 100, Release: 300}))
		}
		r.ok(r.SetEffect(buses[2], func(in beep.Streamer) beep.Streamer { return &delayed{in: in, line: make([]float64, 777)} }))
		p := noise16(seed, 1, 2000)
		var ids []Voice
		for range 60 {
			o := Params{At: rnd.Int64N(6000), Gain: -rnd.Float64() * 20, Bus: buses[rnd.IntN(len(buses))]}
			if len(ids) > 0 && rnd.IntN(3) == 0 {
				o.After = ids[rnd.IntN(len(ids))]
			}
			ids = append(ids, r.play(p, o))
			c := r.At(1 + rnd.Int64N(6000))
			b, on := buses[rnd.IntN(len(buses))], rnd.IntN(2) == 0
			switch rnd.IntN(7) {
			case 0:
				r.ok(c.SetBusGain(b, -rnd.Float64()*10))
			case 1:
				r.ok(c.FadeBus(b, Fade{Gain: -rnd.Float64() * 10, Frames: rnd.IntN(500), Curve: Curve(rnd.IntN(4))}))
			case 2:
				r.ok(c.MuteBus(b, on))
			case 3:
				r.ok(c.SoloBus(b, on))
			case 4:
				r.ok(c.PauseBus(b, on))
			case 5:
				r.ok(c.SetEffect(b, func(in beep.Streamer) beep.Streamer { return &effects.Gain{Streamer: in, Gain: rnd.Float64() - 0.5} }))
			case 6:
				r.ok(c.StopBus(buses[6], rnd.IntN(200)))
			}
		}
		var out []float32
		for len(out) < 12000 {
			out = append(out, r.mix(min(size, 6000-len(out)/2))...)
		}
		return out
	}
	want := run(6000)
	for _, size := range []int{1, 39, 40, 256, 257, 1000} {
		compareBits(t, seed, size, run(size), want)
	}
}
