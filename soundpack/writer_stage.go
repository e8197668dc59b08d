package soundpack

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
)

// staging is the index as it shall be.
type staging struct {
	layout layout
	traits traits
	items  []item
	at     map[string][]int  // places in items of what is not dropped, by folded name in the index
	full   map[string]string // the key in at of what has a full name, by that, folded
	dirs   map[string]int    // how many items lie in or below a folder, by its folded path
	bare   bool              // the manifest goes
	len    int               // items that are not dropped
}

// An item is an entry to be: one that is there, or a source to be packed.
type item struct {
	record
	full    string  // the full name, "" where the record's is all of it
	from    int     // ordinal in the index on disk, or -1
	was     int     // ordinal there of what it replaces, or -1
	source  *Source // nil: what is there
	dropped bool
}

// name is the whole name.
func (it *item) name() string {
	if it.full != "" {
		return it.full
	}
	return it.raw
}

// stage is the staging, made from the index on disk if there is none.
func (w *Writer) stage() (*staging, error) {
	if w.staged != nil {
		return w.staged, nil
	}
	full := make([]string, len(w.recs))
	if w.ledger != nil {
		var err error
		if full, err = w.ledger.fullNames(); err != nil {
			return nil, err
		}
	}
	return w.stageAs(full), nil
}

func (w *Writer) stageAs(full []string) *staging {
	s := &staging{layout: w.layout, traits: w.traits, at: make(map[string][]int, len(w.recs)), full: map[string]string{}, dirs: map[string]int{}}
	for i, r := range w.recs {
		if !w.amends(r) {
			s.put(item{record: r, full: full[i], from: i, was: -1})
		}
	}
	return s
}

func (s *staging) put(it item) {
	key := s.traits.fold(it.raw)
	s.at[key] = append(s.at[key], len(s.items))
	if it.full != "" {
		s.full[s.traits.fold(it.full)] = key
	}
	for dir := range s.parents(it.name()) {
		s.dirs[dir]++
	}
	s.items = append(s.items, it)
	s.len++
}

// parents are the folders that a name lies in, folded, the innermost first. A name of more elements than any
// file has lies in none: it could have tens of thousands.
func (s *staging) parents(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if strings.Count(name, "/") >= maxDepth {
			return
		}
		name := s.traits.fold(name)
		for i := strings.LastIndexByte(name, '/'); i > 0 && yield(name[:i]); i = strings.LastIndexByte(name[:i], '/') {
		}
	}
}

// drop takes out the items of a name but for the first keep of them.
func (s *staging) drop(key string, keep int) int {
	all := s.at[key]
	for _, i := range all[keep:] {
		it := &s.items[i]
		it.dropped = true
		delete(s.full, s.traits.fold(it.full))
		for dir := range s.parents(it.name()) {
			if s.dirs[dir]--; s.dirs[dir] == 0 {
				delete(s.dirs, dir)
			}
		}
	}
	if s.at[key] = all[:keep]; keep == 0 {
		delete(s.at, key)
	}
	s.len -= len(all) - keep
	return len(all) - keep
}

// find is the key of the entries of a name, an alias, a full name or a path that is only hashed, as it is
// shown or raw; or the key that a new entry of that name would have.
func (s *staging) find(name string) (key string, ok bool) {
	for _, raw := range []string{unshow(name), name} {
		if key = s.traits.fold(raw); len(s.at[key]) > 0 {
			return key, true
		}
		if key, ok = s.full[key]; ok {
			return key, true
		}
		if !s.traits.hashed {
			continue
		}
		if key = s.layout.short(raw, 0); len(s.at[key]) > 0 {
			return key, true
		}
	}
	if s.traits.hashed {
		return s.layout.short(name, 0), false
	}
	return s.traits.fold(name), false
}

