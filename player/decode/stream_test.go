package decode

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gopxl/beep/v2"

	"github.com/sndpak/sndpak/player/internal/streamtest"
)

// fake is a codec of n frames whose sample is the number of its frame; hooks spoil it.
type fake struct {
	about  Info
	n, pos int64
	read1  func(f *fake, dst []float32) (int, error) // instead of read, where it is set
	seekTo func(f *fake, p int64) error
	length func() (int64, error)
	reads  int
	closed int
}

func newFake(n int64, ch int) *fake {
	return &fake{n: n, about: Info{Format: "fake", Rate: 1000, Channels: ch, Frames: n}}
}

func (f *fake) info() Info { return f.about }

func (f *fake) read(dst []float32) (int, error) {
	f.reads++
	if f.read1 != nil {
		return f.read1(f, dst)
	}
	return f.plain(dst)
}

func (f *fake) plain(dst []float32) (int, error) {
	ch := f.about.Channels
	n := int(min(int64(len(dst)/ch), f.n-f.pos, 100))
	for i := range n {
		for c := range ch {
			dst[i*ch+c] = float32(f.pos + int64(i))
		}
	}
	f.pos += int64(n)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *fake) seek(p int64) error {
	if f.seekTo != nil {
		return f.seekTo(f, p)
	}
	f.pos = p
	return nil
}

func (f *fake) close() error { f.closed++; return nil }

// withLength is a fake that can find its length.
type withLength struct{ *fake }

func (w withLength) findFrames() (int64, error) { return w.length() }

