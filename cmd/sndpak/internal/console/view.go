package console

import (
	"fmt"
	"path"

	tea "charm.land/bubbletea/v2"
)

// View implements tea.Model.
func (s *Screen) View() tea.View {
	if s.drawn == "" {
		s.drawn = s.draw()
	}
	v := tea.NewView(s.drawn)
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = "sndpak " + clean(s.lib.Title)
	if s.mode == searching && s.width > 0 {
		v.Cursor = tea.NewCursor(min(3+cells(s.list.search), s.arrange().list.w-1), 1)
	}
	return v
}

// draw is the whole screen as text, a line a row.
func (s *Screen) draw() string {
	c := &s.canvas
	c.begin(s.theme)
	if s.width < 16 || s.height < 4 {
		c.text("", "too small", s.width)
		return string(c.b)
	}
	a := s.arrange()
	s.header(c)
	if s.mode == helping {
		s.help(c, s.height-1-a.foot)
	} else {
		s.panes(c, a)
	}
	s.footer(c, a)
	return string(c.b)
}

// header is the status line.
func (s *Screen) header(c *canvas) {
	state := s.snap.Output
	if s.snap.Rate > 0 {
		state += fmt.Sprintf(" %g kHz", float64(s.snap.Rate)/1000)
	}
	if s.snap.Paused {
		state = "paused"
	}
	counts := fmt.Sprintf("voices %d (most %d)", s.snap.Voices, s.snap.Peak)
	if s.snap.CPU >= 0 {
		counts += fmt.Sprintf("  CPU %.0f %%", 100*s.snap.CPU)
	}
	under := fmt.Sprintf("underruns %d", s.snap.Underruns)
	tail := len(counts) + 2 + len(under) + 1
	c.put("", " ", 1)
	if tail+20 > s.width { // the counts go first where there is no room for all
		tail, under, counts = 0, "", ""
	}
	room := s.width - 1 - tail
	stateWidth := min(cells(state), room/2)
	c.text(c.th.title, clean(s.lib.Title), room-stateWidth-3)
	c.put("", "  ", 2)
	c.text(pick(s.snap.Paused, c.th.wait, c.th.dim), clean(state), stateWidth)
	c.fill(s.width - tail)
	c.text(c.th.dim, counts, s.width-c.col)
	if under != "" {
		c.put("", "  ", 2)
		c.text(pick(s.snap.Underruns > 0, c.th.fault, c.th.dim), under, s.width-c.col)
	}
	c.fill(s.width)
	c.newline()
}

func pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// panes draws list and right side row by row.
func (s *Screen) panes(c *canvas, a arrangement) {
	s.list.scroll(max(a.list.h-1, 1))
	for y := a.list.y; y < a.list.y+a.list.h; y++ {
		s.listRow(c, a.list, y-a.list.y)
		c.unmark()
		if a.wave.h > 0 {
			c.put(c.th.rule, "│", 1)
			switch {
			case y < a.wave.y+a.wave.h:
				s.waveRow(c, a, y-a.wave.y)
			case y < a.voices.y+a.voices.h:
				s.voiceRow(c, a.voices, y-a.voices.y)
			default:
				s.busRow(c, a.buses, y-a.buses.y)
			}
			c.unmark()
			c.fill(a.wave.x + a.wave.w)
		}
		c.newline()
	}
}

// heading is the title of a pane; that of the one in focus stands out.
func (s *Screen) heading(c *canvas, r rect, on bool, name, more string) {
	c.put(c.th.rule, "─", 1)
	c.put("", " ", 1)
	room := r.x + r.w - c.col - cells(more) - 3
	c.text(pick(on, c.th.title, c.th.dim), name, room)
	c.put("", " ", 1)
	c.line(r.x + r.w - cells(more) - pick(more == "", 0, 3))
	if more != "" {
		c.put("", " ", 1)
		c.text(c.th.dim, more, r.w)
		c.put("", " ", 1)
		c.line(r.x + r.w)
	}
}

// listRow is a row of the list: the title or search, folders, and sounds.
func (s *Screen) listRow(c *canvas, r rect, y int) {
	if y == 0 {
		s.listTitle(c, r)
		return
	}
	l := &s.list
	i := l.top + y - 1
	switch {
	case i < len(l.rows):
		s.listLine(c, r, i)
	case y == 1 && l.search != "":
		c.text(c.th.dim, "   no sound has this in its name", r.w)
	case y == 1:
		c.text(c.th.dim, "   nothing to play here", r.w)
	}
	c.fill(r.x + r.w)
}

