package mixer

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDot compares the sums with those of plain Go, bit for bit, at all lengths and places.
func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	c, x := make([]float32, 300), make([]float32, 600)
	for round := range 2000 {
		for i := range x {
			x[i] = float32(r.NormFloat64()) * float32(math.Pow(2, float64(r.IntN(40)-20)))
			c[i/2] = float32(r.NormFloat64())
		}
		if round%3 == 0 { // sums that cancel, and the smallest numbers
			x[r.IntN(len(x))], c[r.IntN(len(c))] = 1e30, 1e-45
		}
		n := 8 * r.IntN(12)
		c, x := c[r.IntN(8):], x[r.IntN(8):]
		got, want := dotMono(c[:n], x[:n]), plainMono(c[:n], x[:n])
		if math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("round %d: %d taps of mono: %v, want %v", round, n, got, want)
		}
		l, r := dotStereo(c[:n], x[:2*n])
		wl, wr := plainStereo(c[:n], x[:2*n])
		if math.Float32bits(l) != math.Float32bits(wl) || math.Float32bits(r) != math.Float32bits(wr) {
			t.Fatalf("round %d: %d taps of stereo: %v %v, want %v %v", round, n, l, r, wl, wr)
		}
	}
}

var dotSink float32

func BenchmarkDot(b *testing.B) {
	c, x := make([]float32, 72), make([]float32, 144)
	for i := range x {
		x[i], c[i/2] = float32(i), 1/float32(i+1)
	}
	for _, k := range []struct {
		name   string
		mono   func(c, x []float32) float32
		stereo func(c, x []float32) (float32, float32)
	}{{"plain", plainMono, plainStereo}, {"used", dotMono, dotStereo}} {
		b.Run(k.name+"/mono", func(b *testing.B) {
			for b.Loop() {
				dotSink += k.mono(c, x)
			}
		})
		b.Run(k.name+"/stereo", func(b *testing.B) {
			for b.Loop() {
				l, r := k.stereo(c, x)
				dotSink += l + r
			}
		})
	}
}
