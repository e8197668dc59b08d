package mixer

import (
	"fmt"
	"math"
)

// Voices whose pitch is not 1 go through their sound by steps that are no whole frames, and what
// lies between frames is taken, unless Params.Interpolation is Sinc, from the cubic through the two on either side (Catmull and Rom, "A
// class of local interpolating splines", 1974: the tangent at a frame is half of the difference of
// its neighbours). At a whole frame it gives that frame, bit for bit.
//
// The cubic is the sum of the four frames at weights that depend on the place alone. They come out
// of a table of places, of which the nearest is taken: that halves the arithmetic, and for a tone of
// 1 kHz at 48 kHz it errs by -101 dB, where the cubic itself errs by -92.

// one is a step of one frame: places between frames and steps count 2^-32 frames.
const one = 1 << 32

const (
	minPitch = 1.0 / 64
	maxPitch = 64
)

// stepOf is the step of a pitch.
func stepOf(pitch float64) (int64, error) {
	if !(pitch >= minPitch && pitch <= maxPitch) {
		return 0, fmt.Errorf("%w: pitch of %v; 1/64 to 64", ErrValue, pitch)
	}
	return int64(math.Round(pitch * one)), nil
}

// A speed is a step that moves evenly, by as much with every frame. At rest it is to.
type speed struct {
	span
	step, by, to int64 // step is that of the frame before
}

func restSpeed(step int64) speed { return speed{step: step, to: step} }

// start moves to another step within n frames.
func (s *speed) start(to int64, n int) {
	*s = speed{span{0, n}, s.step, (to - s.step) / int64(n), to}
}

// bent reports that the steps are not one frame each.
func (s *speed) bent() bool { return s.moving() || s.to != one }

// sum is the way of the next n frames; n was cut.
func (s *speed) sum(n int) int64 {
	k := int64(n)
	return k*s.step + s.by*k*(k+1)/2
}

// within shortens n so that no more than so many frames of the sound are passed.
func (s *speed) within(n, frames int) int {
	return min(n, max(int(int64(frames)*one/max(s.step, s.to)), 1))
}

// advance passes n frames; n was cut.
func (s *speed) advance(n int) {
	s.step += s.by * int64(n)
	if s.pass(n) {
		*s = restSpeed(s.to)
	}
}

// speedUp moves the voice to another step, at once where it is not heard.
func (v *voice) speedUp(to int64, ramp int) {
	v.closed = false
	if !v.heard || v.held() {
		v.speed = restSpeed(to)
		return
	}
	v.speed.start(to, ramp)
}

// bent reports that the voice does not play whole frames from c.
func (v *voice) bent(c *cursor) bool { return c.frac != 0 || v.speed.bent() }

// remaining is how many frames of the mixer a PCM still gives if it is not looped, at the speed it
// is going to have.
func (v *voice) remaining() int64 {
	n := v.frames - v.at.pos
	if !v.bent(&v.at) || n > 1<<28 {
		return n
	}
	return (n*one - v.at.frac + v.speed.to - 1) / v.speed.to
}

// slide takes c a way on in the PCM, around the loop where that comes.
func (v *voice) slide(c *cursor, way int64) {
	if c.pos >= v.frames {
		return
	}
	way += c.frac
	from := c.pos
	c.pos += way / one
	c.frac = way % one
	if l := v.loop; c.turns != 0 && from < l.End && c.pos >= l.End {
		laps := (c.pos-l.End)/(l.End-l.Start) + 1
		if c.turns > 0 {
			laps = min(laps, c.turns)
			c.turns -= laps
		}
		c.loops += laps
		c.pos -= laps * (l.End - l.Start)
		c.seam.pass(&l, laps)
	}
	if c.pos >= v.frames {
		c.pos, c.frac = max(v.frames, c.pos), 0
	}
}

