//go:build (386 || amd64 || arm || arm64 || loong64 || mipsle || mips64le || ppc64le || riscv64 || wasm) && !purego

package decode

import (
	"strings"
	"unsafe"
)

// int16Bytes is the memory of p as bytes, so that little-endian samples are read into their place
// with no copy between: that is the whole cost of loading a 16-bit WAV. It is safe because any bytes
// are valid int16 and float32 values, the alignment of the wider type holds for bytes, and the view
// does not outlive the read. On machines of the other byte order it is nil (bytes_portable.go).
func int16Bytes(p []int16) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(p))), 2*len(p))
}

// float32Bytes is the same for float32.
func float32Bytes(p []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(p))), 4*len(p))
}

// uncleared is memory for n samples that holds anything: all of it is about to be read into, and
// clearing it first takes as long as that does. A strings.Builder is the way of the standard library
// to such memory. It is safe because the string is dropped here, so that nobody holds it to be
// constant, the allocation is as large as was asked for, and the alignment of a size that is a
// multiple of 8 is 8.
func uncleared[T int16 | float32](n int) []T {
	var (
		one T
		b   strings.Builder
	)
	size := (n*int(unsafe.Sizeof(one)) + 7) &^ 7
	if size < 64 {
		return make([]T, n)
	}
	b.Grow(size)
	b.WriteByte(0) // or there is nothing to point to
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.StringData(b.String()))), n)
}
