package termimage

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
)

// sixelPalette is a cube of 6 x 7 x 6 colours, 252, which is what a VT340's successors take.
var sixelPalette = func() (p color.Palette) {
	for r := range 6 {
		for g := range 7 {
			for b := range 6 {
				p = append(p, color.RGBA{uint8(r * 51), uint8(g * 255 / 6), uint8(b * 51), 255})
			}
		}
	}
	return p
}()

// sixel writes bands of six rows: for each colour of a band, a bit pattern for each column, repeated
// patterns told by their number.
func sixel(b *bytes.Buffer, m image.Image) {
	r := m.Bounds()
	p := image.NewPaletted(image.Rect(0, 0, r.Dx(), r.Dy()), sixelPalette)
	draw.FloydSteinberg.Draw(p, p.Rect, m, r.Min)
	fmt.Fprintf(b, "\x1bPq\"1;1;%d;%d", r.Dx(), r.Dy())
	used := map[uint8]bool{}
	for _, i := range p.Pix {
		used[i] = true
	}
	for i, c := range sixelPalette {
		if used[uint8(i)] {
			r, g, bl, _ := c.RGBA()
			fmt.Fprintf(b, "#%d;2;%d;%d;%d", i, r*100/0xffff, g*100/0xffff, bl*100/0xffff)
		}
	}
	for y := 0; y < r.Dy(); y += 6 {
		sixelBand(b, p, y)
	}
	b.WriteString("\x1b\\\n")
}

func sixelBand(b *bytes.Buffer, p *image.Paletted, y int) {
	w := p.Rect.Dx()
	rows := min(6, p.Rect.Dy()-y)
	patterns := map[uint8][]byte{}
	var order []uint8
	for x := range w {
		for k := range rows {
			i := p.Pix[(y+k)*p.Stride+x]
			if patterns[i] == nil {
				patterns[i] = make([]byte, w)
				order = append(order, i)
			}
			patterns[i][x] |= 1 << k
		}
	}
	for n, i := range order {
		if n > 0 {
			b.WriteByte('$') // back to the band's left
		}
		fmt.Fprintf(b, "#%d", i)
		line := patterns[i]
		for x := 0; x < w; {
			run := 1
			for x+run < w && line[x+run] == line[x] {
				run++
			}
			if c := line[x] + '?'; run > 3 {
				fmt.Fprintf(b, "!%d%c", run, c)
			} else {
				b.Write(bytes.Repeat([]byte{c}, run))
			}
			x += run
		}
	}
	b.WriteByte('-')
}
