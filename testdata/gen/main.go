// Command gen makes the project's own test sounds. Run it at the root of the module:
//
//	go run ./testdata/gen                    writes the three WAV files of testdata/sounds
//	go run ./testdata/gen -theme theme.wav   writes the PCM of the theme as well
//
// theme.ogg and theme.mp3 are encoded from that last file with the commands in
// testdata/README.md. Everything is synthesised from fixed seeds, so that the same source gives the
// same bytes; the test beside this file compares them with the files of the tree.
//
// The program needs nothing of the tree around it, so that it can never be wrong in the same way
// as the decoders that play its sounds.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// peak is the highest sample of every sound: -3 dBFS.
var peak = math.Pow(10, -3.0/20)

// wavs are the sounds that are kept as WAV, by file name.
var wavs = map[string]func() []byte{
	"drumloop.wav": func() []byte { return drumloop().encode() },
	"jaguar.wav":   func() []byte { return jaguar().encode() },
	"swish.wav":    func() []byte { return swish().encode() },
}

func main() {
	dir := flag.String("dir", filepath.Join("testdata", "sounds"), "folder to write the WAV files to")
	tune := flag.String("theme", "", "file to write the PCM of the theme to, as WAV")
	flag.Parse()
	if err := write(*dir, *tune); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(dir, tune string) error {
	for name, sound := range wavs {
		if err := os.WriteFile(filepath.Join(dir, name), sound(), 0o644); err != nil {
			return err
		}
	}
	if tune == "" {
		return nil
	}
	return os.WriteFile(tune, theme().encode(), 0o644)
}

// A track is sound in the making: full scale is 1, and all channels have the same length.
type track struct {
	rate int
	loop bool // it is heard round and round; else it begins and ends in silence
	ch   [][]float64
}

func newTrack(rate, channels, frames int, loop bool) *track {
	t := &track{rate: rate, loop: loop, ch: make([][]float64, channels)}
	for c := range t.ch {
		t.ch[c] = make([]float64, frames)
	}
	return t
}

// add mixes a mono sound in at a time in seconds, with pan from -1 (left) to 1 (right) at equal
// power. What passes the end goes on at the start: the tail of a loop sounds under its beginning.
func (t *track) add(at, gain, pan float64, src []float64) {
	left, right := math.Sincos((1 - pan) * math.Pi / 4)
	start := int(math.Round(at * float64(t.rate)))
	for i, x := range src {
		j := (start + i) % len(t.ch[0])
		t.ch[0][j] += x * gain * left
		t.ch[1][j] += x * gain * right
	}
}

// master takes off what is left of DC, bends the loudest peaks softly with the given drive, and
// brings the highest to the common peak. It keeps no state, so that a loop stays one.
func (t *track) master(drive float64) *track {
	t.block()
	t.scale(1)
	for _, ch := range t.ch {
		for i := range ch {
			ch[i] = math.Tanh(drive * ch[i])
		}
	}
	t.block()
	t.scale(peak)
	return t
}

// block takes the mean off every channel: evenly from a loop, else as half a sine, which leaves
// the silence at both ends alone.
func (t *track) block() {
	for _, ch := range t.ch {
		mean := average(ch)
		for i := range ch {
			if t.loop {
				ch[i] -= mean
			} else {
				ch[i] -= mean * math.Pi / 2 * math.Sin(math.Pi*float64(i)/float64(len(ch)))
			}
		}
	}
}

func average(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// scale brings the highest sample of all channels to level.
func (t *track) scale(level float64) {
	top := 0.0
	for _, ch := range t.ch {
		for _, v := range ch {
			top = max(top, math.Abs(v))
		}
	}
	for _, ch := range t.ch {
		for i := range ch {
			ch[i] *= level / top
		}
	}
}

// encode returns the track as a 16-bit WAV file. A loop has a smpl chunk that covers all of it.
func (t *track) encode() []byte {
	le, channels, frames := binary.LittleEndian, len(t.ch), len(t.ch[0])
	form := le.AppendUint16(nil, 1) // WAVE_FORMAT_PCM
	form = le.AppendUint16(form, uint16(channels))
	form = le.AppendUint32(form, uint32(t.rate))
	form = le.AppendUint32(form, uint32(t.rate*channels*2))
	form = le.AppendUint16(form, uint16(channels*2))
	form = le.AppendUint16(form, 16)
	body := append([]byte("WAVE"), chunk("fmt ", form)...)
	if t.loop {
		body = append(body, chunk("smpl", samplerLoop(t.rate, frames))...)
	}
	data := make([]byte, 0, frames*channels*2)
	for i := range frames {
		for _, ch := range t.ch {
			data = le.AppendUint16(data, uint16(int16(math.Round(ch[i]*32767))))
		}
	}
	return chunk("RIFF", append(body, chunk("data", data)...))
}

func chunk(id string, body []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(id), uint32(len(body)))
	return append(out, body...) // every body here is even: no pad byte
}

// samplerLoop is the body of a smpl chunk with one forward loop for ever, as in Microsoft's "New
// Multimedia Data Types and Data Techniques" (1994): nine words, then six for the loop. The end of
// a loop is the last frame played, not the one behind it.
func samplerLoop(rate, frames int) []byte {
	period := uint32(math.Round(1e9 / float64(rate))) // nanoseconds a frame
	const middleC, loops = 60, 1
	var out []byte
	for _, word := range []uint32{
		0, 0, period, middleC, 0, 0, 0, loops, 0, // maker, product, period, note, fraction, SMPTE x2, loops, extra
		0, 0, 0, uint32(frames - 1), 0, 0, // name, kind, start, end, fraction, times
	} {
		out = binary.LittleEndian.AppendUint32(out, word)
	}
	return out
}
