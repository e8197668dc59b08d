package decode

import (
	"encoding/binary"
	"io"
)

// wavPCM16 is a wavPCM whose samples fit in 16 bits.
type wavPCM16 struct {
	wavPCM
	expand func(dst []int16, src []byte) // of one byte a sample; nil where two bytes are the sample
}

// narrow is w as a codec, with read16 where the format allows it.
func (w wavPCM) narrow(f wavFormat) codec {
	switch {
	case f.tag == tagALaw:
		return &wavPCM16{w, func(dst []int16, src []byte) { lookUp(dst, src, &aLaw) }}
	case f.tag == tagMuLaw:
		return &wavPCM16{w, func(dst []int16, src []byte) { lookUp(dst, src, &muLaw) }}
	case f.tag == tagPCM && f.width == 1:
		return &wavPCM16{w, widen8}
	case f.tag == tagPCM && f.width == 2:
		return &wavPCM16{w, nil}
	}
	return &w
}

// read16 moves 16-bit samples straight into dst, in one piece.
func (w *wavPCM16) read16(dst []int16) (int, error) {
	ch := w.about.Channels
	n := int(min(int64(len(dst)/ch), w.frames-w.pos))
	if n <= 0 {
		return 0, io.EOF
	}
	if b := int16Bytes(dst[:n*ch]); b != nil && w.expand == nil {
		err := w.raw(b, w.swap)
		return w.done(n, err)
	}
	n = min(n, pcmBlock/w.align)
	b := w.scratch(n * w.align)
	err := w.raw(b, w.swap)
	if err == nil {
		w.expandTo(dst[:n*ch], b)
	}
	return w.done(n, err)
}

func (w *wavPCM16) done(n int, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	w.pos += int64(n)
	return n, nil
}

func (w *wavPCM16) expandTo(dst []int16, b []byte) {
	if w.expand != nil {
		w.expand(dst, b)
		return
	}
	copyInt16(dst, b)
}

// copyInt16 is the portable twin of reading into int16Bytes.
func copyInt16(dst []int16, src []byte) {
	src = src[:2*len(dst)]
	for i := range dst {
		dst[i] = int16(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

func widen8(dst []int16, src []byte) {
	for i, b := range src[:len(dst)] {
		dst[i] = (int16(b) - 128) << 8
	}
}

func lookUp(dst []int16, src []byte, table *[256]int16) {
	for i, b := range src[:len(dst)] {
		dst[i] = table[b]
	}
}

// The tables of G.711 (ITU-T, 1988), scaled to 16 bits.
var (
	aLaw  = makeLaw(aLawSample)
	muLaw = makeLaw(muLawSample)
)

func makeLaw(sample func(b byte) int16) (t [256]int16) {
	for i := range t {
		t[i] = sample(byte(i))
	}
	return t
}

// aLawSample: sign, three bits of exponent, four of mantissa; every other bit is sent inverted, and
// a set sign bit means positive (table 1a of G.711).
func aLawSample(b byte) int16 {
	b ^= 0x55
	v := int16(b&0x0f)<<4 + 8
	if e := b >> 4 & 7; e > 0 {
		v = (v + 0x100) << (e - 1)
	}
	if b&0x80 == 0 {
		return -v
	}
	return v
}

// muLawSample: the same fields, all inverted, with a bias of 33 steps of 4 (table 2a of G.711).
func muLawSample(b byte) int16 {
	b = ^b
	v := (int16(b&0x0f)<<3+0x84)<<(b>>4&7) - 0x84
	if b&0x80 != 0 {
		return -v
	}
	return v
}
