package lint

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Found is something that a verifier found.
type Found struct {
	Kind   string // a Rule's ID
	Level  Level
	Entry  string // "" for the pack as a whole
	Index  int    // the entry's ordinal, -1 for the pack as a whole
	Offset int64  // in the data
	Text   string
}

// Sound is what was measured of an entry.
type Sound struct {
	Index   int // the entry's ordinal
	Name    string
	Raw     string // its name in the index
	Longest int    // bytes that a name in the index may have
	Offset  int64
	Size    int64
	Format  string // "" for what is no sound; then nothing below is told
	Coded   bool   // compressed

	Seconds    float64
	LUFS       float64 // integrated; silence is math.Inf(-1)
	TruePeak   float64 // 1 is full scale
	Peak       float64
	Lead, Tail float64  // seconds of silence at its ends
	Sum        [32]byte // of its samples
}

// Finding is one thing that is wrong or worth knowing.
type Finding struct {
	Rule   string `json:"rule"`
	Level  Level  `json:"level"`
	Entry  string `json:"entry,omitempty"`
	Index  int    `json:"index"` // the entry's ordinal, -1 for the pack as a whole
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	Text   string `json:"text"`
}

// Format is what the entries of one format weigh.
type Format struct {
	Format  string  `json:"format"` // "other" for what is no sound
	Entries int     `json:"entries"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

// Report is what is shown.
type Report struct {
	Pack     string    `json:"pack"`
	Entries  int       `json:"entries"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Notes    int       `json:"notes"`
	Median   *float64  `json:"loudness"` // LUFS, the median of all sounds; null where there is none
	Findings []Finding `json:"findings"`
	Formats  []Format  `json:"formats"` // by size, the largest first
}

// Worst is the level of the worst finding, Off where there is none.
func (r *Report) Worst() Level {
	switch {
	case r.Errors > 0:
		return Error
	case r.Warnings > 0:
		return Warning
	case r.Notes > 0:
		return Note
	}
	return Off
}

// Judge applies the rules. sounds is in the order of the index; c may be nil.
func Judge(pack string, found []Found, sounds []Sound, c *Config) *Report {
	j := &judge{Report: Report{Pack: pack, Entries: len(sounds), Findings: []Finding{}}, config: c}
	for _, f := range found {
		j.add(f)
	}
	j.formats(sounds)
	j.aliases(sounds)
	loud := j.median(sounds)
	same := map[[32]byte]int{}
	for i := range sounds {
		s := &sounds[i]
		j.name(s)
		if s.Format == "" || s.Seconds == 0 {
			continue
		}
		j.loudness(s, loud)
		j.levels(s)
		first, ok := same[s.Sum]
		if !ok {
			same[s.Sum] = i
		} else if sounds[first].Offset != s.Offset { // the verifier tells of the very same bytes, which cost nothing
			j.say(s, ruleSame, "the same sound as %s", sounds[first].Name)
		}
	}
	slices.SortStableFunc(j.Findings, func(a, b Finding) int { return b.Level.weight() - a.Level.weight() })
	return &j.Report
}

type judge struct {
	Report
	config *Config
}

// add takes a verifier's finding in.
func (j *judge) add(f Found) {
	r, _ := j.config.rule(f.Kind)
	if r.Level == AsFound {
		r.Level = f.Level
	}
	j.put(Finding{Rule: r.ID, Level: r.Level, Entry: f.Entry, Index: f.Index, Offset: f.Offset, Text: f.Text})
}

func (j *judge) put(f Finding) {
	switch f.Level {
	case Error:
		j.Errors++
	case Warning:
		j.Warnings++
	case Note:
		j.Notes++
	default:
		return
	}
	j.Findings = append(j.Findings, f)
}

func (j *judge) say(s *Sound, rule, format string, a ...any) {
	r, _ := j.config.rule(rule)
	j.put(Finding{Rule: rule, Level: r.Level, Entry: s.Name, Index: s.Index, Offset: s.Offset, Size: s.Size, Text: fmt.Sprintf(format, a...)})
}

