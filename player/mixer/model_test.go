package mixer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sndpak/sndpak/player/internal/streamtest"
)

// The model is a mixer that is slow and obviously right: it goes frame by frame in float64, knows
// no blocks, runs, tables or kinds of samples, and evaluates every curve from its formula.

type modelMove struct {
	from, to float64
	k, n     int
	curve    Curve
}

func (m *modelMove) moving() bool { return m.k < m.n }

// at is the value of frame k.
func (m *modelMove) at(k int) float64 {
	switch {
	case !m.moving() || k == m.n-1:
		return m.to
	case k < 0:
		return m.from
	}
	x := float64(k+1) / float64(m.n)
	w := math.Pow(math.Sin(math.Pi/2*x), 2)
	switch m.curve {
	case Linear:
		return m.from*(1-x) + m.to*x
	case EqualPower:
		return math.Sqrt(m.from*m.from*(1-w) + m.to*m.to*w)
	case Decibels:
		return math.Pow(max(m.from, 1e-4), 1-x) * math.Pow(max(m.to, 1e-4), x)
	}
	return m.from*(1-w) + m.to*w
}

func (m *modelMove) start(to float64, n int, c Curve) { *m = modelMove{m.at(m.k - 1), to, 0, n, c} }

func (m *modelMove) next() float64 {
	v := m.at(m.k)
	m.k = min(m.k+1, m.n)
	return v
}

type modelVoice struct {
	sound *PCM
	feed  bool
	place
	start, end     int // of the loop
	left           int // -1 = no limit
	level          float64
	law            [2]float64
	gain           [2]modelMove
	fade, gate     modelMove
	before         *modelVoice // in a queue
	step, by, goal int64       // 2^-32 frames a frame
	steps          int         // until it is goal
	top            int64       // where steps lead from
	fineWay        bool
	begun, heard   bool
	closed, doomed bool
	paused, ending bool
	over           bool
	jump           int // frames of the dip done
	jumping, away  bool
	old            place // heard while away
}

type place struct {
	pos, turns int
	frac       int64
	last       [2]int // start and end of the loop that turned last
	laps       int    // how often it did
}

type model struct {
	rate, ramp, half int
	voices           []*modelVoice
	master           modelMove
}

func newModel(rate int) *model {
	m := &model{rate: rate, ramp: max(rate/200, 1), half: int(math.Ceil(float64(rate) / 400)), master: modelMove{to: 1}}
	if m.ramp == 1 {
		m.half = 0
	}
	return m
}

func (m *model) play(p *PCM, o Params) *modelVoice {
	v := &modelVoice{
		sound: p, place: place{pos: int(o.Start)}, paused: o.Paused, left: int(o.Length),
		level: math.Pow(10, o.Gain/20),
		law:   [2]float64{math.Sqrt2 * math.Cos(math.Pi/4*(1+o.Pan)), math.Sqrt2 * math.Sin(math.Pi/4*(1+o.Pan))},
		fade:  modelMove{to: 1}, gate: modelMove{to: 1}, goal: one,
	}
	if o.Pitch != 0 {
		v.goal = int64(math.Round(o.Pitch * one))
	}
	v.step, v.fineWay = v.goal, o.Interpolation == Sinc
	if o.Length == 0 {
		v.left = -1
	}
	if o.Paused {
		v.gate.to = 0
	}
	n := o.FadeIn
	if n == 0 && o.Start > 0 {
		n = m.ramp
	}
	if n > 0 {
		v.fade = modelMove{0, 1, 0, n, o.Curve}
	}
	for side := range 2 {
		v.gain[side].to = v.level * v.law[side]
	}
	if o.Loop != nil {
		v.keep(*o.Loop)
	}
	m.voices = append(m.voices, v)
	return v
}

func (v *modelVoice) frames() int { return int(v.sound.Frames()) }

func (v *modelVoice) keep(l Loop) {
	v.closed = false
	v.start, v.end, v.turns, v.old.turns = int(l.Start), int(l.End), l.Count-1, 0
	if v.end == 0 || v.end > v.frames() {
		v.end = v.frames()
	}
	if v.start >= v.end {
		v.turns = 0
	}
}

func (v *modelVoice) still() bool { return !v.begun || v.paused && !v.gate.moving() }

