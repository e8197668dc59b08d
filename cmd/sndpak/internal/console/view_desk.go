package console

import (
	"fmt"
	"math"
)

// voiceRow is a row of the pane of voices: the latest ones, oldest at the top.
func (s *Screen) voiceRow(c *canvas, r rect, y int) {
	if y == 0 {
		s.heading(c, r, s.focus == onVoices, "Voices", fmt.Sprint(len(s.snap.Playing)))
		return
	}
	i := s.firstVoice(r) + y - 1
	switch {
	case i < len(s.snap.Playing):
		v := &s.snap.Playing[i]
		if chosen, ok := s.chosenVoice(); ok && s.focus == onVoices && chosen.ID == v.ID {
			c.mark()
		}
		s.voiceLine(c, r, v)
	case y == 1:
		c.text(c.th.dim, " press a key: its sound plays; with Shift looped", r.w)
	}
	c.fill(r.x + r.w)
}

// firstVoice is the first one that is shown: the last ones, or as far up as the chosen one.
func (s *Screen) firstVoice(r rect) int {
	first := max(len(s.snap.Playing)-(r.h-1), 0)
	if i := s.at(s.voice); i >= 0 {
		first = min(first, i)
	}
	return first
}

func (s *Screen) voiceLine(c *canvas, r rect, v *Voice) {
	name, bar, width := voiceColumns(r.w)
	mark, style := voiceMark(c.th, v)
	c.put("", " ", 1)
	c.put(style, mark, 1)
	c.put("", " ", 1)
	c.field("", clean(v.Name), name)
	c.put("", " ", 1)
	done := 0
	if v.Length > 0 {
		done = min(max(int(math.Round(float64(v.At)/float64(v.Length)*float64(bar))), 0), bar)
	}
	c.repeat(style, "━", done)
	c.repeat(c.th.rule, "─", bar-done)
	time := "-" + clock(v.Length-v.At)
	if v.Looped {
		time = clock(v.At)
	}
	c.right(c.th.dim, time, width)
}

// busRow is a row of the pane of buses.
func (s *Screen) busRow(c *canvas, r rect, y int) {
	if y == 0 {
		s.heading(c, r, s.focus == onBuses, "Buses", "")
		return
	}
	i := s.firstBus(r) + y - 1
	if i < len(s.snap.Buses) {
		if s.focus == onBuses && i == s.bus {
			c.mark()
		}
		s.busLine(c, r, &s.snap.Buses[i])
	}
	c.fill(r.x + r.w)
}

// firstBus keeps the chosen one in sight.
func (s *Screen) firstBus(r rect) int { return max(s.bus-(r.h-1)+1, 0) }

func (s *Screen) busLine(c *canvas, r rect, b *Bus) {
	name, gain, meter := busColumns(r.w)
	c.put("", " ", 1)
	c.field(pick(b.Mute, c.th.dim, c.th.text), clean(b.Name), name)
	c.right(c.th.dim, gainText(b.Gain), gain)
	c.put("", " ", 1)
	s.meter(c, b, meter)
	c.put("", "  ", 2)
	c.put(pick(b.Mute, c.th.fault, c.th.dim), pick(b.Mute, "M", "m"), 1)
	c.put("", " ", 1)
	c.put(pick(b.Solo, c.th.key, c.th.dim), pick(b.Solo, "S", "s"), 1)
	c.put("", " ", 1)
}

func gainText(dB float64) string { return fmt.Sprintf("%+.0f dB", dB) }

// meterFloor is the level at the left end of a meter, in dBFS.
const meterFloor = -60.0

// meter shows the level of both sides in one row: the upper half of it is the left one. A bar stands
// at the highest peak of late.
func (s *Screen) meter(c *canvas, b *Bus, w int) {
	left, right := cellsOf(b.RMS[0], w), cellsOf(b.RMS[1], w)
	hold := cellsOf(max(b.Hold[0], b.Hold[1]), w) - 1
	for x := range w {
		ch, style := "·", c.th.rule
		switch {
		case x < left && x < right:
			ch, style = "█", zone(c.th, x, w)
		case x < left:
			ch, style = "▀", zone(c.th, x, w)
		case x < right:
			ch, style = "▄", zone(c.th, x, w)
		case x == hold:
			ch, style = "▏", zone(c.th, x, w)
		}
		c.cell(style, []byte(ch), x == 0)
	}
	c.endCells()
}

// cellsOf is how many of w cells of a meter a level fills.
func cellsOf(level float64, w int) int {
	if level <= 0 {
		return 0
	}
	dB := 20 * math.Log10(level)
	return min(max(int(math.Ceil((dB-meterFloor)/-meterFloor*float64(w))), 0), w)
}

// zone is the colour of a cell of a meter.
func zone(th *theme, x, w int) string {
	switch dB := meterFloor - meterFloor*float64(x)/float64(w); {
	case dB >= -3:
		return th.over
	case dB >= -12:
		return th.high
	}
	return th.low
}
