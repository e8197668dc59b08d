package decode

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestLoopsFromTags(t *testing.T) {
	const rate, frames = 1000, 90_000
	for _, c := range []struct {
		tags string // key=value, by semicolons
		want Loop
		warn string
	}{
		{"LOOPSTART=100;LOOPLENGTH=50", Loop{Start: 100, End: 150}, ""},
		{"LOOPSTART=100;LOOPEND=150", Loop{Start: 100, End: 150}, ""},
		{"loopstart=100;looplength=50", Loop{Start: 100, End: 150}, ""},
		{"LoopStart=100;LoopEnd=150", Loop{Start: 100, End: 150}, ""},
		{"LOOP_START=100;LOOP_END=150", Loop{Start: 100, End: 150}, ""},
		{"LOOP-START=100;LOOP-LENGTH=50", Loop{Start: 100, End: 150}, ""},
		{"LOOP START=100;LOOP END=150", Loop{Start: 100, End: 150}, ""},
		{"LOOP_BEGIN=100;LOOP_END=150", Loop{Start: 100, End: 150}, ""},
		{"XIPH_CUE_LOOPSTART=100;XIPH_CUE_LOOPEND=150", Loop{Start: 100, End: 150}, ""},
		{"um3.stream.looppoint.start=100", Loop{Start: 100, End: frames}, ""},
		{"COMMENT=LOOPSTART=100;COMMENT=LOOPEND=150", Loop{Start: 100, End: 150}, ""},
		{"LOOPPOINT=100", Loop{Start: 100, End: frames}, ""},
		{"LOOPSTART=0", Loop{Start: 0, End: frames}, ""},
		{"LOOPLENGTH=50", Loop{Start: 0, End: 50}, ""},
		{"LOOPEND=50", Loop{Start: 0, End: 50}, ""},
		{"LOOPSTART= 100 ;LOOPEND=150", Loop{Start: 100, End: 150}, ""},
		{"LOOPSTART=0:01.5;LOOPEND=00:01:02.250", Loop{Start: 1500, End: 62250}, ""},
		{"LOOPSTART=1.5;LOOPLENGTH=0:30", Loop{Start: 1500, End: 31500}, ""},
		{"LOOPSTART=1:00;LOOPEND=1:10", Loop{Start: 60000, End: 70000}, ""},
		{"LOOPSTART=0.0006;LOOPEND=1.9994", Loop{Start: 1, End: 1999}, ""},
		{"LOOPSTART=100;LOOPLENGTH=50;LOOPEND=150", Loop{Start: 100, End: 150}, ""},
		{"LOOPSTART=100;LOOPLENGTH=50;LOOPEND=160", Loop{Start: 100, End: 150}, "length counts"},
		{"LOOPSTART=100;LOOPSTART=7;LOOPEND=150", Loop{Start: 100, End: 150}, ""},
		{"LOOPSTART=100;LOOPEND=95000", Loop{Start: 100, End: frames}, "cut at the end"},
		{"LOOPSTART=100;LOOPLENGTH=9223372036854775807", Loop{Start: 100, End: frames}, "cut at the end"},
		{"LOOPSTART=150;LOOPEND=150", Loop{}, "left out"},
		{"LOOPSTART=150;LOOPEND=100", Loop{}, "left out"},
		{"LOOPSTART=90000", Loop{}, "left out"},
		{"LOOPSTART=100;LOOPLENGTH=0", Loop{}, "left out"},
		{"LOOPSTART=99999999999999;LOOPLENGTH=4", Loop{}, "left out"},
		{"LOOPSTART=-5;LOOPEND=50", Loop{Start: 0, End: 50}, "not a position"},
		{"LOOPSTART=abc", Loop{}, "not a position"},
		{"LOOPSTART=1:xx;LOOPEND=50", Loop{Start: 0, End: 50}, "not a time"},
		{"LOOPSTART=1:2:3:4", Loop{}, "not a time"},
		{"LOOPSTART=1.5:3", Loop{}, "not a time"},
		{"LOOPSTART=NaN.", Loop{}, "not a time"},
		{"LOOPSTART=1e300.", Loop{}, "not a time"},
		{"LOOPSTART=0x1.p5", Loop{}, "not a time"},
		{"LOOPSTART=92233720368547758070", Loop{}, "not a position"},
		{"TITLE=LOOPSTART=4;ARTIST=me", Loop{}, ""},
		{"", Loop{}, ""},
	} {
		var tags []tag
		for _, kv := range strings.Split(c.tags, ";") {
			key, value, _ := strings.Cut(kv, "=")
			tags = append(tags, tag{key, value})
		}
		loops, warnings := loopsFromTags(tags, rate, frames)
		want := []Loop{c.want}
		if c.want == (Loop{}) {
			want = nil
		}
		if !slices.Equal(loops, want) {
			t.Errorf("%q: %v, want %v", c.tags, loops, want)
		}
		if all := strings.Join(warnings, "\n"); c.warn == "" && all != "" || !strings.Contains(all, c.warn) {
			t.Errorf("%q: warnings %q, want %q", c.tags, warnings, c.warn)
		}
	}
}

func TestLoopsOfUnknownLength(t *testing.T) {
	loops, warnings := loopsFromTags([]tag{{"LOOPSTART", "5"}, {"LOOPEND", "900"}}, 44100, -1)
	if len(loops) != 1 || (loops[0] != Loop{Start: 5, End: 900}) || warnings != nil {
		t.Errorf("got %v, %q", loops, warnings)
	}
	loops, warnings = loopsFromTags([]tag{{"LOOPSTART", "5"}}, 44100, -1)
	if len(loops) != 0 || len(warnings) != 1 {
		t.Errorf("without an end: got %v, %q, want a warning", loops, warnings)
	}
}

// TestLoopsAreBounded wants few and short warnings whatever the tags are.
func TestLoopsAreBounded(t *testing.T) {
	var tags []tag
	for i := range 4096 {
		tags = append(tags, tag{"LOOPSTART", fmt.Sprint("x", i, strings.Repeat("y", 1000))})
	}
	_, warnings := loopsFromTags(tags, 44100, 1000)
	for _, w := range warnings {
		if len(w) > 200 {
			t.Errorf("a warning of %d bytes", len(w))
		}
	}
	if len(warnings) == 0 || len(warnings) > 20 {
		t.Errorf("%d warnings of 4096 bad tags", len(warnings))
	}
}

func FuzzLoops(f *testing.F) {
	for _, s := range []string{"123", "1:02.5", "00:01:02.500", "1.5", "-1", "9223372036854775807", "::", "1e9."} {
		f.Add("LOOPSTART", s, "LOOPLENGTH", s, int64(44100))
	}
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2 string, frames int64) {
		frames = max(-1, frames)
		loops, _ := loopsFromTags([]tag{{k1, v1}, {k2, v2}}, 48000, frames)
		for _, l := range loops {
			if l.Start < 0 || l.End <= l.Start || frames >= 0 && l.End > frames || l.End == math.MinInt64 {
				t.Errorf("%q=%q %q=%q in %d frames: %v", k1, v1, k2, v2, frames, l)
			}
		}
	})
}
