package console

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sndpak/sndpak/player"
)

// maxBuses is how many buses a deck makes of folders: more than a screen shows, and fewer than a
// player has (31). The sounds of further folders play on the master.
const maxBuses = 12

// deck is the Engine on a player. Each folder at the top of the library has a bus of its own.
type deck struct {
	p   *player.Player
	cpu cpuMeter

	loop KeptLoop

	loading sync.Mutex // one Load at a time

	mu     sync.Mutex // guards what follows
	voices []*deckVoice
	last   uint64                   // the ID given last
	kept   map[string]*player.Sound // loaded ahead
	errs   []error
	buses  []*player.Bus // the master first
}

// deckVoice is a voice with what the screen tells of it; voice is nil while it starts.
type deckVoice struct {
	Voice
	voice *player.Voice
	rate  int
}

func newDeck(p *player.Player, loop KeptLoop) (*deck, error) {
	d := &deck{p: p, loop: loop, kept: map[string]*player.Sound{}, buses: p.Buses()}
	return d, d.p.Master().Measure(true)
}

// busOf is the bus of a sound, made when the first of its folder plays. d.mu is held.
func (d *deck) busOf(name string) *player.Bus {
	folder, _, inFolder := strings.Cut(name, "/")
	if !inFolder {
		return nil
	}
	for _, b := range d.buses[1:] {
		if b.Name() == folder {
			return b
		}
	}
	if len(d.buses) > maxBuses {
		return nil
	}
	b, err := d.p.NewBus(folder, nil)
	if err == nil {
		err = b.Measure(true)
	}
	if err != nil { // it is heard all the same
		d.errs = append(d.errs, err)
		return nil
	}
	d.buses = append(d.buses, b)
	return b
}

// Folders implements Engine.
func (d *deck) Folders(names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := ""
	for _, name := range names {
		folder, _, inFolder := strings.Cut(name, "/")
		if inFolder && folder != last && len(d.buses) <= maxBuses {
			d.busOf(name)
		}
		last = folder
	}
}

// Load implements Engine. Sounds that were loaded ahead before and are not named are given up.
func (d *deck) Load(names []string) {
	d.loading.Lock()
	defer d.loading.Unlock()
	want := map[string]bool{}
	for _, name := range names {
		want[name] = true
		d.mu.Lock()
		_, have := d.kept[name]
		d.mu.Unlock()
		if have {
			continue
		}
		if s, err := d.p.Load(name, player.Auto); err == nil { // a fault is told when it is played
			d.keep(name, s)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, s := range d.kept {
		if !want[name] {
			s.Unload()
			delete(d.kept, name)
		}
	}
}

func (d *deck) keep(name string, s *player.Sound) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept[name] != nil {
		s.Unload()
		return
	}
	d.kept[name] = s
}

// Play implements Engine.
func (d *deck) Play(name string, from time.Duration, looped bool) error {
	s, err := d.p.Load(name, player.Auto)
	if err != nil {
		return err
	}
	defer s.Unload() // the voice has it as long as it plays
	v := &deckVoice{rate: max(s.Info().Rate, 1)}
	v.Voice = Voice{Name: name, Length: s.Duration(), At: from, Looped: looped}
	o := player.Params{Start: min(s.At(from), s.Frames())}
	if looped {
		o.Loop = d.loop.of(name, s)
		v.LoopFrom, v.LoopTo = v.time(o.Loop.Start), v.time(o.Loop.End)
	}
	o.OnEnd = func(_ *player.Voice, err error) { d.ended(v, err) }
	d.mu.Lock() // so that ended finds the voice
	defer d.mu.Unlock()
	o.Bus = d.busOf(name)
	if v.voice, err = s.Play(o); err != nil {
		return err
	}
	d.last++
	v.ID = d.last
	d.voices = append(d.voices, v)
	return nil
}

func (v *deckVoice) time(frame int64) time.Duration {
	return time.Duration(float64(frame) / float64(v.rate) * float64(time.Second))
}

func (d *deck) ended(v *deckVoice, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, w := range d.voices {
		if w == v {
			d.voices = append(d.voices[:i], d.voices[i+1:]...)
			break
		}
	}
	if err != nil && !errors.Is(err, player.ErrClosed) {
		d.errs = append(d.errs, fmt.Errorf("play %q: %w", v.Name, err))
	}
}

// those are the voices that fit.
func (d *deck) those(fit func(v *deckVoice) bool) (voices []*player.Voice) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range d.voices {
		if fit(v) {
			voices = append(voices, v.voice)
		}
	}
	return voices
}

