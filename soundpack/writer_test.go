package soundpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
	"github.com/sndpak/sndpak/soundpack/internal/storage/crashsim"
)

var three = contents{{"jaguar.wav", "the jaguar"}, {"Theme.OGG", "the theme, long"}, {"empty", ""}}

// newPack is a pack of contents on disk, made by a writer.
func newPack(t testing.TB, c contents) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "music.data")
	if err := editOnce(t.Context(), storage.OS{}, path, edit{add: c}); err != nil {
		t.Fatal(err)
	}
	return path
}

// mustEdit opens a writer for the time of the test.
func mustEdit(t testing.TB, path string) *Writer {
	t.Helper()
	w, err := Edit(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWriter(t *testing.T) {
	path := newPack(t, three)
	checkContents(t, path, three)
	before := read(t, path)
	w := mustEdit(t, path)
	n, err := w.Remove("THEME.ogg")
	if n != 1 || err != nil {
		t.Errorf("Remove: %d, %v", n, err)
	}
	must(t, w.Replace(source("JAGUAR.wav", []byte("another jaguar")), source("fresh.wav", []byte("f"))))
	must(t, w.Add(source("theme.ogg", []byte("a new theme")), source("last", nil)))
	if w.Len() != 5 {
		t.Errorf("Len %d, want 5", w.Len())
	}
	checkContents(t, path, three) // nothing has happened yet
	must(t, w.Commit(t.Context()))
	want := contents{{"JAGUAR.wav", "another jaguar"}, {"empty", ""}, {"fresh.wav", "f"}, {"theme.ogg", "a new theme"}, {"last", ""}}
	checkContents(t, path, want)
	if after := read(t, path); !bytes.HasPrefix(after, before) || w.DataSize() != int64(len(after)) {
		t.Errorf("the old data is not the beginning of the new, or DataSize %d is not its length %d", w.DataSize(), len(after))
	}
	must(t, w.Commit(t.Context())) // nothing is staged
	must(t, w.Compact(t.Context()))
	checkContents(t, path, want)
	if size := len(read(t, path)); size != 14+1+11 {
		t.Errorf("compacted to %d bytes, want %d", size, 14+1+11)
	}
	must(t, w.Close())
	if err := w.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	_, removed := w.Remove("last")
	for what, err := range map[string]error{"Add": w.Add(), "Commit": w.Commit(t.Context()), "Compact": w.Compact(t.Context()), "Remove": removed} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
	if l := listing(t, filepath.Dir(path)); !slices.Equal(l, []string{"music.data", "music.inx", "music.lock"}) {
		t.Errorf("files %q", l)
	}
}

// What cannot be done is refused before anything is written, in one line that names everything, and
// leaves what was staged before as it was.
func TestWriterRefuses(t *testing.T) {
	big := func(name string, size int64) Source {
		return Source{Name: name, Path: name, Size: size, Open: func() (io.ReadCloser, error) { t.Error("opened"); return nil, io.EOF }}
	}
	for _, c := range []struct {
		what  string
		do    func(w *Writer) error
		is    error
		words []string
	}{
		{"add what is there", func(w *Writer) error { return w.Add(big("new", 1), big("THEME.ogg", 1)) }, fs.ErrExist, []string{`"THEME.ogg"`, `"Theme.OGG"`}},
		{"add twins", func(w *Writer) error { return w.Add(big("a.wav", 1), big("A.WAV", 1)) }, fs.ErrInvalid, []string{"a.wav and A.WAV"}},
		{"replace by twins", func(w *Writer) error { return w.Replace(big("empty", 1), big("EMPTY", 1)) }, fs.ErrInvalid, []string{"empty and EMPTY"}},
		{"names", func(w *Writer) error { return w.Replace(big("CON", 1), big("a:b", 1), big("ok", 1)) }, fs.ErrInvalid, []string{"2 names", `"CON"`, `"a:b"`}},
		{"both", func(w *Writer) error { return w.Add(big("CON", 1), big("empty", 1)) }, fs.ErrInvalid, []string{"2 names", `"CON"`, `"empty"`}},
		{"negative", func(w *Writer) error { return w.Add(big("a", -1)) }, fs.ErrInvalid, []string{"size -1"}},
		{"remove", func(w *Writer) error { _, err := w.Remove("empty", "nosuch.wav", "gone.wav"); return err }, fs.ErrNotExist, []string{`"nosuch.wav", "gone.wav"`, "music.data"}},
		{"4 GiB", func(w *Writer) error {
			return errors.Join(w.Add(big("ok", 1<<31), big("over.wav", 1<<31)), w.Commit(t.Context()))
		}, ErrLimit, []string{"over.wav", "4294967295"}},
	} {
		path := newPack(t, three)
		data, index := read(t, path), read(t, filepath.Join(filepath.Dir(path), "music.inx"))
		w := mustEdit(t, path)
		staged := w.Len()
		err := c.do(w)
		if !errors.Is(err, c.is) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %v", c.what, err, c.is)
			continue
		}
		contains(t, c.what, err.Error(), append(c.words, "soundpack: ")...)
		if w.Len() != staged {
			t.Errorf("%s: %d entries staged, want %d", c.what, w.Len(), staged)
		}
		must(t, w.Commit(t.Context()))
		if !bytes.Equal(read(t, path), data) || !bytes.Equal(read(t, filepath.Join(filepath.Dir(path), "music.inx")), index) {
			t.Errorf("%s: the files changed", c.what)
		}
	}
}

func TestEditRefuses(t *testing.T) {
	dir := t.TempDir()
	good := encode(rec{"a", 0, 1})
	for _, c := range []struct {
		what        string
		data, index []byte // nil: none
		opt         WriterOptions
		is          error
		words       []string
	}{
		{"nothing", nil, nil, WriterOptions{}, fs.ErrNotExist, []string{"music.data"}},
		{"no index", []byte("x"), nil, WriterOptions{}, fs.ErrNotExist, []string{"music.inx"}},
		{"no data", nil, good, WriterOptions{}, fs.ErrNotExist, []string{"music.data"}},
		{"no index, create", []byte("x"), nil, WriterOptions{Create: true}, fs.ErrExist, []string{"music.inx"}},
		{"no data, create", nil, good, WriterOptions{Create: true}, fs.ErrExist, []string{"music.data"}},
		{"F17: a remainder", []byte("x"), append(good, 1), WriterOptions{}, ErrFormat, []string{"music.inx", "29 bytes"}},
		{"F17: text", []byte("x"), []byte("all my sounds are listed here in words"), WriterOptions{}, ErrFormat, []string{"it is text"}},
		{"layout", []byte("x"), good, WriterOptions{Layout: "tar"}, errors.ErrUnsupported, []string{"tar"}},
		{"one path", []byte("x"), good, WriterOptions{Index: filepath.Join(dir, "one path", "music.data")}, fs.ErrInvalid, []string{"the same path"}},
	} {
		path := filepath.Join(dir, c.what, "music.data")
		must(t, os.Mkdir(filepath.Dir(path), 0o777))
		if c.data != nil {
			write(t, path, c.data)
		}
		if c.index != nil {
			write(t, filepath.Join(filepath.Dir(path), "music.inx"), c.index)
		}
		before := listing(t, filepath.Dir(path))
		w, err := Edit(t.Context(), path, &c.opt)
		if !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", c.what, err, c.is)
			if err == nil {
				w.Close()
			}
			continue
		}
		contains(t, c.what, err.Error(), append(c.words, "soundpack: edit music.data")...)
		if after := slices.DeleteFunc(listing(t, filepath.Dir(path)), func(s string) bool { return s == "music.lock" }); !slices.Equal(before, after) {
			t.Errorf("%s: files %q, then %q", c.what, before, after)
		}
	}
	// F17: an index that claims to be huge is refused without reading it.
	path := filepath.Join(t.TempDir(), "music.data")
	write(t, path, nil)
	if err := sparse(filepath.Join(filepath.Dir(path), "music.inx"), 0); err != nil {
		write(t, filepath.Join(filepath.Dir(path), "music.inx"), nil)
	}
	must(t, sparse(filepath.Join(filepath.Dir(path), "music.inx"), 1<<32))
	if _, err := Edit(t.Context(), path, nil); !errors.Is(err, ErrLimit) {
		t.Errorf("an index of 4 GiB: %v, want ErrLimit", err)
	}
}

