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
	// Layout is "split", which "" means too.
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
	// Notice is told of what is done but may not be wanted: empty files, and a manifest whose
	// checksum does not hold, which is renewed.
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
// removed entry leaves behind is given back by [Writer.Compact].
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
	if w.layout, err = pick(w.opt.Layout); err != nil {
		return err
	}
	if w.indexPath = w.opt.Index; w.indexPath == "" {
		if w.indexPath, err = w.layout.index(path); err != nil {
			return err
		}
	}
	if filepath.Clean(w.indexPath) == filepath.Clean(path) {
		return fmt.Errorf("data and index have the same path: %w", fs.ErrInvalid)
	}
	if w.path, err = w.fs.Resolve(path); err != nil {
		return err
	}
	if w.indexPath, err = w.fs.Resolve(w.indexPath); err != nil {
		return err
	}
	return checkLockPath(w.path, w.indexPath)
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
