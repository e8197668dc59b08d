package main

import (
	"cmp"
	"errors"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sndpak/sndpak/soundpack"
)

// How names of entries on the command line are understood: as they are, or else as patterns; and what is said
// of those that no entry has.

// isPattern tells whether a name may stand for others.
func isPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// matching are the names that a pattern stands for, each once and in their order: that of path.Match, in which
// * does not go beyond a slash. fold takes a-z for A-Z.
func matching(pattern string, names []string, fold bool) (all []string) {
	if fold {
		pattern = foldASCII(pattern)
	}
	seen := map[string]bool{}
	for _, name := range names {
		as := name
		if fold {
			as = foldASCII(name)
		}
		if ok, err := path.Match(pattern, as); err != nil {
			return nil // no pattern after all
		} else if ok && !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	return all
}

// foldASCII folds A-Z as packs do, and leaves other bytes, of whatever encoding, alone.
func foldASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// folds tells whether a pack takes a-z for A-Z.
func folds(p *soundpack.Pack) bool { return p.Layout() == "split" }

// entryNames are names as the packs write them, and for a pattern, which is no name itself, those that match.
// What is not there stays as it is.
func (s *sounds) entryNames(names []string) (all []string) {
	var every []string
	for _, name := range names {
		if p, e, ok := s.lookup(name); ok && p != nil {
			name = e.Name
		} else if s.label != "" && isPattern(name) && !s.has(name) {
			if every == nil {
				every, _ = s.all() // what cannot be listed has no such entry
			}
			if some := matching(name, every, s.folds()); len(some) > 0 {
				all = append(all, some...)
				continue
			}
		}
		all = append(all, name)
	}
	return all
}

// has tells whether a name is that of a file, in a layer or beside them.
func (s *sounds) has(name string) bool {
	if _, err := s.Which(name); err == nil {
		return true
	}
	_, err := os.Stat(name)
	return err == nil
}

// folds tells whether all layers take a-z for A-Z.
func (s *sounds) folds() bool {
	return len(s.packs) == len(s.Layers()) && !slices.ContainsFunc(s.packs, func(p *soundpack.Pack) bool { return !folds(p) })
}

// partNames parts names that are in a pack from those that are not, which are an error each. A pattern that is
// no name itself stands for all that match.
func partNames(p *soundpack.Pack, names []string) (there []string, missing error) {
	var every []string
	for _, name := range names {
		_, ok := p.Lookup(name)
		if !ok && isPattern(name) {
			if every == nil {
				for e := range p.Entries() {
					every = append(every, e.Name)
				}
			}
			if some := matching(name, every, folds(p)); len(some) > 0 {
				there = append(there, some...)
				continue
			}
		}
		if _, err := entryOf(p, name); err != nil {
			missing = errors.Join(missing, err)
		} else {
			there = append(there, name)
		}
	}
	return there, missing
}

// A nearName is a name that may have been meant, and how far from what was typed it is.
type nearName struct {
	name string
	far  int
}

// nearNames are up to three names of entries that may have been meant: those that differ in few letters, or in
// the folder alone, or in the extension.
func nearNames(name string, packs ...*soundpack.Pack) []string {
	const most = 3
	var near []nearName
	budget := 1 << 27 // letters compared, a third of a second
	want := newWanted(name)
	for _, p := range packs {
		if p.Layout() == "pck" || name == "" {
			continue // any number is near to any other
		}
		for e := range p.Entries() {
			if p.Layout() == "crc" && e.Name == e.Raw() {
				continue // so is any id
			}
			far, ok := want.far(e.Name, &budget)
			if !ok || slices.ContainsFunc(near, func(n nearName) bool { return n.name == e.Name }) {
				continue
			}
			near = append(near, nearName{e.Name, far})
			slices.SortStableFunc(near, func(a, b nearName) int { return cmp.Compare(a.far, b.far) })
			near = near[:min(len(near), most)]
		}
	}
	var all []string
	for _, n := range near {
		all = append(all, n.name)
	}
	return all
}

// A wanted is a name that no entry has, folded.
type wanted struct {
	all, base, stem string
	most            int // letters that may differ
}

func newWanted(name string) wanted {
	name = foldASCII(name)
	w := wanted{all: name, base: path.Base(name), most: min(len(name)/3, 3)}
	w.stem = strings.TrimSuffix(w.base, path.Ext(w.base))
	return w
}

// far is how far a name is from what is wanted, if that may have been meant.
func (w *wanted) far(name string, budget *int) (int, bool) {
	name = foldASCII(name)
	base := path.Base(name)
	switch {
	case name == w.all:
		return 0, true // but for case, which counts in this pack
	case base == w.base:
		return 1, true
	case w.stem != "" && strings.TrimSuffix(base, path.Ext(base)) == w.stem:
		return 2, true
	case len(name)-len(w.all) > w.most, len(w.all)-len(name) > w.most, len(name) > 1024 || *budget < 0:
		return 0, false
	}
	*budget -= len(name) * (2*w.most + 1)
	n := editDistance(w.all, name, w.most)
	return n, n <= w.most
}

// editDistance is how many bytes must be changed, put in or left out to get from a to b, or two neighbours
// exchanged (optimal string alignment); most+1 stands for all that is more.
func editDistance(a, b string, most int) int {
	if len(a) > len(b)+most || len(b) > len(a)+most {
		return most + 1
	}
	var rows [3][]int
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	before, last, now := rows[0], rows[1], rows[2]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-most), min(len(b), i+most) // beyond, it is more in any case
		if now[0] = i; from > 1 {
			now[from-1] = most + 1
		}
		least := now[from-1]
		for j := from; j <= to; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			v := min(last[j-1]+cost, now[j-1]+1)
			if j < i+most {
				v = min(v, last[j]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				v = min(v, before[j-2]+1)
			}
			now[j] = v
			least = min(least, v)
		}
		if least > most {
			return most + 1
		}
		before, last, now = last, now, before
	}
	return min(last[len(b)], most+1)
}
