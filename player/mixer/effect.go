package mixer

import "github.com/gopxl/beep/v2"

// An Effect returns a streamer that treats what it reads from in, as those of package
// beep/effects do. It must read as many frames as it gives. What it returns is read by Mix, and so
// must not block; if it allocates, as some of beep's do, mixing does.
type Effect func(in beep.Streamer) beep.Streamer

// SetEffect puts an effect into a bus, ahead of its gains, or with nil takes it out. The sound passes
// from one to the other within 5 ms. e is called at once, and not by Mix.
func (c Commands) SetEffect(b Bus, e Effect) error {
	x := &effect{}
	if e != nil {
		x.out = e(&x.in)
	}
	return c.sendParcel(b, &parcel{kind: opEffect, effect: x})
}

// An effect is one in a bus; without out it changes nothing.
type effect struct {
	in  inlet
	out beep.Streamer
	buf [maxChunk][2]float64
}

// inlet is what an effect reads from.
type inlet struct{ frames []frame }

func (in *inlet) Stream(samples [][2]float64) (n int, ok bool) {
	for i := range samples {
		if i == len(in.frames) { // more than it may: silence, rather than an end
			clear(samples[i:])
			break
		}
		samples[i] = [2]float64{float64(in.frames[i][0]), float64(in.frames[i][1])}
	}
	in.frames = in.frames[min(len(samples), len(in.frames)):]
	return len(samples), true
}

func (in *inlet) Err() error { return nil }

// run treats x in place. What an effect does not give is silence.
func (e *effect) run(x []frame) {
	if e == nil || e.out == nil {
		return
	}
	e.in.frames = x
	got := 0
	for ok := true; ok && got < len(x); {
		var n int
		n, ok = e.out.Stream(e.buf[got:len(x)])
		got += n
		ok = ok && n > 0
	}
	clear(e.buf[got:len(x)])
	for i := range x {
		x[i] = frame{mended(float32(e.buf[i][0])), mended(float32(e.buf[i][1]))}
	}
}

// An effectSlot is the effect in a bus and, for a while, the one before it.
type effectSlot struct {
	now, old *effect
	change   span
}

// on reports whether there is anything to do.
func (e *effectSlot) on() bool { return e.change.moving() || e.now != nil && e.now.out != nil }

func (e *effectSlot) set(x *effect, ramp int) {
	e.now, e.old, e.change = x, e.now, span{0, ramp}
}

// apply treats x, and passes from the old effect to the new one.
func (e *effectSlot) apply(x []frame, m *Mixer) {
	if !e.change.moving() {
		e.now.run(x)
		return
	}
	before := m.gains[:copy(m.gains[:], x)]
	e.old.run(before)
	e.now.run(x)
	for i := range x {
		if e.change.k == e.change.n {
			break
		}
		w := m.curve[e.change.k]
		for side := range x[i] {
			x[i][side] = before[i][side] + float32(w*(x[i][side]-before[i][side]))
		}
		e.change.k++
	}
	if !e.change.moving() {
		e.old = nil
	}
}
