package output

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// A WAV file as written here, little-endian (Multimedia Programming Interface and Data
// Specifications 1.0, IBM and Microsoft 1991, chapter 3; for float its revision 3 of 1994):
//
//	"RIFF", u32 size of what follows
//	"WAVE"
//	"fmt ", u32 16 or 18, u16 tag (1 PCM, 3 IEEE float), u16 channels, u32 rate,
//	        u32 bytes a second, u16 bytes a frame, u16 bits a sample, and for float u16 0
//	"fact", u32 4, u32 frames      for float only
//	"data", u32 size, the frames
//
// Until the sizes are known they are 0xFFFFFFFF, which readers take as "all the rest": so a file
// that was cut off, or that went down a pipe, is read in full. A frame of two samples is a whole
// number of words at any width, so that no pad byte is needed.
const (
	sizeUnknown = math.MaxUint32
	// wavLimit is the most that a 32-bit size can tell, less room for the header. What needs more is
	// refused: the 64-bit form (EBU Tech 3306) is unknown to many who read WAV.
	wavLimit = math.MaxUint32 - 1<<10
)

// errTooLong is why a file ended before its sound did.
var errTooLong = errors.New("a WAV file holds 4 GiB at most; it was ended there")

// wavFormat is a width of samples.
type wavFormat struct {
	tag  uint16 // 1 PCM, 3 IEEE float
	bits uint16
	put  func(b []byte, v float32) // one sample into the first bits/8 bytes of b
}

// wavFormats are the ways to store samples, by the name that comes before the colon.
var wavFormats = map[string]wavFormat{
	"wav":    {1, 16, putInt16},
	"wav24":  {1, 24, putInt24},
	"wav32f": {3, 32, putFloat32},
}

// toInt scales to a signed integer of so many bits: rounded to nearest, clipped at full scale, and
// 0 for what is not a number. Samples that came from integers of that width come out unchanged.
func toInt(v float32, bits int) int32 {
	full := float64(int64(1) << (bits - 1))
	x := math.RoundToEven(float64(v) * full)
	if math.IsNaN(x) {
		return 0
	}
	return int32(min(max(x, -full), full-1))
}

func putInt16(b []byte, v float32) {
	binary.LittleEndian.PutUint16(b, uint16(toInt(v, 16)))
}

func putInt24(b []byte, v float32) {
	x := uint32(toInt(v, 24))
	b[0], b[1], b[2] = byte(x), byte(x>>8), byte(x>>16)
}

func putFloat32(b []byte, v float32) {
	binary.LittleEndian.PutUint32(b, math.Float32bits(v))
}

// frameSize is in bytes, for two channels.
func (f wavFormat) frameSize() int { return int(f.bits) / 8 * 2 }

// encode puts samples into b, which has room for them.
func (f wavFormat) encode(b []byte, samples []float32) {
	width := int(f.bits) / 8
	for i, v := range samples {
		f.put(b[i*width:], v)
	}
}

// header returns everything in front of the frames, for a file of so many; negative is unknown.
func (f wavFormat) header(rate int, frames int64) []byte {
	b := []byte("RIFF....WAVEfmt ")
	le := binary.LittleEndian
	if f.tag == 1 {
		b = le.AppendUint32(b, 16)
	} else {
		b = le.AppendUint32(b, 18)
	}
	b = le.AppendUint16(b, f.tag)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(rate*f.frameSize()))
	b = le.AppendUint16(b, uint16(f.frameSize()))
	b = le.AppendUint16(b, f.bits)
	count, size, riff := uint32(sizeUnknown), uint32(sizeUnknown), uint32(sizeUnknown)
	if frames >= 0 {
		count, size = uint32(frames), uint32(frames*int64(f.frameSize()))
	}
	if f.tag != 1 {
		b = le.AppendUint16(b, 0)
		b = le.AppendUint32(append(b, "fact"...), 4)
		b = le.AppendUint32(b, count)
	}
	b = le.AppendUint32(append(b, "data"...), size)
	if frames >= 0 {
		riff = uint32(len(b)-8) + size
	}
	le.PutUint32(b[4:], riff)
	return b
}

// wavDevice writes a WAV file as fast as fill gives.
type wavDevice struct {
	core
	kind   string // as in the specification
	path   string
	rate   int
	format wavFormat
	limit  int64 // most bytes of frames

	paused atomic.Bool
	poke   chan struct{} // wakes the goroutine when paused has changed

	// These belong to the goroutine, then to complete.
	file   *wavFile
	w      *bufio.Writer
	frames int64 // written
	begun  bool  // there is a header
	failed bool  // what is in the file is not to be kept
}

