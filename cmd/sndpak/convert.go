package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

func newConvert() *cobra.Command {
	c := &conversion{}
	var most string
	cmd := &cobra.Command{
		Use:   "convert SRC DST",
		Short: "Turn packs, folders and zip archives into one another",
		Long: `Turn a pack of any layout, a folder or a zip archive into another. Bytes stay as they
are, and so do names, order, checksums and what is known of the sounds, as far as the
target can hold them; what it cannot hold is told, a line each. The exit status is 1
where files are left out. Damaged ones are left out too, and the status is 3; so it is
where a checksum does not fit: such an entry stays as it is, and keeps its old checksum.
No more than 64 times the bytes of a pack or archive is written (or 64 MiB, and 8 GiB at
most) unless --max-bytes says so.

What DST is shows in its name: .zip is an archive, .data a split pack, .dat crc, .pck
pck, .bin and .txt cfg, and a folder has no ending or is there. --layout makes it a pack
of that layout whatever its name. In a crc pack without names, and back into one, eight
hex digits stand for the id itself; in a pck pack entries are called by their number.`,
		Example: `  sndpak convert music.data game.pck
  sndpak convert pack.dat sounds.zip --names paths.txt
  sndpak convert sounds.zip cfg_0.bin --json table`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if c.most, err = parseBytes(most); err != nil {
				return usagef("--max-bytes %v", err)
			}
			c.cmd, c.src, c.dst, c.teller = cmd, args[0], args[1], newTeller(cmd)
			return c.run()
		},
	}
	flags := cmd.Flags()
	addLayout(flags, &c.to.Layout, "the layout of DST (default: by its name)")
	flags.Var(choice{&c.from.Layout, layoutNames}, "from", "the layout of SRC (default: found from the files)")
	flags.StringVar(&c.from.Index, "index", "", "the index `FILE` of SRC (default: beside the data)")
	flags.Var(&namesFile{to: &c.from.Names}, "names", "a `FILE` of paths, one a line, that gives a crc pack its names back")
	flags.BoolVar(&c.to.Force, "force", false, "replace what is there")
	flags.BoolVar(&c.to.Plain, "plain", false, "write nothing but the files' own entries")
	flags.BoolVar(&c.to.SHA256, "sha256", false, "keep the SHA-256 of each entry too")
	flags.StringVar(&most, "max-bytes", "", "write at most `SIZE` in all: bytes, or 500M or 20G")
	addJSON(flags, &c.to.JSON)
	return cmd
}

// A conversion is one run of convert.
type conversion struct {
	cmd      *cobra.Command
	src, dst string
	from     soundpack.Options
	to       soundpack.CreateOptions
	pack     *soundpack.Pack // the source, if it is one
	zipped   int64           // the length of the source, if it is an archive
	most     int64           // bytes that may be written; 0: by the source
	left     int             // files that are left out
	damage   bool            // some of them since they are damaged
	unfit    int             // files whose checksum does not fit
	closers  []io.Closer
	*teller
}

// notice tells what the target does not hold.
func (c *conversion) notice(path, text string) {
	if strings.HasPrefix(text, "left out") {
		c.left++
	}
	c.teller.notice(path, text)
}

func (c *conversion) run() (err error) {
	defer func() {
		c.rest()
		for _, x := range c.closers {
			err = errors.Join(err, x.Close())
		}
	}()
	kind, err := c.kind()
	if err != nil {
		return err
	}
	sources, err := c.sources(kind)
	if err != nil {
		return err
	}
	files := len(sources) + c.left
	if c.pack == nil || kind != "folder" { // a pack that extracts itself does this too
		if sources, err = c.screen(sources); err != nil {
			return err
		}
	}
	if c.pack != nil && (kind == "zip" || kind == "folder") {
		c.tellLost(sources, kind)
	}
	switch kind {
	case "zip":
		err = c.writeZip(sources)
	case "folder":
		err = c.writeFolder(sources)
	default:
		err = c.writePack(kind, sources)
	}
	if err == nil {
		err = c.verdict(files)
	}
	return err
}

// kind is what the target is: a layout, "zip" or "folder".
func (c *conversion) kind() (string, error) {
	if c.to.Layout != "" {
		return c.to.Layout, nil
	}
	if info, err := os.Stat(c.dst); err == nil && info.IsDir() || strings.HasSuffix(c.dst, "/") {
		return "folder", nil
	}
	switch strings.ToLower(filepath.Ext(c.dst)) {
	case "":
		return "folder", nil
	case ".zip":
		return "zip", nil
	case ".data":
		return "split", nil
	case ".dat":
		return "crc", nil
	case ".pck":
		return "pck", nil
	case ".bin", ".txt":
		return "cfg", nil
	}
	return "", usagef("%s: no telling what this shall be: give --layout", c.dst)
}

