package soundpack

// The split layout: a data file with the bodies, one after another, and an index of 28-byte records.
//
//	offset  size  field
//	     0    20  name, NUL-terminated and NUL-padded; its bytes are not text of any certain encoding
//	    20     4  offset into the data file, unsigned, little-endian
//	    24     4  size in bytes, unsigned, little-endian
//
// The index lies apart so that appending writes at the end of the data and rewrites the small index
// alone. Names compare without regard to ASCII case, and the first of equal names counts, as it does
// for a C program that scans from the start. Bytes behind the first NUL do not count; a reader takes
// 20 bytes without a NUL too. A name that does not fit becomes an alias, which a tilde marks:
// "battle_th~k3x9.wav". Some old writers put a 32-bit count n in front: a size of 28 n + 4.

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math/bits"
	"math/rand/v2"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	splitRecord = 28            // bytes a record
	splitName   = 20            // bytes of its name field
	splitWrite  = splitName - 1 // bytes of a name that is written, since C readers want the NUL
)

type split struct{}

func (split) name() string   { return "split" }
func (split) traits() traits { return traits{} }

func (split) index(data string) (string, error) {
	ext := filepath.Ext(data)
	if strings.EqualFold(ext, ".inx") {
		return "", fmt.Errorf("this is an index: give the data file beside it")
	}
	return strings.TrimSuffix(data, ext) + ".inx", nil
}

// sniff refuses text given as an index. A true index has a NUL in each record whose offset or size is
// below 16 MiB or whose name has 19 bytes at most, so text without one is told from an index unless
// an entry of it fits the data.
func (split) sniff(raw string, data int64) error {
	head := raw[:min(len(raw), 1<<12)]
	for i := range len(head) {
		if c := head[i]; c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return nil
		}
	}
	for i := 0; i+splitRecord <= len(head); i += splitRecord {
		if r := splitAt(raw, i); r.off+r.size <= data {
			return nil
		}
	}
	if len(head) < splitRecord {
		return nil // too short to tell; the remainder is reported
	}
	return fmt.Errorf("%w: does not look like an index: it is text", ErrFormat)
}

func (split) load(raw string) (index, []problem, error) {
	n, rest := len(raw)/splitRecord, len(raw)%splitRecord
	var bad []problem
	switch {
	case rest == 0:
	case rest == 4 && le32(raw, 0) == uint64(n):
		raw = raw[4:]
	default:
		bad = []problem{{slog.LevelError, "index", fmt.Sprintf("index of %d bytes is no multiple of %d: %d records and %d bytes that are ignored",
			len(raw), splitRecord, n, rest)}}
	}
	return newSplitIndex(raw[:n*splitRecord]), bad, nil
}

func (split) check(name string) error { return checkName(name, splitWrite) }

func (split) bears(name string) bool {
	return name != "" && len(name) <= splitWrite && strings.IndexByte(name, 0) < 0
}

// short is the beginning of the base name, a tilde, four characters that depend on the whole name, and
// the extension. They do not depend on what else is in the pack, so that an alias stays when other
// files come and go, unless it is taken: then n counts up.
func (split) short(name string, n int) string {
	base := path.Base(name)
	ext := path.Ext(base)
	if len(ext) > 6 || len(ext) == len(base) {
		ext = ""
	}
	const digits = "0123456789abcdefghjkmnpqrstvwxyz"
	sum := crc32.Checksum([]byte(foldASCII(name)), castagnoli) + uint32(n)*0x9e3779b1
	mark := []byte("~....")
	for i := range 4 {
		mark[1+i] = digits[sum>>(27-5*i)&31]
	}
	stem := strings.TrimSuffix(base, ext)
	room := min(splitWrite-len(mark)-len(ext), len(stem))
	for room > 0 && room < len(stem) && !utf8.RuneStart(stem[room]) {
		room--
	}
	return stem[:room] + string(mark) + ext
}

func (split) aliased(raw string) bool { return strings.IndexByte(raw, '~') >= 0 }

func (split) plan(end int64, recs []record) error { return placeAll("split", end, recs) }

// placeAll places bodies behind end; offsets have 32 bits in every layout.
func placeAll(layout string, end int64, recs []record) error {
	for i := range recs {
		recs[i].off = end
		if end += recs[i].size; end > maxData {
			return fmt.Errorf("%w: with %q the data passes the %d bytes that the %s layout can address", ErrLimit, show(recs[i].raw), int64(maxData), layout)
		}
	}
	return nil
}

func (split) encode(recs []record) []byte {
	b := make([]byte, len(recs)*splitRecord)
	for i, r := range recs {
		rec := b[i*splitRecord:][:splitRecord]
		copy(rec[:splitName], r.raw)
		binary.LittleEndian.PutUint32(rec[20:], uint32(r.off))
		binary.LittleEndian.PutUint32(rec[24:], uint32(r.size))
	}
	return b
}

// splitIndex is a hash set of index nodes: an open-addressing table of record numbers over the
// index's own bytes, which are kept as a string so that names are cut out of them without a copy.
// It costs 28 bytes a record and 8 to 16 for the slots. The bits of a slot that the record number
// leaves free hold some of the hash, so that a slot of another name seldom costs a look at its record,
// which in a large index is a cache miss.
type splitIndex struct {
	raw    string    // whole records
	slots  []uint32  // hash bits above number, record number + 1 below; 0 is empty; at most half full
	number uint32    // the bits of a slot that hold the record number
	seed   [3]uint64 // secret, so that nobody can write an index whose names all collide
}

