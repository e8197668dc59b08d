package soundpack

// JSON tables in packs of the cfg layout. A body that was made smaller by taking the keys out of it reads
// back as the JSON that it was made of. It looks like any other JSON, so that only the manifest can tell it
// from a file that somebody packed as it was: its line has "json":"table", and in "plain" the length of
// what it was made of. Without a manifest, and where another program has changed the entry, it is read as
// it lies there.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"

	"github.com/sndpak/sndpak/soundpack/jsontable"
)

// maxTable is the longest JSON that is made smaller, and that a table may stand for, in bytes.
const maxTable = 64 << 20

// table is the length of the JSON that an entry stands for; 0 if it is no table.
func (p *Pack) table(i int) int64 {
	if !p.traits.tables || !p.noted || i < 0 || i >= p.index.len() {
		return 0
	}
	return p.manifest().note(i).table
}

// Size is the length of an entry of this pack as it is read. It is e.Size, but for a JSON table, which is read
// as the JSON that it was made of and has to be made into that to be opened: up to 64 MiB.
func (p *Pack) Size(e Entry) int64 {
	if n := p.table(e.Index); n > 0 {
		return n
	}
	return e.Size
}

// plainTable is the JSON that a table stands for. The mapping is pinned.
func (p *Pack) plainTable(e Entry, size int64) ([]byte, error) {
	if e.Size > maxTable || size > maxTable {
		return nil, fmt.Errorf("%w: a JSON table of %d bytes that stands for %d, and %d is the most", ErrLimit, e.Size, size, int64(maxTable))
	}
	b := make([]byte, e.Size)
	if _, err := p.m.pread(b, e.Offset); err != nil {
		return nil, err
	}
	plain, err := jsontable.Plain(b, size)
	if err == nil && int64(len(plain)) != size {
		err = fmt.Errorf("it stands for %d bytes, and %d when it was packed", len(plain), size)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: JSON table: %w", ErrFormat, err)
	}
	return plain, nil
}

// tableData is what a File of a table reads.
type tableData struct {
	f     *File
	plain *bytes.Reader
}

func (d tableData) ReadAt(b []byte, off int64) (int, error) {
	if d.f.closed.Load() {
		return 0, d.f.p.at("read", d.f.e, d.f.e.Offset, ErrClosed)
	}
	return d.plain.ReadAt(b, off)
}

// smaller makes the JSON among the sources smaller. Each is read twice, now for its size and again when it
// is its turn, so that memory does not grow with the pack.
func (c *creation) smaller() error {
	switch {
	case c.JSON == "":
		return nil
	case c.JSON != "minify" && c.JSON != "table":
		return fmt.Errorf("JSON %q: there are minify and table: %w", c.JSON, fs.ErrInvalid)
	case c.JSON == "table" && !c.layout.traits().tables:
		return fmt.Errorf("JSON tables are for the cfg layout, not for %s: %w", c.layout.name(), fs.ErrInvalid)
	}
	told := false
	for i := range c.sources {
		s := &c.sources[i]
		if c.notes[i].hasCRC && s.from.Intact(s.from.Entry(s.at)) != nil {
			continue // it stays as it is, and is told
		}
		out, plain, err := shrinkJSON(*s, c.JSON == "table")
		switch {
		case errors.Is(err, jsontable.ErrSyntax):
			if strings.EqualFold(path.Ext(s.Name), ".json") {
				c.notice(s.Path, fmt.Sprintf("packed as it is: %v", err))
			}
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", s.Path, bare(err))
		case out == nil:
			continue
		}
		if plain > 0 && c.Plain && !told {
			told = true
			c.notice(s.Path, "packed as a table, which only a manifest would tell: it is read as it is packed")
		}
		raw, asTable := *s, plain > 0
		s.Size, c.notes[i].table = int64(len(out)), plain
		c.notes[i].hasCRC = false // of other bytes
		s.Open = func() (io.ReadCloser, error) {
			out, _, err := shrinkJSON(raw, asTable)
			if err != nil {
				return nil, err
			}
			return io.NopCloser(bytes.NewReader(out)), nil
		}
	}
	return nil
}

// shrinkJSON is a source made smaller; nil if it is none to be: too long, or neither called .json nor an
// object or array. plain is the length of what a table stands for, 0 if it is none.
func shrinkJSON(s Source, table bool) (out []byte, plain int64, err error) {
	if s.Size <= 0 || s.Size > maxTable {
		return nil, 0, nil
	}
	r, err := s.Open()
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, min(s.Size, math.MaxInt-1)+1))
	if err != nil || int64(len(b)) != s.Size {
		return nil, 0, err // that it changed is told when it is packed
	}
	first := bytes.TrimLeft(b, " \t\r\n")
	if !strings.EqualFold(path.Ext(s.Name), ".json") && (len(first) == 0 || first[0] != '{' && first[0] != '[') {
		return nil, 0, nil
	}
	if out, err = jsontable.Minify(b); err != nil || !table {
		return out, 0, err
	}
	plain = int64(len(out))
	packed, ok, err := jsontable.Pack(out)
	if !ok {
		return out, 0, err
	}
	return packed, plain, err
}
