//go:build unix && !darwin

package output

import (
	"errors"
	"math"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sndpak/sndpak/player/output/pulsetest"
)

// These tests play to a real PulseAudio server and record what its sink plays.

// realServer starts a server and makes it the one that Open finds.
func realServer(t *testing.T) *pulsetest.Server {
	t.Helper()
	noLeak(t) // before the server, so that it looks after the server is gone
	s := pulsetest.Start(t)
	noServer(t)
	t.Setenv("PULSE_SERVER", s.Addr)
	return s
}

func openReal(t *testing.T, spec string, c Config) Device {
	t.Helper()
	d, err := Open(spec, c)
	must(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// tone gives a sine of so many frames, n < 0 without end. Its first frame is not silent.
func tone(hz float64, rate int, n int64) Fill {
	at := int64(0)
	return func(buf []float32) int {
		for i := range len(buf) / 2 {
			if at == n {
				return i
			}
			v := float32(0.5 * math.Sin(2*math.Pi*hz*(float64(at)+0.5)/float64(rate)))
			buf[2*i], buf[2*i+1] = v, -v
			at++
		}
		return len(buf) / 2
	}
}

// frequency counts the zero crossings of the left channel.
func frequency(samples []float32, rate int) float64 {
	var ups, first, last int
	for i := 1; i < len(samples)/2; i++ {
		if samples[2*i-2] < 0 && samples[2*i] >= 0 {
			if ups++; ups == 1 {
				first = i
			}
			last = i
		}
	}
	if ups < 2 {
		return 0
	}
	return float64(ups-1) * float64(rate) / float64(last-first)
}

// playAndRecord plays fill to its end and returns what the sink played, without the silence around it, and
// how many gaps the server had to put in.
func playAndRecord(t *testing.T, s *pulsetest.Server, c Config, fill Fill) (heard []float32, gaps int64) {
	t.Helper()
	rec := s.Record(t)
	d := openReal(t, "pulse", c)
	start(t, d, fill)
	awaitDone(t, d)
	must(t, d.Err())
	rec.WaitFrames(t, 48000)
	must(t, d.Close())
	return pulsetest.Trim(rec.Stop(t)), underruns(d)
}

// undisturbed repeats what a machine that is too busy may have spoilt, as the gaps tell.
func undisturbed(t *testing.T, try func() (ok bool, gaps int64)) {
	t.Helper()
	for n := 1; ; n++ {
		ok, gaps := try()
		switch {
		case ok:
			return
		case gaps == 0:
			t.Fatal("wrong without a gap")
		case n == 5:
			t.Fatalf("%d tries with gaps", n)
		}
		t.Logf("try %d: %d gaps", n, gaps)
	}
}

// Every sample arrives, and nothing else.
func TestRealExactSamples(t *testing.T) {
	s := realServer(t)
	const n = 48000
	want := make([]float32, 2*n)
	(&ramp{n: n}).fill(want)
	undisturbed(t, func() (bool, int64) {
		got, gaps := playAndRecord(t, s, Config{Buffer: time.Second}, (&ramp{n: n}).fill)
		if len(got) != len(want) {
			t.Logf("frames: got %d, want %d", len(got)/2, n)
			return false, gaps
		}
		for i := range want {
			if got[i] != want[i] {
				t.Logf("sample %d: got %g, want %g", i, got[i], want[i])
				return false, gaps
			}
		}
		return true, 0
	})
}

func TestRealTone(t *testing.T) {
	s := realServer(t)
	for _, c := range []Config{ // the device holds most of it or all, so that a busy machine makes no gaps
		{Buffer: time.Second},
		{Rate: 44100, Buffer: 2 * time.Second},
		{Rate: 22050, Buffer: 2 * time.Second},
		{Rate: 96000, Buffer: 2 * time.Second},
	} {
		rate := c.Rate
		if rate == 0 {
			rate = 48000
		}
		undisturbed(t, func() (bool, int64) {
			got, gaps := playAndRecord(t, s, c, tone(1000, rate, 2*int64(rate)))
			hz, frames := frequency(got, pulsetest.Rate), len(got)/2
			// A resampler rings for some frames at both ends.
			if math.Abs(hz-1000) > 1 || frames < 2*pulsetest.Rate-480 || frames > 2*pulsetest.Rate+480 {
				t.Logf("%+v: got %d frames of %.1f Hz, want %d of 1000", c, frames, hz, 2*pulsetest.Rate)
				return false, gaps
			}
			return true, 0
		})
	}
}

// Sounds shorter than the buffer are heard in full too, and nothing else is.
func TestRealShort(t *testing.T) {
	s := realServer(t)
	for _, n := range []int64{1, 100, 4799, 4800, 4801} {
		want := make([]float32, 2*n)
		(&ramp{n: n}).fill(want)
		if got, _ := playAndRecord(t, s, Config{Buffer: 100 * time.Millisecond}, (&ramp{n: n}).fill); !sameButSilence(t, got, want) {
			t.Errorf("a sound of %d frames is not heard in full", n)
		}
	}
}

func TestRealContract(t *testing.T) {
	s := realServer(t)
	checkDevice(t, func(t *testing.T) Device {
		d, err := Open("pulse", Config{})
		must(t, err)
		return d
	})
	if got := s.Pactl(t, "list", "short", "sink-inputs"); got != "" {
		t.Errorf("streams left in the server: %q", got)
	}
	if got := strings.Count(s.Pactl(t, "list", "short", "clients"), "\n"); got != 1 { // pactl itself
		t.Errorf("clients left in the server: %d", got-1)
	}
}

func TestRealAutoAndNames(t *testing.T) {
	s := realServer(t)
	var told warnings
	d := openReal(t, "auto", Config{Name: "Spiel für \x00zwei", Warn: told.add})
	if d.Name() != "pulse" || d.Rate() != 48000 || len(told.all()) != 0 {
		t.Errorf("got %q at %d, warnings %q", d.Name(), d.Rate(), told.all())
	}
	start(t, d, tone(1000, 48000, -1))
	for _, what := range []string{"clients", "sink-inputs"} {
		if got := s.Pactl(t, "list", what); !strings.Contains(got, "Spiel für  zwei") {
			t.Errorf("%s do not bear the name: %s", what, got)
		}
	}
}

// Fifty pauses take nothing from the sound and add silence alone.
func TestRealPause(t *testing.T) {
	s := realServer(t)
	const n = 96000
	want := make([]float32, 2*n)
	(&ramp{n: n}).fill(want)
	undisturbed(t, func() (bool, int64) {
		rec := s.Record(t)
		d := openReal(t, "pulse", Config{Buffer: 200 * time.Millisecond})
		start(t, d, (&ramp{n: n}).fill)
		for range 50 {
			time.Sleep(10 * time.Millisecond)
			must(t, d.Pause(true))
			before := d.Delay()
			time.Sleep(5 * time.Millisecond)
			if after := d.Delay(); after > before+50*time.Millisecond {
				t.Errorf("the delay went from %v to %v in a pause", before, after)
			}
			must(t, d.Pause(false))
		}
		awaitDone(t, d)
		must(t, d.Err())
		rec.WaitFrames(t, 48000)
		return sameButSilence(t, rec.Stop(t), want), underruns(d)
	})
}

// sameButSilence compares sounds without their silent frames.
func sameButSilence(t *testing.T, got, want []float32) bool {
	t.Helper()
	at := 0
	for i := 0; i < len(got); i += 2 {
		if got[i] == 0 && got[i+1] == 0 {
			continue
		}
		if at == len(want) || got[i] != want[at] || got[i+1] != want[at+1] {
			t.Logf("frame %d of the recording: got %g, frame %d of the sound wanted", i/2, got[i], at/2)
			return false
		}
		at += 2
	}
	if at < len(want) {
		t.Logf("the sound ended at frame %d of %d", at/2, len(want)/2)
	}
	return at == len(want)
}

// The delay comes to the buffer that was asked for, more or less, and is gone at the end.
func TestRealDelay(t *testing.T) {
	realServer(t)
	for _, buffer := range []time.Duration{50 * time.Millisecond, 400 * time.Millisecond} {
		r := &ramp{n: 2 * 48000}
		d := openReal(t, "pulse", Config{Buffer: buffer})
		start(t, d, r.fill)
		eventually(t, "half of the sound", func() bool { return r.taken.Load() > 48000 })
		if got := d.Delay(); got <= 0 || got > buffer+500*time.Millisecond {
			t.Errorf("buffer %v: got a delay of %v", buffer, got)
		}
		awaitDone(t, d)
	}
}

func TestRealKilled(t *testing.T) {
	s := realServer(t)
	for range 5 {
		r := &ramp{n: forever}
		d := openReal(t, "pulse", Config{})
		start(t, d, r.fill)
		eventually(t, "frames", func() bool { return r.taken.Load() > 9600 })
		s.Kill()
		lostBy(t, d.(*pulse), "the server closed the connection")
		must(t, d.Close())
		if _, err := Open("pulse", Config{}); !errors.Is(err, ErrUnavailable) {
			t.Errorf("Open without a server: got %v", err)
		}
		s.Restart(t)
	}
}

func TestRealKilledWhilePaused(t *testing.T) {
	s := realServer(t)
	d := openReal(t, "pulse", Config{})
	start(t, d, tone(1000, 48000, -1))
	must(t, d.Pause(true))
	s.Kill()
	lostBy(t, d.(*pulse), "the server closed the connection")
}

// A server that stands still for a second is waited for.
func TestRealFrozenShortly(t *testing.T) {
	s := realServer(t)
	r := &ramp{n: forever}
	d := openReal(t, "pulse", Config{})
	start(t, d, r.fill)
	eventually(t, "frames", func() bool { return r.taken.Load() > 9600 })
	s.Stop(t)
	time.Sleep(time.Second)
	before := r.taken.Load()
	s.Cont(t)
	eventually(t, "a second more of sound", func() bool { return r.taken.Load() > before+48000 })
	if err := d.(*pulse).alive(); err != nil {
		t.Error(err)
	}
}

// One that stands still for long is not, and Close does not wait for it.
func TestRealFrozen(t *testing.T) {
	s := realServer(t)
	r := &ramp{n: forever}
	playing, closed := openReal(t, "pulse", Config{}), openReal(t, "pulse", Config{})
	start(t, playing, r.fill)
	start(t, closed, tone(1000, 48000, -1))
	eventually(t, "frames", func() bool { return r.taken.Load() > 9600 })
	s.Stop(t)
	must(t, closed.Close())
	if closed.Err() != nil {
		t.Errorf("Close on a frozen server: %v", closed.Err())
	}
	lostBy(t, playing.(*pulse), "")
	if _, err := Open("pulse", Config{}); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), errSlow.Error()) {
		t.Errorf("Open on a frozen server: got %v", err)
	}
	var told warnings
	if d := openReal(t, "auto", Config{Warn: told.add}); d.Name() != "null" || len(told.all()) != 1 {
		t.Errorf("auto on a frozen server: got %q, %q", d.Name(), told.all())
	}
}

