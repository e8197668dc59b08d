package player

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack/content"
)

// Clips lie in a cache, by the name of their sound. A clip is held by the asset that plays it, until
// the asset is retired and its last voice is over; then it may go when room is wanted.

// A held clip is one that stays in memory.
type heldClip = content.Handle[*Clip]

// addClips makes the kind of the player's clips in its cache.
func (p *Player) addClips() {
	p.cache = p.opt.Cache
	if p.cache == nil {
		p.cache = content.New(content.Options{Budget: p.opt.Budget})
	}
	p.clips = content.NewKind(p.cache, "clip", p.loadClip, p.freeClip)
}

// dropClips gives the cache back; it waits for loads under way.
func (p *Player) dropClips() {
	p.clips.Forget(nil)
	if p.opt.Cache == nil {
		p.cache.Close() // its error tells what is held, by voices of somebody who still has the asset
	}
}

// freeClip has a clip that left the cache. Once the player is closed the collector is to find it: a
// device or a reader may be in the middle of a block still.
func (p *Player) freeClip(c *Clip) {
	if !p.isClosed() {
		c.free()
	}
}

// loadClip decodes a sound whole. Memory is counted before it is taken where the length is known.
func (p *Player) loadClip(ctx context.Context, name string, reserve content.Reserve) (*Clip, error) {
	p.mu.Lock()
	fsys := p.fsys
	p.mu.Unlock()
	src, err := openSource(fsys, name)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	dec, err := decode.Open(cancelable{ctx, src}, src.size, nil)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	expected := decodedBytes(dec, p.Rate())
	if expected > p.opt.MaxClip {
		return nil, fmt.Errorf("%w: %d bytes decoded, at most %d", decode.ErrLimit, expected, p.opt.MaxClip)
	}
	if err := reserve(expected); err != nil {
		return nil, err
	}
	c, err := newClip(dec, p.Rate(), p.opt.MaxClip)
	if err != nil {
		return nil, err
	}
	c.info, c.pcm.Name = dec.Info(), clipName(name)
	return c, reserve(c.Bytes() - expected)
}

// decodedBytes is what a sound takes in memory at a rate; 0 where its length is not known.
func decodedBytes(dec *decode.Stream, rate int) int64 {
	in := dec.Info()
	width, frames := int64(4), min(max(in.Frames, 0), manyFrames)
	if in.Rate != rate {
		frames = frames*int64(rate)/int64(in.Rate) + 1
	} else if dec.Int16() && in.Channels <= 2 {
		width = 2
	}
	return width * frames * int64(min(in.Channels, 2))
}

// cancelable is a reader that fails once its context is done, and so ends the decoder above it.
type cancelable struct {
	ctx context.Context
	r   io.ReaderAt
}

func (c cancelable) ReadAt(b []byte, off int64) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.ReadAt(b, off)
}

// clip gets a sound's clip, decoded now or by whoever wanted it first.
func (p *Player) clip(ctx context.Context, name string) (*heldClip, error) {
	h, err := p.clips.Get(ctx, name)
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the kind and the key, which all our errors name themselves
		}
		if errors.Is(err, content.ErrClosed) {
			err = ErrClosed
		}
	}
	return h, err
}

// preloaders is how many sounds Preload decodes at a time: the machine has other things to do.
const preloaders = 2

// Preload decodes the sounds of those names that are kept in memory, so that Load finds them done for
// as long as the budget has room. It is for a goroutine of its own: it returns when all is done, when
// ctx is, or with Close. progress, which may be nil, is told after each sound how many of them are
// done, one call at a time. Of streams nothing is kept; that they open is seen to. The error names the
// sounds that do not; the others are preloaded.
func (p *Player) Preload(ctx context.Context, names []string, mode Mode, progress func(done, total int)) error {
	var mu sync.Mutex // guards the rest
	var errs []error
	var working sync.WaitGroup
	next, done := 0, 0
	work := func() {
		for {
			mu.Lock()
			i := next
			next++
			mu.Unlock()
			if i >= len(names) || ctx.Err() != nil {
				return
			}
			err := p.warm(ctx, names[i], mode)
			mu.Lock()
			if done++; err != nil && ctx.Err() == nil {
				errs = append(errs, fmt.Errorf("player: preload %q: %w", names[i], err))
			}
			if progress != nil {
				progress(done, len(names))
			}
			mu.Unlock()
		}
	}
	for range preloaders {
		working.Go(work)
	}
	working.Wait()
	return errors.Join(append(errs, context.Cause(ctx))...)
}

// warm has a sound's clip decoded.
func (p *Player) warm(ctx context.Context, name string, mode Mode) error {
	p.mu.Lock()
	fsys, closed := p.fsys, p.closed
	p.mu.Unlock()
	if closed {
		return ErrClosed
	}
	whole, err := p.keeps(fsys, name, mode)
	if err != nil || !whole {
		return err
	}
	h, err := p.clip(ctx, name)
	if err != nil {
		return err
	}
	if p.isClosed() {
		err = ErrClosed
	}
	return errors.Join(err, h.Release())
}

// keeps reports whether a sound is kept in memory.
func (p *Player) keeps(fsys fs.FS, name string, mode Mode) (bool, error) {
	src, err := openSource(fsys, name)
	if err != nil {
		return false, err
	}
	defer src.Close()
	dec, err := decode.Open(src, src.size, nil)
	if err != nil {
		return false, err
	}
	defer dec.Close()
	return mode == Memory || mode == Auto && p.short(dec), nil
}

// short reports whether Auto keeps a sound in memory.
func (p *Player) short(dec *decode.Stream) bool {
	in := dec.Info()
	if in.Format != "wav" && in.Format != "flac" {
		return false
	}
	width := int64(4)
	if dec.Int16() {
		width = 2
	}
	frames := int64(dec.Len())
	return frames <= framesIn(p.opt.ClipTime, in.Rate) && frames*width*int64(min(in.Channels, 2)) <= p.opt.ClipBytes
}
