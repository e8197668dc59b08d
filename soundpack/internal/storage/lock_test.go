package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "music.lock")
	for round := range 3 {
		unlock, err := OS{}.Lock(path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		before, _ := os.Stat(path)
		var held *Locked
		if _, err := (OS{}).Lock(path); !errors.As(err, &held) || held.Holder != os.Getpid() {
			t.Errorf("round %d: taken twice: %v, want that process %d has it", round, err, os.Getpid())
		}
		if err := unlock(); err != nil {
			t.Error(err)
		}
		if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("round %d: the lock's file is not what it was: %v", round, err)
		}
	}
	if _, err := (OS{}).Lock(filepath.Dir(path)); err == nil {
		t.Error("locked a folder")
	}
	if err := os.WriteFile(path, []byte("#nonsense"), 0o666); err != nil {
		t.Fatal(err)
	}
	if n := holder(path); n != 0 {
		t.Errorf("holder of nonsense: %d", n)
	}
	for err, want := range map[*Locked]string{{}: "locked", {Holder: 12}: "locked by process 12"} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err.Error(), want)
		}
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if f, err := (OS{}).Open(dir); !errors.Is(err, fs.ErrInvalid) || f != nil {
		t.Errorf("a folder: %v, %v", f, err)
	}
	if f, err := (OS{}).Open(os.DevNull); !errors.Is(err, fs.ErrInvalid) || f != nil {
		t.Errorf("a device: %v, %v", f, err)
	}
	if f, err := (OS{}).Open(filepath.Join(dir, "nosuch")); !errors.Is(err, fs.ErrNotExist) || f != nil {
		t.Errorf("nothing: %v, %v", f, err)
	}
}

func TestResolveAndSpaceAndList(t *testing.T) {
	dir := t.TempDir()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := (OS{}).Resolve(filepath.Join(dir, "nosuch")); err != nil || got != filepath.Join(dir, "nosuch") {
		t.Errorf("Resolve of nothing: %q, %v", got, err)
	}
	if err := os.Symlink("file", filepath.Join(dir, "link")); err == nil {
		if got, err := (OS{}).Resolve(filepath.Join(dir, "link")); err != nil || got != file {
			t.Errorf("Resolve: %q, %v; want %q", got, err, file)
		}
	}
	if l, err := (OS{}).List(dir); err != nil || len(l) == 0 || l[0] != "file" {
		t.Errorf("List: %q, %v", l, err)
	}
	if s, err := (OS{}).Space(dir); runtime.GOOS == "linux" && (err != nil || s.Free <= 0 || !s.Sparse) {
		t.Errorf("Space: %+v, %v", s, err)
	}
	if _, err := (OS{}).Space(filepath.Join(dir, "nosuch")); err == nil {
		t.Error("Space of no folder: no error")
	}
}

// What a power cut leaves of a lock is a lock; what somebody else wrote is not, and stays as it is.
func TestLockFoundAgain(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "\x00": true, "\x004711\n": true, "\x00\x00\x00\x00\x00\x00": true, "\x0012\x00\x00\x00": true,
		"4711\n": false, "{}": false, "\x00" + strings.Repeat("1", 16): false,
	} {
		path := filepath.Join(t.TempDir(), "music.lock")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		unlock, err := OS{}.Lock(path)
		if (err == nil) != want {
			t.Errorf("%q: %v, want a lock: %v", text, err, want)
		}
		if err == nil {
			if err := unlock(); err != nil {
				t.Errorf("%q: unlock: %v", text, err)
			}
			continue
		}
		if b, _ := os.ReadFile(path); string(b) != text {
			t.Errorf("%q became %q", text, b)
		}
	}
}

// Who holds the lock may remove its file: who opened it just before does not get a lock that nobody sees.
func TestLockRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "music.lock")
	var held, got, lost atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 500 {
				unlock, err := OS{}.Lock(path)
				if err != nil {
					if l := (*Locked)(nil); !errors.As(err, &l) {
						lost.Add(1)
					}
					runtime.Gosched()
					continue
				}
				if n := held.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				got.Add(1)
				held.Add(-1)
				os.Remove(path)
				unlock()
			}
		})
	}
	all.Wait()
	if got.Load() == 0 || lost.Load() > 0 && runtime.GOOS != "windows" {
		t.Errorf("taken %d times, %d errors", got.Load(), lost.Load())
	}
}
