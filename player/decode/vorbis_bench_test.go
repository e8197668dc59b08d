package decode

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/jfreymuth/oggvorbis"
)

// Each benchmark comes twice: ours, and oggvorbis alone.

const benchBlock = 2048

func BenchmarkVorbisDecode(b *testing.B) {
	data := longVorbis(b, 30)
	b.Run("ours", func(b *testing.B) {
		c := openVorbisBytes(b, data)
		buf := make([]float32, 2*benchBlock)
		b.ReportAllocs()
		b.SetBytes(benchBlock)
		for b.Loop() {
			if _, err := c.read(buf); err != nil {
				if err := c.seek(0); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		r, err := oggvorbis.NewReader(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		buf := make([]float32, 2*benchBlock)
		b.ReportAllocs()
		b.SetBytes(benchBlock)
		for b.Loop() {
			for n := 0; n < len(buf); { // it returns early
				k, err := r.Read(buf[n:])
				n += k
				if err != nil {
					if err := r.SetPosition(0); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
}

// BenchmarkVorbisOpen opens 300 s and decodes the first block.
func BenchmarkVorbisOpen(b *testing.B) {
	data := longVorbis(b, 30)
	buf := make([]float32, 2*benchBlock)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c, err := openVorbis(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := c.read(buf); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := oggvorbis.NewReader(bytes.NewReader(data))
			if err != nil {
				b.Fatal(err)
			}
			for n := 0; n < len(buf); {
				k, err := r.Read(buf[n:])
				if err != nil {
					b.Fatal(err)
				}
				n += k
			}
		}
	})
}

// BenchmarkVorbisSeek seeks about in an hour and decodes one frame there.
func BenchmarkVorbisSeek(b *testing.B) {
	data := longVorbis(b, 360)
	b.Run("ours", func(b *testing.B) {
		c := openVorbisBytes(b, data)
		n := c.info().Frames
		buf := make([]float32, 2)
		at := int64(0)
		b.ReportAllocs()
		for b.Loop() {
			at = (at + 7919*12345) % n
			if err := c.seek(at); err != nil {
				b.Fatal(err)
			}
			if _, err := c.read(buf); err != nil && err != io.EOF {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		r, err := oggvorbis.NewReader(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		buf := make([]float32, 2)
		at := int64(0)
		b.ReportAllocs()
		for b.Loop() {
			at = (at + 7919*12345) % r.Length()
			if err := r.SetPosition(at); err != nil {
				b.Fatal(err)
			}
			if _, err := r.Read(buf); err != nil && err != io.EOF {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkVorbisHeap tells the heap that an open stream holds, as heap-B.
func BenchmarkVorbisHeap(b *testing.B) {
	data := theme(b)
	buf := make([]float32, 2*benchBlock)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	hold := func(b *testing.B, open func() any) {
		const streams = 50
		var list [streams]any
		for b.Loop() {
			clear(list[:])
			before := heap()
			for i := range list {
				list[i] = open()
			}
			b.ReportMetric(float64(heap()-before)/streams, "heap-B")
		}
		runtime.KeepAlive(&list)
	}
	b.Run("ours", func(b *testing.B) {
		hold(b, func() any {
			c := openVorbisBytes(b, data)
			for range 20 {
				if _, err := c.read(buf); err != nil {
					b.Fatal(err)
				}
			}
			return c
		})
	})
	b.Run("bare", func(b *testing.B) {
		hold(b, func() any {
			r, err := oggvorbis.NewReader(bytes.NewReader(data))
			if err != nil {
				b.Fatal(err)
			}
			for range 40 {
				if _, err = r.Read(buf); err != nil {
					b.Fatal(err)
				}
			}
			return r
		})
	})
}

func BenchmarkOggCRC(b *testing.B) {
	page := make([]byte, 4500)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		oggCRC(0, page)
	}
}
