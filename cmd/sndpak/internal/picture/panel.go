package picture

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/waveform"
)

// panel is the place of one kind on the canvas.
type panel struct {
	canvas
	pal        palette
	bare       bool
	x, y, w, h float64
	seconds    float64
}

func length(x, y float64) float64 { return math.Hypot(x, y) }

// ground fills the place.
func (b *panel) ground() { b.rect(b.x, b.y, b.w, b.h, b.pal.panel) }

// level draws a line across with its number at the left.
func (b *panel) level(y float64, label string) {
	b.rect(b.x, math.Floor(y), b.w, 1, b.pal.grid)
	b.label(y, label)
}

func (b *panel) label(y float64, label string) {
	if !b.bare {
		b.text(b.x-6, math.Floor(y)+4, 1, label, b.pal.dim)
	}
}

// times draws the axis of time below.
func (b *panel) times() {
	if b.bare || b.seconds <= 0 {
		return
	}
	step := niceStep(b.seconds, int(b.w/90))
	for i := 0; float64(i)*step <= b.seconds*1.0001; i++ {
		t := float64(i) * step
		x := math.Floor(b.x + t/b.seconds*(b.w-1))
		b.rect(x, b.y+b.h, 1, 4, b.pal.dim)
		label := timeLabel(t, step)
		if x+textWidth(label)/2 < b.x+b.w+marginRight {
			b.text(x, b.y+b.h+17, 0.5, label, b.pal.dim)
		}
	}
}

// niceStep divides a length of seconds into at most n parts of a round length.
func niceStep(seconds float64, n int) float64 {
	for _, unit := range []float64{1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1} {
		for _, k := range []float64{1, 2, 5} {
			if seconds/(k*unit) <= float64(max(n, 1)) {
				return k * unit
			}
		}
	}
	for _, s := range []float64{10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400} {
		if seconds/s <= float64(max(n, 1)) {
			return s
		}
	}
	return 43200
}

func timeLabel(t, step float64) string {
	switch {
	case step < 1e-3:
		return fmt.Sprintf("%.0f µs", t*1e6)
	case step < 0.1:
		return fmt.Sprintf("%.0f ms", t*1e3)
	case step < 1:
		return fmt.Sprintf("%.1f s", t)
	case t >= 3600:
		return fmt.Sprintf("%d:%02d:%02d", int(t)/3600, int(t)/60%60, int(t)%60)
	}
	return fmt.Sprintf("%d:%02d", int(t+0.5)/60, int(t+0.5)%60)
}

// leastBand is how high a band must be for each channel to have one of its own.
const leastBand = 10

// drawWaveform draws each channel in a band of its own, or all in one where there is no room.
func (d *Sound) drawWaveform(b *panel) {
	b.ground()
	d.tintLoops(b)
	n := max(d.peaks.Channels(), 1)
	if b.h/float64(n) < leastBand {
		n = 1
	}
	each := b.h / float64(n)
	for ch := range n {
		band := *b
		band.y, band.h = math.Floor(b.y+float64(ch)*each), math.Floor(each)
		if n > 1 && ch < n-1 && !b.bare {
			band.h -= 3
		}
		d.drawChannel(&band, ch, n)
	}
	d.drawLoops(b)
	b.times()
}

func (d *Sound) drawChannel(b *panel, ch, of int) {
	mid := b.y + b.h/2
	half := b.h / 2
	if !b.bare {
		if b.h > 80 {
			b.level(mid-half/2, "−6")
			b.level(mid+half/2, "−6")
		}
		b.label(mid, channelName(ch, of))
	}
	columns := d.peaks.Columns(ch, 0, d.frames, int(b.w))
	for other := 1; of == 1 && other < d.peaks.Channels(); other++ {
		join(columns, d.peaks.Columns(other, 0, d.frames, int(b.w)))
	}
	high, low := make([]point, 0, len(columns)), make([]point, 0, len(columns))
	loud, soft := make([]point, 0, len(columns)), make([]point, 0, len(columns))
	for i, c := range columns {
		x := b.x + float64(i) + 0.5
		top, bottom := mid-half*clamp(float64(c.Max)), mid-half*clamp(float64(c.Min))
		if bottom-top < 1 { // a line where there is nearly nothing
			top, bottom = (top+bottom)/2-0.5, (top+bottom)/2+0.5
		}
		high, low = append(high, point{x, top}), append(low, point{x, bottom})
		r := half * clamp(float64(c.RMS))
		loud = append(loud, point{x, max(mid-r, top)})
		soft = append(soft, point{x, min(mid+r, bottom)})
	}
	b.polygon(around(high, low), b.pal.peak)
	b.polygon(around(loud, soft), b.pal.rms)
	for i, c := range columns {
		if c.Clipped {
			b.rect(b.x+float64(i), high[i].y, 1, low[i].y-high[i].y, b.pal.clip)
		}
	}
}

// join takes the columns of another channel in.
func join(columns, more []waveform.Column) {
	for i, m := range more {
		c := &columns[i]
		c.Min, c.Max, c.RMS = min(c.Min, m.Min), max(c.Max, m.Max), max(c.RMS, m.RMS)
		c.Clipped = c.Clipped || m.Clipped
	}
}

func clamp(v float64) float64 { return min(max(v, -1), 1) }

// around is the outline between two lines.
func around(high, low []point) []point {
	all := append([]point(nil), high...)
	for i := len(low) - 1; i >= 0; i-- {
		all = append(all, low[i])
	}
	return all
}

func channelName(ch, of int) string {
	switch {
	case of == 1:
		return "mono"
	case of == 2:
		return [...]string{"L", "R"}[ch]
	}
	return fmt.Sprint(ch + 1)
}

