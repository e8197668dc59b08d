package player

import (
	"github.com/gopxl/beep/v2"
	"github.com/sndpak/sndpak/player/mixer"
)

// A treatment is a voice's effect, between its decoder and its ring.
type treatment struct {
	in  [][2]float64 // what the effect has still to read
	out beep.Streamer
	buf [][2]float64
	mix []float32
}

func newTreatment(e mixer.Effect) *treatment {
	t := &treatment{}
	t.out = e((*inlet)(t))
	return t
}

// treat takes interleaved stereo through the effect, and returns as many frames, valid until the next
// call; what the effect does not give is silence. No treatment changes nothing.
func (t *treatment) treat(x []float32) []float32 {
	if t == nil || t.out == nil {
		return x
	}
	n := len(x) / 2
	if len(t.buf) < 2*n {
		t.buf, t.mix = make([][2]float64, 2*n), make([]float32, 2*n)
	}
	t.in = t.buf[n : 2*n]
	for i := range t.in {
		t.in[i] = [2]float64{float64(x[2*i]), float64(x[2*i+1])}
	}
	got := 0
	for ok := true; ok && got < n; {
		var k int
		k, ok = t.out.Stream(t.buf[got:n])
		got += k
		ok = ok && k > 0
	}
	clear(t.buf[got:n])
	for i, f := range t.buf[:n] {
		t.mix[2*i], t.mix[2*i+1] = float32(f[0]), float32(f[1])
	}
	return t.mix[:2*n]
}

// An inlet is a treatment as what its effect reads from.
type inlet treatment

func (t *inlet) Stream(samples [][2]float64) (n int, ok bool) {
	n = copy(samples, t.in)
	t.in = t.in[n:]
	clear(samples[n:]) // more than it may: silence, rather than an end
	return len(samples), true
}

func (t *inlet) Err() error { return nil }
