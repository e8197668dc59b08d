// Package termimage shows a picture in a terminal: as pixels where the terminal takes them, by the
// protocols of kitty and iTerm2 or as sixels, and in block characters elsewhere.
//
// Detect tells from the environment which Protocol a terminal has, and Write writes a picture. Asking the
// terminal itself is left out: an answer that does not come would be waited for.
package termimage

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"
)

// Protocol is a way to show a picture.
type Protocol string

// The protocols.
const (
	Kitty  Protocol = "kitty"  // sw.kovidgoyal.net/kitty/graphics-protocol: kitty, Ghostty, Konsole
	ITerm  Protocol = "iterm"  // iterm2.com/documentation-images.html: iTerm2, WezTerm, mintty
	Sixel  Protocol = "sixel"  // DEC STD 070: foot, mlterm, xterm -ti vt340
	Blocks Protocol = "blocks" // half blocks in 24-bit colour
	Plain  Protocol = "plain"  // quarter blocks without colour
)

// Protocols are all of them.
var Protocols = []Protocol{Kitty, ITerm, Sixel, Blocks, Plain}

// Detect tells which protocol the terminal that the environment tells of has. In tmux and screen, which do not
// pass pictures on, it is block characters, and with NO_COLOR (no-color.org) those without colour.
func Detect(getenv func(string) string) Protocol {
	name, program := getenv("TERM"), getenv("TERM_PROGRAM")
	switch {
	case name == "dumb" || getenv("NO_COLOR") != "":
		return Plain
	case getenv("TMUX") != "" || strings.HasPrefix(name, "screen") || strings.HasPrefix(name, "tmux"):
		return Blocks
	case getenv("KITTY_WINDOW_ID") != "" || strings.Contains(name, "kitty") || strings.Contains(name, "ghostty") || program == "ghostty" || getenv("KONSOLE_VERSION") != "":
		return Kitty
	case program == "iTerm.app" || program == "WezTerm" || program == "mintty" || getenv("LC_TERMINAL") == "iTerm2":
		return ITerm
	case strings.Contains(name, "sixel") || strings.HasPrefix(name, "foot") || strings.HasPrefix(name, "mlterm"):
		return Sixel
	}
	return Blocks
}

// Pixels is how large a picture should be to fill some columns and rows of characters.
func (p Protocol) Pixels(columns, rows int) (width, height int) {
	switch p {
	case Blocks:
		return columns, 2 * rows
	case Plain:
		return 2 * columns, 2 * rows
	}
	return 9 * columns, 18 * rows // of common fonts; terminals scale or leave room
}

// Characters tells whether the picture is made of characters, so that text in it would not be read.
func (p Protocol) Characters() bool { return p == Blocks || p == Plain }

// Write writes the picture, and behind it a line's end. Plain shows as ink what is brighter or darker
// than back.
func (p Protocol) Write(w io.Writer, m image.Image, back color.Color) error {
	var b bytes.Buffer
	var err error
	switch p {
	case Kitty:
		err = kitty(&b, m)
	case ITerm:
		err = iterm(&b, m)
	case Sixel:
		sixel(&b, m)
	case Plain:
		plain(&b, m, back)
	default:
		blocks(&b, m)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// kitty sends a PNG in chunks of at most 4096 bytes of base64, all but the last with m=1.
func kitty(b *bytes.Buffer, m image.Image) error {
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		return err
	}
	data := base64.StdEncoding.EncodeToString(file.Bytes())
	for first := true; first || data != ""; first = false {
		n := min(len(data), 4096)
		more := 0
		if n < len(data) {
			more = 1
		}
		control := fmt.Sprintf("m=%d", more)
		if first {
			control = fmt.Sprintf("a=T,f=100,q=2,m=%d", more)
		}
		fmt.Fprintf(b, "\x1b_G%s;%s\x1b\\", control, data[:n])
		data = data[n:]
	}
	b.WriteByte('\n')
	return nil
}

func iterm(b *bytes.Buffer, m image.Image) error {
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		return err
	}
	fmt.Fprintf(b, "\x1b]1337;File=inline=1;size=%d;width=%dpx;height=%dpx:%s\a\n", file.Len(), m.Bounds().Dx(), m.Bounds().Dy(),
		base64.StdEncoding.EncodeToString(file.Bytes()))
	return nil
}

// blocks writes two pixels, one above the other, as one character.
func blocks(b *bytes.Buffer, m image.Image) {
	r := m.Bounds()
	for y := r.Min.Y; y+1 < r.Max.Y; y += 2 {
		last := ""
		for x := r.Min.X; x < r.Max.X; x++ {
			if now := "\x1b[38;2;" + channels(m.At(x, y)) + ";48;2;" + channels(m.At(x, y+1)) + "m"; now != last {
				b.WriteString(now)
				last = now
			}
			b.WriteString("▀")
		}
		b.WriteString("\x1b[0m\n")
	}
}

func channels(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("%d;%d;%d", r>>8, g>>8, b>>8)
}

// quarters are the block characters by the pixels set in them: 1 upper left, 2 upper right, 4 and 8
// below.
var quarters = []rune(" ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█")

// plain writes four pixels as one character: those that differ much from back are set.
func plain(b *bytes.Buffer, m image.Image, back color.Color) {
	r := m.Bounds()
	ground := grey(back)
	for y := r.Min.Y; y+1 < r.Max.Y; y += 2 {
		var line strings.Builder
		for x := r.Min.X; x+1 < r.Max.X; x += 2 {
			set := 0
			for i := range 4 {
				if d := grey(m.At(x+i%2, y+i/2)) - ground; max(d, -d) > 48 {
					set |= 1 << i
				}
			}
			line.WriteRune(quarters[set])
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

func grey(c color.Color) int { return int(color.GrayModel.Convert(c).(color.Gray).Y) }
