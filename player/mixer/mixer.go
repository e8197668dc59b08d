// Package mixer adds voices up: sounds in memory and streams, each with a gain, a pitch and a place
// between left and right, into interleaved stereo float32.
//
// [New] makes a Mixer. Whoever owns the time calls [Mixer.Mix] for one block after the other, a
// device, a file or a test; time is nothing but the frames given so far. Mix is a plain function of
// what it was told: it has no clock, lock, goroutine or allocation, and the same commands at the
// same frames give the same bits, whatever the sizes of the blocks.
//
// Everything else may be called from any goroutine. [Mixer.PlayPCM] and [Mixer.PlayFeed] start a
// voice and return its handle at once; the methods of [Commands] steer it, with the next block or,
// through [Mixer.At], at a certain frame. Commands wait in a bounded queue for the next block, and
// fail with [ErrFull] rather than wait or be lost. What became of a voice is read from the snapshot
// that every block publishes ([Mixer.State], [Mixer.Stats]) and from end notices ([Mixer.Ended]).
//
// Voices play in a tree of buses ([Mixer.NewBus]) with gains, mute, solo, pause, effects, ducking
// and meters. A [Group] with a [Limit] keeps voices from piling up. [Mixer.Record] and
// [Mixer.WriteLog] write down what was commanded, and [Mixer.Replay] plays it back.
//
// No transition takes a step: starts within a sound, pauses, stops, seeks and changes of gain and
// pan are spread over 5 ms along a raised cosine. The first frame of a sound is not, for attacks
// stay sharp, nor is its last. A lone voice at 0 dB in the centre comes out as it is stored, bit for
// bit. What lies beyond ±1 is passed on, unless Config.Limiter keeps it below.
//
// A sound at another rate is brought to the mixer's by [Resample] or a [Resampler] first.
package mixer

import (
	"errors"
	"math"
	"sync/atomic"

	"github.com/sndpak/sndpak/player/tick"
)

// Errors that a caller can branch on.
var (
	ErrFull   = errors.New("mixer: too many commands wait for the next block")
	ErrVoices = errors.New("mixer: no voice is free")
	ErrValue  = errors.New("mixer: value out of range")
)

// Config is the size of a mixer. The zero value is right.
type Config struct {
	Rate   int // frames a second; 0 = 48000
	Voices int // most voices at a time, waiting and paused ones included; 0 = 256, at most 65536
	Queue  int // commands that may wait for the next block or for their frame; 0 = 1024
	Heard  int // most voices that are mixed at a time; the others play on unheard. 0 = all

	// Limiter keeps the true peak of the mix below full scale: where a sample would lie beyond ±1,
	// the gain goes down ahead of it, and the peaks stay below -1.5 dB until none has for a second.
	// Commands that are to take effect at once do so 1.5 ms later then, for the mixer has to look
	// ahead; what is planned for a frame comes at that frame.
	Limiter bool
}

// maxChunk is how many frames are mixed at a time: the accumulator and what a stream gives stay in
// the fastest cache.
const maxChunk = 256

// A Mixer mixes voices. Mix and Stream belong to one goroutine at a time; all other methods may be
// called from any.
type Mixer struct {
	Commands // those that take effect at once

	rate  int
	curve []float32 // of the default ramp, 5 ms
	dip   []float32 // of a seek
	half  int       // the frame of the dip, counted from 1, at which the place changes; 0 = no dip

	desk    desk    // where commands come from
	board   board   // where the state goes to
	voices  []voice // by slot
	list    []int32 // slots in use, in the order in which they are summed
	now     int64   // frames mixed
	given   int64   // frames given out: behind now by what the limiter looks ahead
	limiter *limiter
	started uint64 // number of the voice that was started last
	plan    plan   // commands whose frame is still to come
	carried uint64 // commands carried out
	notes   *ring[note]
	last    int64 // frame behind the last one of a voice that is over
	groups  []group
	most    int      // voices that are mixed at a time
	ranking []uint64 // scratch of rank
	chores  *tick.Scheduler
	buses   []bus // the first one is the master; one lies behind those that it is below
	made    int   // so many of them are in use
	stats   Stats
	time    atomic.Int64 // now, for everybody

	gains [maxChunk]frame
	input [2 * maxChunk]float32
	bent  [2 * maxChunk]float32
	whole [4*maxChunk + 16]float32 // of a sound that is bent, at up to twice its speed
	block [2 * maxChunk]float32    // of Stream
}

