package mixer

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"
)

// A Voice is the handle of one playing of a sound. The zero Voice is none. Once its voice has ended
// a handle is inert for ever: commands to it do nothing.
//
// It holds the voice's number, counted from 1 in the order of starts, whether it plays a feed, and
// its slot. So whoever has a handle can tell by the number of the voice started last whether this
// one is still to come, without a look at shared state.
type Voice uint64

const (
	slotBits  = 16
	feedBit   = 1 << slotBits
	maxVoices = 1 << slotBits
)

func (v Voice) slot() int      { return int(v & (maxVoices - 1)) }
func (v Voice) feed() bool     { return v&feedBit != 0 }
func (v Voice) number() uint64 { return uint64(v >> (slotBits + 1)) }

// Loop is a region of a PCM that is played more than once: frames [Start, End).
type Loop struct {
	Start, End int64 // End 0 = the end of the PCM; so is one beyond it
	Count      int   // how often the region plays in all; 0 = for ever
}

func (l *Loop) check() error {
	if l.Start < 0 || l.End < 0 || l.End != 0 && l.End <= l.Start || l.Count < 0 {
		return fmt.Errorf("%w: loop of frames %d to %d, %d times", ErrValue, l.Start, l.End, l.Count)
	}
	return nil
}

// Params say how a voice plays. The zero value plays the sound as it is, once, at once. Frames are
// the mixer's.
type Params struct {
	Gain   float64 // dB, at most 60; math.Inf(-1) is silent
	Pan    float64 // -1 left to 1 right, constant in power; a stereo sound is balanced by the same law
	Loop   *Loop   // of a PCM; nil = none
	Start  int64   // frame of the PCM that is heard first
	At     int64   // mixer frame at which the voice starts; one that has passed means at once
	Length int64   // frames to play in all, the last 5 ms fading out; 0 = to the end of the sound
	FadeIn int     // frames; 0 = 5 ms where Start > 0, else none
	Curve  Curve   // of the fade-in
	Faded  float64 // dB, what the fade stands at, or a fade-in leads to; see Commands.Fade
	Pitch  float64 // how fast the sound goes by, 1/64 to 64; 2 = an octave up, 0 = 1
	Paused bool    // stand at the first frame until Resume

	Interpolation Interpolation // Cubic or Sinc, where the pitch is not 1

	// After has the voice start with the frame behind the last one of that voice, however it ends.
	// Several may be queued up so: each goes behind the last one of the queue that After is in, and
	// takes over the place of the one before it, so that it does not heed At, and neither takes
	// room from other voices nor is refused. If the voice named has ended already it is as if none
	// were named.
	After Voice
	// Heir puts the voice directly behind After instead, ahead of those that are queued there.
	Heir bool

	Bus       Bus      // where it plays; 0 = the master
	Groups    [2]Group // that limit the voice, beside that of all voices
	Priority  int8     // a voice never takes room from one of higher priority
	Protected bool     // nor from this one
}

// check reports ErrValue for what cannot be played.
func (p *Params) check() error {
	if p.Start < 0 || p.Length < 0 || p.FadeIn < 0 {
		return fmt.Errorf("%w: start %d, length %d, fade-in %d", ErrValue, p.Start, p.Length, p.FadeIn)
	}
	if max(p.Groups[0], p.Groups[1]) >= maxGroups {
		return fmt.Errorf("%w: groups %d", ErrValue, p.Groups)
	}
	if p.Curve > Decibels || p.Interpolation > Sinc {
		return fmt.Errorf("%w: curve %d, interpolation %d", ErrValue, p.Curve, p.Interpolation)
	}
	if p.Loop != nil {
		return p.Loop.check()
	}
	return nil
}

// An op is what a command does.
type op uint8

const (
	opStart op = iota // what the slot's setup says, to begin at n[0]
	opBegin           // of a voice that waited for its frame
	opGain
	opPan
	opPause
	opResume
	opStop
	opFade
	opPitch
	opSeek
	opLoop
	opUnloop
	opLimit

	opBus // from here on of a bus
	opBusGain
	opBusFade
	opMute
	opSolo
	opPauseBus
	opStopBus
	opDuck
	opEffect
	opMeter
)

// A command goes from Commands to Mix. It fills a cache line.
type command struct {
	at    int64 // mixer frame; one that has passed means at once
	order int64 // among commands of the same frame
	voice Voice
	gain  frame    // a level on both sides, or a pan's two
	n     [3]int64 // a frame of the sound, a number of frames, or a loop
	op    op
}

// A setup is what a voice starts with: checked Params in the mixer's terms.
type setup struct {
	pcm           *PCM
	feed          Feed
	level         float32
	law           frame
	loops, paused bool
	loop          Loop // if loops
	start, length int64
	fadeIn        int
	curve         Curve
	faded         float32
	step          int64
	interpolation Interpolation
	after         Voice
	heir          bool
	bus           Bus
	rank

	fine   []fineFilter // what goes with the interpolation
	window *fineWindow
}

