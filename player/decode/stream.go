package decode

import (
	"fmt"
	"io"
	"math"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"
)

// What the gate allows by default, and how often a decoder may return nothing.
const (
	maxDuration = 24 * time.Hour
	maxRatio    = 8192
	maxIdle     = 16 // reads in a row with neither frames nor an error
	scratchLen  = 4096
)

// Stream is one open sound. It is a gate around a decoder that trusts it with nothing: a panic
// becomes ErrCorrupt, an error or the end sticks until the next Seek, reads that give nothing end
// it, and so does output beyond the limits of [Options].
//
// It implements beep.StreamSeekCloser. Its position is in frames of the file's own rate.
type Stream struct {
	codec    codec
	size     int64 // bytes of the entry
	rate     int
	channels int
	frames   int64 // -1 = not known yet
	pos      int64
	limit    int64 // position that ends the stream with ErrLimit
	end      error // what a read at frames is answered with, io.EOF where all is well
	err      error // sticky
	closed   bool
	found    Info      // its warnings
	summed   bool      // the codec sums the samples
	fold     *fold     // nil for one and two channels
	native   []float32 // one block of the codec's channels
	stereo   []float32 // one block for Stream
}

// newStream puts the gate around c, which was opened on size bytes.
func newStream(c codec, size int64, opt *Options) (*Stream, error) {
	s := &Stream{codec: c, size: size, end: io.EOF}
	var in Info
	if err := guard("open", func() error { in = c.info(); return nil }); err != nil {
		return nil, err
	}
	if in.Channels < 1 || in.Channels > 8 || in.Rate < 1 || in.Frames < -1 {
		return nil, fmt.Errorf("%w: %d channels at %d Hz, %d frames", ErrCorrupt, in.Channels, in.Rate, in.Frames)
	}
	s.rate, s.channels = in.Rate, in.Channels
	s.frames = in.Frames
	s.limit = frameLimit(in.Rate, size, opt)
	s.fold = newFold(in)
	if opt != nil && opt.CheckSum {
		if err := s.startSum(); err != nil {
			return nil, err
		}
	}
	if s.frames > s.limit {
		return nil, s.tooLong(s.frames)
	}
	return s, nil
}

// frameLimit is how far a sound of size bytes may play.
func frameLimit(rate int, size int64, opt *Options) int64 {
	d, ratio := maxDuration, int64(maxRatio)
	if opt != nil && opt.MaxDuration > 0 {
		d = opt.MaxDuration
	}
	if opt != nil && opt.MaxRatio > 0 {
		ratio = opt.MaxRatio
	}
	byTime := int64(d.Seconds() * float64(rate))
	if size > byTime/ratio {
		return byTime
	}
	return size * ratio
}

// startSum has the codec sum its samples from frame 0 on, where it stands.
func (s *Stream) startSum() error {
	c, ok := s.codec.(summer)
	if s.summed = ok; !ok {
		return nil
	}
	return guard("checksum", func() error { c.startSum(); return nil })
}

// checkSum tells of samples that differ from the file's own checksum.
func (s *Stream) checkSum() {
	if !s.summed {
		return
	}
	s.summed = false
	if err := guard("checksum", s.codec.(summer).checkSum); err != nil {
		s.found.lose(err.Error())
	}
}

func (s *Stream) tooLong(frames int64) error {
	return fmt.Errorf("%w: %d frames, at most %d of a sound of this size", ErrLimit, frames, s.limit)
}

// guard calls f and turns a panic into ErrCorrupt that tells where it came from.
func guard(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: the decoder failed at %s (%s): %v", ErrCorrupt, panicPlace(), what, v)
		}
	}()
	return f()
}

// panicPlace is "file.go:line" of the function that panicked: the first one below the runtime's
// own, seen from the deferred function of guard.
func panicPlace() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	panicking := false
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if panicking && !inRuntime {
			return fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
		}
		panicking = panicking || inRuntime
		if !more {
			return "an unknown place"
		}
	}
}

