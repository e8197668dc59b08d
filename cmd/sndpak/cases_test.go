package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// casesDir is the folder of inputs after public bug reports, which lies beside the project.
const casesDir = "../../../shared/cases"

// A packCase is a case of expected.json that concerns packs. What each command has to do is told in
// words; the ones that count are read by meets.
type packCase struct {
	Kind, Dir, Tests string
	Expect           struct {
		List, Verify, Extract, Play any
		Count                       *int
		Mention                     []string
		Probe                       map[string]string
		MustNotExist                []string `json:"must_not_exist"`
		GoodEntries                 []struct {
			Name   *string
			Off    int64
			Size   int64
			SHA256 string
		} `json:"good_entries"`
	}
}

// elsewhere are the procedures, by the test that follows them.
var elsewhere = map[string]string{
	"X01": "TestEditCases", "X02": "TestEditCases", "X06": "TestEditCases", "X11": "TestEditCases",
	"X09": "TestListIntoAClosedPipe", "X10": "TestPackCasesInWords", "X12": "TestConsoleSeeks",
}

func readCases(t *testing.T) map[string]packCase {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(casesDir, "expected.json"))
	if err != nil {
		t.Skipf("the cases are not here: %v", err)
	}
	var raw struct{ Cases map[string]json.RawMessage }
	if err := json.Unmarshal(b, &raw); err != nil {
		t.Fatal(err)
	}
	cases := map[string]packCase{}
	for id, msg := range raw.Cases {
		var kind struct{ Kind string }
		if json.Unmarshal(msg, &kind); kind.Kind != "pack" && kind.Kind != "source-folder" {
			continue
		}
		var c packCase
		if err := json.Unmarshal(msg, &c); err != nil && kind.Kind == "pack" {
			fix := bytes.Replace(msg, []byte(`"probe": "nonzero: empty entry"`), []byte(`"probe": {}`), 1)
			if err := json.Unmarshal(fix, &c); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
		}
		c.Kind = kind.Kind
		cases[id] = c
	}
	return cases
}

// sndpak runs the command and returns its exit status and what it printed. It must not panic, and
// what it says on standard error is one line for each thing.
func sndpak(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(context.Background(), args, streams{strings.NewReader(""), &o, &e})
	for line := range strings.Lines(e.String()) {
		if !strings.HasPrefix(line, "sndpak: ") {
			t.Errorf("%v: line %q on standard error", args, line)
		}
	}
	return status, o.String(), e.String()
}

// meets reports whether an exit status is what a case says in words.
func meets(status int, want any) bool {
	switch w := want.(type) {
	case nil:
		return true
	case float64:
		return status == int(w)
	case string:
		switch {
		case strings.HasPrefix(w, "nonzero or"), strings.HasPrefix(w, "nonzero (or"), strings.HasPrefix(w, "nonzero, or"):
			return true
		case strings.HasPrefix(w, "nonzero"):
			return status != 0
		case strings.HasPrefix(w, "0 or"), strings.HasPrefix(w, "0 with"), strings.HasPrefix(w, "0 (escaped) or"):
			return true
		}
		return true // told in words: see the checks of TestPackCases
	}
	return false
}

func TestPackCases(t *testing.T) {
	for id, c := range readCases(t) {
		if c.Kind != "pack" {
			continue
		}
		t.Run(id, func(t *testing.T) { checkPack(t, c) })
	}
}

func checkPack(t *testing.T, c packCase) {
	pack := filepath.Join(casesDir, c.Dir, "music.data")
	listed, list, listErr := sndpak(t, "list", pack, "--json")
	if !meets(listed, c.Expect.List) {
		t.Errorf("list: exit status %d, want %v", listed, c.Expect.List)
	}
	verified, found, verifyErr := sndpak(t, "verify", pack)
	if !meets(verified, c.Expect.Verify) {
		t.Errorf("verify: exit status %d, want %v\n%s", verified, c.Expect.Verify, found)
	}
	if want, ok := c.Expect.Verify.(string); ok && verified == 0 && strings.Contains(want, "warning") && want[0] == 'n' && !strings.Contains(found, "warning:") {
		t.Errorf("verify: status 0 and no warning:\n%s", found)
	}
	for _, word := range c.Expect.Mention {
		if !strings.Contains(found+verifyErr+listErr, word) {
			t.Errorf("verify does not mention %q:\n%s%s", word, found, verifyErr)
		}
	}
	checkList(t, c, listed, list)
	checkExtract(t, c, pack)
	for name, format := range c.Expect.Probe {
		checkFormat(t, pack, name, format)
	}
}

