//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A terminal is a tmux of its own with the command in it.
type terminal struct {
	t      *testing.T
	socket string
}

// needTmux skips a test where there is no tmux.
func needTmux(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no other program is run")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("SNDPAK_CI") == "1" {
			t.Fatal("tmux is missing")
		}
		t.Skip("needs tmux")
	}
}

// startTerminal runs the command with args in a terminal of so many cells.
func startTerminal(t *testing.T, w, h int, env []string, args ...string) *terminal {
	t.Helper()
	return startLine(t, w, h, env, func(bin string) string {
		var line strings.Builder
		for _, a := range append([]string{bin}, args...) {
			fmt.Fprintf(&line, "'%s' ", strings.ReplaceAll(a, "'", `'\''`))
		}
		return line.String() + `; echo "status $?"; exec sleep 600`
	})
}

// startLine runs a line of sh, which is told where the command is, in a terminal of so many cells.
func startLine(t *testing.T, w, h int, env []string, line func(bin string) string) *terminal {
	t.Helper()
	needTmux(t)
	dir, err := os.MkdirTemp("", "tmux") // t.TempDir is too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "sndpak") // the name by which the test binary is the command
	if err := os.Symlink(self, bin); err != nil {
		t.Fatal(err)
	}
	term := &terminal{t, filepath.Join(dir, "s")}
	t.Cleanup(func() { exec.Command("tmux", "-S", term.socket, "kill-server").Run() })
	cmd := exec.Command("tmux", "-S", term.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), line(bin))
	cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v: %s", err, out)
	}
	return term
}

// keys presses keys by tmux's names of them.
func (term *terminal) keys(names ...string) {
	term.t.Helper()
	args := append([]string{"-S", term.socket, "send-keys", "--"}, names...)
	if out, err := exec.Command("tmux", args...).CombinedOutput(); err != nil {
		term.t.Fatalf("tmux send-keys: %v: %s", err, out)
	}
}

// screen is what stands on the terminal, with its colours or without.
func (term *terminal) screen(colours bool) string {
	args := []string{"-S", term.socket, "capture-pane", "-p"}
	if colours {
		args = append(args, "-e")
	}
	out, _ := exec.Command("tmux", args...).CombinedOutput()
	return string(out)
}

// wait waits until the screen is as ok wants it. The limit is for a test that hangs.
func (term *terminal) wait(what string, ok func(screen string) bool) string {
	term.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		s := term.screen(false)
		if ok(s) {
			return s
		}
		if time.Now().After(end) {
			term.t.Fatalf("%s never came; the screen is\n%s", what, s)
		}
	}
}

func (term *terminal) see(texts ...string) string {
	term.t.Helper()
	return term.wait(fmt.Sprintf("%q", texts), func(s string) bool {
		for _, t := range texts {
			if !strings.Contains(s, t) {
				return false
			}
		}
		return true
	})
}

func (term *terminal) seeNot(text string) string {
	term.t.Helper()
	return term.wait("the end of "+text, func(s string) bool { return s != "\n" && !strings.Contains(s, text) })
}

// loose is a text of a screen with single spaces.
func loose(s string) string { return strings.Join(strings.Fields(s), " ") }

