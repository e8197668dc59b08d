package soundpack

// The crc layout: a data file with the bodies, one after another, and an index of 12-byte records in
// ascending order of id, looked up by halving.
//
//	offset  size  field, unsigned, little-endian
//	     0     4  id: the CRC-32 (IEEE 802.3, as in zip) of the path as it was given to the packer
//	     4     4  offset into the data file
//	     8     4  size in bytes
//
// Case and separators count in a path, byte for byte. Paths are not stored: in a listing the name of an
// entry is its id in eight lower-case hex digits, and it is found by that too, until a manifest or a
// list of paths gives its path back. Two paths may have one id, which a writer refuses; a reader that
// finds an id twice refuses that id alone. An old reader compared ids by the sign of a 32-bit
// difference, which is no order for ids 2^31 apart.

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math/bits"
	"path/filepath"
	"strings"
	"sync"
)

const crcRecord = 12 // bytes a record

type crc struct{}

func (crc) name() string   { return "crc" }
func (crc) traits() traits { return traits{exact: true, keyed: true, hashed: true, whole: true} }

func (crc) index(data string) (string, error) {
	ext := filepath.Ext(data)
	if strings.EqualFold(ext, ".index") {
		return "", fmt.Errorf("this is an index: give the data file beside it")
	}
	return strings.TrimSuffix(data, ext) + ".index", nil
}

func (crc) sniff(raw string, _ int64) error {
	if rest := len(raw) % crcRecord; rest != 0 {
		return fmt.Errorf("%w: index of %d bytes is no multiple of %d", ErrFormat, len(raw), crcRecord)
	}
	return nil
}

func (crc) load(raw string) (index, []problem, error) {
	x, err := newCRCIndex(raw)
	if err != nil {
		return nil, nil, err
	}
	var bad []problem
	if len(x.doubles) > 0 {
		bad = []problem{{slog.LevelWarn, "duplicate", fmt.Sprintf("%d ids are there twice, %08x the first of them: what they name cannot be told apart",
			len(x.doubles), x.first)}}
	}
	return x, bad, nil
}

// check lets any portable path pass: its id is all that is stored of it.
func (crc) check(name string) error { return checkPath(name) }

func (crc) bears(name string) bool { return name != "" }

// short is the id of the path; there is no second choice.
func (crc) short(name string, _ int) string { return crcText(pathID(name)) }

func (crc) aliased(string) bool { return true }

func (crc) plan(end int64, recs []record) error { return placeAll("crc", end, recs) }

func (crc) encode(recs []record) []byte {
	recs = arrange(crc{}, append([]record(nil), recs...))
	b := make([]byte, len(recs)*crcRecord)
	for i, r := range recs {
		rec := b[i*crcRecord:][:crcRecord]
		binary.LittleEndian.PutUint32(rec, crcKey(r.raw))
		binary.LittleEndian.PutUint32(rec[4:], uint32(r.off))
		binary.LittleEndian.PutUint32(rec[8:], uint32(r.size))
	}
	return b
}

// crcTables take eight bytes of a path at once ("slicing by 8", M. Kounavis and F. Berry, 2005): the n-th is
// what a byte does that n bytes follow.
var crcTables = func() (t [8][256]uint32) {
	t[0] = *crc32.IEEETable
	for n := 1; n < len(t); n++ {
		for i := range t[n] {
			t[n][i] = t[0][byte(t[n-1][i])] ^ t[n-1][i]>>8
		}
	}
	return t
}()

// pathID is the CRC-32 of a path. The standard library's would make a copy of it.
func pathID(path string) uint32 {
	t, id := &crcTables, ^uint32(0)
	for ; len(path) >= 8; path = path[8:] {
		x := le64(path, 0) ^ uint64(id)
		id = t[7][byte(x)] ^ t[6][byte(x>>8)] ^ t[5][byte(x>>16)] ^ t[4][byte(x>>24)] ^
			t[3][byte(x>>32)] ^ t[2][byte(x>>40)] ^ t[1][byte(x>>48)] ^ t[0][byte(x>>56)]
	}
	for i := range len(path) {
		id = t[0][byte(id)^path[i]] ^ id>>8
	}
	return ^id
}

// crcText is how an id is shown.
func crcText(id uint32) string { return fmt.Sprintf("%08x", id) }

// crcKey is the id of a record: its name is the id as it is shown, or the manifest's path.
func crcKey(raw string) uint32 {
	if id, ok := parseID(raw); ok {
		return id
	}
	return pathID(raw)
}

