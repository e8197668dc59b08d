package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jfreymuth/oggvorbis"
)

// testPage is an Ogg page that a test can take apart and put together.
type testPage struct {
	flags    byte
	granule  int64
	serial   uint32
	seq      uint32
	segments []byte
	body     []byte
}

// bytes is the page as it stands in a file, its checksum computed bit by bit.
func (p testPage) bytes() []byte {
	b := []byte(oggCapture)
	b = append(b, 0, p.flags)
	b = binary.LittleEndian.AppendUint64(b, uint64(p.granule))
	b = binary.LittleEndian.AppendUint32(b, p.serial)
	b = binary.LittleEndian.AppendUint32(b, p.seq)
	b = append(b, 0, 0, 0, 0, byte(len(p.segments)))
	b = append(b, p.segments...)
	b = append(b, p.body...)
	binary.LittleEndian.PutUint32(b[22:], slowCRC(b))
	return b
}

func slowCRC(b []byte) uint32 {
	var c uint32
	for _, x := range b {
		c ^= uint32(x) << 24
		for range 8 {
			top := c>>31 != 0
			if c <<= 1; top {
				c ^= 0x04c11db7
			}
		}
	}
	return c
}

// testPages takes a whole file apart, which has nothing but pages.
func testPages(t testing.TB, data []byte) []testPage {
	t.Helper()
	var list []testPage
	for at := 0; at < len(data); {
		b := data[at:]
		if len(b) < 27 || string(b[:4]) != oggCapture {
			t.Fatalf("no page at 0x%x", at)
		}
		le := binary.LittleEndian
		n := 27 + int(b[26])
		size := n
		for _, s := range b[27:n] {
			size += int(s)
		}
		list = append(list, testPage{
			b[5], int64(le.Uint64(b[6:])), le.Uint32(b[14:]), le.Uint32(b[18:]),
			slices.Clone(b[27:n]), slices.Clone(b[n:size]),
		})
		at += size
	}
	return list
}

// joinPages is a file of pages.
func joinPages(pages ...testPage) []byte {
	var b []byte
	for _, p := range pages {
		b = append(b, p.bytes()...)
	}
	return b
}

// packPage is a page that holds whole packets.
func packPage(flags byte, granule int64, serial, seq uint32, packets ...[]byte) testPage {
	p := testPage{flags: flags, granule: granule, serial: serial, seq: seq}
	for _, k := range packets {
		for n := len(k); ; n -= 255 {
			p.segments = append(p.segments, byte(min(n, 255)))
			if n < 255 {
				break
			}
		}
		p.body = append(p.body, k...)
	}
	return p
}

// soundPage is the number of the first page with sound.
func soundPage(t testing.TB, pages []testPage) int {
	t.Helper()
	i := slices.IndexFunc(pages, func(p testPage) bool { return p.granule > 0 })
	if i < 0 {
		t.Fatal("no page with sound")
	}
	return i
}

// theme is the sound that every test can have: 10 s of stereo at 44.1 kHz.
func theme(t testing.TB) []byte {
	t.Helper()
	return readFile(t, filepath.Join("..", "..", "testdata", "sounds", "theme.ogg"))
}

// excerpt is the first pages of the theme as a file of its own, whose last packet is cut: some 3 s.
func excerpt(t testing.TB) []byte {
	t.Helper()
	pages := testPages(t, theme(t))
	pages = pages[:soundPage(t, pages)+9]
	last := &pages[len(pages)-1]
	last.flags, last.granule = oggLast, last.granule-300
	pages[1].body = bytes.ReplaceAll(pages[1].body, []byte("LOOP"), []byte("NONE")) // it ends earlier
	return joinPages(pages...)
}

// oggCase is one of the shared inputs.
func oggCase(t testing.TB, name string) []byte {
	t.Helper()
	return readFile(t, sharedDir(t, "cases", "audio", name))
}

// testSound is frames of channels that have tones, noise and sudden starts, so that an encoder uses
// both block sizes. It peaks below 0.9.
func testSound(frames, channels, rate int, seed uint64) []int16 {
	r := rand.New(rand.NewPCG(seed, 7))
	out := make([]int16, frames*channels)
	for i := range frames {
		t := float64(i) / float64(rate)
		hit := math.Exp(-30 * math.Mod(t, 0.21))
		for c := range channels {
			v := 0.4*math.Sin(2*math.Pi*(220+70*float64(c))*t) + 0.2*hit*(2*r.Float64()-1) + 0.02*(2*r.Float64()-1)
			out[i*channels+c] = int16(32767 * 1.4 * v)
		}
	}
	return out
}

// oggenc encodes 16-bit samples.
func oggenc(t testing.TB, pcm []int16, channels, rate int, args ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	raw, out := filepath.Join(dir, "in.raw"), filepath.Join(dir, "out.ogg")
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, pcm); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(raw, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-Q", "-r", "-B", "16", "-C", fmt.Sprint(channels), "-R", fmt.Sprint(rate), "-s", "77", "-o", out}, args...)
	run(t, "oggenc", append(args, raw)...)
	return readFile(t, out)
}

func openVorbisBytes(t testing.TB, data []byte) codec {
	t.Helper()
	c, err := openVorbis(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("openVorbis: %v", err)
	}
	return c
}

// readCodec reads to the end in blocks of frames.
func readCodec(c codec, block int) ([]float32, error) {
	ch := c.info().Channels
	var all []float32
	buf := make([]float32, block*ch)
	for {
		n, err := c.read(buf)
		all = append(all, buf[:n*ch]...)
		if err != nil {
			return all, err
		}
	}
}

// decodeVorbis decodes a file that is expected to be good to its end.
func decodeVorbis(t testing.TB, data []byte) (Info, []float32) {
	t.Helper()
	c := openVorbisBytes(t, data)
	got, err := readCodec(c, 4096)
	if err != io.EOF {
		t.Fatalf("after %d samples: %v", len(got), err)
	}
	in := c.info()
	if n := int64(len(got) / in.Channels); n != in.Frames {
		t.Fatalf("%d frames were read, Frames is %d", n, in.Frames)
	}
	return in, got
}

// bareVorbis decodes with oggvorbis alone.
func bareVorbis(t testing.TB, data []byte) []float32 {
	t.Helper()
	r, err := oggvorbis.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("oggvorbis: %v", err)
	}
	var all []float32
	buf := make([]float32, 8192*r.Channels())
	for {
		n, err := r.Read(buf)
		all = append(all, buf[:n]...)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("oggvorbis: %v", err)
		}
	}
}

// oggSNR is how far got is from want, in dB below it.
func oggSNR(got, want []float32) float64 {
	var signal, noise float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		signal += float64(w) * float64(w)
		noise += d * d
	}
	return 10 * math.Log10(signal/max(noise, 1e-30))
}

// fromShorts is 16-bit samples as floats.
func fromShorts(s []int16) []float32 {
	f := make([]float32, len(s))
	for i, v := range s {
		f[i] = float32(v) / 32768
	}
	return f
}

func floatsOf(b []byte) []float32 {
	f := make([]float32, len(b)/4)
	for i := range f {
		f[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return f
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
