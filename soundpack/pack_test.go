package soundpack

import (
	"bytes"
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
)

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("only.data"), nil)
	write(t, at("alone.inx"), nil)
	write(t, at("big.data"), nil)
	write(t, at("big.inx"), make([]byte, 28*3))
	if err := errors.Join(os.Mkdir(at("folder.data"), 0o777), os.Mkdir(at("x.inx"), 0o777)); err != nil {
		t.Fatal(err)
	}
	write(t, at("x.data"), nil)
	for _, c := range []struct {
		path  string
		opt   *Options
		is    error
		words []string
	}{
		{"nosuch.data", nil, fs.ErrNotExist, []string{"nosuch.data"}},
		{"only.data", nil, fs.ErrNotExist, []string{"index", "only.inx"}},
		{"alone.data", nil, fs.ErrNotExist, []string{"alone.data"}},
		{"alone.inx", nil, nil, []string{"alone.inx", "give the data file"}},
		{"folder.data", nil, nil, []string{"folder.data", "not a regular file"}},
		{"x.data", nil, nil, []string{"x.inx", "not a regular file"}},
		{"big.data", &Options{MaxIndex: 83}, ErrLimit, []string{"big.inx", "84", "83"}},
		{"big.data", &Options{Layout: "zip"}, errors.ErrUnsupported, []string{"zip"}},
		{"big.data", &Options{Index: at("elsewhere.inx")}, fs.ErrNotExist, []string{"elsewhere.inx"}},
	} {
		p, err := Open(at(c.path), c.opt)
		if err == nil {
			p.Close()
			t.Errorf("Open(%q): no error", c.path)
			continue
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("Open(%q): %v is no %v", c.path, err, c.is)
		}
		contains(t, c.path, err.Error(), append(c.words, "soundpack: open")...)
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("Open(%q): more than a line: %q", c.path, err)
		}
	}
	p, err := Open(at("alone.inx"), &Options{Index: at("big.inx"), MaxIndex: 84, Layout: "split"})
	if err != nil || p.Len() != 3 || p.IndexPath() != at("big.inx") || p.Path() != at("alone.inx") || p.Layout() != "split" {
		t.Errorf("Open with an index: %+v, %v", p, err)
	}
	p.Close()
}

