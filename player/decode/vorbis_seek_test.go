package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// checkSeeks wants the frames of a straight decode after seeks to the places that could be special
// and to others.
func checkSeeks(t *testing.T, data []byte, times int) {
	t.Helper()
	_, want := decodeVorbis(t, data)
	checkSeeksIn(t, data, want, times)
}

// checkSeeksIn is checkSeeks where the straight decode is at hand.
func checkSeeksIn(t *testing.T, data []byte, want []float32, times int) {
	t.Helper()
	c := openVorbisBytes(t, data)
	in := c.info()
	r := seeded(t)
	ch := int64(in.Channels)
	places := []int64{0, 1, in.Frames, in.Frames - 1, 0, in.Frames / 2, in.Frames/2 + 1, 0}
	for len(places) < times {
		places = append(places, r.Int64N(in.Frames+1))
	}
	for _, p := range places {
		p = max(p, 0)
		if err := c.seek(p); err != nil {
			t.Fatalf("seek to %d of %d: %v", p, in.Frames, err)
		}
		buf := make([]float32, ch*(1+r.Int64N(4000)))
		n, err := c.read(buf)
		if err != nil && err != io.EOF {
			t.Fatalf("read at %d of %d: %v", p, in.Frames, err)
		}
		end := min(in.Frames, p+int64(len(buf))/ch)
		same(t, fmt.Sprintf("from frame %d of %d", p, in.Frames), buf[:int64(n)*ch], want[p*ch:end*ch])
	}
}

func TestVorbisSeek(t *testing.T) {
	t.Run("theme", func(t *testing.T) { checkSeeks(t, theme(t), 500) })
	for _, n := range []string{"o02", "o03", "o04", "o08", "o09", "o11", "o14", "o17"} {
		t.Run(n, func(t *testing.T) { checkSeeks(t, oggCase(t, n+".ogg"), 100) })
	}
	for _, q := range []string{"-1", "4", "10"} {
		for ch := 1; ch <= 2; ch++ {
			t.Run(fmt.Sprintf("q%s/%dch", q, ch), func(t *testing.T) {
				checkSeeks(t, oggenc(t, testSound(200000, ch, 44100, 4), ch, 44100, "-q", q), 200)
			})
		}
	}
	t.Run("5.1", func(t *testing.T) { checkSeeks(t, vorbisOfLayout(t, 6, "5.1"), 50) })
}

// TestVorbisSeekPages has pages of every size: packets that go on over many pages, so that on most
// of them no packet begins and ends, and pages of a single packet.
func TestVorbisSeekPages(t *testing.T) {
	data := excerpt(t)
	_, want := decodeVorbis(t, data)
	for _, size := range []int{1, 2, 3, 5, 17, 200, 255} {
		t.Run(fmt.Sprint(size, " segments"), func(t *testing.T) {
			cut := repage(t, data, size)
			_, got := decodeVorbis(t, cut)
			same(t, "paged anew", got, want)
			checkSeeksIn(t, cut, got, 60)
		})
	}
}

// repage puts the sound of a file into pages of n segments.
func repage(t testing.TB, data []byte, n int) []byte {
	t.Helper()
	pages := testPages(t, data)
	first := soundPage(t, pages)
	type segment struct {
		body    []byte
		granule int64 // of the packet that ends here, -1 where none does
	}
	var segments []segment
	c := openVorbisBytes(t, data).(*vorbisCodec)
	setup := c.links[0].setup
	pos, prev := int64(0), 0
	var head []byte // first byte of the packet
	for i, p := range pages[first:] {
		body := p.body
		for k, s := range p.segments {
			g := segment{body[:s], -1}
			if head == nil {
				head = g.body
			}
			body = body[s:]
			if s < 255 {
				n, last := setup.frames(prev, [][]byte{head})
				pos, prev, head = pos+n, last, nil
				if g.granule = pos; i == len(pages)-first-1 && k == len(p.segments)-1 {
					g.granule = p.granule
				}
			}
			segments = append(segments, g)
		}
	}
	out := pages[:first]
	open := false
	for len(segments) > 0 {
		part := segments[:min(n, len(segments))]
		segments = segments[len(part):]
		p := testPage{granule: -1, serial: pages[0].serial, seq: uint32(len(out))}
		if open {
			p.flags |= oggContinued
		}
		for _, g := range part {
			p.segments, p.body = append(p.segments, byte(len(g.body))), append(p.body, g.body...)
			if open = len(g.body) == 255; !open {
				p.granule = g.granule
			}
		}
		if len(segments) == 0 {
			p.flags |= oggLast
		}
		out = append(out, p)
	}
	return joinPages(out...)
}

