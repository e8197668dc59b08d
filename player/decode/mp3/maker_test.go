package mp3

import (
	"encoding/binary"
	"math/rand"
)

// What the tests decode is made here: streams of valid frames whose values are random but encoded as
// the standard says, with a bit reservoir, so that no encoder is needed and every feature is there,
// also those that encoders leave out.

// bitWriter is the opposite of bitReader.
type bitWriter struct {
	b []byte
	n int
}

func (w *bitWriter) put(v uint32, n int) {
	for i := n - 1; i >= 0; i-- {
		if w.n%8 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[w.n/8] |= byte(v>>i&1) << (7 - w.n%8)
		w.n++
	}
}

func (w *bitWriter) putBool(v bool) {
	if v {
		w.put(1, 1)
	} else {
		w.put(0, 1)
	}
}

// codeWord is a code word of a Huffman table.
type codeWord struct {
	code uint32
	bits int
}

// codeWords turns leaves into code words by value.
func codeWords(leaves []uint16) map[byte]codeWord {
	words := map[byte]codeWord{}
	code := uint64(0)
	for _, leaf := range leaves {
		bits := int(leaf >> 8)
		words[byte(leaf)] = codeWord{uint32(code >> (32 - bits)), bits}
		code += 1 << (32 - bits)
	}
	return words
}

// leavesOf is the code of a table_select, nil where there is none.
func leavesOf(table int) []uint16 {
	if table >= 24 {
		return leaves24
	}
	if table >= 16 {
		return leaves16
	}
	return [16][]uint16{
		1: leaves1, leaves2, leaves3, nil, leaves5, leaves6, leaves7, leaves8, leaves9, leaves10,
		leaves11, leaves12, leaves13, nil, leaves15,
	}[table]
}

var wordsOf = func() (all [32]map[byte]codeWord) {
	for i := range all {
		all[i] = codeWords(leavesOf(i))
	}
	return all
}()

var quadWords = codeWords(quadLeavesA)

// kind says what a made stream is like.
type kind struct {
	name      string
	version   header // as in the header: 3, 2 or 0
	rate      header // sampling frequency index
	mode      header
	extension header
	bitrate   header // index; 15 is another one for each frame, 0 free format
	freeSize  int
	crc       bool
	long      bool // no window switching
	noMixed   bool
	noReserve bool
	ordered   bool // blocks follow one another as encoders let them: start, short ones, stop
	mpg123    bool // without what libmpg123 takes for something else: see TestMadeStreamsAgainstMpg123
}

func (k kind) header() header {
	h := header(0x7ff)<<21 | k.version<<19 | 1<<17 | 1<<16 | k.bitrate%15<<12 | k.rate<<10 | k.mode<<6 | k.extension<<4
	if k.crc {
		h &^= 1 << 16
	}
	return h
}

// kinds is one of each, and every bit of the format is in one of them.
var kinds = []kind{
	{name: "mpeg1 stereo", version: 3, mode: 0, bitrate: 9},
	{name: "mpeg1 mono", version: 3, rate: 1, mode: 3, bitrate: 5},
	{name: "mpeg1 dual crc", version: 3, rate: 2, mode: 2, bitrate: 11, crc: true},
	{name: "mpeg1 ms", version: 3, mode: 1, extension: 2, bitrate: 15},
	{name: "mpeg1 intensity", version: 3, mode: 1, extension: 1, bitrate: 10},
	{name: "mpeg1 ms intensity", version: 3, rate: 1, mode: 1, extension: 3, bitrate: 15},
	{name: "mpeg1 32k smallest", version: 3, rate: 1, mode: 0, bitrate: 1},
	{name: "mpeg1 free", version: 3, mode: 1, extension: 2, freeSize: 1306},
	{name: "mpeg1 free large", version: 3, rate: 2, mode: 3, freeSize: 2880},
	{name: "mpeg1 no reservoir", version: 3, mode: 0, bitrate: 9, noReserve: true},
	{name: "mpeg2 stereo", version: 2, mode: 0, bitrate: 8},
	{name: "mpeg2 mono", version: 2, rate: 1, mode: 3, bitrate: 15},
	{name: "mpeg2 ms", version: 2, rate: 2, mode: 1, extension: 2, bitrate: 15, crc: true},
	{name: "mpeg2 intensity", version: 2, mode: 1, extension: 1, bitrate: 12},
	{name: "mpeg2 ms intensity", version: 2, rate: 2, mode: 1, extension: 3, bitrate: 13},
	{name: "mpeg2 8k smallest", version: 2, rate: 1, mode: 0, bitrate: 1},
	{name: "mpeg2 free", version: 2, mode: 0, freeSize: 261},
	{name: "mpeg2.5 stereo", version: 0, mode: 0, bitrate: 8},
	{name: "mpeg2.5 mono 8k", version: 0, rate: 2, mode: 3, bitrate: 15},
	{name: "mpeg2.5 intensity", version: 0, rate: 1, mode: 1, extension: 3, bitrate: 9},
}

