package mp3

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand"
	"testing"

	"github.com/sndpak/sndpak/player/internal/streamtest"
)

// damage makes holes, rubbish, tags and wrong bytes in a stream.
func damage(rng *rand.Rand, m *maker) []byte {
	var b []byte
	for i, at := range m.start {
		end := len(m.out)
		if i+1 < len(m.start) {
			end = m.start[i+1]
		}
		frame := bytes.Clone(m.out[at:end])
		switch rng.Intn(40) {
		case 0:
			continue // lost
		case 1:
			rng.Read(frame[rng.Intn(len(frame)):])
		case 2:
			frame = frame[:rng.Intn(len(frame))]
		case 3:
			frame = append(frame, random(rng.Int63(), rng.Intn(3000))...)
		case 4:
			frame = append(id3(3, 0, random(rng.Int63(), rng.Intn(3000))), frame...)
		case 5:
			frame[4+rng.Intn(min(30, len(frame)-4))] ^= 1 << rng.Intn(8)
		}
		b = append(b, frame...)
	}
	return b
}

// checkSeeks compares what is read after seeks to random frames, in random order, with want.
func checkSeeks(t *testing.T, what string, rng *rand.Rand, d *Decoder, want []float32, seeks int) {
	t.Helper()
	channels := d.Channels()
	length := len(want) / channels
	buf := make([]float32, 3000*channels)
	for range seeks {
		to := rng.Intn(length + 1)
		switch rng.Intn(8) {
		case 0:
			to = min(length, rng.Intn(3)*576)
		case 1:
			to = length - min(length, rng.Intn(3000))
		}
		if err := d.SeekTo(int64(to)); err != nil {
			t.Fatalf("%s: seek to %d of %d: %v", what, to, length, err)
		}
		for at, blocks := to, rng.Intn(3); blocks >= 0; blocks-- {
			n, err := d.Read(buf[:(1+rng.Intn(3000))*channels])
			if at == length && (n != 0 || err != io.EOF) || at < length && err != nil {
				t.Fatalf("%s: read at %d of %d: %d, %v", what, at, length, n, err)
			}
			sameSamples(t, fmt.Sprintf("%s: at %d after a seek to %d of %d", what, at, to, length), buf[:n*channels], want[at*channels:(at+n)*channels])
			at += n
		}
	}
}

// After any seek what is read is bit for bit what it is without one, in all kinds of streams, whole
// or damaged, with an info frame or without.
func TestSeekEqualsStraight(t *testing.T) {
	seed := rand.Int63()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewSource(seed))
	for i, k := range someKinds() {
		m := makeStream(seed+int64(i), k, 150+rng.Intn(100))
		n := len(m.start)
		for what, b := range map[string][]byte{
			"plain":   m.out,
			"info":    join(k.infoFrame("Xing", n, len(m.out), 576, 1200), m.out),
			"tail":    join(k.infoFrame("Info", n, len(m.out), 1105, 17), m.out),
			"damaged": damage(rng, m),
			"lying":   join(k.infoFrame("Info", rng.Intn(2*n), len(m.out), 576, 1200), damage(rng, m)),
		} {
			what = k.name + ", " + what
			d, err := New(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, what, err)
			}
			want := readAll(t, d, 700)
			checkSeeks(t, fmt.Sprintf("seed %d, %s", seed, what), rng, d, want, 15)
			fresh := mustOpen(t, b) // without the table that reading made
			checkSeeks(t, fmt.Sprintf("seed %d, %s, fresh", seed, what), rng, fresh, want, 15)
			for _, d := range []*Decoder{d, fresh, mustOpen(t, b)} {
				if got, err := d.Frames(); err != nil || got != int64(len(want)/d.Channels()) {
					t.Fatalf("seed %d, %s: Frames is %d, %v, %d were read", seed, what, got, err, len(want)/d.Channels())
				}
			}
		}
	}
}

