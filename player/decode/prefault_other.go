//go:build !linux || purego

package decode

// prefault does nothing here: see prefault_linux.go.
func prefault([]byte) {}
