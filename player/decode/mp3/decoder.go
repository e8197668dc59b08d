// Package mp3 decodes MPEG audio Layer III: MPEG-1 (ISO/IEC 11172-3), MPEG-2 (ISO/IEC 13818-3) and
// what is called MPEG-2.5.
//
// [New] reads what is in front of the first frames and nothing more, however long the file is. Then
// [Decoder.Read] decodes, [Decoder.SeekTo] goes to any frame exactly, that is what Read gives then is
// bit for bit what it would have given without it, and [Decoder.Frames] counts what there is.
//
// The word frame has two meanings. A frame of the stream is a header with its data. It decodes to 576
// or 1152 frames of sound, each of them one sample for each channel. In the exported names and their
// comments a frame is one of sound.
//
// Nothing but the bytes themselves is believed. Damage costs the frames of the stream that it hit and
// those that need them: they give no sound, so that what follows comes earlier. [Decoder.Warnings]
// tells what was found. Where the sampling frequency or the number of channels changes the sound ends,
// with a warning. Layers I and II are recognised and refused.
//
// How a frame becomes sound is told in the order of the files header.go, sideinfo.go, scalefac.go,
// huffman.go, stereo.go, hybrid.go, imdct.go and synthesis.go; how frames are found is in tags.go,
// sync.go, cursor.go and info.go.
package mp3

import (
	"errors"
	"fmt"
	"io"
)

// Errors that callers can branch on; what New, Read and SeekTo return is wrapped in them or comes from
// the reader.
var (
	ErrFormat      = errors.New("not MPEG audio")
	ErrUnsupported = errors.New("not supported")
	ErrCorrupt     = errors.New("damaged")
	ErrRange       = errors.New("position outside the sound")
)

// maxFrameSamples is how many samples one frame of the stream decodes to.
const maxFrameSamples = 2 * 2 * granuleSize

// Decoder decodes one stream. It belongs to one goroutine at a time.
type Decoder struct {
	stream stream
	info   info
	table  seekTable

	pos    int64  // of the next frame that Read gives
	cur    cursor // behind the frame of the stream that is in out
	frame  frameDecoder
	out    [maxFrameSamples]float32
	outPos int // frames of out that are given or not wanted
	outLen int
	lost   bool // a failed SeekTo left the decoder elsewhere than at pos
	crc    bool // a wrong CRC was noted
}

// New opens the stream in the size bytes of r, which it reads from for as long as it is in use. The
// stream may have tags and rubbish around it.
func New(r io.ReaderAt, size int64) (*Decoder, error) {
	var s stream
	if err := s.open(r, size); err != nil {
		s.src.drop()
		return nil, err // before the decoder's buffers are made: most of what is asked about is no MP3
	}
	buildTables()
	d := &Decoder{stream: s}
	if err := d.readInfo(); err != nil {
		return nil, err
	}
	d.table.drop(&d.stream)
	d.cur = cursor{off: d.stream.start}
	return d, nil
}

// readInfo reads the info frame, if there is one, and moves the start of the stream behind it.
func (d *Decoder) readInfo() error {
	s := &d.stream
	size := s.first.size(s.free)
	b, err := s.src.at(s.start, int(min(int64(size), s.end-s.start)))
	if err != nil {
		return err
	}
	d.info = parseInfo(s.first, b)
	if d.info.present {
		d.info.size = int64(len(b))
		s.start += int64(len(b))
	}
	return nil
}

// Rate returns the frames a second.
func (d *Decoder) Rate() int { return d.stream.first.rate() }

// Channels returns the number of samples a frame, 1 or 2.
func (d *Decoder) Channels() int { return d.stream.first.channels() }

// Delay returns how many frames the encoder put before the sound, -1 where the file does not tell.
// These and the decoder's own delay are taken off.
func (d *Decoder) Delay() int {
	if !d.info.gapless {
		return -1
	}
	return d.info.delay
}

// Padding returns how many frames the encoder put behind the sound, -1 where the file does not tell.
// They are taken off.
func (d *Decoder) Padding() int {
	if !d.info.gapless {
		return -1
	}
	return d.info.padding
}

// Bitrate returns the bit rate in bit/s, on the average where it varies and the file tells its
// length, else that of the first frame.
func (d *Decoder) Bitrate() int {
	s := &d.stream
	h := s.first
	seconds := float64(d.info.frames*int64(h.frames())) / float64(h.rate())
	switch {
	case d.info.vbr && seconds > 0:
		return int(float64(s.end-s.start) * 8 / seconds)
	case h.free():
		return s.free * h.rate() / h.slots()
	}
	return h.kbps() * 1000
}

