package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	if opt.Index != "" {
		return nil, nil, err
	}
	fault := soundFault(args[0])
	if fault == nil || extensions[strings.ToLower(filepath.Ext(args[0]))] != nil && !isMissing(fault) {
		return &sounds{}, args, nil // if it does not play, its own fault says why
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

// soundFault tells why a file cannot be a sound; nil where it plays, or would but for its codec.
func soundFault(path string) error {
	f, err := (&sounds{}).decode(path)
	if err == nil {
		return f.Close()
	}
	if errors.Is(err, decode.ErrUnsupported) || errors.Is(err, decode.ErrCorrupt) {
		return nil
	}
	return err
}

// Open implements fs.FS: an entry of the pack, else a file.
func (s *sounds) Open(name string) (fs.File, error) {
	if s.pack == nil {
		return openRegular(name)
	}
	f, err := s.pack.Open(name)
	if !isMissing(err) && !errors.Is(err, fs.ErrInvalid) {
		return f, err
	}
	if f, ferr := openRegular(name); ferr == nil {
		return f, nil
	}
	return nil, noEntryError{s.pack.Path(), name}
}

// openRegular opens a regular file. It looks first: opening a pipe would wait for its writer.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.Open(path)
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
