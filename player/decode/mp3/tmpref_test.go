package mp3

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTmpRef(t *testing.T) {
	files, _ := filepath.Glob("/tmp/mp3work/made/*.mp3")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		d, err := New(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			fmt.Println(f, err)
			continue
		}
		ref, err := exec.Command("ffmpeg", "-v", "error", "-i", f, "-f", "f32le", "-").Output()
		if err != nil {
			fmt.Println(f, "ffmpeg", err)
		}
		var out []float32
		buf := make([]float32, 1000)
		for {
			n, err := d.Read(buf)
			out = append(out, buf[:n*d.Channels()]...)
			if err != nil {
				if err != io.EOF {
					fmt.Println(f, err)
				}
				break
			}
		}
		n, _ := d.Frames()
		k, ok := d.FramesKnown()
		var s, e float64
		worst := 0.0
		at := 0
		for i := range min(len(out), len(ref)/4) {
			v := float64(math.Float32frombits(binary.LittleEndian.Uint32(ref[4*i:])))
			o := float64(out[i])
			s += v * v
			e += (v - o) * (v - o)
			if math.Abs(v-o) > worst {
				worst = math.Abs(v - o)
				at = i
			}
		}
		snr := 10 * math.Log10(s/e)
		flag := ""
		if snr < 90 || len(out) != len(ref)/4 || n != int64(len(out)/d.Channels()) {
			flag = "***"
		}
		fmt.Printf("%-22s %5d %d %-34s len %d ref %d frames %d %d %v SNR %.1f worst %g at %d %s\n", filepath.Base(f), d.Rate(), d.Channels(), d.Description(), len(out)/d.Channels(), len(ref)/4/d.Channels(), n, k, ok, snr, worst, at/d.Channels(), flag)
		for _, w := range d.Warnings() {
			fmt.Println("   ", w)
		}
	}
}