// A desk is the senders' side of the mixer. Setups lie beside the queue, in the slot that the
// command names: until Mix has taken that command the slot belongs to the sender.
type desk struct {
	cmds   *ring[command]
	free   *ring[int32] // slots; Mix puts in
	setups []setup
	frames []*fineWindow // by slot; nil until one is needed there
	most   uint64        // commands under way at a time
	done   atomic.Uint64 // commands carried out

	dropped atomic.Int64 // commands that found the queue full

	parcels [maxParcels]atomic.Pointer[parcel]
	notes   atomic.Pointer[ring[note]] // nil = nothing is recorded
	unnoted atomic.Int64               // commands that found no room there

	mu     sync.Mutex // guards the senders' ends of cmds and free, and what follows
	sent   uint64
	last   uint64 // number of the last voice
	groups Group  // the last one made
	buses  Bus    // the last one made
}

// maxParcels is how many of them may be under way.
const maxParcels = 64

func (d *desk) init(voices, queue int) {
	d.cmds, d.most = newRing[command](queue), uint64(queue)
	d.setups = make([]setup, voices)
	d.frames = make([]*fineWindow, voices)
	d.free = newRing[int32](voices)
	for slot := range voices {
		d.free.push(int32(slot))
	}
}

// send queues a command. Nothing here can panic, and a deferred unlock would cost a fifth of it.
func (d *desk) send(c *command) error {
	d.mu.Lock()
	full := d.full()
	if !full {
		d.put(c)
	}
	d.mu.Unlock()
	if full {
		return ErrFull
	}
	return nil
}

// full reports, of a command that is to be put, whether as many are under way as may be; mu is held.
func (d *desk) full() bool {
	if d.sent-d.done.Load() < d.most {
		return false
	}
	d.dropped.Add(1)
	return true
}

// put queues a command where there is room; mu is held.
func (d *desk) put(c *command) {
	d.sent++
	p := d.cmds.room()
	*p = *c
	if c.order == 0 {
		p.order = int64(d.sent)
	}
	d.cmds.put()
}

