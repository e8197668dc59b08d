package soundpack

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// besideNames are names that packs of one file have where they share a stem with one of two files.
var besideNames = map[string]string{"cfg": "music.bin", "pck": "music.pck"}

// A pack of one file lies beside one of two files from which it was made, whose index is not its own: each
// opens as what it is, also from a server and where the one of one file is damaged.
func TestDetectBeside(t *testing.T) {
	for _, two := range []string{"split", "crc"} {
		for _, one := range []string{"cfg", "pck"} {
			t.Run(two+" "+one, func(t *testing.T) { detectBeside(t, two, one) })
		}
	}
}

func detectBeside(t *testing.T, two, one string) {
	dir := t.TempDir()
	source, target := filepath.Join(dir, "music"+usualData[two]), filepath.Join(dir, besideNames[one])
	if err := Create(t.Context(), source, others, &CreateOptions{Layout: two}); err != nil {
		t.Fatal(err)
	}
	p := mustOpen(t, source)
	sources, err := SourcesFS(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Create(t.Context(), target, sources, &CreateOptions{Layout: one}); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range listing(t, dir) {
		files[name] = read(t, filepath.Join(dir, name))
	}
	far := newStore(t, files)
	for path, want := range map[string]string{source: two, target: one} {
		for where, p := range map[string]*Pack{"here": mustOpen(t, path), "there": far.open(t, filepath.Base(path), nil, unwaiting())} {
			if p.Layout() != want || p.Len() != len(others) || len(p.Warnings()) > 0 {
				t.Errorf("%s %s: layout %s, %d entries, %q; want %s, %d", filepath.Base(path), where, p.Layout(), p.Len(), p.Warnings(), want, len(others))
			}
		}
	}
	if one != "pck" { // only the name tells what a damaged one was
		return
	}
	b := bytes.Clone(read(t, target))
	clear(b[:64])
	write(t, target, b)
	if p, err := Open(target, nil); err == nil {
		p.Close()
		t.Errorf("a damaged pck pack opens as %s with %s", p.Layout(), filepath.Base(p.IndexPath()))
	}
}

// What is not known to belong to other data stays in doubt.
func TestDetectDoubt(t *testing.T) {
	var none fs.FS = fstest.MapFS{}
	open := func(path string) (looked, error) {
		_, err := none.Open(path)
		return nil, err
	}
	all := []find{{split{}, "m.inx"}}
	heads := []find{{layout: cfg{}}}
	if got := notOfOthers(open, "m.bin", heads, all); len(got) != 1 {
		t.Errorf("an index without data of its own is left out: %v", got)
	}
	if got := notOfOthers(open, "m.data", nil, all); len(got) != 1 {
		t.Errorf("the data's own index is left out: %v", got)
	}
}
