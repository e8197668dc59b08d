package soundpack

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// VerifyOptions say how to verify. The zero value, or a nil pointer, is right for most.
type VerifyOptions struct {
	// MaxFindings is the most findings of one kind and severity that are kept; 0 means 100. All are counted.
	MaxFindings int
	// Check, if not nil, looks into each entry that can be opened: whether it is sound, say. What it
	// returns is added to the report; of a Finding only Severity, Kind and Text need be set. It is
	// called from several goroutines at once.
	Check func(f *File) []Finding
	// Progress is called with the bytes of entries checked and to be checked, by one goroutine at a
	// time.
	Progress func(done, total int64)
}

// A Finding is one thing that is wrong or worth knowing.
type Finding struct {
	// Severity is slog.LevelError for damage, LevelWarn for what may harm some use of the pack, and
	// LevelInfo for what is good to know.
	Severity slog.Level `json:"severity"`
	// Kind groups findings: "index", "bounds", "duplicate", "overlap", "shared", "gap", "name",
	// "record", "changed", "map", "manifest", "checksum", or what Check says.
	Kind string `json:"kind"`
	// Entry is the name of the entry as it is shown, "" for the pack as a whole.
	Entry string `json:"entry,omitempty"`
	// Index is the entry's ordinal, -1 for the pack as a whole.
	Index int `json:"index"`
	// Offset is the place in the data in bytes.
	Offset int64 `json:"offset"`
	// Text is the finding in one line, without the entry's name.
	Text string `json:"text"`
}

// String is the finding in one line.
func (f Finding) String() string {
	if f.Index < 0 {
		return fmt.Sprintf("%s: %s", f.Kind, f.Text)
	}
	return fmt.Sprintf("%s: %q (entry %d, at %#x): %s", f.Kind, f.Entry, f.Index, f.Offset, f.Text)
}

// A Report is what [Pack.Verify] found.
type Report struct {
	Pack     string `json:"pack"`   // the data file
	Layout   string `json:"layout"` // as Pack.Layout
	Entries  int    `json:"entries"`
	Checked  int    `json:"checked"`   // entries whose checksum was compared
	DataSize int64  `json:"data_size"` // bytes
	// Findings are the first ones of each kind and severity, in the order of the index within those.
	Findings []Finding `json:"findings"`
	// Errors and Warnings count all, those that are not kept too.
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
}

// Damaged tells whether there is a finding with the severity of an error.
func (r *Report) Damaged() bool { return r.Errors > 0 }

// Verify checks the form of the index, names, bounds, duplicates, overlaps and gaps, the manifest
// against the index, the checksums that it has, and what opt.Check looks for. It reads the data once,
// on all cores; the rest takes n log n for n entries, whatever they say. The error is that of ctx,
// or [Pack.Err] of a pack on a server; damage is told in the Report.
func (p *Pack) Verify(ctx context.Context, opt *VerifyOptions) (*Report, error) {
	v := &verifier{p: p, ctx: ctx, kinds: map[kind]int{}}
	if opt != nil {
		v.VerifyOptions = *opt
	}
	if v.MaxFindings <= 0 {
		v.MaxFindings = 100
	}
	v.Report = &Report{Pack: p.path, Layout: p.Layout(), Entries: p.Len(), DataSize: p.DataSize(), Findings: []Finding{}}
	v.pack()
	m := v.p.manifest()
	v.plain.Store(min(max(maxCopies*v.DataSize, leastBytes), mostBytes)) // what Extract would write
	s := v.rangesOf(m)
	v.expect(s)
	err := v.sum(s)
	if err == nil {
		err = v.entries(m, s)
	}
	if err == nil {
		err = v.ranges()
	}
	v.more()
	return v.Report, cmp.Or(err, p.lost())
}

type verifier struct {
	VerifyOptions
	*Report
	p      *Pack
	ctx    context.Context
	kinds  map[kind]int
	looked [][]Finding  // of the batch
	plain  atomic.Int64 // bytes that may still be made of JSON tables
	beyond bool         // an entry reaches past the data

	progressMu  sync.Mutex // guards done, and calls of Progress
	done, total int64
}

// A kind is what findings are counted by: what is bad must not go under among what is not.
type kind struct {
	name  string
	level slog.Level
}

func (v *verifier) add(f Finding) {
	switch {
	case f.Severity >= slog.LevelError:
		v.Errors++
	case f.Severity >= slog.LevelWarn:
		v.Warnings++
	}
	k := kind{f.Kind, f.Severity}
	if v.kinds[k]++; v.kinds[k] <= v.MaxFindings {
		v.Findings = append(v.Findings, f)
	}
}

func (v *verifier) entry(e Entry, level slog.Level, kind, format string, args ...any) {
	v.add(Finding{level, kind, e.Name, e.Index, e.Offset, fmt.Sprintf(format, args...)})
}

func (v *verifier) whole(level slog.Level, kind string, off int64, format string, args ...any) {
	v.add(Finding{level, kind, "", -1, off, fmt.Sprintf(format, args...)})
}

