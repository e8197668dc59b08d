package crashsim

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// An inode is a file without its name.
type inode struct {
	now     []byte  // as it is seen; never changed in place once an image has it
	durable []byte  // as it is at least on disk
	pending []piece // what was written since, in order
	images  []*Image
}

// A piece is a write, or a truncation to off bytes.
type piece struct {
	off  int64
	data []byte
	cut  bool
}

func (p piece) apply(b []byte) []byte {
	if p.cut {
		return resize(b, int(p.off))
	}
	if end := int(p.off) + len(p.data); end > len(b) {
		b = resize(b, end)
	}
	copy(b[p.off:], p.data)
	return b
}

// resize is b cut or filled up with zeros.
func resize(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n]
	}
	return append(b, make([]byte, n-len(b))...)
}

func (i *inode) write(p piece) {
	i.now = p.apply(slices.Clone(i.now))
	i.pending = append(i.pending, p)
	i.images = nil
}

func (i *inode) settle() { i.durable, i.pending, i.images = i.now, nil, nil }

// forget is a failed sync: the system takes for clean what never reached the disk.
func (i *inode) forget() { i.pending, i.images = nil, nil }

// A dirOp is a change of names: one that goes, one that comes, or both in one step.
type dirOp struct {
	drop, add string
	node      *inode
}

func (o dirOp) dir() string {
	if o.add != "" {
		return filepath.Dir(o.add)
	}
	return filepath.Dir(o.drop)
}

// apply does o to names. A name that was given to another file meanwhile is not dropped.
func (o dirOp) apply(names map[string]*inode) {
	if o.add != "" {
		names[o.add] = o.node
	}
	if o.drop != "" && (o.add == "" || names[o.drop] == o.node) {
		delete(names, o.drop)
	}
}

func (f *FS) do(o dirOp) {
	o.apply(f.dir)
	f.pending = append(f.pending, o)
}

// An Image is what a file may hold after a power cut. Bytes must not be changed. Two images with the
// same bytes have the same Sum, within one run.
type Image struct {
	Bytes []byte
	Sum   uint64
}

var seed = maphash.MakeSeed()

func image(b []byte) *Image { return &Image{b, maphash.Bytes(seed, b)} }

// A State is what is on disk: files by their path.
type State map[string]*Image

// Bytes is what a file holds; nil if there is none.
func (s State) Bytes(path string) []byte {
	if im := s[path]; im != nil {
		return im.Bytes
	}
	return nil
}

// String is the names and sizes, for messages.
func (s State) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s:%d ", filepath.Base(name), len(s[name].Bytes))
	}
	return strings.TrimSpace(b.String())
}

// Live is the state as it is seen, which is what a process that is killed leaves to the next one.
func (f *FS) Live() State {
	s := State{}
	for name, i := range f.dir {
		s[name] = image(i.now)
	}
	return s
}

// Cuts yields what a power cut at this moment may leave. Names reach the disk in any order and
// combination, the order of the operations being one of them. Of a file that matters says true of, all
// images are combined with those of the others, of any other only what is durable: nobody reads
// temporary files, and their images would only multiply the same states.
func (f *FS) Cuts(matters func(path string) bool, yield func(State)) {
	for _, names := range f.names() {
		var paths []string
		s := State{}
		for _, path := range slices.Sorted(maps.Keys(names)) {
			if matters(path) {
				paths = append(paths, path)
			} else {
				s[path] = image(names[path].durable)
			}
		}
		combine(names, paths, map[*inode]*Image{}, s, f.sector(), yield)
	}
}

func (f *FS) sector() int {
	if f.Sector > 0 {
		return f.Sector
	}
	return 512
}

// combine yields every combination of images of the files at paths. Two names of one file have the
// same image.
func combine(names map[string]*inode, paths []string, chosen map[*inode]*Image, s State, sector int, yield func(State)) {
	if len(paths) == 0 {
		yield(maps.Clone(s))
		return
	}
	node := names[paths[0]]
	images := node.cuts(sector)
	if im := chosen[node]; im != nil {
		images = []*Image{im}
	} else {
		defer delete(chosen, node)
	}
	for _, im := range images {
		chosen[node], s[paths[0]] = im, im
		combine(names, paths[1:], chosen, s, sector, yield)
	}
}

// names are the folders that a power cut may leave: every subset of the pending operations, or with
// more than ten every first part of them.
func (f *FS) names() []map[string]*inode {
	var all []map[string]*inode
	add := func(pick func(k int) bool) {
		names := maps.Clone(f.stable)
		for k, o := range f.pending {
			if pick(k) {
				o.apply(names)
			}
		}
		if !slices.ContainsFunc(all, func(m map[string]*inode) bool { return maps.Equal(m, names) }) {
			all = append(all, names)
		}
	}
	subsets(len(f.pending), 10, add)
	return all
}

// subsets calls add with every choice out of n where n is at most limit, else with the first parts,
// the last parts, all but one, and one.
func subsets(n, limit int, add func(pick func(k int) bool)) {
	if n <= limit {
		for mask := range 1 << n {
			add(func(k int) bool { return mask>>k&1 == 1 })
		}
		return
	}
	for c := range n + 1 {
		add(func(k int) bool { return k < c })
		add(func(k int) bool { return k >= c })
		add(func(k int) bool { return k != c })
		add(func(k int) bool { return k == c })
	}
}

// cuts are the images of a file after a power cut: sectors of what is pending are there or not, and
// where the new size got there first, the sectors that did not are zeros or garbage.
func (i *inode) cuts(sector int) []*Image {
	if i.images != nil {
		return i.images
	}
	seen := map[uint64]bool{}
	add := func(b []byte) {
		if im := image(b); !seen[im.Sum] {
			seen[im.Sum] = true
			i.images = append(i.images, im)
		}
	}
	add(i.durable)
	pieces := tear(i.pending, sector)
	for _, fill := range []func(int) []byte{nil, func(n int) []byte { return make([]byte, n) }, garbage} {
		if len(pieces) == 0 {
			break
		}
		subsets(len(pieces), 6, func(pick func(k int) bool) {
			b := slices.Clone(i.durable)
			if more := len(i.now) - len(b); fill != nil && more > 0 {
				b = append(b, fill(more)...)
			}
			for k, p := range pieces {
				if pick(k) {
					b = p.apply(b)
				}
			}
			add(b)
		})
	}
	return i.images
}

// tear cuts writes at the borders of sectors.
func tear(all []piece, sector int) (pieces []piece) {
	for _, p := range all {
		for !p.cut && len(p.data) > 0 {
			n := min(sector-int(p.off)%sector, len(p.data))
			pieces = append(pieces, piece{off: p.off, data: p.data[:n]})
			p.off, p.data = p.off+int64(n), p.data[n:]
		}
		if p.cut {
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// garbage is n bytes that nobody wrote.
func garbage(n int) []byte { return bytes.Repeat([]byte{0xde}, n) }
