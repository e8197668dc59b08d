package decode

import "io"

// flacTail is how far from the end the last frame is looked for when a stream is opened.
const flacTail = 4 << 20

// rewind makes the first frame the next one.
func (f *flac) rewind() { f.from(f.first, 0) }

// from makes the frame at off, which begins at start or later, the next one.
func (f *flac) from(off, start int64) {
	f.next, f.start, f.due, f.count, f.over = off, start, start, 0, false
}

// measure finds the length by the last frame, as that tells where it ends. Where this is not what
// STREAMINFO says the length stays open, to be found by findFrames.
func (f *flac) measure() error {
	f.about.Frames = 0
	if f.over {
		return f.claim(0, true)
	}
	for tail := int64(2 * f.guess); ; tail *= 4 {
		off := max(f.size-tail, f.first)
		frames, err := f.last(off)
		if err == nil {
			return f.claim(frames, f.head.total == 0 || frames == f.head.total)
		}
		if err != io.EOF {
			return err
		}
		if tail > flacTail {
			return f.claim(-1, false)
		}
	}
}

// claim sets the length, where it is sure.
func (f *flac) claim(frames int64, sure bool) error {
	const text = "STREAMINFO claims %d frames, the last one ends at %d"
	switch {
	case frames >= 0 && frames < f.head.total:
		f.lose(text, f.head.total, frames)
	case frames >= 0 && f.head.total > 0 && frames != f.head.total:
		f.warn(text, f.head.total, frames)
	}
	if !sure {
		frames = -1
	}
	f.about.Frames = frames
	if frames != 0 {
		f.rewind()
	}
	return nil
}

// last is where the last frame that starts at off or behind ends, in frames of the sound. io.EOF
// means that there is none.
func (f *flac) last(off int64) (frames int64, err error) {
	frames = -1
	defer f.dryRun()()
	for {
		at, size, err := f.find(off, f.size, true)
		if err == io.EOF && frames >= 0 {
			f.tailLeft(off)
			return frames, nil
		}
		if err != nil {
			return 0, err
		}
		frames = f.sampleOf(f.block.flacHeader) - f.base + int64(f.block.block)
		off = at + size
	}
}

// dryRun has frames be looked at without their samples, until the function that it returns is
// called. A frame that takes a few bytes for a second of silence then takes no time either.
func (f *flac) dryRun() func() {
	f.count, f.block.dry = 0, true
	return func() { f.count, f.block.dry = 0, false }
}

// tailLeft tells of bytes behind the last frame.
func (f *flac) tailLeft(off int64) {
	if off < f.size {
		f.warn("%d bytes behind the last whole frame, at 0x%x, are not played", f.size-off, off)
	}
}

// findFrames walks over all frames to learn the length of a stream that does not tell it.
func (f *flac) findFrames() (int64, error) {
	pos, sum := f.pos, f.sum
	f.sum = nil
	n, err := f.walk()
	f.sum = sum
	if err != nil {
		return 0, err
	}
	f.about.Frames = n
	return n, f.seek(pos)
}

// walk is the frame at which the last frame of the stream ends.
func (f *flac) walk() (int64, error) {
	defer f.dryRun()()
	f.rewind()
	for {
		switch err := f.advance(); {
		case err == io.EOF:
			return f.due, nil
		case err != nil:
			return 0, err
		}
	}
}

// flacPoint is a place in the file and the frame of the sound that is there.
type flacPoint struct{ off, frame int64 }

// seek makes t the next frame. It guesses where in the file t is by the places that it knows, looks
// what frame is there, and halves what is left between; the last frames are walked by advance.
func (f *flac) seek(t int64) error {
	f.pos = t
	if f.count > 0 && f.start <= t && t < f.start+f.count {
		f.over = false
		return nil
	}
	lo, hi := flacPoint{f.first, 0}, flacPoint{f.size, f.about.Frames}
	for n := 0; hi.off-lo.off > int64(2*f.guess) && t < hi.frame; n++ {
		mid := lo.off + (hi.off-lo.off)/2
		if n%2 == 0 {
			mid = f.between(lo, hi, t)
		}
		p, err := f.probe(mid, hi.off)
		switch {
		case err == io.EOF || err == nil && (p.frame < lo.frame || p.frame > hi.frame):
			hi.off = mid // no frame between that could be trusted
		case err != nil:
			return err
		case p.frame <= t:
			lo = p
		default:
			hi = flacPoint{mid, p.frame}
		}
	}
	f.from(lo.off, lo.frame)
	return nil
}

// between is where t should be if all frames took the same space, a little before that.
func (f *flac) between(lo, hi flacPoint, t int64) int64 {
	part := float64(t-lo.frame) / float64(max(hi.frame-lo.frame, 1))
	off := lo.off + int64(part*float64(hi.off-lo.off)) - int64(f.guess)
	return min(max(off, lo.off+1), hi.off-1)
}

// probe finds the first frame in [off, end).
func (f *flac) probe(off, end int64) (flacPoint, error) {
	defer f.dryRun()()
	at, _, err := f.find(off, end, true)
	if err != nil {
		return flacPoint{}, err
	}
	return flacPoint{at, f.sampleOf(f.block.flacHeader) - f.base}, nil
}
