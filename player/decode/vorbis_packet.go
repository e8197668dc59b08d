package decode

import (
	"fmt"
	"math"
	"math/bits"
)

// vorbisDecoder decodes the packets of a stream one by one (4.3). It allocates nothing on the way.
type vorbisDecoder struct {
	channels int
	block    [2]int
	modes    []vorbisMode
	modeBits uint
	imdct    [2]*imdct
	window   [2][]float32 // the rising half, by block size

	spectrum [][]float32 // of each channel
	tail     [][]float32 // second half of the block before, without its window
	prev     int         // size of the block before, 0 = none

	parts   [][]float32 // channels of a submap,
	silent  []bool      // which of them have no residue,
	nothing []bool      // and which of all channels have no floor: they are silent
	empty   []bool      // but may have a residue for the channel that they are coupled with
}

// vorbisMode is how a block is coded.
type vorbisMode struct {
	long     int // 1 for a long block
	coupling [][2]uint8
	floors   []*floor // of each channel, used by no other
	submaps  []vorbisSubmap
}

// vorbisSubmap is a set of channels with one residue.
type vorbisSubmap struct {
	channels []int
	residue  *residue
}

// newVorbisDecoder makes the decoder for a stream by its headers, which have passed the gate.
func newVorbisDecoder(s *vorbisSetup, setup []byte) *vorbisDecoder {
	d := &vorbisDecoder{channels: s.channels, block: s.block, modeBits: s.modeBits}
	for range d.channels {
		d.spectrum = append(d.spectrum, make([]float32, d.block[1]/2))
		d.tail = append(d.tail, make([]float32, d.block[1]/2))
	}
	d.parts, d.silent = make([][]float32, d.channels), make([]bool, d.channels)
	d.nothing, d.empty = make([]bool, d.channels), make([]bool, d.channels)
	for i, n := range d.block {
		d.imdct[i], d.window[i] = newIMDCT(n), vorbisWindow(n/2)
	}
	d.readSetup(&vorbisBits{setup, 7 * 8})
	return d
}

// vorbisWindow is the rising slope of n frames (4.3.1).
func vorbisWindow(n int) []float32 {
	w := make([]float32, n)
	for i := range w {
		sin := math.Sin((float64(i) + 0.5) / float64(n) * math.Pi / 2)
		w[i] = float32(math.Sin(math.Pi / 2 * sin * sin))
	}
	return w
}

// readSetup reads the setup header (4.2.4).
func (d *vorbisDecoder) readSetup(b *vorbisBits) {
	books := make([]codebook, b.read(8)+1)
	for i := range books {
		books[i] = readCodebook(b)
	}
	for range b.read(6) + 1 {
		b.read(16)
	}
	floors := make([]*floor, b.read(6)+1)
	for i := range floors {
		floors[i] = readFloor(b, books)
	}
	residues := make([]residue, b.read(6)+1)
	for i := range residues {
		residues[i] = readResidue(b, books)
	}
	mappings := make([]vorbisMode, b.read(6)+1)
	for i := range mappings {
		mappings[i] = d.readMapping(b, floors, residues)
	}
	d.modes = make([]vorbisMode, b.read(6)+1)
	for i := range d.modes {
		long := int(b.read(1))
		b.read(32)
		d.modes[i] = mappings[b.read(8)]
		d.modes[i].long = long
	}
}

func (d *vorbisDecoder) readMapping(b *vorbisBits, floors []*floor, residues []residue) (m vorbisMode) {
	b.read(16)
	m.submaps = make([]vorbisSubmap, 1)
	if b.flag() {
		m.submaps = make([]vorbisSubmap, b.read(4)+1)
	}
	if b.flag() {
		width := uint(bits.Len(uint(d.channels - 1)))
		m.coupling = make([][2]uint8, b.read(8)+1)
		for i := range m.coupling {
			m.coupling[i] = [2]uint8{uint8(b.read(width)), uint8(b.read(width))}
		}
	}
	b.read(2)
	of := make([]int, d.channels)
	for c := range of {
		if len(m.submaps) > 1 {
			of[c] = int(b.read(4))
		}
		m.submaps[of[c]].channels = append(m.submaps[of[c]].channels, c)
	}
	kinds := make([]*floor, len(m.submaps))
	for i := range m.submaps {
		b.read(8)
		kinds[i] = floors[b.read(8)]
		m.submaps[i].residue = &residues[b.read(8)]
	}
	for _, submap := range of {
		m.floors = append(m.floors, kinds[submap].twin())
	}
	return m
}

// clear forgets the block before.
func (d *vorbisDecoder) clear() { d.prev = 0 }

