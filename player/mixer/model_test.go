package mixer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The model is a mixer that is slow and obviously right: it goes frame by frame in float64, knows
// no blocks, runs, tables or kinds of samples, and evaluates every curve from its formula.

type modelMove struct {
	from, to float64
	k, n     int
}

func (m *modelMove) moving() bool { return m.k < m.n }

// at is the value of frame k.
func (m *modelMove) at(k int) float64 {
	switch {
	case !m.moving():
		return m.to
	case k < 0:
		return m.from
	}
	return m.from + (m.to-m.from)*math.Pow(math.Sin(math.Pi/2*float64(k+1)/float64(m.n)), 2)
}

func (m *modelMove) start(to float64, n int) { *m = modelMove{m.at(m.k - 1), to, 0, n} }

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
	begun, heard   bool
	paused, ending bool
	over           bool
	jump           int // frames of the dip done
	jumping, away  bool
	old            place // heard while away
}

type place struct{ pos, turns int }

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
		fade:  modelMove{to: 1}, gate: modelMove{to: 1},
	}
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
		v.fade = modelMove{0, 1, 0, n}
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
			v.gain[side].start(g, m.ramp)
		}
	}
}

func (m *model) setPaused(v *modelVoice, paused bool) {
	to := 1.0
	if paused {
		to = 0
	}
	if !v.heard || !paused && v.still() && v.pos == 0 {
		v.gate = modelMove{to: to}
	} else if v.gate.to != to {
		v.gate.start(to, m.ramp)
	}
	v.paused = paused
}

func (m *model) stop(v *modelVoice, fade int) {
	if !v.heard || v.still() {
		v.over = true
		return
	}
	if fade == 0 {
		fade = m.ramp
	}
	v.ending = true
	v.fade.start(0, fade)
}

func (m *model) seek(v *modelVoice, frame int) {
	old := v.place
	v.pos = frame
	switch {
	case !v.heard:
		if frame > 0 && !v.fade.moving() {
			v.fade = modelMove{0, 1, 0, m.ramp}
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

// step takes a place on by one frame of the sound.
func (v *modelVoice) step(p *place) {
	if p.pos >= v.frames() {
		return
	}
	inside := p.pos < v.end
	p.pos++
	if p.turns != 0 && inside && p.pos == v.end {
		p.pos = v.start
		p.turns--
	}
}

// check ends the voice if no frame follows, and does what is due before one.
func (m *model) check(v *modelVoice) {
	if v.over || v.still() {
		return
	}
	if v.jump == m.half-1 {
		v.away = false
	}
	last := !v.feed && v.turns == 0 && v.frames()-v.pos <= v.left // of a feed it is not known
	if v.left > 0 && v.left < m.ramp && !last && !(v.ending && v.fade.n-v.fade.k <= v.left+1) {
		v.ending = true
		v.fade.start(0, v.left+1)
	}
	v.over = v.ending && !v.fade.moving() || v.left == 0 || v.pos >= v.frames() && !v.away
}

// frame is the voice's next frame.
func (m *model) frame(v *modelVoice) (out [2]float64) {
	m.check(v)
	if v.over || v.still() {
		return
	}
	v.heard = true
	g := v.fade.next() * v.gate.next()
	from := v.pos
	if v.away {
		from = v.old.pos
	}
	if v.jumping {
		g *= m.dip(v.jump)
		v.jump++
		v.jumping = v.jump < 2*m.half-1
	}
	for side := range 2 {
		gain := v.gain[side].next()
		if from < v.frames() {
			out[side] = g * gain * v.sample(from, side)
		}
	}
	v.step(&v.place)
	v.step(&v.old)
	v.left = max(v.left-1, min(v.left, 0))
	m.check(v)
	return out
}

func (v *modelVoice) sample(pos, side int) float64 {
	i := pos*v.sound.Channels + min(side, v.sound.Channels-1)
	if v.sound.S16 != nil {
		return float64(v.sound.S16[i]) / 32768
	}
	return float64(v.sound.F32[i])
}

func (m *model) mix() (out [2]float64) {
	for _, v := range m.voices {
		f := m.frame(v)
		out[0] += f[0]
		out[1] += f[1]
	}
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
		o.FadeIn = rnd.IntN(200)
	}
	i := len(s.voices)
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
	s.add(at, func(m *model) { s.voices[i].begun = true })
}

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
	switch op := rnd.IntN(9); {
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
		alive(func(m *model) { m.stop(v, fade) })
	case op == 6 && !id.feed():
		frame := rnd.Int64N(v.sound.Frames() + 5)
		s.r.ok(c.Seek(id, frame))
		alive(func(m *model) { m.seek(v, int(frame)) })
	case op == 7 && !id.feed():
		l := s.loop(v.sound)
		s.r.ok(c.SetLoop(id, l))
		alive(func(m *model) { v.keep(*l) })
	case op == 8:
		dB := -rnd.Float64() * 12
		s.r.ok(c.SetMaster(dB))
		s.add(at, func(m *model) { m.master.start(math.Pow(10, dB/20), m.ramp) })
	}
}

func TestModel(t *testing.T) {
	for _, rate := range []int{1, 1000, 8000, 44100} {
		for range 12 {
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
			s.steer(rnd.Int64N(length))
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
			if x := float64(got[2*int(frame)+side]); math.Abs(x-want) > 3e-5 {
				t.Errorf("frame %d, side %d: %v, want %v", frame, side, x, want)
				return false
			}
		}
	}
	return true
}
