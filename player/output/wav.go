package output

import (
	"encoding/binary"
	"errors"
	"math"
)

// A WAV file as written here, little-endian (Multimedia Programming Interface and Data
// Specifications 1.0, IBM and Microsoft 1991, chapter 3; for float its revision 3 of 1994):
//
//	"RIFF", u32 size of what follows
//	"WAVE"
//	"fmt ", u32 16 or 18, u16 tag (1 PCM, 3 IEEE float), u16 channels, u32 rate,
//	        u32 bytes a second, u16 bytes a frame, u16 bits a sample, and for float u16 0
//	"fact", u32 4, u32 frames      for float only
//	"data", u32 size, the frames, and a zero byte where their bytes are odd
//
// Until the sizes are known they are 0xFFFFFFFF, which readers take as "all the rest": so a file
// that was cut off, or that went down a pipe, is read in full.
const (
	sizeUnknown = math.MaxUint32
	// wavLimit is the most that a 32-bit size can tell, less room for the header. What needs more is
	// refused: the 64-bit form (EBU Tech 3306) is unknown to many who read WAV.
	wavLimit = math.MaxUint32 - 1<<10
)

// errTooLong is why a file ended before its sound did.
var errTooLong = errors.New("a WAV file holds 4 GiB at most; it was ended there")

// wavFormat is a width of samples, and how many of them a frame has.
type wavFormat struct {
	tag      uint16 // 1 PCM, 3 IEEE float
	bits     uint16
	put      func(b []byte, v float32) // one sample into the first bits/8 bytes of b
	channels int
}

// wavFormats are the ways to store stereo, by the name that comes before the colon.
var wavFormats = map[string]wavFormat{
	"wav":    {1, 16, putInt16, 2},
	"wav24":  {1, 24, putInt24, 2},
	"wav32f": {3, 32, putFloat32, 2},
}

// toInt scales to a signed integer of so many bits: rounded to nearest, clipped at full scale, and
// 0 for what is not a number. Samples that came from integers of that width come out unchanged.
func toInt(v float32, bits int) int32 {
	full := float64(int64(1) << (bits - 1))
	x := math.RoundToEven(float64(v) * full)
	if math.IsNaN(x) {
		return 0
	}
	return int32(min(max(x, -full), full-1))
}

func putInt16(b []byte, v float32) {
	binary.LittleEndian.PutUint16(b, uint16(toInt(v, 16)))
}

func putInt24(b []byte, v float32) {
	x := uint32(toInt(v, 24))
	b[0], b[1], b[2] = byte(x), byte(x>>8), byte(x>>16)
}

func putFloat32(b []byte, v float32) {
	binary.LittleEndian.PutUint32(b, math.Float32bits(v))
}

// frameSize is in bytes.
func (f wavFormat) frameSize() int { return int(f.bits) / 8 * f.channels }

// pad is what follows so many frames, since a chunk is a whole number of words.
func (f wavFormat) pad(frames int64) []byte {
	return make([]byte, frames*int64(f.frameSize())&1)
}

// encode puts samples into b, which has room for them.
func (f wavFormat) encode(b []byte, samples []float32) {
	width := int(f.bits) / 8
	for i, v := range samples {
		f.put(b[i*width:], v)
	}
}

// header returns everything in front of the frames, for a file of so many; negative is unknown.
func (f wavFormat) header(rate int, frames int64) []byte {
	b := []byte("RIFF....WAVEfmt ")
	le := binary.LittleEndian
	if f.tag == 1 {
		b = le.AppendUint32(b, 16)
	} else {
		b = le.AppendUint32(b, 18)
	}
	b = le.AppendUint16(b, f.tag)
	b = le.AppendUint16(b, uint16(f.channels))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(rate*f.frameSize()))
	b = le.AppendUint16(b, uint16(f.frameSize()))
	b = le.AppendUint16(b, f.bits)
	count, size, riff := uint32(sizeUnknown), uint32(sizeUnknown), uint32(sizeUnknown)
	if frames >= 0 {
		count, size = uint32(frames), uint32(frames*int64(f.frameSize()))
	}
	if f.tag != 1 {
		b = le.AppendUint16(b, 0)
		b = le.AppendUint32(append(b, "fact"...), 4)
		b = le.AppendUint32(b, count)
	}
	b = le.AppendUint32(append(b, "data"...), size)
	if frames >= 0 {
		riff = uint32(len(b)-8) + size + uint32(len(f.pad(frames)))
	}
	le.PutUint32(b[4:], riff)
	return b
}
