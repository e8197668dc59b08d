package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/player/internal/streamtest"
)

// oggExpect is what cases/expected.json says of an Ogg file, as far as it is the decoder's.
type oggExpect struct {
	File   string
	Expect struct {
		Format, Outcome string
		Channels, Rate  int
		Frames          int64
		FramesTol       int64   `json:"frames_tol"`
		FramesAnyOf     []int64 `json:"frames_any_of"`
		ErrorNames      string  `json:"error_names"`
		Loop            *struct {
			Start int64
			End   int64 `json:"end_exclusive"`
		}
		PCM *struct {
			Compare string
			SNR     float64 `json:"min_snr_db"`
			Ref     string
		}
	}
}

func TestVorbisCases(t *testing.T) {
	var all struct{ Cases map[string]json.RawMessage }
	if err := json.Unmarshal(readFile(t, sharedDir(t, "cases", "expected.json")), &all); err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, raw := range all.Cases {
		if !bytes.Contains(raw, []byte(`"format": "vorbis"`)) || !bytes.Contains(raw, []byte(`.ogg"`)) || name[0] != 'O' {
			continue
		}
		var c oggExpect
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n++
		t.Run(name, func(t *testing.T) { checkVorbisCase(t, c) })
	}
	if n == 0 {
		t.Fatal("no Vorbis case among the shared ones")
	}
}

func checkVorbisCase(t *testing.T, c oggExpect) {
	data := readFile(t, sharedDir(t, "cases", c.File))
	in, got := decodeVorbis(t, data)
	e := c.Expect
	if in.Format != "vorbis" || in.Channels != e.Channels || in.Rate != e.Rate || in.Bits != 0 {
		t.Errorf("got %+v, want %d channels at %d Hz", in, e.Channels, e.Rate)
	}
	fits := in.Frames >= e.Frames-e.FramesTol && in.Frames <= e.Frames+e.FramesTol
	for _, f := range e.FramesAnyOf {
		fits = fits || in.Frames == f
	}
	if !fits {
		t.Errorf("%d frames, want %d +- %d or %v", in.Frames, e.Frames, e.FramesTol, e.FramesAnyOf)
	}
	if e.Loop != nil && (len(in.Loops) != 1 || in.Loops[0] != Loop{Start: e.Loop.Start, End: e.Loop.End}) {
		t.Errorf("loops %v, want [%d, %d)", in.Loops, e.Loop.Start, e.Loop.End)
	}
	ref := toShorts(readFile(t, sharedDir(t, "cases", e.PCM.Ref)))
	n := min(len(ref), len(got))
	if s := oggSNR(rounded(got[:n]), fromShorts(ref[:n])); s < e.PCM.SNR {
		t.Errorf("%.1f dB, want %.0f", s, e.PCM.SNR)
	}
}

// rounded is samples as they come back from 16 bits.
func rounded(f []float32) []float32 {
	out := make([]float32, len(f))
	for i, v := range f {
		out[i] = float32(math.Round(float64(max(-32768, min(32767, v*32768))))) / 32768
	}
	return out
}

func TestVorbisRefusedByName(t *testing.T) {
	// The first bytes of each codec's first packet, and what the message has to say.
	for _, c := range []struct{ first, name string }{
		{"OpusHead\x01\x02", "Opus"},
		{"Speex   1.2", "Speex"},
		{"\x80theora\x03\x02\x01", "Theora"},
		{"fishead\x00\x03\x00", "Skeleton"},
		{"\x80kate\x00", "Kate"},
		{"whatever", "unknown codec"},
	} {
		data := joinPages(packPage(oggFirst, 0, 5, 0, []byte(c.first)), packPage(oggLast, 9, 5, 1, []byte("x")))
		_, err := openVorbis(bytes.NewReader(data), int64(len(data)))
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%q: %v, want ErrUnsupported that names %s", c.first, err, c.name)
		}
	}
	opus := oggCase(t, "o13.ogg")
	_, err := openVorbis(bytes.NewReader(opus), int64(len(opus)))
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "Opus") {
		t.Errorf("o13: %v, want ErrUnsupported that names Opus", err)
	}
}

