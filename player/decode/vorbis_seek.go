package decode

import "io"

// Positions: how long a link is, and how a frame of it is found, without reading it all.

// lastPacket is the last packet that begins and ends on the page, nil for none.
func (p *oggPage) lastPacket() []byte {
	var last []byte
	from, n := 0, 0
	own := p.flags&oggContinued == 0
	for _, s := range p.segments {
		n += int(s)
		if s == 255 {
			continue
		}
		if own {
			last = p.body[from:n]
		}
		from, own = n, true
	}
	return last
}

// isAnchor tells whether decoding may begin with the page: its position is told, and its last packet
// is whole and sound, so that the frames behind the page can be had.
func (l *vorbisLink) isAnchor(p *oggPage) bool {
	if p.serial != l.serial || !p.told() {
		return false
	}
	_, ok := l.setup.blockSize(p.lastPacket())
	return ok
}

// anchor makes the page at off, which is one, the last that was read.
func (v *vorbisCodec) anchor(off int64) error {
	l := &v.links[v.cur]
	v.pk.start(off)
	if err := v.pk.nextPage(); err != nil {
		return err
	}
	last := v.pk.packets[len(v.pk.packets)-1]
	v.keep, v.primed = append(v.keep[:0], last...), false
	v.prev, _ = l.setup.blockSize(last)
	v.pos = v.pk.page.granule - l.base
	v.next = len(v.pk.packets)
	return nil
}

// rewind goes to the first packet of the link.
func (v *vorbisCodec) rewind() error {
	l := &v.links[v.cur]
	ok, err := v.firstPage(l)
	v.next = len(v.pk.packets)
	if ok {
		v.next = l.skip
	}
	v.pos, v.prev, v.primed = l.start, 0, false
	v.want, v.out = 0, nil
	return err
}

// use makes a link the one that is read.
func (v *vorbisCodec) use(i int) {
	v.cur = i
	l := &v.links[i]
	v.pk.serial, v.pk.limit, v.pk.unnumbered = l.serial, l.end, l.unnumbered
}

// enter goes to the start of a link. The decoder stays, where the headers are the same.
func (v *vorbisCodec) enter(i int) error {
	l := &v.links[i]
	if l.sum != v.loaded {
		v.pk.limit = l.end
		list, err := v.pk.streams(l.head)
		if err != nil {
			return err
		}
		link, heads, err := v.readLink(list)
		if err != nil {
			return err
		}
		if err := v.load(link.setup, heads); err != nil {
			return err
		}
	}
	v.use(i)
	return v.rewind()
}

// measure finds the length of a link from its last pages.
func (v *vorbisCodec) measure(i int) error {
	v.use(i)
	l := &v.links[i]
	ours := func(p *oggPage) bool { return p.serial == l.serial }
	if ok, err := v.pk.previous(l.data, l.end, ours); !ok {
		if !l.ended {
			v.lose("no sound behind the headers")
		}
		return err
	}
	l.tail = v.pk.page.off
	seq := v.pk.page.seq
	ok, err := v.pk.previous(l.data, l.tail, l.isAnchor)
	switch at := v.pk.page.off; {
	case err != nil:
		return err
	case !ok:
		err = v.rewind()
	case v.pk.page.seq+1 != seq:
		if err = v.checkNumbers(l, at); err == nil {
			err = v.anchor(at)
		}
	default:
		err = v.anchor(at)
	}
	if err != nil {
		return err
	}
	if err := v.toEnd(l); err != nil {
		return err
	}
	if l.frames < 0 || l.frames > (l.end-l.head)*vorbisMaxFrames {
		return v.count(l)
	}
	return nil
}

// checkNumbers finds out whether the pages are numbered one by one. They are not, where positions
// show that nothing is lost between the page at an offset and the one before it, but the numbers do.
func (v *vorbisCodec) checkNumbers(l *vorbisLink, at int64) error {
	if ok, err := v.pk.previous(l.data, at, l.isAnchor); !ok {
		return err
	}
	if err := v.anchor(v.pk.page.off); err != nil {
		return err
	}
	v.pk.unnumbered = true
	for v.pk.page.off < at {
		if err := v.pk.nextPage(); err != nil {
			return err
		}
		n, last := l.setup.frames(v.prev, v.pk.packets)
		v.pos, v.prev = v.pos+n, last
	}
	if v.pk.misnumber && !v.pk.gap && v.pos == v.pk.page.granule-l.base {
		l.unnumbered = true
		v.warn("pages are not numbered")
	}
	v.pk.unnumbered = l.unnumbered
	return nil
}

