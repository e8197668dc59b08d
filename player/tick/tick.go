// Package tick runs the parts of a game at rates of their own, in fixed steps, off one clock.
//
// [New] makes a [Scheduler] over a clock of integers: nanoseconds, a mixer's frames, or what a test
// makes up. [Scheduler.Add] names a rate and gives its bit, up to 32 of them; [Scheduler.Subscribe]
// has a function called whenever one of the rates in its mask is due, [Scheduler.Draw] one called once
// a frame. [Scheduler.Frame] moves time on:
//
//	s := tick.New(tick.Config{Second: int64(time.Second)})
//	sim, err := s.Add("sim", tick.Hz(60))
//	ai, err := s.Add("ai", tick.Hz(10))
//	s.Subscribe(sim|ai, func(t tick.Tick) { ... })        // t.Due tells which
//	s.Draw(func(f tick.Frame) { ... f.Fraction(sim) ... }) // between the last tick and the next
//	for { s.Frame(int64(time.Since(start))) }
//
// Tick n of a rate falls n intervals behind its start, to the unit: nothing adds up, whatever the rate
// and however the clock is called upon. Ticks that were missed come one after the other as they fell,
// those that fall together as one, in the order of subscription. Where the clock jumps by more than
// Config.CatchUp, as on a machine that cannot keep up, the scheduler's time does not follow: it slips,
// all rates together, and no tick is left out.
//
// Over a mixer's frames, with Advance(mixer.Time()+n-1) before each block of n frames and what a tick
// wants commanded for the frame Tick.Clock, automation is exact to the frame and the same each time,
// whatever the blocks.
//
// A Scheduler has no clock, lock, goroutine or allocation of its own; it belongs to one goroutine at a
// time. Left out: sleeping until the next tick ([Scheduler.Next] tells when it is).
package tick

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// MaxRates is how many rates a scheduler has at the most, one a bit of a Mask.
const MaxRates = 32

// Errors that a caller can branch on.
var (
	ErrRate  = errors.New("tick: rate out of range") // an interval below one unit of the clock, or none
	ErrNames = errors.New("tick: name is taken, empty or one too many")
)

// A Mask is a set of rates, a bit each.
type Mask uint32

// Config is the clock of a Scheduler.
type Config struct {
	// Second is how many units the clock counts a second: int64(time.Second) for a time.Duration, the
	// rate of a mixer for its frames; 0 = nanoseconds.
	Second int64
	// Start is what the clock shows when the scheduler is made.
	Start int64
	// CatchUp is how far the clock may jump, in its units, before time slips; 0 = a quarter of a
	// second, negative = as far as it likes, as for rendering offline.
	CatchUp int64
}

// An Interval is the time between two ticks. It is a fraction, so that 60 a second is exact in
// nanoseconds too.
type Interval struct {
	units, ticks int64 // ticks fall within units
	hz           bool  // units are seconds
}

// Hz is n ticks a second.
func Hz(n int64) Interval { return Interval{1, n, true} }

// Per is n ticks in a number of seconds: Per(60000, 1001) for NTSC.
func Per(n, seconds int64) Interval { return Interval{seconds, n, true} }

// Every is one tick each so many units of the clock.
func Every(units int64) Interval { return Interval{units, 1, false} }

// A Tick is a moment at which one or more rates are due.
type Tick struct {
	Due Mask // what is due, of what was subscribed
	// Time is when it falls, in units since Config.Start without what slipped; Clock is what the
	// clock showed then. They differ by Start and Slipped.
	Time, Clock int64
}

// A Frame is what is to be drawn.
type Frame struct {
	Time, Clock int64 // as of Tick
	s           *Scheduler
}

// Fraction is how far between its last tick and its next one a rate is, from 0 to below 1. Drawing what
// a state was and what it is now, mixed by that, is smooth at any frame rate. Of several rates in the
// mask the one of the lowest bit counts; of none it is 0.
func (f Frame) Fraction(rate Mask) float64 { return f.s.fraction(rate) }

// rate is one rate. Tick n falls at start + ceil(n*units/ticks), which next follows with a remainder
// and no rounding.
type rate struct {
	name      string
	step, rem int64 // units/ticks as a whole number and what is left, in ticks-ths
	ticks     int64
	prev      int64 // when it was due last
	next      int64 // when it is due next, in the scheduler's time
	left      int64 // next's remainder: next lies left/ticks too early, rounded up where that is not 0
	count     int64 // ticks so far
	paused    bool
}

// due is when the next tick falls: at the first unit that is not before it.
func (r *rate) due() int64 {
	if r.left > 0 {
		return r.next + 1
	}
	return r.next
}

// pass moves on to the next tick.
func (r *rate) pass() {
	r.prev = r.due()
	r.count++
	r.next += r.step
	if r.left += r.rem; r.left >= r.ticks {
		r.left -= r.ticks
		r.next++
	}
}

