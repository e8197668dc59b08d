package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// sounds is the folder of the committed files, seen from here.
const sounds = "../sounds"

// committed lists the sounds in the order of the pack.
var committed = []string{"drumloop.wav", "jaguar.wav", "swish.wav", "theme.mp3", "theme.ogg"}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// header is the length of our WAV files up to the samples: RIFF, fmt, smpl for loops, data's head.
func header(loop bool) int {
	if loop {
		return 12 + 24 + 68 + 8
	}
	return 12 + 24 + 8
}

// samples are the 16-bit words behind the header of a WAV file.
func samples(raw []byte, from int) []int16 {
	out := make([]int16, (len(raw)-from)/2)
	for i := range out {
		out[i] = int16(binary.LittleEndian.Uint16(raw[from+2*i:]))
	}
	return out
}

// TestCommittedWAVs makes the WAV files again. Other processors may fuse a product and a sum into
// one rounding, or have an exponential of their own: there a sample may be off by one step.
func TestCommittedWAVs(t *testing.T) {
	for name, sound := range wavs {
		got, want := sound(), read(t, filepath.Join(sounds, name))
		if len(got) != len(want) {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(want))
			continue
		}
		from := header(name == "drumloop.wav")
		if !bytes.Equal(got[:from], want[:from]) {
			t.Errorf("%s: header\n got %x\nwant %x", name, got[:from], want[:from])
		}
		slack := 0
		if runtime.GOARCH != "amd64" {
			slack = 1
		}
		w := samples(want, from)
		for i, g := range samples(got, from) {
			if d := int(g) - int(w[i]); d > slack || d < -slack {
				t.Errorf("%s: sample %d is %d, want %d", name, i, g, w[i])
				break
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		name                   string
		rate, channels, frames int
		loop                   bool
	}{
		{"drumloop.wav", 44100, 2, 55125, true},
		{"jaguar.wav", 22050, 1, 22050, false},
		{"swish.wav", 48000, 2, 19200, false},
	} {
		raw, le := read(t, filepath.Join(sounds, c.name)), binary.LittleEndian
		from := header(c.loop)
		got := fmt.Sprint(le.Uint32(raw[4:]), le.Uint16(raw[20:]), le.Uint16(raw[22:]), le.Uint32(raw[24:]),
			le.Uint32(raw[28:]), le.Uint16(raw[32:]), le.Uint16(raw[34:]), string(raw[from-8:from-4]), le.Uint32(raw[from-4:]))
		size := c.frames * c.channels * 2
		want := fmt.Sprint(len(raw)-8, 1, c.channels, c.rate, c.rate*c.channels*2, c.channels*2, 16, "data", size)
		if got != want || len(raw) != from+size {
			t.Errorf("%s: %d bytes, header %s, want %d, %s", c.name, len(raw), got, from+size, want)
		}
		if !c.loop {
			continue
		}
		smpl := raw[36:]
		got = fmt.Sprint(string(smpl[:4]), le.Uint32(smpl[4:]), le.Uint32(smpl[8+28:]), le.Uint32(smpl[8+40:]),
			le.Uint32(smpl[8+44:]), le.Uint32(smpl[8+48:]), le.Uint32(smpl[8+56:]))
		if want := fmt.Sprint("smpl", 60, 1, 0, 0, c.frames-1, 0); got != want {
			t.Errorf("%s: loop %s, want %s (id, size, loops, kind, start, end, times)", c.name, got, want)
		}
	}
}

// TestLevels holds the sounds to a peak of -3 dBFS and a mean below a step of 16 bits.
func TestLevels(t *testing.T) {
	for name, track := range map[string]*track{
		"drumloop": drumloop(), "jaguar": jaguar(), "swish": swish(), "theme": theme(),
	} {
		top := 0.0
		for c, ch := range track.ch {
			top = max(top, slices.Max(ch), -slices.Min(ch))
			if mean := average(ch) * 32768; math.Abs(mean) > 1 {
				t.Errorf("%s: mean of channel %d is %.2f steps, want 0", name, c, mean)
			}
		}
		if math.Abs(top-0.70795) > 1e-5 {
			t.Errorf("%s: peak %.5f, want 0.70795", name, top)
		}
	}
}

// TestJaguarAttack keeps the beginning loud, because tests of playback look for it.
func TestJaguarAttack(t *testing.T) {
	x := jaguar().ch[0]
	onset := slices.IndexFunc(x, func(v float64) bool { return math.Abs(v) > 0.05 })
	if onset < 0 || onset > 22 {
		t.Errorf("first sample above 0.05 is %d, want 0 to 22 (1 ms)", onset)
	}
	if loud := slices.Max(x[:220]); loud < 0.2 {
		t.Errorf("highest sample of the first 10 ms is %.3f, want 0.2 at least", loud)
	}
}

func TestOneShotsEndInSilence(t *testing.T) {
	for name, track := range map[string]*track{"jaguar": jaguar(), "swish": swish()} {
		for c, ch := range track.ch {
			if end := ch[len(ch)-1]; math.Abs(end) > 1.0/32768 {
				t.Errorf("%s: channel %d ends at %g, want 0", name, c, end)
			}
		}
	}
}

func power(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return sum / float64(len(x))
}

func TestSwishGoesFromLeftToRight(t *testing.T) {
	x := swish()
	last := math.Inf(-1)
	for from := 2400; from < 16800; from += 2400 {
		balance := 10 * math.Log10(power(x.ch[1][from:from+2400])/power(x.ch[0][from:from+2400]))
		if balance <= last {
			t.Errorf("at frame %d right over left is %.1f dB, want more than %.1f", from, balance, last)
		}
		last = balance
	}
	if last < 6 {
		t.Errorf("right over left ends at %.1f dB, want 6 at least", last)
	}
}

// TestLoopsTurn lays a sound over the end of a loop and of the same loop written twice: heard for
// ever both are one sound, so the long one must be the short one, twice.
func TestLoopsTurn(t *testing.T) {
	const frames = 4001
	lay := func(turns int) *track {
		loop := newTrack(8000, 2, turns*frames, true)
		for turn := range turns {
			loop.add(float64(turn*frames+3900)/8000, 0.5, -0.3, snare(8000, 1))
		}
		loop.room(0.3, 0.4)
		return loop
	}
	once, twice := lay(1), lay(2)
	for c, ch := range twice.ch {
		for i, got := range ch {
			if want := once.ch[c][i%frames]; math.Abs(got-want) > 1e-8 {
				t.Fatalf("channel %d frame %d is %g, want %g", c, i, got, want)
			}
		}
	}
	if head := power(once.ch[0][:200]); head < 1e-6 {
		t.Errorf("power of the first frames is %g: the tail did not come round", head)
	}
}

// TestPluckIsInTune looks for the strongest pitch near that of the note.
func TestPluckIsInTune(t *testing.T) {
	for _, note := range []int{55, 62, 69, 76, 81} {
		x := pluck(note, 2, 0.7, 1)[:themeRate]
		best, at := 0.0, 0
		for cents := -30; cents <= 30; cents += 2 {
			hz := pitch(note) * math.Pow(2, float64(cents)/1200)
			re, im := 0.0, 0.0
			for i, v := range x {
				s, c := math.Sincos(2 * math.Pi * hz * float64(i) / themeRate)
				re, im = re+v*c, im+v*s
			}
			if p := re*re + im*im; p > best {
				best, at = p, cents
			}
		}
		if at < -4 || at > 4 {
			t.Errorf("note %d is off by %d cents, want 4 at most", note, at)
		}
	}
}

// TestThemeOgg reads the pages of theme.ogg by itself (RFC 3533, section 6).
func TestThemeOgg(t *testing.T) {
	raw, le := read(t, filepath.Join(sounds, "theme.ogg")), binary.LittleEndian
	var granule uint64
	var flags byte
	pages := 0
	for at := 0; at < len(raw); pages++ {
		page := raw[at:]
		if len(page) < 27 || string(page[:4]) != "OggS" {
			t.Fatalf("page %d: no page at %d", pages, at)
		}
		if serial := le.Uint32(page[14:]); serial != 1 {
			t.Errorf("page %d: serial %d, want 1", pages, serial)
		}
		flags, granule = page[5], le.Uint64(page[6:])
		segments := int(page[26])
		at += 27 + segments
		for _, size := range page[27 : 27+segments] {
			at += int(size)
		}
	}
	if flags&4 == 0 || granule != themeFrames {
		t.Errorf("last page: flags %#x, granule %d, want the end (4), %d", flags, granule, themeFrames)
	}
	if ident := raw[28:]; string(ident[:7]) != "\x01vorbis" || ident[11] != 2 || le.Uint32(ident[12:]) != themeRate {
		t.Errorf("head is % x, want Vorbis, 2 channels, %d Hz", ident[:16], themeRate)
	}
	for _, comment := range []string{"LOOPSTART=0", fmt.Sprintf("LOOPLENGTH=%d", themeFrames)} {
		field := append(le.AppendUint32(nil, uint32(len(comment))), comment...)
		if !bytes.Contains(raw[:4096], field) {
			t.Errorf("no comment %s", comment)
		}
	}
}

// TestThemeMP3 reads the first frame of theme.mp3, which is the tag of LAME: there the file tells
// how many frames of the decoder are no music.
func TestThemeMP3(t *testing.T) {
	raw := read(t, filepath.Join(sounds, "theme.mp3"))
	if want := []byte{0xff, 0xfb, 0x70}; !bytes.Equal(raw[:3], want) {
		t.Fatalf("head is % x, want % x (MPEG-1 Layer III, 96 kbit/s, 44,100 Hz)", raw[:3], want)
	}
	const tag = 4 + 32 // behind the header and the side information of two channels
	if id := string(raw[tag : tag+4]); id != "Info" {
		t.Fatalf("tag %q, want Info", id)
	}
	frames := int(binary.BigEndian.Uint32(raw[tag+8:]))
	if size := int(binary.BigEndian.Uint32(raw[tag+12:])); size != len(raw) {
		t.Errorf("the tag tells %d bytes, the file has %d", size, len(raw))
	}
	lame := raw[tag+120:]
	delay, padding := int(lame[21])<<4|int(lame[22])>>4, int(lame[22]&15)<<8|int(lame[23])
	if got := frames*1152 - delay - padding; got != themeFrames || delay != 576 || padding != 792 {
		t.Errorf("%d frames, delay %d, padding %d: %d of music, want 384, 576, 792, %d", frames, delay, padding, got, themeFrames)
	}
}

// TestLossyIsTheTheme decodes both files with programs that are not ours and compares them with
// the tune: as long to the frame, and like it as far as the bit rate allows.
func TestLossyIsTheTheme(t *testing.T) {
	tune := theme().encode()
	want := samples(tune, header(true))
	for _, c := range []struct{ file, tool, command string }{
		{"theme.ogg", "oggdec", "oggdec -Q -o OUT IN"},
		{"theme.mp3", "lame", "lame --quiet --decode IN OUT"},
	} {
		t.Run(c.file, func(t *testing.T) {
			need(t, c.tool)
			out := filepath.Join(t.TempDir(), "out.wav")
			command := strings.NewReplacer("IN", filepath.Join(sounds, c.file), "OUT", out).Replace(c.command)
			args := strings.Fields(command)
			if said, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, said)
			}
			got := samples(read(t, out), header(false))
			if len(got) != len(want) {
				t.Fatalf("%d samples, want %d", len(got), len(want))
			}
			signal, wrong := 0.0, 0.0
			for i, w := range want {
				d := float64(got[i]) - float64(w)
				signal, wrong = signal+float64(w)*float64(w), wrong+d*d
			}
			if snr := 10 * math.Log10(signal/wrong); snr < 20 {
				t.Errorf("%.1f dB over the difference from the tune, want 20 at least", snr)
			}
		})
	}
}

// need skips where a tool is absent, but not where everything has to run.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err == nil {
		return
	}
	if os.Getenv("SNDPAK_CI") == "1" {
		t.Fatalf("needs %s", tool)
	}
	t.Skipf("needs %s", tool)
}

// TestPack compares the pack with the sounds: 28-byte records in order of name, bodies end to end.
func TestPack(t *testing.T) {
	var index, data []byte
	for _, name := range committed {
		body, record := read(t, filepath.Join(sounds, name)), make([]byte, 28)
		copy(record, name)
		binary.LittleEndian.PutUint32(record[20:], uint32(len(data)))
		binary.LittleEndian.PutUint32(record[24:], uint32(len(body)))
		index, data = append(index, record...), append(data, body...)
	}
	if got := read(t, "../music.inx"); !bytes.Equal(got, index) {
		t.Errorf("music.inx:\n got %q\nwant %q", got, index)
	}
	if got := read(t, "../music.data"); !bytes.Equal(got, data) {
		t.Errorf("music.data: %d bytes that are not the %d of the sounds", len(got), len(data))
	}
	if len(data) > 600_000 {
		t.Errorf("music.data has %d bytes, want 600,000 at most", len(data))
	}
}
