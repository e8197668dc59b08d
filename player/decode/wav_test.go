package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var bothOrders = []byteOrder{binary.LittleEndian, binary.BigEndian}

func formOf(order byteOrder) string {
	if order == binary.BigEndian {
		return "RIFX"
	}
	return "RIFF"
}

// TestWAVIntegerSamples checks the scaling at the ends and in the middle, in both byte orders, plain
// and extensible, and with fewer valid bits than are stored.
func TestWAVIntegerSamples(t *testing.T) {
	for _, c := range []struct {
		bits, valid int
		encoding    string
	}{
		{16, 16, "16-bit PCM"}, {24, 24, "24-bit PCM"}, {32, 32, "32-bit PCM"},
		{16, 12, "12-bit PCM in 16"}, {24, 20, "20-bit PCM in 24"}, {32, 24, "24-bit PCM in 32"},
	} {
		for _, order := range bothOrders {
			t.Run(fmt.Sprintf("%d of %d %s", c.valid, c.bits, formOf(order)), func(t *testing.T) {
				top := int64(1) << (c.bits - 1)
				lsb := int64(1) << (c.bits - c.valid)
				in := []int64{-top, top - lsb, 0, lsb, -lsb, top / 2}
				spec := wavSpec{form: formOf(order), order: order, tag: tagExtensible, ch: 2, bits: c.bits, data: packed(order, c.bits/8, in...)}
				spec.ext = extension(order, c.valid, 3, tagPCM)
				s := openBytes(t, spec.bytes())
				if i := s.Info(); i.Encoding != c.encoding || i.Bits != c.valid || i.Frames != 3 || i.Mask != 3 {
					t.Errorf("info is %+v", i)
				}
				want := make([]float32, len(in))
				for i, v := range in {
					want[i] = float32(v) / float32(top)
				}
				same(t, "floats", floats(t, s), want)
				if s.Int16() != (c.bits == 16) {
					t.Errorf("Int16() is %t", s.Int16())
				}
			})
		}
	}
}

func TestWAV8Bit(t *testing.T) {
	data := wavSpec{ch: 1, bits: 8, data: []byte{0, 0x80, 0xff, 0x81, 0x7f}}.bytes()
	same(t, "floats", floats(t, openBytes(t, data)), []float32{-1, 0, 127.0 / 128, 1.0 / 128, -1.0 / 128})
	same(t, "int16", shorts(t, openBytes(t, data)), []int16{-32768, 0, 127 << 8, 256, -256})
}

func TestWAV24In32WithoutSaying(t *testing.T) {
	data := wavSpec{ch: 1, bits: 24, align: 4, data: packed(binary.LittleEndian, 4, -1<<31, 1<<30)}.bytes()
	same(t, "floats", floats(t, openBytes(t, data)), []float32{-1, 0.5})
}

func TestWAVFloats(t *testing.T) {
	in := []float64{0.5, -1, 1.75, math.NaN(), math.Inf(1), math.Inf(-1), 1e-3}
	want := []float32{0.5, -1, 1.75, 0, 0, 0, 1e-3}
	for _, order := range bothOrders {
		for _, bits := range []int{32, 64} {
			for _, tag := range []uint16{tagFloat, tagExtensible} {
				spec := wavSpec{form: formOf(order), order: order, tag: tag, ch: 1, bits: bits}
				if tag == tagExtensible {
					spec.ext = extension(order, bits, 4, tagFloat)
				}
				for _, v := range in {
					if bits == 32 {
						spec.data = order.AppendUint32(spec.data, math.Float32bits(float32(v)))
					} else {
						spec.data = order.AppendUint64(spec.data, math.Float64bits(v))
					}
				}
				s := openBytes(t, spec.bytes())
				if s.Int16() {
					t.Error("floats are told to be 16-bit")
				}
				same(t, fmt.Sprintf("%d-bit float, tag %d, %s", bits, tag, formOf(order)), floats(t, s), want)
			}
		}
	}
}

func TestWAVDoubleBeyondFloat(t *testing.T) {
	spec := wavSpec{tag: tagFloat, ch: 1, bits: 64, data: binary.LittleEndian.AppendUint64(nil, math.Float64bits(1e300))}
	same(t, "1e300", floats(t, openBytes(t, spec.bytes())), []float32{0})
}

