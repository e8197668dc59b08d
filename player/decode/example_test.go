package decode_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"

	"github.com/sndpak/sndpak/player/decode"
)

// beepWAV is a tenth of a second of 440 Hz, as a WAV file in memory.
func beepWAV() []byte {
	var data []byte
	for i := range 4800 {
		v := int16(20000 * math.Sin(2*math.Pi*440*float64(i)/48000))
		data = binary.LittleEndian.AppendUint16(data, uint16(v))
	}
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\xbb\x00\x00\x00\x77\x01\x00\x02\x00\x10\x00data")
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

// Open tells the format from the bytes; the stream is a beep.StreamSeekCloser.
func ExampleOpen() {
	file := beepWAV()
	s, err := decode.Open(bytes.NewReader(file), int64(len(file)), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	in := s.Info()
	fmt.Println(in.Format, in.Encoding, in.Rate, in.Channels, in.Frames)

	block := make([][2]float64, 1000)
	n, ok := s.Stream(block)
	fmt.Println(n, ok, s.Position(), s.Len())
	// Output:
	// wav 16-bit PCM 48000 1 4800
	// 1000 true 1000 4800
}

// ReadAll is for short sounds: the samples of the file in memory, at most so many bytes.
func ExampleStream_ReadAll() {
	file := beepWAV()
	s, err := decode.Open(bytes.NewReader(file), int64(len(file)), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	pcm, err := s.ReadAll(4 << 20)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pcm.Frames(), pcm.Channels, pcm.Rate, len(pcm.S16), len(pcm.F32))
	// Output: 4800 1 48000 4800 0
}

// Inspect decodes a sound to its end and tells what is in it.
func ExampleInspect() {
	file := beepWAV()
	s, err := decode.Open(bytes.NewReader(file), int64(len(file)), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	r, err := decode.Inspect(context.Background(), s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d frames, peak %.2f, %d clipped, findings %q\n", r.Frames, r.Peak, r.Clipped, r.Findings)
	// Output: 4800 frames, peak 0.61, 0 clipped, findings []
}
