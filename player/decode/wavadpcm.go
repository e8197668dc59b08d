package decode

import (
	"encoding/binary"
	"fmt"
	"io"
)

// ADPCM in WAVE (Microsoft, Multimedia Data Standards Update, 1994): blocks of nBlockAlign bytes that decode
// on their own, so that a seek costs one block.
//
// IMA (DVI): for each channel 2 bytes first sample, 1 index, 1 reserved; then for each channel in
// turn 4 bytes with 8 nibbles, low first.
//
// Microsoft: for each channel 1 byte predictor; for each 2 bytes delta; for each 2 bytes second
// sample; for each 2 bytes first sample; then nibbles of the channels in turn, high first.
type wavADPCM struct {
	wavData
	perBlock int
	decode   func(dst []int16, block []byte) // whole block of any length into frames
	block    []byte
	samples  []int16 // of block number at
	at       int64
}

// openADPCM opens either kind.
func (w *wavFile) openADPCM(f wavFormat, data chunk) (codec, error) {
	if w.order == binary.BigEndian {
		return nil, fmt.Errorf("%w: %s in RIFX", ErrUnsupported, f.encoding())
	}
	c := &wavADPCM{at: -1, perBlock: f.blockFrames(f.align)}
	ext := cursor{b: f.ext, order: w.order}
	if told := int(ext.u16()); told > 0 && told < c.perBlock {
		c.perBlock = told
	}
	c.decode = func(dst []int16, b []byte) { decodeIMA(dst, b, f.channels) }
	if f.tag == tagMSADPCM {
		m, err := newMSADPCM(f.channels, &ext)
		if err != nil {
			return nil, err
		}
		c.decode = m.decode
	}
	frames, err := w.blockFrames(f, c.perBlock, data)
	if err != nil {
		return nil, err
	}
	if c.wavData, err = w.data(f, data, frames); err != nil {
		return nil, err
	}
	c.size = data.off + data.size
	c.block = make([]byte, f.align)
	c.samples = make([]int16, c.perBlock*f.channels)
	return c, nil
}

// blockFrames is how many frames a block of n bytes holds.
func (f wavFormat) blockFrames(n int) int {
	n -= f.blockHead()
	switch {
	case n < 0:
		return 0
	case f.tag == tagMSADPCM:
		return 2 + 2*n/f.channels
	}
	return 1 + n/(4*f.channels)*8
}

// blockFrames is the length of the sound: of all whole blocks and the rest of the last, or what the
// fact chunk says where that ends within the last block.
func (w *wavFile) blockFrames(f wavFormat, perBlock int, data chunk) (int64, error) {
	whole, rest := data.size/int64(f.align), int(data.size%int64(f.align))
	last := min(f.blockFrames(rest), perBlock)
	frames := whole*int64(perBlock) + int64(last)
	if rest > 0 && last == 0 {
		w.warn("the last ADPCM block has %d bytes, it is dropped", rest)
	}
	b := make([]byte, min(w.chunks["fact"].size, 4))
	if err := w.readFull(b, w.chunks["fact"].off); err != nil {
		return 0, fmt.Errorf("wav: %w", err)
	}
	fact := cursor{b: b, order: w.order}
	if told := int64(fact.u32()); told < frames && told > frames-int64(perBlock) && told > 0 {
		return told, nil
	}
	return frames, nil
}

func (w *wavADPCM) read(dst []float32) (int, error) {
	return w.each(len(dst), func(at int, s []int16) {
		for i, v := range s {
			dst[at+i] = float32(v) * (1.0 / (1 << 15))
		}
	})
}

func (w *wavADPCM) read16(dst []int16) (int, error) {
	return w.each(len(dst), func(at int, s []int16) { copy(dst[at:], s) })
}

// each hands up to n samples to put, block by block. An error is returned when there is nothing
// before it.
func (w *wavADPCM) each(n int, put func(at int, s []int16)) (int, error) {
	ch := w.about.Channels
	frames := 0
	for want := min(int64(n/ch), w.frames-w.pos); int64(frames) < want; {
		s, err := w.load(w.pos)
		if err != nil && frames == 0 {
			return 0, err
		} else if err != nil {
			return frames, nil
		}
		s = s[:min(len(s), int(want-int64(frames))*ch)]
		put(frames*ch, s)
		frames += len(s) / ch
		w.pos += int64(len(s) / ch)
	}
	if frames == 0 {
		return 0, io.EOF
	}
	return frames, nil
}

// load decodes the block of frame f, if it is not the one that is there, and returns its samples
// from f on.
func (w *wavADPCM) load(f int64) ([]int16, error) {
	n, in := f/int64(w.perBlock), int(f%int64(w.perBlock))
	if n != w.at {
		w.at = -1
		clear(w.samples)
		k, err := w.readUpTo(w.block, w.offset(n))
		if err != nil {
			return nil, err
		}
		w.decode(w.samples, w.block[:k])
		w.at = n
	}
	return w.samples[in*w.about.Channels:], nil
}

