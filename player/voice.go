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
	Loop   *Loop         // nil plays once
	Start  int64         // the sound's frame that is heard first
	Length int64         // frames of the sound's rate to be heard in all, over loops too; 0 = no limit
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
	now    mixer.Params
	loop   *Loop
	paused bool
}

// Time is how many frames the player has mixed, for Params.At.
func (p *Player) Time() int64 { return p.mix.Time() }

// Play starts the sound; it is heard with the next block. The error is ErrClosed, that of a stream
// that cannot start, mixer.ErrVoices (too many play) or mixer.ErrFull.
func (s *Sound) Play(o Params) (*Voice, error) {
	v := &Voice{sound: s, onEnd: o.OnEnd, done: make(chan struct{}), paused: o.Paused}
	loop, err := s.region(o.Loop)
	if err == nil && (o.Start < 0 || s.info.Frames >= 0 && o.Start > s.info.Frames) {
		err = fmt.Errorf("start at frame %d of %d", o.Start, s.info.Frames)
	}
	if err == nil {
		v.loop, v.now = loop, s.params(o)
		err = v.launch(o.Start, v.now)
	}
	if err != nil {
		return nil, fmt.Errorf("player: play %q: %w", s.name, err)
	}
	return v, nil
}

// region checks a loop against the sound and gives it its end.
func (s *Sound) region(l *Loop) (*Loop, error) {
	if l == nil {
		return nil, nil
	}
	c, frames := *l, s.Frames()
	if c.End == 0 {
		c.End = frames
	}
	if c.Start < 0 || c.End <= c.Start || c.End > frames || c.Count < 0 {
		return nil, fmt.Errorf("loop of frames %d to %d, %d times, in a sound of %d frames", l.Start, l.End, l.Count, frames)
	}
	return &c, nil
}

// params puts o into the mixer's terms, all but where it starts.
func (s *Sound) params(o Params) mixer.Params {
	return mixer.Params{
		Gain: o.Gain, Pan: o.Pan, At: o.At, Length: s.scaled(o.Length), Paused: o.Paused,
		FadeIn: int(o.FadeIn.Seconds() * float64(s.p.Rate())),
	}
}

// scaledLoop is the loop in the mixer's frames.
func (s *Sound) scaledLoop(l *Loop) *mixer.Loop {
	if l == nil {
		return nil
	}
	return &mixer.Loop{Start: s.scaled(l.Start), End: min(s.scaled(l.End), s.clip.pcm.Frames()), Count: l.Count}
}

// launch starts a playback at a source frame and makes it the voice's.
func (v *Voice) launch(frame int64, m mixer.Params) error {
	s := v.sound
	b := &playback{voice: v, from: frame}
	if s.clip != nil {
		m.Loop, m.Start = s.scaledLoop(v.loop), min(s.scaled(frame), s.clip.pcm.Frames())
	} else {
		st, err := s.take(frame, v.loop)
		if err != nil {
			return err
		}
		b.stream = st
		if frame > 0 && m.FadeIn == 0 {
			m.FadeIn = s.p.ramp()
		}
	}
	v.cur.Store(b)
	if err := s.p.start(b, m); err != nil {
		v.cur.Store(nil)
		if b.stream != nil {
			s.putBack(b.stream)
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
	loop, err := v.sound.region(l)
	if err != nil {
		return fmt.Errorf("player: %q: %w", v.sound.name, err)
	}
	return v.steer(func(m *mixer.Mixer, id mixer.Voice) error {
		v.loop = loop
		if b := v.cur.Load(); b != nil && b.stream != nil {
			b.stream.loop.Store(loop)
			return nil
		}
		return m.SetLoop(id, v.sound.scaledLoop(loop))
	})
}

// SeekTo goes to a frame of the sound, cross-faded over 5 ms; one out of range goes to the nearest
// end. The error is that of the stream that cannot be read there; the voice then plays on.
func (v *Voice) SeekTo(frame int64) error {
	frame = max(frame, 0)
	frame = min(frame, v.sound.Frames())
	if v.sound.clip != nil {
		return v.steer(func(m *mixer.Mixer, id mixer.Voice) error {
			return m.Seek(id, min(v.sound.scaled(frame), v.sound.clip.pcm.Frames()))
		})
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.jump(frame); err != nil {
		return fmt.Errorf("player: seek %q to frame %d: %w", v.sound.name, frame, err)
	}
	return nil
}

// jump starts a second stream at frame and fades the first one out below it.
func (v *Voice) jump(frame int64) error {
	old := v.cur.Load()
	if old == nil {
		return nil
	}
	p := v.sound.p
	st, err := v.sound.take(frame, v.loop)
	if err != nil {
		return err
	}
	m := v.now
	m.At, m.FadeIn, m.Paused = 0, p.ramp(), v.paused
	b := &playback{voice: v, stream: st, from: frame}
	if !v.cur.CompareAndSwap(old, b) { // it ended meanwhile
		v.sound.putBack(st)
		return nil
	}
	if err := p.start(b, m); err != nil {
		v.sound.putBack(st)
		v.backTo(old, b)
		return err
	}
	return p.mix.Stop(old.mixed(), p.ramp())
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
	b := v.cur.Load()
	if b == nil {
		return v.sound.Frames()
	}
	p := v.sound.p
	st := p.mix.State(b.mixed())
	if st.Waiting {
		return b.from
	}
	out := st.Position - int64(p.Delay().Seconds()*float64(p.Rate()))
	if b.stream != nil {
		return b.stream.at(max(out, 0))
	}
	if l := v.region(); l != nil && st.Loops > 0 && out < l.Start {
		out += l.End - l.Start
	}
	frame := int64(math.Round(float64(max(out, 0)) * float64(v.sound.info.Rate) / float64(p.Rate())))
	return min(frame, v.sound.Frames())
}

// region is the loop of a clip in the mixer's frames.
func (v *Voice) region() *mixer.Loop {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sound.scaledLoop(v.loop)
}
