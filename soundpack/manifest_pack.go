package soundpack

import (
	"fmt"
	"io"
	"log/slog"
)

// What a pack does with its manifest. Opening only looks whether there is one; it is read and fitted to
// the index once, when something in it is asked for.

// findManifest looks for the manifest's record and its first bytes, and sets it apart. An entry that
// has only its name is an entry like any other.
func (p *Pack) findManifest() {
	i := own(p.layout, p.index)
	if i < 0 {
		return
	}
	off, size := p.index.span(i)
	numbered := p.traits.keyed && !p.traits.hashed
	if numbered && off+size > p.m.size {
		return
	}
	if off+size <= p.m.size {
		head := make([]byte, len(manifestStart))
		if n, _ := p.m.pread(head[:min(size, int64(len(head)))], off); string(head[:n]) != manifestStart {
			if numbered {
				return // the last entry is one like any other
			}
			p.problems = append(p.problems, problem{slog.LevelWarn, "manifest",
				fmt.Sprintf("the entry %s does not begin with %s: it is an entry like any other", manifestName, manifestStart)})
			return
		}
	}
	p.index, p.noted = apart{p.index, i}, true
}

var noNotes = &manifest{}

// manifest loads the manifest. It is never nil; where there is none, or none that can be used, it
// tells of nothing.
func (p *Pack) manifest() *manifest {
	if !p.noted {
		return noNotes
	}
	p.notedOnce.Do(func() {
		defer p.loaded.Store(true)
		r := p.index.at(p.index.len())
		text, err := p.manifestText(r)
		if err != nil {
			p.notes = &manifest{err: err}
			return
		}
		p.notes = parseManifest(text, r.off, p.index, p.layout)
	})
	return p.notes
}

func (p *Pack) manifestText(r record) (string, error) {
	if r.off+r.size > p.m.size {
		return "", fmt.Errorf("%w: its %d bytes at %#x reach past the end of the data (%d bytes)", ErrFormat, r.size, r.off, p.m.size)
	}
	if limit := 4 * p.opt.maxIndex(); r.size > limit {
		return "", fmt.Errorf("%w: it has %d bytes, and %d is the most", ErrLimit, r.size, limit)
	}
	if !p.m.acquire() {
		return "", ErrClosed
	}
	defer p.m.release()
	text, err := readString(io.NewSectionReader(preader{p.m}, r.off, r.size), r.size)
	if err == nil && int64(len(text)) < r.size {
		err = ErrChanged
	}
	return text, err
}

// manifestProblems are those of a manifest that is loaded, or small enough to be.
func (p *Pack) manifestProblems() []problem {
	if !p.noted || p.index.at(p.index.len()).size > 1<<20 && !p.loaded.Load() {
		return nil
	}
	m := p.manifest()
	if p.lost() != nil {
		return nil // which Err tells, and nothing is wrong with the manifest
	}
	return m.problems(true)
}

// fullName is that of the i-th entry and how it is shown, "" if it has none.
func (m *manifest) fullName(i int) (full, shown string) {
	if i >= len(m.lines) {
		return "", ""
	}
	return m.lines[i].name, m.lines[i].shown
}

// Facts is what the manifest tells of an entry of this pack as a sound. False means that it tells
// nothing, or that another program has changed the entry since.
func (p *Pack) Facts(e Entry) (Facts, bool) {
	n := p.manifest().note(e.Index)
	return n.facts, n.facts.known()
}

// Checksum is the CRC-32C of an entry's bytes as they were packed, if the manifest tells it.
// [Pack.Verify] compares.
func (p *Pack) Checksum(e Entry) (crc uint32, ok bool) {
	n := p.manifest().note(e.Index)
	return n.crc, n.hasCRC
}

// fits tells whether an entry's bytes have the checksum that the manifest tells, if it does.
func (p *Pack) fits(e Entry, crc uint32) error {
	if want, ok := p.Checksum(e); ok && want != crc {
		return mismatch(crc, want)
	}
	return nil
}

func mismatch(got, want uint32) error {
	return fmt.Errorf("%w: CRC-32C %08x, and %08x when it was packed", ErrChecksum, got, want)
}

// Intact reads an entry's bytes as they lie in the data, which are those that the manifest tells of also where
// a JSON table is read as something longer. Bytes that are not what was packed are an ErrChecksum; where no
// checksum is known there is nothing to say.
func (p *Pack) Intact(e Entry) error {
	crc, err := p.bodySum(e)
	if err != nil {
		return err
	}
	return p.fits(e, crc)
}

// bodySum is the CRC-32C of an entry's bytes as they lie in the data.
func (p *Pack) bodySum(e Entry) (uint32, error) {
	if !p.m.acquire() {
		return 0, ErrClosed
	}
	defer p.m.release()
	if err := p.bounds(e); err != nil {
		return 0, err
	}
	d := digest{sum: true}
	_, err := io.Copy(&d, io.NewSectionReader(preader{p.m}, e.Offset, e.Size))
	return d.crc, err
}

// SHA256 is the SHA-256 of an entry's bytes as they were packed, if the manifest tells it.
func (p *Pack) SHA256(e Entry) (sum [32]byte, ok bool) {
	n := p.manifest().note(e.Index)
	copy(sum[:], n.sha256)
	return sum, n.sha256 != ""
}

// Unknown are the members of the manifest that this version does not understand, those of the whole pack and
// those of entries: how many there are, and their names, each once. A new pack that [Create] makes of this
// one's entries has them too.
func (p *Pack) Unknown() (n int, names []string) {
	m, seen := p.manifest(), map[string]bool{}
	count := func(all []member) {
		for _, x := range all {
			if n++; !seen[x.key] {
				seen[x.key] = true
				names = append(names, x.key)
			}
		}
	}
	count(m.extra)
	for i := range m.lines {
		if m.lines[i].text != "" {
			count(parseNote(m.lines[i].text).extra)
		}
	}
	return n, names
}

// Shared are the other entries that have the very bytes of this one, in the order of the index.
func (p *Pack) Shared(e Entry) []Entry {
	var all []Entry
	for i := range p.index.len() {
		if r := p.index.at(i); e.Size > 0 && r.off == e.Offset && r.size == e.Size && i != e.Index {
			all = append(all, p.Entry(i))
		}
	}
	return all
}

// preader reads the data by system calls: once through is cheaper so than by a mapping's page faults.
type preader struct{ m *mapping }

func (r preader) ReadAt(b []byte, off int64) (int, error) {
	return r.m.pread(b, off)
}
