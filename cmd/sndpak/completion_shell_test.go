//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// shells are those with a script of ours, as they start without the settings of whoever runs the test.
var shells = map[string]struct{ start, setup string }{
	"bash": {"bash --norc --noprofile", "source <(sndpak completion bash)"},
	"zsh":  {"zsh -f", "sndpak completion zsh >~/_sndpak; fpath=(~ $fpath); autoload -U compinit && compinit -D -u"},
	"fish": {"fish --no-config", "sndpak completion fish | source"},
}

// A shell in a terminal, in the folder of a pack, with the command and its completion.
func startShell(t *testing.T, name, pack string) *terminal {
	t.Helper()
	needsProgram(t, name)
	dir := filepath.Dir(pack)
	env := []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_DATA_HOME=" + dir, "SHELL=/bin/sh", "PS1=$ ", "HISTFILE="}
	term := startLine(t, 160, 48, env, func(bin string) string {
		return fmt.Sprintf("cd '%s' && PATH='%s':$PATH && export PATH && exec %s", dir, filepath.Dir(bin), shells[name].start)
	})
	term.keys(shells[name].setup+"; echo set up | tr a-z A-Z", "Enter")
	term.see("\nSET UP")
	return term
}

// The shells themselves complete names of each kind that they could trip over, in quotes and without: the
// completed line extracts just those. Each word is begun so that one name alone begins like it.
func TestShellsCompleteNames(t *testing.T) {
	begun := []struct{ word, name string }{
		{`tw`, "two words.wav"}, {`'double  `, "double  space.wav"}, {`qu`, "quote'd.wav"}, {`'$`, "$(touch pwned).wav"},
		{`ba`, "back`touch pwned`.wav"}, {`"sem`, "semi;touch pwned.wav"}, {`ä`, "ärger.wav"}, {`日`, "日本語.wav"},
		{`\[`, "[x].wav"}, {`\~`, "~home.wav"}, {`\#`, "#hash.wav"}, {`\{`, "{a,b}.wav"}, {`@`, "@at.wav"}, {`eq=u`, "eq=ual.wav"},
		{`m@`, "m@il.wav"}, {`\^`, "^up.wav"}, {`\!`, "!bang.wav"}, {`ui/`, "ui/click.wav"}, {`-- -d`, "-dash.wav"}, {`--h`, "--help"},
	}
	names := []string{"not this.wav"}
	for _, b := range begun {
		names = append(names, b.name)
	}
	pack := namedPack(t, names)
	for shell := range shells {
		t.Run(shell, func(t *testing.T) {
			dir := filepath.Dir(pack)
			term := startShell(t, shell, pack)
			keys := []string{"sndpak extr", "Tab", "my.d", "Tab", "-C " + shell + " "}
			for _, b := range begun {
				keys = append(keys, b.word, "Tab")
			}
			term.keys(append(keys, "Enter")...)
			term.keys("echo all done | tr a-z A-Z", "Enter")
			screen := term.see("\nALL DONE")
			for _, b := range begun {
				if _, err := os.Stat(filepath.Join(dir, shell, b.name)); err != nil {
					t.Errorf("%s did not complete %q to %q (%v):\n%s", shell, b.word, b.name, err, screen)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, shell, names[0])); err == nil {
				t.Errorf("%s completed a name that nobody began", shell)
			}
			if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
				t.Errorf("%s ran a name", shell)
			}
		})
	}
}

// Flags and their values are completed too, and several names are shown, with their lengths.
func TestShellsCompleteFlags(t *testing.T) {
	pack := completionPack(t)
	for shell := range shells {
		t.Run(shell, func(t *testing.T) {
			term := startShell(t, shell, pack)
			term.keys("sndpak pl", "a", "Tab", "my.data jag", "Tab", "--output=nu", "Tab", "--dura", "Tab", "0.01 && echo played | tr a-z A-Z", "Enter")
			term.see("\nPLAYED")
			term.keys("C-l", "sndpak info my.data j", "Tab", "Tab")
			term.see("jaguar.wav  ", "jump.wav  ", "0:00.10")
		})
	}
}
