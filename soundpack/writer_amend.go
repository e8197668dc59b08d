package soundpack

import (
	"io"
	"slices"
)

// An amender keeps an entry of its own at the end of each index that a Writer publishes, made from all
// the others: the manifest. Its body is made anew for every index, since it tells where bodies lie.
type amender interface {
	// name is the raw name of its entry, without capital letters. Records of that name are not among those that it is shown,
	// and what they name is not kept.
	name() string
	// watch is called for each source before it is read, i being the record's place in the index to
	// be. What it returns, if not nil, is written what is packed.
	watch(i int, s *Source) io.Writer
	// amend makes the body of its entry; nil means that there shall be none. It is called once for
	// a commit and twice for compacting, before anything of it is in place.
	amend(a amendment) ([]byte, error)
}

// An amendment is what an amender is told.
type amendment struct {
	// recs are the records of the index to be, in order, where their bodies will lie.
	recs []record
	// from has of each the ordinal in old, or -1 if its body is new. A new one is in data already.
	from []int
	// old are the records of the index on disk, the amender's own one included.
	old []record
	// at is where the body that is asked for will lie.
	at int64
	// data has the bodies of old, and new ones; size is the length of what old may name.
	data io.ReaderAt
	size int64
}

// amends tells whether a record is the amender's.
func (w *Writer) amends(r record) bool {
	return w.amender != nil && len(r.raw) == len(w.amender.name()) && foldASCII(r.raw) == w.amender.name()
}

// amended is recs and behind them the amender's record, whose body goes to end.
func (w *Writer) amended(recs []record, from []int, end int64) ([]record, []byte, error) {
	a := w.amender
	if a == nil {
		return arrange(w.layout, slices.Clone(recs)), nil, nil
	}
	body, err := a.amend(amendment{recs, from, w.recs, end, w.data, w.end})
	if err != nil || body == nil {
		return arrange(w.layout, slices.Clone(recs)), nil, err
	}
	own := []record{{raw: a.name(), size: int64(len(body))}}
	if err := w.layout.plan(end, own); err != nil {
		return nil, nil, err
	}
	return arrange(w.layout, append(recs[:len(recs):len(recs)], own...)), body, nil
}
