package soundpack

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// naming gives sources their names in an index: the name itself if the layout can hold it, else an
// alias. It takes all names first, since an alias must be no name of another.
type naming struct {
	layout layout
	plain  bool
	first  map[string]Source // by folded full name
	dirs   map[string]Source // a source in each folder, by the folder's folded path
	taken  map[string]bool   // folded aliases
	bad    []string
}

func newNaming(l layout, plain bool, n int) *naming {
	return &naming{layout: l, plain: plain, first: make(map[string]Source, n), dirs: map[string]Source{}, taken: map[string]bool{}}
}

// take checks a source's name by itself and against those before it.
func (n *naming) take(s Source) {
	if err := n.check(s.Name); err != nil {
		n.refuse("%q (%v)", s.Name, err)
		return
	}
	key := foldASCII(s.Name)
	if f, ok := n.first[key]; ok {
		n.refuse("%s and %s (the same name but for case)", f.Path, s.Path)
		return
	}
	n.first[key] = s
	for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
		if _, ok := n.dirs[dir]; ok {
			break
		}
		n.dirs[dir] = s
	}
}

func (n *naming) refuse(format string, args ...any) {
	n.bad = append(n.bad, fmt.Sprintf(format, args...))
}

// check tells why a name cannot be used.
func (n *naming) check(name string) error {
	err := n.layout.check(name)
	if err == nil || n.plain {
		return err
	}
	return checkPath(name)
}

// done is the error that tells all that was refused.
func (n *naming) done() error {
	for _, dir := range slices.Sorted(maps.Keys(n.dirs)) {
		if f, ok := n.first[dir]; ok {
			n.refuse("%s and %s (a file and a folder of the same name)", f.Path, n.dirs[dir].Path)
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

// record is the name in the index of a name that was taken, and the full name if that is another.
func (n *naming) record(name string) (raw, full string) {
	if n.layout.check(name) == nil {
		return name, ""
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
