package decode

import (
	"math"
	"math/bits"
)

// Folding to stereo by Recommendation ITU-R BS.775-3, annex 4, table 2 (3/2 to 2/0): the front
// speakers keep their level, the centre goes to both sides and a surround speaker to its own, at
// -3 dB. By the same rule a speaker that is surround and in the middle goes to both at -6 dB. The
// low-frequency channel is left out. The sum is not turned down, so that what was mixed for two
// speakers keeps its level.
const (
	atMinus3 = math.Sqrt2 / 2
	atMinus6 = 0.5
)

// Speakers in the order of their bits in dwChannelMask of WAVE_FORMAT_EXTENSIBLE.
const (
	frontLeft = iota
	frontRight
	frontCentre
	lowFrequency
	backLeft
	backRight
	leftOfCentre
	rightOfCentre
	backCentre
	sideLeft
	sideRight
	topCentre
	topFrontLeft
	topFrontCentre
	topFrontRight
	topBackLeft
	topBackCentre
	topBackRight
	speakers
)

// gains are what a speaker gives to the left and the right.
var gains = [speakers][2]float32{
	frontLeft:      {1, 0},
	frontRight:     {0, 1},
	frontCentre:    {atMinus3, atMinus3},
	backLeft:       {atMinus3, 0},
	backRight:      {0, atMinus3},
	leftOfCentre:   {1, 0},
	rightOfCentre:  {0, 1},
	backCentre:     {atMinus6, atMinus6},
	sideLeft:       {atMinus3, 0},
	sideRight:      {0, atMinus3},
	topCentre:      {atMinus6, atMinus6},
	topFrontLeft:   {atMinus3, 0},
	topFrontCentre: {atMinus6, atMinus6},
	topFrontRight:  {0, atMinus3},
	topBackLeft:    {atMinus3, 0},
	topBackCentre:  {atMinus6, atMinus6},
	topBackRight:   {0, atMinus3},
}

// usual is which speakers 3 to 8 channels are for where the file does not say: in WAV and FLAC
// (RFC 9639, section 9.1.3).
var usual = [9][]int{
	3: {frontLeft, frontRight, frontCentre},
	4: {frontLeft, frontRight, backLeft, backRight},
	5: {frontLeft, frontRight, frontCentre, backLeft, backRight},
	6: {frontLeft, frontRight, frontCentre, lowFrequency, backLeft, backRight},
	7: {frontLeft, frontRight, frontCentre, lowFrequency, backCentre, sideLeft, sideRight},
	8: {frontLeft, frontRight, frontCentre, lowFrequency, backLeft, backRight, sideLeft, sideRight},
}

// fold mixes frames of several channels to two.
type fold struct {
	left, right []float32 // gain of each channel
}

// newFold is the fold for a sound, nil where it has one or two channels.
func newFold(in Info) *fold {
	if in.Channels <= 2 {
		return nil
	}
	f := &fold{}
	for _, speaker := range layout(in) {
		f.left = append(f.left, gains[speaker][0])
		f.right = append(f.right, gains[speaker][1])
	}
	return f
}

// layout lists the speaker of each channel.
func layout(in Info) []int {
	mask := in.Mask & (1<<speakers - 1)
	if bits.OnesCount32(mask) != in.Channels {
		return usual[in.Channels]
	}
	var list []int
	for ; mask != 0; mask &= mask - 1 {
		list = append(list, bits.TrailingZeros32(mask))
	}
	return list
}

// mix folds len(dst)/2 frames of src.
func (f *fold) mix(dst, src []float32) {
	ch := len(f.left)
	for i := range len(dst) / 2 {
		frame := src[i*ch : i*ch+ch]
		var l, r float32
		for c, v := range frame {
			l += f.left[c] * v
			r += f.right[c] * v
		}
		dst[2*i], dst[2*i+1] = l, r
	}
}

// Fold returns a function that makes interleaved frames of this sound, as Stream.ReadFloat32 gives them,
// stereo as Stream.ReadStereo does. What it returns is the block itself where that is stereo already, and
// otherwise stands only until the next call.
func (in Info) Fold() func(block []float32) []float32 {
	var out []float32
	f := newFold(in)
	return func(block []float32) []float32 {
		switch {
		case in.Channels == 2:
			return block
		case in.Channels < 1:
			return nil
		}
		if n := len(block) / in.Channels * 2; cap(out) < n {
			out = make([]float32, n)
		} else {
			out = out[:n]
		}
		if f != nil {
			f.mix(out, block)
			return out
		}
		for i, v := range block {
			out[2*i], out[2*i+1] = v, v
		}
		return out
	}
}