func (s *Screen) listTitle(c *canvas, r rect) {
	l := &s.list
	count := fmt.Sprint(len(l.names))
	if l.search != "" {
		count = fmt.Sprintf("%d of %d", l.found, len(l.names))
	}
	switch {
	case s.mode == searching:
		c.put(c.th.key, " / ", 3)
		c.field("", tail(l.search, r.w-5-len(count)), r.w-4-len(count))
		c.right(c.th.dim, count, len(count))
		c.fill(r.x + r.w)
	case l.search != "":
		s.heading(c, r, s.focus == onList, "/ "+l.search, count)
	default:
		s.heading(c, r, s.focus == onList, "Sounds", count)
	}
}

// tail is the end of a text, as far as it has room.
func tail(s string, width int) string {
	for cells(s) > width && s != "" {
		s = string([]rune(s)[1:])
	}
	return s
}

func (s *Screen) listLine(c *canvas, r rect, i int) {
	l := &s.list
	line := l.rows[i]
	if i == l.cursor {
		c.mark()
	}
	g := &l.groups[line.group]
	if line.sound < 0 {
		c.put(c.th.folder, pick(l.shut[g.folder] && l.search == "", " ▸ ", " ▾ "), 3)
		c.field(c.th.folder, clean(g.folder), r.w-3-6)
		c.right(c.th.dim, fmt.Sprint(len(g.sounds)), 5)
		c.put("", " ", 1)
		return
	}
	name := l.names[line.sound]
	c.put("", " ", 1)
	if k := s.keys.indexOf(name); k >= 0 {
		c.put(c.th.key, Keys[k:k+1], 1)
	} else {
		c.put("", " ", 1)
	}
	c.put("", " ", 1)
	s.stateMark(c, name)
	base := name
	if g.folder != "" {
		base = path.Base(name)
	}
	d := s.detailsOf(name)
	c.field(pick(s.waves.faults[name] != nil, c.th.fault, c.th.text), clean(base), r.w-5-9)
	if d.Length > 0 {
		c.right(c.th.dim, clock(d.Length), 8)
	}
	c.fill(r.x + r.w)
}

// stateMark shows in two cells whether a sound plays.
func (s *Screen) stateMark(c *canvas, name string) {
	for i := range s.snap.Playing {
		if v := &s.snap.Playing[i]; v.Name == name {
			mark, style := voiceMark(c.th, v)
			c.put(style, mark, 1)
			c.put("", " ", 1)
			return
		}
	}
	c.put("", "  ", 2)
}

func voiceMark(th *theme, v *Voice) (mark, style string) {
	switch {
	case v.Paused:
		return "‖", th.wait
	case v.Looped:
		return "↻", th.live
	}
	return "▶", th.live
}

// footer is what happened last, and what can be done.
func (s *Screen) footer(c *canvas, a arrangement) {
	if a.foot > 1 || s.message.text != "" {
		c.put("", " ", 1)
		text, style := s.message.text, pick(s.message.fault, c.th.fault, c.th.live)
		if s.mode == assigning {
			text, style = "press the key for "+clean(s.list.chosen())+" (delete: no key, esc: leave)", c.th.warn
		}
		c.text(style, text, s.width-2)
		c.fill(s.width)
		if a.foot == 1 {
			return
		}
		c.newline()
	}
	for i, h := range s.hints() {
		gap := pick(i == 0, " ", "  ")
		if c.col+len(gap)+cells(h[0])+1+cells(h[1]) > s.width {
			break
		}
		c.put("", gap, len(gap))
		c.put(c.th.key, h[0], cells(h[0]))
		c.put("", " ", 1)
		c.put(c.th.dim, h[1], cells(h[1]))
	}
	c.fill(s.width)
}

// hints are the keys that matter most now, the first ones where there is no room for all.
func (s *Screen) hints() [][2]string {
	switch {
	case s.mode == searching:
		return [][2]string{{"enter", "keep"}, {"esc", "leave"}, {"↑↓", "choose"}, {"ctrl+u", "clear"}}
	case s.mode == helping:
		return [][2]string{{"↑↓", "scroll"}, {"any other key", "back"}}
	case s.mode == assigning:
		return [][2]string{{"1-9 a-z", "key"}, {"delete", "none"}, {"esc", "leave"}}
	case s.focus == onVoices:
		return [][2]string{{"?", "help"}, {"↑↓", "choose"}, {"←→", "seek"}, {"enter", "pause"}, {"del", "stop"}, {"tab", "next pane"}, {"q", "quit"}}
	case s.focus == onBuses:
		return [][2]string{{"?", "help"}, {"↑↓", "choose"}, {"←→", "gain"}, {"m", "mute"}, {"s", "solo"}, {"tab", "next pane"}, {"q", "quit"}}
	}
	return [][2]string{{"?", "help"}, {"/", "search"}, {"enter", "play"}, {"shift", "loop"}, {"space", "pause"},
		{".", "stop"}, {"q", "quit"}, {"tab", "pane"}, {"ctrl+k", "put on key"}, {"ctrl+a", "keys from here on"}}
}
