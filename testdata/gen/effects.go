package main

import (
	"math"
	"math/rand/v2"
)

// beat is a quarter note in seconds: 96 a minute, for the drums and the theme, so that eight turns
// of the drum loop last as long as the theme and both can run together.
const beat = 60.0 / 96

// noise gives white noise in [-1, 1). It takes its bits straight from the generator, whose
// algorithm is fixed by its documentation.
func noise(seed uint64) func() float64 {
	bits := rand.NewPCG(seed, 0x736e6470616b)
	return func() float64 { return float64(int64(bits.Uint64())) / (1 << 63) }
}

// render calls f for every frame of a stretch of time, given in seconds.
func render(rate int, seconds float64, f func(t float64) float64) []float64 {
	out := make([]float64, int(math.Round(seconds*float64(rate))))
	for i := range out {
		out[i] = f(float64(i) / float64(rate))
	}
	return out
}

// A filter is the state-variable filter by trapezoidal integration (V. Zavalishin, The Art of VA
// Filter Design, chapter 4): it stays stable while its frequency moves.
type filter struct{ rate, s1, s2 float64 }

// step returns the low, band and high pass at frequency hz; band has gain 1 at its middle.
func (f *filter) step(x, hz, q float64) (low, band, high float64) {
	g, k := math.Tan(math.Pi*hz/f.rate), 1/q
	high = (x - (g+k)*f.s1 - f.s2) / (1 + g*(g+k))
	v1 := g*high + f.s1
	v2 := g*v1 + f.s2
	f.s1, f.s2 = v1+g*high, v2+g*v1
	return v2, v1 * k, high
}

// room adds a small feedback delay network of four lines (J.-M. Jot, 1991) to a looping stereo
// track. The loop runs through it until the echoes are those of a loop heard for ever.
func (t *track) room(wet, t60 float64) {
	delays := [4]int{1297, 1559, 1877, 2203} // primes near 30 to 50 ms
	var lines [4][]float64
	var back, low [4]float64
	for k, d := range delays {
		lines[k] = make([]float64, d)
		back[k] = math.Pow(10, -3*float64(d)/(t60*float64(t.rate)))
	}
	frames := len(t.ch[0])
	warm := (1 + int(3*t60*float64(t.rate))/frames) * frames // down by 180 dB
	for i := range warm + frames {
		in := [2]float64{t.ch[0][i%frames], t.ch[1][i%frames]}
		sum := 0.0
		for k, d := range delays {
			low[k] += 0.55 * (lines[k][i%d] - low[k])
			sum += low[k]
		}
		for k, d := range delays {
			lines[k][i%d] = in[k%2] + back[k]*(low[k]-sum/2)
		}
		if i >= warm {
			t.ch[0][i%frames] += wet * (low[0] + low[2])
			t.ch[1][i%frames] += wet * (low[1] + low[3])
		}
	}
}

// drumloop is one bar of 2/4 with sixteenths a little late on the off beats.
func drumloop() *track {
	const rate, step = 44100, beat / 4
	t := newTrack(rate, 2, 55125, true) // 8 steps
	at := func(n int) float64 { return step * (float64(n) + 0.14*float64(n%2)) }
	for n, gain := range [8]float64{1, 0, 0, 0.55, 0, 0, 0.7, 0} {
		t.add(at(n), 0.8*gain, 0, kick(rate))
	}
	for n, gain := range [8]float64{0, 0, 0, 0, 1, 0, 0, 0.22} {
		t.add(at(n), 0.85*gain, -0.1, snare(rate, uint64(20+n)))
	}
	for n, gain := range [8]float64{0.6, 0.3, 1, 0.35, 0.6, 0.3, 0, 0.4} {
		t.add(at(n), 0.4*gain, 0.35, hat(rate, 0.03, uint64(40+n)))
	}
	t.add(at(6), 0.3, 0.35, hat(rate, 0.09, 60)) // the open one
	t.room(0.1, 0.35)
	return t.master(1.6)
}

// kick is a sine that falls from 190 to 47 Hz.
func kick(rate int) []float64 {
	phase := 0.0
	return render(rate, 0.6, func(t float64) float64 {
		phase += (47 + 143*math.Exp(-t/0.028)) / float64(rate)
		return math.Sin(2*math.Pi*phase) * math.Exp(-t/0.13) * min(1, t/0.001) * (1 - t/0.6)
	})
}

