package decode

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// The decoder (vorbis_packet.go) believes its headers: sizes are allocated as they are claimed, and
// indices are used as they are read. So the headers are read here first, by the Vorbis I
// specification (2020-07-04), and refused where the decoder could run out of memory or out of a
// table. The clauses named below are of that document.

// Limits of what is handed on. Encoders stay far below: the largest book of libvorbis has 6561
// entries of 8 values.
const (
	vorbisMaxBook    = 1 << 20 // values in one book
	vorbisMaxBooks   = 1 << 22 // values in all books
	vorbisMaxEntries = 1 << 20 // entries in all books
	vorbisMaxRate    = 384_000
	vorbisMaxPosts   = 65 // points of a floor curve (7.2.2)
)

// vorbisSetup is what the headers tell that we need ourselves.
type vorbisSetup struct {
	channels, rate int
	nominal        int    // bit/s, 0 where not told
	block          [2]int // short and long
	long           []bool // by mode
	modeBits       uint
}

// blockSize is the size of the block that packet holds. It is not ok where the packet is no sound:
// empty, a header, or of a mode that there is not (4.3.1).
func (s *vorbisSetup) blockSize(packet []byte) (size int, ok bool) {
	if len(packet) == 0 || packet[0]&1 != 0 {
		return 0, false
	}
	mode := int(packet[0]>>1) & (1<<s.modeBits - 1)
	switch {
	case mode >= len(s.long):
		return 0, false
	case s.long[mode]:
		return s.block[1], true
	}
	return s.block[0], true
}

// readIdent reads the identification header (4.2.2):
//
//	7  1, "vorbis"
//	4  version, 0
//	1  channels
//	4  rate
//	4  maximum, 4 nominal, 4 minimum bit rate, signed
//	1  exponents of the short (low four bits) and the long block size
//	1  framing bit
func (s *vorbisSetup) readIdent(p []byte) error {
	if len(p) < 30 || string(p[:7]) != "\x01vorbis" {
		return fmt.Errorf("%w: Vorbis identification header of %d bytes", ErrCorrupt, len(p))
	}
	le := binary.LittleEndian
	if v := le.Uint32(p[7:]); v != 0 {
		return fmt.Errorf("%w: Vorbis version %d", ErrUnsupported, v)
	}
	s.channels, s.rate = int(p[11]), int(le.Uint32(p[12:]))
	s.nominal = max(0, int(int32(le.Uint32(p[20:]))))
	short, long := p[28]&15, p[28]>>4
	s.block = [2]int{1 << short, 1 << long}
	switch {
	case s.channels < 1, s.rate < 1:
		return fmt.Errorf("%w: Vorbis with %d channels at %d Hz", ErrCorrupt, s.channels, s.rate)
	case s.channels > 8, s.rate > vorbisMaxRate:
		return fmt.Errorf("%w: Vorbis with %d channels at %d Hz", ErrLimit, s.channels, s.rate)
	case short < 6, long > 13, short > long, p[29]&1 == 0:
		return fmt.Errorf("%w: Vorbis identification header: block sizes %d and %d", ErrCorrupt, s.block[0], s.block[1])
	}
	return nil
}

// readSetup checks the setup header (4.2.4) and returns it.
func (s *vorbisSetup) readSetup(p []byte) ([]byte, error) {
	if len(p) < 7 || string(p[:7]) != "\x05vorbis" {
		return nil, fmt.Errorf("%w: Vorbis setup header is missing", ErrCorrupt)
	}
	g := vorbisGate{vorbisBits: vorbisBits{data: p, at: 7 * 8}, vorbisSetup: s}
	for _, part := range []func(){g.readBooks, g.readTransforms, g.readFloors, g.readResidues, g.readMappings, g.readModes} {
		if part(); g.err != nil {
			return nil, fmt.Errorf("%w (bit %d)", g.err, g.at)
		}
	}
	return p, nil
}

// vorbisBits reads bits, the lowest of a byte first (2.1.4). Behind the end there are zeros.
type vorbisBits struct {
	data []byte
	at   int // in bits
}

// read returns the next n bits, n being at most 32.
func (b *vorbisBits) read(n uint) uint32 {
	i, shift := b.at>>3, uint(b.at&7)
	b.at += int(n)
	var v uint64
	if i+8 <= len(b.data) {
		v = binary.LittleEndian.Uint64(b.data[i:])
	} else {
		for k := range min(8, max(0, len(b.data)-i)) {
			v |= uint64(b.data[i+k]) << (8 * k)
		}
	}
	return uint32(v >> shift & (1<<n - 1))
}

func (b *vorbisBits) flag() bool { return b.read(1) != 0 }
func (b *vorbisBits) over() bool { return b.at > 8*len(b.data) }

// vorbisBook is what has to be known of a codebook to judge its uses.
type vorbisBook struct {
	dims    int
	used    int  // entries that have a code
	vectors bool // entries stand for vectors
}

// vorbisFloor is what has to be known of a floor: how many lines of the spectrum it spans.
type vorbisFloor struct{ lines int }

// vorbisMapping is what has to be known of a mapping: its floors.
type vorbisMapping struct{ floors []int }

