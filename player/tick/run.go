package tick

// A Subscription is a function that is called at ticks or for frames.
type Subscription struct {
	s    *Scheduler
	mask Mask // 0 once cancelled, but for those that draw
	tick func(Tick)
	draw func(Frame)
}

// Subscribe has f called at every tick at which a rate in the mask is due, once however many of them
// are. It begins with the tick after the one that runs, if one does.
func (s *Scheduler) Subscribe(m Mask, f func(Tick)) *Subscription {
	sub := &Subscription{s: s, mask: m, tick: f}
	if m != 0 {
		s.subs = append(s.subs, sub)
	}
	return sub
}

// Draw has f called once in every Frame, behind the ticks, in the order of the calls of Draw.
func (s *Scheduler) Draw(f func(Frame)) *Subscription {
	sub := &Subscription{s: s, draw: f}
	s.draws = append(s.draws, sub)
	return sub
}

// SetMask has the function called at other rates from now on; at none is Cancel. It does nothing for
// one that draws or was cancelled.
func (sub *Subscription) SetMask(m Mask) {
	switch {
	case sub.mask == 0: // nothing to change
	case m == 0:
		sub.Cancel()
	default:
		sub.mask = m
	}
}

// Cancel ends the subscription at once, also in the middle of a tick. A second Cancel does nothing.
func (sub *Subscription) Cancel() {
	switch {
	case sub.draw != nil:
		sub.draw = nil
		sub.s.gone++
	case sub.mask != 0:
		sub.mask = 0
		sub.s.gone++
	}
	sub.s.sweep()
}

// sweep takes cancelled subscriptions off the lists, unless somebody walks along them.
func (s *Scheduler) sweep() {
	if s.running || s.gone == 0 {
		return
	}
	s.gone = 0
	s.subs = kept(s.subs, func(x *Subscription) bool { return x.mask != 0 })
	s.draws = kept(s.draws, func(x *Subscription) bool { return x.draw != nil })
}

// kept moves what stays to the front, in order.
func kept(all []*Subscription, stays func(*Subscription) bool) []*Subscription {
	n := 0
	for _, x := range all {
		if stays(x) {
			all[n] = x
			n++
		}
	}
	clear(all[n:])
	return all[:n]
}

// Advance moves time on to what the clock shows and runs every tick that falls until then, that moment
// included, in order. A clock that goes back moves nothing. Within a tick it does nothing.
func (s *Scheduler) Advance(clock int64) {
	if s.running || clock < s.clock {
		return
	}
	s.running = true
	defer func() {
		s.running = false
		s.sweep()
	}()
	jump := uint64(clock) - uint64(s.clock) // right however far the two lie apart
	if s.catchUp >= 0 {
		jump = min(jump, uint64(s.catchUp))
	}
	end := s.now + int64(min(jump, uint64(maxTime-s.now)))
	s.clock, s.slipped = clock, clock-s.start-end
	for at := s.nextDue(); at <= end; at = s.nextDue() {
		s.now = max(s.now, at)
		s.run(clock - (end - at)) // what slips does so ahead of the ticks that are caught up
	}
	s.now = end
}

// run has everything called that is due now.
func (s *Scheduler) run(clock int64) {
	var due Mask
	for i := range s.rates {
		if r := &s.rates[i]; !r.paused && r.due() <= s.now {
			r.pass()
			due |= 1 << i
		}
	}
	for _, sub := range s.subs[:len(s.subs)] { // those that come meanwhile are not among them
		if hit := sub.mask & due; hit != 0 {
			sub.tick(Tick{hit, s.now, clock})
		}
	}
}

// Frame is Advance, and then everything that draws, once.
func (s *Scheduler) Frame(clock int64) {
	if s.running {
		return
	}
	s.Advance(clock)
	s.running = true
	defer func() {
		s.running = false
		s.sweep()
	}()
	f := Frame{s.now, s.clock, s}
	for _, sub := range s.draws[:len(s.draws)] {
		if sub.draw != nil {
			sub.draw(f)
		}
	}
}
