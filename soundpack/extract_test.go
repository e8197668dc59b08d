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
)

// tree is what lies below a folder, by slash-separated path.
func fileTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, path)
			m[filepath.ToSlash(rel)] = string(read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestExtract(t *testing.T) {
	data := pattern(600_000)
	p := openRecs(t, data, rec{"a.wav", 0, 300_000}, rec{"B.ogg", 300_000, 300_000}, rec{"sfx/c.wav", 5, 7}, rec{"empty", 9, 0}, rec{`x\y`, 0, 3})
	dir := filepath.Join(t.TempDir(), "new", "folder")
	var written []string
	var last, sum int64
	err := p.Extract(t.Context(), dir, nil, &ExtractOptions{
		Written: func(e Entry, path string) {
			written = append(written, e.Name)
			if info, err := os.Stat(path); err != nil || info.Size() != e.Size || info.Mode().Perm()&^0o644 != 0 {
				t.Errorf("%s: %v %v", path, info, err)
			}
		},
		Progress: func(done, total int64) {
			if done <= last || done > total {
				t.Errorf("progress %d after %d of %d", done, last, total)
			}
			last, sum = done, total
		},
	})
	if err != nil || last != sum || sum != 600_010 {
		t.Errorf("error %v, progress %d of %d", err, last, sum)
	}
	if want := []string{"a.wav", "B.ogg", "sfx/c.wav", "empty", "x%5Cy"}; !slices.Equal(written, want) {
		t.Errorf("written %q, want %q", written, want)
	}
	got := fileTree(t, dir)
	for name, want := range map[string][]byte{"a.wav": data[:300_000], "B.ogg": data[300_000:], "sfx/c.wav": data[5:12], "empty": nil, "x%5Cy": data[:3]} {
		if got[name] != string(want) {
			t.Errorf("%s: %d bytes, want %d", name, len(got[name]), len(want))
		}
	}
	if len(got) != 5 {
		t.Errorf("%d files", len(got))
	}
}

func TestExtractChosen(t *testing.T) {
	p := openRecs(t, pattern(100), rec{"a.wav", 0, 10}, rec{"b.wav", 10, 10}, rec{"c.wav", 20, 10}, rec{"ghost.wav", 99, 2})
	dir := t.TempDir()
	err := p.Extract(t.Context(), dir, []string{"C.WAV", "nosuch.wav", "ghost.wav", "a.wav", "A.wav"}, nil)
	if !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, ErrFormat) {
		t.Errorf("error %v, want both", err)
	}
	contains(t, "error", err.Error(), "nosuch.wav: no such entry in music.data", `extract "ghost.wav" in music.data at 0x63`)
	if l := listing(t, dir); !slices.Equal(l, []string{"a.wav", "c.wav"}) {
		t.Errorf("files %q", l)
	}
}

