package player

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sndpak/sndpak/player/mixer"
)

// A Voice is one playing of a Sound. After its end all methods are harmless and do nothing. Those
// that steer it take effect with the next block, ramped over 5 ms, or with At in their name exactly
// at a frame of the player's time (see Player.Time), one that has passed meaning at once. Their error
// is mixer.ErrFull, too many commands within one block or planned, or mixer.ErrValue, a value that
// nothing can be done with.
type Voice struct {
	sound  *Sound
	onEnd  func(v *Voice, err error)
	manner manner
	cur    atomic.Pointer[playback] // nil once it has ended
	done   chan struct{}
	err    error    // set before done closes
	odd    []string // so are the warnings

	mu       sync.Mutex // one command at a time; guards what follows
	asset    *asset
	now      mixer.Params
	loop     *Loop
	paused   bool
	stopping bool
	followed bool        // something was queued up behind it
	line     []*playback // those of the voice that may not be over yet; the last one is cur
	planned  []order     // what a playback that takes over must be told again
}

// An order is a command for a frame still to come.
type order struct {
	at int64
	do func(c mixer.Commands, id mixer.Voice) error
}

// Time is how many frames the player has mixed, for Params.At and the like.
func (p *Player) Time() int64 { return p.mix.Time() }

// Play starts the sound; it is heard with the next block. The error is ErrClosed, that of a stream
// that cannot start, mixer.ErrVoices (too many wait or play) or mixer.ErrFull.
func (s *Sound) Play(o Params) (*Voice, error) {
	v, err := s.play(&o)
	if err != nil {
		return nil, fmt.Errorf("player: play %q: %w", s.name, err)
	}
	return v, nil
}

func (s *Sound) play(o *Params) (*Voice, error) {
	a := s.asset()
	if a.clip != nil && (o.Effect != nil || o.FadeOut > 0) { // both sit in streams
		t, err := s.p.Load(s.name, Stream)
		if err != nil {
			return nil, err
		}
		defer t.Unload()
		a = t.asset()
	}
	if err := o.check(a); err != nil {
		return nil, err
	}
	loop, err := a.region(o.Loop)
	if err != nil {
		return nil, err
	}
	v := &Voice{
		sound: s, asset: a, onEnd: o.OnEnd, manner: a.manner(o), done: make(chan struct{}),
		paused: o.Paused, loop: loop, now: s.params(a, o),
	}
	return v, v.launch(o.Start, v.now)
}

// launch starts a playback at a source frame and makes it the voice's.
func (v *Voice) launch(frame int64, m mixer.Params) error {
	a := v.asset
	b := &playback{voice: v, asset: a, from: frame, shown: frame}
	if a.clip != nil {
		if !a.hold() {
			return ErrClosed
		}
		m.Loop, m.Start = a.scaledLoop(v.loop), min(a.scaled(frame), a.clip.pcm.Frames())
	} else {
		st, err := a.take(frame, v.loop, v.manner)
		if err != nil {
			return err
		}
		b.stream = st
		if frame > 0 && m.FadeIn == 0 {
			m.FadeIn = a.p.ramp()
		}
	}
	v.cur.Store(b)
	v.line = append(v.line, b)
	if err := a.p.start(b, m); err != nil {
		v.cur.Store(nil)
		a.putBack(b.stream)
		return err
	}
	return nil
}

// ramp is 5 ms in the mixer's frames.
func (p *Player) ramp() int { return max(p.Rate()/200, 1) }

// over ends the voice if b is what it plays.
func (v *Voice) over(b *playback, err error, odd []string) {
	if !v.cur.CompareAndSwap(b, nil) {
		return
	}
	v.err, v.odd = err, odd
	close(v.done)
	switch {
	case v.onEnd == nil:
	case v.sound.p.opt.InStep:
		v.onEnd(v, err)
	default:
		go v.onEnd(v, err)
	}
}

