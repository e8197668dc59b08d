package soundpack

// What a writer does before it changes anything, each time that it takes hold of the pack.
//
// A writer may have been killed between the rename of an index and the sync of the folder: what is
// seen then is the new pack, but a power cut may still bring back the old one, and a commit built on
// the new one could reach the disk without it. So whatever is seen is made durable first. Nothing
// else is left to recover: every pair of files that a commit passes through is a whole pack, and what
// was appended but is not named by the index does not count.

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// begin takes hold of the pack; the lock is held.
func (w *Writer) begin() (err error) {
	if w.opt.Create {
		if err := w.found(); err != nil {
			return err
		}
	}
	if w.data, err = w.fs.Open(w.path); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.let()
		}
	}()
	index, err := w.fs.Open(w.indexPath)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	defer index.Close()
	if !mutated(noSessionSync) {
		if err := errors.Join(w.data.Sync(), index.Sync(), w.syncDirs()); err != nil {
			return err
		}
	}
	if err := w.load(index); err != nil {
		return err
	}
	return w.sweep()
}

// let lets go of the data, so that the next operation begins anew: after a failure nothing that was
// seen before it is relied on.
func (w *Writer) let() {
	if w.data != nil {
		w.data.Close()
		w.data = nil
	}
}

// syncDirs makes the names of both files durable.
func (w *Writer) syncDirs() error {
	dir, other := filepath.Dir(w.path), filepath.Dir(w.indexPath)
	err := w.fs.SyncDir(dir)
	if err == nil && other != dir {
		err = w.fs.SyncDir(other)
	}
	return err
}

// found makes an empty pack where there is none: data without a byte, whose name is durable before an
// index is there. Killed in between, it leaves just that, and is done again.
func (w *Writer) found() error {
	data, err := w.fs.Open(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = w.foundData()
	}
	if err != nil {
		return err
	}
	defer data.Close()
	if w.traits.head {
		return nil
	}
	index, err := w.fs.Open(w.indexPath)
	if err == nil {
		return index.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	info, err := data.Stat()
	if err != nil {
		return err
	}
	if info.Size() > 0 {
		return fmt.Errorf("%s is there, but not its index %s: %w", baseName(w.path), baseName(w.indexPath), fs.ErrExist)
	}
	if !mutated(noFreshSync) {
		if err := w.fs.SyncDir(filepath.Dir(w.path)); err != nil {
			return err
		}
	}
	_, err = w.publishIndex(nil, noDirSync)
	return err
}

func (w *Writer) foundData() (storage.File, error) {
	if w.traits.head {
		if _, err := w.publish(w.path, 0, noFileSync, noDirSync, func(f storage.File) error { return put(f, w.layout.encode(nil), 0) }); err != nil {
			return nil, err
		}
		return w.fs.Open(w.path)
	}
	index, err := w.fs.Open(w.indexPath)
	if err == nil {
		index.Close()
		return nil, fmt.Errorf("%s is there, but not its data %s: %w", baseName(w.indexPath), baseName(w.path), fs.ErrExist)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return w.fs.Create(w.path)
}

// sweep removes what a killed writer left under temporary names. Nobody else has them open for
// writing, since the lock is held, and readers never look at them. It comes after the index was found
// good: beside a damaged pack such a file may be what somebody still wants.
func (w *Writer) sweep() error {
	for _, path := range []string{w.path, w.indexPath} {
		dir, base := filepath.Split(path)
		names, err := w.fs.List(filepath.Clean(dir))
		if err != nil {
			return err
		}
		for _, name := range names {
			if ownTemp(base, name) {
				if err := w.fs.Remove(filepath.Join(dir, name)); err != nil {
					return fmt.Errorf("left by a writer that was killed: %w", err)
				}
			}
		}
	}
	return nil
}

// ownTemp tells whether a file has one of the names that this package gives to what is not in place
// yet, beside a file called base: nobody else's backup is touched.
func ownTemp(base, name string) bool {
	mark, ok := strings.CutPrefix(name, base)
	if !ok || mark == tempSuffix {
		return ok
	}
	mark = strings.TrimSuffix(strings.TrimPrefix(mark, ".old"), tempSuffix)
	_, err := hex.DecodeString(strings.TrimPrefix(mark, "."))
	return err == nil && len(mark) == 9 && mark[0] == '.' && strings.HasSuffix(name, tempSuffix)
}

// load reads the index. A writer does not build on one that is damaged as a whole: it would write
// down what it guesses. Single records that reach past the data are refused when they would be
// written again, so that they can be removed.
func (w *Writer) load(f storage.File) error {
	info, err := w.data.Stat()
	if err != nil {
		return err
	}
	raw, mode, err := w.readTable(f, info)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	w.end, w.dataMode, w.indexMode = info.Size(), info.Mode().Perm(), mode
	var x index
	var bad []problem
	if err = w.layout.sniff(raw, w.end); err == nil {
		x, bad, err = w.layout.load(raw)
	}
	if i := slices.IndexFunc(bad, func(p problem) bool { return p.level >= slog.LevelError }); err == nil && i >= 0 {
		err = fmt.Errorf("%w: %s", ErrFormat, bad[i].text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", baseName(w.indexPath), err)
	}
	w.recs = make([]record, x.len())
	for i := range w.recs {
		w.recs[i] = x.at(i)
	}
	if i := own(w.layout, x); i >= 0 && w.traits.keyed && w.opensManifest(w.recs[i]) {
		w.recs[i].raw = manifestName
	}
	w.keepManifest()
	return nil
}

// readTable is the index's bytes, or those of the table at the head of the data, and the file's mode.
func (w *Writer) readTable(f storage.File, data fs.FileInfo) (string, fs.FileMode, error) {
	h, ok := w.layout.(heading)
	if !ok {
		return readWhole(f)
	}
	raw, err := h.read(f, data.Size(), maxIndex)
	return raw, data.Mode().Perm(), err
}

// opensManifest tells whether a body begins as the manifest does.
func (w *Writer) opensManifest(r record) bool {
	head := make([]byte, min(r.size, int64(len(manifestStart))))
	n, _ := w.data.ReadAt(head, r.off)
	return string(head[:n]) == manifestStart
}

// keepManifest has the manifest kept, unless another entry has its name.
func (w *Writer) keepManifest() {
	if w.amender = w.opt.amender; w.amender != nil {
		return
	}
	w.ledger = &ledger{w: w}
	if w.amender = w.ledger; !w.ledger.begin() {
		w.amender, w.ledger = nil, nil
	}
}

// readWhole is an index's bytes and mode.
func readWhole(f storage.File) (string, fs.FileMode, error) {
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	if info.Size() > maxIndex {
		return "", 0, fmt.Errorf("%w: %d bytes, and %d is the most", ErrLimit, info.Size(), int64(maxIndex))
	}
	raw, err := readString(io.NewSectionReader(f, 0, info.Size()), info.Size())
	if err == nil && int64(len(raw)) != info.Size() {
		err = io.ErrUnexpectedEOF
	}
	return raw, info.Mode().Perm(), err
}
