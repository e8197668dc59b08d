package decode

import (
	"context"
	"fmt"
	"io"
	"math"
)

// What Inspect calls silent, clipped, off centre, and a click.
const (
	silence    = 1e-4 // -80 dB of full scale
	clipRun    = 3    // samples in a row at full scale
	offCentre  = 0.01 // mean of all samples
	seamWindow = 64   // frames on each side that tell how large steps are around a seam
	seamRatio  = 4.0  // a seam's step to the largest one around it
	seamLeast  = 0.02 // and in terms of full scale
)

// Report is what a sound really holds.
type Report struct {
	Info        Info      // with the warnings of the whole sound
	Claimed     int64     // frames that the file told when it was opened, -1 for none
	Frames      int64     // frames that came out
	Peak        float64   // greatest magnitude; 1 is full scale
	Clipped     int64     // samples that stand at full scale, three or more in a row in one channel
	DC          []float64 // mean of each channel
	LeadSilence int64     // frames below -80 dB before the first louder one; Frames where all are
	TailSilence int64     // and behind the last louder one
	Seams       []Seam    // of each loop
	Findings    []string  // what of this a sound designer should hear of, one line each
}

// Seam is the jump from the last frame of a loop back to its first.
type Seam struct {
	Loop   Loop
	Step   float64 // greatest difference in a channel, in terms of full scale
	Around float64 // greatest difference of two frames in a row near the ends of the loop
	Click  bool    // Step is so much more that it is likely to be heard
}

// Inspect decodes all of s, from its start, and reports; a checksum in the file that does not match the
// samples is among Info.Lost. On an error, which is that of the decoder or of the context, the
// report tells of what came before. s stands at its end afterwards.
//
// Each of also is shown every block on the way, interleaved frames of as many channels as Info tells, so
// that more can be measured without decoding twice; the block is only lent.
func Inspect(ctx context.Context, s *Stream, also ...func(block []float32)) (Report, error) {
	in := s.Info()
	r := Report{Claimed: in.Frames}
	if err := s.Seek(0); err != nil {
		return r, err
	}
	if err := s.startSum(); err != nil {
		return r, err
	}
	m := newMeter(in)
	m.also = also
	err := m.run(ctx, s)
	r.Info = s.Info()
	m.report(&r)
	return r, err
}

// meter adds up blocks of frames.
type meter struct {
	channels int
	full     float32 // what counts as full scale
	frames   int64
	peak     float32
	clipped  int64
	run3     []int64 // of each channel: samples at full scale in a row
	sum      []float64
	first    int64 // first and last frame that is no silence
	last     int64
	prev     []float32 // the frame before the block
	seams    []seamMeter
	also     []func(block []float32)
}

// seamMeter watches the ends of one loop.
type seamMeter struct {
	loop        Loop
	start, tail []float32 // its first and its last frame
	around      float32
}

func newMeter(in Info) *meter {
	m := &meter{channels: in.Channels, full: 32767.0 / 32768, first: -1, last: -1}
	if in.Bits > 0 && in.Bits < 16 {
		m.full = 1 - 1/float32(int(1)<<(in.Bits-1))
	}
	m.run3, m.sum = make([]int64, in.Channels), make([]float64, in.Channels)
	for _, l := range in.Loops {
		m.seams = append(m.seams, seamMeter{loop: l})
	}
	return m
}

