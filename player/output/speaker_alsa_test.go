//go:build linux && alsa && cgo

package output

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sndpak/sndpak/player/output/pulsetest"
)

// A process gets one context of the library, so that every test here is a process of its own. Its
// ALSA plays to a PulseAudio server of the test.

// scenarios are what such a process does.
var scenarios = map[string]func(t *testing.T){
	"plays":     speakerPlays,
	"contract":  speakerContract,
	"lost":      speakerLost,
	"no device": speakerMissing,
	"auto":      speakerAuto,
	"rates":     speakerRates,
}

const (
	scenarioEnv = "SNDPAK_TEST_SPEAKER"
	readyLine   = "the device is open"
)

func TestSpeakerScenario(t *testing.T) {
	if run := scenarios[os.Getenv(scenarioEnv)]; run != nil {
		run(t)
	}
}

// scenario returns a process that runs one, with ALSA configured by asoundrc.
func scenario(t *testing.T, name, asoundrc string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	must(t, os.WriteFile(filepath.Join(home, ".asoundrc"), []byte(asoundrc), 0o600))
	cmd := exec.Command(os.Args[0], "-test.run=^TestSpeakerScenario$", "-test.v", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), scenarioEnv+"="+name, "HOME="+home, "PULSE_SERVER=unix:/nowhere")
	return cmd
}

func passes(t *testing.T, name, asoundrc string) {
	t.Helper()
	if out, err := scenario(t, name, asoundrc).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
}

func viaPulse(s *pulsetest.Server) string {
	return "pcm.!default { type pulse server \"" + s.Addr + "\" }\n"
}

func openSpeakerTest(t *testing.T) Device {
	d, err := Open("speaker", Config{Buffer: 200 * time.Millisecond})
	must(t, err)
	return d
}

func TestSpeakerTone(t *testing.T) {
	s := pulsetest.Start(t)
	rec := s.Record(t)
	passes(t, "plays", viaPulse(s))
	rec.WaitFrames(t, 48000)
	got := pulsetest.Trim(rec.Stop(t))
	if hz, frames := frequency(got, 48000), len(got)/2; math.Abs(hz-1000) > 1 || frames < 95000 || frames > 97000 {
		t.Errorf("got %d frames of %.1f Hz, want 96000 of 1000", frames, hz)
	}
}

func speakerPlays(t *testing.T) {
	d := openSpeakerTest(t)
	begun := time.Now()
	start(t, d, tone(1000, 48000, 96000))
	time.Sleep(500 * time.Millisecond)
	if got := d.Delay(); got <= 0 || got > time.Second {
		t.Errorf("delay: got %v", got)
	}
	awaitDone(t, d)
	if took := time.Since(begun); d.Err() != nil || took < 1500*time.Millisecond {
		t.Errorf("done after %v: %v", took, d.Err())
	}
	checkClosed(t, d)
}

func TestSpeakerContract(t *testing.T) { passes(t, "contract", viaPulse(pulsetest.Start(t))) }

func speakerContract(t *testing.T) {
	must(t, openSpeakerTest(t).Close()) // the context's descriptors stay
	checkDevice(t, openSpeakerTest)
}

func TestSpeakerRates(t *testing.T) { passes(t, "rates", viaPulse(pulsetest.Start(t))) }

func speakerRates(t *testing.T) {
	d := openSpeakerTest(t)
	must(t, d.Close())
	if _, err := Open("speaker", Config{Rate: 44100}); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "48000") {
		t.Errorf("another rate: got %v", err)
	}
	d = openSpeakerTest(t) // the same one works again
	start(t, d, tone(1000, 48000, 4800))
	awaitDone(t, d)
	must(t, d.Err())
}

func TestSpeakerMissing(t *testing.T) {
	passes(t, "no device", "pcm.!default { type hw card 99 }\n")
}

func speakerMissing(t *testing.T) {
	for range 2 {
		d, err := Open("speaker", Config{})
		if d != nil || !errors.Is(err, ErrUnavailable) {
			t.Fatalf("got %v, %v", d, err)
		}
		checkOneLine(t, err)
	}
}

func TestSpeakerAuto(t *testing.T) {
	passes(t, "auto", viaPulse(pulsetest.Start(t)))
}

func speakerAuto(t *testing.T) {
	var told warnings
	d, err := Open("auto", Config{Warn: told.add})
	must(t, err)
	if d.Name() != "speaker" || len(told.all()) != 0 {
		t.Errorf("got %q, %q", d.Name(), told.all())
	}
	must(t, d.Close())
}

// The server under ALSA dies. The process tells when it plays by a line.
func TestSpeakerLost(t *testing.T) {
	s := pulsetest.Start(t)
	cmd := scenario(t, "lost", viaPulse(s))
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	eventually(t, "the device", func() bool { return strings.Contains(out.String(), readyLine) })
	s.Kill()
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func speakerLost(t *testing.T) {
	d := openSpeakerTest(t)
	r := &ramp{n: forever}
	start(t, d, r.fill)
	eventually(t, "frames", func() bool { return r.taken.Load() > 24000 })
	os.Stdout.WriteString(readyLine + "\n")
	awaitDone(t, d)
	if !errors.Is(d.Err(), ErrLost) {
		t.Errorf("got %v, want %v", d.Err(), ErrLost)
	}
	checkOneLine(t, d.Err())
	if _, err := Open("speaker", Config{}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Open after the loss: got %v", err)
	}
}

// lockedBuffer takes what a process prints.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
