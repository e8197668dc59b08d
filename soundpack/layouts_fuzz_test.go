package soundpack

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// One fuzz target a layout: any bytes as its files, and everything that can be done with the pack. FuzzSplit
// and FuzzIndex do it for split.

// fuzzPack opens files of a layout and does with the pack whatever can be done.
func fuzzPack(t *testing.T, l layout, path string, data []byte) {
	p, err := Open(path, &Options{Layout: l.name(), Names: fuzzNames(l)})
	if err != nil {
		if !errors.Is(err, ErrFormat) && !errors.Is(err, errors.ErrUnsupported) {
			t.Fatal(err)
		}
		return
	}
	defer p.Close()
	if found, err := Open(path, nil); err == nil { // whatever it is taken for
		found.Close()
	}
	for i := range p.Len() {
		off, size := p.index.span(i)
		if r := p.index.at(i); r.off != off || r.size != size {
			t.Fatalf("entry %d: at %+v, span %d %d", i, r, off, size)
		}
	}
	if !slices.ContainsFunc(p.problems, func(b problem) bool { return b.kind == "duplicate" }) {
		fuzzEntries(t, p, data)
	}
	fuzzTree(t, p)
	r, err := p.Verify(t.Context(), &VerifyOptions{MaxFindings: 3})
	if err != nil {
		t.Fatal(err)
	}
	fuzzExtract(t, p, r)
	fuzzRecode(t, p)
	fuzzEdit(t, l, path)
}

func fuzzNames(l layout) []string {
	if l.traits().hashed {
		return []string{"sfx/hit.wav", "a", "../x"}
	}
	return nil
}

// fuzzRecode writes the index anew: it must read as the same.
func fuzzRecode(t *testing.T, p *Pack) {
	var recs []record
	for i := range p.index.len() {
		recs = append(recs, p.index.at(i))
	}
	if p.noted || p.traits.most > 0 && len(recs) > p.traits.most {
		return
	}
	x, _, err := p.layout.load(string(p.layout.encode(recs)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range recs {
		if got := x.at(i); got != want {
			t.Fatalf("record %d: %+v written and read again, want %+v", i, got, want)
		}
	}
}

// fuzzEdit adds a file, if the pack lets itself be changed; what was found before is found after.
func fuzzEdit(t *testing.T, l layout, path string) {
	w, err := Edit(t.Context(), path, &WriterOptions{Layout: l.name()})
	if err != nil {
		return
	}
	defer w.Close()
	n := w.Len()
	if w.Add(source("fuzzed.txt", []byte("fuzzed"))) != nil || w.Commit(t.Context()) != nil {
		return
	}
	p, err := Open(path, &Options{Layout: l.name()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	name := "fuzzed.txt"
	if l.name() == "pck" {
		name = p.Entry(p.Len() - 1).Name
	}
	if b, err := p.ReadFile(name); err != nil || string(b) != "fuzzed" || p.Len() != n+1 {
		t.Fatalf("%d entries and one more: %d, %q, %v", n, p.Len(), b, err)
	}
}

// layoutSeeds are packs of a layout: some of ours, with and without a manifest, and the cases that have
// files of its name.
func layoutSeeds(f *testing.F, l layout) (seeds [][2][]byte) {
	for _, plain := range []bool{true, false} {
		path := filepath.Join(f.TempDir(), dataNames[l.name()])
		src := []Source{source("a.wav", pattern(10)), source("sfx/hit.wav", pattern(20)), source("empty", nil), source("twin", pattern(10))}
		if l.name() == "cfg" {
			src = append(src, source("Ärger.json", []byte(`[{"id":1,"n":"x"},{"id":2,"n":"y"}]`)))
		}
		opt := &CreateOptions{Layout: l.name(), Plain: plain}
		if l.traits().tables {
			opt.JSON = "table"
		}
		if err := Create(f.Context(), path, src, opt); err != nil {
			f.Fatal(err)
		}
		var index []byte
		if at, _ := l.index(path); at != "" {
			index = read(f, at)
		}
		seeds = append(seeds, [2][]byte{read(f, path), index})
	}
	root, err := os.Getwd()
	if err != nil {
		f.Fatal(err)
	}
	for _, ext := range []string{map[string]string{"crc": "dat", "cfg": "bin", "pck": "pck"}[l.name()], "txt"} {
		files, _ := filepath.Glob(filepath.Join(root, "..", "..", "shared", "cases", "packs", "*", "*."+ext))
		for _, path := range files {
			var index []byte
			if at, _ := l.index(path); at != "" {
				index, _ = os.ReadFile(at)
			}
			if data := read(f, path); len(data)+len(index) < 1<<15 {
				seeds = append(seeds, [2][]byte{data, index})
			}
		}
	}
	return seeds
}

// FuzzCRC takes any bytes as an index over data of up to 4 KiB.
func FuzzCRC(f *testing.F) {
	for _, s := range layoutSeeds(f, crc{}) {
		f.Add(s[0], s[1])
	}
	var twice []byte
	for _, id := range []uint32{1, 1 << 31, 1 << 31, 1<<32 - 1} {
		twice = binary.LittleEndian.AppendUint32(twice, id)
		twice = append(twice, 0, 0, 0, 0, 3, 0, 0, 0)
	}
	f.Add(pattern(9), twice)
	dir := f.TempDir()
	path := filepath.Join(dir, "pack.dat")
	f.Fuzz(func(t *testing.T, data, index []byte) {
		if len(index) > 1<<12 || len(data) > 1<<12 {
			return // no new paths, only slow
		}
		write(t, path, data)
		write(t, filepath.Join(dir, "pack.index"), index)
		fuzzPack(t, crc{}, path, data)
		fuzzFind(t, string(index))
	})
}

// fuzzFind compares every look-up of ids with a scan.
func fuzzFind(t *testing.T, raw string) {
	x, err := newCRCIndex(raw[:len(raw)/crcRecord*crcRecord])
	if err != nil {
		return
	}
	for i := range x.len() {
		for _, id := range []uint32{x.id(i), x.id(i) + 1, x.id(i) ^ 1<<31} {
			want := -1
			for n := range x.len() {
				if x.id(n) == id {
					want = n
					break
				}
			}
			if got := x.search(id); got != want {
				t.Fatalf("search(%08x): %d, want %d", id, got, want)
			}
			if text := crcText(id); want >= 0 && x.find(text) != want {
				t.Fatalf("find(%s): %d, want %d", text, x.find(text), want)
			}
		}
	}
}

// FuzzCfg takes any bytes as a file with a table of names.
func FuzzCfg(f *testing.F) { fuzzHeading(f, cfg{}) }

// FuzzPck takes any bytes as a file with a numbered table.
func FuzzPck(f *testing.F) { fuzzHeading(f, pck{}) }

func fuzzHeading(f *testing.F, l heading) {
	for _, s := range layoutSeeds(f, l) {
		f.Add(s[0])
		f.Add(s[0][:len(s[0])*2/3])
	}
	f.Add([]byte{0, 0})
	f.Add([]byte("\x00\x02\x00\x00\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x16\x00\x00\x00\x01x"))
	f.Add([]byte("\x01\x00\x00\x00\x01\x00\x00\x00\x10\x00\x00\x00\x01\x00\x00\x00x" + strings.Repeat("\x00", 100)))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00"))
	path := filepath.Join(f.TempDir(), dataNames[l.name()])
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<13 {
			return
		}
		write(t, path, data)
		fuzzPack(t, l, path, data)
	})
}
