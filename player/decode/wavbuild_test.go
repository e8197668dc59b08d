package decode

import (
	"bytes"
	"encoding/binary"
	"math"
)

// byteOrder is binary.LittleEndian or binary.BigEndian.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// wavSpec builds a WAV file field by field, so that each can be wrong.
type wavSpec struct {
	form   string // "RIFF" where empty
	order  byteOrder
	tag    uint16
	ch     int
	rate   uint32
	align  int // -1 = 0; 0 = right
	bits   int
	ext    []byte // extension of fmt, with its size before it
	fmt    []byte // the whole body of fmt in place of the above
	before []testChunk
	after  []testChunk
	data   []byte
	claim  int64 // size of data as told, where not 0; -1 = 0
	tail   []byte
}

type testChunk struct {
	id    string
	body  []byte
	noPad bool
	claim uint32 // size as told, where not 0
}

func (w wavSpec) bytes() []byte {
	w = w.withOrder()
	if w.form == "" {
		w.form = "RIFF"
	}
	list := append([]testChunk{}, w.before...)
	list = append(list, testChunk{id: "fmt ", body: w.format()}, testChunk{id: "data", body: w.data, claim: w.told()})
	list = append(list, w.after...)
	var b bytes.Buffer
	b.WriteString(w.form + "\x00\x00\x00\x00WAVE")
	for _, c := range list {
		c.write(&b, w.order, w.claim == -1)
	}
	b.Write(w.tail)
	out := b.Bytes()
	w.order.PutUint32(out[4:], uint32(len(out)-8))
	return out
}

// withOrder is w with the usual byte order filled in.
func (w wavSpec) withOrder() wavSpec {
	if w.order == nil {
		w.order = binary.LittleEndian
	}
	return w
}

func (w wavSpec) told() uint32 { return uint32(max(w.claim, 0)) }

func (c testChunk) write(b *bytes.Buffer, order byteOrder, zero bool) {
	size := uint32(len(c.body))
	if c.claim != 0 {
		size = c.claim
	}
	if zero && c.id == "data" {
		size = 0
	}
	b.WriteString(c.id)
	b.Write(order.AppendUint32(nil, size))
	b.Write(c.body)
	if len(c.body)%2 == 1 && !c.noPad {
		b.WriteByte(0)
	}
}

// format is the body of fmt.
func (w wavSpec) format() []byte {
	if w.fmt != nil {
		return w.fmt
	}
	if w.tag == 0 {
		w.tag = tagPCM
	}
	if w.rate == 0 {
		w.rate = 44100
	}
	switch w.align {
	case -1:
		w.align = 0
	case 0:
		w.align = w.ch * ((w.bits + 7) / 8)
	}
	b := w.order.AppendUint16(nil, w.tag)
	b = w.order.AppendUint16(b, uint16(w.ch))
	b = w.order.AppendUint32(b, w.rate)
	b = w.order.AppendUint32(b, w.rate*uint32(w.align))
	b = w.order.AppendUint16(b, uint16(w.align))
	b = w.order.AppendUint16(b, uint16(w.bits))
	return append(b, w.ext...)
}

// extension is that of WAVE_FORMAT_EXTENSIBLE.
func extension(order byteOrder, valid int, mask uint32, tag uint16) []byte {
	b := order.AppendUint16(nil, 22)
	b = order.AppendUint16(b, uint16(valid))
	b = order.AppendUint32(b, mask)
	b = order.AppendUint16(b, tag)
	return append(b, guidTail...)
}

// le16 are samples as bytes.
func le16(samples ...int16) (b []byte) {
	for _, s := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}

// packed are samples of width bytes in an order.
func packed(order byteOrder, width int, samples ...int64) (b []byte) {
	for _, s := range samples {
		var all [8]byte
		if order == binary.BigEndian {
			binary.BigEndian.PutUint64(all[:], uint64(s))
			b = append(b, all[8-width:]...)
			continue
		}
		binary.LittleEndian.PutUint64(all[:], uint64(s))
		b = append(b, all[:width]...)
	}
	return b
}

// tone is n frames of two tones in ch channels, as 16-bit samples.
func tone(ch, n int) []int16 {
	s := make([]int16, 0, ch*n)
	for i := range n {
		for c := range ch {
			s = append(s, int16(12000*math.Sin(float64(i)*0.05*float64(c+1))+3000*math.Sin(float64(i)*0.31)))
		}
	}
	return s
}

// smpl is a smpl chunk with the loops given as {type, start, last frame, count}.
func smpl(loops ...[4]uint32) testChunk {
	b := make([]byte, smplHead)
	binary.LittleEndian.PutUint32(b[28:], uint32(len(loops)))
	for i, l := range loops {
		for _, v := range []uint32{uint32(i), l[0], l[1], l[2], 0, l[3]} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	return testChunk{id: "smpl", body: b}
}
