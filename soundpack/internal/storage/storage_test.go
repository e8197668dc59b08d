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
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
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
	if got, err := os.ReadFile(b); string(got) != "hello" || err != nil {
		t.Errorf("content %q, %v", got, err)
	}
	if err := s.Remove(b); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"Remove": s.Remove(a), "Rename": s.Rename(a, b), "SyncDir": s.SyncDir(a)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of nothing: %v, want fs.ErrNotExist", what, err)
		}
	}
}