// maker makes the frames of a stream.
type maker struct {
	kind
	rng   *rand.Rand
	out   []byte
	start []int // of the frames in out

	main      []byte // main data of all frames
	slots     []slot // where it goes
	slotBytes int

	before [2]granule // of each channel

	// Right channels of intensity stereo that have no bits; that leave long bands of mixed blocks to it.
	empty, mixed int
}

// slot is a frame's own share of main data: so many bytes of out.
type slot struct{ at, size int }

// makeStream makes frames frames of a kind.
func makeStream(seed int64, k kind, frames int) *maker {
	m := &maker{kind: k, rng: rand.New(rand.NewSource(seed))}
	for range frames {
		m.frame()
	}
	for _, s := range m.slots {
		n := copy(m.out[s.at:s.at+s.size], m.main)
		m.main = m.main[n:]
	}
	return m
}

func (m *maker) frame() {
	h := m.header() | header(m.rng.Intn(2))<<9
	if m.bitrate == 15 {
		h |= header(1+m.rng.Intn(14)) << 12
	}
	size := h.size(m.freeSize)
	own := size - h.mainStart()
	longest := 511
	if h.lsf() {
		longest = 255
	}
	begin := m.slotBytes - len(m.main)
	if most := longest; begin > most || m.noReserve {
		if m.noReserve {
			most = 0
		}
		m.main = append(m.main, make([]byte, begin-most)...)
		begin = most
	}
	side, data := m.sideAndMain(h, begin, 8*(begin+own))

	at := len(m.out)
	m.start = append(m.start, at)
	m.out = append(m.out, make([]byte, size)...)
	binary.BigEndian.PutUint32(m.out[at:], uint32(h))
	copy(m.out[at+h.sideStart():], side.b)
	if m.crc {
		f := m.out[at : at+h.mainStart()]
		binary.BigEndian.PutUint16(f[headerSize:], crcOf(h, f))
	}
	m.slots = append(m.slots, slot{at + h.mainStart(), own})
	m.slotBytes += own
	m.main = append(m.main, data.b...)
}

// sideAndMain makes a frame's side information and its main data, of at most budget bits.
func (m *maker) sideAndMain(h header, begin, budget int) (side, data bitWriter) {
	channels := h.channels()
	var granules [2][2]granule
	var counts [2][2][2]int
	var scfsi [2]uint
	share := budget / (channels * h.granules())
	for gr := range h.granules() {
		for ch := range channels {
			g := &granules[gr][ch]
			if m.ordered {
				g.blockType, g.mixed = m.before[ch].blockType, m.before[ch].mixed
			}
			counts[gr][ch] = m.choose(h, g)
			if first := &granules[gr][0]; ch == 1 && h.mode() == modeJoint && (g.blockType != first.blockType || g.mixed != first.mixed) {
				*g, counts[gr][ch] = *first, counts[gr][0] // joint channels have the same blocks
				g.part23Length, g.bigValues = 0, 0
			}
			m.before[ch] = *g
			if gr == 1 && g.blockType != blockShort && granules[0][ch].blockType != blockShort {
				scfsi[ch] = uint(m.rng.Intn(16))
			}
			before := data.n
			m.granule(h, g, &data, counts[gr][ch], min(share, 4095), gr, ch, scfsi[ch])
			g.part23Length = data.n - before
		}
	}
	if h.lsf() {
		side.put(uint32(begin), 8)
		side.put(0, channels)
	} else {
		side.put(uint32(begin), 9)
		side.put(0, 7-2*channels)
		for ch := range channels {
			for group := range 4 {
				side.put(uint32(scfsi[ch]>>group&1), 1)
			}
		}
	}
	for gr := range h.granules() {
		for ch := range channels {
			putGranule(&side, h, &granules[gr][ch], counts[gr][ch])
		}
	}
	return side, data
}

