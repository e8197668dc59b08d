package mp3

import "encoding/binary"

// Side information: how to read the main data (ISO/IEC 11172-3, 2.4.1.7 and 2.4.2.7; for the lower
// sampling frequencies ISO/IEC 13818-3, 2.4.1.7 and 2.4.2.7).

const (
	granuleSize = 576 // frequency lines of a granule and channel, and frames that they become
	maxPairs    = granuleSize / 2

	blockNormal, blockStart, blockShort, blockStop = 0, 1, 2, 3 // block_type
)

// sideInfo is the side information of one frame.
type sideInfo struct {
	mainDataBegin int     // bytes of main data that lie in earlier frames
	scfsi         [2]uint // by channel: bit g set where group g of granule 1 takes granule 0's factors
	granules      [2][2]granule
}

// granule is the side information of one granule and channel.
type granule struct {
	part23Length     int // bits of scale factors and Huffman code together
	bigValues        int // pairs of values in the three regions
	globalGain       int
	scalefacCompress int
	blockType        int
	mixed            bool // the two lowest subbands have normal blocks, whatever blockType says
	tableSelect      [3]int
	subblockGain     [3]int
	regionEnd        [3]int // in frequency lines, at most 2*bigValues
	preflag          bool
	scalefacScale    bool
	count1Table      int
}

// parse reads the side information from b, which is h.sideSize() long. It reports false where a
// field has a forbidden value, which no stream has unless it is damaged.
func (s *sideInfo) parse(h header, b []byte) bool {
	r := bitReader{buf: b}
	channels := h.channels()
	if h.lsf() {
		s.mainDataBegin = int(r.bits(8))
		r.bits(channels) // private_bits
	} else {
		s.mainDataBegin = int(r.bits(9))
		r.bits(7 - 2*channels) // private_bits: 5 for one channel, 3 for two
		for ch := range channels {
			s.scfsi[ch] = 0
			for group := range 4 {
				s.scfsi[ch] |= uint(r.bits(1)) << group
			}
		}
	}
	for gr := range h.granules() {
		for ch := range channels {
			if !s.granules[gr][ch].parse(&r, h) {
				return false
			}
		}
	}
	return true
}

func (g *granule) parse(r *bitReader, h header) bool {
	g.part23Length = int(r.bits(12))
	g.bigValues = int(r.bits(9))
	g.globalGain = int(r.bits(8))
	if h.lsf() {
		g.scalefacCompress = int(r.bits(9))
	} else {
		g.scalefacCompress = int(r.bits(4))
	}
	if windowSwitching := r.flag(); windowSwitching {
		g.parseSwitched(r, h)
	} else {
		g.parseLong(r, h)
	}
	g.preflag = false // the lower sampling frequencies have it in scalefac_compress
	if !h.lsf() {
		g.preflag = r.flag()
	}
	g.scalefacScale = r.flag()
	g.count1Table = int(r.bits(1))
	return g.bigValues <= maxPairs && g.blockType >= 0
}

// parseLong reads what a granule of normal blocks has: three regions, whose borders are borders of
// scale factor bands.
func (g *granule) parseLong(r *bitReader, h header) {
	g.blockType, g.mixed = blockNormal, false
	for i := range g.tableSelect {
		g.tableSelect[i] = int(r.bits(5))
	}
	region0 := int(r.bits(4)) + 1
	region1 := int(r.bits(3)) + 1
	bands := &longBands[h.rateIndex()]
	g.setRegions(bands[region0], bands[min(region0+region1, len(bands)-1)])
}

// parseSwitched reads what a granule with another window has: two regions with a fixed border.
func (g *granule) parseSwitched(r *bitReader, h header) {
	g.blockType = int(r.bits(2))
	g.mixed = r.flag()
	g.tableSelect = [3]int{int(r.bits(5)), int(r.bits(5)), 0}
	for i := range g.subblockGain {
		g.subblockGain[i] = int(r.bits(3))
	}
	border := longBands[h.rateIndex()][8] // region0_count is 7
	if g.blockType == blockShort {
		border = 3 * shortBands[h.rateIndex()][3] // region0_count is 8: three bands of three windows
	}
	g.setRegions(border, granuleSize)
	if g.blockType == blockNormal {
		g.blockType = -1 // forbidden here
	}
}

func (g *granule) setRegions(border0, border1 int) {
	end := 2 * g.bigValues
	g.regionEnd = [3]int{min(border0, end), min(border1, end), min(end, granuleSize)}
}

// mainBits is the number of bits that the granules of the frame take from the main data.
func (s *sideInfo) mainBits(h header) int {
	n := 0
	for gr := range h.granules() {
		for ch := range h.channels() {
			n += s.granules[gr][ch].part23Length
		}
	}
	return n
}

// bitReader reads bits from the high end of each byte. The slice must be followed by at least eight
// bytes that may be read (see bitSlack), which come out as further bits: whoever reads past his
// share finds out by pos.
type bitReader struct {
	buf []byte
	pos int // in bits
}

// bitSlack is how many bytes behind the last one a bitReader may touch.
const bitSlack = 8

// bits reads n bits, 0 to 32. Behind the end of the slice there are only zeros.
func (r *bitReader) bits(n int) uint32 {
	i := r.pos >> 3
	if i+8 > len(r.buf) {
		return r.bitsAtEnd(n)
	}
	w := binary.BigEndian.Uint64(r.buf[i:]) << (r.pos & 7)
	r.pos += n
	return uint32(w >> 32 >> (32 - n))
}

// bitsAtEnd is bits near the end of the slice.
func (r *bitReader) bitsAtEnd(n int) uint32 {
	var tail [8]byte
	if i := r.pos >> 3; i < len(r.buf) {
		copy(tail[:], r.buf[i:])
	}
	w := binary.BigEndian.Uint64(tail[:]) << (r.pos & 7)
	r.pos += n
	return uint32(w >> 32 >> (32 - n))
}

// flag reads one bit.
func (r *bitReader) flag() bool { return r.bits(1) != 0 }