// checkList looks for the good entries in the listing.
func checkList(t *testing.T, c packCase, status int, list string) {
	if status != 0 {
		return
	}
	var l struct{ Entries []listed }
	if err := json.Unmarshal([]byte(list), &l); err != nil {
		t.Fatalf("list --json: %v", err)
	}
	if c.Expect.Count != nil && len(l.Entries) != *c.Expect.Count {
		t.Errorf("list: %d entries, want %d", len(l.Entries), *c.Expect.Count)
	}
	for _, want := range c.Expect.GoodEntries {
		at := slices.IndexFunc(l.Entries, func(e listed) bool { return e.Offset == want.Off && e.Size == want.Size })
		if at < 0 {
			t.Errorf("list: no entry at %d of %d bytes", want.Off, want.Size)
		}
	}
}

// checkExtract extracts everything, and looks that the good entries are right, whatever their file
// is called, and that nothing lies outside the folder.
func checkExtract(t *testing.T, c packCase, pack string) {
	root := t.TempDir()
	dir := filepath.Join(root, "deep", "er", "out")
	status, _, _ := sndpak(t, "extract", pack, "-C", dir)
	if !meets(status, c.Expect.Extract) {
		t.Errorf("extract: exit status %d, want %v", status, c.Expect.Extract)
	}
	sums := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !strings.HasPrefix(path, dir+string(filepath.Separator)) {
			t.Errorf("extract wrote %s, outside its folder", path)
		}
		if slices.Contains(c.Expect.MustNotExist, d.Name()) {
			t.Errorf("extract wrote %s", path)
		}
		b, err := os.ReadFile(path)
		sum := sha256.Sum256(b)
		sums[hex.EncodeToString(sum[:])] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Expect.GoodEntries {
		if e.Name != nil && unsafeName(*e.Name) || sums[e.SHA256] {
			continue
		}
		if status == 0 {
			t.Errorf("extract: status 0, but no file has the bytes at %d", e.Off)
		} else if e.Name != nil && strings.HasPrefix(*e.Name, "good") {
			t.Errorf("extract: %s is not there", *e.Name)
		}
	}
}

func unsafeName(name string) bool { return name == "" || strings.Contains(name, "..") || name == "." }

// checkFormat opens an entry as a sound.
func checkFormat(t *testing.T, pack, name, format string) {
	status, out, errs := sndpak(t, "info", pack, name, "--json")
	if text, isError := strings.CutPrefix(format, "error: "); isError {
		if status != statusDamaged || !strings.Contains(errs, text) || !strings.Contains(errs, name) {
			t.Errorf("info %s: status %d, %q; want %d and %q", name, status, errs, statusDamaged, text)
		}
		if status, _, _ := sndpak(t, "play", pack, name, "--output", "null"); status == 0 {
			t.Errorf("play %s: status 0", name)
		}
		return
	}
	var info struct{ Format string }
	if err := json.Unmarshal([]byte(out), &info); err != nil || info.Format != format {
		t.Errorf("info %s: format %q (status %d, %v), want %q", name, info.Format, status, err, format)
	}
}