// Voices are those that are not over, in the order of their starts.
func (p *Player) Voices() []*Voice {
	p.mu.Lock()
	defer p.mu.Unlock()
	live := make([]*playback, 0, len(p.live))
	for _, b := range p.live {
		if b.voice.cur.Load() == b {
			live = append(live, b)
		}
	}
	slices.SortFunc(live, func(a, b *playback) int { return cmp.Compare(a.mixed(), b.mixed()) })
	voices := make([]*Voice, len(live))
	for i, b := range live {
		voices[i] = b.voice
	}
	return voices
}

// Sound is what the voice plays.
func (v *Voice) Sound() *Sound { return v.sound }

// Done closes when the voice has ended.
func (v *Voice) Done() <-chan struct{} { return v.done }

// Err is the error that ended the voice; nil before the end and after a good one.
func (v *Voice) Err() error {
	select {
	case <-v.done:
		return v.err
	default:
		return nil
	}
}

// Warnings are what was wrong with the sound and was mended, one line each: all of it once the voice
// has ended. See decode.Info.
func (v *Voice) Warnings() []string {
	if b := v.cur.Load(); b != nil {
		return b.warnings()
	}
	<-v.done // what closes it is under way
	return v.odd
}

// last is the voice's newest playback in the mixer, 0 where it has ended, for what is to follow it.
func (v *Voice) last() mixer.Voice {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.followed = true
	if b := v.cur.Load(); b != nil {
		return b.mixed()
	}
	return 0
}

// steer gives a command to the voice's playback, for a frame or at once, and where a seek is planned
// also to the one that plays until then.
func (v *Voice) steer(at int64, do func(c mixer.Commands, id mixer.Voice) error, note func()) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cur.Load() == nil {
		return nil
	}
	mix := v.sound.p.mix
	now := mix.Time()
	v.prune()
	for i, b := range v.line {
		if i+1 < len(v.line) && v.line[i+1].at <= now {
			continue // on its way out
		}
		if err := do(mix.At(at), b.mixed()); err != nil {
			return err
		}
	}
	v.planned = slices.DeleteFunc(v.planned, func(o order) bool { return o.at <= now })
	if at > now && v.asset.clip == nil {
		v.planned = append(v.planned, order{at, do})
	}
	note()
	return nil
}

// prune forgets playbacks that are over; mu is held.
func (v *Voice) prune() {
	cur := v.cur.Load()
	v.line = slices.DeleteFunc(v.line, func(b *playback) bool {
		return b != cur && v.sound.p.mix.State(b.mixed()).Ended
	})
}

// SetGain sets the gain in dB.
func (v *Voice) SetGain(dB float64) error {
	return v.steer(0, func(c mixer.Commands, id mixer.Voice) error { return c.SetGain(id, dB) }, func() { v.now.Gain = dB })
}

// SetPan sets the pan, -1 to 1.
func (v *Voice) SetPan(pan float64) error {
	return v.steer(0, func(c mixer.Commands, id mixer.Voice) error { return c.SetPan(id, pan) }, func() { v.now.Pan = pan })
}

// SetPitch sets how fast the sound goes by, 1/64 to 64.
func (v *Voice) SetPitch(pitch float64) error {
	return v.steer(0, func(c mixer.Commands, id mixer.Voice) error { return c.SetPitch(id, pitch) }, func() { v.now.Pitch = pitch })
}

// Fade moves the voice's fade with the next block.
func (v *Voice) Fade(f Fade) error { return v.FadeAt(0, f) }

// FadeAt moves it from a frame of the player's time on. A stream that is sought while it fades is at
// the end of its fade.
func (v *Voice) FadeAt(frame int64, f Fade) error {
	m := v.sound.p.fade(f)
	return v.steer(frame, func(c mixer.Commands, id mixer.Voice) error { return c.Fade(id, m) }, func() {
		if frame <= v.sound.p.Time() {
			v.now.Faded, v.stopping = f.Gain, v.stopping || f.Stop
		}
	})
}

