package soundpack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// create makes a pack and opens it.
func create(t testing.TB, sources []Source, opt *CreateOptions) *Pack {
	t.Helper()
	path := filepath.Join(t.TempDir(), "music.data")
	if err := Create(t.Context(), path, sources, opt); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, path)
}

// manifestBody is the manifest as it lies in the data.
func manifestBody(t testing.TB, p *Pack) string {
	t.Helper()
	b, err := p.ReadFile(manifestName)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// longNames are names that no record can hold, and some that it can.
var longNames = []string{
	"music/battle theme.wav", "music/battle theme of the final boss.wav", "Music/Deep/er/x.ogg", "short.wav",
	"a name of twenty.wav", "voices/British/Amazing.ogg", "voices/Classic/Amazing.ogg", "voices/Singer/Amazing.ogg",
	"ünïcödé names are länger.opus", "no extension that is short.extension", "100%41/100%41.wav", "tilde~in.wav", "战斗音乐/最终首领的战斗主题.ogg",
}

func longSources() []Source {
	var all []Source
	for i, name := range longNames {
		all = append(all, source(name, pattern(100+i)))
	}
	return all
}

// The form on disk, to the byte.
func TestManifestGolden(t *testing.T) {
	p := create(t, []Source{source("theme.ogg", []byte("a theme")), source("music/battle theme.wav", []byte("a battle"))}, &CreateOptions{
		Facts: func(r io.ReaderAt, size int64) (Facts, error) {
			if size == 7 {
				return Facts{Format: "vorbis", Encoding: "Vorbis \"q2\"", Frames: 441000, Rate: 44100, Channels: 2, Loop: [2]int64{10, 441000}, Delay: 1, Padding: 2, Gain: -3.5, Seek: []byte{0, 255}}, nil
			}
			return Facts{}, nil
		}})
	want := `{"sndpak":1,"check":"777fbb42","entries":[
{"entry":"theme.ogg","back":15,"size":7,"crc32c":"d155293d","format":"vorbis","encoding":"Vorbis \"q2\"","frames":441000,"rate":44100,"channels":2,"loop":[10,441000],"delay":1,"padding":2,"gain":-3.5,"seek":"AP8="},
{"entry":"battle the~????.wav","back":8,"size":8,"name":"music/battle theme.wav","crc32c":"8a76d6a8"}
]}
`
	got := manifestBody(t, p)
	alias := p.Entry(1).Raw()
	want = strings.Replace(want, "battle the~????.wav", alias, 1)
	if !strings.HasPrefix(alias, "battle the~") || len(alias) != 19 || !strings.HasSuffix(alias, ".wav") {
		t.Errorf("alias %q", alias)
	}
	if got != want {
		t.Errorf("manifest:\n%s, want\n%s", got, want)
	}
	if !json.Valid([]byte(got)) || !strings.HasPrefix(got, manifestStart) {
		t.Error("not JSON, or it begins otherwise")
	}
}

// Full names are what is seen, aliases are found too, and nothing shows the manifest.
func TestManifestNames(t *testing.T) {
	p := create(t, longSources(), nil)
	if p.loaded.Load() {
		t.Error("opening loaded the manifest")
	}
	if e, ok := p.Lookup("SHORT.wav"); !ok || e.Name != "short.wav" || p.loaded.Load() {
		t.Errorf("a short name: %+v, %v, loaded %v", e, ok, p.loaded.Load())
	}
	if p.Len() != len(longNames) {
		t.Fatalf("%d entries, want %d", p.Len(), len(longNames))
	}
	for i, name := range longNames {
		e := p.Entry(i)
		if e.Name != show(name) || e.Index != i || e.Size != int64(100+i) {
			t.Errorf("entry %d: %+v, want %q", i, e, name)
		}
		if raw := e.Raw(); raw != name && (len(raw) > splitWrite || checkName(raw, splitWrite) != nil || !strings.Contains(raw, "~")) {
			t.Errorf("entry %d: alias %q", i, raw)
		}
		for _, ask := range []string{e.Name, foldUpper(e.Name), e.Raw(), foldUpper(e.Raw()), name} {
			if got, ok := p.Lookup(ask); !ok || got != e {
				t.Errorf("Lookup(%q): %+v, %v, want %+v", ask, got, ok, e)
			}
		}
		if b, err := p.ReadFile(e.Name); err != nil || !bytes.Equal(b, pattern(100+i)) {
			t.Errorf("ReadFile(%q): %d bytes, %v", e.Name, len(b), err)
		}
		if info, err := p.Stat(show(e.Raw())); err != nil || info.Name() != show(name[strings.LastIndex(name, "/")+1:]) {
			t.Errorf("Stat(%q): %v, %v", e.Raw(), info, err)
		}
	}
	var shown []string
	for _, n := range longNames {
		shown = append(shown, strings.Replace(show(n), "Music", "music", 1)) // a folder is listed in its first case
	}
	if err := fstest.TestFS(p, shown...); err != nil {
		t.Error(err)
	}
	top, err := p.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range top {
		names = append(names, d.Name())
	}
	want := []string{"100%2541", "a name of twenty.wav", "music", "no extension that is short.extension", "short.wav", "tilde~in.wav", "voices", "ünïcödé names are länger.opus", "战斗音乐"}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("at the top %q, want %q", names, want)
	}
	if e, ok := p.Lookup(".SNDPAK"); !ok || e.Index != p.Len() || e.Raw() != manifestName {
		t.Errorf("the manifest: %+v, %v", e, ok)
	}
	dir := t.TempDir()
	if err := p.Extract(t.Context(), dir, nil, nil); err != nil {
		t.Error(err)
	}
	got := fileTree(t, dir)
	for i, name := range longNames {
		if got[show(name)] != string(pattern(100+i)) {
			t.Errorf("%q: extracted %d bytes", name, len(got[show(name)]))
		}
	}
	if len(got) != len(longNames) {
		t.Errorf("%d files extracted: %q", len(got), slices.Sorted(maps.Keys(got)))
	}
	if r, said := found(t, p, nil); len(r.Findings) > 0 || r.Checked != p.Len() {
		t.Errorf("%d checked: %s", r.Checked, said)
	}
}

