package soundpack

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// naming gives sources their names in an index: the name itself if the layout can hold it, a key where
// the layout has keys, else an alias. It takes all names first, since an alias must be no name of another.
type naming struct {
	layout  layout
	traits  traits
	plain   bool
	salvage bool // what no writer would choose but the layout can hold is let pass
	ids     bool // a name of eight hex digits is an id
	notice  func(path, text string)
	first   map[string]Source // by folded full name
	dirs    map[string]Source // a source in each folder, by the folder's folded path
	keys    map[string]Source // by the record's name, where that is a hash
	taken   map[string]bool   // folded aliases
	bad     []string
}

func newNaming(c *creation) *naming {
	n := len(c.sources)
	return &naming{
		layout: c.layout, traits: c.layout.traits(), plain: c.Plain, salvage: c.Salvage, ids: c.IDs, notice: c.notice,
		first: make(map[string]Source, n), dirs: map[string]Source{}, keys: map[string]Source{}, taken: map[string]bool{},
	}
}

// take checks the name of the i-th source by itself and against those before it, and tells whether it
// can be used.
func (n *naming) take(i int, s Source) bool {
	if err := n.check(i, s.Name); err != nil {
		if !n.salvage || !n.layout.bears(s.Name) || unsafe(s.Name) != "" {
			return n.refuse(s, "%q (%v)", s.Name, err)
		}
		n.notice(s.Path, fmt.Sprintf("its name %q is kept, though create would refuse it: %v", show(s.Name), err))
	}
	key := n.traits.fold(s.Name)
	if f, ok := n.first[key]; ok {
		if n.traits.exact {
			return n.refuse(s, "%s and %s (the same name)", f.Path, s.Path)
		}
		return n.refuse(s, "%s and %s (the same name but for case)", f.Path, s.Path)
	}
	if n.traits.hashed {
		id := n.key(s.Name)
		if f, ok := n.keys[id]; ok {
			return n.refuse(s, "%s and %s (both have the id %s, which is all that the layout stores of a path)", f.Name, s.Name, id)
		}
		n.keys[id] = s
	}
	n.first[key] = s
	for dir := path.Dir(key); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if _, ok := n.dirs[dir]; ok {
			break
		}
		n.dirs[dir] = s
	}
	return true
}

func (n *naming) refuse(s Source, format string, args ...any) bool {
	text := fmt.Sprintf(format, args...)
	if n.salvage {
		n.notice(s.Path, "left out: "+text)
	} else {
		n.bad = append(n.bad, text)
	}
	return false
}

// check tells why a name cannot be used.
func (n *naming) check(i int, name string) error {
	if n.traits.keyed && !n.traits.hashed && name == strconv.Itoa(i) {
		return nil // it has just that number
	}
	err := n.layout.check(name)
	if err == nil || n.plain || n.traits.whole {
		return err
	}
	return checkPath(name)
}

// clash tells whether a source has the name of a folder in which others lie.
func (n *naming) clash(s Source) bool {
	in, ok := n.dirs[n.traits.fold(s.Name)]
	return ok && !n.refuse(s, "%s and %s (a file and a folder of the same name)", s.Path, in.Path)
}

// done is the error that tells all that was refused.
func (n *naming) done() error {
	if !n.salvage {
		for _, dir := range slices.Sorted(maps.Keys(n.dirs)) {
			if f, ok := n.first[dir]; ok {
				n.clash(f)
			}
		}
	}
	switch len(n.bad) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("name %s: %w", n.bad[0], fs.ErrInvalid)
	}
	return fmt.Errorf("%d names: %s: %w", len(n.bad), strings.Join(n.bad, ", "), fs.ErrInvalid)
}

// key is the record's name in a layout of hashes.
func (n *naming) key(name string) string {
	if _, ok := parseID(name); ok && n.ids {
		return name
	}
	return n.layout.short(name, 0)
}

// record is the name in the index of the i-th source, whose name was taken, and the full name if that
// is another.
func (n *naming) record(i int, s Source) (raw, full string) {
	name := s.Name
	if n.traits.keyed {
		if raw = strconv.Itoa(i); n.traits.hashed {
			raw = n.key(name)
		}
		switch {
		case raw == name:
			return raw, ""
		case !fullName(name):
			n.notice(s.Path, fmt.Sprintf("its name %q is not kept: it has no place in a manifest", show(name)))
			return raw, ""
		}
		return raw, name
	}
	if n.layout.check(name) == nil || n.check(i, name) != nil || n.asWas(s) {
		return name, "" // the second is one that take has let pass
	}
	for i := 0; ; i++ {
		raw = n.layout.short(name, i)
		key := foldASCII(raw)
		_, file := n.first[key]
		_, dir := n.dirs[key]
		if !file && !dir && !n.taken[key] {
			n.taken[key] = true
			return raw, name
		}
	}
}

// asWas tells whether a name comes out of an index of the same layout that has no manifest beside it.
func (n *naming) asWas(s Source) bool {
	return n.salvage && s.from != nil && !s.from.noted && s.from.layout == n.layout && n.layout.bears(s.Name)
}

// fullName tells whether a manifest can hold a name.
func fullName(name string) bool {
	return len(name) <= maxPath && strings.Count(name, "/") < maxDepth && utf8.ValidString(name) && unsafe(name) == ""
}

// numbered puts sources whose names are the numbers from 0 into the order of their numbers: what was
// extracted from a pck pack goes back in as it was. Others stay as they are.
func numbered(sources []Source) []Source {
	all := make([]Source, len(sources))
	seen := make([]bool, len(sources))
	for _, s := range sources {
		i, ok := parseNumber(s.Name)
		if !ok || i >= len(all) || seen[i] {
			return sources
		}
		all[i], seen[i] = s, true
	}
	return all
}
