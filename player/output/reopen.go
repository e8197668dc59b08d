package output

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
)

// How often a device that went away is tried: soon, then less often, but often enough that the sound
// is back within a second of the device, the time that opening it takes included. One that is lost again before it
// took reopenSteady of sound, beyond what it holds, was never really back (a server whose sink is
// suspended lets anybody in, and then asks for nothing), so that the time without it adds up.
const (
	reopenFirst  = 100 * time.Millisecond
	reopenMost   = 500 * time.Millisecond
	reopenSteady = time.Second
)

// reopener plays on one device after another. While none can be had, a null device keeps time: it
// pulls frames that nobody hears, so that the sound is where it should be when it comes back.
type reopener struct {
	core
	open   opener
	conf   Config
	name   string
	ctx    context.Context // done when the device stops
	cancel context.CancelFunc

	fillMu sync.Mutex // guards fill, which only one device may call at a time
	fill   Fill
	ended  bool  // fill has said that the sound is over
	taken  int64 // frames, by the device that plays now

	pauseMu sync.Mutex // one Pause at a time
	mu      sync.Mutex // guards what follows
	dev     Device     // what plays now
	paused  bool

	underruns atomic.Int64 // of the devices before dev
}

// newReopener wraps dev, which has not been started.
func newReopener(dev Device, open opener, c Config) *reopener {
	r := &reopener{core: newCore(), open: open, conf: c, name: dev.Name(), dev: dev}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.onStop = r.cancel
	r.release = func() error { return r.current().Close() }
	return r
}

// Name implements [Device]. It stays the same while the device is away.
func (r *reopener) Name() string { return r.name }

// Rate implements [Device].
func (r *reopener) Rate() int { return r.current().Rate() }

// Delay implements [Device].
func (r *reopener) Delay() time.Duration { return r.current().Delay() }

// Underruns counts the gaps that were heard because frames came too late.
func (r *reopener) Underruns() int64 { return r.underruns.Load() + underruns(r.current()) }

func underruns(d Device) int64 {
	if u, ok := d.(interface{ Underruns() int64 }); ok {
		return u.Underruns()
	}
	return 0
}

// Pause implements [Device]. A device that is lost over it comes back paused.
func (r *reopener) Pause(paused bool) error {
	if err := r.alive(); err != nil {
		return err
	}
	r.pauseMu.Lock()
	defer r.pauseMu.Unlock()
	r.mu.Lock()
	r.paused = paused
	dev := r.dev
	r.mu.Unlock()
	if err := dev.Pause(paused); err != nil && !errors.Is(err, ErrLost) && !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}

// Start implements [Device].
func (r *reopener) Start(fill Fill) error {
	return r.start(func() {
		r.fill = fill
		if err := r.run(); err != nil {
			r.stop(err)
		}
	})
}

func (r *reopener) current() Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dev
}

// take makes dev the one that plays; the one before it has been closed.
func (r *reopener) take(dev Device) error {
	r.mu.Lock()
	r.underruns.Add(underruns(r.dev))
	r.dev = dev
	err := dev.Pause(r.paused)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	return dev.Start(r.next)
}

// next is the fill of all devices: it stays at the end once that was reached.
func (r *reopener) next(buf []float32) int {
	r.fillMu.Lock()
	defer r.fillMu.Unlock()
	if r.ended {
		return 0
	}
	n := r.fill(buf)
	r.taken += int64(n)
	r.ended = n < len(buf)/2
	return n
}

// steady reports whether the last device has really played, and counts anew for the next one.
func (r *reopener) steady() bool {
	r.fillMu.Lock()
	defer r.fillMu.Unlock()
	enough := r.taken > r.conf.depth()+framesIn(reopenSteady, r.conf.Rate)
	r.taken = 0
	return enough
}

// outage is a device that went away, or keeps going away.
type outage struct {
	spent time.Duration // without a device
	wait  time.Duration // before the next attempt
}

// run plays until the sound ends, and returns why it does not go on otherwise.
func (r *reopener) run() error {
	dev := r.current()
	err := dev.Start(r.next)
	out := outage{wait: reopenFirst}
	for {
		if err == nil {
			err = r.watch(dev)
		}
		if !errors.Is(err, ErrLost) {
			return err
		}
		dev.Close()
		if r.steady() {
			out = outage{wait: reopenFirst}
		}
		r.conf.warn(fmt.Errorf("%w; trying again for %v", err, r.conf.Reopen-out.spent))
		lostAt := time.Now()
		if dev, err = r.bridge(&out, err); dev == nil {
			return err
		}
		r.steady() // what was pulled meanwhile does not count
		if err = r.take(dev); err == nil {
			r.conf.warn(fmt.Errorf("output: %s is back after %v", r.name, time.Since(lostAt).Round(time.Millisecond)))
		}
	}
}

// watch waits for dev's end, and returns what it was.
func (r *reopener) watch(dev Device) error {
	select {
	case <-dev.Done():
		return dev.Err()
	case <-r.quit:
		return nil
	}
}

// bridge keeps time until the device can be opened again. It returns nil and no error when the sound
// is over before that, and nil and the loss when there is no time left.
func (r *reopener) bridge(out *outage, lost error) (Device, error) {
	clock := newNull(r.conf)
	defer clock.Close()
	if err := r.take(clock); err != nil {
		return nil, err
	}
	begun := time.Now()
	defer func() { out.spent += time.Since(begun) }()
	ctx, cancel := context.WithTimeout(r.ctx, r.conf.Reopen-out.spent)
	defer cancel()
	go func() { // the end of the sound gives up an open under way
		select {
		case <-clock.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		select {
		case <-ctx.Done():
			if clock.alive() != nil {
				return nil, nil
			}
			return nil, fmt.Errorf("%w; it did not come back within %v", lost, r.conf.Reopen)
		case <-time.After(out.wait):
		}
		out.wait = min(2*out.wait, reopenMost)
		if dev, err := r.open(ctx, r.conf); err == nil {
			return dev, nil
		}
	}
}