// TestWAVLaws checks a few codes of the tables in G.711, scaled to 16 bits.
func TestWAVLaws(t *testing.T) {
	for _, c := range []struct {
		tag  uint16
		in   []byte
		want []int16
	}{
		{tagMuLaw, []byte{0x00, 0x80, 0xff, 0x7f, 0x0f, 0xf0}, []int16{-32124, 32124, 0, 0, -16764, 120}},
		{tagALaw, []byte{0xd5, 0x55, 0xaa, 0x2a, 0x80}, []int16{8, -8, 32256, -32256, 5504}},
	} {
		data := wavSpec{tag: c.tag, ch: 1, bits: 8, data: c.in}.bytes()
		same(t, "law", shorts(t, openBytes(t, data)), c.want)
		f := floats(t, openBytes(t, data))
		for i, v := range c.want {
			if f[i] != float32(v)/32768 {
				t.Errorf("tag %d: float %d is %g, want %g", c.tag, i, f[i], float32(v)/32768)
			}
		}
	}
}

// TestWAVNative checks that 16-bit samples come unchanged, in both orders.
func TestWAVNative(t *testing.T) {
	r := seeded(t)
	in := make([]int64, 30000)
	want := make([]int16, len(in))
	for i := range in {
		want[i] = int16(r.Uint32())
		in[i] = int64(want[i])
	}
	for _, order := range bothOrders {
		data := wavSpec{form: formOf(order), order: order, ch: 2, bits: 16, data: packed(order, 2, in...)}.bytes()
		same(t, formOf(order), shorts(t, openBytes(t, data)), want)
	}
}

// TestPortableTwins compares what is read through a view of memory with what is converted.
func TestPortableTwins(t *testing.T) {
	r := seeded(t)
	raw := make([]byte, 4*1000)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	got, want := make([]int16, 2000), make([]int16, 2000)
	copyInt16(want, raw)
	if b := int16Bytes(got); b != nil {
		copy(b, raw)
		same(t, "int16", got, want)
	}
	f, w := make([]float32, 1000), make([]float32, 1000)
	fromFloat32(w, raw)
	if b := float32Bytes(f); b != nil {
		for _, n := range []int{0, 1, 7, 8, 9, 1000} {
			copy(b, raw)
			dropNonFinite(f[:n], b[:4*n])
			same(t, "float32", f[:n], w[:n])
		}
	}
}

// TestConvertersOfAnyLength compares each with a plain conversion, at lengths around what is
// unrolled, and every int16 there is.
func TestConvertersOfAnyLength(t *testing.T) {
	raw := make([]byte, 1<<17)
	for i := range 1 << 16 {
		binary.LittleEndian.PutUint16(raw[2*i:], uint16(i))
	}
	for _, n := range []int{1, 2, 3, 4, 5, 8, 11, 1 << 14, 1 << 16} {
		got := make([]float32, n)
		fromInt16(got, raw)
		for i, v := range got {
			if want := float32(int16(binary.LittleEndian.Uint16(raw[2*i:]))) / 32768; v != want || math.Signbit(float64(v)) != math.Signbit(float64(want)) {
				t.Fatalf("int16 %d of %d is %g, want %g", i, n, v, want)
			}
		}
		if n > 1<<14 {
			continue
		}
		fromInt24(got, raw)
		for i, v := range got {
			b := raw[3*i:]
			if want := float32(int32(b[0])|int32(b[1])<<8|int32(int8(b[2]))<<16) / (1 << 23); v != want {
				t.Fatalf("int24 %d of %d is %g, want %g", i, n, v, want)
			}
		}
	}
}

// wavGood is a WAV that is right but for what a test changes.
func wavGood() wavSpec { return wavSpec{ch: 2, bits: 16, data: le16(tone(2, 500)...)} }

