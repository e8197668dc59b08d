package console

import "strings"

// helpText is the help, a key and what it does in each line; a line without a key is a heading.
var helpText = [][2]string{
	{"", "Play"},
	{"1-9 a-z", "the sound on this key, over all that plays"},
	{"shift+key", "the same looped, between its loop points; again stops it"},
	{"alt+key", "the same, for digits of keyboards that tell no Shift"},
	{"enter", "the chosen sound; shift+enter or alt+enter looped"},
	{"space", "all pause, all go on"},
	{". backspace", "stop all"},
	{"[ ]", "5 seconds back and on, in the chosen voice or the latest"},
	{"+ -", "master gain"},
	{"", "Find"},
	{"up down", "choose; also pgup, pgdown, home, end and the wheel"},
	{"left right", "shut and open the folder"},
	{"/", "search as you type: words, in any order"},
	{"esc", "all sounds again"},
	{"", "Keys"},
	{"ctrl+k", "put the chosen sound on the key that is pressed next"},
	{"ctrl+a", "put the sounds that are listed from here on on 1-9 and a-z"},
	{"ctrl+s", "save the key map to the file of --keys; leaving saves it too"},
	{"", "Panes"},
	{"tab shift+tab", "go to sounds, voices, buses"},
	{"in voices", "left and right seek, enter pauses, delete stops"},
	{"in buses", "left and right change the gain, m mutes, s plays it alone"},
	{"", "Mouse"},
	{"click", "choose a sound, again plays it; its key plays it at once"},
	{"waveform", "play from there, or go there where it plays"},
	{"voice, bus", "go to a place in the voice; m, s and the wheel on a bus"},
	{"", "Leave"},
	{"q ctrl+c", "quit"},
}

// help draws the help over the panes, in so many rows.
func (s *Screen) help(c *canvas, rows int) {
	s.heading(c, rect{0, 1, s.width, rows}, true, "Help", "")
	c.newline()
	for i := range rows - 1 {
		if at := s.helpFrom + i; at < len(helpText) {
			s.helpLine(c, helpText[at])
		}
		c.fill(s.width)
		c.newline()
	}
}

func (s *Screen) helpLine(c *canvas, l [2]string) {
	if l[0] == "" {
		c.put("", " ", 1)
		c.text(c.th.title, strings.ToUpper(l[1]), s.width-2)
		return
	}
	c.put("", "  ", 2)
	c.field(c.th.key, l[0], min(15, s.width-2))
	c.text("", l[1], s.width-c.col-1)
}
