//go:build unix && !darwin

package output

import (
	"math"
	"testing"
	"time"

	"github.com/sndpak/sndpak/player/mixer"
	"github.com/sndpak/sndpak/player/output/pulsetest"
)

// scene is a mixer with all that moves in it, every command at a frame of its own, and its end: the
// same frames for whoever pulls them.
func scene(t *testing.T) (fill Fill, frames int) {
	t.Helper()
	const length = 2 * 48000
	m := mixer.New(mixer.Config{Limiter: true})
	sound := &mixer.PCM{Channels: 2, S16: make([]int16, 2*9600)}
	for i := range sound.S16 {
		sound.S16[i] = int16(20000 * math.Cos(float64(i/2)/(10+float64(i%2)))) // its first frame is not silent
	}
	var ids []mixer.Voice
	for i := range 12 {
		id, err := m.PlayPCM(sound, mixer.Params{Gain: -12, Pan: float64(i)/6 - 1, Pitch: 1 + float64(i%3)/4, At: int64(i * 1000), Loop: &mixer.Loop{}})
		must(t, err)
		ids = append(ids, id)
	}
	for i, id := range ids {
		at := m.At(int64(20000 + 777*i))
		must(t, at.SetGain(id, -float64(i)))
		must(t, at.Seek(id, int64(i)*300))
		must(t, m.At(int64(50000+100*i)).SetPitch(id, 0.7))
		must(t, m.At(int64(80000+500*i)).Stop(id, 3000))
	}
	left := length
	return func(buf []float32) int {
		n := min(len(buf)/2, left)
		m.Mix(buf[:2*n])
		left -= n
		return n
	}, length
}

// What a real server's sink plays of a mix is what the mixer renders without a device, sample for
// sample once the two are aligned.
func TestRealRender(t *testing.T) {
	s := realServer(t)
	offline, n := scene(t)
	want := make([]float32, 2*n)
	if got := offline(want); got != n {
		t.Fatalf("rendered %d frames, want %d", got, n)
	}
	want = pulsetest.Trim(want)
	undisturbed(t, func() (bool, int64) {
		fill, _ := scene(t)
		got, gaps := playAndRecord(t, s, Config{Buffer: 2 * time.Second}, fill)
		if len(got) != len(want) {
			t.Logf("frames: got %d, want %d", len(got)/2, len(want)/2)
			return false, gaps
		}
		for i := range want {
			if got[i] != want[i] {
				t.Logf("sample %d: got %g, want %g", i, got[i], want[i])
				return false, gaps
			}
		}
		return true, 0
	})
}
