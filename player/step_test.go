package player

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sndpak/sndpak/player/internal/streamtest"
	"github.com/sndpak/sndpak/player/mixer"
)

// largestStep is the largest difference between frames that follow each other.
func largestStep(x []float32) (step float64, at int) {
	for i := 2; i < len(x); i++ {
		if d := math.Abs(float64(x[i]) - float64(x[i-2])); d > step {
			step, at = d, i/2
		}
	}
	return step, at
}

// A staged player plays a tone of 100 Hz.
type staged struct {
	p     *Player
	tone  *Sound
	v     *Voice
	music *Bus
	other *Bus
}

// transitions are all that can happen to a tone that plays.
var transitions = map[string]func(s *staged) error{
	"pause":         func(s *staged) error { return s.v.Pause() },
	"stop":          func(s *staged) error { return s.v.Stop(0) },
	"stop slowly":   func(s *staged) error { return s.v.Stop(50 * time.Millisecond) },
	"seek":          func(s *staged) error { return s.v.SeekTo(12345) },
	"seek half":     func(s *staged) error { return s.v.SeekTo(s.v.Position() + 5040) },
	"seek at":       func(s *staged) error { return s.v.SeekAt(s.p.Time()+333, 4321) },
	"seek and fade": func(s *staged) error { s.v.SeekTo(7777); return s.v.Fade(Fade{Gain: -20, Time: 30 * time.Millisecond}) },
	"seek and stop": func(s *staged) error { s.v.SeekTo(7777); return s.v.Stop(0) },
	"fade away": func(s *staged) error {
		return s.v.Fade(Fade{Gain: silence, Time: 20 * time.Millisecond, Curve: mixer.EqualPower, Stop: true})
	},
	"gain":      func(s *staged) error { return s.v.SetGain(-30) },
	"pan":       func(s *staged) error { s.v.SetPan(0.1); return s.v.SetGain(-3) },
	"bus gain":  func(s *staged) error { return s.music.SetGain(-30) },
	"bus fade":  func(s *staged) error { return s.music.Fade(Fade{Gain: silence, Time: 10 * time.Millisecond}) },
	"bus mute":  func(s *staged) error { return s.music.Mute(true) },
	"bus pause": func(s *staged) error { return s.music.Pause(true) },
	"bus stop":  func(s *staged) error { return s.music.Stop(0) },
	"solo":      func(s *staged) error { return s.other.Solo(true) },
	"master":    func(s *staged) error { return s.p.Master().SetGain(-60) },
	"effect":    func(s *staged) error { return s.music.SetEffect(halve) },
	"stolen":    func(s *staged) error { return s.crowd() },
	"not heard": func(s *staged) error { _, err := s.tone.Play(Params{Priority: 9, Gain: silence}); return err },
	"limit hit": func(s *staged) error { s.tone.SetLimit(Limit{Voices: 1}); return s.crowd() },
	"loop left": func(s *staged) error { return s.v.SetLoop(nil) },
	"pitch":     func(s *staged) error { return s.v.SetPitch(0.5) },
	"reload": func(s *staged) error {
		return s.p.Reload(s.p.fsys, ReloadOptions{Crossfade: 50 * time.Millisecond})
	},
}

// crowd plays silently what takes the tone's room.
func (s *staged) crowd() error {
	s.p.Master().SetLimit(Limit{Voices: 1})
	_, err := s.tone.Play(Params{Gain: silence, Priority: 1})
	return err
}

// No transition of a tone takes a step larger than the tone's own, at whatever phase it comes, of a
// clip as of a stream.
func TestNoSteps(t *testing.T) {
	for rate, phases := range map[int]int{48000: 8, 44100: 2} {
		tone := sine(100, rate, 3*rate, 0.5)
		fsys := fstest.MapFS{"tone.wav": {Data: floatWAV(rate, 1, tone)}}
		for name, do := range transitions {
			for _, mode := range []Mode{Memory, Stream} {
				for phase := range streamtest.Fewer(phases) {
					own := 0.5 * 2 * math.Sin(math.Pi*100/48000)
					s := stage(t, fsys, mode)
					x := pull(s.p, 2000+60*phase)
					if err := do(s); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					x = append(x, pull(s.p, 4000)...)
					if strings.Contains(name, " and ") {
						own *= 1.06 // the product of two ramps
					}
					if step, at := largestStep(x[2000:]); step > own*1.0002 { // behind the corner where the tone begins
						t.Errorf("%s, mode %d, %d Hz, phase %d/8: step of %.6f at frame %d, the tone's own are up to %.6f",
							name, mode, rate, phase, step, at, own)
						break
					}
					s.p.Close()
				}
			}
		}
	}
}

func stage(t *testing.T, fsys fstest.MapFS, mode Mode) *staged {
	t.Helper()
	s := &staged{p: New(fsys, &Options{InStep: true, Heard: 1, Ahead: 50 * time.Millisecond})}
	t.Cleanup(func() { s.p.Close() })
	var err error
	if s.music, err = s.p.NewBus("music", nil); err == nil {
		s.other, err = s.p.NewBus("other", nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.tone = load(t, s.p, "tone.wav", mode)
	s.v = start(t, s.tone, Params{Bus: s.music, Loop: s.tone.Loop()})
	return s
}

// Voices that resume take no step either.
func TestNoStepsOnTheWayBack(t *testing.T) {
	fsys := fstest.MapFS{"tone.wav": {Data: floatWAV(48000, 1, sine(100, 48000, 144000, 0.5))}}
	own := 0.5 * 2 * math.Sin(math.Pi*100/48000)
	for name, way := range map[string][2]func(s *staged) error{
		"pause": {func(s *staged) error { return s.v.Pause() }, func(s *staged) error { return s.v.Resume() }},
		"bus":   {func(s *staged) error { return s.music.Pause(true) }, func(s *staged) error { return s.music.Pause(false) }},
		"mute":  {func(s *staged) error { return s.music.Mute(true) }, func(s *staged) error { return s.music.Mute(false) }},
		"fade": {func(s *staged) error { return s.v.Fade(Fade{Gain: silence}) },
			func(s *staged) error { return s.v.Fade(Fade{Time: 10 * time.Millisecond, Curve: mixer.EqualPower}) }},
		"seek paused": {func(s *staged) error { return s.v.Pause() }, func(s *staged) error { s.v.SeekTo(999); return s.v.Resume() }},
	} {
		for _, mode := range []Mode{Memory, Stream} {
			for phase := range streamtest.Fewer(8) {
				s := stage(t, fsys, mode)
				x := pull(s.p, 2000+60*phase)
				err := way[0](s)
				x = append(x, pull(s.p, 77+300*(phase%2))...)
				err = fmt.Errorf("%v%v", err, way[1](s))
				x = append(x, pull(s.p, 4000)...)
				if step, at := largestStep(x); step > own*1.01 || err.Error() != "<nil><nil>" {
					t.Errorf("%s, mode %d, phase %d/8: step of %.6f at frame %d, own %.6f (%v)", name, mode, phase, step, at, own, err)
					break
				}
			}
		}
	}
}
