package mixer

// A voice is one playing of a sound. Only Mix touches it.
type voice struct {
	id   Voice // 0 in a free slot
	pcm  *PCM
	feed Feed
	mono bool

	house      *bus
	prev, next int32 // slots of the voices before and behind it in a queue, counted from 1; 0 = none

	begun  bool // its frame has come, or the voice before it is over
	heard  bool // frames of it have been mixed
	paused bool // Pause was the last word
	veiled bool // plays on unheard, for want of room
	ending bool // over once fade is done
	doomed bool // or once it stands still: it was stopped while it was being paused
	over   bool
	rank

	at     cursor
	frames int64 // of the PCM
	loop   Loop
	left   int64 // frames still to be played; below 0 = no limit
	closed bool  // it was decided how the last of them go

	speed speed
	level float32
	law   frame
	gain  glide // level times law
	fade  move  // fade-in, Fade, and the fade of a stop
	gate  move  // closed while paused or veiled
	jump  jump
	flow  flow // of a feed

	fine   []fineFilter // of Sinc; nil = Cubic
	window *fineWindow  // of a feed then
}

// A cursor is a place in a sound.
type cursor struct {
	pos   int64 // next frame of the PCM; of a feed: frames taken
	frac  int64 // of one: how far beyond pos, where the pitch is not 1
	turns int64 // times that the loop is still to be turned back; below 0 = for ever
	loops int64 // times that it was
	seam  seam  // the last one passed
}

// A seam is where a loop turned back: what is played before its start is what lies before its end, as
// often as it turned there without a seek.
type seam struct{ start, end, laps int64 }

// pass counts turns of a loop.
func (s *seam) pass(l *Loop, laps int64) {
	if s.start == l.Start && s.end == l.End {
		laps += s.laps
	}
	*s = seam{l.Start, l.End, laps}
}

// A jump is a seek on its way. The voice is at its new place from the start, and heard there from
// frame half-1 on, the silent one; until then it is heard at the old place.
type jump struct {
	span
	away bool // still heard at old
	old  cursor
}

// enter makes the slot's voice what s says.
func (v *voice) enter(id Voice, s *setup, curve []float32) {
	*v = voice{
		id: id, pcm: s.pcm, feed: s.feed, paused: s.paused, at: cursor{pos: s.start}, left: s.length,
		level: s.level, law: s.law, gain: restAt(scaled(s.law, s.level)), fade: rest(s.faded), gate: rest(1),
		speed: restSpeed(s.step), rank: s.rank, fine: s.fine, window: s.window,
	}
	if s.length == 0 {
		v.left = -1
	}
	if s.paused {
		v.gate = rest(0)
	}
	v.fadeIn(s.fadeIn, s.curve, curve)
	if s.feed != nil {
		v.mono = s.feed.Channels() == 1
		return
	}
	v.mono, v.frames = s.pcm.Channels == 1, s.pcm.Frames()
	if s.loops {
		v.keepTo(s.loop)
	}
}

// held reports that the voice stands still.
func (v *voice) held() bool {
	return !v.begun || v.paused && !v.gate.moving() || v.house.held
}

// fadeIn has the voice rise from silence within n frames.
func (v *voice) fadeIn(n int, shape Curve, curve []float32) {
	if n > 0 {
		to := v.fade.to
		v.fade = rest(0)
		v.fade.start(to, n, shape, curve)
	}
}

// turnTo moves the gain to level and law.
func (v *voice) turnTo(curve []float32) {
	g := scaled(v.law, v.level)
	if !v.heard || v.held() {
		v.gain = restAt(g)
		return
	}
	v.gain.start(g, curve)
}

func (v *voice) setPaused(paused bool, curve []float32) {
	if v.held() && v.at.pos == 0 && v.at.frac == 0 && !v.veiled {
		v.gate = rest(1) // it starts with its first frame, and attacks stay sharp
	}
	v.paused = paused
	v.swing(curve)
}

func (v *voice) setVeiled(veiled bool, curve []float32) {
	v.veiled = veiled
	v.swing(curve)
}

// swing opens or closes the gate, at once where nothing has been heard.
func (v *voice) swing(curve []float32) {
	to := float32(1)
	if v.paused || v.veiled {
		to = 0
	}
	switch {
	case !v.heard:
		v.gate = rest(to)
	case v.gate.to != to:
		v.gate.start(to, len(curve), Smooth, curve)
	}
}

// fadeTo moves the fade, at once where it would not be heard. A fade-in that is still to come stands
// at silence.
func (v *voice) fadeTo(g float32, n int, shape Curve, curve []float32) {
	switch {
	case v.heard && v.held() || !v.heard && !v.fade.moving():
		v.fade = rest(g)
	case n == 0:
		v.fade.start(g, len(curve), Smooth, curve)
	default:
		v.fade.start(g, n, shape, curve)
	}
}