func (m *model) regain(v *modelVoice) {
	for side := range 2 {
		g := v.level * v.law[side]
		if !v.heard || v.still() {
			v.gain[side] = modelMove{to: g}
		} else {
			v.gain[side].start(g, m.ramp, Smooth)
		}
	}
}

func (m *model) setPaused(v *modelVoice, paused bool) {
	to := 1.0
	if paused {
		to = 0
	}
	if !v.heard || !paused && v.still() && v.pos == 0 && v.frac == 0 {
		v.gate = modelMove{to: to}
	} else if v.gate.to != to {
		v.gate.start(to, m.ramp, Smooth)
	}
	v.paused = paused
}

func (m *model) fadeTo(v *modelVoice, f Fade) {
	to := math.Pow(10, f.Gain/20)
	if f.Stop {
		to, v.ending = 0, true
		v.over = !v.heard || v.still()
		v.doomed = v.paused
	}
	switch {
	case v.heard && v.still() || !v.heard && !v.fade.moving():
		v.fade = modelMove{to: to}
	case f.Frames == 0:
		v.fade.start(to, m.ramp, Smooth)
	default:
		v.fade.start(to, f.Frames, f.Curve)
	}
}

func (m *model) setPitch(v *modelVoice, pitch float64) {
	v.closed = false
	v.goal = int64(math.Round(pitch * one))
	v.steps, v.by, v.top = m.ramp, (v.goal-v.step)/int64(m.ramp), v.step
	if !v.heard || v.still() {
		v.step, v.steps, v.top = v.goal, 0, 0
	}
}

func (m *model) seek(v *modelVoice, frame int) {
	old := v.place
	v.pos, v.frac, v.laps = frame, 0, 0
	v.closed = false
	switch {
	case !v.heard:
		if frame > 0 && !v.fade.moving() {
			v.fade = modelMove{0, v.fade.to, 0, m.ramp, Smooth}
		}
	case v.still() || m.half == 0:
		v.jumping, v.away = false, false
	case v.jumping && v.jump <= m.half:
	case v.jumping: // as far down as it had come up
		v.away, v.jump, v.old = true, 2*m.half-v.jump, old
	default:
		v.jumping, v.away, v.jump, v.old = true, true, 0, old
	}
}

// dip is the gain of frame k of a seek.
func (m *model) dip(k int) float64 {
	if k == m.half-1 {
		return 0
	}
	return math.Abs(math.Cos(math.Pi / 2 * float64(k+1) / float64(m.half)))
}

// step1 takes a place on by one frame of the sound.
func (v *modelVoice) step1(p *place) {
	if p.pos >= v.frames() {
		return
	}
	inside := p.pos < v.end
	p.pos++
	if p.turns != 0 && inside && p.pos == v.end {
		if p.last != [2]int{v.start, v.end} {
			p.last, p.laps = [2]int{v.start, v.end}, 0
		}
		p.pos = v.start
		p.turns--
		p.laps++
	}
}

// walk takes a place on by one frame of the mixer.
func (v *modelVoice) walk(p *place) {
	for p.frac += v.step; p.frac >= one; p.frac -= one {
		v.step1(p)
	}
	if p.pos >= v.frames() {
		p.frac = 0
	}
}

// remaining is how many frames of the mixer the sound still gives, not looped.
func (v *modelVoice) remaining() int {
	if v.goal == one && v.steps == 0 && v.frac == 0 {
		return v.frames() - v.pos
	}
	return int((int64(v.frames()-v.pos)*one - v.frac + v.goal - 1) / v.goal)
}

// check ends the voice if no frame follows, and does what is due before one.
func (m *model) check(v *modelVoice) {
	if v.over {
		return
	}
	if v.jump == m.half-1 {
		v.away = false
	}
	last := !v.feed && v.turns == 0 && v.remaining() <= v.left // of a feed it is not known
	if v.left > 0 && v.left < m.ramp && !v.closed && !v.over {
		v.closed = true
		if !last && !(v.ending && v.fade.n-v.fade.k <= v.left+1) {
			v.ending = true
			v.fade.start(0, v.left+1, Smooth)
		}
	}
	v.over = v.ending && !v.fade.moving() || v.left == 0 || v.pos >= v.frames() && !v.away
}