// sources are the files of the source, for a kind of target.
func (c *conversion) sources(kind string) ([]soundpack.Source, error) {
	if info, err := os.Stat(c.src); err == nil && info.IsDir() {
		return soundpack.Sources([]string{c.src}, c.notice)
	}
	if c.from.Layout == "" && isZip(c.src) {
		z, err := zip.OpenReader(c.src)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.src, err)
		}
		c.closers = append(c.closers, z)
		if c.zipped, err = sizeOf(c.src); err != nil {
			return nil, err
		}
		return c.zipSources(&z.Reader), nil
	}
	p, err := openPack(c.cmd.Context(), c.src, &c.from)
	if err != nil {
		return nil, err
	}
	c.pack, c.closers = p, append(c.closers, p)
	if err := tellWarnings(c.cmd, p); err != nil {
		return nil, err
	}
	if kind == "folder" {
		return soundpack.SourcesFS(p, nil) // Extract tells
	}
	return soundpack.SourcesFS(p, c.notice)
}

// isZip tells whether a file begins, or if empty ends, as an archive does, or is called one.
func isZip(path string) bool {
	if strings.EqualFold(filepath.Ext(path), ".zip") {
		return true
	}
	f, err := openRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [4]byte
	_, err = f.ReadAt(head[:], 0)
	return err == nil && (string(head[:]) == "PK\x03\x04" || string(head[:]) == "PK\x05\x06")
}

// zipSources are the files of an archive, in its order.
func (c *conversion) zipSources(z *zip.Reader) []soundpack.Source {
	var all []soundpack.Source
	for _, f := range z.File {
		path := c.src + ": " + f.Name
		switch {
		case strings.HasSuffix(f.Name, "/"):
			continue // a folder
		case !f.Mode().IsRegular():
			c.notice(path, "left out: not a regular file")
			continue
		case f.Flags&1 != 0:
			c.notice(path, "left out: it is encrypted")
			continue
		case f.UncompressedSize64 > 1<<62:
			c.notice(path, fmt.Sprintf("left out: it says that it has %d bytes", f.UncompressedSize64))
			continue
		}
		all = append(all, soundpack.Source{Name: f.Name, Path: path, Size: int64(f.UncompressedSize64), Open: f.Open})
	}
	return all
}

// tellLost tells what a target of bare files cannot hold beside them.
func (c *conversion) tellLost(sources []soundpack.Source, kind string) {
	for _, s := range sources {
		if e, ok := c.entry(s); ok {
			if f, _ := c.pack.Facts(e); f.Gain != 0 {
				c.notice(s.Path, fmt.Sprintf("its gain of %g dB is not kept: a %s holds nothing but files", f.Gain, kind))
			}
			if l, moved := c.movedLoop(e); moved {
				c.notice(s.Path, fmt.Sprintf("its loop from %d to %d is not kept: a %s holds nothing but files, and the file's own is another", l[0], l[1], kind))
			}
		}
	}
	if n, names := c.pack.Unknown(); n > 0 {
		c.notice(c.pack.Path(), fmt.Sprintf("what else its manifest tells is not kept (%s that this version does not know: %s): a %s holds nothing but files",
			count(n, "member", "members"), firstOf(names, 3), kind))
	}
	byName := func(a, b soundpack.Source) int { return strings.Compare(a.Name, b.Name) }
	numbers := c.pack.Layout() == "pck" // which tell their order
	if kind == "folder" && !numbers && !slices.IsSortedFunc(sources, byName) {
		c.notice(c.dst, "the order of the entries is not kept: a folder has none")
	}
}

// cutName is the beginning of a name that may be of any length.
func cutName(name string) string {
	if len(name) > 40 {
		name = strings.ToValidUTF8(name[:40], "") + "…"
	}
	return name
}

// firstOf are the first of some names, none of them long.
func firstOf(names []string, n int) string {
	var all []string
	for _, name := range names[:min(n, len(names))] {
		all = append(all, strconv.Quote(cutName(name)))
	}
	if len(names) > n {
		all = append(all, "…")
	}
	return strings.Join(all, ", ")
}

// movedLoop is the loop that the pack keeps of a sound, where it is another than the file's own.
func (c *conversion) movedLoop(e soundpack.Entry) (loop [2]int64, moved bool) {
	f, ok := c.pack.Facts(e)
	if !ok || f.Loop[1] <= f.Loop[0] {
		return loop, false
	}
	r, err := c.pack.Section(e)
	if err != nil {
		return loop, false // that the entry is damaged is told elsewhere
	}
	own, err := soundFacts(r, r.Size())
	return f.Loop, err == nil && own.Loop != f.Loop
}

