package decode

import (
	"fmt"
	"io"
	"slices"
)

// vorbisCodec plays the Vorbis stream of an Ogg file: pages and positions are in ogg.go and
// vorbis_link.go, the packets in vorbis_packet.go behind the checks of vorbis_setup.go.
//
// Frames are counted by the granule positions of the pages, so that what is lost with a page is
// silence of the same length and all behind it stays at its place.
type vorbisCodec struct {
	pk       oggPackets
	links    []vorbisLink
	tags     []tag
	warnings []string
	lost     []string // those of them that tell of lost sound

	// The link that is played.
	cur    int
	dec    *vorbisDecoder
	loaded uint64    // which setup dec was made from
	order  []int     // where each channel of WAV order is in Vorbis order, nil where that is the same
	frame  []float32 // one frame while it is put in order
	buf    []float32 // one packet decoded
	out    []float32 // what of it is still to be read

	// Where it is played, in frames of the link.
	want   int64  // read next
	pos    int64  // the first that packet next gives; silence where it is past want
	next   int    // in pk.packets
	prev   int    // block size of the packet before, 0 = none to overlap with
	primed bool   // dec holds the packet before, else it is in
	keep   []byte // this copy, undecoded
}

// vorbisMaxWarnings bounds what is told of one file.
const vorbisMaxWarnings = 16

// openVorbis opens the Vorbis stream of an Ogg file. Other codecs in Ogg are refused by name, but
// FLAC that stands beside other streams is opened as such.
//
// More than two channels come in the order of WAV: left, right, centre, LFE, and then by the
// speaker mask in Info.
func openVorbis(r io.ReaderAt, size int64) (codec, error) {
	v := &vorbisCodec{pk: oggPackets{oggReader: newOggReader(source{r, size})}}
	v.pk.skips = v.skipped
	streams, err := v.pk.begin()
	if err != nil {
		return nil, err
	}
	switch n := countCodec(streams, "Vorbis"); {
	case n == 0 && countCodec(streams, "FLAC") > 0:
		return openOggFLAC(source{r, size})
	case n > 1:
		v.warn("%d Vorbis streams side by side, the first is played", n)
	}
	heads, err := v.open(streams)
	if err != nil {
		return nil, err
	}
	if err := v.load(v.links[0].setup, heads); err != nil {
		return nil, err
	}
	return v, v.enter(0)
}

// open reads the first link, finds the others, and measures them all.
func (v *vorbisCodec) open(streams []oggStream) (vorbisHeads, error) {
	l, heads, err := v.readLink(streams)
	if err != nil {
		return heads, err
	}
	v.links, v.tags = []vorbisLink{l}, heads.tags
	if err := v.findLinks(streams); err != nil {
		return heads, err
	}
	first := int64(0)
	for i := range v.links {
		v.links[i].first = first
		if err := v.measure(i); err != nil {
			return heads, err
		}
		first += v.links[i].frames
	}
	if first == 0 && len(v.lost) > 0 {
		return heads, fmt.Errorf("%w: Vorbis without a whole block of sound: %s", ErrCorrupt, v.lost[0])
	}
	return heads, nil
}

// load makes the decoder for the headers of a link, unless it has the right one.
func (v *vorbisCodec) load(s *vorbisSetup, h vorbisHeads) error {
	if v.dec != nil && v.loaded == h.sum {
		return nil
	}
	err := guard("Vorbis headers", func() error { v.dec = newVorbisDecoder(s, h.setup); return nil })
	if err != nil {
		return err
	}
	v.loaded = h.sum
	v.buf = make([]float32, v.dec.most())
	if v.order = vorbisOrders[s.channels]; v.order != nil {
		v.frame = make([]float32, s.channels)
	}
	return nil
}

// vorbisOrders is where the channels of WAV order are in that of Vorbis (Vorbis I, section 4.3.9),
// and vorbisMasks tells the speakers of WAV order as WAVE_FORMAT_EXTENSIBLE does.
var (
	vorbisOrders = [9][]int{
		3: {0, 2, 1},                // L R C
		5: {0, 2, 1, 3, 4},          // L R C Ls Rs
		6: {0, 2, 1, 5, 3, 4},       // L R C LFE Ls Rs
		7: {0, 2, 1, 6, 5, 3, 4},    // L R C LFE, back centre, sides
		8: {0, 2, 1, 7, 5, 6, 3, 4}, // L R C LFE, backs, sides
	}
	vorbisMasks = [9]uint32{3: 0x7, 4: 0x33, 5: 0x37, 6: 0x3f, 7: 0x70f, 8: 0x63f}
)

