package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sndpak/sndpak/player"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newPlay() *cobra.Command {
	var f playFlags
	cmd := &cobra.Command{
		Use:   "play PACK... ENTRY... | FILE...",
		Short: "Play entries of a pack, or sound files",
		Long: `Play entries of a pack, or sound files, one after another. Names are found without
regard to case. Of several packs or folders the last one that has the entry counts, and
a file is played where none of them has one of that name.

On a terminal: space pauses, the left and right arrows seek by 5 seconds, + and -
change the gain, n goes to the next sound, q quits.`,
		Example: `  sndpak play music.data jaguar.wav
  sndpak play music.data theme.ogg --loop 0 --gain -6
  sndpak play music.data swish.wav drumloop.wav --together
  sndpak play song.ogg --start 1:30 --output wav:part.wav --duration 10`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return play(cmd, args, &f)
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// outputFlags are the flags of every command that is heard.
type outputFlags struct {
	output string
	buffer time.Duration
}

func (f *outputFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.output, "output", "auto", "where to play: auto, pulse, speaker, null, wav:`FILE`")
	flags.DurationVar(&f.buffer, "buffer", 0, "how much the device holds (default 100ms); less is heard sooner, more survives a busy machine")
}

// reopenFor is how long a lost device is tried again.
const reopenFor = 3 * time.Second

// options are the player's.
func (f *outputFlags) options(cmd *cobra.Command) player.Options {
	return player.Options{
		Output: f.output, Buffer: f.buffer, Reopen: reopenFor,
		Warn: func(err error) { warn(cmd, err) },
	}
}

type playFlags struct {
	packFlags
	outputFlags
	loop            int
	gain, pan       float64
	pitch           float64
	start, duration timeFlag
	together        bool

	loops bool // --loop was given
}

func (f *playFlags) add(flags *pflag.FlagSet) {
	f.packFlags.add(flags)
	f.outputFlags.add(flags)
	flags.IntVar(&f.loop, "loop", 1, "play so many times, between the file's loop points if it has them; 0 = for ever")
	flags.Float64Var(&f.gain, "gain", 0, "gain in `dB`")
	flags.Float64Var(&f.pan, "pan", 0, "from -1 (left) to 1 (right)")
	flags.Float64Var(&f.pitch, "pitch", 1, "how fast the sound goes by: 2 is an octave up, 0.5 one down")
	flags.Var(&f.start, "start", "begin at this `TIME` of the sound: 1.5, 1:02.5 or 800ms")
	flags.Var(&f.duration, "duration", "play for so much `TIME`")
	flags.BoolVar(&f.together, "together", false, "all at once, not one after another")
}

// check refuses values that mean nothing.
func (f *playFlags) check(flags *pflag.FlagSet) error {
	f.loops = flags.Changed("loop")
	switch {
	case f.loop < 0:
		return usagef("--loop %d: a number of times, or 0 for ever", f.loop)
	case !(f.pan >= -1 && f.pan <= 1):
		return usagef("--pan %g: from -1 (left) to 1 (right)", f.pan)
	case !(f.pitch >= 1.0/64 && f.pitch <= 64):
		return usagef("--pitch %g: from 1/64 to 64", f.pitch)
	case !(f.gain <= 60): // also refuses what is not a number; -Inf is silence
		return usagef("--gain %g: at most 60 dB", f.gain)
	case f.buffer < 0 || f.buffer > 10*time.Second:
		return usagef("--buffer %v: from 0 to 10s", f.buffer)
	}
	return nil
}

// timeFlag is a time of a sound: seconds, minutes:seconds, or with a unit.
type timeFlag time.Duration

func (t *timeFlag) String() string {
	if *t == 0 {
		return ""
	}
	return time.Duration(*t).String()
}
func (t *timeFlag) Type() string { return "TIME" }

func (t *timeFlag) Set(s string) error {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		*t = timeFlag(d)
		return nil
	}
	total := 0.0
	for part := range strings.SplitSeq(s, ":") {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v >= 0 && v < 1e6) {
			return fmt.Errorf("%q is no time: write 1.5, 1:02.5 or 800ms", s)
		}
		total = total*60 + v
	}
	*t = timeFlag(total * float64(time.Second))
	return nil
}

func play(cmd *cobra.Command, args []string, f *playFlags) error {
	if err := f.check(cmd.Flags()); err != nil {
		return err
	}
	src, names, err := openSounds(args, &f.packFlags.Options)
	if err != nil {
		return err
	}
	defer src.Close()
	if len(names) == 0 {
		return usagef("%s is a pack: name an entry (sndpak list %s shows them)", args[0], args[0])
	}
	opt := f.options(cmd)
	opt.Hold = true
	p, err := player.Open(src, &opt)
	if err != nil {
		return err
	}
	s := &session{p: p, flags: f, queue: names, changed: make(chan struct{}, 1)}
	s.warn = func(name, text string) { warn(cmd, fmt.Errorf("%s: %s", src.title(name), text)) }
	err = s.run(cmd.Context(), newScreen(cmd, src))
	return errors.Join(err, p.Close())
}

