package main

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

func newCreate() *cobra.Command {
	var opt soundpack.CreateOptions
	var dir string
	cmd := &cobra.Command{
		Use:   "create PACK FILE...",
		Short: "Write a new pack",
		Long: `Write a new pack of files and folders. A folder is walked, its files sorted by name, so
that the same folder gives the same pack. Names that differ by case alone are refused.
A file is called by its last element; with -C DIR (and in the crc layout) by its path as
it is given, so that -C assets sfx/hit.wav becomes sfx/hit.wav.

--layout chooses how the pack is laid out:
  split   music.data and music.inx: names of 19 bytes, found in any case (the default)
  crc     pack.dat and pack.index: hashes of paths, which must be asked for exactly
  cfg     one file with a table of names (Latin-1), for many small files
  pck     one file with a numbered table

One more entry, .sndpak, holds what the layout has no room for: names of more than 19
bytes and folders (the index then has a short alias), checksums, and what the sounds
are. --plain writes none, and refuses names that do not fit, all in one message. What
operating systems leave in folders (Thumbs.db, .DS_Store, desktop.ini, ._*) is skipped
and told.`,
		Example: `  sndpak create music.data sounds/
  sndpak create music.data -C sounds jaguar.wav theme.ogg --force
  sndpak create pack.dat --layout crc -C assets sfx/hit.wav music/theme.ogg`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			t := newTeller(cmd)
			defer t.rest()
			opt.Notice = t.notice
			return create(cmd, args[0], args[1:], dir, &opt)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opt.Index, "index", "", "the pack's index `FILE` (default: beside the data)")
	addLayout(flags, &opt.Layout, "the pack's layout (default split)")
	addJSON(flags, &opt.JSON)
	flags.BoolVar(&opt.Force, "force", false, "replace a pack that is there")
	flags.BoolVar(&opt.Plain, "plain", false, "write nothing but the files' own entries: no long names, folders or checksums")
	flags.BoolVar(&opt.SHA256, "sha256", false, "keep the SHA-256 of each entry too")
	flags.StringVarP(&dir, "dir", "C", "", "take the files from this `DIR`, and call them by their path as it is given")
	return cmd
}

func create(cmd *cobra.Command, pack string, files []string, dir string, opt *soundpack.CreateOptions) error {
	sources, err := sourcesIn(dir, files, opt.Layout == "crc", opt.Notice)
	if err != nil {
		return err
	}
	progress := newProgress(cmd, "packing")
	opt.Progress, opt.Facts = progress.update, soundFacts
	err = soundpack.Create(cmd.Context(), pack, sources, opt)
	progress.done()
	return durable(cmd, err)
}

// durable makes a warning of the error that only says that a power cut may still undo the change.
func durable(cmd *cobra.Command, err error) error {
	if errors.Is(err, soundpack.ErrDurability) {
		warn(cmd, err)
		return nil
	}
	return err
}

// soundFacts are what the manifest keeps of a sound; nothing of what is none.
func soundFacts(r io.ReaderAt, size int64) (f soundpack.Facts, err error) {
	s, err := decode.Open(r, size, nil)
	if err != nil {
		return f, nil
	}
	defer s.Close()
	frames := int64(s.Len())
	in := s.Info()
	f = soundpack.Facts{
		Format: in.Format, Encoding: in.Encoding, Frames: frames, Rate: in.Rate, Channels: in.Channels,
		Delay: int(in.Delay), Padding: int(in.Padding), Seek: s.SeekTable(),
	}
	if len(in.Loops) > 0 {
		f.Loop = [2]int64{in.Loops[0].Start, in.Loops[0].End}
	}
	return f, nil
}

// sourcesIn are the files and folders, taken from dir where they are not absolute. A file is called by its
// path as it is given below dir, and in the crc layout, which goes by that, in any case; else, and where the
// path leads out of dir, by its last element.
func sourcesIn(dir string, files []string, crc bool, notice func(path, text string)) (all []soundpack.Source, err error) {
	for _, f := range files {
		path := f
		if dir != "" && !filepath.IsAbs(f) {
			path = filepath.Join(dir, f)
		}
		some, err := soundpack.Sources([]string{path}, notice)
		if err != nil {
			return nil, err
		}
		if len(some) == 1 && some[0].Path == path && (crc || dir != "") && filepath.IsLocal(f) {
			some[0].Name = filepath.ToSlash(filepath.Clean(f))
		}
		all = append(all, some...)
	}
	return all, nil
}
