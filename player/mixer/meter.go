package mixer

import "math"

// Meter is what a bus that is metered sounds like, behind its gains; the master ahead of the limiter.
type Meter struct {
	Peak [2]float64 // of either side, the highest sample of the last 400 ms; 1 is full scale
	RMS  [2]float64 // of either side, over the last 400 ms; a square wave at full scale has 1

	// Loudness in LUFS (ITU-R BS.1770-5, EBU Tech 3341): of the last 400 ms, of the last 3 s, and
	// since the meter was turned on, gated. Silence is math.Inf(-1).
	Momentary, ShortTerm, Integrated float64
}

var noSound = Meter{Momentary: math.Inf(-1), ShortTerm: math.Inf(-1), Integrated: math.Inf(-1)}

// MeterBus turns the meter of a bus on, anew if it was on already, or off. A meter costs some 15 ns
// a frame.
func (c Commands) MeterBus(b Bus, on bool) error {
	p := &parcel{kind: opMeter}
	if on {
		p.meter = newMeter(c.m.rate)
	}
	return c.sendParcel(b, p)
}

// Meter returns what the meter of a bus showed at the end of the last block; silence if it is off.
func (m *Mixer) Meter(b Bus) Meter {
	if b >= maxBuses {
		return noSound
	}
	d := &m.board
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.latest().meters[b]
}

// A meter measures in hops of 100 ms, of which it remembers 3 s.
type meter struct {
	rate   int
	left   int // frames of the hop under way that are still to come
	now    hop
	past   [30]hop // the last one at (count-1) modulo 30
	count  int
	shelf  biquad // K-weighting, both sides
	lowCut biquad
	bins   [1000]bin // of the loudness of 400 ms, from -70 LUFS on in steps of 0.1
	shown  Meter
}

// A hop holds sums over 100 ms.
type hop struct {
	frames int
	peak   [2]float32
	square [2]float64
	power  float64 // K-weighted, of both sides
}

type bin struct {
	n     int64
	power float64
}

func newMeter(rate int) *meter {
	t := &meter{rate: rate, shown: noSound, shelf: biquad{b0: 1}, lowCut: biquad{b0: 1}}
	if rate >= 8000 { // lower ones hold too little of what the weighting is about
		t.shelf, t.lowCut = kShelf(float64(rate)), kLowCut(float64(rate))
	}
	t.start()
	return t
}

// start begins a hop.
func (t *meter) start() { t.now, t.left = hop{}, max(t.rate/10, 1) }

// read is what the meter shows.
func (t *meter) read() Meter {
	if t == nil {
		return noSound
	}
	return t.shown
}

// measure takes n frames in: sum, or silence.
func (t *meter) measure(sum []frame, n int) {
	for i := range n {
		x := frame{}
		if i < len(sum) {
			x = sum[i]
		}
		t.now.peak[0] = max(t.now.peak[0], x[0], -x[0])
		t.now.peak[1] = max(t.now.peak[1], x[1], -x[1])
		l, r := float64(x[0]), float64(x[1])
		t.now.square[0] += l * l
		t.now.square[1] += r * r
		l, r = t.shelf.next(l, r)
		l, r = t.lowCut.next(l, r)
		t.now.power += l*l + r*r
		t.now.frames++
		if t.left--; t.left == 0 {
			t.finish()
		}
	}
}

// finish ends a hop and works out what is shown.
func (t *meter) finish() {
	t.past[t.count%len(t.past)] = t.now
	t.count++
	t.start()
	m := t.sum(4)
	for side := range m.square {
		t.shown.Peak[side] = float64(m.peak[side])
		t.shown.RMS[side] = math.Sqrt(m.square[side] / float64(m.frames))
	}
	t.shown.Momentary = loudness(m.power / float64(m.frames))
	if t.count >= 4 {
		if i := int((t.shown.Momentary + 70) * 10); t.shown.Momentary > -70 {
			b := &t.bins[min(i, len(t.bins)-1)]
			b.n++
			b.power += m.power / float64(m.frames)
		}
	}
	s := t.sum(30)
	t.shown.ShortTerm = loudness(s.power / float64(s.frames))
	t.shown.Integrated = t.integrated()
}

// sum is the last n hops, or as many as there are, in one.
func (t *meter) sum(n int) (s hop) {
	for i := range min(n, t.count) {
		h := &t.past[(t.count-1-i)%len(t.past)]
		s.frames += h.frames
		s.power += h.power
		for side := range s.peak {
			s.peak[side] = max(s.peak[side], h.peak[side])
			s.square[side] += h.square[side]
		}
	}
	return s
}

// integrated is the loudness of all blocks of 400 ms above -70 LUFS, and then of those that are at
// most 10 LU below that (BS.1770-5, annex 1, eqs. 5 to 7).
func (t *meter) integrated() float64 {
	gate := t.above(0)
	return t.above(int(math.Ceil((gate - 10 + 70) * 10)))
}

// above is the loudness of the blocks from a bin on.
func (t *meter) above(from int) float64 {
	var all bin
	for _, b := range t.bins[min(max(from, 0), len(t.bins)):] {
		all.n += b.n
		all.power += b.power
	}
	return loudness(all.power / float64(max(all.n, 1)))
}

// loudness is that of a mean K-weighted power (BS.1770-5, annex 1, eq. 2); the sides count once.
func loudness(power float64) float64 {
	if power < 1e-10 { // below -100 LUFS
		return math.Inf(-1)
	}
	return -0.691 + 10*math.Log10(power)
}

// biquad is a filter of second order on two channels, in the transposed direct form II.
type biquad struct {
	b0, b1, b2, a1, a2 float64
	z                  [2][2]float64
}

func (q *biquad) next(l, r float64) (float64, float64) { return q.one(0, l), q.one(1, r) }

func (q *biquad) one(side int, x float64) float64 {
	z := &q.z[side]
	y := q.b0*x + z[0]
	z[0] = q.b1*x - q.a1*y + z[1]
	z[1] = q.b2*x - q.a2*y
	return y
}

// The two stages of the K-weighting (BS.1770-5, annex 1, tables 1 and 2) are given there for 48 kHz.
// For other rates they are taken back to the analogue filters behind them and through the bilinear
// transform again, with the constants that B. De Man derived ("Evaluation of Implementations of the
// EBU R128 Loudness Measurement", AES 145, 2018): corner and quality of a shelf of +4 dB for the
// head, and of a high-pass.

func kShelf(rate float64) biquad {
	const f, gain, q = 1681.974450955533, 3.999843853973347, 0.7071752369554196
	k := math.Tan(math.Pi * f / rate)
	vh := math.Pow(10, gain/20)
	vb := math.Pow(vh, 0.4996667741545416)
	a0 := 1 + k/q + k*k
	return biquad{
		b0: (vh + vb*k/q + k*k) / a0, b1: 2 * (k*k - vh) / a0, b2: (vh - vb*k/q + k*k) / a0,
		a1: 2 * (k*k - 1) / a0, a2: (1 - k/q + k*k) / a0,
	}
}

func kLowCut(rate float64) biquad {
	const f, q = 38.13547087602444, 0.5003270373238773
	k := math.Tan(math.Pi * f / rate)
	a0 := 1 + k/q + k*k
	return biquad{b0: 1, b1: -2, b2: 1, a1: 2 * (k*k - 1) / a0, a2: (1 - k/q + k*k) / a0}
}
