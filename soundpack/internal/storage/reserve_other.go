//go:build !linux

package storage

// Reserve does nothing here: see reserve_linux.go.
func Reserve(File, int64) bool { return false }