func (v *vorbisCodec) info() Info {
	l := &v.links[0]
	last := &v.links[len(v.links)-1]
	in := Info{
		Format: "vorbis", Rate: l.setup.rate, Channels: l.setup.channels, Mask: vorbisMasks[l.setup.channels],
		Frames: last.first + last.frames, Delay: max(0, -l.start), Padding: last.padding,
		Warnings: slices.Clip(v.warnings), Lost: slices.Clip(v.lost),
	}
	bitrate := int64(l.setup.nominal)
	if bitrate == 0 && l.frames > 0 {
		bitrate = int64(float64(l.end-l.data) * 8 * float64(in.Rate) / float64(l.frames))
	}
	in.Encoding = fmt.Sprintf("Vorbis %d kbit/s", (bitrate+500)/1000)
	loops, warnings := loopsFromTags(v.tags, in.Rate, in.Frames)
	in.Loops, in.Warnings = loops, append(in.Warnings, warnings...)
	return in
}

func (v *vorbisCodec) close() error {
	v.dec, v.buf, v.out, v.pk.buf = nil, nil, nil, nil
	return nil
}

func (v *vorbisCodec) read(dst []float32) (int, error) {
	n := 0
	for n < len(dst) {
		k, err := v.some(dst[n:])
		n += k
		if err != nil {
			return n / v.dec.channels, err
		}
	}
	return n / v.dec.channels, nil
}

// some does the next step: it puts samples into dst and returns how many, or gets nearer to it.
func (v *vorbisCodec) some(dst []float32) (int, error) {
	ch := v.dec.channels
	l := &v.links[v.cur]
	switch {
	case v.want >= l.frames:
		return 0, v.nextLink()
	case len(v.out) > 0:
		n := copy(dst, v.out)
		v.out = v.out[n:]
		v.want += int64(n / ch)
		return n, nil
	case v.want < v.pos:
		n := min(int64(len(dst)/ch), v.pos-v.want, l.frames-v.want)
		clear(dst[:n*int64(ch)])
		v.want += n
		return int(n) * ch, nil
	case v.next >= len(v.pk.packets):
		return 0, v.turnPage()
	}
	v.next++
	return v.packet(v.pk.packets[v.next-1], dst)
}

// packet passes over p, or decodes it into dst or v.buf. The first one has nothing to overlap with
// and gives no frames. Those in front of the one with the wanted frame need not be decoded, but the
// last of them is what that one overlaps with (Vorbis I, section 4.3.8): it is kept.
func (v *vorbisCodec) packet(p []byte, dst []float32) (int, error) {
	block, ok := v.links[v.cur].setup.blockSize(p)
	if !ok {
		if len(p) > 0 {
			v.warn("a packet that is no sound on the page at 0x%x", v.pk.page.off)
		}
		return 0, nil
	}
	n := vorbisOverlap(v.prev, block)
	from := v.pos
	v.prev, v.pos = block, v.pos+n
	if n == 0 || v.pos <= v.want {
		v.keep, v.primed = append(v.keep[:0], p...), false
		return 0, nil
	}
	if err := v.prime(); err != nil {
		return 0, err
	}
	return v.play(p, dst, from)
}

// play decodes the packet p, whose frames are from frame from to v.pos: straight into dst, where all
// are wanted and dst has room for any packet, else into v.buf, the wanted ones then being v.out.
func (v *vorbisCodec) play(p []byte, dst []float32, from int64) (int, error) {
	end := min(v.pos, v.links[v.cur].frames)
	whole := from == v.want && v.pos == end && len(dst) >= len(v.buf)
	into := v.buf
	if whole {
		into = dst
	}
	out, err := v.decode(p, into, v.pos-from)
	if err != nil {
		return 0, err
	}
	v.finish(out)
	if whole {
		v.want = v.pos
		return len(out), nil
	}
	ch := int64(v.dec.channels)
	v.out = out[(v.want-from)*ch : (end-from)*ch]
	return 0, nil
}

// vorbisOverlap is how many frames a block gives behind one of size prev.
func vorbisOverlap(prev, block int) int64 {
	if prev == 0 {
		return 0
	}
	return int64(prev/4 + block/4)
}

// prime makes the decoder hold the packet before.
func (v *vorbisCodec) prime() error {
	if v.primed {
		return nil
	}
	v.dec.clear()
	_, err := v.decode(v.keep, v.buf, 0)
	return err
}

// decode has the packet p give n frames into dst.
func (v *vorbisCodec) decode(p []byte, dst []float32, n int64) (out []float32, err error) {
	err = guard("Vorbis packet", func() (err error) { out, err = v.dec.decode(p, dst); return err })
	if k := int(n) * v.dec.channels; err == nil && len(out) != k {
		err = fmt.Errorf("%w: %d samples, not %d", ErrCorrupt, len(out), k)
	}
	if v.primed = err == nil; !v.primed {
		return nil, fmt.Errorf("page at 0x%x: %w", v.pk.page.off, err)
	}
	return out, nil
}

