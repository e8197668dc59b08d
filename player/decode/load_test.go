package decode

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"
)

func TestReadAllNative(t *testing.T) {
	p, err := openBytes(t, wavGood().bytes()).ReadAll(0)
	if err != nil || p.F32 != nil || p.Channels != 2 || p.Rate != 44100 || p.Frames() != 500 {
		t.Fatalf("%d frames, %d channels, %d Hz, %v", p.Frames(), p.Channels, p.Rate, err)
	}
	same(t, "samples", p.S16, tone(2, 500))
	if cap(p.S16) != len(p.S16) {
		t.Errorf("%d samples take the room of %d", len(p.S16), cap(p.S16))
	}
}

func TestReadAllFloat(t *testing.T) {
	for name, data := range wavKinds(t) {
		s := openBytes(t, data)
		p, err := s.ReadAll(0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		in := openBytes(t, data)
		if (p.S16 != nil) != (in.Int16() && in.Info().Channels <= 2) || p.Frames() != int64(in.Len()) {
			t.Errorf("%s: %d frames of %d, int16 %t", name, p.Frames(), in.Len(), p.S16 != nil)
		}
		if p.F32 != nil && in.Info().Channels <= 2 {
			same(t, name, p.F32, floats(t, in))
		}
	}
}

func TestReadAllFolds(t *testing.T) {
	spec := flacGood(6, 16, 3000)
	p, err := openBytes(t, spec.bytes()).ReadAll(0)
	if err != nil || p.Channels != 2 || p.Frames() != 3000 {
		t.Fatalf("%d channels, %d frames, %v", p.Channels, p.Frames(), err)
	}
	want := make([]float32, 6000)
	if n, err := openBytes(t, spec.bytes()).ReadStereo(want); n != 3000 || err != nil {
		t.Fatal(n, err)
	}
	same(t, "stereo", p.F32, want)
}

func TestReadAllFromTheMiddle(t *testing.T) {
	s := openBytes(t, wavGood().bytes())
	if err := s.Seek(480); err != nil {
		t.Fatal(err)
	}
	p, err := s.ReadAll(0)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the rest", p.S16, tone(2, 500)[960:])
}

// TestReadAllLimits has streams of known and of unknown length around the limit.
func TestReadAllLimits(t *testing.T) {
	for _, frames := range []int64{-1, 1000} {
		for _, c := range []struct {
			bytes int64
			fits  bool
		}{{3999, false}, {4000, true}, {4001, true}, {1, false}, {3996, false}} {
			f := newFake(1000, 1)
			f.about.Frames = frames
			p, err := gated(t, f).ReadAll(c.bytes)
			if c.fits && (err != nil || p.Frames() != 1000) {
				t.Errorf("1000 frames of 4 bytes in %d: %d frames, %v", c.bytes, p.Frames(), err)
			}
			if !c.fits && !errors.Is(err, ErrLimit) {
				t.Errorf("1000 frames of 4 bytes in %d: %v", c.bytes, err)
			}
			if frames >= 0 && !c.fits && f.reads > 0 {
				t.Errorf("%d reads although the length was known", f.reads)
			}
		}
	}
}

// TestReadAllGrows has streams of unknown length, whose memory doubles on the way, and of a claimed
// one that is more than the entry's size is good for.
func TestReadAllGrows(t *testing.T) {
	for _, ch := range []int{1, 2} {
		for _, claim := range []int64{-1, 300_001} {
			f := newFake(300_001, ch)
			f.about.Frames = claim
			s, err := newStream(f, 1000, &Options{MaxRatio: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			p, err := s.ReadAll(0)
			if err != nil || p.Frames() != 300_001 {
				t.Fatalf("%d frames, %v", p.Frames(), err)
			}
			for i, v := range p.F32 {
				if v != float32(i/ch) {
					t.Fatalf("sample %d is %g", i, v)
				}
			}
			if room := cap(p.F32); room > len(p.F32)*9/8 {
				t.Errorf("%d samples take the room of %d", len(p.F32), room)
			}
		}
	}
}

func TestReadAllError(t *testing.T) {
	errDisk := errors.New("disk")
	f := newFake(1000, 2)
	f.read1 = func(f *fake, dst []float32) (int, error) {
		if f.pos >= 300 {
			return 0, errDisk
		}
		return f.plain(dst)
	}
	p, err := gated(t, f).ReadAll(0)
	if !errors.Is(err, errDisk) || p.Frames() != 300 {
		t.Errorf("%d frames, %v", p.Frames(), err)
	}
}

// TestPrefault leaves what is there as it is, at any place in a page.
func TestPrefault(t *testing.T) {
	b := noise(300_000)
	want := bytes.Clone(b)
	for _, skip := range []int{0, 1, 4095, 4096, 70000} {
		prefault(b[skip:])
		prefault(b[:len(b)-skip])
	}
	prefault(nil)
	same(t, "bytes", b, want)
}

// allocated is how many bytes f allocates.
func allocated(f func()) int64 {
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return int64(b.TotalAlloc - a.TotalAlloc)
}

// TestReadAllTrustsNoClaim claims a length that never comes.
func TestReadAllTrustsNoClaim(t *testing.T) {
	f := newFake(10, 2)
	f.about.Frames = 7_000_000
	s, err := newStream(f, 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	var p PCM
	if n := allocated(func() { p, err = s.ReadAll(0) }); n > 1<<20 {
		t.Errorf("%d bytes were allocated for 10 frames", n)
	}
	if err != nil || p.Frames() != 10 || cap(p.F32) > 64 {
		t.Errorf("%d frames in the room of %d, %v", p.Frames(), cap(p.F32), err)
	}
}

// benchWAV is 60 s of stereo.
func benchWAV(width int) []byte { return benchSound(width, 60) }

// benchSound is so many seconds of stereo at 44.1 kHz.
func benchSound(width, seconds int) []byte {
	frames := seconds * 44100
	switch width {
	case 2:
		return wavSpec{ch: 2, bits: 16, data: le16(tone(2, frames)...)}.bytes()
	case 3:
		return wavSpec{ch: 2, bits: 24, data: make([]byte, 6*frames)}.bytes()
	}
	return wavSpec{tag: tagFloat, ch: 2, bits: 32, data: make([]byte, 8*frames)}.bytes()
}

func benchOpen(b *testing.B, data []byte) *Stream {
	s, err := Open(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkWAVRead reads blocks of 4096 frames into the same memory.
func BenchmarkWAVRead(b *testing.B) {
	for name, width := range map[string]int{"int16": 2, "from24": 3, "from32f": 4} {
		b.Run(name, func(b *testing.B) {
			data := benchWAV(width)
			f, i := make([]float32, 8192), make([]int16, 8192)
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				s := benchOpen(b, data)
				for err := error(nil); err == nil; {
					if width == 2 {
						_, err = s.ReadInt16(i)
					} else {
						_, err = s.ReadFloat32(f)
					}
				}
			}
		})
	}
}

func BenchmarkFLAC(b *testing.B) {
	spec := flacGood(2, 16, 10*44100)
	spec.block = 4096
	spec.kind = func(int, int) string { return "linear" }
	data := spec.bytes()
	buf := make([]float32, 8192)
	b.ReportAllocs()
	for b.Loop() {
		s := benchOpen(b, data)
		for err := error(nil); err != io.EOF; {
			if _, err = s.ReadFloat32(buf); err != nil && err != io.EOF {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*10*44100), "ns/frame")
}

func BenchmarkFLACSeek(b *testing.B) {
	spec := flacGood(2, 16, 60*44100)
	spec.block = 4096
	spec.kind = func(int, int) string { return "linear" }
	data := spec.bytes()
	s := benchOpen(b, data)
	var buf [2]float32
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := s.Seek(i * 7919 * 331 % s.Len()); err != nil {
			b.Fatal(err)
		}
		s.ReadFloat32(buf[:])
	}
}

// TestUncleared has memory of every size be there in full, aligned and apart.
func TestUncleared(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 31, 32, 33, 1000, 4097, 1 << 20} {
		a, b := uncleared[int16](n), uncleared[float32](n)
		if len(a) != n || len(b) != n {
			t.Fatalf("%d and %d samples, want %d", len(a), len(b), n)
		}
		for i := range n {
			a[i], b[i] = -1, 1
		}
		runtime.GC()
		c := uncleared[int16](n)
		for i := range c {
			c[i] = 5
		}
		for i := range n {
			if a[i] != -1 || b[i] != 1 {
				t.Fatalf("sample %d of %d is %d and %v", i, n, a[i], b[i])
			}
		}
	}
}

// TestReadAllKeepsNothingElse fails in the middle of a long sound: what comes back ends there, with no
// room behind it.
func TestReadAllKeepsNothingElse(t *testing.T) {
	data := wavSpec{ch: 2, bits: 16, data: le16(tone(2, 200_000)...)}.bytes()
	const good = 600_000 // bytes
	s, err := Open(&failing{bytes.NewReader(data), good}, int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.ReadAll(0)
	if !errors.Is(err, errBroken) {
		t.Fatalf("%d frames, %v", p.Frames(), err)
	}
	if n := len(p.S16); n == 0 || 2*n > good || cap(p.S16) > n+n/8 {
		t.Errorf("%d samples in the room of %d, at most %d were read", n, cap(p.S16), good/2)
	}
	same(t, "samples", p.S16, tone(2, 200_000)[:len(p.S16)])
}

var errBroken = errors.New("the disk is broken")

// failing gives no byte behind the good ones.
type failing struct {
	r    *bytes.Reader
	good int64
}

func (f *failing) ReadAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) > f.good {
		return 0, errBroken
	}
	return f.r.ReadAt(b, off)
}
