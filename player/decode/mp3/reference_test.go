package mp3

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Against other programs: what LAME encodes, and what the maker of this test makes, must come out as
// ffmpeg and libmpg123 decode it.

// mpg123Source is a program that decodes a file to float32 with libmpg123.
const mpg123Source = `
#include <mpg123.h>
#include <stdio.h>
int main(int argc, char **argv) {
	static unsigned char b[65536];
	size_t n; long rate; int channels, encoding, e;
	mpg123_init();
	mpg123_handle *h = mpg123_new(NULL, NULL);
	mpg123_param(h, MPG123_ADD_FLAGS, MPG123_QUIET | MPG123_FORCE_FLOAT | MPG123_GAPLESS, 0);
	if (mpg123_open(h, argv[1]) || mpg123_getformat(h, &rate, &channels, &encoding)) return 1;
	do {
		e = mpg123_read(h, b, sizeof b, &n);
		fwrite(b, 1, n, stdout);
	} while (e == MPG123_OK);
	return 0;
}`

// reference decodes MP3 bytes to float32 samples.
type reference func(t *testing.T, b []byte) []float32

// mpg123Reference builds the program.
func mpg123Reference(t *testing.T) reference {
	cc := needs(t, "cc")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "m.c"), filepath.Join(dir, "m")
	if err := os.WriteFile(source, []byte(mpg123Source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-O2", "-o", program, source, "-lmpg123").CombinedOutput(); err != nil {
		t.Log(string(out))
		missing(t, "libmpg123")
	}
	return commandReference(program, "FILE")
}

func ffmpegReference(t *testing.T) reference {
	return commandReference(needs(t, "ffmpeg"), "-v", "error", "-i", "FILE", "-f", "f32le", "-")
}

// commandReference runs a command on a file that stands for the argument FILE.
func commandReference(name string, args ...string) reference {
	return func(t *testing.T, b []byte) []float32 {
		t.Helper()
		file := filepath.Join(t.TempDir(), "x.mp3")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		args := slices.Clone(args)
		args[slices.Index(args, "FILE")] = file
		out, err := exec.Command(name, args...).Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return floats(out)
	}
}

// sound makes frames of tones, a sweep and bursts of noise, so that encoders use all they have.
func sound(rate, channels, frames int) []float32 {
	rng := rand.New(rand.NewSource(1))
	out := make([]float32, frames*channels)
	for i := range frames {
		t := float64(i) / float64(rate)
		noise := rng.Float64() * math.Exp(-12*math.Mod(t, 0.25))
		a := 0.3*math.Sin(2*math.Pi*220*t) + 0.2*math.Sin(2*math.Pi*(300+float64(rate)/8*t)*t) + 0.2*noise
		b := 0.3*math.Sin(2*math.Pi*331*t) + 0.1*noise
		out[i*channels] = float32(a)
		if channels == 2 {
			out[i*channels+1] = float32(b)
		}
	}
	return out
}

// wav makes a file of 16-bit samples.
func wav(rate, channels int, samples []float32) []byte {
	var b bytes.Buffer
	le := func(v ...any) {
		for _, x := range v {
			binary.Write(&b, binary.LittleEndian, x)
		}
	}
	n := uint32(2 * len(samples))
	b.WriteString("RIFF")
	le(36 + n)
	b.WriteString("WAVEfmt ")
	le(uint32(16), uint16(1), uint16(channels), uint32(rate), uint32(2*rate*channels), uint16(2*channels), uint16(16))
	b.WriteString("data")
	le(n)
	for _, v := range samples {
		le(int16(math.RoundToEven(float64(v) * 32767)))
	}
	return b.Bytes()
}

// lame encodes samples.
func lame(t *testing.T, rate, channels int, samples []float32, args ...string) []byte {
	t.Helper()
	tool := needs(t, "lame")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.wav"), filepath.Join(dir, "out.mp3")
	if err := os.WriteFile(in, wav(rate, channels, samples), 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"--quiet", "--resample", fmt.Sprintf("%g", float64(rate)/1000)}, args...)
	if text, err := exec.Command(tool, append(args, in, out)...).CombinedOutput(); err != nil {
		t.Fatalf("lame %v: %v: %s", args, err, text)
	}
	return readFile(t, out)
}

