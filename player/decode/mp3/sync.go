package mp3

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	// maxSearch is how many bytes are searched for a frame.
	maxSearch = 64 << 10
	// sureFrames is how many frames in a row are believed where something else came before them.
	sureFrames = 3
)

// stream is what is fixed of a stream of frames: where in the source it lies and what every frame
// has in common.
type stream struct {
	src        source
	start, end int64  // of the frames; the info frame is none of them
	first      header // what the others must agree with
	free       int    // bytes of an unpadded frame in free format
	tags       []tagRange
	notes      notes
}

// open finds the stream in size bytes of r, between the tags and the rubbish around it.
func (s *stream) open(r io.ReaderAt, size int64) error {
	s.src = source{r: r, size: size}
	start, err := s.skipTags()
	if err != nil {
		return err
	}
	if err := s.trimTags(start); err != nil {
		return err
	}
	if err := s.find(start); err != nil {
		return err
	}
	if s.start > start {
		s.notes.add("%d bytes at %#x are no frames", s.start-start, start)
	}
	return nil
}

// Sniff tells whether the size bytes of r are MPEG audio of any layer: whether, tags and up to 64 KiB
// of rubbish aside, frames follow one another. It reads a few kilobytes, unless there is rubbish.
func Sniff(r io.ReaderAt, size int64) bool {
	var s stream
	defer s.src.drop()
	err := s.open(r, size)
	return err == nil || errors.Is(err, ErrUnsupported)
}

// headerAt returns the header at off, which is valid if it is whole.
func (s *stream) headerAt(off int64) (header, error) {
	if off+headerSize > s.end {
		return 0, nil
	}
	b, err := s.src.at(off, headerSize)
	if err != nil || len(b) < headerSize {
		return 0, err
	}
	return headerOf(b), nil
}

// follows tells whether a frame that ends at off is believed to be whole: it is followed by another
// one, by a tag, or by the end.
func (s *stream) follows(off int64) (bool, error) {
	if off+headerSize > s.end {
		return off <= s.end, nil
	}
	h, err := s.headerAt(off)
	if err != nil || h.continues(s.first) {
		return err == nil, err
	}
	n, err := s.src.tagAt(off)
	return n > 0, err
}

// resync looks for a frame of the stream from off on that another one, a tag or the end follows. It
// returns -1 where there is none within maxSearch.
func (s *stream) resync(off int64) (int64, error) {
	limit := min(off+maxSearch, s.end-headerSize+1)
	for off < limit {
		// Candidates are only looked at where what follows them is in the window too.
		b, err := s.src.at(off, int(min(windowSize, s.end-off)))
		if err != nil {
			return -1, err
		}
		last := int64(len(b)) - maxFrame - headerSize
		if off+int64(len(b)) == s.end {
			last = int64(len(b)) - headerSize
		}
		for i := int64(0); i <= last && off+i < limit; i++ {
			skip := bytes.IndexByte(b[i:last+1], 0xff)
			if skip < 0 {
				break
			}
			if i += int64(skip); off+i >= limit {
				break
			}
			if s.frameIn(b, int(i), off+int64(len(b)) == s.end) {
				return off + i, nil
			}
		}
		off += last + 1
	}
	return -1, nil
}

// frameIn tells whether a frame begins at b[i] and another one, a tag or the end of b follows it;
// the last only where b ends with the stream.
func (s *stream) frameIn(b []byte, i int, toEnd bool) bool {
	h := headerOf(b[i:])
	if !h.continues(s.first) {
		return false
	}
	next := i + h.size(s.free)
	if next+headerSize > len(b) {
		return toEnd && next <= len(b)
	}
	return headerOf(b[next:]).continues(s.first) || isID3(b[next:]) || isAPE(b[next:])
}

// changes tells whether at off begins a stream of another kind: two frames that agree with each
// other, but not with the ones before.
func (s *stream) changes(off int64) (header, bool, error) {
	h, err := s.headerAt(off)
	if err != nil || !h.layer3() || h.free() || h.continues(s.first) {
		return 0, false, err
	}
	next, err := s.headerAt(off + int64(h.size(0)))
	return h, err == nil && next.continues(h), err
}

