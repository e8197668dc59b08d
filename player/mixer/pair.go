package mixer

// Voices are added up two at a time where that can be: the accumulator is then loaded and stored
// once for both, which is a fifth of the time of an inner loop. A sum of floats depends on its
// order, so a run waits in its bus only until something else wants to add to the same frames, and
// the two of a pair go in one after the other, frame by frame: the bits are those of one at a time.

// A run is a stretch of frames of a voice that can wait: they lie in a PCM as they are to be mixed,
// at gains that stand still or follow the curve of the default ramp.
type run struct {
	pcm      *PCM
	slot     int32
	from, n  int32 // frames of the chunk
	at       int   // sample of the PCM
	k        int   // index of the curve; below 0 the gain is from, else from + by*curve
	gain, by frame
}

// A stack holds the runs of one voice that wait for those of another one. More than a voice has in
// most chunks: the rest of a ramp, what lies between, and the beginning of another one.
type stack struct {
	runs [3]run
	n    int
}

// wait adds a run, with the one that waits for it or by and by.
func (b *bus) wait(r *run, curve []float32) {
	s := &b.waiting
	for i := range s.runs[:s.n] {
		if p := &s.runs[i]; p.slot != r.slot && p.pairs(r) {
			b.addBoth(p, r, curve)
			s.n--
			*p = s.runs[s.n] // they share no frames, so that their order is of no account
			s.runs[s.n].pcm = nil
			return
		}
	}
	if s.n == len(s.runs) || s.n > 0 && s.runs[0].slot != r.slot {
		b.settle(curve)
	}
	s.runs[s.n] = *r
	s.n++
}

// pairs reports whether the two can be added at once.
func (r *run) pairs(q *run) bool {
	return r.from == q.from && r.n == q.n && r.k == q.k &&
		r.pcm.Channels == q.pcm.Channels && (r.pcm.S16 == nil) == (q.pcm.S16 == nil)
}

// settle adds all that waits.
func (b *bus) settle(curve []float32) {
	s := &b.waiting
	for i := range s.runs[:s.n] {
		r := &s.runs[i]
		sum := b.sum[r.from : r.from+r.n]
		if r.pcm.S16 != nil {
			addRun(sum, r, r.pcm.S16[r.at:], curve)
		} else {
			addRun(sum, r, r.pcm.F32[r.at:], curve)
		}
		r.pcm = nil
	}
	s.n = 0
}

// addBoth adds p and then r.
func (b *bus) addBoth(p, r *run, curve []float32) {
	sum := b.sum[r.from : r.from+r.n]
	if r.pcm.S16 != nil {
		addPair(sum, p, r, p.pcm.S16[p.at:], r.pcm.S16[r.at:], curve)
	} else {
		addPair(sum, p, r, p.pcm.F32[p.at:], r.pcm.F32[r.at:], curve)
	}
}

func addRun[S sample](sum []frame, r *run, src []S, curve []float32) {
	switch mono := r.pcm.Channels == 1; {
	case mono && r.k < 0:
		addMono(sum, src, r.gain)
	case mono:
		rampMono(sum, src, curve[r.k:], r.gain, r.by)
	case r.k < 0:
		addStereo(sum, src, r.gain)
	default:
		rampStereo(sum, src, curve[r.k:], r.gain, r.by)
	}
}

func addPair[S sample](sum []frame, p, r *run, a, b []S, curve []float32) {
	switch mono := r.pcm.Channels == 1; {
	case mono && r.k < 0:
		addMono2(sum, a, b, p.gain, r.gain)
	case mono:
		rampMono2(sum, a, b, curve[r.k:], p.gain, p.by, r.gain, r.by)
	case r.k < 0:
		addStereo2(sum, a, b, p.gain, r.gain)
	default:
		rampStereo2(sum, a, b, curve[r.k:], p.gain, p.by, r.gain, r.by)
	}
}
