package soundpack

// Compacting in four commits.
//
// Data and index are two files, and no two renames happen at once: replacing one and then the other
// leaves, in between, a pack whose index names other data. So compacting goes by stepping stones. Let
// P be the bytes at the head of the data that stay where they are, C all others that are named, packed
// one after another, and B the end of the data:
//
//  1. append C at B, sync;         index I1 names C there
//  2. new data D2: P, C, hole, and C at B once more
//  3. index I2 names the first C
//  4. new data D3: P, C
//
// What lies on disk is, in this order: (D0,I0) (D0+C,I0) (D0+C,I1) (D2,I1) (D2,I2) (D3,I2). Each pair
// is a whole pack with the same contents, for a program too that knows nothing of all this. There is
// no journal and nothing to recover.

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"sort"
	"syscall"
	"time"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

const (
	// stepPause is the time between two commits of compacting. A reader that opens data and index
	// without a look back gets a pair that fits if at most one commit falls between the two.
	stepPause = 25 * time.Millisecond
	// compactBlock is what is read and written at once: memory does not grow with the pack.
	compactBlock = 1 << 20
	// spareSpace is room for both indexes and what the file system needs for itself.
	spareSpace = 1 << 20
)

// An extent is a part of the data that entries name, and goes in one piece: entries may share their
// bytes, or overlap.
type extent struct {
	off, end int64
	to       int64 // where it comes to lie
}

type compaction struct {
	w       *Writer
	extents []extent // ascending
	stay    int64    // P: the bytes at the head that do not move
	length  int64    // of C
	at      int64    // B, where the second C goes

	packed, behind         []record // of I2 and of I1
	packedBody, behindBody []byte   // the amender's

	staySum, sum uint32 // CRC-32C of P and C, as first read
	done, total  int64  // bytes written
	block        []byte
}

// Compact commits what is staged and then gives back the bytes that no entry names. Contents and order
// of the index stay. It goes in up to four commits, each of which leaves a whole pack with the same
// contents, so that it may be stopped at any time, by ctx too; stopped between two of them it leaves
// the data larger than it was, and can be done again.
//
// It needs free space of three times what is kept and 1 MiB, and below the layout's 4 GiB room for a
// second copy of what moves: without that it does nothing (ErrLimit, or the system's error for a full
// disk). Readers that have the pack open read on from the old files, which take their space until then.
func (w *Writer) Compact(ctx context.Context) error {
	if err := w.commit(ctx); err != nil {
		return opened("commit to", w.path, err)
	}
	err := w.compact(ctx)
	if err != nil {
		w.let()
		return opened("compact", w.path, err)
	}
	return nil
}

