package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// choice is a flag that takes one of some words; another is wrong usage.
type choice struct {
	to    *string
	words []string
}

func (c choice) String() string { return *c.to }
func (c choice) Type() string   { return strings.Join(c.words, "|") }

func (c choice) Set(word string) error {
	for _, w := range c.words {
		if w == word {
			*c.to = word
			return nil
		}
	}
	return fmt.Errorf("there are %s", strings.Join(c.words, ", "))
}

// layoutNames are the layouts that --layout takes.
var layoutNames = []string{"split", "crc", "cfg", "pck"}

func addLayout(flags *pflag.FlagSet, to *string, usage string) {
	flags.Var(choice{to, layoutNames}, "layout", usage)
}

// namesFile is a flag that names a file of paths, which readNames reads before the command runs.
type namesFile struct {
	paths []string
	to    *[]string
}

func (f *namesFile) String() string { return strings.Join(f.paths, ", ") }
func (f *namesFile) Type() string   { return "string" }

func (f *namesFile) Set(path string) error {
	f.paths = append(f.paths, path)
	return nil
}

// readNames reads the files of a command's flags that are such files. It can be interrupted, as setting a
// flag cannot.
func readNames(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if f, ok := flag.Value.(*namesFile); ok && err == nil {
			err = f.read(cmd.Context(), flag.Name)
		}
	})
	return err
}

func (f *namesFile) read(ctx context.Context, flag string) error {
	for _, path := range f.paths {
		b, err := readSide(ctx, path, 256<<20)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return usagef("--%s %q: %w", flag, path, err)
		}
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				*f.to = append(*f.to, line)
			}
		}
	}
	return nil
}

func addJSON(flags *pflag.FlagSet, to *string) {
	flags.Var(choice{to, []string{"minify", "table"}}, "json", "make JSON files smaller: without white space, or in cfg without repeated keys too")
}
