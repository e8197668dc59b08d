package soundpack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// WriterOptions say how to edit a pack. The zero value, or a nil pointer, is right for most.
type WriterOptions struct {
	// Index is the path of the index; "" means beside the data.
	Index string
	// Layout is "split", "crc", "cfg" or "pck"; "" means that it is found from the files, and split where
	// there are none.
	Layout string
	// Create makes an empty pack where there is none.
	Create bool
	// Wait waits for another writer to finish, until the context of [Edit] ends, instead of failing
	// with ErrLocked.
	Wait bool
	// Plain makes no manifest where there is none, and refuses names that the layout cannot hold.
	// Without it an empty pack gets one, and so does a pack that is given a longer name; another
	// that has none stays without. A manifest that is there is kept in any case.
	Plain bool
	// SHA256 and Facts are what the manifest is told of new entries, as in [CreateOptions].
	SHA256 bool
	Facts  func(r io.ReaderAt, size int64) (Facts, error)
	// Notice is told of what is done but may not be wanted: empty files, a manifest whose checksum does
	// not hold, which is renewed, and a pack on a network file system, where locks may not hold.
	Notice func(path, text string)
	// Progress is called after each block with the bytes done and to be done by a Commit or Compact.
	Progress func(done, total int64)

	storage storage.FS // the double of tests
	pause   func(context.Context, time.Duration) error
	amender amender
}

// A Writer changes a pack while others read it. [Writer.Add], [Writer.Replace] and [Writer.Remove]
// only say what shall change; [Writer.Commit] does it, all or nothing. A Writer holds the pack's lock
// until it is closed, and is used by one goroutine.
//
// The protocol. Only two things change what is on disk: data is appended, and a file is replaced by a
// rename. Bodies go to the end of the data and are synced; then the new index is written under another
// name, synced and renamed over the old one, and the folder is synced. So a crash at any moment leaves
// the old pack or the new one, and what Commit has returned from stays. Bytes that any index has named
// are never overwritten or cut off, since readers that opened the pack before still read them; what a
// removed entry leaves behind is given back by [Writer.Compact]. In a layout that has its table at the head
// of the data nothing can be appended: there the whole file is written anew beside the old one, synced and
// renamed over it, and the folder is synced.
//
// After a failure the pack is the old one, to the byte, unless the error is an ErrDurability; no
// temporary file is left, and what was staged is dropped. A sync that fails is never tried again, since
// systems forget what it was about; the Writer can be used on and begins afresh, by making durable what
// it sees.
type Writer struct {
	opt                 WriterOptions
	fs                  storage.FS
	path, indexPath     string
	layout              layout
	traits              traits // of the layout
	unlock              func() error
	data                storage.File // nil: begin anew
	dataMode, indexMode fs.FileMode
	end                 int64    // the length of the data, where new bodies go
	recs                []record // of the index as it is on disk
	ledger              *ledger  // nil: nobody keeps a manifest
	amender             amender  // the ledger, or what a test wants instead
	staged              *staging // nil: nothing
	closed              bool
}

// Edit opens the pack whose data file is at path for changing and takes its lock, a file beside it
// (music.lock) that stays. If another writer has it, the error is an ErrLocked that says which process,
// unless Wait is set. Temporary files that a killed writer left are removed.
//
// A pack that is not there is an fs.ErrNotExist unless Create is set; an index that is damaged as a
// whole is an ErrFormat.
func Edit(ctx context.Context, path string, opt *WriterOptions) (*Writer, error) {
	w := &Writer{}
	if opt != nil {
		w.opt = *opt
	}
	if w.fs = w.opt.storage; w.fs == nil {
		w.fs = storage.OS{}
	}
	if w.opt.pause == nil {
		w.opt.pause = pause
	}
	err := w.resolve(path)
	if err == nil {
		err = w.take(ctx)
	}
	if err != nil {
		return nil, opened("edit", path, err)
	}
	return w, nil
}

// resolve finds the files themselves: a rename over a symbolic link would part it from its target.
func (w *Writer) resolve(path string) (err error) {
	found, err := w.detect(path)
	if err != nil {
		return err
	}
	w.layout, w.traits, w.indexPath = found.layout, found.layout.traits(), found.index
	if w.path, err = w.fs.Resolve(path); err != nil {
		return err
	}
	if w.traits.head {
		w.indexPath = w.path
		return checkLockPath(w.path, w.indexPath)
	}
	if filepath.Clean(w.indexPath) == filepath.Clean(path) {
		return fmt.Errorf("data and index have the same path: %w", fs.ErrInvalid)
	}
	if w.indexPath, err = w.fs.Resolve(w.indexPath); err != nil {
		return err
	}
	return checkLockPath(w.path, w.indexPath)
}

// detect finds the layout of what is there; a new pack is split.
func (w *Writer) detect(path string) (find, error) {
	o := &strictOpener{fs: w.fs}
	name := w.opt.Layout
	if f, err := o.open(path); err == nil {
		f.Close()
	} else if name == "" {
		name = layouts[0].name()
	}
	found, err := detect(o.open, path, w.opt.Index, name)
	if err == nil {
		err = o.err
	}
	return found, err
}

// A strictOpener remembers what went wrong beside files that are not there: a writer does not go by what
// it could not see.
type strictOpener struct {
	fs  storage.FS
	err error
}

func (o *strictOpener) note(err error) error {
	if err != nil && o.err == nil && err != io.EOF && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
		o.err = err
	}
	return err
}

func (o *strictOpener) open(path string) (looked, error) {
	f, err := o.fs.Open(path)
	if err != nil {
		return nil, o.note(err)
	}
	return strictFile{f, o}, nil
}

type strictFile struct {
	storage.File
	o *strictOpener
}

func (f strictFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	return n, f.o.note(err)
}

func (f strictFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return info, f.o.note(err)
}

// take takes the lock and begins. It looks for the data first, so that a wrong path does not leave a
// lock file there.
func (w *Writer) take(ctx context.Context) (err error) {
	if !w.opt.Create {
		f, err := w.fs.Open(w.path)
		if err != nil {
			return err
		}
		f.Close()
	}
	if w.unlock, err = lock(ctx, w.fs, w.path, w.opt.Wait); err != nil {
		return err
	}
	if err := w.begin(); err != nil {
		return errors.Join(err, w.unlock())
	}
	tellNetwork(w.fs, w.path, w.opt.Notice)
	return nil
}

// ready begins anew if the operation before failed.
func (w *Writer) ready() error {
	if w.closed {
		return ErrClosed
	}
	if w.data != nil {
		return nil
	}
	return w.begin()
}

// Len is the number of entries that the pack has after what is staged, the manifest not counted.
func (w *Writer) Len() int {
	if w.staged != nil {
		return w.staged.len
	}
	n := 0
	for _, r := range w.recs {
		if !w.amends(r) {
			n++
		}
	}
	return n
}

// Layout is the name of the pack's layout, as [Pack.Layout].
func (w *Writer) Layout() string { return w.layout.name() }

// DataSize is the length of the data in bytes, as it is on disk.
func (w *Writer) DataSize() int64 { return w.end }

// Close drops what is staged and lets go of the lock.
func (w *Writer) Close() error {
	if w.closed {
		return opened("close", w.path, ErrClosed)
	}
	w.closed, w.staged = true, nil
	w.let()
	if err := w.unlock(); err != nil {
		return opened("close", w.path, err)
	}
	return nil
}
