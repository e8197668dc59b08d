package mp3

import (
	"math"
	"math/rand"
	"testing"
)

// A code is complete if its leaves fill the code space: a slip in one length shows here.
func TestLeavesFillCodeSpace(t *testing.T) {
	for table := range 33 {
		leaves := quadLeavesA
		if table < 32 {
			leaves = leavesOf(table)
		}
		if leaves == nil {
			continue
		}
		sum, seen := 0, map[uint16]bool{}
		for _, leaf := range leaves {
			sum += 1 << (20 - leaf>>8)
			seen[leaf&0xff] = true
		}
		if sum != 1<<20 || len(seen) != len(leaves) {
			t.Errorf("table %d: %d values, %d leaves, space %d of %d", table, len(seen), len(leaves), sum, 1<<20)
		}
	}
}

// Sizes of the tables: the highest value of each (11172-3, table 3-B.7).
func TestTableSizes(t *testing.T) {
	for table, most := range map[int]int{1: 1, 2: 2, 3: 2, 5: 3, 6: 3, 7: 5, 8: 5, 9: 5, 10: 7, 11: 7, 12: 7, 13: 15, 15: 15, 16: 15, 24: 15} {
		if got := len(leavesOf(table)); got != (most+1)*(most+1) {
			t.Errorf("table %d has %d leaves, want %d", table, got, (most+1)*(most+1))
		}
	}
}

// oneRegion is a granule whose values are all in one region of one table.
func oneRegion(table, pairs int) *granule {
	return &granule{tableSelect: [3]int{table, table, table}, bigValues: pairs, regionEnd: [3]int{2 * pairs, 2 * pairs, 2 * pairs}}
}

// decodeBits decodes a granule from the bits of w, all gains 1.
func decodeBits(w *bitWriter, g *granule, end int) (xr [granuleSize]float32, lines int) {
	buildTables()
	var gains [maxBands + 3]float32
	for i := range gains {
		gains[i] = 1
	}
	for i := range xr {
		xr[i] = 99 // that must go
	}
	var buf mainBuffer
	copy(buf[:], w.b)
	d := huffman{&buf, 0}
	lines = d.decode(g, &layouts[0][layoutLong], &gains, end, &xr)
	return xr, lines
}

// Every code word of every table, with both signs and some linbits, comes back as its values.
func TestHuffmanPairs(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for table := range 32 {
		words := wordsOf[table]
		for first := 0; first < len(words); first += 200 {
			var w bitWriter
			var want []float64
			for i := first; i < min(first+200, len(words)); i++ {
				values := byte(leavesOf(table)[i])
				w.put(words[values].code, words[values].bits)
				for _, v := range [2]byte{values >> 4, values & 15} {
					n := float64(v)
					if v == maxValue && table >= 16 {
						more := rng.Intn(1 << linbits[table-16])
						w.put(uint32(more), int(linbits[table-16]))
						n += float64(more)
					}
					n = math.Pow(n, 4./3)
					if v > 0 && rng.Intn(2) == 0 {
						w.put(1, 1)
						n = -n
					} else if v > 0 {
						w.put(0, 1)
					}
					want = append(want, n)
				}
			}
			xr, _ := decodeBits(&w, oneRegion(table, len(want)/2), w.n)
			for i, v := range want {
				if math.Abs(float64(xr[i])-v) > 1e-6*math.Abs(v) {
					t.Fatalf("table %d, leaf %d: line %d is %g, want %g", table, first+i/2, i, xr[i], v)
				}
			}
		}
	}
}

func TestHuffmanQuads(t *testing.T) {
	for table := range 2 {
		var w bitWriter
		m := &maker{rng: rand.New(rand.NewSource(int64(table)))}
		const quads = 30
		for range quads {
			m.quad(&w, table)
		}
		g := &granule{count1Table: table}
		xr, lines := decodeBits(&w, g, w.n)
		if lines != 4*quads {
			t.Errorf("table %d: %d lines, want %d", table, lines, 4*quads)
		}
		// The same bits read by the words of the standard.
		words := codeWords(quadLeavesA)
		r := bitReader{buf: append(w.b, make([]byte, 8)...)}
		for line := 0; line < 4*quads; line += 4 {
			values := readQuad(&r, table, words)
			for i := range 4 {
				want := float32(values >> (3 - i) & 1)
				if want != 0 && r.flag() {
					want = -1
				}
				if xr[line+i] != want {
					t.Fatalf("table %d: line %d is %g, want %g", table, line+i, xr[line+i], want)
				}
			}
		}
		for i := lines; i < granuleSize; i++ {
			if xr[i] != 0 {
				t.Fatalf("table %d: line %d is %g, want 0", table, i, xr[i])
			}
		}
	}
}

