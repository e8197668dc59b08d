package soundpack

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// disk is a file system of its own in a file, whose power can be cut.
type disk struct {
	t          *testing.T
	image, dir string
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("this test mounts a disk, which only root may")
	}
	d := &disk{t, filepath.Join(memDir(t), "disk"), t.TempDir()}
	must(t, os.WriteFile(d.image, nil, 0o600))
	must(t, os.Truncate(d.image, 32<<20))
	if out, err := exec.Command("mkfs.ext4", "-q", d.image).CombinedOutput(); err != nil {
		t.Skipf("this test makes an ext4 file system, which failed: %v %s", err, out)
	}
	if out, err := d.mount(); err != nil {
		t.Skipf("this test mounts a loop device, which failed: %v %s", err, out)
	}
	t.Cleanup(func() { d.unmount() })
	return d
}

func (d *disk) mount() ([]byte, error) {
	return exec.Command("mount", "-o", "loop", d.image, d.dir).CombinedOutput()
}

func (d *disk) unmount() {
	for range 100 { // a child that was killed may hold a file for a moment
		if unix.Unmount(d.dir, 0) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	d.t.Errorf("%s cannot be unmounted", d.dir)
	unix.Unmount(d.dir, unix.MNT_DETACH)
}

// shutdown is FS_IOC_SHUTDOWN: what is not on disk, the journal's log too (2), never comes there.
const shutdown = 0x8004587d

// cut cuts the power and gives it back. What was told before it was cut was told for good.
func (d *disk) cut(kill func()) {
	d.t.Helper()
	dir, err := os.Open(d.dir)
	must(d.t, err)
	err = unix.IoctlSetPointerInt(int(dir.Fd()), shutdown, 2)
	dir.Close()
	if err != nil {
		kill()
		d.t.Skipf("this test shuts a file system down, which failed: %v", err)
	}
	kill()
	d.unmount()
	if out, err := d.mount(); err != nil {
		d.t.Fatalf("mount: %v %s", err, out)
	}
}

// F02: the power of a real file system is cut at any moment while a process edits, again and again. The
// pack then holds what the last edit left that was told, or that of one after it.
func TestPowerCuts(t *testing.T) {
	cuts := 3
	if os.Getenv("SNDPAK_CI") == "1" {
		cuts = 25
	}
	r := newRand(t)
	d := newDisk(t)
	path := filepath.Join(d.dir, "music.data")
	must(t, editOnce(t.Context(), storage.OS{}, path, edit{}))
	s, told := &script{path: path, seed: r.Uint64(), now: contents{}}, 0
	for n := range cuts {
		cmd, lines, _ := child(t, "edits", path, s.seed, s.k)
		acks := 0
		for wait := r.IntN(5); acks < wait && lines.Scan(); acks++ {
			checkAck(t, lines.Text(), s.k+acks)
		}
		time.Sleep(time.Duration(r.IntN(15_000)) * time.Microsecond)
		must(t, cmd.Process.Signal(unix.SIGSTOP)) // nothing is told while the power goes
		var status unix.WaitStatus
		if _, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
			t.Fatalf("cut %d: the child is not stopped: %v, %v", n, status, err)
		}
		d.cut(func() {
			cmd.Process.Kill()
			for lines.Scan() {
				if checkAck(t, lines.Text(), s.k+acks); !t.Failed() {
					acks++
				}
			}
			cmd.Wait()
		})
		told += acks
		if err := s.walk(t.Context(), acks); err != nil {
			t.Fatalf("cut %d after %d edits (%d told in all): %v", n, s.k, told, err)
		}
	}
	t.Logf("%d cuts, %d edits told", cuts, told)
	checkContents(t, path, s.now)
}
