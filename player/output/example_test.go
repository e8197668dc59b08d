package output_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/sndpak/sndpak/player/output"
)

// A second of a tone, on whatever this machine has.
func ExampleOpen() {
	d, err := output.Open("auto", output.Config{Warn: func(err error) { fmt.Fprintln(os.Stderr, err) }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	at := 0
	err = d.Start(func(buf []float32) int {
		n := min(len(buf)/2, d.Rate()-at)
		for i := range n {
			v := float32(0.1 * math.Sin(2*math.Pi*440*float64(at+i)/float64(d.Rate())))
			buf[2*i], buf[2*i+1] = v, v
		}
		at += n
		return n
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	<-d.Done()
	fmt.Println(at == d.Rate(), d.Err())
	// Output: true <nil>
}

// A device that writes a file takes frames as fast as they come.
func ExampleOpen_file() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "silence.wav")
	d, err := output.Open("wav:"+path, output.Config{Rate: 8000})
	if err != nil {
		fmt.Println(err)
		return
	}
	left := 10 * d.Rate()
	begun := time.Now()
	d.Start(func(buf []float32) int {
		n := min(len(buf)/2, left)
		clear(buf[:2*n])
		left -= n
		return n
	})
	<-d.Done()
	info, err := os.Stat(path)
	if err != nil || d.Err() != nil {
		fmt.Println(err, d.Err())
		return
	}
	fmt.Println(info.Size(), time.Since(begun) < 10*time.Second)
	// Output: 320044 true
}
