package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestThere has files in the way: each is told in one short line, the eleventh and on by their number, and
// that --force helps is said once.
func TestThere(t *testing.T) {
	for _, n := range []int{1, 10, 13} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { filesThere(t, n) })
	}
}

func filesThere(t *testing.T, n int) {
	dir := filepath.Join(t.TempDir(), "files")
	if err := os.MkdirAll(filepath.Join(dir, "sfx"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, "sfx", fmt.Sprintf("%02d.txt", i)), []byte{byte(i)}, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	pack, archive := dir+".data", dir+".zip"
	for _, args := range [][]string{{"create", pack, dir}, {"convert", pack, archive}} {
		if status, _, errs := sndpak(t, args...); status != 0 {
			t.Fatal(args, errs)
		}
	}
	for _, args := range [][]string{
		{"extract", pack, "-C", dir}, {"convert", pack, dir}, {"convert", archive, dir},
	} {
		status, _, errs := sndpak(t, args...)
		lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n")
		want := map[int]int{1: 1, 10: 11, 13: 12}[n]
		first := "sndpak: " + filepath.Join(dir, "sfx", "00.txt") + " is there already"
		if status != statusFailed || len(lines) != want || !strings.HasPrefix(lines[0], first) ||
			strings.Count(errs, "--force") != 1 || strings.Contains(errs, "and 3 more\n") != (n == 13) {
			t.Errorf("%s: status %d, %d lines, want %d:\n%s", args, status, len(lines), want, errs)
		}
		if status, _, errs := sndpak(t, append(args, "--force")...); status != 0 {
			t.Errorf("%s --force: status %d, %s", args, status, errs)
		}
	}
}

// TestThereAmongOthers has what else went wrong told in full.
func TestThereAmongOthers(t *testing.T) {
	dir := t.TempDir()
	pack := filepath.Join(dir, "p.data")
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a"), 0o666); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := sndpak(t, "create", pack, filepath.Join(dir, "a.txt")); status != 0 {
		t.Fatal(errs)
	}
	status, _, errs := sndpak(t, "extract", pack, "a.txt", "none.txt", "-C", dir)
	if status != statusNoEntry || strings.Count(errs, "\n") != 2 || !strings.Contains(errs, "a.txt is there already (--force") || !strings.Contains(errs, `no entry "none.txt"`) {
		t.Errorf("status %d, %s", status, errs)
	}
}