// choose chooses everything about a granule but its values, and returns region0_count and
// region1_count. Where blocks are ordered, the block in g is the one before.
func (m *maker) choose(h header, g *granule) (counts [2]int) {
	r := m.rng
	g.globalGain = 120 + r.Intn(30)
	g.scalefacCompress = r.Intn(16)
	if h.lsf() {
		g.scalefacCompress = r.Intn(512)
	}
	g.scalefacScale = r.Intn(4) == 0
	g.preflag = !h.lsf() && r.Intn(2) == 0
	g.count1Table = r.Intn(2)
	for i := range g.tableSelect {
		g.tableSelect[i] = []int{0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}[r.Intn(30)]
	}
	mixed := !m.noMixed && (h.halvings() < 2 || m.ordered && h.rateIndex() < 8) && r.Intn(3) == 0
	switch {
	case m.ordered:
		m.follow(g, mixed)
	case !m.long && r.Intn(2) == 0:
		g.blockType = 1 + r.Intn(3)
		g.mixed = g.blockType == blockShort && mixed
	}
	if g.blockType != blockNormal {
		g.subblockGain = [3]int{r.Intn(3), r.Intn(3), r.Intn(3)}
		g.tableSelect[2] = 0
	} else {
		counts = [2]int{r.Intn(13), r.Intn(8)}
	}
	return counts
}

// follow replaces the block in g by one that may come next: the halves of two windows that overlap fit
// each other. All windows from start to stop are mixed, or none of them is.
func (m *maker) follow(g *granule, mixed bool) {
	switch again := m.rng.Intn(2) == 0; {
	case g.blockType == blockStart:
		g.blockType = blockShort
	case g.blockType == blockShort && !again:
		g.blockType = blockStop
	case g.blockType == blockShort:
	case again:
		g.blockType, g.mixed = blockNormal, false
	default:
		g.blockType, g.mixed = blockStart, mixed
	}
}

func putGranule(w *bitWriter, h header, g *granule, counts [2]int) {
	w.put(uint32(g.part23Length), 12)
	w.put(uint32(g.bigValues), 9)
	w.put(uint32(g.globalGain), 8)
	if h.lsf() {
		w.put(uint32(g.scalefacCompress), 9)
	} else {
		w.put(uint32(g.scalefacCompress), 4)
	}
	w.putBool(g.blockType != blockNormal)
	if g.blockType != blockNormal {
		w.put(uint32(g.blockType), 2)
		w.putBool(g.mixed)
		w.put(uint32(g.tableSelect[0]), 5)
		w.put(uint32(g.tableSelect[1]), 5)
		for _, v := range g.subblockGain {
			w.put(uint32(v), 3)
		}
	} else {
		for _, v := range g.tableSelect {
			w.put(uint32(v), 5)
		}
		w.put(uint32(counts[0]), 4)
		w.put(uint32(counts[1]), 3)
	}
	if !h.lsf() {
		w.putBool(g.preflag)
	}
	w.putBool(g.scalefacScale)
	w.put(uint32(g.count1Table), 1)
}

// factorLengths returns the length in bits of each scale factor that is sent.
func factorLengths(h header, g *granule, gr, ch int, scfsi uint) (lengths []int) {
	if h.lsf() {
		which, n := slenLSF(g.scalefacCompress)
		if ch == 1 && h.intensity() {
			which, n = slenIntensity(g.scalefacCompress >> 1)
		}
		for i, count := range partitions[which][g.layoutKind()] {
			for range count {
				lengths = append(lengths, n[i])
			}
		}
		return lengths
	}
	counts := [3][2]int{{11, 10}, {18, 18}, {17, 18}}[g.layoutKind()]
	for i, count := range counts {
		for band := range count {
			if g.layoutKind() == layoutLong && gr == 1 {
				group := 0
				for scfsiGroups[group+1] <= band+11*i {
					group++
				}
				if scfsi>>group&1 != 0 {
					continue
				}
			}
			lengths = append(lengths, int(slen[g.scalefacCompress][i]))
		}
	}
	return lengths
}

// regionBorders returns the pairs where the regions end.
func regionBorders(h header, g *granule, counts [2]int) [3]int {
	long := longBands[h.rateIndex()]
	switch g.blockType {
	case blockNormal:
		return [3]int{long[counts[0]+1] / 2, long[min(counts[0]+counts[1]+2, 22)] / 2, maxPairs}
	case blockShort:
		return [3]int{3 * shortBands[h.rateIndex()][3] / 2, maxPairs, maxPairs}
	}
	return [3]int{long[8] / 2, maxPairs, maxPairs}
}

