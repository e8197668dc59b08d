package soundpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// source is a file in memory.
func source(name string, b []byte) Source {
	return Source{Name: name, Path: name, Size: int64(len(b)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b)), nil
	}}
}

// checkPack compares a pack on disk with what it shall hold, in order.
func checkPack(t testing.TB, path string, want []Source) {
	t.Helper()
	p, err := Open(path, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer p.Close()
	if p.Len() != len(want) {
		t.Errorf("%d entries, want %d", p.Len(), len(want))
		return
	}
	for i, s := range want {
		r, err := s.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r)
		r.Close()
		if got, err := p.ReadFile(s.Name); p.Entry(i).Name != s.Name || err != nil || !bytes.Equal(got, body) {
			t.Errorf("entry %d: %q with %d bytes, %v; want %q with %d", i, p.Entry(i).Name, len(got), err, s.Name, len(body))
		}
	}
	r, err := p.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Kind != "shared" {
			t.Errorf("verify: %v", f)
		}
	}
}

func TestCreate(t *testing.T) {
	for _, sources := range [][]Source{
		nil,
		{source("a.wav", []byte("hello"))},
		{source("z.wav", pattern(300_000)), source("Empty", nil), source("a nineteen bytes.x", pattern(262_144)), source("ünï.ogg", pattern(1))},
	} {
		for _, plain := range []bool{true, false} {
			path := filepath.Join(t.TempDir(), "music.data")
			var last int64
			err := Create(t.Context(), path, sources, &CreateOptions{Plain: plain, Progress: func(done, total int64) {
				if done <= last || done > total {
					t.Errorf("progress %d after %d of %d", done, last, total)
				}
				last = done
			}})
			if err != nil {
				t.Fatal(err)
			}
			checkPack(t, path, sources)
			if l := listing(t, filepath.Dir(path)); !slices.Equal(l, []string{"music.data", "music.inx"}) {
				t.Errorf("files: %q", l)
			}
			p := mustOpen(t, path)
			m, ok := p.Lookup(manifestName)
			if want := !plain && len(sources) > 0; ok != want || ok && m.Index != p.Len() {
				t.Errorf("plain %v: manifest %+v, %v, want %v", plain, m, ok, want)
			}
			if info, _ := os.Stat(path); info.Mode().Perm()&0o444 == 0 || info.Size() != last+m.Size {
				t.Errorf("data: %v, progress ended at %d", info, last)
			}
		}
	}
}

