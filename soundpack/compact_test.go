package soundpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sndpak/sndpak/soundpack/internal/storage/crashsim"
)

// compactSim compacts a pack in memory, having removed some entries.
func compactSim(t *testing.T, index, data []byte, remove ...string) *crashsim.FS {
	t.Helper()
	f := crashsim.New()
	f.Put(simData, data)
	f.Put(simIndex, index)
	w, err := editOn(t.Context(), f, simData)
	must(t, err)
	if _, err := w.Remove(remove...); err != nil {
		t.Fatal(err)
	}
	must(t, w.Compact(t.Context()))
	must(t, w.Close())
	return f
}

// recsOf are the records of an index.
func recsOf(index []byte) (recs []rec) {
	raw := string(index)
	for i := 0; i+splitRecord <= len(index); i += splitRecord {
		r := splitAt(raw, i)
		recs = append(recs, rec{r.raw, uint32(r.off), uint32(r.size)})
	}
	return recs
}

func TestCompactPlaces(t *testing.T) {
	data := []byte("0123456789abcdefghij")
	for _, c := range []struct {
		what   string
		recs   []rec
		remove []string
		want   []rec
		data   string
	}{
		{"nothing", nil, nil, nil, ""},
		{"all is used", []rec{{"a", 0, 20}}, nil, []rec{{"a", 0, 20}}, "0123456789abcdefghij"},
		{"rubbish behind", []rec{{"a", 0, 5}, {"b", 5, 5}}, nil, []rec{{"a", 0, 5}, {"b", 5, 5}}, "0123456789"},
		{"an empty entry in the rubbish", []rec{{"a", 0, 5}, {"e", 17, 0}}, nil, []rec{{"a", 0, 5}, {"e", 0, 0}}, "01234"},
		{"empty entries alone", []rec{{"d", 0, 0}, {"e", 7, 0}}, nil, []rec{{"d", 0, 0}, {"e", 0, 0}}, ""},
		{"rubbish in front", []rec{{"a", 15, 5}}, nil, []rec{{"a", 0, 5}}, "fghij"},
		{"the order of the index stays", []rec{{"z", 12, 3}, {"y", 0, 2}, {"x", 5, 2}}, nil, []rec{{"z", 4, 3}, {"y", 0, 2}, {"x", 2, 2}}, "0156cde"},
		{"the head does not move", []rec{{"a", 0, 4}, {"b", 4, 4}, {"c", 10, 2}}, nil, []rec{{"a", 0, 4}, {"b", 4, 4}, {"c", 8, 2}}, "01234567ab"},
		{"shared bytes", []rec{{"a", 5, 5}, {"b", 5, 5}}, nil, []rec{{"a", 0, 5}, {"b", 0, 5}}, "56789"},
		{"one of two that share", []rec{{"a", 5, 5}, {"b", 5, 5}, {"c", 0, 3}}, []string{"a"}, []rec{{"b", 3, 5}, {"c", 0, 3}}, "01256789"},
		{"overlaps", []rec{{"a", 2, 6}, {"b", 6, 6}, {"c", 7, 2}}, nil, []rec{{"a", 0, 6}, {"b", 4, 6}, {"c", 5, 2}}, "23456789ab"},
		{"one of two that overlap", []rec{{"a", 2, 6}, {"b", 6, 6}}, []string{"a"}, []rec{{"b", 0, 6}}, "6789ab"},
		{"the last one goes", []rec{{"a", 0, 6}}, []string{"a"}, nil, ""},
	} {
		f := compactSim(t, encode(c.recs...), data, c.remove...)
		if got := recsOf(f.Bytes(simIndex)); !slices.Equal(got, c.want) {
			t.Errorf("%s: records %v, want %v", c.what, got, c.want)
		}
		if len(c.recs) > 0 && string(f.Bytes(simData)) != c.data || len(c.recs) == 0 && len(f.Bytes(simData)) != 0 {
			t.Errorf("%s: data %q, want %q", c.what, f.Bytes(simData), c.data)
		}
	}
}

