package mp3

import (
	"encoding/binary"
	"math"
)

// Huffman decoding (ISO/IEC 11172-3, 2.4.1.7 and 2.4.2.7, "Huffmancodebits"), joined with the
// requantisation of 2.4.3.4 since each value is at hand here.
//
// Values up to 15 come in pairs, coded with a table for each of three regions; a value of 15 is
// followed by linbits more where the table has them. Above the pairs come quadruples of values of at
// most 1, as many as the bits suffice for. Above those all is zero.

const (
	rootBits = 8  // of a code word that are looked up first
	subBits  = 6  // looked up next, if need be again and again
	maxValue = 15 // that a code word stands for
)

// A node of a look-up table is what the next bits mean: where the high bit is clear, a leaf 0x0LXY,
// as in the tables of the standard, but with L the number of bits of this look-up; else a branch,
// which holds where in the same table the look-up goes on, with subBits.
type node uint16

const branch node = 0x8000

// huffTable decodes pairs.
type huffTable struct {
	nodes   []node
	linbits uint8
}

// huffTables is by table_select. Tables 0, 4 and 14 code nothing: they have no nodes.
var huffTables [32]huffTable

// quadTables is by count1table_select.
var quadTables [2][1 << rootBits]node

// linbits of the tables 16 to 31, of which the first eight share one code and the others another.
var linbits = [16]uint8{1, 2, 3, 4, 6, 8, 10, 13, 4, 5, 6, 7, 8, 9, 11, 13}

// pow43 is n^(4/3) for all values that can be coded: 15 and 13 linbits.
var pow43 [maxValue + 1<<13]float32

func buildPow43() {
	for n := range pow43 {
		pow43[n] = float32(float64(n) * math.Cbrt(float64(n)))
	}
}

func buildHuffman() {
	for i, leaves := range [...][]uint16{
		1: leaves1, leaves2, leaves3, nil, leaves5, leaves6, leaves7, leaves8, leaves9, leaves10,
		leaves11, leaves12, leaves13, nil, leaves15, leaves16,
		24: leaves24,
	} {
		huffTables[i].nodes = buildNodes(leaves)
	}
	for i := 16; i < 32; i++ {
		huffTables[i] = huffTable{huffTables[i&^7].nodes, linbits[i-16]}
	}
	copy(quadTables[0][:], buildNodes(quadLeavesA))
	for i := range quadTables[1] { // table B is the four values themselves, inverted
		quadTables[1][i] = node(4<<8 | ^i>>4&15)
	}
}

// buildNodes turns the leaves of a code into a look-up table.
func buildNodes(leaves []uint16) []node {
	if leaves == nil {
		return nil
	}
	nodes := make([]node, 1<<rootBits, 1<<(rootBits+1))
	code := uint32(0) // the code word of the leaf, its first bit highest
	for _, leaf := range leaves {
		bits := int(leaf >> 8)
		nodes = addLeaf(nodes, code, bits, node(leaf&0xff))
		code += 1 << (32 - bits)
	}
	return nodes
}

func addLeaf(nodes []node, code uint32, bits int, values node) []node {
	at, size := 0, rootBits
	for bits > size {
		n := &nodes[at+int(code>>(32-size))]
		if *n == 0 {
			*n = branch | node(len(nodes))
			nodes = append(nodes, make([]node, 1<<subBits)...)
			n = &nodes[at+int(code>>(32-size))]
		}
		at = int(*n &^ branch)
		code, bits, size = code<<size, bits-size, subBits
	}
	first := at + int(code>>(32-size))
	for i := range 1 << (size - bits) {
		nodes[first+i] = node(bits)<<8 | values
	}
	return nodes
}

// mainBuffer holds the main data of a frame: all of it that lies in earlier frames and its own.
type mainBuffer [4096 + bitSlack]byte

// mainMask keeps an index of a mainBuffer in it, whatever damaged data make of it.
const mainMask = 4096 - 1

// huffman reads values from bit pos of buf on.
type huffman struct {
	buf *mainBuffer
	pos int
}

