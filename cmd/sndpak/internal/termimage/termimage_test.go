package termimage

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"regexp"
	"strings"
	"testing"
)

// sample is a picture with every colour of a gradient, too large for one chunk of kitty.
func sample(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, color.RGBA{uint8(x * 255 / w), uint8(y * 255 / h), uint8(x * y), 255})
		}
	}
	return m
}

func written(t *testing.T, p Protocol, m image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b, m, color.Black); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func samePNG(t *testing.T, text string, want *image.RGBA) {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for y := range want.Rect.Dy() {
		for x := range want.Rect.Dx() {
			if r, g, b, a := got.At(x, y).RGBA(); (color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)}) != want.RGBAAt(x, y) {
				t.Fatalf("%d, %d: %v, want %v", x, y, got.At(x, y), want.At(x, y))
			}
		}
	}
}

func TestKitty(t *testing.T) {
	m := sample(200, 100)
	chunks := regexp.MustCompile(`\x1b_G([^;]*);([^\x1b]*)\x1b\\`).FindAllStringSubmatch(written(t, Kitty, m), -1)
	if len(chunks) < 2 {
		t.Fatalf("%d chunks", len(chunks))
	}
	data := ""
	for i, c := range chunks {
		last := i == len(chunks)-1
		if strings.Contains(c[1], "a=T,f=100") != (i == 0) || strings.HasSuffix(c[1], "m=1") == last || len(c[2]) > 4096 || !last && len(c[2])%4 != 0 {
			t.Errorf("chunk %d of %d: %q with %d bytes", i, len(chunks), c[1], len(c[2]))
		}
		data += c[2]
	}
	samePNG(t, data, m)
}

func TestITerm(t *testing.T) {
	m := sample(20, 10)
	got := written(t, ITerm, m)
	head, data, ok := strings.Cut(got, ":")
	if !ok || !strings.HasPrefix(head, "\x1b]1337;File=inline=1;") || !strings.HasSuffix(data, "\a\n") {
		t.Fatalf("%q", got)
	}
	samePNG(t, strings.TrimSuffix(data, "\a\n"), m)
}

// unsixel is a reader of sixels, as DEC STD 070 has it.
func unsixel(t *testing.T, s string) *image.RGBA {
	t.Helper()
	var w, h int
	if _, err := fmt.Sscanf(s, "\x1bPq\"1;1;%d;%d", &w, &h); err != nil || !strings.HasSuffix(s, "\x1b\\\n") {
		t.Fatalf("%v: %.40q", err, s)
	}
	s = strings.TrimSuffix(s[strings.IndexByte(s, '#'):], "\x1b\\\n")
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	colours := map[int]color.RGBA{}
	now, x, y := 0, 0, 0
	number := func() (n int) {
		for len(s) > 0 && s[0] >= '0' && s[0] <= '9' {
			n, s = 10*n+int(s[0]-'0'), s[1:]
		}
		return n
	}
	for len(s) > 0 {
		c := s[0]
		s = s[1:]
		switch run := 1; c {
		case '#':
			now = number()
			if strings.HasPrefix(s, ";2;") {
				var v [3]int
				s = s[3:]
				for i := range v {
					v[i] = number()
					s = strings.TrimPrefix(s, ";")
				}
				colours[now] = color.RGBA{uint8(v[0] * 255 / 100), uint8(v[1] * 255 / 100), uint8(v[2] * 255 / 100), 255}
			}
		case '$':
			x = 0
		case '-':
			x, y = 0, y+6
		case '!':
			run = number()
			c, s = s[0], s[1:]
			fallthrough
		default:
			for range run {
				for k := range 6 {
					if (c-'?')>>k&1 != 0 {
						m.SetRGBA(x, y+k, colours[now])
					}
				}
				x++
			}
		}
	}
	return m
}

func TestSixel(t *testing.T) {
	want := sample(60, 20)
	got := unsixel(t, written(t, Sixel, want))
	if got.Rect != want.Rect {
		t.Fatalf("%v, want %v", got.Rect, want.Rect)
	}
	var sum, dots [3]int
	for i := range got.Pix {
		if i%4 == 3 && got.Pix[i] != 255 {
			t.Fatalf("pixel %d is not drawn", i/4)
		} else if i%4 < 3 {
			sum[i%4] += int(got.Pix[i]) - int(want.Pix[i])
			dots[i%4]++
		}
	}
	for i := range sum { // dithered: right in the mean
		if mean := sum[i] / dots[i]; mean < -8 || mean > 8 {
			t.Errorf("channel %d is off by %d in the mean", i, mean)
		}
	}
}

func TestBlocks(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 2, 2))
	m.SetRGBA(0, 0, color.RGBA{255, 0, 0, 255})
	m.SetRGBA(0, 1, color.RGBA{0, 0, 255, 255})
	m.SetRGBA(1, 0, color.RGBA{255, 0, 0, 255})
	m.SetRGBA(1, 1, color.RGBA{0, 0, 255, 255})
	if got, want := written(t, Blocks, m), "\x1b[38;2;255;0;0;48;2;0;0;255m▀▀\x1b[0m\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPlain(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 6, 2))
	for _, p := range [][2]int{{0, 0}, {1, 1}, {2, 0}, {2, 1}, {3, 0}, {3, 1}} {
		m.Set(p[0], p[1], color.White)
	}
	if got, want := written(t, Plain, m), "▚█\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDetect(t *testing.T) {
	for i, c := range []struct {
		env  string
		want Protocol
	}{
		{"TERM=xterm-256color", Blocks}, {"TERM=xterm-kitty", Kitty}, {"TERM=xterm-256color KITTY_WINDOW_ID=1", Kitty},
		{"TERM=xterm-ghostty", Kitty}, {"TERM=xterm-256color TERM_PROGRAM=iTerm.app", ITerm}, {"TERM_PROGRAM=WezTerm TERM=xterm-256color", ITerm},
		{"TERM=foot", Sixel}, {"TERM=foot-extra", Sixel}, {"TERM=mlterm", Sixel}, {"TERM=xterm-sixel", Sixel},
		{"TERM=tmux-256color KITTY_WINDOW_ID=1", Blocks}, {"TERM=screen TERM_PROGRAM=iTerm.app", Blocks},
		{"TERM=xterm-kitty NO_COLOR=1", Plain}, {"TERM=dumb", Plain},
	} {
		env := map[string]string{}
		for pair := range strings.FieldsSeq(c.env) {
			k, v, _ := strings.Cut(pair, "=")
			env[k] = v
		}
		if got := Detect(func(k string) string { return env[k] }); got != c.want {
			t.Errorf("%d: %s is %s, want %s", i, c.env, got, c.want)
		}
	}
}
