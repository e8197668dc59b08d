// Package decode turns the bytes of one sound into frames.
//
// [Open] finds the format from the content, never from a file name, and returns a [Stream]: a
// beep.StreamSeekCloser that also reads its frames as interleaved float32 or, where the source is
// no wider than 16 bits, as the very int16 samples of the file. Nothing but the bytes themselves is
// believed: every size is checked against them before it is used, a panic in somebody else's
// decoder becomes an error of that stream, and a decoder that makes no progress is ended.
//
// A Stream reads from the io.ReaderAt that it was opened on for as long as it lives and belongs to
// one goroutine at a time. It never closes that reader. An error of that reader comes out wrapped,
// so that errors.Is finds it.
//
// [Stream.ReadAll] decodes a short sound whole, and [Inspect] tells what is wrong with one.
//
// Left out are formats that games do not ship: Open refuses them by their name with
// [ErrUnsupported].
package decode

import (
	"errors"
	"time"
)

// Errors that a caller can branch on; all others come wrapped in one of them or from the reader.
var (
	ErrFormat      = errors.New("not a known sound format")
	ErrUnsupported = errors.New("unsupported") // known by name, and the message says the name
	ErrCorrupt     = errors.New("damaged")
	ErrLimit       = errors.New("over the limit")
	ErrClosed      = errors.New("closed")
)

// Options bound what a stream may give. The zero value, and a nil pointer, are right for sounds of
// unknown origin.
type Options struct {
	// MaxDuration is the longest sound that is played, 0 = 24 hours. A longer one is an ErrLimit:
	// when it is opened where its length is known then, else when it gets there.
	MaxDuration time.Duration
	// MaxRatio is the most frames that a byte of input may become, 0 = 8192. It ends a tiny file
	// that claims hours, and is wide enough for digital silence in FLAC.
	MaxRatio int64
	// CheckSum has the samples be summed while they are read, from the first to the last, where the file
	// holds a checksum of them. If it differs Info tells so behind the end.
	CheckSum bool
}

// Loop is a loop region in frames: [Start, End). End is exclusive.
type Loop struct {
	Start, End int64
	PingPong   bool // the file asks for forward and back; played forward
	Count      int  // times to play the region, 0 = for ever
}

// Info is what is known of a sound once it is open.
type Info struct {
	Format   string   // "wav", "vorbis", "mp3", "flac"
	Encoding string   // how the samples are stored, for people: "16-bit PCM", "32-bit float", "Layer III 192 kbit/s"
	Rate     int      // frames a second
	Channels int      // as stored; what is above two is folded to stereo by Stream
	Bits     int      // bits a sample as stored, 0 where the format has none (lossy)
	Frames   int64    // exact length in frames, encoder delay and padding taken off; -1 where not known yet
	Delay    int64    // frames of encoder delay taken off at the start
	Padding  int64    // frames of padding taken off at the end
	Loops    []Loop   // as the file tells them, clamped to its length
	Cues     []int64  // frames that the file marks, in its order
	Mask     uint32   // which speakers the channels are for, as in WAVE_FORMAT_EXTENSIBLE; 0 = the usual ones
	Warnings []string // what was wrong and was survived, one line each
	Lost     []string // those of them that tell of sound that is lost, or is not what was put in
}

// warn adds a warning.
func (in *Info) warn(text string) { in.Warnings = append(in.Warnings, text) }

// lose adds a warning of lost sound.
func (in *Info) lose(text string) {
	in.warn(text)
	in.Lost = append(in.Lost, text)
}

// A codec decodes one format. It is driven by a Stream, which guards it: no call follows an error
// or the end other than seek and close, positions given to seek lie in [0, frames], and a panic is
// caught there.
type codec interface {
	// info is the codec's description. It may get better after reading or seeking (Frames known).
	info() Info
	// read decodes interleaved frames of info().Channels samples into dst, whose length is a
	// multiple of Channels and not 0. It returns 0 frames only with an error; io.EOF is the end.
	read(dst []float32) (frames int, err error)
	// seek makes the next read begin exactly at frame.
	seek(frame int64) error
	close() error
}

// int16Reader is a codec whose samples are at most 16 bits wide, and that hands them out unchanged,
// scaled to 16 bits: a sample of 8 bits comes times 256.
type int16Reader interface {
	read16(dst []int16) (frames int, err error)
}

// lengthFinder is a codec that can find its length where info().Frames is -1, by a scan if need be.
// The next read goes on where it would have gone on.
type lengthFinder interface {
	findFrames() (int64, error)
}

// seekTabler is a codec whose seeks are helped by a table that is worth keeping.
type seekTabler interface {
	seekTable() []byte
	setSeekTable(table []byte) error
}

// summer is a codec whose file holds a checksum of the decoded samples.
type summer interface {
	// startSum has the samples of every read from now on summed; the stream stands at frame 0.
	startSum()
	// checkSum compares after the end. It returns nil where the file holds no sum, or not all samples
	// were read one behind the other.
	checkSum() error
}

// exactAlloc is a codec whose length is proved by the bytes that are there, not by a claim.
type exactAlloc interface {
	provenFrames() int64
}
