package soundpack

// How a new pack comes to its place: under the lock, beside what is there, and by renames once it is synced.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// locked does the work with the pack's lock held. Others may have made or taken away a pack since the
// place was looked at.
func (c *creation) locked(ctx context.Context) (err error) {
	path := lockPath(c.data)
	_, none := c.storage.Stat(path)
	unlock, err := lock(ctx, c.storage, c.data, false)
	if err != nil {
		return err
	}
	defer func() {
		if errors.Is(none, fs.ErrNotExist) {
			c.storage.Remove(path) // it harms nobody where it cannot be removed
		}
		if e := unlock(); err == nil {
			err = e
		}
	}()
	if err := c.look(); err != nil {
		return err
	}
	if c.there[0] != nil || c.there[1] != nil {
		return c.replace(ctx)
	}
	return c.write(ctx)
}

// write makes the pair under temporary names and publishes it. What a creation that was killed left
// under such names goes first.
func (c *creation) write(ctx context.Context) error {
	(&Writer{fs: c.storage, path: c.data, indexPath: c.Index}).sweep() // what stays harms nobody
	mark := tempMark()
	data, index := c.data+mark, c.Index+mark
	err := c.file(data, func(f storage.File) error { return c.copyAll(ctx, f) })
	if err != nil {
		return err
	}
	if c.layout.traits().head {
		return c.publish(ctx, mark, data)
	}
	err = c.file(index, func(f storage.File) error {
		_, err := f.Write(c.layout.encode(c.recs))
		return err
	})
	if err != nil {
		return c.drop(err, data)
	}
	return c.publish(ctx, mark, data, index)
}

// tempMark ends the name of what is not in place yet.
func tempMark() string { return fmt.Sprintf(".%08x%s", rand.Uint32(), tempSuffix) }

// file writes a new file and syncs it. A file that cannot be finished is removed.
func (c *creation) file(path string, fill func(storage.File) error) error {
	f, err := c.storage.Create(path)
	if err != nil {
		c.storage.Remove(path) // in case it was made after all
		return err
	}
	if err = fill(f); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return c.drop(err, path)
	}
	return nil
}

// drop removes files that are not needed after err, which it returns.
func (c *creation) drop(err error, paths ...string) error {
	for _, path := range paths {
		if e := c.storage.Remove(path); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = fmt.Errorf("%w (and %s stays: %v)", err, baseName(path), bare(e))
		}
	}
	return err
}

// publish moves what was written into place: data alone, or data and index. Old files that have to give
// way come back if it fails.
func (c *creation) publish(ctx context.Context, mark string, temps ...string) error {
	away, err := c.clear(ctx, mark)
	switch {
	case err != nil:
		err = c.drop(err, temps...)
	case len(temps) == 1:
		err = c.placeOne(temps[0])
	default:
		err = c.placeTwo(temps[0], temps[1])
	}
	done := err == nil || errors.Is(err, ErrDurability)
	for _, path := range away {
		old := path + ".old" + mark
		if done {
			c.storage.Remove(old) // the next writer tries again
		} else if e := c.storage.Rename(old, path); e != nil {
			err = fmt.Errorf("%w (and the old %s is %s now: %v)", err, baseName(path), baseName(old), bare(e))
		}
	}
	return err
}

// clear moves old files away, indexes first, so that none names bytes of the new data. One file is
// replaced by one file without that.
func (c *creation) clear(ctx context.Context, mark string) (away []string, err error) {
	paths := c.others
	if !c.layout.traits().head {
		for i, path := range []string{c.Index, c.data} {
			if c.there[1-i] != nil {
				paths = append(paths, path)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := c.storage.Rename(path, path+".old"+mark); err != nil {
			return away, err
		}
		away = append(away, path)
		if err := c.storage.SyncDir(filepath.Dir(path)); err != nil {
			return away, err
		}
	}
	return away, nil
}

// placeOne gives a pack of one file its name.
func (c *creation) placeOne(data string) error {
	err := c.storage.Rename(data, c.data)
	if err == nil {
		err = c.storage.SyncDir(filepath.Dir(c.data))
	} else if e := c.storage.Remove(data); e == nil {
		return err
	} // else it was renamed, or may have been, as on a network it happens
	return inPlace(err)
}

// placeTwo gives a pair its names, the index last: the data's name must be durable before an index that
// needs it.
func (c *creation) placeTwo(data, index string) error {
	err := c.storage.Rename(data, c.data)
	if err == nil {
		err = c.storage.SyncDir(filepath.Dir(c.data))
	}
	if err != nil {
		return c.drop(err, data, c.data, index)
	}
	err = c.storage.Rename(index, c.Index)
	if err == nil {
		err = c.storage.SyncDir(filepath.Dir(c.Index))
	} else if e := c.storage.Remove(index); e == nil {
		return c.drop(err, c.data)
	}
	return inPlace(err)
}

// inPlace is the error of a pack that is in place, if there is one.
func inPlace(err error) error {
	if err != nil {
		err = fmt.Errorf("%w: the pack is in place, but %w", ErrDurability, err)
	}
	return err
}
