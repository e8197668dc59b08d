package soundpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// The model that writers are tested against: a pack is a list of files, an edit makes another list.

type file struct{ name, body string }

// contents is what a pack holds, in order; nil is no pack at all.
type contents []file

// key tells contents apart.
func (c contents) key() string {
	if c == nil {
		return "none"
	}
	var b strings.Builder
	for _, f := range c {
		fmt.Fprintf(&b, "%q %d %s\n", f.name, len(f.body), f.body)
	}
	return b.String()
}

// String is for messages.
func (c contents) String() string {
	if c == nil {
		return "no pack"
	}
	var b strings.Builder
	for _, f := range c {
		fmt.Fprintf(&b, "%s:%d:%.8s ", f.name, len(f.body), sum([]byte(f.body)))
	}
	return "[" + strings.TrimSpace(b.String()) + "]"
}

func (c contents) find(name string) int {
	return slices.IndexFunc(c, func(f file) bool { return foldASCII(f.name) == foldASCII(name) })
}

func (c contents) sources() []Source {
	s := make([]Source, len(c))
	for i, f := range c {
		s[i] = source(f.name, []byte(f.body))
	}
	return s
}

// An edit is what one session of a writer does: one commit, and compacting if asked for.
type edit struct {
	add, replace contents
	remove       []string
	compact      bool
	create       bool // a whole pack of add in the place of the old one
}

func (e edit) String() string {
	if e.create {
		return fmt.Sprintf("create %v", e.add)
	}
	return fmt.Sprintf("add %v, replace %v, remove %q, compact %v", e.add, e.replace, e.remove, e.compact)
}

// apply is the contents after e.
func (e edit) apply(c contents) contents {
	if e.create {
		return append(contents{}, e.add...)
	}
	c = append(contents{}, c...)
	for _, name := range e.remove {
		i := c.find(name)
		c = slices.Delete(c, i, i+1)
	}
	for _, f := range e.replace {
		if i := c.find(f.name); i >= 0 {
			c[i] = f
		} else {
			c = append(c, f)
		}
	}
	return append(c, e.add...)
}

// do does e with a writer.
func (e edit) do(ctx context.Context, w *Writer) error {
	if len(e.remove) > 0 {
		n, err := w.Remove(e.remove...)
		if err != nil {
			return err
		}
		if n != len(e.remove) {
			return fmt.Errorf("removed %d of %d", n, len(e.remove))
		}
	}
	if err := w.Replace(e.replace.sources()...); err != nil {
		return err
	}
	if err := w.Add(e.add.sources()...); err != nil {
		return err
	}
	if e.compact {
		return w.Compact(ctx)
	}
	return w.Commit(ctx)
}

// randomEdit is an edit that c allows.
func randomEdit(r *rand.Rand, c contents, size int) edit {
	return randomEditIn(r, c, size, func() string { return "" })
}

// randomEditIn puts what is new into folders.
func randomEditIn(r *rand.Rand, c contents, size int, folder func() string) (e edit) {
	fresh := func(n int) contents {
		var files contents
		for range n {
			name := fmt.Sprintf("%s%08x.wav", folder(), r.Uint32())
			files = append(files, file{name, randomBody(r, size)})
		}
		return files
	}
	rest := slices.Clone(c)
	r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	take := func(n int) contents {
		n = min(n, len(rest))
		some := rest[:n]
		rest = rest[n:]
		return some
	}
	if r.IntN(5) > 0 {
		e.add = fresh(r.IntN(3))
	}
	if r.IntN(3) == 0 {
		for _, f := range take(1 + r.IntN(2)) {
			e.replace = append(e.replace, file{strings.ToUpper(f.name), randomBody(r, size)})
		}
		e.replace = append(e.replace, fresh(r.IntN(2))...)
	}
	if r.IntN(3) == 0 {
		for _, f := range take(1 + r.IntN(2)) {
			e.remove = append(e.remove, f.name)
		}
	}
	e.compact = r.IntN(3) == 0
	return e
}

// randomBody is at most size bytes, none of them as crashsim's garbage is.
func randomBody(r *rand.Rand, size int) string {
	if r.IntN(8) == 0 {
		return ""
	}
	b := make([]byte, r.IntN(size+1))
	for i := range b {
		b[i] = byte(1 + r.IntN(200))
	}
	return string(b)
}

// readPlain reads a pack as a program does that knows the records and nothing else: it refuses what
// reaches past the data and believes the rest.
func readPlain(data, index []byte) (contents, error) {
	if len(index)%splitRecord != 0 {
		return nil, fmt.Errorf("index of %d bytes", len(index))
	}
	c := contents{}
	raw := string(index)
	for i := 0; i < len(raw); i += splitRecord {
		r := splitAt(raw, i)
		if r.off+r.size > int64(len(data)) {
			return nil, fmt.Errorf("%q: %d and %d bytes of %d", r.raw, r.off, r.size, len(data))
		}
		if r.raw == "" || c.find(r.raw) >= 0 {
			return nil, fmt.Errorf("%q: twice, or no name", r.raw)
		}
		c = append(c, file{r.raw, string(data[r.off:][:r.size])})
	}
	return c, nil
}

// noPause lets no time pass between the steps of compacting.
func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// editOn opens a writer on a file layer.
func editOn(ctx context.Context, fsys storage.FS, path string) (*Writer, error) {
	return Edit(ctx, path, &WriterOptions{Create: true, Plain: true, storage: fsys, pause: noPause})
}

// editOnce is a whole session.
func editOnce(ctx context.Context, fsys storage.FS, path string, e edit) error {
	return editWith(ctx, path, e, &WriterOptions{Create: true, Plain: true, storage: fsys, pause: noPause})
}

func editWith(ctx context.Context, path string, e edit, opt *WriterOptions) error {
	w, err := Edit(ctx, path, opt)
	if err != nil {
		return err
	}
	if err := e.do(ctx, w); err != nil {
		return errors.Join(err, w.Close())
	}
	return w.Close()
}

// checkContents opens a pack and compares all of it; it is verified too.
func checkContents(t testing.TB, path string, want contents) {
	t.Helper()
	if err := sameContents(t.Context(), path, want); err != nil {
		t.Error(err)
	}
}

func sameContents(ctx context.Context, path string, want contents) error {
	p, err := Open(path, nil)
	if want == nil && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer p.Close()
	got, err := packContents(p)
	if err != nil {
		return err
	}
	if got.key() != want.key() {
		return fmt.Errorf("%d entries %v, want %d %v", len(got), got, len(want), want)
	}
	r, err := p.Verify(ctx, nil)
	if err == nil && (r.Damaged() || slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == "manifest" })) {
		err = fmt.Errorf("verify: %v", r.Findings)
	}
	return err
}

// packContents reads every entry of a pack.
func packContents(p *Pack) (contents, error) {
	got := contents{}
	for e := range p.Entries() {
		f, err := p.OpenEntry(e)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		_, err = b.ReadFrom(f)
		f.Close()
		if err != nil {
			return nil, err
		}
		got = append(got, file{e.Name, b.String()})
	}
	return got, nil
}