// Pause fades the voice out and keeps its place.
func (v *Voice) Pause() error {
	return v.steer(0, func(c mixer.Commands, id mixer.Voice) error { return c.Pause(id) }, func() { v.paused = true })
}

// Resume goes on where Pause stopped.
func (v *Voice) Resume() error {
	return v.steer(0, func(c mixer.Commands, id mixer.Voice) error { return c.Resume(id) }, func() { v.paused = false })
}

// Paused reports whether the voice waits for Resume.
func (v *Voice) Paused() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.paused && v.cur.Load() != nil
}

// Virtual reports whether the voice plays on unheard, for want of room (see Options.Heard).
func (v *Voice) Virtual() bool {
	b := v.cur.Load()
	return b != nil && v.sound.p.mix.State(b.mixed()).Unheard
}

// Stop ends the voice with a fade, 5 ms where it is 0.
func (v *Voice) Stop(fade time.Duration) error { return v.StopAt(0, fade) }

// StopAt begins that fade at a frame of the player's time.
func (v *Voice) StopAt(frame int64, fade time.Duration) error {
	n := int(v.sound.p.frames(fade))
	if frame <= v.sound.p.Time() {
		v.mu.Lock()
		v.retract()
		v.stopping = true
		v.mu.Unlock()
	}
	return v.steer(frame, func(c mixer.Commands, id mixer.Voice) error { return c.Stop(id, n) }, func() {})
}

// SetLoop changes the loop while the voice plays. With nil it leaves the loop and plays on to the
// sound's end. What a stream has decoded ahead (Options.Ahead) still follows the old one.
func (v *Voice) SetLoop(l *Loop) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	b := v.cur.Load()
	if b == nil {
		return nil
	}
	loop, err := v.asset.region(l)
	if err != nil {
		return fmt.Errorf("player: %q: %w", v.sound.name, err)
	}
	v.loop = loop
	if b.stream != nil {
		b.stream.loop.Store(loop)
		return nil
	}
	return v.sound.p.mix.SetLoop(b.mixed(), v.asset.scaledLoop(loop))
}

// Position is the sound's frame that is heard now: what the device still holds is taken off.
func (v *Voice) Position() int64 {
	p := v.sound.p
	return v.standing(p.frames(p.Delay()) + int64(p.mix.Ahead()))
}

// place is the sound's frame that is mixed next.
func (v *Voice) place() int64 { return v.standing(0) }

// shownNow is the playback that the voice's position is told from: the last one that has begun, or
// that is a seek which counts as done.
func (v *Voice) shownNow() (b *playback, st mixer.State) {
	mix := v.sound.p.mix
	for _, b = range slices.Backward(v.line) {
		if st = mix.State(b.mixed()); !st.Waiting || b.at <= mix.Time() {
			break
		}
	}
	return b, st
}

// standing is the sound's frame that was mixed so many of the mixer's frames ago.
func (v *Voice) standing(ago int64) int64 {
	if v.cur.Load() == nil {
		return v.sound.Frames()
	}
	v.mu.Lock()
	b, st := v.shownNow()
	loop, pitch := v.asset.scaledLoopOf(v.loop), cmp.Or(v.now.Pitch, 1)
	v.mu.Unlock()
	if st.Waiting {
		return b.shown
	}
	a := b.asset
	out := st.Position - int64(math.Round(float64(ago)*pitch))
	if b.stream != nil {
		return b.stream.at(max(out, 0))
	}
	if loop != nil && st.Loops > 0 && out < loop.Start {
		out += loop.End - loop.Start
	}
	frame := int64(math.Round(float64(max(out, 0)) * float64(a.info.Rate) / float64(a.p.Rate())))
	return min(frame, a.length())
}

// scaledLoopOf is scaledLoop of a clip, nil of a stream.
func (a *asset) scaledLoopOf(l *Loop) *mixer.Loop {
	if a.clip == nil {
		return nil
	}
	return a.scaledLoop(l)
}
