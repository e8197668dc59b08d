package output

import (
	"sync"
	"time"
)

// catchUp is how far behind the clock null may fall and still make up for it. A process that was
// stopped for longer has lost that time, as it has with a sound card.
const catchUp = time.Second

// null plays into nothing. Its frames pass by the monotonic clock: what was heard is always counted
// from one origin, so that late wake-ups do not add up.
type null struct {
	core
	rate  int
	depth int64         // frames held
	step  time.Duration // time between two wake-ups
	poke  chan struct{} // wakes the goroutine when time stands still or goes on

	mu     sync.Mutex // guards what follows
	pulled int64      // frames taken from fill
	gaps   int64      // wake-ups that came too late for what was held
	base   int64      // frames heard at origin
	origin time.Time  // when time last began to run; zero while it stands still
	begun  bool       // Start was called
	paused bool
}

func newNull(c Config) *null {
	return &null{
		core:  newCore(),
		rate:  c.Rate,
		depth: c.depth(),
		step:  min(max(c.Buffer/4, time.Millisecond), 20*time.Millisecond),
		poke:  make(chan struct{}, 1),
	}
}

// Name implements [Device].
func (d *null) Name() string { return "null" }

// Rate implements [Device].
func (d *null) Rate() int { return d.rate }

// Start implements [Device].
func (d *null) Start(fill Fill) error {
	return d.start(func() { d.run(fill) })
}

// Pause implements [Device].
func (d *null) Pause(paused bool) error {
	if err := d.alive(); err != nil {
		return err
	}
	d.mu.Lock()
	d.set(d.begun, paused)
	d.mu.Unlock()
	signal(d.poke)
	return nil
}

// Delay implements [Device].
func (d *null) Delay() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return timeOf(max(d.pulled-d.heard(time.Now()), 0), d.rate)
}

// Underruns counts the gaps that would have been heard because frames came too late.
func (d *null) Underruns() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gaps
}

// set lets time run or stand still. The caller holds mu.
func (d *null) set(begun, paused bool) {
	now := time.Now()
	d.base, d.origin = d.heard(now), time.Time{}
	d.begun, d.paused = begun, paused
	if begun && !paused {
		d.origin = now
	}
}

// heard is how many frames have passed by. The caller holds mu.
func (d *null) heard(now time.Time) int64 {
	if d.origin.IsZero() {
		return d.base
	}
	return d.base + framesIn(now.Sub(d.origin), d.rate)
}

// room is how many frames are to be pulled now, none while time stands still.
func (d *null) room() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.origin.IsZero() {
		return 0
	}
	now := time.Now()
	if d.pulled > 0 && d.heard(now) > d.pulled {
		d.gaps++
	}
	if late := d.heard(now) - d.pulled; late > framesIn(catchUp, d.rate) {
		d.base, d.origin = d.pulled, now
	}
	return d.heard(now) + d.depth - d.pulled
}

// left is how long the frames held will last, negative while time stands still.
func (d *null) left() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.pulled - d.heard(time.Now())
	if n > 0 && d.origin.IsZero() {
		return -1
	}
	return timeOf(max(n, 0), d.rate)
}

// run pulls until the sound ends, then waits until its last frame has passed by.
func (d *null) run(fill Fill) {
	d.mu.Lock()
	d.set(true, d.paused)
	d.mu.Unlock()
	buf := make([]float32, 2*min(d.depth, blockFrames))
	for !d.refill(fill, buf) {
		if !d.sleep(d.step, d.poke) {
			return
		}
	}
	for wait := d.left(); wait != 0 && d.sleep(wait, d.poke); wait = d.left() {
	}
}

// refill pulls what there is room for and reports whether the sound has ended, or is to.
func (d *null) refill(fill Fill, buf []float32) (ended bool) {
	for n := d.room(); n > 0; n = d.room() {
		if d.alive() != nil {
			return false
		}
		b := buf[:2*min(n, int64(len(buf)/2))]
		got := d.pull(fill, b)
		d.mu.Lock()
		d.pulled += int64(got)
		d.mu.Unlock()
		if got < len(b)/2 {
			return true
		}
	}
	return false
}