// An entry past the end of the data would get bytes that are appended. It can be removed, and nothing
// else can be done until it is.
func TestWriterGhost(t *testing.T) {
	path := writePack(t, encode(rec{"hit.wav", 0, 5}, rec{"ghost.wav", 3, 40}, rec{"empty", 99, 0}), []byte("12345"))
	w := mustEdit(t, path)
	must(t, w.Add(source("new", make([]byte, 100))))
	err := w.Commit(t.Context())
	if !errors.Is(err, ErrFormat) {
		t.Errorf("add: %v, want ErrFormat", err)
	}
	contains(t, "add", fmt.Sprint(err), "ghost.wav")
	if err := w.Compact(t.Context()); !errors.Is(err, ErrFormat) {
		t.Errorf("compact: %v, want ErrFormat", err)
	}
	if size := len(read(t, path)); size != 5 {
		t.Errorf("data of %d bytes, want 5", size)
	}
	if _, err := w.Remove("ghost.wav"); err != nil {
		t.Fatal(err)
	}
	must(t, w.Add(source("new", []byte("new"))))
	must(t, w.Commit(t.Context()))
	checkContents(t, path, contents{{"hit.wav", "12345"}, {"empty", ""}, {"new", "new"}})
}

// A program that knows no lock and makes the data longer or shorter meanwhile is noticed, and what it
// wrote is not overwritten. The same writer then begins afresh.
func TestWriterDataChanged(t *testing.T) {
	for _, size := range []int64{100, 7} {
		path := newPack(t, contents{{"a", "1234567"}, {"b", "89"}})
		w := mustEdit(t, path)
		if _, err := w.Remove("b"); err != nil {
			t.Fatal(err)
		}
		must(t, w.Add(source("new", []byte("new"))))
		must(t, os.Truncate(path, size))
		if err := w.Commit(t.Context()); !errors.Is(err, ErrChanged) {
			t.Errorf("cut to %d: %v, want ErrChanged", size, err)
		}
		if n := len(read(t, path)); int64(n) != size {
			t.Errorf("cut to %d, and then %d bytes", size, n)
		}
		if _, err := w.Remove("b"); err != nil {
			t.Fatal(err)
		}
		must(t, w.Add(source("new", []byte("new"))))
		must(t, w.Commit(t.Context()))
		checkContents(t, path, contents{{"a", "1234567"}, {"new", "new"}})
		must(t, os.Truncate(path, size))
		if err := w.Compact(t.Context()); !errors.Is(err, ErrChanged) {
			t.Errorf("cut to %d: %v, want ErrChanged", size, err)
		}
	}
}

