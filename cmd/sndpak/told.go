package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

// What is told of many entries in the same way is told of the first ones, and the others are counted: packs and
// archives may have millions of bad ones.
const (
	mostTold  = 10  // warnings, errors, and files that are there already
	mostFound = 30  // findings of verify, which are its purpose
	mostRules = 100 // findings of lint, of which people go through the list
)

// A teller prints warnings, the first ones of each kind.
type teller struct {
	cmd   *cobra.Command
	n     map[string]int
	kinds []string // in the order in which they came up
}

func newTeller(cmd *cobra.Command) *teller { return &teller{cmd: cmd, n: map[string]int{}} }

func (t *teller) warn(kind string, err error) {
	if t.n[kind]++; t.n[kind] == 1 {
		t.kinds = append(t.kinds, kind)
	}
	if t.n[kind] <= mostTold {
		warn(t.cmd, err)
	}
}

// notice tells what the library has to say of a file. The first two words of it are its kind: what they are
// is not in anybody's hand.
func (t *teller) notice(path, text string) {
	words := strings.Fields(strings.ReplaceAll(text, ":", " "))
	t.warn(strings.Join(words[:min(2, len(words))], " "), fmt.Errorf("%s: %s", path, text))
}

// rest counts what was not printed.
func (t *teller) rest() {
	for _, kind := range t.kinds {
		if n := t.n[kind] - mostTold; n > 0 {
			warn(t.cmd, fmt.Errorf("and %d more: %s", n, kind))
		}
	}
	clear(t.n)
	t.kinds = nil
}

// kinds are the errors that many entries may have.
var kinds = []error{soundpack.ErrFormat, soundpack.ErrChecksum, soundpack.ErrLimit, soundpack.ErrChanged, fs.ErrExist, fs.ErrNotExist}

// brief leaves the first errors of each kind of those joined in err, and counts the others. Files that are
// there already are left to who knows what helps.
func brief(err error) error {
	all := parts(err)
	if len(all) <= mostTold {
		return err
	}
	n := map[string]int{}
	var kept []error
	var order []string
	for _, e := range all {
		if isThere(e) {
			kept = append(kept, e)
			continue
		}
		kind := kindOf(e)
		if n[kind]++; n[kind] <= mostTold {
			kept = append(kept, e)
		} else if n[kind] == mostTold+1 {
			order = append(order, kind)
		}
	}
	for _, kind := range order {
		kept = append(kept, fmt.Errorf("and %d more%s", n[kind]-mostTold, kind))
	}
	return errors.Join(kept...)
}

// kindOf is what an error is called among others of its kind.
func kindOf(err error) string {
	if as[noEntryError](err) {
		return " entries that are not there"
	}
	for _, k := range kinds {
		if errors.Is(err, k) {
			return ": " + k.Error()
		}
	}
	return ""
}

// isThere tells whether an error is that of a file in the way.
func isThere(err error) bool {
	path, ok := errors.AsType[*fs.PathError](err)
	return ok && path.Err == fs.ErrExist
}
