package mp3

import (
	"math"
	"math/rand"
	"testing"
)

func randomLines(rng *rand.Rand, lines int) (xr [granuleSize]float32) {
	for i := range lines {
		xr[i] = float32(rng.NormFloat64()) + 3 // never 0
	}
	return xr
}

func TestMiddleSide(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	xr := [2][granuleSize]float32{randomLines(rng, 100), randomLines(rng, 60)}
	before := xr
	lines := [2]int{100, 60}
	joint(0xfffb9064, &granule{}, &layouts[0][layoutLong], &scaleFactors{}, &xr, &lines) // MS alone
	if lines != [2]int{100, 100} {
		t.Errorf("lines %v, want 100 each", lines)
	}
	for i := range granuleSize {
		m, s := float64(before[0][i]), float64(before[1][i])
		l, r := (m+s)/math.Sqrt2, (m-s)/math.Sqrt2
		if math.Abs(float64(xr[0][i])-l) > 1e-5 || math.Abs(float64(xr[1][i])-r) > 1e-5 {
			t.Fatalf("line %d: %g, %g, want %g, %g", i, xr[0][i], xr[1][i], l, r)
		}
	}
}

func TestPlainStereoIsUntouched(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	xr := [2][granuleSize]float32{randomLines(rng, 100), randomLines(rng, 60)}
	before := xr
	lines := [2]int{100, 60}
	for _, h := range []header{0xfffb9004, 0xfffb9034, 0xfffb90b4} { // stereo and dual channel: the extension means nothing
		joint(h, &granule{}, &layouts[0][layoutLong], &scaleFactors{}, &xr, &lines)
		if xr != before || lines != [2]int{100, 60} {
			t.Errorf("%#x changes the channels", uint32(h))
		}
	}
}

// Intensity stereo in MPEG-1: the ratio of left and right is tan(position * pi/12), their sum is what
// the left channel holds. Where nothing is coded in the right channel this begins with the lowest band.
func TestIntensityMPEG1(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	l := &layouts[0][layoutLong]
	for _, c := range []struct {
		h     header
		right int // lines
	}{{0xfffb9054, 30}, {0xfffb9074, 30}, {0xfffb9054, 0}, {0xfffb9074, 0}} { // without and with MS
		h := c.h
		xr := [2][granuleSize]float32{randomLines(rng, granuleSize), randomLines(rng, c.right)}
		before := xr
		var sf scaleFactors
		for b := range l.n {
			sf.position[b] = uint8(b % 7)
		}
		sf.position[12] = illegalPosition
		lines := [2]int{granuleSize, c.right}
		joint(h, &granule{}, l, &sf, &xr, &lines)
		start := 0
		for b := range l.n {
			end := int(l.bands[b].end)
			for i := start; i < end; i++ {
				left, right := float64(before[0][i]), float64(before[1][i])
				intensity := start >= c.right && b != 12
				switch {
				case intensity:
					position := float64(b % 7)
					if b == l.n-1 {
						position = float64((b - 1) % 7) // the top band has that of the one below
					}
					ratio := math.Tan(position * math.Pi / 12)
					left, right = left*ratio/(1+ratio), left/(1+ratio)
				case h.ms():
					left, right = (left+right)/math.Sqrt2, (left-right)/math.Sqrt2
				}
				if math.Abs(float64(xr[0][i])-left) > 1e-5 || math.Abs(float64(xr[1][i])-right) > 1e-5 {
					t.Fatalf("%#x, band %d, line %d: %g, %g, want %g, %g", uint32(h), b, i, xr[0][i], xr[1][i], left, right)
				}
			}
			start = end
		}
	}
}

// At the lower sampling frequencies one side is lower by steps of a quarter or half power of two
// (13818-3, 2.4.3.2).
func TestIntensityLSF(t *testing.T) {
	for scale, base := range []float64{math.Pow(2, -.25), math.Pow(2, -.5)} {
		g := &granule{scalefacCompress: scale}
		for position := range 31 {
			left, right := 1., 1.
			if position%2 == 1 {
				left = math.Pow(base, float64(position+1)/2)
			} else {
				right = math.Pow(base, float64(position)/2)
			}
			got := intensityGains(0xfff39054, g, uint8(position))
			if math.Abs(float64(got[0])-left) > 1e-6 || math.Abs(float64(got[1])-right) > 1e-6 {
				t.Errorf("scale %d, position %d: %v, want %g, %g", scale, position, got, left, right)
			}
		}
	}
}

// In short blocks each window has its own border; the long part of a mixed block is in intensity
// stereo only if all above it is zero.
func TestIntensityBandsShort(t *testing.T) {
	for _, c := range []struct {
		kind    int
		nonzero []int // bands of the right channel
		want    func(b int, window int8) bool
	}{
		{layoutShort, nil, func(b int, w int8) bool { return true }},
		{layoutShort, []int{3, 16}, func(b int, w int8) bool {
			return w == 0 && b > 3 || w == 1 && b > 16 || w == 2
		}},
		{layoutMixed, nil, func(b int, w int8) bool { return true }},
		{layoutMixed, []int{2}, func(b int, w int8) bool { return b > 2 }},
		{layoutMixed, []int{8}, func(b int, w int8) bool { return b > 8 }},
	} {
		l := &layouts[0][c.kind]
		var right [granuleSize]float32
		for _, b := range c.nonzero {
			right[l.bands[b].end-1] = 1
		}
		coded := intensityBands(l, &right)
		for b := range l.n {
			if want := c.want(b, l.bands[b].window); coded[b] != want {
				t.Errorf("layout %d, %v: band %d is %v, want %v", c.kind, c.nonzero, b, coded[b], want)
			}
		}
	}
}

// The top band has no position of its own.
func TestExtendPositions(t *testing.T) {
	for _, c := range []struct {
		h     header
		below bool
		want  uint8
	}{{0xfffb9054, true, 5}, {0xfffb9054, false, 3}, {0xfff39054, true, 5}, {0xfff39054, false, 0}} {
		l := &layouts[0][layoutLong]
		var coded [maxBands + 3]bool
		var positions [maxBands + 3]uint8
		positions[l.n-2], coded[l.n-2] = 5, c.below
		extendPositions(c.h, l, &coded, &positions)
		if positions[l.n-1] != c.want {
			t.Errorf("%v, below %v: %d, want %d", c.h, c.below, positions[l.n-1], c.want)
		}
	}
}
