package decode

import "math/bits"

// The parts of the setup header behind the codebooks; see vorbis_setup.go.

// readTransforms reads what was once meant for time domain transforms: zeros (4.2.4).
func (g *vorbisGate) readTransforms() {
	for range g.read(6) + 1 {
		if v := g.read(16); v != 0 {
			g.fail(ErrCorrupt, "time domain transform %d", v)
		}
	}
	g.more()
}

func (g *vorbisGate) readFloors() {
	for i := range int(g.read(6)) + 1 {
		switch kind := g.read(16); kind {
		case 0:
			// No encoder since 2001 has written one.
			g.fail(ErrUnsupported, "floor of kind 0 (encoders before Vorbis 1.0)")
		case 1:
			g.readFloor1(i)
		default:
			g.fail(ErrCorrupt, "floor %d of kind %d", i, kind)
		}
		if !g.more() {
			return
		}
	}
}

// readFloor1 reads a floor of kind 1 (7.2.2): partitions, each of a class, then the places of the
// points on the curve.
func (g *vorbisGate) readFloor1(i int) {
	var of [31]int // class of each partition
	partitions := int(g.read(5))
	classes := 0
	for k := range partitions {
		of[k] = int(g.read(4))
		classes = max(classes, of[k]+1)
	}
	var dims [16]int
	for c := range classes {
		dims[c] = g.readClass(i)
	}
	g.read(2)
	width := uint(g.read(4))
	x := append(make([]uint32, 0, vorbisMaxPosts), 0, 1<<width)
	for _, class := range of[:partitions] {
		for range dims[class] {
			x = append(x, g.read(width))
		}
	}
	g.checkPosts(i, x)
	g.floors = append(g.floors, vorbisFloor{1 << width})
}

// readClass reads a class of floor i and returns how many points it has.
func (g *vorbisGate) readClass(i int) int {
	dims := int(g.read(3)) + 1
	sub := g.read(2)
	if sub > 0 {
		g.useBook(int(g.read(8)), "floor", i)
	}
	for range 1 << sub {
		if b := int(g.read(8)); b > 0 {
			g.useBook(b-1, "floor", i)
		}
	}
	return dims
}

// checkPosts wants the points of a curve to be few and apart, as a line is drawn between each two.
func (g *vorbisGate) checkPosts(i int, x []uint32) {
	if len(x) > vorbisMaxPosts {
		g.fail(ErrCorrupt, "floor %d with %d points", i, len(x))
		return
	}
	for k, v := range x {
		for _, w := range x[:k] {
			if v == w {
				g.fail(ErrCorrupt, "floor %d with two points at %d", i, v)
				return
			}
		}
	}
}

// useBook checks that there is a book with this number whose codes can be read.
func (g *vorbisGate) useBook(book int, user string, i int) bool {
	switch {
	case book >= len(g.books):
		g.fail(ErrCorrupt, "%s %d uses codebook %d of %d", user, i, book, len(g.books))
	case g.books[book].used == 0:
		g.fail(ErrCorrupt, "%s %d uses codebook %d, which is empty", user, i, book)
	default:
		return true
	}
	return false
}

func (g *vorbisGate) readResidues() {
	g.residues = int(g.read(6)) + 1
	for i := range g.residues {
		g.readResidue(i)
		if !g.more() {
			return
		}
	}
}

// readResidue reads a residue (8.6.1): the lines from begin to end, in partitions of one size, each
// of a class, and for each class the books of up to eight passes.
func (g *vorbisGate) readResidue(i int) {
	kind := g.read(16)
	begin, end := g.read(24), g.read(24)
	size := int(g.read(24)) + 1
	classes := int(g.read(6)) + 1
	class := int(g.read(8))
	switch {
	case kind > 2:
		g.fail(ErrCorrupt, "residue %d of kind %d", i, kind)
	case begin > end:
		g.fail(ErrCorrupt, "residue %d from line %d to %d", i, begin, end)
	}
	g.useBook(class, "residue", i)
	passes := 0
	for range classes {
		cascade := g.read(3)
		if g.flag() {
			cascade |= g.read(5) << 3
		}
		passes += bits.OnesCount32(cascade)
	}
	for range passes {
		g.useVectors(int(g.read(8)), i, size)
	}
}

