package decode

import (
	"bytes"
	"testing"
)

// TestCRCs checks the check values of the two polynomials, and the tables against single bits.
func TestCRCs(t *testing.T) {
	check := []byte("123456789")
	if c := crc8(check); c != 0xf4 { // CRC-8/SMBUS
		t.Errorf("CRC-8 is %02x, want f4", c)
	}
	if c := crc16(check); c != 0xfee8 { // CRC-16/UMTS
		t.Errorf("CRC-16 is %04x, want fee8", c)
	}
	data := noise(1000)
	for n := range 40 {
		var want uint16
		for _, b := range data[n : n*20] {
			want ^= uint16(b) << 8
			for range 8 {
				carry := want & 0x8000
				if want <<= 1; carry != 0 {
					want ^= 0x8005
				}
			}
		}
		if got := crc16(data[n : n*20]); got != want {
			t.Fatalf("CRC-16 of %d bytes is %04x, want %04x", n*19, got, want)
		}
	}
}

// TestBitReader reads random fields and compares with what was written.
func TestBitReader(t *testing.T) {
	rnd := seeded(t)
	for range 200 {
		type field struct {
			kind string
			v    uint64
			n    uint
		}
		var w bitWriter
		var fields []field
		for range 100 {
			f := field{[]string{"bits", "signed", "unary", "rice"}[rnd.IntN(4)], rnd.Uint64(), uint(rnd.IntN(34))}
			switch f.kind {
			case "bits", "signed":
				f.n = max(f.n, 1)
				f.v &= 1<<f.n - 1
				w.put(f.v, f.n)
			case "unary":
				f.v %= []uint64{3, 80, 500}[rnd.IntN(3)]
				for range f.v {
					w.put(0, 1)
				}
				w.put(1, 1)
			case "rice":
				f.n %= 31
				f.v %= 1 << (f.n + 6)
				for range f.v >> f.n {
					w.put(0, 1)
				}
				w.put(1, 1)
				w.put(f.v, f.n)
			}
			fields = append(fields, f)
		}
		w.align()
		r := bitReader{b: w.b}
		for i, f := range fields {
			var got, want int64
			switch f.kind {
			case "bits":
				got, want = int64(r.bits(f.n)), int64(f.v)
			case "signed":
				got, want = r.signed(f.n), int64(f.v<<(64-f.n))>>(64-f.n)
			case "unary":
				got, want = int64(r.unary()), int64(f.v)
			case "rice":
				one := make([]int64, 1)
				r.rice(one, f.n)
				got, want = one[0], int64(f.v>>1)^-int64(f.v&1)
			}
			if got != want || r.short {
				t.Fatalf("field %d, %s of %d: %d, want %d (short %t)", i, f.kind, f.n, got, want, r.short)
			}
		}
		if n := r.align(); n != len(w.b) {
			t.Fatalf("%d bytes were read of %d", n, len(w.b))
		}
		if r.bits(1); !r.short {
			t.Fatal("a bit behind the end was read")
		}
	}
}

// TestBitReaderEnds runs each kind of read into the end, at every length.
func TestBitReaderEnds(t *testing.T) {
	for n := range 20 {
		for kind, read := range map[string]func(r *bitReader){
			"bits":  func(r *bitReader) { r.bits(33) },
			"unary": func(r *bitReader) { r.unary() },
			"rice":  func(r *bitReader) { r.rice(make([]int64, 3), 20) },
		} {
			r := bitReader{b: make([]byte, n)}
			for range 100 {
				read(&r)
			}
			if !r.short || r.at > n {
				t.Errorf("%s in %d bytes: short %t at %d", kind, n, r.short, r.at)
			}
		}
	}
}

// header is a frame header with these codes and its checksum.
func header(codes ...byte) []byte { return append(codes, crc8(codes)) }