// The console in a real terminal: keys play, loop, stop, search and quit, and the screen shows it.
func TestConsoleInATerminal(t *testing.T) {
	pack := copyPack(t)
	keys := filepath.Join(t.TempDir(), "keys.json")
	term := startTerminal(t, 80, 24, nil, "console", pack, "--output", "null", "--keys", keys)
	term.see("Sounds", "1   drumloop.wav", "5   theme.ogg", "Voices", "Buses", "master", "? help")

	term.keys("M-5") // looped, for ever
	s := term.see("5 ↻ theme.ogg", "loop theme.ogg")
	if !strings.Contains(loose(s), "Voices") || !strings.Contains(s, "━") && !strings.Contains(s, "─") {
		t.Errorf("no voice with a bar:\n%s", s)
	}
	term.keys("Space")
	term.see("5 ‖ theme.ogg", "paused")
	term.keys("Space", "M-4")
	term.see("5 ↻ theme.ogg", "4 ↻ theme.mp3")
	term.keys("M-5") // again stops
	term.see("5   theme.ogg", "4 ↻ theme.mp3", "stop theme.ogg")
	term.keys(".")
	term.see("4   theme.mp3")

	term.keys("?")
	term.see("Help", "PLAY", "the sound on this key")
	term.keys("?")
	term.seeNot("PLAY")

	term.keys("/", "j", "a", "g")
	s = term.see("/ jag", "1 of 5", "jaguar.wav ─")
	if strings.Contains(s, "swish.wav") {
		t.Errorf("the search shows what it did not find:\n%s", s)
	}
	term.keys("Enter")
	term.see("WAV, 16-bit PCM, 22.05 kHz mono")
	term.keys("Escape")
	term.see("swish.wav", "theme.ogg")

	term.keys("C-k", "z")
	term.see("z plays jaguar.wav", "z   jaguar.wav")
	term.keys("+", "+")
	term.see("master +2 dB", "+2 dB")
	term.keys("q")
	term.see("status 0")
	if b, err := os.ReadFile(keys); err != nil || !strings.Contains(string(b), `"z": "jaguar.wav"`) {
		t.Errorf("the keys were not kept: %v %s", err, b)
	}
	if s := term.screen(false); strings.Contains(s, "Voices") {
		t.Errorf("the console left something behind:\n%s", s)
	}
}

// A pack that changes shows on the screen, and its new sound plays.
func TestConsoleFollowsThePack(t *testing.T) {
	pack := copyPack(t)
	term := startTerminal(t, 160, 48, nil, "console", pack, "--output", "null")
	term.see("swish.wav", "theme.ogg")
	file := filepath.Join(t.TempDir(), "zap.wav")
	if err := os.WriteFile(file, tone(48000, 4800, 440), 0o666); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := sndpak(t, "add", pack, file); status != 0 {
		t.Fatal(errs)
	}
	term.see("zap.wav", "has changed")
	if status, _, errs := sndpak(t, "remove", pack, "swish.wav"); status != 0 {
		t.Fatal(errs)
	}
	term.seeNot("swish.wav")
	term.keys("End", "Enter")
	term.see("play zap.wav", "WAV, 16-bit PCM, 48 kHz mono")
	term.keys("C-c")
	term.see("status 0")
}

// NO_COLOR is heeded: attributes alone tell what colours do.
func TestConsoleWithoutColours(t *testing.T) {
	for _, c := range []struct {
		env  []string
		args []string
		want bool
	}{{nil, nil, true}, {[]string{"NO_COLOR=1"}, nil, false}, {nil, []string{"--theme", "none"}, false}} {
		term := startTerminal(t, 80, 24, c.env, append([]string{"console", copyPack(t), "--output", "null"}, c.args...)...)
		term.see("drumloop.wav", "master")
		term.wait(fmt.Sprintf("%q %q: colours %v and a chosen row", c.env, c.args, c.want), func(string) bool {
			s := term.screen(true)
			chosen := strings.Contains(s, "[7m") || strings.Contains(s, ";7m")
			return hasColours(s) == c.want && (c.want || chosen)
		})
		term.keys("q")
		term.see("status 0")
	}
}

// hasColours looks for a colour of the foreground or of the background in what a terminal shows.
func hasColours(screen string) bool {
	for _, seq := range []string{"\x1b[38;", "\x1b[3", "\x1b[48;"} {
		for _, n := range []string{"1m", "2m", "3m", "4m", "5m", "6m", "5;", "2;"} {
			if strings.Contains(screen, seq+n) {
				return true
			}
		}
	}
	return false
}

// An end from outside gives the terminal back, and the line mode is there on a terminal too.
func TestConsoleLinesOnATerminal(t *testing.T) {
	term := startTerminal(t, 80, 24, nil, "console", copyPack(t), "--output", "null", "--lines")
	term.see("1  drumloop.wav", "capital letter: looped")
	term.keys("3")
	term.see("3 swish.wav")
	term.keys("q")
	term.see("status 0")
}
