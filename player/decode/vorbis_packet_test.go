package decode

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/jfreymuth/vorbis"
)

// packetsOf are the packets of an Ogg file of one stream.
func packetsOf(t testing.TB, data []byte) (list [][]byte) {
	t.Helper()
	o := oggPackets{oggReader: *oggOf(data)}
	o.serial = testPages(t, data)[0].serial
	for {
		if err := o.nextPage(); err != nil {
			return list
		}
		for _, p := range o.packets {
			list = append(list, bytes.Clone(p))
		}
	}
}

// TestVorbisPackets decodes packet by packet beside another decoder.
func TestVorbisPackets(t *testing.T) {
	list := packetsOf(t, theme(t))
	var s vorbisSetup
	if err := s.readIdent(list[0]); err != nil {
		t.Fatal(err)
	}
	setup, err := s.readSetup(list[2])
	if err != nil {
		t.Fatal(err)
	}
	d := newVorbisDecoder(&s, setup)
	var other vorbis.Decoder
	for _, p := range list[:3] {
		if err := other.ReadHeader(p); err != nil {
			t.Fatal(err)
		}
	}
	buf, buf2 := make([]float32, d.most()), make([]float32, other.BufferSize())
	var signal, noise float64
	for i, p := range list[3:] {
		got, err := d.decode(p, buf)
		if err != nil {
			t.Fatal(err)
		}
		want, err := other.DecodeInto(p, buf2)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("packet %d: %d samples, want %d", i, len(got), len(want))
		}
		for k, v := range want {
			signal += float64(v) * float64(v)
			noise += float64(v-got[k]) * float64(v-got[k])
		}
	}
	if db := 10 * math.Log10(signal/noise); !(db > 110) {
		t.Errorf("%.1f dB", db)
	}
}

// TestIMDCT compares with the sums of the definition.
func TestIMDCT(t *testing.T) {
	r := seeded(t)
	for block := 64; block <= 8192; block *= 2 {
		m := block / 2
		x := make([]float32, m)
		for i := range x {
			x[i] = r.Float32()*2 - 1
		}
		got := slices.Clone(x)
		newIMDCT(block).dct4(got)
		for range 40 {
			i := r.IntN(m)
			want := 0.0
			for k, v := range x {
				want += float64(v) * math.Cos(math.Pi/float64(m)*(float64(i)+0.5)*(float64(k)+0.5))
			}
			if math.Abs(want-float64(got[i])) > 1e-6*float64(m) {
				t.Errorf("block of %d: value %d is %g, want %g", block, i, got[i], want)
			}
		}
	}
}

// TestCodebook reads back what was written with the codes of the example of the specification (3.2.1),
// and with codes of every length up to 32.
func TestCodebook(t *testing.T) {
	example := []uint8{2, 4, 4, 4, 4, 2, 3, 3}
	codes := []string{"00", "0100", "0101", "0110", "0111", "10", "110", "111"}
	long := make([]uint8, 33)
	var longCodes []string
	for i := range long {
		long[i] = uint8(min(i+1, 32))
		longCodes = append(longCodes, strings.Repeat("1", i)+"0")
	}
	longCodes[32] = strings.Repeat("1", 32)
	for name, c := range map[string]struct {
		lengths []uint8
		codes   []string
	}{"example": {example, codes}, "long": {long, longCodes}} {
		var book codebook
		book.build(c.lengths)
		r := seeded(t)
		var w vorbisWriter
		var want []int
		for range 500 {
			n := r.IntN(len(c.codes))
			want = append(want, n)
			for _, bit := range c.codes[n] {
				w.put(uint32(bit-'0'), 1)
			}
		}
		in := vorbisReader{data: w.out}
		for i, n := range want {
			if got := book.entry(&in); got != n || in.over {
				t.Fatalf("%s: code %d is of entry %d, want %d", name, i, got, n)
			}
		}
		for range 9 { // only the bits that fill the last byte are left
			book.entry(&in)
		}
		if !in.over {
			t.Errorf("%s: no end", name)
		}
	}
}

// TestVorbisReader reads fields of all widths, to the end and beyond.
func TestVorbisReader(t *testing.T) {
	r := seeded(t)
	for range 200 {
		var w vorbisWriter
		var widths []uint
		var want []uint32
		for range 1 + r.IntN(60) {
			n := uint(r.IntN(33))
			v := uint32(r.Uint64() & (1<<n - 1))
			widths, want = append(widths, n), append(want, v)
			w.put(v, n)
		}
		in := vorbisReader{data: w.out}
		for i, n := range widths {
			if got := in.read(n); got != want[i] || in.over {
				t.Fatalf("field %d of %d bits is %#x, want %#x", i, n, got, want[i])
			}
		}
		in.read(8)
		if got := in.read(8); got != 0 || !in.over {
			t.Errorf("behind the end: %d, over is %v", got, in.over)
		}
	}
}

// TestFloorLine draws a line whose steps were found by hand (7.2.4, 9.2.7).
func TestFloorLine(t *testing.T) {
	line := make([]float32, 12)
	for i := range line {
		line[i] = 1
	}
	applyLine(line, 0, 100, 8, 105)
	want := []int{100, 100, 101, 101, 102, 103, 103, 104}
	for i, y := range want {
		if line[i] != floorGains[y] {
			t.Errorf("place %d is %g, want %g", i, line[i], floorGains[y])
		}
	}
	if line[8] != 1 {
		t.Error("the line goes past its end")
	}
	if y := pointOnLine(0, 10, 10, 5, 3); y != 9 {
		t.Errorf("a falling line is at %d, want 9", y)
	}
	if floorGains[255] != 1 || math.Abs(float64(floorGains[0])-1.0649863e-07) > 1e-13 {
		t.Errorf("gains from %g to %g", floorGains[0], floorGains[255])
	}
}

// TestUncouple has every pair of signs (4.3.5).
func TestUncouple(t *testing.T) {
	magnitude, angle := []float32{5, 5, -5, -5, 0}, []float32{2, -2, 2, -2, -3}
	uncouple(magnitude, angle)
	if want := []float32{5, 3, -5, -3, 3}; !slices.Equal(magnitude, want) {
		t.Errorf("magnitudes are %v, want %v", magnitude, want)
	}
	if want := []float32{3, 5, -3, -5, 0}; !slices.Equal(angle, want) {
		t.Errorf("angles are %v, want %v", angle, want)
	}
}

// TestVorbisHour plays an hour, a part of it outside of CI: the memory at its end is that of its start.
func TestVorbisHour(t *testing.T) {
	minutes := 3
	if os.Getenv("SNDPAK_CI") == "1" {
		minutes = 60
	}
	c := openVorbisBytes(t, longVorbis(t, 6*minutes))
	buf := make([]float32, 8192)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	if n, err := readMost(c, 441_000); n < 441_000 || err != nil {
		t.Fatalf("%d frames, %v", n, err)
	}
	before, frames := heap(), int64(441_000)
	for {
		n, err := c.read(buf)
		if frames += int64(n); err != nil {
			break
		}
	}
	if grew := heap() - before; frames < c.info().Frames-8192 || grew > 64<<10 {
		t.Errorf("memory grew by %d bytes in %d frames of %d", grew, frames, c.info().Frames)
	}
	runtime.KeepAlive(c)
}
