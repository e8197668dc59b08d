package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// source is the bytes of one entry: a reader and how many bytes it has.
type source struct {
	r    io.ReaderAt
	size int64
}

// readFull fills b from offset off. An error of the reader is wrapped; bytes that are not there,
// although size said so, are ErrCorrupt and io.ErrUnexpectedEOF.
func (s source) readFull(b []byte, off int64) error {
	n, err := s.readUpTo(b, off)
	switch {
	case err != nil:
		return err
	case n < len(b):
		return fmt.Errorf("%w: %w at 0x%x of 0x%x bytes", ErrCorrupt, io.ErrUnexpectedEOF, off+int64(n), s.size)
	}
	return nil
}

// readUpTo reads len(b) bytes at off, or as many as there are before the end. Running into the end
// is no error.
func (s source) readUpTo(b []byte, off int64) (int, error) {
	if off < 0 || off >= s.size || len(b) == 0 {
		return 0, nil
	}
	b = b[:min(int64(len(b)), s.size-off)]
	n, err := s.r.ReadAt(b, off)
	if n == len(b) || errors.Is(err, io.EOF) || err == nil {
		return n, nil
	}
	return n, fmt.Errorf("read at 0x%x: %w", off, err)
}

// section is the part of s from off on, n bytes long, both clamped to s.
func (s source) section(off, n int64) source {
	off = min(max(off, 0), s.size)
	n = min(max(n, 0), s.size-off)
	return source{io.NewSectionReader(s.r, off, n), n}
}

// cursor reads fields one after another. Reading past the end gives zeros and sets short.
type cursor struct {
	b     []byte
	order binary.ByteOrder
	short bool
}

// take returns the next n bytes, or nil where there are fewer.
func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.b, c.short = nil, true
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}
