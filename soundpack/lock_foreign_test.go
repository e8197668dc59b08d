package soundpack

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A file that has the name of a pack's lock and is something else keeps its bytes.
func TestLockLeavesOtherFilesAlone(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"precious", "a file of more than sixteen bytes", "1234567"} {
		lock := filepath.Join(dir, "Cargo.lock")
		if err := os.WriteFile(lock, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Edit(context.Background(), filepath.Join(dir, "Cargo.toml"), &WriterOptions{Create: true}); err == nil {
			t.Errorf("%q: Edit took the lock", text)
		}
		if b, err := os.ReadFile(lock); err != nil || string(b) != text {
			t.Errorf("the file holds %q (%v), want %q", b, err, text)
		}
	}
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, "p.lock")); err != nil {
		t.Skipf("needs symbolic links: %v", err)
	}
	if _, err := Edit(context.Background(), filepath.Join(dir, "p.data"), &WriterOptions{Create: true}); err == nil {
		t.Error("Edit followed a link to take the lock")
	}
}

// A pack none of whose files can be its lock is asked for.
func TestPackIsNotItsOwnLock(t *testing.T) {
	dir := t.TempDir()
	for _, c := range [][2]string{{"x.lock", ""}, {"y.data", "y.lock"}} {
		o := &CreateOptions{}
		if c[1] != "" {
			o.Index = filepath.Join(dir, c[1])
		}
		if err := Create(context.Background(), filepath.Join(dir, c[0]), nil, o); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Create %s with the index %q: %v, want fs.ErrInvalid", c[0], c[1], err)
		}
	}
}

// Only names that this package makes itself are swept away.
func TestOwnTemp(t *testing.T) {
	for name, want := range map[string]bool{
		"music.data.tmp": true, "music.data.0123abcd.tmp": true, "music.data.old.0123abcd.tmp": true,
		"music.data.backup.tmp": false, "music.data.old.tmp": false, "music.data": false, "music.data.0123abcd": false,
		"music.data.0123abcg.tmp": false, "other.tmp": false, "music.data.bak": false,
	} {
		if got := ownTemp("music.data", name); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}
