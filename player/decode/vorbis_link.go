package decode

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
)

// A file may be several streams one behind the other, each with headers of its own, a chain of
// links (RFC 3533, section 4). Most have one.

// vorbisLink is one link. Positions in it are in frames from its first one.
type vorbisLink struct {
	serial     uint32
	setup      *vorbisSetup
	sum        uint64 // of the headers, to tell whether two links have the same
	head       int64  // where its first page is
	data       int64  // where its first page with sound is
	skip       int    // packets on that page that are headers
	tail       int64  // where its last page is
	end        int64  // where the next link or the file's end is
	first      int64  // number of its first frame in the file
	base       int64  // granule position of its first frame
	start      int64  // where its first packet begins: before 0 where the start is cut off, behind where it is lost
	frames     int64
	padding    int64 // frames cut off at its end
	ended      bool  // with its headers, as the end mark there says
	unnumbered bool  // the pages' numbers cannot be trusted
	linear     bool  // the pages' positions cannot be trusted: seek by counting packets from the start
}

// vorbisHeads are the headers as the decoder gets them: without the comments, which it
// would allocate memory for as they claim.
type vorbisHeads struct {
	ident, setup []byte
	sum          uint64
	tags         []tag
}

// Bounds for finding links.
const (
	vorbisMaxLinks  = 64
	vorbisMaxLost   = 4         // lost first pages whose sound is made up for by silence
	oggSmall        = 256 << 10 // a file this small is looked through page by page
	oggMaxRubbish   = 64 << 10  // in front of the first page
	vorbisMaxFrames = 8192      // a byte of file; a packet of one byte is at most 4096 frames
)

var vorbisSeed = maphash.MakeSeed()

// begin lists the logical streams at the start of the file.
func (o *oggReader) begin() ([]oggStream, error) {
	o.limit = min(o.size, oggMaxRubbish)
	list, err := o.streams(0)
	o.limit = o.size
	switch {
	case err == io.EOF:
		return nil, fmt.Errorf("%w: Ogg without a whole page at its start", ErrCorrupt)
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, fmt.Errorf("%w: Ogg that begins in the middle of a stream", ErrCorrupt)
	}
	return list, nil
}

// countCodec is how many streams of a codec there are.
func countCodec(list []oggStream, name string) (n int) {
	for _, s := range list {
		if s.codec == name {
			n++
		}
	}
	return n
}

// readLink reads the headers of the first Vorbis stream of list, which the reader stands behind.
func (v *vorbisCodec) readLink(list []oggStream) (l vorbisLink, h vorbisHeads, err error) {
	i := slices.IndexFunc(list, func(s oggStream) bool { return s.codec == "Vorbis" })
	if i < 0 {
		return l, h, fmt.Errorf("%w: %s in Ogg", ErrUnsupported, oggNameList(list))
	}
	l = vorbisLink{serial: list[i].serial, head: list[0].off, end: v.pk.limit, setup: new(vorbisSetup)}
	h.ident = list[i].first
	if err := l.setup.readIdent(h.ident); err != nil {
		return l, h, err
	}
	v.pk.serial = l.serial
	v.pk.start(v.pk.at)
	if err := v.readHeads(&l, &h); err != nil {
		return l, h, err
	}
	h.sum = maphash.Bytes(vorbisSeed, append(h.ident[:len(h.ident):len(h.ident)], h.setup...))
	l.sum = h.sum
	v.pk.slim()
	return l, h, v.placeFirst(&l)
}

// oggNameList names the codecs of a file for people.
func oggNameList(list []oggStream) string {
	var names []string
	for _, s := range list {
		if s.codec != "" && !slices.Contains(names, s.codec) {
			names = append(names, s.codec)
		}
	}
	if names == nil {
		return "an unknown codec"
	}
	return strings.Join(names, " and ")
}

// readHeads reads the comment and the setup header, and finds where the sound begins: on the next
// page, or on the same one behind the headers, as some writers have it.
func (v *vorbisCodec) readHeads(l *vorbisLink, h *vorbisHeads) error {
	r := vorbisHeadReader{pk: &v.pk}
	p, err := r.next()
	if err == nil {
		h.tags, err = vorbisTags(p)
	}
	if err == nil {
		p, err = r.next()
	}
	if err == nil {
		h.setup, err = l.setup.readSetup(p)
	}
	if err != nil {
		return err
	}
	h.setup, l.ended = bytes.Clone(h.setup), v.pk.ended
	if l.data = v.pk.at; r.n < len(v.pk.packets) {
		l.data, l.skip = v.pk.page.off, r.n
		if v.pk.page.flags&oggContinued != 0 {
			l.skip--
		}
	}
	return nil
}

// vorbisHeadReader takes header packets one by one.
type vorbisHeadReader struct {
	pk      *oggPackets
	n, size int // taken of those on the page, and bytes in all
}

// next returns a packet, which is good until the next call.
func (r *vorbisHeadReader) next() ([]byte, error) {
	if r.n == len(r.pk.packets) {
		r.n = 0
		switch err := r.pk.nextPage(); {
		case err == io.EOF, err == errOggLink:
			return nil, fmt.Errorf("%w: Ogg ends in the Vorbis headers", ErrCorrupt)
		case err != nil:
			return nil, err
		}
	}
	r.n++
	p := r.pk.packets[r.n-1]
	if r.size += len(p); r.size > oggMaxPacket {
		return nil, fmt.Errorf("%w: Vorbis headers of %d bytes", ErrLimit, r.size)
	}
	return p, nil
}

// frames is how many frames packets give behind a block of size prev, and the size of their last
// block.
func (s *vorbisSetup) frames(prev int, packets [][]byte) (n int64, last int) {
	for _, p := range packets {
		if block, ok := s.blockSize(p); ok {
			n += vorbisOverlap(prev, block)
			prev = block
		}
	}
	return n, prev
}

