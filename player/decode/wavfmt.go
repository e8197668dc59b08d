package decode

import (
	"encoding/binary"
	"fmt"
)

// The body of "fmt ": 16 bytes, for most formats 18, for WAVE_FORMAT_EXTENSIBLE 40; more is allowed
// and skipped.
//
//	 0  2  format tag
//	 2  2  channels
//	 4  4  frames a second
//	 8  4  bytes a second; not used
//	12  2  bytes a block (of PCM: a frame)
//	14  2  bits a sample
//	16  2  size of the extension
//	18     extension; of WAVE_FORMAT_EXTENSIBLE:
//	18  2  valid bits a sample, the upper ones of those that are stored
//	20  4  mask of the speakers
//	24 16  GUID, whose first two bytes are the tag and whose others are guidTail
//
// of ADPCM: 18  2  frames a block; of Microsoft's then 20  2  number of coefficient pairs, 22  pairs
const (
	tagPCM        = 0x0001
	tagMSADPCM    = 0x0002
	tagFloat      = 0x0003
	tagALaw       = 0x0006
	tagMuLaw      = 0x0007
	tagIMA        = 0x0011
	tagMP3        = 0x0055
	tagExtensible = 0xfffe
)

const guidTail = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"

// tagNames are the formats that are refused by name (RFC 2361 and mmreg.h).
var tagNames = map[uint16]string{
	0x0010: "OKI ADPCM", 0x0014: "G.723 ADPCM", 0x0015: "DIGISTD", 0x0022: "TrueSpeech", 0x0028: "Yamaha ADPCM",
	0x0031: "GSM 6.10", 0x0040: "G.721 ADPCM", 0x0042: "G.723.1", 0x0045: "G.726 ADPCM", 0x0050: "MPEG Layer I or II",
	0x0061: "DK4 ADPCM", 0x0062: "DK3 ADPCM", 0x0064: "G.726 ADPCM", 0x0069: "Xbox ADPCM", 0x0075: "Voxware",
	0x0092: "AC-3 SPDIF", 0x00ff: "AAC", 0x0130: "Sipro", 0x0160: "WMA 1", 0x0161: "WMA 2", 0x0162: "WMA Pro",
	0x0163: "WMA lossless", 0x0165: "XMA", 0x0166: "XMA 2", 0x0200: "Creative ADPCM", 0x0270: "ATRAC3",
	0x0401: "Intel Music Coder", 0x1600: "AAC (ADTS)", 0x1602: "AAC (LOAS)", 0x2000: "AC-3", 0x2001: "DTS",
	0x674f: "Ogg Vorbis mode 1", 0x6750: "Ogg Vorbis mode 2", 0x6751: "Ogg Vorbis mode 3", 0x676f: "Ogg Vorbis mode 1+",
	0x6770: "Ogg Vorbis mode 2+", 0x6771: "Ogg Vorbis mode 3+", 0xa109: "Speex", 0xf1ac: "FLAC", 0xffff: "a development format",
}

// wavFormat is a checked fmt chunk. Extensible ones have become their sub-format.
type wavFormat struct {
	tag      uint16
	channels int
	rate     int
	align    int // bytes a frame, of ADPCM a block
	bits     int // valid bits a sample
	width    int // bytes a sample is stored in
	mask     uint32
	ext      []byte // extension of ADPCM
}

// readFmt reads and checks the fmt chunk.
func (w *wavFile) readFmt() (f wavFormat, err error) {
	c, ok := w.chunks["fmt "]
	switch {
	case !ok:
		return f, fmt.Errorf("wav: %w: no fmt chunk", ErrCorrupt)
	case c.size < 16 || c.size > maxFmt:
		return f, fmt.Errorf("wav: %w: fmt chunk of %d bytes at 0x%x", ErrCorrupt, c.size, c.off)
	}
	b := make([]byte, c.size)
	if err := w.readFull(b, c.off); err != nil {
		return f, fmt.Errorf("wav: %w", err)
	}
	f, err = parseFmt(b, w.order)
	if err != nil {
		return f, err
	}
	return f, f.check()
}

