// Package picture draws sounds: waveform, spectrogram and loudness over time, and contact sheets of many, as
// pixels and as SVG.
//
// Measure decodes a sound once for all the Kinds that are asked for, and returns what there is to draw;
// Sound.Image and Sound.SVG draw it, and so does a Sheet for many sounds that were measured small. What
// is drawn depends on nothing but the sound and the Style.
package picture

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"strings"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/waveform"
	"github.com/sndpak/sndpak/player/decode"
)

// Kind is one of the pictures of a sound.
type Kind string

// The kinds.
const (
	Waveform    Kind = "waveform"    // peak and RMS of each channel, loops, clipping in red
	Spectrogram Kind = "spectrogram" // frequencies over time
	Loudness    Kind = "loudness"    // EBU R128 momentary and short-term over time
)

// Kinds are all of them, in the order in which they are drawn by default.
var Kinds = []Kind{Waveform, Spectrogram, Loudness}

// Style is how to draw. The zero value is right for a file.
type Style struct {
	Width  int  // pixels; 0 = 1200
	Height int  // pixels; 0 = as high as the kinds ask for
	Dark   bool // light on dark
	Bare   bool // without title, scales and margins, for a few pixels
}

// The room around what is drawn.
const (
	marginLeft  = 56
	marginRight = 16
	header      = 34
	axis        = 22
	gap         = 10
)

// heights are the default heights of the kinds, without axis.
var heights = map[Kind]int{Waveform: 240, Spectrogram: 240, Loudness: 180}

func (y Style) filled(kinds []Kind) Style {
	if y.Width == 0 {
		y.Width = 1200
	}
	if y.Height == 0 {
		y.Height = gap
		if !y.Bare {
			y.Height += header
		}
		for _, k := range kinds {
			y.Height += heights[k] + axis + gap
		}
	}
	return y
}

// columns is how many pixels a sound is wide.
func (y Style) columns() int {
	if y.Bare {
		return max(y.Width, 1)
	}
	return max(y.Width-marginLeft-marginRight, 1)
}

// A Sound is one that was measured.
type Sound struct {
	Title  string // its name
	Detail string // its format for people
	Info   decode.Info
	Loops  []decode.Loop // of Info, unless others are put here
	Err    error         // why it ends where it does, for one that is damaged on the way

	frames   int64
	peaks    *waveform.Peaks
	spectrum *waveform.Spectrum
	loudness *waveform.Loudness
}

// Measure decodes s for the kinds in a style. A sound that is damaged on the way is drawn as far as it
// goes, and Err says so; the error is that of ctx alone, or that of a sound of which nothing came.
func Measure(ctx context.Context, s *decode.Stream, kinds []Kind, y Style, progress func(done, total int64)) (*Sound, error) {
	in := s.Info()
	d := &Sound{Info: in, Loops: in.Loops, peaks: waveform.NewPeaks(in)}
	sinks := []waveform.Sink{d.peaks}
	total := int64(s.Len())
	for _, k := range kinds {
		switch k {
		case Spectrogram:
			d.spectrum = waveform.NewSpectrum(in, total, y.filled(kinds).columns())
			sinks = append(sinks, d.spectrum)
		case Loudness:
			d.loudness = waveform.NewLoudness(in, false)
			sinks = append(sinks, d.loudness)
		}
	}
	err := waveform.Read(ctx, s, func(done int64) {
		if progress != nil {
			progress(done, total)
		}
	}, sinks...)
	d.frames = d.peaks.Frames()
	if ctx.Err() != nil || err != nil && d.frames == 0 {
		return nil, err
	}
	d.Err = err
	return d, nil
}

// Image draws the kinds, one below the other.
func (d *Sound) Image(kinds []Kind, y Style) *image.RGBA {
	y = y.filled(kinds)
	r := newRaster(y.Width, y.Height)
	d.draw(r, kinds, y)
	return r.img
}

// SVG writes the same as SVG.
func (d *Sound) SVG(w io.Writer, kinds []Kind, y Style) error {
	y = y.filled(kinds)
	v := &vectors{}
	d.draw(v, kinds, y)
	return v.writeTo(w, y.Width, y.Height, d.Title)
}

