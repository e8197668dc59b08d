//go:build (386 || amd64 || arm || arm64 || loong64 || mipsle || mips64le || ppc64le || riscv64 || wasm) && !purego

package decode

import "unsafe"

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
