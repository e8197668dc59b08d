package page

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/sndpak/sndpak/player/decode"
)

// wavFile is a sound as the WAV file of 16 bits that it would be, decoded where it is read.
type wavFile struct {
	ctx      context.Context
	s        *decode.Stream
	channels int
	header   []byte
	size     int64 // of header and samples
	at       int64 // where the next Read begins

	have  []byte // decoded samples
	from  int64  // where they lie
	block []float32
}

func newWAVFile(ctx context.Context, s *decode.Stream) (*wavFile, error) {
	frames := int64(s.Len())
	in := s.Info()
	w := &wavFile{ctx: ctx, s: s, channels: min(in.Channels, 2)}
	align := int64(2 * w.channels)
	if frames > (math.MaxUint32-64)/align {
		return nil, errors.New("too long for a WAV file")
	}
	data := frames * align
	h := append([]byte("RIFF"), make([]byte, 40)...)
	copy(h[8:], "WAVEfmt ")
	copy(h[36:], "data")
	le := binary.LittleEndian
	le.PutUint32(h[4:], uint32(36+data))
	le.PutUint32(h[16:], 16)
	le.PutUint16(h[20:], 1)
	le.PutUint16(h[22:], uint16(w.channels))
	le.PutUint32(h[24:], uint32(in.Rate))
	le.PutUint32(h[28:], uint32(int64(in.Rate)*align))
	le.PutUint16(h[32:], uint16(align))
	le.PutUint16(h[34:], 16)
	le.PutUint32(h[40:], uint32(data))
	w.header, w.size, w.from = h, int64(len(h))+data, int64(len(h))
	w.block = make([]float32, 4096*w.channels)
	return w, nil
}

// Seek implements io.Seeker.
func (w *wavFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += w.at
	case io.SeekEnd:
		offset += w.size
	}
	if offset < 0 {
		return 0, errors.New("before the start")
	}
	w.at = offset
	return offset, nil
}

// Read implements io.Reader. A sound that is damaged on the way ends with its error, not with silence.
func (w *wavFile) Read(b []byte) (n int, err error) {
	if w.at >= w.size {
		return 0, io.EOF
	}
	if w.at < int64(len(w.header)) {
		n = copy(b, w.header[w.at:])
	} else {
		if err := w.fill(); err != nil {
			return 0, err
		}
		n = copy(b, w.have[w.at-w.from:])
	}
	w.at += int64(n)
	return n, nil
}

// fill decodes so that the byte at the position is there.
func (w *wavFile) fill() error {
	if w.at >= w.from && w.at < w.from+int64(len(w.have)) {
		return nil
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	align := int64(2 * w.channels)
	frame := (w.at - int64(len(w.header))) / align
	if int64(w.s.Position()) != frame {
		if err := w.s.Seek(int(frame)); err != nil {
			return err
		}
	}
	read := w.s.ReadStereo
	if w.channels == 1 {
		read = w.s.ReadFloat32
	}
	n, err := read(w.block)
	if n == 0 {
		if err == io.EOF || err == nil {
			err = fmt.Errorf("it ended at frame %d: %w", frame, io.ErrUnexpectedEOF)
		}
		return err
	}
	w.have, w.from = w.have[:0], int64(len(w.header))+frame*align
	for _, v := range w.block[:n*w.channels] {
		v = min(max(v*32768, -32768), 32767)
		w.have = binary.LittleEndian.AppendUint16(w.have, uint16(int16(math.RoundToEven(float64(v)))))
	}
	return nil
}
