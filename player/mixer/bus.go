package mixer

import "fmt"

// A Bus is a place where voices and other buses are summed, to be treated as one: a tree, whose root
// is the zero Bus, the master. See [Mixer.NewBus].
type Bus uint8

const maxBuses = 32

// A bus is what Mix knows of a Bus. Its voices are added up first, then those below deliver what
// they have, and what it holds then goes through effect, gains and ducking, past the meter, and up.
type bus struct {
	up   *bus // nil: the master
	sum  [maxChunk]frame
	used bool // sum holds something of this chunk, or will: see waiting

	waiting stack // runs of voices that are still to be added

	own        move // of its own voices: closed while others are solo
	gain, fade move
	open       move // closed while muted
	gate       move // closed while paused

	muted, soloed, paused bool

	stopped bool    // it or one above is paused
	held    bool    // and has faded out, so that its voices stand still
	loud    float32 // the gain that its voices are heard at

	fx    effectSlot
	duck  ducker
	key   key
	meter *meter // nil = none
}

func (b *bus) init(up *bus) {
	*b = bus{up: up, own: rest(1), gain: rest(1), fade: rest(1), open: rest(1), gate: rest(1), loud: 1, duck: ducker{gain: 1}}
}

// NewBus makes a bus below another one. There can be 31 beside the master, and they stay as long as
// the mixer. The error is ErrValue, or ErrFull.
func (m *Mixer) NewBus(parent Bus) (Bus, error) { return m.newBus(parent) }

func (c Commands) newBus(parent Bus) (Bus, error) {
	d := &c.m.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case parent > d.buses:
		return 0, fmt.Errorf("%w: no bus %d", ErrValue, parent)
	case d.buses == maxBuses-1:
		return 0, fmt.Errorf("%w: more than %d buses", ErrValue, maxBuses-1)
	case d.full():
		return 0, ErrFull
	}
	d.buses++
	d.put(&command{op: opBus, at: c.at, order: c.order, voice: Voice(d.buses), n: [3]int64{int64(parent)}})
	return d.buses, nil
}

// sendBus queues a command to a bus.
func (c Commands) sendBus(b Bus, x command) error {
	d := &c.m.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	if b > d.buses {
		return fmt.Errorf("%w: no bus %d", ErrValue, b)
	}
	if d.full() {
		return ErrFull
	}
	x.at, x.order, x.voice = c.at, c.order, Voice(b)
	d.put(&x)
	return nil
}

// SetBusGain moves the gain of a bus to dB within 5 ms.
func (c Commands) SetBusGain(b Bus, dB float64) error {
	g, err := amplitude(dB)
	if err != nil {
		return err
	}
	return c.sendBus(b, command{op: opBusGain, gain: frame{g, g}})
}

// FadeBus moves the fade of a bus, a gain on top of that of SetBusGain, to where f leads. Stop is
// not for buses; StopBus is.
func (c Commands) FadeBus(b Bus, f Fade) error {
	x, err := f.command()
	if err != nil {
		return err
	}
	if f.Stop {
		return fmt.Errorf("%w: a bus does not end", ErrValue)
	}
	x.op = opBusFade
	return c.sendBus(b, x)
}

// MuteBus silences a bus within 5 ms, or has it heard again. What plays in it goes on.
func (c Commands) MuteBus(b Bus, on bool) error {
	return c.sendBus(b, command{op: opMute, n: flag(on)})
}

// SoloBus has only voices be heard that play in b, in a bus below it, or in another one that is
// solo; the others go on silently.
func (c Commands) SoloBus(b Bus, on bool) error {
	return c.sendBus(b, command{op: opSolo, n: flag(on)})
}

// PauseBus fades a bus out within 5 ms and has all that plays in it and below stand still, or lets
// it go on.
func (c Commands) PauseBus(b Bus, on bool) error {
	return c.sendBus(b, command{op: opPauseBus, n: flag(on)})
}

// StopBus stops all voices in a bus and below, as Stop does, also those that wait.
func (c Commands) StopBus(b Bus, fade int) error {
	if fade < 0 {
		return fmt.Errorf("%w: fade of %d frames", ErrValue, fade)
	}
	return c.sendBus(b, command{op: opStopBus, n: [3]int64{int64(fade)}})
}

// A parcel is what is made for a bus by whoever commands it, since Mix makes nothing.
type parcel struct {
	duck   *Duck
	effect *effect
	meter  *meter
	kind   op
}

// sendParcel queues a command whose parcel lies beside the queue until Mix takes it.
func (c Commands) sendParcel(b Bus, p *parcel) error {
	for i := range c.m.desk.parcels {
		if c.m.desk.parcels[i].CompareAndSwap(nil, p) {
			err := c.sendBus(b, command{op: p.kind, n: [3]int64{int64(i)}})
			if err != nil {
				c.m.desk.parcels[i].Store(nil)
			}
			return err
		}
	}
	return ErrFull
}