// TestWAVMended lists files that are wrong and play all the same.
func TestWAVMended(t *testing.T) {
	frames := func(f func(w *wavSpec)) []byte { w := wavGood(); f(&w); return w.bytes() }
	whole := wavGood().bytes()
	list := testChunk{id: "LIST", body: []byte("INFOISFT\x0e\x00\x00\x00Lavf59.27.100\x00")}
	for name, c := range map[string]struct {
		data    []byte
		frames  int64
		warning string
	}{
		"chunks before":            {frames(func(w *wavSpec) { w.before = []testChunk{list, smpl()} }), 500, ""},
		"chunks behind":            {frames(func(w *wavSpec) { w.after = []testChunk{list, {id: "id3 ", body: []byte("x")}} }), 500, ""},
		"text behind":              {frames(func(w *wavSpec) { w.tail = []byte("this is no chunk, but a signature") }), 500, ""},
		"odd chunk with pad":       {frames(func(w *wavSpec) { w.before = []testChunk{{id: "note", body: []byte("abc")}} }), 500, ""},
		"odd chunk without pad":    {frames(func(w *wavSpec) { w.before = []testChunk{{id: "note", body: []byte("abc"), noPad: true}} }), 500, "pad byte"},
		"data from a pipe":         {frames(func(w *wavSpec) { w.claim = 0xffffffff }), 500, "claims 4294967295"},
		"data of the greatest int": {frames(func(w *wavSpec) { w.claim = 0x7fffffff }), 500, "claims"},
		"data too long":            {frames(func(w *wavSpec) { w.claim = 2100 }), 500, "claims 2100 bytes, 2000"},
		"data of size 0":           {frames(func(w *wavSpec) { w.claim = -1 }), 500, "claims 0 bytes"},
		"data of size 0, chunks":   {frames(func(w *wavSpec) { w.data = nil; w.after = []testChunk{list} }), 0, ""},
		"odd data":                 {frames(func(w *wavSpec) { w.data = w.data[:1999] }), 499, "3 of 4 bytes"},
		"fmt of 18":                {frames(func(w *wavSpec) { w.ext = []byte{0, 0} }), 500, ""},
		"fmt of 42": {frames(func(w *wavSpec) {
			w.tag, w.ext = tagExtensible, append(extension(binary.LittleEndian, 16, 3, tagPCM), 0, 0)
		}), 500, ""},
		"cut in the data":     {whole[:len(whole)-700], 325, "claims 2000 bytes, 1300"},
		"cut in a frame":      {whole[:len(whole)-701], 324, "claims 2000"},
		"two data chunks":     {frames(func(w *wavSpec) { w.after = []testChunk{{id: "data", body: make([]byte, 400)}} }), 500, "second"},
		"no frames":           {frames(func(w *wavSpec) { w.data = nil }), 0, ""},
		"data first":          {dataFirst(), 500, ""},
		"greatest rate":       {frames(func(w *wavSpec) { w.rate = 384000 }), 500, ""},
		"least rate":          {frames(func(w *wavSpec) { w.rate = 1 }), 500, ""},
		"eight channels":      {frames(func(w *wavSpec) { w.ch = 8 }), 125, ""},
		"RF64":                {rf64(2000, 0xffffffff), 500, ""},
		"RF64 with a size":    {rf64(0, 2000), 500, ""},
		"RF64 of huge size":   {rf64(1<<60, 0xffffffff), 500, "claims"},
		"JUNK of zeros":       {frames(func(w *wavSpec) { w.before = []testChunk{{id: "JUNK", body: make([]byte, 28)}} }), 500, ""},
		"more than 24 hours?": {frames(func(w *wavSpec) { w.rate = 1; w.data = w.data[:4] }), 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := openBytes(t, c.data)
			if n := int64(len(floats(t, s)) / s.Info().Channels); n != c.frames || s.Info().Frames != n {
				t.Errorf("%d frames, Info tells %d, want %d", n, s.Info().Frames, c.frames)
			}
			if w := strings.Join(s.Info().Warnings, "; "); !strings.Contains(w, c.warning) || (c.warning == "") != (w == "") {
				t.Errorf("warnings are %q, want %q", w, c.warning)
			}
		})
	}
}

func dataFirst() []byte {
	w := wavGood()
	b := w.bytes()
	return slices.Concat(b[:12], b[36:], b[12:36])
}

func rf64(long uint64, claim int64) []byte {
	w := wavGood()
	w.form, w.claim = "RF64", claim
	b := binary.LittleEndian.AppendUint64(nil, 0)
	b = binary.LittleEndian.AppendUint64(b, long)
	w.before = []testChunk{{id: "ds64", body: append(b, make([]byte, 12)...)}}
	return w.bytes()
}

