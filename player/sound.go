package player

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/sndpak/sndpak/player/decode"
)

// Mode says whether a sound is kept in memory.
type Mode int

const (
	Auto   Mode = iota // short WAV and FLAC in memory (see Options.ClipTime), all else streamed
	Memory             // decoded whole into a Clip when loaded
	Stream             // decoded while it plays
)

// A Sound is a loaded sound: a clip in memory, or a file that streams. It can be played many times
// at once.
type Sound struct {
	p     *Player
	name  string
	ready chan struct{} // closed once what follows up to mu is set
	err   error
	info  decode.Info
	clip  *Clip   // nil for a streamed sound
	src   *source // nil for a clip

	measured sync.Once
	frames   int64

	mu    sync.Mutex // guards what follows
	refs  int        // loads not yet unloaded
	using int        // streams that play
	spare []*stream  // that play no more and can be rewound
}

// spares is how many streams a sound keeps open for the next play.
const spares = 2

// Load opens the sound called name and makes it ready to start with the next block: a clip is
// decoded, a stream has its first blocks decoded. Loading a name again gives the same Sound; each
// Load wants its Unload. The error names the sound.
func (p *Player) Load(name string, mode Mode) (*Sound, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	key := fmt.Sprintf("%d:%s", mode, name)
	s, loaded := p.sounds[key]
	if loaded {
		s.retain()
	} else {
		s = &Sound{p: p, name: name, ready: make(chan struct{}), refs: 1}
		p.sounds[key] = s
	}
	p.mu.Unlock()
	if !loaded {
		s.err = s.load(mode)
		close(s.ready)
		p.dropIfClosed(s)
	}
	<-s.ready
	if s.err != nil {
		p.forget(s)
		return nil, fmt.Errorf("player: load %q: %w", name, s.err)
	}
	return s, nil
}

// dropIfClosed gives up a sound that was loaded while the player closed.
func (p *Player) dropIfClosed(s *Sound) {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		s.drop()
	}
}

// load opens the file and decides how it is kept.
func (s *Sound) load(mode Mode) error {
	src, err := openSource(s.p.fsys, s.name)
	if err != nil {
		return err
	}
	s.src = src
	dec, err := decode.Open(src, src.size, nil)
	if err != nil {
		src.Close()
		return err
	}
	defer dec.Close()
	s.info = dec.Info()
	if mode == Memory || mode == Auto && s.short(dec) {
		s.clip, err = newClip(dec, s.p.Rate(), s.p.opt.MaxClip)
		s.info, s.src = dec.Info(), nil
		src.Close()
		return err
	}
	st, err := newStream(s)
	if err == nil {
		err = st.rewind(0, nil)
	}
	if err != nil {
		src.Close()
		return err
	}
	s.spare = append(s.spare, st)
	return nil
}

// short reports whether Auto keeps the sound in memory.
func (s *Sound) short(dec *decode.Stream) bool {
	if s.info.Format != "wav" && s.info.Format != "flac" {
		return false
	}
	frames := int64(dec.Len())
	width := int64(4)
	if dec.Int16() {
		width = 2
	}
	return frames <= int64(s.p.opt.ClipTime.Seconds()*float64(s.info.Rate)) &&
		frames*width*int64(min(s.info.Channels, 2)) <= s.p.opt.ClipBytes
}

// Name is the name that the sound was loaded by.
func (s *Sound) Name() string { return s.name }

// Info is what is known of the sound; see decode.Info.
func (s *Sound) Info() decode.Info { return s.info }

// Clip is the sound in memory, nil where it streams.
func (s *Sound) Clip() *Clip { return s.clip }

// Frames is the sound's exact length in frames at its own rate. Where the file does not tell it,
// the first call looks through the whole file.
func (s *Sound) Frames() int64 {
	s.measured.Do(func() {
		s.frames = s.info.Frames
		if s.frames >= 0 {
			return
		}
		if src := s.hold(); src != nil {
			defer s.putBack(nil)
			if dec, err := decode.Open(src, src.size, nil); err == nil {
				s.frames = int64(dec.Len())
				dec.Close()
			}
		}
	})
	return max(s.frames, 0)
}

// Duration is the sound's length in time; it measures as Frames does.
func (s *Sound) Duration() time.Duration { return s.span(s.Frames()) }

// At is the frame that stands at a time of the sound.
func (s *Sound) At(t time.Duration) int64 {
	return int64(math.Round(t.Seconds() * float64(s.info.Rate)))
}

// span is how long so many of the sound's frames take.
func (s *Sound) span(frames int64) time.Duration {
	return time.Duration(float64(frames) / float64(s.info.Rate) * float64(time.Second))
}

// scaled turns frames of the sound into the mixer's.
func (s *Sound) scaled(frames int64) int64 {
	return (frames*int64(s.p.Rate()) + int64(s.info.Rate)/2) / int64(s.info.Rate)
}

// Loop is the first loop region that the file tells, for Params.Loop; without one it is the whole
// sound. It plays for ever; set Count for a number of times.
func (s *Sound) Loop() *Loop {
	if len(s.info.Loops) > 0 {
		return &Loop{Start: s.info.Loops[0].Start, End: s.info.Loops[0].End}
	}
	return &Loop{}
}

// Unload gives the sound up. Its memory and its file go with the last Unload and the last voice
// that plays it; voices play on.
func (s *Sound) Unload() {
	s.p.forget(s)
	s.settle()
}

// forget takes back one reference, and the sound off the list with the last one.
func (p *Player) forget(s *Sound) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refs > 0 {
		s.refs--
	}
	if s.refs > 0 {
		return
	}
	for key, at := range p.sounds {
		if at == s {
			delete(p.sounds, key)
		}
	}
}

func (s *Sound) retain() {
	s.mu.Lock()
	s.refs++
	s.mu.Unlock()
}

// drop takes back every reference.
func (s *Sound) drop() {
	s.mu.Lock()
	s.refs = 0
	s.mu.Unlock()
	s.settle()
}

// take gives a stream that is ready at frame.
func (s *Sound) take(frame int64, loop *Loop) (*stream, error) {
	if s.hold() == nil {
		return nil, ErrClosed
	}
	st, err := s.spared(), error(nil)
	if st == nil {
		st, err = newStream(s)
	}
	if err == nil {
		err = st.rewind(frame, loop)
	}
	if err != nil {
		if st != nil {
			st.close()
		}
		s.putBack(nil)
		return nil, err
	}
	return st, nil
}

// hold keeps the file open until putBack; nil says that it is closed.
func (s *Sound) hold() *source {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.src != nil {
		s.using++
	}
	return s.src
}

// spared is a stream that played before, nil where there is none.
func (s *Sound) spared() (st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.spare); n > 0 {
		st, s.spare = s.spare[n-1], s.spare[:n-1]
	}
	return st
}

// putBack keeps a stream for the next play, or closes it where the sound has enough of them or
// is unloaded. nil only ends a hold.
func (s *Sound) putBack(st *stream) {
	s.mu.Lock()
	s.using--
	keep := st != nil && s.refs > 0 && len(s.spare) < spares && st.failure() == nil
	if keep {
		s.spare = append(s.spare, st)
	}
	s.mu.Unlock()
	if st != nil && !keep {
		st.close()
	}
	s.settle()
}

// settle closes the file once nobody can want it any more.
func (s *Sound) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refs > 0 || s.using > 0 || s.src == nil {
		return
	}
	for _, st := range s.spare {
		st.close()
	}
	s.spare = nil
	s.src.Close()
	s.src = nil
}