// A file that is there stays, and is replaced only by a whole one when that is asked for.
func TestExtractOverwrites(t *testing.T) {
	p := openRecs(t, pattern(100), rec{"a.wav", 0, 10}, rec{"b.wav", 10, 10})
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.wav"), []byte("precious"))
	err := p.Extract(t.Context(), dir, nil, nil)
	if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "a.wav") {
		t.Errorf("error %v, want fs.ErrExist", err)
	}
	if got := fileTree(t, dir); got["a.wav"] != "precious" || got["b.wav"] != string(pattern(20)[10:]) || len(got) != 2 {
		t.Errorf("files %q", got)
	}
	if err := p.Extract(t.Context(), dir, nil, &ExtractOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if got := fileTree(t, dir); got["a.wav"] != string(pattern(10)) || len(got) != 2 {
		t.Errorf("files %q", got)
	}
	// A folder in the way is an error in any case.
	if err := errors.Join(os.Remove(filepath.Join(dir, "a.wav")), os.MkdirAll(filepath.Join(dir, "a.wav", "x"), 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := p.Extract(t.Context(), dir, []string{"a.wav"}, &ExtractOptions{Force: true}); err == nil {
		t.Error("over a folder: no error")
	}
	if l := listing(t, dir); len(l) != 2 {
		t.Errorf("files %q", l)
	}
}

// F24: names that would lead elsewhere, and links planted in the folder, write nothing outside.
func TestExtractStaysInside(t *testing.T) {
	var recs []rec
	evil := []string{"../evil", `..\evil`, "a/../../evil", "/evil", `\evil`, "C:evil", `C:\evil`, "..", ".", "", "./evil", "a//evil", "evil/", "../../../evil", "/tmp/evil"}
	for i, name := range evil {
		recs = append(recs, rec{name, uint32(i), 1})
	}
	odd := []string{"a:b.c:d"[2:], "x.", "COM1", "con.wav", "bell\x07", "\xff\xfe", "%2e%2e%2fevil", "-rf", "~", "$HOME", "a\nb", "..x", "x..", "... "}
	for i, name := range odd {
		recs = append(recs, rec{name, uint32(i), 1})
	}
	recs = append(recs, rec{"link/evil", 0, 1}, rec{"linked", 0, 1})
	p := openRecs(t, pattern(100), recs...)
	outer := t.TempDir()
	dir := filepath.Join(outer, "d1", "d2", "d3")
	outside := filepath.Join(outer, "outside")
	if err := errors.Join(os.MkdirAll(dir, 0o777), os.Mkdir(outside, 0o777)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(outside, "victim"), []byte("safe"))
	if err := errors.Join(os.Symlink(outside, filepath.Join(dir, "link")), os.Symlink(filepath.Join(outside, "victim"), filepath.Join(dir, "linked"))); err != nil {
		t.Skip(err)
	}
	for _, force := range []bool{false, true} {
		err := p.Extract(t.Context(), dir, nil, &ExtractOptions{Force: force})
		if err == nil {
			t.Fatal("no error")
		}
		for _, name := range append(evil, "link/evil") {
			contains(t, "error", err.Error(), fmt.Sprintf("%q", show(name)))
		}
		if n := strings.Count(err.Error(), "\n") + 1; !force && n != len(evil)+2 {
			t.Errorf("%d errors, want %d: %v", n, len(evil)+2, err)
		}
		inside := 0
		for name, body := range fileTree(t, outer) {
			switch {
			case name == "outside/victim" && body == "safe":
			case strings.HasPrefix(name, "d1/d2/d3/") && !strings.Contains(name, "tmp"):
				inside++
			default:
				t.Errorf("force %v: %s was written: %q", force, name, body)
			}
		}
		want := len(odd)
		if force { // the link itself is replaced
			want++
		}
		if inside != want {
			t.Errorf("force %v: %d files inside, want %d", force, inside, want)
		}
	}
}

func TestExtractLimit(t *testing.T) {
	const mib = 1 << 20
	data := make([]byte, mib)
	var recs []rec
	for i := range 100 {
		recs = append(recs, rec{fmt.Sprint(i), 0, mib})
	}
	p := openRecs(t, data, recs...)
	dir := filepath.Join(t.TempDir(), "to")
	if err := p.Extract(t.Context(), dir, nil, nil); !errors.Is(err, ErrLimit) {
		t.Errorf("100 times the same MiB: %v, want ErrLimit", err)
	} else {
		contains(t, "error", err.Error(), "104857600", "67108864")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made")
	}
	for _, c := range []struct {
		max int64
		ok  bool
	}{{2 * mib, true}, {2*mib - 1, false}} {
		err := p.Extract(t.Context(), t.TempDir(), []string{"1", "2"}, &ExtractOptions{MaxBytes: c.max})
		if (err == nil) != c.ok {
			t.Errorf("2 MiB of %d allowed: %v", c.max, err)
		}
	}
	// An entry that claims 4 GiB and has none counts for nothing.
	p = openRecs(t, pattern(10), rec{"good", 0, 10}, rec{"bomb", 0, 1<<32 - 1})
	if err := p.Extract(t.Context(), dir, nil, nil); !errors.Is(err, ErrFormat) || errors.Is(err, ErrLimit) {
		t.Errorf("a bomb: %v", err)
	}
	if l := listing(t, dir); !slices.Equal(l, []string{"good"}) {
		t.Errorf("files %q", l)
	}
}

// F24: what shares its bytes counts sensibly: sounds that are the same come out, each whole; names that
// would fill the disk do not, and do not keep the others from it.
func TestExtractShares(t *testing.T) {
	const mib = 1 << 20
	data := make([]byte, 2*mib+500)
	copy(data[2*mib:], pattern(500))
	recs := []rec{{"small 1", 2 * mib, 500}, {"small 2", 2 * mib, 500}, {"small 3", 2*mib + 7, 400}}
	for i := range 40 {
		recs = append(recs, rec{fmt.Sprint("same ", i), 0, 2 * mib})
	}
	p := openRecs(t, data, recs...)
	n := 0
	if err := p.Extract(t.Context(), t.TempDir(), nil, &ExtractOptions{Written: func(Entry, string) { n++ }}); err != nil || n != 43 {
		t.Errorf("40 times the same 2 MiB, and 3: %d files, %v", n, err)
	}
	for what, hostile := range map[string]func(i int) rec{
		"names of the same bytes": func(i int) rec { return rec{fmt.Sprint("bomb ", i), 0, 2 * mib} },
		"overlaps":                func(i int) rec { return rec{fmt.Sprint("bomb ", i), uint32(i), uint32(2*mib - i)} },
	} {
		recs := slices.Clone(recs[:3])
		for i := range 100 {
			recs = append(recs, hostile(i))
		}
		dir := t.TempDir()
		err := openRecs(t, data, recs...).Extract(t.Context(), dir, nil, nil)
		if !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v, want ErrLimit", what, err)
		}
		for _, small := range []string{"small 1", "small 2", "small 3"} {
			if _, err := os.Stat(filepath.Join(dir, small)); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if l := listing(t, dir); what[0] == 'n' && len(l) != 3 || len(l) > 3+33 {
			t.Errorf("%s: %d files were written", what, len(l))
		}
		if err := openRecs(t, data, recs...).Extract(t.Context(), t.TempDir(), nil, &ExtractOptions{MaxBytes: 1 << 40}); err != nil {
			t.Errorf("%s, wanted: %v", what, err)
		}
	}
	if err := p.Extract(t.Context(), t.TempDir(), []string{"nosuch 1", "small 1", "nosuch 2"}, nil); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "nosuch 1") || !strings.Contains(err.Error(), "nosuch 2") {
		t.Errorf("missing names: %v", err)
	}
}

// Data that is cut while extraction runs, or a context that ends, leaves no half file.
func TestExtractStopped(t *testing.T) {
	data := pattern(2 << 20)
	path := writePack(t, encode(rec{"a.wav", 0, 1 << 20}, rec{"b.wav", 1 << 20, 1 << 20}), data)
	for _, c := range []struct {
		what string
		stop func(cancel func())
		is   error
	}{
		{"cancelled", func(cancel func()) { cancel() }, context.Canceled},
		{"cut", func(func()) { os.Truncate(path, 1<<20+1000) }, ErrChanged},
	} {
		write(t, path, data)
		p := mustOpen(t, path)
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		err := p.Extract(ctx, dir, nil, &ExtractOptions{Progress: func(done, total int64) {
			if done == 1<<20+256<<10 {
				c.stop(cancel)
			}
		}})
		cancel()
		if !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", c.what, err, c.is)
		}
		got := fileTree(t, dir)
		if len(got) != 1 || !bytes.Equal([]byte(got["a.wav"]), data[:1<<20]) {
			t.Errorf("%s: %d files", c.what, len(got))
		}
	}
}

// A disk that is full, or a folder that is none, is told by name.
func TestExtractNowhere(t *testing.T) {
	p := openRecs(t, pattern(10), rec{"a.wav", 0, 10})
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	if err := p.Extract(t.Context(), file, nil, nil); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("into a file: %v", err)
	}
}

func TestExtractManyErrors(t *testing.T) {
	recs := make([]rec, 5000)
	for i := range recs {
		recs[i] = rec{"..", 0, 0}
	}
	err := openRecs(t, nil, recs...).Extract(t.Context(), t.TempDir(), nil, nil)
	if n := strings.Count(err.Error(), "\n") + 1; n != 1001 || !strings.Contains(err.Error(), "4000 more errors like these") {
		t.Errorf("%d lines of errors", n)
	}
}
