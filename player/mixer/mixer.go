// Package mixer adds voices up.
//
// CONTRACT SKETCH, to be filled in: names and signatures below are fixed, bodies are not there yet.
package mixer

/*
type Config struct {
	Rate   int // frames a second; 0 = 48000
	Voices int // most voices at a time; 0 = 256
	Queue  int // commands that may wait for the next block; 0 = 1024
}

func New(c Config) *Mixer
func (m *Mixer) Rate() int
func (m *Mixer) Mix(block []float32)                      // interleaved stereo, overwritten; time goes on by len(block)/2 frames
func (m *Mixer) Stream(samples [][2]float64) (int, bool)  // beep.Streamer over Mix; never drained
func (m *Mixer) Err() error
func (m *Mixer) Time() int64                              // frames mixed since the start; any goroutine

// PCM is a sound in memory at the mixer's rate: interleaved frames of one or two channels, in
// exactly one of two widths. It must not change once given.
type PCM struct {
	Channels int
	S16      []int16
	F32      []float32
}
func (p *PCM) Frames() int64

// Feed is the mixer's end of a stream at the mixer's rate. Read copies at most len(dst)/Channels()
// interleaved frames and never blocks, locks or allocates. Fewer frames than asked for with end
// false is an underrun (silence is mixed, the voice lives); with end true the voice is over.
type Feed interface {
	Channels() int // 1 or 2, fixed
	Read(dst []float32) (frames int, end bool)
}

type Voice uint64 // handle; the zero Voice is none; a handle of an ended voice is inert

type Loop struct { Start, End int64; Count int } // frames of the PCM; End 0 = its end; Count: how often the region plays in all, 0 = for ever

type Params struct {
	Gain   float64 // dB, 0 = as it is; math.Inf(-1) silent
	Pan    float64 // -1 left .. 1 right, equal power, 0 centre
	Loop   *Loop   // PCM voices only
	Start  int64   // frame of the PCM that is heard first
	At     int64   // mixer frame at which it starts; one that has passed means at once
	Length int64   // frames to play in all, 0 = to the end   (for play --duration)
	FadeIn int     // frames; 0 = the default ramp where Start > 0, else none (a sound that starts at its own first frame is not ramped)
	Paused bool
}

func (m *Mixer) PlayPCM(p *PCM, v Params) (Voice, error)  // ErrFull (queue), ErrVoices (none free)
func (m *Mixer) PlayFeed(f Feed, v Params) (Voice, error)
func (m *Mixer) SetGain(v Voice, dB float64) error        // all of these: ramped over 5 ms (Rate/200 frames), at the next block; ErrFull
func (m *Mixer) SetPan(v Voice, pan float64) error
func (m *Mixer) Pause(v Voice) error
func (m *Mixer) Resume(v Voice) error
func (m *Mixer) Stop(v Voice, fade int) error             // fade in frames, 0 = the default 5 ms
func (m *Mixer) Seek(v Voice, frame int64) error          // PCM voices; cross-faded
func (m *Mixer) SetLoop(v Voice, l *Loop) error           // nil: leave the loop and play on to the end
func (m *Mixer) SetMaster(dB float64) error

type State struct { Playing, Paused, Ended bool; Position int64 (frame of the PCM; for a feed: frames taken from it); Loops int64; Underruns int64; Active... }
func (m *Mixer) State(v Voice) State                      // from the published snapshot; any goroutine; no lock against Mix
func (m *Mixer) Ended(buf []Voice) int                    // end notices, taken off the mixing path; one reader
func (m *Mixer) Stats() Stats                             // voices active, peak, underruns, dropped commands
*/