// TestVorbisLikeOggvorbis wants the samples of oggvorbis, another decoder, on files that it can read.
func TestVorbisLikeOggvorbis(t *testing.T) {
	files := map[string][]byte{"theme": theme(t)}
	t.Run("theme", func(t *testing.T) { sameAsBare(t, files["theme"]) })
	t.Run("cases", func(t *testing.T) {
		for _, n := range []string{"o02", "o03", "o04", "o08", "o14", "o17"} {
			sameAsBare(t, oggCase(t, n+".ogg"))
		}
	})
	for _, q := range []string{"-1", "0", "2", "4", "6", "8", "10"} {
		for _, form := range [][2]int{{1, 44100}, {2, 44100}, {2, 48000}, {1, 22050}, {2, 22050}, {1, 8000}, {2, 96000}} {
			t.Run(fmt.Sprintf("q%s/%dch/%d", q, form[0], form[1]), func(t *testing.T) {
				pcm := testSound(form[1]*3/2, form[0], form[1], 1)
				sameAsBare(t, oggenc(t, pcm, form[0], form[1], "-q", q))
			})
		}
	}
	for _, args := range [][]string{{"-b", "64"}, {"-b", "128", "--managed"}, {"--managed", "-b", "96", "-M", "100", "-m", "90"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			sameAsBare(t, oggenc(t, testSound(60000, 2, 44100, 2), 2, 44100, args...))
		})
	}
}

func sameAsBare(t testing.TB, data []byte) {
	t.Helper()
	_, got := decodeVorbis(t, data)
	near(t, "decoded", got, bareVorbis(t, data))
}

// near wants two decodings to differ by rounding only: by less than a tenth of a step of 16 bits, and
// by 100 dB over all.
func near(t testing.TB, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d samples, want %d", what, len(got), len(want))
	}
	var signal, noise float64
	for i, w := range want {
		d := float64(got[i] - w)
		if !(math.Abs(d) < 3e-6) {
			t.Fatalf("%s: sample %d of %d is %g, want %g", what, i, len(want), got[i], w)
		}
		signal += float64(w) * float64(w)
		noise += d * d
	}
	if noise*1e10 > signal {
		t.Errorf("%s: %.1f dB", what, 10*math.Log10(signal/noise))
	}
}

// TestVorbisShort is about lengths: the last packet is cut, and with it the first page where that is
// the only one.
func TestVorbisShort(t *testing.T) {
	for _, frames := range []int{1, 2, 10, 63, 64, 65, 100, 500, 576, 577, 1000, 1024, 1025, 1999, 2000, 5000, 20000} {
		for ch := 1; ch <= 2; ch++ {
			data := oggenc(t, testSound(frames, ch, 44100, uint64(frames)), ch, 44100, "-q", "5")
			in, got := decodeVorbis(t, data)
			if in.Frames != int64(frames) {
				t.Errorf("%d frames of %d channels: Frames is %d", frames, ch, in.Frames)
			}
			if frames > 1 { // the library reads a single frame twice
				near(t, fmt.Sprint(frames, " frames"), got, bareVorbis(t, data))
			}
			likeOggdec(t, data, got)
		}
	}
}

// likeOggdec wants what the reference decoder gives, within the rounding of its 16-bit samples.
func likeOggdec(t testing.TB, data []byte, got []float32) {
	t.Helper()
	ref := oggdec(t, data)
	if len(ref) != len(got) {
		t.Fatalf("%d samples, oggdec gives %d", len(got), len(ref))
	}
	for i, v := range ref {
		if d := math.Abs(float64(got[i])*32768 - float64(v)); d > 1.01 && v > -32768 && v < 32767 {
			t.Fatalf("sample %d of %d is %g/32768, oggdec gives %d", i, len(ref), got[i]*32768, v)
		}
	}
}

func oggdec(t testing.TB, data []byte) []int16 {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.ogg"), filepath.Join(dir, "out.raw")
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "oggdec", "-Q", "-R", "-b", "16", "-o", out, in)
	return toShorts(readFile(t, out))
}

func TestVorbisLikeOggdec(t *testing.T) {
	for _, c := range []struct {
		ch, rate int
		q        string
	}{{1, 8000, "3"}, {2, 22050, "3"}, {2, 44100, "-1"}, {2, 44100, "4"}, {2, 48000, "10"}, {1, 48000, "7"}} {
		t.Run(fmt.Sprintf("%dch/%d/q%s", c.ch, c.rate, c.q), func(t *testing.T) {
			data := oggenc(t, testSound(c.rate*2, c.ch, c.rate, 3), c.ch, c.rate, "-q", c.q)
			_, got := decodeVorbis(t, data)
			likeOggdec(t, data, got)
			if s := oggSNR(rounded(got), fromShorts(oggdec(t, data))); s < 90 {
				t.Errorf("%.1f dB over the difference from oggdec, want 90", s)
			}
		})
	}
}

