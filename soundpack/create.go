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
	// Layout is "split", which "" means too, "crc", "cfg" or "pck".
	Layout string
	// Force replaces a pack that is there.
	Force bool
	// Plain writes no manifest: no checksums, no facts, and only names that the layout can hold.
	Plain bool
	// SHA256 puts the SHA-256 of each entry into the manifest, beside its CRC-32C. It costs sixteen
	// times as much.
	SHA256 bool
	// Salvage keeps what the layout can hold of sources that come out of other packs and archives: a
	// name stays although no new one may be so, and a source that cannot be held is left out instead of
	// refused. Each is told to Notice.
	Salvage bool
	// IDs takes a name of eight lower-case hex digits for the id itself, in the crc layout, and not for
	// a path: so what a listing shows of a pack without names goes back in as it was.
	IDs bool
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
	extra   []member // of the manifest that the sources come from
	total   int64    // bytes of all sources
}

// plan checks everything that can be checked before writing.
func (c *creation) plan() (err error) {
	if c.layout, err = pick(c.Layout); err != nil {
		return err
	}
	if err := c.placeIndex(); err != nil {
		return err
	}
	if err := checkLockPath(c.data, c.Index); err != nil {
		return err
	}
	if err := c.checkPlace(); err != nil {
		return err
	}
	if err := c.checkNames(); err != nil {
		return err
	}
	return c.checkSizes()
}

// placeIndex tells where the index goes: into the data where the layout has its table there.
func (c *creation) placeIndex() error {
	f, err := forced(c.data, c.Index, c.layout.name())
	switch {
	case err != nil:
		return err
	case c.layout.traits().head:
		c.Index = c.data
		return nil
	}
	if c.Index = f.index; filepath.Clean(c.Index) == filepath.Clean(c.data) {
		return fmt.Errorf("data and index have the same path: %w", fs.ErrInvalid)
	}
	return nil
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
	if err := c.layout.plan(c.head(), least); err != nil {
		return err
	}
	n := len(c.recs)
	if c.managed() {
		n++
	}
	if err := checkCount(c.layout, n); err != nil {
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
	if t := c.layout.traits(); t.keyed && !t.hashed {
		c.sources = numbered(c.sources)
	}
	n := newNaming(c)
	kept := make([]Source, 0, len(c.sources))
	for _, s := range c.sources {
		if n.take(len(kept), s) {
			kept = append(kept, s)
		}
	}
	if err := n.done(); err != nil {
		return err
	}
	c.sources = slices.DeleteFunc(kept, n.clash)
	c.recs, c.notes = make([]record, len(c.sources)), make([]note, len(c.sources))
	for i, s := range c.sources {
		c.notes[i] = s.told()
		c.recs[i].raw, c.notes[i].name = n.record(i, s)
		if s.from != nil && c.extra == nil {
			c.extra = s.from.manifest().extra
		}
	}
	return nil
}

// managed tells whether there will be a manifest.
func (c *creation) managed() bool { return !c.Plain && len(c.recs) > 0 }

// head is the length of the table that stands in the data before the bodies.
func (c *creation) head() int64 {
	h, ok := c.layout.(heading)
	if !ok {
		return 0
	}
	all := c.recs
	if c.managed() {
		all = append(all[:len(all):len(all)], record{raw: manifestName})
	}
	return h.head(all)
}

// write makes the temporary pair and publishes it.
func (c *creation) write(ctx context.Context) error {
	mark := fmt.Sprintf(".%08x.tmp", rand.Uint32())
	data, index := c.data+mark, c.Index+mark
	err := c.file(data, func(f storage.File) error { return c.copyAll(ctx, f) })
	if err != nil {
		return err
	}
	if c.layout.traits().head {
		return c.publishOne(ctx, data)
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

// publishOne moves a pack of one file into place, in one step whatever is there.
func (c *creation) publishOne(ctx context.Context, temp string) error {
	err := ctx.Err()
	if err == nil {
		err = c.storage.Rename(temp, c.data)
	}
	if err != nil {
		return errors.Join(err, c.storage.Remove(temp))
	}
	if err := c.storage.SyncDir(filepath.Dir(c.data)); err != nil {
		return fmt.Errorf("%w: the pack is in place, but %w", ErrDurability, err)
	}
	return nil
}

// copyAll writes the bodies one after another, and the manifest, and the table if it goes before them.
func (c *creation) copyAll(ctx context.Context, f storage.File) error {
	var done, end, high int64 // bytes read; where the next body goes; the length of the file
	block := make([]byte, 256<<10)
	end = c.head()
	same := newBodies(c.sources)
	for i, s := range c.sources {
		r := &c.recs[i]
		r.off = end
		full := c.layout.plan(end, c.recs[i:i+1])
		if full != nil && !same.twins(r.size) {
			return full
		}
		d := c.digest(i, same.twins(r.size))
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
			if !c.notes[i].facts.known() {
				c.notes[i].facts = c.notes[twin].facts
			}
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
	if err == nil && c.layout.traits().head {
		_, err = f.WriteAt(c.layout.encode(c.recs), 0)
	}
	return err
}

// digest is what the i-th body is summed up by on its way: nothing, if nobody wants to know.
func (c *creation) digest(i int, twins bool) *digest {
	d := &digest{sum: twins || !c.Plain, told: !c.Plain}
	if (c.SHA256 || c.notes[i].sha256 != "") && !c.Plain {
		d.sha = sha256.New()
	}
	return d
}

// look asks for the facts of a body that was written.
func (c *creation) look(f storage.File, i int) (err error) {
	if c.Facts == nil || c.Plain || c.notes[i].facts.known() {
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
	if !c.managed() {
		return end, nil
	}
	text := encodeManifest(end, c.recs, c.notes, c.extra)
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
