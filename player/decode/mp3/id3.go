package mp3

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// Text out of tags: the text frames of ID3v2.2, 2.3 and 2.4 (id3.org) and the items of APE tags.
//
//	ID3v2.2   frames of 3 bytes of name, 3 of size
//	ID3v2.3   4 of name, 4 of size, 2 of flags
//	ID3v2.4   the same, the size in four times seven bits
//
// A text frame, whose name begins with T, holds one byte of encoding and the text. TXXX (TXX) holds
// a description, a zero, and the text. Pictures and all else are passed over by their size.

// Tag is a piece of text that the file says about itself.
type Tag struct {
	Key   string // of ID3v2 the frame's name, or of a user's own text (TXXX) its description; of APE the item's key
	Value string
}

const (
	maxTagText   = 1 << 20 // bytes of text in all tags together
	maxTagFrames = 4096    // frames and items in all tags together
	maxTags      = 16      // that are looked at for text

	id3Unsync, id3Extended = 0x80, 0x40 // flags of an ID3v2 header
)

// tagRange is where a tag with text lies.
type tagRange struct {
	off, size int64
	ape       bool
}

// tagReader reads text out of tags within its limits.
type tagReader struct {
	tags   []Tag
	text   int // bytes left
	frames int // left
}

// Tags returns the text of the file's tags in the order of the file. Keys may repeat. The first call
// reads them; what a tag lies about is left out.
func (d *Decoder) Tags() ([]Tag, error) {
	t := tagReader{text: maxTagText, frames: maxTagFrames}
	for _, r := range d.stream.tags {
		var err error
		if r.ape {
			err = t.readAPE(&d.stream.src, r)
		} else {
			err = t.readID3(&d.stream.src, r)
		}
		if err != nil {
			return nil, err
		}
	}
	return t.tags, nil
}

// bytesAt returns n bytes of a tag, nil where the limits or the source forbid it.
func (t *tagReader) bytesAt(s *source, off, n int64) ([]byte, error) {
	if n > int64(t.text) || off+n > s.size {
		return nil, nil
	}
	t.text -= int(n)
	b := make([]byte, n)
	for done := 0; done < len(b); {
		part, err := s.at(off+int64(done), min(len(b)-done, windowSize))
		if err != nil {
			return nil, err
		}
		done += copy(b[done:], part)
	}
	return b, nil
}

func (t *tagReader) readID3(s *source, r tagRange) error {
	head, err := s.at(r.off, id3HeaderSize)
	if err != nil {
		return err
	}
	version, flags := head[3], head[5]
	off, end := r.off+id3HeaderSize, min(r.off+r.size, s.size)
	if version < 2 || version > 4 {
		return nil
	}
	if flags&id3Unsync != 0 && version < 4 {
		if s, err = t.synchronise(s, off, end-off); err != nil || s == nil {
			return err
		}
		off, end = 0, s.size
	}
	if flags&id3Extended != 0 && version > 2 {
		n, err := extendedSize(s, off, version)
		if err != nil {
			return err
		}
		off += n
	}
	for off < end && t.frames > 0 {
		n, err := t.readFrame(s, off, end, version, flags&id3Unsync != 0)
		if err != nil || n == 0 {
			return err
		}
		off += n
	}
	return nil
}

// synchronise returns what a tag holds without the zeros that were put behind bytes of all ones.
func (t *tagReader) synchronise(s *source, off, n int64) (*source, error) {
	b, err := t.bytesAt(s, off, min(n, int64(t.text)))
	if err != nil || b == nil {
		return nil, err
	}
	b = bytes.ReplaceAll(b, []byte{0xff, 0}, []byte{0xff})
	t.text += len(b) // it is counted when it is read out of there
	return &source{r: bytes.NewReader(b), size: int64(len(b))}, nil
}

// extendedSize is the size of the extended header at off.
func extendedSize(s *source, off int64, version byte) (int64, error) {
	b, err := s.at(off, 4)
	if err != nil || len(b) < 4 {
		return 0, err
	}
	if version == 4 {
		return syncsafe(b), nil
	}
	return 4 + int64(binary.BigEndian.Uint32(b)), nil // here it does not count itself
}

func syncsafe(b []byte) int64 {
	return int64(b[0]&0x7f)<<21 | int64(b[1]&0x7f)<<14 | int64(b[2]&0x7f)<<7 | int64(b[3]&0x7f)
}