// imaSteps and imaIndex are the tables of the IMA Digital Audio Focus Group's recommendation (1992).
var imaSteps = [89]int32{
	7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97,
	107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544, 598, 658, 724, 796,
	876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871,
	5358, 5894, 6484, 7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623,
	27086, 29794, 32767,
}

var imaIndex = [8]int32{-1, -1, -1, -1, 2, 4, 6, 8}

// decodeIMA decodes what there is of a block.
func decodeIMA(dst []int16, b []byte, channels int) {
	if len(b) < 4*channels {
		return
	}
	for c := range channels {
		head := b[4*c:]
		value := int32(int16(uint16(head[0]) | uint16(head[1])<<8))
		index := min(int32(head[2]), int32(len(imaSteps)-1))
		dst[c] = int16(value)
		out := channels + c
		for at := 4 * (channels + c); at+4 <= len(b); at += 4 * channels {
			for i := range 8 {
				if out >= len(dst) {
					break
				}
				value, index = imaNext(value, index, b[at+i/2]>>(4*(i&1))&0x0f)
				dst[out] = int16(value)
				out += channels
			}
		}
	}
}

// imaNext applies one nibble: the step times (nibble + 1/2) / 4, summed as the recommendation does,
// since its rounding is part of the format.
func imaNext(value, index int32, nibble byte) (int32, int32) {
	step := imaSteps[index]
	diff := step >> 3
	if nibble&1 != 0 {
		diff += step >> 2
	}
	if nibble&2 != 0 {
		diff += step >> 1
	}
	if nibble&4 != 0 {
		diff += step
	}
	if nibble&8 != 0 {
		diff = -diff
	}
	value = min(max(value+diff, -32768), 32767)
	index = min(max(index+imaIndex[nibble&7], 0), int32(len(imaSteps)-1))
	return value, index
}

// msADPCM holds the predictors of Microsoft ADPCM, which stand in the fmt chunk.
type msADPCM struct {
	channels int
	pairs    [][2]int32
}

// msPairs are the seven that every file has; they serve where the fmt chunk is cut.
var msPairs = [][2]int32{{256, 0}, {512, -256}, {0, 0}, {192, 64}, {240, 0}, {460, -208}, {392, -232}}

// msAdapt scales delta by the nibble, in 1/256.
var msAdapt = [16]int32{230, 230, 230, 230, 307, 409, 512, 614, 768, 614, 512, 409, 307, 230, 230, 230}

func newMSADPCM(channels int, ext *cursor) (*msADPCM, error) {
	m := &msADPCM{channels: channels}
	count := int(ext.u16())
	if ext.short {
		m.pairs = msPairs
		return m, nil
	}
	if count == 0 || count > 256 || 4*count > len(ext.b) {
		return nil, fmt.Errorf("wav: %w: %d ADPCM predictors in %d bytes", ErrCorrupt, count, len(ext.b))
	}
	for range count {
		m.pairs = append(m.pairs, [2]int32{int32(int16(ext.u16())), int32(int16(ext.u16()))})
	}
	return m, nil
}

// msChannel is the state of one channel.
type msChannel struct {
	pair          [2]int32
	delta         int32
	last, earlier int32
}

// decode decodes what there is of a block.
func (m *msADPCM) decode(dst []int16, b []byte) {
	ch := m.channels
	if len(b) < 7*ch {
		return
	}
	var state [maxWAVChannel]msChannel
	for c := range ch {
		s := &state[c]
		s.pair = m.pairs[min(int(b[c]), len(m.pairs)-1)]
		word := func(n int) int32 { at := ch + 2*(n*ch+c); return int32(int16(uint16(b[at]) | uint16(b[at+1])<<8)) }
		s.delta, s.last, s.earlier = word(0), word(1), word(2)
		dst[c] = int16(s.earlier)
		if ch+c < len(dst) {
			dst[ch+c] = int16(s.last)
		}
	}
	for i, at := 0, 2*ch; at < len(dst) && 7*ch+i/2 < len(b); i, at = i+1, at+1 {
		nibble := b[7*ch+i/2] >> (4 * (1 - i&1)) & 0x0f
		dst[at] = state[i%ch].next(nibble)
	}
}

func (s *msChannel) next(nibble byte) int16 {
	signed := int32(int8(nibble<<4) >> 4)
	v := (s.last*s.pair[0]+s.earlier*s.pair[1])>>8 + signed*s.delta
	v = min(max(v, -32768), 32767)
	s.earlier, s.last = s.last, v
	s.delta = min(max(s.delta*msAdapt[nibble]>>8, 16), 1<<20) // the upper bound is ours, against overflow
	return int16(v)
}
