package decode

import (
	"crypto/md5"
	"encoding/binary"
	"math/bits"
)

// bitWriter writes big-endian bit fields.
type bitWriter struct {
	b    []byte
	acc  uint64
	have uint
}

func (w *bitWriter) put(v uint64, n uint) {
	for n > 32 {
		w.put(v>>(n-1)&1, 1)
		n--
	}
	w.acc = w.acc<<n | v&(1<<n-1)
	for w.have += n; w.have >= 8; w.have -= 8 {
		w.b = append(w.b, byte(w.acc>>(w.have-8)))
	}
}

func (w *bitWriter) align() {
	if w.have > 0 {
		w.put(0, 8-w.have)
	}
}

// flacSpec builds a FLAC stream frame by frame. It is a writer for tests: every way to code a
// subframe can be asked for, and every field can be wrong.
type flacSpec struct {
	ch, bits, rate int
	block          int
	samples        []int64 // interleaved
	kind           func(frame, ch int) string
	variable       bool
	code           int  // bits code of the frame header, -1 = 0 (as in STREAMINFO)
	stereo         byte // 8 left and side, 9 side and right, 10 mid and side
	total          int64
	noMD5          bool
	first          uint64 // number of the first frame
	extra          [][]byte
	change         func(frame int, h *bitWriter)
}

func flacGood(ch, depth, frames int) *flacSpec {
	f := &flacSpec{ch: ch, bits: depth, rate: 44100, block: 1024}
	for i, v := range tone(ch, frames) {
		s := int64(v)
		if depth < 16 {
			s >>= 16 - depth
		} else {
			s = s<<(depth-16) | int64(i*7)&(1<<(depth-16)-1)
		}
		f.samples = append(f.samples, s)
	}
	f.total = int64(frames)
	return f
}

func (f *flacSpec) bytes() []byte {
	out := append([]byte("fLaC"), f.info()...)
	for i, e := range f.extra {
		last := byte(0)
		if i == len(f.extra)-1 {
			last = 0x80
		}
		out = append(out, e[0]|last, byte((len(e)-1)>>16), byte((len(e)-1)>>8), byte(len(e)-1))
		out = append(out, e[1:]...)
	}
	for _, fr := range f.frames() {
		out = append(out, fr...)
	}
	return out
}

func (f *flacSpec) info() []byte {
	var w bitWriter
	w.put(0, 8)
	if len(f.extra) == 0 {
		w.b[0] = 0x80
	}
	w.put(streamInfoSize, 24)
	w.put(uint64(f.block), 16)
	w.put(uint64(f.block), 16)
	w.put(0, 24)
	w.put(0, 24)
	w.put(uint64(f.rate), 20)
	w.put(uint64(f.ch-1), 3)
	w.put(uint64(f.bits-1), 5)
	w.put(uint64(f.total), 36)
	sum := md5.Sum(f.packed())
	if f.noMD5 {
		sum = [16]byte{}
	}
	return append(w.b, sum[:]...)
}

func (f *flacSpec) packed() []byte { return packed(binary.LittleEndian, (f.bits+7)/8, f.samples...) }

// frames are the encoded frames.
func (f *flacSpec) frames() (list [][]byte) {
	for at := 0; at < len(f.samples); at += f.block * f.ch {
		list = append(list, f.frame(len(list), f.samples[at:min(at+f.block*f.ch, len(f.samples))]))
	}
	return list
}

func (f *flacSpec) frame(n int, s []int64) []byte {
	count := len(s) / f.ch
	var w bitWriter
	w.put(0x3ffe, 14)
	w.put(0, 1)
	number := f.first + uint64(n)
	if f.variable {
		w.put(1, 1)
		number = f.first + uint64(n*f.block)
	} else {
		w.put(0, 1)
	}
	w.put(7, 4)
	w.put(0, 4)
	if f.stereo != 0 {
		w.put(uint64(f.stereo), 4)
	} else {
		w.put(uint64(f.ch-1), 4)
	}
	w.put(uint64(f.bitsCode()), 3)
	w.put(0, 1)
	for _, b := range utf8Number(number) {
		w.put(uint64(b), 8)
	}
	w.put(uint64(count-1), 16)
	w.put(uint64(crc8(w.b)), 8)
	for c := range f.ch {
		f.subframe(&w, n, c, s)
	}
	if f.change != nil {
		f.change(n, &w)
	}
	w.align()
	w.put(uint64(crc16(w.b)), 16)
	return w.b
}

func (f *flacSpec) bitsCode() int {
	for code, b := range flacBits {
		if b == f.bits && f.code == 0 {
			return code
		}
	}
	return 0
}

