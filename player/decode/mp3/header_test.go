package mp3

import (
	"testing"
)

func TestHeaderFields(t *testing.T) {
	// MPEG-1 Layer III, no CRC, 128 kbit/s, 44.1 kHz, padded, joint stereo with MS.
	h := headerOf([]byte{0xff, 0xfb, 0x92, 0x60})
	if !h.layer3() || h.lsf() || h.hasCRC() || h.kbps() != 128 || h.rate() != 44100 || h.padding() != 1 ||
		h.mode() != modeJoint || !h.ms() || h.intensity() || h.channels() != 2 || h.granules() != 2 {
		t.Errorf("header %#x is read wrong: %v, %d kbit/s, %d Hz", uint32(h), h, h.kbps(), h.rate())
	}
	if got := h.String(); got != "MPEG-1 Layer III" {
		t.Errorf("String = %q", got)
	}
}

func TestHeaderSize(t *testing.T) {
	for _, c := range []struct {
		header     header
		size, rate int
		side       int
		frames     int
		index      int
	}{
		{0xfffb9064, 417, 44100, 32, 1152, 0},
		{0xfffb9264, 418, 44100, 32, 1152, 0},
		{0xfffb54c4, 192, 48000, 17, 1152, 1},
		{0xfffb18c0, 144, 32000, 17, 1152, 2},
		{0xfffbe0c4, 1044, 44100, 17, 1152, 0},
		{0xfff380c4, 208, 22050, 9, 576, 3},
		{0xfff34444, 96, 24000, 17, 576, 4},
		{0xffe380c4, 417, 11025, 9, 576, 6},
		{0xffe318c4, 72, 8000, 9, 576, 8},
	} {
		if got := c.header.size(0); got != c.size {
			t.Errorf("%#x: size %d, want %d", uint32(c.header), got, c.size)
		}
		if got := c.header.rate(); got != c.rate {
			t.Errorf("%#x: rate %d, want %d", uint32(c.header), got, c.rate)
		}
		if got := c.header.sideSize(); got != c.side {
			t.Errorf("%#x: side information %d, want %d", uint32(c.header), got, c.side)
		}
		if got := c.header.frames(); got != c.frames {
			t.Errorf("%#x: %d frames, want %d", uint32(c.header), got, c.frames)
		}
		if got := c.header.rateIndex(); got != c.index {
			t.Errorf("%#x: rate index %d, want %d", uint32(c.header), got, c.index)
		}
	}
}

// Whatever a valid header says, the side information fits in the frame and the frame in maxFrame.
func TestHeaderBounds(t *testing.T) {
	n := 0
	for low := range header(1 << 21) {
		h := header(0x7ff)<<21 | low
		if !h.layer3() || h.free() {
			continue
		}
		n++
		if size := h.size(0); size < h.mainStart() || size > maxFrame {
			t.Fatalf("%#x: %d bytes, main data at %d", uint32(h), size, h.mainStart())
		}
	}
	if n == 0 {
		t.Fatal("no header is valid")
	}
}

func TestHeaderValid(t *testing.T) {
	for h, want := range map[header]bool{
		0xfffb9064: true,
		0xfffa9064: true,  // CRC
		0xfffd9064: true,  // Layer II
		0xfff99064: false, // reserved layer
		0xffeb9064: false, // reserved version
		0xfffbf064: false, // forbidden bit rate
		0xfffb9c64: false, // reserved rate
		0xfffb9066: false, // reserved emphasis
		0xff7b9064: false, // no sync
	} {
		if got := h.valid(); got != want {
			t.Errorf("%#x: valid is %v, want %v", uint32(h), got, want)
		}
	}
}

func TestHeaderContinues(t *testing.T) {
	const first header = 0xfffb9064
	for h, want := range map[header]bool{
		0xfffb9064: true,
		0xfffbb264: true,  // bit rate and padding
		0xfffa9004: true,  // CRC, stereo instead of joint stereo
		0xfffb90c4: false, // mono
		0xfffb9464: false, // 48 kHz
		0xfff39064: false, // MPEG-2
		0xfffb0064: false, // free format
		0xfffd9064: false, // Layer II
	} {
		if got := h.continues(first); got != want {
			t.Errorf("%#x: continues is %v, want %v", uint32(h), got, want)
		}
	}
}

func TestOtherLayersSize(t *testing.T) {
	for h, want := range map[header]int{
		0xfffd8004: 144 * 128000 / 44100,      // MPEG-1 Layer II, 128 kbit/s
		0xffff8004: 4 * (12 * 256000 / 44100), // MPEG-1 Layer I, 256 kbit/s
		0xfff58004: 144 * 64000 / 22050,       // MPEG-2 Layer II, 64 kbit/s
	} {
		if got := h.anySize(0); got != want {
			t.Errorf("%#x: size %d, want %d", uint32(h), got, want)
		}
	}
}

// The CRC covers the second half of the header and the side information, nothing else. This is the
// beginning of a frame that LAME made (lame -p -b 128).
func TestCRC(t *testing.T) {
	frame := []byte("\xff\xfa\x92\x44\xfb\x2c\xea\x80\x93\x40\x13\x56\x63\x4f\x18\xe2\x64\xe4\x18\x99\x73\xe3\x0c\x16\x35\xa5\x6d\xed\x30\xd5\xa9\x62\x05\xa2\x89\xff\x64\x90")
	h := headerOf(frame)
	frame = append(frame, 0)
	if !h.hasCRC() || !crcFits(h, frame) {
		t.Fatalf("CRC is %#x, want %x", crcOf(h, frame), frame[headerSize:headerSize+2])
	}
	for i := 2; i < h.mainStart(); i++ {
		frame[i] ^= 1
		if crcFits(headerOf(frame)&^(1<<16), frame) {
			t.Errorf("CRC fits with byte %d changed", i)
		}
		frame[i] ^= 1
	}
	frame[h.mainStart()] ^= 1
	if !crcFits(h, frame) {
		t.Error("CRC covers main data")
	}
}

// A wrong CRC is noted, once, and the frame is decoded all the same.
func TestWrongCRC(t *testing.T) {
	m := makeStream(1, kinds[2], 20)
	want := decodeAll(t, m.out)
	m.out[m.start[3]+headerSize] ^= 1
	m.out[m.start[7]+headerSize] ^= 1
	d := mustOpen(t, m.out)
	sameSamples(t, "decoded", readAll(t, d, 1000), want)
	if w := d.Warnings(); len(w) != 1 {
		t.Errorf("warnings %q", w)
	}
}
