package soundpack

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// What all layouts have to do is tested over all of them; what one does by itself is in its own file.

// layoutNamesOf are the data files that the layouts have in tests, as users call them.
var dataNames = map[string]string{"split": "music.data", "crc": "pack.dat", "cfg": "cfg_0.bin", "pck": "game.pck"}

// eachLayout runs a test for every layout, with the path of a pack that is not there yet.
func eachLayout(t *testing.T, f func(t *testing.T, l layout, path string)) {
	for _, l := range layouts {
		t.Run(l.name(), func(t *testing.T) { f(t, l, filepath.Join(t.TempDir(), dataNames[l.name()])) })
	}
}

// others are names and bodies that the independent program can pack in every layout.
var others = []Source{
	source("jaguar.wav", pattern(5000)), source("Theme.OGG", pattern(70_000)), source("empty", nil),
	source("nineteen bytes long", pattern(3)), source("100%41", pattern(4)), source("last", pattern(1)),
}

// makeOthers has the independent program write a pack.
func makeOthers(t *testing.T, l layout, path string, sources []Source) {
	t.Helper()
	py, script := tool(t, "python3"), shared(t, "interop", "refpack.py")
	dir := t.TempDir()
	args := []string{script, "make", l.name(), path}
	for _, s := range sources {
		write(t, filepath.Join(dir, s.Name), bodyOf(t, s))
		args = append(args, s.Name)
	}
	t.Chdir(dir) // the crc layout takes paths as they are given
	run(t, py, args...)
}

func bodyOf(t *testing.T, s Source) []byte {
	t.Helper()
	r, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// entryName is how an entry of sources is asked for where there is no manifest.
func entryName(l layout, sources []Source, i int) string {
	if l.name() == "pck" {
		return strconv.Itoa(i)
	}
	return sources[i].Name
}

func TestLayoutsReadOthers(t *testing.T) {
	eachLayout(t, func(t *testing.T, l layout, path string) {
		makeOthers(t, l, path, others)
		p := mustOpen(t, path)
		if p.Layout() != l.name() || p.Len() != len(others) || len(p.Warnings()) > 0 {
			t.Fatalf("layout %s, %d entries, %q; want %s, %d", p.Layout(), p.Len(), p.Warnings(), l.name(), len(others))
		}
		for i, s := range others {
			name := entryName(l, others, i)
			e, ok := p.Lookup(name)
			if !ok {
				t.Errorf("Lookup(%q): not found", name)
				continue
			}
			b, err := p.ReadFile(show(name))
			if err != nil || !bytes.Equal(b, bodyOf(t, s)) || e.Size != s.Size {
				t.Errorf("%q: %d bytes of %d, %v; want %d", name, len(b), e.Size, err, s.Size)
			}
		}
		if r, err := p.Verify(t.Context(), nil); err != nil || len(r.Findings) > 0 {
			t.Errorf("verify: %v %v", r.Findings, err)
		}
		names := slices.Collect(p.Entries())
		for i, e := range names {
			if found, ok := p.Lookup(e.Name); !ok || found != e || e != p.Entry(i) {
				t.Errorf("Lookup(%q): %+v, %v; want %+v", e.Name, found, ok, e)
			}
		}
	})
}
