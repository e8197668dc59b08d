package mixer

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The inner loops against the loop that each of them unrolls, at all lengths around the unrolling
// and behind every source that is longer than it needs to be. Those of two voices give the bits of
// one after the other.
func TestKernels(t *testing.T) {
	testKernels(t, func(r *rand.Rand) int16 { return int16(r.Uint32()) })
	testKernels(t, func(r *rand.Rand) float32 { return r.Float32()*2 - 1 })
}

func testKernels[S sample](t *testing.T, next func(*rand.Rand) S) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		for spare := range 3 {
			src, other := make([]S, 2*(n+spare)), make([]S, 2*(n+spare))
			for i := range src {
				src[i], other[i] = next(rnd), next(rnd)
			}
			w := make([]float32, n+spare)
			curve := make([]frame, n+spare)
			start := make([]frame, n)
			for i := range w {
				w[i], curve[i] = rnd.Float32(), frame{rnd.Float32(), rnd.Float32()}
			}
			for i := range start {
				start[i] = frame{rnd.Float32(), rnd.Float32()}
			}
			from, by := frame{0.5, -0.25}, frame{0.125, 1.5}
			from2, by2 := frame{0.75, 0.3}, frame{-0.7, 0.1}
			still := func(g frame) func(int) frame { return func(int) frame { return g } }
			moving := func(from, by frame) func(int) frame { return func(i int) frame { return along(from, by, w[i]) } }
			for name, k := range map[string]struct {
				mono        bool
				run         func(dst []frame)
				gain, gain2 func(i int) frame // nil: there is no second voice
			}{
				"addMono":     {true, func(d []frame) { addMono(d, src, from) }, still(from), nil},
				"addStereo":   {false, func(d []frame) { addStereo(d, src, from) }, still(from), nil},
				"rampMono":    {true, func(d []frame) { rampMono(d, src, w, from, by) }, moving(from, by), nil},
				"rampStereo":  {false, func(d []frame) { rampStereo(d, src, w, from, by) }, moving(from, by), nil},
				"curveMono":   {true, func(d []frame) { curveMono(d, src, curve) }, func(i int) frame { return curve[i] }, nil},
				"curveStereo": {false, func(d []frame) { curveStereo(d, src, curve) }, func(i int) frame { return curve[i] }, nil},
				"addMono2":    {true, func(d []frame) { addMono2(d, src, other, from, from2) }, still(from), still(from2)},
				"addStereo2":  {false, func(d []frame) { addStereo2(d, src, other, from, from2) }, still(from), still(from2)},
				"rampMono2":   {true, func(d []frame) { rampMono2(d, src, other, w, from, by, from2, by2) }, moving(from, by), moving(from2, by2)},
				"rampStereo2": {false, func(d []frame) { rampStereo2(d, src, other, w, from, by, from2, by2) }, moving(from, by), moving(from2, by2)},
			} {
				got, want := slices.Clone(start), slices.Clone(start)
				k.run(got)
				for i := range want {
					for side := range 2 {
						at := i
						if !k.mono {
							at = 2*i + side
						}
						want[i][side] += float32(float32(src[at]) * k.gain(i)[side])
						if k.gain2 != nil {
							want[i][side] += float32(float32(other[at]) * k.gain2(i)[side])
						}
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s of %d frames: %v, want %v", name, n, got, want)
				}
			}
		}
	}
}

func along(from, by frame, w float32) frame {
	return frame{from[0] + float32(by[0]*w), from[1] + float32(by[1]*w)}
}

func TestRing(t *testing.T) {
	for want, size := range map[int]int{1: 1, 2: 2, 4: 3, 8: 5, 1024: 1000} {
		if r := newRing[int](size); len(r.buf) != want {
			t.Errorf("a ring of %d holds %d, want %d", size, len(r.buf), want)
		}
	}
	r := newRing[int](4)
	next, due := 0, 0
	for _, n := range []int{4, 1, 3, 2, 4, 4} {
		for range n {
			if !r.push(next) {
				break
			}
			next++
		}
		if n == 4 && next-due == 4 && r.push(-1) {
			t.Error("a full ring takes one more")
		}
		for range 3 {
			if x, ok := r.pop(); ok {
				if x != due {
					t.Errorf("took %d, want %d", x, due)
				}
				due++
			}
		}
	}
	for due < next {
		if x, ok := r.pop(); !ok || x != due {
			t.Fatalf("took %d, %v; want %d", x, ok, due)
		}
		due++
	}
	if _, ok := r.pop(); ok {
		t.Error("an empty ring gives something")
	}
}

// A move that is bent while under way goes on from where it is, and no value lies outside what it
// goes between.
func TestMoves(t *testing.T) {
	w := raisedCosine(240)
	for curve := Smooth; curve <= Decibels; curve++ {
		for _, n := range []int{1, 2, 239, 240, 241, 1000} {
			for _, k := range []int{0, 1, n / 2, n - 1, n} {
				m := rest(1)
				m.start(0, n, curve, w)
				last := float32(1)
				for range k {
					v := m.value(m.k, w)
					if v > last || v < 0 {
						t.Fatalf("curve %d over %d frames: %v behind %v", curve, n, v, last)
					}
					last = v
					m.advance(1)
				}
				m.start(1, 500, curve, w)
				if v := m.value(m.k-1, w); v != last {
					t.Errorf("curve %d, bent at frame %d of %d: it was %v and goes on from %v", curve, k, n, last, v)
				}
				m.skip(10000)
				if m.moving() || m.value(0, w) != 1 {
					t.Errorf("curve %d: %+v long behind its end", curve, m)
				}
			}
		}
	}
}

// ride and skip do at once what value does frame by frame, also where the move ends in between.
func TestMoveRides(t *testing.T) {
	w := raisedCosine(10)
	for n := range 30 {
		for k := range 12 {
			m := rest(0.25)
			m.start(0.75, 12, Linear, w)
			m.skip(k)
			x := slices.Repeat([]frame{{1, -1}}, n)
			m.ride(x, w)
			one := m
			for i := range x {
				v := one.value(one.k, w)
				if x[i] != (frame{v, -v}) {
					t.Fatalf("frame %d from %d on: %v, want %v", i, k, x[i], v)
				}
				one.skip(1)
			}
			if m.skip(n); m != one {
				t.Errorf("%d frames from %d on: %+v, one by one %+v", n, k, m, one)
			}
		}
	}
}
