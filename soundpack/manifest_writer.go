package soundpack

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// A ledger keeps the manifest of a pack that a Writer changes: it is the Writer's amender. It reads the
// manifest that is there, notes what is packed, and writes all of it anew for each index: what is not
// known is kept, and what was told of bytes that an entry no longer has is dropped.
//
// A pack that has entries but no manifest gets one only for a name that needs it: whoever made it plain
// may want it plain.
type ledger struct {
	w      *Writer
	m      *manifest // of the index on disk, as far as loaded
	of     record    // the manifest's record that m was made of
	change *change   // under way; nil while compacting
	fresh  map[int]*digest
	facts  map[int]Facts
	same   *bodies
	data   storage.File // where new bodies are written
}

func (l *ledger) name() string { return manifestName }

// own is the place of the manifest's record in the index on disk, or -1.
func (l *ledger) own() int {
	for i, r := range l.w.recs { // from the end would be faster, but the first one counts
		if l.w.amends(r) {
			return i
		}
	}
	return -1
}

// begin looks whether an entry that has the manifest's name is one; if not, it is left alone and the
// pack does without.
func (l *ledger) begin() (ok bool) {
	i := l.own()
	if i < 0 {
		return true
	}
	r := l.w.recs[i]
	if r.off+r.size > l.w.end {
		return true // a manifest that was cut off
	}
	head := make([]byte, min(r.size, int64(len(manifestStart))))
	n, err := l.w.data.ReadAt(head, r.off)
	return err != nil || string(head[:n]) == manifestStart // what cannot be read now is told later
}

// manifest is that of the index on disk.
func (l *ledger) manifest() (*manifest, error) {
	i := l.own()
	if i < 0 {
		return noNotes, nil
	}
	r := l.w.recs[i]
	if l.m == nil || l.of != r {
		text, err := l.text(r)
		if err != nil {
			return nil, fmt.Errorf("manifest: %w (it goes if %s is removed)", err, manifestName)
		}
		x, _, err := l.w.layout.load(string(l.w.layout.encode(l.w.recs)))
		if err != nil {
			return nil, err
		}
		l.m, l.of = parseManifest(text, r.off, apart{x, i}, l.w.layout), r
		for _, f := range l.m.faults {
			if f.level >= slog.LevelWarn && l.w.opt.Notice != nil {
				l.w.opt.Notice(manifestName, f.text)
			}
		}
	}
	if l.m.err != nil {
		return nil, fmt.Errorf("manifest: %w (it goes if %s is removed)", l.m.err, manifestName)
	}
	return l.m, nil
}

func (l *ledger) text(r record) (string, error) {
	if r.off+r.size > l.w.end {
		return "", fmt.Errorf("%w: its %d bytes at %#x reach past the end of the data (%d bytes)", ErrFormat, r.size, r.off, l.w.end)
	}
	if r.size > maxManifest {
		return "", fmt.Errorf("%w: it has %d bytes, and %d is the most", ErrLimit, r.size, int64(maxManifest))
	}
	return readString(io.NewSectionReader(l.w.data, r.off, r.size), r.size)
}

// noteBeside is what is told of the i-th record of the index on disk, in which own is the manifest's.
func (m *manifest) noteBeside(own, i int) note {
	if own >= 0 && i > own {
		i--
	}
	return m.note(i)
}

// fullNames are those of the records of the index on disk, "" where a record's name is all of it.
func (l *ledger) fullNames() ([]string, error) {
	m, err := l.manifest()
	if err != nil {
		return nil, err
	}
	all := make([]string, len(l.w.recs))
	own := l.own()
	for i := range all {
		n := i
		if own >= 0 && i >= own {
			n--
		}
		if i != own && n < len(m.lines) {
			all[i] = m.lines[n].name
		}
	}
	return all, nil
}