// reach is how many of the next n frames there are from c, a copy, at a speed.
func (v *voice) reach(c cursor, s speed, n int) (got int) {
	all := c
	if v.slide(&all, s.sum(n)); all.pos < v.frames {
		return n
	}
	for ; got < n && c.pos < v.frames; got++ {
		s.step += s.by
		v.slide(&c, s.step)
	}
	return got
}

// bend puts the next n frames of a PCM from c, a copy, into m.input, as many as there are, and
// returns the scale of its samples.
func (m *Mixer) bend(v *voice, c cursor, n int) (got int, scale float32) {
	out := m.input[:v.samples(n)]
	if v.pcm.S16 != nil {
		return bend(m, v, v.pcm.S16, c, out), scale16
	}
	got = bend(m, v, v.pcm.F32, c, out)
	if v.pcm.dirty() {
		mend(out[:v.samples(got)])
	}
	return got, 1
}

func bend[S sample](m *Mixer, v *voice, all []S, c cursor, out []float32) (got int) {
	if v.fine != nil {
		return bendFine(m, v, all, c, out)
	}
	ch := v.samples(1)
	s := v.speed
	for n := len(out) / ch; got < n && c.pos < v.frames; {
		k := min(v.free(&c), n-got)
		if k = s.within(k, 1<<20); k > 0 {
			way := (c.frac + s.sum(k)) / one
			src := all[int(c.pos-1)*ch : min(int(c.pos+way+3)*ch, len(all))]
			bendRun(m, out[got*ch:(got+k)*ch], src, ch, stride{c.frac, s.step + s.by, s.by})
		} else {
			k = 1
			bendSeam(v, all, &c, out[got*ch:(got+1)*ch])
		}
		v.slide(&c, s.sum(k))
		s.step += s.by * int64(k)
		got += k
	}
	return got
}

// free is how many frames of the mixer can be made from c before the four frames around the place
// are no more next to each other in the PCM.
func (v *voice) free(c *cursor) int {
	last := v.limit(c) - 2 // the place must stay below it
	if c.pos >= last || c.pos == 0 || c.seamed() {
		return 0
	}
	fastest := max(v.speed.step, v.speed.to)
	way := min(last-c.pos, 1<<24)*one - c.frac
	return int((way + fastest - 1) / fastest)
}

// A stride goes through frames: from frac behind the second one, by steps that grow by by.
type stride struct{ frac, step, by int64 }

// bendRun makes frames from those of src. An int16 takes part in four frames or more where the pitch
// is not high, so it is brought to float32 once, first.
func bendRun[S sample](m *Mixer, out []float32, src []S, ch int, p stride) {
	if whole, ok := any(src).([]int16); ok && len(src) <= len(m.whole) {
		x := m.whole[:len(src)]
		for i, s := range whole {
			x[i] = float32(s)
		}
		bendWhole(out, x, ch, p)
		return
	}
	bendWhole(out, src, ch, p)
}

func bendWhole[S sample](out []float32, src []S, ch int, p stride) {
	if ch == 1 {
		bendMono(out, src, p)
	} else {
		bendStereo(out, src, p)
	}
}

// weightRows is how many places between two frames have weights of their own.
const weightRows = 4096

// weights are those of the frames a, b, c and d at t, from b at 0 to c at 1:
//
//	b + t/2·(c-a + t·(2a-5b+4c-d + t·(3(b-c)+d-a)))
var weights = func() (w [weightRows + 1][4]float32) {
	for i := range w {
		t := float64(i) / weightRows
		w[i] = [4]float32{
			float32(t / 2 * (t*(2-t) - 1)), float32(1 + t/2*t*(3*t-5)),
			float32(t / 2 * (1 + t*(4-3*t))), float32(t / 2 * t * (t - 1)),
		}
	}
	return w
}()

// weightsAt are those of the row next to a place.
func weightsAt(frac int64) *[4]float32 {
	const shift = 32 - 12 // log2 of weightRows
	return &weights[(uint32(frac)>>(shift-1)+1)>>1]
}

