package main

import (
	"encoding/binary"
	"math"
)

// tone is a WAV file of a 16-bit mono sine at half of full scale.
func tone(rate, frames int, hz float64) []byte {
	le := binary.LittleEndian
	b := []byte("RIFF....WAVEfmt ")
	for _, v := range []uint32{16, 1 | 1<<16, uint32(rate), uint32(2 * rate), 2 | 16<<16} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint32(append(b, "data"...), uint32(2*frames))
	for i := range frames {
		v := math.Round(16384 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
		b = le.AppendUint16(b, uint16(int16(v)))
	}
	le.PutUint32(b[4:], uint32(len(b)-8))
	return b
}
