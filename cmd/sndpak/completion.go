package main

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

// addCompletion has the shell complete what each command takes: files, and once a pack stands on the
// line, the names of its entries.
func addCompletion(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "info", "decode", "extract", "remove", "plot":
			cmd.ValidArgsFunction = completeEntries(1)
		case "play", "console", "render", "stress":
			cmd.ValidArgsFunction = completeEntries(many)
		case "version", "doctor":
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for flag, values := range map[string][]string{
			"output": {"auto", "pulse", "speaker", "null", "wav:"},
			"bits":   {"16", "24", "32f"},
			"theme":  {"auto", "dark", "light", "none"},
		} {
			f := cmd.Flags().Lookup(flag)
			if f == nil || f.Shorthand != "" { // -o names a file
				continue
			}
			_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // fails twice only
		}
		if f := cmd.Flags().Lookup("dir"); f != nil {
			_ = cmd.MarkFlagDirname("dir")
		}
	}
}

// many packs may stand on the line of a command.
const many = 1 << 10

// completeEntries completes the entries of the packs and folders that the line begins with, at most
// so many, and files while there is none.
func completeEntries(packs int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []cobra.Completion
		mounted := 0
		for mounted < min(packs, len(args)) {
			entries, ok := entriesOf(cmd, args[mounted], begun)
			if !ok {
				break
			}
			names = append(names, entries...)
			mounted++
		}
		if mounted == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		if len(names) == 0 && mounted < packs { // one more pack, or a file
			return nil, cobra.ShellCompDirectiveDefault
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// entriesOf are the names in a pack or folder that begin so; false is for what is neither. Names that
// a shell's line cannot hold are left out.
func entriesOf(cmd *cobra.Command, path, begun string) (names []cobra.Completion, ok bool) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filesIn(path, begun), true
	}
	opt := &soundpack.Options{}
	for flag, to := range map[string]*string{"index": &opt.Index, "layout": &opt.Layout} {
		if f := cmd.Flags().Lookup(flag); f != nil {
			*to = f.Value.String()
		}
	}
	p, err := soundpack.Open(path, opt)
	if err != nil {
		return nil, false
	}
	defer p.Close()
	for e := range p.Entries() {
		if !strings.HasPrefix(e.Name, begun) || !printable(e.Name) {
			continue
		}
		about := ""
		if f, ok := p.Facts(e); ok && f.Rate > 0 && f.Frames > 0 {
			about = clock(frameTime(f.Frames, f.Rate))
		}
		names = append(names, cobra.CompletionWithDesc(e.Name, about))
	}
	return names, true
}

// filesIn completes a path below a folder, one element at a time.
func filesIn(dir, begun string) (names []cobra.Completion) {
	below, _ := filepath.Split(filepath.FromSlash(begun))
	if !filepath.IsLocal(filepath.Join(".", below)) {
		return nil
	}
	list, err := os.ReadDir(filepath.Join(dir, below))
	if err != nil {
		return nil
	}
	for _, f := range list {
		name := filepath.ToSlash(below) + f.Name()
		if f.IsDir() {
			name += "/"
		}
		if strings.HasPrefix(name, begun) && printable(name) {
			names = append(names, name)
		}
	}
	return names
}

func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) < 0
}