// What single pack cases say in words.
func TestPackCasesInWords(t *testing.T) {
	readCases(t)
	pack := func(id string) string { return filepath.Join(casesDir, "packs", id, "music.data") }
	t.Run("P01 any case", func(t *testing.T) {
		for _, name := range []string{"HIT.WAV", "Theme.Ogg"} {
			if status, _, errs := sndpak(t, "extract", pack("P01"), name, "--stdout"); status != 0 {
				t.Errorf("%s: status %d: %s", name, status, errs)
			}
		}
	})
	t.Run("P06 no index", func(t *testing.T) {
		for _, cmd := range []string{"list", "verify", "extract", "play", "info"} {
			if status, _, errs := sndpak(t, cmd, pack("P06")); status == 0 || !strings.Contains(errs, "music.inx") {
				t.Errorf("%s: status %d, %q", cmd, status, errs)
			}
		}
	})
	t.Run("P07 no data", func(t *testing.T) {
		for _, args := range [][]string{{"play", pack("P07"), "hit.wav"}, {"extract", pack("P07"), "-C", t.TempDir()}} {
			if status, _, errs := sndpak(t, args...); status == 0 || !strings.Contains(errs, "music.data") {
				t.Errorf("%v: status %d, %q", args, status, errs)
			}
		}
	})
	t.Run("P09 one bad entry", func(t *testing.T) {
		dir := t.TempDir()
		status, _, errs := sndpak(t, "extract", pack("P09"), "-C", dir)
		if status != statusDamaged || !strings.Contains(errs, "ghost.wav") {
			t.Errorf("status %d, %q", status, errs)
		}
		if _, err := os.Stat(filepath.Join(dir, "hit.wav")); err != nil {
			t.Error(err)
		}
	})
	t.Run("P16 case twins", func(t *testing.T) {
		dir := t.TempDir()
		status, _, errs := sndpak(t, "extract", pack("P16"), "-C", dir)
		files, _ := os.ReadDir(dir)
		if status == 0 && len(files) != 2 || status != 0 && !strings.Contains(strings.ToLower(errs), "bgm.ogg") {
			t.Errorf("status %d, %d files, %q: one was lost in silence", status, len(files), errs)
		}
	})
	t.Run("P27 names in GBK", func(t *testing.T) {
		_, list, _ := sndpak(t, "list", pack("P27"), "--json")
		var l struct{ Entries []listed }
		if err := json.Unmarshal([]byte(list), &l); err != nil {
			t.Fatal(err)
		}
		for _, e := range l.Entries {
			if status, out, errs := sndpak(t, "extract", pack("P27"), e.Name, "--stdout"); status != 0 || int64(len(out)) != e.Size {
				t.Errorf("%q: status %d, %d bytes: %s", e.Name, status, len(out), errs)
			}
		}
	})
	t.Run("P34 empty entries", func(t *testing.T) {
		for _, name := range []string{"z0.wav", "zmid.wav", "zend.wav"} {
			for _, args := range [][]string{{"play", pack("P34"), name, "--output", "null"}, {"info", pack("P34"), name}} {
				if status, _, errs := sndpak(t, args...); status == 0 || !strings.Contains(errs, "empty") || !strings.Contains(errs, name) {
					t.Errorf("%v: status %d, %q", args, status, errs)
				}
			}
		}
	})
	t.Run("P38 65,536 entries", func(t *testing.T) {
		status, out, _ := sndpak(t, "extract", pack("P38"), "e65535.wav", "--stdout")
		sum := sha256.Sum256([]byte(out))
		if got := hex.EncodeToString(sum[:]); status != 0 || got != "31e00530da481eca110878b72f48a8f708d76c172e7743a4386b72297445a437" {
			t.Errorf("status %d, sha256 %s", status, got)
		}
	})
	t.Run("P45 data cut", func(t *testing.T) {
		dir := t.TempDir()
		status, _, errs := sndpak(t, "extract", pack("P45"), "-C", dir)
		files, _ := os.ReadDir(dir)
		if status != statusDamaged || len(files) != 3 || !strings.Contains(errs, "win.flac") {
			t.Errorf("status %d, %d files, %q", status, len(files), errs)
		}
	})
	t.Run("P49 text as index", func(t *testing.T) {
		if _, out, errs := sndpak(t, "verify", pack("P49")); !strings.Contains(out+errs, "look like an index") {
			t.Errorf("%s%s", out, errs)
		}
	})
	t.Run("P51 plays", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "o.wav")
		if status, _, errs := sndpak(t, "play", pack("P51"), "long.ogg", "hit.wav", "--output", "wav:"+out); status != 0 {
			t.Errorf("status %d: %s", status, errs)
		}
	})
	t.Run("X10 no device", func(t *testing.T) {
		t.Setenv("PULSE_SERVER", "unix:/nowhere")
		status, _, errs := sndpak(t, "play", pack("P01"), "hit.wav")
		if status != 0 || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "nothing will be heard") {
			t.Errorf("status %d, %q", status, errs)
		}
	})
}