// A source that is not what it was, and a context that ends, leave the old pack.
func TestWriterSourceFails(t *testing.T) {
	errBroken := errors.New("broken")
	open := func(r io.Reader) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(r), nil }
	}
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		what string
		open func() (io.ReadCloser, error)
		is   error
		word string
	}{
		{"shrank", open(strings.NewReader("123")), nil, "from 10 bytes to 3"},
		{"grew", open(endless{}), nil, "grew"},
		{"broken", open(io.MultiReader(strings.NewReader("12"), broken{errBroken})), errBroken, "broken"},
		{"gone", func() (io.ReadCloser, error) { return os.Open("nosuch") }, fs.ErrNotExist, ""},
		{"cancelled", func() (io.ReadCloser, error) { cancel(); return io.NopCloser(endless{}), nil }, context.Canceled, ""},
	} {
		path := newPack(t, three)
		before := read(t, path)
		w := mustEdit(t, path)
		must(t, w.Add(source("ok", pattern(100)), Source{Name: "x", Path: "dir/x.wav", Size: 10, Open: c.open}))
		err := w.Commit(ctx)
		if err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", c.what, err, c.is)
			continue
		}
		contains(t, c.what, err.Error(), "commit to music.data", "dir/x.wav", c.word)
		if w.Len() != 3 || !bytes.Equal(read(t, path), before) {
			t.Errorf("%s: %d entries, or other data", c.what, w.Len())
		}
		must(t, w.Add(source("y", []byte("y")))) // the same writer goes on
		must(t, w.Commit(t.Context()))
		checkContents(t, path, append(three[:3:3], file{"y", "y"}))
	}
}

