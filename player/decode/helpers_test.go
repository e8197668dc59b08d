package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// moduleRoot is the folder of go.mod.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// sharedDir is the folder of cases and vectors that stands beside the module. Tests that need it
// skip where it is absent.
func sharedDir(t testing.TB, parts ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{moduleRoot(t), "..", "shared"}, parts...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("the shared test inputs are absent: %v", err)
	}
	return p
}

// needs returns the path of a tool, or skips; in CI a missing tool is a failure.
func needs(t testing.TB, tool string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no other program is run")
	}
	p, err := exec.LookPath(tool)
	if err == nil {
		return p
	}
	if os.Getenv("SNDPAK_CI") == "1" {
		t.Fatalf("needs %s", tool)
	}
	t.Skipf("needs %s", tool)
	return ""
}

func run(t testing.TB, tool string, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(needs(t, tool), args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, stderr.Bytes())
	}
	return out
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openBytes(t testing.TB, b []byte) *Stream {
	t.Helper()
	s, err := Open(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// floats reads to the end, failing on an error.
func floats(t testing.TB, s *Stream) []float32 {
	t.Helper()
	got, err := floatsUpTo(s)
	if err != io.EOF {
		t.Fatalf("after %d samples: %v", len(got), err)
	}
	return got
}

// floatsUpTo reads as far as it goes.
func floatsUpTo(s *Stream) ([]float32, error) {
	ch := s.Info().Channels
	var all []float32
	buf := make([]float32, 1000*ch)
	for {
		n, err := s.ReadFloat32(buf)
		all = append(all, buf[:n*ch]...)
		if err != nil {
			return all, err
		}
	}
}

// shorts reads 16-bit samples to the end.
func shorts(t testing.TB, s *Stream) []int16 {
	t.Helper()
	ch := s.Info().Channels
	var all []int16
	buf := make([]int16, 777*ch)
	for {
		n, err := s.ReadInt16(buf)
		all = append(all, buf[:n*ch]...)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("after %d samples: %v", len(all), err)
		}
	}
}

func toShorts(b []byte) []int16 {
	s := make([]int16, len(b)/2)
	for i := range s {
		s[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return s
}

// same fails where got is not want, at the first difference.
func same[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: sample %d of %d is %v, want %v", what, i, len(want), got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d samples, want %d", what, len(got), len(want))
	}
}

// wants fails where err is not one of the sentinels asked for.
func wants(t testing.TB, err error, kinds ...error) {
	t.Helper()
	for _, k := range kinds {
		if errors.Is(err, k) {
			return
		}
	}
	t.Fatalf("error %v, want one of %v", err, kinds)
}

// seeded is a source of random numbers whose seed is printed.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// seeksLikeStraight checks that reads after random seeks give what a straight read does.
func seeksLikeStraight(t testing.TB, data []byte, times int) {
	t.Helper()
	want := floats(t, openBytes(t, data))
	s := openBytes(t, data)
	ch, n := s.Info().Channels, s.Len()
	if n != len(want)/ch {
		t.Fatalf("Len is %d, %d frames were read", n, len(want)/ch)
	}
	r := seeded(t)
	for range times {
		p := r.IntN(n + 1)
		if err := s.Seek(p); err != nil {
			t.Fatalf("Seek(%d): %v", p, err)
		}
		buf := make([]float32, ch*(1+r.IntN(3000)))
		k, err := s.ReadFloat32(buf)
		if err != nil && (err != io.EOF || p != n) {
			t.Fatalf("read at %d of %d: %v", p, n, err)
		}
		same(t, "after a seek", buf[:k*ch], want[p*ch:min(p*ch+len(buf), len(want))])
	}
}
