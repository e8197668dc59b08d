package decode

import "fmt"

// Loop points and marks of a WAVE file.
//
// "smpl", of whose head only the eighth field matters:
//
//	28  4  number of loops
//	32  4  bytes of extra data behind the loops; not used
//	36     loops of 24 bytes: id, type (0 forward, 1 there and back, 2 backward), start, end, fraction,
//	       count (0 = for ever), 4 bytes each; end is the last frame that is played
//
// "cue ": 4 bytes for the number of points, then 24 bytes each: id, position, chunk id, chunk start,
// block start, sample offset. The last is the frame.
const (
	smplHead   = 36
	smplLoop   = 24
	cueHead    = 4
	cuePoint   = 24
	maxRegions = 256 // loops or cues that are read
)

// body reads the head of a chunk and the whole records behind it, at most maxRegions.
func (w *wavFile) body(id string, head, record int64) (cursor, error) {
	c := w.chunks[id]
	b := make([]byte, min(c.size, head+maxRegions*record))
	if err := w.readFull(b, c.off); err != nil {
		return cursor{}, fmt.Errorf("wav: %w", err)
	}
	return cursor{b: b, order: w.order}, nil
}

// regions fills in the loops and cues of a sound of in.Frames frames.
func (w *wavFile) regions(in *Info) error {
	if err := w.readLoops(in); err != nil {
		return err
	}
	return w.readCues(in)
}

func (w *wavFile) readLoops(in *Info) error {
	cur, err := w.body("smpl", smplHead, smplLoop)
	if err != nil {
		return err
	}
	head := cursor{b: cur.take(smplHead), order: w.order}
	head.take(28)
	count := head.u32()
	for i := range count {
		rec := cursor{b: cur.take(smplLoop), order: w.order}
		if cur.short {
			w.warn("smpl chunk tells of %d loops and holds %d", count, i)
			break
		}
		w.addLoop(in, rec)
	}
	return nil
}

// addLoop reads one loop and clamps it to the sound.
func (w *wavFile) addLoop(in *Info, rec cursor) {
	rec.u32()
	kind := rec.u32()
	l := Loop{Start: int64(rec.u32()), End: int64(rec.u32()) + 1, PingPong: kind == 1}
	rec.u32()
	l.Count = int(min(rec.u32(), 1<<30))
	if l.Start >= in.Frames || l.End <= l.Start {
		w.warn("the loop from frame %d to %d is not in the sound of %d frames, it is dropped", l.Start, l.End-1, in.Frames)
		return
	}
	if kind > 1 {
		w.warn("the loop at frame %d is of type %d, it is played forward", l.Start, kind)
	}
	if l.End == in.Frames+1 {
		w.warn("the loop ends at frame %d, one behind the last: its end is the last frame played", l.End-1)
	} else if l.End > in.Frames {
		w.warn("the loop ends at frame %d, the sound at %d", l.End-1, in.Frames)
	}
	l.End = min(l.End, in.Frames)
	in.Loops = append(in.Loops, l)
}

func (w *wavFile) readCues(in *Info) error {
	cur, err := w.body("cue ", cueHead, cuePoint)
	if err != nil {
		return err
	}
	for range cur.u32() {
		rec := cursor{b: cur.take(cuePoint), order: w.order}
		if cur.short {
			break
		}
		rec.take(20)
		in.Cues = append(in.Cues, min(int64(rec.u32()), in.Frames))
	}
	return nil
}