// Every pack of the cases holds the same after compacting, and its data is what is named, once.
func TestCompactCases(t *testing.T) {
	for id, c := range loadCases(t) {
		if c.Kind != "pack" {
			continue
		}
		t.Run(id, func(t *testing.T) {
			path := copyCase(t, id)
			if path == "" {
				t.Skip("not a whole pack")
			}
			before, named := rawContents(t, path)
			w, err := Edit(t.Context(), path, nil)
			if err != nil {
				if !errors.Is(err, ErrFormat) {
					t.Error(err)
				}
				return
			}
			defer w.Close()
			if err := w.Compact(t.Context()); err != nil {
				if want := wantCases[id]; !errors.Is(err, ErrFormat) || !slices.Contains(want.kinds, "bounds") {
					t.Error(err)
				}
				return
			}
			after, _ := rawContents(t, path)
			if before.key() != after.key() {
				t.Errorf("%d entries, then %d, or other bodies", len(before), len(after))
			}
			if size := int64(len(read(t, path))); size != named {
				t.Errorf("data of %d bytes, want %d", size, named)
			}
		})
	}
}

// copyCase is a copy of a case that can be changed; "" if it has not both files.
func copyCase(t *testing.T, id string) string {
	dir := t.TempDir()
	for _, f := range []string{"music.data", "music.inx"} {
		b, err := os.ReadFile(filepath.Join(shared(t, "cases", "packs", id), f))
		if err != nil {
			return ""
		}
		write(t, filepath.Join(dir, f), b)
	}
	return filepath.Join(dir, "music.data")
}

// rawContents is every record of a pack by its raw name, with its body where it has one, and how many
// bytes are named.
func rawContents(t *testing.T, path string) (contents, int64) {
	t.Helper()
	data, index := read(t, path), read(t, strings.TrimSuffix(path, "data")+"inx")
	named := make([]bool, len(data))
	c := contents{}
	for _, r := range recsOf(index) {
		body := "past the end"
		if end := int64(r.off) + int64(r.size); end <= int64(len(data)) {
			body = string(data[r.off:end])
			for i := range len(body) {
				named[int(r.off)+i] = true
			}
		} else if r.size == 0 {
			body = ""
		}
		c = append(c, file{r.name, body})
	}
	n := int64(0)
	for _, used := range named {
		if used {
			n++
		}
	}
	return c, n
}

// P14, P15, P17, P16, P43, P44: what the cases say of changing each pack.
func TestCompactAfterRemove(t *testing.T) {
	for _, c := range []struct {
		id      string
		remove  string
		removed int
		left    []string
		size    int
	}{
		{"P14", "one.bin", 1, []string{"two.bin"}, 600},
		{"P14", "two.bin", 1, []string{"one.bin"}, 600},
		{"P15", "alias.wav", 1, []string{"hit.wav"}, 4454},
		{"P16", "bgm.ogg", 2, nil, 0},
		{"P17", "HIT.wav", 2, nil, 0},
		{"P43", "theme.ogg", 1, []string{"hit.wav", "boss.mp3", "win.flac"}, 4454 + 4178 + 16133},
		{"P44", "hit.wav", 1, []string{"boss.mp3", "win.flac", "theme.ogg"}, 4178 + 16133 + 6650},
	} {
		path := copyCase(t, c.id)
		before, _ := rawContents(t, path)
		w := mustEdit(t, path)
		if n, err := w.Remove(c.remove); n != c.removed || err != nil {
			t.Errorf("%s: Remove(%q): %d, %v; want %d", c.id, c.remove, n, err, c.removed)
		}
		must(t, w.Commit(t.Context()))
		must(t, w.Compact(t.Context()))
		after, _ := rawContents(t, path)
		var names []string
		for _, f := range after {
			if names = append(names, f.name); before[before.find(f.name)].body != f.body {
				t.Errorf("%s: %q has another body", c.id, f.name)
			}
		}
		if size := len(read(t, path)); !slices.Equal(names, c.left) || size != c.size {
			t.Errorf("%s: %q in %d bytes, want %q in %d", c.id, names, size, c.left, c.size)
		}
		if p := mustOpen(t, path); len(c.left) > 0 {
			if r, err := p.Verify(t.Context(), nil); err != nil || len(r.Findings) > 0 {
				t.Errorf("%s: verify: %v %v", c.id, r.Findings, err)
			}
		}
	}
}

// P27: names that are not UTF-8 keep their bytes, and are reached by what a listing shows.
func TestWriterKeepsOldNames(t *testing.T) {
	path := copyCase(t, "P27")
	before, _ := rawContents(t, path)
	w := mustEdit(t, path)
	must(t, w.Add(source("new.wav", []byte("new"))))
	must(t, w.Commit(t.Context()))
	shown := show(before[0].name)
	must(t, w.Replace(source(shown, []byte("replaced"))))
	if n, err := w.Remove(show(before[1].name)); n != 1 || err != nil {
		t.Errorf("Remove(%q): %d, %v", show(before[1].name), n, err)
	}
	must(t, w.Compact(t.Context()))
	after, _ := rawContents(t, path)
	want := contents{{before[0].name, "replaced"}, before[2], {"new.wav", "new"}}
	if after.key() != want.key() {
		t.Errorf("holds %v, want %v", after, want)
	}
	if p := mustOpen(t, path); true {
		if _, ok := p.Lookup(shown); !ok {
			t.Errorf("Lookup(%q): not found", shown)
		}
	}
}

