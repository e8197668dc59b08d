package soundpack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// CreateOptions say how to write a pack. The zero value, or a nil pointer, is right for most.
type CreateOptions struct {
	// Index is the path of the index; "" means beside the data.
	Index string
	// Layout is "split", which "" means too.
	Layout string
	// Force replaces a pack that is there.
	Force bool
	// Plain writes no manifest: no checksums, no facts, and only names that the layout can hold.
	Plain bool
	// SHA256 puts the SHA-256 of each entry into the manifest, beside its CRC-32C. It costs sixteen
	// times as much.
	SHA256 bool
	// Facts, if not nil, looks into each body and tells the manifest what sound it is; the zero Facts
	// where it is none. An error ends Create.
	Facts func(r io.ReaderAt, size int64) (Facts, error)
	// Notice is told of what is done but may not be wanted: empty files, and the pack itself among
	// its sources, which is left out.
	Notice func(path, text string)
	// Progress is called after each block with the bytes done and to be done.
	Progress func(done, total int64)

	storage storage.FS // the double of tests
}

// Create writes a new pack of the sources, in their order, and behind them the manifest: an entry
// .sndpak with checksums, facts, and the full names of entries whose name the layout cannot hold, which
// are in the index under short aliases. A pack without entries has none. Bodies that are the same to
// the byte are written once.
//
// Every name is checked before anything is written, and all that are refused are in one error
// (fs.ErrInvalid): names that no file could have on Linux, macOS and Windows alike, names that differ
// by the case of A-Z alone, and with Plain those that the layout cannot hold. A pack that is
// there is left alone (fs.ErrExist) unless Force is given, and sources that pass the layout's 4 GiB
// are refused (ErrLimit).
//
// The pack is written beside its place and moved there once it is synced, the index last. After an
// error there is no pack, or the old one untouched, and no temporary file; only ErrDurability comes
// with the new pack in place. A crash between the two moves with Force leaves new data under the old
// index; where there was no pack it leaves data without an index, which is no pack.
// Memory does not depend on the pack's size.
func Create(ctx context.Context, path string, sources []Source, opt *CreateOptions) error {
	c := &creation{data: path, sources: sources}
	if opt != nil {
		c.CreateOptions = *opt
	}
	if c.storage == nil {
		c.storage = storage.OS{}
	}
	err := c.plan()
	if err == nil {
		err = c.write(ctx)
	}
	if err != nil {
		return opened("create", path, err)
	}
	return nil
}

type creation struct {
	CreateOptions
	data    string
	layout  layout
	sources []Source
	recs    []record
	notes   []note
	total   int64 // bytes of all sources
}

// plan checks everything that can be checked before writing.
func (c *creation) plan() (err error) {
	if c.layout, err = pick(c.Layout); err != nil {
		return err
	}
	if beside, err := c.layout.index(c.data); c.Index == "" {
		if err != nil {
			return err
		}
		c.Index = beside
	}
	if filepath.Clean(c.Index) == filepath.Clean(c.data) {
		return fmt.Errorf("data and index have the same path: %w", fs.ErrInvalid)
	}
	if err := checkLockPath(c.data, c.Index); err != nil {
		return err
	}
	if err := c.checkPlace(); err != nil {
		return err
	}
	c.recs, c.notes = make([]record, len(c.sources)), make([]note, len(c.sources))
	if err := c.checkNames(); err != nil {
		return err
	}
	return c.checkSizes()
}

// checkSizes refuses what cannot fit. Sources of one size may turn out to be the same, so that each
// size counts once here; copyAll counts what is written.
func (c *creation) checkSizes() error {
	var least []record
	seen := make(map[int64]bool, len(c.sources))
	for i, s := range c.sources {
		if s.Size < 0 {
			return fmt.Errorf("%s: size %d: %w", s.Path, s.Size, fs.ErrInvalid)
		}
		c.recs[i].size = s.Size
		if s.Size == 0 {
			c.notice(s.Path, "packed as an empty entry")
		}
		if !seen[s.Size] {
			seen[s.Size] = true
			least = append(least, c.recs[i])
		}
	}
	if err := c.layout.plan(0, least); err != nil {
		return err
	}
	for _, s := range c.sources {
		c.total += s.Size // each fits 32 bits
	}
	if n := len(c.layout.encode(c.recs)); n > maxIndex {
		return fmt.Errorf("%w: an index of %d bytes, and %d is the most", ErrLimit, n, int64(maxIndex))
	}
	return nil
}

