package mp3

import "math"

// Scale factors: how much each band was lowered before it was quantised (ISO/IEC 11172-3, 2.4.1.7
// and 2.4.2.7, "scalefac"; ISO/IEC 13818-3, 2.4.3.2).

// scaleFactors are those of one granule and channel, one a band of its layout, in the order of
// transmission. The topmost band has none and counts as 0.
type scaleFactors struct {
	factor [maxBands + 3]uint8
	// position is the same numbers read as intensity stereo positions of a right channel.
	// illegalPosition marks a band that is not coded in intensity stereo.
	position [maxBands + 3]uint8
}

const illegalPosition = 255

// slen is the pair of scale factor lengths in bits by scalefac_compress (11172-3, 2.4.2.7).
var slen = [16][2]uint8{
	{0, 0}, {0, 1}, {0, 2}, {0, 3}, {3, 0}, {1, 1}, {1, 2}, {1, 3},
	{2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 2}, {3, 3}, {4, 2}, {4, 3},
}

// scfsiGroups are the borders of the four groups of long bands that scfsi selects.
var scfsiGroups = [5]int{0, 6, 11, 16, 21}

// parseMPEG1 reads the scale factors of a granule. Those of the groups in reuse stay what they are.
func (s *scaleFactors) parseMPEG1(r *bitReader, g *granule, l *layout, reuse uint) {
	bits := slen[g.scalefacCompress]
	if l.n == numLong {
		for group := range 4 {
			if reuse>>group&1 == 0 {
				s.read(r, scfsiGroups[group], scfsiGroups[group+1], int(bits[group/2]), 7)
			}
		}
		s.clear(numLong-1, numLong)
		return
	}
	// Short bands 0 to 5 have the first length, 6 to 11 the second, 12 none.
	second, top := l.n-7*3, l.n-3
	s.read(r, 0, second, int(bits[0]), 7)
	s.read(r, second, top, int(bits[1]), 7)
	s.clear(top, l.n)
}

// partition says how the bands of the lower sampling frequencies share the four lengths: for long,
// short and mixed blocks (13818-3, 2.4.3.2, nr_of_sfb).
type partition [3][4]int

var partitions = [6]partition{
	{{6, 5, 5, 5}, {9, 9, 9, 9}, {6, 9, 9, 9}}, // scalefac_compress below 400
	{{6, 5, 7, 3}, {9, 9, 12, 6}, {6, 9, 12, 6}},
	{{11, 10, 0, 0}, {18, 18, 0, 0}, {15, 18, 0, 0}},
	{{7, 7, 7, 0}, {12, 12, 12, 0}, {6, 15, 12, 0}}, // right channel in intensity stereo
	{{6, 6, 6, 3}, {12, 9, 9, 6}, {6, 12, 9, 6}},
	{{8, 8, 5, 0}, {15, 12, 9, 0}, {6, 18, 9, 0}},
}

// parseLSF reads the scale factors of a granule at a lower sampling frequency, and sets its preflag.
// right tells that it is the right channel in intensity stereo.
func (s *scaleFactors) parseLSF(r *bitReader, g *granule, l *layout, right bool) {
	which, lengths := slenLSF(g.scalefacCompress)
	if right {
		which, lengths = slenIntensity(g.scalefacCompress >> 1)
	}
	g.preflag = which == 2
	at := 0
	for i, n := range partitions[which][g.layoutKind()] {
		legal := 1<<lengths[i] - 1 // the highest position is the illegal one ...
		if lengths[i] == 0 {
			legal = 1 // ... but not where nothing is sent
		}
		s.read(r, at, at+n, lengths[i], legal)
		at += n
	}
	s.clear(at, len(s.factor))
}

func slenLSF(sc int) (which int, lengths [4]int) {
	switch {
	case sc < 400:
		return 0, [4]int{sc >> 4 / 5, sc >> 4 % 5, sc & 15 >> 2, sc & 3}
	case sc < 500:
		sc -= 400
		return 1, [4]int{sc >> 2 / 5, sc >> 2 % 5, sc & 3, 0}
	}
	sc -= 500
	return 2, [4]int{sc / 3, sc % 3, 0, 0}
}

func slenIntensity(sc int) (which int, lengths [4]int) {
	switch {
	case sc < 180:
		return 3, [4]int{sc / 36, sc % 36 / 6, sc % 6, 0}
	case sc < 244:
		sc -= 180
		return 4, [4]int{sc >> 4, sc >> 2 & 3, sc & 3, 0}
	}
	sc -= 244
	return 5, [4]int{sc / 3, sc % 3, 0, 0}
}

// read reads the factors of bands from to end, n bits each. A position is legal below the number
// given.
func (s *scaleFactors) read(r *bitReader, from, end, n, legal int) {
	for i := from; i < end; i++ {
		v := uint8(r.bits(n))
		s.factor[i], s.position[i] = v, v
		if int(v) >= legal {
			s.position[i] = illegalPosition
		}
	}
}

// clear sets the factors of bands that are not sent.
func (s *scaleFactors) clear(from, end int) {
	clear(s.factor[from:end])
	clear(s.position[from:end])
}

// pretab raises the high bands where preflag is set (11172-3, Annex B, table 3-B.6).
var pretab = [numLong]uint8{11: 1, 1, 1, 1, 2, 2, 3, 3, 3, 2, 0}

// gains fills dst with the factor that the values of each band are to be multiplied with: the
// exponents of the requantisation formulas of 11172-3, 2.4.3.4, are whole quarters of powers of two.
func (s *scaleFactors) gains(g *granule, l *layout, dst *[maxBands + 3]float32) {
	step := 2
	if g.scalefacScale {
		step = 4
	}
	for i := range l.bands[:l.n] {
		quarters := g.globalGain - 210 - step*int(s.factor[i])
		switch w := l.bands[i].window; {
		case w >= 0:
			quarters -= 8 * g.subblockGain[w]
		case g.preflag:
			quarters -= step * int(pretab[i])
		}
		dst[i] = quarterPower(quarters)
	}
}

// quarterPowers[i] is 2^((i-quarterBias)/4).
var quarterPowers = buildQuarterPowers()

// quarterBias is the lowest exponent there is: no global gain, a scale factor of five bits with
// pretab in steps of four, and the highest subblock gain.
const quarterBias = 210 + 4*(31+3) + 8*7

func quarterPower(quarters int) float32 { return quarterPowers[quarters+quarterBias] }

// buildQuarterPowers makes the table of quarterPower up to the highest global gain.
func buildQuarterPowers() (t [quarterBias + 255 - 210 + 1]float32) {
	for i := range t {
		t[i] = float32(math.Exp2(float64(i-quarterBias) / 4))
	}
	return t
}
