package main

import (
	"fmt"
	"strings"

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

// namesFile is a flag that names a file of paths, which it reads at once.
type namesFile struct {
	path string
	to   *[]string
}

func (f *namesFile) String() string { return f.path }
func (f *namesFile) Type() string   { return "string" }

func (f *namesFile) Set(path string) error {
	b, err := readSide(path, 256<<20)
	if err != nil {
		return err
	}
	f.path = path
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			*f.to = append(*f.to, line)
		}
	}
	return nil
}

func addJSON(flags *pflag.FlagSet, to *string) {
	flags.Var(choice{to, []string{"minify", "table"}}, "json", "make JSON files smaller: without white space, or in cfg without repeated keys too")
}
