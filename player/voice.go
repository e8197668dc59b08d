package player

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sndpak/sndpak/player/mixer"
)

// A Loop is a region of a sound in its own frames: [Start, End), End 0 meaning the sound's end.
// The sound plays up to End, then the region again, Count times in all (0 = for ever), then on to
// the sound's end.
type Loop struct {
	Start, End int64
	Count      int
}

// Params say how a sound is played. The zero value plays it once, as it is, at once.
type Params struct {
	Gain   float64       // dB: amplitude times 10^(Gain/20); math.Inf(-1) is silence
	Pan    float64       // -1 left to 1 right, by equal power; 0 is the centre
	Pitch  float64       // how fast the sound goes by, 1/64 to 64: 2 is an octave up; 0 = 1
	Loop   *Loop         // nil plays once
	Start  int64         // the sound's frame that is heard first
	Length int64         // for how many frames of the sound's rate it is heard in all, over loops too; 0 = no limit
	At     int64         // the player's frame (see Player.Time) at which it starts; passed = at once
	FadeIn time.Duration // 0 = 5 ms where Start is not 0, else none: attacks stay sharp
	Paused bool          // wait for Resume

	// OnEnd is called once when the voice has ended, with the error that ended it or nil: on a
	// goroutine of its own, or by the goroutine that pulls a player in step. It may start sounds.
	OnEnd func(v *Voice, err error)
}

// A Voice is one playing of a Sound. After its end all methods are harmless and do nothing. An
// error of a method that steers it is mixer.ErrFull: too many commands within one block.
type Voice struct {
	sound *Sound
	onEnd func(v *Voice, err error)
	cur   atomic.Pointer[playback] // nil once it has ended
	done  chan struct{}
	err   error // set before done closes

	mu     sync.Mutex // one command at a time; guards what follows
	asset  *asset
	now    mixer.Params
	loop   *Loop
	paused bool
}

// Time is how many frames the player has mixed, for Params.At.
func (p *Player) Time() int64 { return p.mix.Time() }

// Play starts the sound; it is heard with the next block. The error is ErrClosed, that of a stream
// that cannot start, mixer.ErrVoices (too many play) or mixer.ErrFull.
func (s *Sound) Play(o Params) (*Voice, error) {
	a := s.asset()
	v := &Voice{sound: s, asset: a, onEnd: o.OnEnd, done: make(chan struct{}), paused: o.Paused}
	loop, err := a.region(o.Loop)
	if err == nil && (o.Start < 0 || a.info.Frames >= 0 && o.Start > a.info.Frames) {
		err = fmt.Errorf("start at frame %d of %d", o.Start, a.info.Frames)
	}
	if err == nil {
		v.loop, v.now = loop, a.params(o)
		err = v.launch(o.Start, v.now)
	}
	if err != nil {
		return nil, fmt.Errorf("player: play %q: %w", s.name, err)
	}
	return v, nil
}

// region checks a loop against the sound and gives it its end.
func (a *asset) region(l *Loop) (*Loop, error) {
	if l == nil {
		return nil, nil
	}
	c, frames := *l, a.length()
	if c.End == 0 {
		c.End = frames
	}
	if c.Start < 0 || c.End <= c.Start || c.End > frames || c.Count < 0 {
		return nil, fmt.Errorf("loop of frames %d to %d, %d times, in a sound of %d frames", l.Start, l.End, l.Count, frames)
	}
	return &c, nil
}

// params puts o into the mixer's terms, all but where it starts.
func (a *asset) params(o Params) mixer.Params {
	return mixer.Params{
		Gain: o.Gain, Pan: o.Pan, Pitch: o.Pitch, At: o.At, Length: a.scaled(o.Length), Paused: o.Paused,
		FadeIn: int(o.FadeIn.Seconds() * float64(a.p.Rate())),
	}
}

