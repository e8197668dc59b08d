package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// sniffLen is how much of the start is looked at: to the farthest magic number of names.
const sniffLen = 1200

// maxTags is how many ID3v2 tags may stand one after another.
const maxTags = 16

// Open finds out what the size bytes of r are and opens them for decoding. opt may be nil.
//
// The error is ErrFormat for what is no sound, or empty, ErrUnsupported for a sound of a kind that
// is known only by name, ErrCorrupt or ErrLimit for a sound that cannot be played, or it wraps
// the reader's. r must stay readable for as long as the Stream is used; Open and the Stream read
// it only within [0, size).
func Open(r io.ReaderAt, size int64, opt *Options) (*Stream, error) {
	if size <= 0 {
		return nil, fmt.Errorf("%w: empty entry", ErrFormat)
	}
	var c codec
	var note string
	err := guard("open", func() (err error) { c, note, err = openCodec(source{r, size}); return err })
	if err != nil {
		return nil, err
	}
	s, err := newStream(c, size, opt)
	if err != nil {
		_ = guard("close", c.close) // the first error is the one to tell
		return nil, err
	}
	if note != "" {
		s.found.warn(note)
	}
	return s, nil
}

// openCodec chooses by content. What follows ID3v2 tags decides, as taggers put them before
// anything. note is a warning.
func openCodec(src source) (c codec, note string, err error) {
	skip, err := skipID3(src)
	if err != nil {
		return nil, "", err
	}
	body := src.section(skip, src.size)
	head := make([]byte, min(sniffLen, body.size))
	n, err := body.readUpTo(head, 0)
	if err != nil {
		return nil, "", err
	}
	head = head[:n]
	switch {
	case isRIFF(head):
		c, err = openWAV(body)
	case bytes.HasPrefix(head, []byte("fLaC")):
		c, err = openFLAC(body)
	case bytes.HasPrefix(head, []byte("OggS")):
		c, err = openVorbis(body.r, body.size)
	case knownName(head) != "":
		err = fmt.Errorf("%w: %s", ErrUnsupported, knownName(head))
	default:
		return openUnknown(src, head, skip > 0)
	}
	return c, "", err
}

// skipID3 returns where the ID3v2 tags at the start end; 0 where there are none.
//
//	3  "ID3"
//	2  version
//	1  flags, 0x10 = a footer of ten bytes follows
//	4  size behind this header, 7 bits a byte (ID3v2.4.0 structure, section 3.1)
func skipID3(src source) (int64, error) {
	at := int64(0)
	for range maxTags {
		var h [10]byte
		n, err := src.readUpTo(h[:], at)
		if err != nil {
			return 0, err
		}
		size, ok := id3Size(h[:n])
		if !ok || at+size > src.size {
			break
		}
		at += size
	}
	return at, nil
}

// id3Size is the length of the tag that starts with h, header and footer included.
func id3Size(h []byte) (int64, bool) {
	if len(h) < 10 || string(h[:3]) != "ID3" || h[3] == 0xff || h[4] == 0xff {
		return 0, false
	}
	size := int64(10)
	if h[5]&0x10 != 0 {
		size += 10
	}
	if (h[6]|h[7]|h[8]|h[9])&0x80 != 0 {
		return 0, false
	}
	return size + int64(h[6])<<21 + int64(h[7])<<14 + int64(h[8])<<7 + int64(h[9]), true
}

// openOggFLAC opens the FLAC stream of an Ogg file.
func openOggFLAC(body source) (codec, error) {
	r, size, err := demuxFLAC(body.r, body.size)
	if err != nil {
		return nil, err
	}
	return openFLAC(source{r, size})
}

// openUnknown tries what has no magic number at its start: MPEG audio, and Ogg behind rubbish. Where
// nothing at the start spoke for MPEG audio, a failure means that it is none.
func openUnknown(src source, head []byte, tagged bool) (c codec, note string, err error) {
	c, err = openMP3(src)
	switch {
	case err == nil:
		return c, "", nil
	case tagged || mpegSync(head), errors.Is(err, ErrUnsupported), !ours(err):
		return nil, "", err
	}
	at, err := findOgg(src)
	switch {
	case err != nil:
		return nil, "", err
	case at < 0:
		return nil, "", ErrFormat
	}
	body := src.section(at, src.size)
	c, err = openVorbis(body.r, body.size)
	return c, fmt.Sprintf("%d bytes before the Ogg stream are left out", at), err
}

// oggBlocks are what findOgg reads into: packing thousands of files that are none would make as much
// rubbish as sounds.
var oggBlocks = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// findOgg looks for the first page of an Ogg stream in the first 64 KiB; -1 is none.
func findOgg(src source) (int64, error) {
	block := oggBlocks.Get().(*[]byte)
	defer oggBlocks.Put(block)
	b := (*block)[:min(src.size, int64(len(*block)))]
	n, err := src.readUpTo(b, 0)
	return int64(bytes.Index(b[:n], []byte("OggS\x00\x02"))), err
}

// ours tells whether err is a verdict on the bytes, not a failure to read them.
func ours(err error) bool {
	for _, e := range []error{ErrFormat, ErrUnsupported, ErrCorrupt, ErrLimit} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// mpegSync tells whether head starts as a frame of MPEG audio does: eleven bits set, then a
// version, a layer, a bit rate and a sample rate that are not reserved (ISO/IEC 11172-3, 2.4.1.3).
func mpegSync(head []byte) bool {
	return len(head) >= 4 && head[0] == 0xff && head[1]&0xe0 == 0xe0 &&
		head[1]&0x18 != 0x08 && head[1]&0x06 != 0 && head[2]&0xf0 != 0xf0 && head[2]&0x0c != 0x0c
}
