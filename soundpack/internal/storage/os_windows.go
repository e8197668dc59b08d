package storage

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// open shares the file for deletion, as os.OpenFile does not: else it could not be replaced while a
// writer has it open.
func open(path string) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(filepath.Base(path), os.O_RDWR, 0)
}

// rename replaces a file that others have open, by POSIX semantics, which os.Rename does not ask for.
// A folder cannot be flushed, so the file under its new name is: what a crash leaves is whole, but
// whether it is the new one after a power cut is up to the file system.
func rename(old, new string) error {
	root, err := os.OpenRoot(filepath.Dir(new))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Rename(filepath.Base(old), filepath.Base(new)); err != nil {
		return err
	}
	f, err := root.OpenFile(filepath.Base(new), os.O_RDWR, 0)
	if err != nil {
		return nil // it is renamed, which is what was asked for
	}
	f.Sync()
	f.Close()
	return nil
}

// space takes holes to be full: NTFS fills them unless a file is marked sparse.
func space(dir string) (Space, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return Space{}, err
	}
	var free, total, all uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, &total, &all); err != nil {
		return Space{}, &os.PathError{Op: "free space", Path: dir, Err: err}
	}
	if free > 1<<62 {
		return Space{}, errors.New("free space out of range")
	}
	return Space{Free: int64(free)}, nil
}
