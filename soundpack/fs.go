package soundpack

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
)

// The pack as an fs.FS, under full names. Aliases can be opened too but are not listed, and neither is
// the manifest. A slash in a name makes a folder of what stands before it, and folders too
// are found without regard to case. Of entries that share a name the first one is the file; the
// others are in Entries alone. A name that is both an entry and a folder is the entry, and what lies
// in that folder can be opened but is not listed.

// Open opens an entry, or a folder, by its shown name or an alias. What it returns for an entry is a *[File].
func (p *Pack) Open(name string) (fs.File, error) {
	e, dir, err := p.find("open", name)
	if err != nil {
		return nil, err
	}
	if dir != nil {
		return &openDir{p: p, dir: dir}, nil
	}
	f, err := p.openPinned(e)
	if err != nil {
		return nil, p.pathError("open", name, e, err)
	}
	return f, nil
}

// Stat describes an entry or a folder by its shown name; the Sys of an entry's is the [Entry].
func (p *Pack) Stat(name string) (fs.FileInfo, error) {
	e, dir, err := p.find("stat", name)
	if err != nil {
		return nil, err
	}
	if dir != nil {
		return p.dirInfo(dir), nil
	}
	return p.info(e), nil
}

// ReadFile is the whole of an entry, read with one system call and not through the mapping. The
// bytes are the caller's.
func (p *Pack) ReadFile(name string) ([]byte, error) {
	e, dir, err := p.find("read", name)
	if err != nil {
		return nil, err
	}
	if dir != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("is a folder: %w", fs.ErrInvalid)}
	}
	if err := p.pin(e); err != nil {
		return nil, p.pathError("read", name, e, err)
	}
	defer p.m.release()
	if n := p.table(e.Index); n > 0 {
		b, err := p.plainTable(e, n)
		if err != nil {
			err = p.pathError("read", name, e, err)
		}
		return b, err
	}
	if e.Size > math.MaxInt-1 {
		return nil, p.pathError("read", name, e, ErrLimit)
	}
	b := make([]byte, e.Size)
	if _, err := p.m.pread(b, e.Offset); err != nil && e.Size > 0 {
		return nil, p.pathError("read", name, e, err)
	}
	return b, nil
}

// ReadDir lists a folder, "." being the pack, sorted by name.
func (p *Pack) ReadDir(name string) ([]fs.DirEntry, error) {
	_, dir, err := p.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if dir == nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fmt.Errorf("not a folder: %w", fs.ErrInvalid)}
	}
	return p.list(dir), nil
}

func (p *Pack) pathError(op, name string, e Entry, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: &placed{p.base, e.Offset, err}}
}

