package player

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
)

// maxWhole bounds what is read whole from a file that cannot be read at an offset: 256 MiB.
const maxWhole = 256 << 20

// A source is an open file as decoders want it. Reading it from several goroutines is fine.
type source struct {
	io.ReaderAt
	io.Closer
	size int64
}

// openSource opens a file. Files of packs, folders and embed.FS are read in place; what cannot be
// read at an offset (a file in a zip) is read whole.
func openSource(fsys fs.FS, name string) (*source, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("is a folder")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if r, ok := f.(io.ReaderAt); ok {
		return &source{ReaderAt: r, Closer: f, size: info.Size()}, nil
	}
	return readWhole(f, name)
}

func readWhole(f fs.File, name string) (*source, error) {
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxWhole+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxWhole {
		return nil, fmt.Errorf("%s: more than %d bytes in a file that cannot be read in place: %w", name, maxWhole, ErrLimit)
	}
	return &source{ReaderAt: bytes.NewReader(b), Closer: io.NopCloser(nil), size: int64(len(b))}, nil
}
