package mixer

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopxl/beep/v2"
	"github.com/sndpak/sndpak/player/internal/streamtest"
)

// A rig is a mixer driven by hand.
type rig struct {
	*Mixer
	t testing.TB
}

func newRig(t testing.TB, c Config) rig { return rig{New(c), t} }

// seconds is a rig at a rate so low that a ramp is one frame and every command takes effect at
// once: frame n can be second n.
func seconds(t testing.TB) rig { return newRig(t, Config{Rate: 1}) }

// mix returns the next n frames, interleaved.
func (r rig) mix(n int) []float32 {
	block := make([]float32, 2*n)
	r.Mix(block)
	return block
}

// left returns the left side of the next n frames.
func (r rig) left(n int) []float32 {
	x := r.mix(n)
	for i := range n {
		x[i] = x[2*i]
	}
	return x[:n]
}

// want compares the left side of the next frames.
func (r rig) want(what string, want ...float32) {
	r.t.Helper()
	at := r.now
	got := r.left(len(want))
	for i := range want {
		if got[i] != want[i] {
			r.t.Errorf("%s: frame %d is %v, want %v (got %v, want %v)", what, at+int64(i), got[i], want[i], got, want)
			return
		}
	}
}

func (r rig) play(p *PCM, v Params) Voice {
	r.t.Helper()
	id, err := r.PlayPCM(p, v)
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r rig) feed(f Feed, v Params) Voice {
	r.t.Helper()
	id, err := r.PlayFeed(f, v)
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

// ok fails the test on an error.
func (r rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// count is mono PCM of the frames 1, 2, 3 ... n.
func count(n int) *PCM {
	p := &PCM{Channels: 1, F32: make([]float32, n)}
	for i := range p.F32 {
		p.F32[i] = float32(i + 1)
	}
	return p
}

// A lone voice at 0 dB in the centre comes out bit for bit, in every form, at any block size.
func TestLoneVoiceIsExact(t *testing.T) {
	for _, p := range []*PCM{noise16(1, 1, 1000), noise16(2, 2, 1000), float(noise16(3, 1, 1000)), float(noise16(4, 2, 1000))} {
		for _, size := range []int{1, 3, 64, 256, 257, 1000, 5000} {
			r := newRig(t, Config{})
			r.play(p, Params{})
			var got []float32
			for len(got) < 2000 {
				got = append(got, r.mix(size)...)
			}
			for i := range got {
				want := float32(0)
				if k := i / 2; k < 1000 && p.Channels == 1 {
					want = p.floats(make([]float32, 1000), 0)[k]
				} else if k < 1000 {
					want = p.floats(make([]float32, 2000), 0)[i]
				}
				if got[i] != want {
					t.Fatalf("%d channels, blocks of %d: sample %d is %v, want %v", p.Channels, size, i, got[i], want)
				}
			}
		}
	}
}

func TestGain(t *testing.T) {
	p := &PCM{Channels: 1, S16: slices.Repeat([]int16{16384}, 100)}
	for _, c := range []struct{ dB, factor float64 }{
		{0, 1}, {-6, 0.5011872336272722}, {6, 1.9952623149688795}, {-20, 0.1}, {20, 10}, {-60, 0.001}, {60, 1000}, {math.Inf(-1), 0}, {-181, 0},
	} {
		r := newRig(t, Config{})
		r.play(p, Params{Gain: c.dB})
		if got, want := r.left(1)[0], float32(0.5*c.factor); math.Abs(float64(got-want)) > 1e-7*c.factor {
			t.Errorf("%v dB: %v, want %v", c.dB, got, want)
		}
	}
}

// Equal power: the squares of both sides add up to the same at every pan.
func TestPan(t *testing.T) {
	p := &PCM{Channels: 1, F32: slices.Repeat([]float32{0.5}, 100)}
	q := &PCM{Channels: 2, F32: slices.Repeat([]float32{0.5}, 200)}
	for pan := -1.0; pan <= 1; pan += 1.0 / 64 {
		for _, sound := range []*PCM{p, q} {
			r := newRig(t, Config{})
			r.play(sound, Params{Pan: pan})
			x := r.mix(1)
			l, rr := float64(x[0]), float64(x[1])
			if power := l*l + rr*rr; math.Abs(power-0.5) > 1e-6 {
				t.Errorf("pan %v: power %v, want 0.5", pan, power)
			}
			if want := math.Tan(math.Pi / 4 * (1 + pan)); pan < 1 && math.Abs(rr/l-want) > 1e-5*(1+want) {
				t.Errorf("pan %v: right is %v of left, want %v", pan, rr/l, want)
			}
			if pan == -1 && rr != 0 || pan == 1 && l != 0 || pan == 0 && (l != 0.5 || rr != 0.5) {
				t.Errorf("pan %v: %v and %v", pan, l, rr)
			}
		}
	}
}

func TestSum(t *testing.T) {
	r := seconds(t)
	r.play(count(4), Params{})
	r.play(count(2), Params{Gain: 20})
	r.play(&PCM{Channels: 2, S16: []int16{16384, -16384}}, Params{At: 1})
	got := r.mix(5)
	want := []float32{11, 11, 22.5, 21.5, 3, 3, 4, 4, 0, 0}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOddBlocks(t *testing.T) {
	r := seconds(t)
	r.play(count(9), Params{})
	block := []float32{7, 7, 7}
	r.Mix(block)
	if !slices.Equal(block, []float32{1, 1, 0}) {
		t.Errorf("a block of 3 samples became %v, want a frame and a 0", block)
	}
	r.Mix(nil)
	r.want("after an empty block", 2, 3)
	if r.Time() != 3 {
		t.Errorf("time is %d, want 3", r.Time())
	}
}

func TestStream(t *testing.T) {
	p := noise16(5, 2, 3000)
	m := New(Config{})
	if _, err := m.PlayPCM(p, Params{}); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, size := range []int{0, 1, 255, 256, 257, 1000, 4000} {
		samples := make([][2]float64, size)
		n, ok := m.Stream(samples)
		if n != size || !ok || m.Err() != nil {
			t.Fatalf("Stream of %d: %d, %v, %v; it is never drained", size, n, ok, m.Err())
		}
		for i, f := range samples {
			var want [2]float64
			if at+i < 3000 {
				want = [2]float64{float64(p.S16[2*(at+i)]) / 32768, float64(p.S16[2*(at+i)+1]) / 32768}
			}
			if f != want {
				t.Fatalf("frame %d: %v, want %v", at+i, f, want)
			}
		}
		at += size
	}
}

// A Mixer is a beep.Streamer.
func TestStreamContract(t *testing.T) {
	if underRace {
		t.Skip("a million blocks on one goroutine: nothing for the race detector")
	}
	p, q := noise16(6, 2, 30000), float(noise16(7, 1, 20000))
	streamtest.Check(t, func() beep.Streamer {
		r := newRig(t, Config{})
		r.play(p, Params{Loop: &Loop{}, Gain: -6})
		id := r.play(q, Params{At: 777, Pan: 0.5})
		r.ok(r.At(1000).SetGain(id, -20))
		r.ok(r.At(5000).Seek(id, 99))
		return r.Mixer
	})
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		Config
		rate, voices, queue int
	}{
		{Config{}, 48000, 256, 1024},
		{Config{Rate: 44100, Voices: 10, Queue: 20}, 44100, 10, 20},
		{Config{Rate: -1, Voices: -1, Queue: -1, Heard: -1}, 1, 1, 1},
		{Config{Rate: 1 << 30, Voices: 1 << 30, Queue: 1 << 30, Heard: 1 << 30}, 1 << 20, 65536, 1 << 20},
	} {
		m := New(c.Config)
		if m.Rate() != c.rate || len(m.voices) != c.voices || int(m.desk.most) != c.queue {
			t.Errorf("%+v: rate %d, %d voices, queue of %d", c, m.Rate(), len(m.voices), m.desk.most)
		}
	}
}

func TestMaster(t *testing.T) {
	r := seconds(t)
	r.play(count(9), Params{})
	r.want("at 0 dB", 1, 2)
	r.ok(r.SetMaster(20))
	r.want("at 20 dB", 30, 40)
	r.ok(r.SetMaster(math.Inf(-1)))
	r.want("silent", 0, 0)
	r.ok(r.At(7).SetMaster(0))
	r.want("back at frame 7", 0, 8, 9, 0)
}

func TestErrors(t *testing.T) {
	m := New(Config{Voices: 2, Queue: 3})
	p := count(10)
	loop := func(start, end int64, n int) Params { return Params{Loop: &Loop{start, end, n}} }
	for _, bad := range []Params{
		{Gain: math.NaN()}, {Gain: 61}, {Gain: math.Inf(1)}, {Pan: math.NaN()}, {Pan: 1.01}, {Pan: -2},
		{Start: -1}, {Length: -1}, {FadeIn: -1}, loop(-1, 0, 0), loop(5, 5, 0), loop(5, 4, 0), loop(0, -1, 0), loop(0, 0, -1),
	} {
		if v, err := m.PlayPCM(p, bad); v != 0 || !errors.Is(err, ErrValue) {
			t.Errorf("%+v: %v, %v; want ErrValue", bad, v, err)
		}
	}
	for _, bad := range []*PCM{nil, {}, {Channels: 3, S16: make([]int16, 3)}, {Channels: -1}, {Channels: 1, S16: make([]int16, 1), F32: make([]float32, 1)}} {
		if v, err := m.PlayPCM(bad, Params{}); v != 0 || !errors.Is(err, ErrValue) {
			t.Errorf("%+v: %v, %v; want ErrValue", bad, v, err)
		}
	}
	for i, err := range []error{
		m.SetGain(1, math.NaN()), m.SetPan(1, 2), m.SetMaster(99), m.Stop(1, -1), m.SetLoop(1, &Loop{Start: -1}),
		m.Seek(feedBit, 0), m.SetLoop(feedBit, nil),
	} {
		if !errors.Is(err, ErrValue) {
			t.Errorf("case %d: %v, want ErrValue", i, err)
		}
	}
	for range 2 {
		if v, err := m.PlayPCM(p, Params{}); v == 0 || err != nil {
			t.Fatal(v, err)
		}
	}
	if v, err := m.PlayPCM(p, Params{}); v != 0 || err != ErrVoices {
		t.Errorf("third of two voices: %v, %v; want ErrVoices", v, err)
	}
	if err := m.SetMaster(0); err != nil {
		t.Error(err)
	}
	if err := m.SetMaster(0); err != ErrFull {
		t.Errorf("fourth of three commands: %v, want ErrFull", err)
	}
	if v, err := m.PlayPCM(p, Params{}); v != 0 || err != ErrFull {
		t.Errorf("start with a full queue: %v, %v; want ErrFull", v, err)
	}
	if s := m.Stats(); s.Dropped != 2 {
		t.Errorf("%d commands dropped, want 2", s.Dropped)
	}
	m.Mix(make([]float32, 2))
	if err := m.SetMaster(0); err != nil {
		t.Errorf("after a block the queue is empty, but: %v", err)
	}
}

// Commands whose frame is still to come count as under way, so that the plan is bounded too.
func TestPlanIsBounded(t *testing.T) {
	m := New(Config{Rate: 1, Queue: 4})
	for i := range 4 {
		if err := m.At(int64(10 + i)).SetMaster(0); err != nil {
			t.Fatal(err)
		}
	}
	for now := range 14 {
		err := m.SetMaster(0)
		if want := now <= 10; (err == ErrFull) != want {
			t.Errorf("frame %d: %v", now, err)
		}
		m.Mix(make([]float32, 2))
	}
}

// The order of commands of one frame is that in which they were given, planned or not.
func TestPlanOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	type key struct{ at, order int64 }
	var p plan
	var want []key
	for i := range 500 {
		k := key{rnd.Int64N(50), int64(i)}
		want = append(want, k)
		p.push(&command{at: k.at, order: k.order})
	}
	slices.SortFunc(want, func(a, b key) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return int(a.order - b.order)
	})
	for i, w := range want {
		if c := p.pop(); (key{c.at, c.order}) != w {
			t.Fatalf("command %d is %d at %d, want %d at %d", i, c.order, c.at, w.order, w.at)
		}
	}
}

