package console

import (
	"fmt"
	"strings"
)

// A theme is what the screen is coloured with: each field begins a style, "" is the terminal's own.
// The terminal library takes colours down to what the terminal has; what must be seen without any is
// told by shape or by an attribute too.
type theme struct {
	text, dim, rule string
	title, key      string
	folder          string
	live, wait      string // plays; is paused
	warn, fault     string
	wave, wavePeak  string // a waveform as far as its RMS reaches, and beyond
	played          string // the part of it that was heard, likewise
	playedPeak      string
	loop            string
	mark            string // the chosen row; a background
	low, high, over string // a meter up to -12 dBFS, up to -3, above
}

// Themes are the names that ScreenConfig.Theme can have.
var Themes = []string{"auto", "dark", "light", "none"}

var (
	// Their colours are those of the 256 that terminals share, so that no terminal has to guess.
	darkTheme = theme{
		dim: fg("8a8a8a"), rule: fg("4e4e4e"), title: bold + fg("5fafff"), key: bold + fg("d7afff"),
		folder: fg("d7af5f"), live: fg("5fd75f"), wait: fg("d7af5f"), warn: fg("d7af5f"), fault: bold + fg("ff875f"),
		wave: fg("5fafff"), wavePeak: fg("005fd7"), played: fg("87ff87"), playedPeak: fg("00af5f"),
		loop: fg("d7af5f"), mark: bg("303030"), low: fg("5faf5f"), high: fg("d7af5f"), over: fg("ff5f5f"),
	}
	lightTheme = theme{
		dim: fg("626262"), rule: fg("bcbcbc"), title: bold + fg("005faf"), key: bold + fg("5f00af"),
		folder: fg("875f00"), live: fg("008700"), wait: fg("875f00"), warn: fg("875f00"), fault: bold + fg("af0000"),
		wave: fg("005faf"), wavePeak: fg("5fafff"), played: fg("008700"), playedPeak: fg("5faf5f"),
		loop: fg("875f00"), mark: bg("d7d7ff"), low: fg("008700"), high: fg("af8700"), over: fg("d70000"),
	}
	// basicTheme is for terminals of 16 colours, whose owners chose them to suit their background.
	basicTheme = theme{
		title: bold, key: bold + sgr(35), folder: sgr(33), live: sgr(32), wait: sgr(33), warn: sgr(33), fault: bold + sgr(31),
		wave: sgr(36), wavePeak: sgr(34), played: bold + sgr(32), playedPeak: sgr(32), loop: sgr(33), mark: sgr(7), low: sgr(32), high: sgr(33), over: sgr(31),
	}
	// plainTheme has no colour at all.
	plainTheme = theme{
		dim: sgr(2), rule: sgr(2), title: bold, key: bold, live: bold, fault: bold, mark: sgr(7), over: bold, played: bold, playedPeak: bold,
	}
)

const (
	bold  = "\x1b[1m"
	reset = "\x1b[m"
)

func sgr(n int) string { return fmt.Sprintf("\x1b[%dm", n) }

func fg(hex string) string { return "\x1b[38;2;" + rgb(hex) + "m" }
func bg(hex string) string { return "\x1b[48;2;" + rgb(hex) + "m" }

func rgb(hex string) string {
	var r, g, b int
	fmt.Sscanf(hex, "%02x%02x%02x", &r, &g, &b)
	return fmt.Sprintf("%d;%d;%d", r, g, b)
}

// colours is how many a terminal can show.
type colours int

const (
	manyColours colours = iota
	basicColours
	noColours
)

// chooseTheme is the theme that a name asks for; "auto" goes by the terminal's background.
func chooseTheme(name string, have colours, dark bool) *theme {
	switch {
	case name == "none" || have == noColours:
		return &plainTheme
	case have == basicColours:
		return &basicTheme
	case name == "light" || name == "auto" && !dark:
		return &lightTheme
	}
	return &darkTheme
}

// darkByEnv guesses the background from COLORFGBG ("15;0" is white on black), for terminals that do
// not tell it when asked.
func darkByEnv(colorfgbg string) bool {
	back := colorfgbg[strings.LastIndexByte(colorfgbg, ';')+1:]
	return back != "7" && back != "15"
}
