package mp3

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A stored seek table saves the scan of the file. It is, after its first bytes, a row of unsigned
// varints:
//
//	"sm3" and one byte of version
//	size of the source, start and end of the stream in it, its first header
//	frames of the stream that can be decoded
//	by anchor: offset less that of the one before, held, left
//	CRC-32 (IEEE) of all that, 4 bytes, little-endian

const (
	tableMagic = "sm3\x01"
	maxLeft    = maxReservoir + maxFrame
)

// SeekTable returns the seek table, for SetSeekTable of another Decoder of the same bytes. It takes
// about seven bytes for each 64 frames of the stream, or 1.3 KB for five minutes. If need be it reads
// the headers of the frames that were not reached yet.
func (d *Decoder) SeekTable() ([]byte, error) {
	if _, err := d.Frames(); err != nil {
		return nil, err
	}
	b := []byte(tableMagic)
	for _, v := range d.fingerprint() {
		b = binary.AppendUvarint(b, v)
	}
	b = binary.AppendUvarint(b, uint64(d.table.total))
	before := d.stream.start
	for _, a := range d.table.anchors {
		b = binary.AppendUvarint(b, uint64(a.off-before))
		b = binary.AppendUvarint(b, uint64(a.held))
		b = binary.AppendUvarint(b, uint64(a.left))
		before = a.off
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)), nil
}

// fingerprint is what a table and a stream must agree in.
func (d *Decoder) fingerprint() [4]uint64 {
	s := &d.stream
	return [4]uint64{uint64(s.src.size), uint64(s.start), uint64(s.end), uint64(s.first)}
}

// SetSeekTable takes a table that SeekTable has made. It is refused, with an error in ErrCorrupt and
// no harm done, if a frame does not begin wherever the table says so, or if its end is not that of
// the stream. What is wrong between those places is found when they are passed, and the table
// then made anew.
func (d *Decoder) SetSeekTable(b []byte) error {
	t, ok := d.parseTable(b)
	if !ok {
		return fmt.Errorf("mp3: seek table of other bytes, or damaged: %w", ErrCorrupt)
	}
	for i, a := range t.anchors {
		ok, err := d.anchorFits(a)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("mp3: seek table: no frame %d at %#x: %w", i*anchorEvery, a.off, ErrCorrupt)
		}
	}
	last := len(t.anchors) - 1
	own := d.table
	d.table = seekTable{anchors: t.anchors, total: -1}
	if err := d.scan(1 << 62); err != nil || d.table.total != t.total {
		d.table = own
		if err != nil {
			return err
		}
		return fmt.Errorf("mp3: seek table: wrong behind %#x: %w", t.anchors[last].off, ErrCorrupt)
	}
	return nil
}

// parseTable reads a table and checks it against itself and the fingerprint.
func (d *Decoder) parseTable(b []byte) (t seekTable, ok bool) {
	n := len(b) - 4
	if n < len(tableMagic) || string(b[:len(tableMagic)]) != tableMagic ||
		crc32.ChecksumIEEE(b[:n]) != binary.LittleEndian.Uint32(b[n:]) {
		return t, false
	}
	r := bytes.NewReader(b[len(tableMagic):n])
	ok = true
	field := func(most uint64) uint64 {
		v, err := binary.ReadUvarint(r)
		ok = ok && err == nil && v <= most
		return v
	}
	for _, want := range d.fingerprint() {
		ok = field(want) == want && ok
	}
	t.total = int64(field(1 << 62))
	off, end := d.stream.start, d.stream.end
	for ok && r.Len() > 0 {
		off += int64(field(uint64(end - off)))
		t.anchors = append(t.anchors, anchor{off, uint16(field(maxReservoir)), uint16(field(maxLeft))})
	}
	ok = ok && int64(len(t.anchors)) == t.total/anchorEvery+1 && t.anchors[0] == anchor{off: d.stream.start}
	return t, ok
}

// anchorFits tells whether a frame begins at the anchor, or the stream ends.
func (d *Decoder) anchorFits(a anchor) (bool, error) {
	s := &d.stream
	if a.off+headerSize > s.end {
		return true, nil
	}
	var b [headerSize]byte
	if n, err := s.src.r.ReadAt(b[:], a.off); n < len(b) {
		return false, fmt.Errorf("mp3: reading at %#x: %w", a.off, err)
	}
	return headerOf(b[:]).continues(s.first), nil
}