// TestVorbisChannels compares the order of channels with ffmpeg's, which is that of WAV. 5.1 has an
// LFE, whose floor has no partitions.
func TestVorbisChannels(t *testing.T) {
	layouts := map[int]string{3: "3.0", 4: "quad", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1"}
	for ch := 3; ch <= 8; ch++ {
		t.Run(layouts[ch], func(t *testing.T) {
			data := vorbisOfLayout(t, ch, layouts[ch])
			in, got := decodeVorbis(t, data)
			if in.Channels != ch || len(layout(in)) != ch || in.Mask == 0 {
				t.Errorf("%d channels, mask %x, want %d", in.Channels, in.Mask, ch)
			}
			want := ffmpegFloats(t, data)
			if len(got) != ch*30870 || len(want) < len(got)-ch*128 { // ffmpeg leaves out the end of some
				t.Fatalf("%d samples, want %d, ffmpeg gives %d", len(got), ch*30870, len(want))
			}
			got = got[:min(len(got), len(want))]
			for c := range ch {
				if s := oggSNR(channelOf(got, c, ch), channelOf(want[:len(got)], c, ch)); s < 90 {
					t.Errorf("channel %d of %d: %.1f dB over the difference from ffmpeg", c, ch, s)
				}
			}
		})
	}
}

// vorbisOfLayout encodes a tone of its own on each channel.
func vorbisOfLayout(t testing.TB, ch int, layout string) []byte {
	t.Helper()
	dir := t.TempDir()
	var tones []string
	for c := range ch {
		tones = append(tones, fmt.Sprintf("0.3*sin(2*PI*%d*t)", 60+30*c))
	}
	wav, out := filepath.Join(dir, "in.wav"), filepath.Join(dir, "out.ogg")
	run(t, "ffmpeg", "-v", "error", "-f", "lavfi", "-i",
		"aevalsrc="+strings.Join(tones, "|")+":s=44100:d=0.7:c="+layout, "-c:a", "pcm_s16le", wav)
	run(t, "oggenc", "-Q", "-q", "4", "-o", out, wav)
	return readFile(t, out)
}

func ffmpegFloats(t testing.TB, data []byte) []float32 {
	t.Helper()
	in := filepath.Join(t.TempDir(), "in.ogg")
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return floatsOf(run(t, "ffmpeg", "-v", "error", "-i", in, "-f", "f32le", "-"))
}

func channelOf(samples []float32, c, of int) []float32 {
	var one []float32
	for i := c; i < len(samples); i += of {
		one = append(one, samples[i])
	}
	return one
}

// TestVorbisOrders checks the tables of channel order against those of the fold.
func TestVorbisOrders(t *testing.T) {
	for ch := 3; ch <= 8; ch++ {
		wav := layout(Info{Format: "vorbis", Channels: ch, Mask: vorbisMasks[ch]})
		for i, speaker := range wav {
			from := i
			if vorbisOrders[ch] != nil {
				from = vorbisOrders[ch][i]
			}
			if got := specOrder[ch][from]; got != speaker {
				t.Errorf("%d channels: channel %d is speaker %d, the mask says %d", ch, i, got, speaker)
			}
		}
	}
}

// specOrder is the order of channels in section 4.3.9 of the Vorbis I specification.
var specOrder = [9][]int{
	3: {frontLeft, frontCentre, frontRight},
	4: {frontLeft, frontRight, backLeft, backRight},
	5: {frontLeft, frontCentre, frontRight, backLeft, backRight},
	6: {frontLeft, frontCentre, frontRight, backLeft, backRight, lowFrequency},
	7: {frontLeft, frontCentre, frontRight, sideLeft, sideRight, backCentre, lowFrequency},
	8: {frontLeft, frontCentre, frontRight, sideLeft, sideRight, backLeft, backRight, lowFrequency},
}

// TestVorbisBlocks reads in blocks of many sizes, which must not change anything.
func TestVorbisBlocks(t *testing.T) {
	data := theme(t)
	_, want := decodeVorbis(t, data)
	blocks := []int{1023, 63, 1, 64, 127, 512, 1024, 1025, 3000, 100000}
	for _, block := range blocks[:max(streamtest.Fewer(len(blocks)), 2)] {
		got, err := readCodec(openVorbisBytes(t, data), block)
		if err != io.EOF {
			t.Fatalf("blocks of %d: %v", block, err)
		}
		same(t, fmt.Sprint("blocks of ", block), got, want)
	}
}

// TestVorbisAllocates nothing once it plays.
func TestVorbisAllocates(t *testing.T) {
	c := openVorbisBytes(t, theme(t))
	dst := make([]float32, 4096)
	play := func() {
		if err := c.seek(0); err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := c.read(dst); err != nil {
				break
			}
		}
	}
	play()
	if n := testing.AllocsPerRun(3, play); n > 2 {
		t.Errorf("%v allocations in the whole file", n)
	}
}

