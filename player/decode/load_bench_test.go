//go:build unix

package decode

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/gopxl/beep/v2"
	bwav "github.com/gopxl/beep/v2/wav"
)

// BenchmarkWAVIntoClip has both sides load the same 16-bit stereo, in turn, and reports the CPU
// that they take for a second of sound and how many times more beep takes. All CPU of the process
// counts, that of the collector too. The clips go into one bank of 32 where each takes the place of
// an older one, as in a game that changes its sounds, so that neither side is charged for the many
// collections of a process that holds nothing. The older one is freed first, as a player does it with
// what it drops ("again"), or left to the collector ("new").
func BenchmarkWAVIntoClip(b *testing.B) {
	for _, seconds := range []int{1, 5, 10, 60} {
		data := benchSound(2, seconds)
		b.Run(fmt.Sprintf("%ds/again", seconds), func(b *testing.B) { benchIntoClip(b, data, seconds, true) })
		b.Run(fmt.Sprintf("%ds/new", seconds), func(b *testing.B) { benchIntoClip(b, data, seconds, false) })
	}
}

func benchIntoClip(b *testing.B, data []byte, seconds int, free bool) {
	bank, at := make([]any, 32), 0
	slot := func() *any { at++; return &bank[at%len(bank)] }
	ours := func() {
		to := slot()
		if old, ok := (*to).(PCM); ok && free {
			old.Free()
		}
		p, err := benchOpen(b, data).ReadAll(0)
		if err != nil {
			b.Fatal(err)
		}
		*to = p
	}
	theirs := func() {
		s, format, err := bwav.Decode(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		buf := beep.NewBuffer(format)
		buf.Append(s)
		*slot() = buf
	}
	for range bank {
		ours()
	}
	var our, their time.Duration
	rounds := 0
	for b.Loop() {
		our += cpuOf(func() {
			for range bank {
				ours()
			}
		})
		their += cpuOf(theirs)
		rounds++
	}
	second := func(d time.Duration, clips int) float64 {
		return float64(d.Microseconds()) / float64(clips*seconds)
	}
	o, t := second(our, rounds*len(bank)), second(their, rounds)
	b.ReportMetric(o, "us/s-clip")
	b.ReportMetric(t, "us/s-beep")
	b.ReportMetric(t/o, "times")
}

// cpuOf is the CPU time that the process takes while f runs.
func cpuOf(f func()) time.Duration {
	before := cpuTime()
	f()
	return cpuTime() - before
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
