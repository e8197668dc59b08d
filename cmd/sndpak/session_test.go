package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// command runs the command as main does.
func command(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), args, streams{strings.NewReader(""), &out, &errs})
	return status, out.String(), errs.String()
}

const music = "../../testdata/music.data"

// brokenPipe takes nothing.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("nobody listens") }

// What cannot be told is an error of its own.
func TestLinesThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{
		{"--help"}, {"play", "--help"}, {"play", music, "swish.wav", "--output", "null"},
		{"console", music, "--output", "wav:" + filepath.Join(t.TempDir(), "x.wav")}, {"render", music, "swish.wav", "--hash"},
	} {
		var errs bytes.Buffer
		status := run(context.Background(), args, streams{strings.NewReader("1\n"), brokenPipe{}, &errs})
		if status != statusFailed || strings.Count(errs.String(), "nobody listens") != 1 {
			t.Errorf("%q: status %d, %q, want %d and one line", args, status, &errs, statusFailed)
		}
	}
}

// A damaged sound plays with a warning of one line that names it; the others play.
func TestPlayTellsWarnings(t *testing.T) {
	dir := t.TempDir()
	b, err := os.ReadFile("../../testdata/sounds/swish.wav")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "cut.wav"), b[:len(b)/2-2], 0o666)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "whole.wav"), b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range [][]string{{"play", "--output", "null"}, {"render", "--hash"}, {"render", "--hash", "--fade", "0.1"}} {
		status, _, stderr := command(t, append(mode, dir, "cut.wav", "whole.wav")...)
		if want := "sndpak: warning: " + filepath.Base(dir) + ": cut.wav: "; status != 0 || !strings.HasPrefix(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q, want one line that begins with %q", mode, status, stderr, want)
		}
	}
}

func TestStatusLineFits(t *testing.T) {
	const times = "playing 0:01.00 / 0:10.00"
	for width := range 130 {
		line := statusLine(width, times, time.Second, 10*time.Second, -6)
		if len(line) >= max(width, 1) {
			t.Fatalf("%d columns: %q has %d", width, line, len(line))
		}
	}
	for width, want := range map[int]string{
		100: times + "  [==                  ]  -6 dB  space <- -> + - n q",
		70:  times + "  [==                  ]  -6 dB",
		45:  times + "  [=              ]", 30: times, 8: "playing",
	} {
		if got := statusLine(width, times, time.Second, 10*time.Second, -6); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "1.5": 1500 * time.Millisecond, "1:02.5": 62500 * time.Millisecond, "1:00:00": time.Hour, "800ms": 800 * time.Millisecond,
		"90": 90 * time.Second, "1h": time.Hour, "": -1, "-1": -1, "-1s": -1, "1:60": -1, "1:-1": -1, "1:2:3:4": -1, "1e9": -1, "NaN": -1, "Inf": -1,
		"1e300": -1, "9999999h": -1, "1::2": -1, "soon": -1,
	} {
		var f timeFlag
		if err := f.Set(text); (err != nil) != (want < 0) || err == nil && time.Duration(f) != want {
			t.Errorf("%q: %v (%v), want %v", text, time.Duration(f), err, want)
		}
	}
}
