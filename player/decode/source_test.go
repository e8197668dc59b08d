package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

func TestSourceReads(t *testing.T) {
	data := []byte("0123456789")
	s := source{bytes.NewReader(data), 10}
	for _, c := range []struct {
		off  int64
		n    int
		want string
	}{{0, 10, "0123456789"}, {3, 4, "3456"}, {8, 5, "89"}, {10, 1, ""}, {99, 1, ""}, {-1, 4, ""}, {0, 0, ""}} {
		b := make([]byte, c.n)
		n, err := s.readUpTo(b, c.off)
		if err != nil || string(b[:n]) != c.want {
			t.Errorf("%d bytes at %d: %q, %v, want %q", c.n, c.off, b[:n], err, c.want)
		}
		err = s.readFull(b, c.off)
		if n == c.n && err != nil || n < c.n && (!errors.Is(err, ErrCorrupt) || !errors.Is(err, io.ErrUnexpectedEOF)) {
			t.Errorf("all of %d bytes at %d: %v", c.n, c.off, err)
		}
	}
}

// TestSourceShorterThanItSays has a reader that ends before its size.
func TestSourceShorterThanItSays(t *testing.T) {
	s := source{bytes.NewReader([]byte("01234")), 10}
	b := make([]byte, 8)
	if n, err := s.readUpTo(b, 0); n != 5 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	wants(t, s.readFull(b, 0), ErrCorrupt)
}

func TestSourceSections(t *testing.T) {
	s := source{bytes.NewReader([]byte("0123456789")), 10}
	for _, c := range []struct {
		off, n int64
		want   string
	}{{2, 3, "234"}, {8, 100, "89"}, {20, 5, ""}, {-5, 2, "01"}, {4, -1, ""}, {0, 1 << 62, "0123456789"}} {
		sec := s.section(c.off, c.n)
		b := make([]byte, 20)
		n, err := sec.readUpTo(b, 0)
		if err != nil || string(b[:n]) != c.want || sec.size != int64(len(c.want)) {
			t.Errorf("section of %d at %d: %q of %d, %v", c.n, c.off, b[:n], sec.size, err)
		}
	}
}

func TestCursor(t *testing.T) {
	c := cursor{b: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, order: binary.LittleEndian}
	if a, b, d, e := c.u8(), c.u16(), c.u32(), c.u64(); a != 1 || b != 0x0302 || d != 0x07060504 || e != 0x0f0e0d0c0b0a0908 || c.short {
		t.Errorf("%x %x %x %x, short %t", a, b, d, e, c.short)
	}
	if c.u8() != 0 || !c.short || c.u16() != 0 || c.u32() != 0 || c.u64() != 0 || c.take(1) != nil {
		t.Error("reading past the end gives something")
	}
	c = cursor{b: []byte{1, 2}, order: binary.BigEndian}
	if c.u16() != 0x0102 || c.short {
		t.Error("big-endian is not")
	}
	if c.take(-1) != nil || !c.short {
		t.Error("a negative length is taken")
	}
}
