package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/soundpack"
)

// packOf is a pack of small files with these names.
func packOf(t *testing.T, layout string, names ...string) string {
	t.Helper()
	pack := filepath.Join(t.TempDir(), "p.data")
	var src []soundpack.Source
	for i, name := range names {
		src = append(src, soundpack.Source{Name: name, Path: name, Size: 10, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(bytes.Repeat([]byte{byte(i)}, 10))), nil
		}})
	}
	if err := soundpack.Create(t.Context(), pack, src, &soundpack.CreateOptions{Layout: layout}); err != nil {
		t.Fatal(err)
	}
	return pack
}

func TestNearNames(t *testing.T) {
	names := []string{"jaguar.wav", "sfx/Hit.wav", "music/theme.ogg", "music/theme2.ogg", "battle theme of the boss.ogg", "steps/a.wav", "a.wav", "b.wav"}
	for _, c := range []struct{ layout, name, want string }{
		{"split", "jagaur.wav", `"jaguar.wav"`},
		{"split", "JAGUR.WAV", `"jaguar.wav"`},
		{"split", "jaguar.ogg", `"jaguar.wav"`},
		{"split", "hit.wav", `"sfx/Hit.wav"`},
		{"split", "sound/hit.wav", `"sfx/Hit.wav"`},
		{"split", "music/theme.wav", `"music/theme.ogg"`},
		{"split", "music/theme3.ogg", `"music/theme.ogg" or "music/theme2.ogg"`},
		{"split", "batle theme of the bos.ogg", `"battle theme of the boss.ogg"`},
		{"split", "c.wav", `"a.wav" or "b.wav"`},
		{"split", "x/a.wav", `"steps/a.wav" or "a.wav"`},
		{"split", "d/theme.mp3", `"music/theme.ogg"`},
		{"split", "nothing of the kind.wav", ""},
		{"split", "zz", ""},
		{"cfg", "Jaguar.wav", `"jaguar.wav"`},
		{"cfg", "sfx/hit.wav", `"sfx/Hit.wav"`},
		{"crc", "jagaur.wav", `"jaguar.wav"`},
		{"pck", "jagaur.wav", ""},
		{"pck", "9", ""},
	} {
		pack := packOf(t, c.layout, names...)
		for _, args := range [][]string{
			{"play", pack, c.name, "--output", "null"}, {"extract", pack, c.name, "-C", t.TempDir()}, {"info", pack, c.name},
			{"decode", pack, c.name, "-o", filepath.Join(t.TempDir(), "o.wav")}, {"plot", pack, c.name, "-o", filepath.Join(t.TempDir(), "o.png")},
			{"remove", pack, c.name}, {"extract", pack, c.name, "--stdout"},
		} {
			status, _, errs := sndpak(t, args...)
			meant := ": did you mean " + c.want + "? (sndpak list"
			if status != statusNoEntry || strings.Count(errs, "\n") != 1 || strings.Contains(errs, "did you mean") != (c.want != "") ||
				c.want != "" && !strings.Contains(errs, meant) {
				t.Errorf("%s %s: status %d, %s want %q", c.layout, args[:1], status, errs, c.want)
			}
		}
	}
}

// Names that only a list of paths gives are near too; ids, which are all alike, are not.
func TestNearGivenNames(t *testing.T) {
	pack := packOf(t, "crc", "sfx/hit.wav", "sfx/step.wav")
	plain, list := filepath.Join(t.TempDir(), "q.dat"), filepath.Join(t.TempDir(), "names.txt")
	if status, _, errs := sndpak(t, "convert", pack, plain, "--plain"); status != 0 {
		t.Fatal(errs)
	}
	writeTo(t, list, []byte("sfx/hit.wav\n"))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"info", plain, "sfx/hti.wav", "--names", list}, `did you mean "sfx/hit.wav"?`},
		{[]string{"info", plain, "sfx/hti.wav"}, `no entry "sfx/hti.wav" (sndpak`},
		{[]string{"info", plain, "00000000"}, `no entry "00000000" (sndpak`},
	} {
		if status, _, errs := sndpak(t, c.args...); status != statusNoEntry || !strings.Contains(errs, c.want) {
			t.Errorf("%s: status %d, %s want %q", c.args, status, errs, c.want)
		}
	}
}

