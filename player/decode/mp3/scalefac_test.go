package mp3

import (
	"math"
	"math/rand"
	"testing"
)

// The factors that are sent end one band below the top, in every layout and at every rate but 8 kHz,
// whose mixed blocks divide differently.
func TestPartitions(t *testing.T) {
	for which, p := range partitions {
		for kind, counts := range p {
			sum := 0
			for _, n := range counts {
				sum += n
			}
			want := layouts[3][kind].n - 3
			if kind == layoutLong {
				want = numLong - 1
			}
			if sum != want {
				t.Errorf("partition %d, layout %d: %d factors, want %d", which, kind, sum, want)
			}
		}
	}
}

func TestSlenLSF(t *testing.T) {
	for _, c := range []struct {
		sc        int
		intensity bool
		which     int
		lengths   [4]int
	}{
		{0, false, 0, [4]int{0, 0, 0, 0}},
		{399, false, 0, [4]int{4, 4, 3, 3}},
		{400, false, 1, [4]int{0, 0, 0, 0}},
		{499, false, 1, [4]int{4, 4, 3, 0}},
		{500, false, 2, [4]int{0, 0, 0, 0}},
		{511, false, 2, [4]int{3, 2, 0, 0}},
		{179, true, 3, [4]int{4, 5, 5, 0}},
		{180, true, 4, [4]int{0, 0, 0, 0}},
		{243, true, 4, [4]int{3, 3, 3, 0}},
		{244, true, 5, [4]int{0, 0, 0, 0}},
		{255, true, 5, [4]int{3, 2, 0, 0}},
	} {
		which, lengths := slenLSF(c.sc)
		if c.intensity {
			which, lengths = slenIntensity(c.sc)
		}
		if which != c.which || lengths != c.lengths {
			t.Errorf("%d (intensity %v): %d %v, want %d %v", c.sc, c.intensity, which, lengths, c.which, c.lengths)
		}
	}
}

// Scale factors as they are written, each with the length that its band has.
func TestScaleFactorsMPEG1(t *testing.T) {
	for kind, block := range []granule{{}, {blockType: blockShort}, {blockType: blockShort, mixed: true}} {
		for sc := range 16 {
			g := block
			g.scalefacCompress = sc
			l := &layouts[0][kind]
			lengths := factorLengths(0xfffb9064, &g, 0, 0, 0)
			var w bitWriter
			for i, n := range lengths {
				w.put(uint32(i)%(1<<n), n)
			}
			r := bitReader{buf: w.b}
			var s scaleFactors
			s.factor[l.n-1] = 99
			s.parseMPEG1(&r, &g, l, 0)
			if r.pos != w.n {
				t.Errorf("layout %d, %d: %d bits read of %d", kind, sc, r.pos, w.n)
			}
			for i, n := range lengths {
				if got, want := s.factor[i], uint8(i%(1<<n)); got != want {
					t.Errorf("layout %d, %d: factor %d is %d, want %d", kind, sc, i, got, want)
				}
			}
			if s.factor[l.n-1] != 0 {
				t.Errorf("layout %d, %d: the top band has factor %d", kind, sc, s.factor[l.n-1])
			}
		}
	}
}

// Groups that scfsi selects keep the factors of the granule before.
func TestScaleFactorsReuse(t *testing.T) {
	for reuse := range uint(16) {
		var s scaleFactors
		for i := range s.factor {
			s.factor[i] = 77
		}
		g := granule{scalefacCompress: 15} // lengths 4 and 3
		r := bitReader{buf: make([]byte, 40)}
		s.parseMPEG1(&r, &g, &layouts[0][layoutLong], reuse)
		for band := range numLong - 1 {
			group := 0
			for scfsiGroups[group+1] <= band {
				group++
			}
			want := uint8(0)
			if reuse>>group&1 != 0 {
				want = 77
			}
			if s.factor[band] != want {
				t.Errorf("scfsi %04b: factor %d is %d, want %d", reuse, band, s.factor[band], want)
			}
		}
	}
}

func TestIllegalPosition(t *testing.T) {
	h := header(0xfff39054) // MPEG-2, intensity
	g := granule{scalefacCompress: 2 * (36*2 + 6*1)}
	// Lengths 2, 1, 0: positions 3 and 1 are illegal in the first seven and the next seven bands.
	var w bitWriter
	for i := range 7 {
		w.put(uint32(i%4), 2)
	}
	for i := range 7 {
		w.put(uint32(i%2), 1)
	}
	var s scaleFactors
	r := bitReader{buf: append(w.b, 0)}
	s.parseLSF(&r, &g, g.layout(h), true)
	want := []uint8{0, 1, 2, illegalPosition, 0, 1, 2, 0, illegalPosition, 0, illegalPosition, 0, illegalPosition, 0, 0, 0, 0, 0, 0, 0, 0}
	for i, v := range want {
		if s.position[i] != v {
			t.Errorf("position %d is %d, want %d", i, s.position[i], v)
		}
	}
}

// The formulas of 2.4.3.4 in double precision.
func TestGains(t *testing.T) {
	seed := rand.Int63()
	rng := rand.New(rand.NewSource(seed))
	for range 2000 {
		h := kinds[rng.Intn(len(kinds))].header()
		g := granule{
			globalGain: rng.Intn(256), scalefacScale: rng.Intn(2) == 0, preflag: rng.Intn(2) == 0,
			blockType: rng.Intn(4), mixed: rng.Intn(2) == 0,
			subblockGain: [3]int{rng.Intn(8), rng.Intn(8), rng.Intn(8)},
		}
		l := g.layout(h)
		var s scaleFactors
		for i := range s.factor {
			s.factor[i] = uint8(rng.Intn(32))
		}
		var got [maxBands + 3]float32
		s.gains(&g, l, &got)
		multiplier := 0.5
		if g.scalefacScale {
			multiplier = 1
		}
		for i := range l.n {
			exponent := float64(g.globalGain-210) / 4
			factor := float64(s.factor[i])
			if w := l.bands[i].window; w >= 0 {
				exponent -= 2 * float64(g.subblockGain[w])
			} else if g.preflag {
				factor += float64(pretab[i])
			}
			want := math.Exp2(exponent - multiplier*factor)
			if math.Abs(float64(got[i])/want-1) > 1e-6 {
				t.Fatalf("seed %d: band %d has gain %g, want %g", seed, i, got[i], want)
			}
		}
	}
}