func (m *meter) run(ctx context.Context, s *Stream) error {
	block := make([]float32, 2048*m.channels)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := s.ReadFloat32(block)
		m.add(block[:n*m.channels])
		for _, show := range m.also {
			show(block[:n*m.channels])
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (m *meter) add(block []float32) {
	for c := range m.channels {
		m.addChannel(block, c)
	}
	n := int64(len(block) / m.channels)
	for i := range m.seams {
		m.seams[i].add(block, m.frames, m.channels, m.prev)
	}
	if n > 0 {
		m.prev = append(m.prev[:0], block[len(block)-m.channels:]...)
	}
	m.frames += n
}

func (m *meter) addChannel(block []float32, c int) {
	sum, row := 0.0, m.run3[c]
	for i := c; i < len(block); i += m.channels {
		v := block[i]
		sum += float64(v)
		v = max(v, -v)
		m.peak = max(m.peak, v)
		if v > silence {
			m.loud(m.frames + int64(i/m.channels))
		}
		if v < m.full {
			row = 0
			continue
		}
		if row++; row == clipRun {
			m.clipped += clipRun
		} else if row > clipRun {
			m.clipped++
		}
	}
	m.sum[c] += sum
	m.run3[c] = row
}

// loud notes that frame f is no silence.
func (m *meter) loud(f int64) {
	if m.first < 0 || f < m.first {
		m.first = f
	}
	m.last = max(m.last, f)
}

// add looks at the frames of a block that lie near the ends of the loop.
func (s *seamMeter) add(block []float32, at int64, ch int, prev []float32) {
	n := int64(len(block) / ch)
	frame := func(f int64) []float32 {
		if f < at {
			return prev
		}
		return block[(f-at)*int64(ch) : (f-at+1)*int64(ch)]
	}
	for _, w := range [][2]int64{
		{s.loop.Start, min(s.loop.Start+seamWindow, s.loop.End)},
		{max(s.loop.Start, s.loop.End-seamWindow), s.loop.End},
	} {
		for f := max(w[0], at); f < min(w[1], at+n); f++ {
			if f > s.loop.Start && f > 0 {
				s.around = max(s.around, step(frame(f-1), frame(f)))
			}
			if f == s.loop.Start {
				s.start = append([]float32(nil), frame(f)...)
			}
			if f == s.loop.End-1 {
				s.tail = append([]float32(nil), frame(f)...)
			}
		}
	}
}

// step is the greatest difference in a channel.
func step(a, b []float32) (d float32) {
	for i := range min(len(a), len(b)) {
		d = max(d, a[i]-b[i], b[i]-a[i])
	}
	return d
}

func (m *meter) report(r *Report) {
	r.Frames, r.Peak, r.Clipped = m.frames, float64(m.peak), m.clipped
	r.LeadSilence, r.TailSilence = m.frames, m.frames
	if m.first >= 0 {
		r.LeadSilence, r.TailSilence = m.first, m.frames-1-m.last
	}
	for _, s := range m.sum {
		r.DC = append(r.DC, s/float64(max(m.frames, 1)))
	}
	for _, s := range m.seams {
		r.Seams = append(r.Seams, s.seam())
	}
	r.find()
}

func (s *seamMeter) seam() Seam {
	v := Seam{Loop: s.loop, Step: float64(step(s.tail, s.start)), Around: float64(s.around)}
	v.Click = v.Step > seamLeast && v.Step > seamRatio*v.Around
	return v
}

func (r *Report) say(format string, a ...any) {
	r.Findings = append(r.Findings, fmt.Sprintf(format, a...))
}

// find fills in Findings.
func (r *Report) find() {
	if r.Claimed >= 0 && r.Frames != r.Claimed {
		r.say("%d frames, %d were claimed", r.Frames, r.Claimed)
	}
	if r.Frames == 0 {
		r.say("no sound: 0 frames")
		return
	}
	if r.LeadSilence == r.Frames {
		r.say("silent throughout")
	}
	if r.Peak > 1 {
		r.say("peak %+.1f dB, beyond full scale", 20*math.Log10(r.Peak))
	}
	if r.Clipped > 0 {
		r.say("%d samples are clipped", r.Clipped)
	}
	for c, dc := range r.DC {
		if math.Abs(dc) > offCentre {
			r.say("channel %d is off centre by %+.3f", c, dc)
		}
	}
	for _, s := range r.Seams {
		if s.Click {
			r.say("the loop from %d to %d jumps by %.3f at its seam, steps around it are at most %.3f", s.Loop.Start, s.Loop.End, s.Step, s.Around)
		}
	}
}
