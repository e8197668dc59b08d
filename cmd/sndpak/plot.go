package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/picture"
	"github.com/sndpak/sndpak/cmd/sndpak/internal/termimage"
	"github.com/sndpak/sndpak/player/decode"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

func newPlot() *cobra.Command {
	var f plotFlags
	cmd := &cobra.Command{
		Use:   "plot PACK ENTRY | PACK [ENTRY...] | FILE",
		Short: "Draw a sound, or a whole pack as a contact sheet",
		Long: `Draw one sound: its waveform (peak, and RMS over it; loop regions tinted, clipping red), its
spectrogram and its loudness over time (EBU R128 momentary and short-term), as PNG or
SVG by the name of the file. A pack, or several entries, become a contact sheet.

Without -o the picture is shown in the terminal: in pixels where that is known to take them
(kitty, Ghostty, Konsole, iTerm2, WezTerm, foot, mlterm), in block characters elsewhere.`,
		Example: `  sndpak plot music.data theme.ogg
  sndpak plot music.data theme.ogg -o theme.png --kind waveform,spectrogram
  sndpak plot music.data -o sheet.svg`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return plot(cmd, args, &f) },
	}
	f.add(cmd.Flags())
	return cmd
}

type plotFlags struct {
	packFlags
	output, format, inline string
	kinds                  []string
	width, height, columns int
	dark                   bool
}

func (f *plotFlags) add(flags *pflag.FlagSet) {
	f.packFlags.add(flags)
	flags.StringVarP(&f.output, "output", "o", "", "the `FILE` to write, - for standard output (default: shown in the terminal)")
	flags.StringVar(&f.format, "format", "", "png or svg (default: by the file's name)")
	flags.StringSliceVar(&f.kinds, "kind", nil, "what to draw: waveform, spectrogram, loudness, or several of them (default waveform; in a file, all)")
	flags.IntVar(&f.width, "width", 0, "width in pixels, or in columns of the terminal (default 1200, or all columns)")
	flags.IntVar(&f.height, "height", 0, "height in pixels, or in lines of the terminal (default: what the kinds ask for)")
	flags.IntVar(&f.columns, "columns", 0, "sounds in a row of a contact sheet (default: as many as have room)")
	flags.BoolVar(&f.dark, "dark", false, "light on dark")
	flags.StringVar(&f.inline, "inline", "auto", "how the terminal shows it: auto, kitty, iterm, sixel, blocks, plain")
}

// check refuses values that mean nothing, and fills in what follows from others.
func (f *plotFlags) check() ([]picture.Kind, error) {
	switch {
	case f.width < 0 || f.width > 20000 || f.height < 0 || f.height > 20000 || f.width*f.height > picture.MostPixels:
		return nil, usagef("--width %d --height %d: at most 20000 each, and %d pixels in all", f.width, f.height, picture.MostPixels)
	case f.columns < 0 || f.columns > 100:
		return nil, usagef("--columns %d: from 1 to 100", f.columns)
	case f.inline != "auto" && !slices.Contains(termimage.Protocols, termimage.Protocol(f.inline)):
		return nil, usagef("--inline %s: auto, kitty, iterm, sixel, blocks or plain", f.inline)
	}
	if f.format == "" {
		f.format = strings.TrimPrefix(strings.ToLower(filepath.Ext(f.output)), ".")
		if f.output == "-" || f.output == "" {
			f.format = "png"
		}
	}
	if f.format != "png" && f.format != "svg" {
		return nil, usagef("-o %s: name it .png or .svg, or say --format", f.output)
	}
	return f.wanted()
}

