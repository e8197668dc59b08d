package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// An Ogg file is pages, one behind the other, of one or several logical streams (RFC 3533, section
// 6). All fields are little-endian:
//
//	 0  4  capture pattern "OggS"
//	 4  1  version, 0
//	 5  1  flags: 1 = the first packet is continued, 2 = first page, 4 = last page of its stream
//	 6  8  granule position, signed; -1 where no packet ends on the page
//	14  4  serial number of the logical stream
//	18  4  number of the page within its stream
//	22  4  CRC-32 of the page with this field zero: polynomial 0x04c11db7, from 0, highest bit first
//	26  1  number of segments n
//	27  n  length of each segment; a packet ends with the first one shorter than 255
//	       the segments
const (
	oggCapture   = "OggS"
	oggFixed     = 27
	oggMaxHead   = oggFixed + 255
	oggMaxPage   = oggMaxHead + 255*255
	oggContinued = 1
	oggFirst     = 2
	oggLast      = 4
)

// How much is read at once: pages of 4 KiB are what libogg makes, and a look at a head alone needs
// no more than a head.
const (
	oggAhead     = 8 << 10
	oggHeadAhead = 512
)

// oggPage is one page. The slices are good until the next call to the reader.
type oggPage struct {
	off      int64 // of the page in the file
	len      int64 // of the whole page
	flags    byte
	granule  int64
	serial   uint32
	seq      uint32
	crc      uint32
	segments []byte
	body     []byte // nil where only the head was asked for
}

// told tells whether the page says where it ends. No sound is longer than the limit, which keeps
// sums from running over.
func (p *oggPage) told() bool { return p.granule >= 0 && p.granule < 1<<60 }

// oggSkip is what did not belong to any page in front of one.
type oggSkip struct {
	off, len int64
	bad      bool // a page was among it whose checksum is wrong
}

// oggReader finds pages. One is believed only if its checksum is right; whatever else there is
// (zeros, rubbish, damaged pages, pages that are cut off) is passed over.
type oggReader struct {
	source
	at    int64 // where next looks
	limit int64 // next finds no page that begins here or behind
	page  oggPage
	skip  oggSkip // what next passed over
	torn  bool    // a page runs past the end of the file
	waste int64   // bytes summed in vain
	ahead int
	buf   []byte
	off   int64 // of buf in the file
}

func newOggReader(src source) oggReader {
	return oggReader{source: src, limit: src.size, ahead: oggAhead}
}

// window returns n bytes at off, or what there is before the end of the file; more than n if they
// are there anyway. It is good until the next call.
func (o *oggReader) window(off int64, n int) ([]byte, error) {
	if in := off - o.off; in >= 0 && in+int64(n) <= int64(len(o.buf)) {
		return o.buf[in:], nil
	}
	n = max(n, o.ahead)
	if n > cap(o.buf) {
		o.buf = make([]byte, 0, (n+oggAhead-1)/oggAhead*oggAhead)
	}
	got, err := o.readUpTo(o.buf[:n], off)
	o.buf, o.off = o.buf[:got], off
	if err != nil {
		o.buf = o.buf[:0]
		return nil, fmt.Errorf("ogg: %w", err)
	}
	return o.buf, nil
}

// slim gives the window back where a large page, a picture in the comments say, has made it grow.
func (o *oggReader) slim() {
	if cap(o.buf) > 2*oggAhead {
		o.buf, o.off = nil, 0
	}
}

// head reads the head of a page that begins at off, and tells whether one seems to.
func (o *oggReader) head(off int64) (bool, error) {
	w, err := o.window(off, oggFixed)
	if len(w) < oggFixed || string(w[:4]) != oggCapture || w[4] != 0 {
		return false, err
	}
	n := oggFixed + int(w[26])
	if w, err = o.window(off, n); len(w) < n {
		return false, err
	}
	le := binary.LittleEndian
	o.page = oggPage{
		off: off, flags: w[5], granule: int64(le.Uint64(w[6:])), serial: le.Uint32(w[14:]),
		seq: le.Uint32(w[18:]), crc: le.Uint32(w[22:]), segments: w[oggFixed:n],
	}
	size := n
	for _, s := range o.page.segments {
		size += int(s)
	}
	o.page.len = int64(size)
	return true, nil
}

// whole reads the page that begins at off, and tells whether there is one with the right checksum.
func (o *oggReader) whole(off int64) (bool, error) {
	ok, err := o.head(off)
	if !ok {
		return false, err
	}
	n := oggFixed + len(o.page.segments)
	size := int(o.page.len)
	w, err := o.window(off, size)
	if len(w) < size {
		o.torn = true
		return false, err
	}
	o.page.segments, o.page.body = w[oggFixed:n], w[n:size]
	sum := oggCRC(oggCRC(oggCRC(0, w[:22]), make([]byte, 4)), w[26:size])
	if sum == o.page.crc {
		return true, nil
	}
	return false, o.wasted(o.page.len)
}

