package player

import (
	"sync/atomic"
	"time"

	"github.com/sndpak/sndpak/player/mixer"
)

// stallAfter is how long a stream may stay without progress before its voice ends (reliability
// rule: 5 s of wall time).
const stallAfter = 5 * time.Second

// A playback is one voice of the mixer: what it plays for whom. A seek in a stream starts another
// one for the same Voice and lets this one fade out.
type playback struct {
	id     atomic.Uint64 // the mixer.Voice, once it has started
	voice  *Voice
	asset  *asset
	stream *stream // nil for a clip
	from   int64   // the sound's frame at which it starts
	shown  int64   // what the voice's position is until it has begun
	at     int64   // the player's frame at which it takes over, 0 = at once
}

// pump runs beside the mixing path: after each block it has the streams decoded ahead and passes
// the end notices on.
func (p *Player) pump() {
	for {
		select {
		case <-p.quit:
			return
		case <-p.wake:
			p.refill()
			p.reap()
			p.writeLog()
		}
	}
}

// refill has every stream decode ahead: in step by itself, else by the stream's own goroutine, so
// that one that waits for its storage delays no other.
func (p *Player) refill() {
	p.mu.Lock()
	p.due = p.due[:0]
	for _, b := range p.live {
		if b.stream != nil {
			p.due = append(p.due, b.stream)
		}
	}
	p.mu.Unlock()
	for _, s := range p.due {
		switch {
		case p.opt.InStep:
			s.fill(s.ring.size())
		case s.stalled():
			s.abort(ErrStalled) // the voice ends as soon as the ring has run dry
		default:
			s.poke()
		}
	}
}

// reap takes the end notices of the mixer.
func (p *Player) reap() {
	for {
		p.mu.Lock()
		n := p.mix.Ended(p.ended[:])
		var over []*playback
		for _, id := range p.ended[:n] {
			if b := p.live[id]; b != nil {
				delete(p.live, id)
				over = append(over, b)
			} else {
				p.replay.freed(id)
			}
		}
		p.mu.Unlock()
		for _, b := range over {
			b.finish(nil)
		}
		if n < len(p.ended) {
			return
		}
	}
}

// start begins a voice of the mixer and notes whose it is. The lock makes sure that its end, which
// may come with the very next block, finds the note.
func (p *Player) start(b *playback, m mixer.Params) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	var id mixer.Voice
	if b.stream != nil {
		id, err = p.mix.PlayFeed(b.stream, m)
	} else {
		id, err = p.mix.PlayPCM(&b.asset.clip.pcm, m)
	}
	if err != nil {
		return err
	}
	b.id.Store(uint64(id))
	p.live[id] = b
	if !p.opt.Hold {
		err = p.Start()
	}
	if b.stream != nil && !p.opt.InStep {
		p.running.Go(b.stream.run)
	}
	return err
}

// mixed is the playback's voice in the mixer.
func (b *playback) mixed() mixer.Voice { return mixer.Voice(b.id.Load()) }

// warnings are those of the decoder so far.
func (b *playback) warnings() []string {
	if b.stream == nil {
		return b.asset.info.Warnings
	}
	b.stream.mu.Lock()
	defer b.stream.mu.Unlock()
	return b.stream.odd
}

// finish ends the playback: the stream goes back to its sound, and the voice learns of it unless
// it has moved on to another playback.
func (b *playback) finish(err error) {
	odd := b.warnings()
	if b.stream != nil {
		if err == nil {
			err = b.stream.failure()
		}
		b.stream.release()
	} else {
		b.asset.putBack(nil)
	}
	b.voice.over(b, err, odd)
}
