package soundpack

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/exp/mmap"
)

func baseName(path string) string { return filepath.Base(path) }

// A mapping is the data of a snapshot: the descriptor that it was opened on and a mapping of the same
// file. It is counted: unmapping it beside a reader would be a crash or, worse, other data under the
// same addresses, so it goes when the last holder does.
type mapping struct {
	r    *mmap.ReaderAt // nil: read by pread
	f    *os.File       // nil: on a server
	far  *remoteFile    // nil: on this machine
	size int64          // as of opening; the file may have grown since
	why  error          // why it is not mapped although asked for
	refs atomic.Int64

	fault atomic.Pointer[error] // the first error of reading
}

// newMapping maps the file that data is open on. mmap opens by path, so it is the same file only if
// the path leads to it both before and after. The caller keeps data if there is an error.
func newMapping(path string, data *os.File, info fs.FileInfo, noMap bool) (*mapping, error) {
	m := &mapping{f: data, size: info.Size()}
	m.refs.Store(1)
	if err := samePath(path, info); err != nil {
		return nil, err
	}
	if noMap {
		return m, nil
	}
	r, err := mmap.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errReplaced
		}
		m.why = err // no address space, or a file system that cannot map: pread serves
		return m, nil
	}
	if err := samePath(path, info); err != nil {
		r.Close()
		return nil, err
	}
	if int64(r.Len()) < m.size {
		r.Close()
		return nil, fmt.Errorf("%w: %d bytes when opened, %d now", ErrChanged, m.size, r.Len())
	}
	m.r = r
	return m, nil
}

func samePath(path string, info fs.FileInfo) error {
	now, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, now) {
		return errReplaced
	}
	return err
}

// acquire pins the mapping; false if it is gone.
func (m *mapping) acquire() bool {
	for {
		n := m.refs.Load()
		if n == 0 {
			return false
		}
		if m.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (m *mapping) release() error {
	if m.refs.Add(-1) > 0 {
		return nil
	}
	if m.far != nil {
		return m.far.Close()
	}
	err := m.f.Close()
	if m.r != nil {
		err = errors.Join(m.r.Close(), err)
	}
	return err
}

// ReadAt copies out of the mapping. Bytes that are gone are ErrChanged: those on a page of their own
// fault, those on the last page that is left read as zeros. The zeros reach to the end of that page
// and a read across it faults, so only a read that ends in a zero needs a look at the file's size.
func (m *mapping) ReadAt(p []byte, off int64) (n int, err error) {
	if !m.acquire() {
		return 0, ErrClosed
	}
	defer m.release()
	if m.r == nil {
		return m.full(m.source().ReadAt(p, off))
	}
	if n, err = m.copyOut(p, off); err != nil {
		return n, m.failed(err)
	}
	if n > 0 && p[n-1] == 0 && m.short() {
		return 0, m.failed(ErrChanged)
	}
	return n, nil
}

// failed keeps the first error of reading. Since callers read within bounds only, it is about the data and
// not about an entry.
func (m *mapping) failed(err error) error {
	if !errors.Is(err, ErrClosed) {
		first := err
		m.fault.CompareAndSwap(nil, &first)
	}
	return err
}

// copyOut turns a fault in the mapping into ErrChanged. The switch belongs to the goroutine and is
// set back; it costs 6 ns. A panic of any other kind goes on.
func (m *mapping) copyOut(p []byte, off int64) (n int, err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		switch r := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			n, err = 0, ErrChanged
		default:
			panic(r)
		}
	}()
	return m.r.ReadAt(p, off)
}

// pread reads with a system call each: for reading much once, it costs a fifth of a mapping's faults.
func (m *mapping) pread(p []byte, off int64) (n int, err error) {
	if !m.acquire() {
		return 0, ErrClosed
	}
	defer m.release()
	return m.full(m.source().ReadAt(p, off))
}

// source is the data where it is not mapped.
func (m *mapping) source() io.ReaderAt {
	if m.far != nil {
		return m.far
	}
	return m.f
}

// full tells an end where there was none when the pack was opened. Callers read within bounds only.
func (m *mapping) full(n int, err error) (int, error) {
	if err == io.EOF {
		err = ErrChanged
	}
	if err != nil {
		err = m.failed(err)
	}
	return n, err
}

// short tells whether the file has less bytes now than when it was opened. Seeking to its end is the
// way to ask that allocates nothing; nothing reads from the descriptor's own position.
func (m *mapping) short() bool {
	if m.far != nil {
		return m.far.changed.Load()
	}
	end, err := m.f.Seek(0, io.SeekEnd)
	return err == nil && end < m.size
}

// is tells whether two mappings are of the same file.
func (m *mapping) is(other *mapping) bool {
	if m.far != nil || other.far != nil {
		return m.far == other.far
	}
	a, err := m.f.Stat()
	b, err2 := other.f.Stat()
	return err == nil && err2 == nil && os.SameFile(a, b)
}
