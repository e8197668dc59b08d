package mixer

import (
	"math/rand/v2"
	"testing"
)

// The same commands at the same frames give the same bits, whatever the sizes of the blocks.
func TestBlockSizeChangesNothing(t *testing.T) {
	for range 4 {
		seed := rand.Uint64()
		want := runScript(t, seed, func(*rand.Rand) int { return 6000 })
		for _, size := range []int{1, 7, 64, 255, 256, 257, 1000} {
			got := runScript(t, seed, func(*rand.Rand) int { return size })
			compareBits(t, seed, size, got, want)
		}
		got := runScript(t, seed, func(r *rand.Rand) int { return 1 + r.IntN(600) })
		compareBits(t, seed, 0, got, want)
	}
}

func compareBits(t *testing.T, seed uint64, size int, got, want []float32) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("seed %d, blocks of %d (0 = random): sample %d is %v, in one block it is %v", seed, size, i, got[i], want[i])
		}
	}
}

// runScript mixes the 6000 frames of a random script in blocks of the sizes that size gives.
func runScript(t *testing.T, seed uint64, size func(*rand.Rand) int) []float32 {
	rnd := rand.New(rand.NewPCG(seed, 0))
	s := &script{rnd: rnd, r: newRig(t, Config{Rate: 8000, Voices: 1000, Queue: 5000})}
	for i := range 4 {
		s.sounds = append(s.sounds, noise16(rnd.Uint64(), 1+i%2, 1+rnd.IntN(3000)))
	}
	s.sounds[2], s.sounds[3] = float(s.sounds[2]), float(s.sounds[3])
	for range 40 {
		s.play(rnd.Int64N(6000))
		for range rnd.IntN(12) {
			s.steer(1 + rnd.Int64N(5999))
		}
	}
	sizes := rand.New(rand.NewPCG(seed, 1))
	var out []float32
	for len(out) < 12000 {
		out = append(out, s.r.mix(min(size(sizes), 6000-len(out)/2))...)
	}
	return out
}