// find sets the stream up from the first frames at off or behind it.
func (s *stream) find(off int64) error {
	const chunk = 1 << 10 // much less than the window, which can be used again
	limit := min(off+maxSearch, s.end)
	need := sureFrames - 1 // where nothing is in front of them
	for at := off; at < limit; at++ {
		b, err := s.src.at(at, int(min(chunk, limit-at)))
		if err != nil {
			return err
		}
		skip := bytes.IndexByte(b, 0xff)
		if skip < 0 {
			at += int64(len(b)) - 1
			continue
		}
		at += int64(skip)
		if at > off {
			need = sureFrames
		}
		ok, h, err := s.begins(at, need)
		if err != nil {
			return err
		}
		if ok && h.layer() != layerIII {
			return fmt.Errorf("mp3: at %#x: MPEG audio Layer %s is %w", at, layerNames[h.layer()], ErrUnsupported)
		}
		if ok {
			s.start = at
			return nil
		}
	}
	return fmt.Errorf("mp3: no frames in %d bytes from %#x: %w", max(limit-off, 0), off, ErrFormat)
}

// begins tells whether need frames follow one another from at on, or as many as there are up to the
// end, or up to a tag. The stream is set up after the first of them.
func (s *stream) begins(at int64, need int) (bool, header, error) {
	h, err := s.headerAt(at)
	if err != nil || !h.valid() {
		return false, h, err
	}
	s.first, s.free = h, 0
	if h.free() {
		if h.layer() != layerIII {
			return false, h, nil
		}
		if s.free, err = s.freeSize(at); err != nil || s.free == 0 {
			return false, h, err
		}
	}
	for n := 1; ; n++ {
		next, err := s.headerAt(at)
		if err != nil || !next.continues(h) {
			return false, h, err
		}
		at += int64(next.anySize(s.free))
		if n >= need {
			return true, h, nil
		}
		if at+headerSize > s.end {
			return n >= need-1 && (at <= s.end || n > 1), h, nil
		}
		if size, err := s.src.tagAt(at); err != nil || size > 0 {
			return err == nil && n >= need-1, h, err
		}
	}
}

// freeSize finds the size of an unpadded frame in free format: how far it is to the next header,
// if the one after that is as far again. It returns 0 where there is none.
func (s *stream) freeSize(at int64) (int, error) {
	h, err := s.headerAt(at)
	if err != nil {
		return 0, err
	}
	b, err := s.src.at(at, int(min(2*(maxFrame+1)+headerSize, s.end-at)))
	if err != nil {
		return 0, err
	}
	for n := h.mainStart(); n <= maxFrame && n+headerSize <= len(b); n++ {
		second := headerOf(b[n:])
		if !second.continues(h) {
			continue
		}
		size := n - h.padding()
		third := n + size + second.padding()
		if third == len(b) && at+int64(third) == s.end || third+headerSize <= len(b) && headerOf(b[third:]).continues(h) {
			return size, nil
		}
	}
	return 0, nil
}

// notes are the things that were wrong and were survived.
type notes []note

type note struct {
	kind, text string
	lost       bool // sound is lost
}

// maxNotes is how many of a kind are kept.
const maxNotes = 4

// add adds a note unless it is there already, as what is read twice is wrong twice.
func (n *notes) add(format string, args ...any) {
	same := 0
	for _, old := range *n {
		if old.kind == format {
			same++
		}
	}
	if same > maxNotes {
		return
	}
	text := fmt.Sprintf(format, args...)
	if same == maxNotes {
		text += ", and perhaps more of the kind"
	}
	for _, old := range *n {
		if old.text == text {
			return
		}
	}
	*n = append(*n, note{kind: format, text: text})
}

// lose is add of a note that tells of lost sound.
func (n *notes) lose(format string, args ...any) {
	had := len(*n)
	if n.add(format, args...); len(*n) > had {
		(*n)[had].lost = true
	}
}