func bendMono[S sample](out []float32, src []S, p stride) {
	for i := range out {
		w, s := weightsAt(p.frac), (*[4]S)(src[p.frac>>32:])
		out[i] = cubic(w, float32(s[0]), float32(s[1]), float32(s[2]), float32(s[3]))
		p.frac += p.step
		p.step += p.by
	}
}

func bendStereo[S sample](out []float32, src []S, p stride) {
	for ; len(out) >= 2; out = out[2:] {
		w, s := weightsAt(p.frac), (*[8]S)(src[2*(p.frac>>32):])
		out[0] = cubic(w, float32(s[0]), float32(s[2]), float32(s[4]), float32(s[6]))
		out[1] = cubic(w, float32(s[1]), float32(s[3]), float32(s[5]), float32(s[7]))
		p.frac += p.step
		p.step += p.by
	}
}

// cubic is the spline through a, b, c and d. Its two sums are apart, so that neither waits.
func cubic(w *[4]float32, a, b, c, d float32) float32 {
	return (float32(a*w[0]) + float32(b*w[1])) + (float32(c*w[2]) + float32(d*w[3]))
}

// bendSeam makes one frame where the frames around the place are not next to each other: at either
// end of the sound, beyond which there is silence, and at the ends of the loop.
func bendSeam[S sample](v *voice, all []S, c *cursor, out []float32) {
	w := weightsAt(c.frac)
	for side := range out {
		var s [4]float32
		for i := range s {
			if p := v.around(c, int64(i)-1); p >= 0 && p < v.frames {
				s[i] = float32(all[int(p)*len(out)+side])
			}
		}
		out[side] = cubic(w, s[0], s[1], s[2], s[3])
	}
}

// seamed reports that the frame before the place is not the one before it in the sound.
func (c *cursor) seamed() bool { return c.seam.laps > 0 && c.pos == c.seam.start }

// around is the frame that is played i frames behind c, or the one before it.
func (v *voice) around(c *cursor, i int64) int64 {
	switch p := *c; {
	case i >= 0:
		v.step(&p, i)
		return p.pos
	case c.seamed():
		return c.seam.end - 1
	}
	return c.pos - 1
}

// bendFeed makes the voice's next n frames from a feed, and returns them: n, unless the feed has
// ended. The feed is read three frames ahead of the place.
func (m *Mixer) bendFeed(v *voice, n int) []float32 {
	if v.fine != nil {
		return m.bendFeedFine(v, n)
	}
	f, s, out := &v.flow, v.speed, m.bent[:v.samples(n)]
	if !f.bent {
		f.bent, f.window[0] = true, f.last
		f.whole = m.draw(v, 3)
		for i := range f.whole {
			f.window[1+i] = m.drawn(v, i)
		}
	}
	got, next := 0, 0
	if need := int((v.at.frac + s.sum(n)) / one); need > 0 && !f.over {
		got = m.draw(v, need)
	}
	for i := range n {
		if f.whole <= 0 {
			v.over = true
			return out[:v.samples(i)]
		}
		f.between(v.at.frac, out[v.samples(i):v.samples(i+1)])
		s.step += s.by
		v.at.frac += s.step
		for ; v.at.frac >= one; v.at.frac -= one {
			copy(f.window[:], f.window[1:])
			if f.window[3] = (frame{}); next < got {
				f.window[3] = m.drawn(v, next)
				next++
			} else {
				f.whole--
			}
		}
	}
	v.over = f.whole <= 0
	return out
}

// between is the frame at a place within the window.
func (f *flow) between(frac int64, out []float32) {
	w, x := weightsAt(frac), &f.window
	for side := range out {
		out[side] = cubic(w, x[0][side], x[1][side], x[2][side], x[3][side])
	}
}

// drawn is frame i of those drawn last.
func (m *Mixer) drawn(v *voice, i int) frame {
	if v.mono {
		return frame{m.input[i], m.input[i]}
	}
	return frame{m.input[2*i], m.input[2*i+1]}
}
