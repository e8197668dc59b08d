package soundpack

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whole games' sounds, as Debian ships them, under long names and in folders: packed, found by full
// name, extracted into the same tree bit for bit, and read under their aliases by a C program that
// knows nothing of any of this.
func TestRealFolders(t *testing.T) {
	for pkg, c := range map[string]struct {
		folder        string
		most, aliased int // sounds at least, and how many of them have an alias
	}{
		"minetest-data":  {"/usr/share/games/minetest/games", 100, 95},
		"hedgewars-data": {"/usr/share/games/hedgewars/Data", 900, 900},
	} {
		t.Run(pkg, func(t *testing.T) {
			if _, err := os.Stat(c.folder); err != nil {
				needs(t, pkg)
			}
			src, err := Sources([]string{c.folder}, nil)
			if err != nil {
				t.Fatal(err)
			}
			src = slices.DeleteFunc(src, func(s Source) bool { e := filepath.Ext(s.Name); return e != ".ogg" && e != ".wav" })
			if len(src) < c.most {
				t.Fatalf("%d sounds", len(src))
			}
			refused := Create(t.Context(), filepath.Join(t.TempDir(), "m.data"), src, &CreateOptions{Plain: true})
			if refused == nil || !strings.Contains(refused.Error(), fmt.Sprint(len(src), " names")) {
				t.Errorf("plain: %.200v", refused)
			}
			p := create(t, src, nil)
			out := t.TempDir()
			if err := p.Extract(t.Context(), out, nil, nil); err != nil {
				t.Fatal(err)
			}
			got := fileTree(t, out)
			_, get := readers(t)["c"](t)
			aliased := 0
			for i, s := range src {
				want := read(t, s.Path)
				e, ok := p.Lookup(strings.ToUpper(s.Name))
				if !ok || e.Name != s.Name || e.Index != i {
					t.Fatalf("%s: %+v, %v", s.Name, e, ok)
				}
				if e.Raw() != s.Name {
					aliased++
				}
				if b, err := p.ReadFile(s.Name); err != nil || !bytes.Equal(b, want) {
					t.Errorf("%s: %d bytes, %v", s.Name, len(b), err)
				}
				if got[s.Name] != string(want) {
					t.Errorf("%s: extracted, it differs", s.Name)
				}
				if i%10 == 0 && !bytes.Equal(run(t, get[0], p.Path(), p.IndexPath(), e.Raw()), want) {
					t.Errorf("%s: read by C as %q, it differs", s.Name, e.Raw())
				}
			}
			if len(got) != len(src) || aliased < c.aliased {
				t.Errorf("%d files extracted, %d aliases; %d sounds", len(got), aliased, len(src))
			}
			r, said := found(t, p, &VerifyOptions{MaxFindings: 5})
			shares := 0
			for e := range p.Entries() {
				if len(p.Shared(e)) > 0 {
					shares++
				}
			}
			if r.Errors+r.Warnings > 0 || r.Checked != len(src) {
				t.Errorf("%d checked:\n%s", r.Checked, said)
			}
			if want := slices.Sorted(maps.Keys(got)); len(want) > 0 && want[0] != src[0].Name {
				t.Errorf("first file %q, want %q", want[0], src[0].Name)
			}
			t.Logf("%d sounds, %d under an alias, %d share their bytes", len(src), aliased, shares)
		})
	}
}
