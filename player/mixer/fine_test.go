package mixer

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// kinds are the ways to interpolate, by name.
var kinds = map[string]Interpolation{"cubic": Cubic, "sinc": Sinc}

// How true the sinc is, beside the cubic: what is left of a tone beside itself, and how much of it.
func TestFineTones(t *testing.T) {
	for _, c := range []struct{ hz, pitch, most, better float64 }{
		{1000, 0.7, -90, 0}, {1000, 44100.0 / 48000, -90, 0}, {1000, 1.5, -90, -20},
		{5000, 0.5, -88, 30}, {5000, 0.7, -88, 40}, {5000, 1.05, -88, 40}, {5000, 1.5, -88, 40}, {5000, 3.3, -88, 30},
		{10000, 0.7, -88, 60}, {10000, 1.25, -88, 60}, {15000, 0.7, -85, 60}, {15000, 1.05, -85, 60}, {18000, 0.9, -85, 60},
	} {
		for channels := 1; channels <= 2; channels++ {
			var left, level [2]float64
			for i := range left {
				r := newRig(t, Config{})
				r.play(tone(c.hz, 48000, channels, int(c.pitch*10000)+100), Params{Pitch: c.pitch, Interpolation: Interpolation(i)})
				a, rest := fit(r.left(10000)[100:9900], c.hz*c.pitch, 48000)
				level[i], left[i] = 20*math.Log10(a), rest-20*math.Log10(a)
			}
			t.Logf("%v Hz at pitch %.3f, %d channels: %.1f dB beside the tone, the cubic %.1f", c.hz, c.pitch, channels, left[Sinc], left[Cubic])
			if left[Sinc] > c.most || left[Sinc] > left[Cubic]-c.better || math.Abs(level[Sinc]) > 0.1 {
				t.Errorf("%v Hz at pitch %.3f, %d channels: %.1f dB beside the tone, want below %v and %v below the cubic's %.1f; the tone %.3f dB",
					c.hz, c.pitch, channels, left[Sinc], c.most, c.better, left[Cubic], level[Sinc])
			}
		}
	}
}

// What a pitch takes beyond half of the rate is gone, where it would fold back to below 19 kHz.
func TestFineAliases(t *testing.T) {
	for _, pitch := range []float64{1.1, 1.25, 1.5, 2, 2.1, 3, 4, 8} {
		for _, hz := range []float64{29050, 29500, 31000, 35000, 40000, 47000, 55000, 70000} {
			if hz/pitch >= 24000 {
				continue
			}
			var left [2]float64
			for i := range left {
				r := newRig(t, Config{})
				r.play(tone(hz/pitch, 48000, 1, int(pitch*5000)+1), Params{Pitch: pitch, Interpolation: Interpolation(i)})
				for _, x := range r.left(5000)[200:4800] {
					left[i] += float64(x) * float64(x)
				}
				left[i] = 10 * math.Log10(2*left[i]/4600+1e-20)
			}
			if left[Sinc] > -78 || left[Cubic] < -20 {
				t.Errorf("pitch %v to %v Hz: %.1f dB, want below -78; the cubic %.1f, want it heard", pitch, hz, left[Sinc], left[Cubic])
			}
		}
	}
}

// At whole frames the sound is what it is, bit for bit, so that going over to a pitch below 1 is smooth.
func TestFineWholeFrames(t *testing.T) {
	for _, p := range []*PCM{noise16(1, 1, 300), noise16(2, 2, 300), float(noise16(3, 1, 300)), float(noise16(4, 2, 300))} {
		r, plain := newRig(t, Config{}), newRig(t, Config{})
		r.play(p, Params{Pitch: 0.25, Interpolation: Sinc, Loop: &Loop{Start: 100, End: 250, Count: 3}})
		plain.play(p, Params{Loop: &Loop{Start: 100, End: 250, Count: 3}})
		got, want := r.mix(4*700), plain.mix(700)
		for i := range want {
			if x := got[i/2*8+i%2]; x != want[i] {
				t.Fatalf("%d channels, sample %d: %v, want %v", p.Channels, i, x, want[i])
			}
		}
	}
}

// Across the seam the frames lie side by side, also where the loop is shorter than the filter.
func TestFineSeam(t *testing.T) {
	for _, c := range []struct {
		hz, pitch float64
		frames    int64
	}{{5000, 0.7, 48}, {5000, 1.7, 48}, {10000, 0.7, 24}, {12000, 0.9, 4}, {6000, 1.3, 8}, {1000, 7.7, 96}} {
		p := float(noise16(1, 1, 9600)) // around the loop
		copy(p.F32[4800:], tone(c.hz, 48000, 1, int(c.frames)).F32)
		r := newRig(t, Config{})
		r.play(p, Params{Pitch: c.pitch, Interpolation: Sinc, Loop: &Loop{Start: 4800, End: 4800 + c.frames}})
		r.mix(12000)
		if a, rest := fit(r.left(5000), c.hz*c.pitch, 48000); rest-20*math.Log10(a) > -80 {
			t.Errorf("%v Hz at pitch %v in a loop of %d frames leaves %.1f dB beside the tone", c.hz, c.pitch, c.frames, rest-20*math.Log10(a))
		}
	}
}

// A feed played as it is for a while has its past once the pitch moves; its position is what is heard.
func TestFineFeed(t *testing.T) {
	for _, channels := range []int{1, 2} {
		var out [2][]float32
		var at [2]int64
		p := float(noise16(5, channels, 9000))
		for i, start := range []func(r rig, o Params) Voice{
			func(r rig, o Params) Voice { return r.play(p, o) },
			func(r rig, o Params) Voice { return r.feed(&soundFeed{p: p}, o) },
		} {
			r := newRig(t, Config{})
			id := start(r, Params{Interpolation: Sinc})
			r.ok(r.At(50).SetPitch(id, 0.3))
			r.ok(r.At(1000).SetPitch(id, 5))
			r.ok(r.At(1100).SetPitch(id, 1))
			out[i] = r.mix(3000)
			at[i] = r.State(id).Position
			out[i] = append(out[i], r.mix(7000)...)
			if !r.State(id).Ended {
				t.Errorf("%d channels, way %d: not ended", channels, i)
			}
		}
		if !slices.Equal(out[0], out[1]) {
			t.Errorf("%d channels: a feed gives other frames than memory", channels)
		}
		if at[0] != at[1] {
			t.Errorf("%d channels: at frame %d of a feed, %d in memory", channels, at[1], at[0])
		}
	}
}

// One slot's next feed knows nothing of the one before.
func TestFineFeedIsNew(t *testing.T) {
	m := newRig(t, Config{Voices: 1})
	var outs [2][]float32
	for i := range outs {
		m.feed(&soundFeed{p: float(noise16(1, 2, 300))}, Params{Pitch: 0.7, Interpolation: Sinc})
		outs[i] = m.mix(1000)
	}
	if !slices.Equal(outs[0], outs[1]) {
		t.Error("the second time it sounds otherwise")
	}
}

func TestFineValue(t *testing.T) {
	if _, err := New(Config{}).PlayPCM(count(1), Params{Interpolation: Sinc + 1}); !errors.Is(err, ErrValue) {
		t.Errorf("%v, want ErrValue", err)
	}
}
