// Package crashsim is the double of the file layer for tests: files in memory that remember what is
// durable and what is not.
//
// [New] comes first; its [FS] is a storage.FS. Every call is an operation with a number. A test can
//   - make an operation fail with any error, having done all, half or none of its work, or do it
//     wrongly and say nothing ([FS.Inject]);
//   - stop the world before an operation ([FS.StopAt]), and let another process go on with what the
//     dead one left in the caches ([FS.Revive]);
//   - look, before any operation, at what a power cut would leave ([FS.Before] with [FS.Cuts]): what
//     was not synced may be there, missing, torn by sectors, zero or garbage, and names may have
//     reached the disk in any order. A [State] is the start of another FS ([FromState]), so that the
//     recovery can be cut short too.
//
// It is deterministic and has no goroutines; an FS belongs to one goroutine.
package crashsim

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// ErrStopped is what everything gives once the world is stopped.
var ErrStopped = errors.New("crashsim: the world is stopped")

// Kind is what an operation does.
type Kind string

// The operations. Those from Create on change what is on disk.
const (
	Open    Kind = "open"
	Read    Kind = "read"
	Stat    Kind = "stat"
	List    Kind = "list"
	Resolve Kind = "resolve"
	Free    Kind = "space"
	Lock    Kind = "lock"
	Close   Kind = "close"
	Create  Kind = "create"
	Write   Kind = "write"
	Cut     Kind = "truncate"
	Chmod   Kind = "chmod"
	Sync    Kind = "sync"
	SyncDir Kind = "syncdir"
	Rename  Kind = "rename"
	Remove  Kind = "remove"
)

// Mutates tells whether an operation of this kind changes what is on disk or what is durable.
func (k Kind) Mutates() bool {
	switch k {
	case Create, Write, Cut, Sync, SyncDir, Rename, Remove:
		return true
	}
	return false
}

// An Op is one call, before it takes effect.
type Op struct {
	N    int // its number, from 0
	Kind Kind
	Path string // of the file; for Rename the new one
}

func (o Op) String() string { return fmt.Sprintf("%d %s %s", o.N, o.Kind, filepath.Base(o.Path)) }

// Effect is how much of its work an operation does that goes wrong.
type Effect int

// None is also what a failed sync does: what was written stays visible and is never made durable, for
// the system takes it for clean afterwards. A sync that lies (no error) leaves it to a later one.
const (
	None    Effect = iota
	Half           // half of the bytes of a write or read; of others none
	All            // the whole work is done, and then the error comes
	Garbage        // the bytes of a write or read are wrong ones
)

// A Failure is what goes wrong with an operation; with a nil Err it says that it went well.
type Failure struct {
	Err    error
	Effect Effect
}

// FS is a simulated file system.
type FS struct {
	// Before is called ahead of each operation, if not nil.
	Before func(Op)
	// Inject says what goes wrong with an operation; nil nothing.
	Inject func(Op) *Failure
	// StopAt is the number of the operation before which the world stops; 0 never. Everything fails
	// from then on, without effect.
	StopAt int
	// FreeSpace is the room that Space tells.
	FreeSpace int64
	// Holes are storage.Space's Sparse.
	Holes bool
	// On is what Network says.
	On string
	// Sector is how many bytes reach the disk in one piece; 512 if not set.
	Sector int

	ops         int
	dir, stable map[string]*inode // the names as they are seen, and as they are durable
	pending     []dirOp           // what parts the two, in order
	locks       map[string]bool
}

var _ storage.FS = (*FS)(nil)

// New is an empty file system.
func New() *FS {
	return &FS{dir: map[string]*inode{}, stable: map[string]*inode{}, locks: map[string]bool{}, FreeSpace: 1 << 40, Holes: true}
}

// FromState is a file system that holds a state, all of it durable.
func FromState(s State) *FS {
	f := New()
	for name, im := range s {
		i := &inode{now: im.Bytes, durable: im.Bytes}
		f.dir[name], f.stable[name] = i, i
	}
	return f
}

// Ops is how many operations there were.
func (f *FS) Ops() int { return f.ops }

// Revive is the death of the process that used f and the birth of another: locks go, files stay as
// they are seen, durable or not, and nothing goes wrong any more.
func (f *FS) Revive() {
	clear(f.locks)
	f.StopAt, f.Inject, f.Before = 0, nil, nil
}

// Put makes a durable file, or replaces one, without an operation.
func (f *FS) Put(path string, b []byte) {
	b = append([]byte{}, b...)
	i := &inode{now: b, durable: b}
	f.dir[path], f.stable[path] = i, i
}

// Bytes is a file as it is seen, which must not be changed; nil if there is none.
func (f *FS) Bytes(path string) []byte {
	if i := f.dir[path]; i != nil {
		return i.now[:len(i.now):len(i.now)]
	}
	return nil
}

// Names are the files as they are seen, sorted.
func (f *FS) Names() []string { return slices.Sorted(maps.Keys(f.dir)) }

// Hold is what a reader that has a file open goes on reading, also when it is replaced.
func (f *FS) Hold(path string) func() []byte {
	i := f.dir[path]
	return func() []byte {
		if i == nil {
			return nil
		}
		return i.now
	}
}

// op counts an operation and says what goes wrong with it. The effect is All where nothing does.
func (f *FS) op(kind Kind, path string) (Effect, error) {
	o := Op{f.ops, kind, path}
	if f.StopAt > 0 && o.N >= f.StopAt {
		return None, ErrStopped
	}
	if f.Before != nil {
		f.Before(o)
	}
	f.ops++
	if f.Inject != nil {
		if bad := f.Inject(o); bad != nil {
			err := bad.Err
			if err != nil {
				err = &fs.PathError{Op: string(kind), Path: path, Err: err}
			}
			return bad.Effect, err
		}
	}
	return All, nil
}