func (m *Mixer) unpack(b *bus, p *parcel) {
	switch p.kind {
	case opDuck:
		m.setDuck(b, p.duck)
	case opEffect:
		b.fx.set(p.effect, len(m.curve))
	case opMeter:
		b.meter = p.meter
	}
}

func flag(on bool) (n [3]int64) {
	if on {
		n[0] = 1
	}
	return n
}

// treat carries out a command to a bus.
func (m *Mixer) treat(i int, c *command) {
	b, on := &m.buses[i], c.n[0] != 0
	switch c.op {
	case opBus:
		b.init(&m.buses[c.n[0]])
		m.made = i + 1
		m.solo()
		b.own = rest(b.own.to)
	case opBusGain:
		b.gain.start(c.gain[0], len(m.curve), Smooth, m.curve)
	case opBusFade:
		n, curve := int(c.n[0]), Curve(c.n[1])
		if n == 0 {
			n, curve = len(m.curve), Smooth
		}
		b.fade.start(c.gain[0], n, curve, m.curve)
	case opMute:
		b.muted = on
		b.open.turn(!on, m.curve)
	case opSolo:
		b.soloed = on
		m.solo()
	case opPauseBus:
		b.paused = on
		b.gate.turn(!on, m.curve)
	case opStopBus:
		m.stopBelow(b, int(c.n[0]))
	case opDuck, opEffect, opMeter:
		p := m.desk.parcels[c.n[0]].Swap(nil)
		m.unpack(b, p)
		x := *c
		x.n = flag(p.duck != nil || p.meter != nil || p.effect != nil && p.effect.out != nil)
		m.note(&x, nil, p.duck)
		m.holdBuses()
		return
	}
	m.note(c, nil, nil)
	m.holdBuses()
}

// turn opens or closes a gate.
func (v *move) turn(open bool, curve []float32) {
	to := float32(0)
	if open {
		to = 1
	}
	if v.to != to {
		v.start(to, len(curve), Smooth, curve)
	}
}

// solo decides whose own voices are heard.
func (m *Mixer) solo() {
	any := false
	for i := range m.made {
		any = any || m.buses[i].soloed
	}
	for i := range m.made {
		b := &m.buses[i]
		heard := !any
		for up := b; up != nil && !heard; up = up.up {
			heard = up.soloed
		}
		b.own.turn(heard, m.curve)
	}
}

func (m *Mixer) stopBelow(b *bus, fade int) {
	for _, slot := range m.list {
		v := &m.voices[slot]
		for up := v.house; up != nil; up = up.up {
			if up == b && !v.over {
				v.stop(fade, Smooth, m.curve)
			}
		}
	}
}

// holdBuses works out what depends on the buses above. A bus stands behind those above it.
func (m *Mixer) holdBuses() {
	for i := range m.made {
		b := &m.buses[i]
		b.stopped, b.held = b.paused, b.paused && !b.gate.moving()
		b.loud = b.gain.to * b.fade.to * b.open.to
		if b.up != nil {
			b.stopped, b.held = b.stopped || b.up.stopped, b.held || b.up.held
			b.loud *= b.up.loud
		}
	}
}

// cutBuses shortens n so that no bus comes to stand still within.
func (m *Mixer) cutBuses(n int) int {
	for i := range m.made {
		if b := &m.buses[i]; b.paused {
			n = b.gate.cut(n)
		}
	}
	return n
}

// input is where n frames of voices are added up.
func (b *bus) input(n int) []frame {
	sum := b.sum[:n]
	if !b.used {
		b.used = true
		clear(sum)
	}
	return sum
}

// finish treats what the buses hold, from the leaves up, and returns the master's n frames.
func (m *Mixer) finish(n int) []frame {
	for i := range m.made {
		if b := &m.buses[i]; b.used {
			b.settle(m.curve)
			b.own.ride(b.sum[:n], m.curve)
		}
		m.buses[i].own.skip(n)
	}
	for i := m.made - 1; i > 0; i-- {
		b := &m.buses[i]
		m.treatFrames(b, n)
		if b.used {
			b.up.add(b.sum[:n])
		}
	}
	master := &m.buses[0]
	master.input(n)
	m.treatFrames(master, n)
	m.holdBuses()
	return master.sum[:n]
}

// add adds frames from below.
func (b *bus) add(x []frame) {
	sum := b.input(len(x))
	for i, f := range x {
		sum[i][0] += f[0]
		sum[i][1] += f[1]
	}
}

// treatFrames takes n frames of a bus through its effect, gains and ducking, and measures them.
func (m *Mixer) treatFrames(b *bus, n int) {
	if b.fx.on() {
		b.fx.apply(b.input(n), m)
	}
	sum := b.sum[:0]
	if b.used {
		sum = b.sum[:n]
	}
	for _, v := range [...]*move{&b.gain, &b.fade, &b.open, &b.gate} {
		v.ride(sum, m.curve)
		v.skip(n)
	}
	b.duck.apply(sum, m.now, n)
	b.key.record(sum, m.now, n)
	if b.meter != nil {
		b.meter.measure(sum, n)
	}
}
