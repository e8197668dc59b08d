package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"flag"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/player/decode"
)

var update = flag.Bool("update", false, "write the goldens anew; then look at them")

// wav is a WAV file of 16-bit samples.
func wav(rate, channels int, samples []int16) []byte {
	var b bytes.Buffer
	b.WriteString("RIFF")
	binary.Write(&b, binary.LittleEndian, uint32(36+2*len(samples)))
	b.WriteString("WAVEfmt ")
	binary.Write(&b, binary.LittleEndian, []uint32{16, uint32(channels)<<16 | 1, uint32(rate), uint32(2 * rate * channels), 16<<16 | uint32(2*channels)})
	b.WriteString("data")
	binary.Write(&b, binary.LittleEndian, uint32(2*len(samples)))
	binary.Write(&b, binary.LittleEndian, samples)
	return b.Bytes()
}

// sweep goes up in pitch and in loudness, on the left until it clips; the right has a fifth of it.
func sweep() []byte {
	const rate, frames = 8000, 16000
	x := make([]int16, 0, 2*frames)
	for i := range frames {
		t := float64(i) / frames
		v := 2.5 * t * math.Sin(2*math.Pi*(100+600*t)*float64(i)/rate)
		x = append(x, int16(32767*min(max(v, -1), 1)), int16(32767*v/5))
	}
	return wav(rate, 2, x)
}

