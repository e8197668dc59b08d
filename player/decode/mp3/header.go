package mp3

// The frame header (ISO/IEC 11172-3, 2.4.1.3 and 2.4.2.3; the extension to lower rates is
// ISO/IEC 13818-3, 2.4.2.3; "MPEG-2.5" is the same again at half of those, with the sync word one
// bit shorter). Most significant bit first:
//
//	bits  field
//	11    sync word, all ones
//	 2    version: 3 MPEG-1, 2 MPEG-2, 0 MPEG-2.5, 1 reserved
//	 2    layer: 1 is Layer III, 2 Layer II, 3 Layer I, 0 reserved
//	 1    0 where a CRC follows the header
//	 4    bit rate index, 0 is free format, 15 is forbidden
//	 2    sampling frequency index, 3 is reserved
//	 1    padding: the frame is one byte longer
//	 1    private
//	 2    mode: 0 stereo, 1 joint stereo, 2 dual channel, 3 single channel
//	 2    mode extension of joint stereo: 2 is MS, 1 is intensity
//	 1    copyright
//	 1    original
//	 2    emphasis, 2 is reserved
type header uint32

const (
	headerSize = 4
	// maxFrame is the longest frame there is: 640 kbit/s of free format at 32 kHz, with padding.
	maxFrame = 144*640000/32000 + 1

	// sameStream are the bits that no frame of a stream may change: sync, version, layer and
	// sampling frequency. The number of channels must stay too but is not one bit.
	sameStream header = 0xfffe0c00

	layerI, layerII, layerIII = 3, 2, 1
	modeJoint, modeMono       = 1, 3
)

// bitrates gives kbit/s by bit rate index, first for MPEG-1, then for the lower sampling frequencies.
var bitrates = [2][15]int{
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}

// sampleRates gives frames a second by sampling frequency index for MPEG-1; MPEG-2 halves them,
// MPEG-2.5 halves them again.
var sampleRates = [3]int{44100, 48000, 32000}

func headerOf(b []byte) header {
	return header(b[0])<<24 | header(b[1])<<16 | header(b[2])<<8 | header(b[3])
}

// valid tells whether every field has a meaning. The layer may be any of the three.
func (h header) valid() bool {
	return h>>21 == 0x7ff && h>>19&3 != 1 && h>>17&3 != 0 && h>>12&15 != 15 && h>>10&3 != 3 && h&3 != 2
}

// layer3 tells whether this is the valid header of a Layer III frame.
func (h header) layer3() bool { return h.valid() && h.layer() == layerIII }

// continues tells whether h may follow in the stream that first began.
func (h header) continues(first header) bool {
	return (h^first)&sameStream == 0 && h.valid() &&
		h.channels() == first.channels() && h.free() == first.free()
}

func (h header) layer() int   { return int(h >> 17 & 3) }
func (h header) lsf() bool    { return h>>19&1 == 0 } // one of the lower sampling frequencies
func (h header) hasCRC() bool { return h>>16&1 == 0 }
func (h header) free() bool   { return h>>12&15 == 0 }
func (h header) padding() int { return int(h >> 9 & 1) }
func (h header) mode() int    { return int(h >> 6 & 3) }
func (h header) ms() bool     { return h.mode() == modeJoint && h>>5&1 != 0 }
func (h header) intensity() bool {
	return h.mode() == modeJoint && h>>4&1 != 0
}

func (h header) channels() int {
	if h.mode() == modeMono {
		return 1
	}
	return 2
}

// halvings is 0 for MPEG-1, 1 for MPEG-2, 2 for MPEG-2.5.
func (h header) halvings() int {
	switch h >> 19 & 3 {
	case 3:
		return 0
	case 2:
		return 1
	}
	return 2
}

func (h header) rate() int { return sampleRates[h>>10&3] >> h.halvings() }

// rateIndex numbers the nine sampling frequencies: 44.1, 48, 32, 22.05, 24, 16, 11.025, 12, 8 kHz.
func (h header) rateIndex() int { return 3*h.halvings() + int(h>>10&3) }

// kbps is the bit rate in kbit/s, 0 for free format.
func (h header) kbps() int { return bitrates[min(h.halvings(), 1)][h>>12&15] }

// granules of 576 frames of sound are in one frame of the stream.
func (h header) granules() int {
	if h.lsf() {
		return 1
	}
	return 2
}

// frames of sound that one frame of the stream decodes to.
func (h header) frames() int { return granuleSize * h.granules() }

// slots is the coefficient of the frame length: bytes a frame for each bit/s over Hz.
func (h header) slots() int { return h.frames() / 8 }

// size is the length of the whole frame in bytes (11172-3, 2.4.3.1). free is the length of an
// unpadded free-format frame, which the header does not tell.
func (h header) size(free int) int {
	if h.free() {
		return free + h.padding()
	}
	return h.slots()*h.kbps()*1000/h.rate() + h.padding()
}

// sideStart is where the side information begins in the frame: behind the header and its CRC.
func (h header) sideStart() int {
	if h.hasCRC() {
		return headerSize + 2
	}
	return headerSize
}

// sideSize is the length of the side information in bytes (11172-3, 2.4.1.7; 13818-3, 2.4.1.7).
func (h header) sideSize() int {
	switch {
	case h.lsf() && h.channels() == 1:
		return 9
	case !h.lsf() && h.channels() == 2:
		return 32
	}
	return 17
}

// farthest is how many bytes back main data can begin.
func (h header) farthest() int {
	if h.lsf() {
		return 1<<8 - 1
	}
	return maxReservoir
}

// mainStart is where the frame's own share of main data begins in it.
func (h header) mainStart() int { return h.sideStart() + h.sideSize() }

// crcFits tells whether the CRC of a frame, if it has one, is right. Some encoders get it wrong, so
// it says little of the sound.
func crcFits(h header, frame []byte) bool {
	return !h.hasCRC() || crcOf(h, frame) == uint16(frame[headerSize])<<8|uint16(frame[headerSize+1])
}

// crcOf is the CRC of the second half of a frame's header and its side information (11172-3,
// 2.4.3.1): the polynomial is x^16 + x^15 + x^2 + 1, the register begins with all ones.
func crcOf(h header, frame []byte) uint16 {
	crc := uint16(0xffff)
	for i, b := range frame[:h.mainStart()] {
		if i < 2 || i == headerSize || i == headerSize+1 { // the CRC itself
			continue
		}
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x8005
		}
	}
	return crc
}

// String describes the kind of stream, as in "MPEG-2 Layer III".
func (h header) String() string {
	version := [3]string{"MPEG-1", "MPEG-2", "MPEG-2.5"}[h.halvings()]
	return version + " Layer " + layerNames[h.layer()]
}

var layerNames = [4]string{layerIII: "III", layerII: "II", layerI: "I"}

// The bit rates of the layers that are not decoded, in kbit/s, first for MPEG-1: their frames must
// be recognised to be refused by name.
var (
	bitratesI = [2][15]int{
		{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
		{0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
	}
	bitratesII = [2][15]int{
		{0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
	}
)

// anySize is size for any of the three layers.
func (h header) anySize(free int) int {
	version, index := min(h.halvings(), 1), h>>12&15
	switch h.layer() {
	case layerI:
		return 4 * (12*bitratesI[version][index]*1000/h.rate() + h.padding())
	case layerII:
		return 144*bitratesII[version][index]*1000/h.rate() + h.padding()
	}
	return h.size(free)
}