// wasted counts n bytes of a page that was none. Each of them may be summed again as part of the
// next such page, so a file made for it could keep the search busy for hours; it is given up.
func (o *oggReader) wasted(n int64) error {
	if o.waste += n; o.waste > 16<<20+4*o.size {
		return fmt.Errorf("%w: ogg: too many false pages, the last at 0x%x", ErrCorrupt, o.page.off)
	}
	return nil
}

// next reads the next page from o.at on into o.page, and what was passed over on the way into
// o.skip. The end is io.EOF.
func (o *oggReader) next() error {
	o.skip = oggSkip{off: o.at}
	from := o.at
	for {
		off, err := o.search(from, o.limit)
		if err != nil || off < 0 {
			o.skip.len = max(0, o.limit-o.skip.off)
			return oggEnd(err)
		}
		ok, err := o.whole(off)
		if err != nil {
			return err
		}
		if ok {
			o.skip.len = off - o.skip.off
			o.at = off + o.page.len
			return nil
		}
		o.skip.bad = true
		from = off + 1
	}
}

func oggEnd(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// search returns where the next capture pattern is that begins in [from, to), -1 for none.
func (o *oggReader) search(from, to int64) (int64, error) {
	for from < to {
		w, err := o.window(from, len(oggCapture))
		if err != nil || len(w) < len(oggCapture) {
			return -1, err
		}
		if i := bytes.Index(w, []byte(oggCapture)); i >= 0 {
			if from += int64(i); from < to {
				return from, nil
			}
			return -1, nil
		}
		from += int64(len(w) - len(oggCapture) + 1)
	}
	return -1, nil
}

// previous reads the last page in [from, to) that want is true for. It tells whether there is one.
func (o *oggReader) previous(from, to int64, want func(*oggPage) bool) (bool, error) {
	for hi := to; hi > from; {
		lo := max(from, hi-oggAhead)
		for {
			off, err := o.searchBack(lo, hi)
			if err != nil {
				return false, err
			}
			if off < 0 {
				break
			}
			hi = off
			ok, err := o.whole(off)
			if err != nil || ok && want(&o.page) {
				return err == nil, err
			}
		}
		hi = lo
	}
	return false, nil
}

// searchBack returns where the last capture pattern is that begins in [from, to), -1 for none. They
// are at most oggAhead apart.
func (o *oggReader) searchBack(from, to int64) (int64, error) {
	n := int(to-from) + len(oggCapture) - 1
	w, err := o.window(from, n)
	if err != nil {
		return -1, err
	}
	if i := bytes.LastIndex(w[:min(n, len(w))], []byte(oggCapture)); i >= 0 {
		return from + int64(i), nil
	}
	return -1, nil
}

// walk calls f for each page from an offset on, until it returns false. It goes by the lengths of
// the pages, without reading them: only a first page is made sure of, and the page behind rubbish.
func (o *oggReader) walk(from int64, f func(*oggPage) bool) error {
	o.ahead = oggHeadAhead
	defer func() { o.ahead = oggAhead }()
	before := from - 1
	for at := from; ; at = before + o.page.len {
		ok, err := o.head(at)
		if ok && o.page.flags&oggFirst != 0 {
			ok, err = o.whole(at)
		}
		if !ok && err == nil {
			err = o.resume(before, at)
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !f(&o.page):
			return nil
		}
		before = o.page.off
	}
}

// resume finds the next page where none begins at an offset that the page before told. Either
// rubbish is there, or that page's length is wrong and the next one begins within it.
func (o *oggReader) resume(before, at int64) error {
	if before < at-1 {
		ok, err := o.whole(before)
		if err != nil {
			return err
		}
		if !ok {
			at = before + 1
		}
	}
	o.at = at
	return o.next()
}

// oggTables are the CRC of one byte followed by 0 to 7 zero bytes, so that eight bytes are taken
// at a time.
var oggTables = func() (t [8][256]uint32) {
	for i := range t[0] {
		c := uint32(i) << 24
		for range 8 {
			c = c<<1 ^ 0x04c11db7&-(c>>31)
		}
		t[0][i] = c
	}
	for k := 1; k < len(t); k++ {
		for i, c := range t[k-1] {
			t[k][i] = c<<8 ^ t[0][c>>24]
		}
	}
	return t
}()

// oggCRC goes on with the checksum c over b.
func oggCRC(c uint32, b []byte) uint32 {
	t := &oggTables
	for ; len(b) >= 8; b = b[8:] {
		c ^= binary.BigEndian.Uint32(b)
		c = t[7][c>>24] ^ t[6][c>>16&255] ^ t[5][c>>8&255] ^ t[4][c&255] ^
			t[3][b[4]] ^ t[2][b[5]] ^ t[1][b[6]] ^ t[0][b[7]]
	}
	for _, x := range b {
		c = c<<8 ^ t[0][byte(c>>24)^x]
	}
	return c
}
