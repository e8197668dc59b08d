package soundpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/soundpack/internal/storage/crashsim"
)

// A pack of one file that is cut anywhere never panics, and gives no entry other bytes than it had.
func TestLayoutsCut(t *testing.T) {
	for _, l := range []layout{cfg{}, pck{}} {
		path := filepath.Join(t.TempDir(), dataNames[l.name()])
		src := []Source{source("a", pattern(9)), source("b/c", pattern(30)), source("empty", nil)}
		if err := Create(t.Context(), path, src, &CreateOptions{Layout: l.name(), Plain: true}); err != nil {
			t.Fatal(err)
		}
		whole := read(t, path)
		for n := range len(whole) {
			write(t, path, whole[:n])
			p, err := Open(path, &Options{Layout: l.name()})
			if err != nil {
				if !errors.Is(err, ErrFormat) {
					t.Errorf("%s cut to %d bytes: %v", l.name(), n, err)
				}
				continue
			}
			for i := range p.Len() {
				want := bodyOf(t, src[i])
				if b, err := p.ReadFile(p.Entry(i).Name); err == nil && !bytes.Equal(b, want) || err != nil && !errors.Is(err, ErrFormat) {
					t.Errorf("%s cut to %d bytes, entry %d: %x, %v", l.name(), n, i, b, err)
				}
			}
			if r, err := p.Verify(t.Context(), nil); err != nil || !r.Damaged() {
				t.Errorf("%s cut to %d bytes: verify finds %v, %v", l.name(), n, r.Findings, err)
			}
			p.Close()
		}
	}
}

// Heads that claim more than there is are refused before anything is made of it.
func TestLayoutsClaims(t *testing.T) {
	for name, head := range map[string][]byte{
		"pck": append(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 1), 1<<32-1), make([]byte, 100)...),
		"cfg": append([]byte{0xff, 0xff, 0xff, 0xff}, make([]byte, 100)...),
	} {
		path := filepath.Join(t.TempDir(), dataNames[name])
		write(t, path, head)
		if _, err := Open(path, &Options{Layout: name}); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Padding of an old packer is no damage; more is worth a warning.
func TestPckPadding(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.pck")
	for _, c := range []struct{ pad, warnings int }{{0, 0}, {1, 0}, {8191, 0}, {8192, 1}} {
		recs := []record{{"0", 24, 5}, {"1", int64(29 + c.pad), 7}}
		data := append(pck{}.encode(recs), make([]byte, 5+c.pad+7+min(c.pad, 8191))...)
		write(t, path, data)
		p, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Verify(t.Context(), nil)
		if err != nil || r.Errors > 0 || r.Warnings != c.warnings || p.Layout() != "pck" {
			t.Errorf("%d bytes of padding: %v %v", c.pad, r.Findings, err)
		}
		p.Close()
	}
}

// Names up to 65,535 bytes long and as many entries are read, and Latin-1 comes out as it was written.
func TestCfgReads(t *testing.T) {
	long := strings.Repeat("x", 65_535)
	var b []byte
	names := []string{"\xe4\xff.json", "a", "A", long}
	b = binary.BigEndian.AppendUint16(b, uint16(len(names)))
	end := 2
	for _, name := range names {
		end += 10 + len(name)
	}
	for i, name := range names {
		b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
		b = append(b, name...)
		b = binary.BigEndian.AppendUint32(b, uint32(end+i))
		b = binary.BigEndian.AppendUint32(b, 1)
	}
	path := filepath.Join(t.TempDir(), "cfg_0.txt")
	write(t, path, append(b, "1234"...))
	p := mustOpen(t, path)
	for name, want := range map[string]string{"äÿ.json": "1", "a": "2", "A": "3", long: "4"} {
		if got, err := p.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%.20q: %q, %v; want %q", name, got, err, want)
		}
	}
	if p.Layout() != "cfg" || p.Len() != 4 {
		t.Errorf("layout %s, %d entries", p.Layout(), p.Len())
	}
}