// toEnd passes over the rest of the pages and notes where the link ends: where the last one tells
// that it does, if that is on the page or on the last packet before it, else where its packets end
// (Vorbis I, section A.2). What decides is the position that is told, with or without the mark of a
// last page, as that may stand on an empty page of its own.
func (v *vorbisCodec) toEnd(l *vorbisLink) error {
	before := v.pos
	for {
		if v.next < len(v.pk.packets) {
			before = v.pos
			n, last := l.setup.frames(v.prev, v.pk.packets[v.next:])
			v.pos, v.prev = v.pos+n, last
		}
		end, told := v.pk.page.granule-l.base, v.pk.page.told()
		err := v.pk.nextPage()
		v.next = 0
		switch {
		case err == io.EOF, err == errOggLink:
			v.endAt(l, before, end, told)
			if !v.pk.ended {
				v.lose("ended at frame %d without an end mark: the last page is lost", l.first+l.frames)
			}
			return nil
		case err != nil:
			return err
		}
		v.follow()
	}
}

// endAt notes the end of a link, whose last page begins at frame before and tells that it ends at
// frame end, if it tells. Its packets end at v.pos.
func (v *vorbisCodec) endAt(l *vorbisLink, before, end int64, told bool) {
	l.frames = v.pos
	switch {
	case told && end <= v.pos && end > before-int64(l.setup.block[1]/2) && (end > 0 || before <= 0):
		l.frames = max(0, end)
	case told || v.pos > before:
		v.warn("the last page does not tell where the sound ends: at frame %d", l.first+v.pos)
	}
	l.padding = v.pos - l.frames
}

// count finds the length of a link whose positions make no sense, by counting.
func (v *vorbisCodec) count(l *vorbisLink) error {
	v.warn("positions make no sense: seeking by counting")
	l.linear, l.base, l.start = true, 0, 0
	if err := v.rewind(); err != nil {
		return err
	}
	return v.toEnd(l)
}

func (v *vorbisCodec) seek(frame int64) error {
	i := len(v.links) - 1
	for i > 0 && v.links[i].first > frame {
		i--
	}
	if i != v.cur {
		if err := v.enter(i); err != nil {
			return err
		}
	}
	l := &v.links[i]
	v.out, v.want = nil, frame-l.first
	if v.want >= l.frames {
		return nil
	}
	off, err := v.before(l, v.want)
	switch {
	case err != nil:
		return err
	case off >= 0:
		return v.anchor(off)
	}
	want := v.want
	err = v.rewind()
	v.want = want
	return err
}

// before finds the last page that decoding can begin with to get at a frame, -1 for the first one.
// The pages' positions go up, so it is found by halving. The last page of the link is left out: no
// frame comes behind it, and what it tells may be wrong.
func (v *vorbisCodec) before(l *vorbisLink, frame int64) (int64, error) {
	if l.linear {
		return -1, nil
	}
	best := int64(-1)
	defer func() { v.pk.limit = l.end }()
	for lo, hi := l.data, l.tail; lo < hi; {
		mid := lo
		if hi-lo > oggAhead {
			mid += (hi - lo) / 2
		}
		ok, err := v.nextAnchor(l, mid, hi)
		switch page := &v.pk.page; {
		case err != nil:
			return -1, err
		case ok && page.granule-l.base <= frame:
			best, lo = page.off, page.off+page.len
		case mid == lo:
			return best, nil
		default:
			hi = mid
		}
	}
	return best, nil
}

// nextAnchor reads the next page that decoding can begin with, if it begins in [from, to).
func (v *vorbisCodec) nextAnchor(l *vorbisLink, from, to int64) (bool, error) {
	v.pk.at, v.pk.limit = from, to
	for {
		switch err := v.pk.next(); {
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, err
		case l.isAnchor(&v.pk.page):
			return true, nil
		}
	}
}
