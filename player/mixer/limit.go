package mixer

import (
	"fmt"
	"math"
	"slices"

	"github.com/sndpak/sndpak/player/tick"
)

// A Group is a set of voices with a limit, such as all those of one sound or of one kind. The zero
// Group is that of all voices.
type Group uint16

const maxGroups = 4096

// A Limit keeps voices of a group from piling up. It is looked at when a voice begins; voices that
// are fading out to their end do not count.
type Limit struct {
	Voices int // most at a time, waiting ones not counted; 0 = any number
	Gap    int // frames from one start to the next, at least: one that comes sooner is refused

	// Steal has the quietest voice of the lowest priority fade out within 5 ms when there are too
	// many, rather than refuse the new one. With Oldest it is the oldest of the lowest priority.
	Steal, Oldest bool
}

func (l *Limit) check() error {
	if l.Voices < 0 || l.Gap < 0 {
		return fmt.Errorf("%w: limit of %d voices, gap of %d frames", ErrValue, l.Voices, l.Gap)
	}
	return nil
}

// NewGroup makes a group. There can be 4095 of them in a mixer; the error is ErrValue beyond, and
// ErrFull.
func (m *Mixer) NewGroup(l Limit) (Group, error) {
	d := &m.desk
	d.mu.Lock()
	if d.groups+1 == maxGroups {
		d.mu.Unlock()
		return 0, fmt.Errorf("%w: more than %d groups", ErrValue, maxGroups-1)
	}
	d.groups++
	g := d.groups
	d.mu.Unlock()
	return g, m.SetLimit(g, l)
}

// SetLimit gives a group another limit. Voices that are beyond it play on.
func (c Commands) SetLimit(g Group, l Limit) error {
	if err := l.check(); err != nil {
		return err
	}
	if g >= maxGroups {
		return fmt.Errorf("%w: group %d", ErrValue, g)
	}
	flags := int64(0)
	if l.Steal {
		flags = 1
	}
	if l.Oldest {
		flags |= 2
	}
	return c.send(&command{op: opLimit, voice: Voice(g), n: [3]int64{int64(l.Voices), int64(l.Gap), flags}})
}

// rank is what a voice's room depends on.
type rank struct {
	groups    [2]Group
	priority  int8
	protected bool
}

// group is what Mix knows of a Group.
type group struct {
	Limit
	started bool
	last    int64 // frame of the last start
}

// begin starts a voice whose frame has come, if there is room for it.
func (m *Mixer) begin(v *voice) {
	v.begun = true
	all := [3]Group{0, v.groups[0], v.groups[1]}
	var victims [3]*voice
	for i, g := range all {
		ok := false
		if victims[i], ok = m.room(g, v); !ok {
			v.over = true
			m.stats.Refused++
			return
		}
	}
	for i, g := range all {
		m.groups[g].started, m.groups[g].last = true, m.now
		if w := victims[i]; w != nil && !w.ending {
			w.stop(0, Smooth, m.curve)
			m.stats.Stolen++
		}
	}
	if m.most < len(m.voices) {
		m.rank()
	}
}

// room looks for room in a group. It reports false if there is none, and a voice if that has to go.
func (m *Mixer) room(g Group, v *voice) (victim *voice, ok bool) {
	l := &m.groups[g]
	if l.Gap > 0 && l.started && m.now-l.last < int64(l.Gap) {
		return nil, false
	}
	if l.Voices == 0 {
		return nil, true
	}
	n := 0
	for _, slot := range m.list {
		w := &m.voices[slot]
		if w == v || !w.begun || w.over || w.ending || g != 0 && w.groups[0] != g && w.groups[1] != g {
			continue
		}
		n++
		if !w.protected && w.priority <= v.priority && (victim == nil || w.goesBefore(victim, l.Oldest)) {
			victim = w
		}
	}
	if n < l.Voices {
		return nil, true
	}
	return victim, l.Steal && victim != nil
}

// goesBefore reports whether w rather than x has to make room. The list is in the order of starts.
func (w *voice) goesBefore(x *voice, oldest bool) bool {
	if w.priority != x.priority {
		return w.priority < x.priority
	}
	return !oldest && w.loudness() < x.loudness()
}

// loudness is the gain at which the voice is to be heard.
func (v *voice) loudness() float32 {
	if v.paused || v.house.stopped {
		return 0
	}
	return max(v.gain.to[0], v.gain.to[1]) * v.fade.to * v.house.own.to * v.house.loud
}

// veil decides anew which voices are heard, every 5 ms of the mixer's time, and shortens n so that
// no such moment lies within.
func (m *Mixer) veil(n int) int {
	if m.most == len(m.voices) {
		return n
	}
	m.chores.Advance(m.now)
	next, _ := m.chores.Next()
	return int(min(int64(n), next-m.now))
}

// newChores are what is done anew every 5 ms, by the frame and not by the block.
func (m *Mixer) newChores() *tick.Scheduler {
	s := tick.New(tick.Config{Second: int64(m.rate), CatchUp: -1})
	every, err := s.Add("rank", tick.Every(int64(len(m.curve))))
	if err != nil {
		panic(err) // the curve has a frame at least
	}
	s.Subscribe(every, func(tick.Tick) { m.rank() })
	return s
}

// rank has the most important voices heard, as many as may be: by priority, then by loudness, then
// by age. One that is heard already counts as twice as loud, or two of a kind would take turns.
func (m *Mixer) rank() {
	keys := m.ranking[:0]
	for i, slot := range m.list {
		v := &m.voices[slot]
		if !v.begun || v.over || v.paused || v.house.stopped {
			continue
		}
		loud := v.loudness()
		if v.heard && !v.veiled {
			loud *= 2
		}
		high := uint64(int(v.priority) + 128)
		if v.protected {
			high = 255 + 1
		}
		keys = append(keys, high<<48|uint64(math.Float32bits(loud))<<16|uint64(len(m.list)-1-i))
	}
	slices.Sort(keys)
	for k, key := range keys {
		v := &m.voices[m.list[len(m.list)-1-int(key&0xffff)]]
		if veiled := k < len(keys)-m.most; veiled != v.veiled {
			v.setVeiled(veiled, m.curve)
		}
	}
}
