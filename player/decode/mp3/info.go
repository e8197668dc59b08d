package mp3

import (
	"bytes"
	"encoding/binary"
)

// The info frame: a first frame that decodes to silence and holds what the encoder knew of the whole
// stream. It is no sound and is skipped.
//
// "Xing", or "Info" where the bit rate is constant, stands right behind the side information:
//
//	offset  size  field, big-endian
//	0       4     name
//	4       4     flags: 1 frames, 2 bytes, 4 table of contents, 8 quality
//	8       4     frames of the stream without this one        if flagged
//	..      4     bytes of the stream with this one            if flagged
//	..      100   table of contents, too coarse for exact seek if flagged
//	..      4     quality                                      if flagged
//	..      9     encoder, as in "LAME3.100"                   LAME's extension from here on
//	+21     3     12 bits of encoder delay, 12 bits of padding, in frames of sound
//
// "VBRI" stands 32 bytes behind the header: 2 version, 2 delay, 2 quality, 4 bytes, 4 frames.
type info struct {
	present bool
	size    int64 // of the info frame itself
	vbr     bool
	frames  int64 // frames of the stream, 0 where not told
	bytes   int64 // with the info frame, 0 where not told
	gapless bool  // delay and padding are told
	delay   int   // of the encoder, in frames of sound
	padding int
}

// decoderDelay is how much of the delay is the decoder's, which LAME's extension leaves out. The filter
// banks of encoder and decoder delay together by 1057 frames: 481 for the polyphase pair, whose window
// of 512 moves by 32, and 576 for the overlap of the MDCT. LAME counts half of that as the
// decoder's, 528 (its DECDELAY), and the odd one.
const decoderDelay = 528 + 1

const (
	xingFrames, xingBytes, xingTOC, xingQuality = 1, 2, 4, 8
	vbriOffset                                  = headerSize + 32
	lameDelay                                   = 21 // offset in LAME's extension
)

// parseInfo reads the info frame b, whose header is h. Where b is none, present is false.
func parseInfo(h header, b []byte) info {
	for _, at := range [2]int{h.mainStart(), headerSize + h.sideSize()} { // some writers leave no place for a CRC
		if at+8 > len(b) {
			continue
		}
		switch string(b[at : at+4]) {
		case "Xing", "Info":
			return parseXing(b[at:])
		}
	}
	if len(b) >= vbriOffset+18 && string(b[vbriOffset:vbriOffset+4]) == "VBRI" {
		v := b[vbriOffset:]
		return info{
			present: true,
			vbr:     true,
			bytes:   int64(binary.BigEndian.Uint32(v[10:])),
			frames:  int64(binary.BigEndian.Uint32(v[14:])),
		}
	}
	return info{}
}

func parseXing(b []byte) info {
	i := info{present: true, vbr: string(b[:4]) == "Xing"}
	flags := binary.BigEndian.Uint32(b[4:])
	b = b[8:]
	field := func(flag uint32, size int) (v int64) {
		if flags&flag == 0 || len(b) < size {
			return 0
		}
		v = int64(binary.BigEndian.Uint32(b))
		b = b[size:]
		return v
	}
	i.frames = field(xingFrames, 4)
	i.bytes = field(xingBytes, 4)
	field(xingTOC, 100)
	field(xingQuality, 4)
	if len(b) >= lameDelay+3 && namesEncoder(b) {
		d := b[lameDelay:]
		i.gapless = true
		i.delay = int(d[0])<<4 | int(d[1])>>4
		i.padding = int(d[1]&15)<<8 | int(d[2])
	}
	return i
}

// namesEncoder tells whether LAME's extension is there: only its writers are known by name.
func namesEncoder(b []byte) bool {
	for _, name := range []string{"LAME", "Lavf", "Lavc", "L3.99", "GOGO"} {
		if bytes.HasPrefix(b, []byte(name)) {
			return true
		}
	}
	return false
}