// utf8Number codes a number of up to 36 bits as UTF-8 would.
func utf8Number(v uint64) []byte {
	if v < 0x80 {
		return []byte{byte(v)}
	}
	n := 2
	for v >= 1<<(5*n+1) {
		n++
	}
	b := make([]byte, n)
	for i := n - 1; i > 0; i-- {
		b[i] = 0x80 | byte(v&0x3f)
		v >>= 6
	}
	b[0] = byte(0xff<<(8-n)) | byte(v)
	return b
}

// subframe writes channel c of interleaved samples, in the way that kind asks for.
func (f *flacSpec) subframe(w *bitWriter, n, c int, all []int64) {
	s := make([]int64, 0, len(all)/f.ch)
	for i := c; i < len(all); i += f.ch {
		s = append(s, all[i])
	}
	width := uint(f.bits)
	if f.stereo != 0 {
		s, width = f.pair(all, c)
	}
	kind := "verbatim"
	if f.kind != nil {
		kind = f.kind(n, c)
	}
	writeSubframe(w, s, width, kind)
}

// pair is one channel of a coded pair.
func (f *flacSpec) pair(all []int64, c int) (s []int64, width uint) {
	isSide := c == 1 && f.stereo != 9 || c == 0 && f.stereo == 9
	for i := 0; i+1 < len(all); i += 2 {
		l, r := all[i], all[i+1]
		switch {
		case isSide:
			s = append(s, l-r)
		case f.stereo == 8:
			s = append(s, l)
		case f.stereo == 9:
			s = append(s, r)
		default:
			s = append(s, (l+r)>>1)
		}
	}
	if isSide {
		return s, uint(f.bits) + 1
	}
	return s, uint(f.bits)
}

func writeSubframe(w *bitWriter, s []int64, width uint, kind string) {
	switch kind {
	case "constant":
		w.put(0, 8)
		w.put(uint64(s[0]), width)
	case "verbatim":
		w.put(1<<1, 8)
		for _, v := range s {
			w.put(uint64(v), width)
		}
	case "wasted": // three low bits that are zero
		w.put(1<<1|1, 8)
		w.put(1, 3)
		for _, v := range s {
			w.put(uint64(v>>3), width-3)
		}
	case "fixed0", "fixed1", "fixed2", "fixed3", "fixed4":
		order := int(kind[5] - '0')
		w.put(uint64(8+order)<<1, 8)
		writePredicted(w, s, width, [][]int64{{}, {1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}}[order], 0, false, 0)
	case "linear", "linear-rice2", "linear-escape":
		coefs := []int64{31, -14, 2, -1, 1}
		w.put(uint64(32+len(coefs)-1)<<1, 8)
		mode := map[string]int{"linear": 0, "linear-rice2": 1, "linear-escape": 2}[kind]
		writePredicted(w, s, width, coefs, 4, true, mode)
	}
}

// writePredicted writes warm-up samples, the predictor where it is a linear one, and the residual
// in partitions of order 2 where that fits. Mode 0 is Rice of 4 bits, 1 of 5, 2 is not coded.
func writePredicted(w *bitWriter, s []int64, width uint, coefs []int64, shift uint, linear bool, mode int) {
	order := len(coefs)
	for _, v := range s[:order] {
		w.put(uint64(v), width)
	}
	if linear {
		w.put(6-1, 4)
		w.put(uint64(shift), 5)
		for _, c := range coefs {
			w.put(uint64(c), 6)
		}
	}
	var rest []int64
	for i := order; i < len(s); i++ {
		p := int64(0)
		for j, c := range coefs {
			p += c * s[i-1-j]
		}
		rest = append(rest, s[i]-p>>shift)
	}
	parts := uint(0)
	if len(s)%4 == 0 && len(s)/4 > order {
		parts = 2
	}
	size := uint(4)
	if mode == 1 {
		size = 5
	}
	w.put(uint64(size-4), 2)
	w.put(uint64(parts), 4)
	for i := range 1 << parts {
		n := len(s) >> parts
		if i == 0 {
			n -= order
		}
		writePartition(w, rest[:n], size, mode == 2)
		rest = rest[n:]
	}
}

func writePartition(w *bitWriter, r []int64, size uint, escape bool) {
	var all uint64
	for _, v := range r {
		all |= uint64(v<<1 ^ v>>63)
	}
	if n := uint(bits.Len64(all)); escape {
		w.put(1<<size-1, size)
		w.put(uint64(n), 5)
		for _, v := range r {
			w.put(uint64(v), n)
		}
		return
	}
	k := uint(min(max(bits.Len64(all)-4, 0), 1<<size-2))
	w.put(uint64(k), size)
	for _, v := range r {
		u := uint64(v<<1 ^ v>>63)
		for range u >> k {
			w.put(0, 1)
		}
		w.put(1, 1)
		w.put(u, k)
	}
}
