package mp3

import "math"

// The hybrid filter bank (ISO/IEC 11172-3, 2.4.3.4): reordering, alias reduction, the inverse MDCT
// with its windows and overlap, and the frequency inversion. It turns the 576 lines of a granule
// into 18 time slots of 32 subbands.

const (
	subbands     = 32
	subbandLines = 18 // lines of a subband, and its time slots
)

// slots holds the subband samples of a granule, time slot by time slot.
type slots [subbandLines][subbands]float32

// overlap is the second half of each subband's last block, which is added to the next one.
type overlap struct {
	tail   [subbands][subbandLines]float32
	active int // subbands from here on have a tail of zeros
}

// reorder brings the lines of short blocks from band, window, frequency to band, frequency, window,
// so that a subband holds 18 neighbouring lines. It returns the new number of lines behind which all
// are zero.
func reorder(l *layout, xr *[granuleSize]float32, lines int) int {
	start := 0
	if l.numLong > 0 {
		start = int(l.bands[l.numLong-1].end)
	}
	var tmp [granuleSize]float32
	for b := l.numLong; b < l.n && start < lines; b += 3 {
		end := int(l.bands[b+2].end)
		width := (end - start) / 3
		copy(tmp[start:end], xr[start:end])
		for i := range width {
			for w := range 3 {
				xr[start+3*i+w] = tmp[start+w*width+i]
			}
		}
		start = end
	}
	return max(lines, start)
}

// The coefficients of the alias reduction butterflies, from the c of table 3-B.9.
var aliasCS, aliasCA = buildAlias()

func buildAlias() (cs, ca [8]float32) {
	for i, c := range [8]float64{-0.6, -0.535, -0.33, -0.185, -0.095, -0.041, -0.0142, -0.0037} {
		cs[i] = float32(1 / math.Sqrt(1+c*c))
		ca[i] = float32(c / math.Sqrt(1+c*c))
	}
	return cs, ca
}

// reduceAlias does the butterflies between the subbands up to limit, as far as there are lines that
// are not zero, and returns the new number of lines behind which all are.
func reduceAlias(xr *[granuleSize]float32, lines, limit int) int {
	for sb := 1; sb < limit && sb*subbandLines-8 < lines; sb++ {
		at := sb * subbandLines
		below, above := (*[8]float32)(xr[at-8:]), (*[8]float32)(xr[at:])
		for i := range above {
			lo, hi := below[7-i], above[i]
			below[7-i] = lo*aliasCS[i] - hi*aliasCA[i]
			above[i] = hi*aliasCS[i] + lo*aliasCA[i]
		}
		lines = max(lines, at+8)
	}
	return lines
}

// hybrid transforms the lines of a granule into subband samples.
func hybrid(g *granule, l *layout, xr *[granuleSize]float32, lines int, o *overlap, out *slots) {
	longLimit := subbands
	if g.blockType == blockShort {
		lines = reorder(l, xr, lines)
		longLimit = 0
		if g.mixed {
			longLimit = mixedLines / subbandLines
		}
	}
	lines = reduceAlias(xr, lines, longLimit)
	active := (lines + subbandLines - 1) / subbandLines
	for sb := range active {
		in := (*[subbandLines]float32)(xr[sb*subbandLines:])
		kind := g.blockType
		if g.mixed && sb < mixedLines/subbandLines {
			kind = blockNormal
		}
		if kind == blockShort {
			imdctShort(in, &o.tail[sb], sb, out)
		} else {
			imdctLong(in, &windows[kind][sb&1], &o.tail[sb], sb, out)
		}
	}
	for sb := active; sb < o.active; sb++ {
		for i, v := range o.tail[sb] {
			out[i][sb] = v
		}
		o.tail[sb] = [subbandLines]float32{}
	}
	for sb := max(active, o.active); sb < subbands; sb++ {
		for i := range out {
			out[i][sb] = 0
		}
	}
	o.active = active
}
