package soundpack

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sameAsModel compares a pack with contents; one of hashes has its own order.
func sameAsModel(t *testing.T, l layout, path string, want contents) {
	t.Helper()
	p := mustOpen(t, path)
	got, err := packContents(p)
	if err != nil {
		t.Fatal(err)
	}
	if l.traits().hashed {
		byName := func(a, b file) int { return strings.Compare(a.name, b.name) }
		want = slices.Clone(want)
		slices.SortFunc(got, byName)
		slices.SortFunc(want, byName)
	}
	if got.key() != want.key() {
		t.Fatalf("%d entries %v, want %d %v", len(got), got, len(want), want)
	}
	r, err := p.Verify(t.Context(), nil)
	if err != nil || r.Damaged() || slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == "manifest" }) {
		t.Fatalf("verify: %v %v", r.Findings, err)
	}
	if p.Layout() != l.name() {
		t.Fatalf("layout %s, want %s", p.Layout(), l.name())
	}
}

// Random edits against the model, in every layout, with names that some of them cannot hold by themselves.
func TestLayoutsEdit(t *testing.T) {
	eachLayout(t, func(t *testing.T, l layout, path string) {
		r := newRand(t)
		opt := &WriterOptions{Create: true, Layout: l.name(), pause: noPause}
		folder := func() string { return []string{"", "sfx/", "voice/of an orc/"}[r.IntN(3)] }
		model := contents{}
		for n := range 25 {
			e := randomEditIn(r, model, 600, folder)
			for i, f := range e.replace {
				if at := model.find(f.name); at >= 0 && l.traits().exact {
					e.replace[i].name = model[at].name
				}
			}
			if err := editWith(t.Context(), path, e, opt); err != nil {
				t.Fatalf("edit %d, %v: %v", n, e, err)
			}
			model = e.apply(model)
			sameAsModel(t, l, path, model)
			opt.Layout = "" // found from now on
		}
	})
}

// A pack that others made is changed and stays one that they read; what they do not know is kept from it.
func TestLayoutsEditOthers(t *testing.T) {
	eachLayout(t, func(t *testing.T, l layout, path string) {
		makeOthers(t, l, path, others)
		w, err := Edit(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if w.Layout() != l.name() {
			t.Errorf("layout %s", w.Layout())
		}
		err = w.Replace(source(entryName(l, others, 0), pattern(11)))
		if err == nil {
			_, err = w.Remove(entryName(l, others, 2))
		}
		if err == nil {
			err = w.Add(source("fresh.wav", pattern(12)))
		}
		if err == nil {
			err = w.Compact(t.Context())
		}
		if err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		p := mustOpen(t, path)
		if p.noted || p.Len() != len(others) {
			t.Errorf("manifest %v, %d entries", p.noted, p.Len())
		}
		want := map[string][]byte{entryName(l, others, 0): pattern(11), "fresh.wav": pattern(12), "last": pattern(1)}
		if l.name() == "pck" { // what stood behind what went has moved up
			want = map[string][]byte{"0": pattern(11), "5": pattern(12), "4": pattern(1), "2": pattern(3)}
		}
		py, script := tool(t, "python3"), shared(t, "interop", "refpack.py")
		for name, body := range want {
			if got := run(t, py, script, "extract", l.name(), path, name); !bytes.Equal(got, body) {
				t.Errorf("they read %q as %d bytes, want %d", name, len(got), len(body))
			}
		}
		if r, err := p.Verify(t.Context(), nil); err != nil || len(r.Findings) > 0 {
			t.Errorf("verify: %v %v", r.Findings, err)
		}
	})
}

// What cannot be added leaves the pack as it was.
func TestLayoutsEditRefused(t *testing.T) {
	const a, b = "music/coin_spell_19.wav", "ambience/wind_swish_04.wav"
	for _, c := range []struct {
		layout, have string
		add          []string
		is           error
		words        []string
	}{
		{"crc", a, []string{b}, fs.ErrInvalid, []string{a, b, "a668ea4d"}},
		{"crc", "x", []string{a, b}, fs.ErrInvalid, []string{a, b, "a668ea4d"}},
		{"crc", a, []string{a}, fs.ErrExist, []string{a}},
		{"cfg", "x", []string{"日本"}, fs.ErrInvalid, []string{"日本", "Latin-1"}},
		{"pck", "x", []string{"0"}, fs.ErrExist, []string{`"0"`}},
		{"pck", "x", []string{"7"}, fs.ErrInvalid, []string{`"7"`, "number"}},
		{"pck", "x", []string{"X"}, fs.ErrExist, []string{"x"}},
	} {
		path := filepath.Join(t.TempDir(), dataNames[c.layout])
		if err := Create(t.Context(), path, []Source{source(c.have, pattern(10))}, &CreateOptions{Layout: c.layout}); err != nil {
			t.Fatal(err)
		}
		before := read(t, path)
		w, err := Edit(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		var sources []Source
		for _, name := range c.add {
			sources = append(sources, source(name, pattern(20)))
		}
		what := fmt.Sprintf("%s: %q to %q", c.layout, c.add, c.have)
		for _, stage := range []func(...Source) error{w.Add, w.Replace} {
			err := stage(sources...)
			if c.is == fs.ErrExist && err == nil {
				break // replaced, as it should be
			}
			if !errors.Is(err, c.is) {
				t.Errorf("%s: %v, want %v", what, err, c.is)
				continue
			}
			contains(t, what, err.Error(), c.words...)
		}
		if err := w.Close(); err != nil || !bytes.Equal(read(t, path), before) {
			t.Errorf("%s: %v, or the pack has changed", what, err)
		}
	}
}