func TestSeekRange(t *testing.T) {
	for _, info := range []bool{false, true} {
		m := makeStream(1, kinds[0], 100)
		b := m.out
		if info {
			b = join(kinds[0].infoFrame("Info", 100, len(b), 576, 1000), b)
		}
		want := decodeAll(t, b)
		length := int64(len(want) / 2)
		d := mustOpen(t, b)
		buf := make([]float32, 200)
		if _, err := d.Read(buf); err != nil {
			t.Fatal(err)
		}
		for _, to := range []int64{-1, math.MinInt64, length + 1, length + 576, length + 100000, math.MaxInt64 / 2, math.MaxInt64} {
			if err := d.SeekTo(to); !errors.Is(err, ErrRange) {
				t.Errorf("info %v: seek to %d of %d: %v", info, to, length, err)
			}
		}
		n, err := d.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		sameSamples(t, "after refused seeks", buf[:2*n], want[200:200+2*n])
		if err := d.SeekTo(length); err != nil {
			t.Errorf("seek to the end: %v", err)
		}
		if n, err := d.Read(buf); n != 0 || err != io.EOF {
			t.Errorf("read at the end: %d, %v", n, err)
		}
	}
}

// counting counts what is read.
type counting struct {
	r     io.ReaderAt
	bytes int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.r.ReadAt(p, off)
	c.bytes += int64(n)
	return n, err
}

