package mixer

import (
	"math"
	"sync"
)

// Interpolation is how a voice whose pitch is not 1 finds what lies between the frames of its sound.
type Interpolation uint8

// Cubic takes four frames and a few nanoseconds. It dulls the treble, leaves images of it, and what a
// pitch above 1 takes beyond half of the mixer's rate it folds back. Sinc takes 24 frames, times the
// pitch where that is above 1, and several times as long. Nothing above -80 dB folds back below 19 kHz
// at 48 kHz; beyond pitch 8 it filters as at 8.
const (
	Cubic Interpolation = iota
	Sinc
)

// The filters of Sinc are each for a range of pitches, a sixth of an octave wide: the cut-off lies at
// half of the mixer's rate for a sound that goes by at the top of the range. For the range up to 1 it
// is at half of the sound's own, so that at a whole frame it gives that frame, bit for bit. The
// transition bands lie astride of it, as those of a filter for rates do: from 0.79 to 1.21 of it.
//
// Weights are interpolated linearly. Rows that are 1/finePlaces of a frame apart err by 1/8·(ω/finePlaces)²
// at most: -87 dB at 19 kHz in 48, -98 dB at 10.
const (
	fineTaps    = 24 // of the range up to 1
	fineDB      = 80
	finePlaces  = 128 // places of the range up to 1 that have weights of their own
	fineOctaves = 3   // that have ranges
	fineRanges  = 6   // of an octave
	fineHalf    = fineTaps << fineOctaves / 2
)

// A fineFilter has for each place a row of weights, and behind it a row of what leads to the next one.
type fineFilter struct {
	top        int64 // the largest step of the range
	taps, rows int
	table      []float32
}

// fineBank is all of them, the range up to 1 first: half a megabyte, made when it is first asked for.
var fineBank = sync.OnceValue(func() (bank []fineFilter) {
	for i := range fineOctaves*fineRanges + 1 {
		bank = append(bank, newFineFilter(math.Exp2(float64(i)/fineRanges)))
	}
	return bank
})

func newFineFilter(pitch float64) fineFilter {
	half := fineTaps / 2 * pitch
	f := &filter{taps: (2*int(math.Ceil(half)) + 7) &^ 7, rows: int(math.Ceil(finePlaces / pitch))}
	f.table = make([]float32, (f.rows+1)*f.taps)
	f.fill(1/pitch, half, kaiserWindow(fineDB))
	fine := fineFilter{int64(math.Round(pitch * one)), f.taps, f.rows, make([]float32, 0, 2*f.rows*f.taps)}
	for r := range f.rows {
		row, next := f.row(r), f.row(r+1)
		fine.table = append(fine.table, row...)
		for k := range row {
			fine.table = append(fine.table, next[k]-row[k])
		}
	}
	for k, w := range fine.table[:f.taps] {
		if math.Abs(float64(w)) < 1e-12 { // a zero of the sinc
			fine.table[k] = 0
		}
	}
	return fine
}

// fineFor is the filter for a speed. It stays the same while the speed moves, so that blocks that end
// meanwhile change nothing.
func fineFor(bank []fineFilter, s *speed) *fineFilter {
	top := max(s.to, s.step-s.by*int64(s.k))
	i := 0
	for i < len(bank)-1 && bank[i].top < top {
		i++
	}
	return &bank[i]
}

// run makes frames of the stretch x of a sound, whose first taps/2-1 frames lie before the one at or
// behind which p begins.
func (f *fineFilter) run(out, x []float32, ch int, p stride) {
	for ; len(out) >= ch; out = out[ch:] {
		place := uint64(uint32(p.frac)) * uint64(f.rows)
		row := f.table[int(place>>32)*2*f.taps:][:2*f.taps]
		t := float32(int64(uint32(place))) * (1.0 / one)
		if from := int(p.frac>>32) * ch; ch == 1 {
			out[0] = blendMono(row[:f.taps], row[f.taps:], x[from:from+f.taps], t)
		} else {
			out[0], out[1] = blendStereo(row[:f.taps], row[f.taps:], x[from:from+2*f.taps], t)
		}
		p.frac += p.step
		p.step += p.by
	}
}

// blendMono is the sum of (c[k]+t·d[k])·x[k]; their length is a multiple of 8. As in dotMono four sums
// run side by side.
func blendMono(c, d, x []float32, t float32) float32 {
	var s0, s1, s2, s3 float32
	for len(c) >= 8 && len(d) >= 8 && len(x) >= 8 {
		k, l, y := (*[8]float32)(c), (*[8]float32)(d), (*[8]float32)(x)
		s0 += float32((k[0] + float32(t*l[0])) * y[0])
		s1 += float32((k[1] + float32(t*l[1])) * y[1])
		s2 += float32((k[2] + float32(t*l[2])) * y[2])
		s3 += float32((k[3] + float32(t*l[3])) * y[3])
		s0 += float32((k[4] + float32(t*l[4])) * y[4])
		s1 += float32((k[5] + float32(t*l[5])) * y[5])
		s2 += float32((k[6] + float32(t*l[6])) * y[6])
		s3 += float32((k[7] + float32(t*l[7])) * y[7])
		c, d, x = c[8:], d[8:], x[8:]
	}
	return s0 + s1 + s2 + s3
}

