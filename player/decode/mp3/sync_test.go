package mp3

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// Rubbish before and behind the frames is passed over.
func TestRubbishAround(t *testing.T) {
	for i, k := range kinds {
		m := makeStream(int64(i), k, 10)
		want := decodeAll(t, m.out)
		for _, n := range []int{1, 100, 5000, 60000} {
			d := mustOpen(t, join(random(int64(n), n), m.out, random(int64(n+1), n)))
			sameSamples(t, k.name, readAll(t, d, 1000), want)
			if len(d.Warnings()) == 0 {
				t.Errorf("%s: %d bytes of rubbish without a warning", k.name, n)
			}
		}
	}
}

// The search has an end.
func TestSearchLimit(t *testing.T) {
	m := makeStream(1, kinds[0], 10)
	for n, ok := range map[int]bool{maxSearch - 1: true, maxSearch: false, 3 * maxSearch: false} {
		b := join(make([]byte, n), m.out)
		_, err := New(bytes.NewReader(b), int64(len(b)))
		if ok && err != nil || !ok && !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes in front: %v", n, err)
		}
	}
	half := m.start[5]
	for n, whole := range map[int]bool{maxSearch - 100: true, maxSearch + 100: false} {
		d := mustOpen(t, join(m.out[:half], make([]byte, n), m.out[half:]))
		got := readAll(t, d, 1000)
		if want := 10 * 2 * 1152; len(got) == want != whole {
			t.Errorf("%d bytes between: %d samples", n, len(got))
		}
	}
}

// Rubbish and tags between frames take nothing away: the bit reservoir goes on where it was.
func TestRubbishBetween(t *testing.T) {
	for i, k := range kinds {
		m := makeStream(int64(i), k, 30)
		want := decodeAll(t, m.out)
		at := m.start[15]
		for what, rubbish := range map[string][]byte{
			"one byte": {0}, "zeros": make([]byte, 700), "random": random(5, 2000),
			"ID3v2": id3(3, 0, random(6, 3000)), "APE": apeTag(random(7, 200), 1), "ID3v1": id3v1(),
			"false syncs": bytes.Repeat([]byte{0xff, 0xfb, 0x90, 0x64}, 100),
		} {
			d := mustOpen(t, join(m.out[:at], rubbish, m.out[at:]))
			sameSamples(t, k.name+", "+what, readAll(t, d, 1000), want)
		}
	}
}

// Frames that were destroyed cost themselves and those whose main data they held, and nothing
// behind.
func TestDamage(t *testing.T) {
	for i, k := range kinds {
		m := makeStream(int64(i), k, 60)
		want := decodeAll(t, m.out)
		perFrame := k.header().frames() * k.header().channels()
		from, to := m.start[20], m.start[22]+20
		for what, b := range map[string][]byte{
			"overwritten": join(m.out[:from], random(9, to-from), m.out[to:]),
			"missing":     join(m.out[:from+10], m.out[to:]),
			"zeroed":      join(m.out[:from], make([]byte, to-from), m.out[to:]),
		} {
			d := mustOpen(t, b)
			got := readAll(t, d, 1000)
			lost := (len(want) - len(got)) / perFrame
			if lost < 2 || lost > 50 || lost > 12 && k.bitrate != 1 {
				t.Errorf("%s, %s: %d frames lost", k.name, what, lost)
			}
			n := 20 * perFrame
			sameSamples(t, k.name+", "+what+", before", got[:n], want[:n])
			n = (60 - 20 - 3 - lost) * perFrame
			if n <= 0 {
				continue
			}
			sameSamples(t, k.name+", "+what+", behind", got[len(got)-n:], want[len(want)-n:])
			if len(d.Warnings()) == 0 {
				t.Errorf("%s, %s: no warning", k.name, what)
			}
		}
	}
}

// Damage to side information alone: the frame is left out, its neighbours are found by its header.
func TestDamagedSideInfo(t *testing.T) {
	k := kinds[0]
	k.noReserve = true
	m := makeStream(2, k, 20)
	want := decodeAll(t, m.out)
	b := bytes.Clone(m.out)
	at := m.start[10] + headerSize
	for i := range 32 {
		b[at+i] = 0xff
	}
	d := mustOpen(t, b)
	got := readAll(t, d, 1000)
	if len(got) != len(want)-2*1152 {
		t.Errorf("%d samples, want %d", len(got), len(want)-2*1152)
	}
	sameSamples(t, "before", got[:10*2304], want[:10*2304])
	sameSamples(t, "behind", got[11*2304:], want[12*2304:]) // frame 11 lacks what overlaps
}

// A stream that begins in the middle of a reservoir leaves out what it cannot decode.
func TestCutInFront(t *testing.T) {
	k := kinds[0]
	k.long = true
	m := makeStream(4, k, 40)
	want := decodeAll(t, m.out)
	got := decodeAll(t, m.out[m.start[10]:])
	if lost := 30 - len(got)/2304; lost < 0 || lost > 3 {
		t.Errorf("%d frames lost", lost)
	}
	n := 25 * 2304
	sameSamples(t, "behind", got[len(got)-n:], want[len(want)-n:])
}

