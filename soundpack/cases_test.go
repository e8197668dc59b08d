package soundpack

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The cases come after public bug reports; each has the right answers beside it. What a case asks of
// this package is tested here; what it asks of playing, or of changing packs in place, is not.

type caseEntry struct {
	Name    *string
	NameHex string `json:"name_hex"`
	Off     int64
	Size    int64
	SHA256  string
}

func (e caseEntry) raw(t *testing.T) string {
	if e.Name != nil && e.NameHex == "" {
		return *e.Name
	}
	b, err := hex.DecodeString(e.NameHex)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type packCase struct {
	Kind, Dir, Tests string
	Expect           struct {
		Count   *int
		Mention []string
		Good    []caseEntry `json:"good_entries"`
		Probe   *caseEntry  `json:"probe_entry"`
	}
}

func loadCases(t testing.TB) map[string]packCase {
	b, err := os.ReadFile(shared(t, "cases", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases map[string]json.RawMessage }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	cases := map[string]packCase{}
	for id, raw := range all.Cases {
		if id[0] != 'P' && id[0] != 'S' {
			continue
		}
		var c packCase
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		cases[id] = c
	}
	return cases
}

// wantCase is what this package does with a case where the case leaves room.
type wantCase struct {
	open    []string // words of Open's error; nil: it opens
	verify  string   // "ok", "warn" or "error"
	kinds   []string // kinds of the findings, sorted
	extract []string // words of the error of extracting all; nil: none
	files   []string // what is extracted; nil: every entry under its name
}

var wantCases = map[string]wantCase{
	"P01": {verify: "ok"},
	"P02": {verify: "error", kinds: []string{"index"}},
	"P03": {verify: "error", kinds: []string{"gap", "index"}, files: []string{}},
	"P04": {verify: "ok"},
	"P06": {open: []string{"music.inx"}},
	"P07": {open: []string{"music.data"}},
	"P09": {verify: "error", kinds: []string{"bounds"}, extract: []string{"ghost.wav"}, files: []string{"hit.wav"}},
	"P14": {verify: "error", kinds: []string{"overlap"}},
	"P15": {verify: "ok", kinds: []string{"shared"}},
	"P16": {verify: "error", kinds: []string{"duplicate"}, extract: []string{"BGM.OGG", "bgm.ogg"}, files: []string{"BGM.OGG"}},
	"P17": {verify: "error", kinds: []string{"duplicate"}, extract: []string{"hit.wav"}, files: []string{"hit.wav"}},
	"P20": {verify: "warn", kinds: []string{"name"}, files: []string{"sfx/hit.wav", "sfx%5Chit.wav"}},
	"P21": {verify: "error", kinds: []string{"name"}, extract: []string{"evil1.wav", "evil2.wav", "evil3.wav"}, files: []string{"good.wav"}},
	"P23": {verify: "error", kinds: []string{"name"}, extract: []string{`"%2E"`, `"%2E%2E"`}, files: []string{"...", "good.wav"}},
	"P24": {verify: "warn", kinds: []string{"name"}},
	"P27": {verify: "warn", kinds: []string{"name"}, files: []string{"%D5%BD%B6%B7%D2%F4%C0%D6.ogg", "%BD%E1%CA%F8%C7%FA.mp3", "%C3%FC%D6%D0.wav"}},
	"P32": {verify: "error", kinds: []string{"name"}, extract: []string{"%00"}, files: []string{"good.wav"}},
	"P34": {verify: "ok"},
	"P35": {verify: "warn", kinds: []string{"bounds"}, files: []string{"hit.wav", "zfar.wav"}},
	"P37": {verify: "ok"}, // that a name's ending lies is found by looking into it, with VerifyOptions.Check
	"P38": {verify: "ok"},
	"P43": {verify: "warn", kinds: []string{"gap"}},
	"P44": {verify: "warn", kinds: []string{"gap"}},
	"P45": {verify: "error", kinds: []string{"bounds", "gap"}, extract: []string{"win.flac"}, files: []string{"hit.wav", "theme.ogg", "boss.mp3"}},
	"P49": {open: []string{"music.inx", "does not look like an index"}},
	"P51": {verify: "ok"},
}

func TestCases(t *testing.T) {
	for id, c := range loadCases(t) {
		if c.Kind != "pack" {
			continue
		}
		t.Run(id, func(t *testing.T) {
			want, ok := wantCases[id]
			if !ok {
				t.Skipf("no answer written down yet for: %s", c.Tests)
			}
			p, err := Open(filepath.Join(shared(t, "cases"), c.Dir, "music.data"), nil)
			if want.open != nil {
				if err == nil {
					p.Close()
					t.Fatal("Open: no error")
				}
				contains(t, "Open", err.Error(), want.open...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			said := checkCaseList(t, p, c)
			said += checkCaseVerify(t, p, want)
			said += checkCaseExtract(t, p, want)
			contains(t, "messages", said, c.Expect.Mention...)
		})
	}
}

// checkCaseList compares the listing and every good entry's bytes, and returns what was said.
func checkCaseList(t *testing.T, p *Pack, c packCase) string {
	if c.Expect.Count != nil && p.Len() != *c.Expect.Count {
		t.Errorf("%d entries, want %d", p.Len(), *c.Expect.Count)
	}
	good := c.Expect.Good
	if c.Expect.Probe != nil {
		e, ok := p.Lookup(c.Expect.Probe.raw(t))
		if !ok {
			t.Fatalf("Lookup(%q): not found", c.Expect.Probe.raw(t))
		}
		checkBody(t, p, e, c.Expect.Probe.SHA256)
	}
	all := slices.Collect(p.Entries())
	for i, g := range good {
		raw := g.raw(t)
		at := slices.IndexFunc(all, func(e Entry) bool { return e.Raw() == raw && e.Offset == g.Off && e.Size == g.Size })
		if at < 0 {
			t.Errorf("good entry %d %q at %d: not listed", i, raw, g.Off)
			continue
		}
		checkBody(t, p, all[at], g.SHA256)
	}
	for i, e := range all[:min(len(all), 100)] {
		for _, name := range []string{e.Name, e.Raw(), strings.ToUpper(e.Name), foldASCII(e.Name)} {
			if got, ok := p.Lookup(name); !ok || got.Key() != e.Key() {
				t.Errorf("entry %d: Lookup(%q): %+v %v", i, name, got, ok)
			}
		}
		if !fs.ValidPath(e.Name) {
			t.Errorf("entry %d: %q is no valid path", i, e.Name)
		}
	}
	return strings.Join(p.Warnings(), "\n")
}

func checkBody(t *testing.T, p *Pack, e Entry, want string) {
	t.Helper()
	f, err := p.OpenEntry(e)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	b := make([]byte, f.Size())
	if _, err := f.ReadAt(b, 0); err != nil && len(b) > 0 {
		t.Error(err)
	}
	if got := sum(b); got != want {
		t.Errorf("%q: sha256 %s, want %s", e.Name, got, want)
	}
}

func checkCaseVerify(t *testing.T, p *Pack, want wantCase) string {
	r, err := p.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := "ok"
	switch {
	case r.Damaged():
		got = "error"
	case r.Warnings > 0:
		got = "warn"
	}
	if got != want.verify {
		t.Errorf("verify: %s, want %s: %v", got, want.verify, r.Findings)
	}
	var kinds []string
	var said strings.Builder
	for _, f := range r.Findings {
		kinds = append(kinds, f.Kind)
		fmt.Fprintln(&said, f)
	}
	slices.Sort(kinds)
	if kinds = slices.Compact(kinds); !slices.Equal(kinds, want.kinds) {
		t.Errorf("verify: findings of kinds %v, want %v: %v", kinds, want.kinds, r.Findings)
	}
	return said.String()
}

func checkCaseExtract(t *testing.T, p *Pack, want wantCase) string {
	outer := t.TempDir()
	dir := filepath.Join(outer, "a", "b", "to")
	var names []string
	if p.Len() > 1000 {
		names = []string{"e65535.wav"}
	}
	err := p.Extract(t.Context(), dir, names, nil)
	said := fmt.Sprint(err)
	if want.extract == nil && err != nil || want.extract != nil && err == nil {
		t.Errorf("extract: error %v, want one that mentions %q", err, want.extract)
	}
	contains(t, "extract", said, want.extract...)
	files := want.files
	if files == nil && names == nil {
		for e := range p.Entries() {
			files = append(files, e.Name)
		}
	} else if names != nil {
		files = names
	}
	var got []string
	if err := filepath.WalkDir(outer, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			got = append(got, filepath.ToSlash(rel))
			checkExtracted(t, p, rel, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	files = slices.Clone(files)
	slices.Sort(files)
	if !slices.Equal(got, files) {
		t.Errorf("extracted %q, want %q", got, files)
	}
	return said
}

func checkExtracted(t *testing.T, p *Pack, rel, path string) {
	want, err := p.ReadFile(filepath.ToSlash(rel))
	if err != nil {
		t.Error(err)
	}
	if got := read(t, path); !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes that differ from the entry's %d", rel, len(got), len(want))
	}
}

// P37: the ending of a name lies. A check of the contents tells so.
func TestCaseVerifyLooksInside(t *testing.T) {
	p := mustOpen(t, shared(t, "cases", "packs", "P37", "music.data"))
	magic := map[string]string{".wav": "RIFF", ".ogg": "OggS", ".mp3": "\xff", "": "?"}
	r, err := p.Verify(t.Context(), &VerifyOptions{Check: func(f *File) []Finding {
		var head [4]byte
		f.ReadAt(head[:], 0)
		if ext := filepath.Ext(f.Entry().Name); !strings.HasPrefix(string(head[:]), magic[ext]) {
			return []Finding{{Severity: slog.LevelWarn, Kind: "format", Text: "not what its name says"}}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Warnings != 6 || r.Damaged() {
		t.Errorf("%d warnings, want 6: %v", r.Warnings, r.Findings)
	}
	for i, f := range r.Findings {
		if e := p.Entry(i); f.Entry != e.Name || f.Index != i || f.Offset != e.Offset {
			t.Errorf("finding %d: %+v, want that of %+v", i, f, e)
		}
	}
}

// S01, S03, S04, S06, S11: folders that become packs, or not.
func TestCaseSources(t *testing.T) {
	for _, c := range []struct {
		id      string
		plain   bool
		refused []string // words of the error
		entries []string
		notices []string
	}{
		{id: "S01", plain: true, refused: []string{"3 names", "abcdefghijklmnop.wav", "abcdefghijklmnopq.wav", "battle_theme_of_the_final_boss_phase2.wav", "19"}},
		{id: "S01", entries: []string{"abcdefghijklmno.wav", "abcdefghijklmnop.wav", "abcdefghijklmnopq.wav", "battle_theme_of_the_final_boss_phase2.wav"}},
		{id: "S03", refused: []string{"Hit.wav", "hit.wav"}},
		{id: "S04", entries: []string{"empty.ogg", "good.wav"}, notices: []string{"empty.ogg"}},
		{id: "S06", entries: []string{"hit.wav"}, notices: []string{"Thumbs.db", ".DS_Store", "desktop.ini", "._hit.wav"}},
		{id: "S11", entries: []string{"10.wav", "9.wav", "M.wav", "a.wav", "b.wav", "z.wav"}},
	} {
		t.Run(fmt.Sprint(c.id, " plain ", c.plain), func(t *testing.T) {
			folder := shared(t, "cases", "src", c.id)
			var told strings.Builder
			notice := func(path, text string) { fmt.Fprintln(&told, path, text) }
			src, err := Sources([]string{folder}, notice)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "music.data")
			err = Create(t.Context(), path, src, &CreateOptions{Notice: notice, Plain: c.plain})
			if c.refused != nil {
				if !errors.Is(err, fs.ErrInvalid) {
					t.Fatalf("error %v, want fs.ErrInvalid", err)
				}
				contains(t, "error", err.Error(), c.refused...)
				if l := listing(t, filepath.Dir(path)); len(l) > 0 {
					t.Errorf("left behind: %q", l)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			contains(t, "notices", told.String(), c.notices...)
			p := mustOpen(t, path)
			var names []string
			for e := range p.Entries() {
				names = append(names, e.Name)
				if got, _ := p.ReadFile(e.Name); !bytes.Equal(got, read(t, filepath.Join(folder, e.Name))) {
					t.Errorf("%s: other bytes than the file's", e.Name)
				}
			}
			if !slices.Equal(names, c.entries) {
				t.Errorf("entries %q, want %q", names, c.entries)
			}
			again := filepath.Join(t.TempDir(), "music.data")
			if err := Create(t.Context(), again, src, nil); err != nil {
				t.Fatal(err)
			}
			for _, f := range []string{"music.data", "music.inx"} {
				if a, b := read(t, filepath.Join(filepath.Dir(path), f)), read(t, filepath.Join(filepath.Dir(again), f)); !bytes.Equal(a, b) {
					t.Errorf("%s: packed twice, two results", f)
				}
			}
		})
	}
}