// foldUpper upper-cases A-Z alone.
func foldUpper(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 32
		}
		return r
	}, s)
}

// An alias depends on nothing but the full name, unless it is taken.
func TestAliases(t *testing.T) {
	sources := longSources()
	whole := create(t, sources, nil)
	slices.Reverse(sources)
	part := create(t, sources[:5], nil)
	for e := range part.Entries() {
		same, ok := whole.Lookup(e.Name)
		if !ok || same.Raw() != e.Raw() {
			t.Errorf("%q: alias %q in one pack and %q in another", e.Name, e.Raw(), same.Raw())
		}
	}
	// A file, a folder and another alias that have it already make it count up.
	name := "music/battle theme.wav"
	first, second := split{}.short(name, 0), split{}.short(name, 1)
	if first == second {
		t.Fatalf("%q twice", first)
	}
	p := create(t, []Source{source(name, pattern(1)), source(strings.ToUpper(first), pattern(2)), source(second+"/a file with a long name", pattern(3))}, nil)
	if e, _ := p.Lookup(name); e.Size != 1 || foldASCII(e.Raw()) == foldASCII(first) || e.Raw() == second {
		t.Errorf("%+v with the alias %q", e, e.Raw())
	}
	checkPack(t, p.Path(), []Source{source(name, pattern(1)), source(strings.ToUpper(first), pattern(2)), source(second+"/a file with a long name", pattern(3))})
	for _, c := range []struct{ name, want string }{
		{"音乐音乐音乐音乐.ogg", "音乐音~????.ogg"}, {"a name that is too long", "a name that is~????"}, {".ext that is long", ""}, {"x/con", "con~????"},
		{"a long name.with long ext", "a long name.wi~????"}, {"deep/er/a.b.c.d.e.f.g.h.wav", "a.b.c.d.e.~????.wav"},
	} {
		got := split{}.short(c.name, 0)
		if c.want == "" {
			continue
		}
		i := strings.Index(c.want, "????")
		if len(got) != len(c.want) || got[:i] != c.want[:i] || got[i+4:] != c.want[i+4:] || checkName(got, splitWrite) != nil {
			t.Errorf("short(%q): %q, want %q (%v)", c.name, got, c.want, checkName(got, splitWrite))
		}
	}
}

