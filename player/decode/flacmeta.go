package decode

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// The head of a FLAC stream (RFC 9639, section 8): "fLaC", then metadata blocks:
//
//	1  0x80 = the last one, lower bits the type: 0 STREAMINFO, 4 VORBIS_COMMENT, others are skipped
//	3  size of the body, big-endian
//
// STREAMINFO, the first block, big-endian bits:
//
//	16  least, 16  greatest samples a frame; 24  least, 24  greatest bytes a frame, 0 = not known
//	20  rate, 3  channels - 1, 5  bits - 1, 36  frames in all, 0 = not known
//	128 MD5 of the samples, 0 = not known
//
// A SEEKTABLE is not used: it lies in many files, and searching by the frames' own numbers finds
// any place in a handful of reads.
const (
	flacMagic      = "fLaC"
	streamInfoSize = 34
	maxBlocks      = 1024
	maxTagText     = 1 << 20
)

// flacHead is what the metadata says.
type flacHead struct {
	minBlock, maxBlock int
	maxFrame           int
	rate               int
	channels           int
	bits               int
	total              int64
	md5                [16]byte
	tags               []tag
	tagErr             error
	mask               uint32
	end                int64 // where the frames begin
}

// readFLACHead reads the metadata blocks. Nothing is read of a block that is not needed.
func readFLACHead(src source) (h flacHead, err error) {
	at := int64(len(flacMagic))
	for n := range maxBlocks {
		var b [4]byte
		if err := src.readFull(b[:], at); err != nil {
			return h, fmt.Errorf("flac: metadata: %w", err)
		}
		kind, size := b[0]&0x7f, int64(binary.BigEndian.Uint32(b[:])&0xffffff)
		at += 4
		if size > src.size-at {
			return h, fmt.Errorf("flac: %w: metadata block at 0x%x claims %d bytes, %d are left", ErrCorrupt, at-4, size, src.size-at)
		}
		if (n == 0) != (kind == 0) {
			return h, fmt.Errorf("flac: %w: metadata block %d is of type %d", ErrCorrupt, n, kind)
		}
		if err := h.block(src.section(at, size), kind); err != nil {
			return h, err
		}
		at += size
		if b[0]&0x80 != 0 {
			h.end = at
			return h, nil
		}
	}
	return h, fmt.Errorf("flac: %w: more than %d metadata blocks", ErrLimit, maxBlocks)
}

func (h *flacHead) block(body source, kind byte) error {
	switch kind {
	case 0:
		return h.streamInfo(body)
	case 4:
		return h.comments(body)
	}
	return nil
}

func (h *flacHead) streamInfo(body source) error {
	var b [streamInfoSize]byte
	if err := body.readFull(b[:], 0); err != nil {
		return fmt.Errorf("flac: STREAMINFO: %w", err)
	}
	h.minBlock, h.maxBlock = int(binary.BigEndian.Uint16(b[0:])), int(binary.BigEndian.Uint16(b[2:]))
	h.maxFrame = int(binary.BigEndian.Uint32(b[6:]) & 0xffffff)
	v := binary.BigEndian.Uint64(b[10:])
	h.rate, h.channels, h.bits = int(v>>44), int(v>>41&7)+1, int(v>>36&31)+1
	h.total = int64(v & (1<<36 - 1))
	copy(h.md5[:], b[18:])
	return nil
}

// comments reads the tags. Those that are damaged are left out: they are no reason to refuse a
// sound.
func (h *flacHead) comments(body source) error {
	if body.size > maxTagText {
		return nil
	}
	b := make([]byte, body.size)
	if err := body.readFull(b, 0); err != nil {
		return fmt.Errorf("flac: tags: %w", err)
	}
	tags, _, err := vorbisComments(b)
	if err != nil {
		h.tagErr = err
	}
	h.tags = append(h.tags, tags...)
	for _, t := range tags {
		if strings.EqualFold(t.key, "WAVEFORMATEXTENSIBLE_CHANNEL_MASK") {
			_, _ = fmt.Sscanf(t.value, "0x%x", &h.mask) // stays 0 where it is no number
		}
	}
	return nil
}
