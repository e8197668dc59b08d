package waveform

import (
	"math"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/player/mixer"
)

// Loudness measures how loud a sound is over time, as EBU R128 has it, by the mixer's own meter. One
// channel counts on both sides, as it is heard, and more than two as they are folded to stereo.
type Loudness struct {
	Step      int       // frames between two points: 100 ms, and more of a long sound
	Momentary []float64 // LUFS over 400 ms; silence is math.Inf(-1)
	ShortTerm []float64 // LUFS over 3 s

	meter *mixer.Loudness
	fold  func(block []float32) []float32
	until int // frames until the next point
}

const mostPoints = 1 << 14

// NewLoudness returns a Loudness; the true peak is found if it is asked for.
func NewLoudness(in decode.Info, truePeak bool) *Loudness {
	step := max(in.Rate/10, 1)
	return &Loudness{Step: step, fold: in.Fold(), until: step, meter: mixer.NewLoudness(in.Rate, truePeak)}
}

// Add implements Sink.
func (l *Loudness) Add(block []float32) {
	block = l.fold(block)
	for len(block) > 0 {
		n := min(len(block)/2, l.until)
		l.meter.Add(block[:2*n])
		block = block[2*n:]
		if l.until -= n; l.until > 0 {
			continue
		}
		l.point()
	}
}

// point notes what the meter shows; of too many points each second one goes.
func (l *Loudness) point() {
	m := l.meter.Meter()
	l.Momentary, l.ShortTerm = append(l.Momentary, m.Momentary), append(l.ShortTerm, m.ShortTerm)
	if len(l.Momentary) == mostPoints {
		for i := range mostPoints / 2 {
			l.Momentary[i], l.ShortTerm[i] = l.Momentary[2*i+1], l.ShortTerm[2*i+1]
		}
		l.Momentary, l.ShortTerm = l.Momentary[:mostPoints/2], l.ShortTerm[:mostPoints/2]
		l.Step *= 2
	}
	l.until = l.Step
}

// Integrated is the loudness of the whole sound in LUFS, gated; of one shorter than 400 ms that of
// all there is. Silence is math.Inf(-1).
func (l *Loudness) Integrated() float64 {
	if m := l.meter.Meter(); !math.IsInf(m.Integrated, -1) {
		return m.Integrated
	}
	return l.meter.Short()
}

// TruePeak is the highest point of the wave, 1 being full scale (BS.1770-5, annex 2). Ask once, behind the
// end.
func (l *Loudness) TruePeak() float64 {
	l.meter.Add(make([]float32, 64)) // what lies between the last frames
	return l.meter.TruePeak()
}
