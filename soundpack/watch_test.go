package soundpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// said is a change in one line.
func said(c *Change) string {
	names := func(l []Entry) string {
		var all []string
		for _, e := range l {
			all = append(all, e.Name)
		}
		return strings.Join(all, " ")
	}
	s := fmt.Sprintf("added %s; changed %s; removed %s", names(c.Added), names(c.Changed), names(c.Removed))
	for _, r := range c.Renamed {
		s += fmt.Sprintf("; %s is now %s", r[0].Name, r[1].Name)
	}
	return s
}

func TestDiff(t *testing.T) {
	a, b, c := pattern(1000), pattern(1001)[1:], pattern(300)
	old := []Source{source("same.wav", a), source("changed.wav", b), source("old name.wav", c), source("gone.wav", pattern(77)), source("Case.wav", pattern(5)), source("empty", nil)}
	fresh := []Source{
		source("CASE.wav", pattern(5)), source("voices/a new name that is long.wav", c), source("same.wav", a), source("changed.wav", pattern(1000)[:999]),
		source("new.wav", pattern(500)), source("new too.wav", pattern(500)), source("copy of b.wav", b), source("empty", nil),
	}
	const want = "added new.wav new too.wav copy of b.wav; changed changed.wav; removed gone.wav; old name.wav is now voices/a new name that is long.wav"
	for _, plain := range []bool{false, true} {
		if plain {
			fresh[1].Name = "new name.wav"
		} else {
			fresh[1].Name = "voices/a new name that is long.wav"
		}
		p, q := create(t, old, &CreateOptions{Plain: plain}), create(t, fresh, &CreateOptions{Plain: plain})
		c, err := Diff(t.Context(), p, q)
		if err != nil {
			t.Fatal(err)
		}
		if got := said(c); got != strings.Replace(want, "voices/a new name that is long", strings.TrimSuffix(fresh[1].Name, ".wav"), 1) {
			t.Errorf("plain %v: %s, want\n%s", plain, got, want)
		}
		// 999 changed and 500 new bytes, the latter once; the copy is there under another name.
		index, _ := os.Stat(q.IndexPath())
		m, _ := q.Lookup(manifestName)
		if want := 999 + 500 + index.Size() + m.Size; c.Bytes != want || c.Pack != q {
			t.Errorf("plain %v: %d bytes, want %d", plain, c.Bytes, want)
		}
		for _, same := range []*Pack{p, create(t, old, nil), create(t, old, &CreateOptions{Plain: true}), create(t, old, &CreateOptions{SHA256: true})} {
			if c, err := Diff(t.Context(), p, same); err != nil || !c.Empty() || c.Bytes != 0 {
				t.Errorf("the same: %s, %d bytes, %v", said(c), c.Bytes, err)
			}
		}
	}
}

// Diff agrees with a comparison of maps.
func TestDiffModel(t *testing.T) {
	r := newRand(t)
	for round := range 100 {
		var packs [2]*Pack
		var maps [2]map[string]string
		for k := range packs {
			maps[k] = map[string]string{}
			var src []Source
			for range r.IntN(8) {
				name := []string{"a", "b", "c/d", "a long name of a sound.wav", "E", "f"}[r.IntN(6)]
				if _, ok := maps[k][name]; ok {
					continue
				}
				body := string(pattern(r.IntN(3)*40 + 1)[r.IntN(2):])
				maps[k][name] = body
				src = append(src, bodySource(name, body))
			}
			packs[k] = create(t, src, &CreateOptions{SHA256: r.IntN(2) == 0})
		}
		c, err := Diff(t.Context(), packs[0], packs[1])
		if err != nil {
			t.Fatal(err)
		}
		in := func(l []Entry, name string) bool {
			return slices.ContainsFunc(l, func(e Entry) bool { return e.Name == name })
		}
		var was, is []Entry
		for _, r := range c.Renamed {
			was, is = append(was, r[0]), append(is, r[1])
			if maps[0][r[0].Name] != maps[1][r[1].Name] {
				t.Errorf("round %d: %q is not %q", round, r[0].Name, r[1].Name)
			}
		}
		for name, body := range maps[1] {
			old, ok := maps[0][name]
			if (in(c.Added, name) || in(is, name)) == ok || in(c.Changed, name) != (ok && old != body) {
				t.Errorf("round %d: %q: %s", round, name, said(c))
			}
		}
		for name := range maps[0] {
			if _, ok := maps[1][name]; (in(c.Removed, name) || in(was, name)) == ok {
				t.Errorf("round %d: %q: %s", round, name, said(c))
			}
		}
		if n := len(c.Added) + len(c.Changed) + len(c.Removed) + 2*len(c.Renamed); n > len(maps[0])+len(maps[1]) || (c.Bytes == 0) != (c.Empty() || len(maps[1]) == 0) {
			t.Errorf("round %d: %s, %d bytes", round, said(c), c.Bytes)
		}
	}
}

