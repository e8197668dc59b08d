package tick_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sndpak/sndpak/player/mixer"
	"github.com/sndpak/sndpak/player/tick"
)

// TestAutomationIsExact: ticks over a mixer's frames start and pan voices. Whatever the blocks, the
// mix is the same bit for bit, and each start is heard at its tick's frame.
func TestAutomationIsExact(t *testing.T) {
	const rate, frames, hz = 48000, 48000, 7 // 7 a second is no whole number of frames
	want := automate(t, rate, frames, hz, func() int { return 480 })
	for n := range int64(hz) {
		at := (n*rate + hz - 1) / hz
		if want[2*at] == 0 && want[2*at+1] == 0 || at > 0 && (want[2*at-2] != 0 || want[2*at-1] != 0) {
			t.Errorf("tick %d: not heard first at frame %d", n, at)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, block := range map[string]func() int{
		"one":    func() int { return 1 },
		"large":  func() int { return 5000 },
		"random": func() int { return 1 + rnd.IntN(1500) },
	} {
		got := automate(t, rate, frames, hz, block)
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("blocks %s: sample %d: got %v, want %v", name, i, got[i], want[i])
			}
		}
	}
}

// automate mixes frames in blocks, and starts a click at every tick.
func automate(t *testing.T, rate, frames int, hz int64, block func() int) []float32 {
	t.Helper()
	m := mixer.New(mixer.Config{Rate: rate})
	click := &mixer.PCM{Channels: 1, F32: []float32{1, 0.5, 0.25}}
	s := tick.New(tick.Config{Second: int64(rate), CatchUp: -1})
	mask, err := s.Add("click", tick.Hz(hz))
	if err != nil {
		t.Fatal(err)
	}
	s.Subscribe(mask, func(k tick.Tick) {
		pan := float64(s.Ticks(mask)%3) - 1
		if _, err := m.PlayPCM(click, mixer.Params{At: k.Clock, Pan: pan}); err != nil {
			t.Error(err)
		}
	})
	out := make([]float32, 2*frames)
	for done := 0; done < frames; {
		n := min(block(), frames-done)
		s.Advance(m.Time() + int64(n) - 1)
		m.Mix(out[2*done : 2*(done+n)])
		done += n
	}
	return out
}