// Opening reads the ends of a file and nothing between, however long it is; so does asking for a
// length that the info frame tells.
func TestOpenDoesNotScan(t *testing.T) {
	m := makeStream(1, kinds[0], 2000)
	b := join(id3(3, 0, make([]byte, 100000)), kinds[0].infoFrame("Info", 2000, len(m.out), 576, 1000), m.out, id3v1())
	r := &counting{r: bytes.NewReader(b)}
	d, err := New(r, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	n, ok := d.FramesKnown()
	if want := int64(2000*1152 - 576 - 1000); !ok || n != want {
		t.Errorf("FramesKnown is %d, %v, want %d", n, ok, want)
	}
	if r.bytes > 6*windowSize {
		t.Errorf("%d bytes of %d read", r.bytes, len(b))
	}
	if _, err := d.Read(make([]float32, 2000)); err != nil {
		t.Fatal(err)
	}
	if r.bytes > 8*windowSize {
		t.Errorf("%d bytes of %d read for the first block", r.bytes, len(b))
	}
	if got, err := d.Frames(); err != nil || got != n {
		t.Errorf("Frames is %d, %v, want %d", got, err, n)
	}
}

func TestFramesKnown(t *testing.T) {
	m := makeStream(1, kinds[0], 50)
	for name, c := range map[string]struct {
		b  []byte
		ok bool
	}{
		"plain":        {m.out, false},
		"info":         {join(kinds[0].infoFrame("Info", 50, len(m.out), 576, 1000), m.out), true},
		"lying frames": {join(kinds[0].infoFrame("Info", 49, len(m.out), 576, 1000), m.out), true},
		"lying bytes":  {join(kinds[0].infoFrame("Info", 50, len(m.out)-1, 576, 1000), m.out), false},
		"cut":          {join(kinds[0].infoFrame("Info", 50, len(m.out), 576, 1000), m.out[:len(m.out)/2]), false},
	} {
		d := mustOpen(t, c.b)
		if _, ok := d.FramesKnown(); ok != c.ok {
			t.Errorf("%s: known is %v, want %v", name, ok, c.ok)
		}
		n, err := d.Frames()
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := d.FramesKnown(); !ok || got != n {
			t.Errorf("%s: %d, %v after the scan, want %d", name, got, ok, n)
		}
		if got := len(readAll(t, d, 999)) / 2; int64(got) != n {
			t.Errorf("%s: %d frames read, want %d", name, got, n)
		}
	}
}

// A table that was stored makes the scan unnecessary.
func TestSeekTableRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for i, k := range someKinds() {
		m := makeStream(int64(i), k, 500)
		b := join(k.infoFrame("Xing", 500, len(m.out), 576, 1000), m.out)
		want := decodeAll(t, b)
		table, err := mustOpen(t, b).SeekTable()
		if err != nil {
			t.Fatal(err)
		}
		if len(table) > 40+8*10 {
			t.Errorf("%s: table of %d bytes for 500 frames", k.name, len(table))
		}
		r := &counting{r: bytes.NewReader(b)}
		d, err := New(r, int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		opened := r.bytes
		if err := d.SetSeekTable(table); err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
		if read := r.bytes - opened; len(b) > 400000 && read > int64(len(b)/3) {
			t.Errorf("%s: taking the table reads %d bytes of %d", k.name, read, len(b))
		}
		if n, ok := d.FramesKnown(); !ok || n != int64(len(want)/d.Channels()) {
			t.Errorf("%s: length %d, %v", k.name, n, ok)
		}
		checkSeeks(t, k.name, rng, d, want, 20)
		if again, err := d.SeekTable(); err != nil || !bytes.Equal(again, table) {
			t.Errorf("%s: the table comes out different, %v", k.name, err)
		}
		if w := d.Warnings(); len(w) > 0 {
			t.Errorf("%s: %q", k.name, w)
		}
	}
}

// A table of other bytes, or a damaged one, is refused and does no harm.
func TestSeekTableOfOthers(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	k := kinds[3] // VBR
	m := makeStream(1, k, 500)
	want := decodeAll(t, m.out)
	own, err := mustOpen(t, m.out).SeekTable()
	if err != nil {
		t.Fatal(err)
	}
	// Another stream of the same length, whose first header is the same too.
	other := makeStream(2, k, 600)
	swapped := join(m.out[:m.start[1]], other.out)
	swapped = swapped[:len(m.out)]
	foreign, err := mustOpen(t, swapped).SeekTable()
	if err != nil {
		t.Fatal(err)
	}
	tables := [][]byte{nil, {1}, foreign, own[:len(own)-1], append(bytes.Clone(own), 0), bytes.Repeat([]byte{0xff}, 300)}
	for i := range own {
		b := bytes.Clone(own)
		b[i] ^= 0x10
		tables = append(tables, b)
	}
	d := mustOpen(t, m.out)
	for i, table := range tables {
		if err := d.SetSeekTable(table); !errors.Is(err, ErrCorrupt) {
			t.Errorf("table %d: %v", i, err)
		}
	}
	checkSeeks(t, "after refused tables", rng, d, want, 20)
}

// A table whose checksum is right but whose content is not is found out at the latest when the place
// is passed.
func TestSeekTableForged(t *testing.T) {
	seed := rand.Int63()
	rng := rand.New(rand.NewSource(seed))
	for _, k := range []kind{kinds[0], kinds[3], kinds[11]}[:streamtest.Fewer(3)] {
		m := makeStream(1, k, 700)
		want := decodeAll(t, m.out)
		good := mustOpen(t, m.out)
		if _, err := good.Frames(); err != nil {
			t.Fatal(err)
		}
		taken := 0
		for range 15 {
			forged := mustOpen(t, m.out)
			forged.table = seekTable{anchors: append([]anchor(nil), good.table.anchors...), total: good.table.total}
			anchors := forged.table.anchors
			switch i := 1 + rng.Intn(len(anchors)-2); rng.Intn(4) {
			case 0:
				anchors[i].held = uint16(rng.Intn(512))
			case 1:
				anchors[i].left = uint16(rng.Intn(512))
			case 2: // another frame
				anchors[i].off = int64(m.start[rng.Intn(60)+64*i-30])
			case 3:
				anchors[i].off += int64(rng.Intn(100) - 50)
			}
			table, err := forged.SeekTable()
			if err != nil {
				t.Fatal(err)
			}
			d := mustOpen(t, m.out)
			if err := d.SetSeekTable(table); err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Fatal(err)
				}
				continue
			}
			taken++
			got := readAll(t, d, 1000) // passes every place
			sameSamples(t, k.name, got, want)
			checkSeeks(t, fmt.Sprintf("seed %d, %s", seed, k.name), rng, d, want, 5)
		}
		if taken == 0 {
			t.Errorf("%s: no forged table was taken, nothing is tested", k.name)
		}
	}
}

// Tables made of random varints under a right checksum do no harm either.
func TestSeekTableRandom(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	m := makeStream(1, kinds[0], 300)
	d := mustOpen(t, m.out)
	for range 2000 {
		b := []byte(tableMagic)
		for _, v := range d.fingerprint() {
			b = binary.AppendUvarint(b, v)
		}
		total := rng.Intn(400)
		b = binary.AppendUvarint(b, uint64(total))
		for i := range total/anchorEvery + 1 {
			off := 0
			if i > 0 {
				off = rng.Intn(40000)
			}
			b = binary.AppendUvarint(b, uint64(off))
			b = binary.AppendUvarint(b, uint64(rng.Intn(600)*min(i, 1)))
			b = binary.AppendUvarint(b, uint64(rng.Intn(600)*min(i, 1)))
		}
		b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
		if err := d.SetSeekTable(b); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	}
}