// take begins a change: it remembers the bodies that are there and may be the same as new ones.
func (l *ledger) take(c *change) error {
	l.change, l.fresh, l.facts, l.data = c, map[int]*digest{}, map[int]Facts{}, l.w.data
	var sources []Source
	for _, s := range c.sources {
		if s != nil {
			sources = append(sources, *s)
		}
	}
	l.same = newBodies(sources)
	if len(sources) == 0 || c.bare {
		return nil
	}
	m, err := l.manifest()
	if err != nil {
		return err
	}
	own := l.own()
	for i, r := range l.w.recs {
		if l.same.sizes[r.size] == 0 || i == own {
			continue
		}
		if n := m.noteBeside(own, i); n.hasCRC && r.off+r.size <= l.w.end {
			l.same.sizes[r.size]++
			l.same.add(r, n.crc, i)
		}
	}
	return nil
}

// rewrite tells that all bodies are written anew, to another file: those that are kept are told of as they
// are written.
func (l *ledger) rewrite(r *rewriting) {
	var sources []Source
	for i, s := range r.sources {
		if s == nil {
			s = &Source{Size: r.recs[i].size}
		}
		sources = append(sources, *s)
	}
	l.same, l.data = newBodies(sources), r.to
}

// watch sums up a body on its way.
func (l *ledger) watch(i int, s *Source) io.Writer {
	d := &digest{sum: true, told: true}
	if l.w.opt.SHA256 {
		d.sha = sha256.New()
	}
	l.fresh[i] = d
	return d
}

// wrote is told of a body that is written, and where it is to be found: there, or where the same bytes
// were before.
func (l *ledger) wrote(i int, r record) (off int64, err error) {
	t, err := l.same.twin(l.data, r, l.fresh[i].crc, i)
	if err != nil {
		return 0, err
	}
	if t != nil {
		r.off = t.off
	}
	if l.w.opt.Facts != nil {
		l.facts[i], err = l.w.opt.Facts(io.NewSectionReader(l.data, r.off, r.size), r.size)
	}
	return r.off, err
}

// amend makes the manifest of the index to be.
func (l *ledger) amend(a amendment) ([]byte, error) {
	c := l.change
	if c != nil && c.bare {
		return nil, c.needsManifest()
	}
	m, err := l.manifest()
	if err != nil {
		return nil, err
	}
	if !l.wanted(m, len(a.recs)) {
		return nil, nil
	}
	own := l.own()
	notes := make([]note, len(a.recs))
	for i := range a.recs {
		if from := a.from[i]; from >= 0 {
			notes[i] = m.noteBeside(own, from)
		} else {
			notes[i] = l.noteFresh(m, own, i)
		}
		if c != nil {
			notes[i].name = c.full[i]
		}
	}
	text := encodeManifest(a.at, a.recs, notes, m.extra)
	if len(text) > maxManifest {
		return nil, fmt.Errorf("%w: a manifest of %d bytes, and %d is the most", ErrLimit, len(text), int64(maxManifest))
	}
	return text, nil
}

// wanted tells whether there shall be a manifest beside n entries.
func (l *ledger) wanted(m *manifest, n int) bool {
	ok := l.own() >= 0 || len(l.w.recs) == 0 && !l.w.opt.Plain
	if c := l.change; c != nil {
		ok = ok && !c.bare || slices.ContainsFunc(c.full, l.needed)
	}
	return ok && (n > 0 || len(m.extra) > 0)
}

// needed tells whether only a manifest can hold a full name.
func (l *ledger) needed(full string) bool { return full != "" && l.w.layout.check(full) != nil }

// noteFresh is what is known of the i-th record to be, whose body is new.
func (l *ledger) noteFresh(m *manifest, own, i int) (n note) {
	if was := l.change.was[i]; was >= 0 {
		n = m.noteBeside(own, was)
		n.changed()
	}
	if d := l.fresh[i]; d != nil {
		d.note(&n)
	}
	n.facts = l.facts[i]
	return n
}

// needsManifest refuses new names that only the manifest could hold, which shall be none.
func (c *change) needsManifest() error {
	for i, full := range c.full {
		if c.from[i] < 0 && c.w.ledger.needed(full) {
			return fmt.Errorf("name %q: without a manifest it does not fit: %w", full, fs.ErrInvalid)
		}
	}
	return nil
}