// TestWAVRefused lists files that must not play, with what the message has to say.
func TestWAVRefused(t *testing.T) {
	change := func(f func(w *wavSpec)) []byte { w := wavGood(); f(&w); return w.bytes() }
	whole := wavGood().bytes()
	junk := func(size uint32) []byte {
		return change(func(w *wavSpec) { w.before = []testChunk{{id: "JUNK", claim: size}} })
	}
	many := make([]testChunk, 1100)
	for i := range many {
		many[i] = testChunk{id: "note"}
	}
	for name, c := range map[string]struct {
		data []byte
		kind error
		says string
	}{
		"fmt of 0":              {change(func(w *wavSpec) { w.fmt = []byte{} }), ErrCorrupt, "fmt chunk of 0"},
		"fmt of 14":             {change(func(w *wavSpec) { w.fmt = make([]byte, 14) }), ErrCorrupt, "14"},
		"fmt of 5000":           {change(func(w *wavSpec) { w.ext = make([]byte, 5000) }), ErrCorrupt, "5016"},
		"JUNK of 2 GiB":         {junk(0x7ffffffe), ErrCorrupt, `"JUNK"`},
		"JUNK of 2 GiB, odd":    {junk(0x7fffffff), ErrCorrupt, "2147483647"},
		"JUNK of negative size": {junk(0x80000000), ErrCorrupt, "2147483648"},
		"align 0":               {change(func(w *wavSpec) { w.align = -1 }), ErrCorrupt, "0 bytes for 2 channels"},
		"align 1":               {change(func(w *wavSpec) { w.align = 1 }), ErrCorrupt, "1 bytes"},
		"align 2":               {change(func(w *wavSpec) { w.align = 2 }), ErrCorrupt, "2 bytes"},
		"align negative":        {change(func(w *wavSpec) { w.align = 0xfffc }), ErrCorrupt, "65532"},
		"align 8":               {change(func(w *wavSpec) { w.align = 8 }), ErrCorrupt, "8 bytes"},
		"rate 0":                {change(func(w *wavSpec) { w.fmt = append([]byte{1, 0, 2, 0}, make([]byte, 12)...) }), ErrLimit, "0 Hz"},
		"rate -1":               {change(func(w *wavSpec) { w.rate = 0xffffffff }), ErrLimit, "4294967295 Hz"},
		"rate 384001":           {change(func(w *wavSpec) { w.rate = 384001 }), ErrLimit, "384001"},
		"no channels":           {change(func(w *wavSpec) { w.ch = 0; w.align = 4 }), ErrLimit, "0 channels"},
		"nine channels":         {change(func(w *wavSpec) { w.ch = 9 }), ErrLimit, "9 channels"},
		"4 bits":                {change(func(w *wavSpec) { w.bits = 4; w.align = 2 }), ErrUnsupported, "4 bits"},
		"40 bits":               {change(func(w *wavSpec) { w.bits = 40 }), ErrUnsupported, "40 bits"},
		"64 bits":               {change(func(w *wavSpec) { w.bits = 64 }), ErrUnsupported, "64 bits"},
		"float of 16":           {change(func(w *wavSpec) { w.tag = tagFloat }), ErrUnsupported, "float of 16"},
		"no data":               {whole[:36], ErrCorrupt, "ends at 0x24"},
		"cut in the head":       {whole[:40], ErrCorrupt, "ends at 0x28"},
		"cut in fmt":            {whole[:30], ErrCorrupt, `"fmt "`},
		"cut at once":           {whole[:8], ErrCorrupt, "unexpected EOF"},
		"no fmt":                {slices.Concat(whole[:12], whole[36:]), ErrCorrupt, "before its data"},
		"no chunk":              {slices.Concat(whole[:12], make([]byte, 100)), ErrCorrupt, "no chunk at 0xc"},
		"1100 chunks":           {change(func(w *wavSpec) { w.before = many }), ErrLimit, "1024 chunks"},
		"GSM":                   {change(func(w *wavSpec) { w.tag = 49 }), ErrUnsupported, "49 (0x0031), GSM 6.10"},
		"WMA":                   {change(func(w *wavSpec) { w.tag = 0x161 }), ErrUnsupported, "WMA 2"},
		"a tag nobody knows":    {change(func(w *wavSpec) { w.tag = 0x4242 }), ErrUnsupported, "16962 (0x4242)"},
		"extensible, no GUID":   {change(func(w *wavSpec) { w.tag = tagExtensible; w.ext = []byte{4, 0, 1, 2, 3, 4} }), ErrCorrupt, "extension"},
		"extensible, other GUID": {change(func(w *wavSpec) {
			w.tag, w.ext = tagExtensible, extension(binary.LittleEndian, 16, 3, tagPCM)
			w.ext[20] = 9
		}), ErrUnsupported, "sub-format 0001"},
		"extensible in itself": {change(func(w *wavSpec) {
			w.tag, w.ext = tagExtensible, extension(binary.LittleEndian, 16, 3, tagExtensible)
		}), ErrUnsupported, "fffe"},
		"AVI":                  {[]byte("RIFF\x00\x00\x00\x00AVI LIST"), ErrUnsupported, "AVI"},
		"another RIFF":         {[]byte("RIFF\x00\x00\x00\x00blobLIST"), ErrFormat, "blob"},
		"ADPCM of tiny blocks": {change(func(w *wavSpec) { w.tag, w.bits, w.align = tagIMA, 4, 8 }), ErrCorrupt, "blocks of 8"},
		"ADPCM of 3 bits":      {change(func(w *wavSpec) { w.tag, w.bits, w.align = tagIMA, 3, 512 }), ErrUnsupported, "3 bits"},
		"ADPCM predictors": {change(func(w *wavSpec) {
			w.tag, w.bits, w.align = tagMSADPCM, 4, 256
			w.ext = []byte{4, 0, 0xf4, 1, 200, 0}
		}), ErrCorrupt, "200 ADPCM predictors"},
		"ADPCM, big-endian": {wavSpec{form: "RIFX", order: binary.BigEndian, tag: tagIMA, ch: 1, bits: 4, align: 256, data: make([]byte, 256)}.bytes(), ErrUnsupported, "RIFX"},
		"ds64 cut":          {change(func(w *wavSpec) { w.form = "RF64"; w.before = []testChunk{{id: "ds64", body: make([]byte, 9)}} }), ErrCorrupt, "ds64"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(bytes.NewReader(c.data), int64(len(c.data)), nil)
			if err == nil {
				t.Fatalf("opened as %+v", s.Info())
			}
			wants(t, err, c.kind)
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("error is %q, want %q in it", err, c.says)
			}
		})
	}
}