// more says how many findings were not kept.
func (v *verifier) more() {
	for _, k := range slices.SortedFunc(maps.Keys(v.kinds), func(a, b kind) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(b.level, a.level))
	}) {
		if n := v.kinds[k] - v.MaxFindings; n > 0 {
			v.Findings = append(v.Findings, Finding{k.level, k.name, "", -1, 0, fmt.Sprintf("%d more like these", n)})
		}
	}
}

// pack checks what concerns no single entry.
func (v *verifier) pack() {
	for _, b := range v.p.problems {
		v.whole(b.level, b.kind, 0, "%s: %s", baseName(v.p.indexPath), b.text)
	}
	if v.p.noted {
		r := v.p.index.at(v.p.index.len())
		for _, b := range v.p.manifest().problems(false) {
			v.whole(b.level, b.kind, r.off, "%s", b.text)
		}
		v.beyond = r.off+r.size > v.DataSize
		if odd := v.p.index.odd(v.p.index.len()); odd != "" {
			v.whole(slog.LevelInfo, "record", r.off, "%s: %s", manifestName, odd)
		}
	} else {
		v.misnamed()
	}
	if v.p.m.acquire() {
		if v.p.m.short() {
			v.whole(slog.LevelError, "changed", 0, "the data was cut short since the pack was opened")
		}
		v.p.m.release()
	}
}

// misnamed looks whether the last entry is a manifest that has lost its name, and with that all use.
func (v *verifier) misnamed() {
	if v.p.Len() == 0 {
		return
	}
	e := v.p.Entry(v.p.Len() - 1)
	if e.Size < int64(len(manifestStart)) || v.p.pin(e) != nil {
		return
	}
	defer v.p.m.release()
	head := make([]byte, len(manifestStart))
	if n, _ := v.p.m.pread(head, e.Offset); string(head[:n]) == manifestStart {
		v.entry(e, slog.LevelWarn, "manifest", "a manifest, but not called %s: its checksums and names count for nothing", manifestName)
	}
}

// expect counts the bytes that progress is told of: those that sums are taken of, and with Check those
// of each entry.
func (v *verifier) expect(s *sums) {
	for _, r := range s.ranges {
		v.total += r.size
	}
	if v.Check == nil {
		return
	}
	for i := range v.p.Len() {
		if r := v.p.index.at(i); r.off+r.size <= v.DataSize {
			v.total += r.size
		}
	}
}

func (v *verifier) progress(n int64) {
	if v.Progress == nil {
		return
	}
	v.progressMu.Lock()
	defer v.progressMu.Unlock()
	v.done += n
	v.Progress(v.done, v.total)
}

// entries checks each entry by itself and against its namesakes. What Check finds is gathered in
// batches, so that a report is in the order of the index and memory is bounded.
func (v *verifier) entries(m *manifest, s *sums) error {
	const batch = 1024
	why := m.why
	for i := range v.p.Len() {
		if i%batch == 0 {
			if err := v.look(i, min(i+batch, v.p.Len())); err != nil {
				return err
			}
		}
		r := v.p.index.at(i)
		e := v.p.Entry(i)
		if v.p.index.twice(i) {
			v.entry(e, slog.LevelError, "duplicate", "its id is there twice, and nobody knows which is meant")
		} else if first := v.p.index.find(r.raw); first != i {
			v.entry(e, slog.LevelError, "duplicate", "the same name as %q (entry %d), which is the one that is found", v.p.Entry(first).Name, first)
		}
		if level, text := judgeName(r.raw); text != "" {
			v.entry(e, level, "name", "%s", text)
		} else if level, text := v.inFile(e); text != "" {
			v.entry(e, level, "name", "%s", text)
		}
		if odd := v.p.index.odd(i); odd != "" {
			v.entry(e, slog.LevelInfo, "record", "%s", odd)
		}
		if i < len(m.lines) && m.lines[i].text != "" && !m.lines[i].fits {
			v.entry(e, slog.LevelWarn, "manifest", "the manifest tells of other bytes: another program has changed the entry")
		}
		for ; len(why) > 0 && int(why[0].entry) <= i; why = why[1:] {
			v.entry(e, slog.LevelWarn, "manifest", "%s", why[0].text)
		}
		v.body(e, i%batch)
		v.compare(m, s, e)
	}
	if s.left > 0 {
		v.whole(slog.LevelError, "checksum", 0, "%s %s not read: more than twice the data would be with that", counted(s.left), isOrAre(s.left))
	}
	if v.beyond && v.p.indexNewer {
		v.whole(slog.LevelInfo, "bounds", 0, "the index is newer than the data: was the data copied in full?")
	}
	return nil
}