func gated(t testing.TB, c codec) *Stream {
	t.Helper()
	s, err := newStream(c, 1<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGateKeepsTheContract(t *testing.T) {
	for _, ch := range []int{1, 2, 3, 6, 8} {
		for _, n := range []int64{0, 1, 99, 100, 101, 5000} {
			streamtest.Check(t, func() beep.Streamer { return gated(t, newFake(n, ch)) })
			streamtest.Check(t, func() beep.Streamer {
				f := newFake(n, ch)
				f.about.Frames = -1
				return gated(t, f)
			})
		}
	}
}

// TestF18Panics has the codec panic in each call, with values of all kinds.
func TestF18Panics(t *testing.T) {
	for _, v := range []any{"text", errors.New("an error"), 42, runtime.Error(nil), fmt.Errorf("eof: %w", io.EOF)} {
		f := newFake(1000, 2)
		f.read1 = func(f *fake, dst []float32) (int, error) {
			if f.pos >= 100 {
				panic(v)
			}
			return f.plain(dst)
		}
		s := gated(t, f)
		var buf [64]float32
		for {
			_, err := s.ReadFloat32(buf[:])
			if err == nil {
				continue
			}
			wants(t, err, ErrCorrupt)
			if !strings.Contains(err.Error(), "stream_test.go:") {
				t.Errorf("the error does not tell where: %v", err)
			}
			break
		}
		if s.Position() != 128 || !errors.Is(s.Err(), ErrCorrupt) {
			t.Errorf("position %d, Err %v", s.Position(), s.Err())
		}
	}
	boom := func(*fake, int64) error { panic("in seek") }
	f := newFake(1000, 2)
	f.seekTo = boom
	s := gated(t, f)
	wants(t, s.Seek(5), ErrCorrupt)
	var frames [4][2]float64
	if n, ok := s.Stream(frames[:]); n != 0 || ok {
		t.Errorf("a stream that lost its place goes on: %d, %t", n, ok)
	}
}

func TestF18PanicsOfTheRuntime(t *testing.T) {
	f := newFake(10, 1)
	f.read1 = func(f *fake, dst []float32) (int, error) { return int(dst[len(dst)+f.reads-1]), nil }
	_, err := gated(t, f).ReadFloat32(make([]float32, 8))
	wants(t, err, ErrCorrupt)
	if !strings.Contains(err.Error(), "stream_test.go:") || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("the error is %v", err)
	}
}

// TestGateSticks checks that no codec call follows an error but seek, and that seek heals.
func TestGateSticks(t *testing.T) {
	errDisk := errors.New("disk")
	f := newFake(1000, 2)
	f.read1 = func(f *fake, dst []float32) (int, error) {
		if f.pos >= 300 {
			return 0, errDisk
		}
		return f.plain(dst)
	}
	s := gated(t, f)
	buf := make([]float32, 2*1000)
	n, err := s.ReadFloat32(buf)
	if n != 300 || err != nil {
		t.Fatalf("the frames before the error: %d, %v", n, err)
	}
	reads := f.reads
	for range 3 {
		if n, err := s.ReadFloat32(buf); n != 0 || !errors.Is(err, errDisk) {
			t.Fatalf("after the error: %d, %v", n, err)
		}
	}
	if f.reads != reads {
		t.Errorf("the codec was read %d times after its error", f.reads-reads)
	}
	if err := s.Seek(7); err != nil || s.Err() != nil || s.Position() != 7 {
		t.Fatalf("Seek: %v, Err %v, position %d", err, s.Err(), s.Position())
	}
	if n, err := s.ReadFloat32(buf[:20]); n != 10 || err != nil || buf[0] != 7 {
		t.Errorf("after the seek: %d frames, %v, first %g", n, err, buf[0])
	}
}

func TestF20NoProgress(t *testing.T) {
	f := newFake(1000, 2)
	f.read1 = func(*fake, []float32) (int, error) { return 0, nil }
	_, err := gated(t, f).ReadFloat32(make([]float32, 20))
	wants(t, err, ErrCorrupt)
	if f.reads != maxIdle {
		t.Errorf("%d reads, want %d", f.reads, maxIdle)
	}
	g := newFake(1000, 2) // one less is survived
	g.read1 = func(g *fake, dst []float32) (int, error) {
		if g.reads%maxIdle != 0 {
			return 0, nil
		}
		return g.plain(dst)
	}
	if got := floats(t, gated(t, g)); len(got) != 2000 {
		t.Errorf("%d samples, want 2000", len(got))
	}
}

func TestGateNonsense(t *testing.T) {
	for _, n := range []int{-1, 11, math.MaxInt} {
		f := newFake(1000, 2)
		f.read1 = func(*fake, []float32) (int, error) { return n, nil }
		k, err := gated(t, f).ReadFloat32(make([]float32, 20))
		if k != 0 {
			t.Errorf("%d frames came of %d", k, n)
		}
		wants(t, err, ErrCorrupt)
	}
	for _, in := range []Info{{Rate: 1}, {Channels: 1}, {Rate: 1, Channels: 9}, {Rate: -1, Channels: 2}, {Rate: 1, Channels: 1, Frames: -2}} {
		f := newFake(10, 1)
		f.about = in
		_, err := newStream(f, 100, nil)
		wants(t, err, ErrCorrupt)
	}
}

func TestF21EndlessOutput(t *testing.T) {
	long := newFake(25*3600*1000, 1)
	_, err := newStream(long, 1<<40, nil)
	wants(t, err, ErrLimit)
	if _, err := newStream(long, 1<<40, &Options{MaxDuration: 26 * time.Hour}); err != nil {
		t.Errorf("with a longer limit: %v", err)
	}
	if _, err := newStream(long, 10000, &Options{MaxDuration: 26 * time.Hour}); !errors.Is(err, ErrLimit) {
		t.Errorf("90 million frames of 10,000 bytes: %v", err)
	}
	endless := newFake(1<<60, 1)
	endless.about.Frames = -1
	s, err := newStream(endless, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := floatsUpTo(s)
	wants(t, err, ErrLimit)
	if len(got) != 2*maxRatio {
		t.Errorf("%d frames of 2 bytes, want %d", len(got), 2*maxRatio)
	}
}

// TestGateLength checks a length that is found by the codec, by counting, and not at all.
func TestGateLength(t *testing.T) {
	calls := 0
	known := newFake(1234, 2)
	known.about.Frames = -1
	known.length = func() (int64, error) { calls++; return 1234, nil }
	s := gated(t, withLength{known})
	if s.Info().Frames != -1 || s.Len() != 1234 || s.Len() != 1234 || s.Info().Frames != 1234 || calls != 1 {
		t.Errorf("Len %d, Info %d, asked %d times", s.Len(), s.Info().Frames, calls)
	}
	counted := newFake(777, 2)
	counted.about.Frames = -1
	s = gated(t, counted)
	buf := make([]float32, 100)
	if n, _ := s.ReadFloat32(buf); n != 50 || s.Len() != 777 || s.Position() != 50 {
		t.Errorf("Len %d at %d", s.Len(), s.Position())
	}
	if n, err := s.ReadFloat32(buf); n != 50 || err != nil || buf[0] != 50 {
		t.Errorf("after counting: %d, %v, first is %g", n, err, buf[0])
	}
	failing := newFake(777, 2)
	failing.about.Frames = -1
	failing.length = func() (int64, error) { panic("no") }
	if n := gated(t, withLength{failing}).Len(); n != 777 {
		t.Errorf("Len %d where the codec cannot tell", n)
	}
}

// TestGateLengthOfDamaged counts a sound that fails on the way: its length is what plays, and
// reading there tells the error.
func TestGateLengthOfDamaged(t *testing.T) {
	errDisk := errors.New("disk")
	f := newFake(1000, 1)
	f.about.Frames = -1
	f.read1 = func(f *fake, dst []float32) (int, error) {
		if f.pos >= 400 {
			return 0, errDisk
		}
		return f.plain(dst)
	}
	s := gated(t, f)
	if s.Len() != 400 || s.Err() != nil {
		t.Fatalf("Len %d, Err %v", s.Len(), s.Err())
	}
	got, err := floatsUpTo(s)
	if len(got) != 400 || !errors.Is(err, errDisk) {
		t.Errorf("%d frames, %v", len(got), err)
	}
}

func TestGateEarlyEnd(t *testing.T) {
	f := newFake(300, 2)
	f.about.Frames = 500
	s := gated(t, f)
	if got := floats(t, s); len(got) != 600 {
		t.Errorf("%d samples", len(got))
	}
	in := s.Info()
	if s.Len() != 300 || in.Frames != 300 || len(in.Warnings) != 1 || !strings.Contains(in.Warnings[0], "300 of 500") {
		t.Errorf("Len %d, info %+v", s.Len(), in)
	}
	late := newFake(900, 2) // and one that would go on
	late.about.Frames = 500
	if got := floats(t, gated(t, late)); len(got) != 1000 {
		t.Errorf("%d samples of a stream of 500 frames", len(got))
	}
}

// TestGateSeekFails checks that a failed seek leaves the position, and the frames, as they were.
func TestGateSeekFails(t *testing.T) {
	f := newFake(1000, 1)
	errFar := errors.New("too far")
	f.seekTo = func(f *fake, p int64) error {
		f.pos = p
		if p > 500 {
			return errFar
		}
		return nil
	}
	s := gated(t, f)
	buf := make([]float32, 10)
	s.ReadFloat32(buf)
	if err := s.Seek(600); !errors.Is(err, errFar) || s.Position() != 10 || s.Err() != nil {
		t.Fatalf("Seek: %v, position %d, Err %v", err, s.Position(), s.Err())
	}
	if n, err := s.ReadFloat32(buf); n != 10 || err != nil || buf[0] != 10 {
		t.Errorf("after it: %d, %v, first is %g", n, err, buf[0])
	}
	for _, p := range []int{-1, 1001, math.MaxInt} {
		if err := s.Seek(p); err == nil || s.Position() != 20 {
			t.Errorf("Seek(%d): %v, position %d", p, err, s.Position())
		}
	}
}

func TestGateClose(t *testing.T) {
	f := newFake(1000, 2)
	s := gated(t, f)
	for range 3 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if f.closed != 1 {
		t.Errorf("the codec was closed %d times", f.closed)
	}
	_, err := s.ReadFloat32(make([]float32, 2))
	wants(t, err, ErrClosed)
	_, err = s.ReadStereo(make([]float32, 2))
	wants(t, err, ErrClosed)
	wants(t, s.Seek(0), ErrClosed)
	wants(t, s.SetSeekTable([]byte{1}), ErrClosed)
	if n, ok := s.Stream(make([][2]float64, 2)); n != 0 || ok {
		t.Errorf("Stream gave %d, %t", n, ok)
	}
	if s.Int16() || s.SeekTable() != nil || s.Len() != 1000 {
		t.Errorf("Int16 %t, table %v, Len %d", s.Int16(), s.SeekTable(), s.Len())
	}
}

func TestReadInt16OfWider(t *testing.T) {
	_, err := gated(t, newFake(10, 1)).ReadInt16(make([]int16, 4))
	wants(t, err, ErrUnsupported)
}

// TestOddBuffers reads into buffers that hold no whole number of frames.
func TestOddBuffers(t *testing.T) {
	s := gated(t, newFake(100, 3))
	for _, c := range []struct{ size, want int }{{0, 0}, {2, 0}, {3, 1}, {8, 2}} {
		if n, err := s.ReadFloat32(make([]float32, c.size)); n != c.want || err != nil {
			t.Errorf("%d samples of room: %d frames, %v", c.size, n, err)
		}
	}
	for _, ch := range []int{1, 2, 3} {
		s := gated(t, newFake(100, ch))
		for _, c := range []struct{ size, want int }{{0, 0}, {1, 0}, {2, 1}, {5, 2}} {
			if n, err := s.ReadStereo(make([]float32, c.size)); n != c.want || err != nil {
				t.Errorf("%d channels, %d samples of room: %d frames, %v", ch, c.size, n, err)
			}
		}
	}
}

// TestNoAllocations reads blocks of every kind of stream after a first one, but Vorbis, whose decoder is
// not ours and allocates.
func TestNoAllocations(t *testing.T) {
	for name, data := range oneOfEach(t) {
		if name == "o17.ogg" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := openBytes(t, data)
			frames := make([][2]float64, 64)
			f, i := make([]float32, 128), make([]int16, 128)
			one := func() {
				if s.Position() > s.Len()-500 {
					s.Seek(0)
				}
				s.Stream(frames)
				s.ReadFloat32(f)
				s.ReadStereo(f)
				if s.Int16() {
					s.ReadInt16(i)
				}
			}
			for range 100 { // buffers have grown then
				one()
			}
			if n := testing.AllocsPerRun(200, one); n != 0 {
				t.Errorf("%g allocations a block", n)
			}
		})
	}
}
