package crashsim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// all says of every file that it matters.
func all(string) bool { return true }

// cuts are the distinct states after a power cut, as text, sorted.
func cuts(f *FS) []string {
	var l []string
	f.Cuts(all, func(s State) { l = append(l, text(s)) })
	slices.Sort(l)
	return slices.Compact(l)
}

func text(s State) string {
	var parts []string
	for name, im := range s {
		parts = append(parts, fmt.Sprintf("%s=%q", filepath.Base(name), im.Bytes))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d states %q\nwant %d %q", what, len(got), got, len(want), want)
	}
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// What is written and not synced is there, or not, by sectors; what is synced stays, once its name does.
func TestCutsOfWrites(t *testing.T) {
	f := New()
	f.Sector = 2
	a := must[storage.File](t)(f.Create("d/a"))
	want(t, "created", cuts(f), "", `a=""`)
	f.SyncDir("d")
	want(t, "its name synced", cuts(f), `a=""`)
	a.Write([]byte("abc"))
	want(t, "written", cuts(f), `a=""`, `a="ab"`, `a="abc"`,
		`a="\x00\x00c"`, `a="\x00\x00\x00"`, `a="ab\x00"`, // the size first, or only the second sector
		`a="\xde\xde\xde"`, `a="ab\xde"`, `a="\xde\xdec"`)
	a.Sync()
	want(t, "synced", cuts(f), `a="abc"`)
	a.Truncate(1)
	want(t, "cut", cuts(f), `a="abc"`, `a="a"`)
	a.Sync()
	a.WriteAt([]byte("x"), 0)
	want(t, "overwritten", cuts(f), `a="a"`, `a="x"`)
	if got := string(f.Bytes("d/a")); got != "x" {
		t.Errorf("seen: %q", got)
	}
}

// Names reach the disk in any order, and all of one folder with its sync.
func TestCutsOfNames(t *testing.T) {
	f := New()
	f.Put("d/a", []byte("A"))
	f.Put("d/b", []byte("B"))
	f.Put("e/c", []byte("C"))
	f.Rename("d/a", "d/b")
	want(t, "renamed over", cuts(f), `a="A" b="B" c="C"`, `b="A" c="C"`)
	f.Remove("e/c")
	want(t, "another folder's removed", cuts(f), `a="A" b="B" c="C"`, `b="A" c="C"`, `a="A" b="B"`, `b="A"`)
	f.SyncDir("d")
	want(t, "the first synced", cuts(f), `b="A" c="C"`, `b="A"`)
	f.SyncDir("e/")
	want(t, "both synced", cuts(f), `b="A"`)
	f = New()
	f.Put("d/x", []byte("old"))
	a := must[storage.File](t)(f.Create("d/t"))
	a.Write([]byte("new"))
	a.Sync()
	f.Rename("d/t", "d/x")
	// The rename can reach the disk although the name that it renames never did.
	want(t, "made and renamed", cuts(f), `x="old"`, `t="new" x="old"`, `x="new"`)
}

func TestCutsLeaveOutWhatDoesNotMatter(t *testing.T) {
	f := New()
	f.Put("d/a", []byte("1"))
	f.Put("d/t", nil)
	must[storage.File](t)(f.Open("d/t")).Write([]byte("temporary"))
	n := 0
	f.Cuts(func(path string) bool { return path == "d/a" }, func(s State) {
		if n++; text(s) != `a="1" t=""` {
			t.Errorf("state %s", text(s))
		}
	})
	if n != 1 {
		t.Errorf("%d states, want 1", n)
	}
}

// A sync that fails leaves what is seen and forgets that it is not on disk; one that lies does not.
func TestFailedSync(t *testing.T) {
	for _, c := range []struct {
		fail Failure
		want []string
	}{
		{Failure{Err: syscall.EIO}, []string{`a=""`}},
		{Failure{Effect: None}, []string{`a=""`, `a="x"`, `a="\x00"`, `a="\xde"`}},
		{Failure{Err: syscall.EIO, Effect: All}, []string{`a="x"`}},
	} {
		f := New()
		f.Put("d/a", nil)
		a := must[storage.File](t)(f.Open("d/a"))
		a.Write([]byte("x"))
		f.Inject = func(op Op) *Failure { return &c.fail }
		if err := a.Sync(); !errors.Is(err, c.fail.Err) {
			t.Errorf("%+v: error %v", c.fail, err)
		}
		want(t, fmt.Sprintf("%+v", c.fail), cuts(f), c.want...)
		f.Inject = nil
		if c.fail.Err != nil { // fsync again: it "succeeds"
			if err := a.Sync(); err != nil || string(f.Bytes("d/a")) != "x" {
				t.Errorf("%+v: the second sync: %v", c.fail, err)
			}
		}
	}
}

// Every operation fails when told to, with that error and as much of its work as is said.
func TestInject(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		do   func(f *FS, h storage.File) error
		done func(f *FS) bool // whether the work is done
	}{
		{Create, func(f *FS, h storage.File) error { _, err := f.Create("d/new"); return err }, func(f *FS) bool { return f.Bytes("d/new") != nil }},
		{Write, func(f *FS, h storage.File) error { _, err := h.WriteAt([]byte("1234"), 0); return err }, func(f *FS) bool { return string(f.Bytes("d/a")) == "1234" }},
		{Cut, func(f *FS, h storage.File) error { return h.Truncate(1) }, func(f *FS) bool { return len(f.Bytes("d/a")) == 1 }},
		{Rename, func(f *FS, h storage.File) error { return f.Rename("d/a", "d/b") }, func(f *FS) bool { return f.Bytes("d/a") == nil }},
		{Remove, func(f *FS, h storage.File) error { return f.Remove("d/a") }, func(f *FS) bool { return f.Bytes("d/a") == nil }},
		{SyncDir, func(f *FS, h storage.File) error { return f.SyncDir("d") }, nil},
		{Open, func(f *FS, h storage.File) error { _, err := f.Open("d/a"); return err }, nil},
		{Read, func(f *FS, h storage.File) error { _, err := h.ReadAt(make([]byte, 1), 0); return err }, nil},
		{Stat, func(f *FS, h storage.File) error { _, err := h.Stat(); return err }, nil},
		{Chmod, func(f *FS, h storage.File) error { return h.Chmod(0o600) }, nil},
		{Close, func(f *FS, h storage.File) error { return h.Close() }, nil},
		{List, func(f *FS, h storage.File) error { _, err := f.List("d"); return err }, nil},
		{Free, func(f *FS, h storage.File) error { _, err := f.Space("d"); return err }, nil},
		{Resolve, func(f *FS, h storage.File) error { _, err := f.Resolve("d"); return err }, nil},
		{Lock, func(f *FS, h storage.File) error { _, err := f.Lock("d/l"); return err }, nil},
	} {
		for _, effect := range []Effect{None, Half, All} {
			f := New()
			f.Put("d/a", []byte("abcdef"))
			h := must[storage.File](t)(f.Open("d/a"))
			var seen Op
			f.Inject = func(op Op) *Failure { seen = op; return &Failure{Err: syscall.EDQUOT, Effect: effect} }
			err := c.do(f, h)
			if !errors.Is(err, syscall.EDQUOT) || seen.Kind != c.kind || seen.N != 1 {
				t.Errorf("%s, effect %d: error %v of operation %v", c.kind, effect, err, seen)
			}
			if c.done != nil && c.done(f) != (effect == All) && c.kind != Write {
				t.Errorf("%s, effect %d: done %v", c.kind, effect, c.done(f))
			}
		}
	}
	f := New()
	f.Put("d/a", []byte("abcdef"))
	h := must[storage.File](t)(f.Open("d/a"))
	f.Inject = func(Op) *Failure { return &Failure{Err: syscall.ENOSPC, Effect: Half} }
	if n, err := h.WriteAt([]byte("1234"), 0); n != 2 || err == nil || string(f.Bytes("d/a")) != "12cdef" {
		t.Errorf("a short write: %d %v %q", n, err, f.Bytes("d/a"))
	}
	f.Inject = func(Op) *Failure { return &Failure{Effect: Garbage} }
	b := make([]byte, 2)
	if n, err := h.ReadAt(b, 0); n != 2 || err != nil || string(b) != "\xde\xde" {
		t.Errorf("a garbled read: %d %v %q", n, err, b)
	}
	if n, err := h.WriteAt([]byte("1234"), 0); n != 4 || err != nil || string(f.Bytes("d/a")) != "\xde\xde\xde\xdeef" {
		t.Errorf("a garbled write: %d %v %q", n, err, f.Bytes("d/a"))
	}
}

