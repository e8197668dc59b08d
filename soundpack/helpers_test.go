package soundpack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var seedFlag = flag.Uint64("seed", 0, "seed of random tests; 0 takes a new one")

// rec is an index record as a test writes it; nothing is checked.
type rec struct {
	name      string
	off, size uint32
}

func encode(recs ...rec) []byte {
	var b bytes.Buffer
	for _, r := range recs {
		var e [splitRecord]byte
		copy(e[:splitName], r.name)
		binary.LittleEndian.PutUint32(e[20:], r.off)
		binary.LittleEndian.PutUint32(e[24:], r.size)
		b.Write(e[:])
	}
	return b.Bytes()
}

// writePack puts a pair of files into a new folder and returns the data's path.
func writePack(t testing.TB, index, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "music.data")
	write(t, path, data)
	write(t, filepath.Join(filepath.Dir(path), "music.inx"), index)
	return path
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustOpen(t testing.TB, path string) *Pack {
	t.Helper()
	p, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// openRecs opens a pack of those records over data.
func openRecs(t testing.TB, data []byte, recs ...rec) *Pack {
	t.Helper()
	return mustOpen(t, writePack(t, encode(recs...), data))
}

// pattern is n bytes none of which is zero, and no short period.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x>>24) | 1
	}
	return b
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// shared is a folder or file of the inputs that lie beside the module, or a skip.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
	path := filepath.Join(append([]string{dir, "..", "shared"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the shared inputs are not there: %v", err)
	}
	return path
}

// needs skips, or fails where everything is said to be installed.
func needs(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("SNDPAK_CI") == "1" {
		t.Fatalf("needs %s, and SNDPAK_CI=1 says that it is there", what)
	}
	t.Skipf("needs %s", what)
}

// contains fails unless text has each of the words.
func contains(t testing.TB, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s: %q does not mention %q", what, text, w)
		}
	}
}

// listing is the names in a folder.
func listing(t testing.TB, dir string) []string {
	t.Helper()
	l, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range l {
		names = append(names, d.Name())
	}
	return names
}

// sparse makes a file long without writing it, on file systems that can.
func sparse(path string, size int64) error { return os.Truncate(path, size) }
