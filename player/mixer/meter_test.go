package mixer

import (
	"math"
	"testing"

	"github.com/sndpak/sndpak/player/internal/streamtest"
)

func TestMeterPeakAndRMS(t *testing.T) {
	r := newRig(t, Config{Rate: 8000})
	b := r.bus(0)
	if m := r.Meter(b); m != noSound {
		t.Errorf("off: %+v", m)
	}
	r.ok(r.MeterBus(b, true))
	r.play(&PCM{Channels: 2, F32: interleave(0.5, -0.25, 8000)}, in(b))
	r.ok(r.SetBusGain(b, 20*math.Log10(0.5)))
	r.mix(4000)
	m := r.Meter(b)
	for side, want := range [2]float64{0.25, 0.125} {
		if math.Abs(m.Peak[side]-want) > 1e-6 || math.Abs(m.RMS[side]-want) > 1e-6 {
			t.Errorf("side %d: peak %v, RMS %v; want %v", side, m.Peak[side], m.RMS[side], want)
		}
	}
	r.mix(8000)
	if m := r.Meter(b); m.Peak != [2]float64{} || m.RMS != [2]float64{} {
		t.Errorf("400 ms behind the end: %+v", m)
	}
	r.ok(r.MeterBus(b, false))
	r.mix(1)
	if m := r.Meter(b); m != noSound {
		t.Errorf("off again: %+v", m)
	}
	if m := r.Meter(200); m != noSound {
		t.Errorf("no such bus: %+v", m)
	}
}

// The signals of EBU Tech 3341 for two channels: tones of 1 kHz on both sides.
func TestMeterLoudness(t *testing.T) {
	type part struct {
		dB      float64
		seconds float64
	}
	rates := []int{16000, 48000, 44100, 96000}
	for _, rate := range rates[:streamtest.Fewer(len(rates))] {
		for i, c := range []struct {
			parts []part
			want  float64
		}{
			{[]part{{-23, 20}}, -23},
			{[]part{{-33, 20}}, -33},
			{[]part{{-36, 10}, {-23, 60}, {-36, 10}}, -23},
			{[]part{{-72, 10}, {-36, 10}, {-23, 60}, {-36, 10}, {-72, 10}}, -23},
			{[]part{{-26, 20}, {-20, 20.1}, {-26, 20}}, -23},
		} {
			if i > 0 && rate != 48000 {
				break
			}
			m := newMeter(rate)
			at := 0
			for _, p := range c.parts {
				a := math.Pow(10, p.dB/20)
				block := make([]frame, int(p.seconds*float64(rate)))
				for k := range block {
					x := float32(a * math.Sin(2*math.Pi*1000*float64(at+k)/float64(rate)))
					block[k] = frame{x, x}
				}
				at += len(block)
				m.measure(block, len(block))
				if i < 2 && (math.Abs(m.shown.Momentary-c.want) > 0.1 || math.Abs(m.shown.ShortTerm-c.want) > 0.1) {
					t.Errorf("%d Hz, case %d: momentary %.2f, short-term %.2f; want %v", rate, i+1, m.shown.Momentary, m.shown.ShortTerm, c.want)
				}
			}
			if math.Abs(m.shown.Integrated-c.want) > 0.1 {
				t.Errorf("%d Hz, case %d: integrated %.2f LUFS, want %v", rate, i+1, m.shown.Integrated, c.want)
			}
		}
	}
}

// Silence is no loudness at all, also of blocks that lie below the absolute gate.
func TestMeterSilence(t *testing.T) {
	m := newMeter(48000)
	m.measure(nil, 480000)
	if s := m.shown; s != noSound {
		t.Errorf("silence: %+v", s)
	}
	quiet := make([]frame, 480000)
	for i := range quiet {
		quiet[i] = frame{1e-4 * float32(i%48-24) / 24, 0}
	}
	m.measure(quiet, len(quiet))
	if s := m.shown; !math.IsInf(s.Integrated, -1) || math.IsInf(s.Momentary, -1) {
		t.Errorf("below the gate: %+v", s)
	}
}

// The weighting at 48 kHz is that of the standard's tables.
func TestMeterCoefficients(t *testing.T) {
	s, h := kShelf(48000), kLowCut(48000)
	for i, c := range [][2]float64{
		{s.b0, 1.53512485958697}, {s.b1, -2.69169618940638}, {s.b2, 1.19839281085285}, {s.a1, -1.69065929318241}, {s.a2, 0.73248077421585},
		{h.b0, 1}, {h.b1, -2}, {h.b2, 1}, {h.a1, -1.99004745483398}, {h.a2, 0.99007225036621},
	} {
		if math.Abs(c[0]-c[1]) > 1e-7 {
			t.Errorf("coefficient %d is %.14f, want %.14f", i, c[0], c[1])
		}
	}
}

// At a rate that is too low for the weighting it still measures.
func TestMeterLowRate(t *testing.T) {
	r := newRig(t, Config{Rate: 1})
	r.ok(r.MeterBus(0, true))
	r.play(level(1, 10), Params{})
	r.mix(5)
	if m := r.Meter(0); m.Peak[0] != 1 || math.Abs(m.Momentary-(10*math.Log10(2)-0.691)) > 1e-9 {
		t.Errorf("%+v", m)
	}
}

func BenchmarkMeter(b *testing.B) {
	m := newMeter(48000)
	x := make([]frame, 256)
	for i := range x {
		x[i] = frame{float32(i) / 256, 0.5}
	}
	b.ReportAllocs()
	for b.Loop() {
		m.measure(x, len(x))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*256), "ns/frame")
}
