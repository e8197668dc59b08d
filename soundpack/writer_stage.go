package soundpack

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// staging is the index as it shall be.
type staging struct {
	items []item
	at    map[string][]int // places in items of what is not dropped, by folded name
	len   int              // items that are not dropped
}

// An item is an entry to be: one that is there, or a source to be packed.
type item struct {
	record
	from    int     // ordinal in the index on disk, or -1
	source  *Source // nil: what is there
	dropped bool
}

// stage is the staging, made from the index on disk if there is none.
func (w *Writer) stage() *staging {
	if w.staged != nil {
		return w.staged
	}
	s := &staging{at: make(map[string][]int, len(w.recs))}
	for i, r := range w.recs {
		if !w.amends(r) {
			s.put(item{record: r, from: i})
		}
	}
	return s
}

func (s *staging) put(it item) {
	key := foldASCII(it.raw)
	s.at[key] = append(s.at[key], len(s.items))
	s.items = append(s.items, it)
	s.len++
}

// drop takes out the items of a name but for the first keep of them.
func (s *staging) drop(key string, keep int) int {
	all := s.at[key]
	for _, i := range all[keep:] {
		s.items[i].dropped = true
	}
	if s.at[key] = all[:keep]; keep == 0 {
		delete(s.at, key)
	}
	s.len -= len(all) - keep
	return len(all) - keep
}

// find is the key of the entries of a name as it is shown, or raw.
func (s *staging) find(name string) (key string, ok bool) {
	for _, raw := range []string{unshow(name), name} {
		if key = foldASCII(raw); len(s.at[key]) > 0 {
			return key, true
		}
	}
	return foldASCII(name), false
}

// Add stages the sources as new entries behind those that are there. Every name is checked, and if any
// cannot be used nothing is staged: names that the layout cannot hold and names that differ by the case
// of A-Z alone are an fs.ErrInvalid, names that the pack has already an fs.ErrExist; one message has
// them all. The sources are opened by Commit.
func (w *Writer) Add(sources ...Source) error {
	return w.put("add to", sources, func(s *staging, src Source) error {
		if key, ok := s.find(src.Name); ok {
			return already{show(s.items[s.at[key][0]].raw)}
		}
		return w.layout.check(src.Name)
	})
}

// Replace stages the sources as [Writer.Add] does, but one whose name the pack has takes the place of
// that entry in the index. Of several entries that share the name the first is replaced and the others
// are removed. The name is then as the source has it, unless it was given as a shown name with escapes.
func (w *Writer) Replace(sources ...Source) error {
	return w.put("replace in", sources, func(s *staging, src Source) error {
		if key, ok := s.find(src.Name); ok && key != foldASCII(src.Name) {
			return nil // a name that is kept as it is
		}
		return w.layout.check(src.Name)
	})
}

// put stages sources whose names check lets pass.
func (w *Writer) put(op string, sources []Source, check func(*staging, Source) error) error {
	if err := w.ready(); err != nil {
		return opened(op, w.path, err)
	}
	s := w.stage()
	if err := refuse(s, sources, check); err != nil {
		return opened(op, w.path, err)
	}
	for _, src := range sources {
		if src.Size == 0 && w.opt.Notice != nil {
			w.opt.Notice(src.Path, "packed as an empty entry")
		}
		s.set(src)
	}
	w.staged = s
	return nil
}

// set puts a source in the place of the entry of its name, or at the end.
func (s *staging) set(src Source) {
	key, ok := s.find(src.Name)
	if !ok {
		s.put(item{record{raw: src.Name, size: src.Size}, -1, &src, false})
		return
	}
	s.drop(key, 1)
	it := &s.items[s.at[key][0]]
	if key == foldASCII(src.Name) {
		it.raw = src.Name
	}
	it.size, it.from, it.source = src.Size, -1, &src
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
	for _, src := range sources {
		key, _ := s.find(src.Name)
		twin, ok := first[key]
		first[key] = src
		err := check(s, src)
		switch {
		case src.Size < 0:
			err = fmt.Errorf("size %d", src.Size)
		case err == nil && ok:
			err = fmt.Errorf("of %s and %s: the same name but for case", twin.Path, src.Path)
		case err == nil:
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

// Remove stages the removal of the entries of the names, found without regard to the case of A-Z as
// [Pack.Lookup] finds them. Where several entries share a name, all of them go, or the next one would
// come to light; the number tells how many go in all. If a name is not there, nothing is staged and the
// error is an fs.ErrNotExist that names all that are missing.
func (w *Writer) Remove(names ...string) (int, error) {
	if err := w.ready(); err != nil {
		return 0, opened("remove from", w.path, err)
	}
	s := w.stage()
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
	for _, key := range keys {
		n += s.drop(key, 0)
	}
	w.staged = s
	return n, nil
}
