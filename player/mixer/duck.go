package mixer

import (
	"fmt"
	"math"
)

// A Duck turns a bus down while another one is loud, as music under speech. The level that decides
// is the peak of either side behind that bus's gains; it is heeded 256 frames late, so that neither
// the order of the buses nor the size of the blocks matters.
type Duck struct {
	By        Bus     // the bus whose level decides
	Threshold float64 // dB of full scale, below 0: at a higher level the gain goes down
	Depth     float64 // dB, below 0: where to
	Attack    int     // frames in which 63 % of the way down are gone
	Hold      int     // frames to stay down once the level is lower
	Release   int     // frames in which 63 % of the way up are gone
}

// SetDuck has bus b be turned down as d says, or with nil no more.
func (c Commands) SetDuck(b Bus, d *Duck) error {
	if d == nil {
		return c.sendParcel(b, &parcel{kind: opDuck})
	}
	if !(d.Threshold <= 0 && d.Depth <= 0) || d.Attack < 0 || d.Hold < 0 || d.Release < 0 {
		return fmt.Errorf("%w: %+v", ErrValue, *d)
	}
	c.m.desk.mu.Lock()
	made := c.m.desk.buses
	c.m.desk.mu.Unlock()
	if d.By > made {
		return fmt.Errorf("%w: no bus %d", ErrValue, d.By)
	}
	own := *d
	return c.sendParcel(b, &parcel{kind: opDuck, duck: &own})
}

// A ducker is the gain of a Duck.
type ducker struct {
	by              *key // nil: on the way up for good
	threshold       float32
	depth           float32
	attack, release float32 // the part of the way that is gone with a frame
	hold, holding   int
	gain            float32
}

func (m *Mixer) setDuck(b *bus, d *Duck) {
	k := &b.duck
	if k.by != nil {
		k.by.users--
	}
	if k.by = nil; d == nil {
		return
	}
	k.by = &m.buses[d.By].key
	k.by.users++
	k.threshold = float32(math.Pow(10, d.Threshold/20))
	k.depth = float32(math.Pow(10, d.Depth/20))
	k.attack, k.release, k.hold = portion(d.Attack), portion(d.Release), d.Hold
}

// portion is the part of the way that is gone with each frame if 63 % are gone with n.
func portion(n int) float32 {
	if n == 0 {
		return 1
	}
	return float32(-math.Expm1(-1 / float64(n)))
}

// apply ducks sum, n frames from now on or none.
func (k *ducker) apply(sum []frame, now int64, n int) {
	if k.by == nil && k.gain == 1 {
		return
	}
	for i := range n {
		g := k.next(now + int64(i))
		if i < len(sum) {
			sum[i] = scaled(sum[i], g)
		}
	}
}

// next is the gain at a frame.
func (k *ducker) next(frame int64) float32 {
	if k.by != nil && k.by.at(frame) > k.threshold {
		k.holding = k.hold + 1
	}
	to, part := float32(1), k.release
	if k.by != nil && k.holding > 0 {
		k.holding--
		if to = k.depth; to < k.gain {
			part = k.attack
		}
	}
	if k.gain += float32(part * (to - k.gain)); to == 1 && k.gain > 0.9999 {
		k.gain = 1
	}
	return k.gain
}

// A key remembers the level of a bus for those that are ducked by it.
type key struct {
	users int
	level [2 * maxChunk]float32 // of frame f at f modulo its length
}

// record notes the levels of sum, n frames from now on, or of silence.
func (k *key) record(sum []frame, now int64, n int) {
	if k.users == 0 {
		return
	}
	for i := range n {
		at := &k.level[(now+int64(i))&(2*maxChunk-1)]
		if *at = 0; i < len(sum) {
			*at = max(sum[i][0], -sum[i][0], sum[i][1], -sum[i][1])
		}
	}
}

// at is the level that counts at a frame.
func (k *key) at(frame int64) float32 { return k.level[(frame-maxChunk)&(2*maxChunk-1)] }