func (c *conversion) writePack(layout string, sources []soundpack.Source) error {
	progress := newProgress(c.cmd, "packing")
	opt := c.to
	opt.Layout, opt.Salvage, opt.IDs = layout, true, true
	opt.Notice, opt.Facts, opt.Progress = c.notice, soundFacts, progress.update
	opt.Damaged = func(path string, err error) { c.spoilt(fmt.Errorf("%s: %w: it stays as it is", path, err)) }
	err := soundpack.Create(c.cmd.Context(), c.dst, sources, &opt)
	progress.done()
	return durable(c.cmd, err)
}

// What a path below a folder may be: PATH_MAX of Linux without its NUL, and more folders than anybody has. In
// an archive, names may have 65,535 bytes and half as many folders.
const (
	longestPath = 4095
	deepestPath = 255
)

// fits tells whether a name can be a file's below a folder, and tells if not.
func (c *conversion) fits(s soundpack.Source) bool {
	if len(s.Name) > longestPath || strings.Count(s.Name, "/") > deepestPath {
		c.notice(s.Path[:min(len(s.Path), longestPath)], fmt.Sprintf("left out: a path of %d bytes in %d folders, and %d and %d are the most", len(s.Name), strings.Count(s.Name, "/"), longestPath, deepestPath))
		return false
	}
	if fs.ValidPath(s.Name) && filepath.IsLocal(filepath.FromSlash(s.Name)) && !strings.ContainsAny(s.Name, "\x00\\") {
		return true
	}
	c.notice(s.Path, fmt.Sprintf("left out: %q is no name of a file below a folder", s.Name))
	return false
}

// writeZip writes an archive beside its place and moves it there. Nothing is compressed, since sounds are
// already, and times are left out, so that the same sources give the same bytes.
func (c *conversion) writeZip(sources []soundpack.Source) (err error) {
	if _, err := os.Lstat(c.dst); err == nil && !c.to.Force {
		return &fs.PathError{Op: "create", Path: c.dst, Err: fs.ErrExist}
	}
	f, err := os.CreateTemp(filepath.Dir(c.dst), filepath.Base(c.dst)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	z := zip.NewWriter(f)
	taken := map[string]bool{}
	for _, s := range sources {
		if !c.fits(s) {
			continue
		}
		if taken[s.Name] {
			c.notice(s.Path, "left out: another file has its name")
			continue
		}
		taken[s.Name] = true
		w, err := z.CreateHeader(&zip.FileHeader{Name: s.Name, Method: zip.Store})
		if err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
		if err := c.copy(w, s); err != nil {
			return err
		}
	}
	if err := errors.Join(z.Close(), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), c.dst)
}

// copy writes a source, all of it.
func (c *conversion) copy(w io.Writer, s soundpack.Source) error {
	r, err := s.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	defer r.Close()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if c.pack != nil {
		w = io.MultiWriter(w, sum)
	}
	n, err := io.Copy(w, contextReader{c.cmd.Context(), io.LimitReader(r, s.Size+1)})
	if err == nil && n != s.Size {
		err = fmt.Errorf("%d bytes, and it was to have %d", n, s.Size)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	if c.pack != nil {
		if e, ok := c.entry(s); ok {
			if err := fits(c.pack, e, n, sum.Sum32()); err != nil {
				c.spoilt(fmt.Errorf("%w: it stays as it is", err))
			}
		}
	}
	return nil
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

// writeFolder writes files. A pack extracts itself.
func (c *conversion) writeFolder(sources []soundpack.Source) error {
	if c.pack != nil {
		progress := newProgress(c.cmd, "writing")
		defer progress.done()
		return c.pack.Extract(c.cmd.Context(), c.dst, nil, &soundpack.ExtractOptions{Force: c.to.Force, MaxBytes: c.most, Progress: progress.update})
	}
	if err := os.MkdirAll(c.dst, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(c.dst)
	if err != nil {
		return err
	}
	defer root.Close()
	dirs, taken := map[string]bool{}, map[string]bool{}
	sources = slices.DeleteFunc(slices.Clone(sources), func(s soundpack.Source) bool { return !c.fits(s) })
	for _, s := range sources {
		for dir := path.Dir(s.Name); dir != "." && dir != "/" && !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	var errs []error
	for _, s := range sources {
		switch {
		case dirs[s.Name]:
			c.notice(s.Path, "left out: a folder has its name")
			continue
		case taken[s.Name]:
			c.notice(s.Path, "left out: another file has its name")
			continue
		}
		taken[s.Name] = true
		if err := c.writeFile(root, s); errors.Is(err, fs.ErrExist) {
			errs = append(errs, err)
		} else if err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	return errors.Join(errs...)
}

func (c *conversion) writeFile(root *os.Root, s soundpack.Source) (err error) {
	name := filepath.FromSlash(s.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	if _, err := root.Lstat(name); err == nil && !c.to.Force {
		return &fs.PathError{Op: "create", Path: filepath.Join(c.dst, name), Err: fs.ErrExist}
	}
	temp := name + ".sndpak.tmp"
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err = errors.Join(c.copy(f, s), f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		root.Remove(temp)
	}
	return err
}
