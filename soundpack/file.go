package soundpack

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"sync/atomic"
	"time"
)

// A File is an open entry: an fs.File, io.ReaderAt and io.Seeker. It pins the data, so that it reads
// on after the pack was closed, until it is closed itself. Read and Seek share a position and belong
// to one goroutine at a time; ReadAt and Close may be called from any.
type File struct {
	io     io.SectionReader
	p      *Pack
	e      Entry
	closed atomic.Bool
}

// OpenEntry opens an entry of this pack, one that shares its name with an earlier one included.
// An entry that reaches past the data is an ErrFormat.
func (p *Pack) OpenEntry(e Entry) (*File, error) {
	f, err := p.openPinned(e)
	if err != nil {
		return nil, p.at("open", e, e.Offset, err)
	}
	return f, nil
}

func (p *Pack) openPinned(e Entry) (*File, error) {
	if err := p.pin(e); err != nil {
		return nil, err
	}
	f := &File{p: p, e: e}
	if n := p.table(e.Index); n > 0 {
		plain, err := p.plainTable(e, n)
		if err != nil {
			p.m.release()
			return nil, err
		}
		f.io = *io.NewSectionReader(tableData{f, bytes.NewReader(plain)}, 0, n)
		return f, nil
	}
	f.io = *io.NewSectionReader((*fileData)(f), e.Offset, e.Size)
	return f, nil
}

// pin checks the entry and takes hold of the mapping.
func (p *Pack) pin(e Entry) error {
	if p.closed.Load() {
		return ErrClosed
	}
	if err := p.bounds(e); err != nil {
		return err
	}
	if !p.m.acquire() {
		return ErrClosed
	}
	return nil
}

// Entry is what was opened.
func (f *File) Entry() Entry { return f.e }

// Size is the length in bytes of what is read. It is that of the entry, but for a JSON table, which is
// read as the JSON that it was made of.
func (f *File) Size() int64 { return f.io.Size() }

// Read reads on from the position.
func (f *File) Read(b []byte) (int, error) { return f.io.Read(b) }

// ReadAt reads at an offset into the entry, and leaves the position alone.
func (f *File) ReadAt(b []byte, off int64) (int, error) { return f.io.ReadAt(b, off) }

// Seek moves the position.
func (f *File) Seek(offset int64, whence int) (int64, error) { return f.io.Seek(offset, whence) }

// Stat describes the file; its time is that of the data.
func (f *File) Stat() (fs.FileInfo, error) { return f.p.info(f.e), nil }

// Close lets go of the data. A second Close is an ErrClosed.
func (f *File) Close() error {
	if f.closed.Swap(true) {
		return f.p.at("close", f.e, f.e.Offset, ErrClosed)
	}
	return f.p.m.release()
}

// fileData is the data as a File reads it, by offsets into the data.
type fileData File

func (d *fileData) ReadAt(b []byte, off int64) (int, error) {
	if d.closed.Load() {
		return 0, d.p.at("read", d.e, off, ErrClosed)
	}
	return reader{d.p, d.e}.ReadAt(b, off)
}

// reader is the data as read for an entry, which its errors name.
type reader struct {
	p *Pack
	e Entry
}

func (r reader) ReadAt(b []byte, off int64) (int, error) {
	n, err := r.p.m.ReadAt(b, off)
	if err != nil {
		err = r.p.at("read", r.e, off, err)
	}
	return n, err
}

// fileInfo describes an entry or a folder, and is its own fs.DirEntry.
type fileInfo struct {
	name string
	size int64
	mode fs.FileMode
	time time.Time
	sys  any
}

func (i *fileInfo) Name() string               { return i.name }
func (i *fileInfo) Size() int64                { return i.size }
func (i *fileInfo) Mode() fs.FileMode          { return i.mode }
func (i *fileInfo) Type() fs.FileMode          { return i.mode.Type() }
func (i *fileInfo) ModTime() time.Time         { return i.time }
func (i *fileInfo) IsDir() bool                { return i.mode.IsDir() }
func (i *fileInfo) Sys() any                   { return i.sys }
func (i *fileInfo) Info() (fs.FileInfo, error) { return i, nil }
func (i *fileInfo) String() string             { return fs.FormatFileInfo(i) }

// info describes an entry; its Sys is the Entry.
func (p *Pack) info(e Entry) *fileInfo {
	return &fileInfo{name: path.Base(e.Name), size: p.Size(e), mode: 0o444, time: p.modTime, sys: e}
}
