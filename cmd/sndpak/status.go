package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/player/output"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit statuses.
const (
	statusDone    = 0
	statusFailed  = 1
	statusUsage   = 2 // wrong flags or arguments
	statusDamaged = 3 // the pack or an entry is damaged
	statusNoEntry = 4 // no such entry
)

// usageError is an error of the command line itself.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

// usageArgs turns what a command says against its arguments into a usage error that shows how the
// command is used.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(cmd, args); err != nil {
			return usagef("%w (%s; see %s --help)", err, cmd.UseLine(), cmd.CommandPath())
		}
		return nil
	}
}

// noEntryError says that a pack has no such entry.
type noEntryError struct {
	pack, entry string
	packs       []*soundpack.Pack // that may have what was meant, which is looked for once it is told
}

func (e noEntryError) Error() string {
	if e.entry == "" {
		return fmt.Sprintf("%s: an empty name is no entry", e.pack)
	}
	meant := ""
	if near := nearNames(e.entry, e.packs...); len(near) > 0 {
		meant = ": did you mean " + either(near) + "?"
	}
	return fmt.Sprintf("%s: no entry %q%s (sndpak list %s shows them)", e.pack, e.entry, meant, e.pack)
}

// either is a choice of names: "a", "b" or "c".
func either(names []string) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(name))
	}
	return b.String()
}

// damagedError says that a pack or an entry is damaged where the finding itself was printed.
type damagedError struct{ error }

func (e damagedError) Unwrap() error { return e.error }

// notSoundError is of a file that neither is nor is called a sound: nothing is damaged.
type notSoundError struct{ error }

func (e notSoundError) Unwrap() error { return e.error }

// damaged tells whether err, or one of those joined in it, is about damage. That a sound is of a kind which
// is not supported is none, as in verify.
func damaged(err error) bool {
	switch e := err.(type) {
	case nil, notSoundError:
		return false
	case damagedError:
		return true
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), damaged)
	}
	return slices.Contains(damage, err) || damaged(errors.Unwrap(err))
}

// damage are the errors that tell of it.
var damage = []error{
	soundpack.ErrFormat, soundpack.ErrChecksum, soundpack.ErrChanged, decode.ErrFormat, decode.ErrCorrupt, decode.ErrLimit,
}

// status is the exit status that err asks for. Of several errors the worst counts: damage before a
// missing entry before anything else.
func status(err error) int {
	switch {
	case err == nil:
		return statusDone
	case as[usageError](err) || errors.Is(err, output.ErrSpec):
		return statusUsage
	case damaged(err):
		return statusDamaged
	case as[noEntryError](err) || as[missingEntry](err):
		return statusNoEntry
	}
	return statusFailed
}

func as[T error](err error) bool {
	var t T
	return errors.As(err, &t)
}

// causes are the errors joined in err, one line each.
func causes(err error) []string {
	var all []string
	for _, e := range parts(err) {
		text := e.Error()
		if classed(e) {
			text = strings.TrimSuffix(text, ": "+fs.ErrInvalid.Error())
		}
		all = append(all, oneLine(text))
	}
	return all
}

// there says briefly, and with what helps, that files are there already which were to be written. What else
// is joined in err stays.
func there(err error) error {
	var files, all []error
	for _, e := range parts(err) {
		if path, ok := errors.AsType[*fs.PathError](e); ok && path.Err == fs.ErrExist {
			files = append(files, fmt.Errorf("%s is there already", path.Path))
		} else {
			all = append(all, e)
		}
	}
	switch n := len(files); {
	case n == 0:
		return err
	case n == 1:
		return errors.Join(append(all, fmt.Errorf("%w (--force replaces it)", files[0]))...)
	case n > mostTold:
		files = append(files[:mostTold], fmt.Errorf("and %d more", n-mostTold))
		fallthrough
	default:
		files = append(files, fmt.Errorf("%d files are left as they are: --force replaces them", n))
	}
	return errors.Join(append(all, files...)...)
}

// classed tells whether an error is an fs.ErrInvalid for programs to branch on, which tells people nothing
// new, and not because that is all that is known.
func classed(err error) bool {
	for {
		inner := errors.Unwrap(err)
		if _, path := err.(*fs.PathError); inner == nil || path && inner == fs.ErrInvalid {
			return false
		}
		if inner == fs.ErrInvalid {
			return true
		}
		err = inner
	}
}

// flagFault is what is wrong with flags, without the names of what parses them.
func flagFault(_ *cobra.Command, err error) error {
	e, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return usage(err)
	}
	why := e.Unwrap().Error()
	if n, ok := errors.AsType[*strconv.NumError](e); ok {
		why = map[string]string{"ParseBool": "want true or false", "ParseFloat": "want a number"}[n.Func]
		switch {
		case errors.Is(n, strconv.ErrRange):
			why = "out of range"
		case why == "":
			why = "want a whole number"
		}
	}
	if strings.HasPrefix(why, "time: ") {
		why = "want a time with its unit, such as 20ms"
	}
	value := strconv.Quote(e.GetValue())
	if strings.HasPrefix(why, value) { // it begins with the value itself
		return usagef("--%s %s", e.GetFlag().Name, why)
	}
	return usagef("--%s %s: %s", e.GetFlag().Name, value, why)
}

// count is a number of things, of which one is called by the singular.
func count(n int, single, more string) string { return fmt.Sprintf("%d %s", n, one(n, single, more)) }

// one is the word for one thing or for more of them.
func one(n int, single, more string) string {
	if n == 1 {
		return single
	}
	return more
}

// parts are the errors joined in err.
func parts(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range j.Unwrap() {
			all = append(all, parts(e)...)
		}
		return all
	}
	return []error{err}
}

// oneLine keeps a message on one line and its control characters from the terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, strings.TrimRight(s, "\n"))
}

// isMissing reports that err is about something that does not exist.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