// Many names that begin alike get aliases that all differ, whatever they hash to.
func TestAliasesMany(t *testing.T) {
	const n = 20_000
	sources := make([]Source, n)
	for i := range sources {
		sources[i] = source(fmt.Sprintf("voices/%d/Amazing.ogg", i), nil)
	}
	p := create(t, sources, nil)
	for i := range n {
		if e := p.Entry(i); p.index.find(e.Raw()) != i || e.Name != sources[i].Name {
			t.Fatalf("entry %d: %+v with the alias %q of entry %d", i, e, e.Raw(), p.index.find(e.Raw()))
		}
	}
}

func TestManifestFacts(t *testing.T) {
	want := map[string]Facts{
		"a.wav":             {Format: "wav", Frames: 1 << 40, Rate: 48000, Channels: 2},
		"long/name/b.theme": {Format: "mp3", Delay: 576, Padding: 1008, Gain: 0.1, Seek: []byte("table"), Loop: [2]int64{0, 5}},
		"readme.txt":        {},
	}
	order := slices.Sorted(maps.Keys(want))
	var sources []Source
	for i, name := range order {
		sources = append(sources, source(name, pattern(1000+i)))
	}
	n := 0
	p := create(t, sources, &CreateOptions{SHA256: true, Facts: func(r io.ReaderAt, size int64) (Facts, error) {
		b := make([]byte, size)
		if _, err := r.ReadAt(b, 0); err != nil && err != io.EOF || !bytes.Equal(b, pattern(1000+n)) {
			t.Errorf("source %d: %v, or other bytes", n, err)
		}
		n++
		return want[order[n-1]], nil
	}})
	for i, name := range order {
		e, _ := p.Lookup(name)
		got, ok := p.Facts(e)
		if !reflect.DeepEqual(got, want[name]) || ok != (name != "readme.txt") {
			t.Errorf("Facts(%q): %+v, %v; want %+v", name, got, ok, want[name])
		}
		if sha, ok := p.SHA256(e); !ok || fmt.Sprintf("%x", sha) != sum(pattern(1000+i)) {
			t.Errorf("SHA256(%q): %x, %v", name, sha, ok)
		}
		if _, ok := p.Checksum(e); !ok {
			t.Errorf("Checksum(%q): none", name)
		}
	}
	// What a pack without a manifest knows, and an entry of no pack.
	plain := create(t, sources[2:], &CreateOptions{Plain: true, Facts: func(io.ReaderAt, int64) (Facts, error) { t.Error("asked"); return Facts{}, nil }})
	for _, e := range []Entry{plain.Entry(0), {Index: -1}, {Index: 99}} {
		_, a := plain.Facts(e)
		_, b := plain.Checksum(e)
		_, c := plain.SHA256(e)
		_, d := p.Facts(e)
		if a || b || c || d && e.Index != 0 {
			t.Errorf("%+v: %v %v %v %v", e, a, b, c, d)
		}
	}
	broken := errors.New("broken")
	err := Create(t.Context(), filepath.Join(t.TempDir(), "m.data"), sources, &CreateOptions{Facts: func(io.ReaderAt, int64) (Facts, error) { return Facts{}, broken }})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "a.wav") {
		t.Errorf("facts that fail: %v", err)
	}
}

// edited is a pack of two entries and the given manifest, whose text may use BACK for where a.wav lies.
func edited(t testing.TB, manifest string, recs ...rec) *Pack {
	t.Helper()
	data := pattern(100)
	if recs == nil {
		recs = []rec{{"a.wav", 0, 60}, {"long n~abcd.wav", 60, 40}}
	}
	recs = append(recs, rec{manifestName, 100, uint32(len(manifest))})
	return mustOpen(t, writePack(t, encode(recs...), append(data, manifest...)))
}