// frame is the voice's next frame.
func (m *model) frame(v *modelVoice) (out [2]float64) {
	if v.over || v.still() {
		return
	}
	v.heard = true
	g := v.fade.next() * v.gate.next()
	from := v.place
	if v.away {
		from = v.old
	}
	if v.jumping {
		g *= m.dip(v.jump)
		v.jump++
		v.jumping = v.jump < 2*m.half-1
	}
	for side := range 2 {
		gain := v.gain[side].next()
		if from.pos < v.frames() {
			out[side] = g * gain * v.value(from, side)
		}
	}
	if v.steps > 0 {
		v.step += v.by
	}
	v.walk(&v.place)
	v.walk(&v.old)
	if v.steps--; v.steps <= 0 {
		v.step, v.steps, v.top = v.goal, 0, 0
	}
	v.left = max(v.left-1, min(v.left, 0))
	m.check(v)
	return out
}

// value is the sound at a place, between its frames the cubic with Catmull and Rom's tangents, at the
// nearest of 4096 places.
func (v *modelVoice) value(p place, side int) float64 {
	if v.fineWay {
		return v.fine(p, side)
	}
	a, b := v.sample(p.back().pos, side), v.sample(p.pos, side)
	t := math.Floor(float64(p.frac)/one*4096+0.5) / 4096
	v.step1(&p)
	c := v.sample(p.pos, side)
	v.step1(&p)
	d := v.sample(p.pos, side)
	h1, h2 := (c-a)/2, (d-b)/2
	return b*(1-3*t*t+2*t*t*t) + c*(3*t*t-2*t*t*t) + h1*(t-2*t*t+t*t*t) + h2*(t*t*t-t*t)
}

// back is the place one frame before.
func (p place) back() place {
	if p.laps > 0 && p.pos == p.last[0] {
		p.pos = p.last[1]
		p.laps--
	}
	p.pos--
	return p
}

// fine is the sound at a place by the sum of all frames under the windowed sinc, which is as wide as
// the range of pitches asks for; linear between places that have weights.
func (v *modelVoice) fine(p place, side int) float64 {
	if v.frac == 0 && v.steps <= 0 && v.goal == one {
		return v.sample(p.pos, side) // as it is
	}
	pitch := 1.0
	for i := 1; i <= 18 && math.Round(pitch*one) < float64(max(v.goal, v.top)); i++ {
		pitch = math.Exp2(float64(i) / 6)
	}
	rows := math.Ceil(128 / pitch)
	row, t := math.Modf(float64(p.frac) / one * rows)
	return (1-t)*v.fineAt(p, side, row/rows, pitch) + t*v.fineAt(p, side, (row+1)/rows, pitch)
}

// fineAt is what fine is at t behind the place for one of the places that have weights.
func (v *modelVoice) fineAt(p place, side int, t, pitch float64) float64 {
	half, beta := 12*pitch, 0.1102*(80-8.7)
	sum, all := 0.0, 0.0
	add := func(u float64, pos int) {
		if x := u * u / (half * half); x < 1 {
			w := sinc(u/pitch) * bessel(beta*math.Sqrt(1-x))
			all += w
			sum += w * v.sample(pos, side)
		}
	}
	for q, u := p, -t; u > -half; u-- {
		add(u, q.pos)
		q = q.back()
	}
	for u := 1 - t; u < half; u++ {
		v.step1(&p)
		add(u, p.pos)
	}
	return sum / all
}

func (v *modelVoice) sample(pos, side int) float64 {
	if pos < 0 || pos >= v.frames() {
		return 0
	}
	i := pos*v.sound.Channels + min(side, v.sound.Channels-1)
	if v.sound.S16 != nil {
		return float64(v.sound.S16[i]) / 32768
	}
	return float64(v.sound.F32[i])
}

// handOver begins the voices whose turn it is in their queue.
func (m *model) handOver() {
	for _, v := range m.voices {
		for v.before != nil && v.before.over {
			if v.before = v.before.before; v.before == nil && !v.over {
				v.begun = true
				if !v.still() {
					m.check(v)
				}
			}
		}
	}
}

