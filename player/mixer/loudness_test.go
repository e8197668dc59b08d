package mixer

import (
	"math"
	"testing"
)

// phasedTone is a sine on both sides, its first sample at phase (in turns).
func phasedTone(hz, amplitude, phase float64, rate, frames int) []float32 {
	x := make([]float32, 2*frames)
	for i := range frames {
		v := float32(amplitude * math.Sin(2*math.Pi*(hz*float64(i)/float64(rate)+phase)))
		x[2*i], x[2*i+1] = v, v
	}
	return x
}

func TestLoudnessOfATone(t *testing.T) {
	for _, rate := range []int{48000, 44100, 22050} {
		l := NewLoudness(rate, false)
		x := phasedTone(1000, math.Pow(10, -23.0/20), 0, rate, 5*rate)
		for len(x) > 0 { // in uneven blocks
			n := min(len(x), 2*777)
			l.Add(x[:n])
			x = x[n:]
		}
		if m := l.Meter(); math.Abs(m.Integrated+23) > 0.1 || math.Abs(m.ShortTerm+23) > 0.1 {
			t.Errorf("%d Hz: %.2f LUFS integrated, %.2f short-term; want -23", rate, m.Integrated, m.ShortTerm)
		}
	}
}

func TestLoudnessOfAShortTone(t *testing.T) {
	l := NewLoudness(48000, true)
	if got := l.Short(); !math.IsInf(got, -1) {
		t.Errorf("of nothing: %v", got)
	}
	l.Add(phasedTone(1000, math.Pow(10, -23.0/20), 0, 48000, 48000/20)) // half a hop
	if got := l.Short(); math.Abs(got+23) > 0.3 {
		t.Errorf("of 50 ms: %.2f LUFS, want -23", got)
	}
}

// A quarter of the rate, sampled at 45 degrees, has its peaks in the middle between samples
// (BS.1770-5, annex 2, attachment 1).
func TestTruePeak(t *testing.T) {
	for i, c := range []struct {
		hz, amplitude, phase float64
		want                 float64
	}{
		{12000, 1, 0.125, 1}, {12000, 0.5, 0.125, 0.5}, {8000, 0.7, 1.0 / 12, 0.7}, {997, 0.9, 0, 0.9}, {6000, 1.2, 0.0625, 1.2},
	} {
		l := NewLoudness(48000, true)
		x := phasedTone(c.hz, c.amplitude, c.phase, 48000, 9600)
		for f := range 480 { // faded in and out: a step has a peak of its own
			g := float32(f) / 480
			for s := range 2 {
				x[2*f+s] *= g
				x[len(x)-1-2*f-s] *= g
			}
		}
		l.Add(x)
		l.Add(make([]float32, 64))
		if got := l.TruePeak(); math.Abs(20*math.Log10(got/c.want)) > 0.2 {
			t.Errorf("tone %d: true peak %.4f, want %.4f", i, got, c.want)
		}
	}
}

// What is skipped for speed would not have been the peak.
func TestTruePeakSkipsNothingThatCounts(t *testing.T) {
	const seed = 3
	x := make([]float32, 2*20000)
	state := uint32(seed)
	for i := range x {
		state = state*1664525 + 1013904223
		x[i] = (float32(state>>8)/(1<<23) - 1) * float32(i%7000) / 7000
	}
	l := NewLoudness(48000, true)
	l.Add(x)
	want := float32(0)
	frames := make([]frame, len(x)/2)
	for i := range frames {
		frames[i] = frame{x[2*i], x[2*i+1]}
	}
	want = largest(frames)
	for k := 0; k+2*peakReach <= len(frames); k++ {
		want = max(want, between(&l.points, (*[2 * peakReach]frame)(frames[k:])))
	}
	if got := l.TruePeak(); got != float64(want) {
		t.Errorf("true peak %v, want %v (seed %d)", got, want, seed)
	}
}

func BenchmarkLoudness(b *testing.B) {
	l := NewLoudness(48000, true)
	x := phasedTone(440, 0.7, 0, 48000, 4800)
	b.ReportAllocs()
	b.SetBytes(4800)
	for b.Loop() {
		l.Add(x)
	}
}
