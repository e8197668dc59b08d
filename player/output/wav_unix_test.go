//go:build unix

package output

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// fullDevice is a device that is always full. Who may replace the system's own gets one that does not
// matter.
func fullDevice(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs a device that is full, as Linux has one")
	}
	if os.Geteuid() != 0 {
		return "/dev/full"
	}
	path := filepath.Join(t.TempDir(), "full")
	const number = 1<<8 | 7
	if err := syscall.Mknod(path, syscall.S_IFCHR|0o600, number); err != nil {
		t.Skipf("needs a device that is full: %v", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("needs a device that is full: %v", err)
	}
	f.Close()
	return path
}

// A disk that is full is told, and what takes the place of the file is not replaced.
func TestWAVFull(t *testing.T) {
	noLeak(t)
	path := fullDevice(t)
	d, err := Open("wav:"+path, Config{})
	must(t, err)
	start(t, d, (&ramp{n: 1 << 20}).fill)
	awaitDone(t, d)
	if d.Err() == nil || !strings.Contains(d.Err().Error(), "output: write "+path+": no space left") {
		t.Errorf("got %v", d.Err())
	}
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		t.Fatalf("the device was replaced: %v, %v", info, err)
	}
	if d.Close() == nil {
		t.Error("Close: got no error")
	}
}

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

// A named pipe without a reader is an error after a while, not a hang.
func TestWAVPipeWithoutReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateWAV(path, "wav", 8000, 1); err == nil || !strings.Contains(err.Error(), "nobody reads") {
		t.Errorf("got %v", err)
	}
}
