package soundpack

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// bodySource is a source that says where it comes from.
func bodySource(name, body string) Source { return source(name, []byte(body)) }

// testStack is base, a pack, under mod, a folder, under dlc, a pack.
func testStack(t *testing.T) *Stack {
	base := create(t, []Source{
		bodySource("jaguar.wav", "base"), bodySource("Theme.ogg", "base"), bodySource("music/battle theme of the boss.wav", "base"),
		bodySource("music/quiet.wav", "base"), bodySource("both", "base"), bodySource("only/in/base.wav", "base"),
	}, nil)
	dir := t.TempDir()
	for _, name := range []string{"jaguar.wav", "music/quiet.wav", "music/extra.wav", "both/inner.wav", "mod.txt"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), []byte("mod"))
	}
	dlc := create(t, []Source{bodySource("JAGUAR.wav", "dlc"), bodySource("music/Battle theme of the boss.wav", "dlc"), bodySource("MUSIC/new.wav", "dlc")}, nil)
	s := &Stack{}
	s.Mount("base", base)
	s.Mount("mod", os.DirFS(dir))
	s.Mount("dlc", dlc)
	return s
}

func TestStack(t *testing.T) {
	s := testStack(t)
	if err := fstest.TestFS(s, "JAGUAR.wav", "Theme.ogg", "music/Battle theme of the boss.wav", "music/quiet.wav", "music/extra.wav", "music/new.wav", "both/inner.wav", "mod.txt", "only/in/base.wav"); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ name, layer string }{
		{"jaguar.wav", "dlc"}, {"Jaguar.WAV", "dlc"}, {"theme.OGG", "base"}, {"music/quiet.wav", "mod"}, {"music/QUIET.wav", "base"}, // the folder knows only its own case
		{"music/battle theme of the boss.wav", "dlc"}, {"music/new.wav", "dlc"}, {"both/inner.wav", "mod"}, {"only/in/BASE.wav", "base"},
	} {
		got, err := s.Which(c.name)
		b, err2 := s.ReadFile(c.name)
		if got != c.layer || err != nil || err2 != nil || string(b) != c.layer {
			t.Errorf("%q: layer %q with %q, %v %v; want %q", c.name, got, b, err, err2, c.layer)
		}
		f, err := s.Open(c.name)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, ok := f.(*File); ok != (c.layer != "mod") {
			t.Errorf("%q: opened as %T", c.name, f)
		}
		f.Close()
	}
	if l := s.Layers(); !slices.Equal(l, []string{"base", "mod", "dlc"}) {
		t.Errorf("layers %q", l)
	}
	for dir, want := range map[string]string{
		".":       "JAGUAR.wav Theme.ogg both/ mod.txt music/ only/",
		"music":   "Battle theme of the boss.wav extra.wav new.wav quiet.wav",
		"both":    "inner.wav",
		"only/in": "base.wav",
	} {
		l, err := s.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		var got []string
		for _, d := range l {
			name := d.Name()
			if d.IsDir() {
				name += "/"
			}
			got = append(got, name)
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("ReadDir(%q): %q, want %q", dir, g, want)
		}
	}
}

