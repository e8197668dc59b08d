package mixer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestPitch(t *testing.T) {
	r := seconds(t)
	r.play(count(9), Params{Pitch: 2})
	r.want("twice as fast", 1, 3, 5, 7, 9, 0)
	r.play(count(5), Params{Pitch: 4, Start: 1})
	r.want("four times", 2, 0)
	r.play(count(10), Params{Pitch: 0.5, Start: 2})
	r.want("half as fast", 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5)
	r.mix(20)
	r.play(&PCM{Channels: 2, S16: []int16{0, 8192, 0, 8192, 0, 8192, 0, 8192, 0, 8192, 0, 8192}}, Params{Pitch: 0.25, Start: 2})
	if x := r.mix(4); !slices.Equal(x, []float32{0, 0.25, 0, 0.25, 0, 0.25, 0, 0.25}) {
		t.Errorf("stereo: %v", x)
	}
}

func TestPitchLoops(t *testing.T) {
	r := seconds(t)
	r.play(count(4), Params{Pitch: 3, Loop: &Loop{}})
	r.want("three in four", 1, 4, 3, 2, 1, 4, 3, 2)
	r = seconds(t)
	id := r.play(count(4), Params{Pitch: 9, Loop: &Loop{Start: 1, End: 3, Count: 3}})
	r.want("further than all turns", 1, 0)
	if !r.State(id).Ended {
		t.Error("not ended")
	}
	id = r.play(count(4), Params{Pitch: 8, Loop: &Loop{Start: 1, End: 3}})
	r.want("several turns at a time", 1, 3, 3, 3)
	if s := r.State(id); s.Loops != 15 || s.Position != 2 {
		t.Errorf("%+v, want 15 loops, position 2", s)
	}
}

// Across the seam of a loop the curve goes on as if the frames lay side by side.
func TestPitchSeam(t *testing.T) {
	const n = 480 // ten periods
	p := tone(1000, 48000, 1, n)
	r := newRig(t, Config{})
	r.play(p, Params{Pitch: 0.7, Loop: &Loop{}})
	x := r.left(5000)[700:]
	if a, rest := fit(x, 700, 48000); rest-20*math.Log10(a) > -75 {
		t.Errorf("a loop of whole periods leaves %.1f dB beside the tone", rest)
	}
}

// How true the cubic is: what is left of a tone beside itself.
func TestPitchQuality(t *testing.T) {
	for _, c := range []struct{ hz, pitch, most float64 }{
		{100, 0.9, -120}, {1000, 44100.0 / 48000, -80}, {1000, 1.5, -80}, {5000, 0.7, -40},
	} {
		for _, channels := range []int{1, 2} {
			p := tone(c.hz, 48000, channels, 48000)
			for i := range p.F32 {
				p.F32[i] /= 2
			}
			r := newRig(t, Config{})
			r.play(p, Params{Pitch: c.pitch})
			a, rest := fit(r.left(20000)[100:], c.hz*c.pitch, 48000)
			if dB := rest - 20*math.Log10(a); dB > c.most {
				t.Errorf("%v Hz at pitch %.3f: %.1f dB beside the tone, want below %v", c.hz, c.pitch, dB, c.most)
			} else {
				t.Logf("%v Hz at pitch %.3f, %d channels: %.1f dB", c.hz, c.pitch, channels, dB)
			}
		}
	}
}

func TestSetPitch(t *testing.T) {
	r := seconds(t)
	id := r.play(count(30), Params{})
	r.want("as it is", 1, 2)
	r.ok(r.SetPitch(id, 2))
	r.want("twice as fast", 3, 5, 7)
	r.ok(r.At(6).SetPitch(id, 4))
	r.want("planned", 9, 11, 15)
	r.ok(r.SetPitch(id, 1))
	r.want("as it is again", 19, 20, 21)
	for _, bad := range []float64{0, -1, 65, 0.01, math.NaN(), math.Inf(1)} {
		if err := r.SetPitch(id, bad); !errors.Is(err, ErrValue) {
			t.Errorf("pitch %v: %v, want ErrValue", bad, err)
		}
		if _, err := r.PlayPCM(count(1), Params{Pitch: bad}); bad != 0 && !errors.Is(err, ErrValue) {
			t.Errorf("pitch %v: %v, want ErrValue", bad, err)
		}
	}
}

