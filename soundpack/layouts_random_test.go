package soundpack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// randomSources are up to 8 files of random bytes, some of them twice, under random names that every
// layout takes and no two of which are one when their case is folded.
func randomSources(r *rand.Rand) (all []Source) {
	for i := range 1 + r.IntN(8) {
		name := fmt.Sprintf("%c%d", 'a'+rune(r.IntN(26)), i)
		for range r.IntN(12) {
			name += string("abcdefghijklmnopqrstuvwxyz-_0123456789"[r.IntN(38)])
		}
		body := make([]byte, r.IntN(3)*r.IntN(2000))
		for j := range body {
			body[j] = byte(r.Uint32())
		}
		if i > 0 && r.IntN(4) == 0 {
			all = append(all, Source{Name: name + ".wav", Size: all[i-1].Size, Open: all[i-1].Open})
			continue
		}
		all = append(all, source(name+".wav", body))
	}
	return all
}

// Random packs go both ways through the independent program, in each layout, with a manifest and without.
func TestLayoutsRandomBothWays(t *testing.T) {
	py, script := tool(t, "python3"), shared(t, "interop", "refpack.py")
	r := newRand(t)
	eachLayout(t, func(t *testing.T, l layout, path string) {
		for round := range 3 {
			src := randomSources(r)
			theirs := filepath.Join(t.TempDir(), filepath.Base(path))
			makeOthers(t, l, theirs, src)
			p := mustOpen(t, theirs)
			if p.Len() != len(src) {
				t.Errorf("round %d: we see %d entries of their %d", round, p.Len(), len(src))
			}
			ours := filepath.Join(t.TempDir(), filepath.Base(path))
			if err := Create(t.Context(), ours, src, &CreateOptions{Layout: l.name(), Plain: round == 0}); err != nil {
				t.Fatal(err)
			}
			own := mustOpen(t, ours)
			for i, s := range src {
				want := bodyOf(t, s)
				name := entryName(l, src, i)
				if b, err := p.ReadFile(name); err != nil || !bytes.Equal(b, want) {
					t.Errorf("round %d: their %q: %d bytes, %v; want %d", round, name, len(b), err, len(want))
				}
				e, ok := own.Lookup(s.Name)
				if l.name() == "pck" && round == 0 {
					e, ok = own.Lookup(name)
				}
				if !ok {
					t.Errorf("round %d: no %q in ours", round, s.Name)
					continue
				}
				key := e.Raw()
				if got := run(t, py, script, "extract", l.name(), ours, key); !bytes.Equal(got, want) {
					t.Errorf("round %d: they read our %q (%q) as %d bytes, want %d", round, s.Name, key, len(got), len(want))
				}
			}
		}
	})
}
