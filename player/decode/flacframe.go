package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A FLAC frame (RFC 9639, section 9), big-endian bits:
//
//	14  sync 11111111 111110
//	 1  0
//	 1  1 = blocks of varying size: the number below is that of the first sample, else of the frame
//	 4  block size, 4  sample rate, 4  channels, 3  bits a sample, each as a code
//	 1  0
//	    frame or sample number, 1 to 7 bytes as in UTF-8
//	    0, 8 or 16 bits block size - 1; 0, 8 or 16 bits sample rate, as the codes ask for
//	 8  CRC-8 of the bytes above
//	    one subframe a channel (flacsub.go), zero bits up to a byte
//	16  CRC-16 of the bytes above
//
// The decoder is our own: it takes every depth from 4 to 32 bits and the widths of 33 bits between
// two channels, allocates nothing per frame, and prints nothing.
const (
	flacMinHeader = 6 // sync and codes, a number of one byte, CRC-8
	flacMaxHeader = 16
	flacMaxBlock  = 65535
)

var (
	errShort  = errors.New("the frame goes on")       // more bytes are needed
	errNoSync = errors.New("no frame header")         // not a frame, or its header is damaged
	errCRC16  = errors.New("frame checksum mismatch") // a frame that is damaged
)

// flacHeader is what a frame header says. Zero rate or bits mean: as in STREAMINFO.
type flacHeader struct {
	variable bool
	block    int // samples a channel
	rate     int
	channels int
	side     int // channel that holds a difference, -1 for none
	mid      bool
	bits     int
	number   uint64 // of the first sample, or of the frame
	size     int    // bytes of the header
}

var flacRates = [12]int{0, 88200, 176400, 192000, 8000, 16000, 22050, 24000, 32000, 44100, 48000, 96000}

var flacBits = [8]int{0, 8, 12, -1, 16, 20, 24, 32}

// parseFLACHeader reads a frame header at the start of b. errNoSync means that there is none,
// errShort that b is too short to tell.
func parseFLACHeader(b []byte) (h flacHeader, err error) {
	if len(b) < flacMinHeader {
		return h, errShort
	}
	if b[0] != 0xff || b[1]&0xfe != 0xf8 || b[3]&1 != 0 {
		return h, errNoSync
	}
	h.variable = b[1]&1 != 0
	if !h.codes(b[2]>>4, b[2]&15, b[3]>>4, b[3]>>1&7) {
		return h, errNoSync
	}
	n, ok := h.utf8(b[4:])
	if !ok {
		return h, errNoSync
	}
	return h, h.tail(b, 4+n)
}

// codes takes the four codes in, except where they point behind the number.
func (h *flacHeader) codes(block, rate, channels, bits byte) bool {
	switch {
	case block == 1:
		h.block = 192
	case block >= 2 && block <= 5:
		h.block = 576 << (block - 2)
	case block >= 8:
		h.block = 256 << (block - 8)
	}
	if rate < 12 {
		h.rate = flacRates[rate]
	}
	h.channels, h.side = int(channels)+1, -1
	if channels >= 8 {
		h.channels = 2
		h.side = []int{1, 0, 1}[min(channels-8, 2)]
		h.mid = channels == 10
	}
	h.bits = flacBits[bits]
	return block != 0 && rate != 15 && channels <= 10 && bits != 3
}

// utf8 reads the number and returns how many bytes it takes. Missing bytes are found by tail.
func (h *flacHeader) utf8(b []byte) (int, bool) {
	n := 0
	for n < 8 && b[0]<<n&0x80 != 0 {
		n++
	}
	switch n {
	case 0:
		h.number = uint64(b[0])
		return 1, true
	case 1, 8:
		return 0, false
	}
	h.number = uint64(b[0] & (0x7f >> n))
	for _, c := range b[1:min(n, len(b))] {
		if c&0xc0 != 0x80 {
			return 0, false
		}
		h.number = h.number<<6 | uint64(c&0x3f)
	}
	return n, true
}

