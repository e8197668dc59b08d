package soundpack

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

// A Change is how one pack differs from another: what [Diff] finds and [Pack.Watch] tells.
type Change struct {
	// Pack is the newer pack. Watch opened it for whom it tells, who closes it.
	Pack *Pack
	// Added, Changed and Removed are entries by name, in the order of the index: Added and Changed as
	// the newer pack has them, Removed as the older one had them.
	Added, Changed, Removed []Entry
	// Renamed are entries whose bytes the older pack had under a name that is gone: old and new. They
	// are not among Added and Removed.
	Renamed [][2]Entry
	// Bytes is what a patch has to move: bodies that the older pack does not have under any name, each
	// once, and index and manifest. It is 0 where nothing differs.
	Bytes int64
	// Err is why the pack cannot be loaded anew, when Watch has found that for a while. The rest is
	// zero then, and the pack that is open goes on.
	Err error
}

// Empty tells whether no entry differs.
func (c *Change) Empty() bool {
	return len(c.Added)+len(c.Changed)+len(c.Removed)+len(c.Renamed) == 0 && c.Err == nil
}

// Diff compares the entries of two packs. Contents are compared by the manifests' checksums, and where
// those are not known by reading. Of entries that share a name the first counts, and one that cannot be
// read is one that has changed. The error is that of ctx, ErrClosed, or [Pack.Err] of a pack on a server.
func Diff(ctx context.Context, old, new *Pack) (*Change, error) {
	for _, p := range []*Pack{old, new} {
		if !p.m.acquire() {
			return nil, opened("compare", p.path, ErrClosed)
		}
		defer p.m.release()
	}
	d := &differ{ctx: ctx, old: old, new: new, Change: &Change{Pack: new}, oneFile: old.m.is(new.m), sums: map[bodyKey]bool{}}
	d.compare()
	d.match()
	d.weigh()
	if err := ctx.Err(); err != nil {
		return nil, opened("compare", new.path, err)
	}
	if err := cmp.Or(old.lost(), new.lost()); err != nil {
		return nil, err
	}
	return d.Change, nil
}

type differ struct {
	*Change
	ctx      context.Context
	old, new *Pack
	oneFile  bool             // both have the same data file
	sums     map[bodyKey]bool // bodies that a patch need not move
	block    [2][]byte
}

// over tells whether there is no use in going on.
func (d *differ) over() bool {
	return d.ctx.Err() != nil || d.old.lost() != nil || d.new.lost() != nil
}

// compare goes through the names.
func (d *differ) compare() {
	for e := range firsts(d.new) {
		if d.over() {
			return
		}
		switch was, ok := d.old.Lookup(e.Name); {
		case !ok || was.Index >= d.old.Len():
			d.Added = append(d.Added, e)
		case !d.same(was, e):
			d.Changed = append(d.Changed, e)
		}
	}
	for e := range firsts(d.old) {
		if d.over() {
			return
		}
		if is, ok := d.new.Lookup(e.Name); !ok || is.Index >= d.new.Len() {
			d.Removed = append(d.Removed, e)
		}
	}
}

// firsts are the entries that are found by their name.
func firsts(p *Pack) func(yield func(Entry) bool) {
	return func(yield func(Entry) bool) {
		for i := range p.Len() {
			if e := p.Entry(i); p.index.find(e.raw) == i && !yield(e) {
				return
			}
		}
	}
}

// match finds removed entries under their new names. Each added one is compared with one removed one at
// most.
func (d *differ) match() {
	sizes := map[int64]bool{}
	for _, e := range d.Added {
		sizes[e.Size] = true
	}
	gone := map[bodyKey][]Entry{}
	for _, e := range d.Removed {
		if !sizes[e.Size] {
			continue
		}
		if crc, err := d.sum(d.old, e); err == nil {
			key := bodyKey{e.Size, crc}
			gone[key] = append(gone[key], e)
		}
	}
	renamed := map[int]bool{}
	d.Added = slices.DeleteFunc(d.Added, func(e Entry) bool {
		crc, err := d.sum(d.new, e)
		key := bodyKey{e.Size, crc}
		if err != nil || len(gone[key]) == 0 || !d.same(gone[key][0], e) {
			return false
		}
		was := gone[key][0]
		gone[key], renamed[was.Index] = gone[key][1:], true
		d.Renamed = append(d.Renamed, [2]Entry{was, e})
		return true
	})
	d.Removed = slices.DeleteFunc(d.Removed, func(e Entry) bool { return renamed[e.Index] })
}

