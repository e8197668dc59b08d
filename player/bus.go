package player

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/sndpak/sndpak/player/mixer"
)

// A Bus is a place where voices and other buses are summed, to be treated as one: music, speech,
// effects. Buses are a tree, whose root is Player.Master, and stay as long as the player.
//
// All methods may be called from any goroutine, and take effect with the next block, ramped over
// 5 ms. An error is mixer.ErrValue (a value that nothing can be done with) or mixer.ErrFull (too
// many commands within one block).
type Bus struct {
	p     *Player
	id    mixer.Bus
	group mixer.Group
	name  string
	up    *Bus

	mu                    sync.Mutex // one command at a time; guards what follows
	gain                  float64
	muted, soloed, paused bool
}

// Master is the bus in which all others end. Its limit is that of all voices.
func (p *Player) Master() *Bus { return p.master }

// NewBus makes a bus below another one, nil meaning the master. There can be 31. The name is for
// people. The error is mixer.ErrValue where there are too many, or mixer.ErrFull.
func (p *Player) NewBus(name string, parent *Bus) (*Bus, error) {
	if parent == nil {
		parent = p.master
	}
	if parent.p != p {
		return nil, fmt.Errorf("player: bus %q below one of another player", name)
	}
	g, err := p.mix.NewGroup(mixer.Limit{})
	if err != nil {
		return nil, fmt.Errorf("player: bus %q: %w", name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id, err := p.mix.NewBus(parent.id)
	if err != nil {
		return nil, fmt.Errorf("player: bus %q: %w", name, err)
	}
	b := &Bus{p: p, id: id, group: g, name: name, up: parent}
	p.buses = append(p.buses, b)
	return b, nil
}

// Buses are all there are, the master first, each behind the one that it is below.
func (p *Player) Buses() []*Bus {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*Bus{p.master}, p.buses...)
}

// Name is the name that it was made by; the master is "master".
func (b *Bus) Name() string { return b.name }

// Parent is the bus that it is below, nil of the master.
func (b *Bus) Parent() *Bus { return b.up }

// steer runs one command and notes what became so.
func (b *Bus) steer(err func() error, note func()) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := err(); err != nil {
		return fmt.Errorf("player: bus %q: %w", b.name, err)
	}
	note()
	return nil
}

// SetGain sets the gain in dB.
func (b *Bus) SetGain(dB float64) error {
	return b.steer(func() error { return b.p.mix.SetBusGain(b.id, dB) }, func() { b.gain = dB })
}

// Mute silences the bus, or has it heard again. What plays in it goes on.
func (b *Bus) Mute(on bool) error {
	return b.steer(func() error { return b.p.mix.MuteBus(b.id, on) }, func() { b.muted = on })
}

// Solo has only voices be heard that play in this bus, in one below it, or in another one that is
// solo. The others go on silently.
func (b *Bus) Solo(on bool) error {
	return b.steer(func() error { return b.p.mix.SoloBus(b.id, on) }, func() { b.soloed = on })
}

// Pause has all that plays in the bus and below stand still, or go on.
func (b *Bus) Pause(on bool) error {
	return b.steer(func() error { return b.p.mix.PauseBus(b.id, on) }, func() { b.paused = on })
}

// Gain is what SetGain set last, in dB.
func (b *Bus) Gain() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.gain
}

// Muted reports what Mute set last.
func (b *Bus) Muted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.muted
}

// Soloed reports what Solo set last.
func (b *Bus) Soloed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.soloed
}

// Paused reports what Pause set last.
func (b *Bus) Paused() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paused
}

// Fade moves the bus's fade, with the next block.
func (b *Bus) Fade(f Fade) error { return b.FadeAt(0, f) }

// FadeAt moves it from a frame of the player's time on, exactly; one that has passed means at once.
func (b *Bus) FadeAt(frame int64, f Fade) error {
	return b.steer(func() error { return b.p.mix.At(frame).FadeBus(b.id, b.p.fade(f)) }, func() {})
}

// Stop stops all voices in the bus and below with a fade, 5 ms where it is 0, also those that wait.
func (b *Bus) Stop(fade time.Duration) error {
	return b.steer(func() error { return b.p.mix.StopBus(b.id, int(b.p.frames(fade))) }, func() {})
}

// A Duck turns a bus down while another one is loud, as music under speech.
type Duck struct {
	By        *Bus          // the bus whose level decides
	Threshold float64       // dB of full scale, below 0: above that level it is turned down; 0 = -40
	Depth     float64       // dB, below 0: how far; 0 = -12
	Attack    time.Duration // in which 63 % of the way down are gone; 0 = 50 ms
	Hold      time.Duration // to stay down once the level is lower; 0 = 300 ms, so that pauses between words do not pump
	Release   time.Duration // in which 63 % of the way up are gone; 0 = 500 ms
}

// Duck has the bus be turned down as d says, or with nil no more.
func (b *Bus) Duck(d *Duck) error {
	if d == nil {
		return b.steer(func() error { return b.p.mix.SetDuck(b.id, nil) }, func() {})
	}
	if d.By == nil || d.By.p != b.p {
		return fmt.Errorf("player: bus %q: ducked by a bus of another player, or by none", b.name)
	}
	frames := func(t, zero time.Duration) int { return int(b.p.frames(or(t, zero))) }
	m := &mixer.Duck{
		By: d.By.id, Threshold: or(d.Threshold, -40), Depth: or(d.Depth, -12), Attack: frames(d.Attack, 50*time.Millisecond),
		Hold: frames(d.Hold, 300*time.Millisecond), Release: frames(d.Release, 500*time.Millisecond),
	}
	return b.steer(func() error { return b.p.mix.SetDuck(b.id, m) }, func() {})
}

// SetEffect puts an effect into the bus, ahead of its gains, or with nil takes it out: any streamer
// of package beep/effects, as in
//
//	bus.SetEffect(func(in beep.Streamer) beep.Streamer { return effects.Mono(in) })
//
// It is called at once, and what it returns is read while mixing: it must not block, and if it
// allocates, mixing does.
func (b *Bus) SetEffect(e mixer.Effect) error {
	return b.steer(func() error { return b.p.mix.SetEffect(b.id, e) }, func() {})
}

// SetLimit limits how many voices play in the bus itself; those in buses below do not count, but for
// the master, whose limit is that of all voices. See Options.Voices.
func (b *Bus) SetLimit(l Limit) error {
	return b.steer(func() error { return b.p.mix.SetLimit(b.group, b.p.limit(l)) }, func() {})
}

// Measure turns the bus's meter on, anew if it was on already, or off. It costs some 15 ns a frame.
func (b *Bus) Measure(on bool) error {
	return b.steer(func() error { return b.p.mix.MeterBus(b.id, on) }, func() {})
}

// Meter is what the bus sounds like (peak, RMS and EBU R128 loudness), as of the last block; silence
// where Measure did not turn it on. It may be asked at any time.
func (b *Bus) Meter() mixer.Meter { return b.p.mix.Meter(b.id) }

// silence is a gain.
var silence = math.Inf(-1)