// Nothing that a sound holds makes the mix anything but finite numbers.
func TestHostileSamples(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, channels := range []int{1, 2} {
		bad := &PCM{Channels: channels, F32: []float32{nan, inf, -inf, 3e38, -3e38, 0.25, nan, 0.5}}
		for range 5 {
			bad.F32 = append(bad.F32, bad.F32...)
		}
		r := newRig(t, Config{})
		for i := range 256 {
			r.play(bad, Params{Gain: 60, Pan: float64(i%3 - 1)})
		}
		for i, x := range r.mix(300) {
			if x-x != 0 {
				t.Fatalf("%d channels: sample %d of the mix is %v", channels, i, x)
			}
		}
		r = newRig(t, Config{})
		r.play(bad, Params{})
		x := r.mix(8 / channels)
		want := []float32{0, sampleMax, -sampleMax, sampleMax, -sampleMax, 0.25, 0, 0.5}
		for i, w := range want {
			if got := x[i*2/channels]; got != w {
				t.Errorf("%d channels: sample %v is mixed as %v, want %v", channels, bad.F32[i], got, w)
			}
		}
	}
}

func TestSane(t *testing.T) {
	next := math.Nextafter32(sampleMax, 2*sampleMax)
	for _, c := range []struct {
		x    float32
		sane bool
	}{
		{0, true}, {1, true}, {-1, true}, {sampleMax, true}, {-sampleMax, true}, {next, false}, {-next, false},
		{math.MaxFloat32, false}, {math.SmallestNonzeroFloat32, true}, {float32(math.NaN()), false}, {float32(math.Inf(-1)), false},
	} {
		for n := 1; n < 10; n++ {
			for i := range n {
				x := make([]float32, n)
				x[i] = c.x
				if got := sane(x); got != c.sane {
					t.Errorf("%v at %d of %d: sane %v, want %v", c.x, i, n, got, c.sane)
				}
			}
		}
	}
}
