package streamtest

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/gopxl/beep/v2"
)

// ramp is a right stream of n frames; each field breaks one clause of the contract.
type ramp struct {
	n, at int

	zeroTrue, late, nan, endErr bool
	longLen, lostSeek, outSeek  bool
	byBlock, playsClosed        bool
	closed                      bool
}

func (r *ramp) Stream(s [][2]float64) (int, bool) {
	if r.closed && !r.playsClosed {
		return 0, false
	}
	n := min(len(s), r.n-r.at)
	if n == 0 {
		return 0, r.zeroTrue
	}
	for i := range n {
		v := float64(r.at + i)
		if r.byBlock {
			v += float64(len(s))
		}
		s[i] = [2]float64{v, -v}
	}
	if r.nan {
		s[n-1][0] /= 0 * s[n-1][0]
	}
	if r.late && n < len(s) {
		s[n] = [2]float64{}
	}
	r.at += n
	return n, true
}

func (r *ramp) Err() error {
	if r.endErr && r.at == r.n {
		return errors.New("spoiled")
	}
	return nil
}

func (r *ramp) Len() int {
	if r.longLen {
		return r.n + 1
	}
	return r.n
}
func (r *ramp) Position() int { return r.at }
func (r *ramp) Close() error  { r.closed = true; return nil }
func (r *ramp) Seek(p int) error {
	if p < 0 || p > r.n {
		if r.outSeek {
			r.at = 0
		}
		return fmt.Errorf("frame %d of %d", p, r.n)
	}
	if !r.lostSeek {
		r.at = p
	}
	return nil
}

// probe records a failure in place of failing the test that runs it.
type probe struct {
	testing.TB
	failed string
}

func (p *probe) Helper()             {}
func (p *probe) Logf(string, ...any) {}
func (p *probe) Fatalf(f string, a ...any) {
	p.failed = fmt.Sprintf(f, a...)
	runtime.Goexit()
}

// verdict runs Check on the streams that open makes and returns what it says against them.
func verdict(t *testing.T, open func() *ramp) string {
	p := &probe{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Check(p, func() beep.Streamer { return open() })
	}()
	<-done
	return p.failed
}

func TestCheckPassesGoodStreams(t *testing.T) {
	for _, n := range []int{0, 1, 511, 512, 513, 5000} {
		if got := verdict(t, func() *ramp { return &ramp{n: n} }); got != "" {
			t.Errorf("a good stream of %d frames: %s", n, got)
		}
	}
}

func TestCheckFindsEachBreach(t *testing.T) {
	for name, bad := range map[string]ramp{
		"0, true at the end":        {zeroTrue: true},
		"writes behind its frames":  {late: true},
		"not a number":              {nan: true},
		"error after a clean end":   {endErr: true},
		"wrong Len":                 {longLen: true},
		"Seek that does not move":   {lostSeek: true},
		"refused Seek that moves":   {outSeek: true},
		"frames that depend on len": {byBlock: true},
		"plays on after Close":      {playsClosed: true},
	} {
		bad.n = 1000
		if verdict(t, func() *ramp { r := bad; return &r }) == "" {
			t.Errorf("%s: not found", name)
		}
	}
}