// most is how many samples a packet gives at most.
func (d *vorbisDecoder) most() int { return d.block[1] / 2 * d.channels }

// decode decodes a packet into dst, interleaved, and returns what of dst it fills: the frames from
// the middle of the block before to the middle of this one, none where there was no block before.
func (d *vorbisDecoder) decode(packet []byte, dst []float32) ([]float32, error) {
	r := vorbisReader{data: packet}
	if r.read(1) != 0 {
		return nil, fmt.Errorf("%w: not a packet of sound", ErrCorrupt)
	}
	n := int(r.read(d.modeBits))
	if n >= len(d.modes) || r.over {
		return nil, fmt.Errorf("%w: mode %d of %d", ErrCorrupt, n, len(d.modes))
	}
	m := &d.modes[n]
	if m.long == 1 {
		r.read(2) // the sizes of the blocks beside it, which are known
	}
	half := d.block[m.long] / 2
	d.lines(&r, m, half)
	for c, x := range d.spectrum {
		if d.nothing[c] {
			clear(x[:half])
			continue
		}
		m.floors[c].apply(x[:half])
		d.imdct[m.long].dct4(x)
	}
	out := d.overlap(half, dst)
	d.prev = 2 * half
	return out, nil
}

// lines reads the floors of a block, and its spectrum without them (4.3.2 to 4.3.5).
func (d *vorbisDecoder) lines(r *vorbisReader, m *vorbisMode, half int) {
	for c, f := range m.floors {
		d.nothing[c] = !f.read(r)
		clear(d.spectrum[c][:half])
	}
	copy(d.empty, d.nothing)
	for _, k := range m.coupling {
		both := d.empty[k[0]] && d.empty[k[1]]
		d.empty[k[0]], d.empty[k[1]] = both, both
	}
	for i := range m.submaps {
		s := &m.submaps[i]
		if len(s.channels) == 0 || r.over {
			continue
		}
		for k, c := range s.channels {
			d.parts[k], d.silent[k] = d.spectrum[c][:half], d.empty[c]
		}
		s.residue.decode(r, d.parts[:len(s.channels)], d.silent[:len(s.channels)])
	}
	for i := len(m.coupling) - 1; i >= 0; i-- {
		k := m.coupling[i]
		uncouple(d.spectrum[k[0]][:half], d.spectrum[k[1]][:half])
	}
}

// uncouple turns magnitude and angle into two channels (4.3.5).
func uncouple(magnitude, angle []float32) {
	angle = angle[:len(magnitude)]
	for i, m := range magnitude {
		a := angle[i]
		// Towards 0 by the angle in the one, where it is positive, else in the other channel.
		turned := m - a
		if m <= 0 {
			turned = m + a
		}
		if a > 0 {
			angle[i] = turned
			continue
		}
		turned = m + a
		if m <= 0 {
			turned = m - a
		}
		magnitude[i], angle[i] = turned, m
	}
}

// overlap adds the first half of the block, whose DCT is in spectrum, to the second one of the block
// before (4.3.8), and keeps its second half. Where the two differ in size the slopes are those of the
// shorter one, around the same middle.
func (d *vorbisDecoder) overlap(half int, dst []float32) []float32 {
	before := d.prev / 2
	frames := 0
	if before > 0 {
		frames = before/2 + half/2
	}
	out := dst[:frames*d.channels]
	for c, v := range d.spectrum {
		if frames > 0 {
			d.mix(out, c, v[:half], d.tail[c][:before])
		}
		tail := d.tail[c][:half]
		for i := range half / 2 {
			tail[i] = -v[half/2-1-i]
			tail[half/2+i] = -v[i]
		}
	}
	return out
}

// mix puts channel c together: what is only in the block before, the slopes of both, and what is only
// in this one.
func (d *vorbisDecoder) mix(out []float32, c int, v, tail []float32) {
	half, slope := len(v), min(len(v), len(tail))
	w := d.window[1]
	if slope < len(w) {
		w = d.window[0]
	}
	lead := (len(tail) - slope) / 2
	at, step := c, d.channels
	for _, x := range tail[:lead] {
		out[at] = x
		at += step
	}
	tail = tail[lead : lead+slope]
	last := v[half-slope/2:] // first forward, then back
	for i, x := range last {
		out[at] = tail[i]*w[slope-1-i] + x*w[i]
		at += step
	}
	for i := slope / 2; i < slope; i++ {
		out[at] = tail[i]*w[slope-1-i] - last[slope-1-i]*w[i]
		at += step
	}
	for i := half - slope/2 - 1; i >= half/2; i-- {
		out[at] = -v[i]
		at += step
	}
}
