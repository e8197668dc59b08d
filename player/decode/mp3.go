package decode

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sndpak/sndpak/player/decode/mp3"
)

// mpeg drives the MP3 decoder. Its length is known once it was asked for: an info frame may tell
// one, but damage makes it less.
type mpeg struct {
	d      *mp3.Decoder
	about  Info
	extra  []string // warnings from around the stream
	lost   []string // and those of them of lost sound
	frames int64
}

// openMP3 opens MPEG audio, with tags and rubbish around it.
func openMP3(src source) (codec, error) {
	d, err := mp3.New(src.r, src.size)
	if err != nil {
		return nil, mpegError(err)
	}
	m := &mpeg{d: d, frames: -1}
	m.about = Info{
		Format: "mp3", Encoding: d.Description(), Rate: d.Rate(), Channels: d.Channels(),
		Delay: int64(max(d.Delay(), 0)), Padding: int64(max(d.Padding(), 0)),
	}
	return m, m.loops()
}

// loops reads the loop points out of the tags. Only where there are any the length is asked for.
func (m *mpeg) loops() error {
	list, err := m.d.Tags()
	if err != nil {
		return mpegError(err)
	}
	var tags []tag
	for _, t := range list {
		tags = append(tags, tag{t.Key, t.Value})
	}
	loops, warnings := loopsFromTags(tags, m.about.Rate, -1)
	if len(loops) > 0 {
		n, err := m.findFrames()
		if err != nil {
			return err
		}
		loops, warnings = loopsFromTags(tags, m.about.Rate, n)
	}
	m.about.Loops, m.extra = loops, warnings
	return nil
}

// openMP3 opens MPEG audio in a WAVE file (format 0x55): the data chunk is a stream as any other.
func (w *wavFile) openMP3(data chunk) (codec, error) {
	c, err := openMP3(w.section(data.off, data.size))
	if err != nil {
		return nil, fmt.Errorf("wav: format 85: %w", err)
	}
	m := c.(*mpeg)
	m.about.Encoding += " in WAV"
	if err := m.regions(w); err != nil {
		return nil, err
	}
	m.extra, m.lost = append(m.extra, w.found.Warnings...), w.found.Lost
	return m, nil
}

// regions takes over the loops and cues of the WAVE file, where it has any: they need the length.
func (m *mpeg) regions(w *wavFile) error {
	if !w.has("smpl") && !w.has("cue ") {
		return nil
	}
	n, err := m.findFrames()
	if err != nil {
		return err
	}
	in := Info{Frames: n}
	err = w.regions(&in)
	m.about.Loops, m.about.Cues = in.Loops, in.Cues
	return err
}

func (m *mpeg) info() Info {
	in := m.about
	in.Frames = m.frames
	in.Warnings = slices.Concat(m.extra, m.d.Warnings())
	in.Lost = slices.Concat(m.lost, m.d.Lost())
	return in
}

func (m *mpeg) read(dst []float32) (int, error) {
	n, err := m.d.Read(dst)
	return n, mpegError(err)
}

func (m *mpeg) seek(frame int64) error { return mpegError(m.d.SeekTo(frame)) }
func (m *mpeg) close() error           { return nil }

func (m *mpeg) findFrames() (int64, error) {
	n, err := m.d.Frames()
	if err == nil {
		m.frames = n
	}
	return n, mpegError(err)
}

// seekTable is nil where it cannot be made: it is only a help.
func (m *mpeg) seekTable() []byte {
	table, err := m.d.SeekTable()
	if err != nil {
		return nil
	}
	return table
}

func (m *mpeg) setSeekTable(table []byte) error { return mpegError(m.d.SetSeekTable(table)) }

// mpegError makes err one of this package's kinds, with the words that it has.
func mpegError(err error) error {
	for kind, ours := range map[error]error{mp3.ErrFormat: ErrFormat, mp3.ErrUnsupported: ErrUnsupported, mp3.ErrCorrupt: ErrCorrupt} {
		if errors.Is(err, kind) {
			return &kindError{err, ours}
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &kindError{err, ErrCorrupt}
	}
	return err
}

// kindError is an error that is also of another kind.
type kindError struct{ err, kind error }

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }
