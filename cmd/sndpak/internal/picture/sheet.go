package picture

import (
	"fmt"
	"image"
	"io"
	"math"
)

// A Sheet is a contact sheet: many sounds, small, in rows.
type Sheet struct {
	Title   string
	Columns int // sounds in a row; 0 = as many as have room, each some 280 pixels wide
	Style   Style
}

// The parts of a cell.
const (
	cellWidth  = 280
	cellText   = 20
	cellHeight = 84 // with its text
)

// MostPixels is the largest sheet that Image draws.
const MostPixels = 64 << 20

// narrowest is how few pixels a sound may be wide; of more columns than have room there are fewer.
const narrowest = 16

// grid is how a sheet of n sounds is laid out.
type grid struct{ columns, rows, width, height int }

func (t *Sheet) grid(n int) grid {
	y := t.Style.filled(nil)
	g := grid{columns: t.Columns, width: y.Width}
	if g.columns < 1 {
		g.columns = max((y.Width-gap)/cellWidth, 1)
	}
	g.columns = min(g.columns, max((y.Width-gap)/(narrowest+gap), 1))
	g.width = max(g.width, narrowest+2*gap)
	g.rows = (n + g.columns - 1) / g.columns
	g.height = header + g.rows*(cellHeight+gap) + gap
	return g
}

// cell is how wide the place of a sound is.
func (t *Sheet) cell(g grid) float64 {
	return math.Floor(float64(g.width-gap)/float64(g.columns)) - gap
}

// Image draws the sounds; of one that was not measured it says its Err. A sheet of more than
// MostPixels is an error.
func (t *Sheet) Image(sounds []*Sound) (*image.RGBA, error) {
	g := t.grid(len(sounds))
	if g.width*g.height > MostPixels {
		return nil, fmt.Errorf("a sheet of %d sounds would be %d x %d pixels: name fewer, put more in a row, or write SVG", len(sounds), g.width, g.height)
	}
	r := newRaster(g.width, g.height)
	t.draw(r, g, sounds)
	return r.img, nil
}

// SVG writes the same as SVG, however large.
func (t *Sheet) SVG(w io.Writer, sounds []*Sound) error {
	g := t.grid(len(sounds))
	v := &vectors{}
	t.draw(v, g, sounds)
	return v.writeTo(w, g.width, g.height, t.Title)
}

func (t *Sheet) draw(c canvas, g grid, sounds []*Sound) {
	p := paletteOf(t.Style.Dark)
	c.rect(0, 0, float64(g.width), float64(g.height), p.back)
	c.text(gap, 22, 0, shorten(t.Title, float64(g.width-2*gap)), p.text)
	w := t.cell(g)
	for i, d := range sounds {
		x := gap + float64(i%g.columns)*(w+gap)
		y := header + float64(i/g.columns)*(cellHeight+gap)
		d.drawCell(panel{canvas: c, pal: p, bare: true, x: x, y: y, w: w, h: cellHeight})
	}
}

// drawCell draws a sound's name and length over its waveform; of one that does not decode, why.
func (d *Sound) drawCell(b panel) {
	length := timeLabel(d.seconds(), 1)
	if d.seconds() < 10 {
		length = fmt.Sprintf("%.2f s", d.seconds())
	}
	if d.peaks == nil {
		length = ""
	}
	b.text(b.x, b.y+14, 0, shortenName(d.Title, b.w-textWidth(length)-10), b.pal.text)
	b.text(b.x+b.w, b.y+14, 1, length, b.pal.dim)
	b.y, b.h = b.y+cellText, b.h-cellText
	if d.peaks == nil {
		b.ground()
		why := "no sound"
		if d.Err != nil {
			why = d.Err.Error()
		}
		b.text(b.x+b.w/2, b.y+b.h/2+4, 0.5, shorten(why, b.w-12), b.pal.clip)
		return
	}
	d.drawWaveform(&b)
}
