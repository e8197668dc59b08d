package player

import "sync/atomic"

// A ring hands frames from one goroutine that writes to one that reads, without a lock: the two
// counters only grow, each is stored by one side alone, and what lies between them belongs to the
// reader.
type ring struct {
	ch       int // samples a frame
	buf      []float32
	frames   uint64 // that buf holds
	written  atomic.Uint64
	taken    atomic.Uint64
	finished atomic.Bool // nothing follows what is written; stored after the last write
}

func newRing(frames, ch int) *ring {
	return &ring{ch: ch, buf: make([]float32, frames*ch), frames: uint64(frames)}
}

// size is how many frames the ring holds when full.
func (r *ring) size() int { return int(r.frames) }

// held is how many frames wait to be read.
func (r *ring) held() int { return int(r.written.Load() - r.taken.Load()) }

// space is how many frames can be written.
func (r *ring) space() int { return r.size() - r.held() }

// write appends whole frames; the caller has seen space for them.
func (r *ring) write(src []float32) {
	at := r.written.Load()
	n := copy(r.buf[int(at%r.frames)*r.ch:], src)
	copy(r.buf, src[n:])
	r.written.Store(at + uint64(len(src)/r.ch))
}

// read takes at most len(dst) samples of whole frames, and tells the end of all.
func (r *ring) read(dst []float32) (frames int, end bool) {
	end = r.finished.Load() // before written: what it promises is then seen too
	at := r.taken.Load()
	avail := int(r.written.Load() - at)
	frames = min(len(dst)/r.ch, avail)
	dst = dst[:frames*r.ch]
	n := copy(dst, r.buf[int(at%r.frames)*r.ch:])
	copy(dst[n:], r.buf)
	r.taken.Store(at + uint64(frames))
	return frames, end && frames == avail
}

// reset empties the ring; neither side may be at work.
func (r *ring) reset() {
	r.written.Store(0)
	r.taken.Store(0)
	r.finished.Store(false)
}