// Info describes the sound. Frames gets known once Len was asked or the end was reached, and
// Warnings may grow while it is read.
func (s *Stream) Info() Info {
	var in Info
	if err := guard("info", func() error { in = s.codec.info(); return nil }); err != nil {
		in = Info{Channels: s.channels, Warnings: []string{err.Error()}}
	}
	in.Frames = s.frames
	in.Warnings = slices.Concat(in.Warnings, s.found.Warnings)
	in.Lost = slices.Concat(in.Lost, s.found.Lost)
	return in
}

// Len is the number of frames in all. Where the file does not tell its length, the first call finds
// it, which may read the whole file. Of a sound that is damaged on the way it is what comes before
// the damage.
func (s *Stream) Len() int {
	if s.frames < 0 && !s.closed {
		s.frames = s.findFrames()
	}
	return int(min(max(s.frames, s.pos), math.MaxInt))
}

// findFrames asks the codec for its length, or counts.
func (s *Stream) findFrames() int64 {
	f, ok := s.codec.(lengthFinder)
	if !ok {
		return s.count()
	}
	n := int64(-1)
	err := guard("length", func() (err error) { n, err = f.findFrames(); return err })
	switch {
	case err != nil || n < s.pos:
		return s.count()
	case n > s.limit:
		s.end = s.tooLong(n)
		return s.limit
	}
	return n
}

// count reads on to the end and comes back. What ended it, if not the end, will end it there again.
func (s *Stream) count() int64 {
	if s.err != nil {
		return s.pos
	}
	at := s.pos
	for s.err == nil {
		s.readBlock(s.block())
	}
	n := s.pos
	s.end, s.pos = s.err, at
	s.err = s.seekCodec(at)
	return n
}

// Position is the frame that is read next.
func (s *Stream) Position() int { return int(s.pos) }

// Seek makes frame p the next one; Len is the end. A frame out of [0, Len] is an error, and so is
// damage on the way; both leave the position as it was. A seek that works clears an earlier error.
func (s *Stream) Seek(p int) error {
	if s.closed {
		return ErrClosed
	}
	if n := s.Len(); p < 0 || p > n {
		return fmt.Errorf("seek to frame %d of %d: out of range", p, n)
	}
	if err := s.seekCodec(int64(p)); err != nil {
		if back := s.seekCodec(s.pos); back != nil && s.err == nil {
			s.err = err
		}
		return fmt.Errorf("seek to frame %d: %w", p, err)
	}
	s.pos, s.err = int64(p), nil
	return nil
}

func (s *Stream) seekCodec(p int64) error {
	return guard("seek", func() error { return s.codec.seek(p) })
}

// Err is what ended the stream before its end, nil otherwise.
func (s *Stream) Err() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// Close ends the stream and frees what its decoder holds, not the reader below it. Reads after it
// are ErrClosed. Closing again does nothing.
func (s *Stream) Close() error {
	if s.closed {
		return nil
	}
	s.closed, s.err = true, ErrClosed
	s.native, s.stereo = nil, nil
	return guard("close", func() error { return s.codec.close() })
}

// SeekTable is what the decoder knows of where frames lie in the file, to be kept and given to
// SetSeekTable another time; nil where the format needs none. Its bytes mean nothing to others.
func (s *Stream) SeekTable() []byte {
	t, ok := s.codec.(seekTabler)
	if !ok || s.closed {
		return nil
	}
	var table []byte
	if err := guard("seek table", func() error { table = t.seekTable(); return nil }); err != nil {
		return nil
	}
	return table
}

// SetSeekTable hands a table of an earlier SeekTable of the same bytes to the decoder, so that the
// first seek need not scan. A table that does not fit is an error and is not used.
func (s *Stream) SetSeekTable(table []byte) error {
	if s.closed {
		return ErrClosed
	}
	t, ok := s.codec.(seekTabler)
	if !ok || len(table) == 0 {
		return nil
	}
	return guard("seek table", func() error { return t.setSeekTable(table) })
}