// compare fails where what is decoded is not what the reference decodes.
func compare(t *testing.T, b []byte, ref reference) {
	t.Helper()
	d := mustOpen(t, b)
	got := readAll(t, d, 1152)
	want := ref(t, b)
	db := snr(got, want)
	if len(got) != len(want) || db < 90 {
		t.Errorf("%s, %d Hz: %d samples, want %d; %.1f dB", d.Description(), d.Rate(), len(got), len(want), db)
	}
	if n, err := d.Frames(); err != nil || n != int64(len(want)/d.Channels()) {
		t.Errorf("%s, %d Hz: %d frames, %v, want %d", d.Description(), d.Rate(), n, err, len(want)/d.Channels())
	}
	if w := d.Warnings(); len(w) > 0 {
		t.Errorf("%s, %d Hz: %q", d.Description(), d.Rate(), w)
	}
}

// Constant bit rates at every sampling frequency, a low one in mono and the highest in stereo. At 24 kHz, and of free format, ffmpeg 5.1
// makes something else than libmpg123 and the conformance vectors do, and is not asked.
func TestAgainstFFmpeg(t *testing.T) {
	needs(t, "lame")
	ref := ffmpegReference(t)
	for _, c := range []struct {
		rates    []int
		bitrates []string
	}{
		{[]int{8000, 11025, 12000}, []string{"8", "64"}},
		{[]int{16000, 22050}, []string{"16", "160"}},
		{[]int{32000, 44100, 48000}, []string{"32", "320"}},
	} {
		for _, rate := range c.rates {
			for channels := 1; channels <= 2; channels++ {
				samples := sound(rate, channels, rate)
				kbps := c.bitrates[channels-1]
				t.Run(fmt.Sprintf("%d Hz, %d, %s kbps", rate, channels, kbps), func(t *testing.T) {
					compare(t, lame(t, rate, channels, samples, "-b", kbps), ref)
				})
			}
		}
	}
	samples := sound(44100, 2, 60000)
	for _, args := range [][]string{
		{"-V", "0"}, {"-V", "9"}, {"--abr", "150"}, {"-p"}, {"-t"}, {"-m", "d"},
	} {
		t.Run(fmt.Sprint(args), func(t *testing.T) { compare(t, lame(t, 44100, 2, samples, args...), ref) })
	}
}

// The same with libmpg123, and what ffmpeg cannot judge.
func TestAgainstMpg123(t *testing.T) {
	needs(t, "lame")
	ref := mpg123Reference(t)
	for _, rate := range []int{8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000} {
		for channels := 1; channels <= 2; channels++ {
			samples := sound(rate, channels, rate)
			for _, args := range [][]string{{"-b", "64"}, {"--freeformat", "-b", "150"}, {"-V", "4"}, {"-m", "f", "--nores"}} {
				if rate < 16000 && args[0] == "--freeformat" {
					continue // LAME refuses
				}
				t.Run(fmt.Sprint(rate, channels, args), func(t *testing.T) {
					compare(t, lame(t, rate, channels, samples, args...), ref)
				})
			}
		}
	}
}

// What no encoder makes: blocks in any order, mixed blocks, intensity stereo.
func TestMadeStreamsAgainstMpg123(t *testing.T) {
	ref := mpg123Reference(t)
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			// A mixed block has 8 long bands in MPEG-1 and 6 in MPEG-2. libmpg123 takes 8 for intensity
			// stereo in both, so that at the lower rates it differs where both are in one block.
			k.noMixed = k.extension&1 != 0 && k.header().lsf()
			if k.extension&1 != 0 && k.bitrate == 15 {
				k.bitrate = 11 // no granule without any bits, whose positions libmpg123 takes from elsewhere
			}
			compare(t, makeStream(int64(i), k, 100).out, ref)
		})
	}
}

// As many frames come out as went in, and where they were.
func TestLameRoundTrip(t *testing.T) {
	for _, frames := range []int{1, 1152, 44100, 44101} {
		for channels := 1; channels <= 2; channels++ {
			samples := sound(44100, channels, frames)
			got := decodeAll(t, lame(t, 44100, channels, samples, "-b", "320", "-k"))
			if len(got) != len(samples) {
				t.Errorf("%d samples, want %d", len(got), len(samples))
			}
			if frames < 1000 {
				continue
			}
			here, before, behind := snr(got, samples), snr(got[channels:], samples), snr(got, samples[channels:])
			if here < 20 || here < before+6 || here < behind+6 {
				t.Errorf("%d frames: %.1f dB, one frame off %.1f and %.1f dB", frames, here, before, behind)
			}
		}
	}
}
