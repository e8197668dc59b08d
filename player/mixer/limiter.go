package mixer

import "math"

// A limiter keeps the true peak of the mix below full scale, by a gain rather than by bending the
// wave. It sees what is to come because the mixer is ahead of what it gives out, by look frames: the
// sound itself comes when it should, but a command takes effect so many frames later.
//
// It begins to work with the first sample beyond ±1, and ends a second behind the last one. While it
// does not every sample passes as it is: a lone voice that is beyond full scale only between its
// samples keeps its bits. While it works it holds the true peak, taken from four points a frame as
// ITU-R BS.1770-5, annex 2, has it, below ceiling, which leaves room for what lies between the four.
//
// The gain of a frame is the mean of the last window+1 lows, the low of a frame being the least gain
// that it or one of the window frames behind it needs. So the gain goes down evenly ahead of a peak
// and has arrived when it comes; behind one it goes up exponentially.
type limiter struct {
	window int // frames over which the gain goes down
	reach  int // frames before and behind that a true peak depends on
	rise   float32
	points [3][2 * peakReach]float32

	// Of the last kept frames and then of the chunk under way.
	kept   int
	frames []frame
	needed []float32 // gain that the frame needs
	lows   []float32

	low   float32 // the last of lows
	least float32 // least needed gain of the window under way
	at    int     // its index
	sum   float64 // of the last window+1 lows
	calm  int     // frames since a low was not 1
	quiet int     // frames since a sample was beyond ±1
	grace int     // of them after which the true peak is let be
}

const (
	ceiling   = 0.8413951 // -1.5 dB
	peakReach = 12
)

// newLimiter returns a limiter. At rates below 8 kHz it does not look ahead, and sees to samples
// alone.
func newLimiter(rate int) *limiter {
	l := &limiter{rise: portion(rate / 10), low: 1, least: 1, grace: rate, quiet: rate}
	if rate >= 8000 {
		l.window, l.reach = rate/750, peakReach
	}
	l.kept = 2*l.window + 3*peakReach
	size := l.kept + maxChunk
	l.frames, l.needed, l.lows = make([]frame, size), make([]float32, size), make([]float32, size)
	for i := range size {
		l.needed[i], l.lows[i] = 1, 1
	}
	l.sum, l.calm = float64(l.window+1), l.window+1
	for i := range l.points {
		l.points[i] = pointBetween(float64(i+1) / 4)
	}
	return l
}

// pointBetween is a sinc under a Kaiser window that gives the wave at t, 0 to 1, between the two
// frames in the middle.
func pointBetween(t float64) (c [2 * peakReach]float32) {
	_, beta := kaiser(60, 1)
	sum := 0.0
	for k := range c {
		u := float64(k-peakReach+1) - t
		sum += sinc(u) * bessel(beta*math.Sqrt(1-u*u/peakReach/peakReach))
	}
	for k := range c {
		u := float64(k-peakReach+1) - t
		c[k] = float32(sinc(u) * bessel(beta*math.Sqrt(1-u*u/peakReach/peakReach)) / sum)
	}
	return c
}

// look is how many frames the limiter has to know ahead.
func (l *limiter) look() int {
	if l == nil {
		return 0
	}
	return l.window + l.reach
}

// run takes the next frames in and replaces them by those look frames before.
func (l *limiter) run(x []frame) {
	copy(l.frames[l.kept:], x)
	for i := range x {
		n := l.kept + i
		l.measure(n - l.reach)
		l.lower(n - l.reach)
		x[i] = l.frames[n-l.look()]
		if l.calm <= l.window {
			x[i] = scaled(x[i], float32(l.sum/float64(l.window+1)))
		}
	}
	n := len(x)
	copy(l.frames, l.frames[n:n+l.kept])
	copy(l.needed, l.needed[n:n+l.kept])
	copy(l.lows, l.lows[n:n+l.kept])
	l.at -= n
}

// measure works out what gain frame k needs.
func (l *limiter) measure(k int) {
	f := l.frames[k]
	peak := max(f[0], -f[0], f[1], -f[1])
	l.needed[k] = 1
	if l.quiet++; peak > 1 {
		l.quiet = 0
	}
	if l.quiet < l.grace {
		l.needed[k] = min(1, ceiling/max(peak, l.truePeak(k), ceiling))
	}
}

// truePeak is the highest point between frame k and the next one.
func (l *limiter) truePeak(k int) (peak float32) {
	if l.reach == 0 {
		return 0
	}
	window := (*[2 * peakReach]frame)(l.frames[k-peakReach+1:])
	for p := range l.points {
		var left, right float32
		for i, c := range l.points[p] {
			left += float32(c * window[i][0])
			right += float32(c * window[i][1])
		}
		peak = max(peak, left, -left, right, -right)
	}
	return peak
}

// lower works out the low of the frame window frames before k, whose need is known now.
func (l *limiter) lower(k int) {
	j := k - l.window
	switch {
	case l.needed[k] <= l.least:
		l.least, l.at = l.needed[k], k
	case l.at < j:
		l.least = 1
		for i := j; i <= k; i++ {
			if l.needed[i] <= l.least {
				l.least, l.at = l.needed[i], i
			}
		}
	}
	low := l.least
	if low > l.low {
		low = min(low, l.low+float32(l.rise*(1-l.low)))
		if low > 0.9999 && l.least == 1 {
			low = 1
		}
	}
	l.low, l.lows[j] = low, low
	l.sum += float64(low) - float64(l.lows[j-l.window-1])
	if l.calm++; low != 1 {
		l.calm = 0
	}
	if l.calm > l.window { // what rounding may have left
		l.sum = float64(l.window + 1)
	}
}
