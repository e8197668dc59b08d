package player

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/player/mixer"
)

// A stream is one playing of a sound that is not kept in memory: a decoder, a resampler and the
// ring between them and the mixer. It is the mixer's Feed. What decodes is the goroutine that runs
// run, or whoever pulls the player in step; everything else only reads the ring, the marks and the
// failure.
type stream struct {
	asset *asset
	dec   *decode.Stream
	res   *mixer.Resampler // nil at the mixer's rate
	fx    *treatment       // nil without an effect
	ring  *ring
	in    []float32 // a block of source frames
	rest  []float32 // what the last step made and the ring had no space for
	over  bool      // nothing follows rest

	next   int64 // source frame that is decoded next
	fed    int64 // source frames fed so far, over all loops, counted from the first one that is heard
	label  string
	way    manner
	skip   int   // frames that the resampler still gives of what lies ahead of that
	left   int   // turns of the loop still to take; -1 = for ever
	looped *Loop // the loop that left counts for

	loop atomic.Pointer[Loop] // what the voice asks for; nil = none
	busy atomic.Int64         // when the step under way began, unix nanoseconds; 0 = none is
	need chan struct{}        // wakes run
	quit chan struct{}        // ends run

	mu    sync.Mutex // guards what follows
	marks []mark
	err   error
	odd   []string // the decoder's warnings
}

// A mark says which source frame stands at a frame of the ring's output. Between marks they run
// side by side.
type mark struct{ out, src int64 }

// chunk is how many frames of the mixer one step aims at: short enough that no step is felt.
const chunk = 2048

// A manner is how a stream is treated beside its decoding.
type manner struct {
	effect  mixer.Effect
	fadeOut int64 // source frames ahead of the end
	length  int64 // source frames until that, over all loops; 0 = the sound's own end
}

func (a *asset) manner(o *Params) manner {
	w := manner{effect: o.Effect, fadeOut: a.at(o.FadeOut)}
	if w.fadeOut > 0 && o.Length > 0 {
		w.length = int64(float64(min(o.Length, manyFrames)) * cmp.Or(o.Pitch, 1))
	}
	return w
}

func newStream(a *asset, effect mixer.Effect) (*stream, error) {
	dec, err := decode.Open(a.src, a.src.size, nil)
	if err != nil {
		return nil, err
	}
	ch := min(a.info.Channels, 2)
	if effect != nil {
		ch = 2
	}
	to := a.p.Rate()
	n := min(max(chunk*a.info.Rate/to, 1), chunk)
	st := &stream{
		asset: a, dec: dec,
		in:   make([]float32, n*ch),
		ring: newRing(a.p.aheadFrames(), ch),
	}
	if effect != nil {
		st.fx = newTreatment(effect)
	}
	if a.info.Rate != to {
		if st.res, err = mixer.NewResampler(a.info.Rate, to, ch); err != nil {
			return nil, errors.Join(err, dec.Close())
		}
	}
	return st, nil
}

// rewind makes the stream ready to be played from a source frame, with its first blocks decoded.
// Nobody else may be at work on it.
func (s *stream) rewind(frame int64, loop *Loop, way manner) error {
	roll := s.preroll(frame)
	if frame != 0 || s.next != 0 {
		if err := s.dec.Seek(int(frame - roll)); err != nil {
			return err
		}
	}
	if s.res != nil {
		s.res.Reset()
	}
	s.ring.reset()
	s.next, s.fed, s.looped, s.rest, s.over = frame-roll, -roll, nil, nil, false
	s.skip = int(roll * int64(s.asset.p.Rate()) / int64(s.asset.info.Rate))
	s.loop.Store(loop)
	s.way = way
	s.label = streamName(s.asset.name, frame, loop, way)
	s.need, s.quit = make(chan struct{}, 1), make(chan struct{})
	s.marks, s.err = append(s.marks[:0], mark{0, frame}), nil
	s.odd = s.dec.Info().Warnings
	s.fill(s.ring.size() / 4)
	return s.failure()
}

// Name is what the log calls the stream.
func (s *stream) Name() string { return s.label }

// preroll is how many source frames ahead of frame the resampler is to be fed, for else it would take
// what lies there for silence: 4 ms at least, more than half its filter, and so many that they become
// a whole number of frames.
func (s *stream) preroll(frame int64) int64 {
	if s.res == nil {
		return 0
	}
	from, to := s.asset.info.Rate, s.asset.p.Rate()
	unit := from
	for a, b := from, to; b != 0; a, b = b, a%b {
		unit = from / b
	}
	n := (from/250 + unit) / unit * unit
	if int64(n) > frame {
		n = int(frame) / unit * unit
	}
	return int64(n)
}

// Channels and Read are the mixer's end.
func (s *stream) Channels() int { return s.ring.ch }

func (s *stream) Read(dst []float32) (frames int, end bool) { return s.ring.read(dst) }

// run decodes ahead until release.
func (s *stream) run() {
	for {
		select {
		case <-s.quit:
			s.asset.putBack(s)
			return
		case <-s.need:
			s.fill(s.ring.size())
		}
	}
}

// poke has run fill the ring. It never waits.
func (s *stream) poke() {
	select {
	case s.need <- struct{}{}:
	default:
	}
}

// release gives the stream back to its sound once nothing plays it.
func (s *stream) release() {
	if s.asset.p.opt.InStep {
		s.asset.putBack(s)
		return
	}
	close(s.quit)
}

// released reports that nothing plays the stream any more: what is decoded now nobody hears.
func (s *stream) released() bool {
	select {
	case <-s.quit:
		return true
	default:
		return false
	}
}