// stop fades the voice out and ends it.
func (v *voice) stop(n int, shape Curve, curve []float32) {
	v.ending = true
	v.over = !v.heard || v.held()
	v.doomed = v.paused || v.house.stopped
	v.fadeTo(0, n, shape, curve)
}

// seekTo goes to a frame of the PCM.
func (v *voice) seekTo(frame int64, m *Mixer) {
	j := &v.jump
	old := v.at
	v.at.pos, v.at.frac, v.at.seam = frame, 0, seam{}
	v.closed = false
	switch {
	case !v.heard:
		if frame > 0 && !v.fade.moving() {
			v.fadeIn(len(m.curve), Smooth, m.curve)
		}
	case v.held() || m.half == 0:
		*j = jump{}
	case j.away || j.moving() && j.k <= m.half: // nothing was heard yet of where it went
	default:
		k := 0
		if j.moving() { // on the way up: down from there, k frames from the top
			k = 2*m.half - j.k
		}
		*j = jump{span{k, len(m.dip)}, true, old}
	}
}

// keepTo sets the loop.
func (v *voice) keepTo(l Loop) {
	v.closed = false
	v.loop, v.at.turns, v.jump.old.turns = l, int64(l.Count)-1, 0
	if v.loop.End == 0 || v.loop.End > v.frames {
		v.loop.End = v.frames
	}
	if v.loop.Start >= v.loop.End {
		v.at.turns = 0
	}
}

// heardAt is the place that is heard.
func (v *voice) heardAt() *cursor {
	if v.jump.away {
		return &v.jump.old
	}
	return &v.at
}

// limit is the frame up to which the PCM is to be played on from c.
func (v *voice) limit(c *cursor) int64 {
	if c.turns != 0 && c.pos < v.loop.End {
		return v.loop.End
	}
	return v.frames
}

// pass takes c n frames of the mixer on in the PCM, around the loop where that comes.
func (v *voice) pass(c *cursor, n int) {
	if v.bent(c) {
		v.slide(c, v.speed.sum(n))
		return
	}
	v.step(c, int64(n))
}

// step takes c n frames on.
func (v *voice) step(c *cursor, n int64) {
	for n > 0 && c.pos < v.frames {
		end := v.limit(c)
		k := min(n, end-c.pos)
		c.pos += k
		n -= k
		if c.turns != 0 && c.pos == end && end == v.loop.End {
			c.seam.pass(&v.loop, 1)
			c.pos = v.loop.Start
			c.loops++
			c.turns = max(c.turns-1, min(c.turns, -1))
		}
	}
}

// turn does what is due before the next frame, and reports whether there is one.
func (v *voice) turn(m *Mixer) (on bool) {
	if v.over || v.left == 0 || v.ending && !v.fade.moving() {
		return false
	}
	if v.jump.k == m.half-1 {
		v.jump.away = false
	}
	if v.left > 0 && v.left < int64(len(m.curve)) && !v.closed {
		v.close(m.curve)
	}
	return v.feed != nil || v.at.pos < v.frames || v.jump.away
}

// close fades the last frames of a voice of limited length, so that the first frame behind them
// would be silent, unless the sound ends with them or they are fading out sooner anyway. What
// moves the end of the sound has it decided anew.
func (v *voice) close(curve []float32) {
	v.closed = true
	ends := v.feed == nil && v.at.turns == 0 && v.remaining() <= v.left
	if ends || v.ending && int64(v.fade.n-v.fade.k) <= v.left+1 {
		return
	}
	v.ending = true
	v.fade.start(0, int(v.left)+1, Smooth, curve)
}

// run is how many of the next n frames are of a piece: no move ends and no place changes in them.
func (v *voice) run(n int, m *Mixer) int {
	n = v.jump.cut(v.speed.cut(v.gate.cut(v.fade.cut(v.gain.cut(n)))))
	if v.jump.away {
		n = min(n, m.half-1-v.jump.k)
	}
	if v.left >= 0 {
		n = v.cutLength(n, int64(len(m.curve)))
	}
	switch c := v.heardAt(); {
	case v.feed != nil && v.speed.bent():
		n = v.speed.within(n, maxChunk-4)
	case v.feed == nil && c.pos < v.frames && !v.bent(c):
		n = int(min(int64(n), v.limit(c)-c.pos))
	}
	return n
}

// cutLength shortens n so that it reaches neither past the length nor into its last fade.
func (v *voice) cutLength(n int, ramp int64) int {
	if v.left >= ramp {
		return int(min(int64(n), v.left-ramp+1))
	}
	return int(min(int64(n), v.left))
}

// advance passes n frames of a run.
func (v *voice) advance(n int) {
	v.heard = true
	v.gain.advance(n)
	v.fade.advance(n)
	v.gate.advance(n)
	if v.left > 0 {
		v.left -= int64(n)
	}
	if v.feed == nil {
		v.pass(&v.at, n)
		if v.jump.away {
			v.pass(&v.jump.old, n)
		}
	}
	v.speed.advance(n)
	if v.jump.pass(n) {
		v.jump = jump{}
	}
}
