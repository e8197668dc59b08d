//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// completionPack is a pack with a name of each kind that a shell could trip over.
func completionPack(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	for _, name := range []string{"jaguar.wav", "jump.wav", "two words.wav", "ui/click.wav", "$(touch pwned).wav", "quote'd.wav"} {
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
		{[]string{"decode", pack, ""}, []string{"jaguar.wav", "ui/click.wav"}, []string{".sndpak"}},
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

// Bash itself completes the names, and runs nothing that they hold.
func TestBashCompletes(t *testing.T) {
	if testing.Short() {
		t.Skip("short: no other program is run")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		if os.Getenv("SNDPAK_CI") == "1" {
			t.Fatal("bash is missing")
		}
		t.Skip("needs bash")
	}
	pack := completionPack(t)
	dir := filepath.Dir(pack)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "sndpak")); err != nil {
		t.Fatal(err)
	}
	const script = `
source <(sndpak completion bash)
complete_line() {
  COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  compopt() { :; }
  _get_comp_words_by_ref() { # of the package bash-completion
    words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  }
  __start_sndpak
  printf '%s\n' "${COMPREPLY[@]}"
}
complete_line "$@"
`
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{[]string{"sndpak", "play", "my.data", "jag"}, []string{"jaguar.wav"}},
		{[]string{"sndpak", "play", "my.data", "jump.wav", "ui/"}, []string{"ui/click.wav"}},
		{[]string{"sndpak", "play", "my.data", "tw"}, []string{`two\ words.wav`}},
		{[]string{"sndpak", "play", "my.data", "q"}, []string{`quote\'d.wav`}},
		{[]string{"sndpak", "verif"}, []string{"verify"}},
	} {
		cmd := exec.Command("bash", append([]string{"--norc", "--noprofile", "-c", script, "bash"}, c.words...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), fmt.Sprintf("PATH=%s:%s", dir, os.Getenv("PATH")))
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", c.words, err)
		}
		got := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
		for i := range got {
			got[i] = strings.TrimSpace(got[i])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.words, got, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a name was run")
	}
}

// The scripts of the other shells are made too.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		status, out, errs := sndpak(t, "completion", shell)
		if status != 0 || !strings.Contains(out, "__complete") {
			t.Errorf("%s: status %d, %s\n%.300s", shell, status, errs, out)
		}
	}
}
