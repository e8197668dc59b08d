package decode

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestClass has sizes in order, none of a class an eighth larger than another.
func TestClass(t *testing.T) {
	first := map[int]int{}
	for n, last := 1, 0; n < 1<<20; n += 1 + n/1000 {
		c := class(n)
		if c < last || c >= classes {
			t.Fatalf("class(%d) = %d after %d", n, c, last)
		}
		if _, ok := first[c]; !ok {
			first[c] = n
		}
		if n > 64 && n-first[c] > first[c]/classSteps {
			t.Fatalf("%d and %d are both of class %d", first[c], n, c)
		}
		last = c
	}
	if c := class(int(^uint(0) >> 1)); c >= classes {
		t.Errorf("class %d of %d for the largest", c, classes)
	}
}

// TestSparesFit has memory of random sizes put and got.
func TestSparesFit(t *testing.T) {
	var s spares[int16]
	rng := rand.New(rand.NewPCG(1, 2))
	got := 0
	for range 10000 {
		n := leastSpare/2 + rng.IntN(4*leastSpare)
		if buf := s.get(n); buf != nil {
			got++
			if len(buf) != n || cap(buf) > n+n/8 || n < leastSpare {
				t.Fatalf("get(%d) gave %d samples in the room of %d", n, len(buf), cap(buf))
			}
		}
		s.put(make([]int16, n))
	}
	if got == 0 {
		t.Error("nothing was ever used again")
	}
}

// TestFree has the memory of a freed sound hold the next of its size, with the right samples in it, and
// no other sound.
func TestFree(t *testing.T) {
	const frames = 40000
	want := tone(2, frames)
	data := wavSpec{ch: 2, bits: 16, data: le16(want...)}.bytes()
	load := func() PCM {
		t.Helper()
		p, err := openBytes(t, data).ReadAll(0)
		if err != nil || p.Frames() != frames {
			t.Fatalf("%d frames, %v", p.Frames(), err)
		}
		same(t, "samples", p.S16, want)
		return p
	}
	again := false
	for range 100 { // the pool may drop what it was given, and does so at random under the race detector
		p, held := load(), load()
		at := unsafe.SliceData(p.S16)
		for i := range p.S16 {
			p.S16[i] = 0x55
		}
		p.Free()
		if p.S16 != nil || p.Frames() != 0 {
			t.Fatal("a freed sound has samples")
		}
		p = load()
		again = again || unsafe.SliceData(p.S16) == at
		same(t, "the held one", held.S16, want)
	}
	if !again {
		t.Error("no memory was used again")
	}
}
