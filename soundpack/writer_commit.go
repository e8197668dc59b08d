package soundpack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// tempSuffix ends the name of what is not in place yet; the lock makes one such name enough.
const tempSuffix = ".tmp"

// Commit makes the pack what is staged, all of it or nothing: the bodies are appended and synced, and
// one rename puts the new index in place. When it returns nil, no crash undoes it. It costs the bytes
// that are added and the index; what is there is not read.
//
// A source that changed while it was read, and a name that leads past the data (ErrFormat: remove it),
// are errors, as are passing the layout's 4 GiB (ErrLimit) and data that a program without the lock has
// changed (ErrChanged). An ErrDurability alone comes with the new pack in place. ctx ends it until the
// index is renamed.
func (w *Writer) Commit(ctx context.Context) error {
	if err := w.commit(ctx); err != nil {
		return opened("commit to", w.path, err)
	}
	return nil
}

func (w *Writer) commit(ctx context.Context) error {
	if err := w.ready(); err != nil {
		return err
	}
	if w.staged == nil {
		return ctx.Err()
	}
	c := &change{w: w}
	c.take(w.staged)
	w.staged = nil
	err := w.unchanged()
	if err == nil {
		err = c.check()
	}
	if err == nil && w.ledger != nil {
		err = w.ledger.take(c)
		defer func() { w.ledger.change = nil }()
	}
	if err == nil {
		if w.traits.head {
			err = c.rewrite(ctx)
		} else {
			err = c.do(ctx)
		}
	}
	if err != nil {
		w.let()
	}
	return err
}

// unchanged refuses to go on where a program that does not know the lock has made the data longer or
// shorter: what is appended would overwrite what it wrote, or lie behind a hole.
func (w *Writer) unchanged() error {
	info, err := w.data.Stat()
	if err == nil && info.Size() != w.end {
		err = fmt.Errorf("%w: the data had %d bytes and has %d", ErrChanged, w.end, info.Size())
	}
	return err
}

// A change is a commit under way.
type change struct {
	w       *Writer
	recs    []record  // the index to be, in order, without the amender's entry
	from    []int     // of each its ordinal in the index on disk, or -1
	sources []*Source // of each what is packed, or nil
	full    []string  // of each the full name, or ""
	was     []int     // of each the ordinal in the index on disk of what it replaces, or -1
	bare    bool      // without a manifest from now on
	size    int64     // bytes of all sources
	start   int64     // where the first new body goes
	end     int64     // of the data to be
}

// take makes a change of what is staged.
func (c *change) take(s *staging) {
	c.bare = s.bare
	for _, it := range s.items {
		if it.dropped {
			continue
		}
		c.recs = append(c.recs, it.record)
		c.from = append(c.from, it.from)
		c.sources = append(c.sources, it.source)
		c.full = append(c.full, it.full)
		c.was = append(c.was, it.was)
		if it.source != nil {
			c.size += it.size
		}
	}
	if t := c.w.traits; t.keyed && !t.hashed {
		arrange(c.w.layout, c.recs)
	}
}

// check places the new bodies and refuses what cannot be written, before anything is.
func (c *change) check() error {
	var fresh []record
	var at []int
	for i, r := range c.recs {
		if c.sources[i] != nil {
			fresh, at = append(fresh, r), append(at, i)
		} else if r.size > 0 && r.off+r.size > c.w.end {
			// What is appended would become part of it.
			return fmt.Errorf("%w: %q reaches past the end of the data (%d bytes): remove it", ErrFormat, show(r.raw), c.w.end)
		}
	}
	c.end = c.w.end
	if mutated(appendAtLive) {
		c.end = 0
		for i, r := range c.recs {
			if c.sources[i] == nil {
				c.end = max(c.end, r.off+r.size)
			}
		}
	}
	c.start = c.end
	if err := checkCount(c.w.layout, len(c.recs)+1); err != nil {
		return err
	}
	if c.w.traits.head {
		return nil // all of it is placed anew
	}
	if err := c.w.layout.plan(c.end, fresh); err != nil {
		return err
	}
	for n, i := range at {
		c.recs[i] = fresh[n]
		c.end = fresh[n].off + fresh[n].size
	}
	return nil
}

// do appends, and then publishes the index. Until that is done it takes back what it appended.
func (c *change) do(ctx context.Context) error {
	w := c.w
	recs, raw, err := c.append(ctx)
	if err == nil {
		err = ctx.Err()
	}
	named := false // whether an index may name what was appended
	if err == nil {
		named, err = w.publishIndex(raw, noDirSync)
	}
	if err != nil {
		if !named {
			err = w.cutBack(err)
		}
		return err
	}
	w.recs, w.end = recs, max(c.end, w.end)
	return nil
}

