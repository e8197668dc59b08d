package output

import (
	"sync/atomic"
	"time"
)

// wavDevice writes a WAV file as fast as fill gives.
type wavDevice struct {
	core
	kind string // as in the specification
	path string
	rate int

	paused atomic.Bool
	poke   chan struct{} // wakes the goroutine when paused has changed
	file   *WAVFile      // the goroutine's, then complete's
	begun  bool          // so is this: fill was called
}

// openWAV creates the file, so that a place that cannot be written to is known at once.
func openWAV(path, kind string, c Config) (*wavDevice, error) {
	file, err := CreateWAV(path, kind, c.Rate, 2)
	if err != nil {
		return nil, err
	}
	d := &wavDevice{core: newCore(), kind: kind, path: path, rate: c.Rate, poke: make(chan struct{}, 1), file: file}
	file.place.away = &d.away
	d.release = d.complete
	return d, nil
}

// Name implements [Device].
func (d *wavDevice) Name() string { return d.kind + ":" + d.path }

// Rate implements [Device].
func (d *wavDevice) Rate() int { return d.rate }

// Delay implements [Device]: what is in the file counts as heard.
func (d *wavDevice) Delay() time.Duration { return 0 }

// Pause implements [Device]: the file does not grow in between.
func (d *wavDevice) Pause(paused bool) error {
	if err := d.alive(); err != nil {
		return err
	}
	d.paused.Store(paused)
	signal(d.poke)
	return nil
}

// Start implements [Device].
func (d *wavDevice) Start(fill Fill) error {
	return d.start(func() {
		if err := d.run(fill); err != nil {
			d.stop(err)
		}
	})
}

// Close implements [Device]. A pipe that nobody reads is given up.
func (d *wavDevice) Close() error {
	if f := d.file.place; f.final == "" {
		f.f.SetWriteDeadline(time.Now().Add(closeWait / 2)) // fails where there are none, such as a terminal
	}
	return d.core.Close()
}

// run writes until the sound ends, the file is full or the device is closed.
func (d *wavDevice) run(fill Fill) error {
	d.begun = true
	buf := make([]float32, 2*blockFrames)
	for d.mayPull() {
		n := d.pull(fill, buf)
		if err := d.file.Write(buf[:2*n]); err != nil {
			return err
		}
		if n < blockFrames {
			break
		}
	}
	return nil
}

// mayPull waits while paused and reports whether to go on.
func (d *wavDevice) mayPull() bool {
	for d.paused.Load() {
		if !d.sleep(-1, d.poke) {
			return false
		}
	}
	return d.alive() == nil
}

// complete puts the file in its place, or removes it where nothing was ever to be in it.
func (d *wavDevice) complete() error {
	if !d.begun {
		return d.file.Discard()
	}
	return d.file.Close()
}
