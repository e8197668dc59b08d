package mixer

// play adds the next len(sum) frames of a voice to sum, and reports how many of them there were and
// whether it lives on.
func (m *Mixer) play(v *voice, sum []frame) (n int, on bool) {
	if v.over {
		return 0, false
	}
	for n < len(sum) {
		if v.held() {
			if v.doomed {
				return n, false
			}
			return len(sum), true
		}
		if !v.turn(m) {
			return n, false
		}
		k := m.add(v, sum[n:n+v.run(len(sum)-n, m)])
		v.advance(k)
		n += k
		if !v.turn(m) { // now, even if it is held from here on
			return n, false
		}
	}
	return n, true
}

// add adds a run of a voice, and returns its length: the sound may end within it.
func (m *Mixer) add(v *voice, sum []frame) int {
	n, c := len(sum), v.heardAt()
	switch {
	case v.veiled && !v.gate.moving():
		return m.skip(v, n)
	case v.feed != nil:
		x := m.fetch(v, n)
		n = len(x) / v.samples(1)
		addRun(m, v, sum[:n], x, 1)
	case c.pos >= v.frames: // silence behind the end, until a jump takes it elsewhere
	case v.bent(c):
		k, scale := m.bend(v, *c, n)
		addRun(m, v, sum[:k], m.input[:v.samples(k)], scale)
		if !v.jump.away {
			n = k
		}
	case v.pcm.S16 != nil:
		addRun(m, v, sum, cutOut(v, v.pcm.S16, n), scale16)
	case v.pcm.dirty():
		in := m.input[:v.samples(n)]
		copy(in, cutOut(v, v.pcm.F32, n))
		mend(in)
		addRun(m, v, sum, in, 1)
	default:
		addRun(m, v, sum, cutOut(v, v.pcm.F32, n), 1)
	}
	return n
}

// skip passes a run of a voice that is not heard, and returns its length.
func (m *Mixer) skip(v *voice, n int) int {
	switch c := v.heardAt(); {
	case v.feed != nil:
		return len(m.fetch(v, n)) / v.samples(1)
	case v.bent(c) && !v.jump.away:
		return v.reach(*c, n)
	}
	return n
}

// samples is how many samples n frames of the voice's sound have.
func (v *voice) samples(n int) int {
	if v.mono {
		return n
	}
	return 2 * n
}

// cutOut is the next n frames of a sound.
func cutOut[S sample](v *voice, all []S, n int) []S {
	from := v.samples(int(v.heardAt().pos))
	return all[from : from+v.samples(n)]
}

// addRun adds a run at the voice's gains, times scale. One move alone is a ramp, which is what
// nearly all moves are; the gains of several, of long ones and of jumps are written out first.
func addRun[S sample](m *Mixer, v *voice, sum []frame, src []S, scale float32) {
	gain, fade, gate := v.gain.moving(), v.fade.moving(), v.gate.moving()
	switch {
	case v.jump.moving() || gate && (gain || fade) || fade && (gain || !v.fade.short(m.curve)):
		g := m.gains[:len(sum)]
		m.writeGains(v, g, scale)
		if v.mono {
			curveMono(sum, src, g)
		} else {
			curveStereo(sum, src, g)
		}
	case gain:
		by := scale * v.fade.to * v.gate.to
		ramp(v, sum, src, m.curve[v.gain.k:], scaled(v.gain.from, by), scaled(v.gain.by, by))
	case fade:
		by := scaled(v.gain.to, scale*v.gate.to)
		ramp(v, sum, src, m.curve[v.fade.k:], scaled(by, v.fade.from), scaled(by, v.fade.by))
	case gate:
		by := scaled(v.gain.to, scale*v.fade.to)
		ramp(v, sum, src, m.curve[v.gate.k:], scaled(by, v.gate.from), scaled(by, v.gate.by))
	default:
		steady(v, sum, src, scaled(v.gain.to, scale*v.fade.to*v.gate.to))
	}
}

func ramp[S sample](v *voice, sum []frame, src []S, w []float32, from, by frame) {
	if v.mono {
		rampMono(sum, src, w, from, by)
	} else {
		rampStereo(sum, src, w, from, by)
	}
}

func steady[S sample](v *voice, sum []frame, src []S, g frame) {
	switch {
	case g == frame{}:
	case v.mono:
		addMono(sum, src, g)
	default:
		addStereo(sum, src, g)
	}
}

// writeGains writes the gains of the voice's next len(g) frames.
func (m *Mixer) writeGains(v *voice, g []frame, scale float32) {
	v.gain.fill(g, m.curve, scale)
	v.fade.scale(g, m.curve)
	v.gate.scale(g, m.curve)
	if v.jump.moving() {
		for i, w := range m.dip[v.jump.k : v.jump.k+len(g)] {
			g[i] = scaled(g[i], w)
		}
	}
}