// A stopped world does nothing more; what was in the caches is there for the next process, and not
// durable by itself.
func TestStopAndRevive(t *testing.T) {
	f := New()
	f.Put("d/a", nil)
	unlock := must[func() error](t)(f.Lock("d/l")) // 0
	a := must[storage.File](t)(f.Open("d/a"))      // 1
	f.StopAt = 3
	a.WriteAt([]byte("x"), 0) // 2
	for what, err := range map[string]error{"sync": a.Sync(), "remove": f.Remove("d/a"), "close": a.Close(), "truncate": a.Truncate(0)} {
		if !errors.Is(err, ErrStopped) {
			t.Errorf("%s: %v, want ErrStopped", what, err)
		}
	}
	if f.Ops() != 3 {
		t.Errorf("%d operations, want 3", f.Ops())
	}
	f.Revive()
	want(t, "revived", cuts(f), `a=""`, `a="x"`, `a="\x00"`, `a="\xde"`)
	if _, err := f.Lock("d/l"); err != nil {
		t.Errorf("the dead one's lock: %v", err)
	}
	if _, err := f.Lock("d/l"); !errors.As(err, new(*storage.Locked)) {
		t.Errorf("a lock that is held: %v", err)
	}
	if string(f.Bytes("d/a")) != "x" || text(f.Live()) != `a="x"` {
		t.Errorf("seen %q", f.Bytes("d/a"))
	}
	unlock()
	g := FromState(f.Live())
	want(t, "from a state", cuts(g), `a="x"`)
}