// openWAV creates the file, so that a place that cannot be written to is known at once.
func openWAV(path, kind string, c Config) (*wavDevice, error) {
	file, err := createWAV(path)
	if err != nil {
		return nil, fmt.Errorf("output: write %s: %w", path, err)
	}
	d := &wavDevice{
		core: newCore(), kind: kind, path: path, rate: c.Rate, format: wavFormats[kind],
		limit: wavLimit, poke: make(chan struct{}, 1), file: file,
	}
	file.away = &d.away
	d.w = bufio.NewWriterSize(file, 64<<10)
	d.release = d.complete
	return d, nil
}

// Name implements [Device].
func (d *wavDevice) Name() string { return d.kind + ":" + d.path }

// Rate implements [Device].
func (d *wavDevice) Rate() int { return d.rate }

// Delay implements [Device]: what is in the file counts as heard.
func (d *wavDevice) Delay() time.Duration { return 0 }

// Pause implements [Device]: the file does not grow in between.
func (d *wavDevice) Pause(paused bool) error {
	if err := d.alive(); err != nil {
		return err
	}
	d.paused.Store(paused)
	signal(d.poke)
	return nil
}

// Start implements [Device].
func (d *wavDevice) Start(fill Fill) error {
	return d.start(func() {
		if err := d.run(fill); err != nil {
			d.stop(fmt.Errorf("output: write %s: %w", d.path, err))
		}
	})
}

// Close implements [Device]. A pipe that nobody reads is given up.
func (d *wavDevice) Close() error {
	if d.file.final == "" {
		d.file.f.SetWriteDeadline(time.Now().Add(closeWait / 2)) // fails where there are none, such as a terminal
	}
	return d.core.Close()
}

// run writes until the sound ends, the file is full or the device is closed.
func (d *wavDevice) run(fill Fill) error {
	d.begun = true
	if err := d.write(d.format.header(d.rate, -1)); err != nil {
		return err
	}
	buf := make([]float32, 2*blockFrames)
	raw := make([]byte, blockFrames*d.format.frameSize())
	for d.mayPull() {
		n := d.pull(fill, buf)
		size := n * d.format.frameSize()
		if (d.frames+int64(n))*int64(d.format.frameSize()) > d.limit {
			return errTooLong
		}
		d.format.encode(raw, buf[:2*n])
		if err := d.write(raw[:size]); err != nil {
			return err
		}
		d.frames += int64(n)
		if n < blockFrames {
			break
		}
	}
	return nil
}

// mayPull waits while paused and reports whether to go on.
func (d *wavDevice) mayPull() bool {
	for d.paused.Load() {
		if !d.sleep(-1, d.poke) {
			return false
		}
	}
	return d.alive() == nil
}

// write adds to the file, and remembers that it failed.
func (d *wavDevice) write(b []byte) error {
	_, err := d.w.Write(b)
	d.failed = d.failed || err != nil
	return err
}

// complete puts the file in its place with the right sizes, or removes it where it is not whole or
// nothing was ever to be in it.
func (d *wavDevice) complete() error {
	if d.begun && !d.failed {
		d.failed = d.w.Flush() != nil
	}
	if !d.begun || d.failed {
		return d.fault(errors.Join(d.file.drop(), d.file.err))
	}
	return d.fault(d.file.keep(d.format.header(d.rate, d.frames)))
}

// fault wraps err, if it is one.
func (d *wavDevice) fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("output: write %s: %w", d.path, err)
}

// wavFile is where the bytes go: a file beside the final one, which takes its place in the end, or
// something that only takes bytes in order, such as a pipe.
type wavFile struct {
	f      *os.File
	final  string       // "" for a stream
	stays  bool         // not ours to close
	err    error        // the first that a write gave
	away   *atomic.Bool // set while a stream's write may block for as long as its reader likes
	access fs.FileMode  // of the file that is replaced, 0 = there is none
}

// createWAV opens path for writing. What is there already and is no plain file (a pipe, a device)
// is written to as it stands, since replacing it would be a disaster.
func createWAV(path string) (*wavFile, error) {
	if path == "-" {
		return &wavFile{f: os.Stdout, stays: true}, nil
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, errors.New("is a directory")
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &wavFile{f: f}, bare(err)
	}
	w := &wavFile{final: path}
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
func (w *wavFile) Write(b []byte) (int, error) {
	if w.final == "" {
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
func (w *wavFile) keep(header []byte) error {
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
func (w *wavFile) drop() error {
	if w.stays {
		return nil
	}
	err := w.f.Close()
	if w.final != "" {
		err = os.Remove(w.f.Name())
	}
	return bare(err)
}