// wanted are the kinds that --kind names.
func (f *plotFlags) wanted() (kinds []picture.Kind, err error) {
	if len(f.kinds) == 0 {
		if f.output == "" {
			return []picture.Kind{picture.Waveform}, nil
		}
		return picture.Kinds, nil
	}
	for _, s := range f.kinds {
		k := picture.Kind(s)
		if !slices.Contains(picture.Kinds, k) {
			return nil, usagef("--kind %s: waveform, spectrogram or loudness", s)
		}
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds, nil
}

func plot(cmd *cobra.Command, args []string, f *plotFlags) error {
	kinds, err := f.check()
	if err != nil {
		return err
	}
	src, names, err := openSounds(cmd.Context(), args, &f.packFlags.Options)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := src.spare(f.output, names); err != nil {
		return err
	}
	if len(names) == 1 {
		return plotOne(cmd, src, names[0], kinds, f)
	}
	if len(f.kinds) > 0 && !slices.Equal(kinds, []picture.Kind{picture.Waveform}) {
		return usagef("a contact sheet shows waveforms: --kind is for one entry")
	}
	return plotSheet(cmd, src, names, f)
}

// plotOne draws one sound.
func plotOne(cmd *cobra.Command, src *sounds, name string, kinds []picture.Kind, f *plotFlags) error {
	y := picture.Style{Width: f.width, Height: f.height, Dark: f.dark}
	var show *inline
	if f.output == "" {
		show = f.terminal(cmd)
		y = show.style(len(kinds), f)
	}
	progress := newProgress(cmd, "drawing")
	d, err := measure(cmd.Context(), src, name, kinds, y, progress)
	progress.done()
	if err != nil {
		return err
	}
	if d.Err != nil {
		warn(cmd, fmt.Errorf("%s: %w", src.title(name), d.Err))
	}
	switch {
	case show != nil:
		return show.write(d, kinds, y)
	case f.format == "svg":
		return f.write(cmd, func(w io.Writer) error { return d.SVG(w, kinds, y) })
	}
	return f.write(cmd, func(w io.Writer) error { return png.Encode(w, d.Image(kinds, y)) })
}

// measure decodes a sound for drawing it. Loop points that a pack keeps of it count before its own.
func measure(ctx context.Context, src *sounds, name string, kinds []picture.Kind, y picture.Style, p *progress) (*picture.Sound, error) {
	s, err := src.decode(name)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	d, err := picture.Measure(ctx, s.Stream, kinds, y, func(done, total int64) {
		if p != nil {
			p.update(done, total)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.title, err)
	}
	in := s.Info()
	d.Title, d.Detail = oneLine(name), describe(in.Format, in.Encoding, in.Rate, in.Channels)
	if start, end, ok := src.keptLoop(name); ok {
		d.Loops = []decode.Loop{{Start: start, End: end}}
	}
	return d, nil
}

// write writes the file, which is there only if that worked.
func (f *plotFlags) write(cmd *cobra.Command, draw func(w io.Writer) error) error {
	if f.output == "-" {
		return draw(cmd.OutOrStdout())
	}
	return writeFile(f.output, draw)
}

// writeThrough writes to what is there.
func writeThrough(path string, write func(w io.Writer) error) error {
	out, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	return errors.Join(write(buffered), buffered.Flush(), out.Close())
}

// writeFile writes a file under another name beside its place and moves it there. A link is followed,
// and what is no file (a device, a pipe) is written to as it is.
func writeFile(path string, write func(w io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return writeThrough(path, write)
	}
	out, err := os.CreateTemp(filepath.Dir(path), ".sndpak-*")
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	err = errors.Join(write(buffered), buffered.Flush(), out.Chmod(0o644), out.Close())
	if err == nil {
		err = os.Rename(out.Name(), path)
	}
	if err != nil {
		os.Remove(out.Name())
	}
	return err
}

// plotSheet draws many sounds small, on all cores.
func plotSheet(cmd *cobra.Command, src *sounds, names []string, f *plotFlags) error {
	if len(names) == 0 {
		var err error
		if names, err = src.all(); err != nil {
			return err
		}
	}
	progress := newProgress(cmd, "drawing")
	list, err := thumbnails(cmd.Context(), src, names, progress)
	progress.done()
	if err = cmp.Or(src.broken(), err); err != nil {
		return err
	}
	sheet := picture.Sheet{Title: fmt.Sprintf("%s: %d sounds", filepath.Base(src.label), len(list)), Columns: f.columns}
	sheet.Style = picture.Style{Width: f.width, Dark: f.dark}
	if f.output == "" {
		return f.terminal(cmd).sheet(list)
	}
	if f.format == "svg" {
		return f.write(cmd, func(w io.Writer) error { return sheet.SVG(w, list) })
	}
	m, err := sheet.Image(list)
	if err != nil {
		return err
	}
	return f.write(cmd, func(w io.Writer) error { return png.Encode(w, m) })
}

// thumbnails measures the sounds. What a pack holds beside sounds is left out; a sound that does not
// decode is there with its error.
func thumbnails(ctx context.Context, src *sounds, names []string, p *progress) ([]*picture.Sound, error) {
	all := make([]*picture.Sound, len(names))
	var next, done atomic.Int64
	var shown sync.Mutex
	var work sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names) && ctx.Err() == nil && src.broken() == nil; i = int(next.Add(1)) - 1 {
				all[i] = thumbnail(ctx, src, names[i])
				n := done.Add(1)
				shown.Lock()
				p.update(n, int64(len(names)))
				shown.Unlock()
			}
		})
	}
	work.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	all = slices.DeleteFunc(all, func(d *picture.Sound) bool { return d == nil })
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no sounds to draw", src.label)
	}
	return all, nil
}

