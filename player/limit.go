package player

import (
	"time"

	"github.com/sndpak/sndpak/player/mixer"
)

// Steal says who makes room where a Limit is reached. Only voices of the lowest priority do, and of
// none that is higher than the new one's; where there is none, the new one is refused: it ends at
// once, unheard.
type Steal uint8

const (
	StealQuietest Steal = iota // the quietest
	StealOldest                // the one that was started first
	StealNone                  // nobody: the new one is refused
)

// A Limit keeps sounds from piling up: those of one Sound, of a Bus, or all (those of the master).
// Voices that wait for their frame or fade out to their end do not count.
type Limit struct {
	Voices int           // most at a time; 0 = any number
	Gap    time.Duration // from one start to the next at least: one that comes sooner is refused
	Steal  Steal
}

func (p *Player) limit(l Limit) mixer.Limit {
	return mixer.Limit{
		Voices: l.Voices, Gap: int(p.frames(l.Gap)), Steal: l.Steal != StealNone, Oldest: l.Steal == StealOldest,
	}
}

// SetLimit limits how the sound may pile up. Voices that are beyond it play on. The limit stays with
// the sound's name: loaded again it has it still. The error is mixer.ErrValue or mixer.ErrFull.
func (s *Sound) SetLimit(l Limit) error {
	p := s.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if g, ok := p.groups[s.name]; ok {
		return p.mix.SetLimit(g, p.limit(l))
	}
	g, err := p.mix.NewGroup(p.limit(l))
	if err == nil {
		p.groups[s.name] = g
	}
	return err
}

// group is that of a sound with a limit of its own, or 0.
func (p *Player) group(name string) mixer.Group {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.groups[name]
}
