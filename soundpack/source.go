package soundpack

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Source is a file that is to be packed.
type Source struct {
	// Name is the name in the pack: printable UTF-8, folders parted by slashes, each element at most
	// 255 bytes and all of it 1024 and 32 elements. Without a manifest it is what the layout can hold:
	// no folders, and at most 19 bytes in the split layout.
	Name string
	// Path says where the bytes come from, for messages.
	Path string
	// Size is how many bytes Open's reader gives. A source that gives more or less has changed while
	// it was packed, which is an error.
	Size int64
	// Open is called once, when it is the source's turn.
	Open func() (io.ReadCloser, error)

	info fs.FileInfo // of the host's file, if it is one
	from *Pack       // the pack whose entry it is, if it is one
	at   int         // and the entry's ordinal
}

// told is what the pack that a source comes from tells of its bytes. The checksum of a JSON table is not of
// what is read of it, and is told only where it does not fit the table.
func (s *Source) told() note {
	if s.from == nil {
		return note{}
	}
	n := s.from.manifest().note(s.at)
	t := note{sha256: n.sha256, facts: n.facts, extra: n.extra}
	if n.table == 0 || s.from.Intact(s.from.Entry(s.at)) != nil {
		t.crc, t.hasCRC = n.crc, n.hasCRC
	}
	return t
}

// Sources are the files at the given paths. A file is named by the last element of its path. A folder
// is walked: its files are named by their path below it and sorted by name, byte by byte, so that the
// same folder gives the same pack wherever it lies. What operating systems leave in folders
// (Thumbs.db, desktop.ini, .DS_Store, ._*) and what is no regular file is skipped in a walk, and told
// to notice if that is not nil.
func Sources(paths []string, notice func(path, text string)) ([]Source, error) {
	var all []Source
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("soundpack: %w", err)
		}
		switch {
		case info.IsDir():
			s, err := SourcesFS(os.DirFS(p), func(name, text string) {
				if notice != nil {
					notice(filepath.Join(p, filepath.FromSlash(name)), text)
				}
			})
			if err != nil {
				return nil, err
			}
			for i := range s {
				s[i].Path = filepath.Join(p, filepath.FromSlash(s[i].Path))
			}
			all = append(all, s...)
		case info.Mode().IsRegular():
			all = append(all, Source{
				Name: filepath.Base(p), Path: p, Size: info.Size(), Open: func() (io.ReadCloser, error) { return os.Open(p) }, info: info,
			})
		default:
			return nil, fmt.Errorf("soundpack: %s: not a regular file", p)
		}
	}
	return all, nil
}

// SourcesFS are the files of a whole file system, as [Sources] takes those of a folder. Those of a [Pack]
// are all of its entries, in its order, with what its manifest tells of them; of entries that share a
// name the first. The pack must stay open until they have been read.
func SourcesFS(fsys fs.FS, notice func(path, text string)) ([]Source, error) {
	if notice == nil {
		notice = func(string, string) {}
	}
	if p, ok := fsys.(*Pack); ok {
		return packSources(p, notice), nil
	}
	var all []Source
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if rubbish(path.Base(name), d.IsDir()) {
			notice(name, "skipped: left by an operating system")
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		info, err := fs.Stat(fsys, name) // of what a symbolic link leads to
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			notice(name, "skipped: not a regular file")
			return nil
		}
		all = append(all, Source{
			Name: name, Path: name, Size: info.Size(), Open: func() (io.ReadCloser, error) { return fsys.Open(name) }, info: info,
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("soundpack: %w", err)
	}
	slices.SortFunc(all, func(a, b Source) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// packSources are the entries of a pack. One of hashes has an order of its own; the manifest, or else the
// data, tells the one in which it was packed.
func packSources(p *Pack, notice func(path, text string)) []Source {
	var all []Source
	for e := range p.Entries() {
		if first := p.index.find(e.raw); first != e.Index && !p.index.twice(e.Index) {
			notice(e.Name, fmt.Sprintf("left out: the same name as %q (entry %d)", p.Entry(first).Name, first))
			continue
		}
		all = append(all, Source{
			Name: e.path(), Path: p.path + ": " + e.Name, Size: p.Size(e), Open: func() (io.ReadCloser, error) { return p.OpenEntry(e) },
			from: p, at: e.Index,
		})
	}
	if p.traits.hashed {
		m := p.manifest()
		slices.SortStableFunc(all, func(a, b Source) int {
			x, y := p.Entry(a.at), p.Entry(b.at)
			return cmp.Or(cmp.Compare(m.place(a.at), m.place(b.at)), cmp.Compare(x.Offset, y.Offset), cmp.Compare(x.Size, y.Size))
		})
	}
	return all
}

// rubbish tells what operating systems leave in folders.
func rubbish(name string, dir bool) bool {
	if dir {
		return name == "__MACOSX"
	}
	switch strings.ToLower(name) {
	case "thumbs.db", "ehthumbs.db", "desktop.ini", ".ds_store":
		return true
	}
	return strings.HasPrefix(name, "._")
}
