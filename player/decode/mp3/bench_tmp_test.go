package mp3

import (
	"bytes"
	"os"
	"testing"
)

func BenchmarkSlot(b *testing.B) {
	buildTables()
	var s synthesis
	var in [32]float32
	for i := range in {
		in[i] = float32(i%7) - 3
	}
	var out [64]float32
	for b.Loop() {
		s.slot(&in, out[:], 2)
	}
}
func BenchmarkDCT(b *testing.B) {
	var in, x [32]float32
	for i := range in {
		in[i] = float32(i%7) - 3
	}
	for b.Loop() {
		dct32(&in, &x)
	}
}
func BenchmarkIMDCT(b *testing.B) {
	buildTables()
	var x, y, tail [18]float32
	for i := range x {
		x[i] = float32(i%7) - 3
	}
	var out slots
	for b.Loop() {
		y = x
		imdctLong(&y, &windows[0][0], &tail, 3, &out)
	}
}
func BenchmarkFile(b *testing.B) {
	data, _ := os.ReadFile("/tmp/mp3bench/in/m60_192.mp3")
	buf := make([]float32, 2304)
	for b.Loop() {
		d, _ := New(bytes.NewReader(data), int64(len(data)))
		for {
			if _, err := d.Read(buf); err != nil {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/60/1e3, "us/s")
}
