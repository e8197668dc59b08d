package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

func newList() *cobra.Command {
	var pack packFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list PACK",
		Short:   "Show what is in a pack",
		Example: "  sndpak list music.data\n  sndpak list music.data --json | jq -r '.entries[].name'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := pack.open(cmd, args[0])
			if err != nil {
				return err
			}
			defer p.Close()
			return interruptible(cmd.Context(), func() error {
				w := bufio.NewWriter(cmd.OutOrStdout())
				if asJSON {
					err = listJSON(cmd.Context(), w, p)
				} else {
					err = listText(cmd.Context(), w, p)
				}
				if err != nil {
					return err
				}
				return cmp.Or(w.Flush(), p.Err())
			})
		},
	}
	pack.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listed is an entry in the JSON of list. What is not known of an entry is left out: of one that is
// no sound, everything from format on.
type listed struct {
	Name     string    `json:"name"`
	Key      string    `json:"key"`
	Offset   int64     `json:"offset"`
	Size     int64     `json:"size"`
	Format   string    `json:"format,omitempty"`
	Frames   *int64    `json:"frames,omitempty"`
	Rate     int       `json:"rate,omitempty"`
	Channels int       `json:"channels,omitempty"`
	Seconds  *float64  `json:"seconds,omitempty"`
	Loop     *[2]int64 `json:"loop,omitempty"`
	Error    string    `json:"error,omitempty"`

	encoding string
}

// listJSON writes an entry at a time: as values, those of a large pack would take thirty times as much
// memory as its index.
func listJSON(ctx context.Context, w io.Writer, p *soundpack.Pack) error {
	head, err := json.Marshal(struct {
		Pack   string `json:"pack"`
		Layout string `json:"layout"`
	}{p.Path(), p.Layout()})
	if err != nil {
		return err
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("  ", " ")
	var b bytes.Buffer
	if err := json.Indent(&b, head, "", " "); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s,\n \"entries\": [", bytes.TrimSuffix(b.Bytes(), []byte("\n}"))); err != nil {
		return err
	}
	before, after := "\n  ", "]\n}\n"
	for l := range listing(ctx, p) {
		text.Reset()
		if err := enc.Encode(l); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", before, bytes.TrimSuffix(text.Bytes(), []byte("\n"))); err != nil {
			return err
		}
		before, after = ",\n  ", "\n ]\n}\n"
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err = io.WriteString(w, after)
	return err
}

// nameColumn is how wide the column of names is: for the longest, within reason.
func nameColumn(p *soundpack.Pack) int {
	width := 20
	for e := range p.Entries() {
		width = max(width, utf8.RuneCountInString(oneLine(e.Name)))
	}
	return min(width, 60)
}

func listText(ctx context.Context, w io.Writer, p *soundpack.Pack) error {
	width := nameColumn(p)
	for l := range listing(ctx, p) {
		what := l.Error
		if what == "" {
			what = fmt.Sprintf("%9s  %s", clock(seconds(*l.Seconds)), describe(l.Format, l.encoding, l.Rate, l.Channels))
			if l.Loop != nil {
				what += fmt.Sprintf(", loop %d-%d", l.Loop[0], l.Loop[1])
			}
		} else {
			what = fmt.Sprintf("%9s  %s", "-", what)
		}
		if _, err := fmt.Fprintf(w, "%-*s %10d  %s\n", width, oneLine(l.Name), l.Size, oneLine(what)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// listing looks at every entry, on all cores, and yields them in the order of the index until ctx ends, or
// the pack has no more to give.
func listing(ctx context.Context, p *soundpack.Pack) func(yield func(listed) bool) {
	return func(yield func(listed) bool) {
		const batch = 256
		quit := make(chan struct{})
		defer close(quit)
		order := make(chan chan []listed, runtime.GOMAXPROCS(0))
		go func() {
			defer close(order)
			for from := 0; from < p.Len(); from += batch {
				part := make(chan []listed, 1)
				select {
				case order <- part:
				case <-quit:
					return
				case <-ctx.Done():
					return
				}
				go func() { part <- lookAt(ctx, p, from, min(from+batch, p.Len())) }()
			}
		}()
		for part := range order {
			for _, l := range <-part {
				if ctx.Err() != nil || broken(p) != nil || !yield(l) {
					return
				}
			}
		}
	}
}

func lookAt(ctx context.Context, p *soundpack.Pack, from, to int) []listed {
	part := make([]listed, 0, to-from)
	for i := from; i < to && ctx.Err() == nil && broken(p) == nil; i++ {
		part = append(part, look(p, p.Entry(i)))
	}
	return part
}

// look notes what the pack knows of an entry as a sound, or opens it and notes what it finds.
func look(p *soundpack.Pack, e soundpack.Entry) listed {
	l := listed{Name: e.Name, Key: e.Key(), Offset: e.Offset, Size: e.Size}
	if f, ok := p.Facts(e); ok && credible(f, e) {
		l.tell(f.Format, f.Encoding, f.Frames, f.Rate, f.Channels)
		if f.Loop[1] > 0 {
			l.Loop = &f.Loop
		}
		return l
	}
	if p.Size(e) != e.Size {
		l.Error = "JSON" // a small table that many entries share can be read as very much of it
		return l
	}
	r, err := p.Section(e)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	s, err := decode.Open(r, r.Size(), nil)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	defer s.Close()
	frames := int64(s.Len())
	in := s.Info()
	l.tell(in.Format, in.Encoding, frames, in.Rate, in.Channels)
	if len(in.Loops) > 0 {
		l.Loop = &[2]int64{in.Loops[0].Start, in.Loops[0].End}
	}
	return l
}

func (l *listed) tell(format, encoding string, frames int64, rate, channels int) {
	secs := float64(frames) / float64(rate)
	l.Format, l.Rate, l.Channels, l.encoding = format, rate, channels, encoding
	l.Frames, l.Seconds = &frames, &secs
}

// describe is a sound's format for people: "WAV, 16-bit PCM, 44.1 kHz stereo".
func describe(format, encoding string, rate, channels int) string {
	title := formatTitle(format)
	if encoding = strings.TrimPrefix(encoding, "Vorbis "); encoding != "" { // a manifest need not tell
		title += ", " + encoding
	}
	return fmt.Sprintf("%s, %g kHz %s", title, float64(rate)/1000, layoutName(channels))
}

func layoutName(channels int) string {
	switch channels {
	case 1:
		return "mono"
	case 2:
		return "stereo"
	}
	return fmt.Sprintf("%d channels", channels)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// clock shows a time as 0:01.25, or 1:02:03 from an hour on.
func clock(d time.Duration) string {
	d = max(d, 0).Round(10 * time.Millisecond)
	m, s := d/time.Minute, (d % time.Minute).Seconds()
	if m >= 60 {
		return fmt.Sprintf("%d:%02d:%02d", m/60, m%60, int(s))
	}
	return fmt.Sprintf("%d:%05.2f", m, s)
}
