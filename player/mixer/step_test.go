package mixer

import (
	"fmt"
	"math"
	"testing"
)

// sineTone is a tone of 100 Hz at amplitude 1/2, stereo, as int16 or float32.
func sineTone(rate int, wide bool) *PCM {
	p := tone(100, float64(rate), 2, rate)
	if wide {
		for i := range p.F32 {
			p.F32[i] /= 2
		}
		return p
	}
	q := &PCM{Channels: 2, S16: make([]int16, len(p.F32))}
	for i, x := range p.F32 {
		q.S16[i] = int16(math.Round(float64(x) * 16384))
	}
	return q
}

// largestStep is the largest difference between frames that follow each other, on either side.
func largestStep(x []float32) (step float64, at int) {
	for i := 2; i < len(x); i++ {
		if d := math.Abs(float64(x[i]) - float64(x[i-2])); d > step {
			step, at = d, i/2
		}
	}
	return step, at
}

// No transition of a tone of 100 Hz takes a step larger than the tone itself does, at whatever
// phase it comes.
func TestNoSteps(t *testing.T) {
	transitions := map[string]func(r rig, id Voice){
		"pause":            func(r rig, id Voice) { r.ok(r.Pause(id)) },
		"stop":             func(r rig, id Voice) { r.ok(r.Stop(id, 0)) },
		"stop slowly":      func(r rig, id Voice) { r.ok(r.Stop(id, 5000)) },
		"silence":          func(r rig, id Voice) { r.ok(r.SetGain(id, math.Inf(-1))) },
		"soften":           func(r rig, id Voice) { r.ok(r.SetGain(id, -7)) },
		"pan":              func(r rig, id Voice) { r.ok(r.SetPan(id, 0.1)); r.ok(r.SetGain(id, -3)) },
		"master":           func(r rig, id Voice) { r.ok(r.SetMaster(-60)) },
		"seek half a wave": func(r rig, id Voice) { r.ok(r.Seek(id, 5000)) },
		"seek":             func(r rig, id Voice) { r.ok(r.Seek(id, 3*int64(r.Rate())/800+7)) },
		"seek to the end":  func(r rig, id Voice) { r.ok(r.Seek(id, 1<<40)) },
		"seek while seeking": func(r rig, id Voice) {
			r.ok(r.Seek(id, 1234))
			r.ok(r.At(r.now+50).Seek(id, 7))
			r.ok(r.At(r.now+200).Seek(id, 321))
			r.ok(r.At(r.now+500).Seek(id, 99))
		},
		"pause and resume": func(r rig, id Voice) {
			r.ok(r.Pause(id))
			r.ok(r.At(r.now + 77).Resume(id))
		},
		"pause for long":   func(r rig, id Voice) { r.ok(r.Pause(id)); r.ok(r.At(r.now + 1234).Resume(id)) },
		"fade":             func(r rig, id Voice) { r.ok(r.Fade(id, Fade{Gain: -9})) },
		"fade equal power": func(r rig, id Voice) { r.ok(r.Fade(id, Fade{Gain: math.Inf(-1), Frames: 1000, Curve: EqualPower})) },
		"fade there and back": func(r rig, id Voice) {
			r.ok(r.Fade(id, Fade{Gain: math.Inf(-1)}))
			r.ok(r.At(r.now+100).Fade(id, Fade{Gain: 0, Frames: 2000}))
		},
		"gain again and again": func(r rig, id Voice) {
			for i := range int64(10) {
				r.ok(r.At(r.now+i*64).SetGain(id, -float64(i)))
			}
		},
		"all at once": func(r rig, id Voice) {
			r.ok(r.Pause(id))
			r.ok(r.At(r.now+20).SetGain(id, -20))
			r.ok(r.At(r.now+30).Stop(id, 1000))
			r.ok(r.At(r.now+100).Seek(id, 50))
			r.ok(r.At(r.now + 100).Resume(id))
		},
	}
	for _, rate := range []int{44100, 48000, 22050} {
		for _, wide := range []bool{false, true} {
			if !wide && rate != 48000 {
				continue
			}
			p := sineTone(rate, wide)
			for name, do := range transitions {
				t.Run(fmt.Sprintf("%d/%v/%s", rate, wide, name), func(t *testing.T) {
					own, _ := largestStep(float(&PCM{Channels: 2, S16: p.S16}).F32)
					if wide {
						own, _ = largestStep(p.F32)
					}
					for phase := range 16 {
						r := newRig(t, Config{Rate: rate})
						id := r.play(p, Params{})
						x := r.mix(1000 + phase*rate/100/16)
						do(r, id)
						x = append(x, r.mix(7000)...)
						step, at := largestStep(x)
						// A wave of 16 bits steps up to one of its units unevenly.
						if step > own*1.00001+1.0/32768*map[bool]float64{false: 1}[wide] {
							t.Fatalf("phase %d/16: step of %.6f at frame %d, the tone's own are up to %.6f", phase, step, at, own)
						}
					}
				})
			}
		}
	}
}

