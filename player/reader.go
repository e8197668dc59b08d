package player

import (
	"encoding/binary"
	"io"
	"math"
)

// Float32 returns a reader of the mix as 32-bit floats, little-endian, interleaved stereo, at
// Player.Rate: what Ebitengine's audio.NewPlayerF32 takes, and oto with FormatFloat32LE. It is for
// players without a device. It never blocks, and ends with io.EOF after Drain or Close.
//
// Whoever reads far ahead should say so by Options.Buffer, so that streams are decoded further ahead.
func (p *Player) Float32() io.Reader { return &pcmReader{p: p, width: 4, put: putFloat32} }

// Int16 is Float32 for 16-bit whole numbers, rounded and clipped: what Ebitengine's audio.NewPlayer
// takes, and oto with FormatSignedInt16LE.
func (p *Player) Int16() io.Reader { return &pcmReader{p: p, width: 2, put: putInt16} }

// A pcmReader reads a player as bytes.
type pcmReader struct {
	p     *Player
	width int // bytes of a sample
	put   func(b []byte, v float32)
	block [2 * 256]float32
	bytes [4 * 2 * 256]byte
	rest  []byte // of bytes, not read yet
	over  bool
}

func putFloat32(b []byte, v float32) { binary.LittleEndian.PutUint32(b, math.Float32bits(v)) }

func putInt16(b []byte, v float32) {
	x := math.RoundToEven(float64(v) * 32768)
	if math.IsNaN(x) {
		x = 0
	}
	binary.LittleEndian.PutUint16(b, uint16(int16(min(max(x, -32768), 32767))))
}

// Read implements io.Reader. It fills b, unless the sound ends.
func (r *pcmReader) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if len(r.rest) == 0 && !r.fill(len(b)-n) {
			break
		}
		k := copy(b[n:], r.rest)
		n, r.rest = n+k, r.rest[k:]
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// fill mixes as much as is wanted, and reports whether there was any.
func (r *pcmReader) fill(want int) bool {
	if r.over || r.p.isClosed() {
		return false
	}
	frame := 2 * r.width
	block := r.block[:2*min((want+frame-1)/frame, len(r.block)/2)]
	got := r.p.fill(block)
	r.over = got < len(block)/2
	for i, v := range block[:2*got] {
		r.put(r.bytes[i*r.width:], v)
	}
	r.rest = r.bytes[:got*frame]
	return got > 0
}

// isClosed reports that Close was called.
func (p *Player) isClosed() bool {
	select {
	case <-p.quit:
		return true
	default:
		return false
	}
}

// Stream is Mix on beep's terms, for players without a device. It ends with Close, or behind the
// last voice after Drain.
func (p *Player) Stream(samples [][2]float64) (n int, ok bool) {
	if p.isClosed() {
		return 0, false
	}
	var block [2 * 256]float32
	for n < len(samples) {
		part := block[:2*min(len(block)/2, len(samples)-n)]
		got := p.fill(part)
		for i := range got {
			samples[n+i] = [2]float64{float64(part[2*i]), float64(part[2*i+1])}
		}
		if n += got; got < len(part)/2 {
			break
		}
	}
	return n, n > 0 || len(samples) == 0
}
