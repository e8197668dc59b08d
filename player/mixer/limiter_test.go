package mixer

import (
	"math"
	"math/rand/v2"
	"testing"
)

// truePeak is the highest point of the wave between the frames of x, on either side, by a sinc over
// 64 frames at sixteen points a frame.
func truePeak(x []float32) (peak float64) {
	const half, points = 32, 16
	var rows [points][2 * half]float64
	for p := range rows {
		for k := range rows[p] {
			u := float64(k-half+1) - float64(p)/points
			if w := 1 - u*u/half/half; w > 0 {
				rows[p][k] = sinc(u) * bessel(8*math.Sqrt(w)) / bessel(8)
			}
		}
	}
	for side := range 2 {
		for i := half; i < len(x)/2-half; i++ {
			for p := range rows {
				sum := 0.0
				for k, c := range rows[p] {
					sum += c * float64(x[2*(i+k-half+1)+side])
				}
				peak = max(peak, math.Abs(sum))
			}
		}
	}
	return peak
}

// The true peak of 64 voices at full scale stays below full scale, whatever they hold.
func TestLimiterTruePeak(t *testing.T) {
	square := &PCM{Channels: 1, S16: make([]int16, 4000)}
	for i := range square.S16 {
		square.S16[i] = int16(32767 * (1 - 2*(i/48%2)))
	}
	worst := &PCM{Channels: 2, S16: make([]int16, 8000)} // peaks of a tone of a quarter of the rate lie between frames
	for i := range worst.S16 {
		worst.S16[i] = int16(32767 * (1 - 2*(i/4%2)))
	}
	for name, p := range map[string]*PCM{
		"noise": noise16(1, 2, 6000), "square": square, "between frames": worst, "tone": tone(997, 48000, 1, 6000),
	} {
		for _, rate := range []int{48000, 44100, 8000} {
			r := newRig(t, Config{Rate: rate, Limiter: true})
			rnd := rand.New(rand.NewPCG(1, 1))
			for range 64 {
				r.play(p, Params{Loop: &Loop{}, Start: rnd.Int64N(100), Pan: rnd.Float64()*2 - 1, At: rnd.Int64N(3) * 1000, Pitch: 1})
			}
			x := r.mix(6000)
			peak := truePeak(x)
			level := 0.0
			for _, v := range x[2000:] {
				level += float64(v) * float64(v)
			}
			t.Logf("%s at %d Hz: true peak %.2f dB, RMS %.2f dB", name, rate, 20*math.Log10(peak), 10*math.Log10(level/float64(len(x)-2000)))
			if peak >= 1 {
				t.Errorf("%s at %d Hz: true peak %.3f", name, rate, peak)
			}
			if level/float64(len(x)-2000) < 0.01 {
				t.Errorf("%s at %d Hz: next to nothing is left", name, rate)
			}
		}
	}
}

// Below full scale every bit is kept, in its place.
func TestLimiterKeepsBits(t *testing.T) {
	p := noise16(1, 2, 5000)
	for _, size := range []int{1, 17, 256, 1000} {
		r := newRig(t, Config{Limiter: true})
		r.play(p, Params{})
		r.play(p, Params{At: 6000}) // comes where it is planned
		var x []float32
		for len(x) < 2*12000 {
			x = append(x, r.mix(size)...)
		}
		for i := range x[:2*12000] {
			want := float32(0)
			switch n := i / 2; {
			case n < 5000:
				want = float32(p.S16[i]) / 32768
			case n >= 6000 && n < 11000:
				want = float32(p.S16[i-12000]) / 32768
			}
			if x[i] != want {
				t.Fatalf("blocks of %d: sample %d is %v, want %v", size, i, x[i], want)
			}
		}
	}
}

// The same bits for any block, and the gain back at exactly 1 some time behind a peak.
func TestLimiterIsDeterministic(t *testing.T) {
	p := noise16(1, 2, 40000)
	run := func(size int) []float32 {
		r := newRig(t, Config{Rate: 8000, Limiter: true})
		r.play(p, Params{Gain: -3})
		r.play(noise16(2, 1, 2000), Params{Gain: 10, At: 777})
		r.play(noise16(2, 1, 10), Params{Gain: 40, At: 4000})
		var x []float32
		for len(x) < 2*20000 {
			x = append(x, r.mix(min(size, 20000-len(x)/2))...)
		}
		return x
	}
	want := run(20000)
	for _, size := range []int{1, 7, 255, 256, 1000} {
		compareBits(t, 0, size, run(size), want)
	}
	g, _ := amplitude(-3)
	for i := 2 * 19600; i < len(want); i++ {
		if own := float32(p.S16[i]) * (g * scale16); want[i] != own {
			t.Fatalf("sample %d is %v long behind the peaks, want %v", i, want[i], own)
		}
	}
}