func (d *Sound) draw(c canvas, kinds []Kind, y Style) {
	p := paletteOf(y.Dark)
	c.rect(0, 0, float64(y.Width), float64(y.Height), p.back)
	top, below := float64(0), float64(0)
	if !y.Bare {
		d.title(c, y, p)
		top, below = header, axis
	}
	space, want := float64(y.Height)-top, 0
	for _, k := range kinds {
		want += heights[k]
	}
	if !y.Bare {
		space -= float64(len(kinds)) * (axis + gap)
	}
	for _, k := range kinds {
		h := math.Floor(max(space*float64(heights[k])/float64(want), 1))
		b := panel{canvas: c, pal: p, bare: y.Bare, x: marginLeft, y: top, w: float64(y.columns()), h: h, seconds: d.seconds()}
		if y.Bare {
			b.x = 0
		}
		d.drawKind(k, &b)
		top += h + below
		if !y.Bare {
			top += gap
		}
	}
}

func (d *Sound) drawKind(k Kind, b *panel) {
	switch k {
	case Waveform:
		d.drawWaveform(b)
	case Spectrogram:
		d.drawSpectrogram(b)
	case Loudness:
		d.drawLoudness(b)
	}
}

// seconds is the sound's length.
func (d *Sound) seconds() float64 { return float64(d.frames) / float64(max(d.Info.Rate, 1)) }

// title writes what the sound is, and to the right what it holds.
func (d *Sound) title(c canvas, y Style, p palette) {
	facts := d.facts()
	right := float64(y.Width - marginRight)
	c.text(right, 22, 1, facts, p.dim)
	room := right - marginLeft - textWidth(facts) - 20
	name := shortenName(d.Title, room)
	c.text(marginLeft, 22, 0, name, p.text)
	if room -= textWidth(name) + 14; room > 60 {
		c.text(marginLeft+textWidth(name)+14, 22, 0, shorten(d.Detail, room), p.dim)
	}
}

// facts are the numbers of a sound in a line.
func (d *Sound) facts() string {
	peak, clipped := float32(0), false
	for ch := range d.peaks.Channels() {
		for _, c := range d.peaks.Columns(ch, 0, d.frames, 1) {
			peak, clipped = max(peak, c.Max, -c.Min), clipped || c.Clipped
		}
	}
	list := []string{"peak " + decibels(float64(peak))}
	if d.loudness != nil {
		list = append(list, lufs(d.loudness.Integrated()))
	}
	if clipped {
		list = append(list, "clipped")
	}
	if d.Err != nil {
		list = append(list, "damaged")
	}
	return strings.Join(list, ", ")
}

func decibels(v float64) string {
	if v <= 0 {
		return "silence"
	}
	return minus(fmt.Sprintf("%.1f dBFS", math.Round(200*math.Log10(v))/10+0))
}

func lufs(v float64) string {
	if math.IsInf(v, -1) {
		return "silence"
	}
	return minus(fmt.Sprintf("%.1f LUFS", v))
}

// minus writes the sign as it is set in print.
func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

// palette is the colours of a picture.
type palette struct {
	back, panel, grid, text, dim color.NRGBA
	peak, rms, clip, loop, edge  color.NRGBA
	momentary, short, whole      color.NRGBA
}

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

func faint(c color.NRGBA, alpha uint8) color.NRGBA { c.A = alpha; return c }

func paletteOf(dark bool) palette {
	if dark {
		return palette{
			back: rgb(0x14181d), panel: rgb(0x1b2128), grid: rgb(0x2f3842), text: rgb(0xe8edf2), dim: rgb(0x93a1af),
			peak: rgb(0x3d7fb5), rms: rgb(0x8cc8f5), clip: rgb(0xff5147), loop: faint(rgb(0xf0b840), 34), edge: rgb(0xf0b840),
			momentary: rgb(0x5b7f9f), short: rgb(0x8cc8f5), whole: rgb(0xf0b840),
		}
	}
	return palette{
		back: rgb(0xffffff), panel: rgb(0xf4f6f8), grid: rgb(0xdbe1e7), text: rgb(0x1d252d), dim: rgb(0x64717e),
		peak: rgb(0x7fb2dd), rms: rgb(0x1f66a3), clip: rgb(0xd81e1e), loop: faint(rgb(0xe09a00), 38), edge: rgb(0xb87700),
		momentary: rgb(0x9dbbd4), short: rgb(0x1f66a3), whole: rgb(0xb87700),
	}
}

// Heading is the title of a sound in one line of text.
func (d *Sound) Heading() string {
	return fmt.Sprintf("%s  %s  %s  %s", d.Title, timeLabel(d.seconds(), 1), d.Detail, d.facts())
}

// Ground is the colour behind the waveform.
func Ground(dark bool) color.Color { return paletteOf(dark).panel }
