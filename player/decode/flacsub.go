package decode

import "errors"

// A subframe (RFC 9639, section 9.2):
//
//	1  0
//	6  type: 0 constant, 1 verbatim, 8 to 12 fixed predictor of order 0 to 4, 32 to 63 linear
//	   predictor of order 1 to 32, others reserved
//	1  1 = wasted bits: then unary, how many less one of the low bits are zero and not stored
//
// A predicted one holds its first samples as they are, for a linear predictor 4 bits precision - 1,
// 5 bits shift and the coefficients, then the residual:
//
//	2  0 = parameters of 4 bits, 1 = of 5 bits, others reserved
//	4  partition order
//	   partitions: parameter, then Rice codes; or where all its bits are set 5 bits n, then n bits each
var errSubframe = errors.New("damaged subframe")

// subframe decodes channel c into f.samples.
func (f *flacBlock) subframe(r *bitReader, c int) error {
	width := uint(f.bits)
	if c == f.side {
		width++
	}
	if r.bits(1) != 0 {
		return errSubframe
	}
	kind := uint(r.bits(6))
	wasted := uint(0)
	if r.bits(1) != 0 {
		wasted = uint(min(r.unary(), 64)) + 1
	}
	if r.short {
		return errShort
	}
	if wasted >= width {
		return errSubframe
	}
	s := f.channel(c)
	if err := f.decodeSubframe(r, s, kind, width-wasted); err != nil {
		return err
	}
	if wasted > 0 && !f.dry {
		for i := range s {
			s[i] <<= wasted
		}
	}
	return nil
}

// channel is the memory for channel c, cut to the block. It grows with real frames only.
func (f *flacBlock) channel(c int) []int64 {
	if cap(f.samples[c]) < f.block {
		f.samples[c] = make([]int64, f.block)
	}
	f.samples[c] = f.samples[c][:f.block]
	return f.samples[c]
}

// decodeSubframe decodes len(s) samples of width bits.
func (f *flacBlock) decodeSubframe(r *bitReader, s []int64, kind, width uint) error {
	switch {
	case kind == 0:
		if v := r.signed(width); !f.dry {
			for i := range s {
				s[i] = v
			}
		}
	case kind == 1:
		for i := range s {
			s[i] = r.signed(width)
		}
	case kind >= 8 && kind <= 12:
		return f.decodeFixed(r, s, int(kind-8), width)
	case kind >= 32:
		return f.decodeLinear(r, s, int(kind-31), width)
	default:
		return errSubframe
	}
	if r.short {
		return errShort
	}
	return nil
}

// warmUp reads the samples before the first predicted one.
func warmUp(r *bitReader, s []int64, order int, width uint) error {
	if order > len(s) {
		return errSubframe
	}
	for i := range order {
		s[i] = r.signed(width)
	}
	return nil
}

// decodeFixed undoes the predictors that are differences of order 0 to 4.
func (f *flacBlock) decodeFixed(r *bitReader, s []int64, order int, width uint) error {
	if err := warmUp(r, s, order, width); err != nil {
		return err
	}
	if err := f.residual(r, s, order); err != nil || f.dry {
		return err
	}
	switch order {
	case 1:
		for i := 1; i < len(s); i++ {
			s[i] += s[i-1]
		}
	case 2:
		for i := 2; i < len(s); i++ {
			s[i] += 2*s[i-1] - s[i-2]
		}
	case 3:
		for i := 3; i < len(s); i++ {
			s[i] += 3*(s[i-1]-s[i-2]) + s[i-3]
		}
	case 4:
		for i := 4; i < len(s); i++ {
			s[i] += 4*(s[i-1]+s[i-3]) - 6*s[i-2] - s[i-4]
		}
	}
	return nil
}

// decodeLinear undoes a predictor whose coefficients stand in the subframe.
func (f *flacBlock) decodeLinear(r *bitReader, s []int64, order int, width uint) error {
	if err := warmUp(r, s, order, width); err != nil {
		return err
	}
	precision := uint(r.bits(4)) + 1
	shift := r.signed(5)
	if precision == 16 || shift < 0 {
		return errSubframe
	}
	var coefs [32]int64 // in the order of the samples: that of the oldest first
	for i := order - 1; i >= 0; i-- {
		coefs[i] = r.signed(precision)
	}
	if err := f.residual(r, s, order); err != nil || f.dry {
		return err
	}
	predict(s, coefs[:order], uint(shift))
	return nil
}

// predict adds to each residual the prediction out of the len(coefs) samples before it.
func predict(s, coefs []int64, shift uint) {
	order := len(coefs)
	for i := order; i < len(s); i++ {
		past := s[i-order : i]
		past = past[:len(coefs)]
		var a, b int64 // two sums, so that additions overlap
		j := 0
		for ; j+4 <= len(coefs); j += 4 {
			c, p := coefs[j:j+4:j+4], past[j:j+4:j+4]
			a += c[0]*p[0] + c[2]*p[2]
			b += c[1]*p[1] + c[3]*p[3]
		}
		for ; j < len(coefs); j++ {
			a += coefs[j] * past[j]
		}
		s[i] += (a + b) >> (shift & 63)
	}
}

// residual reads what the predictor of the given order leaves, into s behind its first samples.
func (f *flacBlock) residual(r *bitReader, s []int64, order int) error {
	method := r.bits(2)
	parts := 1 << r.bits(4)
	if r.short {
		return errShort
	}
	if method > 1 || len(s)%parts != 0 || len(s)/parts < order {
		return errSubframe
	}
	size := uint(4 + method)
	for i := range parts {
		part := s[i*len(s)/parts : (i+1)*len(s)/parts]
		if i == 0 {
			part = part[order:]
		}
		f.partition(r, part, size)
		if r.short {
			return errShort
		}
	}
	return nil
}

// partition reads one partition, whose parameter has size bits.
func (f *flacBlock) partition(r *bitReader, part []int64, size uint) {
	k := uint(r.bits(size))
	if k != 1<<size-1 {
		r.rice(part, k)
		return
	}
	n := uint(r.bits(5))
	if n == 0 {
		if !f.dry {
			clear(part)
		}
		return
	}
	for i := range part {
		part[i] = r.signed(n)
	}
}
