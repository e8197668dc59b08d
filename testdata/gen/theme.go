package main

import "math"

// themeFrames is the length of the theme: four bars of 4/4, ten seconds.
const themeFrames = 441000

const themeRate = 44100

// bars are the chords, as MIDI notes: Am9, Fmaj9, Cmaj7 and G6.
var bars = [4]struct {
	root  int
	chord [4]int
}{
	{45, [4]int{57, 60, 64, 71}},
	{41, [4]int{57, 60, 64, 67}},
	{48, [4]int{55, 59, 64, 67}},
	{43, [4]int{55, 59, 62, 64}},
}

// melody gives the bars' notes on their eight eighths, 0 being none.
var melody = [4][8]int{
	{76, 0, 0, 79, 81, 0, 79, 76},
	{72, 0, 0, 74, 76, 0, 69, 0},
	{79, 0, 0, 76, 74, 0, 76, 72},
	{74, 0, 0, 71, 74, 0, 67, 0},
}

// theme is a short tune for plucked strings over a bass and a pad. All its tails run over the end
// into the beginning.
func theme() *track {
	t := newTrack(themeRate, 2, themeFrames, true)
	for n, bar := range bars {
		start := float64(4*n) * beat
		for k, note := range bar.chord {
			t.add(start, 0.035, 0.5*float64(k)-0.75, pad(note, -3))
			t.add(start, 0.035, 0.75-0.5*float64(k), pad(note, 4))
		}
		for eighth := range 8 {
			t.play(n, eighth, start+float64(eighth)*beat/2)
		}
	}
	t.room(0.22, 1.3)
	return t.master(1.3)
}

// play adds what is struck on one eighth of a bar.
func (t *track) play(bar, eighth int, at float64) {
	seed := uint64(100 + 8*bar + eighth)
	order := [8]int{0, 2, 1, 3, 2, 1, 3, 2}
	accent := [8]float64{1, 0.7, 0.85, 0.7, 0.95, 0.7, 0.8, 0.7}
	inner := pluck(bars[bar].chord[order[eighth]], 1.6, 0.35, seed)
	t.add(at+0.006, 0.3*accent[eighth], 0.45-0.3*float64(eighth%4), inner)
	if note := melody[bar][eighth]; note != 0 {
		t.add(at, 0.5*accent[eighth], 0.1, pluck(note, 2.4, 0.75, seed+1000))
	}
	if up := [8]int{0, -1, -1, 0, 7, -1, -1, 12}[eighth]; up >= 0 {
		t.add(at, 0.27*accent[eighth], 0, bass(bars[bar].root+up))
	}
}

// pitch is the frequency of a MIDI note in equal temperament, A4 (69) being 440 Hz.
func pitch(note int) float64 { return 440 * math.Pow(2, float64(note-69)/12) }

// pluck is a string after Karplus and Strong, tuned by an all-pass (Jaffe and Smith, Computer Music
// Journal 7/2, 1983). t60 is the seconds in which it fades by 60 dB, bright in (0, 1] how hard it
// is struck.
func pluck(note int, t60, bright float64, seed uint64) []float64 {
	period := themeRate/pitch(note) - 0.5 // the mean of two samples is half a sample late
	whole, part := math.Modf(period)
	tune, keep := (1-part)/(1+part), math.Pow(10, -3*period/(t60*themeRate))
	line := strike(int(whole), bright, seed)
	last, in, out, i := 0.0, 0.0, 0.0, 0
	return render(themeRate, t60, func(t float64) float64 {
		x := line[i]
		mean := keep * (x + last) / 2
		out = tune*(mean-out) + in
		last, in, line[i] = x, mean, out
		i = (i + 1) % len(line)
		return x * min(1, t/0.0015) * min(1, (t60-t)/0.1)
	})
}

// strike is the shape of a string as it is let go: dull noise, plucked at a fifth of its length,
// without DC, and equally strong for all notes.
func strike(frames int, bright float64, seed uint64) []float64 {
	rough, low := noise(seed), 0.0
	raw, out := make([]float64, frames), make([]float64, frames)
	for i := range 2 * frames { // the first round settles the filter
		low += bright * (rough() - low)
		raw[i%frames] = low
	}
	power := 0.0
	for i := range out {
		out[i] = raw[i] - 0.8*raw[(i+frames-frames/5)%frames]
	}
	mean := average(out)
	for _, x := range out {
		power += (x - mean) * (x - mean) / float64(frames)
	}
	for i := range out {
		out[i] = (out[i] - mean) * 0.35 / math.Sqrt(power)
	}
	return out
}

// bass is a soft note of three harmonics; the higher ones fade first.
func bass(note int) []float64 {
	w := 2 * math.Pi * pitch(note)
	return render(themeRate, 1.4, func(t float64) float64 {
		x := math.Sin(w*t) + 0.5*math.Sin(2*w*t)*math.Exp(-t/0.3) + 0.25*math.Sin(3*w*t)*math.Exp(-t/0.12)
		return x * math.Exp(-t/0.5) * min(1, t/0.006) * min(1, (1.4-t)/0.2)
	})
}

// pad is a voice of five harmonics with a slow vibrato, off the note by some cents, that swells
// over its bar and dies away in the next.
func pad(note int, cents float64) []float64 {
	w, phase := 2*math.Pi*pitch(note)*math.Pow(2, cents/1200)/themeRate, 0.0
	return render(themeRate, 4*beat+0.7, func(t float64) float64 {
		phase += w * (1 + 0.0015*math.Sin(2*math.Pi*4.1*t+cents))
		x := 0.0
		for k := 1.0; k <= 5; k++ {
			x += math.Sin(k*phase) / math.Pow(k, 1.6)
		}
		rise, fall := math.Sin(math.Pi/2*min(1, t/0.7)), math.Sin(math.Pi/2*min(1, (4*beat+0.7-t)/0.7))
		return x * rise * rise * fall * fall
	})
}