// decode reads the values of a granule, up to bit end of the main data, and requantises them with
// the gains of its bands. It returns the number of lines behind which all are zero; those are set to
// zero too. Bits behind end make no difference.
func (d *huffman) decode(g *granule, l *layout, gains *[maxBands + 3]float32, end int, xr *[granuleSize]float32) int {
	line, b := 0, 0
	for region, regionEnd := range g.regionEnd {
		table := &huffTables[g.tableSelect[region]]
		for line < regionEnd {
			if d.pos >= end {
				return d.finish(line, end, xr)
			}
			for line >= int(l.bands[b].end) {
				b++
			}
			stop := min(regionEnd, int(l.bands[b].end))
			if table.linbits > 0 {
				d.escapedPairs(xr[line:stop], table, gains[b])
			} else {
				d.pairs(xr[line:stop], table.nodes, gains[b])
			}
			if d.pos > end {
				return d.finish(line, end, xr) // the bits were not enough for this band
			}
			line = stop
		}
	}
	line = d.quads(g, l, gains, line, b, end, xr)
	return d.finish(line, end, xr)
}

func (d *huffman) finish(line, end int, xr *[granuleSize]float32) int {
	d.pos = end
	clear(xr[line:])
	return line
}

// window64 returns the bits from pos on, at least 57 of them, the first one highest.
func (d *huffman) window64() uint64 {
	return binary.BigEndian.Uint64(d.buf[d.pos>>3&mainMask:]) << (d.pos & 7)
}

// signed gives v the sign in the highest bit of w.
func signed(v float32, w uint64) float32 {
	return math.Float32frombits(math.Float32bits(v) ^ uint32(w>>32)&(1<<31))
}

// pairs reads len(xr)/2 pairs of a table without linbits. A sign bit follows each value but zero.
func (d *huffman) pairs(xr []float32, nodes []node, gain float32) {
	if nodes == nil {
		clear(xr)
		return
	}
	root := (*[1 << rootBits]node)(nodes)
	for ; len(xr) >= 2; xr = xr[2:] {
		w := d.window64()
		n := root[w>>(64-rootBits)]
		used := 0
		if n >= branch {
			n, used = descend(nodes, n, w)
			w <<= used & 63
		}
		size := int(n >> 8)
		w <<= size & 63
		x, y := int(n>>4&15), int(n&15)
		xr[0] = signed(pow43[x]*gain, w)
		sx, sy := (x+15)>>4, (y+15)>>4 // 1 where there is a sign
		w <<= sx & 63
		xr[1] = signed(pow43[y]*gain, w)
		d.pos += used + size + sx + sy
	}
}

// descend goes on from branch n of the root to a leaf. It returns how many bits it left behind,
// those of the leaf not among them.
func descend(nodes []node, n node, w uint64) (leaf node, used int) {
	used = rootBits
	w <<= rootBits
	for {
		n = nodes[int(n&^branch)+int(w>>(64-subBits))]
		if n < branch {
			return n, used
		}
		w <<= subBits
		used += subBits
	}
}

// escapedPairs is pairs for a table with linbits.
func (d *huffman) escapedPairs(xr []float32, table *huffTable, gain float32) {
	root := (*[1 << rootBits]node)(table.nodes)
	for ; len(xr) >= 2; xr = xr[2:] {
		w := d.window64()
		n := root[w>>(64-rootBits)]
		used := 0
		if n >= branch {
			n, used = descend(table.nodes, n, w)
			w <<= used & 63
		}
		size := int(n >> 8)
		w <<= size & 63
		used += size
		for i, v := range [2]int{int(n >> 4 & 15), int(n & 15)} {
			if v == maxValue {
				v += int(w >> (64 - table.linbits))
				w <<= table.linbits & 63
				used += int(table.linbits)
			}
			xr[i] = signed(pow43[v]*gain, w)
			sign := min(v, 1)
			w <<= sign & 63
			used += sign
		}
		d.pos += used
	}
}

// quads reads quadruples from line on until the bits of the granule are used up, or no quadruple has
// room, behind which bits are stuffing. A quadruple that needs more bits than there are is none. b is
// the band of the line before.
func (d *huffman) quads(g *granule, l *layout, gains *[maxBands + 3]float32, line, b, end int, xr *[granuleSize]float32) int {
	table := &quadTables[g.count1Table]
	for line <= granuleSize-4 && d.pos < end {
		w := d.window64()
		n := table[w>>(64-rootBits)]
		size := int(n >> 8)
		w <<= size & 63
		var v [4]float32
		for i := range v {
			if n>>(3-i)&1 != 0 {
				v[i] = signed(1, w)
				w <<= 1
				size++
			}
		}
		if d.pos += size; d.pos > end {
			break
		}
		for i := 0; i < 4; i += 2 { // a band has an even number of lines
			for line >= int(l.bands[b].end) {
				b++
			}
			xr[line], xr[line+1] = v[i]*gains[b], v[i+1]*gains[b]
			line += 2
		}
	}
	return line
}
