package player

import (
	"cmp"
	"fmt"
	"math"
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
	Curve  mixer.Curve   // of the fade-in; 0 = mixer.Smooth
	// FadeOut is over how long the sound fades out ahead of its end, or that of Length, along a raised
	// cosine; not where it loops for ever. With it a sound streams even if it is in memory. It keeps
	// to the sound's own time, whatever the pitch.
	FadeOut time.Duration
	Paused  bool // wait for Resume
	// Interpolation is how the sound is heard at pitches that are not 1: mixer.Cubic, or mixer.Sinc,
	// which is true up to the treble and folds nothing back, at several times the work. 0 = that of
	// Options.
	Interpolation mixer.Interpolation

	// After has the sound follow that voice without a frame between them, however it ends. Several
	// may be queued up, each behind the last one; they do not heed At, and are never refused. Where
	// the voice has ended already the sound starts at once.
	After *Voice

	// Bus is where it plays; nil = Player.Master.
	Bus *Bus
	// Priority decides who makes room where a Limit is reached: a sound never takes the room of one
	// of higher priority, nor of one that is Protected.
	Priority  int8
	Protected bool

	// Effect treats the sound where it is decoded ahead, so a change of what it does is heard
	// Options.Ahead late. With it a sound streams even if it is in memory. A seek makes it anew.
	Effect mixer.Effect

	// OnEnd is called once when the voice has ended, with the error that ended it or nil: on a
	// goroutine of its own, or by the goroutine that pulls a player in step. It may start sounds.
	OnEnd func(v *Voice, err error)
}

// A Fade is a move of a gain of its own, on top of that of SetGain. It begins where the last one
// stands, that of a fade-in too.
type Fade struct {
	Gain  float64       // dB, where it leads to: 0 = as loud as without it, math.Inf(-1) = silence
	Time  time.Duration // 0 = 5 ms
	Curve mixer.Curve   // mixer.Smooth, Linear, EqualPower or Decibels
	Stop  bool          // lead to silence and end the voice there; not for buses
}

func (p *Player) fade(f Fade) mixer.Fade {
	return mixer.Fade{Gain: f.Gain, Frames: int(p.frames(f.Time)), Curve: f.Curve, Stop: f.Stop}
}

// manyFrames is more than any sound or wait has: 3 years at 48 kHz. Times are cut to it, so that no
// product of frames and rates overflows.
const manyFrames = 1 << 42

// framesIn is how many frames of a rate a time has, rounded; negative times count as none.
func framesIn(t time.Duration, rate int) int64 {
	return int64(math.Round(min(max(t.Seconds()*float64(rate), 0), manyFrames)))
}

// frames is a time in the mixer's frames.
func (p *Player) frames(t time.Duration) int64 { return framesIn(t, p.Rate()) }

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

// check refuses what cannot be played.
func (o *Params) check(a *asset) error {
	switch {
	case o.Start < 0 || a.info.Frames >= 0 && o.Start > a.info.Frames:
		return fmt.Errorf("start at frame %d of %d", o.Start, a.info.Frames)
	case o.Length < 0 || o.FadeIn < 0 || o.FadeOut < 0:
		return fmt.Errorf("length of %d frames, fades of %v and %v: none may be below 0", o.Length, o.FadeIn, o.FadeOut)
	case o.Bus != nil && o.Bus.p != a.p, o.After != nil && o.After.sound.p != a.p:
		return fmt.Errorf("a bus or a voice of another player")
	}
	return nil
}

// params puts o into the mixer's terms, all but where it starts.
func (s *Sound) params(a *asset, o *Params) mixer.Params {
	m := mixer.Params{
		Gain: o.Gain, Pan: o.Pan, Pitch: o.Pitch, At: o.At, Length: a.scaled(o.Length), Paused: o.Paused,
		FadeIn: int(a.p.frames(o.FadeIn)), Curve: o.Curve, Priority: o.Priority, Protected: o.Protected,
		Groups: [2]mixer.Group{s.p.group(s.name)}, Interpolation: cmp.Or(o.Interpolation, s.p.opt.Interpolation),
	}
	if b := o.Bus; b != nil {
		m.Bus, m.Groups[1] = b.id, b.group
	}
	if o.After != nil {
		m.After = o.After.last()
	}
	return m
}

// scaledLoop is the loop in the mixer's frames.
func (a *asset) scaledLoop(l *Loop) *mixer.Loop {
	if l == nil {
		return nil
	}
	return &mixer.Loop{Start: a.scaled(l.Start), End: min(a.scaled(l.End), a.clip.pcm.Frames()), Count: l.Count}
}
