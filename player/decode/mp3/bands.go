package mp3

// Scale factor bands: borders in frequency lines, by header.rateIndex (ISO/IEC 11172-3, Annex B,
// table 3-B.8; ISO/IEC 13818-3, Annex B, table B.2). The row for 24 kHz has 332 where the first
// print of 13818-3 had 330; encoders use 332. MPEG-2.5 takes the rows of 16 kHz, save at 8 kHz.
var longBands = [9][23]int{
	{0, 4, 8, 12, 16, 20, 24, 30, 36, 44, 52, 62, 74, 90, 110, 134, 162, 196, 238, 288, 342, 418, 576},
	{0, 4, 8, 12, 16, 20, 24, 30, 36, 42, 50, 60, 72, 88, 106, 128, 156, 190, 230, 276, 330, 384, 576},
	{0, 4, 8, 12, 16, 20, 24, 30, 36, 44, 54, 66, 82, 102, 126, 156, 194, 240, 296, 364, 448, 550, 576},
	{0, 6, 12, 18, 24, 30, 36, 44, 54, 66, 80, 96, 116, 140, 168, 200, 238, 284, 336, 396, 464, 522, 576},
	{0, 6, 12, 18, 24, 30, 36, 44, 54, 66, 80, 96, 114, 136, 162, 194, 232, 278, 332, 394, 464, 540, 576},
	{0, 6, 12, 18, 24, 30, 36, 44, 54, 66, 80, 96, 116, 140, 168, 200, 238, 284, 336, 396, 464, 522, 576},
	{0, 6, 12, 18, 24, 30, 36, 44, 54, 66, 80, 96, 116, 140, 168, 200, 238, 284, 336, 396, 464, 522, 576},
	{0, 6, 12, 18, 24, 30, 36, 44, 54, 66, 80, 96, 116, 140, 168, 200, 238, 284, 336, 396, 464, 522, 576},
	{0, 12, 24, 36, 48, 60, 72, 88, 108, 132, 160, 192, 232, 280, 336, 400, 476, 566, 568, 570, 572, 574, 576},
}

// shortBands are the borders within one of the three short windows.
var shortBands = [9][14]int{
	{0, 4, 8, 12, 16, 22, 30, 40, 52, 66, 84, 106, 136, 192},
	{0, 4, 8, 12, 16, 22, 28, 38, 50, 64, 80, 100, 126, 192},
	{0, 4, 8, 12, 16, 22, 30, 42, 58, 78, 104, 138, 180, 192},
	{0, 4, 8, 12, 18, 24, 32, 42, 56, 74, 100, 132, 174, 192},
	{0, 4, 8, 12, 18, 26, 36, 48, 62, 80, 104, 136, 180, 192},
	{0, 4, 8, 12, 18, 26, 36, 48, 62, 80, 104, 134, 174, 192},
	{0, 4, 8, 12, 18, 26, 36, 48, 62, 80, 104, 134, 174, 192},
	{0, 4, 8, 12, 18, 26, 36, 48, 62, 80, 104, 134, 174, 192},
	{0, 8, 16, 24, 36, 52, 72, 96, 124, 160, 162, 164, 166, 192},
}

const (
	numLong  = 22 // long scale factor bands
	numShort = 13 // short ones, each in three windows
	maxBands = 3 * numShort
	// mixedLines is how many lines of a mixed block are long: two subbands.
	mixedLines = 36
)

// band is one scale factor band of one window.
type band struct {
	end    int16 // line behind its last, in the order of the Huffman code
	window int8  // of a short block 0 to 2, otherwise -1
}

// layout is how a granule's lines divide into bands: windows of one short band follow one another.
type layout struct {
	bands   [maxBands + 3]band
	n       int // bands in use
	numLong int // of them long
}

const (
	layoutLong = iota
	layoutShort
	layoutMixed
)

// layouts holds the three layouts of each sampling frequency.
var layouts = buildLayouts()

func buildLayouts() (all [9][3]layout) {
	for rate := range all {
		all[rate][layoutLong].addLong(rate, granuleSize)
		all[rate][layoutShort].addShort(rate)
		all[rate][layoutMixed].addLong(rate, mixedLines)
		all[rate][layoutMixed].addShort(rate)
	}
	return all
}

func (l *layout) add(end, window int) {
	l.bands[l.n] = band{end: int16(end), window: int8(window)}
	l.n++
}

func (l *layout) addLong(rate, limit int) {
	for _, end := range longBands[rate][1:] {
		if end <= limit {
			l.add(end, -1)
		}
	}
	l.numLong = l.n
}

// addShort adds the short bands above those long ones that are there already. At 8 kHz the long
// part of a mixed block ends within a short band, of which the rest counts as a band.
func (l *layout) addShort(rate int) {
	at := 0
	if l.n > 0 {
		at = mixedLines
	}
	for _, end := range shortBands[rate][1:] {
		if 3*end <= at {
			continue
		}
		width := end - at/3
		for window := range 3 {
			at += width
			l.add(at, window)
		}
	}
}

func (g *granule) layoutKind() int {
	switch {
	case g.blockType != blockShort:
		return layoutLong
	case g.mixed:
		return layoutMixed
	}
	return layoutShort
}

func (g *granule) layout(h header) *layout { return &layouts[h.rateIndex()][g.layoutKind()] }
