package soundpack

// The cfg layout: one file with a table of names, made for many small JSON tables that are fetched in
// one request. Its usual name is cfg_0.txt, or ends in .bin.
//
//	size         field, unsigned, big-endian
//	2            number of entries
//	             then of each entry:
//	2            length of the name
//	name length  name, one byte a character (Latin-1, ISO/IEC 8859-1)
//	4            begin: where the body starts, from the start of the file
//	4            length of the body in bytes, not characters
//	             then the bodies, in the same order
//
// Names compare exactly. In memory they are UTF-8. Some tools wrote the count and the length of a name
// signed: 32,767 is the most that is written, and up to 65,535 is read. Some cut characters beyond
// Latin-1 to their low byte; ours refuses such a name. A body may be a JSON table (package jsontable):
// the manifest tells, and readers see what it was made of.

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode/utf8"
)

const (
	cfgMost   = 32_767    // entries, and bytes of a name, that are written
	cfgRecord = 2 + 4 + 4 // bytes of a record, its name not counted
)

type cfg struct{}

func (cfg) name() string { return "cfg" }
func (cfg) traits() traits {
	return traits{head: true, exact: true, whole: true, tables: true, most: cfgMost}
}

func (cfg) index(string) (string, error) { return "", nil }

// read is the table, as far as there is one: how long it is shows only as it is read.
func (cfg) read(r io.ReaderAt, size, limit int64) (string, error) {
	var b strings.Builder
	const step = 64 << 10
	for want := int64(2); ; {
		for int64(b.Len()) < want {
			more := min(max(want-int64(b.Len()), step), size-int64(b.Len()))
			if more <= 0 {
				return b.String(), nil
			}
			part, err := readString(io.NewSectionReader(r, int64(b.Len()), more), more)
			if err != nil {
				return "", err
			}
			if part == "" {
				return b.String(), nil
			}
			b.WriteString(part)
		}
		end, whole := cfgEnd(b.String())
		switch {
		case whole:
			return b.String()[:end], nil
		case int64(end) > limit:
			return "", fmt.Errorf("%w: a table of more than %d bytes, which is the most", ErrLimit, limit)
		}
		want = int64(max(end, b.Len()+1))
	}
}

// probe gives up at the first record that does not fit.
func (cfg) probe(r io.ReaderAt, size int64) bool {
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, min(size, maxIndex)), 4096)
	get := func(n int) int64 {
		var v int64
		for range n {
			c, err := in.ReadByte()
			if err != nil {
				return -1
			}
			v = v<<8 | int64(c)
		}
		return v
	}
	at, body := int64(2), int64(-1)
	for range get(2) {
		n := get(2)
		if skipped, err := in.Discard(int(max(n, 0))); err != nil || int64(skipped) != n {
			return false
		}
		at += cfgRecord + n
		off, length := get(4), get(4)
		if body < 0 {
			body = off
		}
		if length < 0 || at > body || off < body {
			return false
		}
	}
	return body == at || body < 0 && size == 2
}

// cfgEnd is the length of the table that begins raw, or, if there is not all of it, what must be there
// to go on.
func cfgEnd(raw string) (end int, whole bool) {
	if len(raw) < 2 {
		return 2, false
	}
	at := 2
	for range be16(raw, 0) {
		if len(raw) < at+2 {
			return at + 2, false
		}
		if at += cfgRecord + be16(raw, at); len(raw) < at {
			return at, false
		}
	}
	return at, true
}

func (cfg) sniff(raw string, data int64) error {
	if _, whole := cfgEnd(raw); !whole {
		return fmt.Errorf("%w: the table of names is cut short at %d bytes", ErrFormat, data)
	}
	return nil
}

func (cfg) load(raw string) (index, []problem, error) {
	n := be16(raw, 0)
	x := &cfgIndex{recs: make([]record, n), first: make(map[string]int32, n)}
	for i, at := 0, 2; i < n; i++ {
		size := be16(raw, at)
		name := latin1(raw[at+2 : at+2+size])
		if name == "\x00" {
			name = "" // what both are shown as
		}
		at += 2 + size
		x.recs[i] = record{name, int64(be32(raw, at)), int64(be32(raw, at+4))}
		if _, ok := x.first[name]; !ok {
			x.first[name] = int32(i)
		}
		at += 8
	}
	var bad []problem
	if n > 0 && x.recs[0].off != int64(len(raw)) {
		bad = []problem{{slog.LevelWarn, "index", fmt.Sprintf("the first body is at %d and not right behind the table, at %d", x.recs[0].off, len(raw))}}
	}
	return x, bad, nil
}

func (cfg) fits(x index, raw string, size int64) bool {
	end, ok := behindTable(x, int64(len(raw)), size)
	return ok && end == size
}

// check wants a portable path of Latin-1 characters.
func (cfg) check(name string) error {
	if i := strings.IndexFunc(name, func(r rune) bool { return r > 0xff }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Errorf("character %q is beyond Latin-1, which is all that the cfg layout can hold", r)
	}
	return checkPath(name)
}

func (cfg) bears(name string) bool {
	return utf8.ValidString(name) && utf8.RuneCountInString(name) <= cfgMost && strings.IndexFunc(name, func(r rune) bool { return r > 0xff }) < 0
}

// short is never asked for: what check refuses the manifest cannot help with.
func (cfg) short(name string, n int) string { return split{}.short(name, n) }

func (cfg) aliased(string) bool { return false }

func (cfg) plan(end int64, recs []record) error {
	return placeAll("cfg", end, recs)
}

func (cfg) head(recs []record) int64 {
	n := int64(2)
	for _, r := range recs {
		n += cfgRecord + int64(utf8.RuneCountInString(r.raw))
	}
	return n
}

func (cfg) encode(recs []record) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(recs)))
	for _, r := range recs {
		b = binary.BigEndian.AppendUint16(b, uint16(utf8.RuneCountInString(r.raw)))
		for _, c := range r.raw {
			b = append(b, byte(c))
		}
		b = binary.BigEndian.AppendUint32(b, uint32(r.off))
		b = binary.BigEndian.AppendUint32(b, uint32(r.size))
	}
	return b
}

// latin1 is Latin-1 in UTF-8.
func latin1(s string) string {
	if i := strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }); i < 0 {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// cfgIndex is the table, read out. There are at most 65,535 entries.
type cfgIndex struct {
	recs  []record
	first map[string]int32
}

func (x *cfgIndex) len() int { return len(x.recs) }

func (x *cfgIndex) at(i int) record { return x.recs[i] }

func (x *cfgIndex) span(i int) (off, size int64) { return x.recs[i].off, x.recs[i].size }

func (x *cfgIndex) find(name string) int {
	if i, ok := x.first[name]; ok {
		return int(i)
	}
	return -1
}

func (*cfgIndex) odd(int) string { return "" }

func (*cfgIndex) twice(int) bool { return false }

func be16(s string, i int) int { return int(s[i])<<8 | int(s[i+1]) }

func be32(s string, i int) uint32 {
	s = s[i : i+4]
	return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
}
