// Package waveform measures what the picture of a sound shows: the peaks and the RMS of each column, its
// spectrogram and its loudness over time, all in one pass through its decoder.
//
// Read comes first: it decodes a stream once and shows each block to as many Sinks as are given. A
// Peaks is the sink behind a waveform; it keeps a bounded number of fine cells, so that Columns
// answers at any width and for any part of the sound without decoding again:
//
//	peaks := waveform.NewPeaks(s.Info())
//	err := waveform.Read(ctx, s, nil, peaks)
//	for _, c := range peaks.Columns(0, 0, peaks.Frames(), 80) { ... }
//
// Drawing is left out: see package picture, and the console.
package waveform

import (
	"context"
	"io"
	"math"

	"github.com/sndpak/sndpak/player/decode"
)

// A Sink takes a sound in, block by block.
type Sink interface {
	// Add takes the next frames, interleaved, as many channels as the stream's Info tells. The block
	// is only lent.
	Add(block []float32)
}

// Read decodes s from its start to its end and shows each block to the sinks. progress, if not nil,
// is told how many frames have been read. The error is the decoder's or that of ctx; the sinks have
// what came before it.
func Read(ctx context.Context, s *decode.Stream, progress func(frames int64), sinks ...Sink) error {
	if err := s.Seek(0); err != nil {
		return err
	}
	channels := s.Info().Channels
	block := make([]float32, 4096*channels)
	for done := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := s.ReadFloat32(block)
		for _, k := range sinks {
			k.Add(block[:n*channels])
		}
		if done += int64(n); progress != nil && n > 0 {
			progress(done)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Column is what lies under one column of a waveform, in one channel; full scale is 1 and -1.
type Column struct {
	Min, Max float32
	RMS      float32
	Clipped  bool // three or more samples in a row stand at full scale
}

// Peaks measures columns.
type Peaks struct {
	channels int
	full     float32 // what counts as full scale
	per      int     // frames of a cell: a power of two
	in       int     // frames in the cell under way
	frames   int64
	cells    []cell // whole ones, and then the one under way; channels beside each other
	rows     []int  // of each channel: samples at full scale in a row
}

// cell is the finest that is remembered.
type cell struct {
	min, max float32
	square   float32 // sum
	clipped  bool
}

const (
	mostCells = 1 << 14 // of a channel: two to four for each column of the widest screen
	clipRun   = 3       // samples in a row at full scale, as decode.Inspect has it
)

// NewPeaks returns Peaks of a sound.
func NewPeaks(in decode.Info) *Peaks {
	p := &Peaks{channels: in.Channels, full: 32767.0 / 32768, per: 1, rows: make([]int, in.Channels)}
	if in.Bits > 0 && in.Bits < 16 {
		p.full = 1 - 1/float32(int(1)<<(in.Bits-1))
	}
	return p
}

// Channels is how many there are.
func (p *Peaks) Channels() int { return p.channels }

// Frames is how many were added.
func (p *Peaks) Frames() int64 { return p.frames }

// Add implements Sink.
func (p *Peaks) Add(block []float32) {
	for len(block) >= p.channels {
		if p.in == 0 {
			p.open()
		}
		n := min(len(block)/p.channels, p.per-p.in)
		part := block[:n*p.channels]
		at := len(p.cells) - p.channels
		for c := range p.channels {
			p.measure(&p.cells[at+c], part, c)
		}
		p.frames += int64(n)
		if p.in += n; p.in == p.per {
			p.in = 0
		}
		block = block[len(part):]
	}
}

// open begins a cell; when there are too many, each two become one.
func (p *Peaks) open() {
	ch := p.channels
	if len(p.cells) == mostCells*ch {
		half := p.cells[:len(p.cells)/2]
		for i := range half {
			from := i/ch*2*ch + i%ch
			half[i] = p.cells[from]
			half[i].add(p.cells[from+ch], 1)
		}
		p.cells, p.per = half, 2*p.per
	}
	for range ch {
		p.cells = append(p.cells, cell{min: 2, max: -2})
	}
}

// measure takes one channel of a part of a block into a cell.
func (p *Peaks) measure(to *cell, part []float32, channel int) {
	low, high, square, row := to.min, to.max, float32(0), p.rows[channel]
	if to.min > to.max { // nothing yet
		low, high = part[channel], part[channel]
	}
	for i := channel; i < len(part); i += p.channels {
		v := part[i]
		low, high = min(low, v), max(high, v)
		square += v * v
		if v < p.full && v > -p.full {
			row = 0
		} else if row++; row >= clipRun {
			to.clipped = true
		}
	}
	to.min, to.max = low, high
	to.square += square
	p.rows[channel] = row
}

// add takes a share of another cell in.
func (c *cell) add(x cell, share float32) {
	c.min, c.max = min(c.min, x.min), max(c.max, x.max)
	c.square += share * x.square
	c.clipped = c.clipped || x.clipped
}

// Columns are n columns of one channel over the frames [from, to). A column has in it every cell that
// it touches, so that no peak is lost between two; where there are fewer frames than columns, the
// same frame stands in several.
func (p *Peaks) Columns(channel int, from, to int64, n int) []Column {
	columns := make([]Column, max(n, 0))
	from, to = max(from, 0), min(to, p.frames)
	if from >= to || channel >= p.channels {
		return columns
	}
	width := float64(to-from) / float64(n) / float64(p.per) // in cells
	for i := range columns {
		a := float64(from)/float64(p.per) + float64(i)*width
		columns[i] = p.column(channel, a, a+width)
	}
	return columns
}

// column is what lies between two places, told in cells.
func (p *Peaks) column(channel int, a, b float64) Column {
	last := len(p.cells)/p.channels - 1
	first := min(int(a), last)
	end := min(max(int(math.Ceil(b-1e-9)), first+1), last+1)
	sum, frames := cell{min: 2, max: -2}, 0.0
	for k := first; k < end; k++ {
		share := min(b, float64(k+1)) - max(a, float64(k))
		sum.add(p.cells[k*p.channels+channel], float32(share))
		frames += share * float64(p.framesOf(k, last))
	}
	rms := float32(0)
	if frames > 0 {
		rms = float32(math.Sqrt(float64(sum.square) / frames))
	}
	return Column{Min: sum.min, Max: sum.max, RMS: min(rms, max(sum.max, -sum.min)), Clipped: sum.clipped}
}

// framesOf is how many frames a cell holds: all but the last are full.
func (p *Peaks) framesOf(k, last int) int {
	if k == last && p.in > 0 {
		return p.in
	}
	return p.per
}
