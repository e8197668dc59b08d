package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// testSetup is a setup header that a test can bend. The zero values of what is not set are valid.
type testSetup struct {
	books     []testBook
	transform uint32
	floors    []testFloor
	residues  []testResidue
	mappings  []testMapping
	modes     []testMode
	unframed  bool
}

type testBook struct {
	sync          uint32
	dims, entries uint32
	ordered       bool
	sparse        bool
	lengths       []uint32 // 0 = not used; of an ordered book how many there are of 1, 2, ...
	kind          uint32
	width         uint32
	values        []uint32
}

type testFloor struct {
	kind       uint32
	partitions []uint32 // class of each
	classes    []testClass
	width      uint32
	x          []uint32
}

type testClass struct {
	dims, sub, master uint32
	books             []uint32 // number + 1
}

type testResidue struct {
	kind, begin, end, size uint32
	class                  uint32
	cascade                []uint32
	books                  []uint32
}

type testMapping struct {
	kind     uint32
	submaps  [][2]uint32 // floor, residue
	coupling [][2]uint32
	reserved uint32
	mux      []uint32
}

type testMode struct{ long, window, mapping uint32 }

// goodSetup is for two channels and blocks of 64 and 128.
func goodSetup() *testSetup {
	return &testSetup{
		books: []testBook{
			{dims: 1, entries: 2, lengths: []uint32{1, 1}},
			{dims: 2, entries: 4, lengths: []uint32{2, 2, 2, 2}, kind: 1, width: 4, values: []uint32{1, 9}},
			{dims: 2, entries: 3, ordered: true, lengths: []uint32{1, 2}, kind: 2, width: 3, values: []uint32{1, 2, 3, 4, 5, 6}},
			{dims: 4, entries: 5, sparse: true, lengths: []uint32{0, 1, 0, 2, 2}},
		},
		floors: []testFloor{{
			kind: 1, partitions: []uint32{0, 1}, width: 5, x: []uint32{3, 9, 17},
			classes: []testClass{{dims: 1, books: []uint32{1}}, {dims: 2, sub: 1, master: 0, books: []uint32{0, 4}}},
		}},
		residues: []testResidue{{kind: 2, end: 64, size: 8, class: 0, cascade: []uint32{1, 2}, books: []uint32{1, 2}}},
		mappings: []testMapping{{submaps: [][2]uint32{{0, 0}}, coupling: [][2]uint32{{0, 1}}}},
		modes:    []testMode{{}, {long: 1}},
	}
}

// bytes is the header packet.
func (s *testSetup) bytes() []byte {
	w := &vorbisWriter{out: []byte("\x05vorbis")}
	w.put(uint32(len(s.books)-1), 8)
	for _, b := range s.books {
		b.write(w)
	}
	w.put(0, 6)
	w.put(s.transform, 16)
	w.put(uint32(len(s.floors)-1), 6)
	for _, f := range s.floors {
		f.write(w)
	}
	w.put(uint32(len(s.residues)-1), 6)
	for _, r := range s.residues {
		r.write(w)
	}
	w.put(uint32(len(s.mappings)-1), 6)
	for _, m := range s.mappings {
		m.write(w)
	}
	w.put(uint32(len(s.modes)-1), 6)
	for _, m := range s.modes {
		w.put(m.long, 1)
		w.put(m.window, 32)
		w.put(m.mapping, 8)
	}
	if !s.unframed {
		w.put(1, 1)
	}
	return w.out
}

