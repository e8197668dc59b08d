package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pseudoTerminal is a terminal and what is shown on it.
func pseudoTerminal(t *testing.T) (tty *os.File, shown func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("needs a pseudo terminal: %v", err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		t.Skipf("needs a pseudo terminal: %v", err)
	}
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	done := make(chan bool)
	go func() {
		io.Copy(&text, master) // ends with EIO when the other side is closed
		close(done)
	}()
	return tty, func() string {
		tty.Close()
		<-done
		master.Close()
		return text.String()
	}
}

// Long work shows how far it is on a terminal, with rate and time left, and takes the line away.
func TestProgressOnTerminal(t *testing.T) {
	defer func(d time.Duration) { quietFor = d }(quietFor)
	quietFor = 0
	dir := t.TempDir()
	pack := filepath.Join(dir, "music.data")
	sounds := filepath.Join("..", "..", "testdata", "sounds")
	for _, c := range []struct {
		verb string
		args []string
	}{
		{"packing", []string{"create", pack, filepath.Join(sounds, "theme.ogg"), filepath.Join(sounds, "theme.mp3")}},
		{"packing", []string{"create", pack, "--force", filepath.Join(sounds, "swish.wav"), filepath.Join(sounds, "theme.ogg")}},
		{"adding", []string{"add", pack, filepath.Join(sounds, "jaguar.wav")}},
		{"verifying", []string{"verify", pack}},
		{"writing", []string{"extract", pack, "-C", filepath.Join(dir, "out")}},
		{"", []string{"remove", pack, "swish.wav"}},
		{"compacting", []string{"compact", pack}},
		{"compacting", []string{"compact", pack, "--out", filepath.Join(dir, "other")}},
	} {
		tty, shown := pseudoTerminal(t)
		status := run(t.Context(), c.args, streams{strings.NewReader(""), io.Discard, tty})
		text := shown()
		if status != statusDone {
			t.Errorf("%v: status %d: %s", c.args, status, text)
		}
		if c.verb == "" {
			continue
		}
		line, _, _ := strings.Cut(strings.TrimPrefix(text, "\r\x1b[K"), "\r")
		for _, word := range []string{c.verb + " ", " of ", "/s, ", " left"} {
			if !strings.Contains(line, word) {
				t.Errorf("%v: shows %q, without %q", c.args, line, word)
			}
		}
		if !strings.HasSuffix(text, "\r\x1b[K") {
			t.Errorf("%v: the line stays: %q", c.args, text)
		}
	}
}

// cancelOn ends a context when something is shown for the n-th time.
type cancelOn struct {
	n      int
	cancel context.CancelFunc
}

func (c *cancelOn) Write(b []byte) (int, error) {
	if c.n--; c.n == 0 {
		c.cancel()
	}
	return len(b), nil
}

// An interrupt of add, remove, create --force and compact leaves the old pack to the byte or, once the new
// one is in use, a whole one with the same contents as it would have; and no temporary file.
func TestInterruptLeavesAWholePack(t *testing.T) {
	sounds := filepath.Join("..", "..", "testdata", "sounds")
	sound := func(name string) string { return filepath.Join(sounds, name) }
	for _, args := range [][]string{
		{"add", "PACK", sound("theme.ogg"), sound("drumloop.wav")},
		{"create", "PACK", "--force", sound("theme.ogg"), sound("drumloop.wav")},
		{"compact", "PACK"},
	} {
		early := 0
		for stop := 1; ; stop++ {
			dir := t.TempDir()
			pack := filepath.Join(dir, "music.data")
			quiet := streams{strings.NewReader(""), io.Discard, io.Discard}
			for _, a := range [][]string{{"create", pack, sound("swish.wav"), sound("jaguar.wav"), sound("theme.mp3")}, {"remove", pack, "swish.wav"}} {
				if got := run(t.Context(), a, quiet); got != statusDone {
					t.Fatalf("%v: status %d", a, got)
				}
			}
			before := readBoth(t, dir)
			ctx, cancel := context.WithCancel(t.Context())
			hook := &cancelOn{stop, cancel}
			progressHook = func(done, total int64) { hook.Write(nil) }
			args := append([]string{args[0], pack}, args[2:]...)
			status := run(ctx, args, quiet)
			progressHook = nil
			cancel()
			if status == statusDone && hook.n > 0 {
				if early == 0 {
					t.Errorf("%v: never interrupted", args)
				}
				break
			}
			if got := run(t.Context(), []string{"verify", pack}, quiet); got != statusDone {
				t.Errorf("%v, stop %d: verify %d", args, stop, got)
			}
			if status != statusDone {
				early++
			}
			if after := readBoth(t, dir); args[0] == "add" && status != statusDone && after != before {
				t.Errorf("%v, stop %d: the pack changed", args, stop)
			}
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if strings.HasSuffix(f.Name(), ".tmp") {
					t.Errorf("%v, stop %d: left %s", args, stop, f.Name())
				}
			}
		}
	}
}

func readBoth(t *testing.T, dir string) string {
	t.Helper()
	var all []byte
	for _, name := range []string{"music.inx", "music.data"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return string(all)
}
