package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Limits of a comment header. Its size is that of its packet, which is limited already: a picture
// of 200 KB in a comment is common.
const (
	vorbisMaxVendor   = 64 << 10
	vorbisMaxComments = 4096
	vorbisMaxTag      = 256 // longer comments are none that we read
)

// vorbisComments reads the comments that both Vorbis and FLAC have (Vorbis I, section 5.2.1). All
// lengths are in bytes, little-endian:
//
//	4  length of the vendor's name, and that name
//	4  number of comments, and for each
//	4  its length, and "KEY=value"
//
// The second result is what follows them.
func vorbisComments(p []byte) ([]tag, []byte, error) {
	vendor, p, ok := lengthPrefixed(p)
	if !ok || len(vendor) > vorbisMaxVendor {
		return nil, nil, fmt.Errorf("%w: comment header: vendor's name is too long", ErrCorrupt)
	}
	if len(p) < 4 {
		return nil, nil, fmt.Errorf("%w: comment header ends in the middle", ErrCorrupt)
	}
	n := binary.LittleEndian.Uint32(p)
	p = p[4:]
	if n > vorbisMaxComments || int(n) > len(p)/4 {
		return nil, nil, fmt.Errorf("%w: comment header: %d comments in %d bytes", ErrCorrupt, n, len(p))
	}
	var tags []tag
	for i := range n {
		var c []byte
		if c, p, ok = lengthPrefixed(p); !ok {
			return nil, nil, fmt.Errorf("%w: comment header ends in comment %d of %d", ErrCorrupt, i+1, n)
		}
		if key, value, found := bytes.Cut(c, []byte("=")); found && len(c) <= vorbisMaxTag {
			tags = append(tags, tag{string(key), string(value)})
		}
	}
	return tags, p, nil
}

// lengthPrefixed takes a length of four bytes and that many bytes from p.
func lengthPrefixed(p []byte) (b, rest []byte, ok bool) {
	if len(p) < 4 {
		return nil, p, false
	}
	n := binary.LittleEndian.Uint32(p)
	if p = p[4:]; uint64(n) > uint64(len(p)) {
		return nil, p, false
	}
	return p[:n], p[n:], true
}

// vorbisTags reads the comment header of a Vorbis stream.
func vorbisTags(p []byte) ([]tag, error) {
	if len(p) < 7 || string(p[:7]) != "\x03vorbis" {
		return nil, fmt.Errorf("%w: Vorbis comment header is missing", ErrCorrupt)
	}
	tags, _, err := vorbisComments(p[7:]) // some writers leave out the framing bit behind them
	return tags, err
}