func TestRealSinkRemoved(t *testing.T) {
	s := realServer(t)
	r := &ramp{n: forever}
	d := openReal(t, "pulse", Config{})
	start(t, d, r.fill)
	eventually(t, "frames", func() bool { return r.taken.Load() > 9600 })
	s.RemoveSink(t)
	lostBy(t, d.(*pulse), "the server ended the stream")
}

// Fault F30: the server is killed, stands still or loses its sink, and comes back, and so does the
// sound. Time goes on meanwhile. How soon the sound is back is TestReopenWithinASecond's matter.
func TestRealReopen(t *testing.T) {
	for name, fault := range map[string]struct {
		away, back func(*pulsetest.Server, *testing.T)
	}{
		"killed":       {func(s *pulsetest.Server, _ *testing.T) { s.Kill() }, func(s *pulsetest.Server, t *testing.T) { s.Restart(t) }},
		"frozen":       {func(s *pulsetest.Server, t *testing.T) { s.Stop(t) }, func(s *pulsetest.Server, t *testing.T) { s.Cont(t) }},
		"sink removed": {func(s *pulsetest.Server, t *testing.T) { s.RemoveSink(t) }, func(s *pulsetest.Server, t *testing.T) { s.AddSink(t, "null0") }},
	} {
		t.Run(name, func(t *testing.T) {
			s := realServer(t)
			var told warnings
			r := &ramp{n: forever}
			d := openReal(t, "pulse", Config{Reopen: 5 * time.Minute, Warn: told.add})
			start(t, d, r.fill)
			eventually(t, "frames", func() bool { return r.taken.Load() > 9600 })
			fault.away(s, t)
			eventually(t, "a warning", func() bool { return len(told.all()) == 1 })
			before := r.taken.Load()
			eventually(t, "time to go on", func() bool { return r.taken.Load() > before+48000 })
			fault.back(s, t)
			eventually(t, "another warning", func() bool { return len(told.all()) >= 2 })
			rec := s.Record(t)
			rec.WaitFrames(t, 48000)
			if got := pulsetest.Trim(rec.Stop(t)); len(got) == 0 || int64(got[0]*(1<<24)) <= before {
				t.Errorf("after the server came back: %d frames were heard", len(got)/2)
			}
			list := told.all()
			if !strings.Contains(list[0], "output: pulse: device lost") || !strings.HasPrefix(list[len(list)-1], "output: pulse is back") || d.Name() != "pulse" {
				t.Errorf("%s told %q", d.Name(), list)
			}
		})
	}
}

