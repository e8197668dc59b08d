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
)

// stuck is a pipe that nobody reads: the first write tells, and never returns.
type stuck chan struct{}

func (s stuck) Write([]byte) (int, error) {
	close(s)
	select {}
}

// An interrupt ends a command that is stuck in a pipe, and a long comparison before it begins to read.
func TestInterruptReaders(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "music.data")
	var index []byte
	for i := range 5000 {
		index = append(index, fmt.Sprintf("%-28s", fmt.Sprintf("%d\x00", i))[:20]...)
		index = append(index, make([]byte, 8)...)
	}
	for name, b := range map[string][]byte{"music.data": nil, "music.inx": index} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"list", path}, {"list", path, "--json"}, {"diff", path, path}} {
		ctx, cancel := context.WithCancel(t.Context())
		out := make(stuck)
		go func() {
			<-out
			cancel()
		}()
		var told bytes.Buffer
		if got := run(ctx, args, streams{strings.NewReader(""), out, &told}); got != statusFailed || told.String() != "sndpak: interrupted\n" {
			t.Errorf("%v: status %d, %q", args, got, told.String())
		}
		cancel()
		told.Reset()
		if got := run(ctx, args, streams{strings.NewReader(""), io.Discard, &told}); got != statusFailed || told.String() != "sndpak: interrupted\n" {
			t.Errorf("%v, interrupted before: status %d, %q", args, got, told.String())
		}
	}
}
