package mp3

import (
	"math"
	"math/rand"
	"testing"
)

// imdct is the formula of 11172-3, 2.4.3.4.
func imdct(x []float64) []float64 {
	n := 2 * len(x)
	out := make([]float64, n)
	for i := range out {
		for k, v := range x {
			out[i] += v * math.Cos(math.Pi/float64(2*n)*float64((2*i+1+n/2)*(2*k+1)))
		}
	}
	return out
}

// standardWindow is that of 11172-3, 2.4.3.4, by block_type.
func standardWindow(kind, i int) float64 {
	switch kind {
	case blockShort:
		return math.Sin(math.Pi / 12 * (float64(i) + .5))
	case blockStart:
		switch {
		case i >= 30:
			return 0
		case i >= 24:
			return math.Sin(math.Pi / 12 * (float64(i-18) + .5))
		case i >= 18:
			return 1
		}
	case blockStop:
		switch {
		case i < 6:
			return 0
		case i < 12:
			return math.Sin(math.Pi / 12 * (float64(i-6) + .5))
		case i < 18:
			return 1
		}
	}
	return math.Sin(math.Pi / 36 * (float64(i) + .5))
}

// standardBlock is the windowed output of a subband's block: 36 values.
func standardBlock(x []float32, kind int) []float64 {
	wide := make([]float64, len(x))
	for i, v := range x {
		wide[i] = float64(v)
	}
	if kind != blockShort {
		out := imdct(wide)
		for i := range out {
			out[i] *= standardWindow(kind, i)
		}
		return out
	}
	out := make([]float64, 36)
	for w := range 3 {
		for i, v := range imdct([]float64{wide[w], wide[3+w], wide[6+w], wide[9+w], wide[12+w], wide[15+w]}) {
			out[6+6*w+i] += v * standardWindow(blockShort, i)
		}
	}
	return out
}

func TestIMDCT(t *testing.T) {
	buildTables()
	rng := rand.New(rand.NewSource(1))
	for kind := range 4 {
		for sb := range 4 {
			var x, tail [subbandLines]float32
			for i := range x {
				x[i], tail[i] = float32(rng.NormFloat64()), float32(rng.NormFloat64())
			}
			want := standardBlock(x[:], kind)
			before := tail
			var out slots
			if kind == blockShort {
				imdctShort(&x, &tail, sb, &out)
			} else {
				imdctLong(&x, &windows[kind][sb&1], &tail, sb, &out)
			}
			for i := range subbandLines {
				sign := 1.
				if sb&1 == 1 && i&1 == 1 {
					sign = -1 // frequency inversion; the tail has it already
				}
				if got, want := float64(out[i][sb]), float64(before[i])+sign*want[i]; math.Abs(got-want) > 1e-5 {
					t.Errorf("block type %d, subband %d: slot %d is %g, want %g", kind, sb, i, got, want)
				}
				if got, want := float64(tail[i]), sign*want[18+i]; math.Abs(got-want) > 1e-5 {
					t.Errorf("block type %d, subband %d: tail %d is %g, want %g", kind, sb, i, got, want)
				}
			}
		}
	}
}

func TestReorder(t *testing.T) {
	for kind, first := range map[int]int{layoutShort: 0, layoutMixed: mixedLines} {
		for rate := range layouts {
			l := &layouts[rate][kind]
			var xr [granuleSize]float32
			for i := range first {
				xr[i] = -1
			}
			// Each line is made its own place: which window, and which line of it.
			line := first
			at := [3]int{first / 3, first / 3, first / 3}
			for _, b := range l.bands[l.numLong:l.n] {
				for ; line < int(b.end); line++ {
					xr[line] = float32(3*at[b.window] + int(b.window))
					at[b.window]++
				}
			}
			if got := reorder(l, &xr, granuleSize); got != granuleSize {
				t.Errorf("rate %d: %d lines", rate, got)
			}
			for i, v := range xr {
				want := float32(i)
				if i < first {
					want = -1
				}
				if v != want {
					t.Fatalf("rate %d, layout %d: line %d came from %g", rate, kind, i, v)
				}
			}
		}
	}
}

// Reordering stops at the last line that is not zero, but takes the whole band with it.
func TestReorderLines(t *testing.T) {
	var xr [granuleSize]float32
	xr[13] = 1 // second band of three windows, window 0
	if got := reorder(&layouts[0][layoutShort], &xr, 14); got != 24 || xr[15] != 1 || xr[13] != 0 {
		t.Errorf("%d lines, %v", got, xr[:24])
	}
}

func TestAliasReduction(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	c := [8]float64{-0.6, -0.535, -0.33, -0.185, -0.095, -0.041, -0.0142, -0.0037}
	for _, lines := range []int{0, 5, 18, 27, 200, 567, 576} {
		xr := randomLines(rng, lines)
		var want [granuleSize]float64
		for i, v := range xr {
			want[i] = float64(v)
		}
		for sb := 1; sb < subbands; sb++ {
			for i := range 8 {
				cs, ca := 1/math.Sqrt(1+c[i]*c[i]), c[i]/math.Sqrt(1+c[i]*c[i])
				lo, hi := &want[18*sb-1-i], &want[18*sb+i]
				*lo, *hi = *lo*cs-*hi*ca, *hi*cs+*lo*ca
			}
		}
		end := reduceAlias(&xr, lines, subbands)
		for i, v := range xr {
			if math.Abs(float64(v)-want[i]) > 1e-5 {
				t.Fatalf("%d lines: line %d is %g, want %g", lines, i, v, want[i])
			}
			if i >= end && v != 0 {
				t.Fatalf("%d lines: line %d is not zero, %d are said to be", lines, i, end)
			}
		}
	}
}

// The whole of hybrid against the formulas, over granules of all kinds that follow one another.
func TestHybrid(t *testing.T) {
	buildTables()
	seed := rand.Int63()
	rng := rand.New(rand.NewSource(seed))
	var o overlap
	var out slots
	var tails [subbands][18]float64
	for n := range 60 {
		g := &granule{blockType: rng.Intn(4)}
		g.mixed = g.blockType != blockNormal && rng.Intn(2) == 0
		lines := 0
		if rng.Intn(4) > 0 {
			lines = rng.Intn(granuleSize/2+1) * 2
		}
		xr := randomLines(rng, lines)
		l := &layouts[0][g.layoutKind()]

		// What comes before the transforms is tested by itself.
		ref := xr
		limit := subbands
		if g.blockType == blockShort {
			reorder(l, &ref, granuleSize)
			limit = 0
			if g.mixed {
				limit = 2
			}
		}
		reduceAlias(&ref, granuleSize, limit)

		hybrid(g, l, &xr, lines, &o, &out)
		for sb := range subbands {
			kind := g.blockType
			if g.mixed && sb < 2 {
				kind = blockNormal
			}
			block := standardBlock(ref[18*sb:18*sb+18], kind)
			for i := range 18 {
				want := tails[sb][i] + block[i]
				tails[sb][i] = block[18+i]
				if sb&1 == 1 && i&1 == 1 {
					want = -want
				}
				if got := float64(out[i][sb]); math.Abs(got-want) > 1e-4 {
					t.Fatalf("seed %d, granule %d (%d, mixed %v, %d lines): subband %d, slot %d is %g, want %g",
						seed, n, g.blockType, g.mixed, lines, sb, i, got, want)
				}
			}
		}
	}
}
