package mixer

// play adds the next n frames of a voice to its bus, from frame at of the chunk on, and reports how
// many of them there were and whether it lives on.
func (m *Mixer) play(v *voice, at, n int) (got int, on bool) {
	if v.over {
		return 0, false
	}
	if v.plain() {
		return m.playPlain(v, at, n)
	}
	for got < n {
		if v.held() {
			if v.doomed {
				return got, false
			}
			return n, true
		}
		if !v.turn(m) {
			return got, false
		}
		k := m.add(v, at+got, v.run(n-got, m))
		v.advance(k)
		got += k
		if !v.turn(m) { // now, even if it is held from here on
			return got, false
		}
	}
	return got, true
}

// plain reports that nothing but the gain of the voice may move, as is nearly always so.
func (v *voice) plain() bool {
	return v.left < 0 && !v.ending && !v.veiled && !v.held() && !v.fade.moving() && !v.gate.moving() &&
		!v.jump.moving() && !v.speed.bent() && v.at.frac == 0 && v.feed == nil && !v.pcm.dirty()
}

// playPlain is play for such a voice. It takes half the time of what is around the inner loops.
func (m *Mixer) playPlain(v *voice, at, n int) (got int, on bool) {
	for got < n && v.at.pos < v.frames {
		k := int(min(int64(v.gain.cut(n-got)), v.limit(&v.at)-v.at.pos))
		m.addPCM(v, at+got, k, v.samples(int(v.at.pos)))
		v.heard = true
		v.gain.advance(k)
		v.step(&v.at, int64(k))
		got += k
	}
	return got, v.at.pos < v.frames
}

// add adds a run of n frames of a voice, from frame at of the chunk on, and returns its length: the
// sound may end within it.
func (m *Mixer) add(v *voice, at, n int) int {
	switch c := v.heardAt(); {
	case v.veiled && !v.gate.moving():
		return m.skip(v, n)
	case v.feed != nil:
		x := m.fetch(v, n)
		n = len(x) / v.samples(1)
		m.addNow(v, at, n, x, 1)
	case c.pos >= v.frames: // silence behind the end, until a jump takes it elsewhere
	case v.bent(c):
		k, scale := m.bend(v, *c, n)
		m.addNow(v, at, k, m.input[:v.samples(k)], scale)
		if !v.jump.away {
			n = k
		}
	case v.pcm.dirty():
		in := m.input[:v.samples(n)]
		copy(in, v.pcm.F32[v.samples(int(c.pos)):])
		mend(in)
		m.addNow(v, at, n, in, 1)
	default:
		m.addPCM(v, at, n, v.samples(int(c.pos)))
	}
	return n
}

// skip passes a run of a voice that is not heard, and returns its length.
func (m *Mixer) skip(v *voice, n int) int {
	switch c := v.heardAt(); {
	case v.feed != nil:
		return len(m.fetch(v, n)) / v.samples(1)
	case v.bent(c) && !v.jump.away:
		return v.reach(*c, v.speed, n)
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

// addPCM adds n frames of the voice's PCM as they lie there, from a sample on.
func (m *Mixer) addPCM(v *voice, at, n, from int) {
	p, scale := v.pcm, float32(1)
	if p.S16 != nil {
		scale = scale16
	}
	r := run{pcm: p, slot: int32(v.id.slot()), from: int32(at), n: int32(n), at: from}
	switch r.k, r.gain, r.by = v.gains(scale, m.curve); {
	case r.k != manyMove:
		if r.k != noneMoves || r.gain != (frame{}) {
			v.house.wait(&r, m.curve)
		}
	case p.S16 != nil:
		addCurve(m, v, at, p.S16[from:from+v.samples(n)], scale)
	default:
		addCurve(m, v, at, p.F32[from:from+v.samples(n)], scale)
	}
}

// addNow adds n frames that lie where the next voice may want others.
func (m *Mixer) addNow(v *voice, at, n int, src []float32, scale float32) {
	k, gain, by := v.gains(scale, m.curve)
	switch {
	case k == manyMove:
		addCurve(m, v, at, src, scale)
		return
	case k == noneMoves && gain == frame{}:
		return
	}
	v.house.settle(m.curve)
	sum := v.house.sum[at : at+n]
	switch {
	case v.mono && k < 0:
		addMono(sum, src, gain)
	case v.mono:
		rampMono(sum, src, m.curve[k:], gain, by)
	case k < 0:
		addStereo(sum, src, gain)
	default:
		rampStereo(sum, src, m.curve[k:], gain, by)
	}
}

// What gains says where the next frame's gain is no matter of an index of the curve.
const (
	noneMoves = -1
	manyMove  = -2
)

// gains is how the gains of a run go, times scale: along the curve from index k on, from + by*curve,
// or not at all. One move alone is a ramp, which is what nearly all moves are; the gains of several,
// of long ones and of jumps have to be written out.
func (v *voice) gains(scale float32, curve []float32) (k int, from, by frame) {
	gain, fade, gate := v.gain.moving(), v.fade.moving(), v.gate.moving()
	switch {
	case v.jump.moving() || gate && (gain || fade) || fade && (gain || !v.fade.short(curve)):
		return manyMove, from, by
	case gain:
		g := scale * v.fade.to * v.gate.to
		return v.gain.k, scaled(v.gain.from, g), scaled(v.gain.by, g)
	case fade:
		g := scaled(v.gain.to, scale*v.gate.to)
		return v.fade.k, scaled(g, v.fade.from), scaled(g, v.fade.by)
	case gate:
		g := scaled(v.gain.to, scale*v.fade.to)
		return v.gate.k, scaled(g, v.gate.from), scaled(g, v.gate.by)
	}
	return noneMoves, scaled(v.gain.to, scale*v.fade.to*v.gate.to), by
}

// addCurve adds frames at gains that are written out first.
func addCurve[S sample](m *Mixer, v *voice, at int, src []S, scale float32) {
	v.house.settle(m.curve)
	n := len(src) / v.samples(1)
	sum, g := v.house.sum[at:at+n], m.gains[:n]
	m.writeGains(v, g, scale)
	if v.mono {
		curveMono(sum, src, g)
	} else {
		curveStereo(sum, src, g)
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
