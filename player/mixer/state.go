package mixer

import (
	"sync"
	"sync/atomic"
)

// State is what became of a voice, as of the end of the last block.
type State struct {
	Waiting   bool  // for its frame, or for the next block
	Playing   bool  // begun, and not paused
	Paused    bool  // it, its bus, or one above
	Unheard   bool  // plays on unheard, for want of room
	Ended     bool  // all else is 0 then
	Position  int64 // next frame of the PCM, or of what came from a feed
	Loops     int64 // how often the loop was turned back
	Underruns int64 // how often the feed ran dry
}

// Stats count what a mixer has done so far.
type Stats struct {
	Time      int64 // frames given
	Voices    int   // that are not over, waiting and paused ones included
	Peak      int   // most of them at a time
	Unheard   int   // of Voices, those that play on unheard for want of room
	Underruns int64 // of all feeds
	LostEnds  int64 // end notices that nobody took in time
	Stolen    int64 // voices that were ended to make room
	Refused   int64 // voices that ended before they began, for want of room or of a gap
	Dropped   int64 // commands, starts included, that got ErrFull
	LastEnd   int64 // frame behind the last one of the voice that ended last
}

// A snapshot is the state of all voices at the end of a block. Those in use lie at the front of
// voices, and where tells by slot at which index: an entry of where means something only if the
// handle there is the one that is looked for, so nothing has to be cleared.
type snapshot struct {
	stats   Stats
	started uint64
	last    int64
	voices  []voiceState
	where   []int32
	meters  [maxBuses]Meter
}

type voiceState struct {
	id Voice
	State
}

// of is the state of a voice.
func (s *snapshot) of(id Voice) State {
	if slot := id.slot(); slot < len(s.where) {
		if i := int(s.where[slot]); i < len(s.voices) && s.voices[i].id == id {
			return s.voices[i].State
		}
	}
	if id.number() > s.started {
		return State{Waiting: true}
	}
	return State{Ended: true}
}

// A board hands snapshots from Mix to readers without either waiting for the other. Of its three
// snapshots one is Mix's to write, one is the readers' to read, and the third goes between them: an
// atomic exchange makes the new one public. Readers exclude each other, never Mix.
type board struct {
	shots  [3]snapshot
	middle atomic.Uint32 // index of the one between, and fresh if no reader has had it
	back   uint32        // Mix's
	ended  *ring[Voice]

	mu    sync.Mutex // guards the reading ends: shots[front], front and that of ended
	front uint32
}

const fresh = 4

func (b *board) init(voices, queue int) {
	for i := range b.shots {
		b.shots[i] = snapshot{voices: make([]voiceState, 0, voices), where: make([]int32, voices)}
		for k := range b.shots[i].meters {
			b.shots[i].meters[k] = noSound
		}
	}
	b.front, b.back = 1, 2
	b.ended = newRing[Voice](2*voices + queue)
}

// latest is the newest snapshot; mu is held.
func (b *board) latest() *snapshot {
	if b.middle.Load()&fresh != 0 {
		b.front = b.middle.Swap(b.front) &^ fresh
	}
	return &b.shots[b.front]
}

// publish makes the state public, and room for new commands.
func (m *Mixer) publish() {
	b := &m.board
	s := &b.shots[b.back]
	m.stats.Time, m.stats.Voices = m.given, len(m.list)
	s.started, s.last = m.started, m.last
	s.voices = s.voices[:len(m.list)]
	underruns := m.stats.Underruns
	m.stats.Unheard = 0
	for i := range m.made {
		s.meters[i] = m.buses[i].meter.read()
	}
	for i, slot := range m.list {
		v := &m.voices[slot]
		paused := v.paused || v.house.stopped
		s.where[slot] = int32(i)
		s.voices[i] = voiceState{v.id, State{
			Waiting: !v.begun, Playing: v.begun && !paused, Paused: paused, Unheard: v.veiled,
			Position: v.position(), Loops: v.at.loops, Underruns: v.flow.underruns,
		}}
		underruns += v.flow.underruns
		if v.veiled {
			m.stats.Unheard++
		}
	}
	s.stats = m.stats
	s.stats.Underruns = underruns
	b.back = b.middle.Swap(b.back|fresh) &^ fresh
	m.time.Store(m.given)
	m.desk.done.Store(m.carried)
}

// State returns what the last block left of the voice. A handle whose voice has ended, or the zero
// Voice, is Ended.
func (m *Mixer) State(v Voice) State {
	b := &m.board
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.latest().of(v)
}

// Stats returns the counts as of the end of the last block.
func (m *Mixer) Stats() Stats {
	b := &m.board
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.latest().stats
	s.Dropped = m.desk.dropped.Load()
	return s
}

// Idle reports whether at the end of the last block there were no voices, and nothing of them was
// still to be given, and the frame of the mixer's time behind the last one that any voice gave.
func (m *Mixer) Idle() (last int64, idle bool) {
	b := &m.board
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.latest()
	return s.last, len(s.voices) == 0 && s.stats.Time >= s.last
}

// Ended takes end notices: the handles of voices that have ended, block by block in the order of
// their ends, into buf, and returns how many there were. Each is given once, so there should be one
// reader.
func (m *Mixer) Ended(buf []Voice) int {
	b := &m.board
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range buf {
		id, ok := b.ended.pop()
		if !ok {
			return i
		}
		buf[i] = id
	}
	return len(buf)
}