// weigh counts what a patch moves.
func (d *differ) weigh() {
	if d.Empty() {
		return
	}
	fresh := map[int64]bool{} // sizes that new bodies have
	for _, list := range [][]Entry{d.Added, d.Changed} {
		for _, e := range list {
			fresh[e.Size] = true
		}
	}
	for e := range d.old.Entries() {
		if fresh[e.Size] && !d.over() {
			if crc, err := d.sum(d.old, e); err == nil {
				d.sums[bodyKey{e.Size, crc}] = true
			}
		}
	}
	for _, list := range [][]Entry{d.Added, d.Changed} {
		for _, e := range list {
			if d.new.bounds(e) != nil || d.over() {
				continue
			}
			crc, err := d.sum(d.new, e)
			if key := (bodyKey{e.Size, crc}); err != nil || !d.sums[key] {
				d.sums[key] = true
				d.Bytes += e.Size
			}
		}
	}
	recs := make([]record, 0, d.new.index.len()+1)
	for i := range d.new.index.len() {
		recs = append(recs, d.new.index.at(i))
	}
	if d.new.noted {
		recs = append(recs, d.new.index.at(len(recs)))
		d.Bytes += recs[len(recs)-1].size
	}
	d.Bytes += int64(len(d.new.layout.encode(recs)))
}

// sum is an entry's CRC-32C, as the manifest tells it or else as it reads.
func (d *differ) sum(p *Pack, e Entry) (crc uint32, err error) {
	if crc, ok := p.Checksum(e); ok {
		return crc, nil
	}
	err = d.read(p, e, 0, func(b []byte) bool {
		crc = crc32.Update(crc, castagnoli, b)
		return true
	})
	return crc, err
}

// same tells whether two entries have the same bytes.
func (d *differ) same(was, is Entry) bool {
	if was.Size != is.Size || d.old.bounds(was) != nil || d.new.bounds(is) != nil {
		return false
	}
	if x, ok := d.old.SHA256(was); ok {
		if y, ok := d.new.SHA256(is); ok {
			return x == y
		}
	}
	if x, ok := d.old.Checksum(was); ok {
		if y, ok := d.new.Checksum(is); ok {
			return x == y
		}
	}
	if d.oneFile && was.Offset == is.Offset {
		return true
	}
	off, same := int64(0), true
	err := d.read(d.old, was, 0, func(b []byte) bool {
		e := is
		e.Offset, e.Size = is.Offset+off, int64(len(b))
		off += int64(len(b))
		err := d.read(d.new, e, 1, func(c []byte) bool { same = same && bytes.Equal(b, c); return same })
		same = same && err == nil
		return same
	})
	return same && err == nil
}

// read gives an entry's bytes to f, block by block, until that has enough.
func (d *differ) read(p *Pack, e Entry, which int, f func([]byte) bool) error {
	if e.Size == 0 {
		return nil
	}
	if e.Offset > math.MaxInt64-e.Size || e.Offset+e.Size > p.m.size {
		return fmt.Errorf("%w: past the end of the data", ErrFormat)
	}
	if d.block[which] == nil {
		d.block[which] = make([]byte, 256<<10)
	}
	for at, end := e.Offset, e.Offset+e.Size; at < end; {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		b := d.block[which][:min(int64(len(d.block[which])), end-at)]
		if _, err := p.m.pread(b, at); err != nil {
			return err
		}
		if !f(b) {
			return nil
		}
		at += int64(len(b))
	}
	return nil
}
