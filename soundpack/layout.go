package soundpack

import (
	"errors"
	"fmt"
	"log/slog"
)

// A layout is one way to lay a pack out in files. What differs between layouts lies behind this
// interface; each has one file, which begins with its byte table.
type layout interface {
	// name is what --layout and listings call it.
	name() string
	// index is the path of the index that belongs to a data file, "" where the table is in the data.
	index(data string) (string, error)
	// sniff tells whether the index's bytes look like this layout, in view of the data's size.
	sniff(raw string, data int64) error
	// load makes the index usable. It never fails for a single bad record; what is wrong but can be
	// lived with comes back as problems.
	load(raw string) (index, []problem, error)
	// check tells why a writer refuses a name; nil if it does not.
	check(name string) error
	// short is a record's name for a full name that check refuses: the n-th choice, the same each time.
	short(name string, n int) string
	// aliased tells whether a record of that name may be one that short made.
	aliased(raw string) bool
	// plan places bodies of the given sizes one after another behind what already fills the data
	// up to end, and refuses what the layout cannot address.
	plan(end int64, recs []record) error
	// encode is the whole index of the records.
	encode(recs []record) []byte
}

// An index is what a layout's load returns: records in file order and a look-up by raw name.
type index interface {
	len() int
	// at is the i-th record; i is in range.
	at(i int) record
	// find is the ordinal of the first record with that name, or -1. It does not allocate.
	find(name string) int
	// odd tells what is unusual about the form of the i-th record; "" nothing.
	odd(i int) string
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

func (x apart) len() int         { return x.index.len() - 1 }
func (x apart) at(i int) record  { return x.index.at(x.place(i)) }
func (x apart) odd(i int) string { return x.index.odd(x.place(i)) }

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

var layouts = []layout{split{}}

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
	return nil, fmt.Errorf("layout %q: %w", name, errors.ErrUnsupported)
}
