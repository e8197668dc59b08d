package soundpack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// CreateOptions say how to write a pack. The zero value, or a nil pointer, is right for most.
type CreateOptions struct {
	// Index is the path of the index; "" means beside the data.
	Index string
	// Layout is "split", which "" means too, "crc", "cfg" or "pck".
	Layout string
	// Force replaces a pack that is there. Its bytes stay until the new ones are in use, so that it
	// takes free space of about four times the new pack, and four times as long.
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
	// JSON is "minify" to take the white space out of JSON files, or, in the cfg layout, "table" to take
	// the keys out of arrays of objects that share theirs, too (package jsontable). The manifest remembers,
	// and readers see the minified JSON. Sources are opened twice then. "" leaves them as they are.
	JSON string
	// IDs takes a name of eight lower-case hex digits for the id itself, in the crc layout, and not for
	// a path: so what a listing shows of a pack without names goes back in as it was.
	IDs bool
	// Facts, if not nil, looks into each body and tells the manifest what sound it is; the zero Facts
	// where it is none. An error ends Create.
	Facts func(r io.ReaderAt, size int64) (Facts, error)
	// Damaged is told of each entry of another pack whose bytes are not those that it was packed with
	// (ErrChecksum). It goes into the new pack as it is, with its old checksums, so that Verify still finds
	// it. Without Damaged, Notice is told.
	Damaged func(path string, err error)
	// Notice is told of what is done but may not be wanted: empty files, the pack itself among its
	// sources, which is left out, and a place on a network file system, where locks may not hold.
	Notice func(path, text string)
	// Progress is called after each block with the bytes done and to be done.
	Progress func(done, total int64)

	storage storage.FS // the double of tests
	pause   func(context.Context, time.Duration) error
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
// The pack is written beside its place and moved there once it is synced, the index last; a crash in
// between leaves data without an index, which is no pack. One that is there is replaced by the protocol
// of [Writer]: a crash at any moment leaves the old pack or the new one. Only old files that are no
// whole pack, or one of another layout, are moved away first. Create holds the pack's lock meanwhile (ErrLocked if a writer
// has it), whose file goes again if it was not there.
//
// After an error there is no pack, or the old one untouched, and no temporary file. Only an
// ErrDurability, and an error that says so, come with the new pack in place: then the old one's bytes
// may still be in its data, and [Writer.Compact] gives them back. Memory does not depend on the pack's
// size.
func Create(ctx context.Context, path string, sources []Source, opt *CreateOptions) error {
	c := &creation{data: path, sources: sources}
	if opt != nil {
		c.CreateOptions = *opt
	}
	if c.storage == nil {
		c.storage = storage.OS{}
	}
	if c.pause == nil {
		c.pause = pause
	}
	err := c.plan()
	if err == nil {
		tellNetwork(c.storage, c.data, c.Notice)
		err = c.locked(ctx)
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
	extra   []member       // of the manifest that the sources come from
	total   int64          // bytes of all sources
	least   int64          // of those that cannot be another's twins, each size being counted once
	there   [2]fs.FileInfo // the data and the index that are there, or nil
	others  []string       // the indexes of other layouts that the data there has
}

// plan checks everything that can be checked before writing.
func (c *creation) plan() (err error) {
	if c.layout, err = pick(c.Layout); err != nil {
		return err
	}
	if err := c.placeIndex(); err != nil {
		return err
	}
	if err := c.checkPlace(); err != nil {
		return err
	}
	c.leaveOut(lockPath(c.data))
	if err := c.checkNames(); err != nil {
		return err
	}
	if err := c.smaller(); err != nil {
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
			c.least += s.Size
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

// checkPlace looks at what is where the pack shall be, and leaves that out of the sources. A symbolic
// link is followed, or a rename would part it from its target.
func (c *creation) checkPlace() (err error) {
	for _, p := range []*string{&c.data, &c.Index} {
		if *p, err = c.storage.Resolve(*p); err != nil {
			return err
		}
	}
	if err := checkLockPath(c.data, c.Index); err != nil {
		return err
	}
	if err := c.look(); err != nil {
		return err
	}
	if err := c.checkSource(); err != nil {
		return err
	}
	some := len(c.sources) > 0
	c.leaveOut(c.data)
	c.leaveOut(c.Index)
	if some && len(c.sources) == 0 {
		return errors.New("there is nothing to pack but the pack itself")
	}
	return nil
}

// checkSource refuses to write over a part of the pack that the sources come from: it would be no pack
// any more. The whole of it may be replaced.
func (c *creation) checkSource() error {
	i := slices.IndexFunc(c.sources, func(s Source) bool { return s.from != nil })
	if i < 0 {
		return nil
	}
	from := c.sources[i].from
	data, index := c.there[0], c.there[1]
	was := [2]fs.FileInfo{}
	was[0], _ = os.Stat(from.Path()) // a file that is gone cannot be written over
	was[1], _ = os.Stat(from.IndexPath())
	whole := same(was[0], data) && (same(was[1], index) || was[1] == nil && index == nil)
	if whole && c.layout.name() == from.layout.name() {
		return nil
	}
	for i, p := range []string{from.Path(), from.IndexPath()} {
		if same(was[i], data) || same(was[i], index) {
			return fmt.Errorf("%s is read from: it would be overwritten", p)
		}
	}
	return nil
}

// same tells whether both are there and are one file.
func same(a, b fs.FileInfo) bool { return a != nil && b != nil && os.SameFile(a, b) }

// look finds what is where the pack shall be.
func (c *creation) look() error {
	c.there, c.others = [2]fs.FileInfo{}, nil
	for i, p := range []string{c.data, c.Index} {
		if i == 1 && c.layout.traits().head {
			break
		}
		there, err := c.storage.Stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			there = nil
		case err != nil:
			return err
		case !there.Mode().IsRegular():
			return fmt.Errorf("%s is in the way and no regular file: %w", p, fs.ErrExist)
		case !c.Force:
			return &fs.PathError{Op: "create", Path: p, Err: fs.ErrExist}
		}
		c.there[i] = there
	}
	if c.there[0] == nil {
		return nil
	}
	return c.findOthers()
}

// findOthers finds the indexes of other layouts beside data that is about to go.
func (c *creation) findOthers() error {
	o := &strictOpener{fs: c.storage}
	all, _ := besides(o.open, c.data, "")
	for _, f := range all {
		if f.index != c.Index && holds(o.open, f, c.there[0].Size()) {
			c.others = append(c.others, f.index)
		}
	}
	return o.err
}

// leaveOut takes one of the pack's own files from the sources.
func (c *creation) leaveOut(path string) {
	own, err := c.storage.Stat(path)
	if err != nil {
		return
	}
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

// copyAll writes the bodies one after another, and the manifest, and the table if it goes before them.
func (c *creation) copyAll(ctx context.Context, f storage.File) error {
	var done, end, high int64 // bytes read; where the next body goes; the length of the file
	block, head := make([]byte, 256<<10), make([]byte, 0, factsHead)
	end = c.head()
	reserved := storage.Reserve(f, end+c.least)
	same := newBodies(c.sources)
	for i, s := range c.sources {
		r := &c.recs[i]
		r.off = end
		full := c.layout.plan(end, c.recs[i:i+1])
		if full != nil && !same.twins(r.size) {
			return full
		}
		d := c.digest(i, same.twins(r.size))
		to := body{f, end, d, head[:0]}
		if err := c.copyOne(ctx, &to, s, block, &done); err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
		high = max(high, to.off)
		c.settle(i, d)
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
		if err := c.tell(headed{to.head, io.NewSectionReader(f, r.off, r.size)}, i); err != nil {
			return err
		}
	}
	end, err := c.writeManifest(f, end)
	if err == nil && (end < high || reserved) {
		err = f.Truncate(end)
	}
	if err == nil && c.layout.traits().head {
		_, err = f.WriteAt(c.layout.encode(c.recs), 0)
	}
	return err
}

// digest is what the i-th body is summed up by on its way: nothing, if nobody wants to know.
func (c *creation) digest(i int, twins bool) *digest {
	d := &digest{sum: twins || !c.Plain || c.notes[i].hasCRC, told: !c.Plain}
	if (c.SHA256 || c.notes[i].sha256 != "") && !c.Plain {
		d.sha = sha256.New()
	}
	return d
}

// settle has the manifest tell the sums of the i-th body. One that is damaged keeps those that it was packed
// with: new ones would say that nothing is wrong.
func (c *creation) settle(i int, d *digest) {
	n := &c.notes[i]
	switch {
	case !n.hasCRC || n.crc == d.crc:
		d.note(n)
	case c.Damaged != nil:
		c.Damaged(c.sources[i].Path, c.misfit(i, d))
	default:
		c.notice(c.sources[i].Path, c.misfit(i, d).Error())
	}
}

// misfit is the error of the i-th body, whose checksum is another. That of a JSON table is of the table, and
// not of what was copied.
func (c *creation) misfit(i int, d *digest) error {
	if s := c.sources[i]; s.from != nil && s.from.table(s.at) > 0 {
		if err := s.from.Intact(s.from.Entry(s.at)); err != nil {
			return err
		}
	}
	return mismatch(d.crc, c.notes[i].crc)
}

// factsHead is how much of a body is kept for who looks into it: decoders look for a sound behind up to 64
// KiB of rubbish, and most of what is packed is decided by its first bytes.
const factsHead = 68 << 10

// headed reads what is at hand from there.
type headed struct {
	head []byte
	io.ReaderAt
}

func (h headed) ReadAt(b []byte, off int64) (int, error) {
	if off >= 0 && off+int64(len(b)) <= int64(len(h.head)) {
		return copy(b, h.head[off:]), nil
	}
	return h.ReaderAt.ReadAt(b, off)
}

// tell asks for the facts of the i-th body, which was written.
func (c *creation) tell(r io.ReaderAt, i int) (err error) {
	if c.Facts == nil || c.Plain || c.notes[i].facts.known() {
		return nil
	}
	if c.notes[i].facts, err = c.Facts(r, c.recs[i].size); err != nil {
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