// readFrame reads the frame at off and returns its size, 0 where the frames end.
func (t *tagReader) readFrame(s *source, off, end int64, version byte, unsync bool) (int64, error) {
	nameSize, headSize := int64(4), int64(10)
	if version == 2 {
		nameSize, headSize = 3, 6
	}
	head, err := s.at(off, int(headSize))
	if err != nil || int64(len(head)) < headSize || head[0] == 0 {
		return 0, err
	}
	name := string(head[:nameSize])
	size := frameSize(head, version)
	if off+headSize+size > end {
		return 0, nil
	}
	t.frames--
	var flags byte
	if version > 2 {
		flags = head[9]
	}
	if name[0] != 'T' || version == 3 && flags&0xc0 != 0 || version == 4 && flags&0x0c != 0 { // compressed, encrypted
		return headSize + size, nil
	}
	b, err := t.bytesAt(s, off+headSize, size)
	if err != nil {
		return 0, err
	}
	t.addText(name, frameText(b, version, flags, unsync))
	return headSize + size, nil
}

func frameSize(head []byte, version byte) int64 {
	switch version {
	case 2:
		return int64(head[3])<<16 | int64(head[4])<<8 | int64(head[5])
	case 4:
		if (head[4]|head[5]|head[6]|head[7])&0x80 == 0 {
			return syncsafe(head[4:])
		} // else by a writer who took the size for one of ID3v2.3
	}
	return int64(binary.BigEndian.Uint32(head[4:]))
}

// frameText takes off what the flags of a frame put in front of its text.
func frameText(b []byte, version, flags byte, unsync bool) []byte {
	skip := 0
	switch {
	case version == 3 && flags&0x20 != 0: // group
		skip = 1
	case version == 4:
		skip = int(flags>>6&1) + 4*int(flags&1) // group, length
		if unsync || flags&2 != 0 {
			b = bytes.ReplaceAll(b, []byte{0xff, 0}, []byte{0xff})
		}
	}
	return b[min(skip, len(b)):]
}

func (t *tagReader) addText(name string, b []byte) {
	if len(b) < 2 {
		return
	}
	text, rest := decodeText(b[0], b[1:])
	if name == "TXXX" || name == "TXX" {
		name = text
		text, _ = decodeText(b[0], rest)
	}
	t.tags = append(t.tags, Tag{Key: name, Value: text})
}

// decodeText decodes text up to a zero by the encoding of ID3v2, and returns what is behind that.
func decodeText(encoding byte, b []byte) (text string, rest []byte) {
	switch encoding {
	case 1, 2:
		return decodeUTF16(encoding == 2, b)
	}
	b, rest, _ = bytes.Cut(b, []byte{0})
	if encoding == 3 {
		return strings.ToValidUTF8(string(b), "\ufffd"), rest
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes), rest
}

func decodeUTF16(bigEndian bool, b []byte) (text string, rest []byte) {
	var units []uint16
	for len(b) >= 2 {
		u := uint16(b[0]) | uint16(b[1])<<8
		if bigEndian {
			u = u<<8 | u>>8
		}
		b = b[2:]
		if u == 0 {
			break
		}
		switch {
		case len(units) == 0 && u == 0xfeff:
			continue
		case len(units) == 0 && u == 0xfffe:
			bigEndian = !bigEndian
			continue
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units)), b
}

// readAPE reads the items of an APE tag: 4 bytes of size, 4 of flags, the key, a zero, the value. Of
// the flags, 6 marks what is no text.
func (t *tagReader) readAPE(s *source, r tagRange) error {
	off, end := r.off, min(r.off+r.size, s.size)
	if b, err := s.at(off, apeHeaderSize); err != nil {
		return err
	} else if isAPE(b) {
		off += apeHeaderSize
	}
	for off < end && t.frames > 0 {
		t.frames--
		head, err := s.at(off, int(min(end-off, 8+256)))
		if err != nil || len(head) < 8 {
			return err
		}
		size, flags := int64(binary.LittleEndian.Uint32(head)), binary.LittleEndian.Uint32(head[4:])
		key, _, ok := bytes.Cut(head[8:], []byte{0})
		if !ok || isAPE(head) {
			return nil
		}
		name := string(key)
		value := off + 8 + int64(len(key)) + 1
		if off = value + size; off > end {
			return nil
		}
		if flags&6 != 0 {
			continue
		}
		b, err := t.bytesAt(s, value, size)
		if err != nil {
			return err
		}
		t.tags = append(t.tags, Tag{Key: name, Value: strings.ToValidUTF8(string(b), "\ufffd")})
	}
	return nil
}
