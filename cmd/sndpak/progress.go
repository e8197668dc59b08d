package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// progressHook, if not nil, sees what update is told; for tests.
var progressHook func(done, total int64)

// progress shows how far a long piece of work is, on one line of a terminal; elsewhere nothing.
type progress struct {
	out   io.Writer // nil where nothing is shown
	width int       // of the terminal
	verb  string
	now   func() time.Time

	mu    sync.Mutex // guards what follows
	begun time.Time
	shown time.Time
}

// quietFor is how long work goes on before it is worth a line, which tests change, and redrawEvery how
// often that moves.
var (
	quietFor    = time.Second / 2
	redrawEvery = time.Second / 10
)

func newProgress(cmd *cobra.Command, verb string) *progress {
	p := &progress{verb: verb, now: time.Now, begun: time.Now(), width: 80}
	if f, ok := cmd.ErrOrStderr().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.out = f
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			p.width = w
		}
	}
	return p
}

// live reports whether anything is shown.
func (p *progress) live() bool { return p.out != nil }

// update shows done of total bytes.
func (p *progress) update(done, total int64) {
	if progressHook != nil {
		progressHook(done, total)
	}
	p.show(done, total, func(n int64) string { return bytesText(n) }, func(perSecond float64) string {
		return bytesText(int64(perSecond)) + "/s"
	})
}

// sound returns what shows done of total frames of a rate, as time and as times of real time.
func (p *progress) sound(rate int) func(done, total int64) {
	at := func(n int64) string { return clock(frameTime(n, rate)) }
	speed := func(perSecond float64) string { return fmt.Sprintf("%.0fx", perSecond/float64(rate)) }
	return func(done, total int64) { p.show(done, total, at, speed) }
}

// show draws the line, total being 0 where nobody knows it, ten times a second, once the work has taken half a second. It is cut to the
// terminal, for a line that wraps could not be taken back.
func (p *progress) show(done, total int64, amount func(int64) string, rate func(float64) string) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	spent := now.Sub(p.begun)
	if spent < quietFor || now.Sub(p.shown) < redrawEvery {
		return
	}
	p.shown = now
	perSecond := float64(done) / spent.Seconds()
	line := fmt.Sprintf("%s %s of %s, %s", p.verb, amount(done), amount(total), rate(perSecond))
	if total <= 0 {
		line = fmt.Sprintf("%s %s, %s", p.verb, amount(done), rate(perSecond))
	}
	if done > 0 && total >= done {
		left := time.Duration(float64(total-done) / perSecond * float64(time.Second))
		line += ", " + left.Round(time.Second).String() + " left"
	}
	fmt.Fprintf(p.out, "\r\x1b[K%.*s", max(p.width-1, 0), line)
}

// step shows done of total steps of what, likewise.
func (p *progress) step(what string, done, total int64) {
	now := time.Now()
	if p.out == nil || now.Sub(p.begun) < time.Second/2 || now.Sub(p.shown) < time.Second/10 {
		return
	}
	p.shown = now
	fmt.Fprintf(p.out, "\r\x1b[K%s: %s, %d %%", p.verb, what, 100*done/max(total, 1))
}

// done takes the line away.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out != nil && !p.shown.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// bytesText is a size for people.
func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
}
