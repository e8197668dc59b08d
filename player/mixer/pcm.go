package mixer

import (
	"fmt"
	"math"
	"sync/atomic"
)

// PCM is a sound in memory at the mixer's rate: interleaved frames of one or two channels, in
// exactly one of two widths. An int16 sample s stands for s/32768. It must not change once given,
// and may be played by any number of voices of any number of mixers at once.
type PCM struct {
	Channels int // 1 or 2
	S16      []int16
	F32      []float32
	Name     string // what the log calls it, see Record

	checked uint32 // what Check found, by atomic operations
}

// What Check leaves in checked.
const (
	unknown uint32 = iota
	clean          // every sample is fit to be mixed as it stands
	dirty          // some are not, and are mended on their way into the mix
)

// Frames is the sound's length.
func (p *PCM) Frames() int64 {
	if p.Channels < 1 {
		return 0
	}
	return int64((len(p.S16) + len(p.F32)) / p.Channels)
}

// Check reports ErrValue where the PCM has no form that can be played. It also looks through float
// samples, once in the life of a PCM, for those that would spoil the mix; see [Feed] for what
// becomes of them. The first PlayPCM does it if nobody has before: 0.25 ms for a million samples.
func (p *PCM) Check() error {
	if p == nil || p.Channels < 1 || p.Channels > 2 || p.S16 != nil && p.F32 != nil {
		return fmt.Errorf("%w: a PCM has one or two channels and samples of one width", ErrValue)
	}
	if atomic.LoadUint32(&p.checked) == unknown {
		found := clean
		if !sane(p.F32) {
			found = dirty
		}
		atomic.StoreUint32(&p.checked, found)
	}
	return nil
}

func (p *PCM) dirty() bool { return atomic.LoadUint32(&p.checked) == dirty }

// sampleMax is the largest sample that is mixed as it stands.
const sampleMax = 1 << 20

// sane reports whether all samples are numbers of at most sampleMax. A sum of comparisons would
// branch at every sample; the sum of x*0 is 0 or NaN, and the bound is one more multiplication: an
// x that it takes beyond the largest float32 becomes infinite, and times 0 NaN.
func sane(x []float32) bool {
	const reach = math.MaxFloat32 / sampleMax
	var a, b, c, d float32
	for len(x) >= 4 {
		s := (*[4]float32)(x)
		a += s[0] * reach * 0
		b += s[1] * reach * 0
		c += s[2] * reach * 0
		d += s[3] * reach * 0
		x = x[4:]
	}
	for _, s := range x {
		a += s * reach * 0
	}
	return a+b+c+d == 0
}

// mend makes the samples sane in place.
func mend(x []float32) {
	if sane(x) {
		return
	}
	for i, s := range x {
		x[i] = mended(s)
	}
}

// mended is the sample, or what is mixed in its stead.
func mended(s float32) float32 {
	if s != s {
		return 0
	}
	return min(max(s, -sampleMax), sampleMax)
}

// floats returns the frames from a frame on as float32, as many as there are and fit into block,
// which may come to hold them.
func (p *PCM) floats(block []float32, from int64) []float32 {
	i := int(from) * p.Channels
	n := min(len(block), int(p.Frames())*p.Channels-i)
	if p.S16 == nil {
		return p.F32[i : i+n]
	}
	for k, s := range p.S16[i : i+n] {
		block[k] = float32(s) * scale16
	}
	return block[:n]
}