func parseFmt(b []byte, order binary.ByteOrder) (wavFormat, error) {
	cur := cursor{b: b, order: order}
	f := wavFormat{tag: cur.u16(), channels: int(cur.u16())}
	rate := cur.u32()
	cur.u32()
	f.align, f.bits = int(cur.u16()), int(cur.u16())
	if rate == 0 || rate > maxWAVRate {
		return f, fmt.Errorf("wav: %w: %d Hz, 1 to %d are allowed", ErrLimit, rate, maxWAVRate)
	}
	f.rate = int(rate)
	f.width = (f.bits + 7) / 8
	if f.width == 3 && f.align == 4*f.channels {
		f.width = 4 // the extensible layout without saying so
	}
	f.ext = cur.take(min(int(cur.u16()), len(cur.b)))
	if f.tag == tagExtensible {
		return f.extensible(order)
	}
	return f, nil
}

// extensible replaces the tag by that of the sub-format.
func (f wavFormat) extensible(order binary.ByteOrder) (wavFormat, error) {
	cur := cursor{b: f.ext, order: order}
	valid := int(cur.u16())
	f.mask = cur.u32()
	tag := cur.u16()
	tail := cur.take(14)
	if cur.short {
		return f, fmt.Errorf("wav: %w: extensible format with %d bytes of extension", ErrCorrupt, len(f.ext))
	}
	if string(tail) != guidTail || tag == tagExtensible {
		return f, fmt.Errorf("%w: WAV sub-format %04x-%x", ErrUnsupported, tag, tail)
	}
	f.tag, f.ext = tag, cur.b
	if valid > 0 && valid < f.bits && f.tag == tagPCM {
		f.bits = valid
	}
	return f, nil
}

// check refuses what cannot be decoded.
func (f wavFormat) check() error {
	if f.channels < 1 || f.channels > maxWAVChannel {
		return fmt.Errorf("wav: %w: %d channels, 1 to %d are allowed", ErrLimit, f.channels, maxWAVChannel)
	}
	switch f.tag {
	case tagPCM:
		return f.checkFrame(8, 32)
	case tagFloat:
		if f.bits != 32 && f.bits != 64 {
			return fmt.Errorf("%w: WAV float of %d bits", ErrUnsupported, f.bits)
		}
		return f.checkFrame(32, 64)
	case tagALaw, tagMuLaw:
		return f.checkFrame(8, 8)
	case tagIMA, tagMSADPCM:
		return f.checkADPCM()
	case tagMP3:
		return nil
	}
	if name := tagNames[f.tag]; name != "" {
		return fmt.Errorf("%w: WAV format %d (0x%04x), %s", ErrUnsupported, f.tag, f.tag, name)
	}
	return fmt.Errorf("%w: WAV format %d (0x%04x)", ErrUnsupported, f.tag, f.tag)
}

// checkFrame checks that samples have least to most bits and that a frame is a sample a channel.
func (f wavFormat) checkFrame(least, most int) error {
	if f.bits < least || f.bits > most || f.width > most/8 {
		return fmt.Errorf("%w: WAV samples of %d bits", ErrUnsupported, f.bits)
	}
	if f.align != f.width*f.channels {
		return fmt.Errorf("wav: %w: frames of %d bytes for %d channels of %d bits", ErrCorrupt, f.align, f.channels, f.bits)
	}
	return nil
}

func (f wavFormat) checkADPCM() error {
	if f.bits != 4 {
		return fmt.Errorf("%w: WAV ADPCM of %d bits", ErrUnsupported, f.bits)
	}
	if f.align <= f.blockHead() {
		return fmt.Errorf("wav: %w: ADPCM blocks of %d bytes for %d channels", ErrCorrupt, f.align, f.channels)
	}
	return nil
}

// blockHead is how many bytes of an ADPCM block come before its nibbles.
func (f wavFormat) blockHead() int {
	if f.tag == tagMSADPCM {
		return 7 * f.channels
	}
	return 4 * f.channels
}

// encoding says for people how the samples are stored.
func (f wavFormat) encoding() string {
	switch f.tag {
	case tagFloat:
		return fmt.Sprintf("%d-bit float", f.bits)
	case tagALaw:
		return "A-law"
	case tagMuLaw:
		return "mu-law"
	case tagIMA:
		return "IMA ADPCM"
	case tagMSADPCM:
		return "Microsoft ADPCM"
	}
	if f.width*8 != f.bits {
		return fmt.Sprintf("%d-bit PCM in %d", f.bits, f.width*8)
	}
	return fmt.Sprintf("%d-bit PCM", f.bits)
}