// JSON tables read back as they were, stay through edits, and are forgotten with their bytes.
func TestTables(t *testing.T) {
	const doc, plain = "[ {\"id\": 9007199254740993, \"n\": \"\\u00e9\"},\n {\"n\": \"y\", \"id\": 2} ]", `[{"id":9007199254740993,"n":"\u00e9"},{"n":"y","id":2}]`
	const alike = `{"key":["a"],"list":[{"0":1}]}` // looks like a table and is none
	path := filepath.Join(t.TempDir(), "cfg_0.bin")
	src := []Source{source("items.json", []byte(doc)), source("alike.json", []byte(alike)), source("bad.json", []byte("{")), source("note.txt", []byte(" 1 "))}
	var told []string
	opt := &CreateOptions{Layout: "cfg", JSON: "table", Notice: func(path, text string) { told = append(told, path+" "+text) }}
	if err := Create(t.Context(), path, src, opt); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || !strings.Contains(told[0], "bad.json") {
		t.Errorf("told %q", told)
	}
	check := func(what string, names ...string) {
		t.Helper()
		p := mustOpen(t, path)
		for name, want := range map[string]string{"items.json": plain, "alike.json": alike, "bad.json": "{", "note.txt": " 1 "} {
			if !slices.Contains(names, name) {
				continue
			}
			b, err := p.ReadFile(name)
			info, err2 := p.Stat(name)
			if err != nil || err2 != nil || string(b) != want || info.Size() != int64(len(want)) {
				t.Errorf("%s: %s: %q, %v; want %q", what, name, b, errors.Join(err, err2), want)
			}
		}
		e, _ := p.Lookup("items.json")
		if s, err := p.Section(e); err != nil || s.Size() != int64(len(plain)) || e.Size == s.Size() {
			t.Errorf("%s: stored in %d bytes, read as %v, %v", what, e.Size, s, err)
		}
		if r, err := p.Verify(t.Context(), nil); err != nil || len(r.Findings) > 0 {
			t.Errorf("%s: verify: %v %v", what, r.Findings, err)
		}
		dir := t.TempDir()
		if err := p.Extract(t.Context(), dir, nil, nil); err != nil || string(read(t, filepath.Join(dir, "items.json"))) != plain {
			t.Errorf("%s: extracted, it differs: %v", what, err)
		}
	}
	check("new", "items.json", "alike.json", "bad.json", "note.txt")
	must(t, editWith(t.Context(), path, edit{remove: []string{"note.txt"}, add: contents{{"more", "x"}}}, nil))
	check("edited", "items.json", "alike.json", "bad.json")
	must(t, editWith(t.Context(), path, edit{replace: contents{{"items.json", alike}}}, nil))
	if b, err := mustOpen(t, path).ReadFile("items.json"); err != nil || string(b) != alike {
		t.Errorf("replaced: %q, %v", b, err)
	}
}

// A power cut at any moment of a change leaves the old pack or the new one, in layouts of one file too.
func TestLayoutsCrash(t *testing.T) {
	for _, name := range []string{"cfg", "pck", "crc"} {
		t.Run(name, func(t *testing.T) {
			path := "d/" + dataNames[name]
			index := ""
			if name == "crc" {
				index = "d/pack.index"
			}
			f := crashsim.New()
			opt := func() *WriterOptions {
				return &WriterOptions{Layout: name, Create: true, storage: f, pause: noPause}
			}
			must(t, editWith(t.Context(), path, edit{add: contents{{"a", "old a"}, {"b", "old b"}}}, opt()))
			var allowed []string
			states := 0
			look := func(s crashsim.State) {
				states++
				got := crashContents(t, name, s.Bytes(path), s.Bytes(index))
				if !slices.Contains(allowed, got) {
					t.Errorf("state %v: %s, want one of %q", s, got, allowed)
				}
			}
			now := contents{{"a", "old a"}, {"b", "old b"}}
			for _, e := range []edit{{add: contents{{"c", "new c"}}, remove: []string{"a"}}, {replace: contents{{"b", "newer b"}}, compact: true}, {remove: []string{"c"}, compact: true}} {
				next := e.apply(now)
				allowed = []string{sortedKey(now), sortedKey(next)}
				f.Before = func(op crashsim.Op) {
					if op.Kind.Mutates() {
						f.Cuts(func(string) bool { return true }, look)
					}
				}
				must(t, editWith(t.Context(), path, e, opt()))
				f.Before = nil
				allowed = allowed[1:]
				f.Cuts(func(string) bool { return true }, look)
				now = next
			}
			if states < 20 {
				t.Errorf("only %d states", states)
			}
			t.Logf("%d states", states)
		})
	}
}

func sortedKey(c contents) string {
	c = slices.Clone(c)
	slices.SortFunc(c, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return c.key()
}

// crashContents is what a state holds as this package reads it.
func crashContents(t *testing.T, layout string, data, index []byte) string {
	path := filepath.Join(t.TempDir(), dataNames[layout])
	write(t, path, data)
	if layout == "crc" {
		write(t, strings.TrimSuffix(path, ".dat")+".index", index)
	}
	p, err := Open(path, &Options{Layout: layout})
	if err != nil {
		return fmt.Sprint(err)
	}
	defer p.Close()
	c, err := packContents(p)
	if err != nil {
		return fmt.Sprint(err)
	}
	return sortedKey(c)
}
