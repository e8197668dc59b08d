// Package soundpack keeps the sounds of a game in one pack and reads them where they lie.
//
// A pack is a data file that holds the bodies and, beside it, an index that names them
// (music.data and music.inx). That is the split layout; there are three more, found by their content:
// crc, whose index holds hashes of paths (pack.dat and pack.index), and two of one file with a table at
// its head, cfg with names for many small files and pck with numbers. [Open] comes first: it reads the index into memory, maps the data and
// returns a [Pack], which is an fs.FS. Names are found without regard to ASCII case:
//
//	p, err := soundpack.Open("music.data", nil)
//	f, err := p.Open("jaguar.wav")      // an fs.File, io.ReaderAt and io.Seeker that knows its Size
//	e, ok := p.Lookup("JAGUAR.WAV")     // the entry alone; allocates nothing
//	for e := range p.Entries() { ... }  // everything, in the order of the index
//
// [Create] writes a whole pack from [Source] values, which [Sources] makes from files and folders.
// [Edit] opens one for changing while others read it: a [Writer] adds, replaces, removes and compacts.
// [Pack.Verify] looks for damage and [Pack.Extract] writes entries to files. [Diff] compares two packs,
// [Pack.Watch] tells when the files have come to hold others, and a [Stack] is several packs and
// folders as one.
//
// [OpenRemote] opens a pack on a server, and reads no more of it than is used.
//
// What an index has no room for is in the manifest, one more entry at its end (.sndpak) that is not
// listed: names of any length and with folders, checksums, and [Facts] about sounds. Other readers see
// a file like any other, and long names under short aliases. It is read when something in it is asked
// for, and a pack without one works in full.
//
// An open Pack is a snapshot: replacing the files does not change what it reads. A [File] pins the
// mapping until it is closed, so that it outlives [Pack.Close]. Nothing that is returned points into
// the mapping: bytes are copied out, and every copy is guarded, so that data cut short by another
// program is an error ([ErrChanged]) and not the death of this one.
//
// Packs come from anywhere. Every count, offset and size is checked before it is used, an entry that
// reaches past the data is refused by name while the others stay usable, and extraction never leaves
// its folder.
//
// Left out: decoding (any fs.FS of sounds does for a player).
package soundpack

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Errors that a caller can branch on. They come wrapped with the operation, pack, entry and offset.
// Beside them stand fs.ErrNotExist (no such entry, or no such file), fs.ErrExist (a file is in the
// way and Force was not given), fs.ErrInvalid (a name that cannot be used) and errors.ErrUnsupported
// (a layout that is not known).
var (
	// ErrFormat: the bytes contradict the layout; the pack or the entry is damaged or hostile.
	ErrFormat = errors.New("damaged")
	// ErrChecksum: the bytes are not those that were packed.
	ErrChecksum = errors.New("checksum mismatch")
	// ErrLimit: a size is over a limit, of the layout (4 GiB) or of the options.
	ErrLimit = errors.New("over the limit")
	// ErrChanged: another program cut the data short while the pack was open, or a server has another
	// version of it now.
	ErrChanged = errors.New("pack changed under us")
	// ErrDurability: the new pack is in place and whole, but the last sync of its folder failed, so
	// that a power cut may still bring back the old one.
	ErrDurability = errors.New("durability unknown")
	// ErrClosed: the Pack or the File was closed. It is an fs.ErrClosed too.
	ErrClosed error = closedError{}
)

type closedError struct{}

func (closedError) Error() string        { return "closed" }
func (closedError) Is(target error) bool { return target == fs.ErrClosed }

// missing is the cause of "no such entry", told with the pack's name.
type missing struct{ pack string }

func (e missing) Error() string        { return "no such entry in " + e.pack }
func (e missing) Is(target error) bool { return target == fs.ErrNotExist }

// placed says where in a pack err came about. It is the inner half of an fs.PathError, whose outer
// half tells operation and entry.
type placed struct {
	pack string
	off  int64
	err  error
}

func (e *placed) Error() string { return fmt.Sprintf("in %s at %#x: %v", e.pack, e.off, e.err) }
func (e *placed) Unwrap() error { return e.err }

// at wraps err with operation, entry, pack and offset:
//
//	soundpack: read "jump.wav" in ui.data at 0x1f40: pack changed under us
func (p *Pack) at(op string, e Entry, off int64, err error) error {
	return fmt.Errorf("soundpack: %s %q %w", op, e.Name, &placed{p.base, off, err})
}

// opened wraps an error of the whole pack, naming the file by its base name, or err's own path.
func opened(op, path string, err error) error {
	return fmt.Errorf("soundpack: %s %s: %w", op, filepath.Base(path), err)
}