// snare is two modes of a skin and the noise of the wires.
func snare(rate int, seed uint64) []float64 {
	wires, band := noise(seed), filter{rate: float64(rate)}
	return render(rate, 0.5, func(t float64) float64 {
		skin := math.Sin(2*math.Pi*187*t) + 0.6*math.Sin(2*math.Pi*331*t)
		_, hiss, high := band.step(wires(), 2600, 0.7)
		return (0.5*skin*math.Exp(-t/0.06) + (hiss+0.4*high)*math.Exp(-t/0.085)) * min(1, t/0.001) * (1 - t/0.5)
	})
}

// hat is noise and six square waves that fit no scale, above 7 kHz, fading within decay seconds.
func hat(rate int, decay float64, seed uint64) []float64 {
	hiss, high := noise(seed), filter{rate: float64(rate)}
	return render(rate, 8*decay, func(t float64) float64 {
		x := 0.8 * hiss()
		for _, hz := range [6]float64{2051, 3040, 3697, 4437, 5403, 8000} {
			x += 0.2 * math.Copysign(1, math.Sin(2*math.Pi*hz*t))
		}
		_, _, x = high.step(x, 7500, 0.9)
		return x * math.Exp(-t/decay) * min(1, t/0.0005) * (1 - t/(8*decay))
	})
}

// jaguar is a growl: rough glottal pulses and breath through four formants of a mouth that opens
// and closes. It is there from the first millisecond.
func jaguar() *track {
	const rate = 22050
	t := newTrack(rate, 1, rate, false)
	source := growl(rate)
	formants := [4]struct{ from, to, q, gain float64 }{
		{270, 560, 4, 1}, {780, 1180, 6, 0.6}, {2100, 2500, 8, 0.35}, {3500, 3700, 8, 0.2},
	}
	var mouth [4]filter
	rumble := filter{rate: rate}
	t.ch[0] = render(rate, 1, func(at float64) float64 {
		x, open, sum := source(at), math.Sin(math.Pi*math.Pow(at, 0.6)), 0.0
		for k, f := range formants {
			mouth[k].rate = rate
			_, band, _ := mouth[k].step(x, f.from+open*(f.to-f.from), f.q)
			sum += f.gain * band
		}
		shape := min(1, at/0.003) * (0.8*math.Exp(-at/0.12) + open) * min(1, (1-at)/0.15)
		_, _, high := rumble.step(sum*shape, 45, 0.7)
		return high
	})
	return t.master(2.2)
}

// growl is the source of jaguar: Rosenberg's pulse (JASA 49, 1971), differentiated as lips do,
// with every pulse off in time and strength, every second one weak, and breath where it is open.
func growl(rate int) func(t float64) float64 {
	const opening, closing = 0.4, 0.16
	wild, breath := noise(7), noise(8)
	phase, last, odd := opening, 1.0, false // starts as the glottis snaps shut, which is loudest
	length, strength := 1.0, 1.0
	return func(t float64) float64 {
		phase += (48 + 42*math.Sin(math.Pi*math.Pow(t, 0.7))) * length / float64(rate)
		if phase >= 1 {
			phase, odd = phase-1, !odd
			length, strength = 1+0.12*wild(), 0.85+0.15*wild()
			if odd {
				strength *= 0.62
			}
		}
		flow := 0.0
		if phase < opening {
			flow = strength * (0.5 - 0.5*math.Cos(math.Pi*phase/opening))
		} else if phase < opening+closing {
			flow = strength * math.Cos(math.Pi/2*(phase-opening)/closing)
		}
		slope := (flow - last) * float64(rate) / 1500
		last = flow
		return slope + (0.1+0.5*flow)*breath()
	}
}

// swish is a band of noise that rises, falls and passes from the left to the right.
func swish() *track {
	const rate, seconds = 48000, 0.4
	t := newTrack(rate, 2, 19200, false)
	for c, ch := range t.ch {
		air, own := noise(3), noise(uint64(4+c)) // mostly the same on both sides
		band, top := filter{rate: rate}, filter{rate: rate}
		copy(ch, render(rate, seconds, func(at float64) float64 {
			p := at / seconds
			hz := 500 + 4700*math.Pow(math.Sin(math.Pi*math.Pow(p, 0.8)), 2)
			_, x, _ := band.step(air()+0.3*own(), hz, 2.2)
			_, x, _ = top.step(x, hz, 1.2)
			side := [2]float64{math.Cos(p * math.Pi / 2), math.Sin(p * math.Pi / 2)}[c]
			return x * side * math.Pow(math.Sin(math.Pi*math.Pow(p, 0.85)), 2)
		}))
	}
	return t.master(1.2)
}