func TestSourceCases(t *testing.T) {
	readCases(t)
	create := func(t *testing.T, id string, flags ...string) (status int, errs, dir string) {
		dir = t.TempDir()
		args := append([]string{"create", filepath.Join(dir, "music.data"), filepath.Join(casesDir, "src", id)}, flags...)
		status, _, errs = sndpak(t, args...)
		return status, errs, dir
	}
	refused := func(t *testing.T, id string, names ...string) {
		status, errs, dir := create(t, id, "--plain")
		for _, n := range names {
			if !strings.Contains(errs, n) {
				t.Errorf("%s: %q does not name %s", id, errs, n)
			}
		}
		files, _ := os.ReadDir(dir)
		if status == 0 || len(files) != 0 {
			t.Errorf("%s: status %d, %d files left", id, status, len(files))
		}
	}
	t.Run("S01", func(t *testing.T) {
		long := []string{"abcdefghijklmnop.wav", "abcdefghijklmnopq.wav", "battle_theme_of_the_final_boss_phase2.wav"}
		refused(t, "S01", long...)
		status, errs, dir := create(t, "S01") // the manifest has the names in full
		if status != 0 {
			t.Fatalf("status %d: %s", status, errs)
		}
		for _, name := range long {
			if status, _, errs := sndpak(t, "extract", filepath.Join(dir, "music.data"), name, "--stdout"); status != 0 {
				t.Errorf("%s: status %d: %s", name, status, errs)
			}
		}
	})
	t.Run("S03", func(t *testing.T) { refused(t, "S03", "Hit.wav", "hit.wav") })
	for id, notices := range map[string][]string{
		"S04": {"empty.ogg"}, "S06": {"Thumbs.db", ".DS_Store", "desktop.ini", "._hit.wav"}, "S11": nil,
	} {
		t.Run(id, func(t *testing.T) {
			status, errs, dir := create(t, id)
			if status != 0 {
				t.Fatalf("status %d: %s", status, errs)
			}
			for _, n := range notices {
				if !strings.Contains(errs, n) {
					t.Errorf("no notice of %s: %q", n, errs)
				}
			}
			_, _, again := create(t, id)
			for _, f := range []string{"music.data", "music.inx"} {
				a, _ := os.ReadFile(filepath.Join(dir, f))
				b, _ := os.ReadFile(filepath.Join(again, f))
				if len(a) == 0 || !bytes.Equal(a, b) {
					t.Errorf("%s differs from one packing to the next (%d and %d bytes)", f, len(a), len(b))
				}
			}
		})
	}
}

// Every procedure has its test.
func TestNoProcedureIsForgotten(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(casesDir, "expected.json"))
	if err != nil {
		t.Skipf("the cases are not here: %v", err)
	}
	var raw struct {
		Cases map[string]struct{ Kind string }
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		t.Fatal(err)
	}
	for id, c := range raw.Cases {
		if c.Kind == "procedure" && elsewhere[id] == "" {
			t.Errorf("%s has no test", id)
		}
	}
}

// X12: seeks past the end and before the start, in each format.
func TestConsoleSeeks(t *testing.T) {
	readCases(t)
	for _, name := range []string{"o14.ogg", "f04.flac", "w01.wav", "m04.mp3"} {
		file := filepath.Join(casesDir, "audio", name)
		var o, e bytes.Buffer
		in := strings.NewReader("1\nseek 99999\n1\nseek -5\nseek 0.1\n")
		out := filepath.Join(t.TempDir(), "o.wav")
		status := run(context.Background(), []string{"console", file, "--output", "wav:" + out}, streams{in, &o, &e})
		if status != 0 || strings.Count(o.String(), "seek "+file) != 3 {
			t.Errorf("%s: status %d\n%s%s", name, status, o.String(), e.String())
		}
	}
}