// The same for starts: within a sound they fade in, at its first frame they do not.
func TestNoStepAtStart(t *testing.T) {
	p := sineTone(48000, true)
	own, _ := largestStep(p.F32)
	for phase := range 32 {
		for _, fade := range []int{0, 100, 240, 5000} {
			r := newRig(t, Config{})
			x := r.mix(10)
			r.play(p, Params{Start: 960 + int64(phase)*15, FadeIn: max(fade, 0)})
			x = append(x, r.mix(6000)...)
			if fade == 100 {
				continue // shorter than asked for by default: its steps are the caller's choice
			}
			if step, at := largestStep(x); step > own*1.00001 {
				t.Errorf("phase %d/32, fade-in %d: step of %.6f at frame %d, own %.6f", phase, fade, step, at, own)
			}
		}
	}
	r := newRig(t, Config{})
	r.play(&PCM{Channels: 1, S16: []int16{32767, 32767}}, Params{})
	if x := r.left(1); x[0] != 32767.0/32768 {
		t.Errorf("an attack is softened to %v", x[0])
	}
	id := r.play(&PCM{Channels: 1, S16: []int16{32767, 32767}}, Params{Paused: true})
	r.mix(100)
	r.ok(r.Resume(id))
	if x := r.left(1); x[0] != 32767.0/32768 {
		t.Errorf("an attack after a paused start is softened to %v", x[0])
	}
}

// The seam of a loop of whole periods is not heard, at any speed, nor is it when the loop is left or
// changed for another one.
func TestNoStepAtSeam(t *testing.T) {
	p := sineTone(48000, true)
	own, _ := largestStep(p.F32)
	for i, pitch := range []float64{1, 0.7, 1.3, 1, 0.7, 1.3} {
		r := newRig(t, Config{})
		id := r.play(p, Params{Loop: &Loop{Start: 960, End: 4800}, Pitch: pitch, Interpolation: Interpolation(i / 3)})
		r.ok(r.At(20000).SetLoop(id, &Loop{Start: 480, End: 9600, Count: 2}))
		r.ok(r.At(50000).SetLoop(id, nil))
		r.mix(30) // where the sound begins its curve has a corner, as there is nothing before it
		x := r.mix(55000)
		// Places between frames are one of 4096, so that a step may be a fraction of that longer; with
		// the sinc there are other errors of -80 dB.
		if step, at := largestStep(x); step > own*(pitch+1.0/4096)*1.00001+float64(i/3)*0.5e-4 {
			t.Errorf("pitch %v: step of %.6f at frame %d, own %.6f", pitch, step, at, own*pitch)
		}
		if s := r.State(id); s.Loops < 4 || s.Ended {
			t.Errorf("pitch %v: %+v, want some turns and no end", pitch, s)
		}
	}
}

// Ended by its length a voice takes no step either.
func TestNoStepAtLength(t *testing.T) {
	p := sineTone(48000, true)
	own, _ := largestStep(p.F32)
	for n := 1000; n < 1480; n += 15 {
		r := newRig(t, Config{})
		r.play(p, Params{Length: int64(n)})
		if step, at := largestStep(r.mix(2000)); step > own*1.00001 {
			t.Errorf("length %d: step of %.6f at frame %d, own %.6f", n, step, at, own)
		}
	}
}