func (w *Writer) compact(ctx context.Context) error {
	c := &compaction{w: w}
	if err := w.unchanged(); err != nil {
		return err
	}
	if w.traits.head {
		return w.compactHead(ctx)
	}
	if err := c.measure(); err != nil {
		return err
	}
	if c.stay == w.end {
		return nil // nothing to give back
	}
	if err := c.room(); err != nil {
		return err
	}
	c.block = make([]byte, min(compactBlock, max(c.total, 1)))
	if mutated(twoRenames) || mutated(twoRenamesBack) {
		return c.twoRenames(ctx)
	}
	for i, step := range c.steps() {
		if i > 0 {
			if err := w.opt.pause(ctx, stepPause); err != nil {
				return err
			}
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// settled tells whether no byte moves: there is only rubbish behind the last entry.
func (c *compaction) settled() bool { return c.length == 0 && len(c.behindBody) == 0 }

func (c *compaction) steps() []func(context.Context) error {
	switch {
	case !c.settled():
		return []func(context.Context) error{c.copyBehind, c.double, c.pointBack, c.shrink}
	case c.packed != nil: // an empty entry is to lie elsewhere
		return []func(context.Context) error{c.pointBack, c.shrink}
	}
	return []func(context.Context) error{c.shrink}
}

// measure finds what is named and where it shall lie.
func (c *compaction) measure() error {
	w := c.w
	var recs []record
	var from []int
	for i, r := range w.recs {
		if r.size > 0 && r.off+r.size > w.end {
			return fmt.Errorf("%w: %q reaches past the end of the data (%d bytes): remove it", ErrFormat, show(r.raw), w.end)
		}
		if !w.amends(r) {
			recs, from = append(recs, r), append(from, i)
		}
	}
	c.place(w.recs)
	beyond := func(r record) bool { return r.size == 0 && r.off > c.stay }
	if c.length == 0 && !slices.ContainsFunc(w.recs, beyond) { // the amender's entry stays where it is, too
		c.total = c.stay
		return nil
	}
	c.place(recs)
	return c.plan(recs, from)
}

// place merges the bodies of the records into extents and packs them.
func (c *compaction) place(recs []record) {
	c.extents = c.extents[:0]
	for _, r := range recs {
		if r.size > 0 {
			c.extents = append(c.extents, extent{off: r.off, end: r.off + r.size})
		}
	}
	slices.SortFunc(c.extents, func(a, b extent) int { return cmp.Compare(a.off, b.off) })
	n := 0
	for _, e := range c.extents {
		if n > 0 && e.off <= c.extents[n-1].end {
			c.extents[n-1].end = max(c.extents[n-1].end, e.end)
			continue
		}
		c.extents[n] = e
		n++
	}
	c.extents = c.extents[:n]
	c.stay = 0
	if n > 0 && c.extents[0].off == 0 {
		c.stay = c.extents[0].end
	}
	var end int64
	for i := range c.extents {
		e := &c.extents[i]
		e.to, end = end, end+e.end-e.off
	}
	c.length = end - c.stay
}

// plan makes both indexes. The packed one is made first, since the amender's body in it may be longer
// than it was, and the second copy lies behind it.
func (c *compaction) plan(recs []record, from []int) (err error) {
	w := c.w
	if c.packed, c.packedBody, err = w.amended(c.shifted(recs, 0), from, c.keep()); err != nil {
		return err
	}
	c.at = max(w.end, c.keep()+int64(len(c.packedBody)))
	if err := w.layout.plan(c.at, []record{{size: c.length}}); err != nil {
		return c.noRoom()
	}
	if c.behind, c.behindBody, err = w.amended(c.shifted(recs, c.at-c.stay), from, c.at+c.length); err != nil {
		return c.noRoom()
	}
	if c.total = c.keep(); !c.settled() { // step 4
		c.total += c.length + c.stay + 2*c.length // steps 1 and 2
	}
	return nil
}

func (c *compaction) noRoom() error {
	return fmt.Errorf("%w: %d bytes move, and behind the %d that there are is no room for them below the layout's limit: pack it anew elsewhere",
		ErrLimit, c.length, c.w.end)
}

// keep is the length of P and C.
func (c *compaction) keep() int64 { return c.stay + c.length }

// shifted is recs as they are packed, what moves by so many bytes further on.
func (c *compaction) shifted(recs []record, by int64) []record {
	recs = slices.Clone(recs)
	for i := range recs {
		r := &recs[i]
		if r.size == 0 {
			r.off = 0 // it names no byte, and shall not lie past the end
			continue
		}
		n := sort.Search(len(c.extents), func(n int) bool { return c.extents[n].end > r.off })
		e := c.extents[n]
		if r.off += e.to - e.off; e.to >= c.stay {
			r.off += by
		}
	}
	return recs
}

// room refuses to begin what the disk could not hold: the old file stays until the new one is there,
// and a disk that compacting has filled would not even let an entry be removed.
func (c *compaction) room() error {
	w := c.w
	s, err := w.fs.Space(filepath.Dir(w.path))
	if err != nil {
		return nil // not known: try
	}
	need := c.keep() + int64(len(c.packedBody))
	if !c.settled() {
		if need *= 3; !s.Sparse {
			need += w.end
		}
	}
	if need += spareSpace; s.Free < need {
		return fmt.Errorf("compacting needs %d bytes of free space, and there are %d: %w", need, s.Free, syscall.ENOSPC)
	}
	return nil
}

// copyBehind is step 1.
func (c *compaction) copyBehind(ctx context.Context) error {
	w := c.w
	named, err := c.appendCopy(ctx)
	if err != nil {
		if !named {
			err = w.cutBack(err)
		}
		return err
	}
	w.recs, w.end = c.behind, c.at+c.length+int64(len(c.behindBody))
	return nil
}

func (c *compaction) appendCopy(ctx context.Context) (named bool, err error) {
	w := c.w
	raw, err := w.encode(c.behind)
	if err != nil {
		return false, err
	}
	for _, e := range c.extents {
		if e.to < c.stay {
			continue
		}
		if err := c.copy(ctx, w.data, w.data, span{e.off, e.end - e.off}, &c.sum, c.at+e.to-c.stay); err != nil {
			return false, err
		}
	}
	if err := put(w.data, c.behindBody, c.at+c.length); err != nil {
		return false, err
	}
	if !mutated(noCopySync) {
		if err := w.data.Sync(); err != nil {
			return false, err
		}
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return w.publishIndex(raw, noStepSync)
}

// double is step 2.
func (c *compaction) double(ctx context.Context) error {
	if mutated(skipStone) {
		return nil
	}
	return c.newData(c.at+c.length+int64(len(c.behindBody)), func(f storage.File) error {
		if err := c.copy(ctx, c.w.data, f, span{0, c.stay}, &c.staySum, 0); err != nil {
			return err
		}
		var sum uint32
		if err := c.copy(ctx, c.w.data, f, span{c.at, c.length}, &sum, c.stay, c.at); err != nil {
			return err
		}
		if sum != c.sum {
			return fmt.Errorf("%w: the copy at %d reads otherwise than it was written", ErrChecksum, c.at)
		}
		if err := put(f, c.packedBody, c.keep()); err != nil {
			return err
		}
		return put(f, c.behindBody, c.at+c.length)
	})
}

// pointBack is step 3.
func (c *compaction) pointBack(context.Context) error {
	raw, err := c.w.encode(c.packed)
	if err != nil {
		return err
	}
	if _, err := c.w.publishIndex(raw, noStepSync); err != nil {
		return err
	}
	c.w.recs = c.packed
	return nil
}

// shrink is step 4.
func (c *compaction) shrink(ctx context.Context) error {
	size := c.keep() + int64(len(c.packedBody))
	if mutated(cutInPlace) {
		c.w.end = size
		return c.w.data.Truncate(size)
	}
	return c.newData(size, func(f storage.File) error {
		var staySum, sum uint32
		if err := c.copy(ctx, c.w.data, f, span{0, c.stay}, &staySum, 0); err != nil {
			return err
		}
		if err := c.copy(ctx, c.w.data, f, span{c.stay, c.length}, &sum, c.stay); err != nil {
			return err
		}
		if !c.settled() && (sum != c.sum || staySum != c.staySum) {
			return fmt.Errorf("%w: the new data reads otherwise than it was written", ErrChecksum)
		}
		return put(f, c.packedBody, c.keep())
	})
}

// newData replaces the data by a file of that size and goes on with it.
func (c *compaction) newData(size int64, fill func(storage.File) error) error {
	w := c.w
	dirSync := noStepSync
	if size == c.keep()+int64(len(c.packedBody)) {
		dirSync = noDirSync // the last one
	}
	if _, err := w.publish(w.path, w.dataMode, noFileSync, dirSync, fill); err != nil {
		return err
	}
	w.let()
	data, err := w.fs.Open(w.path)
	if err != nil {
		return err
	}
	w.data, w.end = data, size
	return nil
}

type span struct{ off, length int64 }

// copy reads a span of a file block by block, adds it to sum and writes it to each of the places.
func (c *compaction) copy(ctx context.Context, from io.ReaderAt, to storage.File, s span, sum *uint32, places ...int64) error {
	for done := int64(0); done < s.length; {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := c.block[:min(int64(len(c.block)), s.length-done)]
		if n, err := from.ReadAt(b, s.off+done); n < len(b) {
			if err == nil || err == io.EOF {
				err = ErrChanged
			}
			return fmt.Errorf("at %#x: %w", s.off+done+int64(n), err)
		}
		*sum = crc32.Update(*sum, castagnoli, b)
		for _, at := range places {
			if err := put(to, b, at+done); err != nil {
				return err
			}
			c.progress(len(b))
		}
		done += int64(len(b))
	}
	return nil
}

func (c *compaction) progress(n int) {
	if c.done += int64(n); c.w.opt.Progress != nil {
		c.w.opt.Progress(c.done, c.total)
	}
}

// put writes b, if there is any of it: at off, whatever lies before it.
func put(f storage.File, b []byte, off int64) error {
	if len(b) == 0 {
		return nil
	}
	_, err := f.WriteAt(b, off)
	return err
}
