//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// completionPack is a pack with a name of each kind that a shell could trip over.
func completionPack(t *testing.T) string {
	t.Helper()
	return namedPack(t, []string{"jaguar.wav", "jump.wav", "two words.wav", "ui/click.wav", "$(touch pwned).wav", "quote'd.wav", "-dash.wav"})
}

// namedPack is a pack of sounds with these names.
func namedPack(t *testing.T, names []string) string {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	for _, name := range names {
		file := filepath.Join(src, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, tone(8000, 800, 440), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	pack := filepath.Join(dir, "my.data")
	if status, _, errs := sndpak(t, "create", pack, src); status != 0 {
		t.Fatal(errs)
	}
	return pack
}

func TestCompletionKnowsEntries(t *testing.T) {
	pack := completionPack(t)
	for _, c := range []struct {
		args []string
		want []string
		not  []string
	}{
		{[]string{"play", pack, "j"}, []string{"jaguar.wav\t0:00.10", "jump.wav\t0:00.10", ":4"}, []string{"two"}},
		{[]string{"play", pack, "jump.wav", "ja"}, []string{"jaguar.wav"}, []string{"jump"}},
		{[]string{"console", pack, "ui"}, []string{"ui/click.wav"}, nil},
		{[]string{"extract", pack, "two"}, []string{"two words.wav"}, nil},
		{[]string{"remove", pack, "$"}, []string{"$(touch pwned).wav"}, nil},
		{[]string{"decode", pack, ""}, []string{"jaguar.wav", "ui/click.wav"}, []string{".sndpak", "-dash"}},
		{[]string{"decode", pack, "--", ""}, []string{"jaguar.wav", "-dash.wav"}, nil},
		{[]string{"decode", pack, "-"}, []string{"--bits"}, []string{"-dash.wav"}},
		{[]string{"completion", "z"}, []string{"zsh"}, []string{"bash"}},
		{[]string{"info", pack, "nothing"}, []string{":4"}, nil},
		{[]string{"info", ""}, []string{":0"}, nil}, // files
		{[]string{"play", "no such pack", "x"}, []string{":0"}, nil},
		{[]string{"play", filepath.Dir(pack) + "/src", "u"}, []string{"ui/"}, []string{"jaguar"}},
		{[]string{"play", filepath.Dir(pack) + "/src", "ui/"}, []string{"ui/click.wav"}, nil},
		{[]string{"play", filepath.Dir(pack) + "/src", "../"}, nil, []string{"my.data"}},
		{[]string{"play", pack, "--output", ""}, []string{"pulse", "null"}, nil},
		{[]string{"console", pack, "--theme", ""}, []string{"light"}, nil},
	} {
		var stdout, stderr bytes.Buffer
		if run(t.Context(), append([]string{"__complete"}, c.args...), streams{strings.NewReader(""), &stdout, &stderr}) != 0 {
			t.Fatalf("%q: %s", c.args, &stderr)
		}
		out := stdout.String()
		for _, w := range c.want {
			if !strings.Contains(out, w) {
				t.Errorf("%q: no %q in\n%s", c.args, w, out)
			}
		}
		for _, w := range c.not {
			if strings.Contains(out, w) {
				t.Errorf("%q: %q in\n%s", c.args, w, out)
			}
		}
	}
}

// A line of bash is taken apart as bash does it, up to what only running it could tell.
func TestBashLines(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	t.Setenv("PACK", "a b.data")
	const breaks = " \t\n\"'@><=;|&(:"
	for _, c := range []struct {
		line string
		want string // the whole words, the one begun, the bytes in front of what is replaced, the open quote
	}{
		{`sndpak `, `["sndpak"] "" 0 '\x00'`},
		{`sndpak play my.data ja`, `["sndpak" "play" "my.data"] "ja" 0 '\x00'`},
		{`a=1 B_2='x y' sndpak play x`, `["sndpak" "play"] "x" 0 '\x00'`},
		{`sndpak "a b" 'c\d' e\ f g\\h x`, `["sndpak" "a b" "c\\d" "e f" "g\\h"] "x" 0 '\x00'`},
		{`sndpak "a\"b\$c\d" "" x`, `["sndpak" "a\"b$c\\d" ""] "x" 0 '\x00'`},
		{`sndpak ~/p "~/p" a~/ `, `["sndpak" "/home/me/p" "~/p" "a~/"] "" 0 '\x00'`},
		{`sndpak $PACK "${PACK}x" '$PACK' $NOTSET. `, `["sndpak" "a b.data" "a b.datax" "$PACK" "."] "" 0 '\x00'`},
		{`sndpak --output=nu`, `["sndpak"] "--output=nu" 9 '\x00'`},
		{`sndpak a@b`, `["sndpak"] "a@b" 1 '\x00'`},
		{`sndpak a\:b:c`, `["sndpak"] "a:b:c" 4 '\x00'`},
		{`sndpak x"a b`, `["sndpak"] "xa b" 1 '"'`},
		{`sndpak 'a b`, `["sndpak"] "a b" 0 '\''`},
		{`sndpak $(touch x) `, `not`}, {"sndpak `touch x` ", `not`}, {`sndpak "$(touch x)" `, `not`}, {`sndpak $'a' `, `not`},
		{`sndpak x > `, `not`}, {`sndpak 'a'b`, `not`}, {`sndpak a\`, `not`},
	} {
		got := "not"
		if l, ok := splitBash(c.line, breaks); ok {
			got = fmt.Sprintf("%q %q %d %q", l.words, l.begun, l.cut, rune(l.quote))
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

// What bash is told to put on the line depends on the quotes there, and on the key.
func TestBashAnswers(t *testing.T) {
	pack := namedPack(t, []string{"one two.wav", "one 'quoted'.wav", `$x!.wav`, "-dash.wav"})
	const tab, list, all = "9", "63", "33"
	for _, c := range []struct{ line, how, want string }{
		{`play PACK o`, tab, `part one\ `},
		{`play PACK one\ `, tab, `part one\ `},
		{`play PACK 'one `, tab, `part one `},
		{`play PACK o`, list, `words one 'quoted'.wav  (0:00.10)|one two.wav  (0:00.10)`},
		{`play PACK o`, all, `words one\ \'quoted\'.wav|one\ two.wav`},
		{`play PACK 'one '\''q`, tab, `words quoted'\''.wav`},
		{`play PACK "one '`, tab, `words one 'quoted'.wav`},
		{`play PACK "\$`, tab, `words \$x"'!'".wav`},
		{`play PACK \$`, tab, `words \$x\!.wav`},
		{`play PACK none`, tab, `files`},
		{`info PACK none`, tab, `words`},
		{`play PACK -- -`, tab, `words -dash.wav`},
		{`play PACK --output=wa`, tab, `part wav:`},
		{`play PACK --output wa`, tab, `part wav:`},
		{`play `, tab, `files`},
		{`extract PACK -C `, tab, `dirs`},
		{`nonsense x`, tab, `files`},
		{`veri`, tab, `words verify`},
	} {
		kind, got := bashAnswer(t.Context(), "sndpak "+strings.ReplaceAll(c.line, "PACK", pack), c.how, " \t\n\"'@><=;|&(:")
		if got := strings.TrimSpace(kind + " " + strings.Join(got, "|")); got != strings.TrimSpace(c.want) {
			t.Errorf("%s by %s: got %q, want %q", c.line, c.how, got, c.want)
		}
	}
}

// The scripts are there for each shell.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		status, out, errs := sndpak(t, "completion", shell)
		if status != 0 || !strings.Contains(out, "__complete") && !strings.Contains(out, "__bash") {
			t.Errorf("%s: status %d, %s\n%.300s", shell, status, errs, out)
		}
	}
}