// granule writes the scale factors and values of a granule in at most budget bits, and sets
// bigValues.
func (m *maker) granule(h header, g *granule, w *bitWriter, counts [2]int, budget, gr, ch int, scfsi uint) {
	begin, end := w.n, w.n+budget
	intensity := h.intensity() && ch == 1
	most := maxPairs - m.rng.Intn(2)
	if intensity {
		// The rest is the intensity part. No stream has the top band alone in it: the standard says
		// nothing of its position then, and decoders do this and that.
		most = m.rng.Intn(150)
		if m.rng.Intn(8) == 0 {
			most, g.scalefacCompress = 0, 0
		}
	}
	if intensity && m.ordered {
		// Values of less than some 2^-25 count for zero in ffmpeg, which moves the intensity part.
		g.globalGain, g.scalefacScale, g.subblockGain = max(g.globalGain, 140), false, [3]int{}
	}
	m.factors(h, g, w, budget/2, intensity, factorLengths(h, g, gr, ch, scfsi))
	borders := regionBorders(h, g, counts)
	region := 0
	for g.bigValues < most && w.n+60 < end {
		for g.bigValues >= borders[region] {
			region++
		}
		m.pair(w, g.tableSelect[region])
		g.bigValues++
	}
	line := 2 * g.bigValues
	for ; line+4 <= 2*most && w.n+12 < end && m.rng.Intn(40) != 0; line += 4 {
		m.quad(w, g.count1Table)
	}
	for line > granuleSize-4 && w.n < end && m.rng.Intn(40) != 0 {
		w.put(uint32(m.rng.Intn(2)), 1) // stuffing, where it cannot be taken for a quadruple
	}
	if m.mpg123 && intensity && w.n == begin {
		g.count1Table = 0
		w.put(1, 1) // four zeros
	}
	if intensity && w.n == begin {
		m.empty++
	}
	if intensity && g.mixed && g.blockType == blockShort && line < mixedLines {
		m.mixed++
	}
}

// factors writes scale factors of the lengths given, if they take at most budget bits, or else none.
func (m *maker) factors(h header, g *granule, w *bitWriter, budget int, intensity bool, lengths []int) {
	need := 0
	for _, n := range lengths {
		need += n
	}
	if need > budget {
		g.scalefacCompress = 0
		return
	}
	for _, n := range lengths {
		v := m.rng.Intn(1 << n)
		switch {
		case intensity && !h.lsf():
			v = min(v, 7) // the illegal one, more often than others
		case intensity:
			v = min(v, max(1<<n-2, 0)) // the highest is illegal
			if m.mpg123 && v == 7 {
				v = 6
			}
			if m.ordered {
				v = min(v, 15) // ffmpeg takes all above as illegal
			}
		}
		w.put(uint32(v), n)
	}
}

// pair writes two values that a table can code.
func (m *maker) pair(w *bitWriter, table int) {
	if leavesOf(table) == nil {
		return
	}
	leaves := leavesOf(table)
	values := byte(leaves[m.rng.Intn(len(leaves))])
	if m.rng.Intn(4) > 0 { // small ones most of the time
		values = byte(leaves[m.rng.Intn(4)%len(leaves)])
	}
	word := wordsOf[table][values]
	w.put(word.code, word.bits)
	for _, v := range [2]byte{values >> 4, values & 15} {
		if v == maxValue && table >= 16 {
			w.put(uint32(m.rng.Intn(1<<linbits[table-16])), int(linbits[table-16]))
		}
		if v > 0 {
			w.put(uint32(m.rng.Intn(2)), 1)
		}
	}
}

func (m *maker) quad(w *bitWriter, table int) {
	values := byte(m.rng.Intn(16))
	if table == 1 {
		w.put(uint32(^values&15), 4)
	} else {
		word := quadWords[values]
		w.put(word.code, word.bits)
	}
	for i := range 4 {
		if values>>i&1 != 0 {
			w.put(uint32(m.rng.Intn(2)), 1)
		}
	}
}

// infoFrame makes an info frame for a stream of this kind.
func (k kind) infoFrame(name string, frames, size, delay, padding int) []byte {
	h := k.header()
	if k.bitrate == 15 || k.bitrate > 0 && k.bitrate < 8 {
		h = h&^(15<<12) | 9<<12 // so that there is room
	}
	b := make([]byte, h.size(k.freeSize))
	binary.BigEndian.PutUint32(b, uint32(h))
	x := b[h.mainStart():]
	copy(x, name)
	binary.BigEndian.PutUint32(x[4:], xingFrames|xingBytes|xingTOC|xingQuality)
	binary.BigEndian.PutUint32(x[8:], uint32(frames))
	binary.BigEndian.PutUint32(x[12:], uint32(size+len(b)))
	lame := x[16+100+4:]
	copy(lame, "LAME3.100")
	lame[21], lame[22], lame[23] = byte(delay>>4), byte(delay<<4|padding>>8), byte(padding)
	return b
}
