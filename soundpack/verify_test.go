package soundpack

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// found is the report's findings, one a line.
func found(t *testing.T, p *Pack, opt *VerifyOptions) (*Report, string) {
	t.Helper()
	r, err := p.Verify(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintln(&b, f.Severity, f)
	}
	return r, b.String()
}

func TestVerifyRanges(t *testing.T) {
	for _, c := range []struct {
		what string
		data int
		recs []rec
		want string
	}{
		{"whole", 30, []rec{{"a", 0, 10}, {"b", 10, 20}}, ""},
		{"empty entries anywhere", 10, []rec{{"a", 0, 10}, {"b", 5, 0}, {"c", 10, 0}, {"d", 0, 0}}, ""},
		{"order of the index is free", 30, []rec{{"b", 20, 10}, {"a", 0, 20}}, ""},
		{"behind the last", 110, []rec{{"a", 0, 10}}, "WARN gap: 100 bytes behind the last entry\n"},
		{"no entry", 7, nil, "WARN gap: 7 bytes behind the last entry\n"},
		{"before the first", 10, []rec{{"a", 3, 7}}, "WARN gap: 3 bytes in 1 gaps\n"},
		{"gaps", 100, []rec{{"a", 10, 10}, {"b", 30, 10}}, "WARN gap: 80 bytes in 3 gaps, 60 of them behind the last entry\n"},
		{"shared", 10, []rec{{"a", 0, 10}, {"b", 0, 10}, {"c", 0, 10}},
			"INFO shared: \"b\" (entry 1, at 0x0): the very bytes of \"a\" (entry 0)\nINFO shared: \"c\" (entry 2, at 0x0): the very bytes of \"a\" (entry 0)\n"},
		{"in part", 30, []rec{{"a", 0, 20}, {"b", 10, 20}}, "ERROR overlap: \"b\" (entry 1, at 0xa): 10 bytes of it belong to \"a\" (entry 0) too\n"},
		{"within", 30, []rec{{"in", 10, 5}, {"out", 0, 30}}, "ERROR overlap: \"in\" (entry 0, at 0xa): 5 bytes of it belong to \"out\" (entry 1) too\n"},
		{"same start", 30, []rec{{"short", 0, 5}, {"long", 0, 30}}, "ERROR overlap: \"short\" (entry 0, at 0x0): 5 bytes of it belong to \"long\" (entry 1) too\n"},
		{"beyond one within", 40, []rec{{"out", 0, 30}, {"in", 5, 5}, {"next", 25, 15}},
			"ERROR overlap: \"in\" (entry 1, at 0x5): 5 bytes of it belong to \"out\" (entry 0) too\n" +
				"ERROR overlap: \"next\" (entry 2, at 0x19): 5 bytes of it belong to \"out\" (entry 0) too\n"},
		{"shared within", 30, []rec{{"out", 0, 30}, {"x", 5, 5}, {"y", 5, 5}},
			"ERROR overlap: \"x\" (entry 1, at 0x5): 5 bytes of it belong to \"out\" (entry 0) too\n" +
				"INFO shared: \"y\" (entry 2, at 0x5): the very bytes of \"x\" (entry 1)\n"},
		{"out of bounds is no range", 10, []rec{{"a", 0, 10}, {"far", 5, 6}},
			"ERROR bounds: \"far\" (entry 1, at 0x5): damaged: its 6 bytes reach past the end of the data (10 bytes)\n"},
		{"empty and far", 10, []rec{{"a", 0, 10}, {"far", 11, 0}}, "WARN bounds: \"far\" (entry 1, at 0xb): empty, with an offset past the end of the data (10 bytes)\n"},
	} {
		if _, got := found(t, openRecs(t, pattern(c.data), c.recs...), nil); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.what, got, c.want)
		}
	}
}

// Overlaps and gaps agree with counting bytes one by one.
func TestVerifyRangesModel(t *testing.T) {
	r := newRand(t)
	for round := range 500 {
		data := r.IntN(40)
		recs := make([]rec, r.IntN(6))
		count := make([]int, data)
		ranges := map[[2]uint32]bool{}
		for i := range recs {
			off := r.IntN(data + 1)
			recs[i] = rec{fmt.Sprint(i), uint32(off), uint32(r.IntN(data - off + 1))}
			if recs[i].size > 0 && !ranges[[2]uint32{recs[i].off, recs[i].size}] {
				ranges[[2]uint32{recs[i].off, recs[i].size}] = true
				for j := range recs[i].size {
					count[off+int(j)]++
				}
			}
		}
		overlap, free := false, 0
		for _, n := range count {
			overlap = overlap || n > 1
			if n == 0 {
				free++
			}
		}
		rep, said := found(t, openRecs(t, pattern(data), recs...), nil)
		if rep.Damaged() != overlap || strings.Contains(said, "gap:") != (free > 0) || free > 0 && !strings.Contains(said, fmt.Sprintf("gap: %d bytes", free)) {
			t.Fatalf("round %d: %d bytes, %+v: overlap %v, %d free:\n%s", round, data, recs, overlap, free, said)
		}
	}
}