// X09: a reader that goes away ends the listing quietly.
func TestListIntoAClosedPipe(t *testing.T) {
	readCases(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	var e bytes.Buffer
	pack := filepath.Join(casesDir, "packs", "P38", "music.data")
	status := run(context.Background(), []string{"list", pack}, streams{strings.NewReader(""), w, &e})
	w.Close()
	if status == 0 || strings.Contains(e.String(), "goroutine") || strings.Count(e.String(), "\n") > 1 {
		t.Errorf("status %d, %q", status, e.String())
	}
}

// copied is a copy of a case's pack that can be changed.
func copied(t *testing.T, id string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []string{"music.data", "music.inx"} {
		b, err := os.ReadFile(filepath.Join(casesDir, "packs", id, f))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "music.data")
}

// state is the bytes of a pack's files.
func state(t *testing.T, pack string) string {
	t.Helper()
	data, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(strings.TrimSuffix(pack, ".data") + ".inx")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "|" + string(index)
}

func listedNames(t *testing.T, pack string) (names []string) {
	t.Helper()
	_, out, _ := sndpak(t, "list", pack, "--json")
	var l struct{ Entries []listed }
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Entries {
		names = append(names, e.Name)
	}
	return names
}

func TestEditCases(t *testing.T) {
	readCases(t)
	file := func(t *testing.T, name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Run("X01 add over a name in another case", func(t *testing.T) {
		pack := copied(t, "P01")
		before := state(t, pack)
		status, _, errs := sndpak(t, "add", pack, file(t, "HIT.WAV", "new"))
		if status == 0 || !strings.Contains(errs, "HIT.WAV") || state(t, pack) != before {
			t.Errorf("status %d, %q, changed %t", status, errs, state(t, pack) != before)
		}
		if status, _, errs := sndpak(t, "add", pack, file(t, "HIT.WAV", "new"), "--replace"); status != 0 {
			t.Errorf("--replace: status %d: %s", status, errs)
		}
		if n := len(listedNames(t, pack)); n != 4 {
			t.Errorf("%d entries, want 4", n)
		}
		if status, out, _ := sndpak(t, "extract", pack, "hit.wav", "--stdout"); status != 0 || out != "new" {
			t.Errorf("status %d, %q", status, out)
		}
		if status, out, _ := sndpak(t, "verify", pack); status != 0 {
			t.Errorf("verify: status %d\n%s", status, out)
		}
		if status, _, errs := sndpak(t, "remove", pack, "hit.wav"); status != 0 || len(listedNames(t, pack)) != 3 {
			t.Errorf("remove: status %d: %s", status, errs)
		}
	})
	t.Run("X02 remove what is not there", func(t *testing.T) {
		pack := copied(t, "P01")
		before := state(t, pack)
		status, _, errs := sndpak(t, "remove", pack, "hit.wav", "nosuch.wav")
		if status != statusNoEntry || !strings.Contains(errs, "nosuch.wav") || state(t, pack) != before {
			t.Errorf("status %d, %q, changed %t", status, errs, state(t, pack) != before)
		}
	})
	t.Run("X06 a folder that cannot be written", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root may write everywhere; package soundpack has this case with a user of its own")
		}
		pack := copied(t, "P01")
		before := state(t, pack)
		dir := filepath.Dir(pack)
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o755)
		if status, _, errs := sndpak(t, "add", pack, file(t, "x.wav", "x")); status == 0 || errs == "" || state(t, pack) != before {
			t.Errorf("status %d, %q", status, errs)
		}
	})
	t.Run("X11 two adds at the same time", func(t *testing.T) {
		for range 50 {
			pack := copied(t, "P01")
			files := []string{file(t, "a.bin", "aaaa"), file(t, "b.bin", "bbb")}
			status := make(chan int, 2)
			for _, f := range files {
				go func() {
					var o, e bytes.Buffer
					status <- run(context.Background(), []string{"add", pack, f}, streams{strings.NewReader(""), &o, &e})
				}()
			}
			in := 0
			for range 2 {
				if <-status == 0 {
					in++
				}
			}
			if n := len(listedNames(t, pack)); in == 0 || n != 4+in {
				t.Fatalf("%d adds succeeded, and %d entries are there", in, n)
			}
			if status, out, _ := sndpak(t, "verify", pack); status != 0 {
				t.Fatalf("verify: status %d\n%s", status, out)
			}
		}
	})
	for id, less := range map[string]int64{"P43": 1000, "P44": 1332} {
		t.Run(id+" compact", func(t *testing.T) {
			pack := copied(t, id)
			names := listedNames(t, pack)
			before, err := os.Stat(pack)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for _, n := range names {
				_, want[n], _ = sndpak(t, "extract", pack, n, "--stdout")
			}
			if status, _, errs := sndpak(t, "compact", pack); status != 0 {
				t.Fatalf("status %d: %s", status, errs)
			}
			info, err := os.Stat(pack)
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() > before.Size()-less {
				t.Errorf("%d bytes, %d before, want %d less", info.Size(), before.Size(), less)
			}
			if got := listedNames(t, pack); !slices.Equal(got, names) {
				t.Errorf("entries %v, want %v", got, names)
			}
			for _, n := range names {
				if _, got, _ := sndpak(t, "extract", pack, n, "--stdout"); got != want[n] {
					t.Errorf("%s: %d bytes, want the %d of before", n, len(got), len(want[n]))
				}
			}
		})
	}
}
