package lint

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// sound is one that no rule finds anything in.
func sound(i int, name string) Sound {
	return Sound{
		Index: i, Name: name, Raw: name, Longest: 19, Offset: int64(i) * 1000, Size: 1000, Format: "wav",
		Seconds: 2, LUFS: -20, TruePeak: 0.8, Peak: 0.8, Sum: [32]byte{byte(i)},
	}
}

func config(t *testing.T, rules string) *Config {
	t.Helper()
	c, err := ReadConfig(strings.NewReader(`{"rules": {` + rules + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func lines(r *Report) (all []string) {
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%s %s %s: %s", f.Rule, f.Level, f.Entry, f.Text))
	}
	return all
}

func TestRules(t *testing.T) {
	for i, c := range []struct {
		change func(s *Sound)
		rules  string
		want   string
	}{
		{func(s *Sound) {}, "", ""},
		{func(s *Sound) { s.LUFS = -33 }, "", "loudness warning x.wav: -33.0 LUFS, -13.0 LU from the median of -20.0"},
		{func(s *Sound) { s.LUFS = -31 }, "", ""},
		{func(s *Sound) { s.LUFS = math.Inf(-1) }, "", ""},
		{func(s *Sound) { s.LUFS = -31 }, `"loudness": {"limit": 10}`, "loudness warning x.wav: -31.0 LUFS, -11.0 LU from the median of -20.0"},
		{func(s *Sound) { s.LUFS = -9 }, `"loudness": {"limit": 11.5, "target": -21}`, "loudness warning x.wav: -9.0 LUFS, +12.0 LU from the target of -21.0"},
		{func(s *Sound) { s.TruePeak = 1.122 }, "", "true-peak warning x.wav: true peak 1.0 dBTP, above 0"},
		{func(s *Sound) { s.TruePeak = 0.95 }, `"true-peak": {"level": "error", "limit": -1}`, "true-peak error x.wav: true peak -0.4 dBTP, above -1"},
		{func(s *Sound) { s.Peak = 0.1 }, "", "unused-gain note x.wav: peak -20.0 dBFS: 20.0 dB of gain are not used"},
		{func(s *Sound) { s.Peak = 0 }, "", ""},
		{func(s *Sound) { s.Lead = 0.25 }, "", "lead-silence warning x.wav: 250 ms of silence at its start"},
		{func(s *Sound) { s.Lead, s.Tail = 2, 2 }, "", ""}, // silent throughout
		{func(s *Sound) { s.Tail = 1.5 }, "", "tail-silence note x.wav: 1500 ms of silence at its end"},
		{func(s *Sound) { s.Sum = [32]byte{0} }, "", "same-sound warning x.wav: the same sound as a.wav"},
		{func(s *Sound) { s.Sum, s.Offset = [32]byte{0}, 0 }, "", ""}, // the very same bytes
		{func(s *Sound) { s.Sum = [32]byte{0} }, `"same-sound": "off"`, ""},
		{func(s *Sound) { s.Raw = "x~1.wav"; s.Name = "a long name.wav" }, "", `name-length note a long name.wav: in the index it is "x~1.wav", an alias; 1 of 3 entries have one, for programs that do not read the manifest`},
		{func(s *Sound) { s.Raw = "click~db16.wav"; s.Name = "ui/cli.wav" }, "", `name-length note ui/cli.wav: in the index it is "click~db16.wav", an alias; 1 of 3 entries have one, for programs that do not read the manifest`},
		{func(s *Sound) { s.Raw = strings.Repeat("n", 19); s.Name = s.Raw }, "", "name-length note nnnnnnnnnnnnnnnnnnn: its name has 19 bytes of at most 19"},
		{func(s *Sound) { s.Raw = strings.Repeat("n", 17); s.Name = s.Raw }, `"name-length": {"limit": 3, "level": "error"}`, "name-length error nnnnnnnnnnnnnnnnn: its name has 17 bytes of at most 19"},
		{func(s *Sound) { s.Raw, s.Longest = strings.Repeat("n", 30), 0 }, "", ""},
		{func(s *Sound) { s.Size = 5 << 20 }, "", "raw-size note x.wav: 5120 KiB of uncompressed samples"},
		{func(s *Sound) { s.Size, s.Coded = 5<<20, true }, "", ""},
	} {
		list := []Sound{sound(0, "a.wav"), sound(1, "b.wav"), sound(2, "x.wav")}
		c.change(&list[2])
		got := strings.Join(lines(Judge("p.data", nil, list, config(t, c.rules))), "\n")
		if got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

func TestVerifierFindings(t *testing.T) {
	found := []Found{
		{"gap", Note, "", -1, 5, "10 bytes"}, {"checksum", Error, "a.wav", 0, 7, "not those"}, {"sound", Warning, "a.wav", 0, 7, "clipped"}, {"strange", Error, "", -1, 0, "new"},
	}
	r := Judge("p.data", found, []Sound{sound(0, "a.wav")}, config(t, `"gap": "error", "checksum": "warning", "sound": "off"`))
	want := []string{"gap error : 10 bytes", "pack error : new", "checksum warning a.wav: not those"}
	if got := lines(r); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if r.Errors != 2 || r.Warnings != 1 || r.Notes != 0 || r.Worst() != Error {
		t.Errorf("%d errors, %d warnings, %d notes, worst %s", r.Errors, r.Warnings, r.Notes, r.Worst())
	}
}

func TestTooFewForAMedian(t *testing.T) {
	a, b := sound(0, "a.wav"), sound(1, "b.wav")
	b.LUFS = -60
	r := Judge("p.data", nil, []Sound{a, b}, nil)
	if len(r.Findings) != 0 || r.Median == nil || *r.Median != -40 {
		t.Errorf("%v, median %v", lines(r), r.Median)
	}
	if r := Judge("p.data", nil, nil, nil); r.Median != nil || r.Worst() != Off {
		t.Errorf("of an empty pack: %+v", r)
	}
}

func TestFormats(t *testing.T) {
	a, b, c := sound(0, "a.wav"), sound(1, "b.ogg"), sound(2, "c.txt")
	b.Format, b.Size = "vorbis", 5000
	c.Format, c.Seconds = "", 0
	got := Judge("p.data", nil, []Sound{a, b, c}, nil).Formats
	want := []Format{{"vorbis", 1, 5000, 2}, {"wav", 1, 1000, 2}, {"other", 1, 1000, 0}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestBadConfigs(t *testing.T) {
	for i, c := range []struct{ text, want string }{
		{``, "nothing in it"},
		{`{"rules": {`, "in the middle"},
		{`{"rules": {"loudnes": "off"}}`, `no rule "loudnes"`},
		{`{"rules": {"loudness": "of"}}`, "off, note, warning or error"},
		{`{"rules": {"loudness": "as-found"}}`, "off, note, warning or error"},
		{`{"rules": {"same-sound": {"limit": 3}}}`, "has no limit"},
		{`{"rules": {"true-peak": {"target": 3}}}`, "has no target"},
		{`{"rules": {"true-peak": {"limits": 3}}}`, "unknown field"},
		{`{"rules": {"true-peak": 3}}`, "cannot unmarshal"},
		{`{"rule": {}}`, "unknown field"},
		{`{"rules": {}} {"rules": {}}`, "follows"},
		{`{"rules": {}}` + strings.Repeat(" ", mostConfig), "more than"},
	} {
		if _, err := ReadConfig(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
}

func TestSARIF(t *testing.T) {
	a, b := sound(0, "a.wav"), sound(1, "<b&>.wav")
	b.TruePeak, b.Sum = 2, a.Sum
	c := config(t, `"gap": "off", "true-peak": "error"`)
	r := Judge("dir/p q.data", []Found{{"index", Warning, "", -1, 0, "odd"}}, []Sound{a, b}, c)
	var out strings.Builder
	if err := r.SARIF(&out, "v1.2.3", c); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(out.String()), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if log.Version != "2.1.0" || run.Tool.Driver.Version != "v1.2.3" || len(run.Results) != 3 || len(run.Tool.Driver.Rules) != len(Rules) {
		t.Fatalf("%s", out.String())
	}
	for i, x := range run.Results {
		if run.Tool.Driver.Rules[x.RuleIndex].ID != x.RuleID {
			t.Errorf("result %d: rule %d is not %s", i, x.RuleIndex, x.RuleID)
		}
		if at := x.Locations[0].Physical.Artifact.URI; at != "dir/p%20q.data" {
			t.Errorf("result %d: at %s", i, at)
		}
	}
	x := run.Results[0]
	if x.RuleID != "true-peak" || x.Level != Error || x.Message.Text != "<b&>.wav: true peak 6.0 dBTP, above 0" ||
		*x.Locations[0].Physical.Region != (sarifRegion{1000, 1000}) || x.Locations[0].Logical[0].Name != "<b&>.wav" {
		t.Errorf("%+v", x)
	}
	for _, rule := range run.Tool.Driver.Rules {
		if rule.ID == "gap" && (rule.Default.Enabled || rule.Default.Level != "none") {
			t.Errorf("a rule that is off: %+v", rule)
		}
		if rule.Default.Level.weight() < 1 && rule.Default.Level != "none" {
			t.Errorf("%s has level %q", rule.ID, rule.Default.Level)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add([]byte(`{"rules": {"same-sound": "off", "true-peak": {"level": "error", "limit": -1}, "loudness": {"target": -18}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := ReadConfig(strings.NewReader(string(data))); err == nil {
			for _, r := range c.All() {
				if r.Level != AsFound && r.Level.weight() < 0 {
					t.Errorf("rule %s has level %q", r.ID, r.Level)
				}
			}
		}
	})
}
