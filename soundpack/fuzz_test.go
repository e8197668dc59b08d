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
	"strings"
	"testing"
)

// FuzzSplit loads any bytes as an index and compares every look-up with a map.
func FuzzSplit(f *testing.F) {
	for _, s := range seedIndexes(f) {
		f.Add(string(s.index), "hit.wav")
	}
	f.Fuzz(func(t *testing.T, raw, name string) {
		split{}.sniff(raw, int64(len(name)))
		x, _, err := split{}.load(raw)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(raw) / splitRecord; x.len() != n {
			t.Fatalf("%d records of %d bytes, want %d", x.len(), len(raw), n)
		}
		model := map[[splitName]byte]int{}
		for i := range x.len() {
			k := slowKey(x.at(i).raw)
			if _, ok := model[k]; !ok {
				model[k] = i
			}
		}
		for i := range x.len() {
			r := x.at(i)
			checkShown(t, r.raw)
			if got, want := x.find(r.raw), model[slowKey(r.raw)]; got != want {
				t.Fatalf("find(%q): %d, want %d", r.raw, got, want)
			}
		}
		want := -1
		if len(name) <= splitName && strings.IndexByte(name, 0) < 0 {
			if i, ok := model[slowKey(name)]; ok {
				want = i
			}
		}
		if got := x.find(name); got != want {
			t.Fatalf("find(%q): %d, want %d", name, got, want)
		}
	})
}

// FuzzIndex opens any index over data of any length up to 4 KiB, and does with the pack whatever can
// be done. Nothing may panic, reads may not leave the data, and the looks at it must agree.
func FuzzIndex(f *testing.F) {
	for _, s := range seedIndexes(f) {
		f.Add(s.index, uint32(s.data))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "music.data")
	data := pattern(4096)
	f.Fuzz(func(t *testing.T, index []byte, size uint32) {
		size %= 4097
		if len(index) > 1<<12 {
			return // no new paths, only slow
		}
		write(t, path, data[:size])
		write(t, filepath.Join(dir, "music.inx"), index)
		p, err := Open(path, nil)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		defer p.Close()
		fuzzEntries(t, p, data[:size])
		fuzzTree(t, p)
		r, err := p.Verify(t.Context(), &VerifyOptions{MaxFindings: 3})
		if err != nil {
			t.Fatal(err)
		}
		fuzzExtract(t, p, r)
	})
}

// fuzzEntries looks everything up and reads it.
func fuzzEntries(t *testing.T, p *Pack, data []byte) {
	budget := 1 << 16 // bytes that are read; entries may share theirs
	for e := range p.Entries() {
		if len(e.Raw()) < 64 { // longer ones may have no file name on Windows, which extracting tells
			checkShown(t, e.Raw())
		}
		found, ok := p.Lookup(e.Name)
		if !ok || found.full == e.full && found.Key() != e.Key() || found.Index > e.Index || foldASCII(found.Raw()) != foldASCII(e.Raw()) {
			t.Fatalf("Lookup(%q): %+v, %v; want %+v or an earlier one", e.Name, found, ok, e)
		}
		inside := e.Size == 0 || e.Offset+e.Size <= int64(len(data))
		s, err := p.Section(e)
		if unpacked := inside && p.table(e.Index) > 0; (err == nil) != inside && !unpacked { // a damaged table is an error
			t.Fatalf("Section(%+v) in %d bytes: %v", e, len(data), err)
		}
		if budget -= int(min(e.Size, 1<<20)); !inside || e.Size == 0 || budget < 0 || p.table(e.Index) > 0 {
			continue
		}
		b, err := io.ReadAll(s)
		if err != nil || !bytes.Equal(b, data[e.Offset:][:e.Size]) {
			t.Fatalf("%+v: %d bytes, %v", e, len(b), err)
		}
	}
}

// fuzzTree walks the folders: whatever is listed can be had.
func fuzzTree(t *testing.T, p *Pack) {
	err := fs.WalkDir(p, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := p.Stat(name)
		if err != nil || info.IsDir() != d.IsDir() || name != "." && info.Name() != d.Name() {
			return fmt.Errorf("Stat(%q): %v, %w; listed as %v", name, info, err, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fuzzExtract extracts what is small, and finds all of it below the folder.
func fuzzExtract(t *testing.T, p *Pack, r *Report) {
	if p.Len() > 20 {
		return
	}
	outer := t.TempDir()
	dir := filepath.Join(outer, "to")
	n := 0
	err := p.Extract(context.Background(), dir, nil, &ExtractOptions{MaxBytes: 1 << 20, Written: func(Entry, string) { n++ }})
	if errors.Is(err, ErrLimit) {
		return
	}
	for name := range fileTree(t, outer) {
		if len(name) < 4 || name[:3] != "to/" {
			t.Fatalf("%q was written", name)
		}
		n--
	}
	if n != 0 {
		t.Fatalf("%d more files told than written", n)
	}
	if err == nil && r.Damaged() && r.Errors > countOverlaps(r)+len(p.Warnings()) {
		t.Fatalf("damaged and yet all extracted: %v", r.Findings)
	}
}

// countOverlaps counts the errors that keep nothing from being extracted.
func countOverlaps(r *Report) (n int) {
	for _, f := range r.Findings {
		if f.Kind == "overlap" || f.Kind == "checksum" {
			n++
		}
	}
	if n > 3 {
		n = len(r.Findings) + r.Errors // more than are kept: anything goes
	}
	return n
}

type seedIndex struct {
	index []byte
	data  int64
}

// seedIndexes are the cases' indexes, where they are there, and some of ours. A folder of cases that
// holds none is a broken checkout and fails.
func seedIndexes(t testing.TB) []seedIndex {
	seeds := []seedIndex{{nil, 0}, {encode(oddRecs...), 1000}, {encode(rec{"a.wav", 0, 10}, rec{"b", 10, 5}), 15}}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	packs := filepath.Join(root, "..", "..", "shared", "cases", "packs")
	if _, err := os.Stat(packs); err != nil {
		return seeds
	}
	files, err := filepath.Glob(filepath.Join(packs, "*", "music.inx"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no index in %s: %v", packs, err)
	}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(filepath.Dir(f), "music.data"))
		if b := read(t, f); err == nil && len(b) < 1<<16 {
			seeds = append(seeds, seedIndex{b, info.Size()})
		}
	}
	return seeds
}
