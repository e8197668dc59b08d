package mp3

import (
	"fmt"
	"io"
	"sync"
)

// windowSize is how many bytes a source holds at once: enough for the longest frame, the search for
// another one behind each of its bytes, and not to read each frame by itself.
const windowSize = 8 << 10

// source reads from an io.ReaderAt through a window, so that looking at a few bytes here and there
// costs no call each time.
type source struct {
	r    io.ReaderAt
	size int64
	off  int64  // of window[0]
	have int    // bytes of the window that are read
	mem  []byte // made by the first fill
}

// at returns n bytes from off on, fewer only where the source ends before; n is at most windowSize.
// They stay what they are until the next call.
func (s *source) at(off int64, n int) ([]byte, error) {
	if off < 0 || off >= s.size {
		return nil, nil
	}
	n = int(min(int64(n), s.size-off))
	if off < s.off || off+int64(n) > s.off+int64(s.have) {
		if err := s.fill(off, n); err != nil {
			return nil, err
		}
	}
	i := int(off - s.off)
	return s.mem[i : i+n : i+n], nil
}

// fill moves the window to off. At least n bytes must be there.
func (s *source) fill(off int64, n int) error {
	s.have = 0
	if s.mem == nil {
		s.mem = window(s.size)
	}
	want := int(min(windowSize, s.size-off))
	got, err := s.r.ReadAt(s.mem[:want], off)
	if got < n {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("mp3: reading at %#x: %w", off+int64(got), err)
	}
	s.off, s.have = off, got
	return nil
}

// spareWindows are the windows of sources that turned out to be no MP3: packing thousands of files asks of each.
var spareWindows = sync.Pool{New: func() any { return new([windowSize]byte) }}

func window(size int64) []byte {
	if size < windowSize {
		return make([]byte, size)
	}
	return spareWindows.Get().(*[windowSize]byte)[:]
}

// drop gives the window back.
func (s *source) drop() {
	if len(s.mem) == windowSize {
		spareWindows.Put((*[windowSize]byte)(s.mem))
	}
	s.mem, s.have = nil, 0
}
