package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// newBash answers the script of bash, which alone of the shells neither takes quotes off the words of a
// line nor puts them on what is completed. It prints what kind of answer it is, then one answer a line.
func newBash() *cobra.Command {
	return &cobra.Command{
		Use:    "__bash LINE TYPE BREAKS",
		Short:  "Answer the completion script of bash",
		Hidden: true,
		Args:   cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, list := bashAnswer(cmd.Context(), args[0], args[1], args[2])
			_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(append([]string{kind}, list...), "\n"))
			return err
		},
	}
}

// What bash does with an answer.
const (
	answerWords = "words" // they are whole
	answerPart  = "part"  // more comes behind it
	answerFiles = "files" // bash looks for files
	answerDirs  = "dirs"
)

// bashAnswer completes a line up to the cursor. how is bash's COMP_TYPE, a character by its number.
func bashAnswer(ctx context.Context, text, how, breaks string) (kind string, list []string) {
	line, ok := splitBash(text, breaks)
	if !ok || len(line.words) == 0 {
		return answerFiles, nil
	}
	found, directive := completions(ctx, append(line.words[1:], line.begun))
	switch {
	case directive&cobra.ShellCompDirectiveError != 0:
		return answerWords, nil
	case directive&cobra.ShellCompDirectiveFilterDirs != 0:
		return answerDirs, nil
	}
	if flag, _, ok := strings.Cut(line.begun, "="); ok && strings.HasPrefix(flag, "-") && !dashed(line.words) {
		for i := range found {
			found[i].name = flag + "=" + found[i].name
		}
	}
	found = slices.DeleteFunc(found, func(c completion) bool { return !strings.HasPrefix(c.name, line.begun) })
	if len(found) == 0 && directive&cobra.ShellCompDirectiveNoFileComp == 0 {
		return answerFiles, nil
	}
	return line.answer(found, how)
}

// A completion is what the command offers, with what it says about it.
type completion struct{ name, about string }

// completions asks the command itself, as the other shells' scripts do.
func completions(ctx context.Context, args []string) (list []completion, directive cobra.ShellCompDirective) {
	var out, errs bytes.Buffer
	args = append([]string{cobra.ShellCompRequestCmd}, args...)
	if run(ctx, args, streams{strings.NewReader(""), &out, &errs}) != statusDone {
		return nil, cobra.ShellCompDirectiveError
	}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if n, err := strconv.Atoi(strings.TrimPrefix(line, ":")); err == nil && strings.HasPrefix(line, ":") {
			directive = cobra.ShellCompDirective(n) // the last line
			continue
		}
		name, about, _ := strings.Cut(line, "\t")
		if name != "" {
			list = append(list, completion{name, about})
		}
	}
	return list, directive
}

// A bashLine is the line of a command up to the cursor, taken apart.
type bashLine struct {
	words []string // the whole ones, without quotes
	begun string   // the one under the cursor, without quotes
	quote byte     // that is open at the cursor, or 0
	cut   int      // the bytes of begun in front of what bash replaces
}

// answer tells how bash is to go on. It does not get several names to make one beginning of, as that could
// end between a backslash and what it stands for.
func (l *bashLine) answer(found []completion, how string) (kind string, list []string) {
	const listing, tab = "63", "9" // ? and the key itself
	switch {
	case how == listing:
		for _, c := range found {
			if c.about != "" {
				c.name += "  (" + c.about + ")"
			}
			list = append(list, c.name)
		}
		return answerWords, list
	case len(found) > 1 && how == tab:
		return answerPart, []string{l.replacement(commonPrefix(found))}
	}
	kind = answerWords
	for _, c := range found {
		list = append(list, l.replacement(c.name))
		if strings.HasSuffix(c.name, "/") || strings.HasSuffix(c.name, ":") {
			kind = answerPart
		}
	}
	return kind, list
}

