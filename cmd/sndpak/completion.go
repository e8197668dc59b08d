package main

import (
	"context"
	"embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

// The scripts are our own: those of cobra have the shell evaluate the line anew, and in fish without its
// quotes, so that a name such as "$(command)" in somebody's pack was run.
//
//go:embed completion
var completionScripts embed.FS

func newCompletion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that has the shell complete commands, flags and entries",
		Long: `Print a script that has bash, zsh, fish or powershell complete commands, flags, files and,
once a pack stands on the line, the names of its entries. Names that begin with a dash are
completed behind "--", where they are no flags.`,
		Example: `  source <(sndpak completion bash)
  sndpak completion bash > ~/.local/share/bash-completion/completions/sndpak
  sndpak completion zsh > "${fpath[1]}/_sndpak"
  sndpak completion fish > ~/.config/fish/completions/sndpak.fish`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(shells, args[0]) {
				return usagef("%s: the shells are %s", args[0], strings.Join(shells, ", "))
			}
			if args[0] == "powershell" {
				return cmd.Root().GenPowerShellCompletionWithDesc(cmd.OutOrStdout())
			}
			script, err := completionScripts.ReadFile("completion/sndpak." + args[0])
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(script)
			return err
		},
	}
}

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
		if !behindDashes(cmd.Context()) { // it would be taken for a flag
			names = slices.DeleteFunc(names, func(name cobra.Completion) bool { return strings.HasPrefix(name, "-") })
		}
		if len(names) == 0 && mounted < packs { // one more pack, or a file
			return nil, cobra.ShellCompDirectiveDefault
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// dashesKey is the key in a context of whether the word to complete stands behind "--", which cobra
// knows but does not tell.
type dashesKey struct{}

// withDashes keeps that for the arguments of the whole program.
func withDashes(ctx context.Context, args []string) context.Context {
	if len(args) > 1 && args[0] == cobra.ShellCompRequestCmd {
		return context.WithValue(ctx, dashesKey{}, dashed(args[1:len(args)-1]))
	}
	return ctx
}

func behindDashes(ctx context.Context) bool {
	behind, _ := ctx.Value(dashesKey{}).(bool)
	return behind
}

func dashed(words []string) bool { return slices.Contains(words, "--") }

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