// New returns a Mixer at frame 0 without voices. Values of c that are out of range are taken to the
// nearest that is in it.
func New(c Config) *Mixer {
	rate := orDefault(c.Rate, 48000, 1<<20)
	voices := orDefault(c.Voices, 256, maxVoices)
	queue := orDefault(c.Queue, 1024, 1<<20)
	m := &Mixer{
		rate:   rate,
		curve:  raisedCosine(max(rate/200, 1)),
		voices: make([]voice, voices),
		list:   make([]int32, 0, voices),
		plan:   make(plan, 0, queue),
		buses:  make([]bus, maxBuses),
		made:   1,
		groups: make([]group, maxGroups),
		most:   orDefault(c.Heard, voices, voices),
	}
	m.buses[0].init(nil)
	if c.Limiter {
		m.limiter = newLimiter(rate)
	}
	m.ranking = make([]uint64, 0, voices)
	m.chores = m.newChores()
	m.Commands = Commands{m: m}
	m.dip, m.half = dipTable(rate, len(m.curve))
	m.desk.init(voices, queue)
	m.board.init(voices, queue)
	m.publish()
	return m
}

// orDefault is n, or def where n is 0, within 1 and most.
func orDefault(n, def, most int) int {
	if n == 0 {
		n = def
	}
	return min(max(n, 1), most)
}

// Rate is how many frames a second the mixer makes.
func (m *Mixer) Rate() int { return m.rate }

// Time is how many frames Mix has given since the start.
func (m *Mixer) Time() int64 { return m.time.Load() }

// Ahead is how many frames the limiter has the mixer be ahead of what it gives: State tells of that
// frame. 0 without one.
func (m *Mixer) Ahead() int { return m.limiter.look() }

// Mix fills block with the next len(block)/2 interleaved stereo frames, and time goes on by as
// many. Commands given before the call take effect at its first frame, those with a frame of their
// own at that.
func (m *Mixer) Mix(block []float32) {
	m.notes = m.desk.notes.Load()
	m.receive()
	for out := block; len(out) >= 2; {
		m.carryOut(math.MaxInt64)
		ahead := int64(m.limiter.look()) - (m.now - m.given) // frames to mix before any is given
		n := m.cutBuses(m.veil(m.plan.cut(m.now, min(len(out)/2+int(ahead), maxChunk))))
		frames := m.mixChunk(n)
		m.now += int64(n)
		if m.limiter != nil {
			m.limiter.run(frames)
			frames = frames[min(int(ahead), n):]
		}
		for i, f := range frames {
			o := (*[2]float32)(out[2*i:])
			o[0], o[1] = f[0], f[1]
		}
		out = out[2*len(frames):]
		m.given += int64(len(frames))
	}
	clear(block[len(block)&^1:])
	m.publish()
}

// mixChunk mixes n frames in which no command falls due.
func (m *Mixer) mixChunk(n int) []frame {
	for i := range m.made {
		m.buses[i].used = false
	}
	over := false
	for i := range m.list {
		over = m.playQueue(i, n) || over
	}
	if over {
		m.sweep()
	}
	return m.finish(n)
}

// sweep takes voices that are over off the list, gives notice of their end and frees their slots.
// The order of the others stays, for the order of a sum of floats is part of its value.
func (m *Mixer) sweep() {
	kept := m.list[:0]
	for _, slot := range m.list {
		v := &m.voices[slot]
		if !v.over {
			kept = append(kept, slot)
			continue
		}
		m.stats.Underruns += v.flow.underruns
		if !m.board.ended.push(v.id) {
			m.stats.LostEnds++
		}
		*v = voice{}
		m.desk.free.push(slot)
	}
	m.list = kept
}

// Stream fills samples with the next frames, as beep.Streamer asks for; it is never drained.
func (m *Mixer) Stream(samples [][2]float64) (n int, ok bool) {
	for len(samples) > 0 {
		k := min(len(samples), maxChunk)
		block := m.block[:2*k]
		m.Mix(block)
		for i := range samples[:k] {
			samples[i] = [2]float64{float64(block[2*i]), float64(block[2*i+1])}
		}
		n += k
		samples = samples[k:]
	}
	return n, true
}

// Err is nil: mixing cannot fail. It makes the Mixer a beep.Streamer.
func (m *Mixer) Err() error { return nil }
