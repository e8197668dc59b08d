//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An interrupt ends a command that reads what a flag names from a pipe whose writer stalls, before its first
// byte and in the middle.
func TestInterruptStalledPipe(t *testing.T) {
	pack, pipe := filepath.Join(musicDir, "music.data"), filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("needs named pipes: ", err)
	}
	for _, args := range [][]string{
		{"list", pack, "--names", pipe}, {"convert", pack, pipe + ".pck", "--names", pipe},
		{"lint", pack, "--rules", pipe}, {"render", pack, "--replay", pipe, "--hash"},
	} {
		for _, begins := range []string{"", "{"} {
			w, err := os.OpenFile(pipe, os.O_RDWR, 0) // which needs no reader
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.WriteString(begins); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel) // it waits by then, or will
			var told bytes.Buffer
			if got := run(ctx, args, streams{strings.NewReader(""), io.Discard, &told}); got != statusFailed || told.String() != "sndpak: interrupted\n" {
				t.Errorf("%s, after %q: status %d, %q", args, begins, got, told.String())
			}
			cancel()
			w.Close()
		}
	}
}
