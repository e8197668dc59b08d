package soundpack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// oddRecs are names of every kind, duplicates included, over 1000 bytes of data.
var oddRecs = []rec{
	{"jaguar.wav", 0, 100}, {"Theme.OGG", 100, 200}, {"JAGUAR.wav", 300, 50}, {"jaguar.wav", 350, 50},
	{"sfx/hit.wav", 0, 10}, {`sfx\hit.wav`, 10, 20}, {"SFX/Miss.wav", 20, 30}, {"sfx/deep/er/a", 30, 40}, {"sfx/hit.WAV", 1, 1},
	{"", 0, 1}, {".", 1, 1}, {"..", 2, 1}, {"../x", 3, 1}, {"/abs", 4, 1}, {"a//b", 5, 1}, {"c/", 6, 1},
	{"50%41", 7, 1}, {"%", 8, 1}, {"\xd5\xbd\xb6\xb7.ogg", 9, 1}, {"bell\x07", 10, 1}, {"[a-z]*?", 11, 1}, {"empty", 999, 0}, {"empty far", 1 << 31, 0},
	{"both", 12, 2}, {"both/inner", 14, 2}, {"BOTH/other/x", 14, 2}, {"late/inner", 16, 2}, {"LATE", 18, 2},
	{"//x", 20, 1}, {"%2F", 21, 1}, // a folder that is shown %2F, and an entry that has this name in the index
}

func TestFS(t *testing.T) {
	for _, noMap := range []bool{false, true} {
		p, err := Open(writePack(t, encode(oddRecs...), pattern(1000)), &Options{NoMap: noMap})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := fstest.TestFS(p, "jaguar.wav", "Theme.OGG", "sfx/hit.wav", "sfx/Miss.wav", "sfx/deep/er/a", "sfx%5Chit.wav", "%00", "%2E", "%2E%2E",
			"%2Fabs", "a/%2Fb", "c%2F", "50%2541", "%", "%D5%BD%B6%B7.ogg", "bell%07", "[a-z]*?", "empty", "empty far", "both", "LATE", "%2F/x", "%252F"); err != nil {
			t.Error(err)
		}
	}
}

func TestFSListing(t *testing.T) {
	p := openRecs(t, pattern(1000), oddRecs...)
	for dir, want := range map[string]string{
		".":   "% %00 %252F %2E %2E%2E/ %2F/ %2Fabs %D5%BD%B6%B7.ogg 50%2541 LATE Theme.OGG [a-z]*? a/ bell%07 both c%2F empty empty far jaguar.wav sfx/ sfx%5Chit.wav",
		"%2f": "x",
		// "%2E%2E" is both the entry ".." and the folder of "../x": the entry counts.
		"SFX": "Miss.wav deep/ hit.wav",
		"a":   "%2Fb",
	} {
		l, err := p.ReadDir(dir)
		if err != nil {
			t.Errorf("ReadDir(%q): %v", dir, err)
			continue
		}
		var got []string
		for _, d := range l {
			name := d.Name()
			if d.IsDir() {
				name += "/"
			}
			got = append(got, name)
		}
		if dir == "." {
			want = strings.Replace(want, "%2E%2E/", "%2E%2E", 1)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("ReadDir(%q):\n%s, want\n%s", dir, s, want)
		}
	}
	// What lies in a folder that is an entry too can be opened all the same.
	for _, name := range []string{"both/inner", "late/INNER", "%2e%2E/x"} {
		if _, err := p.ReadFile(name); err != nil {
			t.Error(err)
		}
	}
}

func TestFSErrors(t *testing.T) {
	p := openRecs(t, pattern(1000), append(oddRecs, rec{"ghost.wav", 990, 11})...)
	for _, c := range []struct {
		name string
		is   error
		text string
	}{
		{"nosuch.wav", fs.ErrNotExist, "nosuch.wav: no such entry in music.data"},
		{"sfx/nosuch.wav", fs.ErrNotExist, "no such entry in music.data"},
		{"nosuch/hit.wav", fs.ErrNotExist, "no such entry in music.data"},
		{`sfx\hit.wav`, fs.ErrNotExist, "no such entry"},
		{"", fs.ErrInvalid, "invalid"}, {"/jaguar.wav", fs.ErrInvalid, "invalid"}, {"../x", fs.ErrInvalid, "invalid"}, {"sfx/", fs.ErrInvalid, "invalid"},
		{"ghost.wav", ErrFormat, "ghost.wav: in music.data at 0x3de: damaged: its 11 bytes reach past the end of the data (1000 bytes)"},
	} {
		for op, f := range map[string]func(string) error{
			"Open":     func(s string) error { return second(p.Open(s)) },
			"ReadFile": func(s string) error { return second(p.ReadFile(s)) },
			"Stat":     func(s string) error { return second(p.Stat(s)) },
			"ReadDir":  func(s string) error { return second(p.ReadDir(s)) },
		} {
			if c.is == ErrFormat && (op == "Stat" || op == "ReadDir") {
				continue // it is listed, and no folder
			}
			err := f(c.name)
			var path *fs.PathError
			if !errors.Is(err, c.is) || !errors.As(err, &path) || path.Path != c.name {
				t.Errorf("%s(%q): %v, want a PathError around %v", op, c.name, err, c.is)
				continue
			}
			contains(t, op, err.Error(), c.text)
		}
	}
	if err := second(p.ReadFile("sfx")); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("ReadFile of a folder: %v", err)
	}
	if err := second(p.ReadDir("jaguar.wav")); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("ReadDir of an entry: %v", err)
	}
}

