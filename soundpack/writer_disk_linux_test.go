package soundpack

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

func limitFiles(size uint64) error {
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: size})
}

// F07: a limit on the size of files is an error like any other, and nothing is left of what did not fit.
func TestWriterFileSizeLimit(t *testing.T) {
	path := newPack(t, three)
	before := read(t, path)
	cmd, lines, _ := child(t, "limit", path, 50_000)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
	}
	cmd.Wait()
	if len(said) < 2 || !strings.HasPrefix(said[0], "error true ") || said[1] != "error <nil>" {
		t.Fatalf("child says %q", said)
	}
	contains(t, "error", said[0], "music.data", "big", "file too large")
	if after := read(t, path); !bytes.HasPrefix(after, before) || len(after) != len(before)+5 {
		t.Errorf("data of %d bytes, want %d", len(after), len(before)+5)
	}
	checkContents(t, path, append(three[:3:3], file{"small", "small"}))
}

// mount puts a small file system in memory somewhere.
func mount(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if os.Getuid() != 0 {
		needs(t, "root, to mount a small disk")
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		needs(t, fmt.Sprintf("root that may mount a small disk (%v)", err))
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// F07: a disk that fills up. Every edit is done or refused with the system's error, the pack is whole
// after each, a refused compact leaves the files as they are, and removing works on a full disk.
func TestWriterDiskFull(t *testing.T) {
	path := filepath.Join(mount(t, 3<<20), "music.data")
	r := newRand(t)
	now := contents{}
	must(t, editOnce(t.Context(), storage.OS{}, path, edit{}))
	refused, done, edits := 0, 0, 300
	if testing.Short() {
		edits = 50
	}
	for k := range edits {
		e := diskEdit(r, k, now)
		size := len(read(t, path))
		err := editOnce(t.Context(), storage.OS{}, path, e)
		switch {
		case err == nil:
			now = e.apply(now)
			done++
		case !errors.Is(err, syscall.ENOSPC):
			t.Fatalf("edit %d (%v): %v", k, e, err)
		default:
			refused++
			if grown := len(read(t, path)) - size; grown != 0 {
				t.Errorf("edit %d was refused, and the data grew by %d bytes", k, grown)
			}
			if len(e.remove) > 0 {
				t.Errorf("edit %d: could not remove: %v", k, err)
			}
		}
		if err := sameContents(t.Context(), path, now); err != nil {
			t.Fatalf("edit %d: %v", k, err)
		}
		if l := listing(t, filepath.Dir(path)); !slices.Equal(l, []string{"music.data", "music.inx", "music.lock"}) {
			t.Fatalf("edit %d: files %q", k, l)
		}
	}
	t.Logf("%d edits done, %d refused", done, refused)
	if refused == 0 || done == 0 {
		t.Errorf("%d edits done, %d refused: want some of each", done, refused)
	}
}

// diskEdit adds until the disk is full, then removes and compacts.
func diskEdit(r *rand.Rand, k int, now contents) edit {
	switch {
	case k%9 == 8:
		return edit{compact: true}
	case k%9 == 7 && len(now) > 0:
		return edit{remove: []string{now[r.IntN(len(now))].name}}
	}
	return edit{add: contents{{fmt.Sprintf("%d.wav", k), string(pattern(1 + r.IntN(200_000)))}}}
}

// asNobody runs do with the rights of an ordinary user, on a thread that is thrown away.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		unix.SetfsuidRetUid(65534)
		do()
	}()
	<-done
}

// X06: a folder or files that cannot be written. The error says which, and nothing changes.
func TestCaseReadOnly(t *testing.T) {
	for _, c := range []struct {
		what  string
		chmod map[string]fs.FileMode
		words string
	}{
		{"folder", map[string]fs.FileMode{"": 0o555, "music.data": 0o666, "music.inx": 0o666}, "music.lock"},
		{"folder with a lock", map[string]fs.FileMode{"": 0o555, "music.data": 0o666, "music.inx": 0o666, "music.lock": 0o666}, "music.inx.tmp"},
		{"data", map[string]fs.FileMode{"": 0o777, "music.data": 0o444, "music.inx": 0o666}, "music.data"},
		{"index", map[string]fs.FileMode{"": 0o777, "music.data": 0o666, "music.inx": 0o444}, "music.inx"},
	} {
		path := copyCase(t, "P01")
		dir := filepath.Dir(path)
		must(t, os.Chmod(filepath.Dir(dir), 0o755))
		for f, mode := range c.chmod {
			if f == "music.lock" {
				write(t, filepath.Join(dir, f), nil)
			}
			must(t, os.Chmod(filepath.Join(dir, f), mode))
		}
		data, index := read(t, path), read(t, filepath.Join(dir, "music.inx"))
		var err error
		asNobody(t, func() {
			w, e := Edit(t.Context(), path, nil)
			if err = e; e == nil {
				err = errors.Join(w.Add(source("new", []byte("new"))), w.Commit(t.Context()))
				w.Close()
			}
		})
		must(t, os.Chmod(dir, 0o755))
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v, want fs.ErrPermission", c.what, err)
			continue
		}
		contains(t, c.what, err.Error(), c.words, "permission denied")
		if !bytes.Equal(read(t, path), data) || !bytes.Equal(read(t, filepath.Join(dir, "music.inx")), index) {
			t.Errorf("%s: the files changed", c.what)
		}
		for _, f := range listing(t, dir) {
			if strings.HasSuffix(f, ".tmp") {
				t.Errorf("%s: left %q", c.what, f)
			}
		}
	}
}

// TestCreateTakesNoMoreRoom has a new pack with a file that came twice take the blocks of its own length.
func TestCreateTakesNoMoreRoom(t *testing.T) {
	body := pattern(3 << 20)
	p := create(t, []Source{source("a.wav", body), source("b.wav", body), source("c.wav", body[:len(body)-1])}, nil)
	info, err := os.Stat(p.Path())
	if err != nil {
		t.Fatal(err)
	}
	if taken := 512 * info.Sys().(*syscall.Stat_t).Blocks; info.Size() < 6<<20-1 || info.Size() > 7<<20 || taken > info.Size()+256<<10 {
		t.Errorf("%d bytes take %d, and two bodies have %d", info.Size(), taken, 2*len(body)-1)
	}
}
