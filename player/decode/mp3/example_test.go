package mp3

import (
	"bytes"
	"fmt"
	"io"
)

// Opening a stream, reading it in blocks, and going back to a frame.
func ExampleNew() {
	file := makeStream(1, kinds[0], 100).out // any io.ReaderAt will do
	d, err := New(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, %d Hz, %d channels\n", d.Description(), d.Rate(), d.Channels())

	block := make([]float32, 512*d.Channels())
	total := 0
	for {
		n, err := d.Read(block)
		total += n // block[:n*d.Channels()] is what there is to play
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(total, "frames")

	if err := d.SeekTo(50000); err != nil {
		fmt.Println(err)
		return
	}
	n, err := d.Read(block)
	fmt.Println(n, err)
	// Output:
	// MPEG-1 Layer III, 128 kbit/s, 44100 Hz, 2 channels
	// 115200 frames
	// 512 <nil>
}

// A seek table is made once, stored, and given to every later Decoder of the same bytes.
func ExampleDecoder_SetSeekTable() {
	file := makeStream(1, kinds[0], 1000).out
	first, err := New(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := first.SeekTable()
	if err != nil {
		fmt.Println(err)
		return
	}
	later, err := New(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := later.SetSeekTable(table); err != nil {
		fmt.Println("it is made anew:", err)
	}
	fmt.Println(later.FramesKnown())
	// Output:
	// 1152000 true
}
