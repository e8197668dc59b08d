package player

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack/content"
)

// An asset is the content of a sound as it was opened once: its samples, or the open file and
// streams that read it. A sound that is reloaded gets another one; voices keep theirs.
type asset struct {
	p    *Player
	name string
	info decode.Info
	clip *Clip     // nil for a stream
	held *heldClip // the clip's place in memory

	measured sync.Once
	frames   int64

	mu      sync.Mutex // guards what follows
	src     *source    // nil for a clip
	retired bool       // no sound plays it from now on
	closed  bool       // nor any voice
	using   int        // voices that play it, and whoever else reads
	spare   []*stream  // that play no more and can be rewound
}

// spares is how many streams an asset keeps open for the next play.
const spares = 2

// open opens the file and decides how it is kept.
func (p *Player) open(fsys fs.FS, name string, mode Mode) (*asset, error) {
	src, err := openSource(fsys, name)
	if err != nil {
		return nil, err
	}
	a := &asset{p: p, name: name, src: src}
	if err := a.load(name, mode); err != nil {
		src.Close()
		return nil, err
	}
	if a.clip != nil {
		a.src = nil
		src.Close()
	}
	return a, nil
}

// load gets the clip, or decodes the first blocks of a stream.
func (a *asset) load(name string, mode Mode) error {
	dec, err := decode.Open(a.src, a.src.size, nil)
	if err != nil {
		return err
	}
	defer dec.Close()
	a.info = dec.Info()
	if mode == Memory || mode == Auto && a.p.short(dec) {
		a.held, err = a.p.clip(context.Background(), name)
		if err == nil {
			a.clip = a.held.Value()
			a.info = a.clip.info
		}
		if mode == Memory || !errors.Is(err, content.ErrBudget) {
			return err
		}
	}
	st, err := newStream(a, nil)
	if err == nil {
		err = st.rewind(0, nil, manner{})
	}
	if err != nil {
		return err
	}
	a.spare = append(a.spare, st)
	return nil
}

// at is the frame that stands at a time of the sound.
func (a *asset) at(t time.Duration) int64 { return framesIn(t, a.info.Rate) }

// scaled turns frames of the sound into the mixer's.
func (a *asset) scaled(frames int64) int64 {
	frames = min(frames, manyFrames)
	return (frames*int64(a.p.Rate()) + int64(a.info.Rate)/2) / int64(a.info.Rate)
}

// length is the sound's length in frames, found by a look through the file where it is not told.
func (a *asset) length() int64 {
	a.measured.Do(func() {
		a.frames = a.info.Frames
		if a.frames >= 0 {
			return
		}
		if a.hold() {
			defer a.putBack(nil)
			src := a.src
			if src == nil {
				return
			}
			if dec, err := decode.Open(src, src.size, nil); err == nil {
				a.frames = int64(dec.Len())
				dec.Close()
			}
		}
	})
	return max(a.frames, 0)
}

// take gives a stream that is ready at frame.
func (a *asset) take(frame int64, loop *Loop, way manner) (*stream, error) {
	if !a.hold() {
		return nil, ErrClosed
	}
	var st *stream
	var err error
	if way.effect == nil {
		st = a.spared()
	}
	if st == nil {
		st, err = newStream(a, way.effect)
	}
	if err == nil {
		err = st.rewind(frame, loop, way)
	}
	if err != nil {
		if st != nil {
			st.close()
		}
		a.putBack(nil)
		return nil, err
	}
	return st, nil
}

// hold keeps the file open, or the clip in memory, until putBack; false says that it is closed.
func (a *asset) hold() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.using++
	}
	return !a.closed
}

// lend is the clip for somebody who may keep it longer than the player does.
func (a *asset) lend() *Clip {
	if a.clip == nil || !a.hold() {
		return nil
	}
	defer a.putBack(nil)
	a.clip.lent.Store(true)
	return a.clip
}

// spared is a stream that played before, nil where there is none.
func (a *asset) spared() (st *stream) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.spare); n > 0 {
		st, a.spare = a.spare[n-1], a.spare[:n-1]
	}
	return st
}

// putBack keeps a stream for the next play, or closes it where there are enough of them or
// the asset is retired. nil only ends a hold.
func (a *asset) putBack(st *stream) {
	a.mu.Lock()
	a.using--
	keep := st != nil && st.fx == nil && !a.retired && len(a.spare) < spares && st.failure() == nil
	if keep {
		a.spare = append(a.spare, st)
	}
	a.mu.Unlock()
	if st != nil && !keep {
		st.close()
	}
	a.settle()
}

// settle closes the file, or lets the clip go, once nobody can want it any more.
func (a *asset) settle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.retired || a.using > 0 || a.closed {
		return
	}
	a.closed = true
	if a.held != nil {
		a.held.Release()
		return
	}
	for _, st := range a.spare {
		st.close()
	}
	a.spare = nil
	a.src.Close()
}

// retire says that no sound plays the asset any more; it is closed with its last voice.
func (a *asset) retire() {
	a.mu.Lock()
	a.retired = true
	a.mu.Unlock()
	a.settle()
}
