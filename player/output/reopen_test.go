package output

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeDevice pulls a block every 10 ms, 480 frames at a time.
type fakeDevice struct {
	core
	name   string
	paused atomic.Bool
	taken  atomic.Int64
	gaps   int64
	drain  time.Duration // between the last frame and the end
}

func (d *fakeDevice) Name() string         { return d.name }
func (d *fakeDevice) Rate() int            { return 48000 }
func (d *fakeDevice) Delay() time.Duration { return 7 * time.Millisecond }
func (d *fakeDevice) Underruns() int64     { return d.gaps }

func (d *fakeDevice) Pause(paused bool) error {
	if err := d.alive(); err != nil {
		return err
	}
	d.paused.Store(paused)
	return nil
}

func (d *fakeDevice) Start(fill Fill) error {
	return d.start(func() {
		buf := make([]float32, 960)
		for d.sleep(10*time.Millisecond, nil) {
			if d.paused.Load() {
				continue
			}
			n := d.pull(fill, buf)
			d.taken.Add(int64(n))
			if n < 480 {
				d.sleep(d.drain, nil)
				return
			}
		}
	})
}

func (d *fakeDevice) lose() { d.stop(fmt.Errorf("output: fake: %w: unplugged", ErrLost)) }

// fakeRig opens fake devices, or not.
type fakeRig struct {
	drain time.Duration // of the devices

	mu   sync.Mutex // guards what follows
	made []*fakeDevice
	n    int   // opens
	err  error // what the next opens return
	hang bool  // the next opens wait until they are given up
}

func (r *fakeRig) open(ctx context.Context, _ Config) (Device, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	if r.hang {
		r.mu.Unlock()
		<-ctx.Done()
		r.mu.Lock()
		return nil, ctx.Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	d := &fakeDevice{name: "fake", core: newCore(), gaps: 1, drain: r.drain}
	r.made = append(r.made, d)
	return d, nil
}

// away makes the next opens fail with err, or hang; nil lets them work.
func (r *fakeRig) away(err error, hang bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.hang, r.n = err, hang, 0
}

// devices are those that were opened, the first one first.
func (r *fakeRig) devices() []*fakeDevice {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.made)
}

func (r *fakeRig) last() *fakeDevice { list := r.devices(); return list[len(list)-1] }

func (r *fakeRig) tries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// wrapped opens a device of the rig with the wrapper around it.
func (r *fakeRig) wrapped(t *testing.T, c Config) *reopener {
	t.Helper()
	c, err := c.normal()
	must(t, err)
	d, err := candidate{"fake", r.open}.openOrTry(t.Context(), c)
	must(t, err)
	w, ok := d.(*reopener)
	if !ok {
		t.Fatalf("got a %T, want a reopener", d)
	}
	return w
}

func TestReopenContract(t *testing.T) {
	checkDevice(t, func(t *testing.T) Device { return new(fakeRig).wrapped(t, Config{Reopen: time.Second}) })
}

// The device goes away for 5 s of a sound of 20 s. The sound goes on meanwhile, unheard.
func TestReopenKeepsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, told := &fakeRig{}, &warnings{}
		d, r := rig.wrapped(t, Config{Reopen: time.Minute, Warn: told.add}), &ramp{n: 20 * 48000}
		begun := time.Now()
		start(t, d, r.fill)
		time.Sleep(3 * time.Second)
		rig.away(errors.New("not yet"), false)
		rig.last().lose()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := r.taken.Load(); got < 8*48000-480 || got > 8*48000+4800 {
			t.Errorf("after 3 s with and 5 s without a device: got %d frames, want 8 s", got)
		}
		rig.away(nil, false)
		<-d.Done()
		took := time.Since(begun)
		if d.Err() != nil || took < 19*time.Second || took > 21*time.Second {
			t.Errorf("done after %v: %v; want 20 s", took, d.Err())
		}
		if got := rig.devices()[0].taken.Load() + rig.last().taken.Load(); len(rig.devices()) != 2 || got < 14*48000 || got > 15*48000 {
			t.Errorf("%d devices took %d frames, want 2 and about 15 s", len(rig.devices()), got)
		}
		if list := told.all(); len(list) != 2 || !strings.HasPrefix(list[0], "output: fake: device lost: unplugged; trying") || !strings.HasPrefix(list[1], "output: fake is back after ") {
			t.Errorf("warnings: %q", list)
		}
		if d.Underruns() != 2 {
			t.Errorf("underruns: got %d, want 2, one of each device", d.Underruns())
		}
	})
}

func TestReopenBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := &fakeRig{}
		d, r := rig.wrapped(t, Config{Reopen: 10 * time.Second}), &ramp{n: forever}
		start(t, d, r.fill)
		rig.away(errors.New("gone"), false)
		lost := time.Now()
		rig.last().lose()
		<-d.Done()
		if took := time.Since(lost); took != 10*time.Second || !errors.Is(d.Err(), ErrLost) {
			t.Errorf("given up after %v with %v, want 10 s and %v", took, d.Err(), ErrLost)
		}
		checkOneLine(t, d.Err())
		// After 0.1, 0.2, 0.4 s and then every half of a second.
		if rig.tries() != 21 {
			t.Errorf("tries: got %d, want 21", rig.tries())
		}
		if err := d.Pause(true); !errors.Is(err, ErrLost) {
			t.Errorf("Pause after the loss: got %v", err)
		}
		if err := d.Start(r.fill); !errors.Is(err, ErrLost) {
			t.Errorf("Start after the loss: got %v", err)
		}
		d.Close()
	})
}

// Fault F30: the sound is back within a second of the device, however long that was away, and time
// went on meanwhile.
func TestReopenWithinASecond(t *testing.T) {
	for _, away := range []time.Duration{0, 50, 350, 1250, 7777, 59900} {
		away *= time.Millisecond
		synctest.Test(t, func(t *testing.T) {
			rig := &fakeRig{}
			d, r := rig.wrapped(t, Config{Reopen: time.Hour}), &ramp{n: forever}
			start(t, d, r.fill)
			time.Sleep(2 * time.Second)
			rig.away(errors.New("gone"), false)
			rig.last().lose()
			synctest.Wait()
			before, lost := r.taken.Load(), time.Now()
			time.Sleep(away)
			rig.away(nil, false)
			back := time.Now()
			for rig.last() == rig.devices()[0] && time.Since(back) < time.Hour {
				time.Sleep(10 * time.Millisecond)
				synctest.Wait()
			}
			if took := time.Since(back); took > 600*time.Millisecond {
				t.Errorf("away for %v: tried %v after the device was there again", away, took)
			}
			if went, want := r.taken.Load()-before, framesIn(time.Since(lost), 48000); went < want-4800 || went > want+9600 {
				t.Errorf("away for %v: %d frames went by, want about %d", away, went, want)
			}
			d.Close()
		})
	}
}

// A device that comes back only to be lost again is given up when that has cost the time allowed.
func TestReopenFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := &fakeRig{}
		d, r := rig.wrapped(t, Config{Reopen: 10 * time.Second}), &ramp{n: forever}
		start(t, d, r.fill)
		for n := 0; d.alive() == nil && n < 100; n++ {
			rig.last().lose()
			time.Sleep(1050 * time.Millisecond) // of which the new device plays less than 1.1 s
			synctest.Wait()
		}
		if !errors.Is(d.Err(), ErrLost) || len(rig.devices()) > 30 {
			t.Errorf("got %v after %d devices, want %v", d.Err(), len(rig.devices()), ErrLost)
		}
		d.Close()
	})
}

// One that stayed for a while has all the time again.
func TestReopenAfterSteady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := &fakeRig{}
		d, r := rig.wrapped(t, Config{Reopen: 2 * time.Second}), &ramp{n: forever}
		start(t, d, r.fill)
		for range 10 {
			time.Sleep(3 * time.Second)
			rig.last().lose()
			synctest.Wait()
		}
		if d.alive() != nil || len(rig.devices()) != 10 {
			t.Errorf("got %v and %d devices, want 10", d.alive(), len(rig.devices()))
		}
		d.Close()
	})
}

func TestReopenPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := &fakeRig{}
		d, r := rig.wrapped(t, Config{Reopen: time.Hour}), &ramp{n: forever}
		start(t, d, r.fill)
		time.Sleep(time.Second)
		must(t, d.Pause(true))
		rig.away(errors.New("not yet"), false)
		rig.last().lose()
		synctest.Wait()
		taken := r.taken.Load()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := r.taken.Load(); got != taken {
			t.Errorf("paused without a device: %d frames were taken", got-taken)
		}
		rig.away(nil, false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(rig.devices()) != 2 || !rig.last().paused.Load() || r.taken.Load() != taken {
			t.Errorf("got %d devices, paused %v; want 2 and the second one paused", len(rig.devices()), rig.last().paused.Load())
		}
		must(t, d.Pause(false))
		time.Sleep(time.Second)
		if r.taken.Load() == taken {
			t.Error("it does not go on")
		}
		d.Close()
	})
}

// The sound ends while there is no device.
func TestReopenEndsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := &fakeRig{}
		d, r := rig.wrapped(t, Config{Reopen: time.Hour}), &ramp{n: 96000}
		begun := time.Now()
		start(t, d, r.fill)
		time.Sleep(500 * time.Millisecond)
		rig.away(nil, true)
		rig.last().lose()
		<-d.Done()
		if took := time.Since(begun); d.Err() != nil || r.taken.Load() != 96000 || took > 3*time.Second {
			t.Errorf("done after %v with %v and %d frames, want no error and 96000", took, d.Err(), r.taken.Load())
		}
	})
}

// A device lost while it plays out the end does not start the sound again.
func TestReopenLostInDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := &fakeRig{drain: time.Minute}
		d, r := rig.wrapped(t, Config{Reopen: time.Hour}), &ramp{n: 4800}
		calls := 0
		start(t, d, func(buf []float32) int {
			n := r.fill(buf)
			if n < len(buf)/2 {
				calls++
			}
			return n
		})
		time.Sleep(time.Second)
		rig.last().lose()
		<-d.Done()
		if d.Err() != nil || calls != 1 {
			t.Errorf("got %v, and fill was asked %d times at the end, want 1", d.Err(), calls)
		}
	})
}

func TestReopenClose(t *testing.T) {
	for _, hang := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			rig := &fakeRig{}
			d, r := rig.wrapped(t, Config{Reopen: time.Hour}), &ramp{n: forever}
			start(t, d, r.fill)
			rig.away(errors.New("gone"), hang)
			rig.last().lose()
			time.Sleep(time.Minute)
			closing := time.Now()
			if err := d.Close(); err != nil || time.Since(closing) != 0 || d.Err() != nil {
				t.Errorf("Close without a device: %v after %v, Err %v", err, time.Since(closing), d.Err())
			}
		})
	}
}

// The device is lost before it was started.
func TestReopenLostBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := &fakeRig{}
		d, r := rig.wrapped(t, Config{Reopen: time.Minute}), &ramp{n: 48000}
		rig.last().lose()
		start(t, d, r.fill)
		<-d.Done()
		if d.Err() != nil || r.taken.Load() != 48000 || len(rig.devices()) != 2 {
			t.Errorf("got %v, %d frames, %d devices; want nil, 48000, 2", d.Err(), r.taken.Load(), len(rig.devices()))
		}
	})
}

// Another error than a loss is not survived.
func TestReopenOtherError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := &fakeRig{}
		d, r := rig.wrapped(t, Config{Reopen: time.Minute}), &ramp{n: forever}
		start(t, d, r.fill)
		oops := errors.New("oops")
		rig.last().stop(oops)
		<-d.Done()
		if d.Err() != oops || len(rig.devices()) != 1 {
			t.Errorf("got %v, want %v", d.Err(), oops)
		}
	})
}

// Without Reopen there is no wrapper, and the end comes at once.
func TestNoReopen(t *testing.T) {
	c, _ := Config{}.normal()
	d, err := candidate{"fake", new(fakeRig).open}.openOrTry(t.Context(), c)
	if _, ok := d.(*fakeDevice); !ok || err != nil {
		t.Errorf("got a %T and %v, want the device itself", d, err)
	}
	d.Close()
}

// Warn may do what it likes, even close the device that calls it.
func TestReopenClosedByWarn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := &fakeRig{}
		var d *reopener
		d = rig.wrapped(t, Config{Reopen: time.Minute, Warn: func(error) { d.stop(nil) }})
		start(t, d, (&ramp{n: forever}).fill)
		rig.last().lose()
		<-d.Done()
		if d.Err() != nil {
			t.Error(d.Err())
		}
	})
}
