package decode

import (
	"encoding/binary"
	"math/bits"
)

// bitReader reads big-endian bit fields out of memory. Running past the end gives zeros and sets
// short, so that a frame is checked once at its end and not at every field.
//
// acc holds the next have bits at its top. Below them may stand bits that come later in b; filling
// writes the same ones over them.
type bitReader struct {
	b     []byte
	at    int // next byte to fill from
	acc   uint64
	have  uint
	short bool
}

// fill makes have at least 56, but for the last bytes.
func (r *bitReader) fill() {
	if r.at+8 <= len(r.b) {
		r.acc |= binary.BigEndian.Uint64(r.b[r.at:]) >> r.have
		r.at += int(63-r.have) >> 3
		r.have |= 56
		return
	}
	for r.have <= 56 && r.at < len(r.b) {
		r.acc |= uint64(r.b[r.at]) << (56 - r.have)
		r.at++
		r.have += 8
	}
}

// bits reads an unsigned field of n bits, 0 to 56.
func (r *bitReader) bits(n uint) uint64 {
	if r.have < n {
		if r.fill(); r.have < n {
			r.short, r.acc, r.have = true, 0, 0
			return 0
		}
	}
	v := r.acc >> 1 >> (63 - n)
	r.acc <<= n
	r.have -= n
	return v
}

// signed reads a two's complement field of n bits, 1 to 56.
func (r *bitReader) signed(n uint) int64 {
	v := int64(r.bits(n)) << (64 - n)
	return v >> (64 - n)
}

// unary counts the zeros before the next one, and reads that too.
func (r *bitReader) unary() uint64 {
	n := uint64(0)
	for !r.short {
		if r.have == 0 {
			r.fill()
		}
		if zeros := uint(bits.LeadingZeros64(r.acc)); zeros < r.have {
			r.acc <<= zeros + 1
			r.have -= zeros + 1
			return n + uint64(zeros)
		}
		n += uint64(r.have)
		r.acc, r.have = 0, 0
		r.short = r.at >= len(r.b)
	}
	return 0
}

// rice reads len(dst) residuals with parameter k: the quotient unary, then k bits, then the sign
// folded into the lowest bit (RFC 9639, section 9.2.7.2). What fits in the accumulator is read
// with the reader's fields in registers.
func (r *bitReader) rice(dst []int64, k uint) {
	b, at, acc, have := r.b, r.at, r.acc, r.have
	for i := range dst {
		if at+8 <= len(b) {
			acc |= binary.BigEndian.Uint64(b[at:]) >> (have & 63)
			at += int(63-have) >> 3
			have |= 56
		}
		q := uint(bits.LeadingZeros64(acc))
		used := q + 1 + k
		if used > have {
			r.at, r.acc, r.have = at, acc, have
			dst[i] = r.riceSlow(k)
			at, acc, have = r.at, r.acc, r.have
			continue
		}
		v := uint64(q)<<(k&63) | acc<<((q+1)&63)>>1>>((63-k)&63)
		acc <<= used & 63
		have -= used
		dst[i] = int64(v>>1) ^ -int64(v&1)
	}
	r.at, r.acc, r.have = at, acc, have
}

// riceSlow reads one residual, of any length and at the end of b.
func (r *bitReader) riceSlow(k uint) int64 {
	v := r.unary()<<k | r.bits(k)
	return int64(v>>1) ^ -int64(v&1)
}

// align drops the bits up to the next byte and returns how many bytes have been read.
func (r *bitReader) align() int {
	r.acc <<= r.have & 7
	r.have &^= 7
	return r.at - int(r.have>>3)
}
