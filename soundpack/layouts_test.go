package soundpack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
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
	cmd := exec.Command(py, args...)
	cmd.Dir = dir // the crc layout takes paths as they are given
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
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

// folders are names that every layout can hold with its manifest, and whose bodies are not all different.
var foldered = []Source{
	source("jaguar.wav", pattern(5000)), source("sfx/a longer name than fits.wav", pattern(700)), source("empty", nil),
	source("sfx/Twin.wav", pattern(5000)), source("Ärger.txt", pattern(3)),
}

func TestLayoutsCreate(t *testing.T) {
	eachLayout(t, func(t *testing.T, l layout, path string) {
		if err := Create(t.Context(), path, foldered, &CreateOptions{Layout: l.name(), SHA256: true}); err != nil {
			t.Fatal(err)
		}
		p := mustOpen(t, path)
		if p.Layout() != l.name() || p.Len() != len(foldered) || len(p.Warnings()) > 0 {
			t.Fatalf("layout %s, %d entries, %q; want %s, %d", p.Layout(), p.Len(), p.Warnings(), l.name(), len(foldered))
		}
		for _, s := range foldered {
			e, ok := p.Lookup(s.Name)
			b, err := p.ReadFile(s.Name)
			_, told := p.SHA256(e)
			if !ok || e.Name != s.Name || err != nil || !bytes.Equal(b, bodyOf(t, s)) || !told {
				t.Errorf("%q: %+v %v, %d bytes, %v, SHA-256 %v", s.Name, e, ok, len(b), err, told)
			}
		}
		if e, ok := p.Lookup(manifestName); !ok || e.Index != p.Len() {
			t.Errorf("Lookup(%q): %+v, %v", manifestName, e, ok)
		}
		r, err := p.Verify(t.Context(), nil)
		if err != nil || r.Errors+r.Warnings > 0 || r.Checked != len(foldered) {
			t.Errorf("verify: %d checked, %v %v", r.Checked, r.Findings, err)
		}
		dir := t.TempDir()
		if err := p.Extract(t.Context(), dir, nil, nil); err != nil {
			t.Error(err)
		}
		for _, s := range foldered {
			if !bytes.Equal(read(t, filepath.Join(dir, s.Name)), bodyOf(t, s)) {
				t.Errorf("%q: extracted, it differs", s.Name)
			}
		}
		if err := fstest.TestFS(p, "jaguar.wav", "sfx/Twin.wav", "Ärger.txt"); err != nil {
			t.Error(err)
		}
	})
}

// What is written plain is to the byte what the independent program writes, and it reads the rest.
func TestLayoutsOthersReadOurs(t *testing.T) {
	eachLayout(t, func(t *testing.T, l layout, path string) {
		theirs := filepath.Join(t.TempDir(), filepath.Base(path))
		makeOthers(t, l, theirs, others)
		if err := Create(t.Context(), path, others, &CreateOptions{Layout: l.name(), Plain: true}); err != nil {
			t.Fatal(err)
		}
		if l.name() != "crc" { // its bodies may lie in any order
			if !bytes.Equal(read(t, path), read(t, theirs)) {
				t.Error("the data differs from theirs")
			}
		}
		full := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := Create(t.Context(), full, foldered, &CreateOptions{Layout: l.name()}); err != nil {
			t.Fatal(err)
		}
		p := mustOpen(t, full)
		py, script := tool(t, "python3"), shared(t, "interop", "refpack.py")
		list := string(run(t, py, script, "list", l.name(), full))
		for i := range p.Len() + 1 { // the manifest is one more file to them
			e := p.Entry(i)
			raw := e.Raw()
			if l.name() == "split" {
				raw = latin1(raw) // as they take it
			}
			if line := fmt.Sprintf("%s\t%d\t%d\n", raw, e.Offset, e.Size); !strings.Contains(list, line) {
				t.Errorf("their list has no line %q:\n%s", line, list)
			}
		}
		e, _ := p.Lookup("sfx/a longer name than fits.wav")
		for key, want := range map[string][]byte{e.Raw(): pattern(700), p.Entry(p.Len()).Raw(): nil} {
			got := run(t, py, script, "extract", l.name(), full, key)
			if want == nil && !bytes.HasPrefix(got, []byte(manifestStart)) || want != nil && !bytes.Equal(got, want) {
				t.Errorf("they read %q as %d bytes: %.40q", key, len(got), got)
			}
		}
	})
}

