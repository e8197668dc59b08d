package mp3

import "sync"

// maxReservoir is how far main_data_begin can reach back.
const maxReservoir = 1<<9 - 1

// mostFactorBytes is how many bytes scale factors take at most. Those of a damaged granule may reach
// behind the main data, where nothing may be left of earlier frames.
const mostFactorBytes = (maxBands*5 + 7) / 8

// frameDecoder decodes frames one after another. Its zero value, like one that was reset, is at the
// start of a stream.
type frameDecoder struct {
	main    mainBuffer
	mainLen int // bytes of main data in main

	side     sideInfo
	factors  [2]scaleFactors
	gains    [maxBands + 3]float32
	xr       [2][granuleSize]float32
	lines    [2]int // of xr that are not zero
	overlaps [2]overlap
	filters  [2]synthesis
	sub      slots
}

// reset forgets all that was decoded.
func (d *frameDecoder) reset() {
	d.mainLen = 0
	clear(d.overlaps[:])
	clear(d.filters[:])
}

// keep adds a frame's main data to the reservoir without decoding it.
func (d *frameDecoder) keep(h header, frame []byte) {
	if over := d.mainLen - maxReservoir; over > 0 {
		d.mainLen = copy(d.main[:], d.main[over:d.mainLen])
	}
	d.mainLen += copy(d.main[d.mainLen:mainMask], frame[h.mainStart():])
	clear(d.main[d.mainLen:min(d.mainLen+mostFactorBytes+bitSlack, len(d.main))])
}

// decode decodes a whole frame, header and all, which the cursor says can be decoded, to h.frames()
// interleaved frames of h.channels() samples in out. The reservoir must hold what it asks for.
func (d *frameDecoder) decode(h header, frame []byte, out []float32) {
	d.side.parse(h, frame[h.sideStart():h.mainStart()])
	before := min(d.mainLen, maxReservoir)
	d.keep(h, frame)
	pos := 8 * (before - d.side.mainDataBegin)
	channels := h.channels()
	for gr := range h.granules() {
		for ch := range channels {
			end := pos + d.side.granules[gr][ch].part23Length
			d.readGranule(h, gr, ch, pos, end)
			pos = end
		}
		if channels == 2 {
			right := &d.side.granules[gr][1]
			joint(h, right, right.layout(h), &d.factors[1], &d.xr, &d.lines)
		}
		for ch := range channels {
			d.synthesize(h, &d.side.granules[gr][ch], ch, out[gr*granuleSize*channels+ch:])
		}
	}
}

// readGranule reads a granule of one channel from bits pos to end of the main data.
func (d *frameDecoder) readGranule(h header, gr, ch, pos, end int) {
	g := &d.side.granules[gr][ch]
	l := g.layout(h)
	r := bitReader{buf: d.main[:], pos: pos}
	switch {
	case h.lsf():
		d.factors[ch].parseLSF(&r, g, l, ch == 1 && h.intensity())
	case gr == 1:
		d.factors[ch].parseMPEG1(&r, g, l, d.side.scfsi[ch])
	default:
		d.factors[ch].parseMPEG1(&r, g, l, 0)
	}
	d.factors[ch].gains(g, l, &d.gains)
	huff := huffman{&d.main, r.pos}
	d.lines[ch] = huff.decode(g, l, &d.gains, end, &d.xr[ch])
}

// synthesize makes a granule's samples of one channel; out begins with the first of them.
func (d *frameDecoder) synthesize(h header, g *granule, ch int, out []float32) {
	hybrid(g, g.layout(h), &d.xr[ch], d.lines[ch], &d.overlaps[ch], &d.sub)
	stride := h.channels()
	for i := range d.sub {
		d.filters[ch].slot(&d.sub[i], out[i*subbands*stride:], stride)
	}
}

// decodeSilence decodes a frame without any lines, as would come behind the last one: what is left
// in the filter banks sounds out.
func (d *frameDecoder) decodeSilence(h header, out []float32) {
	channels := h.channels()
	g := &granule{}
	for gr := range h.granules() {
		for ch := range channels {
			clear(d.xr[ch][:])
			d.lines[ch] = 0
			d.synthesize(h, g, ch, out[gr*granuleSize*channels+ch:])
		}
	}
}

// buildTables makes the tables that are too large to be made when the program starts. Every decoder
// calls it before anything else.
var buildTables = sync.OnceFunc(func() {
	buildPow43()
	buildHuffman()
	buildWindows()
	buildSynthesis()
})