// The gain moves without a step: a tone that is limited keeps its shape.
func TestLimiterIsSmooth(t *testing.T) {
	r := newRig(t, Config{Limiter: true})
	r.play(tone(1000, 48000, 1, 48000), Params{Gain: 12})
	x := r.left(40000)[1000:]
	a, rest := fit(x, 1000, 48000)
	if dB := rest - 20*math.Log10(a); dB > -60 || a < 0.83 || a > ceiling {
		t.Errorf("amplitude %.3f, %.1f dB beside the tone", a, dB)
	} else {
		t.Logf("amplitude %.3f, %.1f dB beside the tone", a, dB)
	}
}

func TestLimiterLookAhead(t *testing.T) {
	const look = 48000/750 + peakReach
	r := newRig(t, Config{Limiter: true})
	id := r.play(count(20000), Params{Gain: math.Inf(-1)})
	r.mix(1000)
	if s := r.State(id); r.Time() != 1000 || s.Position != 1000+look {
		t.Errorf("time %d, position %d; want 1000, and %d frames ahead", r.Time(), s.Position, look)
	}
	r.play(level(0.5, 10), Params{})
	if x := r.left(100); x[look-1] != 0 || x[look] != 0.5 {
		t.Errorf("a start at once is heard as %v", x[look-2:look+2])
	}
	r.ok(r.Stop(id, 0)) // in frame 1100, which is mixed as the one look frames later, over 240 frames
	r.mix(240 + look - 1)
	if _, idle := r.Idle(); idle {
		t.Error("idle before all is given")
	}
	r.mix(1)
	if last, idle := r.Idle(); !idle || last != 1100+look+240 {
		t.Errorf("idle %v since %d, want since %d", idle, last, 1100+look+240)
	}
}

// Whoever mixes until the mixer is idle has all of the sound, what the limiter held back included, of a
// quiet sound as of one that it works on.
func TestLimiterGivesItsTail(t *testing.T) {
	for _, gain := range []float64{0, 20} {
		for _, size := range []int{1, 64, 1000} {
			r := newRig(t, Config{Limiter: true})
			p := noise16(1, 2, 3000)
			for i := len(p.S16) - 20; i < len(p.S16); i++ {
				p.S16[i] = 32767 // its end is its loudest
			}
			r.play(p, Params{Gain: gain})
			var x []float32
			for idle := false; !idle && len(x) < 2*10000; _, idle = r.Idle() {
				x = append(x, r.mix(size)...)
			}
			last, idle := r.Idle()
			if !idle || last < 3000 || int64(len(x)/2) < last || int64(len(x)/2) > last+int64(size) {
				t.Errorf("gain %v, blocks of %d: idle %v behind frame %d, %d frames given", gain, size, idle, last, len(x)/2)
			}
			if end := x[2*(last-10)]; end < 0.5 {
				t.Errorf("gain %v, blocks of %d: ten frames before the end it is %v", gain, size, end)
			}
		}
	}
}

// At rates too low to look ahead samples are held all the same.
func TestLimiterLowRate(t *testing.T) {
	r := newRig(t, Config{Rate: 10, Limiter: true})
	r.play(count(5), Params{})
	for i, v := range r.left(5) {
		if v <= 0.1 || v > 1 {
			t.Errorf("frame %d is %v", i, v)
		}
	}
}

func BenchmarkLimiter(b *testing.B) {
	for name, gain := range map[string]float32{"at rest": 0.1, "at work": 3} {
		b.Run(name, func(b *testing.B) {
			l := newLimiter(48000)
			x := make([]frame, 256)
			src := noise16(1, 2, 256)
			b.ReportAllocs()
			for b.Loop() {
				for i := range x {
					x[i] = frame{float32(src.S16[2*i]) * gain / 32768, float32(src.S16[2*i+1]) * gain / 32768}
				}
				l.run(x)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*256), "ns/frame")
		})
	}
}
