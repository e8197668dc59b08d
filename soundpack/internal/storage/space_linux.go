package storage

import (
	"os"

	"golang.org/x/sys/unix"
)

// The file systems that fill holes, by their magic numbers (exfat's is not in x/sys).
const exfatMagic = 0x2011bab0

func space(dir string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return Space{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	fills := s.Type == unix.MSDOS_SUPER_MAGIC || s.Type == exfatMagic
	return Space{Free: bytesOf(s.Bavail, int64(s.Bsize)), Sparse: !fills}, nil
}