// TestFLACHeaders goes through the codes.
func TestFLACHeaders(t *testing.T) {
	for code, want := range map[byte]int{1: 192, 2: 576, 3: 1152, 4: 2304, 5: 4608, 8: 256, 9: 512, 12: 4096, 15: 32768} {
		if h, err := parseFLACHeader(header(0xff, 0xf8, code<<4|9, 0x18, 0)); err != nil || h.block != want {
			t.Errorf("block code %d: %d, %v, want %d", code, h.block, err, want)
		}
	}
	for code, want := range []int{0, 88200, 176400, 192000, 8000, 16000, 22050, 24000, 32000, 44100, 48000, 96000} {
		if h, err := parseFLACHeader(header(0xff, 0xf8, 0x10|byte(code), 0x18, 0)); err != nil || h.rate != want {
			t.Errorf("rate code %d: %d, %v, want %d", code, h.rate, err, want)
		}
	}
	for code, want := range map[byte]int{0: 0, 1: 8, 2: 12, 4: 16, 5: 20, 6: 24, 7: 32} {
		if h, err := parseFLACHeader(header(0xff, 0xf8, 0x19, 0x10|code<<1, 0)); err != nil || h.bits != want {
			t.Errorf("depth code %d: %d, %v, want %d", code, h.bits, err, want)
		}
	}
	for code := range byte(11) {
		h, err := parseFLACHeader(header(0xff, 0xf9, 0x19, code<<4|8, 0))
		want, side := int(code)+1, -1
		if code >= 8 {
			want, side = 2, []int{1, 0, 1}[code-8]
		}
		if err != nil || h.channels != want || h.side != side || h.mid != (code == 10) || !h.variable {
			t.Errorf("channel code %d: %+v, %v", code, h, err)
		}
	}
	for _, c := range []struct {
		b           []byte
		block, rate int
	}{
		{header(0xff, 0xf8, 0x69, 0x18, 0, 99), 100, 44100},
		{header(0xff, 0xf8, 0x79, 0x18, 0, 0xff, 0xfe), 65535, 44100},
		{header(0xff, 0xf8, 0x1c, 0x18, 0, 7), 192, 7000},
		{header(0xff, 0xf8, 0x1d, 0x18, 0, 0x12, 0x34), 192, 0x1234},
		{header(0xff, 0xf8, 0x1e, 0x18, 0, 0x12, 0x34), 192, 0x1234 * 10},
		{header(0xff, 0xf8, 0x7d, 0x18, 0, 1, 0, 2, 0), 257, 512},
	} {
		if h, err := parseFLACHeader(c.b); err != nil || h.block != c.block || h.rate != c.rate || h.size != len(c.b) {
			t.Errorf("% x: %+v, %v", c.b, h, err)
		}
	}
}

func TestFLACHeaderNumbers(t *testing.T) {
	for _, n := range []uint64{0, 1, 0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x1fffff, 0x200000, 0x3ffffff, 0x4000000, 0x7fffffff, 1<<36 - 1} {
		b := header(append([]byte{0xff, 0xf9, 0x19, 0x18}, utf8Number(n)...)...)
		h, err := parseFLACHeader(b)
		if err != nil || h.number != n || h.size != len(b) {
			t.Errorf("number %d: %d in %d bytes, %v", n, h.number, h.size, err)
		}
		for cut := range b {
			if _, err := parseFLACHeader(b[:cut]); err != errShort {
				t.Errorf("number %d, %d of %d bytes: %v", n, cut, len(b), err)
			}
		}
	}
}

