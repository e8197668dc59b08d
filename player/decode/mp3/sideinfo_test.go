package mp3

import (
	"math/rand"
	"testing"
)

func TestBitReader(t *testing.T) {
	buf := []byte{0b10110011, 0x5a, 0xff, 0x00, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc}
	r := bitReader{buf: buf}
	for i, c := range []struct {
		n    int
		want uint32
	}{{1, 1}, {3, 0b011}, {4, 0b0011}, {0, 0}, {12, 0x5af}, {32, 0xf0012345}, {20, 0x6789a}, {8, 0xbc}, {5, 0}, {32, 0}} {
		if got := r.bits(c.n); got != c.want {
			t.Errorf("read %d: %d bits are %#x, want %#x", i, c.n, got, c.want)
		}
	}
	if r.pos != 117 {
		t.Errorf("position %d, want 117", r.pos)
	}
}

// What a granule is written with is what is read.
func TestSideInfoRoundTrip(t *testing.T) {
	for i, k := range kinds {
		m := &maker{kind: k, rng: rand.New(rand.NewSource(int64(i)))}
		h := k.header()
		var want granule
		counts := m.choose(h, &want)
		want.part23Length, want.bigValues = 1234, 200
		borders := regionBorders(h, &want, counts)
		for j, b := range borders {
			want.regionEnd[j] = min(2*b, 400)
		}
		var w bitWriter
		putGranule(&w, h, &want, counts)
		var got granule
		r := bitReader{buf: w.b}
		if !got.parse(&r, h) {
			t.Errorf("%s: refused", k.name)
		}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", k.name, got, want)
		}
		if r.pos != w.n {
			t.Errorf("%s: %d bits read, %d written", k.name, r.pos, w.n)
		}
	}
}

// The quick look at side information must find what the whole reading finds, for any bytes.
func TestCheckSideAgrees(t *testing.T) {
	seed := rand.Int63()
	rng := rand.New(rand.NewSource(seed))
	good := 0
	for range 20000 {
		h := kinds[rng.Intn(len(kinds))].header()
		b := make([]byte, h.sideSize())
		rng.Read(b)
		if rng.Intn(2) == 0 {
			clear(b[rng.Intn(len(b)):]) // so that some are valid
		}
		var side sideInfo
		ok := side.parse(h, b)
		want := sideCheck{side.mainDataBegin, 0, ok}
		if ok {
			good++
			want.bits = side.mainBits(h)
		}
		got := checkSide(h, b)
		if !ok {
			got.bits = 0
		}
		if got != want {
			t.Fatalf("seed %d, %v: %x: got %+v, want %+v", seed, h, b, got, want)
		}
	}
	if good < 100 {
		t.Errorf("only %d of the tries were valid", good)
	}
}

func TestSideInfoForbidden(t *testing.T) {
	h := header(0xfffb50c4) // mono
	var w bitWriter
	for range 17 {
		w.put(0, 8)
	}
	var side sideInfo
	if !side.parse(h, w.b) {
		t.Error("all zeros are refused")
	}
	bit := 18 + 12 + 9 + 8 + 4 // window_switching_flag of granule 0
	w.b[bit/8] |= 1 << (7 - bit%8)
	if side.parse(h, w.b) {
		t.Error("block_type 0 with window switching is taken")
	}
	w.b[bit/8] = 0
	bit = 18 + 12
	w.b[bit/8] |= 0xff >> (bit % 8)
	w.b[bit/8+1] = 0xff
	if side.parse(h, w.b) {
		t.Error("big_values of 511 is taken")
	}
}

func TestBands(t *testing.T) {
	for rate := range layouts {
		for kind, l := range layouts[rate] {
			end := 0
			for b, band := range l.bands[:l.n] {
				if int(band.end) <= end || band.end%2 != 0 {
					t.Errorf("rate %d, layout %d: band %d ends at %d after %d", rate, kind, b, band.end, end)
				}
				if short := band.window >= 0; short != (b >= l.numLong) || short && int(band.window) != (b-l.numLong)%3 {
					t.Errorf("rate %d, layout %d: band %d is of window %d", rate, kind, b, band.window)
				}
				end = int(band.end)
			}
			if end != granuleSize {
				t.Errorf("rate %d, layout %d: ends at %d", rate, kind, end)
			}
		}
		if n := layouts[rate][layoutMixed].n; rate < 3 && n != 8+30 || rate >= 3 && rate < 8 && n != 6+30 {
			t.Errorf("rate %d: %d bands in a mixed block", rate, n)
		}
	}
}
