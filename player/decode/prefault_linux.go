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
func prefault(b []byte) {
	page := unix.Getpagesize()
	if len(b) >= 16*page {
		advise(b, page, unix.MADV_POPULATE_WRITE)
	}
}

// hugePages lets the kernel back those parts of b with pages of 2 MiB that fill them, where it is set
// to do so when it is asked ("madvise", the default of most distributions): a minute of sound takes
// five faults then in place of 2,600. No memory is taken that b does not have.
func hugePages(b []byte) { advise(b, 2<<20, unix.MADV_HUGEPAGE) }

// advise tells the kernel something about the pages of a size that lie within b. What it answers
// does not matter: it is all about speed.
//
// unsafe serves to find where the pages begin, which the call insists on.
func advise(b []byte, page, advice int) {
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	if n := (len(b) - skip) &^ (page - 1); n > 0 {
		_ = unix.Madvise(b[skip:skip+n], advice)
	}
}
