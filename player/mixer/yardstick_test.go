//go:build unix

package mixer

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// BenchmarkYardstick does the work of the other mixers that this one is measured against, and prints
// a line "R name value unit" for each, as their programs do: processor time of the whole process, in
// nanoseconds a voice and frame, of looping voices with a gain and a pan of their own, 256 frames at a
// time. The folder IN of the environment holds their clips, clip0_mo.wav to clip7_st.wav; without it
// the clips are noise. For a run beside them, build it once and name it in their list:
//
//	go test -c -o mixer.test ./player/mixer
//	mixer.test -test.run ^$ -test.bench Yardstick/ch1/rs0/n64 -test.benchtime 2000x
//
// ch is the channels of the clips. rs0 plays them at the mixer's rate; cubic at 44.1 kHz in a mixer at
// 48 kHz, by pitch. Moving means that every voice gets a new gain and a new pan with every block.
func BenchmarkYardstick(b *testing.B) {
	for ch := 1; ch <= 2; ch++ {
		for _, rate := range []string{"rs0", "cubic"} {
			for _, n := range []int{1, 32, 64, 512} {
				for _, moving := range []string{"", "/moving"} {
					name := fmt.Sprintf("ch%d/%s/n%d%s", ch, rate, n, moving)
					b.Run(name, func(b *testing.B) { yardstick(b, name, ch, n, rate == "cubic", moving != "") })
				}
			}
		}
	}
	b.Run("play", yardstickPlay)
}

func yardstick(b *testing.B, name string, ch, n int, cubic, moving bool) {
	v := Params{Gain: -6, Loop: &Loop{}, Pitch: 1}
	if cubic {
		v.Pitch = 44100.0 / 48000
	}
	m := New(Config{Rate: 44100, Voices: n, Queue: 2 * n})
	ids := make([]Voice, n)
	for i := range ids {
		var err error
		v.Pan, v.Start = float64(i%9-4)/5, int64(i*997%80000)
		if ids[i], err = m.PlayPCM(peerClip(b, i%8, ch), v); err != nil {
			b.Fatal(err)
		}
	}
	block := make([]float32, 512)
	m.Mix(block)
	blocks, begun := 0, processTime(b)
	for b.Loop() {
		if blocks++; moving {
			for i, id := range ids {
				m.SetGain(id, -float64((blocks+i)%20))
				m.SetPan(id, float64((blocks+i)%21-10)/10)
			}
		}
		m.Mix(block)
	}
	tell(b, "go:sndpak/"+name, float64(processTime(b)-begun)/float64(blocks*256*n), "ns/vframe")
}

// yardstickPlay is a start and the first block of one voice, whose sound is in that block.
func yardstickPlay(b *testing.B) {
	m := New(Config{Rate: 44100})
	p := &PCM{Channels: 1, S16: peerClip(b, 0, 1).S16[:200]}
	p.S16[0] = 1000
	block := make([]float32, 512)
	plays, heard, begun := 0, 0, processTime(b)
	for b.Loop() {
		if _, err := m.PlayPCM(p, Params{}); err != nil {
			b.Fatal(err)
		}
		m.Mix(block)
		if plays++; block[0] != 0 {
			heard++
		}
	}
	if heard != plays {
		b.Errorf("%d of %d plays were heard in their first block", heard, plays)
	}
	tell(b, "go:sndpak-play", float64(processTime(b)-begun)/float64(plays), "ns/play")
}

func tell(b *testing.B, name string, value float64, unit string) {
	b.ReportMetric(value, unit)
	fmt.Printf("\nR %s %.4g %s\n", name, value, unit)
}

// processTime is the processor time of all threads so far.
func processTime(b *testing.B) int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return r.Utime.Nano() + r.Stime.Nano()
}

var peerClips = map[string]*PCM{}

// peerClip is the clip that the other programs play too, or two seconds of noise.
func peerClip(b *testing.B, i, ch int) *PCM {
	name := fmt.Sprintf("clip%d_%s.wav", i, map[int]string{1: "mo", 2: "st"}[ch])
	if p := peerClips[name]; p != nil {
		return p
	}
	p := noise16(uint64(i), ch, 88200)
	if dir := os.Getenv("IN"); dir != "" {
		x, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(x) < 44 || !strings.HasPrefix(string(x), "RIFF") {
			b.Fatalf("%s: %v, %d bytes", name, err, len(x))
		}
		p = &PCM{Channels: ch, S16: make([]int16, (len(x)-44)/2)}
		for k := range p.S16 {
			p.S16[k] = int16(binary.LittleEndian.Uint16(x[44+2*k:]))
		}
	}
	peerClips[name] = p
	runtime.GC() // not while others are measured
	return p
}
