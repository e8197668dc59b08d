package soundpack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
)

// ExtractOptions say how to extract. The zero value, or a nil pointer, is right for most.
type ExtractOptions struct {
	// Force overwrites files that are there.
	Force bool
	// MaxBytes is the most bytes that are written in all, since a small pack can name the same bytes
	// ever again. 0 means at most 8 GiB and 64 times the length of the data (or 64 MiB), and of bodies
	// that are not the very same twice that length (or 64 MiB): more than once each is only had by
	// overlaps.
	MaxBytes int64
	// Written is told of each file when it is complete.
	Written func(e Entry, path string)
	// Progress is called after each block with the bytes done and to be done.
	Progress func(done, total int64)
}

// Extract writes entries to files below dir, which is made if need be: those of the names, or all of
// them but the manifest if there are none. A slash in a name makes a folder; a file is named as the entry is shown,
// and on Windows characters and names that mean something else there are written as %XX too.
//
// Nothing is written outside dir, whatever a name says and whatever symbolic links lie in it. A file
// that is there stays (fs.ErrExist in an fs.PathError) unless Force is given. Each file appears whole or not at all. An
// entry that cannot be extracted does not keep the others from it; the errors come joined: names that
// lead out of dir (ErrFormat), entries past the data (ErrFormat), entries whose name an earlier entry has
// (fs.ErrExist), names that are not there (fs.ErrNotExist), entries whose checksum does not fit
// (ErrChecksum), which are written all the same, and, before anything is written, the
// entries that take the most where there are more bytes than MaxBytes (ErrLimit).
func (p *Pack) Extract(ctx context.Context, dir string, names []string, opt *ExtractOptions) error {
	x := &extraction{p: p, ctx: ctx, dir: dir}
	if opt != nil {
		x.ExtractOptions = *opt
	}
	x.choose(names)
	if err := p.lost(); err != nil {
		return err // names that are not there may be in a manifest that was not read
	}
	x.ration()
	if len(x.entries) == 0 && len(x.errs) > 0 {
		return x.all()
	}
	if p.closed.Load() || !p.m.acquire() {
		return opened("extract", p.path, ErrClosed)
	}
	defer p.m.release()
	if err := x.openRoot(); err != nil {
		return opened("extract", p.path, err)
	}
	defer x.root.Close()
	for _, i := range x.entries {
		e, ok := x.named[i]
		if !ok {
			e = p.Entry(int(i))
		}
		if err := x.one(e); err != nil {
			x.fail(e, err)
		}
		if ctx.Err() != nil || p.lost() != nil {
			break
		}
	}
	return x.all()
}

type extraction struct {
	ExtractOptions
	p           *Pack
	ctx         context.Context
	dir         string
	root        *os.Root
	entries     []int32         // ordinals
	named       map[int32]Entry // those asked for, by ordinal: a path may be known only from the asking
	done, total int64
	block       []byte
	errs        []error
	failed      [5]int  // how many of each kind
	more        int     // that are not kept
	there       []error // of files that are there already
}

// fail keeps an error. Of files that are there already, which nothing is wrong with, all are told. A hostile
// pack may have millions of bad entries; the first thousand of each kind are told, and the others counted.
func (x *extraction) fail(e Entry, err error) {
	const most = 1000
	kinds := [...]error{ErrFormat, ErrChecksum, ErrLimit, fs.ErrExist}
	if path, ok := errors.AsType[*fs.PathError](err); ok && path.Err == fs.ErrExist {
		x.there = append(x.there, fmt.Errorf("soundpack: extract %q in %s: %w", e.Name, x.p.base, path))
		return
	}
	kind := slices.IndexFunc(kinds[:], func(k error) bool { return errors.Is(err, k) }) + 1
	if x.failed[kind]++; x.failed[kind] <= most {
		x.errs = append(x.errs, x.p.at("extract", e, e.Offset, err))
	} else {
		x.more++
	}
}

// all are the errors.
func (x *extraction) all() error {
	all := slices.Concat(x.errs, x.there)
	if x.more > 0 {
		all = append(all, fmt.Errorf("soundpack: extract: %d more errors like these in %s", x.more, x.p.base))
	}
	return errors.Join(all...)
}

// choose fills in the entries and refuses those that cannot be written.
func (x *extraction) choose(names []string) {
	if len(names) == 0 {
		for e := range x.p.Entries() {
			x.take(e)
		}
		return
	}
	x.named = map[int32]Entry{}
	for _, name := range names {
		e, ok := x.p.Lookup(name)
		if !ok {
			x.errs = append(x.errs, &fs.PathError{Op: "extract", Path: name, Err: missing{x.p.base}})
		} else if _, twice := x.named[int32(e.Index)]; !twice {
			x.named[int32(e.Index)] = e
			x.take(e)
		}
	}
}

func (x *extraction) take(e Entry) {
	if why := unsafe(e.path()); why != "" {
		x.fail(e, fmt.Errorf("%w: %s", ErrFormat, why))
		return
	}
	if err := x.p.bounds(e); err != nil {
		x.fail(e, err)
		return
	}
	if first := x.p.index.find(e.Raw()); first != e.Index {
		x.fail(e, fmt.Errorf("the same name as %q (entry %d): %w", x.p.Entry(first).Name, first, fs.ErrExist))
		return
	}
	x.entries = append(x.entries, int32(e.Index))
}

// The default limits of what is written, as multiples of the data's length.
const (
	maxCopies  = 64       // in all
	maxOverlap = 2        // of bodies that are not the very same
	leastBytes = 64 << 20 // whatever the length
	mostBytes  = 8 << 30
)