func (m *model) mix() (out [2]float64) {
	for _, v := range m.voices {
		if !v.still() {
			m.check(v)
		}
		v.over = v.over || v.doomed && v.still()
	}
	m.handOver()
	for _, v := range m.voices {
		f := m.frame(v)
		out[0] += f[0]
		out[1] += f[1]
	}
	m.handOver()
	g := m.master.next()
	return [2]float64{out[0] * g, out[1] * g}
}

// soundFeed gives a PCM as a feed that never runs dry.
type soundFeed struct {
	p   *PCM
	pos int64
}

func (f *soundFeed) Channels() int { return f.p.Channels }

func (f *soundFeed) Read(dst []float32) (frames int, end bool) {
	n := copy(dst, f.p.floats(make([]float32, len(dst)), f.pos)) / f.p.Channels
	f.pos += int64(n)
	return n, f.pos == f.p.Frames()
}

// act is one random command to both mixers; it takes effect in the model when its frame comes.
type act struct {
	frame int64
	do    func(m *model)
}

// script makes random commands for frames below length. Every command goes to r ahead of its frame.
type script struct {
	rnd    *rand.Rand
	r      rig
	ids    []Voice
	voices []*modelVoice // filled in when the model starts them
	acts   []act
	sounds []*PCM
}

func (s *script) add(frame int64, do func(m *model)) { s.acts = append(s.acts, act{frame, do}) }

func (s *script) play(at int64) {
	rnd, p := s.rnd, s.sounds[s.rnd.IntN(len(s.sounds))]
	o := Params{Gain: rnd.Float64()*30 - 25, Pan: rnd.Float64()*2 - 1, At: at, Paused: rnd.IntN(8) == 0}
	if rnd.IntN(3) == 0 {
		o.Length = 1 + rnd.Int64N(p.Frames()*2)
	}
	if rnd.IntN(3) == 0 {
		o.FadeIn, o.Curve = rnd.IntN(200), Curve(rnd.IntN(4))
	}
	if rnd.IntN(3) == 0 {
		o.Pitch = s.pitch()
	}
	o.Interpolation = Interpolation(rnd.IntN(2))
	i, after := len(s.voices), -1
	if i > 0 && rnd.IntN(3) == 0 {
		after = rnd.IntN(i)
		o.After = s.ids[after]
	}
	s.voices = append(s.voices, nil)
	if rnd.IntN(4) == 0 { // a feed
		s.ids = append(s.ids, s.r.feed(&soundFeed{p: p}, o))
	} else {
		if rnd.IntN(2) == 0 {
			o.Start = rnd.Int64N(p.Frames() + 2)
		}
		if rnd.IntN(2) == 0 {
			o.Loop = s.loop(p)
		}
		s.ids = append(s.ids, s.r.play(p, o))
	}
	// The voice has its place in the order of the sum when its command arrives, but begins later.
	s.voices[i] = (&model{ramp: s.ramp()}).play(p, o)
	s.voices[i].feed = s.ids[i].feed()
	if after >= 0 {
		s.voices[i].before = s.lastBehind(s.voices[after])
	}
	s.add(at, func(m *model) { s.voices[i].begun = s.voices[i].begun || s.voices[i].before == nil })
}

// lastBehind is the end of the queue that v is in.
func (s *script) lastBehind(v *modelVoice) *modelVoice {
	for _, w := range s.voices {
		if w != nil && w.before == v {
			return s.lastBehind(w)
		}
	}
	return v
}

func (s *script) pitch() float64 { return math.Exp(s.rnd.Float64()*6 - 3) }

func (s *script) ramp() int { return max(s.r.Rate()/200, 1) }

func (s *script) loop(p *PCM) *Loop {
	n := p.Frames()
	l := &Loop{Start: s.rnd.Int64N(n), Count: s.rnd.IntN(4)}
	l.End = l.Start + 1 + s.rnd.Int64N(n-l.Start+3)
	return l
}

