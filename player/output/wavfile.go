package output

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

// A WAVFile is a WAV file that is being written. It appears under its name when Close has completed
// it, and not at all after an error or Discard. It belongs to one goroutine.
type WAVFile struct {
	path   string
	rate   int
	format wavFormat
	limit  int64 // most bytes of frames
	place  *wavPlace
	w      *bufio.Writer
	raw    []byte
	frames int64
	begun  bool // the header is written
	failed bool // what is in the file is not to be kept
}

// CreateWAV begins a WAV file of so many frames a second of one or two channels. kind is the width
// of its samples: "wav" is 16-bit PCM, "wav24" 24-bit PCM, "wav32f" 32-bit float. The path - is the
// standard output. It returns ErrSpec for anything else, or why the file cannot be created.
func CreateWAV(path, kind string, rate, channels int) (*WAVFile, error) {
	format, ok := wavFormats[kind]
	if !ok || channels < 1 || channels > 2 || rate < 1 || rate > maxRate {
		return nil, fmt.Errorf("output: %w: %s of %d channels at %d Hz", ErrSpec, kind, channels, rate)
	}
	place, err := openPlace(path)
	if err != nil {
		return nil, fmt.Errorf("output: write %s: %w", path, err)
	}
	format.channels = channels
	return &WAVFile{
		path: path, rate: rate, format: format, limit: wavLimit, place: place,
		w: bufio.NewWriterSize(place, 64<<10), raw: make([]byte, blockFrames*format.frameSize()),
	}, nil
}

// Write appends interleaved frames, full scale at -1 and 1. Integers are rounded to nearest and
// clipped; samples that came from integers of the file's width come out unchanged. What passes 4 GiB
// is refused, and the file then ends before it.
func (f *WAVFile) Write(samples []float32) error {
	if err := f.begin(); err != nil {
		return err
	}
	width := int64(f.format.frameSize())
	for len(samples) > 0 {
		block := samples[:min(len(samples), blockFrames*f.format.channels)]
		n := int64(len(block) / f.format.channels)
		if (f.frames+n)*width > f.limit {
			return f.fault(errTooLong)
		}
		f.format.encode(f.raw, block)
		if err := f.write(f.raw[:n*width]); err != nil {
			return err
		}
		f.frames += n
		samples = samples[len(block):]
	}
	return nil
}

// begin writes the header once.
func (f *WAVFile) begin() error {
	if f.begun {
		return nil
	}
	f.begun = true
	return f.write(f.format.header(f.rate, -1))
}

// write adds bytes, and remembers that it failed.
func (f *WAVFile) write(b []byte) error {
	_, err := f.w.Write(b)
	f.failed = f.failed || err != nil
	return f.fault(err)
}

// Close completes the file and puts it in its place. After an error of Write that left it unusable it
// removes it and returns why.
func (f *WAVFile) Close() error {
	f.begin()
	if !f.failed {
		f.write(f.format.pad(f.frames))
		f.failed = f.w.Flush() != nil
	}
	if f.failed {
		return f.Discard()
	}
	return f.fault(f.place.keep(f.format.header(f.rate, f.frames)))
}

// Discard gives the file up and leaves nothing behind. It returns what went wrong before.
func (f *WAVFile) Discard() error {
	return f.fault(errors.Join(f.place.drop(), f.place.err))
}

// fault wraps err, if it is one.
func (f *WAVFile) fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("output: write %s: %w", f.path, err)
}

// wavPlace is where the bytes go: a file beside the final one, which takes its place in the end, or
// something that only takes bytes in order, such as a pipe.
type wavPlace struct {
	f      *os.File
	final  string       // "" for a stream
	stays  bool         // not ours to close
	err    error        // the first that a write gave
	away   *atomic.Bool // set while a stream's write may block for as long as its reader likes
	access fs.FileMode  // of the file that is replaced, 0 = there is none
}

// pipeWait is how long a named pipe may be without a reader.
const pipeWait = 5 * time.Second

// openStream opens what only takes bytes in order. A named pipe that nobody reads would keep a plain
// open waiting for ever: it is tried for a while, as reader and writer are often started together.
func openStream(path string) (*os.File, error) {
	for deadline := time.Now().Add(pipeWait); ; time.Sleep(20 * time.Millisecond) {
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.ENXIO) {
			return f, err
		}
		if time.Now().After(deadline) {
			return nil, errors.New("nobody reads the pipe")
		}
	}
}

// openPlace opens path for writing. What is there already and is no plain file (a pipe, a device)
// is written to as it stands, since replacing it would be a disaster.
func openPlace(path string) (*wavPlace, error) {
	if path == "-" {
		return &wavPlace{f: os.Stdout, stays: true}, nil
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, errors.New("is a directory")
	case err == nil && !info.Mode().IsRegular():
		f, err := openStream(path)
		return &wavPlace{f: f}, bare(err)
	}
	w := &wavPlace{final: path}
	if err == nil {
		w.access = info.Mode().Perm()
		if w.final, err = filepath.EvalSymlinks(path); err != nil {
			return nil, bare(err)
		}
	}
	w.f, err = createBeside(w.final)
	return w, bare(err)
}

// createBeside makes a new file in the folder of path. Its name does not contain that of path, which
// may be as long as names can be.
func createBeside(path string) (f *os.File, err error) {
	for range 100 {
		name := fmt.Sprintf(".sndpak-%016x.tmp", rand.Uint64())
		f, err = os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

// bare takes the path off an error, for the caller names the one that the user gave.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// Write implements io.Writer.
func (w *wavPlace) Write(b []byte) (int, error) {
	if w.away != nil && w.final == "" {
		w.away.Store(true)
		defer w.away.Store(false)
	}
	n, err := w.f.Write(b)
	if w.err == nil {
		w.err = bare(err)
	}
	return n, w.err
}

// keep writes the final header and puts the file in its place. The header of a stream stays as it is.
func (w *wavPlace) keep(header []byte) error {
	if w.final == "" {
		return w.drop()
	}
	_, err := w.f.WriteAt(header, 0)
	if err == nil && w.access != 0 {
		err = w.f.Chmod(w.access)
	}
	if e := w.f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(w.f.Name(), w.final)
	}
	if err != nil {
		os.Remove(w.f.Name())
	}
	return bare(err)
}

// drop lets go of the file and leaves nothing behind.
func (w *wavPlace) drop() error {
	if w.stays {
		return nil
	}
	err := w.f.Close()
	if w.final != "" {
		err = os.Remove(w.f.Name())
	}
	return bare(err)
}
