package storage

import (
	"os"

	"golang.org/x/sys/unix"
)

// space: APFS alone has holes.
func space(dir string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return Space{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return Space{Free: bytesOf(s.Bavail, int64(s.Bsize)), Sparse: unix.ByteSliceToString(s.Fstypename[:]) == "apfs"}, nil
}
