package console

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/waveform"
)

// waveRow is a row of the pane of the chosen sound.
func (s *Screen) waveRow(c *canvas, a arrangement, y int) {
	name := s.list.chosen()
	wave := s.waves.done[name]
	d := s.detailsOf(name)
	if wave != nil {
		d = wave.Details
	}
	in := a.waveRows()
	switch {
	case y == 0:
		s.heading(c, a.wave, false, pick(name == "", "no sound chosen", clean(name)), pick(d.Size > 0, size(d.Size), ""))
	case name == "":
	case y == 1:
		c.put("", " ", 1)
		c.text(c.th.dim, clean(d.What), a.wave.w-2)
	case y == a.wave.h-1:
		s.ruler(c, in, d)
	case wave != nil:
		s.waveLine(c, in, wave, y-2)
	case y == 2+in.h/2:
		c.put("", " ", 1)
		if err := s.waves.faults[name]; err != nil {
			c.text(c.th.fault, clean(err.Error()), in.w)
		} else if s.waves.now == name {
			c.text(c.th.dim, "…", in.w)
		}
	}
}

// head is the place where the latest voice of a sound stands, as a share of it; below 0 without one.
func (s *Screen) head(name string, length time.Duration) float64 {
	for i := len(s.snap.Playing) - 1; i >= 0; i-- {
		if v := &s.snap.Playing[i]; v.Name == name && length > 0 {
			return float64(v.At) / float64(length)
		}
	}
	return -1
}

// waveLine is one row of the waveform: braille, two dots a cell across and four down. Where there is
// room each channel has a lane of its own.
func (s *Screen) waveLine(c *canvas, in rect, w *Wave, y int) {
	lanes := lanesIn(w, in.h)
	rows := in.h / lanes
	lane := y / rows
	if lane >= lanes {
		return
	}
	head := s.head(s.list.chosen(), w.Length)
	at := -1
	if head >= 0 {
		at = min(int(head*float64(in.w)), in.w-1)
	}
	c.put("", " ", 1)
	var run [4]byte
	for x := range in.w {
		if x == at {
			c.put(c.th.live, "│", 1)
			continue
		}
		bits, style := waveCell(&cellPlace{w, lane, lanes, x, in.w, y % rows, rows}, c.th, x < at)
		n := utf8.EncodeRune(run[:], pick(bits == 0, ' ', 0x2800+rune(bits))) // fonts show the empty pattern as rings
		c.cell(style, run[:n], x == 0 || x == at+1)
	}
	c.endCells()
}

// lanesIn is how many lanes a waveform has in so many rows.
func lanesIn(w *Wave, rows int) int {
	if len(w.Lanes) == 2 && rows >= 8 {
		return 2
	}
	return 1
}

// braille are the bits of the dots of a cell, by column and row (Unicode 8.6, Braille Patterns).
var braille = [2][4]byte{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

// waveCell are the dots of a cell and their colour: brighter as far as the RMS reaches.
func waveCell(c *cellPlace, th *theme, played bool) (bits byte, style string) {
	var clipped bool
	var rms float32
	for half := range 2 {
		col := spanOf(c.wave, c.lane, c.lanes, 2*c.x+half, 2*c.width)
		from, to := dotOf(col.Max, c.rows), dotOf(col.Min, c.rows)
		for dot := range 4 {
			if y := c.row*4 + dot; y >= from && y <= to {
				bits |= braille[half][dot]
			}
		}
		rms = max(rms, col.RMS)
		clipped = clipped || col.Clipped && (c.row == 0 || c.row == c.rows-1)
	}
	inner := dotOf(rms, c.rows) <= c.row*4+2 && dotOf(-rms, c.rows) >= c.row*4+1
	switch {
	case clipped:
		return bits, th.over
	case played:
		return bits, pick(inner, th.played, th.playedPeak)
	}
	return bits, pick(inner, th.wave, th.wavePeak)
}

// cellPlace is a cell of a waveform: in a lane, so many cells from the left of width, in a row of rows.
type cellPlace struct {
	wave        *Wave
	lane, lanes int
	x, width    int
	row, rows   int
}

// dotOf is the row of dots that a value from 1 down to -1 falls into.
func dotOf(v float32, rows int) int {
	dots := 4*rows - 1
	return min(max(int(math.Round(float64(1-v)/2*float64(dots))), 0), dots)
}

// spanOf is the waveform within one of so many columns of dots.
func spanOf(w *Wave, lane, lanes, x, dots int) (span waveform.Column) {
	for i, l := range w.Lanes {
		if lanes > 1 && i != lane {
			continue
		}
		n := len(l)
		if n == 0 {
			continue
		}
		from := min(x*n/dots, n-1)
		for _, col := range l[from:min(max((x+1)*n/dots, from+1), n)] {
			span.Min, span.Max = min(span.Min, col.Min), max(span.Max, col.Max)
			span.RMS = max(span.RMS, col.RMS)
			span.Clipped = span.Clipped || col.Clipped
		}
	}
	return span
}

// ruler is the row below the waveform: its loop, or where it begins and ends.
func (s *Screen) ruler(c *canvas, in rect, d Details) {
	c.put("", " ", 1)
	if d.Length <= 0 {
		return
	}
	if d.Loop[1] > d.Loop[0] {
		place := func(t time.Duration) int {
			return min(max(int(float64(t)/float64(d.Length)*float64(in.w)), 0), in.w)
		}
		from, to := place(d.Loop[0]), max(place(d.Loop[1]), place(d.Loop[0])+2)
		from = min(from, in.w-2)
		c.fill(in.x + from)
		label := " loop " + clock(d.Loop[0]) + " to " + clock(d.Loop[1]) + " "
		c.text(c.th.loop, loopLine(label, min(to, in.w)-from), in.w)
		return
	}
	c.field(c.th.dim, "0:00.0", in.w-8)
	c.right(c.th.dim, clock(d.Length), 8)
}

// loopLine is a line with ends, so wide, with a label where that has room.
func loopLine(label string, w int) string {
	if w < 2 {
		return "│"
	}
	fill := w - 2
	if n := cells(label); n+2 <= fill {
		left := (fill - n) / 2
		return "├" + strings.Repeat("─", left) + label + strings.Repeat("─", fill-n-left) + "┤"
	}
	return "├" + strings.Repeat("─", fill) + "┤"
}