func (b testBook) write(w *vorbisWriter) {
	w.put(0x564342^b.sync, 24)
	w.put(b.dims, 16)
	w.put(b.entries, 24)
	w.put(bit(b.ordered), 1)
	switch left := b.entries; {
	case b.ordered:
		w.put(0, 5)
		for _, k := range b.lengths {
			n := uint(0)
			for ; left>>n > 0; n++ {
			}
			w.put(k, n)
			left -= k
		}
	default:
		w.put(bit(b.sparse), 1)
		for _, l := range b.lengths {
			if b.sparse {
				w.put(bit(l > 0), 1)
			}
			if l > 0 {
				w.put(l-1, 5)
			}
		}
	}
	w.put(b.kind, 4)
	if b.kind > 0 {
		w.put(0, 32)
		w.put(1|788<<21, 32)
		w.put(b.width-1, 4)
		w.put(0, 1)
		for _, v := range b.values {
			w.put(v, uint(b.width))
		}
	}
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func (f testFloor) write(w *vorbisWriter) {
	w.put(f.kind, 16)
	w.put(uint32(len(f.partitions)), 5)
	for _, p := range f.partitions {
		w.put(p, 4)
	}
	for _, c := range f.classes {
		w.put(c.dims-1, 3)
		w.put(c.sub, 2)
		if c.sub > 0 {
			w.put(c.master, 8)
		}
		for _, b := range c.books {
			w.put(b, 8)
		}
	}
	w.put(0, 2)
	w.put(f.width, 4)
	for _, x := range f.x {
		w.put(x, uint(f.width))
	}
}

func (r testResidue) write(w *vorbisWriter) {
	w.put(r.kind, 16)
	w.put(r.begin, 24)
	w.put(r.end, 24)
	w.put(r.size-1, 24)
	w.put(uint32(len(r.cascade)-1), 6)
	w.put(r.class, 8)
	for _, c := range r.cascade {
		w.put(c&7, 3)
		w.put(bit(c > 7), 1)
		if c > 7 {
			w.put(c>>3, 5)
		}
	}
	for _, b := range r.books {
		w.put(b, 8)
	}
}

func (m testMapping) write(w *vorbisWriter) {
	w.put(m.kind, 16)
	w.put(bit(len(m.submaps) > 1), 1)
	if len(m.submaps) > 1 {
		w.put(uint32(len(m.submaps)-1), 4)
	}
	w.put(bit(len(m.coupling) > 0), 1)
	if len(m.coupling) > 0 {
		w.put(uint32(len(m.coupling)-1), 8)
		for _, c := range m.coupling {
			w.put(c[0], 1)
			w.put(c[1], 1)
		}
	}
	w.put(m.reserved, 2)
	for _, x := range m.mux {
		w.put(x, 4)
	}
	for _, s := range m.submaps {
		w.put(0, 8)
		w.put(s[0], 8)
		w.put(s[1], 8)
	}
}

// testIdent is an identification header.
func testIdent(channels byte, rate uint32, blocks byte) []byte {
	b := []byte("\x01vorbis\x00\x00\x00\x00")
	b = append(b, channels)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = append(b, make([]byte, 12)...)
	return append(b, blocks, 1)
}

func testComment(comments ...string) []byte {
	b := []byte("\x03vorbis\x04\x00\x00\x00test")
	b = binary.LittleEndian.AppendUint32(b, uint32(len(comments)))
	for _, c := range comments {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(c)))
		b = append(b, c...)
	}
	return append(b, 1)
}

// testFile is a file of the three headers and some packets of sound.
func testFile(ident, comment, setup []byte, sound ...[]byte) []byte {
	return joinPages(
		packPage(oggFirst, 0, 1, 0, ident),
		packPage(0, 0, 1, 1, comment),
		packPage(0, 0, 1, 2, setup),
		packPage(oggLast, 1<<20, 1, 3, sound...),
	)
}

// openCost opens a file and returns the memory that it took.
func openCost(data []byte) (c codec, bytesUsed uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err = openVorbis(bytes.NewReader(data), int64(len(data)))
	runtime.ReadMemStats(&after)
	return c, after.TotalAlloc - before.TotalAlloc, err
}

