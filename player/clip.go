package player

import (
	"fmt"
	"sync/atomic"

	"github.com/gopxl/beep/v2"
	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/player/mixer"
)

// A Clip is a sound decoded whole, at the player's rate and in its own width: int16 where the file
// has that and needed no change of rate, float32 else. Mono stays mono; more than two channels are
// folded to stereo. It never changes once made, and any number of voices read it at once.
type Clip struct {
	rate int
	info decode.Info // of the sound that it was
	pcm  mixer.PCM
	lent atomic.Bool // somebody beside the player has it, for as long as he likes
}

// newClip decodes all of dec into memory at the given rate.
func newClip(dec *decode.Stream, rate int, limit int64) (*Clip, error) {
	raw, err := dec.ReadAll(limit)
	if err != nil {
		return nil, err
	}
	c := &Clip{rate: rate, pcm: mixer.PCM{Channels: raw.Channels, S16: raw.S16, F32: raw.F32}}
	if from := dec.Info().Rate; from != rate {
		c.pcm.F32, err = mixer.Resample(&c.pcm, from, rate)
		c.pcm.S16 = nil
		raw.Free()
	}
	return c, err
}

// free gives the memory of a clip that nothing plays any more to the next that is loaded.
func (c *Clip) free() {
	if !c.lent.Load() {
		raw := decode.PCM{S16: c.pcm.S16, F32: c.pcm.F32}
		raw.Free()
	}
}

// Format is the clip's rate and channels in beep's terms.
func (c *Clip) Format() beep.Format {
	f := beep.Format{SampleRate: beep.SampleRate(c.rate), NumChannels: c.pcm.Channels, Precision: 2}
	if c.pcm.S16 == nil {
		f.Precision = 4
	}
	return f
}

// Len is the clip's length in frames at its rate.
func (c *Clip) Len() int { return int(c.pcm.Frames()) }

// Bytes is the memory that the samples take.
func (c *Clip) Bytes() int64 { return int64(2*len(c.pcm.S16) + 4*len(c.pcm.F32)) }

// Streamer returns a streamer over the clip for use with beep, independent of any other.
func (c *Clip) Streamer() beep.StreamSeeker { return &clipStreamer{clip: c} }

type clipStreamer struct {
	clip *Clip
	at   int
}

func (s *clipStreamer) Stream(samples [][2]float64) (int, bool) {
	n := min(len(samples), s.clip.Len()-s.at)
	if n == 0 {
		return 0, len(samples) == 0 && s.at < s.clip.Len()
	}
	for i := range n {
		samples[i] = s.clip.frame(s.at + i)
	}
	s.at += n
	return n, true
}

func (c *Clip) frame(i int) [2]float64 {
	l := i * c.pcm.Channels
	r := l + c.pcm.Channels - 1
	if c.pcm.S16 != nil {
		return [2]float64{float64(c.pcm.S16[l]) / 32768, float64(c.pcm.S16[r]) / 32768}
	}
	return [2]float64{float64(c.pcm.F32[l]), float64(c.pcm.F32[r])}
}

func (s *clipStreamer) Err() error    { return nil }
func (s *clipStreamer) Len() int      { return s.clip.Len() }
func (s *clipStreamer) Position() int { return s.at }

func (s *clipStreamer) Seek(p int) error {
	if p < 0 || p > s.Len() {
		return fmt.Errorf("player: seek to frame %d of a clip of %d", p, s.Len())
	}
	s.at = p
	return nil
}
