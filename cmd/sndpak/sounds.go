package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sounds is what a command plays or decodes from: packs and folders, the last one named first, and
// beside them plain files. It is an fs.FS without the rules of paths, so that any path of the machine
// works in it.
type sounds struct {
	soundpack.Stack
	packs []*soundpack.Pack // in the order of the command line
	label string            // of the first layer; "" where only files were named

	mu    sync.Mutex
	newer []*soundpack.Pack // that took the place of a pack that changed on disk; guarded by mu
}

// openSounds tells packs and folders from plain sound files in the arguments of a command: PACK...
// ENTRY... or FILE.... It returns the names that are left to be opened.
func openSounds(ctx context.Context, args []string, opt *soundpack.Options) (*sounds, []string, error) {
	s := &sounds{}
	rest := args
	for len(rest) > 0 {
		mounted, err := s.mount(ctx, rest[0], opt)
		if err == nil && !mounted {
			break
		}
		if err != nil {
			s.Close()
			return nil, nil, err
		}
		rest, opt = rest[1:], &soundpack.Options{NoMap: opt.NoMap} // --index and --layout are about the first pack
	}
	return s, s.entryNames(rest), nil
}

// mount adds an argument as a layer; false is for one that is none, but an entry or a file.
func (s *sounds) mount(ctx context.Context, arg string, opt *soundpack.Options) (bool, error) {
	if isAddress(arg) {
		return true, s.mountRemote(ctx, arg, opt)
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		s.add(arg, os.DirFS(arg))
		return true, nil
	}
	if opt.Index == "" && extensions[strings.ToLower(filepath.Ext(arg))] != nil && soundFault(arg) == nil {
		return false, nil // a sound, even where a pack of the same stem lies beside it
	}
	pack, err := soundpack.Open(arg, opt)
	if err == nil {
		s.add(arg, pack)
		s.packs = append(s.packs, pack)
		return true, nil
	}
	if s.label != "" { // an entry, unless it looks like one more pack
		_, gone := os.Stat(arg)
		if filepath.Ext(arg) == ".data" && gone == nil {
			return false, err
		}
		return false, nil
	}
	named := extensions[strings.ToLower(filepath.Ext(arg))] != nil
	if opt.Index == "" && !errors.Is(err, errors.ErrUnsupported) && (named || isMissing(err)) {
		fault := soundFault(arg)
		if fault == nil || (named || opt.Layout == "" && !likeData(arg)) && !isMissing(fault) {
			return false, nil // if it does not play, its own fault says why
		}
	}
	return false, err // of a damaged index too, as the data may well begin with a sound
}

// likeData tells whether a file is called as a pack's data may be, rather than as another kind of file.
func likeData(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case "", ".data", ".dat", ".pck", ".bin":
		return true
	}
	return false
}

// notPack says of what is no pack what it is, where err of opening it does not.
func notPack(path string, opt *soundpack.Options, err error) error {
	if info, serr := os.Stat(path); serr == nil && info.IsDir() {
		return fmt.Errorf("%s: a folder, and no pack (sndpak create PACK %s makes one of it)", path, path)
	}
	if isMissing(err) && (opt == nil || opt.Index == "" && opt.Layout == "") && !likeData(path) && soundFault(path) == nil {
		return fmt.Errorf("%s: a sound, and no pack", path)
	}
	return err
}

func (s *sounds) add(label string, fsys fs.FS) {
	s.Mount(label, fsys)
	if s.label == "" {
		s.label = label
	}
}

// lookup finds the entry of a pack that a name means.
func (s *sounds) lookup(name string) (*soundpack.Pack, soundpack.Entry, bool) {
	label, err := s.Which(name)
	if err != nil {
		return nil, soundpack.Entry{}, false
	}
	if p := s.current(label); p != nil {
		e, ok := p.Lookup(name)
		return p, e, ok
	}
	return nil, soundpack.Entry{}, false
}

