package waveform

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// fft is a Fourier transform of a fixed size, a power of two (radix 2, decimation in time).
type fft struct {
	twiddles []complex128
	buf      []complex128
}

func newFFT(n int) *fft {
	f := &fft{make([]complex128, n/2), make([]complex128, n)}
	for i := range f.twiddles {
		f.twiddles[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/float64(n))
	}
	return f
}

// power writes the power of each bin from 0 to n/2 of n real samples into dst.
func (f *fft) power(dst []float64, x []float64) {
	n := len(f.buf)
	shift := 64 - bits.Len(uint(n-1))
	for i, v := range x {
		f.buf[bits.Reverse64(uint64(i))>>shift] = complex(v, 0)
	}
	for size := 2; size <= n; size *= 2 {
		half, stride := size/2, n/size
		for at := 0; at < n; at += size {
			low, high := f.buf[at:at+half], f.buf[at+half:at+size]
			for k := range low {
				t := high[k] * f.twiddles[k*stride]
				low[k], high[k] = low[k]+t, low[k]-t
			}
		}
	}
	for k := range dst {
		re, im := real(f.buf[k]), imag(f.buf[k])
		dst[k] = re*re + im*im
	}
}
