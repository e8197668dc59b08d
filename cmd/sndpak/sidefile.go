package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
)

// openSide opens a file that a flag names to be read. A pipe that nobody writes to is at its end at
// once: opened as usual it would be waited for. One whose writer stalls is waited for until ctx ends.
func openSide(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return &sideFile{f, ctx, context.AfterFunc(ctx, func() { f.Close() })}, nil
}

// A sideFile is closed when its context ends, which ends a read that waits.
type sideFile struct {
	f    *os.File
	ctx  context.Context
	stop func() bool
}

func (s *sideFile) Read(b []byte) (int, error) {
	n, err := s.f.Read(b)
	if err != nil && s.ctx.Err() != nil {
		err = s.ctx.Err()
	}
	return n, err
}

func (s *sideFile) Close() error {
	if !s.stop() {
		return nil
	}
	return s.f.Close()
}

// readSide reads all of such a file, which has at most so many bytes.
func readSide(ctx context.Context, path string, most int64) ([]byte, error) {
	f, err := openSide(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s: more than %d bytes", path, most)
	}
	return b, err
}