func missing(kind Kind, path string) error {
	return &fs.PathError{Op: string(kind), Path: path, Err: fs.ErrNotExist}
}

func (f *FS) Create(path string) (storage.File, error) {
	effect, err := f.op(Create, path)
	if effect != All {
		return nil, cmp.Or(err, error(fs.ErrInvalid))
	}
	if f.dir[path] != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	i := &inode{now: []byte{}, durable: []byte{}}
	f.do(dirOp{add: path, node: i})
	if err != nil {
		return nil, err
	}
	return &file{f: f, i: i, path: path}, nil
}

func (f *FS) Open(path string) (storage.File, error) {
	if _, err := f.op(Open, path); err != nil {
		return nil, err
	}
	i := f.dir[path]
	if i == nil {
		return nil, missing(Open, path)
	}
	return &file{f: f, i: i, path: path}, nil
}

func (f *FS) Stat(path string) (fs.FileInfo, error) {
	if _, err := f.op(Stat, path); err != nil {
		return nil, err
	}
	i := f.dir[path]
	if i == nil {
		return nil, missing(Stat, path)
	}
	return info{filepath.Base(path), int64(len(i.now))}, nil
}

func (f *FS) Rename(old, new string) error {
	effect, err := f.op(Rename, new)
	if effect != All {
		return err
	}
	switch f.dir[old] {
	case nil:
		return missing(Rename, old)
	case f.dir[new]: // it has that name already
		return err
	}
	f.do(dirOp{add: new, drop: old, node: f.dir[old]})
	return err
}

func (f *FS) Remove(path string) error {
	effect, err := f.op(Remove, path)
	if effect != All {
		return err
	}
	if f.dir[path] == nil {
		return missing(Remove, path)
	}
	f.do(dirOp{drop: path})
	return err
}

func (f *FS) SyncDir(dir string) error {
	effect, err := f.op(SyncDir, dir)
	if effect != All {
		return err
	}
	dir = filepath.Clean(dir)
	f.pending = slices.DeleteFunc(f.pending, func(o dirOp) bool {
		if o.dir() != dir {
			return false
		}
		o.apply(f.stable)
		return true
	})
	return err
}

func (f *FS) List(dir string) ([]string, error) {
	if _, err := f.op(List, dir); err != nil {
		return nil, err
	}
	var names []string
	for _, path := range f.Names() {
		if filepath.Dir(path) == filepath.Clean(dir) {
			names = append(names, filepath.Base(path))
		}
	}
	return names, nil
}

func (f *FS) Resolve(path string) (string, error) {
	_, err := f.op(Resolve, path)
	return path, err
}

func (f *FS) Space(dir string) (storage.Space, error) {
	_, err := f.op(Free, dir)
	return storage.Space{Free: f.FreeSpace, Sparse: f.Holes}, err
}

// Network is what On says.
func (f *FS) Network(string) string { return f.On }

// Lock leaves no file: nothing of it matters after a crash.
func (f *FS) Lock(path string) (func() error, error) {
	if _, err := f.op(Lock, path); err != nil {
		return nil, err
	}
	if f.locks[path] {
		return nil, &storage.Locked{Holder: 1}
	}
	f.locks[path] = true
	return func() error { delete(f.locks, path); return nil }, nil
}

// file is an open file.
type file struct {
	f    *FS
	i    *inode
	path string
	pos  int64
}

func (h *file) Write(b []byte) (int, error) {
	n, err := h.WriteAt(b, h.pos)
	h.pos += int64(n)
	return n, err
}

func (h *file) WriteAt(b []byte, off int64) (int, error) {
	effect, err := h.f.op(Write, h.path)
	n := len(b)
	switch effect {
	case None:
		b = nil
	case Half:
		b = b[:n/2]
	case Garbage:
		b = garbage(n)
	}
	if len(b) > 0 {
		h.i.write(piece{off: off, data: slices.Clone(b)})
	}
	if err != nil {
		return len(b), err
	}
	return n, nil
}

func (h *file) ReadAt(b []byte, off int64) (int, error) {
	effect, err := h.f.op(Read, h.path)
	if err != nil {
		return 0, err
	}
	n := copy(b, h.i.now[min(max(off, 0), int64(len(h.i.now))):])
	if effect == Garbage {
		copy(b[:n], garbage(n))
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *file) Truncate(size int64) error {
	effect, err := h.f.op(Cut, h.path)
	if effect == All {
		h.i.write(piece{off: size, cut: true})
	}
	return err
}

func (h *file) Sync() error {
	effect, err := h.f.op(Sync, h.path)
	switch {
	case effect == All:
		h.i.settle()
	case err != nil && !errors.Is(err, ErrStopped):
		h.i.forget()
	}
	return err
}

func (h *file) Stat() (fs.FileInfo, error) {
	if _, err := h.f.op(Stat, h.path); err != nil {
		return nil, err
	}
	return info{filepath.Base(h.path), int64(len(h.i.now))}, nil
}

func (h *file) Chmod(fs.FileMode) error {
	_, err := h.f.op(Chmod, h.path)
	return err
}

func (h *file) Close() error {
	_, err := h.f.op(Close, h.path)
	return err
}

type info struct {
	name string
	size int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o644 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