func measured(t *testing.T, data []byte, y Style, kinds ...Kind) *Sound {
	t.Helper()
	s, err := decode.Open(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d, err := Measure(context.Background(), s, kinds, y, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.Title, d.Detail = "sweep.wav", "WAV, 16-bit PCM, 8 kHz stereo"
	return d
}

// golden compares a picture with the one in testdata. Machines round differently: a pixel may be off by
// a little, and few may be off by more.
func golden(t *testing.T, name string, got image.Image) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		var b bytes.Buffer
		if err := errors.Join(png.Encode(&b, got), os.WriteFile(path, b.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if got.Bounds() != want.Bounds() {
		t.Fatalf("%s: %v, want %v", name, got.Bounds(), want.Bounds())
	}
	off := 0
	for y := range got.Bounds().Dy() {
		for x := range got.Bounds().Dx() {
			r, g, b, _ := got.At(x, y).RGBA()
			r1, g1, b1, _ := want.At(x, y).RGBA()
			if differs(r, r1) || differs(g, g1) || differs(b, b1) {
				if off++; off == 1 {
					t.Logf("%s: first at %d, %d: %v, want %v", name, x, y, got.At(x, y), want.At(x, y))
				}
			}
		}
	}
	if all := got.Bounds().Dx() * got.Bounds().Dy(); off > all/500 {
		t.Errorf("%s: %d of %d pixels differ", name, off, all)
	}
}

func differs(a, b uint32) bool { return max(a, b)-min(a, b) > 6<<8 }

func TestGoldens(t *testing.T) {
	for _, c := range []struct {
		name  string
		style Style
		kinds []Kind
	}{
		{"waveform.png", Style{Width: 400, Height: 180}, []Kind{Waveform}},
		{"spectrogram.png", Style{Width: 400, Height: 180}, []Kind{Spectrogram}},
		{"loudness.png", Style{Width: 400, Height: 180}, []Kind{Loudness}},
		{"all-dark.png", Style{Width: 480, Height: 420, Dark: true}, Kinds},
		{"bare.png", Style{Width: 120, Height: 40, Dark: true, Bare: true}, []Kind{Waveform}},
	} {
		d := measured(t, sweep(), c.style, c.kinds...)
		d.Loops = []decode.Loop{{Start: 4000, End: 9000}}
		golden(t, c.name, d.Image(c.kinds, c.style))
	}
}

func sheet(t *testing.T) (*Sheet, []*Sound) {
	long := measured(t, sweep(), Style{}, Waveform)
	long.Title = "a name that is far too long for the place that it has.wav"
	mono := measured(t, wav(8000, 1, make([]int16, 4000)), Style{}, Waveform)
	mono.Title = "silence.wav"
	return &Sheet{Title: "ui.data: 3 sounds", Style: Style{Width: 460}, Columns: 2},
		[]*Sound{long, mono, {Title: "bad.ogg", Err: errors.New("damaged")}}
}

func TestSheetGolden(t *testing.T) {
	s, list := sheet(t)
	m, err := s.Image(list)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sheet.png", m)
	if _, err := s.Image(make([]*Sound, 10000)); err == nil {
		t.Error("a sheet of 10,000 sounds was drawn as pixels")
	}
}

// parses fails if the file is not well-formed, and returns its elements' names and its text.
func parses(t *testing.T, svg string) (elements map[string]int, text string) {
	t.Helper()
	elements = map[string]int{}
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		k, err := dec.Token()
		if err == io.EOF {
			return elements, text
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch k := k.(type) {
		case xml.StartElement:
			elements[k.Name.Local]++
		case xml.CharData:
			text += string(k)
		}
	}
}

func TestSVG(t *testing.T) {
	d := measured(t, sweep(), Style{}, Kinds...)
	d.Title = "<svg onload=a()>&\"\x00\xff.wav"
	var b strings.Builder
	if err := d.SVG(&b, Kinds, Style{}); err != nil {
		t.Fatal(err)
	}
	elements, text := parses(t, b.String())
	if elements["svg"] != 1 || elements["image"] != 1 || elements["polygon"] < 4 || elements["polyline"] != 2 {
		t.Errorf("elements: %v", elements)
	}
	if want := "<svg onload=a()>&\"\ufffd\ufffd.wav"; strings.Count(text, want) != 2 {
		t.Errorf("the name is not text: %q", text)
	}
	if regexp.MustCompile(`[", ][+-]?(NaN|Inf)[", ]`).MatchString(b.String()) {
		t.Error("a coordinate is no number")
	}
}

// Names are cut in the middle, as long as there is any room, and what the font lacks is told by its number.
func TestNames(t *testing.T) {
	const name = "characters/dragon/footsteps/stone_heavy_017.wav"
	for width := 0.0; width < 400; width += 3 {
		got := shortenName(name, width)
		if w := textWidth(got); w > width && got != "…" {
			t.Errorf("%g: %q is %g wide", width, got, w)
		}
		head, end, cut := strings.Cut(got, "…")
		if cut != (got != name) || !strings.HasPrefix(name, head) || !strings.HasSuffix(name, end) {
			t.Errorf("%g: %q", width, got)
		}
		if width > 120 && !strings.HasSuffix(got, "_017.wav") {
			t.Errorf("%g: %q has lost its number", width, got)
		}
	}
	for _, c := range []struct{ name, want string }{
		{"Ärger.wav", "Ärger.wav"}, {"звук.ogg", "звук.ogg"}, {"日本.wav", `\u65e5\u672c.wav`}, {"a\U0001f3b5", `a\U0001f3b5`}, {"", ""},
	} {
		l := typeface()
		if got := l.legible(c.name); got != c.want {
			t.Errorf("%q is drawn as %q, want %q", c.name, got, c.want)
		}
	}
	if got := shortenName("日本語の長い名前のとても長い音.wav", 150); textWidth(got) > 150 || !strings.HasSuffix(got, ".wav") {
		t.Errorf("%q, %g wide", got, textWidth(got))
	}
	v := &vectors{}
	v.text(0, 0, 0, "日本.wav", paletteOf(false).text)
	if s := v.b.String(); !strings.Contains(s, ">日本.wav<") || strings.Contains(s, "textLength") {
		t.Errorf("in SVG, which other fonts show, it is %s", s)
	}
}

func TestSheetSVG(t *testing.T) {
	s, list := sheet(t)
	var b strings.Builder
	if err := s.SVG(&b, list); err != nil {
		t.Fatal(err)
	}
	if _, text := parses(t, b.String()); !strings.Contains(text, "damaged") || !strings.Contains(text, "…") {
		t.Errorf("text: %q", text)
	}
}

// Nothing is too small or too odd to be drawn.
func TestOddSizes(t *testing.T) {
	for i, data := range [][]byte{wav(8000, 1, []int16{5}), wav(8000, 2, []int16{1, 2, 3, 4}), wav(384000, 8, make([]int16, 8*1000)), wav(8000, 1, make([]int16, 800))} {
		for _, y := range []Style{{Width: 1, Height: 1}, {Width: 80, Height: 3}, {Width: 1, Height: 1, Bare: true}, {Width: 3, Height: 2000}, {Width: 2000, Height: 3, Bare: true}} {
			d := measured(t, data, y, Kinds...)
			if got := d.Image(Kinds, y).Rect; got.Dx() != y.Width || got.Dy() != y.Height {
				t.Errorf("sound %d: %v for %+v", i, got, y)
			}
			if err := d.SVG(io.Discard, Kinds, y); err != nil {
				t.Error(err)
			}
		}
	}
}

// A sound that is damaged on the way is drawn as far as it goes.
func TestDamaged(t *testing.T) {
	data, err := os.ReadFile("../../../../testdata/sounds/theme.mp3")
	if err != nil {
		t.Fatal(err)
	}
	d := measured(t, data[:40000], Style{}, Kinds...)
	if s := d.seconds(); s < 3 || s > 3.5 {
		t.Errorf("%.2f s were drawn", s)
	}
}

func TestTimeAxis(t *testing.T) {
	for i, c := range []struct {
		seconds float64
		n       int
		step    float64
		label   string // of 3 steps
	}{
		{0.0004, 5, 1e-4, "300 µs"}, {0.05, 10, 0.005, "15 ms"}, {1.25, 12, 0.2, "0.6 s"}, {10, 12, 1, "0:03"}, {200, 10, 30, "1:30"}, {5400, 12, 600, "30:00"}, {86400, 12, 7200, "6:00:00"},
	} {
		step := niceStep(c.seconds, c.n)
		if math.Abs(step-c.step) > 1e-9 {
			t.Errorf("%d: step %g, want %g", i, step, c.step)
		}
		if got := timeLabel(3*step, step); got != c.label {
			t.Errorf("%d: %q, want %q", i, got, c.label)
		}
	}
}
