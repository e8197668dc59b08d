package soundpack

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A layout is one way to lay a pack out in files. What differs between layouts lies behind this
// interface; each has one file, which begins with its byte table.
type layout interface {
	// name is what --layout and listings call it.
	name() string
	// traits are what the rest of the package has to know of it.
	traits() traits
	// index is the path of the index that belongs to a data file, "" where the table is in the data.
	index(data string) (string, error)
	// sniff tells whether the index's bytes look like this layout, in view of the data's size.
	sniff(raw string, data int64) error
	// load makes the index usable. It never fails for a single bad record; what is wrong but can be
	// lived with comes back as problems.
	load(raw string) (index, []problem, error)
	// check tells why a writer refuses a name without a manifest to hold it; nil if it does not.
	check(name string) error
	// bears tells whether a record can have a name, be it one that no writer would choose.
	bears(name string) bool
	// short is a record's name for a full name that it cannot hold: the n-th choice, the same each time.
	// A layout with keys has one choice, or in pck the number n.
	short(name string, n int) string
	// aliased tells whether a record of that name may be one that short made.
	aliased(raw string) bool
	// plan places bodies of the given sizes one after another behind what already fills the data
	// up to end, and refuses what the layout cannot address.
	plan(end int64, recs []record) error
	// encode is the whole index of the records, in whatever order they are given.
	encode(recs []record) []byte
}

// maxData is where the data ends at the latest.
const maxData = math.MaxUint32

// traits are what differs between layouts beside their bytes. The zero traits are those of split.
type traits struct {
	head   bool // the table is at the head of the data, which is rewritten whole on a change
	exact  bool // names compare byte by byte, and not without regard to the case of A-Z
	keyed  bool // records have keys and no names: those are in the manifest alone
	hashed bool // the key is a hash of the path, and the records are in its order
	whole  bool // a name that check refuses cannot be held at all: there are no aliases
	tables bool // bodies may be JSON tables, which readers see as what they were made of
	most   int  // entries that a writer writes, the manifest counted; 0: as many as fit
}

// fold is what two names have in common that compare equal.
func (t traits) fold(name string) string {
	if t.exact {
		return name
	}
	return foldASCII(name)
}

// checkCount refuses more entries than a writer may write.
func checkCount(l layout, n int) error {
	if most := l.traits().most; most > 0 && n > most {
		return fmt.Errorf("%w: %d entries, and %d is the most in the %s layout", ErrLimit, n, most, l.name())
	}
	return nil
}

// A heading is a layout whose table is at the head of the data.
type heading interface {
	layout
	// probe is a quick look whether data of that size may be a pack whose first body lies right behind
	// the table.
	probe(r io.ReaderAt, size int64) bool
	// read is the table of data that has size bytes, or what there is of it; limit is the most that is
	// read of it.
	read(r io.ReaderAt, size, limit int64) (string, error)
	// head is the length of the table that encode makes.
	head(recs []record) int64
	// fits tells whether a table and the length of the data are those of a pack, to the last byte.
	fits(x index, raw string, size int64) bool
}

// own is the ordinal in an index of what may be the manifest, or -1.
func own(l layout, x index) int {
	if t := l.traits(); t.keyed && !t.hashed {
		return x.len() - 1 // known by its first bytes alone
	}
	return x.find(manifestName)
}

// arrange puts records into the order in which an index has them, and gives those their names that are
// called by their place.
func arrange(l layout, recs []record) []record {
	switch t := l.traits(); {
	case t.hashed:
		slices.SortStableFunc(recs, func(a, b record) int { return cmp.Compare(crcKey(a.raw), crcKey(b.raw)) })
	case t.keyed:
		for i := range recs {
			if recs[i].raw != manifestName {
				recs[i].raw = strconv.Itoa(i)
			}
		}
	}
	return recs
}

// An index is what a layout's load returns: records in file order and a look-up by raw name.
type index interface {
	len() int
	// at is the i-th record; i is in range.
	at(i int) record
	// span is where the i-th record's body lies.
	span(i int) (off, size int64)
	// find is the ordinal of the first record with that name, or -1. It does not allocate.
	find(name string) int
	// odd tells what is unusual about the form of the i-th record; "" nothing.
	odd(i int) string
	// twice tells whether the i-th record's key is another's too, in a layout whose keys are to be
	// unique: nobody knows then which of them is meant.
	twice(i int) bool
}

// A record is an entry as it stands in an index, unchecked.
type record struct {
	raw       string // the name's bytes
	off, size int64  // in bytes; each fits 32 bits, so that their sum cannot overflow
}

// apart is an index whose manifest stands behind the entries: the record at m is left out of len, and
// at and find give it the ordinal len, wherever a program that does not know it has left it.
type apart struct {
	index
	m int
}

func (x apart) len() int                     { return x.index.len() - 1 }
func (x apart) at(i int) record              { return x.index.at(x.place(i)) }
func (x apart) span(i int) (off, size int64) { return x.index.span(x.place(i)) }
func (x apart) odd(i int) string             { return x.index.odd(x.place(i)) }
func (x apart) twice(i int) bool             { return x.index.twice(x.place(i)) }

func (x apart) find(name string) int {
	switch i := x.index.find(name); {
	case i == x.m:
		return x.len()
	case i > x.m:
		return i - 1
	default:
		return i
	}
}

// place is where in the index the i-th entry stands.
func (x apart) place(i int) int {
	switch {
	case i == x.len():
		return x.m
	case i >= x.m:
		return i + 1
	}
	return i
}

// A problem is something wrong with an index as a whole.
type problem struct {
	level slog.Level
	kind  string
	text  string
}

var layouts = []layout{split{}, crc{}, cfg{}, pck{}}

// pick chooses the layout by name; the zero choice is the first.
func pick(name string) (layout, error) {
	if name == "" {
		return layouts[0], nil
	}
	for _, l := range layouts {
		if l.name() == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("layout %q: %w; there are %s", name, errors.ErrUnsupported, strings.Join(layoutNames(), ", "))
}

// layoutNames are the names of all layouts.
func layoutNames() []string {
	var all []string
	for _, l := range layouts {
		all = append(all, l.name())
	}
	return all
}

// behindTable tells where the last body ends behind a table at the head of the data, and whether the
// bodies are where such a layout has them: the first right behind the table, all within size.
func behindTable(x index, table, size int64) (end int64, ok bool) {
	end = table
	for i := range x.len() {
		off, n := x.span(i)
		if i == 0 && off != end || off < table || off+n > size {
			return end, false
		}
		end = max(end, off+n)
	}
	return end, true
}
