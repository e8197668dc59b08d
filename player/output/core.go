package output

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
)

// closeWait is how long Close waits for a goroutine that is inside fill, or in a write to a pipe that
// nobody reads. Fill does not block, so for fill it is only reached where fill itself calls Close,
// or breaks its contract.
const closeWait = time.Second

// core is the life of a device, the same for all of them: it is started at most once, stopped once
// for one reason, and over when its goroutine has ended and everything it held is let go of.
//
// A device sets onStop and release before anybody else knows it, or leaves them nil.
type core struct {
	quit chan struct{} // closed when the device is to stop
	done chan struct{} // closed when it is over

	onStop  func()       // wakes whatever blocks; called once, right after quit closes
	release func() error // lets go of everything; called once, after the goroutine has ended

	away atomic.Bool // the goroutine is inside code that cannot be woken

	mu       sync.Mutex // guards what follows
	started  bool
	stopped  bool
	cause    error // why it stopped; nil after an end or Close
	closeErr error // what release said
}

func newCore() core {
	return core{quit: make(chan struct{}), done: make(chan struct{})}
}

// start runs the device's goroutine. When run returns by itself, that was the end of the sound.
func (c *core) start(run func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopped:
		return c.stoppedErr()
	case c.started:
		return errors.New("output: started twice")
	}
	c.started = true
	go func() {
		run()
		c.stop(nil)
		c.finish()
	}()
	return nil
}

// stop asks the device to end; the first cause counts. It never waits, since it is also called by
// goroutines that release has to wait for.
func (c *core) stop(cause error) {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return
	}
	c.stopped, c.cause = true, cause
	started := c.started
	close(c.quit)
	c.mu.Unlock()
	if c.onStop != nil {
		c.onStop()
	}
	if !started {
		go c.finish()
	}
}

// finish ends the life of the device.
func (c *core) finish() {
	var err error
	if c.release != nil {
		err = c.release()
	}
	c.mu.Lock()
	c.closeErr = err
	if c.cause == nil {
		c.cause = err
	}
	c.mu.Unlock()
	close(c.done)
}

// alive returns nil while the device may be used, else why not.
func (c *core) alive() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return c.stoppedErr()
	}
	return nil
}

// join counts a goroutine that release will wait for, unless the device has stopped already.
func (c *core) join(wg *sync.WaitGroup) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return c.stoppedErr()
	}
	wg.Add(1)
	return nil
}

// stoppedErr is what a call on a stopped device returns. The caller holds mu.
func (c *core) stoppedErr() error {
	if c.cause != nil {
		return c.cause
	}
	return fmt.Errorf("output: %w", fs.ErrClosed)
}

// Done implements [Device].
func (c *core) Done() <-chan struct{} { return c.done }

// Err implements [Device].
func (c *core) Err() error {
	select {
	case <-c.done:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.cause
	default:
		return nil
	}
}

// Close implements [Device].
func (c *core) Close() error {
	c.stop(nil)
	for waiting := true; waiting; {
		select {
		case <-c.done:
			waiting = false
		case <-time.After(closeWait):
			waiting = !c.away.Load()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closeErr
}

// pull calls fill and keeps it to its contract: a count beyond the buffer's is cut.
func (c *core) pull(fill Fill, buf []float32) int {
	c.away.Store(true)
	defer c.away.Store(false)
	return min(max(fill(buf), 0), len(buf)/2)
}

// sleep waits for d, a poke or the stop, and reports whether to go on. A negative d waits for ever.
func (c *core) sleep(d time.Duration, poke <-chan struct{}) bool {
	var after <-chan time.Time
	if d >= 0 {
		after = time.After(d)
	}
	select {
	case <-c.quit:
		return false
	case <-poke:
	case <-after:
	}
	return true
}

// signal fills a channel of one slot, so that its reader wakes up, and never blocks.
func signal(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