// fill decodes until the ring holds so many frames, or as many as there are.
func (s *stream) fill(frames int) {
	for s.ring.held() < frames && !s.ring.finished.Load() && !s.released() && s.flush() {
		if s.over {
			s.ring.finished.Store(true)
			return
		}
		s.busy.Store(time.Now().UnixNano())
		s.step()
		s.busy.Store(0)
	}
	if s.over && s.flush() {
		s.ring.finished.Store(true)
	}
}

// flush moves what is left of the last step into the ring, and reports whether all of it fitted.
func (s *stream) flush() bool {
	n := min(len(s.rest)/s.ring.ch, s.ring.space()) * s.ring.ch
	s.ring.write(s.rest[:n])
	s.rest = s.rest[n:]
	return len(s.rest) == 0
}

// step decodes one block, up to the end of the loop at most, and turns back there.
func (s *stream) step() {
	want := int64(len(s.in) / s.ring.ch)
	loop := s.turns()
	if s.fed < 0 { // ahead of what is heard, and of what the loop is about
		loop, want = nil, min(want, -s.fed)
	}
	if loop != nil && s.next < loop.End {
		want = min(want, loop.End-s.next)
	}
	n, err := s.read(s.in[:int(want)*s.ring.ch])
	s.fadeOut(s.in[:n*s.ring.ch])
	s.push(s.in[:n*s.ring.ch])
	s.next += int64(n)
	s.fed += int64(n)
	switch {
	case loop != nil && (s.next == loop.End || err == io.EOF):
		s.turn(loop)
	case err == io.EOF:
		s.end(nil)
	case err != nil:
		s.end(err)
	}
}

// read decodes into whole frames of the ring's channels.
func (s *stream) read(dst []float32) (frames int, err error) {
	if s.ring.ch == 1 {
		return s.dec.ReadFloat32(dst)
	}
	return s.dec.ReadStereo(dst)
}

// fadeOut scales frames that stand at next by what the voice's end asks for.
func (s *stream) fadeOut(x []float32) {
	fade := s.way.fadeOut
	if fade == 0 {
		return
	}
	left := s.ahead() // of the first frame on
	if left-int64(len(x)/s.ring.ch) > fade {
		return
	}
	for i := range x {
		d := max(left-int64(i/s.ring.ch), 0)
		if d < fade {
			sin := math.Sin(math.Pi / 2 * float64(d) / float64(fade))
			x[i] *= float32(sin * sin)
		}
	}
}

// ahead is how many source frames are to be heard from next on.
func (s *stream) ahead() int64 {
	left := int64(math.MaxInt64)
	if s.turns() == nil {
		left = int64(s.dec.Len()) - s.next
	}
	if s.way.length > 0 {
		left = min(left, s.way.length-max(s.fed, 0))
	}
	return left
}

// turns is the loop to keep to, nil where there is none or no turn of it is left.
func (s *stream) turns() *Loop {
	loop := s.loop.Load()
	if loop != s.looped {
		s.looped, s.left = loop, -1
		if loop != nil && loop.Count > 0 {
			s.left = loop.Count - 1
		}
	}
	if loop == nil || s.left == 0 {
		return nil
	}
	return loop
}

// turn goes back to the start of the loop.
func (s *stream) turn(loop *Loop) {
	if s.next <= loop.Start { // the file ended before the loop began: it would turn for ever
		s.end(fmt.Errorf("loop at frame %d lies behind the end: %w", loop.Start, decode.ErrCorrupt))
		return
	}
	if err := s.dec.Seek(int(loop.Start)); err != nil {
		s.end(err)
		return
	}
	s.next = loop.Start
	if s.left > 0 {
		s.left--
	}
	s.mark()
}

// push has source frames resampled and treated for the ring.
func (s *stream) push(frames []float32) {
	s.rest = frames
	if s.res != nil {
		s.rest = s.res.Process(frames)
		n := min(s.skip, len(s.rest)/s.ring.ch)
		s.rest, s.skip = s.rest[n*s.ring.ch:], s.skip-n
	}
	s.rest = s.fx.treat(s.rest)
}

// end says that nothing follows: after a clean end (nil) or an error.
func (s *stream) end(err error) {
	if err == nil && s.res != nil && len(s.rest) == 0 {
		s.rest = s.fx.treat(s.res.Flush())
	}
	s.over = true
	s.fail(err)
	s.mu.Lock()
	s.odd = s.dec.Info().Warnings
	s.mu.Unlock()
}

// abort ends the stream from outside, where a step under way never comes back.
func (s *stream) abort(err error) {
	s.fail(err)
	s.ring.finished.Store(true)
}

// fail notes the first error.
func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// failure is the error that ended the stream, nil after a clean end or none.
func (s *stream) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// stalled reports that a step has been under way for too long.
func (s *stream) stalled() bool {
	began := s.busy.Load()
	return began != 0 && time.Since(time.Unix(0, began)) > stallAfter
}

// mark notes that the next frame of the output is source frame next, and forgets marks that have
// been played.
func (s *stream) mark() {
	played := int64(s.ring.taken.Load())
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.marks) > 1 && s.marks[1].out < played-10*int64(s.asset.p.Rate()) {
		s.marks = append(s.marks[:0], s.marks[1:]...)
	}
	s.marks = append(s.marks, mark{s.fed * int64(s.asset.p.Rate()) / int64(s.asset.info.Rate), s.next})
}

// at is the source frame that stands at frame out of the output.
func (s *stream) at(out int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.marks[0]
	for _, k := range s.marks {
		if k.out <= out {
			m = k
		}
	}
	return m.src + max(out-m.out, 0)*int64(s.asset.info.Rate)/int64(s.asset.p.Rate())
}

// close gives up the decoder.
func (s *stream) close() error { return s.dec.Close() }
