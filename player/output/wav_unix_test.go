//go:build unix

package output

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe whose reader reads nothing does not hold Close up.
func TestWAVStuckPipe(t *testing.T) {
	noLeak(t)
	path := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(path, 0o600))
	reader, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer reader.Close()
	d, err := Open("wav:"+path, Config{})
	must(t, err)
	r := &ramp{n: forever}
	start(t, d, r.fill)
	eventually(t, "the pipe to be full", func() bool { return r.taken.Load() > 16384 })
	if err := d.Close(); err == nil {
		t.Error("Close: got no error, though frames were lost")
	}
	awaitDone(t, d)
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe was replaced: %v, %v", info, err)
	}
}
