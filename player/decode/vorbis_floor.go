package decode

import (
	"math"
	"math/bits"
	"slices"
)

// A floor is the rough shape of the spectrum of a block: lines between points, on a scale of decibels
// (7.2). Floors of kind 0 are refused by the gate.
type floor struct {
	partitions []*floorClass
	multiplier int
	x          []int // places of the points, as they come in the packets
	order      []int // their numbers by place
	low, high  []int // of each point from the third on, the nearest ones before it in the list on both sides
	y          []int // of the packet that is read
	used       []bool
}

// floorClass is how the points of a partition are coded.
type floorClass struct {
	dims  int
	sub   uint
	class *codebook
	books []*codebook // nil = all 0
}

// readFloor reads a floor out of the setup header (7.2.2).
func readFloor(b *vorbisBits, books []codebook) *floor {
	b.read(16)
	f := &floor{partitions: make([]*floorClass, b.read(5))}
	of := make([]int, len(f.partitions))
	classes := make([]floorClass, 0, 16)
	most := -1
	for i := range of {
		of[i] = int(b.read(4))
		most = max(most, of[i])
	}
	for range most + 1 {
		classes = append(classes, readFloorClass(b, books))
	}
	f.multiplier = int(b.read(2)) + 1
	width := uint(b.read(4))
	f.x = []int{0, 1 << width}
	for i, class := range of {
		f.partitions[i] = &classes[class]
		for range classes[class].dims {
			f.x = append(f.x, int(b.read(width)))
		}
	}
	f.prepare()
	return f
}

func readFloorClass(b *vorbisBits, books []codebook) floorClass {
	c := floorClass{dims: int(b.read(3)) + 1, sub: uint(b.read(2))}
	if c.sub > 0 {
		c.class = &books[b.read(8)]
	}
	for range 1 << c.sub {
		if n := b.read(8); n > 0 {
			c.books = append(c.books, &books[n-1])
		} else {
			c.books = append(c.books, nil)
		}
	}
	return c
}

// prepare finds the neighbours of the points (9.2.4, 9.2.5) and their order.
func (f *floor) prepare() {
	n := len(f.x)
	f.y, f.used = make([]int, n), make([]bool, n)
	f.low, f.high = make([]int, n), make([]int, n)
	for i := range f.x {
		f.order = append(f.order, i)
		f.high[i] = 1
		for k, x := range f.x[:i] {
			if x < f.x[i] && x > f.x[f.low[i]] {
				f.low[i] = k
			}
			if x > f.x[i] && x < f.x[f.high[i]] {
				f.high[i] = k
			}
		}
	}
	slices.SortFunc(f.order, func(a, b int) int { return f.x[a] - f.x[b] })
}

// twin is the same floor with room for packets of its own.
func (f *floor) twin() *floor {
	t := *f
	t.y, t.used = make([]int, len(f.x)), make([]bool, len(f.x))
	return &t
}

// floorRanges is how many steps the scale has by multiplier (7.2.3).
var floorRanges = [5]int{1: 256, 128, 86, 64}

// read reads the points of a packet into y. It is false where the packet holds none: the channel is
// silent then, and so it is where the packet ends in the middle (7.2.3).
func (f *floor) read(r *vorbisReader) bool {
	if r.read(1) == 0 {
		return false
	}
	width := uint(bits.Len(uint(floorRanges[f.multiplier] - 1)))
	f.y[0], f.y[1] = int(r.read(width)), int(r.read(width))
	at := 2
	for _, c := range f.partitions {
		value := 0
		if c.sub > 0 {
			value = c.class.entry(r)
		}
		for range c.dims {
			f.y[at] = 0
			if book := c.books[value&(1<<c.sub-1)]; book != nil {
				f.y[at] = book.entry(r)
			}
			value >>= c.sub
			at++
		}
	}
	return !r.over
}

// unfold makes heights of what the points are coded as: how far they are off the line between their
// neighbours, in turns above and below as long as there is room on both sides (7.2.4, step 1).
func (f *floor) unfold() {
	top := floorRanges[f.multiplier]
	f.used[0], f.used[1] = true, true
	for i := 2; i < len(f.x); i++ {
		low, high := f.low[i], f.high[i]
		line := pointOnLine(f.x[low], f.y[low], f.x[high], f.y[high], f.x[i])
		v := f.y[i]
		f.used[i] = v != 0
		if v == 0 {
			f.y[i] = line
			continue
		}
		f.used[low], f.used[high] = true, true
		above, below := top-line, line
		switch {
		case v >= 2*min(above, below) && above > below:
			v -= below
		case v >= 2*min(above, below):
			v = above - v - 1
		case v&1 != 0:
			v = -(v + 1) / 2
		default:
			v /= 2
		}
		f.y[i] = min(max(line+v, 0), top-1) // only forged packets leave the scale
	}
}

// pointOnLine is the height at x of the line between two points, towards the first (9.2.6).
func pointOnLine(x0, y0, x1, y1, x int) int {
	dy := y1 - y0
	off := max(dy, -dy) * (x - x0) / (x1 - x0)
	if dy < 0 {
		return y0 - off
	}
	return y0 + off
}

// apply multiplies the spectrum with the curve (7.2.4, step 2).
func (f *floor) apply(spectrum []float32) {
	f.unfold()
	x, y := 0, f.y[f.order[0]]*f.multiplier
	for _, i := range f.order[1:] {
		if !f.used[i] {
			continue
		}
		x1, y1 := f.x[i], f.y[i]*f.multiplier
		applyLine(spectrum, x, y, x1, y1)
		x, y = x1, y1
	}
	if x < len(spectrum) {
		for i, g := x, floorGains[y&255]; i < len(spectrum); i++ {
			spectrum[i] *= g
		}
	}
}

// applyLine multiplies with a line, which is drawn in whole steps (9.2.7).
func applyLine(spectrum []float32, x0, y0, x1, y1 int) {
	dx, dy := x1-x0, y1-y0
	base := dy / dx
	rest := max(dy, -dy) - max(base, -base)*dx
	sign := 1
	if dy < 0 {
		sign = -1
	}
	y, err := y0, 0
	for i := x0; i < min(x1, len(spectrum)); i++ {
		spectrum[i] *= floorGains[y&255]
		y += base
		if err += rest; err >= dx {
			err -= dx
			y += sign
		}
	}
}

// floorGains are the factors of the scale: 140 dB in 256 steps, the last one being 0 dB (10.1).
var floorGains = func() (t [256]float32) {
	for i := range t {
		t[i] = float32(math.Pow(10, float64(i-255)*(140.0/256)/20))
	}
	return t
}()