// Any case finds the entry, and it keeps the name that the index has.
func TestFSCase(t *testing.T) {
	p := openRecs(t, pattern(1000), oddRecs...)
	for _, c := range []struct{ ask, name string }{
		{"theme.ogg", "Theme.OGG"}, {"THEME.ogg", "Theme.OGG"}, {"SFX/HIT.WAV", "hit.wav"}, {"sfx/miss.wav", "Miss.wav"}, {"%d5%bd%b6%b7.OGG", "%D5%BD%B6%B7.ogg"},
	} {
		info, err := fs.Stat(p, c.ask)
		if err != nil {
			t.Error(err)
			continue
		}
		if e, ok := info.Sys().(Entry); info.Name() != c.name || !ok || e.Size != info.Size() {
			t.Errorf("Stat(%q): %v %+v, want the name %q", c.ask, info, e, c.name)
		}
	}
	sub, err := fs.Sub(p, "SFX")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := fs.ReadFile(sub, "Hit.wav"); err != nil || !bytes.Equal(b, pattern(10)) {
		t.Errorf("in a Sub: %x, %v", b, err)
	}
}

// A file offers what a decoder asks for.
func TestFileInterfaces(t *testing.T) {
	data := pattern(1000)
	p := openRecs(t, data, rec{"a.wav", 100, 500})
	f, err := p.Open("a.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, ok := f.(interface {
		fs.File
		io.ReaderAt
		io.Seeker
		Size() int64
	})
	if !ok || file.Size() != 500 {
		t.Fatalf("%T, size %d", f, file.Size())
	}
	b := make([]byte, 100)
	for _, c := range []struct {
		off  int64
		n    int
		err  error
		want []byte
	}{
		{0, 100, nil, data[100:200]}, {450, 50, io.EOF, data[550:600]}, {500, 0, io.EOF, nil}, {1 << 62, 0, io.EOF, nil},
	} {
		n, err := file.ReadAt(b, c.off)
		if n != c.n || err != c.err || !bytes.Equal(b[:n], c.want) {
			t.Errorf("ReadAt(%d): %d, %v; want %d, %v", c.off, n, err, c.n, c.err)
		}
	}
	if at, err := file.Seek(-10, io.SeekEnd); at != 490 || err != nil {
		t.Errorf("Seek: %d, %v", at, err)
	}
	if rest, err := io.ReadAll(file); err != nil || !bytes.Equal(rest, data[590:600]) {
		t.Errorf("after Seek: %x, %v", rest, err)
	}
	if _, err := file.Seek(-1, io.SeekStart); err == nil {
		t.Error("Seek to -1: no error")
	}
	if f.(*File).Entry().Name != "a.wav" {
		t.Errorf("Entry: %+v", f.(*File).Entry())
	}
}

func TestEntries(t *testing.T) {
	p := openRecs(t, pattern(1000), oddRecs...)
	got := slices.Collect(p.Entries())
	if len(got) != len(oddRecs) || p.Len() != len(oddRecs) {
		t.Fatalf("%d entries, want %d", len(got), len(oddRecs))
	}
	for i, want := range oddRecs {
		e := got[i]
		if e.Raw() != want.name || e.Offset != int64(want.off) || e.Size != int64(want.size) || e.Index != i || e != p.Entry(i) || e.Key() != foldASCII(e.Name) {
			t.Errorf("entry %d: %+v, want %+v", i, e, want)
		}
		// The name that is shown finds it, or the first that shares it.
		if found, ok := p.Lookup(e.Name); !ok || found.Key() != e.Key() || found.Index > i {
			t.Errorf("entry %d: Lookup(%q): %+v %v", i, e.Name, found, ok)
		}
	}
	for e := range p.Entries() {
		if e.Index == 3 {
			break
		}
	}
}

// A pack of very many folders is listed in time that grows with its size.
func TestFSManyFolders(t *testing.T) {
	var recs []rec
	for i := range 20_000 {
		recs = append(recs, rec{fmt.Sprintf("d%d/e%d/f", i%5000, i), 0, 0})
	}
	p := openRecs(t, nil, recs...)
	n := 0
	if err := fs.WalkDir(p, ".", func(string, fs.DirEntry, error) error { n++; return nil }); err != nil || n != 1+5000+20_000+20_000 {
		t.Errorf("%d names walked, %v", n, err)
	}
}