func newSplitIndex(raw string) *splitIndex {
	n := len(raw) / splitRecord
	x := &splitIndex{
		raw:    raw,
		slots:  make([]uint32, 1<<bits.Len(uint(max(2*n-1, 1)))),
		number: 1<<bits.Len(uint(n)) - 1,
		seed:   [3]uint64{rand.Uint64(), rand.Uint64(), rand.Uint64() | 1},
	}
	for i := range n {
		k := recordKey(raw, i*splitRecord)
		h := k.hash(&x.seed)
		if j := x.probe(k, h); x.slots[j] == 0 { // else the first one counts
			x.slots[j] = x.tag(h) | uint32(i+1)
		}
	}
	return x
}

// tag is the part of a hash that a slot holds; the place of the slot comes from other bits.
func (x *splitIndex) tag(h uint64) uint32 { return uint32(h>>32) &^ x.number }

// probe is the slot that holds k, whose hash is h, or the empty one where k belongs.
func (x *splitIndex) probe(k nameKey, h uint64) uint64 {
	mask := uint64(len(x.slots) - 1)
	for j, tag := h&mask, x.tag(h); ; j = (j + 1) & mask {
		s := x.slots[j]
		if s == 0 || s&^x.number == tag && recordKey(x.raw, int(s&x.number-1)*splitRecord) == k {
			return j
		}
	}
}

func (x *splitIndex) len() int { return len(x.raw) / splitRecord }

func (x *splitIndex) find(name string) int {
	if len(name) > splitName || strings.IndexByte(name, 0) >= 0 {
		return -1
	}
	k := foldedKey(name)
	return int(x.slots[x.probe(k, k.hash(&x.seed))]&x.number) - 1
}

func (x *splitIndex) at(i int) record { return splitAt(x.raw, i*splitRecord) }

func (x *splitIndex) span(i int) (off, size int64) {
	r := x.raw[i*splitRecord:][:splitRecord]
	return int64(le32(r, 20)), int64(le32(r, 24))
}

func (*splitIndex) twice(int) bool { return false } // the first one counts

// splitAt reads the record at byte i of an index.
func splitAt(raw string, i int) record {
	r := raw[i : i+splitRecord]
	name := r[:splitName]
	if end := strings.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	return record{name, int64(le32(r, 20)), int64(le32(r, 24))}
}

func (x *splitIndex) odd(i int) string {
	field := x.raw[i*splitRecord:][:splitName]
	switch name, rest, ok := strings.Cut(field, "\x00"); {
	case !ok:
		return "the name fills all 20 bytes, with no NUL for a C reader"
	case strings.Trim(rest, "\x00") != "":
		return fmt.Sprintf("bytes that are not zero behind the NUL that ends the name at %d", len(name))
	}
	return ""
}

// nameKey is a name's 20 bytes, A-Z folded to a-z byte by byte and zero behind the first NUL. It is
// never folded as text: bytes that are not UTF-8 would all become U+FFFD, and KELVIN SIGN a k.
type nameKey struct {
	a, b uint64
	c    uint32
}

const low = 0x0101010101010101 // the lowest bit of each byte

// fold lower-cases A-Z in eight bytes at once.
func fold(x uint64) uint64 {
	h := x & (0x7f * low)
	ge := h + (0x80-'A')*low     // bit 7 is set where the low 7 bits are >= 'A'
	gt := h + (0x80-'Z'-1)*low   // and where they are > 'Z'
	m := ge &^ gt &^ x           // bit 7 where the byte is A-Z
	return x | (m&(0x80*low))>>2 // 0x20 is what tells a from A
}

// cut zeroes what lies behind the first zero byte of x and tells whether there is one.
func cut(x uint64) (uint64, bool) {
	z := (x - low) &^ x & (0x80 * low) // its lowest set bit marks the first zero byte
	if z == 0 {
		return x, false
	}
	return x & (z&-z - 1), true // bits above bit 7 of that byte go; the byte itself is zero
}

// recordKey is the key of the record at byte i of an index.
func recordKey(s string, i int) nameKey {
	s = s[i : i+splitName]
	a, end := cut(le64(s, 0))
	if end {
		return nameKey{a: fold(a)}
	}
	b, end := cut(le64(s, 8))
	if end {
		return nameKey{a: fold(a), b: fold(b)}
	}
	c, _ := cut(le32(s, 16) | 0xff<<32) // the bytes above must not look like an end
	return nameKey{fold(a), fold(b), uint32(fold(c))}
}

// foldedKey is the key of a name of at most 20 bytes without NUL. The loads overlap instead of
// copying bytes, since a store of bytes followed by a wide load stalls.
func foldedKey(s string) (k nameKey) {
	n := len(s)
	switch {
	case n > 16:
		k.a, k.b = le64(s, 0), le64(s, 8)
		k.c = uint32(le32(s, n-4) >> (8 * (20 - n)))
	case n > 8:
		k.a, k.b = le64(s, 0), le64(s, n-8)>>(8*(16-n))
	case n >= 4:
		k.a = le32(s, 0) | le32(s, n-4)<<(8*(n-4))
	default:
		for i := range n {
			k.a |= uint64(s[i]) << (8 * i)
		}
	}
	return nameKey{fold(k.a), fold(k.b), uint32(fold(uint64(k.c)))}
}

// hash is the multiply-and-fold step of wyhash, twice, keyed by three secret words: what Go's own
// maps use where there is no AES instruction.
func (k nameKey) hash(seed *[3]uint64) uint64 {
	hi, lo := bits.Mul64(k.a^seed[0], k.b^seed[1])
	hi, lo = bits.Mul64(hi^lo^uint64(k.c), seed[2])
	return hi ^ lo
}

func le32(s string, i int) uint64 {
	s = s[i : i+4]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

func le64(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