// The default sink changes while the sound plays, and then goes away altogether: the sound goes where
// the user wants it, without a step back and without a loss.
func TestRealDefaultSinkChanges(t *testing.T) {
	s := realServer(t)
	r := &ramp{n: forever}
	d := openReal(t, "pulse", Config{})
	start(t, d, r.fill)
	eventually(t, "frames", func() bool { return r.taken.Load() > 9600 })
	s.AddSink(t, "null1")
	other := s.RecordSink(t, "null1")
	s.Pactl(t, "set-default-sink", "null1")
	first := inOrder(t, other)
	s.AddSink(t, "null2")
	third := s.RecordSink(t, "null2")
	s.Pactl(t, "set-default-sink", "null2")
	s.Pactl(t, "unload-module", moduleOf(t, s, "null1"))
	if second := inOrder(t, third); second <= first {
		t.Errorf("frame %d was heard from the third sink, behind frame %d of the second one", second, first)
	}
	if err := d.(*pulse).alive(); err != nil {
		t.Error(err)
	}
}

// inOrder waits for a second of the ramp in a recording, and returns the number of its first frame.
func inOrder(t *testing.T, rec *pulsetest.Recording) (first int64) {
	t.Helper()
	eventually(t, "sound", func() bool { rec.WaitFrames(t, 4800); return len(pulsetest.Trim(rec.Samples(t))) > 2*24000 })
	at := int64(0)
	for i, x := range rec.Stop(t) {
		n := int64(x * (1 << 24))
		if i%2 != 0 || x == 0 {
			continue
		}
		if n <= at {
			t.Fatalf("frame %d is frame %d of the sound, behind frame %d", i/2, n, at)
		}
		if at = n; first == 0 {
			first = n
		}
	}
	return first
}

