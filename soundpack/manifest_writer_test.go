package soundpack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// editPack stages with do, commits, and opens the result.
func editPack(t *testing.T, path string, opt *WriterOptions, do func(w *Writer) error) (*Pack, error) {
	t.Helper()
	if opt == nil {
		opt = &WriterOptions{}
	}
	opt.pause = noPause
	w, err := Edit(t.Context(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	err = do(w)
	if err == nil {
		err = w.Commit(t.Context())
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	return mustOpen(t, path), err
}

// add commits sources and compares what the pack has then.
func add(t *testing.T, path string, opt *WriterOptions, src ...Source) *Pack {
	t.Helper()
	p, err := editPack(t, path, opt, func(w *Writer) error { return w.Add(src...) })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// clean fails if verify finds more than what is given leave.
func clean(t *testing.T, p *Pack, but ...string) *Report {
	t.Helper()
	r := mustReport(t, p)
	for _, f := range r.Findings {
		if !slices.Contains(but, f.Kind) {
			t.Errorf("verify: %v", f)
		}
	}
	return r
}

// New entries have their full names, sums and facts noted; the old ones keep theirs.
func TestWriterAddsToManifest(t *testing.T) {
	facts := func(r io.ReaderAt, size int64) (Facts, error) { return Facts{Format: "wav", Frames: size}, nil }
	path := create(t, longSources(), &CreateOptions{Facts: facts}).Path()
	before := mustOpen(t, path)
	p := add(t, path, &WriterOptions{SHA256: true, Facts: facts}, source("added.wav", pattern(2000)), source("voices/Pirate/Amazing.ogg", pattern(3000)), source("music/battle theme, longer.wav", nil))
	want := append(slices.Clone(longNames), "added.wav", "voices/Pirate/Amazing.ogg", "music/battle theme, longer.wav")
	for i, name := range want {
		e := p.Entry(i)
		if found, ok := p.Lookup(name); e.Name != show(name) || !ok || found != e {
			t.Errorf("entry %d: %+v, want %q", i, e, name)
		}
		f, ok := p.Facts(e)
		if _, sum := p.Checksum(e); !ok || f.Frames != e.Size || !sum {
			t.Errorf("%q: facts %+v, %v, sum %v", name, f, ok, sum)
		}
		if _, sha := p.SHA256(e); sha != (i >= len(longNames)) {
			t.Errorf("%q: SHA-256 %v", name, sha)
		}
		if i < len(longNames) && before.Entry(i).Raw() != e.Raw() {
			t.Errorf("%q: alias %q became %q", name, before.Entry(i).Raw(), e.Raw())
		}
	}
	if r := clean(t, p, "gap"); r.Checked != len(want) || p.Len() != len(want) {
		t.Errorf("%d of %d checked", r.Checked, p.Len())
	}
	p, err := editPack(t, path, nil, func(w *Writer) error { return w.Compact(t.Context()) })
	if err != nil {
		t.Fatal(err)
	}
	if r := clean(t, p); r.Checked != len(want) {
		t.Errorf("compacted: %d of %d checked", r.Checked, p.Len())
	}
	out := t.TempDir()
	if err := p.Extract(t.Context(), out, nil, nil); err != nil {
		t.Error(err)
	}
	if l := fileTree(t, out); len(l) != len(want) || l["voices/Pirate/Amazing.ogg"] != string(pattern(3000)) {
		t.Errorf("extracted %d files", len(l))
	}
}

// Which packs come to have a manifest.
func TestWriterMakesManifest(t *testing.T) {
	short, long := source("a.wav", pattern(5)), source("music/a long name.wav", pattern(6))
	for _, c := range []struct {
		what  string
		old   []Source // nil: no pack; of a plain pack
		add   Source
		plain bool
		want  bool
		is    error
	}{
		{"nothing there", nil, short, false, true, nil},
		{"nothing there, plain", nil, short, true, false, nil},
		{"an empty pack", []Source{}, short, false, true, nil},
		{"a plain pack", []Source{source("b", pattern(3))}, short, false, false, nil},
		{"a plain pack, a long name", []Source{source("b", pattern(3))}, long, false, true, nil},
		{"a plain pack, a long name, plain", []Source{source("b", pattern(3))}, long, true, false, fs.ErrInvalid},
	} {
		path := filepath.Join(t.TempDir(), "music.data")
		if c.old != nil {
			if err := Create(t.Context(), path, c.old, &CreateOptions{Plain: true}); err != nil {
				t.Fatal(err)
			}
		}
		p, err := editPack(t, path, &WriterOptions{Create: true, Plain: c.plain}, func(w *Writer) error { return w.Add(c.add) })
		if !errors.Is(err, c.is) {
			t.Errorf("%s: error %v, want %v", c.what, err, c.is)
			continue
		}
		if p.noted != c.want {
			t.Errorf("%s: manifest %v, want %v", c.what, p.noted, c.want)
		}
		if c.is == nil {
			checkPack(t, path, append(c.old, c.add))
		}
	}
	// One that is there is kept, whatever is asked for, until nothing is left.
	path := create(t, []Source{long}, nil).Path()
	if p := add(t, path, &WriterOptions{Plain: true}, short); !p.noted || clean(t, p, "gap").Checked != 2 {
		t.Error("the manifest went")
	}
	p, err := editPack(t, path, nil, func(w *Writer) error { return second(w.Remove("A.WAV", "MUSIC/a long name.wav")) })
	if err != nil || p.Len() != 0 || p.noted || len(read(t, p.IndexPath())) != 0 {
		t.Errorf("all removed: %d entries, manifest %v, %v", p.Len(), p.noted, err)
	}
}

func TestWriterNames(t *testing.T) {
	path := create(t, longSources(), nil).Path()
	w := mustEdit(t, path)
	if w.Len() != len(longNames) {
		t.Errorf("Len %d, want %d", w.Len(), len(longNames))
	}
	for _, c := range []struct {
		name string
		is   error
		word string
	}{
		{"MUSIC/Battle Theme.wav", fs.ErrExist, `there already as "music/battle theme.wav"`},
		{"short.WAV", fs.ErrExist, `as "short.wav"`},
		{mustOpen(t, path).Entry(0).Raw(), fs.ErrExist, `as "music/battle theme.wav"`}, // an alias
		{"Music", fs.ErrInvalid, "there is a folder of that name"},
		{"voices/british", fs.ErrInvalid, "there is a folder of that name"},
		{"short.wav/x", fs.ErrInvalid, `"short.wav" is a file`},
		{"a name of twenty.wav/x/y", fs.ErrInvalid, "is a file"},
		{"../x", fs.ErrInvalid, `".."`}, {"a//b", fs.ErrInvalid, "empty"}, {"con/x", fs.ErrInvalid, "device"},
		{manifestName, fs.ErrInvalid, "dot"},
	} {
		err := w.Add(source("fine.wav", nil), source(c.name, nil))
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.word) {
			t.Errorf("Add(%q): %v, want %v with %q", c.name, err, c.is, c.word)
		}
	}
	if err := w.Add(source("new/x", nil), source("NEW", nil)); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a file and a folder at once: %v", err)
	}
	// An alias that a source beside it has for a name.
	alias := split{}.short("some/very long name.wav", 0)
	must(t, w.Add(source("some/very long name.wav", pattern(1)), source(alias, pattern(2))))
	must(t, w.Commit(t.Context()))
	p := mustOpen(t, path)
	a, _ := p.Lookup("some/very long name.wav")
	b, _ := p.Lookup(alias)
	if a.Size != 1 || b.Size != 2 || a.Raw() == b.Raw() {
		t.Errorf("%+v and %+v", a, b)
	}
	// Folders go with their last file.
	if _, err := w.Remove(longNames[5]); err != nil {
		t.Fatal(err)
	}
	must(t, w.Add(source("voices/British", pattern(3))))
	must(t, w.Commit(t.Context()))
	clean(t, mustOpen(t, path), "gap")
	// Removed and added at once, and found by alias.
	if n, err := w.Remove(a.Raw(), "VOICES/british"); n != 2 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	must(t, w.Add(source("voices/British/Amazing.ogg", pattern(4))))
	must(t, w.Commit(t.Context()))
	p = mustOpen(t, path)
	if e, ok := p.Lookup("voices/British/Amazing.ogg"); !ok || e.Size != 4 {
		t.Errorf("%+v", e)
	}
	clean(t, p, "gap")
}

// Replacing by full name or alias keeps both, and drops what was known of the old bytes.
func TestWriterReplaces(t *testing.T) {
	path := create(t, longSources(), &CreateOptions{SHA256: true, Facts: func(r io.ReaderAt, size int64) (Facts, error) { return Facts{Format: "wav"}, nil }}).Path()
	old := mustOpen(t, path)
	alias := old.Entry(1).Raw()
	p, err := editPack(t, path, nil, func(w *Writer) error {
		return w.Replace(source("MUSIC/battle theme.wav", pattern(50)), source(alias, pattern(51)), source("short.wav", pattern(52)))
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]string{0: "MUSIC/battle theme.wav", 1: longNames[1], 3: "short.wav", 4: longNames[4]} {
		e := p.Entry(i)
		_, facts := p.Facts(e)
		_, sha := p.SHA256(e)
		if e.Name != want || e.Raw() != old.Entry(i).Raw() || facts != (i == 4) || sha != (i == 4) {
			t.Errorf("entry %d: %+v, facts %v, SHA-256 %v, want %q", i, e, facts, sha, want)
		}
	}
	if r := clean(t, p, "gap"); r.Checked != len(longNames) {
		t.Errorf("%d checked", r.Checked)
	}
	// A gap that is left is given back, and all is as it was.
	if p, err = editPack(t, path, nil, func(w *Writer) error { return w.Compact(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	clean(t, p)
}

// What is not known survives adding, replacing, removing and compacting.
func TestWriterKeepsUnknown(t *testing.T) {
	text := `{"sndpak":1,"comment":"by hand","entries":[{"entry":"a.wav","back":100,"size":60,"tags":["x", 1.50],"crc32c":"00000000"},{"entry":"long n~abcd.wav","back":40,"size":40,"name":"long/name.wav","stars":5}]}`
	p := edited(t, text)
	add(t, p.Path(), nil, source("more.wav", pattern(9)))
	p, err := editPack(t, p.Path(), nil, func(w *Writer) error {
		if err := w.Replace(source("a.wav", pattern(7))); err != nil {
			return err
		}
		if err := w.Commit(t.Context()); err != nil {
			return err
		}
		if _, err := w.Remove("more.wav"); err != nil {
			return err
		}
		return w.Compact(t.Context())
	})
	if err != nil {
		t.Fatal(err)
	}
	body := manifestBody(t, p)
	contains(t, "manifest", body, `"comment":"by hand"`, `"tags":["x", 1.50]`, `"stars":5`, `"name":"long/name.wav"`)
	if strings.Contains(body, "00000000") || strings.Contains(body, "more.wav") {
		t.Errorf("what is no longer so: %s", body)
	}
	clean(t, p)
}

// Bodies that are in the pack already are not added again; removing one leaves the other whole.
func TestWriterSameContentOnce(t *testing.T) {
	big := pattern(300_000)
	path := create(t, []Source{source("a.wav", big), source("b.wav", pattern(1000))}, nil).Path()
	old := mustOpen(t, path).DataSize()
	p := add(t, path, nil, source("twin.wav", big), source("new.wav", pattern(2000)), source("long/name of a twin.wav", pattern(1000)), source("new twin.wav", pattern(2000)))
	m, _ := p.Lookup(manifestName)
	if grown := p.DataSize() - old - m.Size; grown != 2000 {
		t.Errorf("grown by %d bytes, want 2000", grown)
	}
	if e, _ := p.Lookup("twin.wav"); e.Offset != 0 || len(p.Shared(e)) != 1 {
		t.Errorf("%+v", e)
	}
	clean(t, p, "gap", "shared")
	p, err := editPack(t, path, nil, func(w *Writer) error {
		if _, err := w.Remove("a.wav", "new.wav", "b.wav"); err != nil {
			return err
		}
		return w.Compact(t.Context())
	})
	if err != nil {
		t.Fatal(err)
	}
	checkPack(t, path, []Source{source("twin.wav", big), source("long/name of a twin.wav", pattern(1000)), source("new twin.wav", pattern(2000))})
	clean(t, p)
	// The last of what is added being a twin, nothing is left behind the manifest.
	p = add(t, path, nil, source("last.wav", big))
	m, _ = p.Lookup(manifestName)
	if m.Offset+m.Size != p.DataSize() {
		t.Errorf("manifest ends at %d of %d", m.Offset+m.Size, p.DataSize())
	}
	clean(t, p, "gap", "shared")
	// In a pack without a manifest twins are found among what is added.
	plain := create(t, []Source{source("x", pattern(9))}, &CreateOptions{Plain: true}).Path()
	if p := add(t, plain, nil, source("a", big), source("b", big)); p.DataSize() != 9+300_000 {
		t.Errorf("%d bytes", p.DataSize())
	}
}

// A manifest that cannot be kept is not thrown away in silence.
func TestWriterBadManifest(t *testing.T) {
	for what, text := range map[string]string{
		"not JSON":  `{"sndpak":1,`,
		"a version": `{"sndpak":2}`,
	} {
		p := edited(t, text)
		data, index := read(t, p.Path()), read(t, p.IndexPath())
		for op, do := range map[string]func(w *Writer) error{
			"add":     func(w *Writer) error { return w.Add(source("x", pattern(1))) },
			"remove":  func(w *Writer) error { return second(w.Remove("a.wav")) },
			"replace": func(w *Writer) error { return w.Replace(source("a.wav", pattern(1))) },
		} {
			_, err := editPack(t, p.Path(), nil, do)
			if err == nil || !strings.Contains(err.Error(), "manifest") || !strings.Contains(err.Error(), "if .sndpak is removed") {
				t.Errorf("%s: %s: %v", what, op, err)
			}
		}
		if !bytes.Equal(read(t, p.Path()), data) || !bytes.Equal(read(t, p.IndexPath()), index) {
			t.Errorf("%s: the pack is not what it was", what)
		}
		q, err := editPack(t, p.Path(), nil, func(w *Writer) error { return second(w.Remove(".SNDPAK")) })
		if err != nil || q.noted || q.Len() != 2 || q.Entry(1).Name != "long n~abcd.wav" {
			t.Errorf("%s: removed: %d entries, %v", what, q.Len(), err)
		}
		add(t, p.Path(), nil, source("x", pattern(1)))
	}
	// One whose check does not hold is told, and kept.
	p := edited(t, `{"sndpak":1,"check":"00000000","entries":[{"entry":"long n~abcd.wav","back":40,"size":40,"name":"long/name.wav"}]}`)
	var told []string
	p = add(t, p.Path(), &WriterOptions{Notice: func(path, text string) { told = append(told, path+": "+text) }}, source("x", pattern(1)))
	if len(told) != 1 || !strings.Contains(told[0], "checksum mismatch") || p.Entry(1).Name != "long/name.wav" {
		t.Errorf("told %q", told)
	}
	// An entry that only has the name stays what it is, and the pack plain.
	other := edited(t, "hello")
	p = add(t, other.Path(), nil, source("x", pattern(1)))
	if b, err := p.ReadFile(manifestName); string(b) != "hello" || p.Len() != 4 {
		t.Errorf("%q, %v, %d entries", b, err, p.Len())
	}
	if _, err := editPack(t, other.Path(), nil, func(w *Writer) error { return w.Add(source("a/b", nil)) }); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a long name there: %v", err)
	}
	// Names that only a manifest can hold, without one.
	long := create(t, longSources(), nil)
	_, err := editPack(t, long.Path(), nil, func(w *Writer) error {
		if _, err := w.Remove(manifestName); err != nil {
			return err
		}
		return w.Add(source("still/a long name.wav", nil))
	})
	if !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("without a manifest: %v", err)
	}
	q, err := editPack(t, long.Path(), nil, func(w *Writer) error { return second(w.Remove(manifestName)) })
	if err != nil || q.noted || q.Entry(0).Name != long.Entry(0).Raw() {
		t.Errorf("%v, %+v", err, q.Entry(0))
	}
	broken := errors.New("broken")
	if _, err := editPack(t, long.Path(), &WriterOptions{Facts: func(io.ReaderAt, int64) (Facts, error) { return Facts{}, broken }},
		func(w *Writer) error { return w.Add(source("x", pattern(3))) }); !errors.Is(err, broken) {
		t.Errorf("facts that fail: %v", err)
	}
}

// The model test: sessions of random edits under names of every length, against a map, verified after
// each and extracted at the end.
func TestWriterManifestModel(t *testing.T) {
	r := newRand(t)
	runs := 6
	if testing.Short() {
		runs = 2
	}
	for run := range runs {
		path := filepath.Join(t.TempDir(), "music.data")
		now := map[string]string{}
		for session := range 30 {
			p, err := editPack(t, path, &WriterOptions{Create: true, SHA256: r.IntN(3) == 0}, func(w *Writer) error {
				for range 1 + r.IntN(3) {
					if err := randomStage(r, w, now); err != nil {
						return err
					}
				}
				if r.IntN(4) == 0 {
					return w.Compact(t.Context())
				}
				return nil
			})
			if err != nil {
				t.Fatalf("run %d, session %d: %v", run, session, err)
			}
			if p.Len() != len(now) || !p.noted && len(now) > 0 {
				t.Fatalf("run %d, session %d: %d entries, want %d, manifest %v", run, session, p.Len(), len(now), p.noted)
			}
			for name, body := range now {
				if b, err := p.ReadFile(strings.ToUpper(name)); err != nil || string(b) != body {
					t.Fatalf("run %d, session %d: %q: %d bytes, %v, want %d", run, session, name, len(b), err, len(body))
				}
			}
			if rep := clean(t, p, "gap", "shared"); rep.Checked != len(now) {
				t.Fatalf("run %d, session %d: %d of %d checked", run, session, rep.Checked, len(now))
			}
			p.Close()
		}
		out := t.TempDir()
		must(t, mustOpen(t, path).Extract(t.Context(), out, nil, nil))
		if got := fileTree(t, out); !maps.Equal(got, now) {
			t.Errorf("run %d: extracted %q, want %q", run, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(now)))
		}
	}
}

// randomStage adds, replaces or removes, in the pack and in the model.
func randomStage(r *rand.Rand, w *Writer, now map[string]string) error {
	names := slices.Sorted(maps.Keys(now))
	if len(names) > 0 && r.IntN(3) == 0 {
		name := names[r.IntN(len(names))]
		delete(now, name)
		return second(w.Remove(strings.ToUpper(name)))
	}
	name := fmt.Sprintf("dir %d/sub/a name that is long %d.wav", r.IntN(3), r.IntN(12))
	if r.IntN(3) == 0 {
		name = fmt.Sprintf("s%d.wav", r.IntN(12))
	}
	body := string(pattern(1 + r.IntN(4)*500)[r.IntN(2)*(r.IntN(2)):])
	now[name] = body
	return w.Replace(bodySource(name, body))
}