// The last frame is left out where its end is missing.
func TestCutBehind(t *testing.T) {
	for i, k := range kinds[:6] {
		m := makeStream(int64(i), k, 10)
		want := decodeAll(t, m.out)
		want = want[:len(want)*9/10]
		for _, n := range []int{1, 50} {
			d := mustOpen(t, m.out[:len(m.out)-n])
			sameSamples(t, k.name, readAll(t, d, 1000), want)
			if w := d.Warnings(); len(w) != 1 || !strings.Contains(w[0], "cut short") {
				t.Errorf("%s: warnings %q", k.name, w)
			}
		}
	}
}

// A stream that another kind of stream follows ends there, and says so.
func TestChangeEnds(t *testing.T) {
	first := makeStream(1, kinds[0], 10)
	want := decodeAll(t, first.out)
	for i, k := range kinds[1:] {
		second := makeStream(2, k, 10)
		if k.header().free() || second.out[1] == first.out[1] && k.header().rate() == 44100 && k.header().channels() == 2 {
			continue
		}
		d := mustOpen(t, join(first.out, second.out))
		sameSamples(t, k.name, readAll(t, d, 1000), want)
		if w := d.Warnings(); len(w) != 1 || !strings.Contains(w[0], "another stream begins") {
			t.Errorf("%d, %s: warnings %q", i, k.name, w)
		}
	}
}

// One wrong header does not end the stream.
func TestOneWrongHeader(t *testing.T) {
	k := kinds[0]
	k.noReserve = true
	m := makeStream(2, k, 20)
	want := decodeAll(t, m.out)
	b := bytes.Clone(m.out)
	b[m.start[10]+2] ^= 4 // 48 kHz
	got := decodeAll(t, b)
	if lost := (len(want) - len(got)) / 2304; lost < 1 || lost > 2 {
		t.Errorf("%d frames lost", lost)
	}
}

func TestOtherLayers(t *testing.T) {
	for h, name := range map[header]string{0xfffd8004: "Layer II", 0xffff8004: "Layer I", 0xfff58004: "Layer II"} {
		var b []byte
		for range 5 {
			f := make([]byte, h.anySize(0))
			f[0], f[1], f[2], f[3] = byte(h>>24), byte(h>>16), byte(h>>8), byte(h)
			b = append(b, f...)
		}
		for _, b := range [][]byte{b, join(id3(3, 0, make([]byte, 100)), b), join(make([]byte, 999), b)} {
			_, err := New(bytes.NewReader(b), int64(len(b)))
			if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "MPEG audio "+name+" is not supported") {
				t.Errorf("%#x: %v", uint32(h), err)
			}
			if !Sniff(bytes.NewReader(b), int64(len(b))) {
				t.Errorf("%#x is not recognised", uint32(h))
			}
		}
	}
}

func TestSniff(t *testing.T) {
	for i, k := range kinds {
		b := makeStream(int64(i), k, 4).out
		if !Sniff(bytes.NewReader(b), int64(len(b))) {
			t.Errorf("%s is not recognised", k.name)
		}
	}
	for name, b := range map[string][]byte{
		"text":   []byte(strings.Repeat("this is text ", 9000)),
		"RIFF":   append([]byte("RIFF\x00\x01\x00\x00WAVEfmt "), make([]byte, 9000)...),
		"random": random(1, 1<<17),
		"zeros":  make([]byte, 1<<17),
		"ones":   bytes.Repeat([]byte{0xff}, 1<<17),
		"OggS":   join([]byte("OggS"), random(2, 1<<16)),
	} {
		if Sniff(bytes.NewReader(b), int64(len(b))) {
			t.Errorf("%s is taken for MPEG audio", name)
		}
		if _, err := New(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What looks like frames but can never be decoded is damaged, not silent.
func TestNothingDecodable(t *testing.T) {
	m := makeStream(1, kinds[0], 20)
	for _, at := range m.start {
		for i := range 32 {
			m.out[at+headerSize+i] = 0xff
		}
	}
	d := mustOpen(t, m.out)
	if n, err := d.Read(make([]float32, 100)); n != 0 || !errors.Is(err, ErrCorrupt) {
		t.Errorf("%d frames, %v", n, err)
	}
}

// The notes do not grow with the damage.
func TestNotesAreFew(t *testing.T) {
	m := makeStream(1, kinds[9], 200)
	for i := 10; i < 200; i += 2 {
		for j := range 32 {
			m.out[m.start[i]+headerSize+j] = 0xff
		}
	}
	d := mustOpen(t, m.out)
	readAll(t, d, 1000)
	if w := d.Warnings(); len(w) == 0 || len(w) > maxNotes+1 {
		t.Errorf("%d warnings: %q", len(w), w)
	}
}
