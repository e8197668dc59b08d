package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/lint"
	"github.com/sndpak/sndpak/cmd/sndpak/internal/waveform"
	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

func newLint() *cobra.Command {
	var f lintFlags
	cmd := &cobra.Command{
		Use:   "lint PACK",
		Short: "Judge a pack before it ships",
		Long: `Judge a pack before it ships: everything that verify --deep finds, and sounds that are louder
or softer than the others, true peaks, gain that is not used, silence at the ends, the
same sound twice, names near the limit, and large uncompressed ones.

--list shows the rules. A rule file switches them off, changes their levels and limits:

  {"rules": {"same-sound": "off", "true-peak": {"level": "error", "limit": -1},
             "loudness": {"limit": 6, "target": -18}}}

The exit status is 0, or 3 where a finding is as bad as --fail-on says.`,
		Example: `  sndpak lint music.data
  sndpak lint music.data --rules lint.json --fail-on warning
  sndpak lint music.data --sarif > lint.sarif`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runLint(cmd, args, &f) },
	}
	f.pack.add(cmd.Flags())
	cmd.Flags().StringVar(&f.rules, "rules", "", "the rule `FILE`, JSON")
	cmd.Flags().StringVar(&f.failOn, "fail-on", "error", "the least `LEVEL` that makes the exit status 3: note, warning, error, or off for none")
	cmd.Flags().BoolVar(&f.list, "list", false, "show the rules and their limits, and no more")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.sarif, "sarif", false, "print SARIF 2.1.0")
	return cmd
}

type lintFlags struct {
	pack                packFlags
	rules, failOn       string
	list, asJSON, sarif bool
}

// config reads the rule file, and refuses flags that mean nothing.
func (f *lintFlags) config(ctx context.Context) (*lint.Config, error) {
	if !slices.Contains([]lint.Level{lint.Off, lint.Note, lint.Warning, lint.Error}, lint.Level(f.failOn)) {
		return nil, usagef("--fail-on %s: note, warning, error or off", f.failOn)
	}
	if f.asJSON && f.sarif {
		return nil, usagef("--json and --sarif: one of them")
	}
	if f.rules == "" {
		return nil, nil
	}
	file, err := openSide(ctx, f.rules)
	if err != nil {
		return nil, usage(err)
	}
	defer file.Close()
	c, err := lint.ReadConfig(file)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, usagef("%s: %w", f.rules, err)
	}
	return c, nil
}

func runLint(cmd *cobra.Command, args []string, f *lintFlags) error {
	config, err := f.config(cmd.Context())
	if err != nil {
		return err
	}
	if f.list {
		return listRules(cmd.OutOrStdout(), config, f.asJSON)
	}
	p, err := openPack(cmd.Context(), args[0], &f.pack.Options)
	if err != nil {
		return err
	}
	defer p.Close()
	progress := newProgress(cmd, "checking")
	r, err := lintPack(cmd.Context(), p, config, progress.update)
	progress.done()
	if err != nil {
		return err
	}
	if err := f.print(cmd.OutOrStdout(), r, config); err != nil {
		return err
	}
	if worst := r.Worst(); f.failOn != "off" && worst.AtLeast(lint.Level(f.failOn)) {
		return damagedError{fmt.Errorf("%s: %s", r.Pack, lintCounts(r))}
	}
	return nil
}

// lintPack checks and measures a pack, and judges it.
func lintPack(ctx context.Context, p *soundpack.Pack, config *lint.Config, progress func(done, total int64)) (*lint.Report, error) {
	m := &measurer{ctx: ctx, sounds: make([]lint.Sound, p.Len()), bodies: newBodies(p), known: map[span]lint.Sound{}}
	for e := range p.Entries() {
		m.sounds[e.Index] = lint.Sound{Index: e.Index, Name: e.Name, Raw: e.Raw(), Longest: longestName(p), Offset: e.Offset, Size: e.Size}
	}
	const most = 10000 // of each kind, far more than is read
	report, err := p.Verify(ctx, &soundpack.VerifyOptions{MaxFindings: most, Check: m.check, Progress: progress})
	if err != nil {
		return nil, err
	}
	var found []lint.Found
	for _, f := range report.Findings {
		level := lint.Level(severityName(f.Severity))
		found = append(found, lint.Found{Kind: f.Kind, Level: level, Entry: f.Entry, Index: f.Index, Offset: f.Offset, Text: f.Text})
	}
	return lint.Judge(p.Path(), found, m.sounds, config), nil
}

// longestName is how many bytes a name in the index may have; 0 where there is no such limit.
func longestName(p *soundpack.Pack) int {
	if p.Layout() == "split" {
		return 19
	}
	return 0
}

// measurer measures the entries that a verifier shows it, several at a time, each at its place.
type measurer struct {
	ctx    context.Context
	bodies *bodies
	mu     sync.Mutex // guards the rest
	sounds []lint.Sound
	known  map[span]lint.Sound // what was measured, for all names that the same bytes have
}

