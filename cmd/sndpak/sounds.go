package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sounds is what a command plays or decodes from: the entries of a pack, and beside them plain
// files. It is an fs.FS without the rules of paths, so that any path of the machine works in it.
type sounds struct {
	pack *soundpack.Pack // nil where only files were named
}

// openSounds tells a pack from plain sound files in the arguments of a command: PACK ENTRY... or
// FILE.... It returns the names that are left to be opened.
func openSounds(args []string, opt *soundpack.Options) (*sounds, []string, error) {
	pack, err := soundpack.Open(args[0], opt)
	if err == nil {
		return &sounds{pack}, entryNames(pack, args[1:]), nil
	}
	if opt.Index == "" && isSound(args[0]) {
		return &sounds{}, args, nil
	}
	return nil, nil, err
}

// entryNames are names as the pack writes them; those that it does not have stay as they are.
func entryNames(p *soundpack.Pack, names []string) []string {
	names = slices.Clone(names)
	for i, n := range names {
		if e, ok := p.Lookup(n); ok {
			names[i] = e.Name
		}
	}
	return names
}

// isSound reports whether a file holds a sound that plays, or would but for its codec.
func isSound(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	s, err := decode.Open(f, info.Size(), nil)
	if err != nil {
		return !errors.Is(err, decode.ErrFormat)
	}
	s.Close()
	return true
}

// Open implements fs.FS: an entry of the pack, else a file.
func (s *sounds) Open(name string) (fs.File, error) {
	if s.pack == nil {
		return os.Open(name)
	}
	f, err := s.pack.Open(name)
	if !isMissing(err) {
		return f, err
	}
	if f, ferr := os.Open(name); ferr == nil {
		return f, nil
	}
	return nil, noEntryError{s.pack.Path(), name}
}

// Close closes the pack.
func (s *sounds) Close() error {
	if s.pack == nil {
		return nil
	}
	return s.pack.Close()
}

// title is how messages name an entry.
func (s *sounds) title(name string) string {
	if s.pack == nil {
		return name
	}
	return filepath.Base(s.pack.Path()) + ": " + name
}

// packFlags are the flags of every command that opens a pack.
type packFlags struct{ soundpack.Options }

func (f *packFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.Index, "index", "", "the pack's index `FILE` (default: beside the data, music.data has music.inx)")
	flags.StringVar(&f.Layout, "layout", "", "the pack's layout: split (default: found from the files)")
}

// open opens the pack and tells its warnings.
func (f *packFlags) open(cmd *cobra.Command, path string) (*soundpack.Pack, error) {
	p, err := soundpack.Open(path, &f.Options)
	if err != nil {
		return nil, err
	}
	for _, w := range p.Warnings() {
		warn(cmd, errors.New(w))
	}
	return p, nil
}

// warn prints what was survived on standard error.
func warn(cmd *cobra.Command, err error) {
	fmt.Fprintf(cmd.ErrOrStderr(), "sndpak: warning: %s\n", oneLine(err.Error()))
}

// entryOf finds an entry of a pack.
func entryOf(p *soundpack.Pack, name string) (soundpack.Entry, error) {
	e, ok := p.Lookup(name)
	if !ok {
		return e, noEntryError{p.Path(), name}
	}
	return e, nil
}