// collides tells whether a name's hash is that of an entry that has another name.
func (s *staging) collides(name, key string) error {
	if !s.traits.hashed || len(s.at[key]) == 0 {
		return nil
	}
	it := s.items[s.at[key][0]]
	if it.full == "" || it.full == name || it.raw == name {
		return nil
	}
	return fmt.Errorf("it and %q both have the id %s, which is all that the layout stores of a path", show(it.full), it.raw)
}

// is tells whether a file has a name, which is folded.
func (s *staging) is(key string) bool { return len(s.at[key]) > 0 || s.full[key] != "" }

// Add stages the sources as new entries behind those that are there. Every name is checked, and if any
// cannot be used nothing is staged: names that the layout cannot hold and names that differ by the case
// of A-Z alone are an fs.ErrInvalid, names that the pack has already an fs.ErrExist; one message has
// them all. The sources are opened by Commit.
func (w *Writer) Add(sources ...Source) error {
	return w.put("add to", sources, func(s *staging, src Source) error {
		if key, ok := s.find(src.Name); ok {
			if err := s.collides(src.Name, key); err != nil {
				return err
			}
			return already{show(s.items[s.at[key][0]].name())}
		}
		return w.checkName(src.Name)
	})
}

// checkName tells why a name cannot be given to a new entry.
func (w *Writer) checkName(name string) error {
	err := w.layout.check(name)
	if err == nil || w.opt.Plain || w.ledger == nil || w.traits.whole {
		return err
	}
	return checkPath(name)
}

// Replace stages the sources as [Writer.Add] does, but one whose name the pack has takes the place of
// that entry in the index. Of several entries that share the name the first is replaced and the others
// are removed. The name is then as the source has it, unless it was given as a shown name with escapes.
func (w *Writer) Replace(sources ...Source) error {
	return w.put("replace in", sources, func(s *staging, src Source) error {
		if key, ok := s.find(src.Name); ok && (s.traits.keyed || key != s.traits.fold(src.Name)) {
			return s.collides(src.Name, key) // a name that is kept as it is
		}
		return w.checkName(src.Name)
	})
}

// put stages sources whose names check lets pass.
func (w *Writer) put(op string, sources []Source, check func(*staging, Source) error) error {
	if err := w.ready(); err != nil {
		return opened(op, w.path, err)
	}
	s, err := w.stage()
	if err == nil {
		err = refuse(s, sources, check)
	}
	if err != nil {
		return opened(op, w.path, err)
	}
	reserved := make(map[string]bool, len(sources))
	for _, src := range sources {
		reserved[s.traits.fold(src.Name)] = true
	}
	for _, src := range sources {
		if src.Size == 0 && w.opt.Notice != nil {
			w.opt.Notice(src.Path, "packed as an empty entry")
		}
		s.set(w.layout, src, reserved)
	}
	w.staged = s
	return nil
}

// set puts a source in the place of the entry of its name, or at the end.
func (s *staging) set(l layout, src Source, reserved map[string]bool) {
	key, ok := s.find(src.Name)
	if !ok {
		it := item{record: record{raw: src.Name, size: src.Size}, from: -1, was: -1, source: &src}
		if s.traits.keyed || l.check(src.Name) != nil {
			it.raw, it.full = s.alias(l, src.Name, reserved), src.Name
		}
		s.put(it)
		return
	}
	s.drop(key, 1)
	it := &s.items[s.at[key][0]]
	switch name := s.traits.fold(src.Name); {
	case name == key:
		it.raw = src.Name
	case s.traits.hashed, name == s.traits.fold(it.full):
		it.full = src.Name
	}
	if it.from >= 0 {
		it.was = it.from
	}
	it.size, it.from, it.source = src.Size, -1, &src
}

// alias is a record's name that nothing has, and nothing that is about to be staged.
func (s *staging) alias(l layout, name string, reserved map[string]bool) string {
	if s.traits.keyed {
		return l.short(name, len(s.items)) // a hash, or a number above all others
	}
	for n := 0; ; n++ {
		raw := l.short(name, n)
		if key := s.traits.fold(raw); !s.is(key) && s.dirs[key] == 0 && !reserved[key] {
			return raw
		}
	}
}