// Millions of bad entries make neither a long report nor a long wait.
func TestVerifyHostile(t *testing.T) {
	const n = 200_000
	for what, f := range map[string]func(i int) rec{
		"one name":    func(i int) rec { return rec{"same.wav", 0, 0} },
		"nested":      func(i int) rec { return rec{fmt.Sprintf("%d", i), uint32(i), uint32(2*n - 2*i)} },
		"all overlap": func(i int) rec { return rec{fmt.Sprintf("%d", i), uint32(i), n} },
		"far":         func(i int) rec { return rec{fmt.Sprintf("../%d", i), 1 << 31, 1 << 31} },
		"one body":    func(i int) rec { return rec{fmt.Sprintf("%d", i), 0, 2 * n} },
	} {
		recs := make([]rec, n)
		for i := range recs {
			recs[i] = f(i)
		}
		path := writePack(t, encode(recs...), nil)
		if err := sparse(path, 2*n); err != nil {
			t.Skip(err)
		}
		p := mustOpen(t, path)
		start := time.Now()
		r, said := found(t, p, &VerifyOptions{MaxFindings: 10})
		t.Logf("%s: %v", what, time.Since(start))
		if len(r.Findings) > 50 || !strings.Contains(said, "more like these") {
			t.Errorf("%s: %d findings:\n%s", what, len(r.Findings), said)
		}
		if what != "one body" && r.Errors < n-1 {
			t.Errorf("%s: %d errors counted", what, r.Errors)
		}
	}
}

func TestVerifyReport(t *testing.T) {
	p := openRecs(t, pattern(10), rec{"a\nb", 0, 10}, rec{"A\nB", 0, 10})
	p.indexNewer = true
	r, _ := found(t, p, &VerifyOptions{
		Check:    func(f *File) []Finding { return []Finding{{Severity: slog.LevelWarn, Kind: "sound", Text: "silent"}} },
		Progress: func(done, total int64) {},
	})
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "JSON", string(b), `"entries":2`, `"data_size":10`, `"layout":"split"`, `"errors":1`, `"warnings":4`,
		`{"severity":"ERROR","kind":"duplicate","entry":"A%0AB","index":1,"offset":0,"text":"the same name as \"a%0Ab\" (entry 0), which is the one that is found"}`,
		`{"severity":"WARN","kind":"sound","entry":"a%0Ab","index":0,"offset":0,"text":"silent"}`)
	if b, _ := json.Marshal(mustReport(t, openRecs(t, nil))); !strings.Contains(string(b), `"findings":[]`) {
		t.Errorf("no finding: %s", b)
	}
}

func mustReport(t *testing.T, p *Pack) *Report {
	r, err := p.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A sync tool that copies index and data apart leaves an index newer than the data.
func TestVerifyIndexNewer(t *testing.T) {
	path := writePack(t, encode(rec{"a.wav", 0, 10}), pattern(5))
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if _, said := found(t, mustOpen(t, path), nil); !strings.Contains(said, "index is newer than the data") {
		t.Errorf("said %q", said)
	}
}

func TestVerifyCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	const n = 4000
	recs := make([]rec, n)
	for i := range recs {
		recs[i] = rec{fmt.Sprint(i), uint32(i), 1}
	}
	p := openRecs(t, pattern(n), recs...)
	var last int64
	_, err := p.Verify(ctx, &VerifyOptions{
		Check: func(*File) []Finding { return nil },
		Progress: func(done, total int64) {
			if done != last+1 || total != n {
				t.Errorf("progress %d after %d of %d", done, last, total)
			}
			if last = done; done == 2 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) || last > n/2 {
		t.Errorf("error %v after %d entries", err, last)
	}
}

// F24: names that cannot be extracted are found: a file that is a folder too, and an element that no
// file system takes.
func TestVerifyNamesOfFiles(t *testing.T) {
	data := pattern(40)
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		p     *Pack
		entry string
		words []string // "" for a name that can be had
	}{
		{openRecs(t, data, rec{"a", 0, 10}, rec{"a/b.wav", 10, 10}, rec{"c/d", 20, 20}), "a/b.wav", []string{"error", `"a"`, "entry 0", "cannot be extracted"}},
		{openRecs(t, data, rec{"x/y/z", 0, 20}, rec{"X/Y", 20, 20}), "x/y/z", []string{"warning", `"X/Y"`, "Windows"}},
		{openCfg(t, map[string]string{"ok/" + long: "1"}), "ok/" + long, []string{"error", "300 bytes"}},
		{openCfg(t, map[string]string{"ok/" + long[:255]: "1"}), "ok/" + long[:255], nil},
	} {
		r, err := c.p.Verify(t.Context(), nil)
		must(t, err)
		n := 0
		for _, f := range r.Findings {
			if f.Kind == "name" {
				n++
				level := map[slog.Level]string{slog.LevelError: "error", slog.LevelWarn: "warning"}[f.Severity]
				contains(t, f.Entry, level+" "+f.Text, c.words...)
				if f.Entry != c.entry {
					t.Errorf("%v: told of %q, want %q", f, f.Entry, c.entry)
				}
			}
		}
		if want := min(len(c.words), 1); n != want {
			t.Errorf("%.20q: %d findings, want %d: %v", c.entry, n, want, r.Findings)
		}
		err = c.p.Extract(t.Context(), t.TempDir(), nil, nil)
		if bad := c.words != nil && c.words[0] == "error"; (err != nil) != bad {
			t.Errorf("%.20q: extract: %v", c.entry, err)
		}
	}
}

// openCfg opens a pack in the cfg layout, whose names may be long.
func openCfg(t *testing.T, files map[string]string) *Pack {
	t.Helper()
	head, body := []byte{0, byte(len(files))}, ""
	size := 2
	for name := range files {
		size += 2 + len(name) + 8
	}
	for name, text := range files {
		head = append(head, byte(len(name)>>8), byte(len(name)))
		head = append(head, name...)
		head = binary.BigEndian.AppendUint32(head, uint32(size+len(body)))
		head = binary.BigEndian.AppendUint32(head, uint32(len(text)))
		body += text
	}
	path := filepath.Join(t.TempDir(), "cfg_0.txt")
	write(t, path, append(head, body...))
	return mustOpen(t, path)
}
