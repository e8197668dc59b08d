package console

import (
	"context"
	"time"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/waveform"
)

// A Snapshot is what the screen shows of a player at one moment: plain values, so that the screen can
// be drawn and tested without any.
type Snapshot struct {
	Output string // name of the device
	Rate   int    // frames a second of the mix
	Paused bool   // all of it

	Playing []Voice // in the order of their starts
	Buses   []Bus   // the master first

	Voices    int     // that the mixer has, waiting ones included
	Peak      int     // most of them at a time
	Underruns int64   // of streams and of the device
	CPU       float64 // share of one core that this process takes; below 0 = not known
}

// A Voice is one playing of a sound.
type Voice struct {
	ID       uint64
	Name     string
	At       time.Duration // of the sound
	Length   time.Duration
	Looped   bool
	LoopFrom time.Duration // the loop, where Looped
	LoopTo   time.Duration
	Paused   bool
}

// A Bus is one line of the mixer's desk.
type Bus struct {
	Name string
	Gain float64    // dB
	Mute bool       //
	Solo bool       //
	RMS  [2]float64 // level of either side; 1 is full scale
	Hold [2]float64 // highest sample of late, of either side
}

// Details are what is known of a sound without decoding it. Zero values mean not known.
type Details struct {
	Length time.Duration
	What   string // "OGG Vorbis, 96 kbit/s, 44.1 kHz stereo"
	Size   int64  // bytes
	Loop   [2]time.Duration
}

// A Wave is a sound's waveform, one column for each cell or part of one.
type Wave struct {
	Lanes [][]waveform.Column // by channel, as many in each
	Details
}

// A Library is what there is to play.
type Library struct {
	Title   string   // "music.data"
	Names   []string // all sounds, in their order
	Details func(name string) Details
	// Wave looks through a sound; it may take long, and ends early with ctx.
	Wave func(ctx context.Context, name string, columns int) (*Wave, error)
}

// News is what happens beside the keyboard: a fault that was survived, or a library that changed.
type News struct {
	Err     error
	Library *Library
}

// An Engine plays. Its methods may be called from any goroutine.
type Engine interface {
	// Play starts a sound at a time of it, looped between its loop points or not.
	Play(name string, from time.Duration, looped bool) error
	// Load makes sounds ready, so that their first start is as prompt as the others.
	Load(names []string)
	// Folders tells which sounds there are, so that those of a folder can have a bus.
	Folders(names []string)
	StopSound(name string) (any bool)
	StopAll()
	PauseAll(on bool) error

	Stop(voice uint64)
	Pause(voice uint64, on bool) error
	Seek(voice uint64, to time.Duration) error

	SetBusGain(bus int, dB float64) error
	Mute(bus int, on bool) error
	Solo(bus int, on bool) error

	// Snapshot overwrites s, keeping its memory.
	Snapshot(s *Snapshot)
	// Errors gives what went wrong since the last call, with voices that play.
	Errors() []error
}
