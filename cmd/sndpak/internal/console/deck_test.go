package console

import (
	"encoding/binary"
	"math"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sndpak/sndpak/player"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wav is a sound of one channel, a square wave at half of full scale.
func wav(rate, frames int) []byte {
	le := binary.LittleEndian
	b := []byte("RIFF....WAVEfmt ")
	for _, v := range []uint32{16, 1 | 1<<16, uint32(rate), uint32(2 * rate), 2 | 16<<16} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint32(append(b, "data"...), uint32(2*frames))
	for i := range frames {
		b = le.AppendUint16(b, uint16(int16(16384-32768*(i/50%2))))
	}
	le.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// newTestDeck is a deck on a player that the test pulls, with sounds of one second.
func newTestDeck(t *testing.T) (*deck, *player.Player) {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, name := range []string{"a.wav", "ui/b.wav", "ui/c.wav", "far/off/d.wav"} {
		fsys[name] = &fstest.MapFile{Data: wav(48000, 48000)}
	}
	p := player.New(fsys, &player.Options{InStep: true})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	d, err := newDeck(p, func(name string) (int64, int64, bool) { return 12000, 24000, name == "far/off/d.wav" })
	if err != nil {
		t.Fatal(err)
	}
	d.Folders([]string{"a.wav", "ui/b.wav", "ui/c.wav", "far/off/d.wav"})
	return d, p
}

// mix lets so many seconds go by, and returns the loudest sample.
func mix(p *player.Player, seconds float64) (peak float64) {
	block := make([]float32, 2*480)
	for range int(seconds * 100) {
		p.Mix(block)
		for _, v := range block {
			peak = max(peak, math.Abs(float64(v)))
		}
	}
	return peak
}

func snap(d *deck) *Snapshot {
	var s Snapshot
	d.Snapshot(&s)
	return &s
}

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if math.Abs(got-want) > by {
		t.Errorf("%s: got %v, want %v within %v", what, got, want, by)
	}
}

// What plays is in the snapshot with its place, until it ends.
func TestDeckShowsVoices(t *testing.T) {
	d, p := newTestDeck(t)
	d.Load([]string{"a.wav", "missing.wav"})
	if err := d.Play("a.wav", 250*time.Millisecond, false); err != nil {
		t.Fatal(err)
	}
	if err := d.Play("ui/b.wav", 0, true); err != nil {
		t.Fatal(err)
	}
	mix(p, 0.25)
	s := snap(d)
	if len(s.Playing) != 2 || s.Playing[0].Name != "a.wav" || s.Playing[1].Name != "ui/b.wav" || s.Voices != 2 {
		t.Fatalf("%d voices, playing %+v", s.Voices, s.Playing)
	}
	near(t, "a", s.Playing[0].At.Seconds(), 0.5, 0.02)
	near(t, "b", s.Playing[1].At.Seconds(), 0.25, 0.02)
	if s.Playing[0].Looped || !s.Playing[1].Looped || s.Playing[1].Length != time.Second {
		t.Errorf("playing %+v", s.Playing)
	}
	mix(p, 1)
	if s = snap(d); len(s.Playing) != 1 || s.Playing[0].Name != "ui/b.wav" {
		t.Fatalf("after a second: %+v", s.Playing)
	}
	near(t, "b looped", s.Playing[0].At.Seconds(), 0.25, 0.02)
	if err := d.Seek(s.Playing[0].ID, 700*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	mix(p, 0.1)
	near(t, "b sought", snap(d).Playing[0].At.Seconds(), 0.8, 0.02)
	if !d.StopSound("ui/b.wav") || d.StopSound("a.wav") {
		t.Error("StopSound tells wrongly what plays")
	}
	mix(p, 0.1)
	if s = snap(d); len(s.Playing) != 0 {
		t.Errorf("stopped: %+v", s.Playing)
	}
	if err := d.Play("missing.wav", 0, false); err == nil {
		t.Error("a missing sound plays")
	}
	if errs := d.Errors(); len(errs) != 0 {
		t.Error(errs)
	}
}

// Folders have buses with meters, and gain, mute, solo and pause are heard.
func TestDeckBuses(t *testing.T) {
	d, p := newTestDeck(t)
	names := func() (n []string) {
		for _, b := range snap(d).Buses {
			n = append(n, b.Name)
		}
		return n
	}
	if n := names(); len(n) != 3 || n[0] != "master" || n[1] != "ui" || n[2] != "far" {
		t.Fatalf("buses %q", n)
	}
	if err := d.Play("ui/b.wav", 0, true); err != nil {
		t.Fatal(err)
	}
	near(t, "peak", mix(p, 0.6), 0.5, 0.02) // one channel in the centre is on both sides as it is
	s := snap(d)
	for i, want := range []float64{0.5, 0.5, 0} {
		near(t, s.Buses[i].Name+" rms", s.Buses[i].RMS[0], want, 0.02)
		near(t, s.Buses[i].Name+" hold", s.Buses[i].Hold[1], want, 0.02)
	}
	for _, c := range []struct {
		what string
		do   func() error
		want float64
	}{
		{"gain", func() error { return d.SetBusGain(1, -6) }, 0.25},
		{"gain of the master", func() error { return d.SetBusGain(0, 6) }, 0.5},
		{"mute", func() error { return d.Mute(1, true) }, 0},
		{"heard", func() error { return d.Mute(1, false) }, 0.5},
		{"another alone", func() error { return d.Solo(2, true) }, 0},
		{"alone too", func() error { return d.Solo(1, true) }, 0.5},
		{"pause", func() error { return d.PauseAll(true) }, 0},
		{"resume", func() error { return d.PauseAll(false) }, 0.5},
		{"no such bus", func() error { return d.Mute(99, true) }, 0.5},
	} {
		if err := c.do(); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		mix(p, 0.05)
		near(t, c.what, mix(p, 0.1), c.want, 0.01)
	}
	if s = snap(d); s.Buses[1].Gain != -6 || s.Buses[0].Gain != 6 || !s.Buses[1].Solo || s.Buses[1].Mute || s.Paused {
		t.Errorf("buses %+v", s.Buses)
	}
	d.StopAll()
	mix(p, 0.1)
	if n := len(snap(d).Playing); n != 0 {
		t.Errorf("%d voices after a stop", n)
	}
}

// A pack of more folders than there are buses for plays all the same.
func TestDeckOfManyFolders(t *testing.T) {
	d, p := newTestDeck(t)
	d.Folders(manyNames(10000))
	if n := len(snap(d).Buses); n != maxBuses+1 {
		t.Errorf("%d buses, want %d", n, maxBuses+1)
	}
	if err := d.Play("far/off/d.wav", 0, false); err != nil {
		t.Fatal(err)
	}
	near(t, "peak", mix(p, 0.1), 0.5, 0.02)
}

// Sounds without a key are given up when they have played.
func TestDeckGivesSoundsUp(t *testing.T) {
	d, p := newTestDeck(t)
	d.Load([]string{"a.wav", "ui/b.wav"})
	d.Load([]string{"ui/b.wav", "ui/c.wav"})
	var kept int
	for name := range d.kept {
		if name != "ui/b.wav" && name != "ui/c.wav" {
			t.Errorf("%s is kept", name)
		}
		kept++
	}
	if kept != 2 {
		t.Errorf("%d sounds are kept, want 2", kept)
	}
	for range 3 {
		if err := d.Play("a.wav", 0, false); err != nil {
			t.Fatal(err)
		}
	}
	mix(p, 1.2)
	if n := len(snap(d).Playing); n != 0 {
		t.Errorf("%d voices", n)
	}
	id := uint64(0)
	if err := d.Play("ui/c.wav", 0, false); err != nil {
		t.Fatal(err)
	}
	for _, v := range snap(d).Playing {
		id = v.ID
	}
	if err := d.Pause(id, true); err != nil {
		t.Fatal(err)
	}
	mix(p, 0.1)
	at := snap(d).Playing[0].At
	mix(p, 0.5)
	if v := snap(d).Playing[0]; v.At != at || !v.Paused {
		t.Errorf("paused at %v, then at %v, paused %v", at, v.At, v.Paused)
	}
	d.Stop(id)
	mix(p, 0.1)
	if n := len(snap(d).Playing); n != 0 {
		t.Errorf("%d voices", n)
	}
}

func TestCPUMeter(t *testing.T) {
	var m cpuMeter
	if v := m.share(); v < -1 || v > 1000 {
		t.Errorf("share %v", v)
	}
	if used, ok := cpuTime(); ok && used <= 0 {
		t.Errorf("used %v", used)
	}
	// Between two ticks nothing is measured; behind the next one there is.
	m.last = -7
	m.start = time.Now()
	if v := m.share(); v != -7 {
		t.Errorf("share %v before its time", v)
	}
	m.start, m.at = m.start.Add(-time.Minute), m.at.Add(-time.Minute)
	if v := m.share(); v == -7 || v > 1000 {
		t.Errorf("share %v a minute later", v)
	}
}

// A loop that the pack keeps counts before the sound's own, for the entry that it is kept of alone.
func TestDeckKeptLoop(t *testing.T) {
	d, p := newTestDeck(t)
	for name, want := range map[string][2]time.Duration{
		"far/off/d.wav": {250 * time.Millisecond, 500 * time.Millisecond},
		"a.wav":         {},
	} {
		if err := d.Play(name, 0, true); err != nil {
			t.Fatal(err)
		}
		v := d.voices[len(d.voices)-1]
		if got := [2]time.Duration{v.LoopFrom, v.LoopTo}; got != want {
			t.Errorf("%s: loop %v, want %v", name, got, want)
		}
	}
	mix(p, 3)
	var s Snapshot
	if d.Snapshot(&s); s.Voices != 2 {
		t.Errorf("%d voices after three seconds of looped sounds of one, want 2", s.Voices)
	}
}