// A Scheduler keeps rates, those who subscribed, and time.
type Scheduler struct {
	second, start, catchUp int64

	now     int64 // the scheduler's time
	clock   int64 // what the clock showed last
	slipped int64 // clock - start - now, but within a tick, which may be behind
	rates   []rate
	subs    []*Subscription
	gone    int // of subs that were cancelled
	draws   []*Subscription
	running bool
}

// maxTime keeps a tick's time from overflowing: it is 73 years of nanoseconds, and the end of time.
const maxTime = math.MaxInt64 / 4

// New returns a scheduler without rates.
func New(c Config) *Scheduler {
	if c.Second <= 0 {
		c.Second = 1e9
	}
	if c.CatchUp == 0 {
		c.CatchUp = max(c.Second/4, 1)
	}
	return &Scheduler{second: c.Second, start: c.Start, clock: c.Start, catchUp: c.CatchUp}
}

// Add names a rate. Its first tick falls now: with the next Advance. It is ErrRate where the interval
// is less than one unit of the clock, and ErrNames where the name is empty or taken, or there are
// MaxRates.
func (s *Scheduler) Add(name string, every Interval) (Mask, error) {
	if name == "" || s.Mask(name) != 0 || len(s.rates) == MaxRates {
		return 0, fmt.Errorf("%w: %q", ErrNames, name)
	}
	units := every.units
	if every.hz && units > 0 {
		hi, lo := bits.Mul64(uint64(units), uint64(s.second))
		if hi > 0 || lo > maxTime {
			return 0, fmt.Errorf("%w: %q: %d ticks in %d seconds", ErrRate, name, every.ticks, every.units)
		}
		units = int64(lo)
	}
	if units <= 0 || units > maxTime || every.ticks <= 0 || every.ticks > units {
		return 0, fmt.Errorf("%w: %q: %d ticks in %d units of the clock", ErrRate, name, every.ticks, units)
	}
	s.rates = append(s.rates, rate{
		name: name, step: units / every.ticks, rem: units % every.ticks, ticks: every.ticks,
		prev: s.now, next: s.now,
	})
	return 1 << (len(s.rates) - 1), nil
}

// Mask is the set of the rates of those names; names that are not there add nothing to it.
func (s *Scheduler) Mask(names ...string) (m Mask) {
	for _, n := range names {
		for i := range s.rates {
			if s.rates[i].name == n {
				m |= 1 << i
			}
		}
	}
	return m
}

// Names are the names of the rates in a mask, lowest bit first.
func (s *Scheduler) Names(m Mask) (names []string) {
	for i := range s.rates {
		if m&(1<<i) != 0 {
			names = append(names, s.rates[i].name)
		}
	}
	return names
}

// Ticks is how many ticks of a rate there were so far; within a tick, that one included. Of several
// rates it is the sum.
func (s *Scheduler) Ticks(m Mask) (n int64) {
	for i := range s.rates {
		if m&(1<<i) != 0 {
			n += s.rates[i].count
		}
	}
	return n
}

// Pause stops the rates in a mask: their time stands still, and so does their fraction.
func (s *Scheduler) Pause(m Mask) {
	for i := range s.rates {
		if r := &s.rates[i]; m&(1<<i) != 0 && !r.paused {
			r.paused = true
			r.prev, r.next = r.prev-s.now, r.next-s.now // from now on relative
		}
	}
}

// Resume has paused rates go on where they stopped.
func (s *Scheduler) Resume(m Mask) {
	for i := range s.rates {
		if r := &s.rates[i]; m&(1<<i) != 0 && r.paused {
			r.paused = false
			r.prev, r.next = r.prev+s.now, r.next+s.now
		}
	}
}

// Now is the scheduler's time in units since Config.Start, without what slipped.
func (s *Scheduler) Now() int64 { return s.now }

// Slipped is how much of the clock's time was left out because of CatchUp.
func (s *Scheduler) Slipped() int64 { return s.slipped }

// Next is what the clock will show when the next tick falls; false where none will.
func (s *Scheduler) Next() (clock int64, ok bool) {
	at := s.nextDue()
	return at + s.start + s.slipped, at <= maxTime
}

// nextDue is the time of the next tick, more than maxTime if there is none.
func (s *Scheduler) nextDue() int64 {
	at := int64(math.MaxInt64)
	for i := range s.rates {
		if r := &s.rates[i]; !r.paused {
			at = min(at, r.due())
		}
	}
	return at
}

func (s *Scheduler) fraction(m Mask) float64 {
	if m == 0 || bits.TrailingZeros32(uint32(m)) >= len(s.rates) {
		return 0
	}
	r := &s.rates[bits.TrailingZeros32(uint32(m))]
	now := s.now
	if r.paused {
		now = 0
	}
	if length := r.due() - r.prev; length > 0 {
		return min(max(float64(now-r.prev)/float64(length), 0), math.Nextafter(1, 0))
	}
	return 0 // before the first tick
}