// parseID is the id that a name shows, if it is one.
func parseID(name string) (id uint32, ok bool) {
	if len(name) != 8 {
		return 0, false
	}
	for i := range 8 {
		c := name[i]
		switch {
		case '0' <= c && c <= '9':
			id = id<<4 | uint32(c-'0')
		case 'a' <= c && c <= 'f':
			id = id<<4 | uint32(c-'a'+10)
		default:
			return 0, false
		}
	}
	return id, true
}

// crcIndex is the index's own bytes, and where in them the ids begin that have the same upper bits. The ids
// of paths are spread evenly: some 32 are left, among which the rest of an id tells about where it is. For
// 1,000,000 entries these places take 128 KiB, which stays in the processor's cache when the index does not.
type crcIndex struct {
	raw     string
	starts  []uint32 // by the upper bits of an id, its first record; one more at the end
	shift   int      // the bits of an id that are left over
	doubles map[int32]bool
	first   uint32 // of the doubles

	textOnce sync.Once
	text     string // all ids as they are shown, made when the first is
}

func newCRCIndex(raw string) (*crcIndex, error) {
	n := len(raw) / crcRecord
	upper := max(bits.Len(uint(n))-5, 0)
	x := &crcIndex{raw: raw[:n*crcRecord], starts: make([]uint32, 1<<upper+1), shift: 32 - upper}
	bucket, last := 0, int64(-1)
	for i := range n {
		id := uint32(le32(raw, i*crcRecord))
		for b := int(uint64(id) >> x.shift); bucket <= b; bucket++ {
			x.starts[bucket] = uint32(i)
		}
		switch {
		case int64(id) < last:
			return nil, fmt.Errorf("%w: out of order: id %08x at record %d comes behind %08x", ErrFormat, id, i, uint32(last))
		case int64(id) == last:
			x.double(i, id)
		}
		last = int64(id)
	}
	for ; bucket < len(x.starts); bucket++ {
		x.starts[bucket] = uint32(n)
	}
	return x, nil
}

// double notes that the i-th record has the id of the one before it.
func (x *crcIndex) double(i int, id uint32) {
	if x.doubles == nil {
		x.doubles, x.first = map[int32]bool{}, id
	}
	x.doubles[int32(i-1)], x.doubles[int32(i)] = true, true
}

func (x *crcIndex) len() int { return len(x.raw) / crcRecord }

func (x *crcIndex) id(i int) uint32 { return uint32(le32(x.raw, i*crcRecord)) }

func (x *crcIndex) span(i int) (off, size int64) {
	r := x.raw[i*crcRecord:][:crcRecord]
	return int64(le32(r, 4)), int64(le32(r, 8))
}

func (x *crcIndex) at(i int) record {
	x.textOnce.Do(x.spell)
	off, size := x.span(i)
	return record{x.text[8*i : 8*i+8], off, size}
}

// spell writes all ids down, so that showing one costs no allocation.
func (x *crcIndex) spell() {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, 8*x.len())
	for i := range x.len() {
		id := x.id(i)
		for s := 28; s >= 0; s -= 4 {
			b = append(b, digits[id>>s&15])
		}
	}
	x.text = string(b)
}

// find takes an id as it is shown, or a path.
func (x *crcIndex) find(name string) int {
	if id, ok := parseID(name); ok {
		if i := x.search(id); i >= 0 {
			return i
		}
	}
	return x.search(pathID(name))
}

// search is the first record of an id. Where ids are spread evenly the guess is a record or two off:
// its memory is most often all that has to be fetched.
func (x *crcIndex) search(id uint32) int {
	b := uint64(id) >> x.shift
	lo, end := int(x.starts[b]), int(x.starts[b+1])
	if end-lo > crcCrowd {
		lo = x.halve(id, lo, end)
	} else if lo < end {
		rest := uint64(id) - b<<x.shift
		i := lo + int(rest*uint64(end-lo)>>x.shift)
		for i > lo && x.id(i) >= id {
			i--
		}
		for i < end && x.id(i) < id {
			i++
		}
		lo = i
	}
	if lo < end && x.id(lo) == id {
		return lo
	}
	return -1
}

// crcCrowd is how many records with the same upper bits are more than chance: somebody chose them.
const crcCrowd = 256

// halve is the first record in [lo, hi) whose id is not below id.
func (x *crcIndex) halve(id uint32, lo, hi int) int {
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); x.id(mid) < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (*crcIndex) odd(int) string { return "" }

func (x *crcIndex) twice(i int) bool { return x.doubles[int32(i)] }
