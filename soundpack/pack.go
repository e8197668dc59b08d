package soundpack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// Options say how to open a pack. The zero value, or a nil pointer, is right for most.
type Options struct {
	// Index is the path of the index; "" means beside the data: music.data has music.inx in the split
	// layout and music.index in crc. The others have none.
	Index string
	// Layout is "split", "crc", "cfg" or "pck"; "" means that it is found from the files. Where several
	// fit, Open says so.
	Layout string
	// Names are paths that entries may have, for the crc layout, which keeps none: an entry whose id
	// is a path's is shown under that path. The manifest's names come before these.
	Names []string
	// MaxIndex is the most bytes of index that are read; 0 means 64 MiB, which is 2.4 million entries.
	// A manifest may have four times as much.
	MaxIndex int64
	// NoMap reads the data with pread instead of mapping it: slower for small reads, right for
	// folders on a network, whose mappings are unreliable. Where a folder is known to be on one (NFS, SMB, AFS),
	// the data is not mapped in any case.
	NoMap bool

	network func(path string) string // the double of tests
}

const maxIndex = 64 << 20

func (o *Options) orZero() Options {
	if o == nil {
		return Options{}
	}
	return *o
}

// networkOf is the network file system that a file is on, "" for none.
func (o Options) networkOf(path string) string {
	if o.network != nil {
		return o.network(path)
	}
	return storage.Network(path)
}

// onNetwork is why data is not mapped.
func onNetwork(name string) error {
	return fmt.Errorf("it is on a network file system (%s), whose mappings lag behind and fail", name)
}

func (o Options) maxIndex() int64 {
	if o.MaxIndex > 0 {
		return min(o.MaxIndex, math.MaxInt32) // so that ordinals fit 32 bits
	}
	return maxIndex
}

// A Pack is an open pack, as it was when it was opened. It is an fs.FS with fs.ReadFileFS,
// fs.StatFS and fs.ReadDirFS, and all of its methods may be called from several goroutines at once.
type Pack struct {
	opt         Options
	path, base  string // the data file, and its base name for messages
	indexPath   string // the data's where the table is in there
	layout      layout
	traits      traits           // of the layout
	given       map[int32]string // paths by ordinal, from Options.Names
	index       index            // the manifest's record stands behind the others
	raw         string           // the index as it was read, of which index is made
	problems    []problem
	noted       bool // there is a manifest
	notedOnce   sync.Once
	notes       *manifest   // see manifest, which loads it
	loaded      atomic.Bool // the notes
	modTime     time.Time   // of the data
	indexNewer  bool        // the index was written after the data
	m           *mapping
	closed      atomic.Bool
	treeOnce    sync.Once
	builtTree   *tree
	foldersOnce sync.Once
	folders     bool
}

// An Entry is one file of a pack, as the index tells it. Its values are not checked against the data
// until it is opened.
type Entry struct {
	// Name is the name as it is shown, a valid path for io/fs: the full name that the manifest gives,
	// or else the index's. Bytes that do not fit a path are written as %XX; Raw has the index's name
	// unchanged, which may be a short alias.
	Name string
	// Index is the entry's ordinal among the entries in the order of the index, from 0. The manifest
	// is not counted; as an entry it has the ordinal behind the last.
	Index int
	// Offset and Size say where in the data file the body lies, in bytes.
	Offset, Size int64

	raw   string
	full  string // the full name, "" where raw is all of it
	exact bool   // the raw name is compared, as it is

	hashed bool // it was found by its path, of which raw is the id: it is not written down
}

// Raw is the bytes of the name in the index, of no certain encoding. They are part of the index, which
// stays in memory as long as a string cut out of it. In the crc layout it is the id in eight hex digits,
// in pck the number, and in cfg, whose names are Latin-1, the name in UTF-8.
func (e Entry) Raw() string {
	if e.hashed {
		return crcText(pathID(e.full))
	}
	return e.raw
}

// path is the entry's whole name as bytes.
func (e Entry) path() string {
	if e.full != "" {
		return e.full
	}
	return e.raw
}

