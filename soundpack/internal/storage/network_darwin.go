package storage

import "golang.org/x/sys/unix"

// networks are the network file systems by their names in statfs(2).
var networks = map[string]string{"nfs": "NFS", "smbfs": "SMB", "afpfs": "AFP", "webdav": "WebDAV"}

func networkOf(path string) string {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil {
		return ""
	}
	return networks[unix.ByteSliceToString(s.Fstypename[:])]
}
