package storage

import (
	"os"
	"path/filepath"
	"testing"
)

// The numbers are those of statfs(2), and what is on no network is on none.
func TestNetwork(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "NFS", 0xff534d42: "SMB", 0xfe534d42: "SMB", 0x517b: "SMB", 0x5346414f: "AFS", 0xef53: "", 0x01021994: "", 0x9123683e: "", 0x58465342: "",
	} {
		if got := networks[magic]; got != want {
			t.Errorf("%#x: %q, want %q", magic, got, want)
		}
	}
	for _, path := range []string{"/proc", "/dev", filepath.Join(t.TempDir(), "nothing")} {
		if _, err := os.Stat("/proc/self"); err == nil && Network(path) != "" {
			t.Errorf("%s: %q", path, Network(path))
		}
	}
}