func (c *creation) notice(path, text string) {
	if c.Notice != nil {
		c.Notice(path, text)
	}
}

// checkPlace looks at what is where the pack shall be, and leaves that out of the sources.
func (c *creation) checkPlace() error {
	for _, p := range []string{c.data, c.Index} {
		there, err := os.Stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case !there.Mode().IsRegular():
			return fmt.Errorf("%s is in the way and no regular file: %w", p, fs.ErrExist)
		case !c.Force:
			return fmt.Errorf("%s is there already: %w", p, fs.ErrExist)
		}
		c.leaveOut(there)
	}
	if lock, err := os.Stat(lockPath(c.data)); err == nil {
		c.leaveOut(lock)
	}
	return nil
}

// leaveOut takes one of the pack's own files from the sources.
func (c *creation) leaveOut(own fs.FileInfo) {
	c.sources = slices.DeleteFunc(slices.Clone(c.sources), func(s Source) bool {
		same := s.info != nil && os.SameFile(s.info, own)
		if same {
			c.notice(s.Path, "left out: it is the pack itself")
		}
		return same
	})
}

// checkNames gives each record its name, and refuses names that cannot be used and those that could not
// be told apart, all in one message, since whoever renames the files wants to do so once.
func (c *creation) checkNames() error {
	n := newNaming(c.layout, c.Plain, len(c.sources))
	for _, s := range c.sources {
		n.take(s)
	}
	if err := n.done(); err != nil {
		return err
	}
	for i, s := range c.sources {
		c.recs[i].raw, c.notes[i].name = n.record(s.Name)
	}
	return nil
}

// write makes the temporary pair and publishes it.
func (c *creation) write(ctx context.Context) error {
	mark := fmt.Sprintf(".%08x.tmp", rand.Uint32())
	data, index := c.data+mark, c.Index+mark
	err := c.file(data, func(f storage.File) error { return c.copyAll(ctx, f) })
	if err != nil {
		return err
	}
	err = c.file(index, func(f storage.File) error {
		_, err := f.Write(c.layout.encode(c.recs))
		return err
	})
	if err != nil {
		return errors.Join(err, c.storage.Remove(data))
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(err, c.storage.Remove(data), c.storage.Remove(index))
	}
	return c.publish(data, index, c.data+".old"+mark)
}

// file writes a new file and syncs it. A file that cannot be finished is removed.
func (c *creation) file(path string, fill func(storage.File) error) error {
	f, err := c.storage.Create(path)
	if err != nil {
		return err
	}
	if err = fill(f); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return errors.Join(err, c.storage.Remove(path))
	}
	return nil
}

// publish moves the pair into place, the index last. Until that has happened the old data can be had
// back under the name keep.
func (c *creation) publish(data, index, keep string) (err error) {
	kept, away, moved := false, false, false
	defer func() {
		if err == nil || errors.Is(err, ErrDurability) {
			return
		}
		switch {
		case moved && kept:
			err = errors.Join(err, c.storage.Rename(keep, c.data), c.storage.Remove(index))
		case moved:
			err = errors.Join(err, c.storage.Remove(c.data), c.storage.Remove(index))
		default:
			err = errors.Join(err, c.storage.Remove(data), c.storage.Remove(index))
			if away {
				err = errors.Join(err, c.storage.Rename(keep, c.data))
			} else if kept {
				err = errors.Join(err, c.storage.Remove(keep))
			}
		}
	}()
	if _, e := os.Lstat(c.data); e == nil {
		if err := c.storage.Link(c.data, keep); err != nil { // a file system without links
			if err := c.storage.Rename(c.data, keep); err != nil {
				return err
			}
			away = true
		}
		kept = true
	}
	if err := c.storage.Rename(data, c.data); err != nil {
		return err
	}
	moved = true
	// The data's name must be durable before an index that needs it.
	if err := c.storage.SyncDir(filepath.Dir(c.data)); err != nil {
		return err
	}
	if err := c.storage.Rename(index, c.Index); err != nil {
		return err
	}
	if kept {
		err = c.storage.Remove(keep)
	}
	if e := c.storage.SyncDir(filepath.Dir(c.Index)); e != nil {
		err = errors.Join(err, e)
	}
	if err != nil {
		return fmt.Errorf("%w: the pack is in place, but %w", ErrDurability, err)
	}
	return nil
}

