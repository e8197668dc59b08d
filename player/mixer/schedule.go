package mixer

// plan holds the commands whose frame is still to come: a binary heap, the next one first. Its
// capacity is that of the queue, so it never grows.
type plan []command

func (p plan) before(i, j int) bool {
	if p[i].at != p[j].at {
		return p[i].at < p[j].at
	}
	return p[i].order < p[j].order
}

func (p *plan) push(c *command) {
	h := append(*p, *c)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.before(i, up) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	*p = h
}

func (p *plan) pop() command {
	h := *p
	top, last := h[0], len(h)-1
	h[0], h[last] = h[last], command{}
	h = h[:last]
	for i := 0; ; {
		next := 2*i + 1
		if next >= last {
			break
		}
		if next+1 < last && h.before(next+1, next) {
			next++
		}
		if !h.before(next, i) {
			break
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
	*p = h
	return top
}

// cut shortens n frames from now so that no command falls due within them.
func (p plan) cut(now int64, n int) int {
	if len(p) > 0 {
		return int(min(int64(n), p[0].at-now))
	}
	return n
}

// receive takes what the senders have queued: what is due is carried out, the rest is planned.
func (m *Mixer) receive() {
	cmds := m.desk.cmds
	end := cmds.tail.Load()
	for i := cmds.head.Load(); i != end; i++ {
		c := cmds.at(i)
		if c.at > m.now {
			m.plan.push(c)
			continue
		}
		m.carryOut(c.order)
		m.do(c)
	}
	cmds.head.Store(end)
}

// carryOut does what is planned for now and was given before the command of an order.
func (m *Mixer) carryOut(order int64) {
	for len(m.plan) > 0 && m.plan[0].at <= m.now && m.plan[0].order < order {
		c := m.plan.pop()
		m.do(&c)
	}
}

// enter puts a voice into its slot as its setup says.
func (m *Mixer) enter(c *command) {
	id := c.voice
	slot := id.slot()
	s := &m.desk.setups[slot]
	if m.voice(s.after) == nil {
		s.after = 0
	}
	m.note(c, s, nil)
	m.voices[slot].enter(id, s, m.curve)
	m.voices[slot].house = &m.buses[s.bus]
	m.queue(slot, s.after, s.heir)
	*s = setup{}
	m.list = append(m.list, int32(slot))
	m.started = id.number()
	m.stats.Peak = max(m.stats.Peak, len(m.list))
}

// do carries a command out.
func (m *Mixer) do(c *command) {
	if c.op == opStart {
		m.enter(c)
		c.op, c.at = opBegin, c.n[0]
		if c.at > m.now { // the voice has its slot, but begins later
			m.plan.push(c)
			return
		}
	}
	m.carried++
	v := m.voice(c.voice)
	switch {
	case c.op >= opBus:
		m.treat(int(c.voice), c)
	case c.op == opLimit:
		m.note(c, nil, nil)
		m.groups[c.voice].Limit = Limit{int(c.n[0]), int(c.n[1]), c.n[2]&1 != 0, c.n[2]&2 != 0}
	case v == nil:
	case c.op != opBegin:
		m.note(c, nil, nil)
		m.steer(v, c)
	case v.prev == 0:
		m.begin(v)
	}
}

// voice is the voice of a handle, nil if it has ended or never was.
func (m *Mixer) voice(id Voice) *voice {
	if slot := id.slot(); slot < len(m.voices) {
		if v := &m.voices[slot]; v.id == id && id != 0 && !v.over {
			return v
		}
	}
	return nil
}

// steer carries out a command to a voice.
func (m *Mixer) steer(v *voice, c *command) {
	switch c.op {
	case opGain:
		v.level = c.gain[0]
		v.turnTo(m.curve)
	case opPan:
		v.law = c.gain
		v.turnTo(m.curve)
	case opPause:
		v.setPaused(true, m.curve)
	case opResume:
		v.setPaused(false, m.curve)
	case opStop:
		v.stop(int(c.n[0]), Curve(c.n[1]), m.curve)
	case opFade:
		v.fadeTo(c.gain[0], int(c.n[0]), Curve(c.n[1]), m.curve)
	case opPitch:
		v.speedUp(c.n[0], len(m.curve))
	case opSeek:
		v.seekTo(c.n[0], m)
	case opLoop:
		v.keepTo(Loop{c.n[0], c.n[1], int(c.n[2])})
	case opUnloop:
		v.at.turns, v.closed = 0, false
	}
}