// F06: where the folder cannot be synced after the rename, the new pack is there and the error says
// what is not known. F25: a reader opened then sees it, whatever the files' times say.
func TestWriterDurability(t *testing.T) {
	f := crashsim.New()
	must(t, editOnce(t.Context(), f, simData, edit{add: three}))
	w, err := editOn(t.Context(), f, simData)
	must(t, err)
	var last crashsim.Kind
	f.Inject = func(op crashsim.Op) *crashsim.Failure {
		defer func() { last = op.Kind }()
		if op.Kind == crashsim.SyncDir && last == crashsim.Rename {
			return &crashsim.Failure{Err: io.ErrShortWrite}
		}
		return nil
	}
	must(t, w.Add(source("new", []byte("new"))))
	if err := w.Commit(t.Context()); !errors.Is(err, ErrDurability) || !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v, want ErrDurability and its cause", err)
	}
	if c, err := readPlain(f.Bytes(simData), f.Bytes(simIndex)); err != nil || len(c) != 4 {
		t.Errorf("holds %v, %v", c, err)
	}
	f.Inject = nil
	if w.Add(source("more", nil)) != nil || w.Len() != 5 {
		t.Errorf("%d entries, want 5", w.Len())
	}
}

// F25: what a reader sees does not hang on the files' times.
func TestWriterOldTimes(t *testing.T) {
	path := newPack(t, three)
	index := filepath.Join(filepath.Dir(path), "music.inx")
	info, err := os.Stat(index)
	must(t, err)
	must(t, editOnce(t.Context(), storage.OS{}, path, edit{replace: contents{{"empty", "no more"}}}))
	for _, f := range []string{path, index} {
		must(t, os.Chtimes(f, info.ModTime().AddDate(-1, 0, 0), info.ModTime().AddDate(-1, 0, 0)))
	}
	checkContents(t, path, contents{three[0], three[1], {"empty", "no more"}})
}

// The files keep their permissions, and a pack behind a symbolic link is changed where it lies.
func TestWriterLinksAndModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs permissions as Unix has them")
	}
	path := newPack(t, three)
	dir := t.TempDir()
	for _, f := range []string{"music.data", "music.inx"} {
		must(t, os.Chmod(filepath.Join(filepath.Dir(path), f), 0o640))
		must(t, os.Symlink(filepath.Join(filepath.Dir(path), f), filepath.Join(dir, f)))
	}
	link := filepath.Join(dir, "music.data")
	must(t, editOnce(t.Context(), storage.OS{}, link, edit{remove: []string{"jaguar.wav"}, add: contents{{"x", "x"}}, compact: true}))
	want := contents{three[1], three[2], {"x", "x"}}
	checkContents(t, path, want)
	checkContents(t, link, want)
	for _, f := range []string{"music.data", "music.inx"} {
		if info, err := os.Stat(filepath.Join(filepath.Dir(path), f)); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v, %v; want 0640", f, info.Mode(), err)
		}
		if info, err := os.Lstat(filepath.Join(dir, f)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", f, info.Mode())
		}
	}
}

// Data and index in two folders are both synced, and swept.
func TestWriterTwoFolders(t *testing.T) {
	f := crashsim.New()
	opt := &WriterOptions{Create: true, Plain: true, Index: "e/other.inx", storage: f, pause: noPause}
	for k := range 3 {
		f.Put("e/other.inx.0123abcd.tmp", []byte("x"))
		w, err := Edit(t.Context(), simData, opt)
		must(t, err)
		must(t, w.Add(source(fmt.Sprint(k), []byte("body"))))
		must(t, w.Commit(t.Context()))
		must(t, w.Close())
		if l := f.Names(); !slices.Equal(l, []string{simData, "e/other.inx"}) {
			t.Errorf("files %q", l)
		}
		f.Cuts(func(string) bool { return true }, func(s crashsim.State) {
			if c, err := readPlain(s.Bytes(simData), s.Bytes("e/other.inx")); err != nil || len(c) != k+1 {
				t.Errorf("after a power cut: %v, %v", c, err)
			}
		})
	}
}

