package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/sndpak/sndpak/player"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// A key is what play understands of a keyboard.
type key int

const (
	keyNone key = iota
	keyPause
	keyBack
	keyForward
	keyLouder
	keyQuieter
	keyNext
	keyQuit
)

// screen is what play shows and the keys that it takes. On a terminal it is one line that moves and
// single keys; elsewhere one line an entry and no keys.
type screen struct {
	src  *sounds
	out  io.Writer
	kept *keptWriter // what out is, but on a terminal
	tick <-chan time.Time
	keys <-chan key

	live    bool // on a terminal
	ticker  *time.Ticker
	restore func()
}

func newScreen(cmd *cobra.Command, src *sounds) *screen {
	s := &screen{src: src, kept: &keptWriter{w: textOut(cmd)}}
	s.out = s.kept
	in, inOK := cmd.InOrStdin().(*os.File)
	out, outOK := cmd.ErrOrStderr().(*os.File)
	if !inOK || !outOK || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return s
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return s
	}
	s.live, s.out = true, out
	s.restore = func() { term.Restore(int(in.Fd()), state) }
	s.ticker = time.NewTicker(time.Second / 10)
	s.tick = s.ticker.C
	s.keys = readKeys(in)
	return s
}

// textOut is where a command that plays writes its lines: standard output, or standard error where
// the sound itself goes there.
func textOut(cmd *cobra.Command) io.Writer {
	f := cmd.Flags().Lookup("output")
	if f == nil {
		return cmd.OutOrStdout()
	}
	if to := f.Value.String(); to == "-" || strings.HasPrefix(to, "wav") && strings.HasSuffix(to, ":-") {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// readKeys reads a terminal in raw mode for as long as the program lives: a read of a terminal
// cannot be taken back.
func readKeys(in io.Reader) <-chan key {
	keys := make(chan key)
	go func() {
		buf := make([]byte, 64)
		for {
			n, err := in.Read(buf)
			for _, k := range parseKeys(string(buf[:n])) {
				keys <- k
			}
			if err != nil {
				return
			}
		}
	}()
	return keys
}

var keyNames = map[string]key{
	" ": keyPause, "p": keyPause,
	"\x1b[D": keyBack, "\x1bOD": keyBack, "\x1b[C": keyForward, "\x1bOC": keyForward,
	"+": keyLouder, "=": keyLouder, "-": keyQuieter, "_": keyQuieter,
	"n": keyNext, "q": keyQuit, "Q": keyQuit, "\x03": keyQuit, "\x04": keyQuit, "\x1b": keyQuit,
}

// parseKeys splits what one read of a terminal gave into keys; the longest name counts.
func parseKeys(s string) (keys []key) {
	for len(s) > 0 {
		n := 1
		if strings.HasPrefix(s, "\x1b[") || strings.HasPrefix(s, "\x1bO") {
			n = escapeLen(s)
		}
		if k := keyNames[s[:n]]; k != keyNone {
			keys = append(keys, k)
		}
		s = s[n:]
	}
	return keys
}

// escapeLen is the length of the control sequence at the start of s: it ends with its first letter
// or tilde (ECMA-48, 5.4).
func escapeLen(s string) int {
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}

// began shows a sound that has begun.
func (s *screen) began(v *player.Voice) {
	in := v.Sound().Info()
	line := fmt.Sprintf("%s  %s  %s", oneLine(s.src.title(v.Sound().Name())),
		clock(v.Sound().Duration()), describe(in.Format, in.Encoding, in.Rate, in.Channels))
	if s.live {
		fmt.Fprintf(s.out, "\r\x1b[K%s\r\n", line)
		return
	}
	fmt.Fprintln(s.out, line)
}

// clear takes the line that moves away, for something else to be printed.
func (s *screen) clear() {
	if s.live {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
}

// status draws the line that moves.
func (s *screen) status(v *player.Voice, gain float64) {
	if !s.live || v == nil {
		return
	}
	state := "playing"
	if v.Paused() {
		state = "paused "
	}
	at := time.Duration(float64(v.Position()) / float64(v.Sound().Info().Rate) * float64(time.Second))
	times := fmt.Sprintf("%s %s / %s", state, clock(at), clock(v.Sound().Duration()))
	fmt.Fprint(s.out, "\r\x1b[K"+statusLine(s.width(), times, at, v.Sound().Duration(), gain))
}

// width is how many columns the terminal has.
func (s *screen) width() int {
	if f, ok := s.out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 80
}

// statusLine is what of the status fits into less than so many columns: a full line would wrap, and
// could not be drawn over again. First the keys go, then the gain, then the bar gets shorter.
func statusLine(width int, times string, at, total time.Duration, gain float64) string {
	line := times
	loud := fmt.Sprintf("  %+.0f dB", gain)
	const keys = "  space <- -> + - n q"
	room := width - 1 - len(times) - 2 // for the bar and what is behind it
	cells := min(room-2, 20)
	if cells >= 5 {
		line += "  " + bar(at, total, cells)
		room -= cells + 2
	}
	for _, part := range []string{loud, keys} {
		if len(part) <= room {
			line, room = line+part, room-len(part)
		}
	}
	return line[:max(min(len(line), width-1), 0)]
}

// bar is a line of n cells filled as far as at is of total.
func bar(at, total time.Duration, n int) string {
	full := 0
	if total > 0 {
		full = int(min(max(int64(at)*int64(n)/int64(total), 0), int64(n)))
	}
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", n-full) + "]"
}

// close gives the terminal back.
func (s *screen) close() {
	if !s.live {
		return
	}
	s.ticker.Stop()
	fmt.Fprint(s.out, "\r\x1b[K")
	s.restore()
}