// formats sums up sizes.
func (j *judge) formats(sounds []Sound) {
	j.Formats = []Format{}
	for _, s := range sounds {
		name := s.Format
		if name == "" {
			name = "other"
		}
		i := slices.IndexFunc(j.Formats, func(f Format) bool { return f.Format == name })
		if i < 0 {
			i = len(j.Formats)
			j.Formats = append(j.Formats, Format{Format: name})
		}
		f := &j.Formats[i]
		f.Entries++
		f.Bytes += s.Size
		f.Seconds += s.Seconds
	}
	slices.SortStableFunc(j.Formats, func(a, b Format) int { return int(min(max(b.Bytes-a.Bytes, -1), 1)) })
}

// median notes the loudness in the middle, and returns what sounds are compared with: that, if there
// are enough of them, or the target; nil for nothing.
func (j *judge) median(sounds []Sound) *float64 {
	var all []float64
	for _, s := range sounds {
		if s.Format != "" && s.LUFS > math.Inf(-1) {
			all = append(all, s.LUFS)
		}
	}
	if len(all) > 0 {
		slices.Sort(all)
		m := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
		j.Median = &m
	}
	if _, target := j.config.rule(ruleLoudness); target != nil {
		return target
	}
	if len(all) < fewestOfLevel {
		return nil
	}
	return j.Median
}

func (j *judge) loudness(s *Sound, middle *float64) {
	r, target := j.config.rule(ruleLoudness)
	if middle == nil || math.IsInf(s.LUFS, -1) || math.Abs(s.LUFS-*middle) <= r.Limit {
		return
	}
	what := "the median"
	if target != nil {
		what = "the target"
	}
	j.say(s, ruleLoudness, "%.1f LUFS, %+.1f LU from %s of %.1f", s.LUFS, s.LUFS-*middle, what, *middle)
}

// levels judges peaks, silence and size.
func (j *judge) levels(s *Sound) {
	if r, _ := j.config.rule(ruleTruePeak); dB(s.TruePeak) > r.Limit {
		j.say(s, ruleTruePeak, "true peak %.1f dBTP, above %g", dB(s.TruePeak), r.Limit)
	}
	if r, _ := j.config.rule(ruleGain); s.Peak > 0 && -dB(s.Peak) > r.Limit {
		j.say(s, ruleGain, "peak %.1f dBFS: %.1f dB of gain are not used", dB(s.Peak), -dB(s.Peak))
	}
	if s.Lead < s.Seconds { // what is silent throughout is another finding
		if r, _ := j.config.rule(ruleLead); s.Lead*1000 > r.Limit {
			j.say(s, ruleLead, "%.0f ms of silence at its start", s.Lead*1000)
		}
		if r, _ := j.config.rule(ruleTail); s.Tail*1000 > r.Limit {
			j.say(s, ruleTail, "%.0f ms of silence at its end", s.Tail*1000)
		}
	}
	if r, _ := j.config.rule(ruleRaw); !s.Coded && float64(s.Size) > r.Limit*1024 {
		j.say(s, ruleRaw, "%.0f KiB of uncompressed samples", float64(s.Size)/1024)
	}
}

func dB(v float64) float64 { return 20 * math.Log10(v) }

// alias reports whether the index knows the entry by another name than people do. A name with % may
// be one of bytes that are shown escaped.
func (s *Sound) alias() bool { return s.Raw != s.Name && !strings.Contains(s.Name, "%") }

// aliases tells of all aliases in one finding: in a pack with folders most entries have one.
func (j *judge) aliases(sounds []Sound) {
	n, first := 0, (*Sound)(nil)
	for i := range sounds {
		if s := &sounds[i]; s.Longest > 0 && s.alias() {
			if n++; first == nil {
				first = s
			}
		}
	}
	if n == 0 {
		return
	}
	r, _ := j.config.rule(ruleNear)
	j.put(Finding{Rule: ruleNear, Level: r.Level, Entry: first.Name, Index: first.Index, Offset: first.Offset, Size: first.Size,
		Text: fmt.Sprintf("in the index it is %q, an alias; %d of %d entries have one, for programs that do not read the manifest", first.Raw, n, len(sounds))})
}

// name judges how near a name is to what the layout holds.
func (j *judge) name(s *Sound) {
	r, _ := j.config.rule(ruleNear)
	switch n := len(s.Raw); {
	case s.Longest == 0:
	case s.alias(): // told once for all, see aliases
	case float64(s.Longest-n) < r.Limit:
		j.say(s, ruleNear, "its name has %d bytes of at most %d", n, s.Longest)
	}
}
