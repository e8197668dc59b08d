//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sndpak/sndpak/player/output/pulsetest"
)

// hz is the frequency of one side of interleaved stereo, by its zero crossings.
func hz(samples []float32, rate float64) float64 {
	crossings := 0
	for i := 2; i < len(samples); i += 2 {
		if samples[i-2] < 0 && samples[i] >= 0 {
			crossings++
		}
	}
	return float64(crossings) * rate * 2 / float64(len(samples))
}

// windows are pieces of so many frames, any of which may have a gap where the machine was busy.
func windows(samples []float32, frames int) (w [][]float32) {
	for ; len(samples) >= 2*frames; samples = samples[2*frames:] {
		w = append(w, samples[:2*frames])
	}
	return w
}

// server starts a private PulseAudio for the command and a pack with a tone in it.
func server(t *testing.T, rate, frames int) (*pulsetest.Server, string) {
	t.Helper()
	s := pulsetest.Start(t)
	t.Setenv("PULSE_SERVER", s.Addr)
	dir := t.TempDir()
	file := filepath.Join(dir, "tone.wav")
	if err := os.WriteFile(file, tone(rate, frames, 1000), 0o666); err != nil {
		t.Fatal(err)
	}
	pack := filepath.Join(dir, "tone.data")
	if status, _, errs := sndpak(t, "create", pack, file); status != 0 {
		t.Fatal(errs)
	}
	return s, pack
}

// What play sends to a real server is the sound, from its first frame to its last and no more. The
// device holds all of it, so that a busy machine makes no gaps.
func TestPlayIsHeard(t *testing.T) {
	for _, rate := range []int{48000, 22050} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			s, pack := server(t, rate, 2*rate)
			rec := s.Record(t)
			if status, _, errs := sndpak(t, "play", pack, "TONE.wav", "--output", "pulse", "--buffer", "2s"); status != 0 || errs != "" {
				t.Errorf("status %d: %s", status, errs)
			}
			rec.WaitFrames(t, 24000)
			got := pulsetest.Trim(rec.Stop(t))
			if n := len(got) / 2; n < 95900 || n > 96100 {
				t.Errorf("%d frames were heard, want 2 s, 96000", n)
			}
			if f := hz(got, 48000); f < 998 || f > 1002 {
				t.Errorf("a tone of %.1f Hz was heard, want 1000", f)
			}
		})
	}
}

// At the server's own rate every sample arrives as it is in the file.
func TestPlayArrivesSampleForSample(t *testing.T) {
	s, pack := server(t, 48000, 48000)
	rec := s.Record(t)
	if status, _, errs := sndpak(t, "play", pack, "tone.wav", "--output", "auto", "--buffer", "2s"); status != 0 || errs != "" {
		t.Errorf("status %d: %s", status, errs)
	}
	rec.WaitFrames(t, 24000)
	got := pulsetest.Trim(rec.Stop(t))
	// The first and last frames of the tone are silent or nearly so: align by the second frame.
	want := tone(48000, 48000, 1000)[44:]
	if len(got) < 2*47990 {
		t.Fatalf("%d frames were heard, want 48000", len(got)/2)
	}
	for i := 0; i < 47990; i++ {
		w := float32(int16(binary.LittleEndian.Uint16(want[2*(i+1):]))) / 32768
		if got[2*i] != w || got[2*i+1] != w {
			t.Fatalf("frame %d is %v and %v, want %v on both sides", i, got[2*i], got[2*i+1], w)
		}
	}
}

// A server that is killed in the middle ends play with one clear error, soon.
func TestServerKilledWhilePlaying(t *testing.T) {
	for _, args := range [][]string{{"play", "tone.wav", "--loop", "0"}, {"console", "tone.wav"}} {
		t.Run(args[0], func(t *testing.T) {
			s, pack := server(t, 48000, 480000)
			rec := s.Record(t)
			type result struct {
				status int
				errs   string
			}
			done := make(chan result)
			go func() {
				var o, e bytes.Buffer
				in, w := io.Pipe() // a console with no more keys than this
				go w.Write([]byte("1"))
				line := append([]string{args[0], pack}, args[1:]...)
				status := run(context.Background(), append(line, "--output", "pulse"), streams{in, &o, &e})
				done <- result{status, e.String()}
			}()
			rec.WaitFrames(t, 24000)
			s.Kill()
			select {
			case r := <-done:
				if r.status != statusFailed || !strings.Contains(r.errs, "lost") || strings.Contains(r.errs, "goroutine") {
					t.Errorf("status %d: %s", r.status, r.errs)
				}
			case <-time.After(time.Minute):
				t.Fatal("play hangs after its server was killed")
			}
		})
	}
}

// A server that comes back in time goes on with the sound.
func TestServerRestartedWhilePlaying(t *testing.T) {
	s, pack := server(t, 48000, 5*48000)
	rec := s.Record(t)
	done := make(chan string)
	go func() {
		var o, e bytes.Buffer
		status := run(context.Background(), []string{"play", pack, "tone.wav", "--output", "pulse", "--loop", "0", "--duration", "20"}, streams{strings.NewReader(""), &o, &e})
		done <- fmt.Sprint(status, e.String())
	}()
	rec.WaitFrames(t, 24000)
	s.Kill()
	s.Restart(t)
	again := s.Record(t)
	again.WaitFrames(t, 48000)
	got := pulsetest.Trim(again.Stop(t))
	if !slices.ContainsFunc(windows(got, 4800), func(w []float32) bool { f := hz(w, 48000); return f > 980 && f < 1020 }) {
		t.Errorf("no tenth of a second of %d frames after the restart is the tone of 1000 Hz", len(got)/2)
	}
	select {
	case r := <-done:
		if !strings.Contains(r, "lost") {
			t.Errorf("%s: the loss was not told", r)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("play hangs")
	}
}
