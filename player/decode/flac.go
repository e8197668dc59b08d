package decode

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"hash"
	"io"
)

// Damage: a frame whose checksum is wrong is left out and what is missing is silence, so that the
// rest stays at its place. Every frame tells where it belongs, so that a seek and a straight read
// give the same. A cut file plays to its cut. Both are told in Info.Warnings.

// flac decodes a native FLAC stream.
type flac struct {
	source
	head     flacHead
	about    Info
	first    int64 // offset of the first frame
	base     int64 // number of the first sample of the sound
	fixed    int64 // samples a frame, where frames are numbered and not samples
	variable bool
	bits     int

	win   []byte // bytes of the file from winAt on
	winAt int64  // -1 = none
	guess int    // bytes that the next frame may take
	cause error  // why find left bytes out

	block flacBlock
	start int64 // frame of the sound at which block begins
	count int64 // frames in block, 0 where it holds none
	due   int64 // frame at which the next block should begin
	next  int64 // offset behind block
	pos   int64
	over  bool // no frame follows

	sum   hash.Hash // nil where nobody asked
	sumAt int64
	raw   []byte
	told  map[string]bool
}

// maxWarnings bounds what a damaged file has to say.
const maxWarnings = 64

// openFLAC opens a stream that begins with "fLaC".
func openFLAC(src source) (codec, error) {
	head, err := readFLACHead(src)
	if err != nil {
		return nil, err
	}
	f := &flac{source: src, head: head, told: map[string]bool{}, winAt: -1}
	f.setFormat(head.rate, head.channels, head.bits)
	f.guess = min(max(head.maxFrame, 8<<10), 1<<20)
	for _, step := range []func() error{f.dropTail, f.begin, f.measure} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	f.describe()
	if f.bits <= 16 {
		return flac16{f}, nil
	}
	return f, nil
}

func (f *flac) setFormat(rate, channels, bits int) {
	f.about.Rate, f.about.Channels, f.bits = rate, channels, bits
}

// dropTail leaves an ID3v1 tag, 128 bytes from "TAG" on, out of the source.
func (f *flac) dropTail() error {
	var b [3]byte
	at := f.size - 128
	if at < f.head.end {
		return nil
	}
	_, err := f.readUpTo(b[:], at)
	if string(b[:]) == "TAG" {
		f.size = at
	}
	return err
}

// begin finds the first frame, whose properties are those of the stream.
func (f *flac) begin() error {
	if f.head.end == f.size {
		return f.silent()
	}
	at, size, err := f.find(f.head.end, f.size, false)
	switch {
	case err == io.EOF:
		return fmt.Errorf("flac: %w: no whole frame at 0x%x or behind", ErrCorrupt, f.head.end)
	case err != nil:
		return err
	}
	f.accept(f.block.flacHeader)
	f.first = at
	f.origin(at)
	f.rewind()
	f.start = f.sampleOf(f.block.flacHeader) - f.base
	f.count, f.next = int64(f.block.block), at+size
	f.due = f.start + f.count
	return nil
}

// silent is the stream of a head alone.
func (f *flac) silent() error {
	if f.head.rate == 0 {
		return fmt.Errorf("flac: %w: 0 Hz", ErrCorrupt)
	}
	if f.head.total > 0 {
		return fmt.Errorf("flac: %w: STREAMINFO claims %d frames, none is there", ErrCorrupt, f.head.total)
	}
	f.first, f.over = f.size, true
	return nil
}

// accept takes the properties of the first frame for those of the stream, where STREAMINFO
// differs.
func (f *flac) accept(h flacHeader) {
	rate := h.rate
	if rate == 0 {
		rate = f.head.rate
	}
	if rate != f.head.rate || h.channels != f.head.channels || h.bits != f.head.bits {
		f.warn("STREAMINFO says %d Hz, %d channels, %d bits, the frames %d Hz, %d channels, %d bits",
			f.head.rate, f.head.channels, f.head.bits, rate, h.channels, h.bits)
	}
	f.setFormat(rate, h.channels, h.bits)
	f.variable, f.fixed = h.variable, int64(h.block)
	if h.number > 0 && f.head.maxBlock > 0 {
		f.fixed = int64(f.head.maxBlock)
	}
}

// origin finds the number of the first sample. A stream that was cut out of a longer one begins
// with another than 0; but where the bytes before the first good frame are damaged, it is what is
// missing.
func (f *flac) origin(at int64) {
	number := f.sampleOf(f.block.flacHeader)
	if at == f.head.end || number > f.gap(at-f.head.end) {
		f.base = number
	}
	if at > f.head.end {
		f.lose("%d bytes at 0x%x are left out: %v", at-f.head.end, f.head.end, f.cause)
	}
}

