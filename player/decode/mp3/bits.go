package mp3

import "encoding/binary"

// bitReader reads bits from the high end of each byte. The slice must be followed by at least eight
// bytes that may be read (see bitSlack), which come out as further bits: whoever reads past his
// share finds out by pos.
type bitReader struct {
	buf []byte
	pos int // in bits
}

// bitSlack is how many bytes behind the last one a bitReader may touch.
const bitSlack = 8

// bits reads n bits, 0 to 32. Behind the end of the slice there are only zeros.
func (r *bitReader) bits(n int) uint32 {
	i := r.pos >> 3
	if i+8 > len(r.buf) {
		return r.bitsAtEnd(n)
	}
	w := binary.BigEndian.Uint64(r.buf[i:]) << (r.pos & 7)
	r.pos += n
	return uint32(w >> 32 >> (32 - n))
}

// bitsAtEnd is bits near the end of the slice.
func (r *bitReader) bitsAtEnd(n int) uint32 {
	var tail [8]byte
	if i := r.pos >> 3; i < len(r.buf) {
		copy(tail[:], r.buf[i:])
	}
	w := binary.BigEndian.Uint64(tail[:]) << (r.pos & 7)
	r.pos += n
	return uint32(w >> 32 >> (32 - n))
}

// flag reads one bit.
func (r *bitReader) flag() bool { return r.bits(1) != 0 }
