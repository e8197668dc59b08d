package main

import (
	"errors"
	"os"
	"strings"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/console"
	"github.com/sndpak/sndpak/player"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func newConsole() *cobra.Command {
	var pack packFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "console PACK [ENTRY...] | FILE...",
		Short: "Play sounds by keys, over each other",
		Long: `Put sounds on the keys 1 to 9 and a to z (q quits) and play them over each other. A
capital letter plays looped, and again stops. Space pauses all, . stops all, + and -
change the gain. Keys are read from a pipe too, and there lines such as "seek 1.5".`,
		Example: "  sndpak console music.data\n  printf '1 2' | sndpak console music.data --output wav:out.wav",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, names, err := openSounds(args, &pack.Options)
			if err != nil {
				return err
			}
			defer src.Close()
			if len(names) == 0 {
				names = allNames(src)
			}
			file := strings.HasPrefix(out.output, "wav")
			if file && isRaw(cmd) {
				return usagef("console plays in real time: --output %s takes keys from a pipe only", out.output)
			}
			opt := out.options(cmd)
			opt.Hold = true
			p, err := player.Open(src, &opt)
			if err != nil {
				return err
			}
			restore := rawTerminal(cmd)
			defer restore()
			err = console.Run(cmd.Context(), console.Config{
				Player: p, Names: names, In: cmd.InOrStdin(), Out: cmd.OutOrStdout(),
				Live: isRaw(cmd), Hold: file,
			})
			return errors.Join(err, p.Close())
		},
	}
	pack.add(cmd.Flags())
	out.add(cmd.Flags())
	return cmd
}

// allNames are the entries of a pack in the order of its index.
func allNames(src *sounds) (names []string) {
	for e := range src.pack.Entries() {
		names = append(names, e.Name)
	}
	return names
}

// isRaw reports whether keys come from a terminal one by one.
func isRaw(cmd *cobra.Command) bool {
	f, ok := cmd.InOrStdin().(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// rawTerminal has the terminal give single keys, and returns what takes that back.
func rawTerminal(cmd *cobra.Command) (restore func()) {
	if !isRaw(cmd) {
		return func() {}
	}
	fd := int(cmd.InOrStdin().(*os.File).Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return func() {}
	}
	return func() { term.Restore(fd, state) }
}
