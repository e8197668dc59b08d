package mp3

import "math"

// Stereo processing (ISO/IEC 11172-3, 2.4.3.4, "stereo processing"; for intensity stereo at the
// lower sampling frequencies ISO/IEC 13818-3, 2.4.3.2).
//
// In MS stereo the channels hold middle and side. In intensity stereo the bands above the last one
// that the right channel codes are coded once, in the left channel, and the scale factors of the
// right one tell where between the two they sit. A position that is illegal says that the band is
// not in intensity stereo after all.

// joint undoes joint stereo between the two channels of a granule. lines holds the number of lines
// behind which each is zero, and is brought up to date.
func joint(h header, right *granule, l *layout, sf *scaleFactors, xr *[2][granuleSize]float32, lines *[2]int) {
	most := max(lines[0], lines[1])
	switch {
	case h.intensity():
		jointBands(h, right, l, sf, xr)
	case h.ms():
		middleSide(xr[0][:most], xr[1][:most])
	default:
		return
	}
	lines[0], lines[1] = most, most
}

// middleSide turns middle and side into left and right.
func middleSide(left, right []float32) {
	right = right[:len(left)]
	for i, m := range left {
		s := right[i]
		left[i] = (m + s) * (math.Sqrt2 / 2)
		right[i] = (m - s) * (math.Sqrt2 / 2)
	}
}

// jointBands does it band by band: intensity stereo where it applies, else MS stereo where the frame
// has it.
func jointBands(h header, right *granule, l *layout, sf *scaleFactors, xr *[2][granuleSize]float32) {
	coded := intensityBands(l, &xr[1])
	positions := sf.position
	extendPositions(h, l, &coded, &positions)
	start := 0
	for b := range l.bands[:l.n] {
		end := int(l.bands[b].end)
		lo, ro := xr[0][start:end], xr[1][start:end]
		start = end
		switch {
		case coded[b] && positions[b] != illegalPosition:
			k := intensityGains(h, right, positions[b])
			for i, v := range lo {
				lo[i], ro[i] = v*k[0], v*k[1]
			}
		case h.ms():
			middleSide(lo, ro)
		}
	}
}

// intensityBands marks the bands in which and above which the right channel is zero, for each window
// by itself. The long bands of a mixed block are below all windows.
func intensityBands(l *layout, right *[granuleSize]float32) (coded [maxBands + 3]bool) {
	var above [3]bool // whether something was found, by window
	for b := l.n - 1; b >= 0; b-- {
		start := 0
		if b > 0 {
			start = int(l.bands[b-1].end)
		}
		zero := allZero(right[start:l.bands[b].end])
		if w := l.bands[b].window; w >= 0 {
			above[w] = above[w] || !zero
			coded[b] = !above[w]
			continue
		}
		above[0] = above[0] || above[1] || above[2] || !zero
		coded[b] = !above[0]
	}
	return coded
}

func allZero(s []float32) bool {
	for _, v := range s {
		if v != 0 {
			return false
		}
	}
	return true
}

// extendPositions gives the topmost band, for which no scale factor is sent, the position of the
// band below. Where that one is not in intensity stereo its scale factor is no position, and the
// topmost band comes to the centre: the standard does not say, and no encoder leaves it alone there.
func extendPositions(h header, l *layout, coded *[maxBands + 3]bool, positions *[maxBands + 3]uint8) {
	windows := 3
	if l.n == numLong {
		windows = 1
	}
	for b := l.n - windows; b < l.n; b++ {
		switch {
		case coded[b-windows]:
			positions[b] = positions[b-windows]
		case h.lsf():
			positions[b] = 0
		default:
			positions[b] = 3
		}
	}
}

// intensityRatios are the shares of left and right by position, in MPEG-1: their ratio is
// tan(position * pi/12).
var intensityRatios = buildIntensityRatios()

func buildIntensityRatios() (t [7][2]float32) {
	for i := range t {
		sin, cos := math.Sincos(float64(i) * math.Pi / 12)
		t[i] = [2]float32{float32(sin / (sin + cos)), float32(cos / (sin + cos))}
	}
	return t
}

// intensityGains returns the shares of the left and the right channel.
func intensityGains(h header, right *granule, position uint8) [2]float32 {
	if !h.lsf() {
		return intensityRatios[position]
	}
	quarters := 1 // the lower of the two is lower by this much a step, in quarters of a power of two
	if right.scalefacCompress&1 != 0 {
		quarters = 2
	}
	lower := quarterPower(-quarters * ((int(position) + 1) / 2))
	switch {
	case position == 0:
		return [2]float32{1, 1}
	case position&1 != 0:
		return [2]float32{lower, 1}
	}
	return [2]float32{1, lower}
}
