package main

import (
	"io"

	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

func newExtract() *cobra.Command {
	var pack packFlags
	var opt soundpack.ExtractOptions
	var dir string
	var toStdout bool
	cmd := &cobra.Command{
		Use:   "extract PACK [ENTRY...]",
		Short: "Write entries to files",
		Long: `Write entries to files, all of them where none is named. Nothing is written outside
the folder, and a file that is there stays unless --force is given. One bad entry does
not keep the others from being written.`,
		Example: `  sndpak extract music.data -C sounds
  sndpak extract music.data jaguar.wav --stdout | sox - -n stat`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if toStdout && len(args) != 2 {
				return usagef("--stdout takes one entry")
			}
			p, err := pack.open(cmd, args[0])
			if err != nil {
				return err
			}
			defer p.Close()
			for _, name := range args[1:] {
				if _, err := entryOf(p, name); err != nil {
					return err
				}
			}
			if toStdout {
				return extractTo(cmd.OutOrStdout(), p, args[1])
			}
			progress := newProgress(cmd, "writing")
			opt.Progress = progress.update
			defer progress.done()
			return p.Extract(cmd.Context(), dir, args[1:], &opt)
		},
	}
	pack.add(cmd.Flags())
	cmd.Flags().StringVarP(&dir, "dir", "C", ".", "write into this `DIR`, which is made if need be")
	cmd.Flags().BoolVar(&opt.Force, "force", false, "overwrite files that are there")
	cmd.Flags().BoolVar(&toStdout, "stdout", false, "write one entry to standard output")
	return cmd
}

func extractTo(w io.Writer, p *soundpack.Pack, name string) error {
	e, err := entryOf(p, name)
	if err != nil {
		return err
	}
	r, err := p.Section(e)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}