// thumbnail measures one sound of a sheet, nil where there is none.
func thumbnail(ctx context.Context, src *sounds, name string) *picture.Sound {
	if p, e, ok := src.lookup(name); ok && p.Size(e) != e.Size {
		return nil // JSON
	}
	d, err := measure(ctx, src, name, []picture.Kind{picture.Waveform}, picture.Style{}, nil)
	if err == nil {
		return d
	}
	if extensions[strings.ToLower(filepath.Ext(name))] == nil && errors.Is(err, decode.ErrFormat) {
		return nil
	}
	return &picture.Sound{Title: oneLine(name), Err: err}
}

// inline is a terminal that a picture is shown in.
type inline struct {
	out           io.Writer
	how           termimage.Protocol
	columns, rows int
	dark          bool
}

// terminal is where a picture goes that goes to no file: what is no terminal gets characters without
// colour.
func (f *plotFlags) terminal(cmd *cobra.Command) *inline {
	t := &inline{out: cmd.OutOrStdout(), how: termimage.Plain, columns: 80, rows: 24, dark: true}
	if file, ok := t.out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		t.how = termimage.Detect(os.Getenv)
		if w, h, err := term.GetSize(int(file.Fd())); err == nil && w > 0 && h > 0 {
			t.columns, t.rows = w, h
		}
	}
	if f.inline != "auto" {
		t.how = termimage.Protocol(f.inline)
	}
	return t
}

// style is the style of n kinds shown here, one above the other, if --width and --height say nothing
// else.
func (t *inline) style(n int, f *plotFlags) picture.Style {
	columns, rows := t.columns, min(max((t.rows-4)/n, 4), 10)*n
	if f.width > 0 {
		columns = min(f.width, 1000)
	}
	if f.height > 0 {
		rows = min(f.height, 500)
	}
	w, h := t.how.Pixels(columns, rows)
	return picture.Style{Width: w, Height: h, Dark: t.dark, Bare: t.how.Characters()}
}

// write shows a sound, and where its title cannot be read in the picture, first that.
func (t *inline) write(d *picture.Sound, kinds []picture.Kind, y picture.Style) error {
	if t.how.Characters() {
		if _, err := fmt.Fprintln(t.out, d.Heading()); err != nil {
			return err
		}
	}
	return t.how.Write(t.out, d.Image(kinds, y), picture.Ground(y.Dark))
}

// sheet shows sounds one below the other, each with its name before it.
func (t *inline) sheet(list []*picture.Sound) error {
	kinds := []picture.Kind{picture.Waveform}
	for _, d := range list {
		if d.Err != nil {
			if _, err := fmt.Fprintf(t.out, "%s: %s\n", d.Title, oneLine(d.Err.Error())); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(t.out, d.Heading()); err != nil {
			return err
		}
		w, h := t.how.Pixels(t.columns, 3)
		m := d.Image(kinds, picture.Style{Width: w, Height: h, Dark: t.dark, Bare: true})
		if err := t.how.Write(t.out, m, picture.Ground(t.dark)); err != nil {
			return err
		}
	}
	return nil
}