// gap is how many frames n bytes may have held, at most.
func (f *flac) gap(n int64) int64 { return flacMaxBlock * (1 + n/flacMinHeader) }

func (f *flac) describe() {
	f.about.Format = "flac"
	f.about.Encoding = fmt.Sprintf("%d-bit FLAC", f.bits)
	f.about.Bits = f.bits
	f.about.Mask = f.head.mask
	length := f.about.Frames
	if length < 0 {
		length = f.head.total
	}
	loops, warnings := loopsFromTags(f.head.tags, f.about.Rate, length)
	f.about.Loops = loops
	f.about.Warnings = append(f.about.Warnings, warnings...)
	if f.head.tagErr != nil {
		f.warn("tags are left out: %v", f.head.tagErr)
	}
}

// warn tells each thing once.
func (f *flac) warn(format string, a ...any) {
	if text := fmt.Sprintf(format, a...); !f.told[text] && len(f.told) < maxWarnings {
		f.told[text] = true
		f.about.warn(text)
	}
}

// lose tells of lost sound.
func (f *flac) lose(format string, a ...any) {
	had := len(f.about.Warnings)
	f.warn(format, a...)
	f.about.Lost = append(f.about.Lost, f.about.Warnings[had:]...)
}

func (f *flac) info() Info   { return f.about }
func (f *flac) close() error { f.win, f.block = nil, flacBlock{}; return nil }

// span moves on by up to room frames and returns how many, and where in the block they are; at is
// -1 where they are missing.
func (f *flac) span(room int) (n, at int, err error) {
	if f.about.Frames >= 0 && f.pos >= f.about.Frames {
		return 0, 0, io.EOF
	}
	for f.pos >= f.start+f.count {
		if err := f.advance(); err != nil {
			return 0, 0, err
		}
	}
	left := f.start + f.count - f.pos
	at = int(f.pos - f.start)
	if f.pos < f.start {
		left, at = f.start-f.pos, -1
	}
	n = int(min(left, int64(room)))
	f.pos += int64(n)
	return n, at, nil
}

func (f *flac) read(dst []float32) (int, error) {
	ch := f.about.Channels
	n, at, err := f.span(len(dst) / ch)
	if err != nil {
		return 0, err
	}
	if at < 0 {
		clear(dst[:n*ch])
		return n, nil
	}
	scale := 1 / float32(int64(1)<<(f.bits-1))
	for c, s := range f.block.samples[:ch] {
		out := c
		for _, v := range s[at : at+n] {
			dst[out] = float32(v) * scale
			out += ch
		}
	}
	return n, nil
}

// flac16 is a flac of at most 16 bits.
type flac16 struct{ *flac }

func (f flac16) read16(dst []int16) (int, error) {
	ch := f.about.Channels
	n, at, err := f.span(len(dst) / ch)
	if err != nil {
		return 0, err
	}
	if at < 0 {
		clear(dst[:n*ch])
		return n, nil
	}
	up := uint(16-f.bits) & 15
	for c, s := range f.block.samples[:ch] {
		out := c
		for _, v := range s[at : at+n] {
			dst[out] = int16(v << up)
			out += ch
		}
	}
	return n, nil
}

// The sum is the MD5 of all samples, channels in turn, each in as many little-endian bytes as it
// needs (RFC 9639, section 8.2).

func (f *flac) startSum() {
	f.sum, f.sumAt = md5.New(), 0
	f.rewind()
}

// addSum takes in the block that was just decoded, where it follows the one before.
func (f *flac) addSum() {
	if f.sum == nil || f.start != f.sumAt {
		return
	}
	f.sumAt += f.count
	width := (f.bits + 7) / 8
	f.raw = f.raw[:0]
	for i := range f.count {
		for _, s := range f.block.samples[:f.about.Channels] {
			for k := range width {
				f.raw = append(f.raw, byte(s[i]>>(8*k)))
			}
		}
	}
	f.sum.Write(f.raw)
}

func (f *flac) checkSum() error {
	if f.sum == nil || f.head.md5 == [16]byte{} || f.sumAt != f.pos {
		return nil
	}
	if got := f.sum.Sum(nil); !bytes.Equal(got, f.head.md5[:]) {
		return fmt.Errorf("flac: %w: MD5 of the samples is %x, STREAMINFO says %x", ErrCorrupt, got, f.head.md5)
	}
	return nil
}