// Key is what names are compared by: two entries with the same Key compete for it, and the first one in
// the index is found. It is the name with A-Z folded; in cfg the name as it is, in crc the id and in pck
// the number.
func (e Entry) Key() string {
	if e.exact {
		return show(e.Raw())
	}
	return foldASCII(e.Name)
}

// Open opens the pack whose data file is at path, and finds its index beside it.
//
// An index that is damaged as a whole is an error (ErrFormat); what can be lived with is told by
// [Pack.Warnings], and single bad entries are refused when they are opened. A missing file is an
// fs.ErrNotExist whose text names it.
func Open(path string, opt *Options) (*Pack, error) {
	o := opt.orZero()
	p := &Pack{opt: o, path: path, base: baseName(path)}
	found, err := detect(openLook, path, o.Index, o.Layout)
	if err != nil {
		return nil, opened("open", path, err)
	}
	p.use(found)
	raw, err := p.snapshot(o)
	if err != nil {
		return nil, opened("open", path, err)
	}
	if err := p.load(raw); err != nil {
		return nil, opened("open", path, err)
	}
	return p, nil
}

// load makes a snapshot usable, or lets go of it.
func (p *Pack) load(raw string) (err error) {
	defer func() {
		if err != nil {
			p.m.release()
		}
	}()
	p.raw = raw
	if err = p.layout.sniff(raw, p.m.size); err == nil {
		p.index, p.problems, err = p.layout.load(raw)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", baseName(p.indexPath), err)
	}
	p.findManifest()
	if err := p.nameEntries(p.opt.Names); err != nil {
		return err
	}
	if p.m.why != nil {
		p.problems = append(p.problems, problem{slog.LevelInfo, "map", fmt.Sprintf("data is read, not mapped: %v", p.m.why)})
	}
	return nil
}

// use takes a layout that was found.
func (p *Pack) use(f find) {
	p.layout, p.traits, p.indexPath = f.layout, f.layout.traits(), f.index
	if p.traits.head {
		p.indexPath = p.path
	}
}

// nameEntries gives entries the paths whose ids they have. Of two paths with one id neither is taken.
func (p *Pack) nameEntries(names []string) error {
	if len(names) == 0 {
		return nil
	}
	if !p.traits.hashed {
		return fmt.Errorf("names are given, and the %s layout has its own: %w", p.layout.name(), fs.ErrInvalid)
	}
	p.given = make(map[int32]string, len(names))
	for _, name := range names {
		i := p.index.find(name)
		if i < 0 || i == p.index.len() || show(p.index.at(i).raw) == name {
			continue
		}
		if other, ok := p.given[int32(i)]; ok && other != name {
			p.problems = append(p.problems, problem{slog.LevelWarn, "name",
				fmt.Sprintf("%s is the id of both %q and %q: it is shown as it is", p.index.at(i).raw, cutText(other), cutText(name))})
			name = ""
		}
		p.given[int32(i)] = name
	}
	return nil
}

// errReplaced: the data file was replaced between two looks at it.
var errReplaced = errors.New("the data file keeps being replaced")

// snapshot takes index and data that belong together although a writer may replace either at any
// moment. A writer makes data durable before an index names it, and never overwrites what an index
// has named; so an index that is read while the data file of that path stays the same one fits it.
func (p *Pack) snapshot(o Options) (raw string, err error) {
	for try := range 50 {
		if raw, err = p.trySnapshot(o); !errors.Is(err, errReplaced) {
			break
		}
		time.Sleep(time.Duration(try) * time.Millisecond) // 1.2 s in all
	}
	return raw, err
}

func (p *Pack) trySnapshot(o Options) (raw string, err error) {
	data, err := openRegular(p.path)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			data.Close()
		}
	}()
	raw, indexTime, err := p.readTable(data, o.maxIndex())
	if err != nil {
		return "", err
	}
	info, err := data.Stat() // after the index, so that a racing append does not look like damage
	if err != nil {
		return "", err
	}
	on := o.networkOf(p.path)
	if p.m, err = newMapping(p.path, data, info, o.NoMap || on != ""); err != nil {
		return "", err
	}
	if on != "" && !o.NoMap {
		p.m.why = onNetwork(on)
	}
	p.modTime, p.indexNewer = info.ModTime(), indexTime.After(info.ModTime().Add(2*time.Second))
	return raw, nil
}