// longVorbis is the theme over and over, as one stream of about 10 s times n.
var longVorbis = func() func(t testing.TB, n int) []byte {
	var mu sync.Mutex
	made := map[int][]byte{}
	return func(t testing.TB, n int) []byte {
		mu.Lock()
		defer mu.Unlock()
		if made[n] == nil {
			made[n] = makeLong(t, n)
		}
		return made[n]
	}
}()

func makeLong(t testing.TB, n int) []byte {
	t.Helper()
	data := theme(t)
	pages := testPages(t, data)
	first := soundPage(t, pages)
	setup := openVorbisBytes(t, data).(*vorbisCodec).links[0].setup
	pk := oggPackets{oggReader: newOggReader(source{bytes.NewReader(data), int64(len(data))}), serial: pages[0].serial}
	out := bytes.NewBuffer(joinPages(pages[:first]...))
	pos, prev, seq := int64(0), 0, uint32(first)
	for range n {
		pk.start(int64(len(joinPages(pages[:first]...))))
		for _, p := range pages[first : len(pages)-1] {
			if err := pk.nextPage(); err != nil {
				t.Fatal(err)
			}
			k, last := setup.frames(prev, pk.packets)
			pos, prev = pos+k, last
			p.granule, p.seq, p.flags = pos, seq, p.flags&oggContinued
			if pk.open {
				t.Fatal("the theme has packets over two pages")
			}
			seq++
			out.Write(p.bytes())
		}
	}
	return out.Bytes()
}

// countingReader counts what is read, and where.
type countingReader struct {
	data  []byte
	bytes int
	calls int
}

func (r *countingReader) ReadAt(b []byte, off int64) (int, error) {
	n, err := bytes.NewReader(r.data).ReadAt(b, off)
	r.bytes, r.calls = r.bytes+n, r.calls+1
	return n, err
}

// TestVorbisReadsLittle wants opening and seeking in a long file to read only a few pages of it.
func TestVorbisReadsLittle(t *testing.T) {
	data := longVorbis(t, 40)
	r := &countingReader{data: data}
	c, err := openVorbis(r, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("open: %d reads, %d of %d bytes", r.calls, r.bytes, len(data))
	if r.bytes > 256<<10 {
		t.Errorf("open read %d bytes of %d", r.bytes, len(data))
	}
	frames := c.info().Frames
	buf := make([]float32, 2)
	most := 0
	for i := range int64(100) {
		r.bytes, r.calls = 0, 0
		if err := c.seek(frames * i / 100); err != nil {
			t.Fatal(err)
		}
		if _, err := c.read(buf); err != nil {
			t.Fatal(err)
		}
		most = max(most, r.bytes)
	}
	t.Logf("seek: at most %d bytes", most)
	if most > 256<<10 {
		t.Errorf("a seek read %d bytes of %d", most, len(data))
	}
}

func TestVorbisSeekLong(t *testing.T) {
	checkSeeks(t, longVorbis(t, 5), 200)
}

// shifted is a file whose positions begin at another place than 0.
func shifted(pages []testPage, by int64) []testPage {
	out := append([]testPage(nil), pages...)
	for i := range out {
		if out[i].granule > 0 {
			out[i].granule += by
		}
	}
	return out
}

// TestVorbisPositions changes what the pages tell of positions.
func TestVorbisPositions(t *testing.T) {
	data := excerpt(t)
	_, want := decodeVorbis(t, data)
	pages := func() []testPage { return testPages(t, data) }
	last := len(pages()) - 1
	whole := int64(len(want) / 2)
	padding := openVorbisBytes(t, data).info().Padding
	for _, c := range []struct {
		name    string
		change  func(p []testPage) []testPage
		frames  int64
		warning string
	}{
		{"from 1 h", func(p []testPage) []testPage { return shifted(p, 44100*3600) }, whole, ""},
		{"from 1", func(p []testPage) []testPage { return shifted(p, 1) }, whole, ""},
		{"from 100 years", func(p []testPage) []testPage { return shifted(p, 44100*3600*24*36500) }, whole, ""},
		{"last 0", func(p []testPage) []testPage { p[last].granule = 0; return p }, whole + padding, "last page does not tell"},
		{"last -1", func(p []testPage) []testPage { p[last].granule = -1; return p }, whole + padding, "last page does not tell"},
		{"last negative", func(p []testPage) []testPage { p[last].granule = -1 << 40; return p }, whole + padding, "last page does not tell"},
		{"last huge", func(p []testPage) []testPage { p[last].granule = 1 << 60; return p }, whole + padding, "last page does not tell"},
		{"last too much", func(p []testPage) []testPage { p[last].granule = whole + 9999; return p }, whole + padding, "last page does not tell"},
		{"last too little", func(p []testPage) []testPage { p[last].granule = whole / 2; return p }, whole + padding, "last page does not tell"},
		{"no end mark", func(p []testPage) []testPage { p[last].flags = 0; return p }, whole, "without an end mark"},
		{"first -1", func(p []testPage) []testPage { p[soundPage(t, p)].granule = -1; return p }, whole, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := joinPages(c.change(pages())...)
			in, got := decodeVorbis(t, file)
			if in.Frames != c.frames {
				t.Errorf("%d frames, want %d", in.Frames, c.frames)
			}
			same(t, "decoded", got[:min(len(got), len(want))], want[:min(len(got), len(want))])
			checkWarning(t, in, c.warning)
			checkSeeksIn(t, file, got, 100)
		})
	}
}

