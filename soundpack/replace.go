package soundpack

// Replacing a whole pack by another one.
//
// It goes by the stepping stones of compacting. Let D0 and I0 be the old pack, B where its data ends,
// and C the bodies and the manifest of the new one:
//
//  1. write C to a file of its own, D
//  2. append C to D0 at B, sync;   index I1 names C there: this is the moment
//  3. append C to D at B too, and rename it over D0
//  4. index I2 names the C at 0
//  5. new data D3: C alone
//
// What lies on disk is (D0,I0) (D0+C,I0) (D0+C,I1) (D,I1) (D,I2) (D3,I2), and each pair is the whole old
// pack or the whole new one, for a program too that knows nothing of all this. All that can be wrong
// with the sources comes to light in step 1, which touches nothing of the old pack.
//
// If D has all bytes that I0 names, and where I0 names them, as where a pack is made again with more
// files behind the others, then D may come under I0 at once: steps 3 and 4 without a second C are all.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// A replacement is the second half of a creation where there is a pack already.
type replacement struct {
	*creation
	w          *Writer    // of the old pack
	k          compaction // copies, and counts what it copies
	temp       string     // the name of D until it is in place
	size       int64      // of C
	bodies     int64      // of C without the manifest
	at         int64      // where the second C goes
	behind     []record   // of I1
	behindBody []byte     // its manifest
	sum        uint32     // CRC-32C of the bodies, as first read
	done       bool       // an index on disk may name what is new
}

// replace puts the new pack in the place of what is there. A pack of one file is replaced by a rename; a
// pair by another layout's cannot be replaced step by step.
func (c *creation) replace(ctx context.Context) error {
	if c.layout.traits().head || len(c.others) > 0 {
		return c.write(ctx)
	}
	w := &Writer{fs: c.storage, path: c.data, indexPath: c.Index, layout: c.layout, traits: c.layout.traits()}
	w.opt = WriterOptions{Progress: c.Progress, pause: c.pause}
	err := w.begin()
	defer w.let()
	switch {
	case err == nil && w.whole():
		r := &replacement{creation: c, w: w, k: compaction{w: w}}
		return r.do(ctx)
	case err == nil, errors.Is(err, ErrFormat), errors.Is(err, ErrLimit), errors.Is(err, fs.ErrNotExist):
		return c.write(ctx)
	}
	return err
}

// whole tells whether every record of the index on disk names bytes that are there.
func (w *Writer) whole() bool {
	return !slices.ContainsFunc(w.recs, func(r record) bool { return r.size > 0 && r.off+r.size > w.end })
}

