package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

func newExtract() *cobra.Command {
	var pack packFlags
	var opt soundpack.ExtractOptions
	var dir string
	var toStdout bool
	var most string
	cmd := &cobra.Command{
		Use:   "extract PACK [ENTRY...]",
		Short: "Write entries to files",
		Long: `Write entries to files, all of them where none is named. Nothing is written outside
the folder, and a file that is there stays unless --force is given. One bad entry, or
name that is not there, does not keep the others from being written. An entry whose
checksum does not fit is written as it is, and told: the exit status is 3 then. A pattern
in quotes, such as 'sfx/*.wav', stands for the entries that match: * for all but a slash,
? for one character, [a-z] for one of those. A name that is just so comes first.

A small pack can name the same bytes ever again: no more than 64 times its data is
written (or 64 MiB, and 8 GiB at most) unless --max-bytes says so.`,
		Example: `  sndpak extract music.data -C sounds
  sndpak extract music.data 'ambience/*' -C sounds
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
			if opt.MaxBytes, err = parseBytes(most); err != nil {
				return usagef("--max-bytes %v", err)
			}
			names, missing := partNames(p, args[1:])
			if len(names) == 0 && missing != nil {
				return missing
			}
			if toStdout {
				if len(names) > 1 {
					return usagef("--stdout takes one entry, and %q stands for %d", args[1], len(names))
				}
				return extractTo(cmd.OutOrStdout(), p, names[0])
			}
			progress := newProgress(cmd, "writing")
			opt.Progress = progress.update
			defer progress.done()
			return errors.Join(p.Extract(cmd.Context(), dir, names, &opt), missing)
		},
	}
	pack.add(cmd.Flags())
	cmd.Flags().StringVarP(&dir, "dir", "C", ".", "write into this `DIR`, which is made if need be")
	cmd.Flags().BoolVar(&opt.Force, "force", false, "overwrite files that are there")
	cmd.Flags().StringVar(&most, "max-bytes", "", "write at most `SIZE` in all: bytes, or 500M or 20G")
	cmd.Flags().BoolVar(&toStdout, "stdout", false, "write one entry to standard output")
	return cmd
}

// parseBytes reads a size: a number of bytes, of KiB (K), MiB (M), GiB (G) or TiB (T). "" is 0.
func parseBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	digits := strings.TrimRight(strings.ToUpper(text), "KMGTIB")
	unit := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text)[len(digits):], "B"), "I")
	shift, ok := map[string]int{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[unit]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n <= 0 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("%q: want a number of bytes, or with K, M, G or T", text)
	}
	return n << shift, nil
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
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err = io.Copy(io.MultiWriter(w, sum), r); err != nil {
		return err
	}
	return fits(p, e, r.Size(), sum.Sum32())
}

// fits compares the checksum of what was read of an entry. Where it is another, the bytes in the data decide:
// a JSON table is read as the longer text that it stands for, and its checksum is of the table.
func fits(p *soundpack.Pack, e soundpack.Entry, size int64, got uint32) error {
	want, ok := p.Checksum(e)
	if !ok || want == got && size == e.Size {
		return nil
	}
	if err := p.Intact(e); err != nil {
		return fmt.Errorf("%s: %s: %w", p.Path(), e.Name, err)
	}
	return nil
}