// stop ends voices; what keeps it from that is among the errors.
func (d *deck) stop(voices []*player.Voice) {
	for _, v := range voices {
		d.note(v.Stop(0))
	}
}

func (d *deck) note(err error) {
	if err != nil {
		d.mu.Lock()
		d.errs = append(d.errs, err)
		d.mu.Unlock()
	}
}

// StopSound implements Engine.
func (d *deck) StopSound(name string) bool {
	voices := d.those(func(v *deckVoice) bool { return v.Name == name })
	d.stop(voices)
	return len(voices) > 0
}

// StopAll implements Engine.
func (d *deck) StopAll() { d.stop(d.those(func(*deckVoice) bool { return true })) }

// Stop implements Engine.
func (d *deck) Stop(id uint64) { d.stop(d.those(func(v *deckVoice) bool { return v.ID == id })) }

// PauseAll implements Engine.
func (d *deck) PauseAll(on bool) error { return d.p.Master().Pause(on) }

// Pause implements Engine.
func (d *deck) Pause(id uint64, on bool) error {
	return d.pause(d.those(func(v *deckVoice) bool { return v.ID == id }), on)
}

func (d *deck) pause(voices []*player.Voice, on bool) (err error) {
	for _, v := range voices {
		if on {
			err = errors.Join(err, v.Pause())
		} else {
			err = errors.Join(err, v.Resume())
		}
	}
	return err
}

// Seek implements Engine.
func (d *deck) Seek(id uint64, to time.Duration) (err error) {
	for _, v := range d.those(func(v *deckVoice) bool { return v.ID == id }) {
		err = errors.Join(err, v.SeekTo(v.Sound().At(to)))
	}
	return err
}

// bus runs do on a bus, which are counted as in a Snapshot.
func (d *deck) bus(i int, do func(b *player.Bus) error) error {
	d.mu.Lock()
	buses := d.buses
	d.mu.Unlock()
	if i < 0 || i >= len(buses) {
		return nil
	}
	return do(buses[i])
}

// SetBusGain implements Engine.
func (d *deck) SetBusGain(bus int, dB float64) error {
	return d.bus(bus, func(b *player.Bus) error { return b.SetGain(dB) })
}

// Mute implements Engine.
func (d *deck) Mute(bus int, on bool) error {
	return d.bus(bus, func(b *player.Bus) error { return b.Mute(on) })
}

// Solo implements Engine.
func (d *deck) Solo(bus int, on bool) error {
	return d.bus(bus, func(b *player.Bus) error { return b.Solo(on) })
}

// Errors implements Engine.
func (d *deck) Errors() []error {
	d.mu.Lock()
	defer d.mu.Unlock()
	errs := d.errs
	d.errs = nil
	return errs
}

// Snapshot implements Engine.
func (d *deck) Snapshot(s *Snapshot) {
	stats := d.p.Stats()
	s.Output, s.Rate = d.p.Output(), d.p.Rate()
	s.Voices, s.Peak, s.Underruns = stats.Voices, stats.Peak, stats.Underruns+max(stats.Gaps, 0)
	s.CPU, s.Paused = d.cpu.share(), d.p.Master().Paused()
	d.mu.Lock()
	defer d.mu.Unlock()
	s.Playing = s.Playing[:0]
	for _, v := range d.voices {
		v.At, v.Paused = v.time(v.voice.Position()), s.Paused || v.voice.Paused()
		s.Playing = append(s.Playing, v.Voice)
	}
	s.Buses = s.Buses[:0]
	for _, b := range d.buses {
		m := b.Meter()
		s.Buses = append(s.Buses, Bus{b.Name(), b.Gain(), b.Muted(), b.Soloed(), m.RMS, m.Peak})
	}
}