// append writes the bodies, and the amender's behind them, and syncs them. It returns the index to be.
func (c *change) append(ctx context.Context) ([]record, []byte, error) {
	w := c.w
	if err := c.copySources(ctx); err != nil {
		return nil, nil, err
	}
	recs, body, err := w.amended(c.recs, c.from, c.end)
	if err != nil {
		return nil, nil, err
	}
	raw, err := w.encode(recs)
	if err != nil {
		return nil, nil, err
	}
	if len(body) > 0 {
		if _, err := w.data.WriteAt(body, c.end); err != nil {
			return nil, nil, err
		}
		c.end += int64(len(body))
	}
	if c.end > w.end && !mutated(noDataSync) {
		if err := w.data.Sync(); err != nil && !mutated(goOnAfterSync) {
			return nil, nil, err
		}
	}
	return recs, raw, nil
}

// copySources writes the bodies one after another. One that turns out to be there already is written
// over by the next.
func (c *change) copySources(ctx context.Context) error {
	copier := &creation{CreateOptions: CreateOptions{Progress: c.w.opt.Progress}, total: c.size}
	block := make([]byte, min(1<<20, max(c.size, 1)))
	var done int64
	end, high := c.start, c.start
	for i, s := range c.sources {
		if s == nil {
			continue
		}
		r := &c.recs[i]
		r.off = end
		var to io.Writer = io.NewOffsetWriter(c.w.data, end)
		if a := c.w.amender; a != nil {
			if also := a.watch(i, s); also != nil {
				to = io.MultiWriter(to, also)
			}
		}
		err := copier.copyOne(ctx, to, *s, block, &done)
		high = max(high, end+r.size)
		if err == nil && c.w.ledger != nil {
			r.off, err = c.w.ledger.wrote(i, *r)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
		if r.off == end {
			end += r.size
		}
	}
	if c.size > 0 {
		c.end = end
	}
	if end < high {
		return c.w.data.Truncate(end)
	}
	return nil
}

// cutBack takes away what was appended, which no index has named, and returns err.
func (w *Writer) cutBack(err error) error {
	if mutated(noCutBack) {
		return err
	}
	info, e := w.data.Stat()
	if e == nil && info.Size() > w.end {
		e = w.data.Truncate(w.end)
	}
	if e != nil {
		return fmt.Errorf("%w (and what was appended stays behind the data: %v)", err, bare(e))
	}
	return err
}

// encode is the index of the records.
func (w *Writer) encode(recs []record) ([]byte, error) {
	raw := w.layout.encode(recs)
	if len(raw) > maxIndex {
		return nil, fmt.Errorf("%w: an index of %d bytes, and %d is the most", ErrLimit, len(raw), int64(maxIndex))
	}
	return raw, nil
}

// publishIndex puts an index in place; named tells whether that may have happened.
func (w *Writer) publishIndex(raw []byte, dirSync mutation) (named bool, err error) {
	if mutated(inPlaceIndex) {
		return w.overwriteIndex(raw)
	}
	return w.publish(w.indexPath, w.indexMode, noIndexSync, dirSync, func(f storage.File) error { return put(f, raw, 0) })
}

// publish replaces a file by a new one, with the permissions of the old one, in one commit: whole and
// synced under another name, renamed, and the folder synced. in tells whether the new one may be in
// place although err is not nil; an ErrDurability says that it is.
func (w *Writer) publish(path string, mode fs.FileMode, sync, dirSync mutation, fill func(storage.File) error) (in bool, err error) {
	temp := path + tempSuffix
	if err := w.write(temp, mode, sync, fill); err != nil {
		return false, err
	}
	if err := w.fs.Rename(temp, path); err != nil {
		switch e := w.fs.Remove(temp); {
		case errors.Is(e, fs.ErrNotExist): // it was renamed after all, as on a network it may be
			return true, fmt.Errorf("%w: %s is in place, but %w", ErrDurability, baseName(path), err)
		case e != nil:
			return true, errors.Join(err, e) // who knows
		}
		return false, err
	}
	if mutated(dirSync) {
		return true, nil
	}
	if err := w.fs.SyncDir(filepath.Dir(path)); err != nil {
		return true, fmt.Errorf("%w: %s is in place, but %w", ErrDurability, baseName(path), err)
	}
	return true, nil
}

// write makes a whole file and syncs it, or none.
func (w *Writer) write(path string, mode fs.FileMode, sync mutation, fill func(storage.File) error) error {
	f, err := w.fs.Create(path)
	if errors.Is(err, fs.ErrExist) { // one that could not be removed
		if err = w.fs.Remove(path); err == nil {
			f, err = w.fs.Create(path)
		}
	}
	if err != nil {
		w.fs.Remove(path) // in case it was made after all; else there is nothing to remove
		return err
	}
	if err = keepMode(f, mode); err == nil {
		err = fill(f)
	}
	if err == nil && !mutated(sync) {
		if err = f.Sync(); mutated(goOnAfterSync) {
			err = nil
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		if e := w.fs.Remove(path); e != nil {
			return fmt.Errorf("%w (and %s stays: %v)", err, baseName(path), bare(e))
		}
		return err
	}
	return nil
}

// keepMode gives a file the permissions of the one that it replaces; 0 those of a new file.
func keepMode(f storage.File, mode fs.FileMode) error {
	if mode == 0 {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode().Perm() == mode {
		return err
	}
	return f.Chmod(mode)
}
