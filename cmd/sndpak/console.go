package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/console"
	"github.com/sndpak/sndpak/cmd/sndpak/internal/waveform"
	"github.com/sndpak/sndpak/player"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// consoleFlags are the flags of console.
type consoleFlags struct {
	packFlags
	outputFlags
	keys, theme string
	lines       bool
}

func newConsole() *cobra.Command {
	var f consoleFlags
	cmd := &cobra.Command{
		Use:   "console PACK... [ENTRY...] | FILE...",
		Short: "Play sounds by keys, over each other",
		Long: `Put sounds on the keys 1 to 9 and a to z (q quits) and play them over each other. With
Shift a key plays looped, and again stops. Space pauses all, . stops all, + and - change
the gain. Sounds of a pack that changes meanwhile are heard anew from their next start on.

On a terminal it fills the screen: all sounds by folder, search with /, the waveform of
the chosen one, what plays, buses with meters; ? shows all keys. --keys FILE keeps which
sound is on which key. Without colours: NO_COLOR=1 or --theme none.

Keys are read from a pipe too, and there lines such as "seek 1.5"; what happens is then
told line by line, as it is on a terminal with --lines.`,
		Example: `  sndpak console music.data --keys music.keys
  printf '1 2' | sndpak console music.data --output wav:out.wav`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runConsole(cmd, args, &f)
		},
	}
	flags := cmd.Flags()
	f.packFlags.add(flags)
	f.outputFlags.add(flags)
	flags.StringVar(&f.keys, "keys", "", "take the key map from this `FILE` and keep it there")
	flags.StringVar(&f.theme, "theme", "auto", "colours: auto, dark, light, none")
	flags.BoolVar(&f.lines, "lines", false, "tell line by line what happens, on a terminal too")
	return cmd
}

func runConsole(cmd *cobra.Command, args []string, f *consoleFlags) error {
	if !slices.Contains(console.Themes, f.theme) {
		return usagef("--theme %s: %s", f.theme, strings.Join(console.Themes, ", "))
	}
	if err := f.outputFlags.check(); err != nil {
		return err
	}
	src, names, err := openSounds(cmd.Context(), args, &f.packFlags.Options)
	if err != nil {
		return err
	}
	defer src.Close()
	all := len(names) == 0
	if all {
		if names, err = src.all(); err != nil {
			return err
		}
	}
	keys := console.NewKeymap(names)
	if f.keys != "" {
		if keys, err = console.LoadKeymap(f.keys, names); err != nil {
			return err
		}
	}
	if f.lines || !isScreen(cmd) {
		return consoleLines(cmd, src, names, keys, f)
	}
	return consoleScreen(cmd, src, names, all, keys, f)
}

// consoleLines is the console of a pipe.
func consoleLines(cmd *cobra.Command, src *sounds, names []string, keys *console.Keymap, f *consoleFlags) error {
	file := strings.HasPrefix(f.output, "wav")
	if file && isRaw(cmd) {
		return usagef("console plays in real time: --output %s takes keys from a pipe only", f.output)
	}
	if err := src.spare(f.file(), names); err != nil {
		return err
	}
	opt := f.options(cmd)
	opt.Hold = true
	p, err := player.Open(src, &opt)
	if err != nil {
		return err
	}
	stop := src.follow(cmd.Context(), p, func(err error, _ bool) {
		if err != nil {
			warn(cmd, err)
		}
	})
	defer stop()
	restore := rawTerminal(cmd)
	defer restore()
	kept := &keptWriter{w: textOut(cmd)}
	err = console.Run(cmd.Context(), console.Config{
		Player: p, Names: names, Map: keys, In: cmd.InOrStdin(), Out: kept, Loop: src.keptLoop,
		Live: isRaw(cmd), Hold: file,
	})
	return errors.Join(err, p.Close(), kept.fault(), src.broken())
}

// consoleScreen is the console that fills a terminal. Faults go to its screen, which standard error
// would spoil.
func consoleScreen(cmd *cobra.Command, src *sounds, names []string, all bool, keys *console.Keymap, f *consoleFlags) error {
	if strings.HasPrefix(f.output, "wav") {
		return usagef("console plays in real time: --output %s takes keys from a pipe only", f.output)
	}
	news := newNewsFeed(cmd.Context())
	defer news.close()
	opt := f.options(cmd)
	opt.Warn = func(err error) { news.tell(console.News{Err: err}) }
	p, err := player.Open(src, &opt)
	if err != nil {
		return err
	}
	stop := src.follow(cmd.Context(), p, func(err error, changed bool) {
		n := console.News{Err: err}
		if changed {
			n.Library = src.library(names, all)
		}
		news.tell(n)
	})
	defer stop()
	err = console.RunScreen(cmd.Context(), console.ScreenConfig{
		Player: p, Library: *src.library(names, all), Keys: keys, News: news.out, Loop: src.keptLoop,
		In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Theme: f.theme, Env: os.Environ(),
	})
	news.close() // follow waits for what it tells
	return errors.Join(err, p.Close(), src.broken())
}

