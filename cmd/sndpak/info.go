package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

func newInfo() *cobra.Command {
	var pack packFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info PACK [ENTRY] | FILE",
		Short: "Tell all that is known of a pack, an entry or a sound file",
		Long: `Tell all that is known of a pack, or of one entry. An entry is decoded to its end, so
that its length, peak and silence are what is there and not what its header claims. Of a
picture (PNG, JPEG, GIF, BMP, WebP) the size is told, and of what else a pack holds where
it is in it.

The exit status is 3 where the entry is damaged, and 1 where it is a sound of a kind that
is not supported.`,
		Example: "  sndpak info music.data\n  sndpak info music.data theme.ogg\n  sndpak info song.mp3 --json",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, names, err := openSounds(cmd.Context(), args, &pack.Options)
			if err != nil {
				return err
			}
			defer src.Close()
			if len(names) == 0 && len(src.packs) == 1 {
				f := packInfo(cmd.Context(), src.packs[0])
				if err := cmp.Or(cmd.Context().Err(), src.packs[0].Err()); err != nil {
					return err
				}
				return show(cmd, f, asJSON)
			}
			if len(names) != 1 {
				return usagef("info takes one pack, or one entry")
			}
			return tell(cmd, src, names[0], asJSON)
		},
	}
	pack.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// facts are what info tells, in order.
type facts []fact

type fact struct {
	key   string // in JSON
	value any
	text  string // for people; "" leaves the fact out of the text
}

func (f *facts) add(key string, value any, format string, a ...any) {
	*f = append(*f, fact{key, value, fmt.Sprintf(format, a...)})
}

// MarshalJSON keeps the order of the facts.
func (f facts) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, x := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		v, err := json.Marshal(x.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", x.key, v)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

func show(cmd *cobra.Command, f facts, asJSON bool) error {
	w := cmd.OutOrStdout()
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		return enc.Encode(f)
	}
	return f.print(w)
}

func (f facts) print(w io.Writer) error {
	for _, x := range f {
		for line := range strings.SplitSeq(x.text, "\n") {
			if line == "" {
				continue
			}
			if _, err := fmt.Fprintf(w, "%-11s %s\n", x.key, oneLine(line)); err != nil {
				return err
			}
		}
	}
	return nil
}

