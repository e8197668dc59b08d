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
	darkTheme = theme{
		dim: fg("8b949e"), rule: fg("484f58"), title: bold + fg("79c0ff"), key: bold + fg("d2a8ff"),
		folder: fg("e3b341"), live: fg("56d364"), wait: fg("e3b341"), warn: fg("e3b341"), fault: bold + fg("ff7b72"),
		wave: fg("79c0ff"), wavePeak: fg("316dca"), played: fg("7ee787"), playedPeak: fg("2ea043"), loop: fg("e3b341"), mark: bg("26384f"),
		low: fg("3fb950"), high: fg("e3b341"), over: fg("ff7b72"),
	}
	lightTheme = theme{
		dim: fg("57606a"), rule: fg("afb8c1"), title: bold + fg("0550ae"), key: bold + fg("6639ba"),
		folder: fg("7d4e00"), live: fg("116329"), wait: fg("7d4e00"), warn: fg("7d4e00"), fault: bold + fg("a40e26"),
		wave: fg("0550ae"), wavePeak: fg("54aeff"), played: fg("116329"), playedPeak: fg("4ac26b"), loop: fg("9a6700"), mark: bg("cfe4fb"),
		low: fg("1a7f37"), high: fg("9a6700"), over: fg("cf222e"),
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
