package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/sndpak/sndpak/player/internal/streamtest"
)

// headerBytes is where the sound of a file begins.
func headerBytes(t testing.TB, data []byte) int {
	t.Helper()
	pages := testPages(t, data)
	return len(joinPages(pages[:soundPage(t, pages)]...))
}

// likeGood wants the frames of a damaged file to be those of the good one at their places, but for
// one run of silence. It returns the length of the run in frames.
func likeGood(t testing.TB, got, want []float32, ch int) int {
	t.Helper()
	from, to := -1, -1
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			if got[i] != 0 {
				t.Fatalf("sample %d of %d is %v, want %v or silence", i, len(got), got[i], want[i])
			}
			if from < 0 {
				from = i
			}
			to = i + 1
		}
	}
	for i := from; i < to; i++ {
		if got[i] != 0 {
			t.Fatalf("sample %d is %v in the silence of %d to %d", i, got[i], from, to)
		}
	}
	return (to - from) / ch
}

// damagedFiles are what the tests of damage break.
func damagedFiles(t *testing.T) map[string][]byte {
	return map[string][]byte{
		"theme":       excerpt(t),
		"small pages": repage(t, excerpt(t), 3),
		"large pages": repage(t, excerpt(t), 255),
	}
}

// TestVorbisCut cuts files off at 60 places: what is left is played, as long as it says it is.
func TestVorbisCut(t *testing.T) {
	for name, data := range damagedFiles(t) {
		t.Run(name, func(t *testing.T) {
			in, want := decodeVorbis(t, data)
			head := headerBytes(t, data) // and one page of sound, which is the least that is a sound
			o := oggOf(data)
			if ok, err := o.head(int64(head)); !ok {
				t.Fatalf("no page behind the headers: %v", err)
			}
			head += int(o.page.len)
			tries := streamtest.Fewer(60)
			for i := range tries {
				n := len(data)*i/tries + i
				c, err := openVorbis(bytes.NewReader(data[:n]), int64(n))
				if n < head {
					if !errors.Is(err, ErrCorrupt) {
						t.Fatalf("%d bytes: %v, want ErrCorrupt", n, err)
					}
					continue
				}
				got, err := readCodec(c, 1000)
				if err != io.EOF || int64(len(got)) != c.info().Frames*2 {
					t.Fatalf("%d bytes: %d samples of %d frames, %v", n, len(got), c.info().Frames, err)
				}
				same(t, fmt.Sprint(n, " bytes"), got, want[:len(got)])
				if loss := in.Frames - int64(len(got)/2); loss < 0 || loss > 210000 && n > len(data)*3/4 {
					t.Errorf("%d of %d bytes give %d of %d frames", n, len(data), len(got)/2, in.Frames)
				}
				if len(c.info().Warnings) == 0 {
					t.Errorf("%d bytes: no warning", n)
				}
			}
		})
	}
}

// TestVorbisBadByte changes one byte at 60 places: a page is lost, and nothing else.
func TestVorbisBadByte(t *testing.T) {
	for name, data := range damagedFiles(t) {
		t.Run(name, func(t *testing.T) {
			_, want := decodeVorbis(t, data)
			head := headerBytes(t, data)
			pages := testPages(t, data)
			before := len(data) - len(joinPages(pages[len(pages)-2:]...))
			r := seeded(t)
			tries := streamtest.Fewer(60)
			for i := range tries {
				bad := slices.Clone(data)
				at := len(data)*i/tries + r.IntN(len(data)/tries)
				bad[at] ^= byte(1 + r.IntN(255))
				c, err := openVorbis(bytes.NewReader(bad), int64(len(bad)))
				if err != nil {
					if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) || at >= head {
						t.Fatalf("byte %d: %v", at, err)
					}
					continue
				}
				got, err := readCodec(c, 1000)
				if err != io.EOF || int64(len(got)) != c.info().Frames*2 {
					t.Fatalf("byte %d: %d samples of %d frames, %v", at, len(got), c.info().Frames, err)
				}
				if at >= before { // where a last page begins is known only roughly if the one before it is lost
					got = got[:2*pages[len(pages)-3].granule]
				}
				if gap := likeGood(t, got, want, 2); gap > 140000 {
					t.Errorf("byte %d: silence of %d frames", at, gap)
				}
				if len(c.info().Warnings) == 0 {
					t.Errorf("byte %d: no warning", at)
				}
			}
		})
	}
}