func TestOpenEmptyPack(t *testing.T) {
	for _, noMap := range []bool{false, true} {
		p, err := Open(writePack(t, nil, nil), &Options{NoMap: noMap})
		if err != nil {
			t.Fatal(err)
		}
		l, err := p.ReadDir(".")
		if len(l) != 0 || err != nil || p.Len() != 0 || p.DataSize() != 0 {
			t.Errorf("ReadDir: %v %v; %d entries", l, err, p.Len())
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An entry out of bounds stays listed and is refused by name; the others work.
func TestBounds(t *testing.T) {
	data := pattern(1000)
	const max = 1<<32 - 1
	p := openRecs(t, data,
		rec{"all", 0, 1000}, rec{"last", 999, 1}, rec{"none", 0, 0}, rec{"none at end", 1000, 0}, rec{"none far", max, 0},
		rec{"one over", 0, 1001}, rec{"at end", 1000, 1}, rec{"far", max, 1}, rec{"wraps", max, max}, rec{"wraps to 0", 1, max}, rec{"long", 0, max})
	for i, e := range slices.Collect(p.Entries()) {
		good := i < 5
		checkEntry(t, p, e, good, data)
		if got, ok := p.Lookup(e.Name); !ok || got != e {
			t.Errorf("Lookup(%q): %+v %v", e.Name, got, ok)
		}
	}
	for _, e := range []Entry{{Size: 1 << 62, Offset: 1 << 62}, {Size: -1}, {Offset: -1, Size: 2}, {Offset: 1<<63 - 1, Size: 1<<63 - 1}} {
		if _, err := p.Section(e); !errors.Is(err, ErrFormat) {
			t.Errorf("Section(%+v): %v, want ErrFormat", e, err)
		}
	}
}

// checkEntry reads an entry in every way there is.
func checkEntry(t *testing.T, p *Pack, e Entry, good bool, data []byte) {
	t.Helper()
	ways := map[string]func() ([]byte, error){
		"ReadFile": func() ([]byte, error) { return p.ReadFile(e.Name) },
		"Open": func() ([]byte, error) {
			f, err := p.Open(e.Name)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return io.ReadAll(f)
		},
		"OpenEntry": func() ([]byte, error) {
			f, err := p.OpenEntry(e)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			b := make([]byte, f.Size())
			_, err = io.ReadFull(io.NewSectionReader(f, 0, f.Size()), b)
			return b, err
		},
		"Section": func() ([]byte, error) {
			s, err := p.Section(e)
			if err != nil {
				return nil, err
			}
			return io.ReadAll(s)
		},
	}
	for way, f := range ways {
		b, err := f()
		if good {
			if err != nil || !bytes.Equal(b, data[min(e.Offset, 1000):][:e.Size]) {
				t.Errorf("%s(%q): %d bytes, error %v", way, e.Name, len(b), err)
			}
			continue
		}
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s(%q): error %v, want ErrFormat", way, e.Name, err)
			continue
		}
		contains(t, way, err.Error(), e.Name, "music.data", fmt.Sprintf("at %#x", e.Offset), "1000 bytes")
	}
}

func TestClose(t *testing.T) {
	data := pattern(5000)
	for _, noMap := range []bool{false, true} {
		p, err := Open(writePack(t, encode(rec{"a.wav", 100, 4000}), data), &Options{NoMap: noMap})
		if err != nil {
			t.Fatal(err)
		}
		e, _ := p.Lookup("a.wav")
		f, err := p.OpenEntry(e)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Section(e)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := p.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		if b, err := io.ReadAll(f); err != nil || !bytes.Equal(b, data[100:4100]) {
			t.Errorf("a File open before Close: %d bytes, %v", len(b), err)
		}
		if b, err := io.ReadAll(s); err != nil || len(b) != 4000 {
			t.Errorf("a Section while a File pins: %d bytes, %v", len(b), err)
		}
		for what, err := range map[string]error{
			"Open": second(p.Open("a.wav")), "OpenEntry": second(p.OpenEntry(e)), "Section": second(p.Section(e)), "Stat": second(p.Stat("a.wav")),
			"ReadFile": second(p.ReadFile("a.wav")), "ReadDir": second(p.ReadDir(".")), "Extract": p.Extract(t.Context(), t.TempDir(), nil, nil),
		} {
			if !errors.Is(err, ErrClosed) || !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s after Close: %v, want ErrClosed", what, err)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, ErrClosed) {
			t.Errorf("ReadAt of a closed File: %v", err)
		}
		if err := f.Close(); !errors.Is(err, ErrClosed) {
			t.Errorf("second Close of a File: %v", err)
		}
		if _, err := s.ReadAt(make([]byte, 1), 0); !errors.Is(err, ErrClosed) {
			t.Errorf("Section after the last pin: %v", err)
		}
		if n := p.m.refs.Load(); n != 0 {
			t.Errorf("%d pins left", n)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// F13: closing races reading. Every read gives the right bytes or ErrClosed.
func TestCloseRaces(t *testing.T) {
	data := pattern(1 << 16)
	path := writePack(t, encode(rec{"a.wav", 0, 1 << 16}), data)
	rounds, reads := 50, 200
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		p, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := p.Lookup("a.wav")
		section, err := p.Section(e)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for g := range 8 {
			f, err := p.OpenEntry(e)
			if err != nil {
				t.Fatal(err)
			}
			wg.Add(2)
			for _, r := range []io.ReaderAt{f, section} {
				go func() {
					defer wg.Done()
					b := make([]byte, 100)
					for i := range reads {
						off := int64((g*7919 + i*104729) % (1<<16 - 100))
						n, err := r.ReadAt(b, off)
						if err != nil && !errors.Is(err, ErrClosed) || err == nil && !bytes.Equal(b[:n], data[off:off+100]) {
							t.Errorf("read at %d: %d bytes, %v", off, n, err)
							return
						}
					}
				}()
			}
			go f.Close()
		}
		p.Close()
		wg.Wait()
	}
}

// A snapshot stays what it was when both files are replaced, and a new Open sees the new pair.
func TestSnapshot(t *testing.T) {
	old := pattern(3000)
	path := writePack(t, encode(rec{"a.wav", 1000, 2000}), old)
	p := mustOpen(t, path)
	f, err := p.Open("A.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	replace := func(name string, b []byte) {
		write(t, name+".new", b)
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	replace(path, []byte("new"))
	replace(p.IndexPath(), encode(rec{"b.wav", 0, 3}))
	if b, err := io.ReadAll(f); err != nil || !bytes.Equal(b, old[1000:]) {
		t.Errorf("open file: %d bytes, %v", len(b), err)
	}
	if b, err := p.ReadFile("a.wav"); err != nil || !bytes.Equal(b, old[1000:]) {
		t.Errorf("open pack: %d bytes, %v", len(b), err)
	}
	if b, err := mustOpen(t, path).ReadFile("b.wav"); err != nil || string(b) != "new" {
		t.Errorf("new pack: %q, %v", b, err)
	}
}

// Opening while a writer replaces both files, index before data, never takes halves that do not
// belong together: each data file holds one byte over and over, and its index names its length.
func TestOpenBesideWriter(t *testing.T) {
	pair := func(n int) ([]byte, []byte) {
		return encode(rec{fmt.Sprintf("%d", n), 0, uint32(n)}), bytes.Repeat([]byte{byte(n)}, n)
	}
	index, data := pair(1)
	path := writePack(t, index, data)
	dir := filepath.Dir(path)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 2; ; n = n%200 + 1 {
			select {
			case <-stop:
				return
			default:
			}
			// An append, as a writer does it: the data grows, then the index is replaced.
			index, data := pair(n)
			for name, b := range map[string][]byte{"music.data": append(slices.Clone(data), data...), "music.inx": index} {
				tmp := filepath.Join(dir, name+".tmp")
				if err := errors.Join(os.WriteFile(tmp, b, 0o644), os.Rename(tmp, filepath.Join(dir, name))); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	for range 500 {
		p, err := Open(path, nil)
		if errors.Is(err, errReplaced) {
			continue // the writer never rests, so that even fifty tries may fail
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.Len() != 1 {
			t.Fatalf("%d entries", p.Len())
		}
		if int64(p.m.r.Len()) < p.m.size {
			t.Fatalf("mapped %d bytes of %d", p.m.r.Len(), p.m.size)
		}
		b, err := p.ReadFile(p.Entry(0).Name)
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
		if s, err := p.Section(p.Entry(0)); err == nil {
			mapped, err := io.ReadAll(s)
			if err != nil || !bytes.Equal(mapped, b) {
				t.Fatalf("the mapping and the descriptor are two files: %x, %x, %v", mapped, b, err)
			}
		}
		p.Close()
	}
	close(stop)
	wg.Wait()
}

// Opening and closing leaves no descriptor and no mapping behind.
func TestOpenLeaks(t *testing.T) {
	count := func(file string) int {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Skip("no /proc")
		}
		return bytes.Count(b, []byte("music.data"))
	}
	path := writePack(t, encode(rec{"a.wav", 0, 10}), pattern(10))
	broken := writePack(t, bytes.Repeat([]byte("text, no index"), 100), nil)
	for range 1000 {
		p := mustOpen(t, path)
		f, err := p.Open("a.wav")
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		f.Close()
		if _, err := Open(broken, nil); err == nil {
			t.Fatal("broken pack opened")
		}
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if maps := count("/proc/self/maps"); maps > 0 || err == nil && len(fds) > 50 {
		t.Errorf("%d mappings and %d descriptors left", maps, len(fds))
	}
}
