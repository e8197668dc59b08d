package mp3

import (
	"math"
	"math/rand"
	"testing"
)

func TestDCT32(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	var s, x [subbands]float32
	for i := range s {
		s[i] = float32(rng.NormFloat64())
	}
	dct32(&s, &x)
	for n, got := range x {
		want := 0.
		for k, v := range s {
			want += float64(v) * math.Cos(math.Pi/64*float64(n*(2*k+1)))
		}
		if math.Abs(float64(got)-want) > 1e-4 {
			t.Errorf("sum %d is %g, want %g", n, got, want)
		}
	}
}

// The window is that of a filter bank that nearly gives back what goes in: its values have no jumps
// but for the sign in every block of 64.
func TestWindowD(t *testing.T) {
	d := windowD()
	prototype := make([]float64, 512)
	for i, v := range d {
		prototype[i] = float64(v)
		if i/64%2 == 1 {
			prototype[i] = -prototype[i]
		}
	}
	for i := 2; i < 510; i++ {
		second := prototype[i-1] - 2*prototype[i] + prototype[i+1]
		if math.Abs(second) > 0.0015 {
			t.Errorf("window jumps at %d: %g %g %g", i, prototype[i-1], prototype[i], prototype[i+1])
		}
	}
	for i := 1; i < 256; i++ {
		if prototype[i] != prototype[512-i] {
			t.Errorf("window is not symmetric at %d: %g, %g", i, prototype[i], prototype[512-i])
		}
	}
}

// standardSynthesis is the flow chart of 11172-3, figure A.2.
type standardSynthesis struct{ v [1024]float64 }

func (s *standardSynthesis) slot(in *[subbands]float32) (out [32]float64) {
	copy(s.v[64:], s.v[:960])
	for i := range 64 {
		s.v[i] = 0
		for k, x := range in {
			s.v[i] += math.Cos(math.Pi/64*float64((16+i)*(2*k+1))) * float64(x)
		}
	}
	d := windowD()
	for j := range 32 {
		for i := range 8 {
			out[j] += s.v[128*i+j]*float64(d[64*i+j]) + s.v[128*i+96+j]*float64(d[64*i+32+j])
		}
	}
	return out
}

func TestSynthesis(t *testing.T) {
	buildTables()
	rng := rand.New(rand.NewSource(1))
	for _, stride := range []int{1, 2} {
		var got synthesis
		var want standardSynthesis
		for n := range 40 {
			var in [subbands]float32
			for i := range in {
				in[i] = float32(rng.NormFloat64())
			}
			out := make([]float32, 32*stride)
			got.slot(&in, out, stride)
			for j, w := range want.slot(&in) {
				if math.Abs(float64(out[j*stride])-w) > 1e-4 {
					t.Fatalf("stride %d, slot %d: sample %d is %g, want %g", stride, n, j, out[j*stride], w)
				}
			}
		}
	}
}
