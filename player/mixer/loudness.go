package mixer

// A Loudness measures sound that is not mixed, a file for one, as the meter of a bus does, and its true
// peak besides. It is a plain function of the frames it was given and belongs to one goroutine.
type Loudness struct {
	meter  *meter
	points [3][2 * peakReach]float32
	reach  float32 // most that a point between samples may be, to the largest of those around it; 0 = not asked for
	peak   float32

	// The last 2*peakReach-1 frames, and behind them those of the block under way.
	recent [2*peakReach - 1 + maxChunk]frame
}

// NewLoudness returns a Loudness of stereo sound at a rate. The true peak is ten times the work of the
// rest: it is found only if it is asked for.
func NewLoudness(rate int, truePeak bool) *Loudness {
	l := &Loudness{meter: newMeter(rate)}
	if !truePeak {
		return l
	}
	for i := range l.points {
		l.points[i] = pointBetween(float64(i+1) / 4)
		sum := float32(0)
		for _, c := range l.points[i] {
			sum += max(c, -c)
		}
		l.reach = max(l.reach, sum)
	}
	return l
}

// Add takes the next frames in, interleaved stereo. Sound of one channel is to be given on both sides,
// as it is heard.
func (l *Loudness) Add(block []float32) {
	const kept = 2*peakReach - 1
	for len(block) >= 2 {
		n := min(len(block)/2, maxChunk)
		for i := range n {
			l.recent[kept+i] = frame{block[2*i], block[2*i+1]}
		}
		l.meter.measure(l.recent[kept:kept+n], n)
		if l.reach > 0 {
			l.measure(n)
		}
		copy(l.recent[:kept], l.recent[n:n+kept])
		block = block[2*n:]
	}
}

// measure finds the true peak of n new frames. What lies between samples that are all small enough
// cannot pass the peak found so far, and is not worked out.
func (l *Loudness) measure(n int) {
	const piece = 8
	last := 2*peakReach - 1
	for i := 0; i < n; i += piece {
		to := min(i+piece, n)
		high := largest(l.recent[last+i : last+to])
		l.peak = max(l.peak, high)
		if l.reach*max(high, largest(l.recent[i:last+i])) <= l.peak {
			continue
		}
		for k := i; k < to; k++ {
			l.peak = max(l.peak, between(&l.points, (*[2 * peakReach]frame)(l.recent[k:])))
		}
	}
}

func largest(frames []frame) (peak float32) {
	for _, f := range frames {
		peak = max(peak, f[0], -f[0], f[1], -f[1])
	}
	return peak
}

// between is the highest of the points between the two frames in the middle of a window.
func between(points *[3][2 * peakReach]float32, window *[2 * peakReach]frame) (peak float32) {
	for p := range points {
		var left, right float32
		for i, c := range points[p] {
			left += float32(c * window[i][0])
			right += float32(c * window[i][1])
		}
		peak = max(peak, left, -left, right, -right)
	}
	return peak
}

// Meter is what the meter shows after the last whole 100 ms.
func (l *Loudness) Meter() Meter { return l.meter.read() }

// Short is the loudness in LUFS of all that was given, not gated: what is left to say of a sound that
// is shorter than the 400 ms that Meter's loudness wants. Silence is math.Inf(-1).
func (l *Loudness) Short() float64 {
	s := l.meter.sum(min(l.meter.count, len(l.meter.past)))
	s.frames += l.meter.now.frames
	s.power += l.meter.now.power
	return loudness(s.power / float64(max(s.frames, 1)))
}

// TruePeak is the highest point of the wave, taken from four points a frame (ITU-R BS.1770-5, annex
// 2); 1 is full scale, and 0 is told where it was not asked for. What lies between the last 12 frames is not in it: give as much silence behind
// the end.
func (l *Loudness) TruePeak() float64 { return float64(l.peak) }
