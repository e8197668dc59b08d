package soundpack

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"hash/crc32"
	"io"
)

// The same content once. A body is written, summed up on its way, and then compared with the one body
// of the same size and sum that there may be: if they are the same to the byte, its record names the
// bytes of that one, and what was written is written over by what comes next. So sources are read once,
// memory is flat, and bytes are believed and not sums.

// A digest sums up a body. The zero value does nothing.
type digest struct {
	sum  bool // whether a CRC-32C is wanted
	told bool // and by the manifest
	crc  uint32
	sha  hash.Hash // nil: not wanted
}

func (d *digest) Write(b []byte) (int, error) {
	if d.sum {
		d.crc = crc32.Update(d.crc, castagnoli, b)
	}
	if d.sha != nil {
		d.sha.Write(b)
	}
	return len(b), nil
}

// note tells the manifest.
func (d *digest) note(n *note) {
	if d.told {
		n.crc, n.hasCRC = d.crc, true
	}
	if d.sha != nil {
		n.sha256 = string(d.sha.Sum(make([]byte, 0, sha256.Size)))
	}
}

// body is a place in a file where a body is written.
type body struct {
	to  io.WriterAt
	off int64
	d   *digest

	head []byte // its first bytes, as many as there is room for
}

func (w *body) Write(b []byte) (int, error) {
	w.d.Write(b)
	w.head = append(w.head, b[:min(len(b), cap(w.head)-len(w.head))]...)
	n, err := w.to.WriteAt(b, w.off)
	w.off += int64(n)
	return n, err
}

// bodies finds bodies that are there already.
type bodies struct {
	sizes map[int64]int // how many sources have a size
	at    map[bodyKey]twin
	a, b  []byte
}

type bodyKey struct {
	size int64
	crc  uint32
}

type twin struct {
	off int64
	i   int // what find was told with it
}

func newBodies(sources []Source) *bodies {
	s := &bodies{sizes: make(map[int64]int, len(sources)), at: map[bodyKey]twin{}}
	for _, src := range sources {
		s.sizes[src.Size]++
	}
	return s
}

// twins tells whether a body of that size can be another's.
func (s *bodies) twins(size int64) bool { return size > 0 && s.sizes[size] > 1 }

// add tells of a body without looking whether there is another.
func (s *bodies) add(r record, crc uint32, i int) {
	if key := (bodyKey{r.size, crc}); r.size > 0 {
		if _, ok := s.at[key]; !ok {
			s.at[key] = twin{r.off, i}
		}
	}
}

// find is the i of a body that has the same bytes as the one at r, or -1; then r is kept as i for those
// that come. It compares with one body at most, so that bodies made to have one sum take no longer.
func (s *bodies) find(data io.ReaderAt, r record, crc uint32, i int) (int, error) {
	t, err := s.twin(data, r, crc, i)
	if t == nil {
		return -1, err
	}
	return t.i, nil
}

// twin is find that tells where, too; nil if there is none.
func (s *bodies) twin(data io.ReaderAt, r record, crc uint32, i int) (*twin, error) {
	if !s.twins(r.size) {
		return nil, nil
	}
	t, ok := s.at[bodyKey{r.size, crc}]
	if !ok {
		s.add(r, crc, i)
		return nil, nil
	}
	same, err := s.equal(data, t.off, r.off, r.size)
	if err != nil || !same {
		return nil, err
	}
	return &t, nil
}

// equal compares two parts of the data.
func (s *bodies) equal(data io.ReaderAt, x, y, size int64) (bool, error) {
	if s.a == nil {
		s.a, s.b = make([]byte, 128<<10), make([]byte, 128<<10)
	}
	for done := int64(0); done < size; {
		n := min(int64(len(s.a)), size-done)
		if _, err := io.ReadFull(io.NewSectionReader(data, x+done, n), s.a[:n]); err != nil {
			return false, err
		}
		if _, err := io.ReadFull(io.NewSectionReader(data, y+done, n), s.b[:n]); err != nil {
			return false, err
		}
		if !bytes.Equal(s.a[:n], s.b[:n]) {
			return false, nil
		}
		done += n
	}
	return true, nil
}