// already is why a name cannot be added.
type already struct{ as string }

func (e already) Error() string        { return fmt.Sprintf("there already as %q", e.as) }
func (e already) Is(target error) bool { return target == fs.ErrExist }

// refuse tells all names that cannot be used in one message.
func refuse(s *staging, sources []Source, check func(*staging, Source) error) error {
	var bad []string
	cause := fs.ErrExist
	first := make(map[string]Source, len(sources))
	dirs := map[string]bool{}
	for _, src := range sources {
		for dir := range s.parents(src.Name) {
			dirs[dir] = true
		}
	}
	for _, src := range sources {
		key, there := s.find(src.Name)
		twin, ok := first[key]
		first[key] = src
		err := check(s, src)
		switch {
		case src.Size < 0:
			err = fmt.Errorf("size %d", src.Size)
		case err == nil && ok:
			err = fmt.Errorf("of %s and %s: the same name but for case", twin.Path, src.Path)
			if s.traits.hashed {
				err = fmt.Errorf("%q and it have the same id %s", twin.Name, key)
			}
		case err == nil && !there:
			err = s.clash(src.Name, dirs)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, fs.ErrExist) {
			cause = fs.ErrInvalid
		}
		bad = append(bad, fmt.Sprintf("%q (%v)", src.Name, err))
	}
	switch len(bad) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("name %s: %w", bad[0], cause)
	}
	return fmt.Errorf("%d names: %s: %w", len(bad), strings.Join(bad, ", "), cause)
}

// clash tells whether a new name is that of a folder, or lies in a file. dirs are folders to be.
func (s *staging) clash(name string, dirs map[string]bool) error {
	if key := s.traits.fold(name); s.dirs[key] > 0 || dirs[key] {
		return fmt.Errorf("there is a folder of that name")
	}
	for dir := range s.parents(name) {
		if s.is(dir) {
			return fmt.Errorf("%q is a file", dir)
		}
	}
	return nil
}

// Remove stages the removal of the entries of the names, found without regard to the case of A-Z as
// [Pack.Lookup] finds them. Where several entries share a name, all of them go, or the next one would
// come to light; the number tells how many go in all. If a name is not there, nothing is staged and the
// error is an fs.ErrNotExist that names all that are missing. Without ".sndpak", which is the manifest,
// entries are left with their names in the index.
func (w *Writer) Remove(names ...string) (int, error) {
	if err := w.ready(); err != nil {
		return 0, opened("remove from", w.path, err)
	}
	names, bare := w.removeManifest(names)
	s, err := w.stage()
	if bare && err != nil { // one that cannot be read can be removed
		s, err = w.stageAs(make([]string, len(w.recs))), nil
	}
	if err != nil {
		return 0, opened("remove from", w.path, err)
	}
	var keys, bad []string
	for _, name := range names {
		key, ok := s.find(name)
		if keys = append(keys, key); !ok {
			bad = append(bad, fmt.Sprintf("%q", name))
		}
	}
	if bad != nil {
		return 0, fmt.Errorf("soundpack: remove %s: %w", strings.Join(bad, ", "), missing{baseName(w.path)})
	}
	n := 0
	if bare {
		s.bare, n = true, 1
	}
	for _, key := range keys {
		n += s.drop(key, 0)
	}
	w.staged = s
	return n, nil
}

// removeManifest takes the manifest's name out of names, if there is one.
func (w *Writer) removeManifest(names []string) (rest []string, bare bool) {
	if w.ledger == nil || w.ledger.own() < 0 {
		return names, false
	}
	for _, name := range names {
		if foldASCII(name) == manifestName {
			bare = true
		} else {
			rest = append(rest, name)
		}
	}
	return rest, bare
}
