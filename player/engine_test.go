package player

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gopxl/beep/v2"
	"github.com/sndpak/sndpak/player/mixer"
)

// floatWAV is a WAV file of 32-bit float, from interleaved samples.
func floatWAV(rate, channels int, samples []float32) []byte {
	le := binary.LittleEndian
	b := []byte("RIFF....WAVEfmt ")
	for _, v := range []uint32{16, 3 | uint32(channels)<<16, uint32(rate), uint32(4 * channels * rate), uint32(4*channels) | 32<<16} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint32(append(b, "data"...), uint32(4*len(samples)))
	for _, v := range samples {
		b = le.AppendUint32(b, math.Float32bits(v))
	}
	le.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// sine is so many frames of a mono tone.
func sine(hz float64, rate, frames int, amplitude float64) []float32 {
	x := make([]float32, frames)
	for i := range x {
		x[i] = float32(amplitude * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return x
}

// ramp is a sound whose sample n is n/2^16: what is heard tells which frame it is.
func counting(frames int) []byte {
	x := make([]float32, frames)
	for i := range x {
		x[i] = float32(i) / 65536
	}
	return floatWAV(48000, 1, x)
}

// frameHeard is the frame of a counting sound that stands at a frame of a mix.
func frameHeard(mix []float32, i int) int { return int(math.Round(float64(mix[2*i]) * 65536)) }

func TestCommandsAtExactFrames(t *testing.T) {
	fsys := fstest.MapFS{"n.wav": {Data: counting(30000)}}
	for _, limiter := range []bool{false, true} {
		for _, mode := range []Mode{Memory, Stream} {
			p := New(fsys, &Options{InStep: true, NoLimiter: !limiter})
			v := start(t, load(t, p, "n.wav", mode), Params{At: 1000, Start: 100})
			if err := errors.Join(v.SeekAt(5000, 20000), v.StopAt(9000, 100*time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			x := pull(p, 16000)
			silent(t, "before At", x[:2*1000])
			for at, want := range map[int]int{1240: 340, 4990: 4090, 5300: 20300, 8990: 23990} {
				if got := frameHeard(x, at); got != want {
					t.Errorf("mode %d, limiter %t: frame %d of the sound at frame %d, want %d", mode, limiter, got, at, want)
				}
			}
			if x[2*5119]*x[2*5000] != 0 && mode == Stream {
				t.Errorf("limiter %t: no silent frame in the middle of the seek: %v", limiter, x[2*5119])
			}
			// 100 ms of a raised cosine from 9000 on: half way down at 11400, silence behind 13800.
			if got, want := float64(x[2*11399]), float64(23990-8990+11399)/65536/2; math.Abs(got-want) > 1e-4 {
				t.Errorf("mode %d, limiter %t: %v in the middle of the stop, want %v", mode, limiter, got, want)
			}
			silent(t, "after StopAt", x[2*13800:])
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestFades(t *testing.T) {
	fsys := fstest.MapFS{"one.wav": {Data: floatWAV(48000, 1, slicesRepeat(0.5, 60000))}}
	for _, mode := range []Mode{Memory, Stream} {
		for curve, half := range map[mixer.Curve]float64{mixer.Smooth: 0.5, mixer.Linear: 0.5, mixer.EqualPower: math.Sqrt2 / 2, mixer.Decibels: 0.01} {
			p := inStep(t, fsys, 48000)
			v := start(t, load(t, p, "one.wav", mode), Params{FadeIn: 100 * time.Millisecond, Curve: curve})
			if err := v.FadeAt(10000, Fade{Gain: silence, Time: 100 * time.Millisecond, Curve: curve, Stop: true}); err != nil {
				t.Fatal(err)
			}
			x := pull(p, 20000)
			for _, at := range []int{2399, 12399} {
				if got := float64(x[2*at]) / 0.5; math.Abs(got-half) > 0.001 {
					t.Errorf("mode %d, curve %d: gain %v at frame %d, want %v", mode, curve, got, at, half)
				}
			}
			if x[2*6000] != 0.5 {
				t.Errorf("mode %d, curve %d: %v between the fades, want 0.5", mode, curve, x[2*6000])
			}
			silent(t, "after the fade", x[2*14800:])
			<-v.Done()
		}
	}
}

func slicesRepeat(v float32, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = v
	}
	return x
}

// What is queued up follows without a frame between, also behind a stream that was sought.
func TestAfter(t *testing.T) {
	fsys := fstest.MapFS{"n.wav": {Data: counting(5000)}, "m.wav": {Data: counting(3000)}}
	for _, mode := range []Mode{Memory, Stream} {
		p := inStep(t, fsys, 48000)
		n, m := load(t, p, "n.wav", mode), load(t, p, "m.wav", mode)
		v := start(t, n, Params{})
		w := start(t, m, Params{After: v})
		start(t, n, Params{After: v})
		pull(p, 1000)
		if err := v.SeekTo(3000); err != nil {
			t.Fatal(err)
		}
		x := pull(p, 12000)
		for at, want := range map[int]int{1999: 4999, 2001: 1, 4999: 2999, 5001: 1, 9999: 4999} {
			if got := frameHeard(x, at); got != want {
				t.Errorf("mode %d: frame %d at %d, want %d", mode, got, at, want)
			}
		}
		<-w.Done()
		silent(t, "behind the queue", x[2*10000:])
	}
}

// seekPlanner is about the order of seeks in a stream.
func TestSeeksOfAStreamInOrder(t *testing.T) {
	fsys := fstest.MapFS{"n.wav": {Data: counting(40000)}}
	p := inStep(t, fsys, 48000)
	v := start(t, load(t, p, "n.wav", Stream), Params{})
	pull(p, 1000)
	v.SeekAt(5000, 30000) // given up for the next one
	v.SetGain(0)
	if at := v.Position(); at != 1000 {
		t.Errorf("Position %d before a seek that is planned, want 1000", at)
	}
	v.StopAt(8000, 0) // planned: the stream that takes over must hear of it
	v.SeekTo(10000)
	if at := v.Position(); at != 10000 {
		t.Errorf("Position %d after SeekTo, want 10000", at)
	}
	x := pull(p, 9000)
	for at, want := range map[int]int{300: 10300, 4500: 14500, 6990: 16990} {
		if got := frameHeard(x, at); got != want {
			t.Errorf("frame %d at %d, want %d", got, at, want)
		}
	}
	silent(t, "after StopAt", x[2*7300:])
	<-v.Done()
	if n := p.Stats().Voices; n != 0 {
		t.Errorf("%d voices left", n)
	}
}

func TestBuses(t *testing.T) {
	fsys := fstest.MapFS{"one.wav": {Data: floatWAV(48000, 1, slicesRepeat(0.25, 480000))}}
	p := inStep(t, fsys, 48000)
	one := load(t, p, "one.wav", Memory)
	music, err := p.NewBus("music", nil)
	if err != nil {
		t.Fatal(err)
	}
	drums, err := p.NewBus("drums", music)
	if err != nil {
		t.Fatal(err)
	}
	speech, err := p.NewBus("speech", p.Master())
	if err != nil {
		t.Fatal(err)
	}
	level := func(what string, want float64, err ...error) {
		t.Helper()
		if err := errors.Join(err...); err != nil {
			t.Fatal(err)
		}
		x := pull(p, 3000)
		if got := float64(x[2*2999]); math.Abs(got-want) > 1e-4 {
			t.Errorf("%s: level %v, want %v", what, got, want)
		}
	}
	v := start(t, one, Params{Bus: drums})
	level("plays", 0.25)
	level("gain", 0.25*math.Pow(10, -0.3), music.SetGain(-6))
	level("mute", 0, drums.Mute(true))
	level("unmute", 0.25, drums.Mute(false), music.SetGain(0))
	level("solo of another", 0, speech.Solo(true))
	level("no solo", 0.25, speech.Solo(false))
	at := v.Position()
	level("pause", 0, music.Pause(true))
	if moved := v.Position() - at; moved > 240 {
		t.Errorf("moved by %d frames while its bus was paused", moved)
	}
	level("resume", 0.25, music.Pause(false))
	level("fade", 0.125, music.Fade(Fade{Gain: 20 * math.Log10(0.5), Time: 20 * time.Millisecond}))
	level("fade back", 0.25, music.Fade(Fade{Time: 20 * time.Millisecond}))
	level("effect", 0.125, drums.SetEffect(halve))
	level("no effect", 0.25, drums.SetEffect(nil))
	level("ducked", 0.25*0.1+0.25, music.Duck(&Duck{By: speech, Depth: -20, Attack: time.Millisecond}),
		func() error { _, err := one.Play(Params{Bus: speech}); return err }())
	if err := p.Master().Measure(true); err != nil {
		t.Fatal(err)
	}
	pull(p, 48000)
	if m := p.Master().Meter(); math.Abs(m.Peak[0]-0.275) > 1e-3 || math.Abs(m.RMS[1]-0.275) > 1e-3 {
		t.Errorf("meter %+v, want peak and RMS of 0.275", m)
	}
	level("stop", 0, p.Master().Stop(0))
	if names := fmt.Sprint(p.Buses()[0].Name(), p.Buses()[2].Name(), p.Buses()[2].Parent().Name()); names != "masterdrumsmusic" {
		t.Errorf("buses: %s", names)
	}
	if music.Gain() != 0 || !(speech.Muted() == false && speech.Soloed() == false && music.Paused() == false) {
		t.Error("what a bus tells of itself is not what was set")
	}
}

// halve is an effect.
func halve(in beep.Streamer) beep.Streamer {
	return beep.StreamerFunc(func(x [][2]float64) (int, bool) {
		n, ok := in.Stream(x)
		for i := range x[:n] {
			x[i][0] /= 2
			x[i][1] /= 2
		}
		return n, ok
	})
}

// An effect sits on a voice too, of a stream or of a clip, and stays over a seek.
func TestVoiceEffect(t *testing.T) {
	for _, mode := range []Mode{Memory, Stream} {
		p := inStep(t, sounds(), 44100)
		v := start(t, load(t, p, "drumloop.wav", mode), Params{Effect: halve})
		want := decoded(t, "drumloop.wav")
		for i := range want {
			want[i] /= 2
		}
		equal(t, "treated", pull(p, 5000), want[:10000])
		if err := v.SeekTo(30000); err != nil {
			t.Fatal(err)
		}
		equal(t, "sought", pull(p, 3000)[1000:], want[61000:66000])
		v.Stop(0)
		pull(p, 1000)
		if v.Err() != nil {
			t.Error(v.Err())
		}
	}
}

func TestLimits(t *testing.T) {
	fsys := fstest.MapFS{"one.wav": {Data: floatWAV(48000, 1, slicesRepeat(0.01, 480000))}}
	p := New(fsys, &Options{InStep: true, Voices: 6})
	defer p.Close()
	s := load(t, p, "one.wav", Memory)
	ended := func(v *Voice) bool {
		select {
		case <-v.Done():
			return true
		default:
			return false
		}
	}
	play := func(o Params) *Voice {
		t.Helper()
		v := start(t, s, o)
		pull(p, 1000)
		return v
	}
	if err := s.SetLimit(Limit{Voices: 2}); err != nil {
		t.Fatal(err)
	}
	quiet, loud := play(Params{Gain: -10}), play(Params{})
	play(Params{Gain: -5})
	if !ended(quiet) || ended(loud) {
		t.Errorf("the quietest ended: %t, the loudest: %t", ended(quiet), ended(loud))
	}
	s.SetLimit(Limit{Voices: 2, Steal: StealOldest})
	if play(Params{}); !ended(loud) {
		t.Error("the oldest plays on")
	}
	s.SetLimit(Limit{Voices: 2, Steal: StealNone})
	if v := play(Params{}); !ended(v) {
		t.Error("one too many plays")
	}
	s.SetLimit(Limit{Gap: time.Second})
	if v := play(Params{}); !ended(v) {
		t.Error("one plays that came within the gap")
	}
	s.SetLimit(Limit{})
	bus, err := p.NewBus("shots", nil)
	if err != nil {
		t.Fatal(err)
	}
	bus.SetLimit(Limit{Voices: 1})
	keep := play(Params{Bus: bus, Protected: true})
	if v := play(Params{Bus: bus}); !ended(v) || ended(keep) {
		t.Error("a protected voice made room")
	}
	var all []*Voice
	for range 20 {
		all = append(all, play(Params{Priority: 1}))
	}
	if n := p.Stats().Voices; n != 6 {
		t.Errorf("%d voices, want Options.Voices", n)
	}
	if v := play(Params{}); !ended(v) || ended(keep) || ended(all[19]) && ended(all[18]) {
		t.Error("one of a lower priority took room")
	}
	if st := p.Stats(); st.Stolen == 0 || st.Refused != 4 {
		t.Errorf("%d stolen, %d refused, want some and 4", st.Stolen, st.Refused)
	}
}

func TestVirtualVoicesComeBack(t *testing.T) {
	fsys := fstest.MapFS{"n.wav": {Data: counting(48000)}, "m.wav": {Data: counting(2000)}}
	for _, mode := range []Mode{Memory, Stream} {
		p := New(fsys, &Options{InStep: true, Heard: 1, NoLimiter: true})
		v := start(t, load(t, p, "n.wav", mode), Params{})
		pull(p, 1000)
		w := start(t, load(t, p, "m.wav", mode), Params{Priority: 1})
		pull(p, 1000)
		if !v.Virtual() || w.Virtual() || p.Stats().Unheard != 1 {
			t.Errorf("mode %d: virtual %t and %t, %d unheard, want the first one", mode, v.Virtual(), w.Virtual(), p.Stats().Unheard)
		}
		x := pull(p, 4000)
		if got := frameHeard(x, 3000); got != 5000 || v.Virtual() {
			t.Errorf("mode %d: came back at frame %d, want 5000", mode, got)
		}
		p.Close()
	}
}

// Sixty-four sounds at full scale at once stay below full scale between the samples too.
func TestLimiterHoldsTheTruePeak(t *testing.T) {
	// A tone at a quarter of the rate, 45 degrees off: its peaks lie between the samples.
	x := make([]float32, 48000)
	for i := range x {
		x[i] = float32(0.999 * math.Sin(math.Pi/2*float64(i)+math.Pi/4))
	}
	fsys := fstest.MapFS{"full.wav": {Data: floatWAV(48000, 1, x)}, "low.wav": {Data: floatWAV(48000, 1, sine(97, 48000, 48000, 1))}}
	p := New(fsys, &Options{InStep: true})
	defer p.Close()
	for i := range 64 {
		start(t, load(t, p, []string{"full.wav", "low.wav"}[i%2], Memory), Params{At: int64(i%5) * 4800})
	}
	out := pull(p, 48000)
	if peak := truePeak(out); peak >= 1 {
		t.Errorf("true peak of %v, want less than 1", peak)
	}
	if peak := truePeak(out[60000:]); peak < 0.5 {
		t.Errorf("true peak of %v: the limiter takes too much", peak)
	}
}

// truePeak is the highest point of the left side, at eight points a frame by a long sinc.
func truePeak(x []float32) (peak float64) {
	const reach = 32
	for i := reach; i < len(x)/2-reach; i++ {
		if i%7 != 0 && math.Abs(float64(x[2*i])) < 0.6 {
			continue
		}
		for k := range 8 {
			sum := 0.0
			for j := 1 - reach; j <= reach; j++ {
				u := float64(j) - float64(k)/8
				w := 1.0
				if u != 0 {
					w = math.Sin(math.Pi*u) / (math.Pi * u) * (0.5 + 0.5*math.Cos(math.Pi*u/(reach+1)))
				}
				sum += w * float64(x[2*(i+j)])
			}
			peak = max(peak, math.Abs(sum))
		}
	}
	return peak
}

// The limiter is there from the start, and changes no bit of what needs none.
func TestLimiterLeavesAlone(t *testing.T) {
	p := New(sounds(), &Options{Rate: 44100, InStep: true})
	defer p.Close()
	start(t, load(t, p, "drumloop.wav", Memory), Params{})
	want := decoded(t, "drumloop.wav")
	equal(t, "with a limiter", pull(p, len(want)/2), want)
}

func TestStats(t *testing.T) {
	var m loadMeter
	for i := range 1000 {
		m.note(time.Duration(i)*time.Microsecond, 48, 48000) // of a millisecond
	}
	var s Stats
	m.read(&s)
	if s.Blocks != 1000 || s.LoadMax != 0.999 || s.LoadP50 < 0.499 || s.LoadP50 > 0.57 || s.LoadP99 < 0.989 || s.LoadP99 > 0.999 || s.Late != 0 {
		t.Errorf("%+v", s)
	}
	m.note(time.Hour, 1, 1<<20)
	m.note(-1, 1, 1)
	m.read(&s)
	if s.Late != 1 {
		t.Errorf("%d late, want 1", s.Late)
	}
	for load := int64(1); load < 1<<40; load += 1 + load/100 {
		if i := loadBin(load); binTop(i) < float64(load)/1e6 || i > 0 && binTop(i-1) > float64(load)/1e6 {
			t.Fatalf("load %d in bin %d, which ends at %v", load, i, binTop(i))
		}
	}
}

func TestForeignBusesAndVoices(t *testing.T) {
	p, q := inStep(t, sounds(), 44100), inStep(t, sounds(), 44100)
	s := load(t, p, "jaguar.wav", Memory)
	b, err := q.NewBus("b", nil)
	if err != nil {
		t.Fatal(err)
	}
	v := start(t, load(t, q, "jaguar.wav", Memory), Params{})
	for _, o := range []Params{{Bus: b}, {After: v}, {Length: -1}, {FadeIn: -1}, {Gain: 100}, {Pan: 2}, {Curve: 9}} {
		if _, err := s.Play(o); err == nil {
			t.Errorf("Play(%+v): no error", o)
		}
	}
	if _, err := p.NewBus("c", b); err == nil {
		t.Error("a bus below one of another player is made")
	}
	if err := p.Master().Duck(&Duck{By: b}); err == nil {
		t.Error("ducked by a bus of another player")
	}
	if !bytes.Contains([]byte(fmt.Sprint(p.Master().SetGain(1000))), []byte("master")) {
		t.Error("an error does not name its bus")
	}
	for i := 0; ; i++ {
		if _, err := p.NewBus("more", nil); err != nil {
			if !errors.Is(err, mixer.ErrValue) || i != 31 {
				t.Errorf("bus %d: %v, want 31 and mixer.ErrValue", i, err)
			}
			break
		}
	}
}

// A fade-out comes ahead of the sound's end, or of Length, and a seek does not change where.
func TestFadeOut(t *testing.T) {
	fsys := fstest.MapFS{"one.wav": {Data: floatWAV(24000, 1, slicesRepeat(0.5, 24000))}}
	for what, c := range map[string]struct {
		o   Params
		end int
	}{
		"end": {Params{}, 48000}, "length": {Params{Length: 12000}, 24000}, "start": {Params{Start: 4000}, 40000},
		"loop": {Params{Loop: &Loop{Start: 6000, End: 12000, Count: 2}}, 60000}, "pitch": {Params{Pitch: 2}, 24000},
		"for ever": {Params{Loop: &Loop{}, Length: 30000}, 60000},
	} {
		for _, mode := range []Mode{Memory, Stream} {
			p := inStep(t, fsys, 48000)
			c.o.FadeOut = 100 * time.Millisecond
			start(t, load(t, p, "one.wav", mode), c.o)
			x := pull(p, c.end+100)
			fade := 4800
			if c.o.Pitch == 2 {
				fade = 2400
			}
			for at, want := range map[int]float64{c.end - fade - 100: 0.5, c.end - fade/2: 0.25, c.end - 1: 0} {
				if got := float64(x[2*at]); math.Abs(got-want) > 0.005 {
					t.Errorf("%s, mode %d: %v at frame %d, want %v", what, mode, got, at, want)
				}
			}
		}
	}
}