// checkWarning wants one that has text in it, or none at all for "".
func checkWarning(t testing.TB, in Info, text string) {
	t.Helper()
	all := strings.Join(in.Warnings, "\n")
	if text == "" && all != "" || !strings.Contains(all, text) {
		t.Errorf("warnings %q, want %q", in.Warnings, text)
	}
}

// TestVorbisStartCut has a first page that tells less frames than there are on it: the start of the
// sound is left out (Vorbis I, section A.2).
func TestVorbisStartCut(t *testing.T) {
	data := excerpt(t)
	_, want := decodeVorbis(t, data)
	for _, by := range []int64{1, 100, 576, 1024, 4756} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			file := joinPages(shifted(testPages(t, data), -by)...)
			in, got := decodeVorbis(t, file)
			if in.Delay != by {
				t.Errorf("Delay is %d, want %d", in.Delay, by)
			}
			same(t, "decoded", got, want[2*by:])
			checkSeeksIn(t, file, got, 100)
		})
	}
}

// TestVorbisOnePage cuts a file of a single page with sound at its end, and at its start where the
// page is not the last.
func TestVorbisOnePage(t *testing.T) {
	pages := testPages(t, theme(t))
	first := soundPage(t, pages)
	n := pages[first].granule
	_, all := decodeVorbis(t, joinPages(pages...))
	for _, c := range []struct {
		name         string
		flags        byte
		granule      int64
		start, count int64
	}{
		{"whole", oggLast, n, 0, n},
		{"cut end", oggLast, n - 500, 0, n - 500},
		{"hardly any", oggLast, 1, 0, 1},
		{"cut start", 0, n - 500, 500, n - 500},
		{"moved", oggLast, n + 100000, 0, n},
		{"not told", oggLast, -1, 0, n},
	} {
		t.Run(c.name, func(t *testing.T) {
			pages[first].flags, pages[first].granule = c.flags, c.granule
			in, got := decodeVorbis(t, joinPages(pages[:first+1]...))
			if in.Frames != c.count {
				t.Errorf("%d frames, want %d", in.Frames, c.count)
			}
			same(t, "decoded", got, all[2*c.start:2*(c.start+c.count)])
		})
	}
}

