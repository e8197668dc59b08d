package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestOS(t *testing.T) {
	var s FS = OS{}
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	f, err := s.Create(a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("hello")); err != nil {
		t.Error(err)
	}
	if err := errors.Join(f.Sync(), f.Close(), s.SyncDir(dir)); err != nil {
		t.Error(err)
	}
	if f, err := s.Create(a); !errors.Is(err, fs.ErrExist) || f != nil {
		t.Errorf("Create over a file: %v, %v; want nil and fs.ErrExist", f, err)
	}
	if err := s.Rename(a, b); err != nil {
		t.Error(err)
	}
	if err := s.Link(b, c); err != nil {
		t.Skip(err)
	}
	if err := s.Link(b, c); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Link over a file: %v, want fs.ErrExist", err)
	}
	if err := s.Remove(b); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(c); string(got) != "hello" || err != nil {
		t.Errorf("content %q, %v", got, err)
	}
	for what, err := range map[string]error{"Remove": s.Remove(a), "Rename": s.Rename(a, b), "SyncDir": s.SyncDir(a)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of nothing: %v, want fs.ErrNotExist", what, err)
		}
	}
}