// moduleOf is the number of the module that made a sink.
func moduleOf(t *testing.T, s *pulsetest.Server, sink string) string {
	t.Helper()
	for line := range strings.Lines(s.Pactl(t, "list", "short", "modules")) {
		if strings.Contains(line, "sink_name="+sink) {
			return strings.Fields(line)[0]
		}
	}
	t.Fatalf("no module made %s", sink)
	return ""
}

// starve keeps two goroutines busy that do nothing but make garbage, until the test ends.
func starve(t *testing.T) {
	quit := make(chan struct{})
	var eaters sync.WaitGroup
	for range 2 {
		eaters.Go(func() {
			for keep := make([][]byte, 1000); ; {
				for i := range keep {
					keep[i] = make([]byte, 10000)
				}
				select {
				case <-quit:
					return
				default:
				}
			}
		})
	}
	t.Cleanup(eaters.Wait)
	t.Cleanup(func() { close(quit) })
}

// Fault F32: beside two goroutines that do nothing but make garbage, and whatever else this machine
// does, the sound arrives whole and in order, and where there is a gap in it the device knows.
func TestRealStarved(t *testing.T) {
	s := realServer(t)
	starve(t)
	const n = 48000
	want := make([]float32, 2*n)
	(&ramp{n: n}).fill(want)
	got, gaps := playAndRecord(t, s, Config{Buffer: 200 * time.Millisecond}, (&ramp{n: n}).fill)
	t.Logf("%d gaps in a second", gaps)
	if !sameButSilence(t, got, want) {
		t.Error("the sound is not whole")
	}
	if gaps == 0 && len(got) != len(want) {
		t.Errorf("%d frames of silence in the sound, and no gap was counted", (len(got)-len(want))/2)
	}
}