// steer sends one command to a random voice.
func (s *script) steer(at int64) {
	if len(s.ids) == 0 {
		return
	}
	rnd, c := s.rnd, s.r.At(at)
	i := rnd.IntN(len(s.ids))
	id, v := s.ids[i], s.voices[i]
	alive := func(do func(m *model)) {
		s.add(at, func(m *model) {
			if !v.over {
				do(m)
			}
		})
	}
	switch op := rnd.IntN(11); {
	case op == 0:
		dB := rnd.Float64()*30 - 25
		s.r.ok(c.SetGain(id, dB))
		alive(func(m *model) { v.level = math.Pow(10, dB/20); m.regain(v) })
	case op == 1:
		pan := rnd.Float64()*2 - 1
		s.r.ok(c.SetPan(id, pan))
		a := math.Pi / 4 * (1 + pan)
		alive(func(m *model) {
			v.law = [2]float64{math.Sqrt2 * math.Cos(a), math.Sqrt2 * math.Sin(a)}
			m.regain(v)
		})
	case op == 2:
		s.r.ok(c.Pause(id))
		alive(func(m *model) { m.setPaused(v, true) })
	case op == 3 || op == 4:
		s.r.ok(c.Resume(id))
		alive(func(m *model) { m.setPaused(v, false) })
	case op == 5 && rnd.IntN(3) == 0:
		fade := rnd.IntN(300)
		s.r.ok(c.Stop(id, fade))
		alive(func(m *model) { m.fadeTo(v, Fade{Frames: fade, Stop: true}) })
	case op == 6 && !id.feed():
		frame := rnd.Int64N(v.sound.Frames() + 5)
		s.r.ok(c.Seek(id, frame))
		alive(func(m *model) { m.seek(v, int(frame)) })
	case op == 7 && !id.feed():
		l := s.loop(v.sound)
		s.r.ok(c.SetLoop(id, l))
		alive(func(m *model) { v.keep(*l) })
	case op == 9:
		f := Fade{Gain: rnd.Float64()*30 - 25, Frames: rnd.IntN(300), Curve: Curve(rnd.IntN(4)), Stop: rnd.IntN(6) == 0}
		s.r.ok(c.Fade(id, f))
		alive(func(m *model) { m.fadeTo(v, f) })
	case op == 10:
		pitch := s.pitch()
		s.r.ok(c.SetPitch(id, pitch))
		alive(func(m *model) { m.setPitch(v, pitch) })
	case op == 8:
		dB := -rnd.Float64() * 12
		s.r.ok(c.SetMaster(dB))
		s.add(at, func(m *model) { m.master.start(math.Pow(10, dB/20), m.ramp, Smooth) })
	}
}

func TestModel(t *testing.T) {
	for _, rate := range []int{1, 1000, 8000, 44100} {
		for range streamtest.Fewer(8) {
			seed := rand.Uint64()
			if !againstModel(t, rate, seed) {
				t.Fatalf("rate %d, seed %d", rate, seed)
			}
		}
	}
}

// againstModel runs one random script through the mixer, in blocks of random sizes, and the model.
func againstModel(t *testing.T, rate int, seed uint64) bool {
	rnd := rand.New(rand.NewPCG(seed, 0))
	s := &script{rnd: rnd, r: newRig(t, Config{Rate: rate, Voices: 1000, Queue: 5000})}
	for i := range 6 {
		p := noise16(rnd.Uint64(), 1+i%2, 1+rnd.IntN(3000))
		if i >= 3 {
			p = float(p)
		}
		s.sounds = append(s.sounds, p)
	}
	const length = 6000
	for range 25 {
		s.play(rnd.Int64N(length))
		for range rnd.IntN(12) {
			s.steer(1 + rnd.Int64N(length-1))
		}
	}
	slices.SortStableFunc(s.acts, func(a, b act) int { return int(a.frame - b.frame) })
	var got []float32
	for len(got) < 2*length {
		got = append(got, s.r.mix(1+rnd.IntN(700))...)
	}
	m := newModel(rate)
	m.voices = s.voices
	for frame := range int64(length) {
		for len(s.acts) > 0 && s.acts[0].frame <= frame {
			s.acts[0].do(m)
			s.acts = s.acts[1:]
		}
		for side, want := range m.mix() {
			if x := float64(got[2*int(frame)+side]); math.Abs(x-want) > 1e-4 {
				t.Errorf("frame %d, side %d: %v, want %v", frame, side, x, want)
				return false
			}
		}
	}
	return true
}