// scaledLoop is the loop in the mixer's frames.
func (a *asset) scaledLoop(l *Loop) *mixer.Loop {
	if l == nil {
		return nil
	}
	return &mixer.Loop{Start: a.scaled(l.Start), End: min(a.scaled(l.End), a.clip.pcm.Frames()), Count: l.Count}
}

// launch starts a playback at a source frame and makes it the voice's.
func (v *Voice) launch(frame int64, m mixer.Params) error {
	a := v.asset
	b := &playback{voice: v, asset: a, from: frame}
	if a.clip != nil {
		m.Loop, m.Start = a.scaledLoop(v.loop), min(a.scaled(frame), a.clip.pcm.Frames())
	} else {
		st, err := a.take(frame, v.loop)
		if err != nil {
			return err
		}
		b.stream = st
		if frame > 0 && m.FadeIn == 0 {
			m.FadeIn = a.p.ramp()
		}
	}
	v.cur.Store(b)
	if err := a.p.start(b, m); err != nil {
		v.cur.Store(nil)
		if b.stream != nil {
			a.putBack(b.stream)
		}
		return err
	}
	return nil
}

// ramp is 5 ms in the mixer's frames.
func (p *Player) ramp() int { return max(p.Rate()/200, 1) }

// over ends the voice if b is what it plays.
func (v *Voice) over(b *playback, err error) {
	if !v.cur.CompareAndSwap(b, nil) {
		return
	}
	v.err = err
	close(v.done)
	switch {
	case v.onEnd == nil:
	case v.sound.p.opt.InStep:
		v.onEnd(v, err)
	default:
		go v.onEnd(v, err)
	}
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

// steer runs one command on the voice's playback, if it still has one.
func (v *Voice) steer(do func(m *mixer.Mixer, id mixer.Voice) error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if b := v.cur.Load(); b != nil {
		return do(v.sound.p.mix, b.mixed())
	}
	return nil
}

// SetGain sets the gain in dB within 5 ms.
func (v *Voice) SetGain(dB float64) error {
	return v.steer(func(m *mixer.Mixer, id mixer.Voice) error {
		v.now.Gain = dB
		return m.SetGain(id, dB)
	})
}

// SetPan sets the pan, -1 to 1, within 5 ms.
func (v *Voice) SetPan(pan float64) error {
	return v.steer(func(m *mixer.Mixer, id mixer.Voice) error {
		v.now.Pan = pan
		return m.SetPan(id, pan)
	})
}

// SetPitch sets how fast the sound goes by, 1/64 to 64, within 5 ms.
func (v *Voice) SetPitch(pitch float64) error {
	return v.steer(func(m *mixer.Mixer, id mixer.Voice) error {
		v.now.Pitch = pitch
		return m.SetPitch(id, pitch)
	})
}

// Pause fades the voice out within 5 ms and keeps its place.
func (v *Voice) Pause() error {
	return v.steer(func(m *mixer.Mixer, id mixer.Voice) error {
		v.paused = true
		return m.Pause(id)
	})
}

// Resume goes on where Pause stopped.
func (v *Voice) Resume() error {
	return v.steer(func(m *mixer.Mixer, id mixer.Voice) error {
		v.paused = false
		return m.Resume(id)
	})
}

// Paused reports whether the voice waits for Resume.
func (v *Voice) Paused() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.paused && v.cur.Load() != nil
}

// Stop ends the voice with a fade, 5 ms where it is 0.
func (v *Voice) Stop(fade time.Duration) error {
	return v.steer(func(m *mixer.Mixer, id mixer.Voice) error {
		return m.Stop(id, int(fade.Seconds()*float64(m.Rate())))
	})
}

// SetLoop changes the loop while the voice plays. With nil it leaves the loop and plays on to the
// sound's end. What a stream has decoded ahead (Options.Ahead) still follows the old one.
func (v *Voice) SetLoop(l *Loop) error {
	return v.steer(func(m *mixer.Mixer, id mixer.Voice) error {
		loop, err := v.asset.region(l)
		if err != nil {
			return fmt.Errorf("player: %q: %w", v.sound.name, err)
		}
		v.loop = loop
		if b := v.cur.Load(); b != nil && b.stream != nil {
			b.stream.loop.Store(loop)
			return nil
		}
		return m.SetLoop(id, v.asset.scaledLoop(loop))
	})
}

