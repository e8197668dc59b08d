package mixer

import "testing"

// Mixing allocates nothing, whatever goes on, and neither do starts and commands.
func TestAllocs(t *testing.T) {
	m := New(Config{})
	p, q := noise16(1, 2, 5000), float(noise16(2, 1, 700))
	block := make([]float32, 2*300)
	samples := make([][2]float64, 100)
	feed := &soundless{}
	var ends [16]Voice
	n := 0
	for range 256 { // the first feed in each slot makes what Sinc needs there
		id, _ := m.PlayFeed(feed, Params{Interpolation: Sinc})
		m.Stop(id, 0)
		m.Mix(block)
	}
	m.Ended(ends[:])
	allocs := testing.AllocsPerRun(500, func() {
		a, _ := m.PlayPCM(p, Params{Start: 3, Pan: 0.3})
		b, _ := m.PlayPCM(q, Params{At: m.Time() + 100, Loop: &Loop{Count: 2}})
		c, _ := m.PlayFeed(feed, Params{FadeIn: 100, Curve: Decibels, Pitch: 1.5, Interpolation: Sinc})
		d, _ := m.PlayPCM(q, Params{After: a, Pitch: 0.3, Interpolation: Interpolation(n / 4 % 2)})
		m.Mix(block)
		m.SetGain(a, -3)
		m.Seek(a, 1000)
		m.At(m.Time() + 50).Pause(b)
		m.At(m.Time() + 70).Resume(b)
		m.SetLoop(b, nil)
		m.SetMaster(float64(n % 3))
		m.Mix(block)
		m.Stop(a, 0)
		m.Stop(c, 10)
		m.Stop(b, 0)
		m.Fade(d, Fade{Gain: -3, Frames: 50, Curve: EqualPower})
		m.SetPitch(d, 2)
		m.Stream(samples)
		m.Mix(block)
		m.Stop(d, 0)
		m.Mix(block)
		m.State(b)
		m.Stats()
		n += m.Ended(ends[:])
	})
	if allocs != 0 {
		t.Errorf("%v allocations a round, want 0", allocs)
	}
	if n < 1900 {
		t.Errorf("only %d voices ended: the test does not do what it should", n)
	}
}

// soundless is a feed that runs dry at every other call.
type soundless struct{ n int }

func (f *soundless) Channels() int { return 1 }

func (f *soundless) Read(dst []float32) (int, bool) {
	f.n++
	clear(dst)
	return len(dst) * (f.n % 2), false
}
