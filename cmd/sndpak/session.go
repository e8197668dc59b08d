package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/sndpak/sndpak/player"
	"github.com/spf13/cobra"
)

// session plays a queue of sounds. One after another, the next one is always queued up in the player
// already, so that there is no gap.
type session struct {
	p       *player.Player
	src     *sounds
	flags   *playFlags
	warn    func(error)
	changed chan struct{} // a sound has begun or ended

	mu      sync.Mutex // guards what follows
	queue   []string
	playing []*player.Voice // and behind the first one, unless together, what follows it
	begun   []*player.Voice // not yet shown
	notes   []error         // nor these: warnings
	shown   *player.Voice   // the last one in begun
	errs    []error
}

func newSession(cmd *cobra.Command, p *player.Player, src *sounds, f *playFlags, names []string) *session {
	return &session{
		p: p, src: src, flags: f, queue: names, changed: make(chan struct{}, 1),
		warn: func(err error) { warn(cmd, err) },
	}
}

// run plays all of the queue, and returns what went wrong on the way.
func (s *session) run(ctx context.Context, show *screen) error {
	defer show.close()
	s.next(nil)
	if err := s.p.Start(); err != nil {
		return err
	}
	for !s.over() {
		s.show(show)
		select {
		case <-s.changed:
		case <-show.tick:
		case k := <-show.keys:
			if s.key(k) {
				return s.failed()
			}
		case <-s.p.Done():
			return s.end(ctx, show)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.end(ctx, show)
}

// next queues up what follows once ended, nil at the beginning, is over; together, all there is. The
// last of the queue is what the player ends with.
func (s *session) next(ended *player.Voice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.playing, ended); i >= 0 {
		s.playing = slices.Delete(s.playing, i, i+1)
	}
	for len(s.queue) > 0 && (len(s.playing) < 2 || s.flags.together) {
		name := s.queue[0]
		s.queue = s.queue[1:]
		v, err := s.begin(name)
		if err != nil {
			s.errs = append(s.errs, s.src.fault(name, err))
			continue
		}
		if s.playing = append(s.playing, v); s.flags.together {
			s.begun = append(s.begun, v)
		}
	}
	if len(s.playing) > 0 && !s.flags.together && s.playing[0] != s.shown {
		s.shown = s.playing[0]
		s.begun = append(s.begun, s.shown)
	}
	if len(s.queue) == 0 {
		s.p.Drain()
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// begin loads a sound and starts it, or queues it up.
func (s *session) begin(name string) (*player.Voice, error) {
	sound, err := s.p.Load(name, player.Auto)
	if err != nil {
		return nil, err
	}
	defer sound.Unload()
	o, err := s.flags.params(sound)
	if err != nil {
		return nil, err
	}
	if start, end, ok := s.src.keptLoop(name); ok && o.Loop != nil && end <= sound.Frames() {
		o.Loop.Start, o.Loop.End = start, end
	}
	o.OnEnd = s.ended
	if n := len(s.playing); n > 0 && !s.flags.together {
		o.After = s.playing[n-1]
	}
	return sound.Play(o)
}

// fault is an error of the player about a sound, in one line that names pack and entry.
func (s *sounds) fault(name string, err error) error {
	if e, ok := errors.AsType[noEntryError](err); ok {
		return e
	}
	if e, ok := errors.AsType[usageError](err); ok {
		return usagef("%s: %w", s.title(name), e.error)
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner // without "player: load NAME"
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == name {
		err = e.Err
	}
	return s.noSound(name, err)
}

func (s *session) ended(v *player.Voice, err error) {
	name := v.Sound().Name()
	s.mu.Lock()
	if err != nil && !errors.Is(err, player.ErrClosed) {
		s.errs = append(s.errs, fmt.Errorf("%s: %w", s.src.title(name), err))
	}
	for _, w := range v.Warnings() {
		s.notes = append(s.notes, fmt.Errorf("%s: %s", s.src.title(name), w))
	}
	s.mu.Unlock()
	s.next(v)
}

func (s *session) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.playing) == 0 && len(s.queue) == 0
}

// end waits until all has been heard.
func (s *session) end(ctx context.Context, show *screen) error {
	s.show(show)
	if s.p.Time() > 0 { // else nothing ever started, and the device has nothing to play out
		select {
		case <-s.p.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.show(show) // what came meanwhile
	return errors.Join(s.failed(), s.p.Err(), show.kept.fault())
}

func (s *session) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

// heard are the sounds that the keys act on.
func (s *session) heard() []*player.Voice {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.playing) > 1 && !s.flags.together {
		return slices.Clone(s.playing[:1]) // which is moved up when it ends
	}
	return slices.Clone(s.playing)
}

// all are the sounds that play or are queued up.
func (s *session) all() []*player.Voice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.playing)
}

// key does what a key asks for, and reports whether that is the end.
func (s *session) key(k key) (quit bool) {
	if k == keyQuit {
		return true
	}
	for _, v := range s.heard() {
		if err := s.steer(v, k); err != nil {
			s.mu.Lock()
			s.errs = append(s.errs, err)
			s.mu.Unlock()
		}
	}
	switch k {
	case keyLouder:
		s.louder(1)
	case keyQuieter:
		s.louder(-1)
	}
	return false
}

func (s *session) steer(v *player.Voice, k key) error {
	step := v.Sound().At(5 * time.Second)
	switch k {
	case keyPause:
		if v.Paused() {
			return v.Resume()
		}
		return v.Pause()
	case keyBack:
		return v.SeekTo(v.Position() - step)
	case keyForward:
		return v.SeekTo(v.Position() + step)
	case keyNext:
		return v.Stop(time.Duration(s.flags.fade))
	}
	return nil
}

func (s *session) louder(dB float64) {
	s.mu.Lock()
	s.flags.gain = min(s.flags.gain+dB, 60)
	gain := s.flags.gain
	s.mu.Unlock()
	for _, v := range s.all() {
		v.SetGain(gain) // an error is that of too many keys within one block
	}
}

// show brings the screen up to date.
func (s *session) show(to *screen) {
	s.mu.Lock()
	begun, notes, gain := s.begun, s.notes, s.flags.gain
	s.begun, s.notes = nil, nil
	s.mu.Unlock()
	for _, v := range begun {
		to.began(v)
	}
	for _, w := range notes {
		to.clear()
		s.warn(w)
	}
	if h := s.heard(); len(h) > 0 {
		to.status(h[len(h)-1], gain)
	}
}
