package mixer

// Feed is the mixer's end of a stream at the mixer's rate.
//
// Samples that are not numbers are mixed as silence, and those beyond 2^20 (infinite ones too) as
// 2^20 of their sign, so that nothing a feed gives can spoil the other voices: no sum of voices
// then overflows.
type Feed interface {
	// Channels is 1 or 2 and fixed.
	Channels() int
	// Read copies at most len(dst)/Channels() interleaved frames into dst. Mix calls it, so it must
	// not block, lock or allocate. Fewer frames than asked for with end false is an underrun: the
	// voice fades to silence from its last frame and lives on. With end true the voice is over
	// behind the frames given.
	Read(dst []float32) (frames int, end bool)
}

// A flow is what the mixer knows of a feed. One that runs dry would break off anywhere in its wave:
// its last frame is held instead and faded out, and what comes behind is faded in.
type flow struct {
	dry       bool  // nothing came when it was asked last
	ended     bool  // nothing comes any more
	underruns int64 // how often it ran dry
	last      frame // as it went into the mix, without the voice's gains
	held      frame // what is fading out
	out, in   span
	over      bool // nothing is left to be heard either

	bent   bool     // read through window from the first pitch that was not 1 on
	window [4]frame // the frames around the place, from the one before it on
	whole  int      // frames of the window from the place on that are the feed's
}

// position is the next frame to be heard. What a feed that is bent gives is taken ahead of it.
func (v *voice) position() int64 { return max(v.at.pos-int64(max(v.flow.whole, 0)), 0) }

// fetch returns the voice's next n frames: fewer if the feed ends.
func (m *Mixer) fetch(v *voice, n int) []float32 {
	if f := &v.flow; f.bent || v.speed.bent() {
		return m.bendFeed(v, n)
	}
	n = m.draw(v, n)
	v.over = v.flow.over
	if v.window != nil {
		v.window.push(m.input[:v.samples(n)], v.samples(1))
	}
	return m.input[:v.samples(n)]
}

// draw reads the next n frames of the voice's feed into m.input and returns how many there are: n,
// unless the feed has ended.
func (m *Mixer) draw(v *voice, n int) int {
	f, in, got := &v.flow, m.input[:v.samples(n)], 0
	if !f.ended {
		got, f.ended = v.feed.Read(in)
		got = min(max(got, 0), n)
		mend(in[:v.samples(got)])
	}
	f.over = f.ended
	if got < n || f.dry || f.in.moving() || f.out.moving() {
		n = m.patch(v, in, got)
	}
	v.at.pos += int64(got)
	if n > 0 {
		f.last = m.drawn(v, n-1)
	}
	return n
}

// patch puts fades around the gaps of a feed that gave got of the frames of in, and returns how
// many frames there are to be mixed.
func (m *Mixer) patch(v *voice, in []float32, got int) int {
	f, n := &v.flow, len(in)/v.samples(1)
	here, gap := in[:v.samples(got)], in[v.samples(got):]
	clear(gap)
	if f.dry && got > 0 {
		f.dry = false
		if v.at.pos > 0 {
			f.in = span{0, len(m.curve)}
		}
	}
	m.fadeIn(v, here)
	m.fadeOut(v, here)
	if f.ended {
		rest := f.out.n - f.out.k
		f.over = rest <= n-got
		n = min(n, got+rest)
	} else if got < n && !f.dry {
		f.dry = true
		f.underruns++
		if got > 0 {
			f.last = m.drawn(v, got-1)
		}
		f.held, f.out = f.last, span{0, len(m.curve)}
	}
	m.fadeOut(v, gap)
	return n
}

// fadeIn scales what follows a gap.
func (m *Mixer) fadeIn(v *voice, x []float32) {
	ch := v.samples(1)
	for f := &v.flow; len(x) > 0 && f.in.moving(); x = x[ch:] {
		for c := range ch {
			x[c] *= m.curve[f.in.k]
		}
		f.in.k++
	}
}

// fadeOut adds what is left of the frame before a gap.
func (m *Mixer) fadeOut(v *voice, x []float32) {
	ch := v.samples(1)
	for f := &v.flow; len(x) > 0 && f.out.moving(); x = x[ch:] {
		for c := range ch {
			x[c] += float32(f.held[c] * (1 - m.curve[f.out.k]))
		}
		f.out.k++
	}
}