// F32 at length, on a machine that has nothing else to do: in the time that SNDPAK_SOAK gives, ten minutes
// being meant, there is no gap with a buffer of 200 ms. With smaller ones they are told.
func TestRealStarvedLong(t *testing.T) {
	soak, _ := time.ParseDuration(os.Getenv("SNDPAK_SOAK"))
	if soak <= 0 {
		t.Skip("takes the time that SNDPAK_SOAK gives")
	}
	realServer(t)
	starve(t)
	for _, buffer := range []time.Duration{200 * time.Millisecond, 100 * time.Millisecond, 50 * time.Millisecond} {
		long := soak
		if buffer < 200*time.Millisecond {
			long /= 10
		}
		d := openReal(t, "pulse", Config{Buffer: buffer})
		start(t, d, (&ramp{n: forever}).fill)
		time.Sleep(long)
		gaps := underruns(d)
		must(t, d.Close())
		t.Logf("buffer %v: %d gaps in %v", buffer, gaps, long)
		if gaps > 0 && buffer >= 200*time.Millisecond {
			t.Errorf("buffer %v: %d gaps, want none", buffer, gaps)
		}
	}
}

// A cookie opens the door of a server that asks for one, and a wrong one does not.
func TestRealCookie(t *testing.T) {
	s := realServer(t)
	dir := t.TempDir()
	right, wrong := dir+"/right", dir+"/wrong"
	must(t, os.WriteFile(right, []byte(strings.Repeat("right", 52)[:256]), 0o600))
	must(t, os.WriteFile(wrong, []byte(strings.Repeat("wrong", 52)[:256]), 0o600))
	// On TCP a server does not know the user.
	port := freePort(t)
	s.Pactl(t, "load-module", "module-native-protocol-tcp", "listen=127.0.0.1", "port="+port, "auth-cookie-enabled=1", "auth-cookie="+right)
	t.Setenv("PULSE_SERVER", "tcp:127.0.0.1:"+port)
	t.Setenv("PULSE_COOKIE", wrong)
	if _, err := Open("pulse", Config{}); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "access denied") {
		t.Errorf("with the wrong cookie: got %v", err)
	}
	t.Setenv("PULSE_COOKIE", right)
	d := openReal(t, "pulse", Config{})
	start(t, d, tone(1000, 48000, 4800))
	awaitDone(t, d)
	must(t, d.Err())
}

// A pipe in the place of the cookie does not hold Open up.
func TestCookieIsPipe(t *testing.T) {
	noServer(t)
	path := t.TempDir() + "/pipe"
	must(t, syscall.Mkfifo(path, 0o600))
	t.Setenv("PULSE_COOKIE", path)
	if got, tried := pulseCookie(); len(got) != 256 || got[0] != 0 || len(tried) == 0 || tried[0] != path {
		t.Errorf("got %d bytes, tried %q", len(got), tried)
	}
}