func TestWAVLoops(t *testing.T) {
	w := wavGood()
	w.after = []testChunk{smpl([4]uint32{0, 10, 99, 0}, [4]uint32{1, 100, 199, 3}, [4]uint32{2, 5, 6, 0},
		[4]uint32{0, 400, 500, 0}, [4]uint32{0, 400, 900, 0}, [4]uint32{0, 500, 600, 0}, [4]uint32{0, 30, 20, 0}, [4]uint32{0, 0xffffffff, 0xffffffff, 0})}
	in := openBytes(t, w.bytes()).Info()
	want := []Loop{{10, 100, false, 0}, {100, 200, true, 3}, {5, 7, false, 0}, {400, 500, false, 0}, {400, 500, false, 0}}
	same(t, "loops", in.Loops, want)
	text := strings.Join(in.Warnings, "; ")
	for _, part := range []string{"type 2", "frame 500, one behind the last", "frame 900, the sound at 500", "from frame 500 to 600", "from frame 30 to 20", "4294967295"} {
		if !strings.Contains(text, part) {
			t.Errorf("warnings %q do not say %q", text, part)
		}
	}
}

func TestWAVLoopsCut(t *testing.T) {
	w := wavGood()
	c := smpl([4]uint32{0, 1, 2, 0})
	binary.LittleEndian.PutUint32(c.body[28:], 0xffffffff)
	w.before = []testChunk{c}
	in := openBytes(t, w.bytes()).Info()
	same(t, "loops", in.Loops, []Loop{{Start: 1, End: 3}})
	if len(in.Warnings) != 1 || !strings.Contains(in.Warnings[0], "4294967295 loops and holds 1") {
		t.Errorf("warnings are %q", in.Warnings)
	}
}

func TestWAVCues(t *testing.T) {
	w := wavGood()
	b := []byte{3, 0, 0, 0}
	for _, at := range []uint32{7, 300, 9000} {
		b = append(b, make([]byte, 20)...)
		b = binary.LittleEndian.AppendUint32(b, at)
	}
	w.before = []testChunk{{id: "cue ", body: b}}
	same(t, "cues", openBytes(t, w.bytes()).Info().Cues, []int64{7, 300, 500})
}