// A share is the entries that have the very same bytes.
type share struct {
	off, size int64
	entries   []int32
}

func (s share) total() int64 { return s.size * int64(len(s.entries)) } // at most 2.4 million times 4 GiB

// ration refuses what would pass the limits: of all shares those that take the most, so that the small
// ones are had in any case.
func (x *extraction) ration() {
	data := x.p.DataSize()
	limit, once := min(max(maxCopies*data, leastBytes), mostBytes), max(maxOverlap*data, leastBytes)
	if x.MaxBytes > 0 {
		limit, once = x.MaxBytes, x.MaxBytes
	}
	var bodies int64
	kept := x.entries[:0:0]
	for _, s := range x.shares() {
		switch total := s.total(); {
		case x.total+total > limit:
			x.refuse(s, x.total+total, limit)
		case bodies+s.size > once:
			x.refuse(s, bodies+s.size, once)
		default:
			x.total += total
			bodies += s.size
			kept = append(kept, s.entries...)
		}
	}
	slices.Sort(kept)
	x.entries = kept
}

// shares are the entries by their bytes, those first that take the least.
func (x *extraction) shares() (all []share) {
	order := slices.Clone(x.entries)
	at := func(i int32) (off, size int64) { e := x.p.Entry(int(i)); return e.Offset, x.p.Size(e) }
	slices.SortFunc(order, func(i, j int32) int {
		a, n := at(i)
		b, m := at(j)
		return cmp.Or(cmp.Compare(a, b), cmp.Compare(n, m), cmp.Compare(i, j))
	})
	for n, i := range order {
		off, size := at(i)
		if last := len(all) - 1; last < 0 || size == 0 || all[last].off != off || all[last].size != size {
			all = append(all, share{off: off, size: size, entries: order[n:n]})
		}
		s := &all[len(all)-1]
		s.entries = s.entries[:len(s.entries)+1]
	}
	slices.SortStableFunc(all, func(a, b share) int { return cmp.Compare(a.total(), b.total()) })
	return all
}

func (x *extraction) refuse(s share, sum, limit int64) {
	more := ""
	if n := len(s.entries) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more entries that have the same bytes", n)
	}
	x.fail(x.p.Entry(int(s.entries[0])), fmt.Errorf("%w: with it%s, the files would have %d bytes, and %d is the most", ErrLimit, more, sum, limit))
}

func (x *extraction) openRoot() (err error) {
	if err := os.MkdirAll(x.dir, 0o777); err != nil {
		return err
	}
	x.root, err = os.OpenRoot(x.dir)
	return err
}

// one writes a file beside its place and moves it there.
func (x *extraction) one(e Entry) error {
	name := fileName(e.path(), runtime.GOOS == "windows")
	if dir := path.Dir(name); dir != "." {
		if err := x.root.MkdirAll(filepath.FromSlash(dir), 0o777); err != nil {
			return err
		}
	}
	if err := x.free(name); err != nil {
		return err
	}
	temp := path.Join(path.Dir(name), fmt.Sprintf(".%08x.tmp", rand.Uint32()))
	f, err := x.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	crc, err := x.copy(f, e)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = x.place(temp, name)
	}
	if err != nil {
		return errors.Join(err, x.root.Remove(temp))
	}
	if x.Written != nil {
		x.Written(e, filepath.Join(x.dir, filepath.FromSlash(name)))
	}
	if err := x.p.fits(e, crc); err != nil {
		return fmt.Errorf("%w: it is written as it is", err)
	}
	return nil
}

// free tells whether a file may be written. A symbolic link is a file here, and not followed.
func (x *extraction) free(name string) error {
	if x.Force {
		return nil
	}
	if _, err := x.root.Lstat(name); err == nil {
		return x.taken(name)
	}
	return nil
}

// taken is the error of a file that is there already.
func (x *extraction) taken(name string) error {
	return &fs.PathError{Op: "write", Path: filepath.Join(x.dir, filepath.FromSlash(name)), Err: fs.ErrExist}
}

// place gives the finished file its name. A link, unlike a rename, never replaces what came there in
// the meantime; where a file system has no links, a last look must do.
func (x *extraction) place(temp, name string) error {
	if !x.Force {
		err := x.root.Link(temp, name)
		if err == nil {
			return x.root.Remove(temp)
		}
		if errors.Is(err, fs.ErrExist) {
			return x.taken(name)
		}
		if err := x.free(name); err != nil {
			return err
		}
	}
	return x.root.Rename(temp, name)
}

// copy writes the entry's bytes, read by pread: a mapping's page faults cost five times as much. It returns
// the CRC-32C of those in the data.
func (x *extraction) copy(w io.Writer, e Entry) (uint32, error) {
	if x.block == nil {
		x.block = make([]byte, 256<<10)
	}
	if n := x.p.table(e.Index); n > 0 {
		plain, err := x.p.plainTable(e, n)
		if err == nil {
			_, err = w.Write(plain)
		}
		if err != nil {
			return 0, err
		}
		return x.p.bodySum(e)
	}
	d := digest{sum: true}
	for off, end := e.Offset, e.Offset+e.Size; off < end; {
		if err := x.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := x.p.m.pread(x.block[:min(int64(len(x.block)), end-off)], off)
		if err != nil {
			return 0, err
		}
		d.Write(x.block[:n])
		if _, err := w.Write(x.block[:n]); err != nil {
			return 0, err
		}
		off += int64(n)
		x.done += int64(n)
		if x.Progress != nil {
			x.Progress(x.done, x.total)
		}
	}
	return d.crc, nil
}
