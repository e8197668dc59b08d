package decode

import (
	"math"
	"testing"
)

// onlyChannel is a stream of which one channel is 1 and the others are 0.
func onlyChannel(ch, which int, mask uint32) *fake {
	f := newFake(10, ch)
	f.about.Mask = mask
	f.read1 = func(f *fake, dst []float32) (int, error) {
		n, err := f.plain(dst)
		for i := range dst[:n*ch] {
			dst[i] = 0
			if i%ch == which {
				dst[i] = 1
			}
		}
		return n, err
	}
	return f
}

// TestFold folds each channel of each layout alone: L and R are what it gives to the sides.
func TestFold(t *testing.T) {
	const h = math.Sqrt2 / 2
	l, r, c, lfe, ls, rs, cs := [2]float64{1, 0}, [2]float64{0, 1}, [2]float64{h, h}, [2]float64{}, [2]float64{h, 0}, [2]float64{0, h}, [2]float64{0.5, 0.5}
	for _, layout := range []struct {
		mask uint32
		want [][2]float64
	}{
		{0, [][2]float64{{1, 1}}},
		{0, [][2]float64{l, r}},
		{0, [][2]float64{l, r, c}},
		{0, [][2]float64{l, r, ls, rs}},
		{0, [][2]float64{l, r, c, ls, rs}},
		{0, [][2]float64{l, r, c, lfe, ls, rs}},
		{0, [][2]float64{l, r, c, lfe, cs, ls, rs}},
		{0, [][2]float64{l, r, c, lfe, ls, rs, ls, rs}},
		{0x60f, [][2]float64{l, r, c, lfe, ls, rs}},                        // 5.1 with side speakers
		{0x107, [][2]float64{l, r, c, cs}},                                 // three in front and one behind
		{0x00b, [][2]float64{l, r, lfe}},                                   // 2.1
		{0xff, [][2]float64{l, r, c, lfe, ls, rs, l, r}},                   // five in front
		{0x33, [][2]float64{l, r, ls, rs}},                                 // quad
		{0x3, [][2]float64{l, r, c}},                                       // a mask of two speakers for three channels
		{0xffffffff, [][2]float64{l, r, c, lfe, ls, rs, ls, rs}},           // or of all of them
		{1<<18 | 0x3, [][2]float64{l, r, c}},                               // or of speakers that do not exist
		{0x1000 | 0x800 | 0x20000, [][2]float64{cs, ls, rs}},               // from above
		{0x2000 | 0x10000 | 0x4000 | 0x8000, [][2]float64{cs, rs, ls, cs}}, // and the others there
	} {
		for which, want := range layout.want {
			s := gated(t, onlyChannel(len(layout.want), which, layout.mask))
			var got [3][2]float64
			if n, ok := s.Stream(got[:]); n != 3 || !ok {
				t.Fatalf("%d, %t", n, ok)
			}
			for side := range 2 {
				if math.Abs(got[2][side]-want[side]) > 1e-6 {
					t.Errorf("mask %x, channel %d of %d: %v, want %v", layout.mask, which, len(layout.want), got[2], want)
				}
			}
		}
	}
}

// Info.Fold gives what ReadStereo gives.
func TestFoldIsReadStereo(t *testing.T) {
	for _, ch := range []int{1, 2, 3, 6} {
		b := wavSpec{ch: ch, bits: 16, data: le16(tone(ch, 500)...)}.bytes()
		want := make([]float32, 1000)
		if n, err := openBytes(t, b).ReadStereo(want); n != 500 || err != nil {
			t.Fatal(n, err)
		}
		s := openBytes(t, b)
		fold := s.Info().Fold()
		var got []float32
		for block := make([]float32, 77*ch); ; {
			n, err := s.ReadFloat32(block)
			if err != nil {
				break
			}
			got = append(got, fold(block[:n*ch])...)
		}
		same(t, "folded", got, want)
	}
}
