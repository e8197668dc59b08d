package mixer

import (
	"fmt"
	"math"
)

// maxRate is the highest rate that sounds are converted from or to.
const maxRate = 384000

// A Resampler changes the rate of a stream by a windowed sinc (see filter): spurious tones lie below
// -100 dB, the sound is not shifted, and n frames become exactly n·out/in, rounded. It belongs to
// one goroutine at a time. Once its buffers have grown to the blocks it is given it allocates
// nothing.
type Resampler struct {
	in, out  int
	channels int
	halves   []*Resampler // stages that go down two to one first, where it is very far to go
	f        *filter      // nil where there is nothing to do
	row      []float32    // an interpolated row

	buf    []float32 // room for a window and a piece
	have   int       // frames in buf
	skip   int       // frame of buf at which the next window starts; may lie behind have
	phase  int       // of f.up: how far behind a frame of input the next frame of output lies
	taken  int64     // frames of input
	given  int64     // frames of output
	result []float32
}

const (
	farDown = 32   // from this ratio on the rate is halved first, which bounds the filter's length
	piece   = 1024 // frames of input at a time
)

// NewResampler returns a Resampler from rate in to rate out, 1 to 384000, for one or two interleaved
// channels. All between the same rates share one table, of 1 MiB at most. The error is ErrValue.
func NewResampler(in, out, channels int) (*Resampler, error) {
	if in < 1 || in > maxRate || out < 1 || out > maxRate || channels < 1 || channels > 2 {
		return nil, fmt.Errorf("%w: from %d Hz to %d Hz in %d channels", ErrValue, in, out, channels)
	}
	r := &Resampler{in: in, out: out, channels: channels}
	last := out
	for ; in > farDown*last; last *= 2 {
		r.halves = append(r.halves, newStage(2, 1, channels))
	}
	if in != out {
		r.prepare(filterFor(in, last))
	}
	return r, nil
}

func newStage(in, out, channels int) *Resampler {
	r := &Resampler{in: in, out: out, channels: channels}
	r.prepare(filterFor(in, out))
	return r
}

func (r *Resampler) prepare(f *filter) {
	r.f = f
	r.row = make([]float32, f.taps)
	r.buf = make([]float32, (f.taps+piece)*r.channels)
	r.Reset()
}

// Reset forgets everything, for a stream that starts anew.
func (r *Resampler) Reset() {
	for _, h := range r.halves {
		h.Reset()
	}
	r.taken, r.given, r.phase, r.skip = 0, 0, 0, 0
	if r.f != nil { // the first frame lies in the middle of the first window
		r.have = r.f.taps/2 - 1
		clear(r.buf[:r.have*r.channels])
	}
}

// Process takes the next interleaved frames and returns the frames that they complete, which stay
// valid until the next call. Half a filter's length of input, 1 to 3 ms at usual rates, is held back
// until what follows it is known.
func (r *Resampler) Process(frames []float32) []float32 {
	r.taken += int64(len(frames) / r.channels)
	if r.f == nil {
		return frames
	}
	for _, h := range r.halves {
		frames = h.Process(frames)
	}
	r.result = r.result[:0]
	r.consume(frames, math.MaxInt64)
	return r.result
}

// Flush returns the frames that are still to come once the stream has ended. Only Reset may follow.
func (r *Resampler) Flush() []float32 {
	if r.f == nil {
		return nil
	}
	r.result = r.result[:0]
	for i, h := range r.halves {
		tail := h.Flush()
		for _, next := range r.halves[i+1:] {
			tail = next.Process(tail)
		}
		r.consume(tail, r.length(r.taken))
	}
	for r.given < r.length(r.taken) {
		r.consume(silence[:piece*r.channels], r.length(r.taken))
	}
	return r.result
}

// length is how many frames n frames become.
func (r *Resampler) length(n int64) int64 {
	in, out := int64(r.in), int64(r.out)
	return n/in*out + (2*(n%in)*out+in)/(2*in)
}

// silence is what follows a stream.
var silence [2 * piece]float32

// consume runs frames through the filter and appends to result what comes out, up to most frames
// given in all.
func (r *Resampler) consume(frames []float32, most int64) {
	for len(frames) > 0 && r.given < most {
		n := copy(r.buf[r.have*r.channels:], frames[:min(piece*r.channels, len(frames))])
		frames = frames[n:]
		r.have += n / r.channels
		r.emit(most)
		gone := min(r.skip, r.have)
		copy(r.buf, r.buf[gone*r.channels:r.have*r.channels])
		r.have -= gone
		r.skip -= gone
	}
}

// emit computes the output frames whose windows are complete.
func (r *Resampler) emit(most int64) {
	f, ch := r.f, r.channels
	step, rest := f.down/f.up, f.down%f.up
	for ; r.skip+f.taps <= r.have && r.given < most; r.given++ {
		window := r.buf[r.skip*ch : (r.skip+f.taps)*ch]
		if ch == 1 {
			r.result = append(r.result, dotMono(r.coefficients(), window))
		} else {
			left, right := dotStereo(r.coefficients(), window)
			r.result = append(r.result, left, right)
		}
		r.skip += step
		if r.phase += rest; r.phase >= f.up {
			r.phase -= f.up
			r.skip++
		}
	}
}

// coefficients is the row for the present phase.
func (r *Resampler) coefficients() []float32 {
	f := r.f
	if f.rows == f.up {
		return f.row(r.phase)
	}
	p := r.phase * f.rows
	a, b := f.row(p/f.up), f.row(p/f.up+1)
	x := float32(p%f.up) / float32(f.up)
	row := r.row[:len(a)]
	for k := range row {
		row[k] = a[k] + float32(x*(b[k]-a[k]))
	}
	return row
}

// Resample returns the samples of p, which is at rate in, at rate out: what a Resampler makes of
// them, bit for bit. Where the rates are equal they are only brought to float32. The error is
// ErrValue.
func Resample(p *PCM, in, out int) ([]float32, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	r, err := NewResampler(in, out, p.Channels)
	if err != nil {
		return nil, err
	}
	frames := r.length(p.Frames())
	if frames > maxFrames {
		return nil, fmt.Errorf("%w: %d frames, at most %d", ErrValue, frames, maxFrames)
	}
	x := make([]float32, 0, int(frames)*p.Channels)
	block := make([]float32, piece*p.Channels)
	for from := int64(0); from < p.Frames(); from += piece {
		x = append(x, r.Process(p.floats(block, from))...)
	}
	return append(x, r.Flush()...), nil
}

// maxFrames bounds what Resample makes: 6 hours at 48 kHz.
const maxFrames = 1 << 30