// Description describes the encoding for people, as in "MPEG-1 Layer III, 192 kbit/s".
func (d *Decoder) Description() string {
	kind := ""
	switch {
	case d.stream.first.free():
		kind = "free format "
	case d.info.vbr:
		kind = "VBR "
	}
	return fmt.Sprintf("%v, %s%d kbit/s", d.stream.first, kind, (d.Bitrate()+500)/1000)
}

// Warnings returns what was wrong with the stream as far as it has been read, and was survived, a
// line each.
func (d *Decoder) Warnings() []string {
	var lines []string
	for _, n := range d.stream.notes {
		lines = append(lines, n.text)
	}
	return lines
}

// Lost returns those of the Warnings that tell of sound that is lost, or perhaps not what was put in.
func (d *Decoder) Lost() []string {
	var lines []string
	for _, n := range d.stream.notes {
		if n.lost {
			lines = append(lines, n.text)
		}
	}
	return lines
}

// Read decodes frames into dst, interleaved, and returns how many; samples range from -1 to 1 and a
// little beyond. The length of dst must be at least Channels. It returns 0 frames only with an error,
// which is io.EOF at the end.
func (d *Decoder) Read(dst []float32) (frames int, err error) {
	channels := d.Channels()
	if len(dst) < channels {
		return 0, io.ErrShortBuffer
	}
	if d.lost {
		if err := d.SeekTo(d.pos); err != nil {
			return 0, err
		}
	}
	for frames < len(dst)/channels {
		if d.outPos == d.outLen {
			if err := d.advance(); err != nil {
				if frames > 0 {
					return frames, nil // the error comes again
				}
				return 0, err
			}
		}
		n := copy(dst[frames*channels:len(dst)/channels*channels], d.out[d.outPos*channels:d.outLen*channels]) / channels
		frames += n
		d.outPos += n
		d.pos += int64(n)
	}
	return frames, nil
}

// skipFrames is how many decoded frames come before the sound.
func (d *Decoder) skipFrames() int64 {
	if !d.info.gapless {
		return 0
	}
	return int64(d.info.delay) + decoderDelay
}

// advance decodes on until there is a frame to give in out.
func (d *Decoder) advance() error {
	for d.outPos == d.outLen {
		at := d.cur.index * int64(d.stream.first.frames())
		if err := d.decodeNext(); err != nil {
			return err
		}
		if err := d.trim(at); err != nil {
			return err
		}
	}
	return nil
}

// decodeNext decodes the next frame of the stream into out. Behind the last one comes what the
// filter banks still hold, as long as that is sound.
func (d *Decoder) decodeNext() error {
	d.outPos, d.outLen = 0, 0
	d.table.note(&d.stream, &d.cur) // if the table does not fit it is gone now, which harms nobody here
	for {
		before := d.cur
		f, err := d.cur.next(&d.stream)
		if err == io.EOF {
			return d.decodeTail()
		}
		var b []byte
		if err == nil {
			b, err = d.load(f)
		}
		if err != nil {
			d.cur = before
			return err
		}
		if !f.sounds {
			d.frame.keep(f.header, b)
			continue
		}
		if !d.crc && !crcFits(f.header, b) {
			d.crc = true
			d.stream.notes.lose("the CRC of the frame at %#x is wrong, and perhaps others are", f.off)
		}
		d.frame.decode(f.header, b, d.out[:])
		d.outLen = f.header.frames()
		return nil
	}
}

// decodeTail decodes what comes behind the last frame.
func (d *Decoder) decodeTail() error {
	s := &d.stream
	n, err := d.Frames()
	if err != nil {
		return err
	}
	if d.skipFrames()+n <= d.table.total*int64(s.first.frames()) {
		return io.EOF
	}
	d.frame.decodeSilence(s.first, d.out[:])
	d.outLen = s.first.frames()
	return nil
}

// load returns the bytes of a frame and readies the decoder for it.
func (d *Decoder) load(f frame) ([]byte, error) {
	b, err := d.stream.src.at(f.off, f.size)
	if err == nil && len(b) < f.size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if f.reset {
		d.frame.reset()
	}
	return b, nil
}

// trim takes off out, which begins at frame at of what is decoded, what is not the sound from pos on.
func (d *Decoder) trim(at int64) error {
	want := d.skipFrames() + d.pos
	d.outPos = int(min(max(want-at, 0), int64(d.outLen)))
	if !d.nearEnd() {
		return nil
	}
	n, err := d.Frames()
	if err != nil {
		return err
	}
	d.outLen = int(min(max(d.skipFrames()+n-at, 0), int64(d.outLen)))
	if d.outPos >= d.outLen {
		d.outPos, d.outLen = 0, 0
		if d.pos >= n {
			return io.EOF
		}
	}
	return nil
}
