package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"sort"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

type point struct{ x, y float64 }

// canvas is what a picture is drawn on; units are pixels, y goes down.
type canvas interface {
	rect(x, y, w, h float64, c color.NRGBA)
	polygon(points []point, c color.NRGBA)
	line(points []point, width float64, c color.NRGBA)
	// text writes s on a baseline; align is 0 from x, 0.5 around it, 1 up to it.
	text(x, y, align float64, s string, c color.NRGBA)
	image(x, y int, m image.Image)
}

const fontSize = 12

// typeface is the one font of pictures. The Go fonts have Latin, Greek and Cyrillic.
var typeface = sync.OnceValue(func() *letters {
	parsed, err := opentype.Parse(goregular.TTF)
	if err == nil {
		var f font.Face
		if f, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: fontSize, DPI: 72, Hinting: font.HintingFull}); err == nil {
			return &letters{font: parsed, face: f}
		}
	}
	panic("picture: the built-in font does not parse: " + err.Error())
})

// letters are a font as it is drawn.
type letters struct {
	mu   sync.Mutex // guards the rest: they keep a glyph between calls
	font *opentype.Font
	face font.Face
	buf  sfnt.Buffer
}

// legible is s as it is drawn: characters that the font lacks, which would be boxes that all look the same,
// are told by their numbers, such as \u65e5. mu is held.
func (l *letters) legible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if i, err := l.font.GlyphIndex(&l.buf, r); err == nil && i != 0 {
			b.WriteRune(r)
		} else if r > 0xffff {
			fmt.Fprintf(&b, "\\U%08x", r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// textWidth is the width of s in pixels.
func textWidth(s string) float64 {
	l := typeface()
	l.mu.Lock()
	defer l.mu.Unlock()
	return float64(font.MeasureString(l.face, l.legible(s))) / 64
}

// lacks reports whether the font does not have all of s.
func lacks(s string) bool {
	l := typeface()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.legible(s) != s
}

// shortenName cuts a name in its middle, so that it is at most width wide: sounds are told apart by the
// ends of their names as often as by the beginnings.
func shortenName(s string, width float64) string {
	runes := []rune(s)
	if textWidth(s) <= width || len(runes) < 2 {
		return shorten(s, width)
	}
	cut := func(n int) string { // to n runes, most of them at the end
		end := (2*n + 2) / 3
		return string(runes[:n-end]) + "…" + string(runes[len(runes)-end:])
	}
	n := sort.Search(len(runes), func(n int) bool { return textWidth(cut(n)) > width })
	return cut(max(n-1, 0))
}

// shorten cuts s so that it is at most width wide.
func shorten(s string, width float64) string {
	if textWidth(s) <= width {
		return s
	}
	runes := []rune(s)
	low, high := 0, len(runes)
	for low < high {
		mid := (low + high + 1) / 2
		if textWidth(string(runes[:mid])+"…") <= width {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return string(runes[:low]) + "…"
}

// raster draws pixels.
type raster struct {
	img  *image.RGBA
	area vector.Rasterizer
}

func newRaster(w, h int) *raster { return &raster{img: image.NewRGBA(image.Rect(0, 0, w, h))} }

func (r *raster) rect(x, y, w, h float64, c color.NRGBA) {
	if whole := image.Rect(int(x), int(y), int(x+w), int(y+h)); float64(whole.Min.X) == x && float64(whole.Min.Y) == y &&
		float64(whole.Max.X) == x+w && float64(whole.Max.Y) == y+h {
		draw.Draw(r.img, whole, image.NewUniform(c), image.Point{}, draw.Over)
		return
	}
	r.polygon([]point{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, c)
}

func (r *raster) polygon(points []point, c color.NRGBA) {
	r.fill(c, points)
}

// fill fills polygons. The rasterizer is only as large as they are.
func (r *raster) fill(c color.NRGBA, polygons ...[]point) {
	box := image.Rectangle{}
	for _, points := range polygons {
		for _, p := range points {
			box = box.Union(image.Rect(int(p.x)-1, int(p.y)-1, int(p.x)+2, int(p.y)+2))
		}
	}
	box = box.Intersect(r.img.Rect)
	if box.Empty() {
		return
	}
	r.area.Reset(box.Dx(), box.Dy())
	at := func(p point) (float32, float32) {
		return float32(p.x - float64(box.Min.X)), float32(p.y - float64(box.Min.Y))
	}
	for _, points := range polygons {
		r.area.MoveTo(at(points[0]))
		for _, p := range points[1:] {
			r.area.LineTo(at(p))
		}
		r.area.ClosePath()
	}
	r.area.Draw(r.img, box, image.NewUniform(c), image.Point{})
}

// line draws each segment as a quadrangle, one running way round, so that where they overlap nothing
// is drawn twice.
func (r *raster) line(points []point, width float64, c color.NRGBA) {
	var parts [][]point
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		dx, dy := b.x-a.x, b.y-a.y
		if n := length(dx, dy); n > 0 {
			dx, dy = dx/n*width/2, dy/n*width/2
			parts = append(parts, []point{{a.x - dx - dy, a.y - dy + dx}, {b.x + dx - dy, b.y + dy + dx}, {b.x + dx + dy, b.y + dy - dx}, {a.x - dx + dy, a.y - dy - dx}})
		}
	}
	if len(parts) > 0 {
		r.fill(c, parts...)
	}
}

func (r *raster) text(x, y, align float64, s string, c color.NRGBA) {
	x -= align * textWidth(s)
	l := typeface()
	l.mu.Lock()
	defer l.mu.Unlock()
	d := font.Drawer{Dst: r.img, Src: image.NewUniform(c), Face: l.face, Dot: fixed.P(int(x+0.5), int(y+0.5))}
	d.DrawString(l.legible(s))
}

func (r *raster) image(x, y int, m image.Image) {
	draw.Draw(r.img, m.Bounds().Sub(m.Bounds().Min).Add(image.Pt(x, y)), m, m.Bounds().Min, draw.Over)
}

// vectors writes SVG.
type vectors struct{ b strings.Builder }

func fillOf(c color.NRGBA) string {
	s := fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
	if c.A < 255 {
		s += fmt.Sprintf(`" fill-opacity="%.2f`, float64(c.A)/255)
	}
	return s
}

func (v *vectors) rect(x, y, w, h float64, c color.NRGBA) {
	fmt.Fprintf(&v.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", short(x), short(y), short(w), short(h), fillOf(c))
}

// short is a coordinate, as short as a tenth of a pixel allows.
func short(x float64) string {
	s := strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
	if s == "-0" {
		return "0"
	}
	return s
}

func path(points []point) string {
	var b strings.Builder
	for i, p := range points {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(short(p.x) + "," + short(p.y))
	}
	return b.String()
}

func (v *vectors) polygon(points []point, c color.NRGBA) {
	fmt.Fprintf(&v.b, `<polygon points="%s" fill="%s"/>`+"\n", path(points), fillOf(c))
}

func (v *vectors) line(points []point, width float64, c color.NRGBA) {
	stroke := strings.ReplaceAll(fillOf(c), "fill-", "stroke-")
	fmt.Fprintf(&v.b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="%s"/>`+"\n", path(points), stroke, short(width))
}

func (v *vectors) text(x, y, align float64, s string, c color.NRGBA) {
	anchor := [...]string{"start", "middle", "end"}[int(2*align)]
	fit := "" // the reader may have another font, with more in it
	if w := textWidth(s); w > 0 && !lacks(s) {
		fit = fmt.Sprintf(` textLength="%s" lengthAdjust="spacingAndGlyphs"`, short(w))
	}
	fmt.Fprintf(&v.b, `<text x="%s" y="%s" text-anchor="%s" fill="%s"%s>%s</text>`+"\n", short(x), short(y), anchor, fillOf(c), fit, escape(s))
}

// escape makes s text of XML: what is no character there becomes U+FFFD.
func escape(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

func (v *vectors) image(x, y int, m image.Image) {
	var b bytes.Buffer
	png.Encode(&b, m) // into memory, an image that is not empty: it cannot fail
	fmt.Fprintf(&v.b, `<image x="%d" y="%d" width="%d" height="%d" href="data:image/png;base64,%s"/>`+"\n",
		x, y, m.Bounds().Dx(), m.Bounds().Dy(), base64.StdEncoding.EncodeToString(b.Bytes()))
}

// writeTo writes the whole file.
func (v *vectors) writeTo(w io.Writer, width, height int, title string) error {
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Go, DejaVu Sans, sans-serif" font-size="%d" role="img">`+"\n<title>%s</title>\n%s</svg>\n",
		width, height, width, height, fontSize, escape(title), v.b.String())
	return err
}