// TestWAVSeeks checks seeks in every kind of samples.
func TestWAVSeeks(t *testing.T) {
	for name, data := range wavKinds(t) {
		t.Run(name, func(t *testing.T) { seeksLikeStraight(t, data, 100) })
	}
}

// wavKinds is one file of each kind that the codecs tell apart.
func wavKinds(t testing.TB) map[string][]byte {
	raw := le16(tone(2, 6000)...)
	kinds := map[string][]byte{}
	for _, c := range []struct {
		tag  uint16
		ch   int
		bits int
	}{{1, 2, 8}, {1, 1, 16}, {1, 2, 16}, {1, 2, 24}, {1, 3, 32}, {tagFloat, 2, 32}, {tagFloat, 1, 64}, {tagALaw, 2, 8}, {tagMuLaw, 1, 8}} {
		for _, order := range bothOrders {
			w := wavSpec{form: formOf(order), order: order, tag: c.tag, ch: c.ch, bits: c.bits, data: raw}
			kinds[fmt.Sprintf("tag %d, %d channels, %d bits, %s", c.tag, c.ch, c.bits, formOf(order))] = w.bytes()
		}
	}
	for _, ch := range []int{1, 2, 5} {
		kinds[fmt.Sprintf("IMA %d", ch)] = wavSpec{tag: tagIMA, ch: ch, bits: 4, align: 4 * ch * 20, ext: []byte{2, 0, 153, 0}, data: raw}.bytes()
		kinds[fmt.Sprintf("MS %d", ch)] = wavSpec{tag: tagMSADPCM, ch: ch, bits: 4, align: 210 * ch, data: raw}.bytes()
	}
	return kinds
}

// TestADPCMAgainstSox has sox make files of both kinds, and compares with what sox decodes. The
// length is that of the source, by the fact chunk; sox itself plays the last block to its end.
func TestADPCMAgainstSox(t *testing.T) {
	needs(t, "sox")
	dir := t.TempDir()
	for _, ch := range []int{1, 2} {
		for _, kind := range []string{"ima-adpcm", "ms-adpcm"} {
			file := filepath.Join(dir, kind+".wav")
			src := filepath.Join(dir, "src.wav")
			if err := os.WriteFile(src, wavSpec{ch: ch, bits: 16, rate: 22050, data: le16(tone(ch, 12345)...)}.bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, "sox", src, "-e", kind, file)
			want := toShorts(run(t, "sox", file, "-t", "raw", "-e", "signed", "-b", "16", "-"))
			data := readFile(t, file)
			got := shorts(t, openBytes(t, data))
			if len(got) != 12345*ch {
				t.Errorf("%s, %d channels: %d samples, want %d", kind, ch, len(got), 12345*ch)
			}
			same(t, kind, got, want[:min(len(want), len(got))])
			seeksLikeStraight(t, data, 50)
		}
	}
}

// TestWAVAgainstFFmpeg compares every encoding that ffmpeg writes with ffmpeg's own reading of it.
// It rounds IMA ADPCM otherwise than the recommendation: see TestADPCMAgainstSox for that.
func TestWAVAgainstFFmpeg(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "src.wav")
	if err := os.WriteFile(src, wavSpec{ch: 2, bits: 16, data: le16(tone(2, 5000)...)}.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	kinds := []string{
		"-c:a pcm_u8", "-c:a pcm_s16le", "-c:a pcm_s24le", "-c:a pcm_s32le", "-c:a pcm_f32le", "-c:a pcm_f64le",
		"-c:a pcm_alaw", "-c:a pcm_mulaw", "-c:a pcm_s16le -ac 6", "-c:a pcm_s16le -rf64 always", "-c:a adpcm_ms",
	}
	write := []string{"-v", "error", "-i", src}
	read := []string{"-v", "error"}
	for i, kind := range kinds {
		write = append(append(append(write, "-map", "0"), strings.Fields(kind)...), fmt.Sprintf("%s/%d.wav", dir, i))
		read = append(read, "-i", fmt.Sprintf("%s/%d.wav", dir, i))
	}
	for i := range kinds {
		read = append(read, "-map", strconv.Itoa(i), "-f", "f32le", fmt.Sprintf("%s/%d.raw", dir, i))
	}
	run(t, "ffmpeg", write...)
	run(t, "ffmpeg", read...)
	for i, kind := range kinds {
		raw := readFile(t, fmt.Sprintf("%s/%d.raw", dir, i))
		want := make([]float32, len(raw)/4)
		fromFloat32(want, raw)
		got := floats(t, openBytes(t, readFile(t, fmt.Sprintf("%s/%d.wav", dir, i))))
		if len(got) != len(want) && kind != "-c:a adpcm_ms" { // ffmpeg plays the last block to its end
			t.Errorf("%s: %d samples, ffmpeg has %d", kind, len(got), len(want))
		}
		n := min(len(got), len(want))
		same(t, kind, got[:n], want[:n])
	}
}

