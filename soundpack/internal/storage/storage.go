// Package storage is the file layer under soundpack's writers: the few operations that change what
// is on disk. Writers do them through [FS], so that a test can fail, cut or reorder any of them; [OS]
// is the real one.
package storage

import (
	"errors"
	"io"
	"os"
	"runtime"
)

// FS does what a writer needs. Paths are those of the operating system.
type FS interface {
	// Create makes a new file for writing; fs.ErrExist if there is one.
	Create(path string) (File, error)
	// Rename replaces new by old in one step, on the same file system.
	Rename(old, new string) error
	// Link gives a file a second name; fs.ErrExist if that is taken. Some file systems have no links.
	Link(old, new string) error
	Remove(path string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(dir string) error
}

// File is a file that is being written. What is not synced may be lost in a power cut, in part and
// in any order.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// OS is the operating system's files.
type OS struct{}

func (OS) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err // not f, which would be an interface around nil
	}
	return f, nil
}

func (OS) Rename(old, new string) error { return os.Rename(old, new) }
func (OS) Link(old, new string) error   { return os.Link(old, new) }
func (OS) Remove(path string) error     { return os.Remove(path) }

// SyncDir does nothing on Windows, where a folder cannot be synced.
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
