package mp3

import (
	"fmt"
	"io"
)

// Exact seek. What a frame decodes to depends on frames before it: its main data may begin up to 511
// bytes back, its blocks overlap with those of the granule before, and the synthesis filter bank
// remembers 15 time slots of 18 that a granule has. The granule before is therefore decoded too, and
// needs for its own overlap the one before itself; before those, frames are only read until their
// main data fill the reservoir.

// anchorEvery is how many decodable frames of the stream lie between two entries of the seek table.
const anchorEvery = 64

// An anchor is a cursor in the seek table: that with the index of its place times anchorEvery.
type anchor struct {
	off        int64
	held, left uint16
}

func (a anchor) cursor(i int) cursor {
	return cursor{off: a.off, index: int64(i) * anchorEvery, held: int(a.held), left: int(a.left)}
}

// seekTable knows where frames are. It grows when frames are walked over, in order.
type seekTable struct {
	anchors []anchor
	total   int64 // decodable frames of the stream, -1 where not known yet
}

var errUnfit = fmt.Errorf("mp3: the seek table does not fit, or the file has changed: %w", ErrCorrupt)

// drop forgets all but the first anchor.
func (t *seekTable) drop(s *stream) {
	t.anchors = append(t.anchors[:0], anchor{off: s.start})
	t.total = -1
}

// note takes an anchor from a cursor that has just passed a frame with sound, or stands at the start,
// if the next one belongs there. Where there is one already it is compared; if they differ the table
// is dropped, and note returns errUnfit.
func (t *seekTable) note(s *stream, c *cursor) error {
	if c.index%anchorEvery != 0 {
		return nil
	}
	i := int(c.index / anchorEvery)
	if i == len(t.anchors) {
		t.anchors = append(t.anchors, anchor{c.off, uint16(c.held), uint16(c.left)})
	}
	if i < len(t.anchors) && t.anchors[i].cursor(i) != *c {
		s.notes.add("the seek table does not fit at %#x and is made anew", c.off)
		t.drop(s)
		return errUnfit
	}
	return nil
}

// scan walks from the last anchor on until the table has anchor i or is complete.
func (d *Decoder) scan(i int64) error {
	t := &d.table
	last := len(t.anchors) - 1
	c := t.anchors[last].cursor(last)
	for t.total < 0 && int64(len(t.anchors)) <= i {
		f, err := c.next(&d.stream)
		if err == io.EOF {
			d.complete(c.index)
			return nil
		}
		if err != nil {
			return err
		}
		if f.sounds {
			t.note(&d.stream, &c)
		}
	}
	return nil
}

// complete completes the table.
func (d *Decoder) complete(total int64) {
	d.table.total = total
	const text = "the info frame tells of %d frames, %d can be decoded"
	switch told := d.info.frames; {
	case told > total+1: // some writers count the info frame
		d.stream.notes.lose(text, told, total)
	case told > 0 && told != total:
		d.stream.notes.add(text, told, total)
	}
}

// Frames returns the exact length in frames, without encoder delay and padding. The first call reads
// the headers of all frames of the stream that were not reached yet. A stream without a single good
// frame is ErrCorrupt; an info frame with nothing behind it is a sound of no frames.
func (d *Decoder) Frames() (int64, error) {
	if err := d.scan(1 << 62); err != nil {
		return 0, err
	}
	s := &d.stream
	if d.table.total == 0 && s.end-s.start >= headerSize {
		return 0, fmt.Errorf("mp3: from %#x on no frame can be decoded: %w", s.start, ErrCorrupt)
	}
	return d.length(d.table.total), nil
}

// FramesKnown returns the length in frames if it is known without reading on: because the end was
// reached before, or because the info frame tells of it and fits the number of bytes. In the latter
// case damage may make it less.
func (d *Decoder) FramesKnown() (frames int64, ok bool) {
	s := &d.stream
	switch {
	case d.table.total >= 0:
		return d.length(d.table.total), true
	case d.info.frames > 0 && d.info.bytes == d.info.size+s.end-s.start:
		return d.length(d.info.frames), true
	}
	return 0, false
}

