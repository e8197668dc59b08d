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

// compare fails where what is decoded is not what the reference decodes, and returns both.
func compare(t *testing.T, b []byte, ref reference) (got, want []float32) {
	t.Helper()
	d := mustOpen(t, b)
	got = readAll(t, d, 1152)
	want = ref(t, b)
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
	return got, want
}

// compareGranules is compare, and then granule by granule: the noise in none of them may come nearer
// to the sound than least dB, which the whole would hide in one that is quiet. A granule sounds into
// the next one, and its noise is held against both.
func compareGranules(t *testing.T, m *maker, ref reference, least float64) {
	t.Helper()
	got, want := compare(t, m.out, ref)
	size := granuleSize * m.header().channels()
	for at := 0; at+size <= min(len(got), len(want)); at += size {
		from, to := max(at-size, 0), min(at+2*size, len(want))
		signal, noise := power(want[from:to], nil), power(want[at:at+size], got[at:at+size])
		if db := 10 * math.Log10(signal/noise); db < least {
			t.Errorf("granule %d of %d: %.1f dB, want %g", at/size, len(want)/size, db, least)
		}
	}
}

// power is that of a, or of a without b.
func power(a, b []float32) (sum float64) {
	for i, v := range a {
		v := float64(v)
		if b != nil {
			v -= float64(b[i])
		}
		sum += v * v
	}
	return sum
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

// What no encoder makes: blocks in any order, mixed blocks, intensity stereo, stuffing. Three things are
// left out, of which libmpg123 (1.31) makes something else than the standard says:
//
// Where the right channel has no bits at all, every band is in intensity stereo, and position 0 comes
// of scale factors without bits, or the one that scfsi takes from the granule before (11172-3, 2.4.2.7
// and 2.4.3.4). libmpg123 takes band 0 as coded in the right channel, and in a mixed block does the
// lines from 12 to 35 twice. In its place there are a few zeros with one bit.
//
// A mixed block has 8 long bands in MPEG-1 and 6 at the lower rates (13818-3, 2.4.3.2), of which
// libmpg123 takes 8 in intensity stereo.
//
// Position 7 is illegal in MPEG-1. At the lower rates it is one like the others, and illegal is the
// highest that the number of bits allows (13818-3, 2.4.3.2). libmpg123 always takes 7.
func TestMadeStreamsAgainstMpg123(t *testing.T) {
	ref := mpg123Reference(t)
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			k.mpg123 = true
			k.noMixed = k.extension&1 != 0 && k.header().lsf()
			compareGranules(t, makeStream(int64(i), k, 100), ref, 105)
		})
	}
}

// What is left out there must come out as ffmpeg decodes it. For that the windows must be in order:
// ffmpeg drops of the block before one of short windows what a start block would not have. Its coarser
// arithmetic shows in quiet granules, to some 80 dB.
func TestMadeIntensityAgainstFFmpeg(t *testing.T) {
	ref := ffmpegReference(t)
	for i, k := range kinds {
		if k.extension&1 == 0 {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			k.ordered = true
			empty, mixed := 0, 0
			for seed := range 2 {
				m := makeStream(int64(100*seed+i), k, 100)
				compareGranules(t, m, ref, 75)
				empty, mixed = empty+m.empty, mixed+m.mixed
			}
			if empty == 0 || mixed == 0 {
				t.Errorf("made %d granules without bits and %d mixed blocks with long bands in intensity stereo, want some of each", empty, mixed)
			}
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
