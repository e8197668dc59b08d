package mixer

import "math"

// How gains move. A linear ramp of 5 ms has corners, and at its start a tone of 100 Hz takes steps
// 5 % larger than its own. All moves here follow the raised cosine sin²(πx/2) instead: over a ramp
// of at least half its period a tone of amplitude g·sin(ωt) has slope ω·cos(πx/2) at most, never
// more than by itself. The last frame of a move stands at its target already, so that a ramp of one
// frame takes effect at once.

// raisedCosine is the table of a move of n frames: 0 lies before its first frame, 1 at its last.
func raisedCosine(n int) []float32 {
	w := make([]float32, n)
	for k := range w {
		s := math.Sin(math.Pi / 2 * float64(k+1) / float64(n))
		w[k] = float32(s * s)
	}
	return w
}

// dipTable is the gain of a seek: down along a quarter of a cosine to one silent frame, at half,
// where the place changes, and up along a quarter of a sine, 5 ms in all.
//
// This is the one curve that is never steeper than the sound around it. A cross-fade in which both
// places are heard is: two phases of a tone of 100 Hz that lie 90 degrees apart pass into each
// other with steps 1.41 times those of the tone, whatever the fade. Each half takes no less than a
// quarter of that tone's period; Rate/400 rounded down might. At rates so low that a ramp is one
// frame there is no dip, and half is 0.
func dipTable(rate, ramp int) (w []float32, half int) {
	if ramp == 1 {
		return nil, 0
	}
	h := (rate + 399) / 400
	w = make([]float32, 2*h-1)
	for k := range w {
		w[k] = float32(math.Abs(math.Cos(math.Pi / 2 * float64(k+1) / float64(h))))
	}
	w[h-1] = 0
	return w, h
}

// quarter holds sin(πx/2) for moves of any length, at x = i/quarterSteps, with one more entry so
// that the last interval needs no test.
const quarterSteps = 1024

var quarter = func() (t [quarterSteps + 2]float32) {
	for i := range t {
		t[i] = float32(math.Sin(math.Pi / 2 * float64(i) / quarterSteps))
	}
	return t
}()

// sine is sin(πx/2), for x from 0 to 1.
func sine(x float32) float32 {
	x *= quarterSteps
	i := min(int(x), quarterSteps)
	return quarter[i] + float32((x-float32(i))*(quarter[i+1]-quarter[i]))
}

// A span counts the frames of a move: k of n are done. At rest k == n.
type span struct{ k, n int }

// moving reports whether frames of the move are left.
func (s *span) moving() bool { return s.k < s.n }

// cut shortens n so that the move does not end within it.
func (s *span) cut(n int) int {
	if s.moving() {
		return min(n, s.n-s.k)
	}
	return n
}

// pass counts n frames, and reports whether the move ends with them; n was cut.
func (s *span) pass(n int) bool {
	if !s.moving() {
		return false
	}
	s.k += n
	return s.k == s.n
}

// A Curve is the way that a fade takes between two gains.
type Curve uint8

const (
	Smooth     Curve = iota // raised cosine of the amplitude: no corner at either end
	Linear                  // straight in amplitude
	EqualPower              // sine up, cosine down: two sounds that cross by it keep their power
	Decibels                // straight in dB, silence taken as -80 dB
)

// fadeFloor stands for silence on a curve in decibels.
const fadeFloor = 1e-4

// A move takes one gain from where it is to a target. At rest the gain is to.
type move struct {
	span
	curve    Curve
	from, to float32
	by       float32 // to - from, or on a curve in decibels the logarithm of their ratio
}

// rest is a gain that does not move.
func rest(g float32) move { return move{to: g} }

// advance passes n frames; n was cut.
func (m *move) advance(n int) {
	if m.pass(n) {
		*m = rest(m.to)
	}
}

// start moves to a new target within n frames, from wherever the gain is. A move under way is
// bent: its value goes on from there.
func (m *move) start(to float32, n int, curve Curve, w []float32) {
	from := m.value(m.k-1, w)
	*m = rest(to)
	if n <= 0 {
		return
	}
	m.n, m.curve, m.from = n, curve, from
	m.by = to - from
	if curve == Decibels {
		m.by = float32(math.Log(float64(max(to, fadeFloor) / max(from, fadeFloor))))
	}
}

// value is the gain at frame k of the move; before the first it is from.
func (m *move) value(k int, w []float32) float32 {
	switch {
	case !m.moving():
		return m.to
	case k < 0:
		return m.from
	case m.short(w):
		return m.from + float32(m.by*w[k])
	case k == m.n-1:
		return m.to
	}
	x := float32(k+1) / float32(m.n)
	switch m.curve {
	case Linear:
		return m.from + float32(m.by*x)
	case EqualPower:
		a, b := m.from*sine(1-x), m.to*sine(x)
		return float32(math.Sqrt(float64(float32(a*a) + float32(b*b))))
	case Decibels:
		return max(m.from, fadeFloor) * float32(math.Exp(float64(m.by*x)))
	}
	s := sine(x)
	return m.from + float32(m.by*float32(s*s))
}

// short reports that the move follows w, the curve of the default ramp.
func (m *move) short(w []float32) bool { return m.n == len(w) && m.curve == Smooth }

// scale multiplies the gains of the next len(g) frames by the move.
func (m *move) scale(g []frame, w []float32) {
	switch {
	case m.moving():
		for i := range g {
			g[i] = scaled(g[i], m.value(m.k+i, w))
		}
	case m.to != 1:
		for i := range g {
			g[i] = scaled(g[i], m.to)
		}
	}
}

// ride multiplies frames by the move, which may end among them, and leaves it where it is.
func (m *move) ride(x []frame, w []float32) {
	n := min(len(x), m.n-m.k)
	if n < len(x) {
		r := rest(m.to)
		r.scale(x[n:], w)
	}
	m.scale(x[:n], w)
}

// skip passes n frames, or as many as are left.
func (m *move) skip(n int) { m.advance(min(n, m.n-m.k)) }

// A glide is a move of both sides at once, always as long as the default ramp.
type glide struct {
	span
	from, by, to frame
}

func restAt(g frame) glide { return glide{to: g} }

func (m *glide) advance(n int) {
	if m.pass(n) {
		*m = restAt(m.to)
	}
}

func (m *glide) start(to frame, w []float32) {
	from := m.value(m.k-1, w)
	*m = glide{span{0, len(w)}, from, frame{to[0] - from[0], to[1] - from[1]}, to}
}

// value is the gain at frame k of the glide; before the first it is from.
func (m *glide) value(k int, w []float32) frame {
	switch {
	case !m.moving():
		return m.to
	case k < 0:
		return m.from
	}
	return frame{m.from[0] + float32(m.by[0]*w[k]), m.from[1] + float32(m.by[1]*w[k])}
}

// fill writes the gains of the next len(g) frames, times by.
func (m *glide) fill(g []frame, w []float32, by float32) {
	for i := range g {
		g[i] = scaled(m.value(m.k+i, w), by)
	}
}