// copyAll writes the bodies one after another, and the manifest.
func (c *creation) copyAll(ctx context.Context, f storage.File) error {
	var done, end, high int64 // bytes read; where the next body goes; the length of the file
	block := make([]byte, 256<<10)
	same := newBodies(c.sources)
	for i, s := range c.sources {
		r := &c.recs[i]
		r.off = end
		full := c.layout.plan(end, c.recs[i:i+1])
		if full != nil && !same.twins(r.size) {
			return full
		}
		d := c.digest(same.twins(r.size))
		to := body{f, end, d}
		if err := c.copyOne(ctx, &to, s, block, &done); err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
		high = max(high, to.off)
		d.note(&c.notes[i])
		twin, err := same.find(f, *r, d.crc, i)
		if err != nil {
			return err
		}
		if twin >= 0 {
			r.off = c.recs[twin].off
			c.notes[i].facts = c.notes[twin].facts
			continue // what comes next is written over it
		}
		if full != nil {
			return full
		}
		end = r.off + r.size
		if err := c.look(f, i); err != nil {
			return err
		}
	}
	end, err := c.writeManifest(f, end)
	if err == nil && end < high {
		err = f.Truncate(end)
	}
	return err
}

// digest is what a body is summed up by on its way: nothing, if nobody wants to know.
func (c *creation) digest(twins bool) *digest {
	d := &digest{sum: twins || !c.Plain, told: !c.Plain}
	if c.SHA256 && !c.Plain {
		d.sha = sha256.New()
	}
	return d
}

// look asks for the facts of a body that was written.
func (c *creation) look(f storage.File, i int) (err error) {
	if c.Facts == nil || c.Plain {
		return nil
	}
	r := c.recs[i]
	if c.notes[i].facts, err = c.Facts(io.NewSectionReader(f, r.off, r.size), r.size); err != nil {
		return fmt.Errorf("%s: %w", c.sources[i].Path, err)
	}
	return nil
}

// writeManifest writes the last entry, and returns where the data ends.
func (c *creation) writeManifest(f storage.File, end int64) (int64, error) {
	if c.Plain || len(c.recs) == 0 {
		return end, nil
	}
	text := encodeManifest(end, c.recs, c.notes, nil)
	own := []record{{raw: manifestName, size: int64(len(text))}}
	if err := c.layout.plan(end, own); err != nil {
		return end, err
	}
	if int64(len(text)) > maxManifest {
		return end, fmt.Errorf("%w: a manifest of %d bytes, and %d is the most: do without it", ErrLimit, len(text), int64(maxManifest))
	}
	c.recs = append(c.recs, own...)
	_, err := f.WriteAt(text, end)
	return end + int64(len(text)), err
}

func (c *creation) copyOne(ctx context.Context, w io.Writer, s Source, block []byte, done *int64) error {
	r, err := s.Open()
	if err != nil {
		return bare(err)
	}
	defer r.Close()
	for left, idle := s.Size, 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(block)
		if int64(n) > left {
			return fmt.Errorf("it grew beyond its %d bytes while it was packed", s.Size)
		}
		if idle++; n > 0 {
			idle = 0
			if _, err := w.Write(block[:n]); err != nil {
				return err
			}
			left -= int64(n)
			*done += int64(n)
			if c.Progress != nil {
				c.Progress(*done, c.total)
			}
		}
		switch {
		case err == io.EOF && left > 0:
			return fmt.Errorf("it shrank from %d bytes to %d while it was packed", s.Size, s.Size-left)
		case err == io.EOF:
			return nil
		case err != nil:
			return bare(err)
		case idle == 100:
			return io.ErrNoProgress
		}
	}
}

// bare is err without the path that is told anyway.
func bare(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
