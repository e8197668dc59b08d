package decode

import (
	"errors"
	"fmt"
	"io"
)

const (
	flacWindow   = 32 << 10 // bytes read at a time, at least
	flacMaxFrame = 16 << 20 // bytes of a frame, at most
	flacMaxTries = 128      // damaged frames in a row
)

// errFrame is a broken frame, which is skipped, where another error ends the stream.
var errFrame = errors.New("damaged frame")

// sampleOf is the number of the first sample of a frame.
func (f *flac) sampleOf(h flacHeader) int64 {
	if h.variable {
		return int64(h.number)
	}
	return int64(h.number) * f.fixed
}

// window returns the bytes from off on: want of them or up to the end, or more.
func (f *flac) window(off int64, want int) ([]byte, error) {
	want = int(min(int64(want), f.size-off))
	if skip := off - f.winAt; f.winAt >= 0 && skip >= 0 && skip+int64(want) <= int64(len(f.win)) {
		return f.win[skip:], nil
	}
	if n := max(want, flacWindow); cap(f.win) < n {
		f.win = make([]byte, min(int64(n), f.size))
	}
	f.win = f.win[:cap(f.win)]
	f.winAt = -1
	n, err := f.readUpTo(f.win, off)
	f.win = f.win[:n]
	if err != nil {
		return nil, err
	}
	if n < want {
		return nil, fmt.Errorf("flac: %w: %w at 0x%x", ErrCorrupt, io.ErrUnexpectedEOF, off+int64(n))
	}
	f.winAt = off
	return f.win, nil
}

// frameAt decodes the frame at off into f.block and returns its bytes. It is an errFrame, or the
// reader's error.
func (f *flac) frameAt(off int64) (int64, error) {
	for want := f.guess; ; want *= 2 {
		b, err := f.window(off, want)
		if err != nil {
			return 0, err
		}
		n, err := f.block.decode(b, f.bits)
		switch {
		case err == errShort && int64(len(b)) < f.size-off && len(b) < flacMaxFrame:
			continue
		case err != nil:
			return 0, fmt.Errorf("%w: %w", errFrame, err)
		}
		f.guess = min(max(f.guess, n+n/2), flacMaxFrame)
		return int64(n), nil
	}
}

// fits tells whether a frame is one of this stream.
func (f *flac) fits(h flacHeader) bool {
	return h.channels == f.about.Channels && (h.bits == 0 || h.bits == f.bits) &&
		(h.rate == 0 || h.rate == f.about.Rate) && h.variable == f.variable
}

// find looks for a whole frame that starts in [off, end) and decodes it into f.block. same asks
// that it fits the stream. io.EOF means that there is none.
func (f *flac) find(off, end int64, same bool) (at, size int64, err error) {
	f.cause = errNoSync
	for range flacMaxTries {
		if off, err = f.sync(off, end, same); err != nil {
			return 0, 0, err
		}
		size, err = f.frameAt(off)
		if err == nil {
			return off, size, nil
		}
		if !errors.Is(err, errFrame) {
			return 0, 0, err
		}
		f.cause = err
		off++
	}
	return 0, 0, io.EOF
}

// sync is the first place in [off, end) where a frame header stands.
func (f *flac) sync(off, end int64, same bool) (int64, error) {
	for off < end {
		b, err := f.window(off, flacMaxHeader)
		if err != nil {
			return 0, err
		}
		b = b[:min(int64(len(b)), end-off+flacMaxHeader)]
		if i := f.syncIn(b, same); i >= 0 && off+int64(i) < end {
			return off + int64(i), nil
		}
		// A header that the window cuts is looked at again in the next one.
		off += max(int64(len(b))-flacMaxHeader, 1)
	}
	return 0, io.EOF
}

// syncIn is the first place in b where a frame header stands, -1 for none.
func (f *flac) syncIn(b []byte, same bool) int {
	for i := 0; i+flacMinHeader <= len(b); i++ {
		if b[i] != 0xff || b[i+1]&0xfe != 0xf8 {
			continue
		}
		if h, err := parseFLACHeader(b[i:]); err == nil && (!same || f.fits(h)) {
			return i
		}
	}
	return -1
}

// advance decodes the next frame of the stream. io.EOF is the end. What lies between frames is left
// out, and so are frames that are numbered as if they stood elsewhere.
func (f *flac) advance() error {
	off := f.next
	for range flacMaxTries {
		if f.over {
			return io.EOF
		}
		f.count = 0
		at, size, err := f.find(off, f.size, true)
		if err != nil {
			f.over = err == io.EOF
			return err
		}
		if f.place(at, size) {
			return nil
		}
		off = at + 1
	}
	f.over = true
	return io.EOF
}

// place puts the frame that was decoded from at into the sound, if it may stand there.
func (f *flac) place(at, size int64) bool {
	start := f.sampleOf(f.block.flacHeader) - f.base
	far := start-f.due > f.gap(at-f.next)
	if start < f.due || (far && f.about.Frames < 0) || (f.about.Frames >= 0 && start >= f.about.Frames) {
		f.lose("the frame at 0x%x begins at %d, where %d was due; it is left out", at, start, f.due)
		return false
	}
	if at > f.next {
		f.lose("%d bytes at 0x%x are left out: %v", at-f.next, f.next, f.cause)
	}
	if start > f.due {
		f.lose("%d frames from %d on are missing, they are silent", start-f.due, f.due)
	}
	f.start, f.count, f.next = start, int64(f.block.block), at+size
	f.due = start + f.count
	f.addSum()
	return true
}
