// Package lint judges a pack before it ships.
//
// The rules are a table (Rules); a Config switches them off, changes their levels and sets their limits.
// Judge takes what a verifier found and what was measured of each sound, and returns a Report, which
// is shown as lines, as JSON or as SARIF. Reading and decoding are left to the caller, so that nothing
// here depends on a pack.
package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Level is how bad a finding is.
type Level string

// The levels, those of SARIF besides AsFound.
const (
	Off     Level = "off"
	Note    Level = "note"
	Warning Level = "warning"
	Error   Level = "error"
	AsFound Level = "as-found" // what the verifier says, which tells cases apart
)

// weight orders levels.
func (l Level) weight() int { return slices.Index([]Level{Off, Note, Warning, Error}, l) }

// AtLeast tells whether a finding of this level is as bad as another.
func (l Level) AtLeast(other Level) bool { return l.weight() >= other.weight() }

// A Rule is one thing that is looked for.
type Rule struct {
	ID    string  `json:"id"`
	Level Level   `json:"level"`          // unless a Config says another
	Limit float64 `json:"limit"`          // in Unit; 0 for rules without
	Unit  string  `json:"unit,omitempty"` // "" for rules without a limit
	Text  string  `json:"text"`           // what it finds, in one sentence
}

// The rules that are judged here, not by the verifier.
const (
	ruleLoudness  = "loudness"
	ruleTruePeak  = "true-peak"
	ruleGain      = "unused-gain"
	ruleLead      = "lead-silence"
	ruleTail      = "tail-silence"
	ruleSame      = "same-sound"
	ruleNear      = "name-length"
	ruleRaw       = "raw-size"
	ruleVerifier  = "pack" // what a verifier finds of a kind that is not in the table
	fewestOfLevel = 3      // sounds that there must be for one of them to be an outlier
)

// Rules are all rules with their defaults.
var Rules = []Rule{
	{"index", AsFound, 0, "", "The index is damaged."},
	{"bounds", AsFound, 0, "", "An entry reaches past the data."},
	{"duplicate", AsFound, 0, "", "Entries share a name; only the first is found."},
	{"overlap", AsFound, 0, "", "Bodies of entries overlap."},
	{"shared", AsFound, 0, "", "Entries share their bytes."},
	{"gap", AsFound, 0, "", "The data has bytes that no entry names; compact gives them back."},
	{"name", AsFound, 0, "", "A name cannot be used as a file name everywhere."},
	{"record", AsFound, 0, "", "A record of the index is odd."},
	{"changed", AsFound, 0, "", "The data changed while it was read."},
	{"map", AsFound, 0, "", "The mapping of the data disagrees with the file."},
	{"manifest", AsFound, 0, "", "The manifest disagrees with the index."},
	{"checksum", AsFound, 0, "", "An entry's bytes are not those that were packed."},
	{"sound", AsFound, 0, "", "A sound does not decode, is not what its name says, is clipped, silent, off centre, or clicks at its loop."},
	{ruleLoudness, Warning, 12, "LU", "A sound is louder or softer than the median of the pack, or than the target, by more than the limit (EBU R128, integrated)."},
	{ruleTruePeak, Warning, 0, "dBTP", "The true peak of a sound is above the limit (ITU-R BS.1770, four points a frame)."},
	{ruleGain, Note, 12, "dB", "The peak of a sound lies below full scale by more than the limit: gain that is not used."},
	{ruleLead, Warning, 100, "ms", "A sound begins with more silence than the limit: it is heard late."},
	{ruleTail, Note, 1000, "ms", "A sound ends with more silence than the limit."},
	{ruleSame, Warning, 0, "", "Two entries hold the same sound, sample for sample."},
	{ruleNear, Note, 1, "bytes", "The name in the index is an alias, or as near to the longest that the layout holds as the limit."},
	{ruleRaw, Note, 4096, "KiB", "A sound of uncompressed samples is larger than the limit."},
	{ruleVerifier, AsFound, 0, "", "Something else is wrong with the pack."},
}

// Config says how each rule is to be taken. The zero Config takes the defaults.
type Config struct {
	settings map[string]setting
}

type setting struct {
	Level  Level    `json:"level"`
	Limit  *float64 `json:"limit"`
	Target *float64 `json:"target"` // of loudness alone, in LUFS
}

// UnmarshalJSON takes a level alone too.
func (s *setting) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &s.Level)
	}
	type plain setting
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(s))
}

// mostConfig is the most bytes of a rule file.
const mostConfig = 1 << 20

// ReadConfig reads a rule file, JSON of this form; what it does not name keeps its default:
//
//	{"rules": {
//	  "same-sound": "off",
//	  "true-peak": {"level": "error", "limit": -1},
//	  "loudness": {"limit": 6, "target": -18}
//	}}
//
// An unknown rule, level or field is an error, so that a slip of the pen switches nothing off.
func ReadConfig(r io.Reader) (*Config, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostConfig+1))
	if err != nil {
		return nil, err
	}
	if len(data) > mostConfig {
		return nil, fmt.Errorf("more than %d bytes", mostConfig)
	}
	var file struct {
		Rules map[string]setting `json:"rules"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	switch err := dec.Decode(&file); {
	case err == io.EOF:
		return nil, errors.New(`there is nothing in it; it wants {"rules": {}} at the least`)
	case err == io.ErrUnexpectedEOF:
		return nil, errors.New("it ends in the middle")
	case err != nil:
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the rules")
	}
	for id, s := range file.Rules {
		if err := s.check(id); err != nil {
			return nil, err
		}
	}
	return &Config{file.Rules}, nil
}

func (s setting) check(id string) error {
	i := slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == id })
	switch {
	case i < 0:
		return fmt.Errorf("no rule %q (sndpak lint --list shows them)", id)
	case s.Level != "" && s.Level.weight() < 0 && (s.Level != AsFound || Rules[i].Level != AsFound):
		return fmt.Errorf("rule %s: level %q: off, note, warning or error", id, s.Level)
	case s.Limit != nil && (Rules[i].Unit == "" || math.IsNaN(*s.Limit)):
		return fmt.Errorf("rule %s has no limit", id)
	case s.Target != nil && id != ruleLoudness:
		return fmt.Errorf("rule %s has no target", id)
	}
	return nil
}

// rule is a rule as it is configured; the second is the target of the loudness.
func (c *Config) rule(id string) (Rule, *float64) {
	i := slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		i = len(Rules) - 1
	}
	r := Rules[i]
	if c == nil {
		return r, nil
	}
	s := c.settings[r.ID]
	if s.Level != "" {
		r.Level = s.Level
	}
	if s.Limit != nil {
		r.Limit = *s.Limit
	}
	return r, s.Target
}

// All are the rules as they are configured.
func (c *Config) All() []Rule {
	var all []Rule
	for _, r := range Rules {
		r, _ = c.rule(r.ID)
		all = append(all, r)
	}
	return all
}
