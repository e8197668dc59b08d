package mixer

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"
)

// tone is n frames of a tone at full scale, as float32 in all channels.
func tone(hz, rate float64, channels, n int) *PCM {
	p := &PCM{Channels: channels, F32: make([]float32, n*channels)}
	for i := range p.F32 {
		p.F32[i] = float32(math.Sin(2 * math.Pi * hz * float64(i/channels) / rate))
	}
	return p
}

func resample(t testing.TB, p *PCM, in, out int) []float32 {
	t.Helper()
	x, err := Resample(p, in, out)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// fit is the least-squares fit of a tone to x: its amplitude, and the energy of what is left as
// a level below full scale in dB.
func fit(x []float32, hz, rate float64) (amplitude, rest float64) {
	var ss, cc, sc, xs, xc float64
	for i, v := range x {
		s, c := math.Sincos(2 * math.Pi * hz * float64(i) / rate)
		ss, cc, sc = ss+s*s, cc+c*c, sc+s*c
		xs, xc = xs+float64(v)*s, xc+float64(v)*c
	}
	det := ss*cc - sc*sc
	a, b := (xs*cc-xc*sc)/det, (xc*ss-xs*sc)/det
	for i, v := range x {
		s, c := math.Sincos(2 * math.Pi * hz * float64(i) / rate)
		d := float64(v) - a*s - b*c
		rest += d * d
	}
	return math.Hypot(a, b), 10 * math.Log10(2*rest/float64(len(x))+1e-30)
}

// inner is x without the ends, where the filter reaches beyond the sound.
func inner(x []float32) []float32 { return x[len(x)/8 : len(x)*7/8] }

func TestResampleTones(t *testing.T) {
	for _, c := range []struct {
		in, out int
		hz      float64
		snr     float64 // dB, at least
	}{
		{44100, 48000, 1000, 105},
		{44100, 48000, 15000, 105},
		{44100, 48000, 19900, 100},
		{48000, 44100, 1000, 105},
		{48000, 44100, 15000, 105},
		{22050, 48000, 1000, 100},
		{22050, 48000, 9900, 100}, // its image would lie at 12,150 Hz
		{8000, 48000, 3500, 100},
		{11025, 44100, 4900, 100},
		{48000, 22050, 1000, 100},
		{48000, 22050, 9900, 100},
		{96000, 48000, 19000, 100},
		{192000, 44100, 19000, 100},
		{48000, 192000, 19000, 100},
		{47999, 48000, 15000, 100}, // interpolated rows
		{383999, 48000, 15000, 100},
		{384000, 8000, 3000, 100}, // in two stages
	} {
		t.Run(fmt.Sprintf("%d-%d/%v", c.in, c.out, c.hz), func(t *testing.T) {
			x := inner(resample(t, tone(c.hz, float64(c.in), 1, c.in/2), c.in, c.out))
			a, rest := fit(x, c.hz, float64(c.out))
			if snr := 20*math.Log10(a) - rest; snr < c.snr || math.Abs(a-1) > 2e-5 {
				t.Errorf("SNR %.1f dB, amplitude %.6f; want at least %v dB, amplitude 1", snr, a, c.snr)
			} else {
				t.Logf("SNR %.1f dB, amplitude %.7f", snr, a)
			}
		})
	}
}

// Tones that the lower rate cannot hold must vanish rather than come back elsewhere.
func TestResampleAliases(t *testing.T) {
	for _, c := range []struct {
		in, out int
		hz      float64
	}{
		{48000, 22050, 15000}, {48000, 22050, 11500}, {48000, 22050, 11100}, {48000, 22050, 23900},
		{44100, 8000, 4100}, {44100, 8000, 20000}, {48000, 44100, 23999}, {96000, 44100, 24200},
		{96000, 44100, 40000}, {192000, 48000, 28100}, {192000, 48000, 90000}, {384000, 8000, 4100},
		{384000, 8000, 100000}, {384000, 1000, 700}, {383999, 48000, 28100},
	} {
		x := inner(resample(t, tone(c.hz, float64(c.in), 1, c.in/2), c.in, c.out))
		level := 0.0
		for _, v := range x {
			level += float64(v) * float64(v)
		}
		dB := 10 * math.Log10(2*level/float64(len(x))+1e-30)
		t.Logf("%d to %d, %v Hz: %.1f dB", c.in, c.out, c.hz, dB)
		if c.hz == 23999 { // folds to 20,101 Hz, above what is heard
			continue
		}
		if dB > -100 {
			t.Errorf("%d to %d: a tone of %v Hz comes back at %.1f dB, want below -100", c.in, c.out, c.hz, dB)
		}
	}
}

// The spectrum of a tone taken up holds no image of it.
func TestResampleImages(t *testing.T) {
	const n = 4096
	for _, hz := range []float64{3000, 7000, 9900, 10900} {
		x := resample(t, tone(hz, 22050, 1, 22050), 22050, 48000)[10000:]
		bins := spectrum(x[:n])
		worst := 0.0
		for k, a := range bins {
			if f := float64(k) * 48000 / n; f > 11025+60 { // the window's main lobe is 4 bins
				worst = max(worst, a)
			}
		}
		dB := 20 * math.Log10(worst)
		t.Logf("%v Hz: image at %.1f dB", hz, dB)
		if dB > -100 {
			t.Errorf("%v Hz has an image at %.1f dB, want below -100", hz, dB)
		}
	}
}

// spectrum is the amplitude spectrum of x, a power of two of samples, under a window whose side
// lobes lie below -150 dB.
func spectrum(x []float32) []float64 {
	n := len(x)
	z := make([]complex128, n)
	sum := 0.0
	for i, v := range x {
		u := 2*float64(i)/float64(n) - 1
		w := bessel(18*math.Sqrt(1-u*u)) / bessel(18)
		sum += w
		z[i] = complex(float64(v)*w, 0)
	}
	fft(z)
	a := make([]float64, n/2)
	for k := range a {
		a[k] = 2 * cmplx.Abs(z[k]) / sum
	}
	return a
}

func fft(z []complex128) {
	if len(z) == 1 {
		return
	}
	var even, odd []complex128
	for i, v := range z {
		if i%2 == 0 {
			even = append(even, v)
		} else {
			odd = append(odd, v)
		}
	}
	fft(even)
	fft(odd)
	for k := range even {
		w := cmplx.Rect(1, -2*math.Pi*float64(k)/float64(len(z))) * odd[k]
		z[k], z[k+len(even)] = even[k]+w, even[k]-w
	}
}

func TestResampleLength(t *testing.T) {
	for _, r := range [][2]int{{44100, 48000}, {48000, 44100}, {22050, 48000}, {48000, 8000}, {3, 2}, {2, 3}, {383999, 48000}, {384000, 1000}, {1, 7}} {
		for _, n := range []int{0, 1, 2, 3, 7, 100, 1023, 1024, 1025, 5000} {
			for channels := 1; channels <= 2; channels++ {
				x := resample(t, noise16(1, channels, n), r[0], r[1])
				want := int(math.Round(float64(n)*float64(r[1])/float64(r[0]))) * channels
				if len(x) != want {
					t.Errorf("%d frames from %d to %d: %d samples, want %d", n, r[0], r[1], len(x), want)
				}
			}
		}
	}
}

// A click stays where it was, and a constant stays one.
func TestResampleNoShift(t *testing.T) {
	for _, r := range [][2]int{{44100, 48000}, {48000, 22050}, {22050, 48000}, {383999, 48000}, {384000, 9000}} {
		p := &PCM{Channels: 1, F32: make([]float32, r[0]/2)}
		at := r[0] / 4
		p.F32[at] = 1
		x := resample(t, p, r[0], r[1])
		moment, sum := 0.0, 0.0
		for i, v := range x {
			moment += float64(i) * float64(v)
			sum += float64(v)
		}
		got, want := moment/sum, float64(at)*float64(r[1])/float64(r[0])
		if math.Abs(got-want) > 0.01 {
			t.Errorf("%v: click at frame %.3f, want %.3f", r, got, want)
		}
		for i := range p.F32 {
			p.F32[i] = 0.5
		}
		for i, v := range inner(resample(t, p, r[0], r[1])) {
			if math.Abs(float64(v)-0.5) > 1e-6 {
				t.Errorf("%v: constant 0.5 is %v at %d", r, v, i)
				break
			}
		}
	}
}

// In blocks of any size the stream form gives the same bits as the whole.
func TestResampleBlocks(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for _, r := range [][2]int{{44100, 48000}, {48000, 44100}, {22050, 48000}, {48000, 11025}, {47999, 48000}, {384000, 8000}, {5, 5}} {
		for channels := 1; channels <= 2; channels++ {
			p := float(noise16(seed, channels, 9000))
			want := resample(t, p, r[0], r[1])
			s, err := NewResampler(r[0], r[1], channels)
			if err != nil {
				t.Fatal(err)
			}
			for round := range 2 { // the second one tells whether Reset forgets
				var got []float32
				for rest := p.F32; len(rest) > 0; {
					n := min(rnd.IntN(3000), len(rest)/channels) * channels
					got = append(got, s.Process(rest[:n])...)
					rest = rest[n:]
				}
				got = append(got, s.Flush()...)
				if !slices.Equal(got, want) {
					t.Errorf("%v, %d channels, round %d: blocks differ from the whole (%d and %d samples)", r, channels, round, len(got), len(want))
				}
				s.Reset()
			}
		}
	}
}

// int16 samples give what their float32 form gives, and stereo what its sides give alone.
func TestResampleForms(t *testing.T) {
	p := noise16(3, 2, 4000)
	want := resample(t, p, 44100, 48000)
	if !slices.Equal(want, resample(t, float(p), 44100, 48000)) {
		t.Error("int16 and float32 differ")
	}
	for side := range 2 {
		q := &PCM{Channels: 1}
		for i := side; i < len(p.S16); i += 2 {
			q.S16 = append(q.S16, p.S16[i])
		}
		for i, v := range resample(t, q, 44100, 48000) {
			if v != want[2*i+side] {
				t.Fatalf("side %d, frame %d: alone %v, in stereo %v", side, i, v, want[2*i+side])
			}
		}
	}
}

func TestResampleBypass(t *testing.T) {
	p := float(noise16(3, 2, 100))
	if !slices.Equal(resample(t, p, 44100, 44100), p.F32) {
		t.Error("ratio 1 changes the samples")
	}
	r, _ := NewResampler(1, 1, 2)
	if got := r.Process(p.F32); !slices.Equal(got, p.F32) || len(r.Flush()) != 0 {
		t.Error("ratio 1 is no bypass")
	}
}

// Rates out of hostile headers cost neither memory nor time out of proportion.
func TestResampleHostileRates(t *testing.T) {
	for _, r := range [][2]int{{383999, 48000}, {1, 384000}, {384000, 1}, {383999, 383998}, {7, 383999}, {383993, 7}, {1, 2}} {
		s, err := NewResampler(r[0], r[1], 2)
		if err != nil {
			t.Fatal(err)
		}
		size := len(s.buf) + len(s.f.table)
		for _, h := range s.halves {
			size += len(h.buf) + len(h.f.table)
		}
		if size > 1<<20 {
			t.Errorf("%v: %d KiB of tables and buffers", r, size*4/1024)
		}
		n := 200
		if r[1] > 100*r[0] {
			n = 1
		}
		if underRace && n == 1 {
			continue // hundreds of thousands of frames
		}
		got := len(s.Process(make([]float32, 2*n))) + len(s.Flush())
		if want := 2 * int(s.length(int64(n))); got != want {
			t.Errorf("%v: %d samples, want %d", r, got, want)
		}
	}
	for _, r := range [][3]int{{0, 1, 1}, {1, 0, 1}, {-1, 1, 1}, {384001, 1, 1}, {1, 384001, 1}, {1, 1, 0}, {1, 1, 3}} {
		if _, err := NewResampler(r[0], r[1], r[2]); !errors.Is(err, ErrValue) {
			t.Errorf("%v: %v, want ErrValue", r, err)
		}
	}
	if _, err := Resample(&PCM{Channels: 1, S16: make([]int16, 100000)}, 1, 384000); !errors.Is(err, ErrValue) {
		t.Errorf("38e9 frames: %v, want ErrValue", err)
	}
}

func TestFiltersAreShared(t *testing.T) {
	a, _ := NewResampler(44100, 48000, 1)
	b, _ := NewResampler(44100, 48000, 2)
	if a.f != b.f {
		t.Error("two tables for one pair of rates")
	}
	for out := range 100 { // small ratios have small tables
		filterFor(1, 2+out)
	}
	if n := len(filters.made); n > mostFilters {
		t.Errorf("%d tables are kept, at most %d should be", n, mostFilters)
	}
}

func TestResampleAllocs(t *testing.T) {
	r, _ := NewResampler(44100, 48000, 2)
	block := make([]float32, 2*512)
	r.Process(block)
	r.Process(block)
	if n := testing.AllocsPerRun(100, func() { r.Process(block) }); n != 0 {
		t.Errorf("%v allocations a block, want 0", n)
	}
}

// The metric is nanoseconds for a frame of output, all channels.
func BenchmarkResample(b *testing.B) {
	for _, r := range [][3]int{{44100, 48000, 2}, {44100, 48000, 1}, {48000, 44100, 2}, {22050, 48000, 2}, {47999, 48000, 2}, {96000, 48000, 2}} {
		b.Run(fmt.Sprintf("%d-%d/%d", r[0], r[1], r[2]), func(b *testing.B) {
			s, _ := NewResampler(r[0], r[1], r[2])
			block := float(noise16(1, r[2], 1024)).F32
			b.ReportAllocs()
			frames := 0
			for b.Loop() {
				frames += len(s.Process(block)) / r[2]
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
		})
	}
}

// The time that the first sound of a rate waits for its table.
func BenchmarkNewFilter(b *testing.B) {
	for _, r := range [][2]int{{44100, 48000}, {22050, 48000}, {383999, 48000}} {
		b.Run(fmt.Sprintf("%d-%d", r[0], r[1]), func(b *testing.B) {
			for b.Loop() {
				newFilter(r[0], r[1])
			}
		})
	}
}