// blendStereo is blendMono of either side of interleaved frames x.
func blendStereo(c, d, x []float32, t float32) (left, right float32) {
	var l0, l1, r0, r1 float32
	for len(c) >= 4 && len(d) >= 4 && len(x) >= 8 {
		k, l, y := (*[4]float32)(c), (*[4]float32)(d), (*[8]float32)(x)
		w0, w1 := k[0]+float32(t*l[0]), k[1]+float32(t*l[1])
		l0 += float32(w0 * y[0])
		r0 += float32(w0 * y[1])
		l1 += float32(w1 * y[2])
		r1 += float32(w1 * y[3])
		w0, w1 = k[2]+float32(t*l[2]), k[3]+float32(t*l[3])
		l0 += float32(w0 * y[4])
		r0 += float32(w0 * y[5])
		l1 += float32(w1 * y[6])
		r1 += float32(w1 * y[7])
		c, d, x = c[4:], d[4:], x[8:]
	}
	return l0 + l1, r0 + r1
}

// bendFine makes the next frames of a PCM from c, a copy, as bend does.
func bendFine[S sample](m *Mixer, v *voice, all []S, c cursor, out []float32) (got int) {
	ch, s, f := v.samples(1), v.speed, fineFor(v.fine, &v.speed)
	for n := len(out) / ch; got < n && c.pos < v.frames; {
		k := v.reach(c, s, s.within(n-got, len(m.whole)/ch-f.taps-1))
		way := s.sum(k)
		x := m.whole[:(int((c.frac+way)/one)+f.taps)*ch]
		gather(v, all, c, f.taps/2-1, x)
		if v.pcm.dirty() {
			mend(x)
		}
		f.run(out[got*ch:(got+k)*ch], x, ch, stride{c.frac, s.step + s.by, s.by})
		v.slide(&c, way)
		s.step += s.by * int64(k)
		got += k
	}
	return got
}

// gather fills x with the frames around c, a copy: so many that are played before it, and on from there. Beyond both ends of the sound there is silence.
func gather[S sample](v *voice, all []S, c cursor, before int, x []float32) {
	ch := v.samples(1)
	x, past := x[before*ch:], x[:before*ch]
	for pos, laps := c.pos, c.seam.laps; len(past) > 0; {
		start := int64(0)
		if laps > 0 {
			start = c.seam.start
		}
		k := int(min(int64(len(past)/ch), pos-start)) * ch
		widen(past[len(past)-k:], all[int(pos)*ch-k:])
		past = past[:len(past)-k]
		if laps == 0 {
			clear(past)
			break
		}
		pos = c.seam.end
		laps--
	}
	for len(x) > 0 && c.pos < v.frames {
		k := min(int64(len(x)/ch), v.limit(&c)-c.pos)
		widen(x[:int(k)*ch], all[int(c.pos)*ch:])
		v.step(&c, k)
		x = x[int(k)*ch:]
	}
	clear(x)
}

func widen[S sample](dst []float32, src []S) {
	src = src[:len(dst)]
	for i, s := range src {
		dst[i] = float32(s)
	}
}

// A fineWindow is the frames of a feed around the place, as many as the longest filter takes.
type fineWindow [2 * 2 * fineHalf]float32

// push takes frames that are played as they are: they come to lie before the place.
func (w *fineWindow) push(x []float32, ch int) {
	past := w[:(fineHalf-1)*ch]
	if over := len(x) - len(past); over > 0 {
		x = x[over:]
	}
	copy(past, past[len(x):])
	copy(past[len(past)-len(x):], x)
}

// bendFeedFine makes the voice's next n frames from a feed, as bendFeed does, which is read fineHalf
// frames ahead of the place.
func (m *Mixer) bendFeedFine(v *voice, n int) []float32 {
	f, s, ch := &v.flow, v.speed, v.samples(1)
	const size = 2 * fineHalf
	w := v.window[:size*ch]
	if !f.bent {
		f.bent, f.whole = true, m.draw(v, fineHalf+1)
		ahead := w[(fineHalf-1)*ch:]
		clear(ahead[copy(ahead, m.input[:f.whole*ch]):])
	}
	need := int((v.at.frac + s.sum(n)) / one)
	x := m.whole[:(size+need)*ch]
	fresh := x[copy(x, w):]
	if need > 0 && !f.over {
		got := m.draw(v, need)
		f.whole += got
		fresh = fresh[copy(fresh, m.input[:got*ch]):]
	}
	clear(fresh)
	n = s.inside(v.at.frac, n, f.whole)
	filter := fineFor(v.fine, &v.speed)
	filter.run(m.bent[:n*ch], x[(fineHalf-filter.taps/2)*ch:], ch, stride{v.at.frac, s.step + s.by, s.by})
	way := v.at.frac + s.sum(n)
	v.at.frac = way % one
	f.whole -= int(way / one)
	copy(w, x[int(way/one)*ch:])
	v.over = f.whole <= 0
	return m.bent[:n*ch]
}

// inside is how many of the next n frames from a place lie within so many frames of the sound.
func (s *speed) inside(frac int64, n, frames int) int {
	for n > 0 && frac+s.sum(n-1) >= int64(frames)*one {
		n--
	}
	return n
}
