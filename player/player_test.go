package player

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gopxl/beep/v2"
	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/player/internal/streamtest"
	"github.com/sndpak/sndpak/player/mixer"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sounds is the folder of the project's own sounds.
func sounds() fs.FS { return os.DirFS(filepath.Join("..", "testdata", "sounds")) }

// inStep is a player that a test pulls frame by frame.
func inStep(t testing.TB, fsys fs.FS, rate int) *Player {
	t.Helper()
	p := New(fsys, &Options{Rate: rate, InStep: true, NoLimiter: true})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return p
}

func load(t testing.TB, p *Player, name string, m Mode) *Sound {
	t.Helper()
	s, err := p.Load(name, m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func start(t testing.TB, s *Sound, o Params) *Voice {
	t.Helper()
	v, err := s.Play(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// pull mixes so many frames in blocks of an odd size.
func pull(p *Player, frames int) []float32 {
	out := make([]float32, 2*frames)
	for rest := out; len(rest) > 0; {
		n := min(len(rest), 2*337)
		p.Mix(rest[:n])
		rest = rest[n:]
	}
	return out
}

// decoded is the whole of a sound as stereo float32, by the decoder alone.
func decoded(t testing.TB, name string) []float32 {
	t.Helper()
	b, err := fs.ReadFile(sounds(), name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := decode.Open(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out := make([]float32, 2*s.Len())
	for at := 0; at < len(out); {
		n, err := s.ReadStereo(out[at:])
		if err != nil {
			t.Fatal(err)
		}
		at += 2 * n
	}
	return out
}

func equal(t testing.TB, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d samples, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: sample %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func silent(t testing.TB, what string, block []float32) {
	t.Helper()
	for i, v := range block {
		if v != 0 {
			t.Fatalf("%s: sample %d is %v, want silence", what, i, v)
		}
	}
}

func TestPlayerKeepsTheContract(t *testing.T) {
	streamtest.Check(t, func() beep.Streamer {
		p := inStep(t, sounds(), 44100)
		start(t, load(t, p, "drumloop.wav", Auto), Params{})
		return p
	})
}

func TestClipKeepsTheContract(t *testing.T) {
	for _, rate := range []int{22050, 48000} {
		p := inStep(t, sounds(), rate)
		c := load(t, p, "jaguar.wav", Auto).Clip()
		streamtest.Check(t, func() beep.Streamer { return c.Streamer() })
	}
}

func TestAutoChoosesMemoryOrStream(t *testing.T) {
	p := inStep(t, sounds(), 48000)
	for name, memory := range map[string]bool{
		"jaguar.wav": true, "swish.wav": true, "drumloop.wav": true, "theme.ogg": false, "theme.mp3": false,
	} {
		for mode, want := range map[Mode]bool{Auto: memory, Memory: true, Stream: false} {
			if got := load(t, p, name, mode).Clip() != nil; got != want {
				t.Errorf("%s in mode %d: in memory %t, want %t", name, mode, got, want)
			}
		}
	}
	small := New(sounds(), &Options{InStep: true, ClipTime: 500 * time.Millisecond})
	defer small.Close()
	if load(t, small, "jaguar.wav", Auto).Clip() != nil {
		t.Error("jaguar.wav (1 s) is in memory with a ClipTime of 0.5 s")
	}
	if _, err := New(sounds(), &Options{InStep: true, MaxClip: 1000}).Load("jaguar.wav", Memory); !errors.Is(err, decode.ErrLimit) {
		t.Errorf("a clip over MaxClip: %v, want decode.ErrLimit", err)
	}
}

// Alone, at its own rate, every sound comes out as its decoder gives it, from the first frame of the
// first block on, and silence follows.
func TestAloneASoundIsItself(t *testing.T) {
	for name, rate := range map[string]int{
		"jaguar.wav": 22050, "drumloop.wav": 44100, "swish.wav": 48000, "theme.ogg": 44100, "theme.mp3": 44100,
	} {
		for _, mode := range []Mode{Memory, Stream} {
			p := inStep(t, sounds(), rate)
			want := decoded(t, name)
			v := start(t, load(t, p, name, mode), Params{})
			got := pull(p, len(want)/2+1000)
			equal(t, name, got[:len(want)], want)
			silent(t, name, got[len(want):])
			select {
			case <-v.Done():
			default:
				t.Errorf("%s: not Done after its last frame", name)
			}
			if v.Err() != nil {
				t.Errorf("%s: %v", name, v.Err())
			}
		}
	}
}

func TestLoopSeamIsCutPCM(t *testing.T) {
	const from, to, count = 10000, 30000, 3
	for _, name := range []string{"drumloop.wav", "theme.ogg", "theme.mp3"} {
		pcm := decoded(t, name)
		want := append([]float32(nil), pcm[:2*to]...)
		for range count - 1 {
			want = append(want, pcm[2*from:2*to]...)
		}
		want = append(want, pcm[2*to:]...)
		for _, mode := range []Mode{Memory, Stream} {
			p := inStep(t, sounds(), 44100)
			start(t, load(t, p, name, mode), Params{Loop: &Loop{Start: from, End: to, Count: count}})
			equal(t, name, pull(p, len(want)/2), want)
		}
	}
}

func TestLoopCanBeLeft(t *testing.T) {
	for _, mode := range []Mode{Memory, Stream} {
		p := inStep(t, sounds(), 44100)
		s := load(t, p, "drumloop.wav", mode)
		v := start(t, s, Params{Loop: s.Loop()})
		pull(p, 3*int(s.Frames()))
		if err := v.SetLoop(nil); err != nil {
			t.Fatal(err)
		}
		pull(p, 2*int(s.Frames())) // the ring may hold one more turn
		select {
		case <-v.Done():
		default:
			t.Errorf("mode %d: plays on after its loop was left", mode)
		}
	}
}

func TestStartLengthAndPosition(t *testing.T) {
	for _, mode := range []Mode{Memory, Stream} {
		p := inStep(t, sounds(), 44100)
		s := load(t, p, "drumloop.wav", mode)
		want := decoded(t, "drumloop.wav")
		v := start(t, s, Params{Start: 20000, Length: 5000})
		if v.Position() != 20000 {
			t.Errorf("mode %d: Position %d before the first block, want 20000", mode, v.Position())
		}
		got := pull(p, 3000)
		equal(t, "after the ramp", got[600:], want[2*20000+600:2*23000])
		if v.Position() != 23000 {
			t.Errorf("mode %d: Position %d, want 23000", mode, v.Position())
		}
		silent(t, "after Length", pull(p, 4000)[2*2000:])
	}
}

func TestPitch(t *testing.T) {
	for _, mode := range []Mode{Memory, Stream} {
		p := inStep(t, sounds(), 44100)
		s := load(t, p, "drumloop.wav", mode)
		v := start(t, s, Params{Pitch: 2})
		pull(p, 10000)
		if at := v.Position(); at < 19990 || at > 20010 {
			t.Errorf("mode %d: Position %d after 10000 frames at twice the pitch, want 20000", mode, at)
		}
		v.SetPitch(0.5)
		pull(p, 10000)
		if at := v.Position(); at < 24990 || at > 25250 {
			t.Errorf("mode %d: Position %d after 10000 more at half, want about 25000", mode, at)
		}
		v.SetPitch(1)
		v.SeekTo(55000)
		pull(p, 600)
		select {
		case <-v.Done():
		default:
			t.Errorf("mode %d: plays on behind its end", mode)
		}
		if _, err := s.Play(Params{Pitch: 1000}); err == nil {
			t.Errorf("mode %d: a pitch of 1000 is taken", mode)
		}
	}
}

// Interpolation comes from Params, or from Options for all sounds.
func TestInterpolation(t *testing.T) {
	for _, mode := range []Mode{Memory, Stream} {
		var outs [3][]float32
		for i := range outs {
			opt := Options{Rate: 44100, InStep: true, NoLimiter: true}
			o := Params{Pitch: 0.7}
			switch i {
			case 1:
				o.Interpolation = mixer.Sinc
			case 2:
				opt.Interpolation = mixer.Sinc
			}
			p := New(sounds(), &opt)
			start(t, load(t, p, "drumloop.wav", mode), o)
			outs[i] = pull(p, 3000)
			p.Close()
		}
		if slices.Equal(outs[0], outs[1]) || !slices.Equal(outs[1], outs[2]) {
			t.Errorf("mode %d: Sinc changes something: %v; it is the same as an option: %v",
				mode, !slices.Equal(outs[0], outs[1]), slices.Equal(outs[1], outs[2]))
		}
	}
}

func TestPauseAndResume(t *testing.T) {
	for _, mode := range []Mode{Memory, Stream} {
		p := inStep(t, sounds(), 44100)
		v := start(t, load(t, p, "drumloop.wav", mode), Params{})
		pull(p, 1000)
		v.Pause()
		pull(p, 1000)
		at := v.Position()
		silent(t, "paused", pull(p, 1000))
		if v.Position() != at || !v.Paused() {
			t.Errorf("mode %d: moved from %d to %d while paused (%t)", mode, at, v.Position(), v.Paused())
		}
		v.Resume()
		got := pull(p, 2000)
		want := decoded(t, "drumloop.wav")[2*at:]
		equal(t, "after the ramp", got[600:], want[600:4000])
	}
}

func TestSeek(t *testing.T) {
	for _, name := range []string{"drumloop.wav", "theme.ogg", "theme.mp3"} {
		for _, mode := range []Mode{Memory, Stream} {
			p := inStep(t, sounds(), 44100)
			v := start(t, load(t, p, name, mode), Params{})
			want := decoded(t, name)
			for _, frame := range []int64{30000, 5, 44444, 0} {
				pull(p, 700)
				if err := v.SeekTo(frame); err != nil {
					t.Fatal(err)
				}
				got := pull(p, 3000)
				equal(t, name, got[2*500:], want[2*(int(frame)+500):2*(int(frame)+3000)])
			}
			v.SeekTo(-7)
			pull(p, 10)
			if v.Position() > 10 {
				t.Errorf("%s: Seek(-7) stands at %d", name, v.Position())
			}
			v.SeekTo(math.MaxInt64)
			pull(p, 2000)
			select {
			case <-v.Done():
			default:
				t.Errorf("%s: Seek behind the end does not end it", name)
			}
			if err := v.SeekTo(0); err != nil {
				t.Errorf("%s: Seek of an ended voice: %v", name, err)
			}
		}
	}
}

func TestPausedVoiceSeeksPaused(t *testing.T) {
	p := inStep(t, sounds(), 44100)
	v := start(t, load(t, p, "theme.ogg", Stream), Params{})
	pull(p, 1000)
	v.Pause()
	pull(p, 1000)
	if err := v.SeekTo(100000); err != nil {
		t.Fatal(err)
	}
	silent(t, "paused", pull(p, 1000)[600:])
	v.Resume()
	want := decoded(t, "theme.ogg")
	equal(t, "resumed", pull(p, 3000)[1000:], want[2*100000+1000:2*103000])
}

func TestStopAndEndNotices(t *testing.T) {
	for _, mode := range []Mode{Memory, Stream} {
		p := inStep(t, sounds(), 44100)
		ends := 0
		s := load(t, p, "drumloop.wav", mode)
		v := start(t, s, Params{OnEnd: func(*Voice, error) { ends++ }})
		pull(p, 1000)
		v.Stop(0)
		pull(p, 1000)
		if ends != 1 || v.Err() != nil {
			t.Errorf("mode %d: %d end notices after Stop (%v), want 1", mode, ends, v.Err())
		}
		silent(t, "after Stop", pull(p, 1000))
		v.Stop(0) // harmless
		v.SetGain(3)
		v.Pause()
		pull(p, 100)
		if ends != 1 {
			t.Errorf("mode %d: %d end notices", mode, ends)
		}
	}
}

func TestOneSoundAfterAnotherByNotices(t *testing.T) {
	p := inStep(t, sounds(), 48000)
	first, second := load(t, p, "swish.wav", Auto), load(t, p, "jaguar.wav", Auto)
	var next *Voice
	start(t, first, Params{OnEnd: func(*Voice, error) { next = start(t, second, Params{}) }})
	pull(p, 19200+2*inStepFrames)
	if next == nil || next.Position() == 0 {
		t.Fatal("the second sound does not play")
	}
}

func TestClipIsConvertedToTheRate(t *testing.T) {
	p := inStep(t, sounds(), 48000)
	s := load(t, p, "jaguar.wav", Auto) // 22,050 frames at 22,050 Hz
	if s.Clip().Len() != 48000 || s.Frames() != 22050 {
		t.Errorf("clip of %d frames, sound of %d; want 48000 and 22050", s.Clip().Len(), s.Frames())
	}
	start(t, s, Params{})
	clip := append([]float32(nil), pull(p, 48000)...)
	q := inStep(t, sounds(), 48000)
	start(t, load(t, q, "jaguar.wav", Stream), Params{})
	equal(t, "stream against clip", pull(q, 48000), clip)
}

// A sound that breaks in the middle ends with its error; the others go on.
func TestAFaultStaysWithItsSound(t *testing.T) {
	b, err := fs.ReadFile(sounds(), "theme.ogg")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is gone")
	fsys := &faultyFS{FS: fstest.MapFS{"bad.ogg": {Data: b}, "good.ogg": {Data: b}}, name: "bad.ogg", err: broken}
	p := inStep(t, fsys, 44100)
	bad := start(t, load(t, p, "bad.ogg", Stream), Params{})
	good := start(t, load(t, p, "good.ogg", Stream), Params{})
	fsys.broken.Store(true)
	pull(p, 440000)
	if err := bad.Err(); !errors.Is(err, broken) {
		t.Errorf("the bad one ended with %v, want %v", err, broken)
	}
	if good.Position() < 430000 {
		t.Errorf("the good one stands at %d", good.Position())
	}
}

// faultyFS has one file whose reads fail once it is broken.
type faultyFS struct {
	fs.FS
	name   string
	broken atomic.Bool
	err    error
}

func (f *faultyFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if err != nil || name != f.name {
		return file, err
	}
	return faultyFile{file, f}, nil
}

type faultyFile struct {
	fs.File
	f *faultyFS
}

func (f faultyFile) ReadAt(b []byte, off int64) (int, error) {
	if f.f.broken.Load() {
		return 0, f.f.err
	}
	return f.File.(io.ReaderAt).ReadAt(b, off)
}

func TestLoadErrorsNameTheSound(t *testing.T) {
	fsys := fstest.MapFS{"text.wav": {Data: []byte("this is no sound")}, "empty.wav": {}, "dir/x": {Data: []byte("x")}}
	p := inStep(t, fsys, 44100)
	for name, want := range map[string]error{
		"text.wav": decode.ErrFormat, "empty.wav": decode.ErrFormat, "none.wav": fs.ErrNotExist,
	} {
		_, err := p.Load(name, Auto)
		if !errors.Is(err, want) || !bytes.Contains([]byte(err.Error()), []byte(name)) {
			t.Errorf("%s: %v, want %v and the name", name, err, want)
		}
	}
	if _, err := p.Load("dir", Auto); err == nil {
		t.Error("a folder loads")
	}
}

func TestWrongParams(t *testing.T) {
	p := inStep(t, sounds(), 44100)
	s := load(t, p, "jaguar.wav", Auto)
	for _, o := range []Params{
		{Start: -1}, {Start: 22051}, {Loop: &Loop{Start: 5, End: 5}}, {Loop: &Loop{End: 22051}}, {Loop: &Loop{Start: -1}}, {Loop: &Loop{Count: -1}},
	} {
		if _, err := s.Play(o); err == nil {
			t.Errorf("Play(%+v): no error", o)
		}
	}
}

// countingFS counts files that are open.
type countingFS struct {
	fs.FS
	open atomic.Int64
}

func (c *countingFS) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return &countedFile{File: f, c: c}, nil
}

type countedFile struct {
	fs.File
	c *countingFS
}

func (f *countedFile) ReadAt(b []byte, off int64) (int, error) {
	return f.File.(io.ReaderAt).ReadAt(b, off)
}
func (f *countedFile) Close() error {
	f.c.open.Add(-1)
	return f.File.Close()
}

func TestUnloadClosesTheFileAfterTheLastVoice(t *testing.T) {
	c := &countingFS{FS: sounds()}
	p := inStep(t, c, 44100)
	s := load(t, p, "theme.ogg", Auto)
	if again := load(t, p, "theme.ogg", Auto); again != s {
		t.Error("loaded twice: two sounds")
	}
	v := start(t, s, Params{})
	s.Unload()
	s.Unload()
	pull(p, 5000)
	if n := c.open.Load(); n != 1 {
		t.Errorf("%d files open while the voice plays, want 1", n)
	}
	if v.Position() != 5000 {
		t.Errorf("the voice stands at %d after Unload, want 5000", v.Position())
	}
	v.Stop(0)
	pull(p, 2000)
	if n := c.open.Load(); n != 0 {
		t.Errorf("%d files open in the end", n)
	}
	if _, err := s.Play(Params{}); !errors.Is(err, ErrClosed) {
		t.Errorf("Play after Unload: %v, want ErrClosed", err)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	c := &countingFS{FS: sounds()}
	p := New(c, &Options{Rate: 44100})
	ogg, wav := load(t, p, "theme.ogg", Auto), load(t, p, "jaguar.wav", Auto)
	voices := []*Voice{start(t, ogg, Params{}), start(t, ogg, Params{}), start(t, wav, Params{})}
	pull(p, 5000)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for _, v := range voices {
		<-v.Done()
		if !errors.Is(v.Err(), ErrClosed) {
			t.Errorf("ended with %v, want ErrClosed", v.Err())
		}
	}
	if n := c.open.Load(); n != 0 {
		t.Errorf("%d files open after Close", n)
	}
	if _, err := p.Load("jaguar.wav", Auto); !errors.Is(err, ErrClosed) {
		t.Errorf("Load after Close: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// Ten goroutines command a player that is pulled all the while.
func TestManyGoroutinesCommand(t *testing.T) {
	p := New(sounds(), &Options{Rate: 44100, Voices: 64})
	defer p.Close()
	stop := make(chan struct{})
	var pulling, commanding sync.WaitGroup
	pulling.Go(func() {
		for block := make([]float32, 512); ; {
			select {
			case <-stop:
				return
			default:
				p.Mix(block)
				runtime.Gosched()
			}
		}
	})
	for i := range 10 {
		commanding.Go(func() {
			name := []string{"jaguar.wav", "theme.ogg", "drumloop.wav", "theme.mp3"}[i%4]
			for range 20 {
				s, err := p.Load(name, Auto)
				if err != nil {
					t.Error(err)
					return
				}
				v, err := s.Play(Params{Loop: &Loop{}})
				if err == nil {
					v.SetGain(-10)
					v.SetPan(0.5)
					v.SeekTo(1000)
					v.Position()
					v.Pause()
					v.Resume()
					v.SetLoop(nil)
					v.Stop(0)
					<-v.Done()
				}
				s.Unload()
			}
		})
	}
	commanding.Wait()
	close(stop)
	pulling.Wait()
}

// What a stream takes does not grow with its length.
func TestMemoryOfALongStreamIsFlat(t *testing.T) {
	p := inStep(t, sounds(), 44100)
	s := load(t, p, "theme.ogg", Stream)
	start(t, s, Params{Loop: s.Loop()})
	block := make([]float32, 2*4410)
	mixed := func(seconds int) uint64 {
		for range 10 * seconds {
			p.Mix(block)
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := mixed(30)
	if after := mixed(150); after > before+64<<10 {
		t.Errorf("heap grew from %d to %d bytes in 150 s of a stream", before, after)
	}
}

// BenchmarkPlayClipAndFirstBlock is a start and the first block of a voice, which ends in it: to stop the
// benchmark's clock in between would cost the caches what is to be measured.
func BenchmarkPlayClipAndFirstBlock(b *testing.B) {
	fsys := fstest.MapFS{"short.wav": {Data: floatWAV(48000, 1, sine(440, 48000, 200, 0.1))}}
	p := inStep(b, fsys, 48000)
	s := load(b, p, "short.wav", Memory)
	block := make([]float32, 512)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Play(Params{}); err != nil {
			b.Fatal(err)
		}
		p.Mix(block)
	}
}

func BenchmarkStreams(b *testing.B) {
	for _, name := range []string{"theme.ogg", "theme.mp3"} {
		b.Run(name, func(b *testing.B) {
			p := inStep(b, sounds(), 48000)
			s := load(b, p, name, Stream)
			start(b, s, Params{Loop: s.Loop()})
			block := make([]float32, 2*480)
			b.ReportAllocs()
			for b.Loop() {
				p.Mix(block)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/480, "ns/frame")
		})
	}
}