// current is the pack with that label as it is now, nil for a folder.
func (s *sounds) current(label string) *soundpack.Pack {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, packs := range [][]*soundpack.Pack{s.newer, s.packs} {
		for _, p := range slices.Backward(packs) {
			if p.Path() == label {
				return p
			}
		}
	}
	return nil
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

// Open implements fs.FS: an entry of the packs and folders, else a file.
func (s *sounds) Open(name string) (fs.File, error) {
	if s.label == "" {
		return openRegular(name)
	}
	f, err := s.Stack.Open(name)
	if !isMissing(err) && !errors.Is(err, fs.ErrInvalid) {
		return f, err
	}
	if f, ferr := openRegular(name); ferr == nil {
		return f, nil
	}
	if err := s.broken(); err != nil {
		return nil, err // the manifest may have the name
	}
	return nil, s.noEntry(name)
}

// noEntry is the error of a name that no layer has.
func (s *sounds) noEntry(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return noEntryError{s.label, name, slices.Clone(s.packs)}
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

// Close closes the packs.
func (s *sounds) Close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range slices.Concat(s.packs, s.newer) {
		err = errors.Join(err, p.Close())
	}
	return err
}

// remount puts a newer pack in the place of the one with that label. The older one stays open until
// Close, for sounds that still play from it.
func (s *sounds) remount(label string, p *soundpack.Pack) {
	s.mu.Lock()
	s.newer = append(s.newer, p)
	s.mu.Unlock()
	s.Mount(label, p)
}

// keptLoop are the loop points that a pack keeps of an entry. They count before those in the sound
// itself, from which they were taken unless somebody has moved them.
func (s *sounds) keptLoop(name string) (start, end int64, ok bool) {
	p, e, ok := s.lookup(name)
	if !ok || p == nil {
		return 0, 0, false
	}
	f, ok := p.Facts(e)
	return f.Loop[0], f.Loop[1], ok && f.Loop[0] >= 0 && f.Loop[0] < f.Loop[1] && f.Loop[1] <= f.Frames
}

// title is how messages name an entry.
func (s *sounds) title(name string) string {
	if label, err := s.Which(name); s.label != "" && err == nil {
		return filepath.Base(label) + ": " + name
	}
	return name
}

// all are the names of all files of the packs and folders, those of a pack in the order of its index.
func (s *sounds) all() (names []string, err error) {
	if len(s.packs) == 1 && len(s.Layers()) == 1 {
		for e := range s.current(s.packs[0].Path()).Entries() {
			names = append(names, e.Name)
		}
		return names, nil
	}
	err = fs.WalkDir(&s.Stack, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// packFlags are the flags of every command that opens a pack.
type packFlags struct{ soundpack.Options }

func (f *packFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.Index, "index", "", "the pack's index `FILE` (default: beside the data, music.data has music.inx)")
	addLayout(flags, &f.Layout, "the pack's layout (default: found from the files)")
	flags.Var(&namesFile{to: &f.Names}, "names", "a `FILE` of paths, one a line, that gives a crc pack its names back")
	flags.BoolVar(&f.NoMap, "no-mmap", false, "read the data instead of mapping it, as is done on network file systems anyway")
}

// open opens the pack and tells its warnings.
func (f *packFlags) open(cmd *cobra.Command, path string) (*soundpack.Pack, error) {
	p, err := openPack(cmd.Context(), path, &f.Options)
	if err != nil {
		return nil, err
	}
	if err := tellWarnings(cmd, p); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// tellWarnings prints those of a pack, unless they are for want of what cannot be read any more.
func tellWarnings(cmd *cobra.Command, p *soundpack.Pack) error {
	warnings := p.Warnings()
	if err := broken(p); err != nil {
		return err
	}
	for _, w := range warnings {
		warn(cmd, errors.New(w))
	}
	return nil
}

// warn prints what was survived on standard error.
func warn(cmd *cobra.Command, err error) {
	fmt.Fprintf(cmd.ErrOrStderr(), "sndpak: warning: %s\n", oneLine(err.Error()))
}

// entryOf finds an entry of a pack.
func entryOf(p *soundpack.Pack, name string) (soundpack.Entry, error) {
	e, ok := p.Lookup(name)
	if !ok {
		if err := broken(p); err != nil {
			return e, err
		}
		return e, noEntryError{p.Path(), name, []*soundpack.Pack{p}}
	}
	return e, nil
}