// P38: one more than 65,536 entries.
func TestWriterManyEntries(t *testing.T) {
	path := copyCase(t, "P38")
	before, _ := rawContents(t, path)
	w := mustEdit(t, path)
	must(t, w.Add(source("one more.wav", []byte("65537"))))
	must(t, w.Commit(t.Context()))
	p := mustOpen(t, path)
	if b, err := p.ReadFile("one more.wav"); p.Len() != 65537 || string(b) != "65537" || err != nil {
		t.Errorf("%d entries, the last %q, %v", p.Len(), b, err)
	}
	if n, err := w.Remove("e00000.wav"); n != 1 || err != nil {
		t.Errorf("Remove: %d, %v", n, err)
	}
	must(t, w.Compact(t.Context()))
	after, _ := rawContents(t, path)
	if want := append(before[1:len(before):len(before)], file{"one more.wav", "65537"}); after.key() != want.key() {
		t.Errorf("%d entries, want %d, or other bodies", len(after), len(want))
	}
}

// F07: without the room that it may need, compacting does nothing at all.
func TestCompactNeedsRoom(t *testing.T) {
	data := pattern(1000)
	index := encode(rec{"a", 0, 100}, rec{"b", 400, 200})
	need := int64(3*300 + spareSpace)
	for _, c := range []struct {
		free   int64
		sparse bool
		ok     bool
	}{
		{need - 1, true, false}, {need, true, true}, {need, false, false}, {need + 999, false, false}, {need + 1000, false, true}, {0, true, false},
	} {
		f := crashsim.New()
		f.Put(simData, data)
		f.Put(simIndex, index)
		f.FreeSpace, f.Holes = c.free, c.sparse
		w, err := editOn(t.Context(), f, simData)
		must(t, err)
		err = w.Compact(t.Context())
		if (err == nil) != c.ok || err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%+v: %v", c, err)
		}
		if err != nil {
			contains(t, "error", err.Error(), fmt.Sprint(c.free), "compact music.data")
			if !bytes.Equal(f.Bytes(simData), data) || !bytes.Equal(f.Bytes(simIndex), index) {
				t.Errorf("%+v: refused, and the files changed", c)
			}
		} else if len(f.Bytes(simData)) != 300 {
			t.Errorf("%+v: %d bytes", c, len(f.Bytes(simData)))
		}
		must(t, w.Close())
	}
}

