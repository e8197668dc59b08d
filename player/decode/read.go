package decode

import (
	"fmt"
	"io"

	"github.com/gopxl/beep/v2"
)

var _ beep.StreamSeekCloser = (*Stream)(nil)

// Stream implements beep.Streamer: one channel goes to both sides, more than two are folded to
// stereo (see ReadStereo). It allocates nothing.
func (s *Stream) Stream(samples [][2]float64) (n int, ok bool) {
	if s.stereo == nil && s.err == nil {
		s.stereo = make([]float32, scratchLen)
	}
	for n < len(samples) && s.err == nil {
		block := s.stereo[:min(2*(len(samples)-n), len(s.stereo))]
		k, _ := s.ReadStereo(block)
		for i := range k {
			samples[n+i] = [2]float64{float64(block[2*i]), float64(block[2*i+1])}
		}
		n += k
	}
	return n, n > 0
}

// ReadFloat32 decodes interleaved frames of Info().Channels samples, full scale being 1 and -1,
// into dst, which should hold at least one frame. It fills dst as far as whole frames go, and returns
// fewer only at the end or before an error; then the next call returns 0 and that error, io.EOF at
// the end.
func (s *Stream) ReadFloat32(dst []float32) (frames int, err error) {
	want := len(dst) / s.channels
	for frames < want && s.err == nil {
		frames += s.readBlock(dst[frames*s.channels : want*s.channels])
	}
	return s.result(frames, want)
}

// result is what a read returns that got frames of those it wanted.
func (s *Stream) result(frames, want int) (int, error) {
	if frames == 0 && (want > 0 || s.closed) {
		return 0, s.err
	}
	return frames, nil
}

// ReadStereo is ReadFloat32 folded to stereo: two samples a frame, whatever Info().Channels is. One
// channel goes to both sides. More than two are folded by ITU-R BS.775-3, which does not turn
// the sum down: it may pass full scale.
func (s *Stream) ReadStereo(dst []float32) (frames int, err error) {
	switch {
	case s.channels == 1:
		return s.readMono(dst[:len(dst)&^1])
	case s.fold == nil:
		return s.ReadFloat32(dst)
	}
	want := len(dst) / 2
	for frames < want && s.err == nil {
		block := s.block()
		block = block[:min((want-frames)*s.channels, len(block))]
		n := s.readBlock(block)
		s.fold.mix(dst[2*frames:2*(frames+n)], block)
		frames += n
	}
	return s.result(frames, want)
}

// readMono reads into the second half of dst and spreads the samples from its start, which never
// passes the ones that are still to be spread.
func (s *Stream) readMono(dst []float32) (int, error) {
	half := len(dst) / 2
	n, err := s.ReadFloat32(dst[half:])
	for i, v := range dst[half : half+n] {
		dst[2*i], dst[2*i+1] = v, v
	}
	return n, err
}

// Int16 tells whether the samples are whole numbers of at most 16 bits, so that ReadInt16 gives
// them as they are.
func (s *Stream) Int16() bool {
	_, ok := s.codec.(int16Reader)
	return ok && !s.closed
}

// ReadInt16 is ReadFloat32 for sounds whose Int16 is true: the samples of the file, unchanged.
// Narrower ones are scaled to 16 bits, so that full scale is 32768. It is ErrUnsupported for others.
func (s *Stream) ReadInt16(dst []int16) (frames int, err error) {
	r, ok := s.codec.(int16Reader)
	if !ok {
		return 0, fmt.Errorf("%w: samples of more than 16 bits as int16", ErrUnsupported)
	}
	want := len(dst) / s.channels
	for frames < want && s.err == nil {
		rest := dst[frames*s.channels : want*s.channels]
		frames += s.step(len(rest), func(n int) (int, error) { return r.read16(rest[:n]) })
	}
	return s.result(frames, want)
}

// block is the scratch block, made when it is first needed: whole frames at any channel count.
func (s *Stream) block() []float32 {
	if s.native == nil {
		s.native = make([]float32, scratchLen/s.channels*s.channels)
	}
	return s.native
}

// readBlock decodes one block of samples.
func (s *Stream) readBlock(dst []float32) int {
	return s.step(len(dst), func(n int) (int, error) { return s.codec.read(dst[:n]) })
}

// step has read fill up to n samples, of whole frames, through the gate. It returns the frames
// read; 0 only with s.err set.
func (s *Stream) step(n int, read func(samples int) (int, error)) int {
	n = int(min(int64(n), s.room()*int64(s.channels)))
	if n == 0 {
		return 0
	}
	for range maxIdle {
		frames := 0
		err := guard("read", func() (err error) { frames, err = read(n); return err })
		if frames < 0 || frames > n/s.channels {
			s.err = fmt.Errorf("%w: the decoder returned %d of %d frames", ErrCorrupt, frames, n/s.channels)
			return 0
		}
		if s.took(frames, err); frames > 0 || err != nil {
			return frames
		}
	}
	s.err = fmt.Errorf("%w: the decoder gave nothing %d times in a row", ErrCorrupt, maxIdle)
	return 0
}

// room is how many frames may come yet; 0 sets why there are none.
func (s *Stream) room() int64 {
	switch {
	case s.frames >= 0 && s.pos >= s.frames:
		s.err = s.end
		s.checkSum()
		return 0
	case s.frames >= 0:
		return s.frames - s.pos
	case s.pos >= s.limit:
		s.err = s.tooLong(s.pos + 1)
		return 0
	}
	return s.limit - s.pos
}

// took accounts for one read of the codec. An end that comes before the one that was claimed
// becomes the length, and is told.
func (s *Stream) took(frames int, err error) {
	s.pos += int64(frames)
	s.err = err
	if err != io.EOF {
		return
	}
	if s.frames >= 0 && s.pos < s.frames {
		s.found.lose(fmt.Sprintf("the sound ends at frame %d of %d", s.pos, s.frames))
	}
	s.frames = s.pos
	s.checkSum()
}
