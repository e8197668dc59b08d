package decode

import (
	"bytes"
	"math"
	"testing"

	"github.com/jfreymuth/vorbis"
)

// packetsOf are the packets of an Ogg file of one stream.
func packetsOf(t testing.TB, data []byte) (list [][]byte) {
	t.Helper()
	o := oggPackets{oggReader: *oggOf(data)}
	o.serial = testPages(t, data)[0].serial
	for {
		if err := o.nextPage(); err != nil {
			return list
		}
		for _, p := range o.packets {
			list = append(list, bytes.Clone(p))
		}
	}
}

// TestVorbisPackets decodes packet by packet beside another decoder.
func TestVorbisPackets(t *testing.T) {
	list := packetsOf(t, theme(t))
	var s vorbisSetup
	if err := s.readIdent(list[0]); err != nil {
		t.Fatal(err)
	}
	setup, err := s.readSetup(list[2])
	if err != nil {
		t.Fatal(err)
	}
	d := newVorbisDecoder(&s, setup)
	var other vorbis.Decoder
	for _, p := range list[:3] {
		if err := other.ReadHeader(p); err != nil {
			t.Fatal(err)
		}
	}
	buf, buf2 := make([]float32, d.most()), make([]float32, other.BufferSize())
	var signal, noise float64
	for i, p := range list[3:] {
		got, err := d.decode(p, buf)
		if err != nil {
			t.Fatal(err)
		}
		want, err := other.DecodeInto(p, buf2)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("packet %d: %d samples, want %d", i, len(got), len(want))
		}
		for k, v := range want {
			signal += float64(v) * float64(v)
			noise += float64(v-got[k]) * float64(v-got[k])
		}
		if i < 6 || i == 100 {
			t.Logf("packet %d: %.1f dB", i, 10*math.Log10(signal/noise))
		}
	}
	if db := 10 * math.Log10(signal/noise); !(db > 110) {
		t.Errorf("%.1f dB", db)
	}
}