func TestStackErrors(t *testing.T) {
	s := testStack(t)
	for _, c := range []struct {
		name string
		is   error
	}{
		{"nosuch.wav", fs.ErrNotExist}, {"jaguar.wav/x", fs.ErrNotExist}, {"../x", fs.ErrInvalid}, {"", fs.ErrInvalid}, {"/x", fs.ErrInvalid},
		{"nul\x00", fs.ErrNotExist}, {strings.Repeat("x", 5000), fs.ErrNotExist}, {`a\b`, fs.ErrNotExist}, {manifestName + "/x", fs.ErrNotExist},
	} {
		_, err := s.Which(c.name)
		for op, err := range map[string]error{"Open": second(s.Open(c.name)), "Stat": second(s.Stat(c.name)), "ReadFile": second(s.ReadFile(c.name)), "ReadDir": second(s.ReadDir(c.name)), "Which": err} {
			var path *fs.PathError
			if !errors.Is(err, c.is) || !errors.As(err, &path) || path.Path != c.name {
				t.Errorf("%s(%q): %v, want a PathError around %v", op, c.name, err, c.is)
			}
		}
	}
	if err := second(s.ReadDir("jaguar.wav")); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("ReadDir of a file: %v", err)
	}
	if err := second(s.ReadFile("music")); err == nil {
		t.Error("ReadFile of a folder: no error")
	}
	// A damaged entry does not uncover the one below it, and neither does a closed pack.
	s.Mount("bad", openRecs(t, pattern(5), rec{"jaguar.wav", 0, 6}))
	if err := second(s.Open("jaguar.wav")); !errors.Is(err, ErrFormat) {
		t.Errorf("a damaged entry: %v", err)
	}
	gone := openRecs(t, pattern(5), rec{"x", 0, 1})
	gone.Close()
	s.Mount("bad", gone)
	if err := second(s.Open("jaguar.wav")); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed pack: %v", err)
	}
	if !s.Unmount("bad") || s.Unmount("bad") {
		t.Error("Unmount: not once")
	}
	if b, err := s.ReadFile("jaguar.wav"); string(b) != "dlc" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestStackEmpty(t *testing.T) {
	s := &Stack{}
	if err := fstest.TestFS(s); err != nil {
		t.Error(err)
	}
	if w, err := s.Which("."); w != "" || err != nil {
		t.Errorf("%q, %v", w, err)
	}
	if err := second(s.ReadFile(".")); err == nil {
		t.Error("reading the folder: no error")
	}
	s.Mount("empty", openRecs(t, nil))
	if err := fstest.TestFS(s); err != nil {
		t.Error(err)
	}
}

// Mounting a label anew swaps that layer where it is, while others read.
func TestStackSwap(t *testing.T) {
	s := &Stack{}
	packs := []*Pack{create(t, []Source{bodySource("x", "one")}, nil), create(t, []Source{bodySource("x", "two")}, nil)}
	s.Mount("base", packs[0])
	s.Mount("top", fstest.MapFS{"y": {Data: []byte("y")}})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 500 {
				if b, err := s.ReadFile("x"); err != nil || string(b) != "one" && string(b) != "two" {
					t.Errorf("%q, %v", b, err)
				}
				if l, err := s.ReadDir("."); err != nil || len(l) != 2 {
					t.Errorf("%v, %v", l, err)
				}
			}
		})
	}
	for i := range 500 {
		s.Mount("base", packs[i%2])
	}
	all.Wait()
	if l := s.Layers(); !slices.Equal(l, []string{"base", "top"}) {
		t.Errorf("layers %q", l)
	}
}

// A folder of the stack is read piece by piece, and closed once.
func TestStackOpenDir(t *testing.T) {
	f, err := testStack(t).Open("music")
	if err != nil {
		t.Fatal(err)
	}
	d := f.(fs.ReadDirFile)
	n := 0
	for {
		l, err := d.ReadDir(3)
		if n += len(l); err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Read(make([]byte, 1)); n != 4 || !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("%d names, %v", n, err)
	}
	if err := errors.Join(f.Close()); err != nil {
		t.Error(err)
	}
	_, err = d.ReadDir(1)
	if _, e := f.Stat(); !errors.Is(f.Close(), ErrClosed) || !errors.Is(err, ErrClosed) || !errors.Is(e, ErrClosed) {
		t.Errorf("after Close: %v %v", err, e)
	}
}

func ExampleStack() {
	var s Stack
	s.Mount("base", fstest.MapFS{"jaguar.wav": {Data: []byte("a growl")}, "theme.ogg": {Data: []byte("a tune")}})
	s.Mount("mod", fstest.MapFS{"jaguar.wav": {Data: []byte("a roar")}})
	for _, name := range []string{"jaguar.wav", "theme.ogg"} {
		b, _ := s.ReadFile(name)
		layer, _ := s.Which(name)
		fmt.Printf("%s: %s, of %s\n", name, b, layer)
	}
	// Output:
	// jaguar.wav: a roar, of mod
	// theme.ogg: a tune, of base
}
