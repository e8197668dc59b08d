package mp3

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"testing"
)

func TestTmpCases(t *testing.T) {
	files, _ := filepath.Glob("/work/shared/cases/audio/m*.mp3")
	v, _ := filepath.Glob("/work/shared/vectors/mp3/*.bit")
	for _, f := range append(files, v...) {
		b, _ := os.ReadFile(f)
		d, err := New(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			fmt.Println(f, err)
			continue
		}
		n0, ok := d.FramesKnown()
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
		n, err := d.Frames()
		fmt.Println(filepath.Base(f), d.Rate(), d.Channels(), d.Description(), d.Delay(), d.Padding(), len(out)/d.Channels(), n0, ok, n, err)
		for _, w := range d.Warnings() {
			fmt.Println("   ", w)
		}
		bad := 0
		for range 300 {
			p := rand.Int63n(n + 1)
			if err := d.SeekTo(p); err != nil {
				fmt.Println(err)
				continue
			}
			k, err := d.Read(buf)
			for i, v := range buf[:k*d.Channels()] {
				if out[int(p)*d.Channels()+i] != v {
					bad++
					break
				}
			}
			if k == 0 && (p != n || err != io.EOF) {
				fmt.Println(p, n, err)
			}
		}
		if bad > 0 {
			fmt.Println("BAD", bad)
		}
	}
}