// finish puts samples within full scale, as the reference decoder does on its way to integers, and
// channels in order.
func (v *vorbisCodec) finish(out []float32) {
	for i, x := range out {
		if !(x >= -1 && x <= 1) {
			out[i] = vorbisClip(x)
		}
	}
	for f := out; v.order != nil && len(f) > 0; f = f[len(v.order):] {
		copy(v.frame, f)
		for i, c := range v.order {
			f[i] = v.frame[c]
		}
	}
}

// vorbisClip is the nearest value within full scale. What is no number is silence.
func vorbisClip(x float32) float32 {
	switch {
	case x > 1:
		return 1
	case x < -1:
		return -1
	}
	return 0
}

// turnPage reads the next page with packets. At the end of the link what is missing to its length
// is given up.
func (v *vorbisCodec) turnPage() error {
	err := v.pk.nextPage()
	v.next = 0
	switch {
	case err == io.EOF, err == errOggLink:
		if l := &v.links[v.cur]; v.want < l.frames {
			v.lose("ended at frame %d of %d", l.first+v.want, l.first+l.frames)
			v.shorten(v.want)
		}
		return nil
	case err != nil:
		return err
	}
	v.follow()
	return nil
}

// shorten makes the link that is played end at a frame.
func (v *vorbisCodec) shorten(frames int64) {
	l := &v.links[v.cur]
	less := l.frames - frames
	l.frames = frames
	for i := v.cur + 1; i < len(v.links); i++ {
		v.links[i].first -= less
	}
}

// follow finds out whether the page goes on where the one before it ended. One that is some frames
// off, as remuxing leaves them, is not followed, but then positions are no help for seeking. One
// that is farther off is taken at its word.
func (v *vorbisCodec) follow() {
	l := &v.links[v.cur]
	page := &v.pk.page
	n, _ := l.setup.frames(v.prev, v.pk.packets)
	end := page.granule - l.base
	told := page.told() && !l.linear
	switch off := end - v.pos - n; {
	case v.pk.gap && told && v.prev != 0 && off == 0:
		v.warn("pages are numbered wrong at 0x%x", page.off)
	case v.pk.gap:
		v.resume(told, end)
	case !told, off == 0, end == l.frames, page.flags&oggLast != 0:
	case max(off, -off) <= int64(l.setup.block[1]) || end <= v.pos:
		l.linear = true
		v.warn("page at 0x%x tells that it ends at frame %d, not %d: seeking by counting", page.off, end, v.pos+n)
	default:
		v.warn("page at 0x%x tells that it ends at frame %d, not %d", page.off, end, v.pos+n)
		v.pos = end - n
	}
}

// resume goes on behind lost pages: with nothing to overlap with, and where the page tells that it
// ends. A last page may end before its last packet does, so its start is known only roughly, but it
// cannot lie before what was played.
func (v *vorbisCodec) resume(told bool, end int64) {
	l := &v.links[v.cur]
	n, _ := l.setup.frames(0, v.pk.packets)
	v.prev, v.primed = 0, false
	from := v.pos
	if told {
		v.pos = max(v.pos, end-n)
	}
	v.lose("sound lost before 0x%x: silence for %d frames", v.pk.page.off, v.pos-from)
}

// nextLink goes on to the next link; the end is io.EOF.
func (v *vorbisCodec) nextLink() error {
	if v.cur+1 == len(v.links) {
		return io.EOF
	}
	return v.enter(v.cur + 1)
}

// skipped tells of bytes that are no pages.
func (v *vorbisCodec) skipped(s oggSkip) {
	switch {
	case v.pk.torn && s.off+s.len == v.pk.size:
		v.lose("cut off: %d bytes of a page at 0x%x", s.len, s.off)
	case s.bad:
		v.lose("damaged page: %d bytes at 0x%x", s.len, s.off)
	default:
		v.warn("%d bytes of rubbish at 0x%x", s.len, s.off)
	}
}

// lose is warn of lost sound.
func (v *vorbisCodec) lose(format string, args ...any) {
	had := len(v.warnings)
	v.warn(format, args...)
	v.lost = append(v.lost, v.warnings[had:]...)
}

// warn keeps a warning once.
func (v *vorbisCodec) warn(format string, args ...any) {
	if len(v.warnings) > vorbisMaxWarnings {
		return
	}
	text := fmt.Sprintf(format, args...)
	switch {
	case slices.Contains(v.warnings, text):
	case len(v.warnings) == vorbisMaxWarnings:
		v.warnings = append(v.warnings, "and more")
	default:
		v.warnings = append(v.warnings, text)
	}
}
