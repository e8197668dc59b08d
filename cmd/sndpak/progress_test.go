package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// newTestProgress is a progress on a terminal of 60 cells whose clock the test turns.
func newTestProgress() (p *progress, out *bytes.Buffer, pass func(time.Duration)) {
	out = &bytes.Buffer{}
	at := time.Unix(1e9, 0)
	p = &progress{out: out, verb: "packing", width: 60, now: func() time.Time { return at }, begun: at}
	return p, out, func(d time.Duration) { at = at.Add(d) }
}

func TestProgressTellsRateAndTimeLeft(t *testing.T) {
	p, out, pass := newTestProgress()
	for _, step := range []struct {
		pass time.Duration
		done int64
		want string
	}{
		{400 * time.Millisecond, 1 << 20, ""}, // short work needs no line
		{600 * time.Millisecond, 10 << 20, "packing 10.0 MiB of 100.0 MiB, 10.0 MiB/s, 9s left"},
		{50 * time.Millisecond, 11 << 20, ""}, // ten times a second is enough
		{950 * time.Millisecond, 40 << 20, "packing 40.0 MiB of 100.0 MiB, 20.0 MiB/s, 3s left"},
		{2 * time.Second, 100 << 20, "packing 100.0 MiB of 100.0 MiB, 25.0 MiB/s, 0s left"},
		{time.Second, 0, "packing 0 bytes of 100.0 MiB, 0 bytes/s"},
		{time.Second, 200 << 20, "packing 200.0 MiB of 100.0 MiB, 33.3 MiB/s"}, // more than was expected
	} {
		pass(step.pass)
		p.update(step.done, 100<<20)
		if got := strings.TrimPrefix(out.String(), "\r\x1b[K"); got != step.want {
			t.Errorf("%d bytes done: got %q, want %q", step.done, got, step.want)
		}
		out.Reset()
	}
	p.done()
	if out.String() != "\r\x1b[K" {
		t.Errorf("the line is not taken away: %q", out)
	}
}

func TestProgressOfSoundTellsTimes(t *testing.T) {
	p, out, pass := newTestProgress()
	pass(2 * time.Second)
	p.sound(48000)(48000*90, 48000*3600)
	if want := "\r\x1b[Kpacking 1:30.00 of 1:00:00, 45x, 1m18s left"; out.String() != want {
		t.Errorf("got %q, want %q", out, want)
	}
	out.Reset()
	pass(time.Second)
	p.sound(48000)(48000*90, 0) // it ends where it ends
	if want := "\r\x1b[Kpacking 1:30.00, 30x"; out.String() != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

func TestProgressFitsTheTerminal(t *testing.T) {
	for width := range 60 {
		p, out, pass := newTestProgress()
		p.width = width
		pass(time.Second)
		p.update(1, 2)
		if n := utf8.RuneCountInString(strings.TrimPrefix(out.String(), "\r\x1b[K")); n > max(width-1, 0) {
			t.Errorf("%d cells in a terminal of %d", n, width)
		}
	}
}

// Where standard error is no terminal nothing is shown, however long it takes.
func TestProgressIsQuietElsewhere(t *testing.T) {
	var cmd cobra.Command
	var errs bytes.Buffer
	cmd.SetErr(&errs)
	p := newProgress(&cmd, "packing")
	p.begun = time.Now().Add(-time.Hour)
	p.update(1, 100)
	p.sound(48000)(1, 100)
	p.done()
	file, err := os.Create(filepath.Join(t.TempDir(), "errors"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd.SetErr(file)
	p = newProgress(&cmd, "packing")
	p.begun = time.Now().Add(-time.Hour)
	p.update(1, 100)
	p.done()
	if b, _ := os.ReadFile(file.Name()); errs.Len()+len(b) > 0 {
		t.Errorf("shown: %q %q", &errs, b)
	}
}

// An interrupt ends long work at once, with one line and no half file.
func TestInterruptIsClean(t *testing.T) {
	pack := copyPack(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"create", filepath.Join(dir, "new.data"), "../../testdata/sounds"},
		{"add", pack, "../../testdata/sounds/theme.ogg", "--replace"},
		{"compact", pack},
		{"verify", pack, "--deep"},
		{"extract", pack, "-C", dir},
		{"convert", pack, filepath.Join(dir, "folder")},
		{"convert", pack, filepath.Join(dir, "music.zip")},
		{"render", pack, "theme.ogg", "-o", filepath.Join(dir, "mix.wav")},
		{"decode", pack, "theme.ogg", "-o", filepath.Join(dir, "theme.wav")},
	} {
		var out, errs bytes.Buffer
		status := run(ctx, args, streams{strings.NewReader(""), &out, &errs})
		if status != statusFailed || errs.String() != "sndpak: interrupted\n" {
			t.Errorf("%s: status %d, %q", args[0], status, &errs)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if status, _, errs := sndpak(t, "verify", pack); status != 0 {
		t.Errorf("the pack after interrupts: %s", errs)
	}
}

// copyPack is a copy of the project's pack that the test may change.
func copyPack(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, ext := range []string{".data", ".inx"} {
		b, err := os.ReadFile("../../testdata/music" + ext)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "music"+ext), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "music.data")
}
