// Package decode turns the bytes of one sound into frames.
//
// [Open] finds the format from the content, never from a file name, and returns a [Stream]: a
// beep.StreamSeekCloser that also reads its frames as interleaved float32 or, where the source is
// no wider than 16 bits, as the very int16 samples of the file. Nothing but the bytes themselves is
// believed: every size is checked against them before it is used, a panic in somebody else's
// decoder becomes an error of that stream, and a decoder that makes no progress is ended.
//
// A Stream reads from the io.ReaderAt that it was opened on for as long as it lives and belongs to
// one goroutine at a time. It never closes that reader.
package decode

import (
	"errors"
	"io"
)

// Errors that a caller can branch on; all others come wrapped in one of them or from the reader.
var (
	ErrFormat      = errors.New("not a known sound format")
	ErrUnsupported = errors.New("unsupported") // known by name, and the message says the name
	ErrCorrupt     = errors.New("damaged")
	ErrLimit       = errors.New("over the limit")
	ErrClosed      = errors.New("closed")
)

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
	Warnings []string // what was wrong and was mended, one line each
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

// int16Reader is a codec whose samples are at most 16 bits wide, and that hands them out unchanged.
type int16Reader interface {
	read16(dst []int16) (frames int, err error)
}

var _ io.ReaderAt // the source of every codec
