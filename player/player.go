// Package player plays the sounds of a game.
//
// A [Player] opens sounds by name out of any fs.FS (a pack, a folder, an embed.FS, a zip), keeps
// short ones in memory as clips, streams long ones out of the file while they play, and mixes as
// many at once as the game starts. [Open] plays through a device; [New] has none and is pulled by
// its owner, as the beep.Streamer that every Player is, or block by block with [Player.Mix].
//
//	p, err := player.Open(pack, nil)             // the device of this machine
//	jump, err := p.Load("jump.wav", player.Auto) // once, while the level loads
//	voice, err := jump.Play(player.Params{Gain: -6})
//	<-voice.Done()
//
// A [Sound] is what was loaded, a [Voice] one playing of it. All methods may be called from any
// goroutine; none of them is called by the mixing path, and none of them stops it. Frames are
// counted at the sound's own rate, times of the player itself at the device's.
//
// Voices look after themselves. They play in a tree of buses ([Player.NewBus]) with gain, mute, pause,
// solo, fades, ducking, effects and meters; a [Limit] of a sound, a bus or all says who makes room, and
// no transition clicks. Play, stop, seek and fade happen with the next block or at an exact frame
// ([Params].At, [Voice.StopAt]), and one sound follows another without a gap ([Params].After). A limiter
// keeps the mix below full scale. Clips lie within a budget of bytes ([Options].Budget), and
// [Player.Preload] decodes them ahead.
//
// The same calls at the same frames give the same bits ([Options].InStep). What a player is told can be
// recorded and played back ([Replay]), for tests of a game's sound. [Player.Stats] tells how it fares.
//
// Elsewhere than through a device a Player is heard as a beep.Streamer, or through the readers
// [Player.Float32] and [Player.Int16], as Ebitengine and oto take them.
//
// Left out: this package knows nothing of pack layouts (any fs.FS will do) and of file names (the
// content tells the format).
package player

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sndpak/sndpak/player/mixer"
	"github.com/sndpak/sndpak/player/output"
	"github.com/sndpak/sndpak/soundpack/content"
)

// Errors that a caller can branch on. What decoders and devices say comes through wrapped: see
// package decode (ErrFormat, ErrCorrupt, ...) and package output (ErrUnavailable, ErrLost).
var (
	ErrClosed  = errors.New("player: closed")
	ErrLimit   = errors.New("player: over the limit")  // a file too large to be read whole; clips: decode.ErrLimit, content.ErrBudget
	ErrStalled = errors.New("player: no data for 5 s") // the decoder or the storage below it is stuck
)

// Options are the settings of a Player. The zero value is right for a game.
type Options struct {
	// Output names the device for Open, as output.Open takes it; "" is "auto".
	Output string
	// Rate is how many frames a second are mixed; 0 = 48,000.
	Rate int
	// Buffer is how much the device holds: more survives a busy machine, less is heard sooner.
	// 0 = 100 ms.
	Buffer time.Duration
	// Frames is Buffer for those who count in frames; 0 = as Buffer says.
	Frames int
	// Reopen is how long a device that went away is tried again while time goes on; 0 = not at all.
	Reopen time.Duration
	// Warn is told of what was survived (a lost device, auto that fell back to null); nil = nobody.
	Warn func(error)

	// Voices is how many sounds play at once at the most; 0 = 256. One more takes the room of the
	// quietest one of the lowest priority, which fades out; see Bus.SetLimit of the master for
	// another rule. As many again, and 256, may wait or be fading out.
	Voices int
	// Heard is how many of them are mixed at the most; the others keep time unheard, and come back
	// when there is room: by priority, then by loudness. 0 = all.
	Heard int
	// NoLimiter leaves peaks beyond full scale as they are. Without it a soft limiter keeps the true
	// peak of the mix below 0 dBFS; sounds that need none pass bit for bit. It looks ahead, so that
	// commands for "at once" take effect 1.6 ms later; those for a certain frame are exact.
	NoLimiter bool
	// Interpolation is that of sounds whose Params name none; 0 = mixer.Cubic.
	Interpolation mixer.Interpolation
	// ClipTime and ClipBytes (decoded) are what a WAV or FLAC may be to be kept in memory by
	// Auto; 0 = 10 s and 4 MiB.
	ClipTime  time.Duration
	ClipBytes int64
	// MaxClip is how many bytes a clip may decode to where Memory forces it; 0 = 64 MiB.
	MaxClip int64
	// Budget is how many bytes all clips may take; what is loaded or heard stays, what was used
	// longest ago goes first. 0 = 256 MiB, negative = no end. A sound that Auto would keep in memory
	// streams where there is no room for it.
	Budget int64
	// Cache is where clips are kept, for a budget together with a game's other content; nil = one of
	// the player's own, of Budget.
	Cache *content.Cache
	// Ahead is how much of each stream is decoded ahead: it must outlast the longest stall of
	// the storage. 0 = 500 ms; three times Buffer at the least.
	Ahead time.Duration
	// Hold keeps the device from pulling until Player.Start; without it the first Play starts it.
	// It is for sounds that must begin together in an output that is written as fast as it goes.
	Hold bool
	// InStep decodes streams in the goroutine that pulls, just as much as it needs, and starts
	// no goroutine: for rendering offline, where the same calls must give the same bits.
	InStep bool
	// Record is where everything that the mixer is told goes, one line of JSON a command, for Replay;
	// nil = nowhere. Close tells what went wrong with it.
	Record io.Writer

	replaying bool // the mixer has room for what comes at a time then
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Rate = or(c.Rate, 48000)
	c.Voices = or(c.Voices, 256)
	c.ClipTime = or(c.ClipTime, 10*time.Second)
	c.ClipBytes = or(c.ClipBytes, 4<<20)
	c.MaxClip = or(c.MaxClip, 64<<20)
	held := max(c.Buffer, time.Duration(float64(c.Frames)/float64(c.Rate)*float64(time.Second)))
	c.Ahead = max(or(c.Ahead, 500*time.Millisecond), 3*held)
	return c
}

