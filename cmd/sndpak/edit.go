package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// editFlags are the flags of every command that changes a pack.
type editFlags struct {
	soundpack.WriterOptions
}

func (f *editFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.Index, "index", "", "the pack's index `FILE` (default: beside the data)")
	addLayout(flags, &f.Layout, "the pack's layout (default: found from the files)")
	flags.BoolVar(&f.Plain, "plain", false, "make no manifest where there is none, and refuse names that do not fit")
	flags.BoolVar(&f.Wait, "wait", false, "wait for another writer to finish")
}

// edit runs do on a writer of the pack, with a progress line.
func (f *editFlags) edit(cmd *cobra.Command, pack, verb string, do func(w *soundpack.Writer) error) error {
	if isAddress(pack) {
		return usagef("%s: a pack on a server can only be read", hideQuery(pack))
	}
	progress := newProgress(cmd, verb)
	defer progress.done()
	f.Progress, f.Facts = progress.update, soundFacts
	t := newTeller(cmd)
	defer t.rest()
	f.Notice = t.notice
	w, err := soundpack.Edit(cmd.Context(), pack, &f.WriterOptions)
	if err != nil {
		return err
	}
	err = do(w)
	return errors.Join(durable(cmd, err), w.Close())
}

func newAdd() *cobra.Command {
	var f editFlags
	var dir string
	var replace bool
	cmd := &cobra.Command{
		Use:   "add PACK FILE...",
		Short: "Add files to a pack, all or none of them",
		Long: `Add files and folders to a pack that may be in use: a game that plays from it plays on
from the old one. All are added or none, and a crash leaves the old pack or the new one.
Names that are there already, in any case, are refused; --replace puts the new bytes in
their place. Bytes that the pack has already are kept once. Names are those of create: with
-C DIR a file is called by its path as it is given.`,
		Example: "  sndpak add music.data boss.ogg\n  sndpak add music.data -C sounds jaguar.wav --replace",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.edit(cmd, args[0], "adding", func(w *soundpack.Writer) error {
				sources, err := sourcesIn(dir, args[1:], w.Layout() == "crc", f.Notice)
				if err != nil {
					return err
				}
				stage := w.Add
				if replace {
					stage = w.Replace
				}
				if err := stage(sources...); err != nil {
					return err
				}
				return w.Commit(cmd.Context())
			})
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVarP(&dir, "dir", "C", "", "take the files from this `DIR`, and call them by their path as it is given")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace entries of the same name")
	return cmd
}

func newRemove() *cobra.Command {
	var f editFlags
	cmd := &cobra.Command{
		Use:   "remove PACK ENTRY...",
		Short: "Remove entries from a pack, all or none of them",
		Long: `Remove entries from a pack, all or none of them. Where an old tool put a name in twice,
both go. The data keeps its size until compact gives the space back. A pattern in quotes,
such as 'sfx/*.wav', stands for the entries that match.`,
		Example: "  sndpak remove music.data swish.wav",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.edit(cmd, args[0], "removing", func(w *soundpack.Writer) error {
				names := args[1:]
				n, err := w.Remove(names...)
				if isMissing(err) {
					if names, err = f.meant(args[0], names, err); err == nil {
						n, err = w.Remove(names...)
					}
				}
				if err != nil {
					return err
				}
				if n != len(names) {
					warn(cmd, fmt.Errorf("%s: %d entries had these %d names; all are removed", args[0], n, len(names)))
				}
				return w.Commit(cmd.Context())
			})
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// meant are the entries that names stand for of which err says that some are not there: some may be patterns.
func (f *editFlags) meant(pack string, names []string, err error) ([]string, error) {
	p, fault := soundpack.Open(pack, &soundpack.Options{Index: f.Index, Layout: f.Layout})
	if fault != nil {
		return nil, missingEntry{err}
	}
	defer p.Close()
	all, missing := partNames(p, names)
	slices.Sort(all)
	return slices.Compact(all), missing
}

// missingEntry is an error that says by itself which entry there is not.
type missingEntry struct{ error }

func (e missingEntry) Unwrap() error { return e.error }

func newCompact() *cobra.Command {
	var f editFlags
	var out string
	cmd := &cobra.Command{
		Use:   "compact PACK",
		Short: "Give the space of removed entries back",
		Long: `Move the entries together, so that the data holds nothing else. A game that plays from
the pack plays on, and a crash at any moment leaves a whole pack. It needs free space of
about three times the entries while it runs.

Where there is no such room, --out DIR writes the compact pack into another folder, under
the same name, and leaves this one as it is.`,
		Example: "  sndpak compact music.data\n  sndpak compact music.data --out /mnt/other",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out != "" {
				return compactTo(cmd, args[0], out, &f)
			}
			return f.edit(cmd, args[0], "compacting", func(w *soundpack.Writer) error {
				before := w.DataSize()
				if err := w.Compact(cmd.Context()); err != nil {
					return err
				}
				return tellSize(cmd, args[0], w.DataSize(), before)
			})
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&out, "out", "", "write the compact pack into this `DIR`, and leave the old one")
	return cmd
}

func tellSize(cmd *cobra.Command, pack string, size, before int64) error {
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s less\n", pack, bytesText(size), bytesText(before-size))
	return err
}

// compactTo writes a pack of the same entries elsewhere.
func compactTo(cmd *cobra.Command, pack, dir string, f *editFlags) error {
	p, err := soundpack.Open(pack, &soundpack.Options{Index: f.Index, Layout: f.Layout})
	if err != nil {
		return err
	}
	defer p.Close()
	t := newTeller(cmd)
	defer t.rest()
	sources, err := soundpack.SourcesFS(p, t.notice)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	m, noted := p.Lookup(".sndpak")
	progress := newProgress(cmd, "compacting")
	opt := &soundpack.CreateOptions{
		Layout: p.Layout(), Plain: !noted || m.Index < p.Len(), Salvage: true, IDs: true, Notice: t.notice, Progress: progress.update,
	}
	var spoilt []error
	opt.Damaged = func(path string, err error) {
		spoilt = append(spoilt, fmt.Errorf("%s: %w: it stays as it is", path, err))
	}
	if p.IndexPath() != p.Path() {
		opt.Index = filepath.Join(dir, filepath.Base(p.IndexPath()))
	}
	path := filepath.Join(dir, filepath.Base(p.Path()))
	err = soundpack.Create(cmd.Context(), path, sources, opt)
	progress.done()
	if err = durable(cmd, err); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return errors.Join(append(spoilt, tellSize(cmd, path, info.Size(), p.DataSize()))...)
}

func newDiff() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "diff OLD NEW",
		Short:   "Tell what changed from one pack to another",
		Long:    "Tell which entries were added, removed, changed or renamed, and how many bytes a patch\nfrom the old pack to the new one has to move.",
		Example: "  sndpak diff v1/music.data v2/music.data",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := openPack(cmd.Context(), args[0], nil)
			if err != nil {
				return err
			}
			defer from.Close()
			to, err := openPack(cmd.Context(), args[1], nil)
			if err != nil {
				return err
			}
			defer to.Close()
			c, err := soundpack.Diff(cmd.Context(), from, to)
			if err = cmp.Or(err, from.Err(), to.Err()); err != nil {
				return err
			}
			return interruptible(cmd.Context(), func() error { return show(cmd, changeFacts(c), asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// changeFacts are what diff tells, a line an entry.
func changeFacts(c *soundpack.Change) (f facts) {
	f.names("added", c.Added)
	f.names("changed", c.Changed)
	f.names("removed", c.Removed)
	renamed, text := [][2]string{}, []string{}
	for _, r := range c.Renamed {
		renamed = append(renamed, [2]string{r[0].Name, r[1].Name})
		text = append(text, r[0].Name+" -> "+r[1].Name)
	}
	f.add("renamed", renamed, "%s", strings.Join(text, "\n"))
	f.add("bytes", c.Bytes, "%d to move", c.Bytes)
	return f
}

func (f *facts) names(key string, entries []soundpack.Entry) {
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name)
	}
	f.add(key, names, "%s", strings.Join(names, "\n"))
}
