package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sndpak/sndpak/player"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newPlay() *cobra.Command {
	var f playFlags
	var out outputFlags
	var log string
	cmd := &cobra.Command{
		Use:   "play PACK... ENTRY... | FILE...",
		Short: "Play entries of a pack, or sound files",
		Long: `Play entries of a pack, or sound files, one after another without a gap. Names are
found without regard to case. Of several packs or folders the last one that has the
entry counts, and a file is played where none of them has one of that name.

On a terminal: space pauses, the left and right arrows seek by 5 seconds, + and -
change the gain, n goes to the next sound, q quits.`,
		Example: `  sndpak play music.data jaguar.wav
  sndpak play music.data theme.ogg --loop 0 --gain -6
  sndpak play music.data swish.wav drumloop.wav --together
  sndpak play song.ogg --start 1:30 --fade 2 --output wav:part.wav --duration 10`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return play(cmd, args, &f, &out, log)
		},
	}
	f.add(cmd.Flags())
	out.add(cmd.Flags())
	cmd.Flags().StringVar(&log, "record", "", "write what the player is told to this `FILE`, for render --replay")
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

func (f *outputFlags) check() error {
	if f.buffer < 0 || f.buffer > 10*time.Second {
		return usagef("--buffer %v: from 0 to 10s", f.buffer)
	}
	return nil
}

// file is the WAV file that the output is, "" for devices and standard output.
func (f *outputFlags) file() string {
	kind, path, _ := strings.Cut(f.output, ":")
	if !strings.HasPrefix(kind, "wav") || path == "-" {
		return ""
	}
	return path
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

// playFlags say what is played and how.
type playFlags struct {
	packFlags
	loop            int
	gain, pan       float64
	pitch           float64
	start, duration timeFlag
	fade            timeFlag
	together        bool

	loops bool // --loop was given
	timed bool // so was --duration
}

func (f *playFlags) add(flags *pflag.FlagSet) {
	f.packFlags.add(flags)
	flags.IntVar(&f.loop, "loop", 1, "play so many times, between the file's loop points if it has them; 0 = for ever")
	flags.Float64Var(&f.gain, "gain", 0, "gain in `dB`")
	flags.Float64Var(&f.pan, "pan", 0, "from -1 (left) to 1 (right)")
	flags.Float64Var(&f.pitch, "pitch", 1, "how fast the sound goes by: 2 is an octave up, 0.5 one down")
	flags.Var(&f.start, "start", "begin at this `TIME` of the sound: 1.5, 1:02.5 or 800ms")
	flags.Var(&f.duration, "duration", "play for so much `TIME`")
	flags.Var(&f.fade, "fade", "fade in and out over so much `TIME`")
	flags.BoolVar(&f.together, "together", false, "all at once, not one after another")
}

// check refuses values that mean nothing.
func (f *playFlags) check(flags *pflag.FlagSet) error {
	f.loops, f.timed = flags.Changed("loop"), flags.Changed("duration")
	switch {
	case f.loop < 0:
		return usagef("--loop %d: a number of times, or 0 for ever", f.loop)
	case !(f.pan >= -1 && f.pan <= 1):
		return usagef("--pan %g: from -1 (left) to 1 (right)", f.pan)
	case !(f.pitch >= 1.0/64 && f.pitch <= 64):
		return usagef("--pitch %g: from 1/64 to 64", f.pitch)
	case !(f.gain <= 60): // also refuses what is not a number; -Inf is silence
		return usagef("--gain %g: at most 60 dB", f.gain)
	case f.timed && f.duration == 0:
		return usagef("--duration 0: nothing would be heard")
	}
	return nil
}

// endless refuses what would fill a file for ever.
func (f *playFlags) endless(file string) error {
	if f.loop == 0 && !f.timed {
		return usagef("--loop 0 into %s never ends: give --duration", file)
	}
	return nil
}

// params are the player's.
func (f *playFlags) params(s *player.Sound) (player.Params, error) {
	o := player.Params{
		Gain: f.gain, Pan: f.pan, Pitch: f.pitch, Start: s.At(time.Duration(f.start)), Length: s.At(time.Duration(f.duration)),
		FadeIn: time.Duration(f.fade), FadeOut: time.Duration(f.fade),
	}
	if f.duration > 0 {
		o.Length = max(o.Length, 1) // 0 is all of it
	}
	if f.start > 0 && o.Start >= s.Frames() {
		return o, usagef("--start %v: the sound lasts %s", time.Duration(f.start), clock(s.Duration()))
	}
	if f.loops && f.loop != 1 {
		o.Loop = s.Loop()
		o.Loop.Count = f.loop
	}
	return o, nil
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

// longest is the longest time that a timeFlag takes, in seconds: nobody has a longer sound, and
// nothing that is made of it overflows.
const longest = 1e8

func (t *timeFlag) Set(s string) error {
	total, err := parseClock(s)
	if d, derr := time.ParseDuration(s); derr == nil {
		total, err = d.Seconds(), nil
	}
	if err != nil {
		return fmt.Errorf("%q is no time: write 1.5, 1:02.5 or 800ms", s)
	}
	if !(total >= 0 && total <= longest) {
		return fmt.Errorf("%q is out of range: from 0 to %d hours", s, int64(longest)/3600)
	}
	*t = timeFlag(total * float64(time.Second))
	return nil
}

// parseClock reads hours:minutes:seconds, the first two of which may be missing.
func parseClock(s string) (total float64, err error) {
	parts := strings.Split(s, ":")
	if len(parts) > 3 {
		return 0, strconv.ErrSyntax
	}
	for i, part := range parts {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || len(parts) > 1 && v < 0 || i > 0 && v >= 60 || math.IsNaN(v) {
			return 0, strconv.ErrSyntax
		}
		total = total*60 + v
	}
	return total, nil
}

func play(cmd *cobra.Command, args []string, f *playFlags, out *outputFlags, log string) error {
	if err := errors.Join(f.check(cmd.Flags()), out.check()); err != nil {
		return err
	}
	src, names, err := openSounds(cmd.Context(), args, &f.packFlags.Options)
	if err != nil {
		return err
	}
	defer src.Close()
	if len(names) == 0 {
		return usagef("%s is a pack: name an entry (sndpak list %s shows them)", args[0], args[0])
	}
	if file := out.file(); file != "" {
		if err := errors.Join(f.endless(file), src.spare(file, names)); err != nil {
			return err
		}
	}
	opt := out.options(cmd)
	opt.Hold = true
	rec, err := record(src, names, log, &opt)
	if err != nil {
		return err
	}
	p, err := player.Open(src, &opt)
	if err != nil {
		return errors.Join(err, rec.discard())
	}
	s := newSession(cmd, p, src, f, names)
	err = s.run(cmd.Context(), newScreen(cmd, src))
	return errors.Join(err, p.Close(), rec.close())
}

// spare refuses to write to a file that is read from.
func (s *sounds) spare(path string, names []string) error {
	target, err := os.Stat(path)
	if err != nil {
		return nil // it is not there, or its own fault will tell
	}
	var from []string
	for _, p := range s.packs {
		from = append(from, p.Path(), p.IndexPath())
	}
	for _, n := range names {
		from = append(from, n)
		for _, l := range s.Layers() {
			from = append(from, filepath.Join(l, n))
		}
	}
	for _, f := range from {
		if info, err := os.Stat(f); err == nil && os.SameFile(info, target) {
			return usagef("%s is read from: it would be overwritten", path)
		}
	}
	return nil
}