// Manifests that other programs have changed, or that somebody made up: told, and never believed over
// the bytes.
func TestManifestOdd(t *testing.T) {
	const a, b = `{"entry":"a.wav","back":100,"size":60,"crc32c":"00000000","format":"wav"}`, `{"entry":"long n~abcd.wav","back":40,"size":40,"name":"long/name.wav"}`
	for _, c := range []struct {
		what, text string
		names      string   // of the entries
		facts      bool     // of a.wav
		said       []string // by Verify
		damaged    bool
	}{
		{"empty", `{"sndpak":1}`, "a.wav long n~abcd.wav", false, []string{"INFO manifest: 2 entries that it does not tell of"}, false},
		{"good, but the sum", `{"sndpak":1,"entries":[` + a + "," + b + "]}", "a.wav long/name.wav", true, []string{`ERROR checksum: "a.wav" (entry 0, at 0x0): CRC-32C`, "and 00000000 when it was packed"}, true},
		{"order", `{"entries":[` + b + "," + a + `],"sndpak":1}`, "", false, []string{"WARN manifest: music.inx: the entry .sndpak does not begin with"}, false},
		{"other order of entries", `{"sndpak":1,"entries":[` + b + "," + a + `]}`, "a.wav long/name.wav", true, nil, true},
		{"not JSON", `{"sndpak":1,"entries":[` + a, "a.wav long n~abcd.wav", false, []string{"ERROR manifest: it is left aside", "not JSON"}, true},
		{"version", `{"sndpak":2,"entries":[` + b + `]}`, "a.wav long n~abcd.wav", false, []string{"WARN manifest: it is left aside", "version 2"}, false},
		{"version of another kind", `{"sndpak":"1"}`, "a.wav long n~abcd.wav", false, []string{"version"}, false},
		{"size", `{"sndpak":1,"entries":[{"entry":"a.wav","back":100,"size":61,"format":"wav"}]}`, "a.wav long n~abcd.wav", false, []string{`WARN manifest: "a.wav" (entry 0, at 0x0): the manifest tells of other bytes`}, false},
		{"place", `{"sndpak":1,"entries":[{"entry":"a.wav","back":99,"size":60,"format":"wav"}]}`, "a.wav long n~abcd.wav", false, []string{"tells of other bytes"}, false},
		{"place of a named one", `{"sndpak":1,"entries":[{"entry":"long n~abcd.wav","back":41,"size":40,"name":"long/name.wav"}]}`, "a.wav long/name.wav", false, []string{"tells of other bytes"}, false},
		{"gone", `{"sndpak":1,"entries":[{"entry":"b.wav","back":100,"size":60}]}`, "a.wav long n~abcd.wav", false, []string{"WARN manifest: it tells of 1 entry that is not there"}, false},
		{"twice", `{"sndpak":1,"entries":[` + a + "," + a + `]}`, "a.wav long n~abcd.wav", true, []string{"1 entry that is not there"}, true},
		{"name of a record that is no alias", `{"sndpak":1,"entries":[{"entry":"a.wav","back":100,"size":60,"name":"b.wav"}]}`, "a.wav long n~abcd.wav", false, []string{`the full name "b.wav" cannot be used: the record's name is no alias`}, false},
		{"name that leads out", `{"sndpak":1,"entries":[{"entry":"long n~abcd.wav","back":40,"size":40,"name":"../../evil"}]}`, "a.wav long n~abcd.wav", false, []string{"leads out of its folder"}, false},
		{"absolute", `{"sndpak":1,"entries":[{"entry":"long n~abcd.wav","back":40,"size":40,"name":"/etc/passwd"}]}`, "a.wav long n~abcd.wav", false, []string{"cannot be used"}, false},
		{"name of another", `{"sndpak":1,"entries":[{"entry":"long n~abcd.wav","back":40,"size":40,"name":"A.WAV"}]}`, "a.wav long n~abcd.wav", false, []string{"another entry has it"}, false},
		{"name of the manifest", `{"sndpak":1,"entries":[{"entry":"long n~abcd.wav","back":40,"size":40,"name":".sndpak"}]}`, "a.wav long n~abcd.wav", false, []string{"another entry has it"}, false},
		{"too long", `{"sndpak":1,"entries":[{"entry":"long n~abcd.wav","back":40,"size":40,"name":"` + strings.Repeat("x", 1025) + `"}]}`, "a.wav long n~abcd.wav", false, []string{"it is too long"}, false},
		{"too deep", `{"sndpak":1,"entries":[{"entry":"long n~abcd.wav","back":40,"size":40,"name":"` + strings.Repeat("x/", 32) + `x"}]}`, "a.wav long n~abcd.wav", false, []string{"it is too long"}, false},
		{"that steers a terminal", `{"sndpak":1,"entries":[{"entry":"long n~abcd.wav","back":40,"size":40,"name":"\u001b[31m"}]}`, "a.wav %1B[31m", false, nil, false},
		{"kinds", `{"sndpak":1,"entries":[1,null,[],{},{"entry":5},{"entry":"a.wav","back":"100","size":60}]}`, "a.wav long n~abcd.wav", false, []string{"tells of other bytes", "5 entries that are not there"}, false},
		{"entries of another kind", `{"sndpak":1,"entries":{"a":"b"}}`, "a.wav long n~abcd.wav", false, nil, false},
		{"far", `{"sndpak":1,"entries":[{"entry":"a.wav","back":-9223372036854775808,"size":60},{"entry":"long n~abcd.wav","back":9223372036854775807,"size":40}]}`, "a.wav long n~abcd.wav", false, []string{"tells of other bytes"}, false},
		{"check", `{"sndpak":1,"check":"00000000","entries":[` + b + `]}`, "a.wav long/name.wav", false, []string{"ERROR manifest: checksum mismatch"}, true},
		{"check elsewhere", `{"sndpak":1,"entries":[` + b + `],"check":"00000000"}`, "a.wav long/name.wav", false, []string{"ERROR manifest: edited"}, true},
	} {
		p := edited(t, c.text)
		var names []string
		for e := range p.Entries() {
			names = append(names, e.Name)
			if got, ok := p.Lookup(e.Name); !ok || got != e {
				t.Errorf("%s: Lookup(%q): %+v, %v", c.what, e.Name, got, ok)
			}
			if got, ok := p.Lookup(e.Raw()); !ok || got != e {
				t.Errorf("%s: Lookup(%q): %+v, %v", c.what, e.Raw(), got, ok)
			}
		}
		if got := strings.Join(names, " "); c.names != "" && got != c.names {
			t.Errorf("%s: entries %q, want %q", c.what, got, c.names)
		}
		if _, ok := p.Facts(p.Entry(0)); ok != c.facts {
			t.Errorf("%s: facts of a.wav: %v, want %v", c.what, ok, c.facts)
		}
		if b, err := p.ReadFile("a.wav"); err != nil || !bytes.Equal(b, pattern(60)) {
			t.Errorf("%s: a.wav: %d bytes, %v", c.what, len(b), err)
		}
		r, said := found(t, p, nil)
		contains(t, c.what, said, c.said...)
		if r.Damaged() != c.damaged {
			t.Errorf("%s: damaged %v, want %v:\n%s", c.what, r.Damaged(), c.damaged, said)
		}
		if warned := len(p.Warnings()) > 0; warned != (strings.Contains(said, "WARN manifest:") || strings.Contains(said, "ERROR manifest:")) {
			t.Errorf("%s: warnings %q, findings\n%s", c.what, p.Warnings(), said)
		}
		if err := fstest.TestFS(p, names...); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// An entry that only has the manifest's name is an entry like any other.
func TestManifestNone(t *testing.T) {
	p := edited(t, "hello")
	if p.Len() != 3 || p.Entry(2).Name != manifestName {
		t.Errorf("%d entries", p.Len())
	}
	contains(t, "warnings", strings.Join(p.Warnings(), "\n"), "music.inx", ".sndpak does not begin with")
	if b, err := p.ReadFile(manifestName); err != nil || string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
	cut := mustOpen(t, writePack(t, encode(rec{"a.wav", 0, 5}, rec{manifestName, 5, 100}), pattern(5)))
	if cut.Len() != 1 || len(cut.Warnings()) != 1 {
		t.Errorf("cut off: %d entries, %q", cut.Len(), cut.Warnings())
	}
	if r, said := found(t, cut, nil); r.Errors != 1 || !strings.Contains(said, "manifest: it is left aside") {
		t.Errorf("cut off:\n%s", said)
	}
	huge := writePack(t, encode(rec{manifestName, 0, 1 << 31}), []byte(manifestStart))
	if err := sparse(huge, 1<<31); err != nil {
		t.Skip(err)
	}
	if r, said := found(t, mustOpen(t, huge), nil); r.Errors != 1 || !strings.Contains(said, "over the limit") {
		t.Errorf("huge:\n%s", said)
	}
}

// A program that does not know the manifest adds an entry behind it, removes one before it, and changes
// one: each entry is right, and the rest of the manifest serves on.
func TestManifestOldTool(t *testing.T) {
	p := create(t, longSources(), nil)
	data := read(t, p.Path())
	var recs []rec
	for i := range p.Len() + 1 {
		e := p.Entry(i)
		recs = append(recs, rec{e.Raw(), uint32(e.Offset), uint32(e.Size)})
	}
	recs = slices.Delete(recs, 2, 3)
	recs[0] = rec{recs[0].name, uint32(len(data)), 50}
	recs = append(recs, rec{"new.wav", uint32(len(data)) + 50, 10})
	old := mustOpen(t, writePack(t, encode(recs...), append(data, pattern(60)...)))
	want := append(slices.Delete(slices.Clone(longNames), 2, 3), "new.wav")
	for i, name := range want {
		e := old.Entry(i)
		if e.Name != show(name) || e.Index != i {
			t.Errorf("entry %d: %+v, want %q", i, e, name)
		}
		if got, ok := old.Lookup(name); !ok || got != e {
			t.Errorf("Lookup(%q): %+v, %v", name, got, ok)
		}
		if _, ok := old.Checksum(e); ok != (i > 0 && name != "new.wav") {
			t.Errorf("%q: checksum %v", name, ok)
		}
	}
	if b, err := old.ReadFile(longNames[0]); err != nil || !bytes.Equal(b, pattern(50)) {
		t.Errorf("the changed entry: %d bytes, %v", len(b), err)
	}
	if e, ok := old.Lookup(manifestName); !ok || e.Index != old.Len() || old.Len() != len(want) {
		t.Errorf("the manifest: %+v, %v", e, ok)
	}
	r, said := found(t, old, nil)
	contains(t, "verify", said, `WARN manifest: "music/battle theme.wav" (entry 0`, "WARN manifest: it tells of 1 entry that is not there", "INFO manifest: 1 entry that it does not tell of", "gap")
	if r.Damaged() || r.Checked != len(want)-2 {
		t.Errorf("%d checked:\n%s", r.Checked, said)
	}
	contains(t, "warnings", strings.Join(old.Warnings(), "\n"), "manifest: entry", "other bytes than it tells of")
	if err := fstest.TestFS(old, "new.wav", "short.wav", longNames[0]); err != nil {
		t.Error(err)
	}
}

// What is not known is kept, to the byte, when a manifest is written anew.
func TestManifestKeepsUnknown(t *testing.T) {
	text := `{"sndpak":1,"comment":"made by hand","entries":[
	 {"entry":"a.wav","tags":["x", {"y":1.50}],"back":100,"size":60,"frames":"many","crc32c":"01020304","name2":"\u00e4"},
	 {"size":40,"entry":"long n~abcd.wav","back":40,"name":"long/name.wav","big":12345678901234567890}],"more":{"a":[1,2, 3]}}`
	p := edited(t, text)
	m := p.manifest()
	recs := []record{p.index.at(0), p.index.at(1)}
	again := string(encodeManifest(500, recs, []note{m.note(0), m.note(1)}, m.extra))
	contains(t, "again", again, `"comment":"made by hand"`, `"tags":["x", {"y":1.50}]`, `"frames":"many"`, `"crc32c":"01020304"`, `"name2":"\u00e4"`,
		`"big":12345678901234567890`, `"name":"long/name.wav"`, `"more":{"a":[1,2, 3]}`, `"back":500`, `"back":440`)
	if !json.Valid([]byte(again)) {
		t.Errorf("not JSON: %s", again)
	}
	// Of new bytes only what a person may have written is kept.
	n := m.note(0)
	n.changed()
	line := string(n.append(nil, recs[0], 500))
	if strings.Contains(line, "crc32c") || strings.Contains(line, "frames") || !strings.Contains(line, `"tags":["x", {"y":1.50}]`) {
		t.Errorf("after a change: %s", line)
	}
}

// Damage anywhere in the manifest is told, and the entries are what they are.
func TestManifestDamage(t *testing.T) {
	p := create(t, longSources()[:4], nil)
	e, _ := p.Lookup(manifestName)
	data, index := read(t, p.Path()), read(t, p.IndexPath())
	for i := e.Offset; i < e.Offset+e.Size; i++ {
		bad := bytes.Clone(data)
		bad[i] ^= 0x20
		q, err := Open(writePack(t, index, bad), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, said := found(t, q, nil)
		if len(r.Findings) == 0 {
			t.Errorf("byte %d (%q): not told:\n%s", i-e.Offset, data[i], said)
		}
		for j := range 4 {
			b, err := fs.ReadFile(q, q.Entry(j).Name)
			if err != nil || !bytes.Equal(b, pattern(100+j)) {
				t.Errorf("byte %d: entry %d is %q with %d bytes, %v", i, j, q.Entry(j).Name, len(b), err)
			}
		}
		q.Close()
	}
}

// Look-ups by alias and by full name allocate nothing, once the manifest is loaded.
func TestManifestLookupAllocates(t *testing.T) {
	p := create(t, longSources(), nil)
	for _, name := range []string{"short.wav", p.Entry(0).Raw(), longNames[0], strings.ToUpper(longNames[1]), "nosuch/file with a long name.wav"} {
		p.Lookup(name)
		if n := testing.AllocsPerRun(100, func() { p.Lookup(name) }); n != 0 {
			t.Errorf("Lookup(%q): %v allocations, want 0", name, n)
		}
	}
}

func TestWarningsOfALargeManifest(t *testing.T) {
	p := create(t, []Source{source("a.wav", pattern(10))}, &CreateOptions{Facts: func(io.ReaderAt, int64) (Facts, error) {
		return Facts{Format: "wav", Seek: make([]byte, 1<<20)}, nil
	}})
	b := read(t, p.Path())
	b[len(b)-3] = '?'
	write(t, p.Path(), b)
	p = mustOpen(t, p.Path())
	if w := p.Warnings(); len(w) > 0 || p.loaded.Load() {
		t.Errorf("warnings %q, loaded %v", w, p.loaded.Load())
	}
	p.Facts(p.Entry(0))
	if w := p.Warnings(); len(w) != 1 {
		t.Errorf("once it is loaded: %q", w)
	}
}

func TestJSONCutting(t *testing.T) {
	text := ` { "a" : 1 , "b":[1,[2,{"x":"]}"}],"\"" ],"c\u0064":{"}":"{"} , "d":"\\", "e":true,"f":{},"g":[] }`
	if !valid(text) {
		t.Fatal("not valid")
	}
	var got []string
	for k, v := range members(text) {
		got = append(got, k+"="+v)
	}
	want := []string{"a=1", `b=[1,[2,{"x":"]}"}],"\"" ]`, `cd={"}":"{"}`, `d="\\"`, "e=true", "f={}", "g=[]"}
	if !slices.Equal(got, want) {
		t.Errorf("members %q, want %q", got, want)
	}
	got = slices.Collect(elements(`[1,[2,{"x":"]}"}], "\"" ]`))
	if want := []string{"1", `[2,{"x":"]}"}]`, `"\""`}; !slices.Equal(got, want) {
		t.Errorf("elements %q, want %q", got, want)
	}
	for _, s := range []string{"", "1", "[]", `"x"`, "{", "nul"} {
		if valid(s) {
			t.Errorf("valid(%q)", s)
		}
		for k, v := range members(s) {
			t.Errorf("members(%q): %q %q", s, k, v)
		}
	}
	for _, s := range []string{"", "plain", `q"b\`, "ünï", "\x00\x1f\x7f", "<&>", "\u2028"} {
		if got, ok := unquote(string(quote(nil, s))); !ok || got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

// FuzzManifest reads any text as a manifest, writes what it read and reads that again: the same is
// known, whatever was not understood is kept, and nothing is believed that does not fit.
func FuzzManifest(f *testing.F) {
	p := create(f, longSources(), &CreateOptions{SHA256: true, Facts: func(r io.ReaderAt, size int64) (Facts, error) {
		return Facts{Format: "wav", Frames: size, Loop: [2]int64{1, size}, Gain: 0.25, Seek: []byte("x")}, nil
	}})
	off := p.index.at(p.Len()).off
	f.Add(manifestBody(f, p))
	seeds := 1
	for e := range p.Entries() { // one line each, with members of every kind
		f.Add(fmt.Sprintf(`{"sndpak":1,"x":[],"entries":[{"entry":%q,"back":%d,"size":%d,"name":"n/%d.wav","loop":[0,%d],"y":{"z":null}}]}`, e.Raw(), off-e.Offset, e.Size, e.Index, e.Index))
		seeds++
	}
	f.Add(`{"entries":[{"entry":"short.wav","name":{}}]}`) // a member of the wrong kind in a line that does not fit
	if seeds < 2 {
		f.Fatal("no seeds")
	}
	recs := make([]record, p.Len())
	for i := range recs {
		recs[i] = p.index.at(i)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := parseManifest(text, off, p.index, p.layout)
		if m.err != nil {
			return
		}
		again := fuzzRewrite(t, m, recs, off)
		if first, second := again, fuzzRewrite(t, parseManifest(again, off, p.index, p.layout), recs, off); first != second {
			t.Fatalf("written:\n%s, and again:\n%s", first, second)
		}
		m2 := parseManifest(again, off, p.index, p.layout)
		for i, r := range recs {
			a, b := m.note(i), m2.note(i)
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("entry %d: %+v, and written and read again %+v", i, a, b)
			}
			if a.name != "" && (unsafe(a.name) != "" || !fs.ValidPath(show(a.name)) || m.find(a.name) != i || !p.layout.aliased(r.raw)) {
				t.Fatalf("entry %d: name %q", i, a.name)
			}
		}
		for _, b := range m2.faults {
			if b.level >= slog.LevelWarn {
				t.Fatalf("what we wrote: %s", b.text)
			}
		}
	})
}

// FuzzManifestPack does with a pack whatever can be done, its manifest being any text.
func FuzzManifestPack(f *testing.F) {
	const a, b = `{"entry":"a.wav","back":100,"size":60,"crc32c":"00000000"}`, `{"entry":"long n~abcd.wav","back":40,"size":40,"name":"long/name.wav"}`
	for _, text := range []string{`{"sndpak":1}`, `{"sndpak":1,"entries":[` + a + "," + b + "]}", strings.Replace(b, "long/name", "a.wav/x", 1), "hello"} {
		f.Add(text)
	}
	recs := []rec{{"a.wav", 0, 60}, {"long n~abcd.wav", 60, 40}, {"dir/x~y", 0, 0}, {"LONG n~abcd.wav", 5, 5}}
	f.Fuzz(func(t *testing.T, text string) {
		p := edited(t, text, recs...)
		data := append(pattern(100), text...)
		fuzzEntries(t, p, data)
		fuzzTree(t, p)
		r, err := p.Verify(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		fuzzExtract(t, p, r)
		p.Close()
		w := mustEdit(t, p.Path())
		if err := w.Add(source("added/under a long name.wav", pattern(60))); err != nil {
			return
		}
		must(t, w.Compact(t.Context()))
		must(t, w.Close())
		q := mustOpen(t, p.Path())
		for e := range p.Entries() {
			if is := q.Entry(e.Index); is.Name != e.Name && e.Raw() != is.Raw() || is.Size != e.Size {
				t.Fatalf("entry %+v became %+v", e, is)
			}
		}
		if b, err := q.ReadFile("added/under a long name.wav"); p.noted && (err != nil || !bytes.Equal(b, pattern(60))) {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
		q.Close()
	})
}

func fuzzRewrite(t *testing.T, m *manifest, recs []record, off int64) string {
	notes := make([]note, len(recs))
	for i := range notes {
		notes[i] = m.note(i)
	}
	text := encodeManifest(off, recs, notes, m.extra)
	if !json.Valid(text) || !bytes.HasPrefix(text, []byte(manifestHead)) {
		t.Fatalf("not a manifest: %q", text)
	}
	return string(text)
}

// BenchmarkManifest100000 loads the manifest of 100,000 entries with long names and finds one.
func BenchmarkManifest100000(b *testing.B) {
	names := benchNames(100_000)
	sources := make([]Source, len(names))
	for i := range names {
		sources[i] = source("sounds/effects/"+names[i], nil)
	}
	path := filepath.Join(b.TempDir(), "music.data")
	if err := Create(b.Context(), path, sources, nil); err != nil {
		b.Fatal(err)
	}
	info, _ := os.Stat(path)
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		p, err := Open(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := p.Lookup(sources[77].Name); !ok {
			b.Fatal("not found")
		}
		p.Close()
	}
}