// find is the entry, or else the folder, of a name in io/fs's terms.
func (p *Pack) find(op, name string) (Entry, *folder, error) {
	if !fs.ValidPath(name) {
		return Entry{}, nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if p.closed.Load() {
		return Entry{}, nil, &fs.PathError{Op: op, Path: name, Err: ErrClosed}
	}
	if name == "." {
		return Entry{}, p.tree().folders["."], nil
	}
	// A backslash parts nothing in io/fs; as part of a name it is shown escaped.
	if strings.IndexByte(name, '\\') < 0 {
		// The raw form that Lookup takes too could hide a folder that is shown so.
		raw := unshow(name)
		if i := p.ordinal(raw); i >= 0 {
			var e Entry
			p.foundBy(&e, i, raw, p.asFound(raw))
			return e, nil, nil
		}
		if p.hasFolders() {
			if dir := p.tree().folders[p.traits.fold(name)]; dir != nil {
				return Entry{}, dir, nil
			}
		}
	}
	return Entry{}, nil, &fs.PathError{Op: op, Path: name, Err: missing{p.base}}
}

// A tree is the folders of a pack by their folded path. It is built when first asked for: most packs
// are only ever asked for names.
type tree struct{ folders map[string]*folder }

// A folder lists what is directly in it.
type folder struct {
	name    string    // its path as the first entry in it shows it
	files   []int32   // ordinals of entries
	folders []*folder // sub-folders
}

// hasFolders tells whether any name has a slash, so that a look-up that misses need not build a tree.
func (p *Pack) hasFolders() bool {
	p.foldersOnce.Do(func() {
		for i := 0; i < p.index.len() && !p.folders && !p.traits.keyed; i++ {
			p.folders = strings.LastIndexByte(p.index.at(i).raw, '/') > 0
		}
		for _, name := range p.given {
			p.folders = p.folders || strings.LastIndexByte(name, '/') > 0
		}
		p.folders = p.folders || p.noted && p.manifest().folders
	})
	return p.folders
}

func (p *Pack) tree() *tree {
	p.treeOnce.Do(func() {
		t := &tree{map[string]*folder{".": {name: "."}}}
		for i := range p.index.len() {
			r := p.index.at(i)
			if p.index.find(r.raw) != i {
				continue // shares its name with an earlier one
			}
			name := p.Entry(i).Name
			if strings.Count(name, "/") >= maxDepth {
				continue // tens of thousands of folders, of one name: it can be opened, and not extracted either
			}
			if dir := p.folderOf(t, path.Dir(name)); dir != nil {
				dir.files = append(dir.files, int32(i))
			}
		}
		p.builtTree = t
	})
	return p.builtTree
}

// folderOf finds or makes the folder of that path and those above it; nil if an entry has the name of
// one. No name that comes here has more than 32 elements, so the recursion is shallow.
func (p *Pack) folderOf(t *tree, dir string) *folder {
	key := p.traits.fold(dir)
	if f, ok := t.folders[key]; ok {
		return f
	}
	var f *folder
	if up := p.folderOf(t, path.Dir(dir)); up != nil && p.ordinal(unshow(dir)) < 0 {
		f = &folder{name: dir}
		up.folders = append(up.folders, f)
	}
	t.folders[key] = f // nil as well, so that it is not tried again
	return f
}

// list makes the listing of a folder anew, so that the caller may keep it.
func (p *Pack) list(dir *folder) []fs.DirEntry {
	l := make([]fs.DirEntry, 0, len(dir.files)+len(dir.folders))
	for _, i := range dir.files {
		l = append(l, p.info(p.Entry(int(i))))
	}
	for _, f := range dir.folders {
		l = append(l, p.dirInfo(f))
	}
	slices.SortFunc(l, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return l
}

func (p *Pack) dirInfo(dir *folder) *fileInfo {
	return &fileInfo{name: path.Base(dir.name), mode: fs.ModeDir | 0o555, time: p.modTime}
}

// openDir is an open folder, an fs.ReadDirFile.
type openDir struct {
	p      *Pack
	dir    *folder
	rest   []fs.DirEntry
	listed bool
	closed bool
}

func (d *openDir) error(op string, err error) error {
	return &fs.PathError{Op: op, Path: d.dir.name, Err: err}
}

func (d *openDir) Stat() (fs.FileInfo, error) {
	if d.closed {
		return nil, d.error("stat", ErrClosed)
	}
	return d.p.dirInfo(d.dir), nil
}

func (d *openDir) Read([]byte) (int, error) {
	return 0, d.error("read", fmt.Errorf("is a folder: %w", fs.ErrInvalid))
}

func (d *openDir) Close() error {
	if d.closed {
		return d.error("close", ErrClosed)
	}
	d.closed = true
	return nil
}

// ReadDir follows fs.ReadDirFile: n at a time, all of the rest if n <= 0.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if d.closed {
		return nil, d.error("readdir", ErrClosed)
	}
	if !d.listed {
		d.rest, d.listed = d.p.list(d.dir), true
	}
	if n <= 0 || n > len(d.rest) {
		if n > 0 && len(d.rest) == 0 {
			return nil, io.EOF
		}
		n = len(d.rest)
	}
	head := d.rest[:n:n]
	d.rest = d.rest[n:]
	return head, nil
}