// TestVorbisSetup bends a good setup header in each way that a decoder would fall for,
// and wants it refused, by cause, without much memory.
func TestVorbisSetup(t *testing.T) {
	sound := [][]byte{{0, 1, 2, 3}, {2, 7, 7, 7}, {4, 9}, {0}, {6, 255, 255}}
	for _, c := range []struct {
		name string
		bend func(s *testSetup)
		err  error
		text string
	}{
		{"good", func(*testSetup) {}, nil, ""},
		{"empty book that nothing uses", func(s *testSetup) {
			s.books = append(s.books, testBook{dims: 1, entries: 3, sparse: true, lengths: []uint32{0, 0, 0}})
		}, nil, ""},
		{"book of one code of two entries", func(s *testSetup) {
			s.books = append(s.books, testBook{dims: 1, entries: 2, sparse: true, lengths: []uint32{0, 1}})
		}, nil, ""},
		{"floor without partitions", func(s *testSetup) {
			s.floors = append(s.floors, testFloor{kind: 1, width: 5})
			s.mappings[0] = testMapping{submaps: [][2]uint32{{0, 0}, {1, 0}}, mux: []uint32{1, 0}}
		}, nil, ""},

		{"book sync", func(s *testSetup) { s.books[1].sync = 1 }, ErrCorrupt, "does not begin"},
		{"no entries", func(s *testSetup) { s.books[0].entries, s.books[0].lengths = 0, nil }, ErrCorrupt, "0 entries"},
		{"no dimensions", func(s *testSetup) { s.books[1].dims = 0 }, ErrCorrupt, "0 values"},
		{"most entries", func(s *testSetup) { s.books[0].entries = 1<<24 - 1 }, ErrLimit, "16777215 entries"},
		{"most of all", func(s *testSetup) { s.books[0].entries, s.books[0].dims = 1<<24-1, 65535 }, ErrLimit, "16777215 entries"},
		{"many large books", func(s *testSetup) {
			for range 5 {
				s.books = append(s.books, testBook{dims: 4, entries: 1 << 18, ordered: true, lengths: append(make([]uint32, 17), 1<<18)})
			}
		}, ErrLimit, "codebooks of"},
		{"empty book", func(s *testSetup) {
			s.books[0] = testBook{dims: 1, entries: 2, sparse: true, lengths: []uint32{0, 0}}
		}, ErrCorrupt, "is empty"},
		{"one entry", func(s *testSetup) { s.books[0] = testBook{dims: 1, entries: 1, lengths: []uint32{1}} }, nil, ""},
		{"too few codes", func(s *testSetup) { s.books[0].lengths = []uint32{1, 2} }, ErrCorrupt, "without an entry"},
		{"one long code", func(s *testSetup) {
			s.books[0] = testBook{dims: 1, entries: 2, sparse: true, lengths: []uint32{0, 2}}
		}, ErrCorrupt, "without an entry"},
		{"too many codes", func(s *testSetup) { s.books[1].lengths = []uint32{1, 1, 2, 2} }, ErrCorrupt, "more codes"},
		{"ordered past the end", func(s *testSetup) { s.books[2].lengths = []uint32{3} }, ErrCorrupt, "without an entry|more codes"},
		{"ordered for ever", func(s *testSetup) { s.books[2].lengths = make([]uint32, 40) }, ErrCorrupt, "out of range"},
		{"values of kind 3", func(s *testSetup) { s.books[1].kind = 3 }, ErrCorrupt, "kind 3"},
		{"root that floats miss", func(s *testSetup) {
			b := testBook{dims: 3, entries: 64, ordered: true, lengths: []uint32{0, 0, 0, 0, 0, 64}, kind: 1, width: 1, values: make([]uint32, 4)}
			s.books = append(s.books, b)
		}, nil, ""},

		{"transform", func(s *testSetup) { s.transform = 1 }, ErrCorrupt, "transform"},
		{"floor 0", func(s *testSetup) { s.floors[0].kind = 0 }, ErrUnsupported, "floor of kind 0"},
		{"floor 2", func(s *testSetup) { s.floors[0].kind = 2 }, ErrCorrupt, "kind 2"},
		{"floor's book", func(s *testSetup) { s.floors[0].classes[0].books[0] = 5 }, ErrCorrupt, "codebook 4 of 4"},
		{"floor's master book", func(s *testSetup) { s.floors[0].classes[1].master = 200 }, ErrCorrupt, "codebook 200"},
		{"two points at one place", func(s *testSetup) { s.floors[0].x[2] = 3 }, ErrCorrupt, "two points at 3"},
		{"point at 0", func(s *testSetup) { s.floors[0].x[2] = 0 }, ErrCorrupt, "two points at 0"},
		{"too many points", func(s *testSetup) {
			s.floors[0] = testFloor{kind: 1, partitions: make([]uint32, 9), classes: []testClass{{dims: 8, books: []uint32{0}}}, width: 5, x: make([]uint32, 72)}
		}, ErrCorrupt, "74 points"},
		{"floor past the block", func(s *testSetup) { s.floors[0].width = 6 }, ErrUnsupported, "64 lines in a block of 32"},

		{"residue kind", func(s *testSetup) { s.residues[0].kind = 3 }, ErrCorrupt, "kind 3"},
		{"residue backwards", func(s *testSetup) { s.residues[0].begin, s.residues[0].end = 9, 8 }, ErrCorrupt, "from line 9 to 8"},
		{"residue's class book", func(s *testSetup) { s.residues[0].class = 4 }, ErrCorrupt, "codebook 4 of 4"},
		{"residue's book", func(s *testSetup) { s.residues[0].books[1] = 77 }, ErrCorrupt, "codebook 77"},
		{"book without values", func(s *testSetup) { s.residues[0].books[1] = 0 }, ErrCorrupt, "no values"},
		{"partition of odd size", func(s *testSetup) { s.residues[0].size = 7 }, ErrCorrupt, "7 lines by vectors of 2"},

		{"mapping kind", func(s *testSetup) { s.mappings[0].kind = 1 }, ErrCorrupt, "mapping 0 of kind 1"},
		{"coupled with itself", func(s *testSetup) { s.mappings[0].coupling[0] = [2]uint32{1, 1} }, ErrCorrupt, "couples channels 1 and 1"},
		{"reserved bits", func(s *testSetup) { s.mappings[0].reserved = 2 }, ErrCorrupt, "reserved"},
		{"mapping's floor", func(s *testSetup) { s.mappings[0].submaps[0][0] = 1 }, ErrCorrupt, "floor 1 of 1"},
		{"mapping's residue", func(s *testSetup) { s.mappings[0].submaps[0][1] = 9 }, ErrCorrupt, "residue 9 of 1"},
		{"submap", func(s *testSetup) {
			s.mappings[0].submaps, s.mappings[0].mux = [][2]uint32{{0, 0}, {0, 0}}, []uint32{0, 2}
		}, ErrCorrupt, "submap"},
		{"mode's mapping", func(s *testSetup) { s.modes[1].mapping = 1 }, ErrCorrupt, "mapping 1 of 1"},
		{"mode's window", func(s *testSetup) { s.modes[0].window = 1 }, ErrCorrupt, "mode 0"},
		{"no framing bit", func(s *testSetup) { s.unframed = true }, ErrCorrupt, "framing|middle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := goodSetup()
			c.bend(s)
			data := testFile(testIdent(2, 44100, 0x76), testComment(), s.bytes(), sound...)
			v, cost, err := openCost(data)
			if cost > 1<<20 {
				t.Errorf("%d bytes of memory for a file of %d", cost, len(data))
			}
			if c.err == nil {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				if _, err := readCodec(v, 100); err != io.EOF {
					t.Errorf("read: %v", err)
				}
				return
			}
			found := slices.ContainsFunc(strings.Split(c.text, "|"), func(p string) bool { return err != nil && strings.Contains(err.Error(), p) })
			if !errors.Is(err, c.err) || !found {
				t.Errorf("%v, want %v that says %q", err, c.err, c.text)
			}
		})
	}
}