// TestFLACHeadersRefused lists what looks like a header and is none.
func TestFLACHeadersRefused(t *testing.T) {
	for name, b := range map[string][]byte{
		"no sync":               header(0xff, 0xf0, 0x19, 0x18, 0),
		"reserved bit":          header(0xff, 0xfa, 0x19, 0x18, 0),
		"block code 0":          header(0xff, 0xf8, 0x09, 0x18, 0),
		"rate code 15":          header(0xff, 0xf8, 0x1f, 0x18, 0),
		"channel code 11":       header(0xff, 0xf8, 0x19, 0xb8, 0),
		"depth code 3":          header(0xff, 0xf8, 0x19, 0x16, 0),
		"last bit":              header(0xff, 0xf8, 0x19, 0x19, 0),
		"number of 0xff":        header(0xff, 0xf8, 0x19, 0x18, 0xff, 0x80),
		"number that goes on":   header(0xff, 0xf8, 0x19, 0x18, 0x80),
		"number that breaks":    header(0xff, 0xf8, 0x19, 0x18, 0xc2, 0x00),
		"block of 65536":        header(0xff, 0xf8, 0x79, 0x18, 0, 0xff, 0xff),
		"checksum":              {0xff, 0xf8, 0x19, 0x18, 0, 0},
		"zeros":                 make([]byte, 20),
		"another sync of MPEG?": {0xff, 0xfb, 0x90, 0x64, 0, 0},
	} {
		if _, err := parseFLACHeader(b); err != errNoSync {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFLACSubframesRefused writes subframes that must not decode.
func TestFLACSubframesRefused(t *testing.T) {
	for name, write := range map[string]func(w *bitWriter){
		"padding bit":            func(w *bitWriter) { w.put(0x80, 8) },
		"type 2":                 func(w *bitWriter) { w.put(2<<1, 8) },
		"fixed of order 5":       func(w *bitWriter) { w.put(13<<1, 8) },
		"type 16":                func(w *bitWriter) { w.put(16<<1, 8) },
		"all bits wasted":        func(w *bitWriter) { w.put(1, 8); w.put(0, 15); w.put(1, 1) },
		"order beyond the block": func(w *bitWriter) { w.put(63<<1, 8) },
		"precision of 16":        func(w *bitWriter) { w.put(32<<1, 8); w.put(0, 16); w.put(15, 4); w.put(0, 5) },
		"negative shift":         func(w *bitWriter) { w.put(32<<1, 8); w.put(0, 16); w.put(3, 4); w.put(0x1f, 5) },
		"residual method 2":      func(w *bitWriter) { w.put(8<<1, 8); w.put(2, 2); w.put(0, 4) },
		"partitions that do not": func(w *bitWriter) { w.put(8<<1, 8); w.put(0, 2); w.put(5, 4) },
		"partition below order":  func(w *bitWriter) { w.put(12<<1, 8); w.put(0, 64); w.put(0, 2); w.put(3, 4) },
	} {
		var w bitWriter
		write(&w)
		w.put(0, 200)
		f := flacBlock{flacHeader: flacHeader{block: 16, bits: 16, channels: 1, side: -1}}
		if err := f.subframe(&bitReader{b: w.b}, 0); err != errSubframe {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFLACOutOfRange forges a frame whose samples are wider than its depth.
func TestFLACOutOfRange(t *testing.T) {
	spec := flacGood(2, 16, 256)
	spec.block, spec.stereo = 256, 8
	for i := range spec.samples {
		spec.samples[i] = []int64{-32768, 32767}[i%2]
	}
	good := spec.frames()[0]
	var f flacBlock
	if _, err := f.decode(good, 16); err != nil {
		t.Fatal(err)
	}
	spec.samples[1] = 32768 // does not fit in 16 bits, its difference fits in 17
	if _, err := f.decode(spec.frames()[0], 16); err == nil {
		t.Error("a sample of 17 bits came out")
	}
}

// TestFLACDryRun checks that looking at a frame finds the same end as decoding it, and the same faults.
func TestFLACDryRun(t *testing.T) {
	kinds := []string{"constant", "verbatim", "wasted", "fixed0", "fixed4", "linear", "linear-escape"}
	spec := flacGood(2, 16, 4096)
	for i := range spec.samples {
		spec.samples[i] &^= 7
	}
	spec.kind = func(n, c int) string { return kinds[(2*n+c)%len(kinds)] }
	for i, frame := range spec.frames() {
		var wet, dry flacBlock
		dry.dry = true
		a, errA := wet.decode(frame, 16)
		b, errB := dry.decode(frame, 16)
		if a != b || a != len(frame) || errA != nil || errB != nil {
			t.Errorf("frame %d of %d bytes: %d, %v and %d, %v", i, len(frame), a, errA, b, errB)
		}
		bad := bytes.Clone(frame)
		bad[len(bad)/2] ^= 1
		_, errA = wet.decode(bad, 16)
		_, errB = dry.decode(bad, 16)
		if errA == nil || errB == nil {
			t.Errorf("frame %d, damaged: %v and %v", i, errA, errB)
		}
	}
}
