package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFlagFaults has values that flags do not take: what they want is said, in no program's terms.
func TestFlagFaults(t *testing.T) {
	pack := filepath.Join(musicDir, "music.data")
	for _, c := range []struct{ flag, value, says string }{
		{"--gain", "abc", `--gain "abc": want a number`},
		{"--gain", "1e999", `--gain "1e999": out of range`},
		{"--loop", "x", `--loop "x": want a whole number`},
		{"--loop", "99999999999999999999", `--loop "99999999999999999999": out of range`},
		{"--start", "zz", `--start "zz" is no time: write 1.5, 1:02.5 or 800ms`},
		{"--buffer", "1", `--buffer "1": want a time with its unit, such as 20ms`},
		{"--layout", "zip", `--layout "zip": there are split, crc, cfg, pck`},
	} {
		status, _, errs := sndpak(t, "play", pack, "swish.wav", c.flag, c.value)
		if want := "sndpak: " + c.says + "\n"; status != statusUsage || errs != want {
			t.Errorf("%s %s: status %d, %q; want %d, %q", c.flag, c.value, status, errs, statusUsage, want)
		}
	}
}

func TestCauses(t *testing.T) {
	path := &fs.PathError{Op: "open", Path: "..", Err: fs.ErrInvalid}
	for i, c := range []struct {
		err  error
		want []string
	}{
		{fmt.Errorf("a: no index: %w", fs.ErrInvalid), []string{"a: no index"}},
		{fmt.Errorf("b: %w", fmt.Errorf("no index: %w", fs.ErrInvalid)), []string{"b: no index"}},
		{fmt.Errorf("c: %w", path), []string{"c: open ..: invalid argument"}},
		{fs.ErrInvalid, []string{"invalid argument"}},
		{errors.New("x: invalid argument"), []string{"x: invalid argument"}},
		{errors.Join(path, fmt.Errorf("d: %w", fs.ErrInvalid)), []string{"open ..: invalid argument", "d"}},
	} {
		if got := causes(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

// TestOneOf has verify count in the singular.
func TestOneOf(t *testing.T) {
	pack := filepath.Join(t.TempDir(), "one.data")
	text := filepath.Join(otherFiles(t), "empty.wav")
	if status, _, errs := sndpak(t, "create", pack, text); status != 0 {
		t.Fatal(errs)
	}
	status, out, errs := sndpak(t, "verify", pack)
	if status != 0 || !strings.HasSuffix(out, "one.data: 1 entry, 0 errors, 1 warning\n") {
		t.Errorf("status %d, %s%s", status, out, errs)
	}
}
