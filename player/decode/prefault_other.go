//go:build !linux || purego

package decode

// prefault and hugePages do nothing here: see prefault_linux.go.

func prefault([]byte)  {}
func hugePages([]byte) {}
