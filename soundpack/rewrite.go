package soundpack

// Changing a pack whose table stands at the head of its data. Every byte moves when the table grows, so
// the pack is written whole under another name, synced, and renamed over the old one: one commit, whatever
// is changed, and no byte is left that no entry names.

import (
	"context"
	"fmt"
	"io"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// A rewriting is a change on its way into a new file.
type rewriting struct {
	*change
	ctx   context.Context
	to    storage.File
	end   int64            // where the next body goes
	moved map[span]int64   // where bodies have come to lie that entries may share
	notes func(i int) note // what is told of the i-th record of the index on disk
	block []byte
	copy  *creation
	done  int64 // bytes of sources read
}

// rewrite is what do is for other layouts.
func (c *change) rewrite(ctx context.Context) error {
	w := c.w
	var recs []record
	var size int64
	_, err := w.publish(w.path, w.dataMode, noFileSync, noDirSync, func(f storage.File) (err error) {
		r := &rewriting{
			change: c, ctx: ctx, to: f, moved: map[span]int64{}, block: make([]byte, 256<<10),
			copy: &creation{CreateOptions: CreateOptions{Progress: w.opt.Progress}, total: c.size},
		}
		recs, err = r.fill()
		size = r.end
		return err
	})
	if err != nil {
		return err
	}
	w.let()
	if w.data, err = w.fs.Open(w.path); err != nil {
		return err
	}
	w.recs, w.end = recs, size
	return nil
}

// fill writes the new file and returns its records.
func (r *rewriting) fill() ([]record, error) {
	h := r.w.layout.(heading)
	own, err := r.own()
	if err != nil {
		return nil, err
	}
	head := h.head(append(r.recs[:len(r.recs):len(r.recs)], own...))
	if r.end = head; len(r.recs) > 0 {
		if err := r.fits(head); err != nil {
			return nil, err
		}
	}
	for i := range r.recs {
		if err := r.body(i); err != nil {
			return nil, err
		}
	}
	recs, body, err := r.w.amended(r.recs, r.from, r.end)
	if err != nil {
		return nil, err
	}
	if err := put(r.to, body, r.end); err != nil {
		return nil, err
	}
	r.end += int64(len(body))
	table, err := r.w.encode(recs)
	if err == nil && int64(len(table)) != head {
		err = fmt.Errorf("a table of %d bytes where %d were planned", len(table), head) // never
	}
	if err == nil {
		err = r.ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if err := r.to.Truncate(r.end); err != nil { // a twin's bytes may lie behind
		return nil, err
	}
	return recs, put(r.to, table, 0)
}

// own is the manifest's record, if there will be one, as far as the table's length depends on it.
func (r *rewriting) own() ([]record, error) {
	l := r.w.ledger
	if l == nil {
		return nil, nil
	}
	m, err := l.manifest()
	if err != nil && !r.bare {
		return nil, err
	}
	own := l.own()
	if r.notes = func(i int) note { return m.noteBeside(own, i) }; err != nil {
		r.notes = func(int) note { return note{} }
		m = noNotes
	}
	l.rewrite(r)
	if !l.wanted(m, len(r.recs)) {
		return nil, nil
	}
	return []record{{raw: manifestName}}, nil
}

// fits refuses what the layout cannot address, before the bodies are read. Bodies that are the same
// count once if they are known to be.
func (r *rewriting) fits(head int64) error {
	seen := map[span]bool{}
	var all []record
	for i, rec := range r.recs {
		at := span{rec.off, rec.size}
		if r.sources[i] == nil && seen[at] {
			continue
		}
		seen[at] = r.sources[i] == nil
		all = append(all, rec)
	}
	return r.w.layout.plan(head, all)
}

// body writes the i-th body, unless it is there already.
func (r *rewriting) body(i int) error {
	rec := &r.recs[i]
	if s := r.sources[i]; s != nil {
		rec.off = r.end
		if err := r.pack(i, *s); err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
	} else if err := r.keep(i); err != nil {
		return err
	}
	if rec.off == r.end {
		r.end += rec.size
	}
	return nil
}

// pack writes a source.
func (r *rewriting) pack(i int, s Source) error {
	w, rec := r.w, &r.recs[i]
	var to io.Writer = io.NewOffsetWriter(r.to, r.end)
	if w.amender != nil {
		if also := w.amender.watch(i, &s); also != nil {
			to = io.MultiWriter(to, also)
		}
	}
	if err := r.copy.copyOne(r.ctx, to, s, r.block, &r.done); err != nil {
		return err
	}
	if w.ledger == nil {
		return nil
	}
	off, err := w.ledger.wrote(i, *rec)
	rec.off = off
	return err
}

// keep copies a body out of the old file.
func (r *rewriting) keep(i int) error {
	rec := &r.recs[i]
	from := span{rec.off, rec.size}
	rec.off = r.end
	if rec.size == 0 {
		return nil
	}
	if off, ok := r.moved[from]; ok {
		rec.off = off
		return nil
	}
	r.moved[from] = r.end
	for done := int64(0); done < from.length; {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		b := r.block[:min(int64(len(r.block)), from.length-done)]
		if n, err := r.w.data.ReadAt(b, from.off+done); n < len(b) {
			if err == nil || err == io.EOF {
				err = ErrChanged
			}
			return fmt.Errorf("%q at %#x: %w", show(rec.raw), from.off+done+int64(n), err)
		}
		if err := put(r.to, b, r.end+done); err != nil {
			return err
		}
		done += int64(len(b))
	}
	if l := r.w.ledger; l != nil {
		if n := r.notes(r.from[i]); n.hasCRC {
			l.same.add(*rec, n.crc, i)
		}
	}
	return nil
}

// compactHead writes the pack anew if that gives bytes back.
func (w *Writer) compactHead(ctx context.Context) error {
	seen := map[span]bool{}
	least := w.layout.(heading).head(w.recs)
	for _, r := range w.recs {
		if at := (span{r.off, r.size}); !seen[at] {
			seen[at] = true
			least += r.size
		}
	}
	if least >= w.end {
		return nil
	}
	s, err := w.stage()
	if err != nil {
		return err
	}
	c := &change{w: w}
	c.take(s)
	w.staged = nil
	if err := c.check(); err != nil {
		return err
	}
	if w.ledger != nil {
		if err := w.ledger.take(c); err != nil {
			return err
		}
		defer func() { w.ledger.change = nil }()
	}
	return c.rewrite(ctx)
}