// useVectors checks that a book can give the lines of partitions of size lines.
func (g *vorbisGate) useVectors(book, i, size int) {
	if !g.useBook(book, "residue", i) {
		return
	}
	switch b := g.books[book]; {
	case !b.vectors:
		g.fail(ErrCorrupt, "residue %d uses codebook %d, which has no values", i, book)
	case size%b.dims != 0:
		g.fail(ErrCorrupt, "residue %d: partitions of %d lines by vectors of %d", i, size, b.dims)
	}
}

func (g *vorbisGate) readMappings() {
	for i := range int(g.read(6)) + 1 {
		g.readMapping(i)
		if !g.more() {
			return
		}
	}
}

// readMapping reads a mapping (4.2.4): which channels are coupled, and which floor and residue each
// has, by way of submaps.
func (g *vorbisGate) readMapping(i int) {
	if kind := g.read(16); kind != 0 {
		g.fail(ErrCorrupt, "mapping %d of kind %d", i, kind)
	}
	submaps := 1
	if g.flag() {
		submaps = int(g.read(4)) + 1
	}
	if g.flag() {
		g.readCoupling(i)
	}
	if g.read(2) != 0 {
		g.fail(ErrCorrupt, "mapping %d with reserved bits", i)
	}
	for range g.channels {
		if submaps > 1 && int(g.read(4)) >= submaps {
			g.fail(ErrCorrupt, "mapping %d uses a submap of %d", i, submaps)
		}
	}
	var m vorbisMapping
	for range submaps {
		g.read(8)
		floor, residue := int(g.read(8)), int(g.read(8))
		if floor >= len(g.floors) || residue >= g.residues {
			g.fail(ErrCorrupt, "mapping %d uses floor %d of %d, residue %d of %d", i, floor, len(g.floors), residue, g.residues)
		}
		m.floors = append(m.floors, floor)
	}
	g.mappings = append(g.mappings, m)
}

func (g *vorbisGate) readCoupling(i int) {
	width := uint(bits.Len(uint(g.channels - 1)))
	for range g.read(8) + 1 {
		magnitude, angle := int(g.read(width)), int(g.read(width))
		if magnitude == angle || max(magnitude, angle) >= g.channels {
			g.fail(ErrCorrupt, "mapping %d couples channels %d and %d of %d", i, magnitude, angle, g.channels)
		}
	}
}

// readModes reads the modes (4.2.4): a block size and a mapping each.
func (g *vorbisGate) readModes() {
	n := int(g.read(6)) + 1
	g.modeBits = uint(bits.Len(uint(n - 1)))
	g.long = make([]bool, n)
	for i := range g.long {
		g.long[i] = g.flag()
		if g.read(32) != 0 {
			g.fail(ErrCorrupt, "mode %d of another window or transform", i)
		}
		if m := int(g.read(8)); m >= len(g.mappings) {
			g.fail(ErrCorrupt, "mode %d uses mapping %d of %d", i, m, len(g.mappings))
		} else {
			g.checkLines(i, g.mappings[m])
		}
	}
	if !g.flag() {
		g.fail(ErrCorrupt, "framing bit is missing")
	}
	g.more()
}

// checkLines wants the floors of a mode to end within its block: the decoder draws them
// past its buffer.
func (g *vorbisGate) checkLines(mode int, m vorbisMapping) {
	lines := g.block[0] / 2
	if g.long[mode] {
		lines = g.block[1] / 2
	}
	for _, f := range m.floors {
		if g.err == nil && g.floors[f].lines > lines {
			g.fail(ErrUnsupported, "floor of %d lines in a block of %d", g.floors[f].lines, lines)
		}
	}
}
