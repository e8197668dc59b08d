package decode

import (
	"math"
	"math/bits"
)

// An imdct turns the spectrum of a block into sound (4.3.7). A block of n frames has m = n/2 lines X,
// and its frame i is
//
//	sum over k of X[k] cos(pi/m (i + 1/2 + m/2) (k + 1/2))
//
// Those are the m values of a DCT of type IV, and their mirror images. The DCT is a complex FFT of
// m/2 points between two rotations: with z[i] = X[2i] + j X[m-1-2i] and w(i) = exp(-j pi/m (i + 1/8)),
// the sums over i of z[i] w(i) exp(-2 pi j i k / (m/2)), times w(k), have the even values as their
// real part and, from the end on, the odd ones as the negative of their imaginary part.
type imdct struct {
	m     int
	turn  []complex64 // w
	roots []complex64 // exp(-2 pi j i / (m/2))
	swap  []uint16    // by index, the index with its bits the other way round
	z     []complex64
}

func newIMDCT(block int) *imdct {
	m := block / 2
	t := &imdct{m: m, turn: make([]complex64, m/2), roots: make([]complex64, m/2), swap: make([]uint16, m/2), z: make([]complex64, m/2)}
	shift := 32 - uint(bits.Len(uint(m/2-1)))
	for i := range m / 2 {
		t.turn[i] = unit((float64(i) + 0.125) / float64(m) / 2)
		t.roots[i] = unit(float64(i) / float64(m/2))
		t.swap[i] = uint16(bits.Reverse32(uint32(i)) >> shift)
	}
	return t
}

// unit is the point of the unit circle at a share of a turn, clockwise.
func unit(turns float64) complex64 {
	sin, cos := math.Sincos(2 * math.Pi * turns)
	return complex(float32(cos), float32(-sin))
}

// dct4 replaces the m values of x by their DCT of type IV.
func (t *imdct) dct4(x []float32) {
	m, z := t.m, t.z
	x = x[:m]
	for i, w := range t.turn {
		a, b := x[2*i], x[m-1-2*i]
		z[t.swap[i]] = complex(a*real(w)-b*imag(w), a*imag(w)+b*real(w))
	}
	t.fft()
	for i, w := range t.turn {
		a, b := real(z[i]), imag(z[i])
		x[2*i] = a*real(w) - b*imag(w)
		x[m-1-2*i] = -a*imag(w) - b*real(w)
	}
}

// fft is a transform of z, which is in the order of swap, in place: two steps of radix 2 at once as far
// as they go.
func (t *imdct) fft() {
	z := t.z
	n := len(z)
	size := 1
	if bits.Len(uint(n))&1 == 0 { // an odd number of steps
		for i := 0; i+1 < n; i += 2 {
			z[i], z[i+1] = z[i]+z[i+1], z[i]-z[i+1]
		}
		size = 2
	}
	for ; size < n; size *= 4 {
		stride := n / (4 * size)
		for at := 0; at < n; at += 4 * size {
			t.butterflies(z[at:at+4*size], size, stride)
		}
	}
}

// butterflies put four transforms of size points together to one. The second and the third come in
// the order of the bits, so that they are the ones with an offset of two and one.
func (t *imdct) butterflies(z []complex64, size, stride int) {
	a, b, c, d := z[:size], z[size:2*size], z[2*size:3*size], z[3*size:4*size]
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	for i := range a {
		w1, w2, w3 := t.roots[i*stride], t.roots[2*i*stride], t.roots[3*i*stride]
		x0 := a[i]
		x2 := times(b[i], w2)
		x1 := times(c[i], w1)
		x3 := times(d[i], w3)
		s, r := x0+x2, x0-x2
		u, v := x1+x3, x1-x3
		v = complex(imag(v), -real(v)) // by -j
		a[i], b[i], c[i], d[i] = s+u, r+v, s-u, r-v
	}
}

// times is the product, without the care that Go's own takes of infinities.
func times(a, b complex64) complex64 {
	return complex(real(a)*real(b)-imag(a)*imag(b), real(a)*imag(b)+imag(a)*real(b))
}