// TestVorbisSetupEnds cuts the setup header off at every byte.
func TestVorbisSetupEnds(t *testing.T) {
	whole := goodSetup().bytes()
	for n := range whole {
		var s vorbisSetup
		if err := s.readIdent(testIdent(2, 44100, 0x76)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.readSetup(whole[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v, want ErrCorrupt", n, len(whole), err)
		}
	}
}

func TestVorbisIdent(t *testing.T) {
	for _, c := range []struct {
		name   string
		packet []byte
		err    error
	}{
		{"good", testIdent(2, 44100, 0xb8), nil},
		{"equal blocks", testIdent(1, 8000, 0x99), nil},
		{"short", testIdent(2, 44100, 0xb8)[:29], ErrCorrupt},
		{"other", append([]byte("\x03"), testIdent(2, 44100, 0xb8)[1:]...), ErrCorrupt},
		{"no channels", testIdent(0, 44100, 0xb8), ErrCorrupt},
		{"9 channels", testIdent(9, 44100, 0xb8), ErrLimit},
		{"255 channels", testIdent(255, 44100, 0xb8), ErrLimit},
		{"no rate", testIdent(2, 0, 0xb8), ErrCorrupt},
		{"huge rate", testIdent(2, 1e6, 0xb8), ErrLimit},
		{"short blocks of 32", testIdent(2, 44100, 0xb5), ErrCorrupt},
		{"long blocks of 16384", testIdent(2, 44100, 0xe8), ErrCorrupt},
		{"short longer than long", testIdent(2, 44100, 0x78), ErrCorrupt},
		{"version", slices.Replace(testIdent(2, 44100, 0xb8), 7, 8, 1), ErrUnsupported},
		{"framing", slices.Replace(testIdent(2, 44100, 0xb8), 29, 30, 0), ErrCorrupt},
	} {
		var s vorbisSetup
		if err := s.readIdent(c.packet); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
	}
}

// TestVorbisComments refuses comment headers that claim more than there is.
func TestVorbisComments(t *testing.T) {
	u32 := func(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
	head := []byte("\x03vorbis")
	many := make([]string, vorbisMaxComments+1)
	for _, c := range []struct {
		name   string
		packet []byte
		err    error
		tags   int
	}{
		{"none", testComment(), nil, 0},
		{"two", testComment("A=1", "B=2"), nil, 2},
		{"no key", testComment("A=1", "without"), nil, 1},
		{"long", testComment("PICTURE=" + strings.Repeat("x", 200000)), nil, 0},
		{"no framing bit", bytes.TrimSuffix(testComment("A=1"), []byte{1}), nil, 1},
		{"count 4 G", slices.Concat(head, u32(0), u32(0xffffffff)), ErrCorrupt, 0},
		{"count 4 G and bytes", slices.Concat(head, u32(0), u32(0xffffffff), make([]byte, 1000)), ErrCorrupt, 0},
		{"count past the bytes", slices.Concat(head, u32(0), u32(100), make([]byte, 100)), ErrCorrupt, 0},
		{"many", testComment(many...), ErrCorrupt, 0},
		{"vendor 4 G", slices.Concat(head, u32(0xffffffff)), ErrCorrupt, 0},
		{"vendor of 65 KiB", slices.Concat(head, u32(65<<10), make([]byte, 66<<10)), ErrCorrupt, 0},
		{"comment past the end", slices.Concat(head, u32(0), u32(1), u32(50), make([]byte, 49)), ErrCorrupt, 0},
		{"no count", slices.Concat(head, u32(0)), ErrCorrupt, 0},
		{"nothing", head, ErrCorrupt, 0},
		{"setup instead", []byte("\x05vorbis\x00\x00\x00"), ErrCorrupt, 0},
	} {
		tags, err := vorbisTags(c.packet)
		if !errors.Is(err, c.err) || len(tags) != c.tags {
			t.Errorf("%s: %d tags, %v, want %d, %v", c.name, len(tags), err, c.tags, c.err)
		}
	}
	data := testFile(testIdent(2, 44100, 0x76), slices.Concat(head, u32(0), u32(0xffffffff)), goodSetup().bytes())
	if _, cost, err := openCost(data); !errors.Is(err, ErrCorrupt) || cost > 1<<17 {
		t.Errorf("a count of 2^32-1: %v and %d bytes of memory, want ErrCorrupt and few", err, cost)
	}
}

// TestVorbisHeadersTooLong has headers over more pages than are good.
func TestVorbisHeadersTooLong(t *testing.T) {
	long := testComment("PICTURE=" + strings.Repeat("x", 3<<20))
	file := packPage(oggFirst, 0, 1, 0, testIdent(2, 44100, 0x76)).bytes()
	seq := uint32(1)
	for flags := byte(0); len(long) > 0; flags = oggContinued {
		n := min(len(long), 255*255)
		p := testPage{flags: flags, granule: -1, serial: 1, seq: seq, body: long[:n]}
		for range n / 255 {
			p.segments = append(p.segments, 255)
		}
		p.body = p.body[:n/255*255]
		if long = long[n:]; len(long) == 0 {
			p.segments = append(p.segments, 0)
		}
		file = append(file, p.bytes()...)
		seq++
	}
	file = append(file, packPage(0, 0, 1, seq, goodSetup().bytes()).bytes()...)
	if _, cost, err := openCost(file); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrLimit) || cost > 8<<20 {
		t.Errorf("a comment of 3 MiB: %v and %d bytes of memory", err, cost)
	}
}

// realSetups are setup headers of encoders.
func realSetups(t *testing.T) map[string][][]byte {
	list := map[string][][]byte{"theme": headersOf(t, theme(t))}
	for _, q := range []string{"-1", "3", "10"} {
		for _, rate := range []int{8000, 16000, 32000, 48000, 96000} {
			for ch := 1; ch <= 2; ch++ {
				data := oggenc(t, testSound(1000, ch, rate, 1), ch, rate, "-q", q)
				list[fmt.Sprintf("q%s at %d Hz, %d", q, rate, ch)] = headersOf(t, data)
			}
		}
	}
	return list
}

// headersOf are the identification and the setup header.
func headersOf(t testing.TB, data []byte) [][]byte {
	t.Helper()
	pk := oggPackets{oggReader: newOggReader(source{bytes.NewReader(data), int64(len(data))})}
	list, err := pk.begin()
	if err != nil {
		t.Fatal(err)
	}
	pk.serial = list[0].serial
	pk.start(pk.at)
	var packets [][]byte
	for len(packets) < 2 {
		if err := pk.nextPage(); err != nil {
			t.Fatal(err)
		}
		for _, p := range pk.packets {
			packets = append(packets, bytes.Clone(p))
		}
	}
	return [][]byte{list[0].first, packets[1]}
}

// TestVorbisSetupOfEncoders lets all headers of the reference encoder through, unchanged.
func TestVorbisSetupOfEncoders(t *testing.T) {
	for name, h := range realSetups(t) {
		var s vorbisSetup
		if err := s.readIdent(h[0]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		out, err := s.readSetup(h[1])
		if err != nil || !bytes.Equal(out, h[1]) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(out), len(h[1]), err)
		}
	}
}

// TestVorbisGateHolds changes good setup headers at random. What the gate lets through, the
// decoder must read without a panic, and play any packet by.
func TestVorbisGateHolds(t *testing.T) {
	r := seeded(t)
	theme := headersOf(t, theme(t))
	small := [][]byte{testIdent(2, 44100, 0x76), goodSetup().bytes()}
	passed := 0
	for i := range 6000 {
		h := small
		if i%3 == 0 {
			h = theme
		}
		p := bytes.Clone(h[1])
		for range 1 + r.IntN(3) {
			p[7+r.IntN(len(p)-7)] ^= 1 << r.IntN(8)
		}
		var s vorbisSetup
		if err := s.readIdent(h[0]); err != nil {
			t.Fatal(err)
		}
		out, err := s.readSetup(p)
		if err != nil {
			continue
		}
		passed++
		d := newVorbisDecoder(&s, out) // and a panic fails the test
		buf := make([]float32, d.most())
		for range 20 {
			packet := make([]byte, 1+r.IntN(300))
			for k := range packet {
				packet[k] = byte(r.Uint32())
			}
			packet[0] &^= 1
			if got, err := d.decode(packet, buf); err != nil && !errors.Is(err, ErrCorrupt) || len(got) > len(buf) {
				t.Fatalf("change %d: %d samples, %v", i, len(got), err)
			}
		}
	}
	t.Logf("%d of 6000 passed", passed)
	if passed < 100 {
		t.Errorf("only %d of 6000 changed headers passed", passed)
	}
}

func TestVorbisLookup1(t *testing.T) {
	for n := 1; n < 3000; n++ {
		for dims := 1; dims < 14; dims++ {
			want := 1
			for vorbisPowerFits(want+1, dims, n) {
				want++
			}
			if got := vorbisLookup1(n, dims); got != want {
				t.Fatalf("root %d of %d is %d, want %d", dims, n, got, want)
			}
		}
	}
	if got := vorbisLookup1(3, 65535); got != 1 {
		t.Errorf("root 65535 of 3 is %d, want 1", got)
	}
}

// TestVorbisBits reads back what was written, in pieces of every size.
func TestVorbisBits(t *testing.T) {
	r := seeded(t)
	var w vorbisWriter
	var want []uint32
	var sizes []uint
	for range 2000 {
		n := uint(r.IntN(33))
		v := uint32(uint64(r.Uint32()) & (1<<n - 1))
		w.put(v, n)
		want, sizes = append(want, v), append(sizes, n)
	}
	b := vorbisBits{data: w.out}
	for i, n := range sizes {
		if got := b.read(n); got != want[i] {
			t.Fatalf("piece %d of %d bits is %x, want %x", i, n, got, want[i])
		}
	}
	if b.over() {
		t.Error("over before the end")
	}
	if b.read(32); b.read(1) != 0 || !b.over() {
		t.Error("not over behind the end")
	}
	var c vorbisWriter
	for at := 0; at < 8*len(w.out); {
		n := min(8*len(w.out)-at, r.IntN(100))
		c.copy(w.out, at, at+n)
		at += n
	}
	if !bytes.Equal(c.out, w.out) {
		t.Error("a copy in pieces differs")
	}
}

// vorbisWriter puts bits together as vorbisBits takes them apart.
type vorbisWriter struct {
	out  []byte
	free uint // bits of the last byte that are not taken
}

// put appends the low n bits of v, n being at most 32.
func (w *vorbisWriter) put(v uint32, n uint) {
	for n > 0 {
		if w.free == 0 {
			w.out, w.free = append(w.out, 0), 8
		}
		k := min(n, w.free)
		w.out[len(w.out)-1] |= byte(v&(1<<k-1)) << (8 - w.free)
		v, n, w.free = v>>k, n-k, w.free-k
	}
}

// copy appends the bits from to to of data.
func (w *vorbisWriter) copy(data []byte, from, to int) {
	for b := (vorbisBits{data, from}); b.at < to; {
		n := uint(min(32, to-b.at))
		w.put(b.read(n), n)
	}
}