// SeekTo goes to a frame of the sound, cross-faded over 5 ms; one out of range goes to the nearest
// end. The error is that of the stream that cannot be read there; the voice then plays on.
func (v *Voice) SeekTo(frame int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	old, a := v.cur.Load(), v.asset
	if old == nil {
		return nil
	}
	frame = min(max(frame, 0), a.length())
	if a.clip != nil {
		return a.p.mix.Seek(old.mixed(), min(a.scaled(frame), a.clip.pcm.Frames()))
	}
	if err := v.jump(old, a, frame, a.p.ramp()); err != nil {
		return fmt.Errorf("player: seek %q to frame %d: %w", v.sound.name, frame, err)
	}
	return nil
}

// moveTo goes over to another asset of the sound, at the place where it stands.
func (v *Voice) moveTo(a *asset, fade time.Duration) error {
	at := v.place()
	v.mu.Lock()
	defer v.mu.Unlock()
	old := v.cur.Load()
	if old == nil || a.clip != nil {
		return nil
	}
	at = at * int64(a.info.Rate) / int64(v.asset.info.Rate)
	if loop := v.loop; loop != nil && loop.End > a.length() {
		v.loop = nil
	}
	if err := v.jump(old, a, min(at, a.length()), int(fade.Seconds()*float64(a.p.Rate()))); err != nil {
		return fmt.Errorf("player: reload %q while it plays: %w", v.sound.name, err)
	}
	v.asset = a
	return nil
}

// jump starts a second stream at a frame and fades the first one out below it, within so many of the
// mixer's frames.
func (v *Voice) jump(old *playback, a *asset, frame int64, fade int) error {
	st, err := a.take(frame, v.loop)
	if err != nil {
		return err
	}
	m := v.now
	m.At, m.FadeIn, m.Paused = 0, fade, v.paused
	b := &playback{voice: v, asset: a, stream: st, from: frame}
	if !v.cur.CompareAndSwap(old, b) { // it ended meanwhile
		a.putBack(st)
		return nil
	}
	if err := a.p.start(b, m); err != nil {
		a.putBack(st)
		v.backTo(old, b)
		return err
	}
	return a.p.mix.Stop(old.mixed(), fade)
}

// backTo makes old the voice's playback again where b could not start; if old has ended meanwhile,
// so has the voice.
func (v *Voice) backTo(old, b *playback) {
	p := v.sound.p
	p.mu.Lock()
	alive := p.live[old.mixed()] == old && v.cur.CompareAndSwap(b, old)
	p.mu.Unlock()
	if !alive {
		v.over(b, nil)
	}
}

// Position is the sound's frame that is heard now: what the device still holds is taken off.
func (v *Voice) Position() int64 {
	p := v.sound.p
	return v.standing(int64(p.Delay().Seconds() * float64(p.Rate())))
}

// place is the sound's frame that is mixed next.
func (v *Voice) place() int64 { return v.standing(0) }

// standing is the sound's frame that was mixed so many of the mixer's frames ago.
func (v *Voice) standing(ago int64) int64 {
	b := v.cur.Load()
	if b == nil {
		return v.sound.Frames()
	}
	a := b.asset
	st := a.p.mix.State(b.mixed())
	if st.Waiting {
		return b.from
	}
	out := st.Position - ago
	if b.stream != nil {
		return b.stream.at(max(out, 0))
	}
	if l := v.region(); l != nil && st.Loops > 0 && out < l.Start {
		out += l.End - l.Start
	}
	frame := int64(math.Round(float64(max(out, 0)) * float64(a.info.Rate) / float64(a.p.Rate())))
	return min(frame, a.length())
}

// region is the loop of a clip in the mixer's frames.
func (v *Voice) region() *mixer.Loop {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.asset.scaledLoop(v.loop)
}