// session plays a queue of sounds.
type session struct {
	p       *player.Player
	flags   *playFlags
	warn    func(name, text string) // tells what is wrong with a sound that plays
	changed chan struct{}           // a sound has begun or ended

	mu      sync.Mutex // guards what follows
	queue   []string
	playing []*player.Voice
	begun   []*player.Voice // not yet shown
	errs    []error
}

// run plays all of the queue, and returns what went wrong on the way.
func (s *session) run(ctx context.Context, show *screen) error {
	defer show.close()
	s.next(nil)
	if err := s.p.Start(); err != nil {
		return err
	}
	for {
		over := s.over() // before show, which then misses nothing
		s.show(show)
		if over {
			return s.end(ctx)
		}
		select {
		case <-s.changed:
		case <-show.tick:
		case k := <-show.keys:
			if s.key(k) {
				return s.failed()
			}
		case <-s.p.Done():
			return s.end(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// next starts the next sound of the queue once ended, nil at the beginning, is over; together, all
// of them. The last of the queue is what the device ends with.
func (s *session) next(ended *player.Voice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(ended)
	for len(s.queue) > 0 && (len(s.playing) == 0 || s.flags.together) {
		name := s.queue[0]
		s.queue = s.queue[1:]
		v, err := s.begin(name)
		if err != nil {
			s.errs = append(s.errs, err)
			continue
		}
		s.playing, s.begun = append(s.playing, v), append(s.begun, v)
	}
	if len(s.queue) == 0 {
		s.p.Drain()
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *session) remove(ended *player.Voice) {
	for i, v := range s.playing {
		if v == ended {
			s.playing = append(s.playing[:i], s.playing[i+1:]...)
			return
		}
	}
}

// begin loads a sound and starts it.
func (s *session) begin(name string) (*player.Voice, error) {
	sound, err := s.p.Load(name, player.Auto)
	if err != nil {
		return nil, err
	}
	defer sound.Unload()
	for _, w := range sound.Info().Warnings {
		s.warn(name, w)
	}
	o := player.Params{Gain: s.flags.gain, Pan: s.flags.pan, Pitch: s.flags.pitch, OnEnd: s.ended}
	o.Start = min(sound.At(time.Duration(s.flags.start)), sound.Frames())
	o.Length = sound.At(time.Duration(s.flags.duration))
	if s.flags.loops && s.flags.loop != 1 {
		o.Loop = sound.Loop()
		o.Loop.Count = s.flags.loop
	}
	return sound.Play(o)
}

func (s *session) ended(v *player.Voice, err error) {
	if err != nil && !errors.Is(err, player.ErrClosed) {
		s.mu.Lock()
		s.errs = append(s.errs, fmt.Errorf("play %q: %w", v.Sound().Name(), err))
		s.mu.Unlock()
	}
	s.next(v)
}

func (s *session) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.playing) == 0 && len(s.queue) == 0
}

// end waits until all has been heard.
func (s *session) end(ctx context.Context) error {
	if s.p.Time() > 0 { // else nothing ever started, and the device has nothing to play out
		select {
		case <-s.p.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.Join(s.failed(), s.p.Err())
}

func (s *session) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

// current is the sound that the keys act on: the one that began last.
func (s *session) current() *player.Voice {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.playing) == 0 {
		return nil
	}
	return s.playing[len(s.playing)-1]
}

// key does what a key asks for, and reports whether that is the end.
func (s *session) key(k key) (quit bool) {
	if k == keyQuit {
		return true
	}
	v := s.current()
	if v == nil {
		return false
	}
	var err error
	switch k {
	case keyPause:
		if v.Paused() {
			err = v.Resume()
		} else {
			err = v.Pause()
		}
	case keyBack:
		err = v.SeekTo(v.Position() - v.Sound().At(5*time.Second))
	case keyForward:
		err = v.SeekTo(v.Position() + v.Sound().At(5*time.Second))
	case keyLouder:
		err = s.louder(v, 1)
	case keyQuieter:
		err = s.louder(v, -1)
	case keyNext:
		err = v.Stop(0)
	}
	if err != nil {
		s.mu.Lock()
		s.errs = append(s.errs, err)
		s.mu.Unlock()
	}
	return false
}

func (s *session) louder(v *player.Voice, dB float64) error {
	s.mu.Lock()
	s.flags.gain = min(s.flags.gain+dB, 60)
	gain := s.flags.gain
	s.mu.Unlock()
	return v.SetGain(gain)
}

// show brings the screen up to date.
func (s *session) show(to *screen) {
	s.mu.Lock()
	begun, gain := s.begun, s.flags.gain
	s.begun = nil
	s.mu.Unlock()
	for _, v := range begun {
		to.began(v)
	}
	to.status(s.current(), gain)
}