// mixer is the size of the mixer. Games start many sounds between two blocks.
func (o *Options) mixer() mixer.Config {
	slots := 2*o.Voices + 256
	if o.replaying { // Voices are slots already
		slots = 2*o.Voices + 1024
	}
	return mixer.Config{
		Rate: o.Rate, Voices: slots, Queue: max(4096, 4*slots), Heard: o.Heard, Limiter: !o.NoLimiter,
	}
}

func or[T comparable](v, zero T) T {
	var none T
	if v == none {
		return zero
	}
	return v
}

// A Player plays sounds out of one file system. It is a beep.Streamer of endless length.
type Player struct {
	opt Options
	mix *mixer.Mixer
	dev output.Device // nil without one

	master *Bus
	load   loadMeter
	replay *replay // nil unless made by Replay
	logErr error   // of writing the log

	wake     chan struct{} // tells the pump that a block was mixed
	quit     chan struct{} // closed by Close
	running  sync.WaitGroup
	draining atomic.Bool
	drained  atomic.Int64 // 1 more than the frame at which that ended, 0 = it did not
	cache    *content.Cache
	clips    *content.Kind[string, *Clip]
	begin    sync.Once // starts the device
	begun    error

	mu     sync.Mutex // guards what follows
	closed bool
	fsys   fs.FS
	buses  []*Bus                    // without the master
	groups map[string]mixer.Group    // of sounds with a limit, by name
	sounds map[soundKey]*Sound       // loaded, by what they were asked for
	live   map[mixer.Voice]*playback // what the mixer plays
	ended  [64]mixer.Voice           // scratch of reap
	due    []*stream                 // scratch of refill, whose goroutine alone uses it
}

// New returns a Player of the sounds in fsys that has no device: whoever owns it pulls the sound
// with Stream or Mix, at Options.Rate. opt may be nil. Close it.
func New(fsys fs.FS, opt *Options) *Player {
	o := opt.withDefaults()
	p := &Player{
		opt:    o,
		fsys:   fsys,
		mix:    mixer.New(o.mixer()),
		wake:   make(chan struct{}, 1),
		quit:   make(chan struct{}),
		sounds: map[soundKey]*Sound{},
		live:   map[mixer.Voice]*playback{},
		groups: map[string]mixer.Group{},
	}
	p.addClips()
	p.master = &Bus{p: p, name: "master"}
	p.record()
	if !o.replaying {
		p.mix.SetLimit(0, mixer.Limit{Voices: o.Voices, Steal: true})
	}
	if !o.InStep {
		p.running.Go(p.pump)
	}
	return p
}

// Open returns a Player of the sounds in fsys that plays through the device Options.Output. opt
// may be nil. The error is the device's; see package output. Close it.
//
// A "wav" output is written as fast as the sounds decode, so it implies Options.InStep.
func Open(fsys fs.FS, opt *Options) (*Player, error) {
	o := opt.withDefaults()
	o.InStep = o.InStep || strings.HasPrefix(o.Output, "wav")
	dev, err := output.Open(o.Output, output.Config{
		Rate: o.Rate, Buffer: o.Buffer, Frames: o.Frames, Reopen: o.Reopen, Warn: o.Warn,
	})
	if err != nil {
		return nil, fmt.Errorf("player: %w", err)
	}
	o.Rate = dev.Rate()
	p := New(fsys, &o)
	p.dev = dev
	return p, nil
}

// Start has the device begin to pull. Playing the first sound does that too, unless Options.Hold.
// Starting again does nothing. Without a device there is nothing to start.
func (p *Player) Start() error {
	if p.dev == nil {
		return nil
	}
	p.begin.Do(func() { p.begun = p.dev.Start(p.fill) })
	return p.begun
}