// loops calls draw with the left and the right end of each loop region.
func (d *Sound) loops(b *panel, draw func(from, to float64)) {
	for _, l := range d.Loops {
		if l.Start < l.End && l.Start < d.frames {
			draw(math.Floor(b.x+b.w*float64(l.Start)/float64(d.frames)), math.Floor(b.x+b.w*float64(min(l.End, d.frames))/float64(d.frames)))
		}
	}
}

func (d *Sound) tintLoops(b *panel) {
	d.loops(b, func(from, to float64) { b.rect(from, b.y, to-from, b.h, b.pal.loop) })
}

// drawLoops draws the ends of the loop regions.
func (d *Sound) drawLoops(b *panel) {
	d.loops(b, func(from, to float64) {
		b.rect(from, b.y, 1, b.h, b.pal.edge)
		b.rect(to-1, b.y, 1, b.h, b.pal.edge)
		if !b.bare {
			b.polygon([]point{{from, b.y}, {from + 8, b.y}, {from, b.y + 8}}, b.pal.edge)
			b.polygon([]point{{to, b.y}, {to - 8, b.y}, {to, b.y + 8}}, b.pal.edge)
		}
	})
}

// drawSpectrogram draws from 40 Hz to the top, an octave as high as any other.
func (d *Sound) drawSpectrogram(b *panel) {
	columns, top := d.spectrum.Columns(), d.spectrum.Top()
	low := min(40, top/16)
	w, h := int(b.w), int(b.h)
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		f0 := low * math.Pow(top/low, float64(h-1-y)/float64(h))
		f1 := low * math.Pow(top/low, float64(h-y)/float64(h))
		for x := range w {
			c := columns[x*len(columns)/w]
			m.SetRGBA(x, y, heat(between(c, f0/top, f1/top)))
		}
	}
	b.image(int(b.x), int(b.y), m)
	if !b.bare {
		for f := 100.0; f < top; f *= 10 {
			for _, k := range []float64{1, 2, 5} {
				if hz := f * k; hz < top {
					y := b.y + b.h*(1-math.Log(hz/low)/math.Log(top/low))
					b.rect(b.x-4, math.Floor(y), 4, 1, b.pal.dim)
					b.label(y, hertz(hz))
				}
			}
		}
		b.times()
	}
}

func hertz(f float64) string {
	if f >= 1000 {
		return fmt.Sprintf("%gk", f/1000)
	}
	return fmt.Sprintf("%g", f)
}

// between is the greatest level in dB between two places of a column, told from 0 to 1; of places
// closer than its bins, what lies between those.
func between(c []float64, from, to float64) float64 {
	n := float64(len(c) - 1)
	a, b := from*n, min(to*n, n)
	i := min(int(a), len(c)-2)
	if b-a < 1 {
		t := min(max((a+b)/2-float64(i), 0), 1)
		return level(c[i])*(1-t) + level(c[i+1])*t
	}
	power := c[i]
	for k := i; k <= int(b) && k < len(c); k++ {
		power = max(power, c[k])
	}
	return level(power)
}

// level is a power in dB.
func level(power float64) float64 { return 10 * math.Log10(power+1e-12) }

// heats are the colours from quietest to -90 dB to the loudest at -10.
var heats = []color.NRGBA{rgb(0x07060f), rgb(0x241052), rgb(0x5b1380), rgb(0x98247b), rgb(0xd4445a), rgb(0xf47c3c), rgb(0xfbbf4a), rgb(0xfcf6c0)}

// heat is the colour of a level in dB.
func heat(dB float64) color.RGBA {
	const quiet, loud = -90.0, -10.0
	t := min(max((dB-quiet)/(loud-quiet), 0), 1) * float64(len(heats)-1)
	i := min(int(t), len(heats)-2)
	t -= float64(i)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*t + 0.5) }
	a, b := heats[i], heats[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// The range of a loudness picture in LUFS.
const loudest, quietest = 0.0, -60.0

// drawLoudness draws momentary and short-term loudness, and that of the whole across.
func (d *Sound) drawLoudness(b *panel) {
	b.ground()
	height := func(v float64) float64 {
		return b.y + b.h*min(max((loudest-v)/(loudest-quietest), 0), 1)
	}
	if !b.bare {
		for v := loudest - 12; v > quietest; v -= 12 {
			b.level(height(v), minus(fmt.Sprintf("%.0f", v)))
		}
	}
	l := d.loudness
	curve := func(values []float64) (line []point) {
		for i, v := range values {
			at := float64(i+1) * float64(l.Step) / float64(max(d.frames, 1))
			line = append(line, point{b.x + b.w*min(at, 1), height(v)})
		}
		return line
	}
	b.line(curve(l.Momentary), 1, b.pal.momentary)
	b.line(curve(l.ShortTerm), 2, b.pal.short)
	if whole := l.Integrated(); whole > quietest {
		y := math.Floor(height(whole))
		for x := b.x; x < b.x+b.w; x += 8 {
			b.rect(x, y, min(4, b.x+b.w-x), 1, b.pal.whole)
		}
	}
	if !b.bare {
		b.legend()
	}
	b.times()
}

// legend names the lines of the loudness.
func (b *panel) legend() {
	x := b.x + b.w - 8
	for _, e := range []struct {
		name string
		c    color.NRGBA
	}{{"whole, LUFS", b.pal.whole}, {"short-term 3 s", b.pal.short}, {"momentary 0.4 s", b.pal.momentary}} {
		b.text(x, b.y+b.h-8, 1, e.name, b.pal.dim)
		x -= textWidth(e.name) + 18
		b.rect(math.Floor(x), b.y+b.h-13, 14, 2, e.c)
		x -= 14
	}
}
