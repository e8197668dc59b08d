package main

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// openSide opens a file that a flag names to be read. A pipe that nobody writes to is at its end at
// once: opened as usual it would be waited for, and no signal would end that.
func openSide(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// readSide reads all of such a file, which has at most so many bytes.
func readSide(path string, most int64) ([]byte, error) {
	f, err := openSide(path)
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