// tail reads what follows the number, from at on, and checks the CRC-8.
func (h *flacHeader) tail(b []byte, at int) error {
	field := func(bytes int) int {
		v := 0
		for range bytes {
			if at < len(b) {
				v = v<<8 | int(b[at])
			}
			at++
		}
		return v
	}
	switch b[2] >> 4 {
	case 6:
		h.block = field(1) + 1
	case 7:
		h.block = field(2) + 1
	}
	switch b[2] & 15 {
	case 12:
		h.rate = field(1) * 1000
	case 13:
		h.rate = field(2)
	case 14:
		h.rate = field(2) * 10
	}
	if at >= len(b) {
		return errShort
	}
	if h.block > flacMaxBlock || crc8(b[:at]) != b[at] {
		return errNoSync
	}
	h.size = at + 1
	return nil
}

// flacBlock is a decoded frame. Its memory is used again for the next.
type flacBlock struct {
	flacHeader
	dry     bool       // find where the frame ends and check its sum, but leave the samples alone
	samples [8][]int64 // channels of block samples each
}

// decode reads a whole frame at the start of b. streamBits is the depth where the header leaves it to
// STREAMINFO. It returns the bytes of the frame.
func (f *flacBlock) decode(b []byte, streamBits int) (int, error) {
	h, err := parseFLACHeader(b)
	if err != nil {
		return 0, err
	}
	if h.bits == 0 {
		h.bits = streamBits
	}
	f.flacHeader = h
	r := bitReader{b: b, at: h.size}
	for c := range h.channels {
		if err := f.subframe(&r, c); err != nil {
			return 0, err
		}
	}
	n := r.align()
	if r.short || n+2 > len(b) {
		return 0, errShort
	}
	if crc16(b[:n]) != binary.BigEndian.Uint16(b[n:]) {
		return 0, errCRC16
	}
	if f.dry {
		return n + 2, nil
	}
	f.undo()
	return n + 2, f.inRange()
}

// undo turns a difference channel back into left and right (RFC 9639, section 4.2).
func (f *flacBlock) undo() {
	a, b := f.samples[0], f.samples[1]
	switch {
	case f.mid:
		for i, m := range a {
			s := b[i]
			m = m<<1 | s&1
			a[i], b[i] = (m+s)>>1, (m-s)>>1
		}
	case f.side == 1:
		for i, l := range a {
			b[i] = l - b[i]
		}
	case f.side == 0:
		for i, r := range b {
			a[i] += r
		}
	}
}

// inRange checks that no sample is wider than it may be, which only a forged frame has.
func (f *flacBlock) inRange() error {
	all := int64(0)
	for _, ch := range f.samples[:f.channels] {
		for _, v := range ch {
			all |= v ^ v>>63
		}
	}
	if all>>(f.bits-1) != 0 {
		return fmt.Errorf("samples of more than %d bits", f.bits)
	}
	return nil
}

// The checksums of RFC 9639, sections 9.1.8 and 9.3: polynomials 0x07 and 0x8005, from 0.
var (
	crc8Table   = makeCRC8()
	crc16Tables = makeCRC16()
)

func makeCRC8() (t [256]byte) {
	for i := range t {
		c := byte(i)
		for range 8 {
			if c&0x80 != 0 {
				c = c<<1 ^ 0x07
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return t
}

func crc8(b []byte) (c byte) {
	for _, v := range b {
		c = crc8Table[c^v]
	}
	return c
}

// makeCRC16 makes tables for eight bytes at a time: table k is for a byte with k bytes behind it.
func makeCRC16() (t [8][256]uint16) {
	for i := range t[0] {
		c := uint16(i) << 8
		for range 8 {
			if c&0x8000 != 0 {
				c = c<<1 ^ 0x8005
			} else {
				c <<= 1
			}
		}
		t[0][i] = c
	}
	for k := 1; k < 8; k++ {
		for i, c := range t[k-1] {
			t[k][i] = c<<8 ^ t[0][c>>8]
		}
	}
	return t
}

func crc16(b []byte) (c uint16) {
	t := &crc16Tables
	for ; len(b) >= 8; b = b[8:] {
		c = t[7][b[0]^byte(c>>8)] ^ t[6][b[1]^byte(c)] ^ t[5][b[2]] ^ t[4][b[3]] ^
			t[3][b[4]] ^ t[2][b[5]] ^ t[1][b[6]] ^ t[0][b[7]]
	}
	for _, v := range b {
		c = c<<8 ^ t[0][byte(c>>8)^v]
	}
	return c
}
