package tick

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var seedFlag = flag.Uint64("seed", 0, "seed of random tests; 0 takes a new one")

func newRand(t testing.TB) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func add(t testing.TB, s *Scheduler, name string, every Interval) Mask {
	t.Helper()
	m, err := s.Add(name, every)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// log collects ticks as "time:names".
func log(s *Scheduler, m Mask) *[]string {
	var all []string
	s.Subscribe(m, func(k Tick) {
		all = append(all, fmt.Sprintf("%d:%s", k.Time, strings.Join(s.Names(k.Due), "+")))
	})
	return &all
}

func wantLog(t *testing.T, got *[]string, want ...string) {
	t.Helper()
	if !slices.Equal(*got, want) {
		t.Errorf("got  %q\nwant %q", *got, want)
	}
	*got = nil
}

func TestOrder(t *testing.T) {
	s := New(Config{Second: 12, CatchUp: -1})
	four := add(t, s, "four", Hz(4))   // each 3
	three := add(t, s, "three", Hz(3)) // each 4
	all, some := log(s, four|three), log(s, three)
	s.Advance(0)
	wantLog(t, all, "0:four+three")
	s.Advance(2)
	wantLog(t, all)
	s.Advance(13)
	wantLog(t, all, "3:four", "4:three", "6:four", "8:three", "9:four", "12:four+three")
	wantLog(t, some, "0:three", "4:three", "8:three", "12:three")
	s.Advance(5) // a clock that goes back
	s.Advance(14)
	wantLog(t, all)
	if got := [2]int64{s.Ticks(four), s.Ticks(three)}; got != [2]int64{5, 4} {
		t.Errorf("ticks: got %d, want 5 and 4", got)
	}
	if at, ok := s.Next(); at != 15 || !ok {
		t.Errorf("next: got %d, %v, want 15", at, ok)
	}
}

// exact is when tick n of an interval falls, by integers of any size.
func exact(n, units, ticks int64) int64 {
	x := new(big.Int).Mul(big.NewInt(n), big.NewInt(units))
	x.Add(x, big.NewInt(ticks-1))
	return x.Div(x, big.NewInt(ticks)).Int64()
}

func TestExactWhateverTheSteps(t *testing.T) {
	r := newRand(t)
	for range 60 {
		second := 1 + r.Int64N(200_000)
		s := New(Config{Second: second, Start: r.Int64N(1000) - 500, CatchUp: -1})
		start := s.clock
		ticks, seconds := 1+r.Int64N(2000), 1+r.Int64N(20)
		if ticks > seconds*second {
			continue
		}
		m := add(t, s, "x", Per(ticks, seconds))
		n := int64(0)
		s.Subscribe(m, func(k Tick) {
			if want := exact(n, seconds*second, ticks); k.Time != want || k.Clock != want+start {
				t.Fatalf("%d in %d s of %d, tick %d: got %d at %d, want %d", ticks, seconds, second, n, k.Time, k.Clock, want)
			}
			n++
		})
		now, step := start, 1+r.Int64N(4*second*seconds/ticks+2)
		for n < 1000 {
			s.Advance(now)
			now += r.Int64N(step) + 1
		}
	}
}

// A million ticks of 60 a second in nanoseconds, and of NTSC's rate: not one unit off.
func TestNoDrift(t *testing.T) {
	for _, every := range []Interval{Hz(60), Per(60000, 1001), Hz(44100)} {
		s := New(Config{CatchUp: -1})
		add(t, s, "x", every)
		r := &s.rates[0]
		for range 1_000_000 {
			r.pass()
		}
		if want := exact(1_000_000, every.units*1e9, every.ticks); r.due() != want {
			t.Errorf("%v: got %d, want %d", every, r.due(), want)
		}
	}
}

func TestCatchUpSlips(t *testing.T) {
	s := New(Config{Second: 1000, CatchUp: 100})
	m := add(t, s, "x", Hz(100))
	all := log(s, m)
	var clocks []int64
	s.Subscribe(m, func(k Tick) { clocks = append(clocks, k.Clock) })
	s.Advance(5)
	s.Advance(1025) // 1020 later: 920 slip
	wantLog(t, all, "0:x", "10:x", "20:x", "30:x", "40:x", "50:x", "60:x", "70:x", "80:x", "90:x", "100:x")
	if s.Now() != 105 || s.Slipped() != 920 {
		t.Errorf("now %d, slipped %d; want 105 and 920", s.Now(), s.Slipped())
	}
	if clocks[1] != 930 || clocks[10] != 1020 {
		t.Errorf("clocks: got %d, want 930 to 1020", clocks[1:])
	}
	if at, _ := s.Next(); at != 1030 {
		t.Errorf("next: got %d, want 1030", at)
	}
}

// TestSpiralEnds: where each tick takes three times its interval, a frame is still drawn after at most
// CatchUp's worth of ticks.
func TestSpiralEnds(t *testing.T) {
	s := New(Config{}) // a quarter of a second
	clock := int64(0)
	m := add(t, s, "x", Hz(60))
	ticks := 0
	s.Subscribe(m, func(Tick) {
		ticks++
		clock += int64(50 * time.Millisecond)
	})
	frames := 0
	s.Draw(func(Frame) { frames++ })
	for range 100 {
		before := ticks
		s.Frame(clock)
		if n := ticks - before; n > 16 {
			t.Fatalf("frame %d: %d ticks in one frame", frames, n)
		}
		clock += int64(time.Millisecond)
	}
	if frames != 100 || s.Slipped() == 0 {
		t.Errorf("%d frames, %d ticks, slipped %v", frames, ticks, time.Duration(s.Slipped()))
	}
}

func TestFraction(t *testing.T) {
	s := New(Config{Second: 100, CatchUp: -1})
	slow, fast := add(t, s, "slow", Hz(10)), add(t, s, "fast", Hz(50))
	var got []float64
	s.Draw(func(f Frame) { got = append(got, f.Fraction(slow), f.Fraction(fast), f.Fraction(slow|fast)) })
	for _, c := range []struct {
		at         int64
		slow, fast float64
	}{{0, 0, 0}, {1, 0.1, 0.5}, {9, 0.9, 0.5}, {10, 0, 0}, {25, 0.5, 0.5}} {
		got = nil
		s.Frame(c.at)
		if want := []float64{c.slow, c.fast, c.slow}; !slices.Equal(got, want) {
			t.Errorf("at %d: got %v, want %v", c.at, got, want)
		}
	}
	if f := s.fraction(0); f != 0 {
		t.Errorf("of no rate: %v", f)
	}
	if f := s.fraction(1 << 31); f != 0 {
		t.Errorf("of a rate that is not there: %v", f)
	}
}

func TestPause(t *testing.T) {
	s := New(Config{Second: 10, CatchUp: -1})
	a, b := add(t, s, "a", Every(10)), add(t, s, "b", Every(10))
	all := log(s, a|b)
	s.Advance(4)
	s.Pause(a)
	s.Pause(a)
	s.Advance(17)
	if f := s.fraction(a); f != 0.4 {
		t.Errorf("fraction while paused: got %v, want 0.4", f)
	}
	s.Resume(a)
	s.Resume(a)
	s.Advance(35)
	wantLog(t, all, "0:a+b", "10:b", "20:b", "23:a", "30:b", "33:a")
	s.Pause(a | b)
	if _, ok := s.Next(); ok {
		t.Error("there is a next tick although all rates are paused")
	}
}

func TestSubscriptionsChangeWithinTicks(t *testing.T) {
	s := New(Config{Second: 1, CatchUp: -1})
	a, b := add(t, s, "a", Every(1)), add(t, s, "b", Every(2))
	var got []string
	say := func(who string) func(Tick) { return func(Tick) { got = append(got, who) } }
	var second, third *Subscription
	first := s.Subscribe(a, func(Tick) {
		got = append(got, "1")
		if third == nil {
			second.Cancel() // comes after this one: is not called any more
			second.Cancel()
			third = s.Subscribe(a, say("3")) // from the next tick on
		}
		s.Advance(100) // within a tick: nothing
		s.Frame(100)
	})
	second = s.Subscribe(a, say("2"))
	fourth := s.Subscribe(a, say("4"))
	drawn := s.Draw(func(Frame) { got = append(got, "D") })
	s.Draw(func(Frame) { drawn.Cancel() })
	s.Frame(0)
	s.Frame(1)
	fourth.SetMask(b)
	first.SetMask(0)
	first.SetMask(a) // cancelled is cancelled
	drawn.SetMask(a)
	s.Advance(3)
	if want := "1 4 D 1 4 3 4 3 3"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
	if len(s.subs) != 2 || len(s.draws) != 1 {
		t.Errorf("%d subscribe and %d draw, want 2 and 1", len(s.subs), len(s.draws))
	}
}

func TestAPanicLeavesTheSchedulerUsable(t *testing.T) {
	s := New(Config{Second: 1, CatchUp: -1})
	a := add(t, s, "a", Every(1))
	sub := s.Subscribe(a, func(Tick) { panic("boom") })
	func() {
		defer func() { recover() }()
		s.Advance(0)
	}()
	sub.Cancel()
	all := log(s, a)
	s.Advance(1)
	wantLog(t, all, "1:a")
}

func TestAddRefuses(t *testing.T) {
	s := New(Config{Second: 100})
	for i := range MaxRates {
		if got := add(t, s, fmt.Sprint(i), Hz(1)); got != 1<<i {
			t.Errorf("rate %d: got bit %b", i, got)
		}
	}
	if s.Mask("0", "5", "none") != 1|1<<5 {
		t.Errorf("mask: got %b", s.Mask("0", "5", "none"))
	}
	_, err := s.Add("more", Hz(1))
	if !errors.Is(err, ErrNames) {
		t.Errorf("a 33rd: %v", err)
	}
	s = New(Config{Second: 100})
	add(t, s, "taken", Hz(100))
	for _, name := range []string{"", "taken"} {
		if _, err := s.Add(name, Hz(1)); !errors.Is(err, ErrNames) {
			t.Errorf("%q: got %v, want %v", name, err, ErrNames)
		}
	}
	for _, every := range []Interval{{}, Hz(0), Hz(-1), Hz(101), Per(1, 0), Per(1, math.MaxInt64), Every(0), Every(-5), Every(math.MaxInt64)} {
		if _, err := s.Add("x", every); !errors.Is(err, ErrRate) {
			t.Errorf("%v: got %v, want %v", every, err, ErrRate)
		}
	}
}

// The ends of a clock's range neither loop nor overflow.
func TestEndOfTime(t *testing.T) {
	s := New(Config{Second: 1, Start: math.MinInt64, CatchUp: -1})
	m := add(t, s, "x", Every(maxTime/4))
	s.Advance(math.MaxInt64)
	if got := s.Ticks(m); got != 5 || s.Now() != maxTime {
		t.Errorf("got %d ticks until %d, want 5 until %d", got, s.Now(), int64(maxTime))
	}
	s.Advance(math.MaxInt64)
	if got := s.Ticks(m); got != 5 {
		t.Errorf("behind the end: %d ticks", got)
	}
}

func TestAdvanceAllocatesNothing(t *testing.T) {
	s, _ := busy()
	clock := int64(0)
	if n := testing.AllocsPerRun(100, func() {
		clock += 16_000_000
		s.Frame(clock)
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

// busy is 1000 objects at four rates.
func busy() (*Scheduler, *int) {
	s := New(Config{})
	n := new(int)
	for _, hz := range []int64{60, 30, 10, 1} {
		m, _ := s.Add(fmt.Sprint(hz), Hz(hz))
		for range 250 {
			s.Subscribe(m, func(Tick) { *n++ })
		}
	}
	return s, n
}

func BenchmarkFrame(b *testing.B) {
	s, _ := busy()
	b.ReportAllocs()
	for clock := int64(0); b.Loop(); clock += 16_666_667 {
		s.Frame(clock)
	}
}
