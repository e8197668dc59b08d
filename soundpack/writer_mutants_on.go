//go:build mutants

package soundpack

import (
	"context"
	"errors"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// mutant is how the protocol is broken; a test sets it.
var mutant mutation

func mutated(m mutation) bool { return m == mutant }

// overwriteIndex writes the index where it is.
func (w *Writer) overwriteIndex(raw []byte) (named bool, err error) {
	f, err := w.fs.Open(w.indexPath)
	if err != nil {
		if f, err = w.fs.Create(w.indexPath); err != nil {
			return false, err
		}
	}
	defer f.Close()
	if err := f.Truncate(0); err != nil {
		return true, err
	}
	return true, errors.Join(put(f, raw, 0), f.Sync(), w.syncDirs())
}

// twoRenames compacts as one would at first: a new file each.
func (c *compaction) twoRenames(ctx context.Context) error {
	w := c.w
	if c.settled() {
		return c.shrink(ctx)
	}
	raw, err := w.encode(c.packed)
	if err != nil {
		return err
	}
	data := func() error {
		_, err := w.publish(w.path, w.dataMode, noFileSync, noDirSync, func(f storage.File) error {
			for _, e := range c.extents {
				b := make([]byte, e.end-e.off)
				if _, err := w.data.ReadAt(b, e.off); err != nil {
					return err
				}
				if err := put(f, b, e.to); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	}
	index := func() error { _, err := w.publishIndex(raw, noDirSync); return err }
	if mutated(twoRenamesBack) {
		data, index = index, data
	}
	if err = data(); err == nil {
		err = index()
	}
	w.let()
	return err
}