func TestDiffErrors(t *testing.T) {
	p := openRecs(t, pattern(10), rec{"a", 0, 10}, rec{"ghost", 5, 6}, rec{"A", 0, 1})
	q := openRecs(t, pattern(10), rec{"a", 0, 10}, rec{"ghost", 5, 6})
	if c, err := Diff(t.Context(), p, q); err != nil || said(c) != "added ; changed ghost; removed " {
		t.Errorf("%s, %v", said(c), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Diff(ctx, p, q); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	q.Close()
	if _, err := Diff(t.Context(), p, q); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want ErrClosed", err)
	}
	if err := p.Watch(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Watch: %v", err)
	}
	if err := q.Watch(t.Context(), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Watch: %v, want ErrClosed", err)
	}
}

var quick = pace{settle: 10 * time.Millisecond, patience: 150 * time.Millisecond, poll: 5 * time.Millisecond, look: 20 * time.Millisecond, notify: true}

// watched starts a watcher and returns what it tells.
func watched(t *testing.T, p *Pack, pace pace) <-chan Change {
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan Change, 100)
	done := make(chan error)
	go func() { done <- p.watch(ctx, func(c Change) { told <- c }, pace) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Watch returned %v", err)
		}
		close(told)
		for c := range told {
			t.Errorf("told at the end: %s", said(&c))
		}
	})
	return told
}

// next is what is told next. Waiting long is a failure, but how long is not what is tested.
func nextChange(t *testing.T, told <-chan Change) Change {
	t.Helper()
	select {
	case c := <-told:
		if c.Pack != nil {
			t.Cleanup(func() { c.Pack.Close() })
		}
		return c
	case <-time.After(30 * time.Second):
		t.Fatal("nothing is told")
		return Change{}
	}
}