// newsFeed carries what happens beside the keyboard to the screen, until it is closed.
type newsFeed struct {
	out   chan console.News
	ctx   context.Context
	close context.CancelFunc
}

func newNewsFeed(ctx context.Context) *newsFeed {
	n := &newsFeed{out: make(chan console.News, 16)}
	n.ctx, n.close = context.WithCancel(ctx)
	return n
}

func (n *newsFeed) tell(news console.News) {
	select {
	case n.out <- news:
	case <-n.ctx.Done():
	}
}

// library is what the console shows: the names given, or all that there are now.
func (s *sounds) library(names []string, all bool) *console.Library {
	if all {
		if now, err := s.all(); err == nil {
			names = now
		}
	}
	title := filepath.Base(s.label)
	if s.label == "" {
		title = "files"
	} else if n := len(s.Layers()); n > 1 {
		title = fmt.Sprintf("%s and %d more", title, n-1)
	}
	return &console.Library{Title: title, Names: names, Details: s.details, Wave: s.wave}
}

// details are what a pack tells of a sound without opening it.
func (s *sounds) details(name string) (d console.Details) {
	p, e, ok := s.lookup(name)
	if !ok {
		return d
	}
	d.Size = e.Size
	f, ok := p.Facts(e)
	if !ok || !credible(f, e) {
		return d
	}
	d.What = describe(f.Format, f.Encoding, f.Rate, f.Channels)
	d.Length = frameTime(f.Frames, f.Rate)
	d.Loop = [2]time.Duration{frameTime(f.Loop[0], f.Rate), frameTime(f.Loop[1], f.Rate)}
	return d
}

func frameTime(frames int64, rate int) time.Duration {
	return time.Duration(float64(frames) / float64(rate) * float64(time.Second))
}

// wave decodes a sound for its waveform.
func (s *sounds) wave(ctx context.Context, name string, columns int) (*console.Wave, error) {
	d, err := s.decode(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	in := d.Info()
	peaks := waveform.NewPeaks(in)
	if err := waveform.Read(ctx, d.Stream, nil, peaks); err != nil {
		return nil, fmt.Errorf("%s: %w", d.title, err)
	}
	w := &console.Wave{Details: s.details(name)}
	w.What = describe(in.Format, in.Encoding, in.Rate, in.Channels)
	w.Length = frameTime(peaks.Frames(), in.Rate)
	if start, end, ok := s.keptLoop(name); ok {
		w.Loop = [2]time.Duration{frameTime(start, in.Rate), frameTime(end, in.Rate)}
	} else if len(in.Loops) > 0 {
		w.Loop = [2]time.Duration{frameTime(in.Loops[0].Start, in.Rate), frameTime(in.Loops[0].End, in.Rate)}
	}
	for ch := range peaks.Channels() {
		w.Lanes = append(w.Lanes, peaks.Columns(ch, 0, peaks.Frames(), columns))
	}
	return w, nil
}

// isScreen reports whether the console can fill the screen of a terminal.
func isScreen(cmd *cobra.Command) bool {
	out, ok := cmd.OutOrStdout().(*os.File)
	return ok && isRaw(cmd) && term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb"
}

// isRaw reports whether keys come from a terminal one by one.
func isRaw(cmd *cobra.Command) bool {
	f, ok := cmd.InOrStdin().(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// rawTerminal has the terminal give single keys, and returns what takes that back.
func rawTerminal(cmd *cobra.Command) (restore func()) {
	if !isRaw(cmd) {
		return func() {}
	}
	fd := int(cmd.InOrStdin().(*os.File).Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return func() {}
	}
	return func() { term.Restore(fd, state) }
}

// follow has the player take up what changes in the packs on disk, until stop is called. tell is told
// of each change that was taken up, and of faults, one at a time for each pack.
func (s *sounds) follow(ctx context.Context, p *player.Player, tell func(err error, changed bool)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	for _, pack := range s.packs {
		label := pack.Path()
		watching.Go(func() {
			pack.Watch(ctx, func(c soundpack.Change) {
				if c.Err != nil {
					tell(c.Err, false)
					return
				}
				s.remount(label, c.Pack)
				tell(present(p.Reload(s, player.ReloadOptions{Names: changed(c)})), true)
			})
		})
	}
	return func() {
		cancel()
		watching.Wait()
	}
}

// present leaves out of the errors joined in err those about sounds that are gone.
func present(err error) error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range j.Unwrap() {
			all = append(all, present(e))
		}
		return errors.Join(all...)
	}
	if isMissing(err) || as[noEntryError](err) {
		return nil
	}
	return err
}

// changed are the names whose sound is another one now.
func changed(c soundpack.Change) []string {
	names := []string{}
	for _, e := range slices.Concat(c.Added, c.Changed, c.Removed) {
		names = append(names, e.Name)
	}
	for _, r := range c.Renamed {
		names = append(names, r[0].Name, r[1].Name)
	}
	return names
}