// Hold reads on from a file that was replaced; Before sees each operation ahead of its effect.
func TestHoldAndBefore(t *testing.T) {
	f := New()
	f.Put("d/a", []byte("old"))
	f.Put("d/b", []byte("new"))
	var ops []string
	f.Before = func(op Op) { ops = append(ops, fmt.Sprint(op, " ", len(f.Names()))) }
	read := f.Hold("d/a")
	f.Rename("d/b", "d/a")
	f.SyncDir("d")
	if string(read()) != "old" || string(f.Bytes("d/a")) != "new" {
		t.Errorf("held %q, seen %q", read(), f.Bytes("d/a"))
	}
	if got := f.Hold("d/nosuch")(); got != nil {
		t.Errorf("held nothing: %q", got)
	}
	if w := []string{"0 rename a 2", "1 syncdir d 1"}; !slices.Equal(ops, w) {
		t.Errorf("operations %q, want %q", ops, w)
	}
	for _, k := range []Kind{Open, Read, Stat, List, Lock, Close, Chmod, Free, Resolve} {
		if k.Mutates() {
			t.Errorf("%s changes nothing", k)
		}
	}
}

// More than six sectors or ten names are not tried in every combination, but each is missing once and
// there alone once.
func TestCutsOfMany(t *testing.T) {
	f := New()
	f.Sector = 1
	f.Put("d/a", nil)
	must[storage.File](t)(f.Open("d/a")).Write([]byte("12345678"))
	got := cuts(f)
	for _, w := range []string{`a="1234567"`, "a=\"123\\x005678\"", "a=\"\\x00\\x00\\x00\\x005678\"", "a=\"\\x00\\x003\"", "a=\"\\xde2\\xde\\xde\\xde\\xde\\xde\\xde\""} {
		if !slices.Contains(got, w) {
			t.Errorf("not among the states: %s", w)
		}
	}
	g := New()
	for i := range 12 {
		must[storage.File](t)(g.Create(fmt.Sprintf("d/%02d", i)))
	}
	// First parts 13, last parts 11 more, all but one 10 more, one alone 10 more.
	if n := len(cuts(g)); n != 44 {
		t.Errorf("%d states of 12 names, want 44", n)
	}
}

// The same calls have the same results on the real thing.
func TestLikeOS(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	sim, real := New(), storage.OS{}
	dir := t.TempDir()
	names := []string{"a", "b", "c"}
	pick := func() string { return filepath.Join(dir, names[r.IntN(len(names))]) }
	for step := range 2000 {
		a, b, n, off := pick(), pick(), r.IntN(40), int64(r.IntN(60))
		do := map[int]func(s storage.FS) string{
			0: func(s storage.FS) string {
				h, err := s.Create(a)
				if err == nil {
					h.Close()
				}
				return kind(err)
			},
			1: func(s storage.FS) string { return kind(s.Rename(a, b)) },
			2: func(s storage.FS) string { return kind(s.Remove(a)) },
			3: func(s storage.FS) string { return onFile(s, a, n, off) },
			4: func(s storage.FS) string {
				l, err := s.List(dir)
				return fmt.Sprint(l, kind(err), kind(s.SyncDir(dir)))
			},
		}[min(r.IntN(8), 4)]
		if got, want := do(sim), do(real); got != want {
			t.Fatalf("step %d: simulated %s, real %s", step, got, want)
		}
	}
}

// onFile does all that can be done with an open file.
func onFile(s storage.FS, path string, n int, off int64) string {
	h, err := s.Open(path)
	if err != nil {
		return kind(err)
	}
	defer h.Close()
	h.Write([]byte("head"))
	h.Write([]byte("er"))
	h.WriteAt(bytes.Repeat([]byte{'x'}, n), off)
	if n%3 == 0 {
		h.Truncate(int64(n))
	}
	b := make([]byte, 50)
	m, err := h.ReadAt(b, off/2)
	info, e := h.Stat()
	return fmt.Sprintf("%q %v %d %v %v", b[:m], err == io.EOF, info.Size(), kind(e), kind(h.Sync()))
}

func kind(err error) string {
	for _, k := range []error{fs.ErrExist, fs.ErrNotExist} {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return fmt.Sprint(err)
}