// readTable reads the index, or the table at the head of the data.
func (p *Pack) readTable(data *os.File, limit int64) (raw string, written time.Time, err error) {
	h, ok := p.layout.(heading)
	if !ok {
		return readIndex(p.indexPath, limit)
	}
	info, err := data.Stat()
	if err == nil {
		raw, err = h.read(data, info.Size(), limit)
	}
	return raw, time.Time{}, err
}

// openRegular opens a regular file. It looks first: opening a pipe would wait for its writer.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return os.Open(path)
}

func readIndex(path string, limit int64) (string, time.Time, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("index: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", time.Time{}, fmt.Errorf("index: %w", err)
	}
	if info.Size() > limit {
		return "", time.Time{}, fmt.Errorf("%w: index %s has %d bytes, and %d is the most", ErrLimit, baseName(path), info.Size(), limit)
	}
	raw, err := readString(f, info.Size())
	if err != nil {
		return "", time.Time{}, fmt.Errorf("index: %w", err)
	}
	return raw, info.ModTime(), nil
}

// readString reads size bytes, or what there is of them, into a string without a second copy.
func readString(r io.Reader, size int64) (string, error) {
	var b strings.Builder
	b.Grow(int(size))
	var block [32 << 10]byte
	for r = io.LimitReader(r, size); ; {
		n, err := r.Read(block[:])
		b.Write(block[:n])
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// Close ends the use of the pack: opening from it fails with ErrClosed. It does not wait. Files that
// are still open go on working, and the mapping goes with the last of them.
func (p *Pack) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	return p.m.release()
}

// Path is the data file's path as it was given to [Open].
func (p *Pack) Path() string { return p.path }

// IndexPath is the path of the index; the data's own where the table is at its head.
func (p *Pack) IndexPath() string { return p.indexPath }

// Layout is the name of the pack's layout: "split", "crc", "cfg" or "pck".
func (p *Pack) Layout() string { return p.layout.name() }

// DataSize is the length of the data in bytes, as it was when the pack was opened.
func (p *Pack) DataSize() int64 { return p.m.size }

// Warnings tells what is wrong with the index or the manifest as a whole but does not keep the pack
// from being used, one line each. [Pack.Verify] tells more. A manifest of more than 1 MiB is not
// loaded for this: what is wrong with it is told once something else has.
func (p *Pack) Warnings() []string {
	var w []string
	for _, b := range p.problems {
		if b.level >= slog.LevelWarn {
			w = append(w, baseName(p.indexPath)+": "+b.text)
		}
	}
	for _, b := range p.manifestProblems() {
		if b.level >= slog.LevelWarn {
			w = append(w, p.base+": manifest: "+b.text)
		}
	}
	return w
}

// Err is the first error with which the data could not be read, whatever the entry; nil as long as there is
// none. After an ErrChanged nothing of a pack on a server can be read any more, and not all of one on this
// machine. What is wrong with an entry alone is not told here.
func (p *Pack) Err() error {
	err := p.m.fault.Load()
	switch {
	case err == nil:
		return nil
	case p.m.far != nil:
		return fmt.Errorf("soundpack: read %w", *err) // it names the address
	}
	return opened("read", p.path, *err)
}

// lost is why a pack on a server is given up: who went on would wait for it once more with each entry.
func (p *Pack) lost() error {
	if p.m.far == nil {
		return nil
	}
	return p.Err()
}

// Len is the number of entries, those that share a name included and the manifest not.
func (p *Pack) Len() int { return p.index.len() }

// Entry is the i-th entry of the index, from 0. It panics when i is out of range, as a slice does.
func (p *Pack) Entry(i int) Entry {
	r := p.index.at(i)
	e := Entry{Index: i, Offset: r.off, Size: r.size, raw: r.raw, exact: p.traits.exact || p.traits.keyed}
	switch {
	case p.noted && i == p.index.len() && p.traits.keyed:
		e.full, e.Name = manifestName, manifestName
	case p.noted && p.layout.aliased(r.raw):
		e.full, e.Name = p.manifest().fullName(i)
	}
	if e.full == "" && p.given != nil {
		e.full = p.given[int32(i)]
	}
	if e.Name == "" {
		e.Name = show(e.path())
	}
	return e
}

// foundBy makes e the i-th entry as it was found by a path: its own name where that is stored, the path
// where only its hash is, as a hash that fits is as good.
func (p *Pack) foundBy(e *Entry, i int, path, shown string) {
	if shown == "" {
		*e = p.Entry(i)
		return
	}
	e.Offset, e.Size = p.index.span(i)
	e.Name, e.Index, e.full, e.exact, e.hashed = shown, i, path, true, true
}

// asFound is how an entry is shown that a path finds, where only the path's hash is stored, and else "".
// Before the search it costs next to nothing: behind it the processor would have to wait for the index.
func (p *Pack) asFound(path string) string {
	if !p.traits.hashed {
		return ""
	}
	if _, id := parseID(path); id {
		return ""
	}
	return show(path)
}

// Entries is every entry in the order of the index, those that share a name included and the manifest
// not.
func (p *Pack) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := range p.index.len() {
			if !yield(p.Entry(i)) {
				return
			}
		}
	}
}

