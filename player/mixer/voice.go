package mixer

// A voice is one playing of a sound. Only Mix touches it.
type voice struct {
	id   Voice // 0 in a free slot
	pcm  *PCM
	feed Feed
	mono bool

	begun  bool // its frame has come
	heard  bool // frames of it have been mixed
	paused bool // Pause was the last word
	ending bool // over once fade is done
	over   bool

	pos    int64 // next frame of the PCM; of a feed: frames taken
	frames int64 // of the PCM
	loop   Loop
	turns  int64 // times that the loop is still to be turned back; below 0 = for ever
	loops  int64 // times that it was
	left   int64 // frames still to be played; below 0 = no limit
	played int   // frames of the chunk under way that were heard

	level float32
	law   frame
	gain  glide // level times law
	fade  move  // fade-in, and the fade of a stop
	gate  move  // pause and resume
	jump  jump
	flow  flow // of a feed
}

// A jump is a seek on its way. The place changes with frame half-1, the silent one.
type jump struct {
	span
	away bool  // still at the old place
	to   int64 // the place that belongs to frame 0 of the jump
}

// enter makes the slot's voice what s says.
func (v *voice) enter(id Voice, s *setup, ramp int) {
	g := scaled(s.law, s.level)
	*v = voice{
		id: id, pcm: s.pcm, feed: s.feed, paused: s.Paused, pos: s.Start, left: s.Length,
		level: s.level, law: s.law, gain: restAt(g), fade: rest(1), gate: rest(1),
	}
	if s.Length == 0 {
		v.left = -1
	}
	if s.Paused {
		v.gate = rest(0)
	}
	if s.FadeIn == 0 && s.Start > 0 {
		s.FadeIn = ramp
	}
	if s.FadeIn > 0 {
		v.fade = move{span{0, s.FadeIn}, 0, 1, 1}
	}
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
func (v *voice) held() bool { return !v.begun || v.paused && !v.gate.moving() }

// turnTo moves the gain to level and law.
func (v *voice) turnTo(curve []float32) {
	g := scaled(v.law, v.level)
	if !v.heard || v.held() {
		v.gain = restAt(g)
		return
	}
	v.gain.start(g, curve)
}

func (v *voice) pause(curve []float32) {
	v.paused = true
	v.swing(0, curve)
}

func (v *voice) resume(curve []float32) {
	if v.held() && v.pos == 0 {
		v.gate = rest(1) // it starts with its first frame, and attacks stay sharp
	}
	v.paused = false
	v.swing(1, curve)
}

// swing moves the gate, at once where nothing has been heard.
func (v *voice) swing(to float32, curve []float32) {
	switch {
	case !v.heard:
		v.gate = rest(to)
	case v.gate.to != to:
		v.gate.start(to, len(curve), curve)
	}
}

func (v *voice) stop(fade int, curve []float32) {
	if !v.heard || v.held() {
		v.over = true
		return
	}
	if fade == 0 {
		fade = len(curve)
	}
	v.ending = true
	v.fade.start(0, fade, curve)
}

// seekTo goes to a frame of the PCM.
func (v *voice) seekTo(frame int64, m *Mixer) {
	switch {
	case v.feed != nil:
	case !v.heard || v.held() || m.half == 0:
		if !v.heard && frame > 0 && !v.fade.moving() {
			v.fade = move{span{0, len(m.curve)}, 0, 1, 1}
		}
		v.pos, v.jump = frame, jump{}
	default:
		// A jump under way goes on from where its gain is: down from there if it was on its way
		// up, and at the gain of frame k on the way down its mirror image is 2·half - k.
		k := v.jump.k
		switch {
		case !v.jump.moving():
			k = 0
		case k >= m.half:
			k = 2*m.half - k
		}
		v.jump = jump{span{k, len(m.dip)}, true, frame - int64(k)}
	}
}

// keepTo sets the loop.
func (v *voice) keepTo(l Loop) {
	v.loop, v.turns = l, int64(l.Count)-1
	if v.loop.End == 0 || v.loop.End > v.frames {
		v.loop.End = v.frames
	}
	if v.loop.Start >= v.loop.End {
		v.turns = 0
	}
}

// limit is the frame up to which the PCM is to be played on from pos.
func (v *voice) limit() int64 {
	if v.turns != 0 && v.pos < v.loop.End {
		return v.loop.End
	}
	return v.frames
}

// pass goes n frames on in the PCM, around the loop where that comes.
func (v *voice) pass(n int64) {
	for n > 0 && v.pos < v.frames {
		end := v.limit()
		k := min(n, end-v.pos)
		v.pos += k
		n -= k
		if v.turns != 0 && v.pos == v.loop.End && end == v.loop.End {
			v.pos = v.loop.Start
			v.loops++
			if v.turns > 0 {
				v.turns--
			}
		}
	}
}

// turn does what is due before the next frame, and reports whether there is one.
func (v *voice) turn(m *Mixer) (on bool) {
	if v.over || v.left == 0 || v.ending && !v.fade.moving() {
		return false
	}
	if v.jump.away && v.jump.k == m.half-1 {
		v.jump.away = false
		v.pos = v.jump.to
		v.pass(int64(v.jump.k))
	}
	if v.left > 0 && v.left < int64(len(m.curve)) {
		v.close(m.curve)
	}
	return v.feed != nil || v.pos < v.frames || v.jump.away
}

// close fades the last frames of a voice of limited length, so that the first frame behind them
// would be silent, unless the sound ends with them or they are fading out sooner anyway.
func (v *voice) close(curve []float32) {
	last := v.feed == nil && v.turns == 0 && v.frames-v.pos <= v.left
	if last || v.ending && int64(v.fade.n-v.fade.k) <= v.left+1 {
		return
	}
	v.ending = true
	v.fade.start(0, int(v.left)+1, curve)
}

// run is how many of the next n frames are of a piece: no move ends and no place changes in them.
func (v *voice) run(n int, m *Mixer) int {
	n = v.jump.cut(v.gate.cut(v.fade.cut(v.gain.cut(n))))
	if v.jump.away {
		n = min(n, m.half-1-v.jump.k)
	}
	if v.left >= 0 {
		n = v.cutLength(n, int64(len(m.curve)))
	}
	if v.feed == nil && v.pos < v.frames {
		n = int(min(int64(n), v.limit()-v.pos))
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
	if v.jump.pass(n) {
		v.jump = jump{}
	}
	if v.left > 0 {
		v.left -= int64(n)
	}
	if v.feed == nil {
		v.pass(int64(n))
	}
}

// position is the frame of the PCM that is reached, or the frames taken from the feed.
func (v *voice) position() int64 {
	if v.jump.away {
		return v.jump.to + int64(v.jump.k)
	}
	return v.pos
}