// start takes a slot and queues c, which starts a voice in it.
func (d *desk) start(s *setup, c *command) (Voice, error) {
	if s.interpolation == Sinc {
		s.fine = fineBank()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.bus > d.buses {
		return 0, fmt.Errorf("%w: no bus %d", ErrValue, s.bus)
	}
	if d.full() {
		return 0, ErrFull
	}
	slot, ok := d.free.pop()
	if !ok {
		return 0, ErrVoices
	}
	d.last++
	id := Voice(d.last<<(slotBits+1)) | Voice(slot)
	if s.feed != nil {
		id |= feedBit
		s.window = d.window(s, slot)
	}
	d.setups[slot] = *s
	c.voice = id
	d.put(c)
	return id, nil
}

// window is a slot's window of a feed, where it needs one; mu is held.
func (d *desk) window(s *setup, slot int32) *fineWindow {
	switch w := d.frames[slot]; {
	case s.fine == nil:
		return nil
	case w == nil:
		d.frames[slot] = new(fineWindow)
	default:
		*w = fineWindow{}
	}
	return d.frames[slot]
}

// PlayPCM starts a voice on p. A start behind the last frame is a voice that ends at once. The error
// is ErrValue, ErrFull or ErrVoices.
func (m *Mixer) PlayPCM(p *PCM, v Params) (Voice, error) {
	if err := p.Check(); err != nil {
		return 0, err
	}
	return m.start(&setup{pcm: p}, &v)
}

// PlayFeed starts a voice on f, which belongs to the mixer until the voice has ended. Loop and Start
// are not for feeds. The error is ErrValue, ErrFull or ErrVoices.
func (m *Mixer) PlayFeed(f Feed, v Params) (Voice, error) {
	if f == nil || f.Channels() < 1 || f.Channels() > 2 || v.Loop != nil || v.Start != 0 {
		return 0, fmt.Errorf("%w: a feed has one or two channels, and neither loop nor start", ErrValue)
	}
	return m.start(&setup{feed: f}, &v)
}

func (m *Mixer) start(s *setup, p *Params) (id Voice, err error) {
	if err = p.check(); err != nil {
		return 0, err
	}
	if s.level, err = amplitude(p.Gain); err != nil {
		return 0, err
	}
	if s.faded, err = amplitude(p.Faded); err != nil {
		return 0, err
	}
	if s.law, err = panLaw(p.Pan); err != nil {
		return 0, err
	}
	if s.step, err = stepOf(cmp.Or(p.Pitch, 1)); err != nil {
		return 0, err
	}
	if s.loops = p.Loop != nil; s.loops {
		s.loop = *p.Loop
	}
	s.start, s.length, s.fadeIn, s.curve = p.Start, p.Length, p.FadeIn, p.Curve
	s.paused, s.after, s.heir, s.interpolation = p.Paused, p.After, p.Heir, p.Interpolation
	s.bus, s.rank = p.Bus, rank{p.Groups, p.Priority, p.Protected}
	if s.fadeIn == 0 && s.start > 0 {
		s.fadeIn = len(m.curve)
	}
	return m.desk.start(s, &command{op: opStart, n: [3]int64{p.At}})
}

// Commands steer voices, all at the same time: those of a Mixer with its next block, those of
// [Mixer.At] at a frame. Commands of the same frame are carried out in the order in which they were
// given. Each method returns ErrFull where too many are under way, and ErrValue for a value that
// nothing can be done with; a voice that has ended is no error.
type Commands struct {
	m     *Mixer
	at    int64
	order int64 // of a command in a log; 0 = the next
}

// At returns the commands that take effect exactly at the given frame of the mixer's time, or at
// once where it has passed.
func (m *Mixer) At(frame int64) Commands { return Commands{m: m, at: frame} }

func (c Commands) send(x *command) error {
	x.at, x.order = c.at, c.order
	return c.m.desk.send(x)
}

// SetGain moves the voice's gain to dB within 5 ms.
func (c Commands) SetGain(v Voice, dB float64) error {
	g, err := amplitude(dB)
	if err != nil {
		return err
	}
	return c.send(&command{op: opGain, voice: v, gain: frame{g, g}})
}

// SetPan moves the voice to pan, -1 to 1, within 5 ms.
func (c Commands) SetPan(v Voice, pan float64) error {
	law, err := panLaw(pan)
	if err != nil {
		return err
	}
	return c.send(&command{op: opPan, voice: v, gain: law})
}

// Pause fades the voice out within 5 ms, of which the sound's frames count as played, and holds it
// there. Its fades stand still meanwhile.
func (c Commands) Pause(v Voice) error { return c.send(&command{op: opPause, voice: v}) }

// Resume goes on where Pause stopped, fading in within 5 ms.
func (c Commands) Resume(v Voice) error { return c.send(&command{op: opResume, voice: v}) }

// Stop fades the voice out within so many frames, 0 = 5 ms, and ends it. A voice that is not to be
// heard, because it waits or is paused, ends at once.
func (c Commands) Stop(v Voice, fade int) error {
	if fade < 0 {
		return fmt.Errorf("%w: fade of %d frames", ErrValue, fade)
	}
	return c.send(&command{op: opStop, voice: v, n: [3]int64{int64(fade)}})
}

// A Fade is a move of a gain of its own, on top of what SetGain sets.
type Fade struct {
	Gain   float64 // dB, where it leads to: 0 = as loud as without it, math.Inf(-1) = silence
	Frames int     // 0 = 5 ms, along Smooth
	Curve  Curve
	Stop   bool // lead to silence and end the voice there
}

// Fade moves the voice's fade to where f leads. It begins where the last one stands, that of a
// fade-in or a stop too: there is one at a time.
func (c Commands) Fade(v Voice, f Fade) error {
	x, err := f.command()
	if err != nil {
		return err
	}
	x.voice, x.op = v, opFade
	if f.Stop {
		x.op = opStop
	}
	return c.send(&x)
}

// command is the fade as a command that needs its op.
func (f *Fade) command() (x command, err error) {
	g, err := amplitude(f.Gain)
	if err == nil && (f.Frames < 0 || f.Curve > Decibels) {
		err = fmt.Errorf("%w: fade of %d frames along curve %d", ErrValue, f.Frames, f.Curve)
	}
	return command{gain: frame{g, g}, n: [3]int64{int64(f.Frames), int64(f.Curve)}}, err
}

// SetPitch moves the speed at which the sound goes by to so many times its own, 1/64 to 64, within
// 5 ms.
func (c Commands) SetPitch(v Voice, pitch float64) error {
	step, err := stepOf(pitch)
	if err != nil {
		return err
	}
	return c.send(&command{op: opPitch, voice: v, n: [3]int64{step}})
}

// Seek goes to a frame of the PCM, which counts as reached at once: within 5 ms the sound fades out
// at the old place and in at the new one, each frame from there in its time. A frame behind the last
// one ends the voice, one below 0 is 0. It returns ErrValue for the voice of a feed.
func (c Commands) Seek(v Voice, frame int64) error {
	if v.feed() {
		return fmt.Errorf("%w: seek in a feed", ErrValue)
	}
	return c.send(&command{op: opSeek, voice: v, n: [3]int64{max(frame, 0)}})
}

// SetLoop has the voice keep to another region, counted anew, or with nil leave the one it keeps to
// and play on to the end. A voice that is behind the region's end plays on and never comes back. It
// returns ErrValue for the voice of a feed.
func (c Commands) SetLoop(v Voice, l *Loop) error {
	if v.feed() {
		return fmt.Errorf("%w: loop in a feed", ErrValue)
	}
	if l == nil {
		return c.send(&command{op: opUnloop, voice: v})
	}
	if err := l.check(); err != nil {
		return err
	}
	return c.send(&command{op: opLoop, voice: v, n: [3]int64{l.Start, l.End, int64(l.Count)}})
}

// SetMaster moves the gain of the whole mix to dB within 5 ms: that of the zero Bus.
func (c Commands) SetMaster(dB float64) error { return c.SetBusGain(0, dB) }
