//go:build !(386 || amd64 || arm || arm64 || loong64 || mipsle || mips64le || ppc64le || riscv64 || wasm) || purego

package decode

// int16Bytes and float32Bytes are nil where memory is big-endian, or unsafe is unwanted (build tag
// purego): samples are then converted one by one.

func int16Bytes([]int16) []byte     { return nil }
func float32Bytes([]float32) []byte { return nil }

func uncleared[T int16 | float32](n int) []T { return make([]T, n) }
