package decode

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// The Vorbis packet decoder, after the Vorbis I specification (2020-07-04), whose clauses are named.
// The headers have passed the gate of vorbis_setup.go before they are read here: what it promises
// is not checked again. Packets may hold anything: reading past their end gives zeros and sets over,
// which ends what was being read, as the specification has it (section 1.1.3, 4.3.2, 8.6.2).

// vorbisReader reads bits of a packet, the lowest of a byte first (2.1.4).
type vorbisReader struct {
	data []byte
	acc  uint64 // the next have bits, lowest first; zero above them
	have uint
	over bool // more was read than there is
}

// fill makes have at least 32, but at the end of the packet.
func (r *vorbisReader) fill() {
	if len(r.data) >= 8 {
		r.acc |= binary.LittleEndian.Uint64(r.data) << (r.have & 63)
		n := (63 - r.have) >> 3
		r.data = r.data[n:]
		r.have += n * 8
		r.acc &= 1<<(r.have&63) - 1 // have is at most 63
		return
	}
	for r.have <= 48 && len(r.data) > 0 {
		r.acc |= uint64(r.data[0]) << r.have
		r.data = r.data[1:]
		r.have += 8
	}
}

// read returns the next n bits, n being at most 32.
func (r *vorbisReader) read(n uint) uint32 {
	if r.have < n {
		if r.fill(); r.have < n {
			r.over, r.acc, r.have = true, 0, 0
			return 0
		}
	}
	v := uint32(r.acc & (1<<n - 1))
	r.acc >>= n
	r.have -= n
	return v
}

// bookBits is how many bits of a code are looked up at once, at most. Longer codes are rare by their
// nature.
const bookBits = 10

// A codebook stands for numbers by codes, and for vectors of dims values by numbers (3.2).
type codebook struct {
	dims   int
	values []float32 // dims for each entry; nil where it has none
	// short tells by the next bits the entry << 8 and the length of its code; where the code
	// is longer, the length is 0 and the rest the node in tree to go on with.
	short []uint32
	width uint       // of the index of short
	tree  [][2]int32 // by the next bit: a node, or ^entry
}

// entry reads a code and returns its entry.
func (c *codebook) entry(r *vorbisReader) int {
	if r.have < 32 {
		r.fill()
	}
	e := c.short[r.acc&(1<<(c.width&63)-1)]
	n := uint(e & 0xff)
	if n == 0 {
		return c.walk(r, int32(e>>8))
	}
	if n > r.have {
		r.over, r.acc, r.have = true, 0, 0
		return 0
	}
	r.acc >>= n
	r.have -= n
	return int(e >> 8)
}

// walk reads a code longer than the index of short, from the node of its start on.
func (c *codebook) walk(r *vorbisReader, node int32) int {
	r.read(c.width)
	for !r.over {
		if node = c.tree[node][r.read(1)]; node < 0 {
			return int(^node)
		}
	}
	return 0
}

// readCodebook reads a codebook out of the setup header (3.2.1).
func readCodebook(b *vorbisBits) codebook {
	b.read(24)
	c := codebook{dims: int(b.read(16))}
	n := int(b.read(24))
	lengths := make([]uint8, n)
	if b.flag() {
		readOrderedLengths(b, lengths)
	} else {
		sparse := b.flag()
		for i := range lengths {
			if !sparse || b.flag() {
				lengths[i] = uint8(b.read(5)) + 1
			}
		}
	}
	c.build(lengths)
	c.readValues(b, n)
	return c
}

func readOrderedLengths(b *vorbisBits, lengths []uint8) {
	length := uint8(b.read(5)) + 1
	for i := 0; i < len(lengths); length++ {
		for range b.read(uint(bits.Len(uint(len(lengths) - i)))) {
			lengths[i] = length
			i++
		}
	}
}

// build gives the entries their codes: each, in order, the lowest that is free (3.2.1).
func (c *codebook) build(lengths []uint8) {
	c.width = min(bookBits, uint(slices.Max(lengths)))
	c.short = make([]uint32, 1<<c.width)
	var free [33]uint32 // the lowest free code of each length
	used, last := 0, 0
	for entry, length := range lengths {
		if length > 0 {
			c.add(entry, uint(length), takeCode(&free, uint(length)))
			used, last = used+1, entry
		}
	}
	if used == 1 { // it has a code of one bit, of either value
		c.add(last, 1, 1)
	}
}

// takeCode takes the lowest free code of a length, and makes those above and below it in the tree
// unfree.
func takeCode(free *[33]uint32, length uint) uint32 {
	code := free[length]
	for j := length; j > 0; j-- {
		if free[j]&1 != 0 {
			if j == 1 {
				free[1]++
			} else {
				free[j] = free[j-1] << 1
			}
			break
		}
		free[j]++
	}
	for j, at := length+1, code; j < 33 && free[j]>>1 == at; j++ {
		at = free[j]
		free[j] = free[j-1] << 1
	}
	return code
}

// add puts a code in the tables. Its first bit is its highest, where the reader has the lowest.
func (c *codebook) add(entry int, length uint, code uint32) {
	code = bits.Reverse32(code) >> (32 - length)
	if length <= c.width {
		for i := code; i < 1<<c.width; i += 1 << length {
			c.short[i] = uint32(entry)<<8 | uint32(length)
		}
		return
	}
	first := code & (1<<c.width - 1)
	if c.short[first] == 0 {
		if len(c.tree) == 0 {
			c.tree = append(c.tree, [2]int32{}) // no node is 0
		}
		c.short[first] = uint32(len(c.tree)) << 8
		c.tree = append(c.tree, [2]int32{})
	}
	node := int32(c.short[first] >> 8)
	for i := c.width; i < length-1; i++ {
		bit := code >> i & 1
		if c.tree[node][bit] == 0 {
			c.tree[node][bit] = int32(len(c.tree))
			c.tree = append(c.tree, [2]int32{})
		}
		node = c.tree[node][bit]
	}
	c.tree[node][code>>(length-1)&1] = ^int32(entry)
}

// readValues reads the vectors of n entries (3.2.1, 3.3).
func (c *codebook) readValues(b *vorbisBits, n int) {
	kind := b.read(4)
	if kind == 0 {
		return
	}
	least, step := vorbisFloat(b.read(32)), vorbisFloat(b.read(32))
	width := uint(b.read(4)) + 1
	sequence := b.flag()
	count := n * c.dims
	if kind == 1 {
		count = vorbisLookup1(n, c.dims)
	}
	steps := make([]float32, count)
	for i := range steps {
		steps[i] = float32(float64(b.read(width))*step + least)
	}
	c.values = make([]float32, n*c.dims)
	for i := range n {
		last, divisor := float32(0), 1
		for k := range c.dims {
			at := i*c.dims + k
			if kind == 1 {
				at = i / divisor % count
				divisor = min(divisor*count, 1<<30)
			}
			c.values[i*c.dims+k] = steps[at] + last
			if sequence {
				last = c.values[i*c.dims+k]
			}
		}
	}
}

// vorbisFloat is a float of the headers (9.2.2): sign, ten bits of exponent, 21 of mantissa.
func vorbisFloat(v uint32) float64 {
	m := float64(v & 0x1fffff)
	if v>>31 != 0 {
		m = -m
	}
	return math.Ldexp(m, int(v>>21&0x3ff)-788)
}