// packInfo are the facts of a whole pack.
func packInfo(ctx context.Context, p *soundpack.Pack) facts {
	var f facts
	f.add("pack", p.Path(), "%s", p.Path())
	f.add("index", p.IndexPath(), "%s", p.IndexPath())
	f.add("layout", p.Layout(), "%s", p.Layout())
	f.add("entries", p.Len(), "%d", p.Len())
	f.add("size", p.DataSize(), "%s", bytesText(p.DataSize()))
	formats, secs := map[string]int{}, 0.0
	for l := range listing(ctx, p) {
		switch {
		case l.Format != "":
			formats[l.Format]++
			secs += *l.Seconds
		default:
			formats["other"]++
		}
	}
	var text []string
	for _, k := range []string{"wav", "flac", "vorbis", "mp3", "other"} {
		if n := formats[k]; n > 0 {
			text = append(text, fmt.Sprintf("%d %s", n, formatTitle(k)))
		}
	}
	f.add("formats", formats, "%s", strings.Join(text, ", "))
	f.add("seconds", secs, "%s of sound", clock(seconds(secs)))
	f.add("warnings", nonNil(p.Warnings()), "%s", strings.Join(p.Warnings(), "\n"))
	return f
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// tell shows the facts of one entry or file. What a pack tells of an entry is known though the entry may
// not decode; and that it is no sound, nor called one, is no failure there.
func tell(cmd *cobra.Command, src *sounds, name string, asJSON bool) error {
	f, err := soundInfo(cmd, src, name)
	if cmd.Context().Err() != nil || len(f) == 0 {
		return err
	}
	if err != nil {
		f.add("error", oneLine(err.Error()), "")
	}
	if as[notSoundError](err) {
		fmt.Fprintf(cmd.ErrOrStderr(), "sndpak: note: %s\n", oneLine(err.Error()))
		err = nil
	}
	return errors.Join(show(cmd, f, asJSON), err)
}

// soundInfo are the facts of one sound, decoded to its end. Beside an error they are those of the pack.
func soundInfo(cmd *cobra.Command, src *sounds, name string) (facts, error) {
	var f facts
	if p, e, ok := src.lookup(name); ok {
		f.entry(p, e)
	}
	s, err := src.decode(name)
	if errors.Is(err, decode.ErrFormat) {
		if is, fault := f.picture(src, name); is || fault != nil {
			return f, fault
		}
	}
	if err != nil {
		return f, err
	}
	defer s.Close()
	report, err := decode.Inspect(cmd.Context(), s.Stream)
	if err != nil {
		return f, fmt.Errorf("%s: %w", s.title, err)
	}
	f.sound(s.Info())
	f.heard(report)
	return f, nil
}

// entry adds what the pack tells of an entry.
func (f *facts) entry(p *soundpack.Pack, e soundpack.Entry) {
	f.add("pack", p.Path(), "%s", p.Path())
	f.add("name", e.Name, "%s", e.Name)
	if e.Raw() != e.Name {
		f.add("alias", e.Raw(), "%q in the index", e.Raw())
	}
	f.add("key", e.Key(), "")
	f.add("offset", e.Offset, "%d", e.Offset)
	f.add("size", e.Size, "%d bytes", e.Size)
	if crc, ok := p.Checksum(e); ok {
		f.add("crc32c", fmt.Sprintf("%08x", crc), "%08x", crc)
	}
	if sum, ok := p.SHA256(e); ok {
		f.add("sha256", fmt.Sprintf("%x", sum), "%x", sum)
	}
	var shared []string
	for _, other := range p.Shared(e) {
		shared = append(shared, other.Name)
	}
	if n := len(shared); n > mostTold {
		f.add("shared", shared, "its bytes with %s and %d more", strings.Join(shared[:mostTold], ", "), n-mostTold)
	} else if n > 0 {
		f.add("shared", shared, "its bytes with %s", strings.Join(shared, ", "))
	}
}

// sound adds what the file tells.
func (f *facts) sound(in decode.Info) {
	f.add("format", in.Format, "%s", formatTitle(in.Format))
	f.add("encoding", in.Encoding, "%s", in.Encoding)
	f.add("rate", in.Rate, "%d Hz", in.Rate)
	f.add("channels", in.Channels, "%d (%s)", in.Channels, layoutName(in.Channels))
	if in.Bits > 0 {
		f.add("bits", in.Bits, "%d", in.Bits)
	}
	secs := float64(in.Frames) / float64(in.Rate)
	f.add("frames", in.Frames, "%d", in.Frames)
	f.add("seconds", secs, "%s", clock(seconds(secs)))
	if in.Delay > 0 || in.Padding > 0 {
		f.add("delay", in.Delay, "%d frames taken off at the start", in.Delay)
		f.add("padding", in.Padding, "%d frames taken off at the end", in.Padding)
	}
	loops := make([][2]int64, 0, len(in.Loops))
	var text []string
	for _, l := range in.Loops {
		loops = append(loops, [2]int64{l.Start, l.End})
		how := ""
		if l.PingPong {
			how = ", forward and back (played forward)"
		}
		text = append(text, fmt.Sprintf("frames %d to %d%s", l.Start, l.End, how))
	}
	if len(loops) > 0 {
		f.add("loop", loops[0], "%s", strings.Join(text, "\n"))
		f.add("loops", loops, "")
	}
}

// decibels is a share of full scale in dBFS; null in JSON for silence.
func decibels(v float64) *float64 {
	if v <= 0 {
		return nil
	}
	dB := 20 * math.Log10(v)
	return &dB
}

func dbText(v float64) string {
	if dB := decibels(v); dB != nil {
		return fmt.Sprintf("%.1f dBFS", *dB)
	}
	return "silence"
}

// heard adds what decoding the sound to its end showed.
func (f *facts) heard(r decode.Report) {
	f.add("peak", decibels(r.Peak), "%s", dbText(r.Peak))
	f.add("clipped", r.Clipped, "%d samples at full scale", r.Clipped)
	f.add("silence", [2]int64{r.LeadSilence, r.TailSilence}, "%d frames at the start, %d at the end", r.LeadSilence, r.TailSilence)
	warnings := slices.Concat(r.Info.Warnings, r.Findings)
	f.add("warnings", nonNil(warnings), "%s", strings.Join(warnings, "\n"))
}