func readQuad(r *bitReader, table int, words map[byte]codeWord) byte {
	if table == 1 {
		return byte(^r.bits(4) & 15)
	}
	for v, word := range words {
		peek := *r
		if peek.bits(word.bits) == word.code {
			*r = peek
			return v
		}
	}
	panic("no code word")
}

// Bits behind the last quadruple that has room are stuffing: where the pairs end at an odd one, two
// lines are left (11172-3, 2.4.1.7).
func TestHuffmanStuffing(t *testing.T) {
	for _, c := range []struct{ pairs, lines int }{{288, 576}, {287, 574}, {286, 576}, {285, 574}} {
		var w bitWriter
		for range 10 {
			w.put(0, 8) // quadruples of four ones, as table B inverts them
		}
		g := oneRegion(0, c.pairs)
		g.count1Table = 1
		xr, lines := decodeBits(&w, g, w.n)
		if lines != c.lines {
			t.Errorf("%d pairs: %d lines, want %d", c.pairs, lines, c.lines)
		}
		for i, v := range xr {
			want := float32(0)
			if i >= 2*c.pairs && i < c.lines {
				want = 1
			}
			if v != want {
				t.Errorf("%d pairs: line %d is %g, want %g", c.pairs, i, v, want)
			}
		}
	}
}

// A quadruple that needs more bits than the granule has is none (11172-3, 2.4.3.4).
func TestHuffmanQuadOverrun(t *testing.T) {
	var w bitWriter
	w.put(0b1110, 4) // 0001, as table B inverts it, and a sign
	w.put(1, 1)
	w.put(0b0000, 4) // 1111 and signs
	w.put(0, 4)
	g := &granule{count1Table: 1}
	if xr, lines := decodeBits(&w, g, w.n); lines != 8 || xr[3] != -1 || xr[4] != 1 {
		t.Errorf("whole: %d lines, %v", lines, xr[:8])
	}
	if xr, lines := decodeBits(&w, g, w.n-1); lines != 4 || xr[3] != -1 || xr[4] != 0 {
		t.Errorf("cut: %d lines, %v", lines, xr[:8])
	}
}

// Each region has its own table, and each band its own gain.
func TestHuffmanRegionsAndGains(t *testing.T) {
	buildTables()
	tables := [3]int{1, 7, 24}
	g := &granule{tableSelect: tables, bigValues: 50, regionEnd: [3]int{20, 44, 100}}
	var w bitWriter
	var values []byte
	m := rand.New(rand.NewSource(3))
	for pair := range 50 {
		table := tables[0]
		switch {
		case pair >= 22:
			table = tables[2]
		case pair >= 10:
			table = tables[1]
		}
		v := byte(leavesOf(table)[m.Intn(len(leavesOf(table)))]) &^ 0x88 // below 8: no linbits
		w.put(wordsOf[table][v].code, wordsOf[table][v].bits)
		for _, n := range [2]byte{v >> 4, v & 15} {
			if n > 0 {
				w.put(0, 1)
			}
			values = append(values, n)
		}
	}
	l := &layouts[0][layoutLong]
	var gains [maxBands + 3]float32
	for i := range gains {
		gains[i] = float32(i + 1)
	}
	var buf mainBuffer
	copy(buf[:], w.b)
	var xr [granuleSize]float32
	d := huffman{&buf, 0}
	d.decode(g, l, &gains, w.n, &xr)
	band := 0
	for i, v := range values {
		for i >= int(l.bands[band].end) {
			band++
		}
		want := math.Pow(float64(v), 4./3) * float64(band+1)
		if math.Abs(float64(xr[i])-want) > 1e-5*want {
			t.Errorf("line %d is %g, want %g", i, xr[i], want)
		}
	}
}

// Whatever the bits are, reading stays in the buffer and ends where the granule does.
func TestHuffmanRandom(t *testing.T) {
	buildTables()
	seed := rand.Int63()
	rng := rand.New(rand.NewSource(seed))
	var buf mainBuffer
	var gains [maxBands + 3]float32
	var xr [granuleSize]float32
	for range 3000 {
		rng.Read(buf[:])
		h := kinds[rng.Intn(len(kinds))].header()
		m := &maker{rng: rng}
		var g granule
		counts := m.choose(h, &g)
		g.bigValues = rng.Intn(maxPairs + 1)
		for i, b := range regionBorders(h, &g, counts) {
			g.regionEnd[i] = min(2*b, 2*g.bigValues)
		}
		end := rng.Intn(8 * len(buf))
		d := huffman{&buf, rng.Intn(end + 1)}
		lines := d.decode(&g, g.layout(h), &gains, end, &xr)
		if d.pos != end || lines < 0 || lines > granuleSize {
			t.Fatalf("seed %d: at %d of %d, %d lines", seed, d.pos, end, lines)
		}
	}
}