// F10: what a killed writer left is removed by the next one, and nothing else is.
func TestWriterSweeps(t *testing.T) {
	path := newPack(t, three)
	dir := filepath.Dir(path)
	for _, f := range []string{"music.data.tmp", "music.inx.tmp", "music.data.0badcafe.tmp", "music.ogg.tmp", "other.data.tmp", "music.data.bak"} {
		write(t, filepath.Join(dir, f), []byte("x"))
	}
	checkContents(t, path, three)
	mustEdit(t, path)
	want := []string{"music.data", "music.data.bak", "music.inx", "music.lock", "music.ogg.tmp", "other.data.tmp"}
	if l := listing(t, dir); !slices.Equal(l, want) {
		t.Errorf("files %q, want %q", l, want)
	}
}

// Adding to a big pack reads nothing of it but its head, to know the layout, whatever it costs to write, and
// removing writes no data.
func TestWriterReadsNoData(t *testing.T) {
	f := crashsim.New()
	must(t, editOnce(t.Context(), f, simData, edit{add: three}))
	for _, e := range []edit{{add: contents{{"new", "new"}}}, {replace: contents{{"empty", "x"}}}, {remove: []string{"jaguar.wav"}}} {
		var reads, bytes int
		f.Before = func(op crashsim.Op) {
			if op.Path == simData && op.Kind == crashsim.Read {
				reads++
			}
			if op.Path == simData && op.Kind == crashsim.Write {
				bytes++
			}
		}
		must(t, editOnce(t.Context(), f, simData, e))
		if reads > 2 || bytes != len(e.add)+len(e.replace) {
			t.Errorf("%v: %d reads of the data, %d writes", e, reads, bytes)
		}
	}
}

// A dummy that notes what the others are, after the way of the manifest.
type dummyAmender struct {
	calls   int
	watched map[string]*bytes.Buffer
	none    bool
}

func (d *dummyAmender) name() string { return ".dummy" }

func (d *dummyAmender) watch(i int, s *Source) io.Writer {
	if s.Name == "unwatched" {
		return nil
	}
	d.watched[fmt.Sprint(i, " ", s.Name)] = new(bytes.Buffer)
	return d.watched[fmt.Sprint(i, " ", s.Name)]
}

// amend tells name, place and size of each, and the first bytes, read from where they are.
func (d *dummyAmender) amend(a amendment) ([]byte, error) {
	d.calls++
	if d.none {
		return nil, nil
	}
	b := fmt.Appendf(nil, "at %d\n", a.at)
	for i, r := range a.recs {
		src := r
		if k := a.from[i]; k >= 0 {
			if src = a.old[k]; src.raw != r.raw || src.size != r.size {
				return nil, fmt.Errorf("record %d %q comes from %d %q", i, r.raw, k, src.raw)
			}
		}
		head := make([]byte, min(src.size, 4))
		if _, err := a.data.ReadAt(head, src.off); err != nil && src.size > 0 {
			return nil, err
		}
		b = fmt.Appendf(b, "%s %d %d %s\n", r.raw, r.off, r.size, head)
	}
	return b, nil
}

// checkAmended compares the last entry with what it shall say of the others.
func checkAmended(t *testing.T, what string, data, index []byte) contents {
	t.Helper()
	c, err := readPlain(data, index)
	if err != nil || len(c) == 0 || c[len(c)-1].name != ".dummy" {
		t.Errorf("%s: %v, %v", what, c, err)
		return nil
	}
	last := splitAt(string(index), len(index)-splitRecord)
	want := fmt.Sprintf("at %d\n", last.off)
	for i, f := range c[:len(c)-1] {
		r := splitAt(string(index), i*splitRecord)
		want += fmt.Sprintf("%s %d %d %.4s\n", r.raw, r.off, r.size, f.body)
	}
	if got := c[len(c)-1].body; got != want {
		t.Errorf("%s: amended with\n%s, want\n%s", what, got, want)
	}
	return c[:len(c)-1]
}