// Rate is how many frames a second the player mixes.
func (p *Player) Rate() int { return p.mix.Rate() }

// Output is the name of the device that plays, or "" without one.
func (p *Player) Output() string {
	if p.dev == nil {
		return ""
	}
	return p.dev.Name()
}

// SetGain sets the gain of everything, in dB, within 5 ms.
func (p *Player) SetGain(dB float64) error { return p.mix.SetMaster(dB) }

// inStepFrames is how much a player in step mixes between two looks at its streams, which hold at
// least twice that.
const inStepFrames = 512

// Mix overwrites block with the next frames, interleaved stereo, and moves time on by as many. It
// is for players without a device, and belongs to one goroutine.
func (p *Player) Mix(block []float32) {
	began := time.Now()
	p.mixBlock(block)
	p.load.note(time.Since(began), len(block)/2, p.Rate())
}

func (p *Player) mixBlock(block []float32) {
	if !p.opt.InStep {
		p.mix.Mix(block)
		select { // the pump refills streams and gives end notices; it is never waited for
		case p.wake <- struct{}{}:
		default:
		}
		return
	}
	for len(block) > 0 {
		part := block[:min(len(block), 2*inStepFrames)]
		p.refill()
		p.replay.advance(len(part) / 2)
		p.mix.Mix(part)
		p.reap()
		p.writeLog()
		block = block[len(part):]
	}
}

// Err is what ended the device for good, nil while it plays and without one; for a player that replays,
// what went wrong with that, to be asked by whoever pulls it.
func (p *Player) Err() error {
	switch {
	case p.replay != nil:
		return p.replay.err
	case p.dev == nil:
		return nil
	}
	return p.dev.Err()
}

// Done closes when the device plays no more: after Drain, after Close, or when it was lost (then
// Err says so). Without a device it closes with Close.
func (p *Player) Done() <-chan struct{} {
	if p.dev == nil {
		return p.quit
	}
	return p.dev.Done()
}

// Drain lets the device end with the last voice that plays now: nothing started afterwards is
// heard, nor what an effect rings on with. Done closes when all of it has been heard. A device that is
// a file, a Stream and the readers end at the last voice's last frame.
func (p *Player) Drain() { p.draining.Store(true) }

// fill is the device's source.
func (p *Player) fill(buf []float32) int {
	start := p.mix.Time()
	draining := p.draining.Load() // before Mix: what was started before Drain is in this block
	p.Mix(buf)
	if !draining && p.replay == nil {
		return len(buf) / 2
	}
	idle := p.idle()
	last, _ := p.mix.Idle()
	if !draining || !idle {
		return p.replay.left(len(buf)/2, start, last, idle)
	}
	n := min(max(last-start, 0), int64(len(buf)/2))
	p.drained.CompareAndSwap(0, start+n+1)
	return int(n)
}

// idle reports that no voice plays or waits.
func (p *Player) idle() bool {
	s := p.mix.Stats()
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.Voices == 0 && len(p.live) == 0
}

// Delay is how long a frame that is mixed now takes to be heard.
func (p *Player) Delay() time.Duration {
	if p.dev == nil {
		return 0
	}
	return p.dev.Delay()
}

// Close stops everything at once, closes the device and every sound, and ends every Voice. It
// returns when no goroutine of the player is left; ErrStalled says that one hangs in its storage.
func (p *Player) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	p.mu.Unlock()
	var err error
	if p.dev != nil {
		err = p.dev.Close()
	}
	close(p.quit)
	p.abandon()
	logErr, ok := p.join()
	if !ok {
		logErr = fmt.Errorf("player: close: %w", ErrStalled)
	}
	return errors.Join(err, logErr)
}

// join waits for the player's goroutines. One that hangs in its storage or in a decoder without end
// is left behind after a while rather than waited for: it touches nothing any more.
func (p *Player) join() (logErr error, ok bool) {
	all := make(chan struct{})
	go func() {
		p.running.Wait()
		p.dropClips()
		logErr = p.endLog()
		close(all)
	}()
	select {
	case <-all:
		return logErr, true
	case <-time.After(stallAfter):
		return nil, false
	}
}

// aheadFrames is what a stream's ring holds.
func (p *Player) aheadFrames() int {
	return max(int(p.opt.Ahead.Seconds()*float64(p.Rate())), 1024)
}

// abandon ends what the mixer will not play any more.
func (p *Player) abandon() {
	p.mu.Lock()
	live, sounds := p.live, p.sounds
	p.live, p.sounds = nil, nil
	p.mu.Unlock()
	p.replay.close()
	for _, b := range live {
		b.finish(ErrClosed)
	}
	for _, s := range sounds {
		select {
		case <-s.ready:
			s.drop()
		default: // whoever loads it drops it
		}
	}
}
