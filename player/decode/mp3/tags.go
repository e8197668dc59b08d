package mp3

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// Tags around and between the frames are skipped by their size. What sizes say is never more than
// the bytes that are there.
//
//	ID3v2    in front (id3.org, id3v2.4.0-structure, 3.1): "ID3", version, revision, flags, four times
//	         seven bits of size; flag 0x10 says that a footer of ten bytes follows, which the size
//	         leaves out. At the end of a file the footer begins "3DI".
//	ID3v1    behind: "TAG" and 125 bytes, and sometimes "TAG+" and 223 bytes before them.
//	APE      either: "APETAGEX", version, size, count, flags, 8 bytes of zero. The size is that of
//	         items and footer; flag 0x80000000 says that a header is there too, 0x20000000 that this
//	         is the header.
//	Lyrics3  behind: "LYRICSBEGIN", text, and "LYRICSEND" (v1), or six digits of size and "LYRICS200"
//	         (v2); the size counts from the begin to the digits.

const (
	id3HeaderSize   = 10
	id3v1Size       = 128
	id3v1PlusSize   = 227
	apeHeaderSize   = 32
	lyrics3MaxText  = 5100 // bytes that Lyrics3 v1 allows
	maxTagsInARow   = 64   // that are skipped
	lyricsBegin     = "LYRICSBEGIN"
	lyricsEndV1     = "LYRICSEND"
	lyricsEndV2     = "LYRICS200"
	lyricsSizeDigit = 6
)

// tagAt returns the size of the tag that begins at off, 0 where there is none. It may be more than
// what is left of the source.
func (s *source) tagAt(off int64) (int64, error) {
	b, err := s.at(off, apeHeaderSize)
	if err != nil {
		return 0, err
	}
	switch {
	case isID3(b):
		n := id3HeaderSize + id3Size(b)
		if b[5]&0x10 != 0 {
			n += id3HeaderSize
		}
		return n, nil
	case isAPE(b):
		n := int64(binary.LittleEndian.Uint32(b[12:]))
		if flags := binary.LittleEndian.Uint32(b[20:]); flags&(1<<29) != 0 { // a header
			n += apeHeaderSize
		}
		return max(n, apeHeaderSize), nil
	case bytes.HasPrefix(b, []byte("TAG")):
		return id3v1Size, nil
	}
	return 0, nil
}

func isID3(b []byte) bool {
	return len(b) >= id3HeaderSize && string(b[:3]) == "ID3" && b[3] != 0xff && b[4] != 0xff &&
		(b[6]|b[7]|b[8]|b[9])&0x80 == 0
}

func id3Size(b []byte) int64 {
	return int64(b[6])<<21 | int64(b[7])<<14 | int64(b[8])<<7 | int64(b[9])
}

func isAPE(b []byte) bool { return len(b) >= apeHeaderSize && string(b[:8]) == "APETAGEX" }

// skipTags passes over the tags in front and returns where they end. A tag that claims more than
// there is is not believed: frames may follow its header.
func (s *stream) skipTags() (int64, error) {
	var off int64
	for range maxTagsInARow {
		n, err := s.src.tagAt(off)
		if err != nil || n == 0 {
			return off, err
		}
		b, err := s.src.at(off, apeHeaderSize)
		if err != nil {
			return off, err
		}
		s.addTag(off, n, isAPE(b), isAPE(b) || isID3(b))
		if off+n > s.src.size {
			s.notes.add("tag at %#x claims %d bytes of %d", off, n, s.src.size-off)
			return off + id3HeaderSize, nil
		}
		off += n
	}
	return off, nil
}

// addTag remembers where text may be.
func (s *stream) addTag(off, n int64, ape, text bool) {
	if text && len(s.tags) < maxTags {
		s.tags = append(s.tags, tagRange{off, n, ape})
	}
}

// trimTags sets the end of the stream before all the tags behind it, but not below start.
func (s *stream) trimTags(start int64) error {
	s.end = s.src.size
	for range maxTagsInARow {
		n, err := s.src.tagBefore(s.end)
		if err != nil || n == 0 {
			return err
		}
		if n > s.end-start {
			s.notes.add("tag before %#x claims %d bytes of %d", s.end, n, s.end-start)
			return nil
		}
		b, err := s.src.at(s.end-min(n, apeHeaderSize), apeHeaderSize)
		if err != nil {
			return err
		}
		s.end -= n
		s.addTag(s.end, n, true, isAPE(b))
	}
	return nil
}

// tagBefore returns the size of the tag that ends at end, 0 where there is none.
func (s *source) tagBefore(end int64) (int64, error) {
	const most = id3v1Size + id3v1PlusSize
	n := min(end, most)
	b, err := s.at(end-n, int(n))
	if err != nil {
		return 0, err
	}
	last := func(n int) []byte { return b[max(0, len(b)-n):] }
	switch {
	case len(b) >= id3v1Size && bytes.HasPrefix(last(id3v1Size), []byte("TAG")):
		if len(b) == most && bytes.HasPrefix(b, []byte("TAG+")) {
			return most, nil
		}
		return id3v1Size, nil
	case isAPE(last(apeHeaderSize)):
		return apeBefore(last(apeHeaderSize)), nil
	case len(b) >= id3HeaderSize && bytes.HasPrefix(last(id3HeaderSize), []byte("3DI")):
		return 2*id3HeaderSize + id3Size(last(id3HeaderSize)), nil
	case bytes.HasSuffix(b, []byte(lyricsEndV2)):
		digits := last(lyricsSizeDigit + len(lyricsEndV2))[:lyricsSizeDigit]
		size, err := strconv.ParseUint(string(digits), 10, 32)
		if err != nil {
			return int64(len(lyricsEndV2)), nil
		}
		return int64(size) + lyricsSizeDigit + int64(len(lyricsEndV2)), nil
	case bytes.HasSuffix(b, []byte(lyricsEndV1)):
		return s.lyricsV1Before(end)
	}
	return 0, nil
}

func apeBefore(footer []byte) int64 {
	n := int64(binary.LittleEndian.Uint32(footer[12:]))
	if flags := binary.LittleEndian.Uint32(footer[20:]); flags&(1<<31) != 0 {
		n += apeHeaderSize
	}
	return max(n, apeHeaderSize)
}

// lyricsV1Before finds where the Lyrics3 v1 tag that ends at end begins; it has no size.
func (s *source) lyricsV1Before(end int64) (int64, error) {
	n := min(end, int64(lyrics3MaxText+len(lyricsBegin)+len(lyricsEndV1)))
	b, err := s.at(end-n, int(n))
	if err != nil {
		return 0, err
	}
	if i := bytes.LastIndex(b, []byte(lyricsBegin)); i >= 0 {
		return n - int64(i), nil
	}
	return int64(len(lyricsEndV1)), nil
}
