package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/sndpak/sndpak/soundpack"
)

// The default limit of what convert writes is that of extract: a small pack, or archive, can stand for any
// number of bytes.
const (
	maxCopies  = 64       // times the source's own bytes
	leastBytes = 64 << 20 // whatever those are
	mostBytes  = 8 << 30
)

// leave tells of a file that is damaged, or of a kind that is not known, and is left out.
func (c *conversion) leave(err error) {
	c.left++
	c.damage = c.damage || damaged(err)
	c.warn("left out", fmt.Errorf("%w: left out", err))
}

// spoilt tells of an entry whose checksum does not fit: it is in the target as it is.
func (c *conversion) spoilt(err error) {
	c.unfit++
	c.warn(soundpack.ErrChecksum.Error(), err)
}

// verdict is the error of a conversion that is done, of so many files.
func (c *conversion) verdict(files int) error {
	var err error
	switch {
	case c.left > 0:
		err = fmt.Errorf("%s is written without %d of %d files, which are left out", c.dst, c.left, files)
	case c.unfit > 0:
		err = fmt.Errorf("%s is written, but %d of %d files are not what was packed once", c.dst, c.unfit, files)
	default:
		return nil
	}
	if c.damage || c.unfit > 0 {
		return damagedError{err}
	}
	return err
}

// screen leaves out what cannot be read, before anything is written: a pack's entries by a look at the index,
// an archive's members by reading them, since their sums are behind them.
func (c *conversion) screen(sources []soundpack.Source) ([]soundpack.Source, error) {
	if err := c.ration(sources); err != nil {
		return nil, err
	}
	kept := sources[:0:0]
	for _, s := range sources {
		var err error
		switch {
		case c.pack != nil:
			err = c.checkEntry(s)
		case c.zipped > 0:
			err = c.checkMember(s)
		}
		switch {
		case err == nil:
			kept = append(kept, s)
		case damaged(err) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, soundpack.ErrLimit):
			c.leave(err)
		default:
			return nil, err
		}
	}
	return kept, nil
}

// beyond tells whether an entry reaches past the data.
func (c *conversion) beyond(s soundpack.Source) bool {
	e, ok := c.entry(s)
	return ok && e.Size > c.pack.DataSize()-e.Offset
}

func (c *conversion) checkEntry(s soundpack.Source) error {
	e, ok := c.entry(s)
	if !ok {
		return nil
	}
	_, err := c.pack.Section(e)
	return err
}

// entry is the pack's entry that a source is.
func (c *conversion) entry(s soundpack.Source) (soundpack.Entry, bool) {
	return c.pack.Lookup(strings.TrimPrefix(s.Path, c.pack.Path()+": ")) // by the name as it is shown
}

// checkMember reads a member of an archive. What neither the context nor the host says is said of the archive.
func (c *conversion) checkMember(s soundpack.Source) error {
	err := c.copy(io.Discard, s)
	switch {
	case err == nil || c.cmd.Context().Err() != nil:
		return err
	case errors.Is(err, zip.ErrAlgorithm):
		return fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
	case as[*fs.PathError](err):
		return err
	}
	return damagedError{err}
}

// ration refuses sources that are out of proportion to what they come from.
func (c *conversion) ration(sources []soundpack.Source) error {
	limit := c.most
	if limit == 0 {
		var own int64
		switch {
		case c.pack != nil:
			own = c.pack.DataSize()
		case c.zipped > 0:
			own = c.zipped
		default:
			return nil // a folder is what it is
		}
		limit = int64(min(max(maxCopies*float64(own), leastBytes), mostBytes))
	}
	left := limit
	for _, s := range sources {
		if c.pack != nil && c.beyond(s) {
			continue // it is left out
		}
		if left -= s.Size; left < 0 {
			return fmt.Errorf("%s: %w: its files have more than %d bytes in all: --max-bytes says that it may be so", hideQuery(c.src), soundpack.ErrLimit, limit)
		}
	}
	return nil
}

// sizeOf is the length of a file that was found to be an archive.
func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return max(info.Size(), 1), nil
}
