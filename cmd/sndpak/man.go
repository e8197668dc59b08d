package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages",
		Long:    "Write the manual pages, one for each command, into a folder.",
		Example: "  sndpak man man1 && man -l man1/sndpak-play.1",
		Args:    cobra.ExactArgs(1),
		Hidden:  true, // for those who package it
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			for _, c := range append([]*cobra.Command{cmd.Root()}, pages(cmd.Root())...) {
				page := filepath.Join(args[0], pageName(c)+".1")
				if err := os.WriteFile(page, []byte(manPage(c)), 0o666); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// pages are the commands that have a page.
func pages(root *cobra.Command) (list []*cobra.Command) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			list = append(list, c)
		}
	}
	return list
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is the manual page of a command, in the man macros of man(7). It has no date, so that the
// same program gives the same pages.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" sndpak \"sndpak manual\"\n", strings.ToUpper(pageName(c)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(c)), roff(strings.ToLower(c.Short[:1])+c.Short[1:]))
	b.WriteString(".SH SYNOPSIS\n")
	for i, use := range synopsis(c) {
		if i > 0 {
			b.WriteString(".br\n")
		}
		fmt.Fprintf(&b, "%s\n", roff(use))
	}
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", paragraphs(long))
	if !c.HasParent() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range pages(c) {
			fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(pageName(sub)), roff(sub.Short))
		}
	}
	manFlags(&b, c.NonInheritedFlags())
	fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.TrimRight(c.Example, "\n")))
	b.WriteString(".SH EXIT STATUS\n" + roff("0 done, 1 failed, 2 wrong usage, 3 the pack or an entry is damaged, 4 no such entry.") + "\n")
	if c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(c.Root().Name()))
	}
	return b.String()
}

// synopsis are the ways to call a command; its Use has them with bars between.
func synopsis(c *cobra.Command) []string {
	if !c.HasParent() {
		return []string{c.Name() + " COMMAND [OPTION...] [ARGUMENT...]"}
	}
	ways := strings.Split(strings.TrimPrefix(c.Use, c.Name()), " | ")
	for i, w := range ways {
		ways[i] = c.CommandPath() + " [OPTION...] " + strings.TrimSpace(w)
	}
	return ways
}

// manFlags is the section of a command's options.
func manFlags(b *strings.Builder, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	b.WriteString(".SH OPTIONS\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := `\fB` + roff("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + name
		}
		if value != "" {
			name += ` \fI` + roff(value) + `\fR`
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", name, roff(usage))
	})
}

// paragraphs are the paragraphs of a text; indented lines stay as they are.
func paragraphs(text string) string {
	var b strings.Builder
	for i, p := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(p, " ") {
			fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(p))
			continue
		}
		b.WriteString(roff(p) + "\n")
	}
	return b.String()
}

// roff takes their meaning from characters that have one: backslashes, hyphens (else they print as
// one that a shell does not know), quotes, and points and quotes at the start of a line.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