// TestVorbisLostPages leaves pages out. All behind them is at its place, and seeks find it there.
func TestVorbisLostPages(t *testing.T) {
	data := excerpt(t)
	_, want := decodeVorbis(t, data)
	whole := testPages(t, data)
	first := soundPage(t, whole)
	for _, c := range []struct{ from, n int }{{first, 1}, {first, 3}, {first + 1, 1}, {first + 5, 1}, {first + 2, 5}, {len(whole) - 2, 1}} {
		t.Run(fmt.Sprintf("%d from %d of %d", c.n, c.from, len(whole)), func(t *testing.T) {
			file := joinPages(slices.Delete(slices.Clone(whole), c.from, c.from+c.n)...)
			in, got := decodeVorbis(t, file)
			if c.from != len(whole)-2 && len(got) != len(want) {
				t.Errorf("%d samples, want %d", len(got), len(want))
			}
			if c.from < len(whole)-2 {
				likeGood(t, got, want, 2)
				checkWarning(t, in, "sound lost")
			}
			checkSeeksIn(t, file, got, 60)
		})
	}
}

// TestVorbisRubbish puts bytes between the pages that are none: the sound is whole.
func TestVorbisRubbish(t *testing.T) {
	data := excerpt(t)
	_, want := decodeVorbis(t, data)
	pages := testPages(t, data)
	r := seeded(t)
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	nilPage := testPage{granule: -1, serial: 12345}.bytes()
	for name, junk := range map[string][]byte{
		"zeros":           make([]byte, 1000),
		"noise":           noise(5000),
		"capture":         []byte("OggSOggSOggS"),
		"head":            append([]byte("OggS\x00"), make([]byte, 60)...),
		"half a page":     pages[5].bytes()[:1000],
		"foreign nil":     nilPage,
		"100 KB of noise": noise(100 << 10),
	} {
		t.Run(name, func(t *testing.T) {
			var file []byte
			for i, p := range pages {
				if file = append(file, p.bytes()...); i > 0 && (len(junk) < 10000 || i == 7 || i == len(pages)-1) {
					file = append(file, junk...)
				}
			}
			in, got := decodeVorbis(t, file)
			same(t, "decoded", got, want)
			if len(in.Warnings) > vorbisMaxWarnings+1 || len(in.Warnings) == 0 && name != "foreign nil" {
				t.Errorf("%d warnings", len(in.Warnings))
			}
			checkSeeksIn(t, file, got, 40)
		})
	}
}

// TestVorbisNilPages has pages of the stream that hold nothing, and one that stands there twice.
func TestVorbisNilPages(t *testing.T) {
	_, want := decodeVorbis(t, excerpt(t))
	var file []byte
	seq := uint32(0)
	for i, p := range testPages(t, excerpt(t)) {
		p.seq = seq
		seq++
		file = append(file, p.bytes()...)
		if i == 6 {
			file = append(file, p.bytes()...)
		}
		if p.flags&oggLast == 0 && i > 0 {
			file = append(file, testPage{granule: -1, serial: p.serial, seq: seq}.bytes()...)
			seq++
		}
	}
	_, got := decodeVorbis(t, file)
	same(t, "decoded", got, want)
	checkSeeksIn(t, file, got, 60)
}

// TestVorbisPageNumbers has pages that are numbered wrong, with nothing lost.
func TestVorbisPageNumbers(t *testing.T) {
	data := excerpt(t)
	_, want := decodeVorbis(t, data)
	for name, number := range map[string]func(i int) uint32{
		"all 0":     func(int) uint32 { return 0 },
		"by twos":   func(i int) uint32 { return uint32(2 * i) },
		"backwards": func(i int) uint32 { return uint32(1000 - i) },
	} {
		t.Run(name, func(t *testing.T) {
			pages := testPages(t, data)
			for i := range pages {
				pages[i].seq = number(i)
			}
			_, got := decodeVorbis(t, joinPages(pages...))
			same(t, "decoded", got, want)
			checkSeeksIn(t, joinPages(pages...), got, 30)
		})
	}
}

// TestVorbisBeside has other streams side by side with the sound.
func TestVorbisBeside(t *testing.T) {
	data := excerpt(t)
	_, want := decodeVorbis(t, data)
	pages := testPages(t, data)
	first := soundPage(t, pages)
	for _, codec := range []string{"fishead\x00\x03\x00", "\x80theora\x03\x02\x01", "unknown"} {
		for _, front := range []bool{true, false} {
			bos := packPage(oggFirst, 0, 9, 0, []byte(codec))
			file := joinPages(pages[0], bos)
			if front {
				file = joinPages(bos, pages[0])
			}
			other := uint32(0)
			for i, p := range pages[1:] {
				file = append(file, p.bytes()...)
				if i+1 >= first-1 {
					for range 3 {
						other++
						file = append(file, packPage(0, int64(other), 9, other, make([]byte, 3000)).bytes()...)
					}
				}
			}
			file = append(file, packPage(oggLast, int64(other), 9, other+1, []byte{1}).bytes()...)
			in, got := decodeVorbis(t, file)
			same(t, "decoded", got, want)
			checkWarning(t, in, "")
			checkSeeksIn(t, file, got, 40)
		}
	}
}