func TestVorbisInfo(t *testing.T) {
	in, _ := decodeVorbis(t, theme(t))
	if in.Encoding != "Vorbis 96 kbit/s" || in.Frames != 441000 || in.Rate != 44100 || in.Channels != 2 {
		t.Errorf("got %+v", in)
	}
	if len(in.Loops) != 1 || (in.Loops[0] != Loop{Start: 0, End: 441000}) {
		t.Errorf("loops %v, want one of [0, 441000)", in.Loops)
	}
	if len(in.Warnings) != 0 {
		t.Errorf("warnings of a good file: %q", in.Warnings)
	}
}

// TestVorbisBitrate has a stream that does not tell its bit rate: it is that of its bytes.
func TestVorbisBitrate(t *testing.T) {
	pages := testPages(t, theme(t))
	copy(pages[0].body[16:28], make([]byte, 12))
	data := joinPages(pages...)
	in, _ := decodeVorbis(t, data)
	bits := 8 * float64(len(data)-headerBytes(t, data))
	want := fmt.Sprintf("Vorbis %.0f kbit/s", bits*float64(in.Rate)/float64(in.Frames)/1000)
	if in.Encoding != want {
		t.Errorf("encoding %q of a file without a bit rate, want %q", in.Encoding, want)
	}
}

func TestVorbisClip(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range [][2]float32{{1.5, 1}, {-1.5, -1}, {float32(math.Inf(1)), 1}, {float32(math.Inf(-1)), -1}, {nan, 0}} {
		if got := vorbisClip(c[0]); got != c[1] {
			t.Errorf("%v becomes %v, want %v", c[0], got, c[1])
		}
	}
}

// TestVorbisJoined has two streams joined packet to packet, so that the block before is not always
// of the size that a block says it is. The reference decoder plays through.
func TestVorbisJoined(t *testing.T) {
	data := oggenc(t, testSound(120000, 2, 44100, 5), 2, 44100, "-q", "5")
	c := openVorbisBytes(t, data).(*vorbisCodec)
	setup := c.links[0].setup
	var packets [][]byte
	for c.pk.start(c.links[0].data); c.pk.nextPage() == nil; {
		for _, p := range c.pk.packets {
			packets = append(packets, bytes.Clone(p))
		}
	}
	pages := testPages(t, data)
	file := joinPages(pages[:soundPage(t, pages)]...)
	pos, prev := int64(0), 0
	for i := range uint32(60) {
		part := packets[int(i*7)%(len(packets)-3):][:3]
		n, last := setup.frames(prev, part)
		pos, prev = pos+n, last
		flags := byte(0)
		if i == 59 {
			flags = oggLast
		}
		file = append(file, packPage(flags, pos, 77, uint32(soundPage(t, pages))+i, part...).bytes()...)
	}
	in, got := decodeVorbis(t, file)
	if in.Frames != pos {
		t.Errorf("%d frames, want %d", in.Frames, pos)
	}
	if ref := oggdec(t, file); len(ref) != len(got) {
		t.Errorf("%d samples, oggdec gives %d", len(got), len(ref))
	}
	checkSeeks(t, file, 100)
}

// TestVorbisReaderFails wants the reader's own error from everything.
func TestVorbisReaderFails(t *testing.T) {
	data := theme(t)
	broken := errors.New("the disk is gone")
	r := &failingReader{data: data, left: 1 << 30, err: broken}
	c, err := openVorbis(r, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	r.left = 20000
	if _, err := readCodec(c, 4096); !errors.Is(err, broken) {
		t.Errorf("read: %v, want %v", err, broken)
	}
	if err := c.seek(200000); !errors.Is(err, broken) {
		t.Errorf("seek: %v, want %v", err, broken)
	}
	r.left = 1 << 30
	if err := c.seek(200000); err != nil {
		t.Errorf("seek after the disk is back: %v", err)
	}
	for left := 0; left < 60000; left += 1000 {
		_, err := openVorbis(&failingReader{data: data, left: left, err: broken}, int64(len(data)))
		if err != nil && !errors.Is(err, broken) {
			t.Errorf("open with %d bytes: %v, want %v", left, err, broken)
		}
	}
}

// failingReader gives left bytes and then err.
type failingReader struct {
	data []byte
	left int
	err  error
}

func (r *failingReader) ReadAt(b []byte, off int64) (int, error) {
	if r.left -= len(b); r.left < 0 {
		return 0, r.err
	}
	return bytes.NewReader(r.data).ReadAt(b, off)
}
