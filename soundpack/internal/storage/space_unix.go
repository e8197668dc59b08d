//go:build linux || darwin

package storage

import "math"

// bytesOf is blocks in bytes, or the most there is: a network's file system may claim any number.
func bytesOf(blocks uint64, size int64) int64 {
	if size <= 0 || blocks > math.MaxInt64/uint64(size) {
		return math.MaxInt64
	}
	return int64(blocks) * size
}