// A change of pitch takes no step, in a PCM and in a feed alike, and both give the same frames.
func TestPitchGlides(t *testing.T) {
	p := tone(100, 48000, 1, 48000)
	own, _ := largestStep(r2(p.F32))
	var outs [4][]float32
	for i := range outs {
		o := Params{Interpolation: Interpolation(i / 2)}
		start := func(r rig) Voice { return r.play(p, o) }
		if i%2 == 1 {
			start = func(r rig) Voice { return r.feed(&soundFeed{p: p}, o) }
		}
		r := newRig(t, Config{})
		id := start(r)
		r.ok(r.At(500).SetPitch(id, 2))
		r.ok(r.At(600).SetPitch(id, 0.25))
		r.ok(r.At(3000).SetPitch(id, 1))
		x := r.mix(10000)
		outs[i] = x
		if step, at := largestStep(x); step > own*2.0001 {
			t.Errorf("interpolation %d: step of %.5f at frame %d, at twice the speed own steps are %.5f", i/2, step, at, 2*own)
		}
	}
	for k := range outs[0] {
		for i := 0; i < len(outs); i += 2 {
			if outs[i][k] != outs[i+1][k] {
				t.Fatalf("interpolation %d, sample %d: %v from memory, %v from a feed", i/2, k, outs[i][k], outs[i+1][k])
			}
		}
	}
}

// r2 is a mono sound in stereo.
func r2(x []float32) (y []float32) {
	for _, v := range x {
		y = append(y, v, v)
	}
	return y
}

// Feeds end at the very frame at which the sound does.
func TestPitchFeedEnds(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 4, 50} {
		for _, pitch := range []float64{0.3, 0.5, 1.7, 2, 11} {
			for name, kind := range kinds {
				r := newRig(t, Config{})
				r.feed(&soundFeed{p: count(n)}, Params{Pitch: pitch, Interpolation: kind})
				r.mix(400)
				want := int64(math.Ceil(float64(n) * one / math.Round(pitch*one)))
				if last, idle := r.Idle(); !idle || last != want {
					t.Errorf("%d frames at pitch %v, %s: idle %v since frame %d, want %d", n, pitch, name, idle, last, want)
				}
			}
		}
	}
}

func TestPitchHostile(t *testing.T) {
	nan := float32(math.NaN())
	r := newRig(t, Config{})
	p := &PCM{Channels: 1, F32: []float32{1, nan, 3e38, -3e38, 3e38, float32(math.Inf(1)), 1, 1, 1, 1, 1, 1, 1}}
	r.play(p, Params{Pitch: 0.3, Loop: &Loop{}})
	r.feed(&soundFeed{p: p}, Params{Pitch: 0.3})
	r.play(p, Params{Pitch: 0.3, Loop: &Loop{}, Interpolation: Sinc})
	r.feed(&soundFeed{p: p}, Params{Pitch: 0.3, Interpolation: Sinc})
	for i, x := range r.mix(300) {
		if x-x != 0 {
			t.Fatalf("sample %d is %v", i, x)
		}
	}
}

// The metric is nanoseconds a voice and frame.
func BenchmarkPitch(b *testing.B) {
	for _, channels := range []int{1, 2} {
		for _, wide := range []bool{false, true} {
			for _, pitch := range []float64{44100.0 / 48000, 1.5} {
				for name, kind := range kinds {
					b.Run(fmt.Sprintf("%d channels/wide=%v/%.2f/%s", channels, wide, pitch, name), func(b *testing.B) {
						p := noise16(1, channels, 88200)
						if wide {
							p = float(p)
						}
						benchPitch(b, p, Params{Pitch: pitch, Loop: &Loop{}, Interpolation: kind})
					})
				}
			}
		}
	}
}

func benchPitch(b *testing.B, p *PCM, o Params) {
	const voices = 64
	m := New(Config{Rate: 48000})
	for i := range voices {
		o.Start = int64(i * 997)
		m.PlayPCM(p, o)
	}
	block := make([]float32, 512)
	b.ReportAllocs()
	for b.Loop() {
		m.Mix(block)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*256*voices), "ns/voiceframe")
}