// TestEntryPatterns has patterns stand for what matches, in the order of the pack, and names that look like
// patterns for themselves.
func TestEntryPatterns(t *testing.T) {
	names := []string{"sfx/hit.wav", "music/Theme.ogg", "sfx/step.wav", "sfx/deep/far.wav", "top.wav", "hit[1].wav", "hit1.wav"}
	for _, c := range []struct{ layout, pattern, want string }{
		{"split", "sfx/*.wav", "sfx/hit.wav sfx/step.wav"},
		{"split", "*.wav", "hit1.wav hit[1].wav top.wav"},
		{"split", "*/*", "music/Theme.ogg sfx/hit.wav sfx/step.wav"},
		{"split", "MUSIC/t*", "music/Theme.ogg"},
		{"cfg", "MUSIC/t*", ""},
		{"cfg", "music/T*", "music/Theme.ogg"},
		{"crc", "sfx/*", "sfx/hit.wav sfx/step.wav"},
		{"split", "hit[1].wav", "hit[1].wav"},
		{"split", "hit[12].wav", "hit1.wav"},
		{"split", "hit[.wav", ""},
		{"split", "none*", ""},
	} {
		pack := packOf(t, c.layout, names...)
		out := filepath.Join(t.TempDir(), "out")
		status, _, errs := sndpak(t, "extract", pack, c.pattern, "-C", out)
		var got []string
		filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				name, _ := filepath.Rel(out, path)
				got = append(got, filepath.ToSlash(name))
			}
			return nil
		})
		slices.Sort(got)
		want := map[bool]int{true: statusNoEntry, false: 0}[c.want == ""]
		if status != want || strings.Join(got, " ") != c.want {
			t.Errorf("%s, extract %q: status %d, %q, want %d, %q; %s", c.layout, c.pattern, status, got, want, c.want, errs)
		}
		left := []string{}
		for _, name := range listedNames(t, pack) {
			if !slices.Contains(got, name) {
				left = append(left, name)
			}
		}
		status, _, errs = sndpak(t, "remove", pack, c.pattern)
		if have := listedNames(t, pack); status != want || !slices.Equal(have, left) {
			t.Errorf("%s, remove %q: status %d, %q left, want %q; %s", c.layout, c.pattern, status, have, left, errs)
		}
	}
}

// What plays takes patterns too, over several packs and folders, and what takes one entry wants one.
func TestSoundPatterns(t *testing.T) {
	music := filepath.Join(musicDir, "music.data")
	var hashes [4]string
	for i, args := range [][]string{
		{"jaguar.wav", "swish.wav"}, {"[js]*.WAV"}, {"jaguar.wav"}, {"j?guar.wav"},
	} {
		status, out, errs := sndpak(t, append([]string{"render", music, "--hash"}, args...)...)
		if hashes[i] = out; status != 0 || out == "" {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
	}
	if hashes[0] != hashes[1] || hashes[2] != hashes[3] || hashes[0] == hashes[2] {
		t.Errorf("rendered %q", hashes)
	}
	for _, c := range []struct {
		status int
		args   []string
	}{
		{0, []string{"info", music, "jag*"}}, {2, []string{"info", music, "*.wav"}}, {2, []string{"decode", music, "*.wav", "-o", "x.wav"}},
		{2, []string{"extract", music, "*.wav", "--stdout"}}, {0, []string{"extract", music, "jag*", "--stdout"}},
		{4, []string{"play", music, "x*", "--output", "null"}}, {0, []string{"render", filepath.Join(musicDir, "sounds"), "jag*", "--hash"}},
		{0, []string{"render", music, filepath.Join(musicDir, "sounds"), "jag*", "--hash"}},
	} {
		if status, _, errs := sndpak(t, c.args...); status != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.args, status, c.status, errs)
		}
	}
}

// TestEditDistance compares with the whole table.
func TestEditDistance(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	word := func() string {
		b := make([]byte, rnd.IntN(9))
		for i := range b {
			b[i] = "abc"[rnd.IntN(3)]
		}
		return string(b)
	}
	for range 20000 {
		a, b, most := word(), word(), rnd.IntN(4)
		d := make([][]int, len(a)+1)
		for i := range d {
			d[i] = make([]int, len(b)+1)
			for j := range d[i] {
				if d[i][j] = i + j; i == 0 || j == 0 {
					continue
				}
				cost := 1
				if a[i-1] == b[j-1] {
					cost = 0
				}
				d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d[i][j] = min(d[i][j], d[i-2][j-2]+1)
				}
			}
		}
		if got, want := editDistance(a, b, most), min(d[len(a)][len(b)], most+1); got != want {
			t.Fatalf("seed %d: %q and %q, %d at most: %d, want %d", seed, a, b, most, got, want)
		}
	}
}