// Below the layout's 4 GiB there must be room for the second copy.
func TestCompactNeedsOffsets(t *testing.T) {
	path := writePack(t, encode(rec{"a", 10, 100}), nil)
	if err := sparse(path, 1<<32-50); err != nil {
		t.Skip(err)
	}
	w := mustEdit(t, path)
	if err := w.Compact(t.Context()); !errors.Is(err, ErrLimit) {
		t.Errorf("%v, want ErrLimit", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 1<<32-50 {
		t.Errorf("data of %d bytes, %v", info.Size(), err)
	}
}

// Stopped at any block, or between two steps, compacting leaves a whole pack, and can be done again.
func TestCompactCancelled(t *testing.T) {
	start, now := holed(t)
	for at := 0; ; at++ {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		stop := func() {
			if n++; n-1 == at {
				cancel()
			}
		}
		f := crashsim.FromState(start)
		w, err := Edit(ctx, simData, &WriterOptions{
			storage: f, Progress: func(done, total int64) { stop() },
			pause: func(ctx context.Context, _ time.Duration) error { stop(); return ctx.Err() },
		})
		must(t, err)
		err = w.Compact(ctx)
		c, e := readPlain(f.Bytes(simData), f.Bytes(simIndex))
		if e != nil || c.key() != now.key() || len(f.Names()) != 2 {
			t.Errorf("cancelled at %d: %v, files %q", at, e, f.Names())
		}
		cancel()
		if n <= at {
			must(t, err)
			break
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %d: %v", at, err)
		}
		must(t, w.Compact(t.Context()))
		size := 0
		for _, file := range now {
			size += len(file.body)
		}
		if c, e := readPlain(f.Bytes(simData), f.Bytes(simIndex)); e != nil || c.key() != now.key() || len(f.Bytes(simData)) != size {
			t.Errorf("cancelled at %d and done again: %v, %d bytes, want %d", at, e, len(f.Bytes(simData)), size)
		}
	}
}

// Memory does not grow with the pack, and the hole of the second step takes no room.
func TestCompactMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 200 MiB")
	}
	used := func(size uint32) uint64 {
		path := writePack(t, encode(rec{"a", 10, size}), nil)
		must(t, sparse(path, int64(size)+10))
		w, err := Edit(t.Context(), path, &WriterOptions{pause: noPause})
		must(t, err)
		defer w.Close()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		must(t, w.Compact(t.Context()))
		runtime.ReadMemStats(&after)
		if n := w.DataSize(); n != int64(size) {
			t.Errorf("%d bytes, want %d", n, size)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, big := used(2<<20), used(50<<20); big > small+256<<10 {
		t.Errorf("2 MiB takes %d bytes of memory, 50 MiB %d", small, big)
	}
}

// Compacting under an open Pack: what was opened reads on, and what is opened then reads the same.
func TestCompactUnderOpenPack(t *testing.T) {
	body := string(pattern(100_000))
	path := newPack(t, contents{{"gone", body}, {"kept", body[1:]}})
	p := mustOpen(t, path)
	f, err := p.Open("gone")
	must(t, err)
	defer f.Close()
	w, err := Edit(t.Context(), path, nil)
	must(t, err)
	defer w.Close()
	if _, err := w.Remove("gone"); err != nil {
		t.Fatal(err)
	}
	must(t, w.Compact(t.Context()))
	got := make([]byte, len(body))
	if _, err := f.(*File).ReadAt(got, 0); err != nil || string(got) != body {
		t.Errorf("a file that is open: other bytes, %v", err)
	}
	if b, err := p.ReadFile("kept"); err != nil || string(b) != body[1:] {
		t.Errorf("a pack that is open: other bytes, %v", err)
	}
	checkContents(t, path, contents{{"kept", body[1:]}})
	if l := listing(t, filepath.Dir(path)); len(l) != 3 {
		t.Errorf("files %q", l)
	}
}

// FuzzWriter changes packs with any index: what can be read stays what it is through adding and
// compacting, or the writer refuses and changes nothing.
func FuzzWriter(f *testing.F) {
	for _, s := range seedIndexes(f) {
		f.Add(s.index, uint16(min(s.data, 65535)))
	}
	f.Add(encode(rec{"a", 0, 100}, rec{"A", 50, 100}, rec{"b", 290, 10}, rec{"", 5, 0}), uint16(300))
	f.Fuzz(func(t *testing.T, index []byte, size uint16) {
		if len(index) > 100*splitRecord {
			return
		}
		data := pattern(int(size))
		fsys := crashsim.New()
		fsys.Put(simData, data)
		fsys.Put(simIndex, index)
		w, err := Edit(t.Context(), simData, &WriterOptions{Plain: true, storage: fsys, pause: noPause})
		if err != nil {
			return
		}
		defer w.Close()
		old := anyContents(data, w.layout.encode(w.recs))
		err = errors.Join(w.Replace(source("fuzz new", []byte("new"))), w.Compact(t.Context()))
		got := anyContents(fsys.Bytes(simData), fsys.Bytes(simIndex))
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrLimit) {
				t.Fatal(err)
			}
			if !bytes.Equal(fsys.Bytes(simData), data) || !bytes.Equal(fsys.Bytes(simIndex), index) {
				t.Fatalf("refused (%v), and changed", err)
			}
			return
		}
		at := slices.IndexFunc(old, func(f file) bool { return foldASCII(f.name) == "fuzz new" })
		if at < 0 {
			old = append(old, file{"fuzz new", "new"})
		} else {
			old[at] = file{"fuzz new", "new"}
			rest := slices.DeleteFunc(old[at+1:], func(f file) bool { return foldASCII(f.name) == "fuzz new" })
			old = old[:at+1+len(rest)]
		}
		if contents(old).key() != contents(got).key() {
			t.Fatalf("holds %v, want %v", got, old)
		}
	})
}

// anyContents is what an index names, past the end too, but for a manifest, which is made anew.
func anyContents(data, index []byte) (c contents) {
	for _, r := range recsOf(index) {
		if foldASCII(r.name) == manifestName {
			continue
		}
		end := min(int64(r.off)+int64(r.size), int64(len(data)))
		c = append(c, file{r.name, string(data[min(int64(r.off), end):end])})
	}
	return c
}
