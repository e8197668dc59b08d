package soundpack

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// F16: each byte of the index is flipped in turn, and bytes of the data anywhere. Nothing panics; what is
// wrong is told by Verify, of the entry whose bytes they are; and all other entries read as they were.
func TestBitFlips(t *testing.T) {
	r := newRand(t)
	var files contents
	for _, name := range []string{"a.wav", "b.wav", "music/of the second level/c.ogg", "d"} {
		files = append(files, file{name, randomBody(r, 3000) + name})
	}
	dir := memDir(t)
	path := filepath.Join(dir, "music.data")
	must(t, Create(t.Context(), path, files.sources(), nil))
	indexPath := filepath.Join(dir, "music.inx")
	data, index := read(t, path), read(t, indexPath)
	for i := range index {
		bad := bytes.Clone(index)
		bad[i] ^= 1 << []int{0, 1, 2, 3, 4, 6, 7}[r.IntN(7)] // bit 5 is the case of a letter, which does not count
		write(t, indexPath, bad)
		flipped(t, r, path, files, "index", i, -1)
	}
	write(t, indexPath, index)
	flips := 300
	if os.Getenv("SNDPAK_CI") == "1" {
		flips = 3000
	}
	p := mustOpen(t, path)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	for range flips {
		i := r.IntN(len(data))
		owner := -1 // the manifest
		for e := range p.Entries() {
			if int64(i) >= e.Offset && int64(i) < e.Offset+e.Size {
				owner = e.Index
			}
		}
		_, err := f.WriteAt([]byte{data[i] ^ 1<<r.IntN(8)}, int64(i))
		must(t, err)
		flipped(t, r, path, files, "data", i, owner)
		_, err = f.WriteAt(data[i:i+1], int64(i))
		must(t, err)
	}
	checkContents(t, path, files)
}

// flipped looks at a pack in which the i-th byte of a file is another. owner is the entry whose byte of
// the data it is, -1 for none.
func flipped(t *testing.T, r *rand.Rand, path string, files contents, which string, i, owner int) {
	t.Helper()
	p, err := Open(path, nil)
	if err != nil {
		if which == "data" || !errors.Is(err, ErrFormat) {
			t.Errorf("%s, byte %d: open: %v", which, i, err)
		}
		return
	}
	defer p.Close()
	report, err := p.Verify(t.Context(), nil)
	must(t, err)
	told := false
	for _, f := range report.Findings {
		told = told || owner < 0 && f.Kind != "shared" || f.Index == owner && f.Kind == "checksum"
	}
	if !told {
		t.Errorf("%s, byte %d of entry %d: verify tells %v", which, i, owner, report.Findings)
	}
	wrong := 0
	for n, f := range files {
		b, err := p.ReadFile(f.name)
		if err != nil || string(b) != f.body {
			if wrong++; which == "data" && n != owner && !(owner < 0 && errors.Is(err, fs.ErrNotExist)) {
				t.Errorf("%s, byte %d of entry %d: %q reads as %d bytes, %v", which, i, owner, f.name, len(b), err)
			}
		}
	}
	if wrong > 2 { // a record, and one that takes its name
		t.Errorf("%s, byte %d: %d of %d entries are lost", which, i, wrong, len(files))
	}
}
