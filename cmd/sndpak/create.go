package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

func newCreate() *cobra.Command {
	var opt soundpack.CreateOptions
	var dir string
	var plain bool
	cmd := &cobra.Command{
		Use:   "create PACK FILE...",
		Short: "Write a new pack",
		Long: `Write a new pack of files and folders. A folder is walked, its files sorted by name, so
that the same folder gives the same pack. Names may have 19 bytes: longer ones, and
names that differ by case alone, are refused, all of them in one message. What
operating systems leave in folders (Thumbs.db, .DS_Store, desktop.ini, ._*) is skipped
and told.`,
		Example: `  sndpak create music.data sounds/
  sndpak create music.data -C sounds jaguar.wav theme.ogg --force`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt.Notice = func(path, text string) { warn(cmd, fmt.Errorf("%s: %s", path, text)) }
			return create(cmd, args[0], args[1:], dir, &opt)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opt.Index, "index", "", "the pack's index `FILE` (default: beside the data)")
	flags.StringVar(&opt.Layout, "layout", "", "the pack's layout: split (default)")
	flags.BoolVar(&opt.Force, "force", false, "replace a pack that is there")
	flags.BoolVar(&plain, "plain", false, "write nothing but the files' own entries (always so, for now)")
	flags.StringVarP(&dir, "dir", "C", "", "take the files from this `DIR`")
	return cmd
}

func create(cmd *cobra.Command, pack string, files []string, dir string, opt *soundpack.CreateOptions) error {
	sources, err := sourcesIn(dir, files, opt.Notice)
	if err != nil {
		return err
	}
	progress := newProgress(cmd, "packing")
	opt.Progress = progress.update
	err = soundpack.Create(cmd.Context(), pack, sources, opt)
	progress.done()
	if errors.Is(err, soundpack.ErrDurability) {
		warn(cmd, err)
		err = nil
	}
	return err
}

// sourcesIn are the files and folders, taken from dir where they are not absolute.
func sourcesIn(dir string, files []string, notice func(path, text string)) ([]soundpack.Source, error) {
	paths := slices.Clone(files)
	for i, f := range paths {
		if dir != "" && !filepath.IsAbs(f) {
			paths[i] = filepath.Join(dir, f)
		}
	}
	return soundpack.Sources(paths, notice)
}
