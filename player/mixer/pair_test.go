package mixer

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Voices that are added up two at a time give the bits that they give one at a time: those of as many
// mixers with a voice each, added up in the same order.
func TestPairsChangeNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range 40 {
		rnd := rand.New(rand.NewPCG(seed, uint64(round)))
		all := newRig(t, Config{Rate: 8000})
		var alone []rig
		var ids, own []Voice
		for i := range 2 + rnd.IntN(12) {
			p := noise16(uint64(i), 1+rnd.IntN(2), 100+rnd.IntN(3000))
			if rnd.IntN(3) == 0 {
				p = float(p)
			}
			v := Params{Gain: -6, Pan: rnd.Float64(), Loop: &Loop{}, Start: rnd.Int64N(100), Pitch: 1}
			if rnd.IntN(6) == 0 {
				v.Pitch = 1.5
			}
			r := newRig(t, Config{Rate: 8000})
			alone = append(alone, r)
			ids, own = append(ids, all.play(p, v)), append(own, r.play(p, v))
		}
		for range 20 {
			for i := range ids {
				at, kind, x := all.Time()+rnd.Int64N(3)*20, rnd.IntN(8), rnd.Float64()
				steerAlike(all, all.At(at), ids[i], kind, x)
				steerAlike(all, alone[i].At(at), own[i], kind, x)
			}
			n := 1 + rnd.IntN(300)
			want := make([]float32, 2*n)
			for _, r := range alone {
				for k, x := range r.mix(n) {
					want[k] += x
				}
			}
			compareBits(t, seed, n, all.mix(n), want)
		}
	}
}

// steerAlike gives one of some commands.
func steerAlike(r rig, c Commands, id Voice, kind int, x float64) {
	switch kind {
	case 0, 1:
		r.ok(c.SetGain(id, -20*x))
	case 2:
		r.ok(c.SetPan(id, x))
	case 3:
		r.ok(c.Pause(id))
	case 4:
		r.ok(c.Resume(id))
	case 5:
		r.ok(c.Seek(id, int64(200*x)))
	}
}

// Of pairs only runs that cover the same frames in the same way are made.
func TestPairs(t *testing.T) {
	mono, stereo := &PCM{Channels: 1, S16: make([]int16, 1)}, &PCM{Channels: 2, S16: make([]int16, 2)}
	wide := &PCM{Channels: 1, F32: make([]float32, 1)}
	a := run{pcm: mono, slot: 1, from: 0, n: 10, k: noneMoves}
	for i, c := range []struct {
		b    run
		want bool
	}{
		{run{pcm: mono, slot: 2, from: 0, n: 10, k: noneMoves}, true},
		{run{pcm: mono, slot: 2, from: 1, n: 10, k: noneMoves}, false},
		{run{pcm: mono, slot: 2, from: 0, n: 9, k: noneMoves}, false},
		{run{pcm: mono, slot: 2, from: 0, n: 10, k: 0}, false},
		{run{pcm: stereo, slot: 2, from: 0, n: 10, k: noneMoves}, false},
		{run{pcm: wide, slot: 2, from: 0, n: 10, k: noneMoves}, false},
	} {
		if got := a.pairs(&c.b); got != c.want {
			t.Errorf("%d: %s: %v, want %v", i, fmt.Sprint(c.b), got, c.want)
		}
	}
}