// TestCreateLooks has what looks into bodies read them at any place, those that are kept at hand in part
// too.
func TestCreateLooks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, factsHead - 1, factsHead, factsHead + 1, 400 << 10} {
		body := pattern(n)
		asked := 0
		create(t, []Source{source("before.wav", pattern(77)), source("b.wav", body)}, &CreateOptions{Facts: func(r io.ReaderAt, size int64) (Facts, error) {
			if asked++; asked == 1 {
				return Facts{}, nil
			}
			for range 200 {
				b := make([]byte, rng.IntN(2*factsHead))
				off := rng.Int64N(size + 10)
				got, err := r.ReadAt(b, off)
				want := min(len(b), max(n-int(off), 0))
				if got != want || !bytes.Equal(b[:got], body[min(int(off), n):][:got]) || (err == nil) != (got == len(b)) || err != nil && err != io.EOF {
					t.Fatalf("%d of %d bytes at %d: %d, %v", len(b), n, off, got, err)
				}
			}
			return Facts{}, nil
		}})
		if asked != 2 {
			t.Errorf("asked %d times", asked)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	big := func(name string, size int64) Source { // never opened
		return Source{Name: name, Path: name, Size: size, Open: func() (io.ReadCloser, error) { t.Error("opened"); return nil, errors.New("opened") }}
	}
	for _, c := range []struct {
		what    string
		sources []Source
		opt     CreateOptions
		is      error
		words   []string
	}{
		{"names", []Source{big("ok.wav", 1), big("sfx/hit.wav", 1), big("", 1), big("a name that is too long", 1), big("CON", 1)}, CreateOptions{Plain: true}, fs.ErrInvalid,
			[]string{"4 names", `"sfx/hit.wav"`, `""`, `"a name that is too long" (23 bytes, and 19 is the most)`, `"CON"`}},
		{"paths", []Source{big("ok/a long name, but fine.wav", 1), big("../x", 1), big("/abs", 1), big("a//b", 1), big("c/", 1), big("d/com1.wav", 1), big("e/.hidden", 1),
			big(`f\g/h`, 1), big("bell\a/x", 1), big(strings.Repeat("x", 256), 1), big(strings.Repeat("d/", 32)+"x", 1), big(strings.Repeat("12345678/", 120), 1), big("\xff/x", 1)},
			CreateOptions{}, fs.ErrInvalid, []string{"12 names", `"../x" ("..": `, `"/abs"`, `"a//b"`, `"c/"`, `"d/com1.wav" ("com1.wav": the name of a device`, `"e/.hidden"`, "(256 bytes, and 255 is the most)", "33 elements", "1080 bytes, and 1024", "UTF-8"}},
		{"twins by full name", []Source{big("a/long folder and/Hit.wav", 1), big("A/Long folder and/hit.wav", 1)}, CreateOptions{}, fs.ErrInvalid,
			[]string{"a/long folder and/Hit.wav and A/Long folder and/hit.wav"}},
		{"file and folder", []Source{big("a", 1), big("A/b", 1), big("B/c/d", 1), big("b/C", 1)}, CreateOptions{}, fs.ErrInvalid,
			[]string{"2 names", "a and A/b (a file and a folder", "b/C and B/c/d"}},
		{"twins", []Source{big("Hit.wav", 1), big("b", 1), big("hIT.WAV", 1)}, CreateOptions{}, fs.ErrInvalid, []string{"Hit.wav and hIT.WAV"}},
		{"4 GiB", []Source{big("a", 1<<32-1), big("over.wav", 1)}, CreateOptions{}, ErrLimit, []string{"over.wav", "4294967295"}},
		{"huge", []Source{big("a", 1<<62), big("b", 1<<62)}, CreateOptions{}, ErrLimit, []string{`"a"`}},
		{"negative", []Source{big("a", -1)}, CreateOptions{}, fs.ErrInvalid, []string{"a: size -1"}},
		{"layout", nil, CreateOptions{Layout: "tar"}, errors.ErrUnsupported, []string{"tar"}},
		{"one path", nil, CreateOptions{Index: "DATA"}, fs.ErrInvalid, []string{"the same path"}},
		{"no folder for the index", nil, CreateOptions{Index: filepath.Join("nosuch", "x.inx")}, fs.ErrNotExist, []string{"nosuch"}},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "music.data")
		if c.opt.Index != "" {
			c.opt.Index = filepath.Join(dir, strings.Replace(c.opt.Index, "DATA", "music.data", 1))
		}
		err := Create(t.Context(), path, c.sources, &c.opt)
		if !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", c.what, err, c.is)
			continue
		}
		contains(t, c.what, err.Error(), append(c.words, "soundpack: create music.data")...)
		if l := listing(t, dir); len(l) > 0 {
			t.Errorf("%s: left %q", c.what, l)
		}
	}
}

