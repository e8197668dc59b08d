package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// progress shows how far a long piece of work is, on one line of a terminal; elsewhere nothing.
type progress struct {
	out   io.Writer // nil where nothing is shown
	verb  string
	begun time.Time
	shown time.Time
}

func newProgress(cmd *cobra.Command, verb string) *progress {
	p := &progress{verb: verb, begun: time.Now()}
	if f, ok := cmd.ErrOrStderr().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.out = f
	}
	return p
}

// update shows done of total bytes, ten times a second, once the work has taken half a second.
func (p *progress) update(done, total int64) {
	now := time.Now()
	spent := now.Sub(p.begun)
	if p.out == nil || spent < time.Second/2 || now.Sub(p.shown) < time.Second/10 {
		return
	}
	p.shown = now
	left := time.Duration(float64(spent) * float64(total-done) / float64(max(done, 1)))
	fmt.Fprintf(p.out, "\r\x1b[K%s %s of %s, %s/s, %s left", p.verb, bytesText(done), bytesText(total),
		bytesText(int64(float64(done)/spent.Seconds())), left.Round(time.Second))
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