func TestWatch(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, notify := range []bool{true, false} {
		t.Run(fmt.Sprint("notify ", notify), func(t *testing.T) {
			pace := quick
			if pace.notify = notify; notify {
				pace.look = time.Hour // only what the system tells
			}
			p := create(t, []Source{bodySource("a.wav", "one"), bodySource("b.wav", "two")}, nil)
			told := watched(t, p, pace)
			again := func(force ...Source) {
				if err := Create(t.Context(), p.Path(), force, &CreateOptions{Force: true}); err != nil {
					t.Error(err)
				}
			}
			again(bodySource("a.wav", "one"), bodySource("b.wav", "TWO"), bodySource("music/a long name of it.wav", "three"))
			c := nextChange(t, told)
			if got, want := said(&c), "added music/a long name of it.wav; changed b.wav; removed "; got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if b, err := c.Pack.ReadFile("B.wav"); string(b) != "TWO" {
				t.Errorf("%q, %v", b, err)
			}
			if b, err := p.ReadFile("b.wav"); string(b) != "two" {
				t.Errorf("the old one: %q, %v", b, err)
			}
			// The same entries in another order, or in other files, are no change: the next is told.
			again(bodySource("b.wav", "TWO"), bodySource("a.wav", "one"), bodySource("music/a long name of it.wav", "three"))
			again(bodySource("b.wav", "TWO"))
			c.Pack.Close() // whoever is told may close it at any time
			c = nextChange(t, told)
			if got, want := said(&c), "added ; changed ; removed a.wav music/a long name of it.wav"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// A Writer's commits are told, and compacting, which leaves the contents as they are, is not.
func TestWatchWriter(t *testing.T) {
	p := create(t, longSources(), nil)
	told := watched(t, p, quick)
	do := func(do func(w *Writer) error) {
		if _, err := editPack(t, p.Path(), nil, do); err != nil {
			t.Fatal(err)
		}
	}
	do(func(w *Writer) error { return w.Replace(source("voices/British/amazing.ogg", pattern(33))) })
	if c := nextChange(t, told); said(&c) != "added ; changed voices/British/amazing.ogg; removed " {
		t.Errorf("%s", said(&c))
	}
	do(func(w *Writer) error { return w.Compact(t.Context()) })
	do(func(w *Writer) error { return second(w.Remove(longNames[0])) })
	do(func(w *Writer) error { return w.Add(source("again/music/battle theme.wav", pattern(100))) })
	c := nextChange(t, told)
	for len(c.Added)+len(c.Renamed) == 0 { // the removal may be told by itself
		if said(&c) != "added ; changed ; removed "+longNames[0] {
			t.Errorf("%s", said(&c))
		}
		c = nextChange(t, told)
	}
}

// F25: files of the same time and size are told by what is in them.
func TestWatchTimesDoNotCount(t *testing.T) {
	path := writePack(t, encode(rec{"a.wav", 0, 10}, rec{"b.wav", 10, 10}), pattern(20))
	index := filepath.Join(filepath.Dir(path), "music.inx")
	when := time.Unix(1e9, 0)
	if err := errors.Join(os.Chtimes(path, when, when), os.Chtimes(index, when, when)); err != nil {
		t.Fatal(err)
	}
	told := watched(t, mustOpen(t, path), quick)
	write(t, index, encode(rec{"a.wav", 0, 10}, rec{"c.wav", 10, 10})) // in place, as an old tool does
	if err := os.Chtimes(index, when, when); err != nil {
		t.Fatal(err)
	}
	c := nextChange(t, told)
	if got, want := said(&c), "added ; changed ; removed ; b.wav is now c.wav"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// A time that changes and nothing else is no change; cleaning up finds that nothing was told.
	if err := os.Chtimes(index, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * quick.settle)
}

// Files that are half written are not told of, and once they are whole they are.
func TestWatchHalfWritten(t *testing.T) {
	pace := quick
	pace.patience = time.Hour
	path := writePack(t, encode(rec{"a.wav", 0, 10}), pattern(10))
	dir := filepath.Dir(path)
	index := filepath.Join(dir, "music.inx")
	whole := encode(rec{"a.wav", 0, 10}, rec{"b.wav", 10, 10}, rec{"c.wav", 20, 10})
	told := watched(t, mustOpen(t, path), pace)
	put := func(name string, b []byte) error { // in one step: an index cut to nothing is an empty pack
		tmp := filepath.Join(dir, "other.tmp")
		if err := os.WriteFile(tmp, b, 0o666); err != nil {
			return err
		}
		return os.Rename(tmp, name)
	}
	for _, step := range []func() error{
		func() error { return put(index, whole[:40]) }, // no whole record
		func() error { return put(index, whole[:56]) }, // names bytes that are not there yet
		func() error { return os.Remove(index) },
		func() error { return os.Remove(path) },
		func() error { return put(index, whole) },
		func() error { return put(path, pattern(29)) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * pace.settle)
	}
	if err := put(path, pattern(30)); err != nil {
		t.Fatal(err)
	}
	c := nextChange(t, told)
	if got, want := said(&c), "added b.wav c.wav; changed ; removed "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What stays broken is told, once; and so is what can be opened but is not whole.
func TestWatchBroken(t *testing.T) {
	path := writePack(t, encode(rec{"a.wav", 0, 10}), pattern(10))
	index := filepath.Join(filepath.Dir(path), "music.inx")
	told := watched(t, mustOpen(t, path), quick)
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	if c := nextChange(t, told); !errors.Is(c.Err, fs.ErrNotExist) || c.Pack != nil || c.Empty() {
		t.Errorf("%+v", c)
	}
	write(t, index, encode(rec{"a.wav", 0, 10}, rec{"ghost.wav", 5, 10}))
	if c := nextChange(t, told); said(&c) != "added ghost.wav; changed ; removed " {
		t.Errorf("%s", said(&c))
	}
	write(t, index, encode(rec{"b.wav", 0, 10})) // and back again
	if c := nextChange(t, told); said(&c) != "added ; changed ; removed ghost.wav; a.wav is now b.wav" {
		t.Errorf("%s", said(&c))
	}
}

// A pack that was replaced between opening and watching is told at once.
func TestWatchLate(t *testing.T) {
	p := create(t, []Source{bodySource("a.wav", "one")}, nil)
	if err := Create(t.Context(), p.Path(), []Source{bodySource("a.wav", "two")}, &CreateOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	c := nextChange(t, watched(t, p, quick))
	if b, err := c.Pack.ReadFile("a.wav"); said(&c) != "added ; changed a.wav; removed " || string(b) != "two" {
		t.Errorf("%s: %q, %v", said(&c), b, err)
	}
}

// The pack may be a link to where it really lies.
func TestWatchLink(t *testing.T) {
	p := create(t, []Source{bodySource("a.wav", "one")}, nil)
	dir := t.TempDir()
	link := filepath.Join(dir, "link.data")
	if err := errors.Join(os.Symlink(p.Path(), link), os.Symlink(p.IndexPath(), filepath.Join(dir, "link.inx"))); err != nil {
		t.Skip(err)
	}
	pace := quick
	pace.look = time.Hour
	told := watched(t, mustOpen(t, link), pace)
	if err := Create(t.Context(), p.Path(), []Source{bodySource("b.wav", "one")}, &CreateOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if c := nextChange(t, told); said(&c) != "added ; changed ; removed ; a.wav is now b.wav" {
		t.Errorf("%s", said(&c))
	}
}

// F12, F33: a watcher that follows many reloads holds nothing back.
func TestWatchManyReloads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "music.data")
	body := func(i int) Source { return bodySource("a.wav", fmt.Sprint("body ", i)) }
	if err := Create(t.Context(), path, []Source{body(0)}, nil); err != nil {
		t.Fatal(err)
	}
	first := mustOpen(t, path)
	told := watched(t, first, quick)
	var before int
	for i := 1; i <= 60; i++ {
		if err := Create(t.Context(), path, []Source{body(i)}, &CreateOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		c := nextChange(t, told)
		if b, err := c.Pack.ReadFile("a.wav"); !bytes.Equal(b, fmt.Append(nil, "body ", i)) {
			t.Errorf("reload %d: %q, %v", i, b, err)
		}
		c.Pack.Close()
		if i == 10 {
			before = openFiles(t)
		}
	}
	if after := openFiles(t); after > before+2 {
		t.Errorf("%d files are open after 60 reloads, %d after 10", after, before)
	}
	if b, err := first.ReadFile("a.wav"); string(b) != "body 0" {
		t.Errorf("the first pack reads %q, %v", b, err)
	}
}

func openFiles(t *testing.T) int {
	l, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(l)
}