// TestSystemSounds opens what the system has, and asks soxi for the truth.
func TestSystemSounds(t *testing.T) {
	files, _ := filepath.Glob("/usr/share/sounds/alsa/*.wav")
	if len(files) == 0 {
		t.Skip("needs the sounds of alsa-utils")
	}
	needs(t, "soxi")
	for _, file := range files {
		s := openBytes(t, readFile(t, file))
		in := s.Info()
		for _, c := range []struct {
			flag string
			got  int64
		}{{"-r", int64(in.Rate)}, {"-c", int64(in.Channels)}, {"-b", int64(in.Bits)}, {"-s", in.Frames}} {
			out, err := exec.Command("soxi", c.flag, file).Output()
			want, _ := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
			if err != nil || c.got != want {
				t.Errorf("%s: soxi %s says %d (%v), Info %d", file, c.flag, want, err, c.got)
			}
		}
		if got := int64(len(shorts(t, s)) / in.Channels); got != in.Frames {
			t.Errorf("%s: %d frames of %d", file, got, in.Frames)
		}
	}
}

// TestWAVShortReads has the reader return its end with the last bytes, as io.ReaderAt may.
func TestWAVShortReads(t *testing.T) {
	data := wavGood().bytes()
	s, err := Open(endWithData{data}, int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "samples", shorts(t, s), tone(2, 500))
}

type endWithData struct{ b []byte }

func (e endWithData) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, e.b[min(off, int64(len(e.b))):])
	if off+int64(n) == int64(len(e.b)) {
		return n, io.EOF
	}
	return n, nil
}

// TestReaderErrors cuts the reader off at every place with an error of its own: it must come out
// with its identity, at once or while reading, and never as damage.
func TestReaderErrors(t *testing.T) {
	errDisk := errors.New("the disk is gone")
	for name, data := range oneOfEach(t) {
		t.Run(name, func(t *testing.T) {
			for _, cut := range []int{0, 1, 5, 13, 40, 50, 100, len(data) / 4, len(data) / 2, len(data) - 30, len(data) - 1} {
				r := brokenAfter{data, int64(cut), errDisk}
				s, err := Open(r, int64(len(data)), nil)
				if err == nil {
					_, err = floatsUpTo(s)
				}
				if !errors.Is(err, errDisk) {
					t.Errorf("cut at %d of %d: error is %v", cut, len(data), err)
				}
			}
		})
	}
}

type brokenAfter struct {
	b   []byte
	n   int64
	err error
}

func (r brokenAfter) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.n {
		return 0, r.err
	}
	return copy(p, r.b[off:]), nil
}

// oneOfEach is a good sound of every format, where the cases are at hand; a WAV and a FLAC always.
func oneOfEach(t testing.TB) map[string][]byte {
	all := map[string][]byte{
		"wav": wavGood().bytes(), "wav ADPCM": wavKinds(t)["IMA 2"], "wav 24-bit": wavKinds(t)["tag 1, 2 channels, 24 bits, RIFX"],
		"flac": flacGood(2, 16, 9000).bytes(), "flac 5.1": flacGood(6, 24, 9000).bytes(),
	}
	for _, name := range []string{"o17.ogg", "o12.ogg", "m06.mp3", "f03.flac"} {
		if b, err := os.ReadFile(filepath.Join(moduleRoot(t), "..", "shared", "cases", "audio", name)); err == nil {
			all[name] = b
		}
	}
	return all
}
