package output

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

func nullFor(t *testing.T, c Config) *null {
	t.Helper()
	c, err := c.normal()
	if err != nil {
		t.Fatal(err)
	}
	return newNull(c)
}

func TestNullContract(t *testing.T) {
	checkDevice(t, func(t *testing.T) Device { return nullFor(t, Config{}) })
}

// In these tests time is that of the test alone, and stands still while anybody works.

func TestNullRealTime(t *testing.T) {
	for _, rate := range []int{1, 100, 8000, 44100, 48000, 96000} {
		synctest.Test(t, func(t *testing.T) {
			d, r := nullFor(t, Config{Rate: rate, Buffer: 200 * time.Millisecond}), &ramp{n: forever}
			start(t, d, r.fill)
			held := max(framesIn(200*time.Millisecond, rate), 1)
			for s := range int64(5) {
				synctest.Wait()
				// What is due is pulled at the next wake-up, which comes every 20 ms here.
				want := s*int64(rate) + held
				if got := r.taken.Load(); got > want || got < want-framesIn(20*time.Millisecond, rate) {
					t.Errorf("rate %d after %d s: got %d frames, want %d", rate, s, got, want)
				}
				time.Sleep(time.Second)
			}
			d.Close()
		})
	}
}

func TestNullNoDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, r := nullFor(t, Config{Rate: 44100}), &ramp{n: forever}
		start(t, d, r.fill)
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		want := int64(20*60*44100 + 4410)
		if got := r.taken.Load(); got > want || got < want-44100/50 {
			t.Errorf("after 20 minutes: got %d frames, want %d", got, want)
		}
		d.Close()
	})
}

// A sound of n frames lasts exactly as long as it does.
func TestNullEnd(t *testing.T) {
	for _, n := range []int64{0, 1, 4799, 4800, 4801, 48000, 123457} {
		synctest.Test(t, func(t *testing.T) {
			d, r := nullFor(t, Config{}), &ramp{n: n}
			begun := time.Now()
			start(t, d, r.fill)
			<-d.Done()
			if got, want := time.Since(begun), timeOf(n, 48000); got < want || got > want+time.Millisecond {
				t.Errorf("%d frames: done after %v, want %v", n, got, want)
			}
			if d.Err() != nil || d.Delay() != 0 {
				t.Errorf("%d frames: got Err %v, Delay %v", n, d.Err(), d.Delay())
			}
		})
	}
}

func TestNullDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, r := nullFor(t, Config{}), &ramp{n: 24000}
		if d.Delay() != 0 {
			t.Errorf("before Start: got %v", d.Delay())
		}
		start(t, d, r.fill)
		for i := range 50 {
			time.Sleep(10*time.Millisecond + time.Duration(i))
			synctest.Wait()
			heard := time.Since(time.Time{}) // only differences count
			d1, taken := d.Delay(), r.taken.Load()
			time.Sleep(time.Microsecond)
			if d2 := d.Delay(); d2 > d1 && r.taken.Load() == taken {
				t.Errorf("%d: the delay grew from %v to %v", i, d1, d2)
			}
			_ = heard
			if d1 > 100*time.Millisecond {
				t.Errorf("%d: got a delay of %v, want at most the buffer", i, d1)
			}
		}
		<-d.Done()
	})
}

func TestNullPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 1))
		const n = 96000
		d, r := nullFor(t, Config{}), &ramp{n: n}
		begun := time.Now()
		start(t, d, r.fill)
		var stood time.Duration
		for i := range 40 {
			time.Sleep(time.Duration(rnd.Int64N(int64(40 * time.Millisecond))))
			must(t, d.Pause(true))
			synctest.Wait()
			delay, taken := d.Delay(), r.taken.Load()
			still := time.Duration(rnd.Int64N(int64(time.Second)))
			time.Sleep(still)
			stood += still
			if d.Delay() != delay || r.taken.Load() != taken {
				t.Errorf("seed %d, %d: while paused: got delay %v and %d frames, want %v and %d", seed, i, d.Delay(), r.taken.Load(), delay, taken)
			}
			if i%3 == 0 {
				must(t, d.Pause(true)) // twice is as good as once
			}
			must(t, d.Pause(false))
			must(t, d.Pause(false))
		}
		<-d.Done()
		// Each pause may cut a part of a frame off the clock.
		got, want := time.Since(begun)-stood, timeOf(n, 48000)
		if got < want-time.Millisecond || got > want+50*time.Millisecond {
			t.Errorf("seed %d: played for %v, want %v", seed, got, want)
		}
	})
}

// The end waits for what is held, and a pause in that time counts.
func TestNullPauseAtEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, r := nullFor(t, Config{}), &ramp{n: 2400}
		begun := time.Now()
		start(t, d, r.fill)
		time.Sleep(10 * time.Millisecond)
		must(t, d.Pause(true))
		time.Sleep(time.Hour)
		select {
		case <-d.Done():
			t.Error("it is done while paused")
		default:
		}
		must(t, d.Pause(false))
		<-d.Done()
		if got, want := time.Since(begun), time.Hour+50*time.Millisecond; got < want || got > want+time.Millisecond {
			t.Errorf("done after %v, want %v", got, want)
		}
	})
}

// A fill that is late for less than a second is made up for, and not for more.
func TestNullCatchUp(t *testing.T) {
	tests := []struct {
		late time.Duration
		lost time.Duration
	}{
		{300 * time.Millisecond, 0},
		{time.Minute, time.Minute - 100*time.Millisecond},
	}
	for i, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			d, r := nullFor(t, Config{}), &ramp{n: forever}
			calls := 0
			start(t, d, func(buf []float32) int {
				if calls++; calls == 20 {
					time.Sleep(tt.late)
				}
				return r.fill(buf)
			})
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			want := framesIn(2*time.Minute-tt.lost+100*time.Millisecond, 48000)
			got := r.taken.Load()
			if got > want+blockFrames || got < want-2*blockFrames {
				t.Errorf("%d: %v late: got %d frames, want about %d", i, tt.late, got, want)
			}
			d.Close()
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
