package player

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/sndpak/sndpak/player/mixer"
	"github.com/sndpak/sndpak/soundpack/content"
)

// Stats tell what a player has done so far. They can be published as they are:
//
//	expvar.Publish("player", expvar.Func(func() any { return p.Stats() }))
type Stats struct {
	mixer.Stats // voices, steals, refusals, streams that ran dry (Underruns)

	Blocks int64 // mixed
	// Load is how long mixing a block took, as part of the time that the block lasts: of half of all
	// blocks it was at most LoadP50, of 99 in 100 at most LoadP99, each told an eighth too high at most.
	LoadP50, LoadP99, LoadMax float64
	// Late counts blocks that took longer than they last.
	Late int64
	// Clips tell of the memory that clips take, together with whatever else is in the cache.
	Clips content.Stats
	// Gaps counts how often the device had nothing to play because a block came too late; -1 where
	// the device cannot tell, or there is none.
	Gaps int64
}

// Stats may be asked at any time.
func (p *Player) Stats() Stats {
	s := Stats{Stats: p.mix.Stats(), Gaps: -1, Clips: p.cache.Stats()}
	if d, ok := p.dev.(interface{ Underruns() int64 }); ok {
		s.Gaps = d.Underruns()
	}
	p.load.read(&s)
	return s
}

// A loadMeter counts blocks by the part of their time that they took, in millionths, eight bins to
// each power of two. One goroutine notes, any reads.
type loadMeter struct {
	bins [8 * 40]atomic.Int64
	max  atomic.Int64
	late atomic.Int64
}

// note counts a block of so many frames.
func (m *loadMeter) note(took time.Duration, frames, rate int) {
	if frames == 0 {
		return
	}
	load := int64(float64(took) * float64(rate) / float64(frames) / 1e3)
	m.bins[loadBin(load)].Add(1)
	if load > m.max.Load() {
		m.max.Store(load)
	}
	if load > 1e6 {
		m.late.Add(1)
	}
}

// loadBin is the bin of a load: its highest bit, and the three below that.
func loadBin(load int64) int {
	load = min(max(load, 0), 1<<40-1)
	if load < 16 {
		return int(load)
	}
	n := bits.Len64(uint64(load))
	return (n-3)*8 + int(load>>(n-4)&7)
}

// binTop is the highest load in a bin.
func binTop(i int) float64 {
	if i < 16 {
		return float64(i) / 1e6
	}
	return math.Ldexp(float64(8+i%8+1), i/8-1) / 1e6
}

// read fills in what s tells of blocks.
func (m *loadMeter) read(s *Stats) {
	var counts [len(m.bins)]int64
	for i := range counts {
		counts[i] = m.bins[i].Load()
		s.Blocks += counts[i]
	}
	s.LoadMax = float64(m.max.Load()) / 1e6
	s.Late = m.late.Load()
	below := int64(0)
	for i, n := range counts {
		was := below
		below += n
		if half := (s.Blocks + 1) / 2; was < half && below >= half {
			s.LoadP50 = min(binTop(i), s.LoadMax)
		}
		if most := s.Blocks - s.Blocks/100; was < most && below >= most {
			s.LoadP99 = min(binTop(i), s.LoadMax)
		}
	}
}
