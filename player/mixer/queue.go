package mixer

// Queues of voices that follow one another without a gap. A voice that waits in a queue is not
// begun and knows the one before it.

// queue puts the voice of a slot behind the last one of the queue that id is in, if that still is, or
// as an heir right behind id.
func (m *Mixer) queue(slot int, id Voice, heir bool) {
	p := m.voice(id)
	if p == nil {
		return
	}
	for p.next != 0 && !heir {
		p = &m.voices[p.next-1]
	}
	v := &m.voices[slot]
	v.prev, v.next = int32(p.id.slot())+1, p.next
	if p.next != 0 {
		m.voices[p.next-1].prev = int32(slot) + 1
	}
	p.next = int32(slot) + 1
}

// playQueue adds n frames of the voice at index i of the list to its bus and, if it ends within,
// those behind it in its queue. It reports whether any is over.
func (m *Mixer) playQueue(i, n int) (over bool) {
	for at := 0; ; over = true {
		v := &m.voices[m.list[i]]
		if v.held() && !v.over && !v.doomed {
			return over
		}
		v.house.input(n)
		k, on := m.play(v, at, n-at)
		if on {
			return over
		}
		v.over = true
		if at += k; k > 0 {
			m.last = m.now + int64(at)
		}
		next := m.unlink(v)
		if next == nil {
			return true
		}
		m.takePlace(i, next)
	}
}

// unlink takes a voice that is over out of its queue, and returns the one that is to begin in its
// stead, if it stood at the head and there is one.
func (m *Mixer) unlink(v *voice) *voice {
	prev, next := v.prev, v.next
	v.prev, v.next = 0, 0
	if next != 0 {
		m.voices[next-1].prev = prev
	}
	if prev != 0 {
		m.voices[prev-1].next = next
		return nil
	}
	if next == 0 {
		return nil
	}
	return &m.voices[next-1]
}

// takePlace begins a voice in the place of the list at index i, whose voice is over. It takes its
// place in the order of the sum too, or that order would depend on where blocks end. Other voices
// are left alone, for some of them have gone on to the end of the chunk already.
func (m *Mixer) takePlace(i int, v *voice) {
	v.begun = true
	v.setVeiled(m.voices[m.list[i]].veiled, m.curve)
	slot := int32(v.id.slot())
	for j := i + 1; j < len(m.list); j++ {
		if m.list[j] == slot {
			m.list[i], m.list[j] = slot, m.list[i]
			return
		}
	}
}