// placeFirst finds which position the first page with sound stands for (Vorbis I, section A.2). Its
// granule position is that of its end. Is that less than the frames on the page, then the start is
// to be cut off, or the end, if it is the last page too. Is it more, then the stream was cut out of
// a longer one and begins at another position than 0, or pages before it are lost.
func (v *vorbisCodec) placeFirst(l *vorbisLink) error {
	seq := v.pk.seq
	ok, err := v.firstPage(l)
	if !ok {
		return err
	}
	n, _ := l.setup.frames(0, v.pk.packets[l.skip:])
	page := &v.pk.page
	lost := page.seq - seq - 1
	switch begin := page.granule - n; {
	case !page.told(), page.granule == 0 && page.flags&oggLast == 0:
	case begin < 0 && page.flags&oggLast != 0:
	case begin < 0:
		l.start = begin
	case begin > 0 && l.skip == 0 && lost > 0 && lost <= vorbisMaxLost:
		l.start = begin
		v.lose("sound lost before 0x%x: silence for %d frames", page.off, begin)
	default:
		l.base = begin
	}
	return nil
}

// firstPage reads the first page with sound. It is not ok where there is none.
func (v *vorbisCodec) firstPage(l *vorbisLink) (bool, error) {
	v.pk.start(l.data)
	err := v.pk.nextPage()
	if err == io.EOF || err == errOggLink {
		return false, nil
	}
	return err == nil && l.skip <= len(v.pk.packets), err
}

// findLinks finds the links behind the first. Whether there are some is seen from a few pages; only
// then is the file looked through.
func (v *vorbisCodec) findLinks(list []oggStream) error {
	l := &v.links[0]
	chained, err := v.chained(l, list)
	if err != nil || !chained {
		return err
	}
	heads, err := v.pk.heads(l.data)
	if err != nil {
		return err
	}
	for i, at := range heads {
		v.links[i].end = at
		if i+1 == vorbisMaxLinks {
			v.lose("ends after %d streams, more streams begin at 0x%x", vorbisMaxLinks, at)
			break
		}
		v.pk.limit = v.pk.size
		if i+1 < len(heads) {
			v.pk.limit = heads[i+1]
		}
		if ok, err := v.addLink(at); !ok {
			return err
		}
	}
	return nil
}

// addLink appends the link at off, unless it cannot be played on in the same way.
func (v *vorbisCodec) addLink(off int64) (bool, error) {
	l, err := vorbisLink{}, error(nil)
	list, err := v.pk.streams(off)
	if err == nil {
		l, _, err = v.readLink(list)
	}
	first := v.links[0].setup
	switch {
	case err != nil && err != io.EOF && !ours(err):
		return false, err
	case err != nil:
		v.lose("ends where another stream begins at 0x%x: %v", off, err)
	case l.setup.rate != first.rate || l.setup.channels != first.channels:
		v.lose("ends where another stream begins at 0x%x: %d channels at %d Hz", off, l.setup.channels, l.setup.rate)
	default:
		v.links = append(v.links, l)
		return true, nil
	}
	return false, nil
}

// chained tells whether there may be more links than the first. If so its streams do not go on to
// the end of the file; or another stream begins soon; or, where the next one has the same serial
// number, the pages are not numbered upwards.
func (v *vorbisCodec) chained(l *vorbisLink, list []oggStream) (bool, error) {
	if v.pk.size <= oggSmall {
		return true, nil
	}
	ok, err := v.pk.previous(l.data, v.pk.size, func(*oggPage) bool { return true })
	if !ok {
		return false, err
	}
	last := v.pk.page
	if !slices.ContainsFunc(list, func(s oggStream) bool { return s.serial == last.serial }) {
		return true, nil
	}
	begins := false
	err = v.pk.walk(l.data, func(p *oggPage) bool {
		begins = begins || p.flags&oggFirst != 0
		return !begins && p.off < l.data+oggSmall/4
	})
	if err != nil || begins {
		return begins, err
	}
	return v.numberedDown(l, last)
}

// numberedDown tells whether a page of a stream has a lower number than one before it. A few are
// looked at for that: at the middle, and then ever nearer to both ends, as the shorter of two links
// may lie at either.
func (v *vorbisCodec) numberedDown(l *vorbisLink, last oggPage) (bool, error) {
	var spots []int64
	for part := (last.off - l.data) / 2; part > oggSmall/8; part /= 2 {
		spots = append(spots, l.data+part, last.off-part)
	}
	slices.Sort(spots)
	seq := uint32(0)
	for _, at := range spots {
		switch ok, err := v.pk.headOf(l.serial, at, last.off); {
		case err != nil:
			return false, err
		case ok && v.pk.page.seq < seq:
			return true, nil
		case ok:
			seq = v.pk.page.seq
		}
	}
	return last.serial == l.serial && last.seq < seq, nil
}

// headOf reads the head of the next page of a stream that begins in [from, to).
func (o *oggReader) headOf(serial uint32, from, to int64) (bool, error) {
	for {
		off, err := o.search(from, to)
		if err != nil || off < 0 {
			return false, err
		}
		ok, err := o.head(off)
		if err != nil || ok && o.page.serial == serial {
			return ok && err == nil, err
		}
		from = off + 1
	}
}

// heads lists where links begin behind from: at first pages that do not follow a first page.
func (o *oggReader) heads(from int64) ([]int64, error) {
	var list []int64
	inGroup := false
	err := o.walk(from, func(p *oggPage) bool {
		isFirst := p.flags&oggFirst != 0
		if isFirst && !inGroup {
			list = append(list, p.off)
		}
		inGroup = isFirst
		return len(list) < vorbisMaxLinks
	})
	return list, err
}
