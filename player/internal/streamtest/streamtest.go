// Package streamtest checks that a beep.Streamer keeps beep's contract. It is the one statement of
// that contract in this project: every decoder, clip, mixer and the player itself call [Check], as
// testing/fstest.TestFS is called by every file system.
package streamtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopxl/beep/v2"
)

// limit bounds how many frames are read from a stream that never ends by itself.
const limit = 1 << 20

// Check opens the stream again and again and fails t wherever it breaks the contract that
// beep/interface.go states:
//
//   - Stream returns (len, true), (n < len, true) once at the end, or (0, false) from then on;
//   - it writes nothing behind the frames that it returned;
//   - its frames do not depend on how large the blocks are that ask for them;
//   - Err is nil while it plays and after a clean end.
//
// A stream that is a beep.StreamSeeker must also tell a Len that equals what it streams, a Position
// that goes with it, and must stream the same frames again after any Seek; a Seek out of [0, Len] is
// an error that moves nothing. A stream that has a Close streams nothing once it is closed.
//
// open returns the same sound from its start each time. A stream without end is read for a while.
func Check(t testing.TB, open func() beep.Streamer) {
	t.Helper()
	want := straight(t, open(), 512)
	for _, size := range []int{1, 7, 1023, len(want) + 1} {
		if size <= limit {
			equal(t, fmt.Sprintf("in blocks of %d", size), straight(t, open(), size), want)
		}
	}
	if s, ok := open().(beep.StreamSeeker); ok {
		seeks(t, s, want)
	}
	closes(t, open())
}

// straight reads s to its end in blocks of the given size, and closes it if it can be closed.
func straight(t testing.TB, s beep.Streamer, size int) [][2]float64 {
	t.Helper()
	if c, ok := s.(beep.StreamCloser); ok {
		defer c.Close()
	}
	var all [][2]float64
	for len(all) < limit {
		block, ended := read(t, s, size)
		all = append(all, block...)
		if ended {
			drained(t, s)
			break
		}
	}
	return all[:min(len(all), limit)]
}

// read takes one block and checks the return pattern and the frames behind it.
func read(t testing.TB, s beep.Streamer, size int) (block [][2]float64, ended bool) {
	t.Helper()
	buf := make([][2]float64, size+1)
	for i := range buf {
		buf[i] = mark
	}
	n, ok := s.Stream(buf[:size])
	switch {
	case n < 0 || n > size:
		t.Fatalf("Stream of %d frames returned %d", size, n)
	case ok && n == 0:
		t.Fatalf("Stream of %d frames returned 0, true", size)
	case !ok && n != 0:
		t.Fatalf("Stream of %d frames returned %d, false", size, n)
	}
	if err := s.Err(); err != nil {
		t.Fatalf("Err() = %v in the middle of a good stream", err)
	}
	for i := n; i < len(buf); i++ {
		if buf[i] != mark {
			t.Fatalf("Stream returned %d frames and wrote frame %d", n, i)
		}
	}
	for i, f := range buf[:n] {
		if math.IsNaN(f[0]+f[1]) || math.IsInf(f[0]+f[1], 0) {
			t.Fatalf("frame %d of the block is %v", i, f)
		}
	}
	return buf[:n], n < size
}

// mark is a frame that no sound holds, to see what a stream touched.
var mark = [2]float64{-12345.5, 54321.25}

func drained(t testing.TB, s beep.Streamer) {
	t.Helper()
	var buf [3][2]float64
	for range 3 {
		if n, ok := s.Stream(buf[:]); n != 0 || ok {
			t.Fatalf("Stream after the end returned %d, %t; want 0, false", n, ok)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatalf("Err() after a clean end = %v", err)
	}
}

func seeks(t testing.TB, s beep.StreamSeeker, want [][2]float64) {
	t.Helper()
	if c, ok := s.(beep.StreamCloser); ok {
		defer c.Close()
	}
	if len(want) == limit {
		return // an endless stream has no length to seek by
	}
	if s.Len() != len(want) {
		t.Fatalf("Len() = %d, but it streams %d frames", s.Len(), len(want))
	}
	if s.Position() != 0 {
		t.Fatalf("Position() = %d before the first frame", s.Position())
	}
	for _, p := range places(t, len(want)) {
		if err := s.Seek(p); err != nil {
			t.Fatalf("Seek(%d) of %d frames: %v", p, len(want), err)
		}
		from(t, s, want, p)
		outside(t, s)
	}
}

// places are the frames to seek to: the edges, and random ones in random order.
func places(t testing.TB, n int) []int {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	list := []int{n, 0, max(n-1, 0), min(1, n), n / 2}
	for range 20 {
		list = append(list, r.IntN(n+1))
	}
	return list
}

// from checks that s stands at p and streams on as want does.
func from(t testing.TB, s beep.StreamSeeker, want [][2]float64, p int) {
	t.Helper()
	if s.Position() != p {
		t.Fatalf("Position() = %d after Seek(%d)", s.Position(), p)
	}
	block, _ := read(t, s, 700)
	equal(t, fmt.Sprintf("after Seek(%d)", p), block, want[p:min(p+700, len(want))])
	if at := p + len(block); s.Position() != at {
		t.Fatalf("Position() = %d after %d frames from %d", s.Position(), len(block), p)
	}
}

// outside checks that a seek out of range is refused and moves nothing.
func outside(t testing.TB, s beep.StreamSeeker) {
	t.Helper()
	at := s.Position()
	for _, p := range []int{-1, s.Len() + 1} {
		if err := s.Seek(p); err == nil {
			t.Fatalf("Seek(%d) of %d frames: no error", p, s.Len())
		}
		if s.Position() != at {
			t.Fatalf("Position() = %d after the refused Seek(%d), was %d", s.Position(), p, at)
		}
	}
}

func closes(t testing.TB, s beep.Streamer) {
	t.Helper()
	c, ok := s.(beep.StreamCloser)
	if !ok {
		return
	}
	if err := c.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	var buf [8][2]float64
	if n, ok := s.Stream(buf[:]); n != 0 || ok {
		t.Fatalf("Stream after Close returned %d, %t; want 0, false", n, ok)
	}
}

func equal(t testing.TB, where string, got, want [][2]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d frames, want %d", where, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: frame %d is %v, want %v", where, i, got[i], want[i])
		}
	}
}

// Fewer is n, or with -short, which the race detector runs with, a quarter of them and at least one.
func Fewer(n int) int {
	if testing.Short() {
		return max(n/4, 1)
	}
	return n
}