func TestCreateOverOld(t *testing.T) {
	old := []Source{source("old.wav", pattern(1000))}
	fresh := []Source{source("new.wav", pattern(5000)), source("new2.wav", pattern(10))}
	for _, there := range []string{"music.data", "music.inx"} {
		path := filepath.Join(t.TempDir(), "music.data")
		write(t, filepath.Join(filepath.Dir(path), there), []byte("precious"))
		err := Create(t.Context(), path, fresh, nil)
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("over %s: %v, want fs.ErrExist", there, err)
			continue
		}
		contains(t, "error", err.Error(), there)
		if got := read(t, filepath.Join(filepath.Dir(path), there)); string(got) != "precious" {
			t.Errorf("%s is now %q", there, got)
		}
		if err := Create(t.Context(), path, fresh, &CreateOptions{Force: true}); err != nil {
			t.Error(err)
		}
		checkPack(t, path, fresh)
	}
	path := filepath.Join(t.TempDir(), "music.data")
	if err := Create(t.Context(), path, old, nil); err != nil {
		t.Fatal(err)
	}
	held := mustOpen(t, path)
	if err := Create(t.Context(), path, fresh, &CreateOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	checkPack(t, path, fresh)
	if b, err := held.ReadFile("old.wav"); err != nil || !bytes.Equal(b, pattern(1000)) {
		t.Errorf("a reader of the old pack: %d bytes, %v", len(b), err)
	}
	if l := listing(t, filepath.Dir(path)); len(l) != 2 {
		t.Errorf("files: %q", l)
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := Create(t.Context(), path, fresh, &CreateOptions{Force: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a folder: %v", err)
	}
}

// A folder that the pack itself lies in is packed without it.
func TestCreateIntoItsOwnFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.wav"), []byte("aaa"))
	path := filepath.Join(dir, "music.data")
	for round := range 3 {
		var told []string
		notice := func(path, text string) { told = append(told, filepath.Base(path)) }
		src, err := Sources([]string{dir}, notice)
		if err != nil {
			t.Fatal(err)
		}
		if err := Create(t.Context(), path, src, &CreateOptions{Force: true, Notice: notice}); err != nil {
			t.Fatal(err)
		}
		checkPack(t, path, []Source{source("a.wav", []byte("aaa"))})
		if round > 0 && !slices.Equal(told, []string{"music.data", "music.inx"}) {
			t.Errorf("round %d: told of %q", round, told)
		}
	}
}

// Sources that are not what they were: too long, too short, broken, gone, without end.
func TestCreateSourceChanges(t *testing.T) {
	read := func(r io.Reader) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(r), nil }
	}
	errBroken := errors.New("broken")
	for _, c := range []struct {
		what string
		size int64
		open func() (io.ReadCloser, error)
		is   error
		word string
	}{
		{"grew", 10, read(strings.NewReader("12345678901")), nil, "grew beyond its 10 bytes"},
		{"grew from nothing", 0, read(strings.NewReader("1")), nil, "grew beyond its 0 bytes"},
		{"shrank", 10, read(strings.NewReader("123456789")), nil, "from 10 bytes to 9"},
		{"endless", 10, read(endless{}), nil, "grew"},
		{"idle", 10, read(idle{}), io.ErrNoProgress, ""},
		{"broken", 10, read(io.MultiReader(strings.NewReader("12"), broken{errBroken})), errBroken, "broken"},
		{"gone", 10, func() (io.ReadCloser, error) { return os.Open("nosuch.wav") }, fs.ErrNotExist, ""},
	} {
		dir := t.TempDir()
		err := Create(t.Context(), filepath.Join(dir, "music.data"), []Source{source("ok.wav", pattern(10)), {Name: "x.wav", Path: "dir/x.wav", Size: c.size, Open: c.open}}, nil)
		if err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", c.what, err, c.is)
			continue
		}
		contains(t, c.what, err.Error(), "music.data", "dir/x.wav", c.word)
		if l := listing(t, dir); len(l) > 0 {
			t.Errorf("%s: left %q", c.what, l)
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

func TestCreateCancelled(t *testing.T) {
	src := []Source{source("a.wav", pattern(1<<20)), source("b.wav", pattern(1<<20))}
	for stop := int64(0); stop <= 2<<20; stop += 256 << 10 {
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		if stop == 0 {
			cancel()
		}
		err := Create(ctx, filepath.Join(dir, "music.data"), src, &CreateOptions{Progress: func(done, total int64) {
			if done == stop {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %d: %v", stop, err)
		}
		if l := listing(t, dir); len(l) > 0 {
			t.Errorf("cancelled at %d: left %q", stop, l)
		}
	}
}

// faulty is the file layer failing at its n-th operation, counted from 0. Removing does not count.
type faulty struct {
	storage.FS
	err error
	at  int
	ops []string
}

func (f *faulty) op(name, path string) error {
	f.ops = append(f.ops, name+" "+filepath.Base(path))
	if n := len(f.ops) - 1; n == f.at {
		return &fs.PathError{Op: name, Path: path, Err: f.err}
	}
	return nil
}

func (f *faulty) Create(path string) (storage.File, error) {
	if err := f.op("create", path); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(path)
	return &faultyFile{file, f, path}, err
}

func (f *faulty) Rename(old, new string) error {
	return errors.Join(f.op("rename", new), f.unless(func() error { return f.FS.Rename(old, new) }))
}

func (f *faulty) Remove(path string) error { return f.FS.Remove(path) }

func (f *faulty) SyncDir(dir string) error {
	return errors.Join(f.op("syncdir", dir), f.unless(func() error { return f.FS.SyncDir(dir) }))
}

// unless does it unless the last operation was the one to fail.
func (f *faulty) unless(do func() error) error {
	if len(f.ops)-1 == f.at {
		return nil
	}
	return do()
}

type faultyFile struct {
	storage.File
	f    *faulty
	path string
}

func (f *faultyFile) Write(b []byte) (int, error) {
	if err := f.f.op("write", f.path); err != nil {
		n, _ := f.File.Write(b[:len(b)/2])
		return n, err
	}
	return f.File.Write(b)
}

func (f *faultyFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.f.op("write", f.path); err != nil {
		n, _ := f.File.WriteAt(b[:len(b)/2], off)
		return n, err
	}
	return f.File.WriteAt(b, off)
}

func (f *faultyFile) Truncate(size int64) error {
	return errors.Join(f.f.op("truncate", f.path), f.f.unless(func() error { return f.File.Truncate(size) }))
}

func (f *faultyFile) Sync() error {
	if err := f.f.op("sync", f.path); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultyFile) Close() error { return errors.Join(f.f.op("close", f.path), f.File.Close()) }

// F04, F05, F06: every operation fails in turn with each error. There is no pack then, or the old
// files, which are none, to the byte, and nothing else is left; after the last rename the new one is
// there and ErrDurability says what is not known. (TestWriterFaults has packs that are whole.)
func TestCreateFaults(t *testing.T) {
	fresh := []Source{source("new.wav", pattern(300_000)), source("new2.wav", pattern(10)), source("twins/with a long name", pattern(10))}
	for _, old := range []map[string]string{{}, {"music.data": "precious"}, {"music.inx": "precious"}, {"music.data": "precious", "music.inx": "rubbish"}} {
		for _, errno := range errnos() {
			for at := 0; createFault(t, old, fresh, errno, at); at++ {
			}
		}
	}
}

// createFault fails the operation at, and is false if there are not so many.
func createFault(t *testing.T, old map[string]string, fresh []Source, errno error, at int) bool {
	dir := t.TempDir()
	path := filepath.Join(dir, "music.data")
	for name, text := range old {
		write(t, filepath.Join(dir, name), []byte(text))
	}
	f := &faulty{FS: storage.OS{}, err: errno, at: at}
	err := Create(t.Context(), path, fresh, &CreateOptions{Force: len(old) > 0, storage: f})
	what := fmt.Sprintf("over %q, %v at %d of %v", old, errno, at, f.ops)
	if at >= len(f.ops) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		checkPack(t, path, fresh)
		return false
	}
	if !errors.Is(err, errno) {
		t.Errorf("%s: error %v", what, err)
		return true
	}
	files := listing(t, dir)
	if errors.Is(err, ErrDurability) {
		if at != len(f.ops)-1 {
			t.Errorf("%s: %v", what, err)
		}
		checkPack(t, path, fresh)
		if len(files) != 2 {
			t.Errorf("%s: files %q", what, files)
		}
		return true
	}
	for name, text := range old {
		if b, _ := os.ReadFile(filepath.Join(dir, name)); string(b) != text {
			t.Errorf("%s: %s is %q now", what, name, b)
		}
	}
	if len(files) != len(old) {
		t.Errorf("%s: files %q", what, files)
	}
	return true
}

// The order in which things become durable: each file before its name, the data before the index.
func TestCreateOrder(t *testing.T) {
	f := &faulty{FS: storage.OS{}, at: -1}
	path := filepath.Join(t.TempDir(), "music.data")
	if err := Create(t.Context(), path, []Source{source("a.wav", pattern(10))}, &CreateOptions{storage: f}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, op := range f.ops {
		verb, file, _ := strings.Cut(op, " ")
		switch {
		case verb == "syncdir":
			file = "folder"
		case strings.HasSuffix(file, ".tmp"):
			file = strings.Split(file, ".")[1] + ".tmp"
		}
		got = append(got, verb+" "+file)
	}
	want := []string{"create data.tmp", "write data.tmp", "write data.tmp", "sync data.tmp", "close data.tmp", "create inx.tmp", "write inx.tmp", "sync inx.tmp", "close inx.tmp",
		"rename music.data", "syncdir folder", "rename music.inx", "syncdir folder"}
	if !slices.Equal(got, want) {
		t.Errorf("operations:\n%q, want\n%q", got, want)
	}
}

// The memory that Create takes does not grow with the bytes packed.
func TestCreateMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 64 MiB")
	}
	used := func(size int64) uint64 {
		s := Source{Name: "a", Path: "a", Size: size, Open: func() (io.ReadCloser, error) { return io.NopCloser(io.LimitReader(endless{}, size)), nil }}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := Create(t.Context(), filepath.Join(t.TempDir(), "m.data"), []Source{s}, nil); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, big := used(1<<20), used(64<<20); big > small+1<<20 {
		t.Errorf("1 MiB takes %d bytes of memory, 64 MiB %d", small, big)
	}
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"b.wav", "a.wav", "sub/c.wav", "sub.wav", "Z.wav", "desktop.INI", "__MACOSX/x.wav", "sub/._c.wav"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(f)), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, f), []byte(f))
	}
	if err := os.Symlink("a.wav", filepath.Join(dir, "link.wav")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("sub", filepath.Join(dir, "linked")); err != nil {
		t.Skip(err)
	}
	var told []string
	notice := func(path, text string) {
		rel, _ := filepath.Rel(dir, path)
		told = append(told, filepath.ToSlash(rel))
	}
	src, err := Sources([]string{filepath.Join(dir, "b.wav"), dir, filepath.Join(dir, "desktop.INI")}, notice)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"b.wav", "Z.wav", "a.wav", "b.wav", "link.wav", "sub.wav", "sub/c.wav", "desktop.INI"}
	for i, s := range src {
		r, err := s.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r)
		r.Close()
		if i >= len(want) || s.Name != want[i] || int64(len(b)) != s.Size || !strings.HasPrefix(s.Path, dir) {
			t.Errorf("source %d: %+v with %d bytes, want %q", i, s, len(b), want)
		}
	}
	if len(src) != len(want) {
		t.Errorf("%d sources, want %d", len(src), len(want))
	}
	slices.Sort(told)
	if want := []string{"__MACOSX", "desktop.INI", "linked", "sub/._c.wav"}; !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
	if _, err := Sources([]string{filepath.Join(dir, "nosuch.wav")}, nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nosuch.wav") {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Sources([]string{os.DevNull}, nil); err == nil {
		t.Errorf("a device: no error")
	}
}

func TestSourcesFS(t *testing.T) {
	m := fstest.MapFS{"b.wav": {Data: []byte("bb")}, "a.wav": {Data: []byte("a"), ModTime: time.Now()}, "Thumbs.db": {}}
	src, err := SourcesFS(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "music.data")
	if err := Create(t.Context(), path, src, nil); err != nil {
		t.Fatal(err)
	}
	checkPack(t, path, []Source{source("a.wav", []byte("a")), source("b.wav", []byte("bb"))})
	// A pack is a file system too, and packed again it is the same pack.
	again, err := SourcesFS(mustOpen(t, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(t.TempDir(), "again.data")
	if err := Create(t.Context(), second, again, nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, path), read(t, second)) {
		t.Error("packed again, the data differs")
	}
}

// X06: a folder that cannot be written.
func TestCreateReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		f.Close()
		os.Remove(f.Name())
		t.Skip("this user may write anywhere")
	}
	err := Create(t.Context(), filepath.Join(dir, "music.data"), []Source{source("a.wav", nil)}, nil)
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v, want fs.ErrPermission", err)
	}
}