func commonPrefix(list []completion) string {
	same := list[0].name
	for _, c := range list[1:] {
		for !strings.HasPrefix(c.name, same) {
			_, n := utf8.DecodeLastRuneInString(same)
			same = same[:len(same)-n]
		}
	}
	return same
}

// replacement is a name in the quotes that it needs where it stands.
func (l *bashLine) replacement(name string) string {
	name = name[min(l.cut, len(name)):]
	switch l.quote {
	case '\'':
		return strings.ReplaceAll(name, "'", `'\''`)
	case '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`", `!`, `"'!'"`).Replace(name)
	}
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c < utf8.RuneSelf && !plainInBash(c) {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

func plainInBash(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("_-./,:=@%+", c) >= 0
}

// splitBash takes a line apart as bash does, without running anything; false is for what only running
// could tell. breaks are the characters behind which bash begins to replace.
func splitBash(text, breaks string) (bashLine, bool) {
	s := splitter{breaks: breaks}
	for s.rest = text; s.rest != ""; {
		if !s.next() {
			return bashLine{}, false
		}
	}
	if s.closed && s.line.quote == 0 { // bash would replace from the quote on
		return bashLine{}, false
	}
	for len(s.line.words) > 0 && assignment.MatchString(s.line.words[0]) {
		s.line.words = s.line.words[1:]
	}
	return s.line, true
}

var (
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	variable   = regexp.MustCompile(`^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})`)
)

// A splitter is where splitBash is.
type splitter struct {
	line         bashLine
	rest, breaks string
	inside       bool // of a word, which may be empty yet
	closed       bool // a quote within the word
}

// next takes one character, with what belongs to it.
func (s *splitter) next() bool {
	c, quote := s.rest[0], s.line.quote
	switch {
	case c == quote:
		s.line.quote, s.closed = 0, true
	case quote == '\'':
		s.line.begun += s.rest[:1]
	case c == '\\':
		return s.backslash()
	case c == '$' || c == '`':
		return s.dollar()
	case quote != 0:
		s.line.begun += s.rest[:1]
	case c == '\'' || c == '"':
		s.line.quote, s.line.cut, s.inside = c, len(s.line.begun), true
	case c == ' ' || c == '\t' || c == '\n':
		s.space()
	case strings.IndexByte("<>|&;()", c) >= 0:
		return false
	default:
		s.plain()
	}
	s.rest = s.rest[1:]
	return true
}

func (s *splitter) space() {
	if s.inside {
		s.line.words = append(s.line.words, s.line.begun)
	}
	s.line.begun, s.line.cut, s.inside, s.closed = "", 0, false, false
}

func (s *splitter) plain() {
	if home, err := os.UserHomeDir(); !s.inside && err == nil && strings.HasPrefix(s.rest, "~/") {
		s.line.begun = home
	} else {
		s.line.begun += s.rest[:1]
	}
	s.inside = true
	switch c := s.rest[0]; {
	case c == '@' && strings.IndexByte(s.breaks, c) >= 0: // readline's rl_special_prefixes stay with what follows
		s.line.cut = len(s.line.begun) - 1
	case strings.IndexByte(s.breaks, c) >= 0:
		s.line.cut = len(s.line.begun)
	}
}

func (s *splitter) backslash() bool {
	if len(s.rest) < 2 {
		return false
	}
	if s.line.quote == '"' && strings.IndexByte("\"\\$`", s.rest[1]) < 0 {
		s.line.begun += `\`
	}
	s.line.begun += s.rest[1:2]
	s.rest, s.inside = s.rest[2:], true
	return true
}

// dollar puts in what the environment has for a variable. What else begins so, only bash can tell.
func (s *splitter) dollar() bool {
	m := variable.FindStringSubmatch(s.rest)
	if m == nil {
		return false
	}
	s.line.begun += os.Getenv(m[1] + m[2])
	s.rest, s.inside = s.rest[len(m[0]):], true
	return true
}
