package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

func newVerify() *cobra.Command {
	var pack packFlags
	var deep, asJSON bool
	cmd := &cobra.Command{
		Use:   "verify PACK",
		Short: "Check a pack",
		Long: `Check the index, its names and bounds, overlaps and gaps, and that every entry is the
sound that its name says. --deep also decodes every entry to its end; sound that is lost
on the way is damage then, though it plays on.

Of many findings of a kind the first 30 are told, or 100 with --json; all are counted.
The exit status is 3 where something is damaged; warnings alone leave it 0.`,
		Example: "  sndpak verify music.data\n  sndpak verify music.data --deep --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := openPack(cmd.Context(), args[0], &pack.Options)
			if err != nil {
				return err
			}
			defer p.Close()
			var look lookInto
			if deep {
				look = func(ctx context.Context, s *decode.Stream) []soundpack.Finding {
					_, found := inspect(ctx, s)
					return found
				}
			}
			most := mostFound
			if asJSON {
				most = 0
			}
			progress := newProgress(cmd, "verifying")
			once := newBodies(p)
			truths := &truths{p: p, bodies: once, of: map[span]truth{}}
			check := checkSound(cmd.Context(), look, truths.heard)
			report, err := p.Verify(cmd.Context(), &soundpack.VerifyOptions{
				Check: func(f *soundpack.File) []soundpack.Finding {
					return slices.Concat(once.check(f, check), truths.compare(f.Entry()))
				},
				Progress: progress.update, MaxFindings: most,
			})
			progress.done()
			if err != nil {
				return err
			}
			return printReport(cmd, report, asJSON)
		},
	}
	pack.add(cmd.Flags())
	cmd.Flags().BoolVar(&deep, "deep", false, "decode every entry")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printReport shows what was found; damage is the command's error.
func printReport(cmd *cobra.Command, r *soundpack.Report, asJSON bool) error {
	w := bufio.NewWriter(cmd.OutOrStdout()) // keeps the first error
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		if err := enc.Encode(r); err != nil {
			return err
		}
	} else {
		for _, f := range r.Findings {
			fmt.Fprintf(w, "%s: %s\n", severityName(f.Severity), oneLine(f.String()))
		}
		fmt.Fprintf(w, "%s: %s, %s, %s\n", oneLine(r.Pack), count(r.Entries, "entry", "entries"),
			count(r.Errors, "error", "errors"), count(r.Warnings, "warning", "warnings"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Damaged() {
		return damagedError{fmt.Errorf("%s: %s", r.Pack, count(r.Errors, "error", "errors"))}
	}
	return nil
}

func severityName(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "error"
	case l >= slog.LevelWarn:
		return "warning"
	}
	return "note"
}

// extensions are the file name extensions that promise a format.
var extensions = map[string][]string{
	".wav": {"wav"}, ".wave": {"wav"}, ".ogg": {"vorbis", "flac"}, ".oga": {"vorbis", "flac"},
	".mp3": {"mp3"}, ".flac": {"flac"},
}

// promised are the formats that a name promises, nil for one that is no sound's.
func promised(name string) []string {
	return extensions[strings.ToLower(path.Ext(filepath.ToSlash(name)))]
}

// lookInto decodes a sound and tells what it found.
type lookInto func(ctx context.Context, s *decode.Stream) []soundpack.Finding

// checkSound looks whether an entry is the sound that its name promises, and deep, if not nil, into it. heard, if
// not nil, is shown it first.
func checkSound(ctx context.Context, deep lookInto, heard func(e soundpack.Entry, s *decode.Stream)) func(f *soundpack.File) []soundpack.Finding {
	return func(f *soundpack.File) []soundpack.Finding {
		info, err := f.Stat()
		if err != nil {
			return []soundpack.Finding{{Severity: slog.LevelError, Kind: "sound", Text: err.Error()}}
		}
		ext := strings.ToLower(path.Ext(info.Name()))
		promised := extensions[ext]
		s, err := decode.Open(f, f.Size(), nil)
		if err != nil {
			return unplayable(err, f.Size(), promised, deep != nil)
		}
		defer s.Close()
		var found []soundpack.Finding
		warnf := func(format string, a ...any) {
			found = append(found, soundpack.Finding{Severity: slog.LevelWarn, Kind: "sound", Text: fmt.Sprintf(format, a...)})
		}
		if heard != nil {
			heard(f.Entry(), s)
		}
		in := s.Info()
		if promised != nil && !slices.Contains(promised, in.Format) {
			warnf("named %s, but it is %s", ext, formatTitle(in.Format))
		}
		if deep != nil {
			return append(found, deep(ctx, s)...)
		}
		for _, w := range in.Warnings {
			warnf("%s", w)
		}
		return found
	}
}

// unplayable judges an entry that does not open: nothing in one that is not named as a sound. In one
// that is, what no decoder knows is a warning, for the pack itself is whole; deep asked for sounds.
func unplayable(err error, size int64, promised []string, deep bool) []soundpack.Finding {
	f := soundpack.Finding{Severity: slog.LevelError, Kind: "sound", Text: err.Error()}
	switch {
	case size == 0:
		f.Severity = slog.LevelWarn
	case promised == nil && errors.Is(err, decode.ErrFormat):
		return nil // a pack may hold other files too
	case !deep && errors.Is(err, decode.ErrFormat), errors.Is(err, decode.ErrUnsupported):
		f.Severity = slog.LevelWarn
	}
	return []soundpack.Finding{f}
}

// formatTitle is a format's name as people write it.
func formatTitle(format string) string {
	switch format {
	case "wav", "flac", "mp3":
		return strings.ToUpper(format)
	case "vorbis":
		return "OGG Vorbis"
	}
	return format
}

// inspect decodes a sound to its end and tells what a shipper should know. Each of also is shown its
// blocks on the way.
func inspect(ctx context.Context, s *decode.Stream, also ...func(block []float32)) (r decode.Report, found []soundpack.Finding) {
	r, err := decode.Inspect(ctx, s, also...)
	for _, text := range slices.Concat(r.Info.Warnings, r.Findings) {
		level := slog.LevelWarn
		if slices.Contains(r.Info.Lost, text) {
			level = slog.LevelError
		}
		found = append(found, soundpack.Finding{Severity: level, Kind: "sound", Text: text})
	}
	if err != nil && ctx.Err() == nil {
		found = append(found, soundpack.Finding{Severity: slog.LevelError, Kind: "sound", Text: err.Error()})
	}
	return r, found
}
