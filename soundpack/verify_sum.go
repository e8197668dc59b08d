package soundpack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Checksums are taken of ranges and not of entries: what entries share is read once. The ranges are
// read in the order in which they lie, on all cores, by pread and not through the mapping, whose page
// faults cost more than the sums. Ranges that overlap without being the same are read up to twice the
// data's length in all: a small index could name the same bytes ever again.

// A sumRange is a range of the data and its sums.
type sumRange struct {
	off, size int64
	crc, sha  bool // which are wanted
	digest    digest
	sum       string // SHA-256
	err       error
}

// sums are the ranges with checksums, and of each entry its range or -1.
type sums struct {
	ranges []sumRange
	of     []int32
	left   int // entries whose range is not read
}

// rangesOf lists the ranges that the manifest has checksums of.
func (v *verifier) rangesOf(m *manifest) *sums {
	s := &sums{of: make([]int32, len(m.lines))}
	var order []int32
	for i := range m.lines {
		s.of[i] = -1
		if r := v.p.index.at(i); m.lines[i].fits && r.off+r.size <= v.DataSize {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := v.p.index.at(int(i)), v.p.index.at(int(j))
		return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.size, b.size), cmp.Compare(i, j))
	})
	budget := max(2*v.DataSize, 64<<20)
	for _, i := range order {
		n, r := m.note(int(i)), v.p.index.at(int(i))
		if !n.hasCRC && n.sha256 == "" {
			continue
		}
		last := len(s.ranges) - 1
		if last < 0 || s.ranges[last].off != r.off || s.ranges[last].size != r.size {
			if budget -= r.size; budget < 0 {
				s.left++
				continue
			}
			last++
			s.ranges = append(s.ranges, sumRange{off: r.off, size: r.size})
		}
		s.of[i] = int32(last)
		s.ranges[last].crc = s.ranges[last].crc || n.hasCRC
		s.ranges[last].sha = s.ranges[last].sha || n.sha256 != ""
	}
	return s
}

// sum reads the ranges.
func (v *verifier) sum(s *sums) error {
	if len(s.ranges) == 0 {
		return nil
	}
	blocks := sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}
	err := inParallel(v.ctx, len(s.ranges), func(i int) {
		if v.p.lost() != nil {
			return
		}
		block := blocks.Get().(*[]byte)
		s.ranges[i].read(v, *block)
		blocks.Put(block)
	})
	return cmp.Or(err, v.p.lost())
}

func (r *sumRange) read(v *verifier, block []byte) {
	r.digest.sum = r.crc
	if r.sha {
		r.digest.sha = sha256.New()
	}
	for at, end := r.off, r.off+r.size; at < end && v.ctx.Err() == nil; {
		n, err := v.p.m.pread(block[:min(int64(len(block)), end-at)], at)
		r.digest.Write(block[:n])
		v.progress(int64(n))
		if at += int64(n); err != nil {
			r.err = err
			return
		}
	}
	if r.sha {
		r.sum = string(r.digest.sha.Sum(nil))
		r.digest.sha = nil // 200 bytes each
	}
}

// compare tells what the sums say of an entry.
func (v *verifier) compare(m *manifest, s *sums, e Entry) {
	if e.Index >= len(s.of) || s.of[e.Index] < 0 {
		return
	}
	n, r := m.note(e.Index), &s.ranges[s.of[e.Index]]
	v.Checked++
	switch {
	case r.err != nil:
		v.entry(e, slog.LevelError, "checksum", "%v", r.err)
	case n.hasCRC && n.crc != r.digest.crc:
		v.entry(e, slog.LevelError, "checksum", "CRC-32C %08x, and %08x when it was packed", r.digest.crc, n.crc)
	case n.sha256 != "" && n.sha256 != r.sum:
		v.entry(e, slog.LevelError, "checksum", "SHA-256 %x…, and %x… when it was packed", r.sum[:4], n.sha256[:4])
	}
}

// inParallel does each of n things on all cores, none after ctx has ended.
func inParallel(ctx context.Context, n int, do func(i int)) error {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	all.Wait()
	return ctx.Err()
}
