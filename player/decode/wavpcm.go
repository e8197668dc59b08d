package decode

import (
	"encoding/binary"
	"io"
	"math"
)

// Scaling: a sample of n bits is divided by 2^(n-1), so that the most negative one is -1 and the
// most positive a step below 1. 8-bit PCM is unsigned with its zero at 0x80. Samples of fewer bits
// than they are stored in stand in the upper ones and scale by themselves. Floats stay as they are,
// also beyond 1; what is no number becomes 0.

// pcmBlock is how many bytes are converted at a time, at most.
const pcmBlock = 16 << 10

// wavPCM decodes samples that stand one after another: PCM, float and the laws of G.711.
type wavPCM struct {
	wavData
	swap    int  // width of big-endian samples, 0 for little-endian ones
	whole   bool // the file holds float32 as memory does
	convert func(dst []float32, src []byte)
	buf     []byte
}

// wavData is what the WAVE codecs have in common: where the sound is and how far it is read.
type wavData struct {
	source
	about  Info
	off    int64 // of the first frame
	align  int   // bytes a frame, of ADPCM a block
	frames int64
	pos    int64
}

func (w *wavData) info() Info           { return w.about }
func (w *wavData) provenFrames() int64  { return w.frames }
func (w *wavData) seek(f int64) error   { w.pos = f; return nil }
func (w *wavData) close() error         { return nil }
func (w *wavData) offset(f int64) int64 { return w.off + f*int64(w.align) }

// open makes the codec for a checked format.
func (w *wavFile) open(f wavFormat, data chunk) (codec, error) {
	switch f.tag {
	case tagMP3:
		return w.openMP3(data)
	case tagIMA, tagMSADPCM:
		return w.openADPCM(f, data)
	}
	if rest := data.size % int64(f.align); rest != 0 {
		w.warn("the last frame has %d of %d bytes, it is dropped", rest, f.align)
	}
	d, err := w.data(f, data, data.size/int64(f.align))
	if err != nil {
		return nil, err
	}
	p := wavPCM{wavData: d, convert: f.converter()}
	p.whole = f.tag == tagFloat && f.width == 4 && w.order == binary.LittleEndian
	if w.order == binary.BigEndian && f.width > 1 {
		p.swap = f.width
	}
	return p.narrow(f), nil
}

// data fills in what is common, with the loops and cues, which need the length.
func (w *wavFile) data(f wavFormat, data chunk, frames int64) (wavData, error) {
	in := Info{
		Format: "wav", Encoding: f.encoding(), Rate: f.rate, Channels: f.channels, Bits: f.bits,
		Frames: frames, Mask: f.mask,
	}
	if f.tag != tagPCM && f.tag != tagFloat {
		in.Bits = 0
	}
	err := w.regions(&in)
	in.Warnings, in.Lost = w.found.Warnings, w.found.Lost
	return wavData{source: w.source, about: in, off: data.off, align: f.align, frames: frames}, err
}

// converter is how bytes of the format, in little-endian order, become float32.
func (f wavFormat) converter() func([]float32, []byte) {
	switch {
	case f.tag == tagFloat && f.width == 4:
		return fromFloat32
	case f.tag == tagFloat:
		return fromFloat64
	case f.tag == tagALaw:
		return func(dst []float32, src []byte) { fromTable(dst, src, &aLaw) }
	case f.tag == tagMuLaw:
		return func(dst []float32, src []byte) { fromTable(dst, src, &muLaw) }
	}
	return []func([]float32, []byte){fromUint8, fromInt16, fromInt24, fromInt32}[f.width-1]
}

// read converts as much as the buffer holds, or moves floats in one piece.
func (w *wavPCM) read(dst []float32) (int, error) {
	ch := w.about.Channels
	n := int(min(int64(len(dst)/ch), w.frames-w.pos))
	if n <= 0 {
		return 0, io.EOF
	}
	if b := float32Bytes(dst[:n*ch]); w.whole && b != nil {
		if err := w.raw(b, 0); err != nil {
			return 0, err
		}
		dropNonFinite(dst[:n*ch], b)
	} else {
		n = min(n, pcmBlock/w.align)
		b = w.scratch(n * w.align)
		if err := w.raw(b, w.swap); err != nil {
			return 0, err
		}
		w.convert(dst[:n*ch], b)
	}
	w.pos += int64(n)
	return n, nil
}

