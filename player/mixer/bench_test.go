package mixer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopxl/beep/v2"
)

// noise16 is n frames of int16 noise.
func noise16(seed uint64, channels, n int) *PCM {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &PCM{Channels: channels, S16: make([]int16, channels*n)}
	for i := range p.S16 {
		p.S16[i] = int16(r.Uint32())
	}
	return p
}

// float returns p as float32.
func float(p *PCM) *PCM {
	q := &PCM{Channels: p.Channels, F32: make([]float32, len(p.S16))}
	for i, s := range p.S16 {
		q.F32[i] = float32(s) / 32768
	}
	return q
}

// BenchmarkMix mixes looping voices of all kinds, 256 frames at a time. The metric is nanoseconds a
// voice and frame. Moving means that every voice gets a new gain and a new pan with every block.
func BenchmarkMix(b *testing.B) {
	for _, kind := range []string{"s16mono", "s16stereo", "f32mono", "f32stereo"} {
		for _, voices := range []int{1, 32, 64, 512} {
			for _, moving := range []bool{false, true} {
				name := fmt.Sprintf("%s/%d/moving=%v", kind, voices, moving)
				b.Run(name, func(b *testing.B) { benchMix(b, kind, voices, moving) })
			}
		}
	}
}

func benchMix(b *testing.B, kind string, voices int, moving bool) {
	m := New(Config{Voices: 512, Queue: 2048})
	var clips [8]*PCM
	for i := range clips {
		channels := 1
		if kind[3:] == "stereo" {
			channels = 2
		}
		clips[i] = noise16(uint64(i), channels, 88200)
		if kind[:3] == "f32" {
			clips[i] = float(clips[i])
		}
	}
	ids := make([]Voice, voices)
	for i := range ids {
		ids[i], _ = m.PlayPCM(clips[i%8], Params{Gain: -6, Pan: float64(i%9-4) / 5, Loop: &Loop{}})
	}
	block := make([]float32, 512)
	m.Mix(block)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n++; moving {
			for i, id := range ids {
				m.SetGain(id, -float64((n+i)%20))
				m.SetPan(id, float64((n+i)%21-10)/10)
			}
		}
		m.Mix(block)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*256*voices), "ns/voiceframe")
}

// BenchmarkBeep is the same by beep.Mixer, which has neither gain nor pan.
func BenchmarkBeep(b *testing.B) {
	for _, channels := range []int{1, 2} {
		for _, voices := range []int{1, 32, 64} {
			b.Run(fmt.Sprintf("%d channels/%d", channels, voices), func(b *testing.B) {
				format := beep.Format{SampleRate: 48000, NumChannels: channels, Precision: 2}
				buf := beep.NewBuffer(format)
				buf.Append(beep.Take(88200, beep.StreamerFunc(func(x [][2]float64) (int, bool) {
					for i := range x {
						x[i] = [2]float64{rand.Float64() - 0.5, rand.Float64() - 0.5}
					}
					return len(x), true
				})))
				var m beep.Mixer
				for range voices {
					s, err := beep.Loop2(buf.Streamer(0, buf.Len()))
					if err != nil {
						b.Fatal(err)
					}
					m.Add(s)
				}
				block := make([][2]float64, 256)
				b.ReportAllocs()
				for b.Loop() {
					m.Stream(block)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*256*voices), "ns/voiceframe")
			})
		}
	}
}

// BenchmarkPlay is a start and the first block of one voice.
func BenchmarkPlay(b *testing.B) {
	m := New(Config{})
	p := noise16(1, 2, 200)
	block := make([]float32, 512)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.PlayPCM(p, Params{}); err != nil {
			b.Fatal(err)
		}
		m.Mix(block)
	}
}

// BenchmarkIdle is a block without voices, beside as many paused ones: what is not heard costs next
// to nothing.
func BenchmarkIdle(b *testing.B) {
	for _, voices := range []int{0, 256} {
		b.Run(fmt.Sprintf("%d paused", voices), func(b *testing.B) {
			m := New(Config{Voices: 1000})
			for range voices {
				m.PlayPCM(noise16(1, 1, 200), Params{Paused: true})
			}
			block := make([]float32, 512)
			b.ReportAllocs()
			for b.Loop() {
				m.Mix(block)
			}
		})
	}
}
