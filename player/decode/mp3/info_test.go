package mp3

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// Delay and padding are taken off exactly; the info frame is no sound.
func TestGapless(t *testing.T) {
	for i, k := range kinds {
		m := makeStream(int64(i), k, 20)
		plain := decodeAll(t, m.out)
		channels, size := k.header().channels(), k.header().frames()
		for _, c := range []struct{ delay, padding int }{{576, 1000}, {1105, 529}, {0, 4095}, {4095, 600}, {576, 530}} {
			b := join(k.infoFrame("Info", 20, len(m.out), c.delay, c.padding), m.out)
			d := mustOpen(t, b)
			if d.Delay() != c.delay || d.Padding() != c.padding {
				t.Errorf("%s: delay %d, padding %d", k.name, d.Delay(), d.Padding())
			}
			start, end := c.delay+decoderDelay, 20*size-c.padding+decoderDelay
			sameSamples(t, fmt.Sprint(k.name, c), readAll(t, d, 333), plain[start*channels:end*channels])
			if w := d.Warnings(); len(w) > 0 {
				t.Errorf("%s: %q", k.name, w)
			}
		}
	}
}

// Where the padding is shorter than the decoder's delay, the end of the sound is still in the filter
// banks after the last frame: it is what a frame of silence behind it would bring out.
func TestGaplessTail(t *testing.T) {
	for i, k := range kinds {
		m := makeStream(int64(i), k, 20)
		h := k.header()
		channels, size := h.channels(), h.frames()
		// A frame of all zeros decodes to silence.
		silent := makeSilence(k, m)
		plain := decodeAll(t, join(m.out, silent))
		for _, padding := range []int{0, 17, 528} {
			b := join(k.infoFrame("Info", 20, len(m.out), 576, padding), m.out)
			start, end := 576+decoderDelay, 20*size-padding+decoderDelay
			sameSamples(t, fmt.Sprint(k.name, padding), decodeAll(t, b), plain[start*channels:end*channels])
		}
	}
}

// makeSilence makes a frame without values.
func makeSilence(k kind, m *maker) []byte {
	h := k.header()
	if k.bitrate == 15 {
		h |= 9 << 12
	}
	b := make([]byte, h.size(k.freeSize))
	binary.BigEndian.PutUint32(b, uint32(h))
	if k.crc {
		binary.BigEndian.PutUint16(b[headerSize:], crcOf(h, b))
	}
	return b
}

// Where the info frame tells of more frames than there are, the end was cut off, and padding with
// it; where it tells of fewer, it is not about this stream.
func TestGaplessLies(t *testing.T) {
	k := kinds[0]
	m := makeStream(1, k, 20)
	plain := decodeAll(t, m.out)
	start := 576 + decoderDelay
	for _, c := range []struct{ told, end int }{
		{0, 20*1152 - 1200 + decoderDelay}, // tells of no number
		{20, 20*1152 - 1200 + decoderDelay},
		{21, 20 * 1152}, // 21*1152-1200+529 is more
		{22, 20 * 1152},
		{1000, 20 * 1152},
		{19, 20 * 1152},
		{1, 20 * 1152},
	} {
		d := mustOpen(t, join(k.infoFrame("Info", c.told, len(m.out), 576, 1200), m.out))
		sameSamples(t, fmt.Sprint("told ", c.told), readAll(t, d, 1000), plain[2*start:2*c.end])
		warned := false
		for _, w := range d.Warnings() {
			warned = warned || strings.Contains(w, "info frame tells of")
		}
		if want := c.told != 20 && c.told != 0; warned != want {
			t.Errorf("told %d: warnings %q", c.told, d.Warnings())
		}
	}
	// Delay and padding longer than the sound.
	short := makeStream(1, k, 2)
	if got := decodeAll(t, join(k.infoFrame("Info", 2, len(short.out), 4095, 4095), short.out)); len(got) != 0 {
		t.Errorf("%d samples of nothing", len(got))
	}
}

func TestParseInfo(t *testing.T) {
	k := kinds[0]
	h := k.header()
	xing := k.infoFrame("Xing", 7, 1000, 100, 200)
	got := parseInfo(h, xing)
	want := info{present: true, vbr: true, frames: 7, bytes: 1000 + int64(len(xing)), gapless: true, delay: 100, padding: 200}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// Without fields, and by an encoder that says nothing.
	bare := make([]byte, 417)
	copy(bare[h.mainStart():], "Info\x00\x00\x00\x00unknown")
	if got := parseInfo(h, bare); got != (info{present: true}) {
		t.Errorf("bare: %+v", got)
	}
	// Cut anywhere it is not read past its end.
	for n := range xing {
		parseInfo(h, xing[:n:n])
	}
	// With a CRC, and by a writer who left no place for it.
	for _, at := range []int{36, 38} {
		b := make([]byte, 417)
		copy(b[at:], xing[36:200])
		if got := parseInfo(h&^(1<<16), b); got != want {
			t.Errorf("at %d with a CRC: %+v", at, got)
		}
	}
	vbri := make([]byte, 417)
	copy(vbri[vbriOffset:], "VBRI")
	binary.BigEndian.PutUint32(vbri[vbriOffset+10:], 1234)
	binary.BigEndian.PutUint32(vbri[vbriOffset+14:], 56)
	if got := parseInfo(h, vbri); got != (info{present: true, vbr: true, bytes: 1234, frames: 56}) {
		t.Errorf("VBRI: %+v", got)
	}
	if got := parseInfo(h, make([]byte, 417)); got.present {
		t.Errorf("zeros: %+v", got)
	}
}

// A file of an info frame alone is a sound of no frames.
func TestInfoOnly(t *testing.T) {
	d := mustOpen(t, kinds[0].infoFrame("Info", 316, 100000, 576, 576))
	if got := readAll(t, d, 100); len(got) != 0 {
		t.Errorf("%d samples", len(got))
	}
	if n, err := d.Frames(); n != 0 || err != nil {
		t.Errorf("%d frames, %v", n, err)
	}
	if err := d.SeekTo(0); err != nil {
		t.Error(err)
	}
}
