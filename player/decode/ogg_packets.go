package decode

import (
	"bytes"
	"errors"
	"io"
)

// oggMaxPacket is the largest packet that is put together. The largest in the wild are comments
// with a picture; a sound packet has a few KiB.
const oggMaxPacket = 1 << 20

// errOggLink is the end of a stream because another one begins, at page.off.
var errOggLink = errors.New("another stream begins")

// oggPackets puts the packets of one logical stream together (RFC 3533, section 5). Pages of other
// streams are passed over.
type oggPackets struct {
	oggReader
	serial uint32
	begun  bool // a page was read since the start, of this number and checksum:
	seq    uint32
	crc    uint32

	ended      bool // a page with the end mark was read
	unnumbered bool // the pages' numbers mean nothing
	misnumber  bool // one was not the one before plus 1

	packets [][]byte // those that end on the page, good until the next call
	gap     bool     // something is missing between the packets of the last call and these

	open  bool   // the last packet of the pages so far goes on:
	carry []byte // this is its start
	spare []byte // the packet that was carried before
	drop  bool   // it goes on, but its start is missing

	skips func(oggSkip) // told what was passed over
}

// start makes the page at off the next one. A packet that goes on from the page before is left
// out, without a gap.
func (p *oggPackets) start(off int64) {
	p.at = off
	p.begun, p.ended, p.open, p.drop, p.gap, p.misnumber = false, false, false, false, false, false
	p.packets = p.packets[:0]
	p.waste = 0
}

// nextPage reads on to the next page that a packet ends on. The end is io.EOF, or errOggLink where
// another stream begins.
func (p *oggPackets) nextPage() error {
	p.packets, p.gap = p.packets[:0], false
	for len(p.packets) == 0 {
		err := p.next()
		if p.skip.len > 0 && p.skips != nil {
			p.skips(p.skip)
		}
		switch {
		case err != nil:
			return err
		case p.page.flags&oggFirst != 0 && p.begun:
			p.at = p.page.off
			return errOggLink
		case p.page.serial == p.serial && !p.twice():
			p.follow()
			p.split()
		}
	}
	return nil
}

// twice tells whether the page is the last one once more.
func (p *oggPackets) twice() bool {
	return p.begun && p.page.seq == p.seq && p.page.crc == p.crc
}

// follow compares the page with the one before it: pages are numbered one by one, and a packet that
// goes on has to be gone on with.
func (p *oggPackets) follow() {
	continued := p.page.flags&oggContinued != 0
	if p.begun && p.page.seq != p.seq+1 {
		if p.misnumber = true; !p.unnumbered {
			p.gap, p.open = true, false
		}
	}
	if p.begun && continued != (p.open || p.drop) {
		p.gap, p.open = true, false
	}
	p.drop = continued && !p.open
	p.ended = p.ended || p.page.flags&oggLast != 0
	p.begun, p.seq, p.crc = true, p.page.seq, p.page.crc
}

// split finds the packets that end on the page and keeps the start of the one that goes on.
func (p *oggPackets) split() {
	body := p.page.body
	n, last := 0, 0
	for _, s := range p.page.segments {
		n, last = n+int(s), int(s)
		if last == 255 {
			continue
		}
		if !p.drop {
			p.packets = append(p.packets, p.join(body[:n]))
		}
		body, n, p.drop = body[n:], 0, false
	}
	if last == 255 && !p.drop {
		p.keep(body)
	}
}

// keep appends to the packet that goes on. One that gets too long is given up, which follow then
// finds to be a gap.
func (p *oggPackets) keep(part []byte) {
	if !p.open {
		p.carry = p.carry[:0]
	}
	p.carry, p.open = append(p.carry, part...), true
	if len(p.carry) > oggMaxPacket {
		p.carry, p.open = nil, false
	}
}

// join puts the end of a packet to what was carried of it.
func (p *oggPackets) join(end []byte) []byte {
	if !p.open {
		return end
	}
	whole := append(p.carry, end...)
	p.carry, p.spare, p.open = p.spare[:0], whole, false
	return whole
}

// slim gives back what large packets have taken.
func (p *oggPackets) slim() {
	p.oggReader.slim()
	if cap(p.carry) > 2*oggAhead {
		p.carry = nil
	}
	if cap(p.spare) > 2*oggAhead {
		p.spare = nil
	}
}

// An oggStream is a logical stream as its first page tells it.
type oggStream struct {
	off    int64 // of its first page
	body   int64 // where that page's body is, and its length:
	length int64
	serial uint32
	codec  string // by name, "" where it is not known
	first  []byte // its first packet, or the start of it
}

// oggCodecs are the first bytes of first packets, longest names for people.
var oggCodecs = []magic{
	{0, "\x01vorbis", "Vorbis"},
	{0, "\x7fFLAC", "FLAC"},
	{0, "fLaC", "FLAC"},
	{0, "OpusHead", "Opus"},
	{0, "Speex   ", "Speex"},
	{0, "CELT    ", "CELT"},
	{0, "PCM     ", "PCM"},
	{0, "\x80theora", "Theora"},
	{0, "fishead\x00", "Skeleton"},
	{0, "\x80kate", "Kate"},
	{0, "BBCD\x00", "Dirac"},
	{0, "\x01video", "OGM video"},
	{0, "\x01audio", "OGM sound"},
	{0, "CMML\x00", "CMML"},
	{0, "\x80daala", "Daala"},
	{0, "\x7fMIDI", "MIDI"},
}

// Bounds of the logical streams side by side, and of what is kept of their first packets.
const (
	oggMaxStreams = 64
	oggMaxFirst   = 128
)

// streams lists the logical streams that begin at off: their first pages stand together in front of
// all others (RFC 3533, section 4). The reader stands behind the last of them afterwards.
func (o *oggReader) streams(off int64) ([]oggStream, error) {
	var list []oggStream
	o.at = off
	for len(list) < oggMaxStreams {
		at := o.at
		switch err := o.next(); {
		case err == io.EOF && len(list) > 0:
			return list, nil
		case err != nil:
			return nil, err
		case o.page.flags&oggFirst == 0:
			o.at = at
			return list, nil
		}
		first := bytes.Clone(o.page.body[:min(len(o.page.body), oggMaxFirst)])
		length := int64(len(o.page.body))
		list = append(list, oggStream{
			off: o.page.off, body: o.at - length, length: length,
			serial: o.page.serial, codec: oggCodecName(first), first: first,
		})
	}
	return list, nil
}

func oggCodecName(packet []byte) string {
	for _, c := range oggCodecs {
		if len(packet) >= len(c.magic) && string(packet[:len(c.magic)]) == c.magic {
			return c.name
		}
	}
	return ""
}