// length returns how many frames of sound total frames of the stream make.
//
// The padding is taken off where the info frame says that the stream ends. A stream that was cut
// off before has none of it, or less; one that goes on behind has it in its middle.
func (d *Decoder) length(total int64) int64 {
	size := int64(d.stream.first.frames())
	end := total * size
	if d.info.gapless {
		told := d.info.frames
		if told == 0 {
			told = total
		}
		switch trimmed := told*size + decoderDelay - int64(d.info.padding); {
		case told == total:
			end = trimmed
		case told > total:
			end = min(end, trimmed)
		}
	}
	return max(end-d.skipFrames(), 0)
}

// paddingFrames is how many frames of the stream the padding takes at most: it is below 4096.
const paddingFrames = 4096/granuleSize + 1

// nearEnd tells whether the end of the sound may lie in the frame that was just decoded.
func (d *Decoder) nearEnd() bool {
	if !d.info.gapless {
		return false
	}
	return d.table.total >= 0 || d.info.frames == 0 || d.cur.index+paddingFrames > d.info.frames
}

// SeekTo makes the next Read begin at frame, from 0 to the length, whatever was read before. If it
// fails the position is what it was.
func (d *Decoder) SeekTo(frame int64) error {
	if at := int64(d.outPos) + frame - d.pos; d.outLen > 0 && frame >= 0 && at >= 0 && at < int64(d.outLen) {
		d.outPos, d.pos = int(at), frame
		return nil
	}
	n := (d.skipFrames() + frame) / int64(d.stream.first.frames())
	if err := d.checkRange(frame, n); err != nil {
		return err
	}
	err := d.seekFrame(n)
	if err == errUnfit {
		err = d.seekFrame(n) // the table is empty now
	}
	d.lost = err != nil
	if err == nil {
		d.pos = frame
	}
	return err
}

// checkRange tells whether frame, which is in frame n of the stream, is in the sound.
func (d *Decoder) checkRange(frame, n int64) error {
	if most := d.stream.src.size * 2 * granuleSize; frame < 0 || frame > most { // no byte holds a frame of the stream
		return fmt.Errorf("mp3: seek to frame %d: %w", frame, ErrRange)
	}
	if err := d.scan((n+paddingFrames)/anchorEvery + 1); err != nil || d.table.total < 0 {
		return err
	}
	if length := d.length(d.table.total); frame > length {
		return fmt.Errorf("mp3: seek to frame %d of %d: %w", frame, length, ErrRange)
	}
	return nil
}

// seekFrame makes the decoder what it would be behind frame n-1 of the stream.
func (d *Decoder) seekFrame(n int64) error {
	from := max(n-int64(3-d.stream.first.granules()), 0)
	for i := min(int(from/anchorEvery), len(d.table.anchors)-1); ; i-- {
		ok, err := d.preroll(i, from, n)
		if ok || err != nil {
			return err
		}
	}
}

// preroll goes from anchor i to frame n of the stream and decodes from frame from on. It reports
// false where the main data of frame from begin before the anchor.
func (d *Decoder) preroll(i int, from, n int64) (bool, error) {
	d.outPos, d.outLen = 0, 0
	d.frame.reset()
	d.cur = d.table.anchors[i].cursor(i)
	for first := true; d.cur.index < n; {
		index := d.cur.index
		f, err := d.cur.next(&d.stream)
		if err == io.EOF {
			return true, nil
		}
		var b []byte
		if err == nil {
			b, err = d.load(f)
		}
		if err != nil {
			return false, err
		}
		if !f.sounds || index < from {
			d.frame.keep(f.header, b)
		} else {
			if first && min(d.frame.mainLen, maxReservoir) < f.held {
				return false, nil
			}
			first = false
			d.frame.decode(f.header, b, d.out[:])
		}
		if f.sounds {
			if err := d.table.note(&d.stream, &d.cur); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}
