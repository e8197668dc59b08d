package storage

import "golang.org/x/sys/unix"

// networks are the network file systems by their magic numbers (statfs(2)). Those that keep several computers
// coherent, such as Ceph, are not among them, nor is 9P, by which virtual machines see a folder of their host.
var networks = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "SMB",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.AFS_FS_MAGIC:     "AFS",
	unix.CODA_SUPER_MAGIC: "Coda",
	unix.NCP_SUPER_MAGIC:  "NCP",
}

func networkOf(path string) string {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil {
		return ""
	}
	return networks[uint32(s.Type)] // which is signed, and of 32 bits where that is the machine's size
}
