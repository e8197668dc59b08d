package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/sndpak/sndpak/player"
	"github.com/spf13/cobra"
)

// stressFlags say how hard.
type stressFlags struct {
	packFlags
	output string
	voices int
	each   timeFlag
	asJSON bool
}

func newStress() *cobra.Command {
	f := stressFlags{each: timeFlag(2 * time.Second)}
	cmd := &cobra.Command{
		Use:   "stress PACK... [ENTRY...] | FILE...",
		Short: "Find how many voices, and how small a buffer, this machine holds",
		Long: `Play the sounds of a pack looped, more and more of them at a time, with gain and pan moving,
and tell how long mixing a block takes, as part of the time that the block lasts: of half of
all blocks, of 99 in 100, of the worst. Above 100 % the sound would break. Streams are
decoded by the same core here, which a game has done beside it.

Then --voices of them play in real time through smaller and smaller buffers; gaps are how
often a device would have had nothing to play. Other programs that run meanwhile count.`,
		Example: "  sndpak stress music.data\n  sndpak stress music.data --output pulse --json",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return stress(cmd, args, &f) },
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&f.output, "output", "null", "where the buffers are tried: null, pulse, speaker")
	cmd.Flags().IntVar(&f.voices, "voices", 64, "how many play while buffers are tried")
	cmd.Flags().Var(&f.each, "time", "how much `TIME` of sound is mixed for each row (default 2s)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// stressReport is what stress finds; loads are parts of the time there is.
type stressReport struct {
	Voices  []voiceRow  `json:"voices"`
	Buffers []bufferRow `json:"buffers"`

	// Holds is how many voices of each kind take half of the time of a core, and Smallest the least
	// buffer, in milliseconds, from which on there were no gaps; 0 = none.
	Holds    map[string]int `json:"holds"`
	Smallest int            `json:"smallest_buffer"`
}

// stressKinds are the kinds of voices that are tried.
var stressKinds = []string{"memory", "pitched", "streams"}

type voiceRow struct {
	Kind   string  `json:"kind"` // memory, pitched or streams
	Voices int     `json:"voices"`
	Mean   float64 `json:"mean"`
	P50    float64 `json:"p50"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

type bufferRow struct {
	Milliseconds int     `json:"milliseconds"`
	Voices       int     `json:"voices"`
	Gaps         int64   `json:"gaps"`      // -1: the device cannot tell
	Underruns    int64   `json:"underruns"` // of streams
	P99          float64 `json:"p99"`
	Max          float64 `json:"max"`
}

func stress(cmd *cobra.Command, args []string, f *stressFlags) error {
	switch {
	case f.voices < 1 || f.voices > mostStressed:
		return usagef("--voices %d: from 1 to %d", f.voices, mostStressed)
	case f.each < timeFlag(10*time.Millisecond) || f.each > timeFlag(time.Hour):
		return usagef("--time %v: from 10ms to 1h", time.Duration(f.each))
	case strings.HasPrefix(f.output, "wav"):
		return usagef("--output %s: a device, for time to be real", f.output)
	}
	src, names, err := openSounds(cmd.Context(), args, &f.packFlags.Options)
	if err != nil {
		return err
	}
	defer src.Close()
	if len(names) == 0 {
		if names, err = src.all(); err != nil {
			return err
		}
	}
	s := &stresser{stressFlags: f, src: src, names: names, prog: newProgress(cmd, "stress")}
	defer s.prog.done()
	report, err := s.run(cmd.Context())
	if err != nil {
		return err
	}
	s.prog.done()
	w := bufio.NewWriter(cmd.OutOrStdout())
	if f.asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		err = enc.Encode(report)
	} else {
		report.print(w)
	}
	return errors.Join(err, w.Flush())
}

// mostStressed is the most voices that are tried at a time.
const mostStressed = 16384

type stresser struct {
	*stressFlags
	src   *sounds
	names []string
	prog  *progress
}

// run tries voices by kind until half of the time is gone, then buffers.
func (s *stresser) run(ctx context.Context) (*stressReport, error) {
	r := &stressReport{Voices: []voiceRow{}, Buffers: []bufferRow{}}
	for _, kind := range stressKinds {
		for n := 16; n <= mostStressed; n *= 2 {
			row, err := s.offline(ctx, kind, n)
			if err != nil {
				return nil, err
			}
			if row == nil { // the pack has none of that kind
				break
			}
			if r.Voices = append(r.Voices, *row); row.Mean > 0.5 {
				break
			}
		}
	}
	if len(r.Voices) == 0 {
		return nil, fmt.Errorf("%s: no sound in it plays", s.src.label)
	}
	for _, ms := range []int{200, 100, 50, 20, 10, 5} {
		row, err := s.live(ctx, ms)
		if err != nil {
			return nil, err
		}
		r.Buffers = append(r.Buffers, *row)
	}
	r.conclude()
	return r, nil
}

// conclude fills in what follows from the rows.
func (r *stressReport) conclude() {
	r.Holds = map[string]int{}
	for _, v := range r.Voices {
		r.Holds[v.Kind] = int(float64(v.Voices) * 0.5 / max(v.Mean, 1e-9))
	}
	for _, b := range r.Buffers {
		if b.Gaps != 0 {
			break
		}
		r.Smallest = b.Milliseconds
	}
}

// stressBlock is how many frames are mixed at a time, 10.7 ms of them.
const stressBlock = 512

// offline mixes n voices of a kind as fast as it goes; nil where there are no such sounds.
func (s *stresser) offline(ctx context.Context, kind string, n int) (*voiceRow, error) {
	p := player.New(s.src, &player.Options{InStep: true, Voices: n, Ahead: 50 * time.Millisecond})
	defer p.Close()
	voices, err := s.start(p, n, kind)
	if err != nil || len(voices) == 0 {
		return nil, err
	}
	block := make([]float32, 2*stressBlock)
	began, spent := time.Now(), time.Duration(0)
	blocks := int(time.Duration(s.each).Seconds()*float64(p.Rate())/stressBlock) + 1
	for i := range blocks {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.prog.step(fmt.Sprintf("%d voices, %s", n, kind), int64(i), int64(blocks))
		move(voices, i)
		at := time.Now()
		p.Mix(block)
		spent += time.Since(at)
		if i > 8 && time.Since(began) > 4*time.Duration(s.each) { // far beyond what it holds
			blocks = i + 1
			break
		}
	}
	st := p.Stats()
	mean := spent.Seconds() * float64(p.Rate()) / float64(blocks*stressBlock)
	return &voiceRow{kind, n, mean, st.LoadP50, st.LoadP99, st.LoadMax}, nil
}

// live plays in real time through a buffer.
func (s *stresser) live(ctx context.Context, ms int) (*bufferRow, error) {
	p, err := player.Open(s.src, &player.Options{
		Output: s.output, Buffer: time.Duration(ms) * time.Millisecond, Voices: s.voices, Hold: true,
	})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	voices, err := s.start(p, s.voices, "streams", "memory")
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i, end := 0, time.Now().Add(time.Duration(s.each)); time.Now().Before(end); i++ {
		select {
		case <-tick.C:
			move(voices, i)
		case <-p.Done():
			return nil, p.Err()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		s.prog.step(fmt.Sprintf("%d ms", ms), int64(i), int64(time.Duration(s.each)/(20*time.Millisecond)))
	}
	st := p.Stats()
	return &bufferRow{ms, s.voices, st.Gaps, st.Underruns, st.LoadP99, st.LoadMax}, nil
}

// streamsLive is how many streams play in real time.
const streamsLive = 8

// start plays n voices of some kinds, looped, all sounds in turn: of streams beside others, a few.
func (s *stresser) start(p *player.Player, n int, kinds ...string) (voices []*player.Voice, err error) {
	for k, kind := range kinds {
		var sounds []*player.Sound
		for _, name := range s.names {
			if sound := s.load(p, name, kind); sound != nil {
				sounds = append(sounds, sound)
			}
		}
		most := n
		if last := k == len(kinds)-1; !last {
			most = min(n, streamsLive)
		}
		for i := 0; i < most && len(sounds) > 0 && len(voices) < n; i++ {
			sound := sounds[i%len(sounds)]
			o := player.Params{Loop: &player.Loop{}, Gain: -30, Start: int64(i) * 4801 % sound.Frames()}
			if kind == "pitched" {
				o.Pitch = 0.8 + 0.005*float64(i%80)
			}
			v, err := sound.Play(o)
			if err != nil {
				return nil, err
			}
			voices = append(voices, v)
		}
	}
	return voices, nil
}

// load gives a sound of a kind, nil where the name is none.
func (s *stresser) load(p *player.Player, name, kind string) *player.Sound {
	sound, err := p.Load(name, player.Auto)
	if err != nil { // a text, or what verify would tell of
		return nil
	}
	if (sound.Clip() == nil) != (kind == "streams") || sound.Frames() < 100 {
		sound.Unload()
		return nil
	}
	return sound
}

// move changes gain and pan of some of the voices.
func move(voices []*player.Voice, i int) {
	for k := i % 8; k < len(voices); k += 8 {
		x := math.Sin(float64(i+k) / 40)
		voices[k].SetGain(-30 + 6*x) // an error is that of too many commands, which costs as much
		voices[k].SetPan(x)
	}
}

func (r *stressReport) print(w io.Writer) {
	fmt.Fprintf(w, "%-8s %7s %9s %9s %9s %9s\n", "kind", "voices", "mean", "half", "99 %", "most")
	for _, v := range r.Voices {
		fmt.Fprintf(w, "%-8s %7d %7.2f %% %7.2f %% %7.2f %% %7.2f %%\n", v.Kind, v.Voices, 100*v.Mean, 100*v.P50, 100*v.P99, 100*v.Max)
	}
	fmt.Fprintf(w, "\n%-8s %7s %9s %9s %9s %9s\n", "buffer", "voices", "gaps", "underruns", "99 %", "most")
	for _, b := range r.Buffers {
		gaps := fmt.Sprint(b.Gaps)
		if b.Gaps < 0 {
			gaps = "?"
		}
		fmt.Fprintf(w, "%5d ms %7d %9s %9d %7.2f %% %7.2f %%\n", b.Milliseconds, b.Voices, gaps, b.Underruns, 100*b.P99, 100*b.Max)
	}
	fmt.Fprintln(w)
	for _, kind := range stressKinds {
		if n, ok := r.Holds[kind]; ok {
			fmt.Fprintf(w, "half of a core holds %d voices: %s\n", n, kind)
		}
	}
	if r.Smallest > 0 {
		fmt.Fprintf(w, "no gap down to a buffer of %d ms\n", r.Smallest)
	} else {
		fmt.Fprintln(w, "gaps at every buffer")
	}
}
