//go:build unix

package storage

import "os"

func open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }

func rename(old, new string) error { return os.Rename(old, new) }
