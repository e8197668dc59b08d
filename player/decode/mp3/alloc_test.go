package mp3

import (
	"bytes"
	"io"
	"runtime"
	"testing"
)

// Nothing is allocated while a stream is read, nor by a seek once the table is there.
func TestReadAllocatesNothing(t *testing.T) {
	for i, k := range someKinds() {
		d := mustOpen(t, makeStream(int64(i), k, 300).out)
		length, err := d.Frames()
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]float32, 2*441)
		read := func() {
			if _, err := d.Read(buf); err == io.EOF {
				err = d.SeekTo(0)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := testing.AllocsPerRun(500, read); n != 0 {
			t.Errorf("%s: %g allocations a block", k.name, n)
		}
		at := int64(0)
		seek := func() {
			at = (at + length/7*3) % length
			if err := d.SeekTo(at); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(50, seek); n != 0 {
			t.Errorf("%s: %g allocations a seek", k.name, n)
		}
	}
}

// A stream in use keeps at most 100 KiB, and 16 bytes for each 64 frames of the stream.
func TestHeapPerStream(t *testing.T) {
	b := makeStream(1, kinds[0], 1000).out
	mustOpen(t, b) // makes the tables
	var streams [32]*Decoder
	buf := make([]float32, 4608)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range streams {
		d, err := New(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if _, err := d.Read(buf); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.Frames(); err != nil {
			t.Fatal(err)
		}
		streams[i] = d
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := int64(after.HeapAlloc-before.HeapAlloc) / int64(len(streams))
	t.Logf("%d bytes a stream", each)
	if each > 100<<10 {
		t.Errorf("%d bytes a stream", each)
	}
	runtime.KeepAlive(streams)
}

// benchStream is two minutes of stereo at 192 kbit/s, made so that all tables and blocks occur.
func benchStream() []byte {
	k := kind{version: 3, mode: 1, extension: 2, bitrate: 11, noMixed: true}
	return makeStream(1, k, 2*60*44100/1152).out
}

func BenchmarkDecode(b *testing.B) {
	data := benchStream()
	buf := make([]float32, 2*1152)
	d := mustOpen(b, data)
	frames := 0
	b.ReportAllocs()
	for b.Loop() {
		n, err := d.Read(buf)
		frames += n
		if err == io.EOF {
			if err := d.SeekTo(0); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(frames)/44100/b.Elapsed().Seconds(), "x-realtime")
}

func BenchmarkOpenFirstBlock(b *testing.B) {
	data := benchStream()
	buf := make([]float32, 2*256)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mustOpen(b, data).Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	data := benchStream()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mustOpen(b, data).Frames(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSeek(b *testing.B) {
	d := mustOpen(b, benchStream())
	length, err := d.Frames()
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]float32, 2*256)
	at := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		at = (at + length/7*3) % length
		if err := d.SeekTo(at); err != nil {
			b.Fatal(err)
		}
		if _, err := d.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}