// TestVorbisBesideFLAC finds FLAC that does not come first.
func TestVorbisBesideFLAC(t *testing.T) {
	flac := testPages(t, oggCase(t, "o12.ogg"))
	file := joinPages(append([]testPage{packPage(oggFirst, 0, 9, 0, []byte("fishead\x00"))}, flac...)...)
	c, err := openVorbis(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if in := c.info(); in.Format != "flac" || in.Frames != 22050 {
		t.Errorf("got %+v, want FLAC of 22050 frames", in)
	}
}

// TestVorbisBadPackets has packets that are no sound among the others: they are left out.
func TestVorbisBadPackets(t *testing.T) {
	pages := testPages(t, excerpt(t))
	first := soundPage(t, pages)
	_, want := decodeVorbis(t, joinPages(pages...))
	for name, packet := range map[string][]byte{"header": pages[0].body, "empty": nil, "flag": {1}} {
		p := pages[first+3]
		q := packPage(0, 0, 0, 0, packet)
		p.segments = append(slices.Clone(q.segments), p.segments...)
		p.body = append(slices.Clone(q.body), p.body...)
		in, got := decodeVorbis(t, joinPages(slices.Replace(slices.Clone(pages), first+3, first+4, p)...))
		same(t, name, got, want)
		if name != "empty" {
			checkWarning(t, in, "no sound on the page")
		}
	}
}

// TestVorbisFloorOffScale has a packet in the middle whose floor leaves the scale of levels, which other
// decoders fall for: it is heard as something, and all else is as it was.
func TestVorbisFloorOffScale(t *testing.T) {
	setup := goodSetup()
	setup.books = append(setup.books, testBook{dims: 1, entries: 1024, ordered: true, lengths: []uint32{9: 1024}})
	setup.floors[0].classes[0].books[0] = 5
	pages := []testPage{
		packPage(oggFirst, 0, 1, 0, testIdent(2, 44100, 0x76)),
		packPage(0, 0, 1, 1, testComment(), setup.bytes()),
	}
	good, bad := []byte{0, 1, 2, 3}, bytes.Repeat([]byte{0xff}, 30)
	bad[0] = 0xfe // sound, mode 1
	for i := range int64(20) {
		packets := [][]byte{good, good, good, good}
		pages = append(pages, packPage(0, (i+1)*4*32-32, 1, uint32(2+i), packets...))
	}
	pages[len(pages)-1].flags = oggLast
	_, want := decodeVorbis(t, joinPages(pages...))
	pages[12] = packPage(0, pages[12].granule, 1, 12, good, bad, good, good)
	c := openVorbisBytes(t, joinPages(pages...))
	got, err := readCodec(c, 7)
	if err != io.EOF {
		t.Fatal(err)
	}
	sure := int(pages[11].granule) * 2
	if len(got) < sure {
		t.Fatalf("%d samples before the damage, want %d", len(got), sure)
	}
	same(t, "before the damage", got[:sure], want[:sure])
	behind := pages[13].granule
	if err := c.seek(behind); err != nil {
		t.Fatal(err)
	}
	rest, err := readCodec(c, 7)
	if err != io.EOF {
		t.Fatal(err)
	}
	same(t, "behind the damage", rest, want[2*behind:])
}

// TestVorbisHeadersOnSoundPage has the first sound on the page where the headers end.
func TestVorbisHeadersOnSoundPage(t *testing.T) {
	pages := testPages(t, excerpt(t))
	first := soundPage(t, pages)
	_, want := decodeVorbis(t, joinPages(pages...))
	p := pages[first]
	for i := first - 1; i > 0; i-- {
		p.segments = append(slices.Clone(pages[i].segments), p.segments...)
		p.body = append(slices.Clone(pages[i].body), p.body...)
	}
	if len(p.segments) > 255 {
		t.Fatalf("%d segments", len(p.segments))
	}
	p.seq = 1
	pages = slices.Replace(pages, 1, first+1, p)
	for i := range pages {
		pages[i].seq = uint32(i)
	}
	file := joinPages(pages...)
	_, got := decodeVorbis(t, file)
	same(t, "decoded", got, want)
	checkSeeksIn(t, file, got, 60)
}