// An entry that is made from all the others fits every index that is ever in place, those between the
// steps of compacting too.
func TestWriterAmender(t *testing.T) {
	f := crashsim.New()
	must(t, editOnce(t.Context(), f, simData, edit{add: three}))
	d := &dummyAmender{watched: map[string]*bytes.Buffer{}}
	w, err := Edit(t.Context(), simData, &WriterOptions{storage: f, pause: noPause, amender: d})
	must(t, err)
	must(t, w.Add(source("new", []byte("brand new")), source("unwatched", []byte("?"))))
	must(t, w.Commit(t.Context()))
	now := append(three[:3:3], file{"new", "brand new"}, file{"unwatched", "?"})
	if c := checkAmended(t, "commit", f.Bytes(simData), f.Bytes(simIndex)); c.key() != now.key() {
		t.Errorf("holds %v, want %v", c, now)
	}
	if got := d.watched["3 new"]; got == nil || got.String() != "brand new" || len(d.watched) != 1 {
		t.Errorf("watched %v", d.watched)
	}
	if _, err := w.Remove("jaguar.wav"); err != nil {
		t.Fatal(err)
	}
	renames := 0
	f.Before = func(op crashsim.Op) {
		if op.Kind == crashsim.SyncDir { // after each rename
			renames++
			checkAmended(t, fmt.Sprint("compacting, after rename ", renames), f.Bytes(simData), f.Bytes(simIndex))
		}
	}
	must(t, w.Compact(t.Context()))
	f.Before = nil
	c := checkAmended(t, "compacted", f.Bytes(simData), f.Bytes(simIndex))
	if c.key() != now[1:].key() || renames != 5 || d.calls != 4 {
		t.Errorf("holds %v after %d renames and %d calls, want %v after 5 and 4", c, renames, d.calls, now[1:])
	}
	size := len(f.Bytes(simData))
	if want := 15 + 9 + 1 + len(mustBody(t, f, ".dummy")); size != want {
		t.Errorf("data of %d bytes, want %d", size, want)
	}
	must(t, w.Compact(t.Context())) // nothing to do
	if d.calls != 4 || len(f.Bytes(simData)) != size {
		t.Errorf("compacted again: %d calls, %d bytes", d.calls, len(f.Bytes(simData)))
	}
	d.none = true
	must(t, w.Add(source("z", nil)))
	must(t, w.Compact(t.Context()))
	if c, err := readPlain(f.Bytes(simData), f.Bytes(simIndex)); err != nil || c.find(".dummy") >= 0 || len(f.Bytes(simData)) != 25 {
		t.Errorf("without: %v, %v, %d bytes", c, err, len(f.Bytes(simData)))
	}
	must(t, w.Close())
}

func mustBody(t *testing.T, f *crashsim.FS, name string) string {
	c, err := readPlain(f.Bytes(simData), f.Bytes(simIndex))
	must(t, err)
	return c[c.find(name)].body
}

// Progress goes up to the total, once, for commits and for compacting.
func TestWriterProgress(t *testing.T) {
	f := crashsim.New()
	must(t, editOnce(t.Context(), f, simData, edit{add: contents{{"a", "12345"}, {"b", "123"}, {"c", "12"}}}))
	var last, all int64
	w, err := Edit(t.Context(), simData, &WriterOptions{storage: f, pause: noPause, Progress: func(done, total int64) {
		if done <= last || done > total || all != 0 && all != total {
			t.Errorf("progress %d of %d after %d of %d", done, total, last, all)
		}
		last, all = done, total
	}})
	must(t, err)
	defer w.Close()
	for _, do := range []func() error{
		func() error { return errors.Join(w.Add(source("d", pattern(3000))), w.Commit(t.Context())) },
		func() error { _, err := w.Remove("b"); return errors.Join(err, w.Commit(t.Context())) },
		func() error { return w.Compact(t.Context()) },
		func() error { _, err := w.Remove("d"); return errors.Join(err, w.Compact(t.Context())) },
	} {
		last, all = 0, 0
		if must(t, do()); last != all {
			t.Errorf("progress ends at %d of %d", last, all)
		}
	}
}

// F33: a thousand sessions leave no descriptor behind.
func TestWriterDescriptors(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("needs /proc")
	}
	path := newPack(t, three)
	rounds := 1000
	if testing.Short() {
		rounds = 50
	}
	var before int
	for k := range rounds {
		if k == 2 {
			before = len(listing(t, "/proc/self/fd"))
		}
		w, err := Edit(t.Context(), path, nil)
		must(t, err)
		if _, err := w.Remove("nosuch"); err == nil {
			t.Fatal("removed nothing")
		}
		must(t, w.Replace(source("empty", []byte(fmt.Sprint(k)))))
		if k%100 == 0 {
			must(t, w.Commit(t.Context()))
		}
		must(t, w.Close())
	}
	if after := len(listing(t, "/proc/self/fd")); after > before {
		t.Errorf("%d descriptors, then %d", before, after)
	}
}
