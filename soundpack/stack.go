package soundpack

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"syscall"
)

// A Stack is several file systems as one: packs, folders (os.DirFS), or any fs.FS. Of files with the
// same name the one that was mounted last is seen; folders are merged. The zero Stack is empty. All
// methods may be called from several goroutines at once, so that a layer can be changed while others
// read.
//
// Each layer finds names as it is used to: a pack without regard to the case of A-Z, a folder as the
// host does. A layer that does not have a name lets the next one answer; any other error is told, and
// a damaged entry does not uncover another below it.
type Stack struct {
	mu     sync.RWMutex
	layers []layerFS // guarded by mu; never changed in place; the last one is on top
}

type layerFS struct {
	label string
	fsys  fs.FS
}

// Mount puts a file system on top. A label that is there already is replaced where it is, as when a
// pack was loaded anew. The Stack does not close what it is given.
func (s *Stack) Mount(label string, fsys fs.FS) {
	s.mu.Lock()
	defer s.mu.Unlock()
	layers := slices.Clone(s.layers)
	if i := s.index(label); i >= 0 {
		layers[i].fsys = fsys
	} else {
		layers = append(layers, layerFS{label, fsys})
	}
	s.layers = layers
}

// Unmount takes a layer away, and tells whether there was one. Files opened from it stay open.
func (s *Stack) Unmount(label string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(label)
	if i >= 0 {
		s.layers = slices.Delete(slices.Clone(s.layers), i, i+1)
	}
	return i >= 0
}

func (s *Stack) index(label string) int {
	return slices.IndexFunc(s.layers, func(l layerFS) bool { return l.label == label })
}

// Layers are the labels, the top one last.
func (s *Stack) Layers() []string {
	var all []string
	for _, l := range s.stack() {
		all = append(all, l.label)
	}
	return all
}

func (s *Stack) stack() []layerFS {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.layers
}

// Which is the label of the layer whose file or folder of that name is seen.
func (s *Stack) Which(name string) (label string, err error) {
	l, _, err := s.top("stat", name)
	return l.label, err
}

// top is the uppermost layer that has a name.
func (s *Stack) top(op, name string) (layerFS, fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return layerFS{}, nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	for _, l := range slices.Backward(s.stack()) {
		info, err := fs.Stat(l.fsys, name)
		if !lacks(err) {
			return l, info, err
		}
	}
	if name == "." {
		return layerFS{}, &fileInfo{name: ".", mode: fs.ModeDir | 0o555}, nil // of an empty stack
	}
	return layerFS{}, nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// lacks tells whether an error means that a layer does not have a name: what is no file of it, cannot
// be one, or would lie in a file.
func lacks(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// Open opens the file or folder that is seen. A file is what its layer makes of it, a [*File] for a
// pack.
func (s *Stack) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	for _, l := range slices.Backward(s.stack()) {
		f, err := l.fsys.Open(name)
		if lacks(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if !info.IsDir() {
			return f, nil
		}
		f.Close()
		return &mergedDir{s: s, name: name, info: info}, nil
	}
	if name == "." {
		return &mergedDir{s: s, name: name, info: &fileInfo{name: ".", mode: fs.ModeDir | 0o555}}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Stat describes the file or folder that is seen.
func (s *Stack) Stat(name string) (fs.FileInfo, error) {
	_, info, err := s.top("stat", name)
	return info, err
}

// ReadFile is the whole of the file that is seen.
func (s *Stack) ReadFile(name string) ([]byte, error) {
	l, _, err := s.top("read", name)
	if err != nil {
		return nil, err
	}
	if l.fsys == nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return fs.ReadFile(l.fsys, name)
}

// ReadDir lists a folder: what any layer has in it, each name as the uppermost has it.
func (s *Stack) ReadDir(name string) ([]fs.DirEntry, error) {
	_, info, err := s.top("readdir", name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fmt.Errorf("not a folder: %w", fs.ErrInvalid)}
	}
	var all []fs.DirEntry
	var above []layerFS
	for _, l := range slices.Backward(s.stack()) {
		list, err := listLayer(l, name)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			if !hidden(above, path.Join(name, d.Name())) {
				all = append(all, d)
			}
		}
		above = append(above, l)
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return all, nil
}

// listLayer lists a folder of one layer, which need not have it.
func listLayer(l layerFS, name string) ([]fs.DirEntry, error) {
	if info, err := fs.Stat(l.fsys, name); lacks(err) || err == nil && !info.IsDir() {
		return nil, nil
	}
	list, err := fs.ReadDir(l.fsys, name)
	if lacks(err) {
		err = nil
	}
	return list, err
}

// hidden tells whether a layer above has the name, as it finds names: it has the name listed then, if
// perhaps in another case.
func hidden(above []layerFS, name string) bool {
	return slices.ContainsFunc(above, func(l layerFS) bool {
		_, err := fs.Stat(l.fsys, name)
		return !lacks(err)
	})
}

// mergedDir is an open folder.
type mergedDir struct {
	s      *Stack
	name   string
	info   fs.FileInfo
	rest   []fs.DirEntry
	listed bool
	closed bool
}

func (d *mergedDir) error(op string, err error) error {
	return &fs.PathError{Op: op, Path: d.name, Err: err}
}

func (d *mergedDir) Stat() (fs.FileInfo, error) {
	if d.closed {
		return nil, d.error("stat", ErrClosed)
	}
	return d.info, nil
}

func (d *mergedDir) Read([]byte) (int, error) {
	return 0, d.error("read", fmt.Errorf("is a folder: %w", fs.ErrInvalid))
}

func (d *mergedDir) Close() error {
	if d.closed {
		return d.error("close", ErrClosed)
	}
	d.closed = true
	return nil
}

// ReadDir follows fs.ReadDirFile.
func (d *mergedDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if d.closed {
		return nil, d.error("readdir", ErrClosed)
	}
	if !d.listed {
		list, err := d.s.ReadDir(d.name)
		if err != nil {
			return nil, err
		}
		d.rest, d.listed = list, true
	}
	if n > 0 && len(d.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.rest) {
		n = len(d.rest)
	}
	head := d.rest[:n:n]
	d.rest = d.rest[n:]
	return head, nil
}

var (
	_ fs.ReadFileFS = (*Stack)(nil)
	_ fs.StatFS     = (*Stack)(nil)
	_ fs.ReadDirFS  = (*Stack)(nil)
)