// vorbisGate reads a setup header. The first fault stays in err; parts after it read on, but to no
// effect.
type vorbisGate struct {
	vorbisBits
	*vorbisSetup
	err      error
	books    []vorbisBook
	floors   []vorbisFloor
	residues int
	mappings []vorbisMapping
}

// fail keeps the first fault. What was read behind the end of the header is none of its own.
func (g *vorbisGate) fail(kind error, format string, args ...any) {
	switch {
	case g.err != nil:
	case g.over():
		g.err = fmt.Errorf("%w: Vorbis setup header ends in the middle", ErrCorrupt)
	default:
		g.err = fmt.Errorf("%w: Vorbis setup header: %s", kind, fmt.Sprintf(format, args...))
	}
}

// more tells whether a loop over parts of the header may go on.
func (g *vorbisGate) more() bool {
	if g.over() {
		g.fail(ErrCorrupt, "")
	}
	return g.err == nil
}

func (g *vorbisGate) readBooks() {
	values, entries := 0, 0
	for i := range int(g.read(8)) + 1 {
		b, n := g.readBook(i)
		g.books = append(g.books, b)
		values += n * b.dims
		entries += n
		if values > vorbisMaxBooks || entries > vorbisMaxEntries {
			g.fail(ErrLimit, "codebooks of %d entries and %d values", entries, values)
		}
		if !g.more() {
			return
		}
	}
}

// readBook reads codebook i (3.2.1) and returns it with the number of its entries.
func (g *vorbisGate) readBook(i int) (vorbisBook, int) {
	if g.read(24) != 0x564342 {
		g.fail(ErrCorrupt, "codebook %d does not begin as one", i)
		return vorbisBook{}, 0
	}
	b := vorbisBook{dims: int(g.read(16))}
	n := int(g.read(24))
	switch {
	case n == 0 || b.dims == 0:
		g.fail(ErrCorrupt, "codebook %d of %d entries of %d values", i, n, b.dims)
	case int64(n)*int64(b.dims) > vorbisMaxBook:
		g.fail(ErrLimit, "codebook %d of %d entries of %d values", i, n, b.dims)
	}
	if g.err != nil {
		return b, 0
	}
	var space uint64
	if g.flag() {
		b.used, space = g.readOrdered(n)
	} else {
		b.used, space = g.readLengths(n)
	}
	g.checkCode(i, n, b.used, space)
	g.readValues(i, n, &b)
	return b, n
}

// vorbisFull is the space of all codes: one of length l takes vorbisFull >> l of it.
const vorbisFull = 1 << 32

// readLengths reads the lengths of n codes one by one. It returns how many entries have one, and
// the space that they take.
func (g *vorbisGate) readLengths(n int) (used int, space uint64) {
	sparse := g.flag()
	for range n {
		if sparse && !g.flag() {
			continue
		}
		used++
		space += vorbisFull >> (g.read(5) + 1)
	}
	return used, space
}

// readOrdered reads how many of n codes there are of each length.
func (g *vorbisGate) readOrdered(n int) (used int, space uint64) {
	for length := g.read(5) + 1; used < n; length++ {
		k := int(g.read(uint(bits.Len(uint(n - used)))))
		if used += k; used > n || length > 32 {
			g.fail(ErrCorrupt, "codebook with code lengths out of range")
			return used, 0
		}
		space += uint64(k) * (vorbisFull >> length)
	}
	return used, space
}

// checkCode wants the codes to fill their space exactly: with less the decoder may not find an
// entry, with more it cannot make the tree (3.2.1). Two exceptions: a single entry of length 1 has
// half of the space, and a book without entries is well as long as nothing uses it.
func (g *vorbisGate) checkCode(i, n, used int, space uint64) {
	switch {
	case used == 0, used > 1 && space == vorbisFull:
	case used == 1 && space == vorbisFull/2:
	case space > vorbisFull:
		g.fail(ErrCorrupt, "codebook %d has more codes than there are", i)
	default:
		g.fail(ErrCorrupt, "codebook %d leaves codes without an entry", i)
	}
}

// readValues reads the vectors of a book of n entries.
func (g *vorbisGate) readValues(i, n int, b *vorbisBook) {
	kind := g.read(4)
	if kind == 0 || g.err != nil {
		return
	}
	b.vectors = true
	g.at += 32 + 32 // the lowest value and the step
	width := int(g.read(4)) + 1
	g.read(1)
	count := n * b.dims
	switch kind {
	case 1:
		count = vorbisLookup1(n, b.dims)
	case 2:
	default:
		g.fail(ErrCorrupt, "codebook %d with values of kind %d", i, kind)
	}
	g.at += count * width
}

// vorbisLookup1 is the largest whole number whose dims-th power is at most n (9.2.3).
func vorbisLookup1(n, dims int) int {
	root := int(math.Pow(float64(n), 1/float64(dims))) + 1
	for !vorbisPowerFits(root, dims, n) {
		root--
	}
	return root
}

// vorbisPowerFits tells whether base to the power exp is at most n.
func vorbisPowerFits(base, exp, n int) bool {
	if base <= 1 {
		return base <= n
	}
	p := int64(1)
	for range exp {
		if p *= int64(base); p > int64(n) {
			return false
		}
	}
	return true
}