func (w *wavPCM) scratch(n int) []byte {
	if w.buf == nil {
		w.buf = make([]byte, pcmBlock)
	}
	return w.buf[:n]
}

// raw reads the bytes of the next frames, in little-endian order.
func (w *wavPCM) raw(b []byte, width int) error {
	if err := w.readFull(b, w.offset(w.pos)); err != nil {
		return err
	}
	if width > 1 {
		swapBytes(b, width)
	}
	return nil
}

// swapBytes turns samples of width bytes around.
func swapBytes(b []byte, width int) {
	for ; len(b) >= width; b = b[width:] {
		for i, j := 0, width-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

// The converters take len(dst) samples out of src.

func fromUint8(dst []float32, src []byte) {
	for i, b := range src[:len(dst)] {
		dst[i] = float32(int(b)-128) * (1.0 / 128)
	}
}

// fromInt16 makes the float out of its bits. With the exponent of 256 the last place of a float32 is
// worth 1/32768, so that the sample with its sign bit turned, as the mantissa, is 257 + sample/32768.
// That is exact, as a conversion would be, and takes half of its time.
func fromInt16(dst []float32, src []byte) {
	const exponent, turn = 0x4380_0000, 0x8000
	src = src[:2*len(dst)]
	for len(dst) >= 4 {
		v := binary.LittleEndian.Uint64(src) ^ (turn | turn<<16 | turn<<32 | turn<<48)
		dst[0] = math.Float32frombits(exponent|uint32(v&0xffff)) - 257
		dst[1] = math.Float32frombits(exponent|uint32(v>>16&0xffff)) - 257
		dst[2] = math.Float32frombits(exponent|uint32(v>>32&0xffff)) - 257
		dst[3] = math.Float32frombits(exponent|uint32(v>>48)) - 257
		dst, src = dst[4:], src[8:]
	}
	for i := range dst {
		dst[i] = float32(int16(binary.LittleEndian.Uint16(src[2*i:]))) * (1.0 / (1 << 15))
	}
}

// fromInt24 reads four bytes for every three but the last: the lowest of the four is shifted out.
func fromInt24(dst []float32, src []byte) {
	last := len(dst) - 1
	src = src[:3*len(dst)]
	for i := range last {
		dst[i] = float32(int32(binary.LittleEndian.Uint32(src[3*i:])<<8)) * (1.0 / (1 << 31))
	}
	b := src[3*last:]
	dst[last] = float32(int32(b[0])<<8|int32(b[1])<<16|int32(b[2])<<24) * (1.0 / (1 << 31))
}

func fromInt32(dst []float32, src []byte) {
	src = src[:4*len(dst)]
	for i := range dst {
		dst[i] = float32(int32(binary.LittleEndian.Uint32(src[4*i:]))) * (1.0 / (1 << 31))
	}
}

func fromFloat32(dst []float32, src []byte) {
	src = src[:4*len(dst)]
	for i := range dst {
		dst[i] = finite(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
	}
}

// finite is v, or 0 where that is no number or infinite.
func finite(v float32) float32 {
	if v-v != 0 {
		return 0
	}
	return v
}

// dropNonFinite does the same to all of dst, whose memory is b. Nearly always there is nothing to do,
// which is found out for two at a time: adding 1 to an exponent of all ones carries into the sign.
func dropNonFinite(dst []float32, b []byte) {
	const magnitude, one, sign = 0x7fff_ffff_7fff_ffff, 0x0080_0000_0080_0000, 0x8000_0000_8000_0000
	var any, more uint64
	for len(b) >= 32 {
		any |= binary.LittleEndian.Uint64(b)&magnitude + one
		more |= binary.LittleEndian.Uint64(b[8:])&magnitude + one
		any |= binary.LittleEndian.Uint64(b[16:])&magnitude + one
		more |= binary.LittleEndian.Uint64(b[24:])&magnitude + one
		b = b[32:]
	}
	if (any|more)&sign == 0 {
		dst = dst[len(dst)-len(b)/4:]
	}
	for i, v := range dst {
		dst[i] = finite(v)
	}
}

func fromFloat64(dst []float32, src []byte) {
	src = src[:8*len(dst)]
	for i := range dst {
		dst[i] = finite(float32(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))))
	}
}

func fromTable(dst []float32, src []byte, table *[256]int16) {
	for i, b := range src[:len(dst)] {
		dst[i] = float32(table[b]) * (1.0 / (1 << 15))
	}
}
