// Package storage is the file layer under soundpack's writers: the few operations that change what
// is on disk. Writers do them through [FS], so that a test can fail, cut or reorder any of them
// (package crashsim does); [OS] is the real one.
package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// FS does what a writer needs. Paths are those of the operating system.
type FS interface {
	// Create makes a new file for reading and writing; fs.ErrExist if there is one.
	Create(path string) (File, error)
	// Open opens a regular file that is there for reading and writing. Anything else that may be in
	// its place, a folder or a pipe, is refused and not waited for.
	Open(path string) (File, error)
	// Stat is what is at a path, behind symbolic links; fs.ErrNotExist if there is nothing.
	Stat(path string) (fs.FileInfo, error)
	// Rename replaces new by old in one step, in the same folder.
	Rename(old, new string) error
	Remove(path string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(dir string) error
	// List is the names in a folder, sorted.
	List(dir string) ([]string, error)
	// Resolve follows symbolic links, so that a rename replaces the file and not the link to it.
	// A path that leads nowhere is its own result.
	Resolve(path string) (string, error)
	// Space tells what room there is in a folder.
	Space(dir string) (Space, error)
	// Network is what the network file system that a file or folder is on is called, "" where it is on none, or
	// nobody knows.
	Network(path string) string
	// Lock takes the lock that is a file of its own, which is made if need be. Only who holds it may
	// remove it, and it is never renamed. It does not wait: if another holds it, the error is a
	// *Locked. A process that dies lets go.
	Lock(path string) (unlock func() error, err error)
}

// File is an open file. What is not synced may be lost in a power cut, in part and in any order.
type File interface {
	io.Writer // at a position of its own, which begins at 0
	io.WriterAt
	io.ReaderAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
}

// Space is the room in a folder.
type Space struct {
	Free   int64 // bytes that a file may still take
	Sparse bool  // whether holes in files take no room
}

// Locked says that another process, or another user of this one, holds a lock.
type Locked struct {
	Holder int // its process's number; 0 where that is not known
}

func (e *Locked) Error() string {
	if e.Holder == 0 {
		return "locked"
	}
	return fmt.Sprintf("locked by process %d", e.Holder)
}

// OS is the operating system's files.
type OS struct{}

func (OS) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err // not f, which would be an interface around nil
	}
	return f, nil
}

// Open looks first: opening a pipe could wait for its other end.
func (OS) Open(path string) (File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("not a regular file: %w", fs.ErrInvalid)}
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (OS) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }
func (OS) Rename(old, new string) error          { return rename(old, new) }
func (OS) Remove(path string) error              { return os.Remove(path) }

// SyncDir does nothing on Windows, where a folder cannot be synced; Rename flushes the file there.
func (OS) SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (OS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (OS) Resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return real, err
}

func (OS) Space(dir string) (Space, error) { return space(dir) }
func (OS) Network(path string) string      { return Network(path) }

// Network is that of OS. On a network file system locks may not hold for other computers, mappings may lag behind
// or fail, and changes that others make are not told.
func Network(path string) string { return networkOf(path) }

// Lock is flock(2) or what the system has like it. The holder's number stands behind the first byte,
// since on Windows that byte is what is locked, and nobody else can read it.
//
// A file of that name that is no such lock, or a link, is somebody else's, and left alone.
func (OS) Lock(path string) (func() error, error) {
	for {
		if foreign(path) {
			return nil, &fs.PathError{Op: "lock", Path: path, Err: errors.New("the file is there, and no lock of a pack")}
		}
		lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))
		ok, err := lock.TryLock()
		if err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		if !ok {
			return nil, &Locked{holder(path)}
		}
		if gone(path, lock) {
			lock.Unlock()
			continue
		}
		// Who holds the lock is told for people's sake: where it cannot be written, the lock holds too.
		setHolder(path, fmt.Sprintf("#%d\n", os.Getpid()))
		return func() error {
			if !gone(path, lock) {
				setHolder(path, "")
			}
			return lock.Unlock()
		}, nil
	}
}

// gone tells whether the file that is locked is no longer the one at the path: it was opened just
// before who had it locked removed it, and nobody else sees this lock.
func gone(path string, lock *flock.Flock) bool {
	own, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(own, there)
}

// foreign tells whether a file is there that cannot be a lock: that holds more than a zero byte and a
// number. What stands in the place of the number is not looked at, since the file is never synced: a
// power cut may leave zeros there.
func foreign(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if !info.Mode().IsRegular() || info.Size() > 16 {
		return true
	}
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return false // held, on Windows; or free
	}
	return b[0] != 0
}

func setHolder(path, text string) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if f.Truncate(0) == nil && len(text) > 1 {
		f.WriteAt([]byte(text[1:]), 1)
	}
}

func holder(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	var b [16]byte
	n, _ := f.ReadAt(b[:], 1)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	return max(pid, 0)
}