// A pack of one file is replaced in one step, and what its layout cannot hold is refused by name.
func TestLayoutsRefuse(t *testing.T) {
	const a, b = "music/coin_spell_19.wav", "ambience/wind_swish_04.wav"
	for _, c := range []struct {
		layout string
		names  []string
		words  []string
	}{
		{"crc", []string{a, "ok", b}, []string{a, b, "a668ea4d"}},
		{"cfg", []string{"ok", "日本.json", "naïve.json"}, []string{"日本.json", `'日'`, "Latin-1"}},
		{"pck", []string{"ok", "7"}, []string{`"7"`, "number"}},
	} {
		for _, plain := range []bool{false, true} {
			var sources []Source
			for _, name := range c.names {
				sources = append(sources, source(name, pattern(10)))
			}
			path := filepath.Join(t.TempDir(), dataNames[c.layout])
			err := Create(t.Context(), path, sources, &CreateOptions{Layout: c.layout, Plain: plain})
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s: %v, want an fs.ErrInvalid", c.layout, err)
				continue
			}
			contains(t, c.layout, err.Error(), c.words...)
			if strings.Contains(err.Error(), "ok") || strings.Contains(err.Error(), "naïve") || len(listing(t, filepath.Dir(path))) > 0 {
				t.Errorf("%s: %v; files %q", c.layout, err, listing(t, filepath.Dir(path)))
			}
		}
	}
	err := Create(t.Context(), filepath.Join(t.TempDir(), "x"), nil, &CreateOptions{Layout: "zip"})
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a layout that there is not: %v", err)
	}
}

// Where names are only hashed or numbered, case and separators count, and lists of paths give names back.
func TestCRCNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pack.dat")
	src := []Source{source("sfx/Hit.wav", pattern(10)), source("sfx/hit.wav", pattern(20)), source("b/c", pattern(30))}
	if err := Create(t.Context(), path, src, &CreateOptions{Layout: "crc", Plain: true}); err != nil {
		t.Fatal(err)
	}
	p := mustOpen(t, path)
	for e := range p.Entries() {
		if _, ok := parseID(e.Name); !ok || e.Name != e.Raw() || e.Key() != e.Name {
			t.Errorf("entry %d is called %q", e.Index, e.Name)
		}
	}
	for name, size := range map[string]int64{"sfx/Hit.wav": 10, "sfx/hit.wav": 20, "sfx/HIT.wav": -1, `sfx\hit.wav`: -1, "b/c": 30} {
		e, ok := p.Lookup(name)
		if ok != (size >= 0) || ok && (e.Size != size || e.Name != name) {
			t.Errorf("Lookup(%q): %+v %v, want %d bytes", name, e, ok, size)
		}
	}
	const a, b = "music/coin_spell_19.wav", "ambience/wind_swish_04.wav"
	named, err := Open(path, &Options{Names: []string{"none", "sfx/hit.wav", "b/c", a, b}})
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	got := map[string]int64{}
	for e := range named.Entries() {
		got[e.Name] = e.Size
	}
	if id := crcText(pathID("sfx/Hit.wav")); len(got) != 3 || got["sfx/hit.wav"] != 20 || got["b/c"] != 30 || got[id] != 10 {
		t.Errorf("with a list of paths: %v", got)
	}
	if l, err := named.ReadDir("sfx"); err != nil || len(l) != 1 {
		t.Errorf("the folder has %v, %v", l, err)
	}
}

// An id that is there twice is refused, and the others are not.
func TestCRCTwice(t *testing.T) {
	recs := []record{{"00000001", 0, 10}, {"7fffffff", 10, 10}, {"80000001", 20, 10}, {"80000001", 30, 10}, {"ffffffff", 40, 10}}
	dir := t.TempDir()
	path := filepath.Join(dir, "pack.dat")
	write(t, path, pattern(50))
	write(t, filepath.Join(dir, "pack.index"), crc{}.encode(recs))
	p := mustOpen(t, path)
	contains(t, "warnings", strings.Join(p.Warnings(), "\n"), "80000001", "twice")
	for i, r := range recs {
		_, err := p.ReadFile(r.raw)
		if (err != nil) != (r.raw == "80000001") {
			t.Errorf("entry %d, %s: %v", i, r.raw, err)
		}
	}
	r, err := p.Verify(t.Context(), nil)
	if err != nil || r.Errors != 2 {
		t.Errorf("verify: %v %v", r.Findings, err)
	}
	out := t.TempDir()
	if err := p.Extract(t.Context(), out, nil, nil); !errors.Is(err, ErrFormat) || len(listing(t, out)) != 3 {
		t.Errorf("extract: %v, %q", err, listing(t, out))
	}
	for name, index := range map[string][]byte{
		"no multiple of 12": append(crc{}.encode(recs[:2]), 0),
		"out of order":      append(crc{}.encode(recs[2:3]), crc{}.encode(recs[:1])...),
	} {
		write(t, filepath.Join(dir, "pack.index"), index)
		_, err := Open(path, nil)
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		contains(t, "Open", err.Error(), name, "pack.index")
	}
}