// TestVorbisCutByFFmpeg cuts a file out of a longer one without coding it anew. ffmpeg's own
// decoder does not leave out the start that the first page says to.
func TestVorbisCutByFFmpeg(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.ogg"), filepath.Join(dir, "out.ogg")
	writeFile(t, in, theme(t))
	for _, at := range []string{"0.5", "3", "7.77"} {
		t.Run(at, func(t *testing.T) {
			run(t, "ffmpeg", "-v", "error", "-y", "-ss", at, "-i", in, "-c", "copy", out)
			data := readFile(t, out)
			info, got := decodeVorbis(t, data)
			want := ffmpegFloats(t, data)
			skip := int(info.Delay) * 2
			if len(want)-skip != len(got) {
				t.Fatalf("%d samples, ffmpeg gives %d with %d to leave out", len(got), len(want), skip)
			}
			if s := oggSNR(got, want[skip:]); s < 90 {
				t.Errorf("%.1f dB over the difference from ffmpeg", s)
			}
			checkSeeksIn(t, data, got, 100)
		})
	}
}

// TestVorbisEmptyEnd has the end mark on an empty page, as VLC writes it.
func TestVorbisEmptyEnd(t *testing.T) {
	data := excerpt(t)
	_, want := decodeVorbis(t, data)
	pages := testPages(t, data)
	end := &pages[len(pages)-1]
	end.flags = 0
	for name, empty := range map[string]testPage{
		"empty packet": packPage(oggLast, end.granule, end.serial, end.seq+1, nil),
		"no packet":    {flags: oggLast, granule: end.granule, serial: end.serial, seq: end.seq + 1},
	} {
		t.Run(name, func(t *testing.T) {
			file := joinPages(append(testPages(t, joinPages(pages...)), empty)...)
			in, got := decodeVorbis(t, file)
			same(t, "decoded", got, want)
			checkWarning(t, in, "")
			checkSeeksIn(t, file, got, 50)
		})
	}
}

// TestVorbisNoSound has headers and nothing behind them, or not even those.
func TestVorbisNoSound(t *testing.T) {
	pages := testPages(t, theme(t))
	first := soundPage(t, pages)
	heads := joinPages(pages[:first]...)
	if _, err := openVorbis(bytes.NewReader(heads), int64(len(heads))); !errors.Is(err, ErrCorrupt) {
		t.Errorf("headers alone: %v, want ErrCorrupt", err)
	}
	marked := pages[first-1]
	marked.flags |= oggLast
	last := packPage(oggLast, 0, pages[0].serial, uint32(first))
	for name, data := range map[string][]byte{
		"an end mark in the headers": joinPages(append(slices.Clone(pages[:first-1]), marked)...),
		"a last page of its own":     joinPages(append(slices.Clone(pages[:first]), last)...),
	} {
		in, got := decodeVorbis(t, data)
		if len(got) != 0 || len(in.Lost) != 0 {
			t.Errorf("%s: %d samples, lost is %q", name, len(got), in.Lost)
		}
	}
	for n := range joinPages(pages[:first]...) {
		data := joinPages(pages[:first]...)[:n]
		if _, err := openVorbis(bytes.NewReader(data), int64(n)); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%d bytes of headers: %v, want ErrCorrupt", n, err)
		}
	}
}

// TestVorbisWrongPositions has pages whose positions jump about by some frames, as remuxing leaves
// them: the sound is as it was, and seeks agree with it.
func TestVorbisWrongPositions(t *testing.T) {
	data := excerpt(t)
	_, want := decodeVorbis(t, data)
	pages := testPages(t, data)
	r := seeded(t)
	for i := soundPage(t, pages) + 1; i < len(pages)-1; i++ {
		pages[i].granule += r.Int64N(41) - 20
	}
	file := joinPages(pages...)
	c := openVorbisBytes(t, file)
	got, err := readCodec(c, 4096)
	if err != io.EOF {
		t.Fatal(err)
	}
	same(t, "decoded", got, want)
	checkWarning(t, c.info(), "seeking by counting")
	for range 50 { // the codec has learned it
		p := r.IntN(len(want) / 2)
		if err := c.seek(int64(p)); err != nil {
			t.Fatal(err)
		}
		buf := make([]float32, min(2000, len(want)-2*p))
		if _, err := c.read(buf); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		same(t, fmt.Sprint("from frame ", p), buf, want[2*p:2*p+len(buf)])
	}
}
