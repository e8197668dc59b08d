//go:build unix

package player

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/sndpak/sndpak/player/decode"
)

// BenchmarkYardstick plays 32 streams of an OGG and of an MP3 at 44.1 kHz, at their own rate and into a
// mixer at 48 kHz, and beside it lets as many decoders run bare. Like the programs of other libraries that do the same
// it prints a line "R name value unit": processor time of the whole process in percent of a core for
// each stream, lower being better. The folder IN of the environment holds their m300.ogg and m300_192.mp3;
// without it the project's own theme is played.
func BenchmarkYardstick(b *testing.B) {
	names, fsys := []string{"theme.ogg", "theme.mp3"}, sounds()
	if dir := os.Getenv("IN"); dir != "" {
		names, fsys = []string{"m300.ogg", "m300_192.mp3"}, os.DirFS(dir)
	}
	for _, name := range names {
		b.Run(name, func(b *testing.B) { yardstickStreams(b, fsys, name, 32) })
	}
}

func yardstickStreams(b *testing.B, fsys fs.FS, name string, streams int) {
	b.Run("bare", func(b *testing.B) {
		next := bareDecoders(b, fsys, name, streams)
		yardstick(b, fmt.Sprintf("go:sndpak-decode/%s/n%d", name, streams), streams, next)
	})
	for _, rate := range []int{44100, 48000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			p := New(fsys, &Options{Rate: rate, InStep: true, NoLimiter: true})
			defer p.Close()
			s := load(b, p, name, Stream)
			for i := range streams {
				start(b, s, Params{Gain: -20, Pan: float64(i%9-4) / 5, Loop: &Loop{}})
			}
			block := make([]float32, 2*rate/100)
			yardstick(b, fmt.Sprintf("go:sndpak/%s/n%d/%d", name, streams, rate), streams, func() { p.Mix(block) })
		})
	}
}

// yardstick measures next, which is a hundredth of a second of all streams.
func yardstick(b *testing.B, name string, streams int, next func()) {
	for range 100 {
		next()
	}
	steps, begun := 0, processTime(b)
	for b.Loop() {
		next()
		steps++
	}
	percent := float64(processTime(b)-begun) / 1e9 / (float64(steps) / 100) / float64(streams) * 100
	b.ReportMetric(percent, "%core/stream")
	fmt.Printf("\nR %s %.4g %%core/stream\n", name, percent)
}

func bareDecoders(b *testing.B, fsys fs.FS, name string, n int) (next func()) {
	var all []*decode.Stream
	for range n {
		src, err := openSource(fsys, name)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { src.Close() })
		d, err := decode.Open(src, src.size, nil)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, d)
	}
	buf := make([]float32, 2*441)
	return func() {
		for _, d := range all {
			if got, _ := d.ReadStereo(buf); got < len(buf)/2 {
				if err := d.Seek(0); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

// processTime is the processor time of all threads so far.
func processTime(b *testing.B) int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return r.Utime.Nano() + r.Stime.Nano()
}