// Lookup finds the first entry of a name, without regard to the case of A-Z (in the layouts crc and cfg
// exactly). The name is one as it is shown ([Entry.Name]), an alias, or, where no entry is shown so, the
// bytes of [Entry.Raw]. In the crc layout it is a path, which need not be stored anywhere, or an id; in
// pck a number. It finds the manifest too, by its name ".sndpak". It allocates nothing unless the name is
// shown escaped; the first look-up of a full name loads the manifest.
func (p *Pack) Lookup(name string) (e Entry, ok bool) {
	raw := unshow(name)
	shown := p.asFound(raw)
	i := p.ordinal(raw)
	if i < 0 && name != "" && strings.IndexByte(name, '%') >= 0 {
		raw = name
		shown = p.asFound(raw)
		i = p.ordinal(raw)
	}
	if i < 0 {
		return e, false
	}
	p.foundBy(&e, i, raw, shown)
	return e, true
}

// ordinal is that of the first entry with that name in the index, or else with that full name.
func (p *Pack) ordinal(name string) int {
	i := p.index.find(name)
	if i < 0 && p.noted {
		if p.traits.keyed && name == manifestName {
			return p.index.len()
		}
		i = p.manifest().find(name)
	}
	return i
}

// bounds tells whether an entry lies within the data. An empty one may lie anywhere.
func (p *Pack) bounds(e Entry) error {
	switch {
	case p.index.twice(e.Index):
		return fmt.Errorf("%w: its id is there twice, and nobody knows which is meant", ErrFormat)
	case e.Size == 0:
		return nil
	case e.Offset < 0 || e.Size < 0 || e.Size > math.MaxInt64-e.Offset:
		return fmt.Errorf("%w: offset %d and size %d", ErrFormat, e.Offset, e.Size)
	case e.Offset+e.Size > p.m.size:
		return fmt.Errorf("%w: its %d bytes reach past the end of the data (%d bytes)", ErrFormat, e.Size, p.m.size)
	}
	return nil
}

// Section is a reader of the entry's body that needs no closing. It does not pin the mapping: once
// the pack and its files are closed, it reads ErrClosed.
func (p *Pack) Section(e Entry) (*io.SectionReader, error) {
	if p.closed.Load() {
		return nil, p.at("open", e, e.Offset, ErrClosed)
	}
	if err := p.bounds(e); err != nil {
		return nil, p.at("open", e, e.Offset, err)
	}
	if n := p.table(e.Index); n > 0 {
		if !p.m.acquire() {
			return nil, p.at("open", e, e.Offset, ErrClosed)
		}
		defer p.m.release()
		plain, err := p.plainTable(e, n)
		if err != nil {
			return nil, p.at("open", e, e.Offset, err)
		}
		return io.NewSectionReader(bytes.NewReader(plain), 0, n), nil
	}
	return io.NewSectionReader(reader{p, e}, e.Offset, e.Size), nil
}

var (
	_ fs.ReadFileFS = (*Pack)(nil)
	_ fs.StatFS     = (*Pack)(nil)
	_ fs.ReadDirFS  = (*Pack)(nil)
)
