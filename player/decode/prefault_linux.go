//go:build !purego

package decode

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// prefault has the kernel back the whole pages of b at once, in place of one fault for each while
// they are written: loading a sound into memory that is new to the process takes half the time
// then, as it is little else than those faults. The pages are about to be written anyway, and their
// contents stay as they are. A kernel before 5.14 refuses, which changes nothing.
//
// unsafe serves to find where the pages begin, which the call insists on.
func prefault(b []byte) {
	page := unix.Getpagesize()
	if len(b) < 16*page {
		return
	}
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	n := (len(b) - skip) &^ (page - 1)
	_ = unix.Madvise(b[skip:skip+n], unix.MADV_POPULATE_WRITE)
}
