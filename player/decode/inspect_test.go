package decode

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// shaped is a WAV of 16-bit samples by a function of the frame.
func shaped(ch, n int, f func(i, c int) int16, after ...testChunk) []byte {
	var s []int16
	for i := range n {
		for c := range ch {
			s = append(s, f(i, c))
		}
	}
	return wavSpec{ch: ch, bits: 16, data: le16(s...), after: after}.bytes()
}

func inspected(t *testing.T, data []byte) Report {
	t.Helper()
	r, err := Inspect(t.Context(), openBytes(t, data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestInspectLevels(t *testing.T) {
	r := inspected(t, shaped(2, 10000, func(i, c int) int16 {
		switch {
		case i < 1000 || i >= 9300:
			return int16(i % 3) // below -80 dB
		case c == 1:
			return 3277 // a tenth
		case i >= 5000 && i < 5010:
			return 32767
		case i == 6000 || i == 6001 || i == 7000:
			return -32768 // too few in a row
		}
		return 0
	}))
	if r.Frames != 10000 || r.Claimed != 10000 || r.LeadSilence != 1000 || r.TailSilence != 700 {
		t.Errorf("%d of %d frames, silence of %d and %d", r.Frames, r.Claimed, r.LeadSilence, r.TailSilence)
	}
	if r.Peak != 1 || r.Clipped != 10 {
		t.Errorf("peak %g, %d clipped; want 1 and 10", r.Peak, r.Clipped)
	}
	if len(r.DC) != 2 || math.Abs(r.DC[1]-0.083) > 1e-3 || math.Abs(r.DC[0]) > 2e-3 {
		t.Errorf("DC is %v", r.DC)
	}
	text := strings.Join(r.Findings, "; ")
	if !strings.Contains(text, "10 samples are clipped") || !strings.Contains(text, "channel 1 is off centre") || strings.Contains(text, "channel 0") {
		t.Errorf("findings are %q", text)
	}
}

// TestInspectAcrossBlocks has a run of clipped samples that lies across the blocks Inspect reads.
func TestInspectAcrossBlocks(t *testing.T) {
	for at := 2040; at < 2052; at++ {
		r := inspected(t, shaped(1, 5000, func(i, _ int) int16 {
			if i >= at && i < at+5 {
				return 32767
			}
			return int16(i % 100)
		}))
		if r.Clipped != 5 {
			t.Errorf("run at %d: %d clipped, want 5", at, r.Clipped)
		}
	}
}

func TestInspectClipped8Bit(t *testing.T) {
	r := inspected(t, wavSpec{ch: 1, bits: 8, data: []byte{128, 255, 255, 255, 255, 128, 0, 0, 0, 128, 254, 254, 254}}.bytes())
	if r.Clipped != 7 {
		t.Errorf("%d clipped, want 7", r.Clipped)
	}
}

func TestInspectSilent(t *testing.T) {
	r := inspected(t, shaped(2, 3000, func(int, int) int16 { return 0 }))
	if r.LeadSilence != 3000 || r.TailSilence != 3000 || !slices.Contains(r.Findings, "silent throughout") {
		t.Errorf("silence of %d and %d, findings %q", r.LeadSilence, r.TailSilence, r.Findings)
	}
	if r = inspected(t, wavSpec{ch: 1, bits: 16}.bytes()); r.Frames != 0 || !slices.Contains(r.Findings, "no sound: 0 frames") {
		t.Errorf("of no frames: %+v", r)
	}
}

func TestInspectBeyondFullScale(t *testing.T) {
	data := wavSpec{tag: tagFloat, ch: 1, bits: 32, data: []byte{0, 0, 0, 0x40}}.bytes()
	if r := inspected(t, data); r.Peak != 2 || !strings.Contains(strings.Join(r.Findings, ";"), "+6.0 dB") {
		t.Errorf("peak %g, findings %q", r.Peak, r.Findings)
	}
}

// TestInspectSeams loops a sine over whole periods and over half ones.
func TestInspectSeams(t *testing.T) {
	sine := func(i, _ int) int16 { return int16(10000 * math.Sin(2*math.Pi*float64(i)/200+1)) }
	r := inspected(t, shaped(2, 9000, sine, smpl([4]uint32{0, 400, 4399, 0}, [4]uint32{0, 400, 4499, 0}, [4]uint32{0, 0, 8999, 0}, [4]uint32{0, 2047, 2048, 0})))
	var clicks []bool
	for _, s := range r.Seams {
		clicks = append(clicks, s.Click)
	}
	if !slices.Equal(clicks, []bool{false, true, false, false}) {
		t.Errorf("seams are %+v", r.Seams)
	}
	step := func(a, b int) float64 { return math.Abs(float64(sine(a, 0))-float64(sine(b, 0))) / 32768 }
	if math.Abs(r.Seams[1].Step-step(4499, 400)) > 1e-6 || r.Seams[1].Around > 0.01 || r.Seams[1].Around < 0.005 {
		t.Errorf("the seam is %+v, want a step of %g", r.Seams[1], step(4499, 400))
	}
	if text := strings.Join(r.Findings, "; "); !strings.Contains(text, "loop from 400 to 4500 jumps") {
		t.Errorf("findings are %q", text)
	}
}

func TestInspectStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Inspect(ctx, openBytes(t, wavGood().bytes())); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	s := openBytes(t, wavGood().bytes())
	s.Close()
	_, err := Inspect(t.Context(), s)
	wants(t, err, ErrClosed)
}

func TestInspectShorterThanClaimed(t *testing.T) {
	f := newFake(300, 1)
	f.about.Frames = 500
	r, err := Inspect(t.Context(), gated(t, f))
	if err != nil || r.Frames != 300 || r.Claimed != 500 || !slices.Contains(r.Findings, "300 frames, 500 were claimed") {
		t.Errorf("%d of %d frames, findings %q, %v", r.Frames, r.Claimed, r.Findings, err)
	}
}

// TestInspectSum spoils the sum that a FLAC stream carries, and a sample whose checksum is mended.
func TestInspectSum(t *testing.T) {
	spec := flacGood(2, 16, 5000)
	data := spec.bytes()
	if _, err := Inspect(t.Context(), openBytes(t, data)); err != nil {
		t.Fatal(err)
	}
	data[30] ^= 1
	lost := inspected(t, data).Info.Lost
	if len(lost) != 1 || !strings.Contains(lost[0], "MD5") {
		t.Errorf("lost is %q", lost)
	}
	none := *spec
	none.noMD5 = true
	if lost := inspected(t, none.bytes()).Info.Lost; len(lost) != 0 {
		t.Errorf("without a sum: %q", lost)
	}
	s := openBytes(t, spec.bytes()) // and after reading it before
	floats(t, s)
	if r, err := Inspect(t.Context(), s); err != nil || len(r.Info.Lost) != 0 {
		t.Errorf("a second time: %q, %v", r.Info.Lost, err)
	}
}

func TestInspectShowsTheBlocks(t *testing.T) {
	data := shaped(2, 10000, func(i, c int) int16 { return int16(3*i + c) })
	var got []float32
	r, err := Inspect(t.Context(), openBytes(t, data), func(block []float32) { got = append(got, block...) })
	if err != nil || r.Frames != 10000 {
		t.Fatal(r.Frames, err)
	}
	same(t, "shown", got, floats(t, openBytes(t, data)))
}