// inFile tells whether an entry lies in a folder whose name a file has, so that both cannot be
// extracted. It looks at no more folders than a name may have elements, which may be 65,535 bytes long.
func (v *verifier) inFile(e Entry) (slog.Level, string) {
	name := e.path()
	for end, depth := 0, 0; depth < maxDepth; depth++ {
		i := strings.IndexByte(name[end:], '/')
		if i < 0 {
			break
		}
		dir := name[:end+i]
		end += i + 1
		n := v.p.ordinal(dir)
		if n < 0 || n >= v.p.Len() {
			continue
		}
		var f Entry
		if v.p.foundBy(&f, n, dir, v.p.asFound(dir)); f.path() != dir {
			return slog.LevelWarn, fmt.Sprintf("its folder has the name of a file but for case, %q (entry %d): one of them cannot be extracted on Windows or macOS", f.Name, n)
		}
		return slog.LevelError, fmt.Sprintf("its folder %q is a file too (entry %d): one of them cannot be extracted", show(dir), n)
	}
	return 0, ""
}

// look has the entries looked into, on all cores.
func (v *verifier) look(from, to int) error {
	v.looked = make([][]Finding, to-from)
	if v.Check == nil {
		return v.ctx.Err()
	}
	err := inParallel(v.ctx, to-from, func(i int) {
		if v.p.lost() != nil {
			return
		}
		e := v.p.Entry(from + i)
		if n := v.p.table(e.Index); n > 0 && v.plain.Add(-n) < 0 {
			v.looked[i] = []Finding{{Severity: slog.LevelError, Kind: "bounds", Text: "not looked into: with it more than 64 times the data would be"}}
			return
		}
		f, err := v.p.openPinned(e)
		if err != nil {
			return // body says why
		}
		defer f.Close()
		v.looked[i] = v.Check(f)
		v.progress(e.Size)
	})
	return cmp.Or(err, v.p.lost())
}

// body checks that the entry can be opened and tells what was found in it, the n-th of its batch.
func (v *verifier) body(e Entry, n int) {
	if e.Size == 0 && e.Offset > v.p.DataSize() {
		v.entry(e, slog.LevelWarn, "bounds", "empty, with an offset past the end of the data (%d bytes)", v.p.DataSize())
	}
	if v.p.index.twice(e.Index) {
		return // as entries has told
	}
	if err := v.p.pin(e); err != nil {
		v.beyond = true
		v.entry(e, slog.LevelError, "bounds", "%v", err)
		return
	}
	v.p.m.release()
	for _, found := range v.looked[n] {
		v.entry(e, found.Severity, found.Kind, "%s", found.Text)
	}
}

// ranges checks how the bodies lie: it goes through them by offset and remembers how far the data is
// taken and by whom, so that each entry is compared with one other at most.
func (v *verifier) ranges() error {
	x := v.p.index
	all := x.len()
	if v.p.noted {
		all++ // the manifest's bytes are taken too
	}
	var order []int32 // with 64 MiB of index the ordinals fit
	for i := range all {
		if r := x.at(i); r.size > 0 && r.off+r.size <= v.p.DataSize() {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := x.at(int(i)), x.at(int(j))
		return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(b.size, a.size), cmp.Compare(i, j))
	})
	var g gaps
	var last, far Entry // the one before, unless it shares its bytes; the one that reaches farthest
	if v.p.traits.head {
		far = Entry{Index: -1, Size: int64(len(v.p.raw))}
	}
	for n, i := range order {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		e := v.p.Entry(int(i))
		end := far.Offset + far.Size
		switch {
		case n > 0 && e.Offset == last.Offset && e.Size == last.Size:
			v.entry(e, slog.LevelInfo, "shared", "the very bytes of %q (entry %d)", last.Name, last.Index)
			continue
		case e.Offset < end && far.Index < 0:
			v.entry(e, slog.LevelError, "overlap", "%d bytes of it belong to the table at the head too", min(end, e.Offset+e.Size)-e.Offset)
		case e.Offset < end:
			v.entry(e, slog.LevelError, "overlap", "%d bytes of it belong to %q (entry %d) too", min(end, e.Offset+e.Size)-e.Offset, far.Name, far.Index)
		case e.Offset > end:
			g.add(e.Offset - end)
		}
		if last = e; e.Offset+e.Size > end {
			far = e
		}
	}
	v.gaps(g, far.Offset+far.Size)
	return nil
}

// gaps counts bytes that belong to no entry.
type gaps struct{ n, bytes, most int64 }

func (g *gaps) add(bytes int64) { g.n, g.bytes, g.most = g.n+1, g.bytes+bytes, max(g.most, bytes) }

func (v *verifier) gaps(g gaps, end int64) {
	tail := v.DataSize - end
	if tail > 0 {
		g.add(tail)
	}
	level := slog.LevelWarn
	if g.most < pckBlock && v.p.layout == (pck{}) {
		level = slog.LevelInfo // an old packer's padding
	}
	switch {
	case g.n == 0:
	case tail == g.bytes:
		v.whole(level, "gap", end, "%d bytes behind the last entry", tail)
	case tail > 0:
		v.whole(level, "gap", end, "%d bytes in %d gaps, %d of them behind the last entry", g.bytes, g.n, tail)
	default:
		v.whole(level, "gap", 0, "%d bytes in %d gaps", g.bytes, g.n)
	}
}
