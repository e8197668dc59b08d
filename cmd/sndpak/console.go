package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/console"
	"github.com/sndpak/sndpak/player"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func newConsole() *cobra.Command {
	var pack packFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "console PACK... [ENTRY...] | FILE...",
		Short: "Play sounds by keys, over each other",
		Long: `Put sounds on the keys 1 to 9 and a to z (q quits) and play them over each other. A
capital letter plays looped, and again stops. Space pauses all, . stops all, + and -
change the gain. Sounds of a pack that changes meanwhile are heard anew from their next
start on. Keys are read from a pipe too, and there lines such as "seek 1.5".`,
		Example: "  sndpak console music.data\n  printf '1 2' | sndpak console music.data --output wav:out.wav",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, names, err := openSounds(args, &pack.Options)
			if err != nil {
				return err
			}
			defer src.Close()
			if len(names) == 0 {
				if names, err = src.all(); err != nil {
					return err
				}
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
			stop := src.follow(cmd, p)
			defer stop()
			restore := rawTerminal(cmd)
			defer restore()
			err = console.Run(cmd.Context(), console.Config{
				Player: p, Names: names, In: cmd.InOrStdin(), Out: textOut(cmd),
				Live: isRaw(cmd), Hold: file,
			})
			return errors.Join(err, p.Close())
		},
	}
	pack.add(cmd.Flags())
	out.add(cmd.Flags())
	return cmd
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

// follow has the player take up what changes in the packs on disk, until stop is called.
func (s *sounds) follow(cmd *cobra.Command, p *player.Player) (stop func()) {
	ctx, cancel := context.WithCancel(cmd.Context())
	var watching sync.WaitGroup
	for _, pack := range s.packs {
		label := pack.Path()
		watching.Go(func() {
			pack.Watch(ctx, func(c soundpack.Change) {
				if c.Err != nil {
					warn(cmd, c.Err)
					return
				}
				s.remount(label, c.Pack)
				if err := p.Reload(s, player.ReloadOptions{Names: changed(c)}); err != nil && !isMissing(err) {
					warn(cmd, err)
				}
			})
		})
	}
	return func() {
		cancel()
		watching.Wait()
	}
}

// changed are the names whose sound is another one now.
func changed(c soundpack.Change) []string {
	names := []string{}
	for _, e := range slices.Concat(c.Added, c.Changed, c.Removed) {
		names = append(names, e.Name)
	}
	for _, r := range c.Renamed {
		names = append(names, r[0].Name, r[1].Name)
	}
	return names
}