func (r *replacement) do(ctx context.Context) (err error) {
	r.temp = r.data + tempMark()
	d, err := r.storage.Create(r.temp)
	if err != nil {
		r.storage.Remove(r.temp) // in case it was made after all
		return err
	}
	defer func() {
		d.Close()
		if r.temp != "" {
			err = r.drop(err, r.temp)
		}
	}()
	if err := r.fill(ctx, d); err != nil {
		return err
	}
	steps := []func(context.Context, storage.File) error{r.append, r.double, r.pointBack, r.shrink}
	if r.agrees(ctx, d) {
		r.at, steps = 0, []func(context.Context, storage.File) error{r.double, r.pointBack}
	} else if err := r.room(); err != nil {
		return err
	}
	for i, step := range steps {
		if i > 0 {
			err = r.pause(ctx, stepPause)
		}
		if err == nil {
			err = step(ctx, d)
		}
		if err != nil && r.done && (i+1 < len(steps) || !errors.Is(err, ErrDurability)) {
			return unfinished(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unfinished is the error of a step after the new pack is in use, which is told, and not as if ctx had
// kept it from that.
func unfinished(err error) error {
	const told = "the new pack is in place, with bytes of the old one still in its data, which compacting gives back"
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %v", told, err)
	}
	return fmt.Errorf("%s: %w", told, err)
}

// fill is step 1, and works out where the second C goes.
func (r *replacement) fill(ctx context.Context, d storage.File) error {
	r.k.done, r.total = r.total, 4*r.total
	if err := keepMode(d, r.w.dataMode); err != nil {
		return err
	}
	if err := r.copyAll(ctx, d); err != nil {
		return err
	}
	info, err := d.Stat()
	if err != nil {
		return err
	}
	r.size = info.Size()
	n := len(r.notes)
	if r.bodies = r.size; len(r.recs) > n {
		r.bodies = r.recs[n].off
	}
	r.k.total = r.k.done + 2*r.bodies + r.size
	r.k.block = make([]byte, min(compactBlock, max(r.size, 1)))
	r.at = max(r.w.end, r.size)
	r.behind = slices.Clone(r.recs[:n])
	for i := range r.behind {
		r.behind[i].off += r.at
	}
	if len(r.recs) > n {
		r.behindBody = encodeManifest(r.at+r.bodies, r.behind, r.notes, r.extra)
		r.behind = append(r.behind, record{manifestName, r.at + r.bodies, int64(len(r.behindBody))})
	}
	return nil
}

// room refuses what the layout or the disk could not hold.
func (r *replacement) room() error {
	c := r.bodies + int64(len(r.behindBody))
	if r.layout.plan(r.at, []record{{size: c}}) != nil {
		return fmt.Errorf("%w: behind the %d bytes of the old pack, which stay until the new one is in use, is no room for %d below the layout's limit: remove it first, or create elsewhere",
			ErrLimit, r.w.end, c)
	}
	s, err := r.storage.Space(filepath.Dir(r.data))
	if err != nil {
		return nil // not known: try
	}
	need := 3*c + spareSpace
	if !s.Sparse {
		need += 2 * (r.at - r.size)
	}
	if s.Free < need {
		return fmt.Errorf("replacing the pack, whose bytes stay until the new ones are in use, needs %d more bytes of free space, and there are %d: %w", need, s.Free, syscall.ENOSPC)
	}
	return nil
}

// agrees tells whether the new data has all that the old index names in the same places.
func (r *replacement) agrees(ctx context.Context, d storage.File) bool {
	r.k.place(r.w.recs)
	block := make([]byte, len(r.k.block))
	for _, e := range r.k.extents {
		if e.end > r.size {
			return false
		}
		for at := e.off; at < e.end; at += int64(len(block)) {
			n := min(int64(len(block)), e.end-at)
			old, fresh := block[:n], r.k.block[:n]
			if _, err := io.ReadFull(io.NewSectionReader(r.w.data, at, n), old); err != nil || ctx.Err() != nil {
				return false
			}
			if _, err := io.ReadFull(io.NewSectionReader(d, at, n), fresh); err != nil || !bytes.Equal(old, fresh) {
				return false
			}
		}
	}
	return true
}

// append is step 2.
func (r *replacement) append(ctx context.Context, d storage.File) error {
	raw, err := r.w.encode(r.behind)
	if err == nil {
		err = r.k.copy(ctx, d, r.w.data, span{0, r.bodies}, &r.sum, r.at)
	}
	if err == nil {
		err = put(r.w.data, r.behindBody, r.at+r.bodies)
	}
	if err == nil && !mutated(noCopySync) {
		err = r.w.data.Sync()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		r.done, err = r.w.publishIndex(raw, noStepSync)
	}
	if err != nil && !r.done {
		err = r.w.cutBack(err)
	}
	return err
}

// double is step 3.
func (r *replacement) double(ctx context.Context, d storage.File) error {
	if r.at > 0 && !mutated(skipStone) {
		var sum uint32
		if err := r.k.copy(ctx, d, d, span{0, r.bodies}, &sum, r.at); err != nil {
			return err
		}
		if sum != r.sum {
			return fmt.Errorf("%w: the new data reads otherwise than it was written", ErrChecksum)
		}
		if err := put(d, r.behindBody, r.at+r.bodies); err != nil {
			return err
		}
	}
	if !mutated(noFileSync) {
		if err := d.Sync(); err != nil {
			return err
		}
	}
	if err := r.storage.Rename(r.temp, r.data); err != nil {
		return err
	}
	r.temp = ""
	r.w.let() // the old data
	if mutated(noStepSync) {
		return nil
	}
	return r.storage.SyncDir(filepath.Dir(r.data))
}

// pointBack is step 4.
func (r *replacement) pointBack(context.Context, storage.File) error {
	raw, err := r.w.encode(r.recs)
	if err != nil {
		return err
	}
	done, err := r.w.publishIndex(raw, noStepSync)
	r.done = r.done || done
	return err
}

// shrink is step 5.
func (r *replacement) shrink(ctx context.Context, d storage.File) error {
	_, err := r.w.publish(r.data, r.w.dataMode, noFileSync, noDirSync, func(f storage.File) error {
		var sum, rest uint32
		if err := r.k.copy(ctx, d, f, span{0, r.bodies}, &sum, 0); err != nil {
			return err
		}
		if sum != r.sum {
			return fmt.Errorf("%w: the new data reads otherwise than it was written", ErrChecksum)
		}
		return r.k.copy(ctx, d, f, span{r.bodies, r.size - r.bodies}, &rest, r.bodies)
	})
	return err
}
