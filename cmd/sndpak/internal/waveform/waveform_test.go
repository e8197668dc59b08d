package waveform

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/sndpak/sndpak/player/decode"
)

// wav is a WAV file of 16-bit samples.
func wav(rate, channels int, samples ...int16) []byte {
	var b bytes.Buffer
	b.WriteString("RIFF")
	binary.Write(&b, binary.LittleEndian, uint32(36+2*len(samples)))
	b.WriteString("WAVEfmt ")
	binary.Write(&b, binary.LittleEndian, []uint32{16, uint32(channels)<<16 | 1, uint32(rate), uint32(2 * rate * channels), 16<<16 | uint32(2*channels)})
	b.WriteString("data")
	binary.Write(&b, binary.LittleEndian, uint32(2*len(samples)))
	binary.Write(&b, binary.LittleEndian, samples)
	return b.Bytes()
}

func open(t testing.TB, b []byte) *decode.Stream {
	t.Helper()
	s, err := decode.Open(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// sine is a tone, rounded to 16 bits.
func sine(hz, amplitude float64, rate, frames int) []int16 {
	x := make([]int16, frames)
	for i := range x {
		x[i] = int16(math.Round(32767 * amplitude * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))))
	}
	return x
}

func TestColumnsOfFewFrames(t *testing.T) {
	s := open(t, wav(8000, 2, 16384, -32768, -16384, 0, 8192, 8192, 0, 0))
	p := NewPeaks(s.Info())
	if err := Read(context.Background(), s, nil, p); err != nil {
		t.Fatal(err)
	}
	for c, want := range [][]Column{
		{{-0.5, 0.5, 0.5, false}, {0, 0.25, float32(0.25 / math.Sqrt2), false}},
		{{-1, 0, float32(1 / math.Sqrt2), false}, {0, 0.25, float32(0.25 / math.Sqrt2), false}},
	} {
		for i, got := range p.Columns(c, 0, p.Frames(), 2) {
			if got != want[i] {
				t.Errorf("channel %d, column %d: %+v, want %+v", c, i, got, want[i])
			}
		}
	}
	if got := p.Columns(0, 0, 4, 8); got[0] != got[1] || got[0].Max != 0.5 || got[7].Max != 0 {
		t.Errorf("more columns than frames: %+v", got)
	}
	if got := p.Columns(0, 3, 2, 5); len(got) != 5 || got[0] != (Column{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

// Whatever the width, the part and the blocks: no peak is lost, and none is told where it is not.
func TestColumnsAgainstTheSamples(t *testing.T) {
	const seed, frames = 7, 3*mostCells + 1234
	r := rand.New(rand.NewPCG(seed, seed))
	x := make([]float32, frames)
	for i := range x {
		x[i] = float32(r.NormFloat64() * 0.1)
	}
	p := NewPeaks(decode.Info{Channels: 1, Bits: 16})
	for at := 0; at < frames; {
		n := min(1+r.IntN(5000), frames-at)
		p.Add(x[at : at+n])
		at += n
	}
	if p.Frames() != frames || len(p.cells) > mostCells {
		t.Fatalf("%d frames in %d cells", p.Frames(), len(p.cells))
	}
	for try := range 200 {
		from := r.Int64N(frames - 10)
		to := from + 1 + r.Int64N(frames-from)
		n := 1 + r.IntN(300)
		for i, c := range p.Columns(0, from, to, n) {
			a := from + int64(float64(to-from)/float64(n)*float64(i))
			b := from + int64(float64(to-from)/float64(n)*float64(i+1))
			inner, outer := limits(x, a, b), limits(x, a-int64(p.per), b+int64(p.per)+1)
			if a < b && (c.Min > inner.Min || c.Max < inner.Max) || c.Min < outer.Min || c.Max > outer.Max {
				t.Fatalf("seed %d, try %d, column %d of [%d, %d): %+v, want within %+v and %+v", seed, try, i, a, b, c, inner, outer)
			}
			if b-a > 2000 && math.Abs(float64(c.RMS)-0.1) > 0.01 {
				t.Fatalf("seed %d, try %d, column %d of [%d, %d): RMS %v, want 0.1", seed, try, i, a, b, c.RMS)
			}
		}
	}
}

func limits(x []float32, from, to int64) (c Column) {
	c.Min, c.Max = 2, -2
	for _, v := range x[max(from, 0):min(to, int64(len(x)))] {
		c.Min, c.Max = min(c.Min, v), max(c.Max, v)
	}
	return c
}

func TestClippedColumns(t *testing.T) {
	x := sine(100, 0.9, 8000, 8000)
	copy(x[4000:], []int16{32767, 32767, 32767}) // three in a row
	copy(x[6000:], []int16{-32768, -32768})      // two are none
	s := open(t, wav(8000, 1, x...))
	p := NewPeaks(s.Info())
	if err := Read(context.Background(), s, nil, p); err != nil {
		t.Fatal(err)
	}
	for i, c := range p.Columns(0, 0, 8000, 8) {
		if want := i == 4; c.Clipped != want {
			t.Errorf("column %d: clipped is %v, want %v", i, c.Clipped, want)
		}
	}
}

func TestSpectrumOfATone(t *testing.T) {
	for _, hz := range []float64{1000, 5000} {
		s := open(t, wav(44100, 1, sine(hz, 0.5, 44100, 44100)...))
		m := NewSpectrum(s.Info(), int64(s.Len()), 20)
		if err := Read(context.Background(), s, nil, m); err != nil {
			t.Fatal(err)
		}
		for i, c := range m.Columns() {
			best := 0
			for k, p := range c {
				if p > c[best] {
					best = k
				}
			}
			got := float64(best) / float64(len(c)-1) * m.Top()
			if math.Abs(got-hz) > 22 || i > 0 && i < 19 && math.Abs(10*math.Log10(c[best])+6) > 1.5 {
				t.Errorf("column %d: %.0f Hz at %.1f dB, want %.0f at -6", i, got, 10*math.Log10(c[best]), hz)
			}
		}
	}
}

// The window of a column lies where the column does.
func TestSpectrumInTime(t *testing.T) {
	x := make([]int16, 80000)
	copy(x[40000:], sine(1000, 0.5, 8000, 8000))
	s := open(t, wav(8000, 1, x...))
	m := NewSpectrum(s.Info(), int64(s.Len()), 10)
	if err := Read(context.Background(), s, nil, m); err != nil {
		t.Fatal(err)
	}
	for i, c := range m.Columns() {
		sum := 0.0
		for _, p := range c {
			sum += p
		}
		if loud := sum > 0.1; loud != (i == 5) {
			t.Errorf("column %d: power %g", i, sum)
		}
	}
}

func TestFFT(t *testing.T) {
	const n, seed = 64, 5
	r := rand.New(rand.NewPCG(seed, seed))
	x, got := make([]float64, n), make([]float64, n/2+1)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	newFFT(n).power(got, x)
	for k := range got {
		re, im := 0.0, 0.0
		for i, v := range x {
			re += v * math.Cos(2*math.Pi*float64(i*k)/n)
			im -= v * math.Sin(2*math.Pi*float64(i*k)/n)
		}
		if want := re*re + im*im; math.Abs(got[k]-want) > 1e-9 {
			t.Errorf("bin %d: %g, want %g (seed %d)", k, got[k], want, seed)
		}
	}
}

func TestLoudnessOverTime(t *testing.T) {
	x := append(sine(1000, math.Pow(10, -20.0/20), 48000, 5*48000), make([]int16, 5*48000)...)
	s := open(t, wav(48000, 1, x...))
	l := NewLoudness(s.Info(), true)
	if err := Read(context.Background(), s, nil, l); err != nil {
		t.Fatal(err)
	}
	if len(l.Momentary) != 100 || l.Step != 4800 {
		t.Fatalf("%d points of %d frames", len(l.Momentary), l.Step)
	}
	for i, want := range map[int]float64{20: -20, 49: -20, 54: math.Inf(-1)} {
		if got := l.Momentary[i]; !(math.Abs(got-want) < 0.2 || got == want) {
			t.Errorf("momentary after %d points: %.2f LUFS, want %.2f", i, got, want)
		}
	}
	if got := l.ShortTerm[49]; math.Abs(got+20) > 0.2 {
		t.Errorf("short-term: %.2f LUFS, want -20", got)
	}
	if got := l.Integrated(); math.Abs(got+20) > 0.3 {
		t.Errorf("integrated: %.2f LUFS, want -20", got)
	}
	if got := l.TruePeak(); math.Abs(got-0.1) > 0.02 {
		t.Errorf("true peak %.3f, want 0.1", got)
	}
}

func TestReadEnds(t *testing.T) {
	s := open(t, wav(8000, 1, make([]int16, 20000)...))
	ctx, cancel := context.WithCancel(context.Background())
	told := int64(0)
	err := Read(ctx, s, func(frames int64) { told = frames; cancel() }, NewPeaks(s.Info()))
	if !errors.Is(err, context.Canceled) || told == 0 || told == 20000 {
		t.Errorf("%v after %d frames", err, told)
	}
}

// BenchmarkPeaks and BenchmarkDecode are the same sound with and without the measuring.
func BenchmarkPeaks(b *testing.B)  { benchmark(b, true) }
func BenchmarkDecode(b *testing.B) { benchmark(b, false) }

func benchmark(b *testing.B, measured bool) {
	data, err := os.ReadFile("../../../../testdata/sounds/theme.ogg")
	if err != nil {
		b.Fatal(err)
	}
	s := open(b, data)
	b.ReportAllocs()
	for b.Loop() {
		var sinks []Sink
		if measured {
			sinks = append(sinks, NewPeaks(s.Info()))
		}
		if err := Read(context.Background(), s, nil, sinks...); err != nil {
			b.Fatal(err)
		}
	}
}
