package console

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A canvas is written a line at a time, left to right. It keeps its memory from frame to frame.
type canvas struct {
	b    []byte
	th   *theme
	base string // style below all others of the line: the background of a chosen row
	col  int
	run  string // style of the run of cells that is open
}

// begin forgets what was drawn.
func (c *canvas) begin(th *theme) {
	c.b, c.th, c.base, c.col = c.b[:0], th, "", 0
}

// put writes text of a known width.
func (c *canvas) put(style, s string, width int) {
	if style != "" {
		c.b = append(c.b, style...)
	}
	c.b = append(c.b, s...)
	if style != "" {
		c.b = append(append(c.b, reset...), c.base...)
	}
	c.col += width
}

// text writes s in at most width cells, cut with an ellipsis.
func (c *canvas) text(style, s string, width int) {
	if width <= 0 || s == "" {
		return
	}
	w := cells(s)
	if w > width {
		s = ansi.Truncate(s, width, "…")
		w = cells(s)
	}
	c.put(style, s, w)
}

// field writes s in exactly width cells, at the left of them.
func (c *canvas) field(style, s string, width int) {
	from := c.col
	c.text(style, s, width)
	c.fill(from + width)
}

// right writes s in exactly width cells, at the right of them.
func (c *canvas) right(style, s string, width int) {
	if w := cells(s); w < width {
		c.fill(c.col + width - w)
		width = w
	}
	c.text(style, s, width)
}

// fill writes spaces up to a column.
func (c *canvas) fill(col int) {
	for ; c.col < col; c.col++ {
		c.b = append(c.b, ' ')
	}
}

// line draws a rule up to a column.
func (c *canvas) line(col int) {
	if c.col >= col {
		return
	}
	c.b = append(c.b, c.th.rule...)
	for ; c.col < col; c.col++ {
		c.b = append(c.b, "─"...)
	}
	c.b = append(append(c.b, reset...), c.base...)
}

// mark gives what is drawn until unmark the background of a chosen row.
func (c *canvas) mark() {
	c.base = c.th.mark
	c.b = append(c.b, c.base...)
}

func (c *canvas) unmark() {
	if c.base != "" {
		c.b = append(c.b, reset...)
		c.base = ""
	}
}

// newline ends a line.
func (c *canvas) newline() {
	c.unmark()
	c.b = append(c.b, '\n')
	c.col = 0
}

// cells is how wide a text is.
func cells(s string) int {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// clean takes out of a name or a message what could steer a terminal or has no place on a line:
// control characters, invisible and direction-changing ones, bytes that are no text.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s)
}

func isClean(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// cell writes one cell; a run of cells of one style is begun only once. first begins a run anew.
func (c *canvas) cell(style string, ch []byte, first bool) {
	if first || style != c.run {
		if !first {
			c.endCells()
		}
		c.b = append(c.b, style...)
		c.run = style
	}
	c.b = append(c.b, ch...)
	c.col++
}

// endCells ends a run of cells.
func (c *canvas) endCells() {
	if c.run != "" {
		c.b = append(append(c.b, reset...), c.base...)
		c.run = ""
	}
}

// repeat writes one cell n times.
func (c *canvas) repeat(style, ch string, n int) {
	if n <= 0 {
		return
	}
	c.b = append(c.b, style...)
	for range n {
		c.b = append(c.b, ch...)
	}
	if style != "" {
		c.b = append(append(c.b, reset...), c.base...)
	}
	c.col += n
}