func (m *measurer) check(f *soundpack.File) []soundpack.Finding {
	found := m.bodies.check(f, m.measure)
	e := f.Entry()
	m.mu.Lock()
	defer m.mu.Unlock()
	if k, ok := m.known[span{e.Offset, e.Size}]; ok {
		x := &m.sounds[e.Index]
		k.Index, k.Name, k.Raw, k.Longest, k.Offset, k.Size = x.Index, x.Name, x.Raw, x.Longest, x.Offset, x.Size
		*x = k
	}
	return found
}

func (m *measurer) measure(f *soundpack.File) []soundpack.Finding {
	return checkSound(m.ctx, func(ctx context.Context, s *decode.Stream) []soundpack.Finding {
		in := s.Info()
		loud, sum := waveform.NewLoudness(in, true), newSampleSum(in)
		r, found := inspect(ctx, s, loud.Add, sum.add)
		x := lint.Sound{Format: in.Format, Coded: in.Format != "wav"}
		rate := float64(max(in.Rate, 1))
		x.Seconds, x.Lead, x.Tail = float64(r.Frames)/rate, float64(r.LeadSilence)/rate, float64(r.TailSilence)/rate
		x.Peak, x.LUFS, x.TruePeak = r.Peak, loud.Integrated(), math.Max(loud.TruePeak(), r.Peak)
		x.Sum = sum.sum()
		e := f.Entry()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.known[span{e.Offset, e.Size}] = x
		return found
	}, nil)(f)
}

// sampleSum is a checksum of a sound's samples, whatever they were coded in.
type sampleSum struct {
	hash interface {
		io.Writer
		Sum(b []byte) []byte
	}
	buf []byte
}

func newSampleSum(in decode.Info) *sampleSum {
	s := &sampleSum{hash: sha256.New()}
	fmt.Fprintf(s.hash, "%d %d\n", in.Rate, in.Channels)
	return s
}

func (s *sampleSum) add(block []float32) {
	s.buf = s.buf[:0]
	for _, v := range block {
		s.buf = binary.LittleEndian.AppendUint32(s.buf, math.Float32bits(v+0)) // +0: there is one zero
	}
	s.hash.Write(s.buf)
}

func (s *sampleSum) sum() (v [32]byte) {
	copy(v[:], s.hash.Sum(nil))
	return v
}

// print shows the report.
func (f *lintFlags) print(w io.Writer, r *lint.Report, config *lint.Config) error {
	switch {
	case f.sarif:
		return r.SARIF(w, programVersion(), config)
	case f.asJSON:
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		return enc.Encode(r)
	}
	var b strings.Builder
	for _, x := range fewFindings(r.Findings) {
		if x.Entry != "" {
			x.Text = x.Entry + ": " + x.Text
		}
		fmt.Fprintf(&b, "%s: %s [%s]\n", x.Level, oneLine(x.Text), x.Rule)
	}
	for _, x := range r.Formats {
		name := x.Format
		if name != "other" {
			name = formatTitle(name)
		}
		fmt.Fprintf(&b, "%-10s %5d %-7s %12s %10s\n", name, x.Entries, one(x.Entries, "entry", "entries"), bytesText(x.Bytes), clock(seconds(x.Seconds)))
	}
	if r.Median != nil {
		fmt.Fprintf(&b, "median loudness %.1f LUFS\n", *r.Median)
	}
	fmt.Fprintf(&b, "%s: %s, %s\n", oneLine(r.Pack), count(r.Entries, "entry", "entries"), lintCounts(r))
	_, err := io.WriteString(w, b.String())
	return err
}

func lintCounts(r *lint.Report) string {
	return count(r.Errors, "error", "errors") + ", " + count(r.Warnings, "warning", "warnings") + ", " + count(r.Notes, "note", "notes")
}

// fewFindings are the first ones of each rule and level, and how many more there are.
func fewFindings(all []lint.Finding) (few []lint.Finding) {
	type kind struct {
		rule  string
		level lint.Level
	}
	n := map[kind]int{}
	var more []kind
	for _, x := range all {
		k := kind{x.Rule, x.Level}
		if n[k]++; n[k] <= mostRules {
			few = append(few, x)
		} else if n[k] == mostRules+1 {
			more = append(more, k)
		}
	}
	for _, k := range more {
		few = append(few, lint.Finding{Rule: k.rule, Level: k.level, Text: fmt.Sprintf("%d more like these (--json tells them)", n[k]-mostRules)})
	}
	return few
}

// listRules shows the rules as they are configured.
func listRules(w io.Writer, config *lint.Config, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(config.All())
	}
	var err error
	for _, r := range config.All() {
		limit := ""
		if r.Unit != "" {
			limit = fmt.Sprintf("%g %s", r.Limit, r.Unit)
		}
		_, e := fmt.Fprintf(w, "%-12s  %-8s  %-10s  %s\n", r.ID, r.Level, limit, r.Text)
		err = errors.Join(err, e)
	}
	return err
}
