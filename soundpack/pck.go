package soundpack

// The pck layout: one file with a numbered table.
//
//	offset   size  field, unsigned, little-endian
//	     0      4  version, 1
//	     4      4  number of entries n
//	 8 + 8i     4  offset of body i, from the start of the file
//	12 + 8i     4  size of body i in bytes
//	 8 + 8n        bodies
//
// An entry's name is its number, from 0. An old packer wrote whole blocks of 8,192 bytes, so that up to
// 8,191 bytes of padding follow a body: such gaps are not damage. The manifest is the last entry, known
// by its first bytes.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
)

const (
	pckVersion = 1
	pckHead    = 8    // bytes before the table
	pckRecord  = 8    // bytes a record
	pckBlock   = 8192 // what an old packer wrote at once
)

type pck struct{}

func (pck) name() string   { return "pck" }
func (pck) traits() traits { return traits{head: true, keyed: true, whole: true} }

func (pck) index(string) (string, error) { return "", nil }

func (pck) probe(r io.ReaderAt, size int64) bool {
	head, err := readString(io.NewSectionReader(r, 0, 12), 12)
	if err != nil || len(head) < pckHead || le32(head, 0) != pckVersion {
		return false
	}
	table := pckHead + pckRecord*int64(le32(head, 4))
	return table <= size && (table == pckHead || len(head) == 12 && int64(le32(head, 8)) == table)
}

// read is the head and as many records as the head tells of and the data has room for.
func (pck) read(r io.ReaderAt, size, limit int64) (string, error) {
	head, err := readString(io.NewSectionReader(r, 0, pckHead), pckHead)
	if err != nil || len(head) < pckHead || le32(head, 0) != pckVersion {
		return head, err
	}
	want := pckHead + pckRecord*int64(le32(head, 4))
	if want <= size && want > limit {
		return "", fmt.Errorf("%w: a table of %d bytes, and %d is the most", ErrLimit, want, limit)
	}
	want = min(want, size)
	return readString(io.NewSectionReader(r, 0, want), want)
}

func (pck) sniff(raw string, data int64) error {
	switch {
	case len(raw) < pckHead:
		return fmt.Errorf("%w: %d bytes are too few for a table", ErrFormat, data)
	case le32(raw, 0) != pckVersion:
		return fmt.Errorf("version %d of the pck layout is not known, only %d: %w", le32(raw, 0), pckVersion, errors.ErrUnsupported)
	}
	if n := int64(le32(raw, 4)); pckHead+pckRecord*n > int64(len(raw)) {
		return fmt.Errorf("%w: a table of %d entries does not fit into %d bytes", ErrFormat, n, data)
	}
	return nil
}

func (pck) load(raw string) (index, []problem, error) {
	x := pckIndex{raw}
	var bad []problem
	if x.len() > 0 {
		if off, _ := x.span(0); off != int64(len(raw)) {
			bad = []problem{{slog.LevelWarn, "index", fmt.Sprintf("the first body is at %d and not right behind the table, at %d", off, len(raw))}}
		}
	}
	return x, bad, nil
}

// fits lets the last body be followed by an old packer's padding.
func (pck) fits(x index, raw string, size int64) bool {
	end, ok := behindTable(x, int64(len(raw)), size)
	return ok && size-end < pckBlock && (x.len() > 0 || size == end)
}

// check refuses a name that is a number, since a number is that of an entry.
func (pck) check(name string) error {
	if _, ok := parseNumber(name); ok {
		return fmt.Errorf("a number, which in the pck layout is that of an entry")
	}
	return checkPath(name)
}

func (pck) bears(string) bool { return true }

func (pck) short(_ string, n int) string { return strconv.Itoa(n) }

func (pck) aliased(string) bool { return true }

func (pck) plan(end int64, recs []record) error { return placeAll("pck", end, recs) }

func (pck) head(recs []record) int64 { return pckHead + pckRecord*int64(len(recs)) }

func (pck) encode(recs []record) []byte {
	b := binary.LittleEndian.AppendUint32(nil, pckVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(recs)))
	for _, r := range recs {
		b = binary.LittleEndian.AppendUint32(b, uint32(r.off))
		b = binary.LittleEndian.AppendUint32(b, uint32(r.size))
	}
	return b
}

// parseNumber is the number that a name is, without leading zeros.
func parseNumber(name string) (n int, ok bool) {
	if len(name) == 0 || len(name) > 10 || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	for i := range len(name) {
		c := name[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// pckIndex is the head and the table, whole.
type pckIndex struct{ raw string }

func (x pckIndex) len() int { return (len(x.raw) - pckHead) / pckRecord }

func (x pckIndex) span(i int) (off, size int64) {
	r := x.raw[pckHead+i*pckRecord:][:pckRecord]
	return int64(le32(r, 0)), int64(le32(r, 4))
}

func (x pckIndex) at(i int) record {
	off, size := x.span(i)
	return record{strconv.Itoa(i), off, size}
}

func (x pckIndex) find(name string) int {
	if n, ok := parseNumber(name); ok && n < x.len() {
		return n
	}
	return -1
}

func (pckIndex) odd(int) string { return "" }

func (pckIndex) twice(int) bool { return false }
