//go:build windows || darwin || (alsa && cgo)

package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebitengine/oto/v3"
)

const (
	speakerWait  = 3 * time.Second       // for the device to be ready
	speakerTick  = 20 * time.Millisecond // between two looks at it
	speakerStall = 5 * time.Second       // without a pull, beyond what it holds
)

// errSpeakerSilent is a device that takes nothing any more; the library notices only some losses.
var errSpeakerSilent = errors.New("it takes no sound any more")

// speakerContext is the library's connection to the device, of which a process gets one, for good.
// All speakers are players in it, and none can be had again once it has failed.
type speakerContext struct {
	ready  chan struct{} // closed when the fields below are set
	ctx    *oto.Context
	err    error
	rate   int
	buffer time.Duration
}

var (
	speakerMu  sync.Mutex // guards theSpeaker
	theSpeaker *speakerContext
)

// speakerAt returns the context, which the first call makes. Making it may block in the driver, so
// that it happens in a goroutine of its own.
func speakerAt(c Config) *speakerContext {
	speakerMu.Lock()
	defer speakerMu.Unlock()
	if theSpeaker == nil {
		// Half of the buffer lies with the driver, half in the player.
		s := &speakerContext{ready: make(chan struct{}), rate: c.Rate, buffer: c.Buffer / 2}
		theSpeaker = s
		go s.open()
	}
	return theSpeaker
}

func (s *speakerContext) open() {
	defer close(s.ready)
	ctx, ready, err := oto.NewContext(&oto.NewContextOptions{
		SampleRate: s.rate, ChannelCount: 2, Format: oto.FormatFloat32LE, BufferSize: s.buffer,
	})
	if err != nil {
		s.err = err
		return
	}
	<-ready
	s.ctx, s.err = ctx, ctx.Err() // a context without a device is ready too
}

// speaker plays through the system's own device.
type speaker struct {
	core
	s      *speakerContext
	buffer time.Duration // of the player
	tick   time.Duration
	player *oto.Player
	paused atomic.Bool
	poke   chan struct{}

	mu    sync.Mutex // guards what follows, and makes calls of fill one at a time
	fill  Fill
	buf   []float32
	ended bool

	pulled atomic.Int64 // frames
	reads  atomic.Int64 // calls of Read, for the watchdog
}

// openSpeaker waits until the device is ready.
func openSpeaker(ctx context.Context, c Config) (Device, error) {
	ctx, cancel := context.WithTimeout(ctx, speakerWait)
	defer cancel()
	s := speakerAt(c)
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, fmt.Errorf("output: speaker: %w: the device does not get ready", ErrUnavailable)
	}
	err := s.err
	if err == nil {
		err = s.ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("output: speaker: %w: %w", ErrUnavailable, err)
	}
	if s.rate != c.Rate {
		return nil, fmt.Errorf("output: speaker: %w: this process has it at %d frames a second, which cannot be changed to %d", ErrUnavailable, s.rate, c.Rate)
	}
	d := &speaker{core: newCore(), s: s, buffer: c.Buffer - c.Buffer/2, tick: speakerTick, poke: make(chan struct{}, 1)}
	d.buf = make([]float32, 2*blockFrames)
	d.player = s.ctx.NewPlayer(d)
	d.player.SetBufferSize(int(framesIn(d.buffer, s.rate)) * 8)
	d.release = d.letGo
	return d, nil
}

// letGo silences the player, and waits for a fill under way. The library frees the player when it is
// collected.
func (d *speaker) letGo() error {
	d.player.Pause()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fill = nil
	return nil
}

// Name implements [Device].
func (d *speaker) Name() string { return "speaker" }

// Rate implements [Device].
func (d *speaker) Rate() int { return d.s.rate }

// Delay implements [Device]: what waits in the player, and what the driver was given.
func (d *speaker) Delay() time.Duration {
	pulled, waiting := d.pulled.Load(), 0
	for before := int64(-1); pulled != before; pulled = d.pulled.Load() { // both of the same moment
		before, waiting = pulled, d.player.BufferedSize()/8
	}
	held := int64(waiting) + framesIn(d.s.buffer, d.s.rate)
	return timeOf(min(held, pulled), d.s.rate)
}

// Pause implements [Device]. What the driver was given is still heard.
func (d *speaker) Pause(paused bool) error {
	if err := d.alive(); err != nil {
		return err
	}
	d.paused.Store(paused)
	signal(d.poke)
	return nil
}

// Start implements [Device].
func (d *speaker) Start(fill Fill) error {
	return d.start(func() {
		d.mu.Lock()
		d.fill = fill
		d.mu.Unlock()
		d.run()
	})
}

// run lets the player play or not and watches it until the sound ends.
func (d *speaker) run() {
	limit := int((speakerStall + d.buffer + d.s.buffer) / d.tick)
	var reads int64
	playing := false
	for quiet := 0; ; quiet++ {
		if paused := d.paused.Load(); paused == playing {
			playing = !paused
			d.play(playing)
		}
		if err := d.s.ctx.Err(); err != nil {
			d.lose(err)
			return
		}
		if n := d.reads.Load(); n != reads || !playing {
			reads, quiet = n, 0
		}
		if playing && d.finished() {
			d.sleep(d.s.buffer, nil) // what the driver holds
			return
		}
		if quiet > limit {
			d.lose(errSpeakerSilent)
			return
		}
		if !d.sleep(d.tick, d.poke) {
			return
		}
	}
}

func (d *speaker) play(on bool) {
	if on {
		d.player.Play()
	} else {
		d.player.Pause()
	}
}

func (d *speaker) lose(cause error) {
	d.stop(fmt.Errorf("output: speaker: %w: %w", ErrLost, cause))
}

// finished reports whether the player has handed its last frame to the driver.
func (d *speaker) finished() bool {
	d.mu.Lock()
	ended := d.ended
	d.mu.Unlock()
	return ended && d.player.BufferedSize() == 0
}

// Read implements io.Reader for the player.
func (d *speaker) Read(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads.Add(1)
	n := min(len(p)/8, blockFrames)
	if d.fill == nil || d.ended || d.alive() != nil {
		return 0, io.EOF
	}
	got := d.pull(d.fill, d.buf[:2*n])
	d.pulled.Add(int64(got))
	d.ended = got < n
	encodeFloats(p[:0], d.buf[:2*got])
	if d.ended {
		return got * 8, io.EOF
	}
	return got * 8, nil
}
