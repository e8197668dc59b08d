package decode

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
)

// TestOggPackets cuts packets of all sizes into pages of all sizes, among pages of another stream,
// and wants them back.
func TestOggPackets(t *testing.T) {
	r := seeded(t)
	for range 40 {
		var packets [][]byte
		for range 60 {
			p := make([]byte, r.IntN([]int{2, 30, 256, 511, 3000, 70000}[r.IntN(6)]))
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			packets = append(packets, p)
		}
		var file []byte
		for _, p := range pagesOf(packets, func() int { return 1 + r.IntN([]int{1, 3, 255}[r.IntN(3)]) }) {
			file = append(file, p.bytes()...)
			if r.IntN(3) == 0 {
				file = append(file, packPage(0, 1, 8, 0, []byte("other"), nil).bytes()...)
			}
		}
		pk := oggPackets{oggReader: *oggOf(file), serial: 7}
		var got [][]byte
		for {
			err := pk.nextPage()
			if err == io.EOF {
				break
			}
			if err != nil || pk.gap {
				t.Fatalf("after %d packets: %v, gap %v", len(got), err, pk.gap)
			}
			for _, p := range pk.packets {
				got = append(got, bytes.Clone(p))
			}
		}
		samePackets(t, got, packets)
	}
}

func samePackets(t *testing.T, got, want [][]byte) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("packet %d of %d: %d bytes, want %d", i, len(want), len(got[i]), len(want[i]))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d packets, want %d", len(got), len(want))
	}
}

// pagesOf cuts packets into pages of as many segments as size tells.
func pagesOf(packets [][]byte, size func() int) []testPage {
	all := packPage(0, 0, 0, 0, packets...)
	var list []testPage
	open := false
	for len(all.segments) > 0 {
		n := min(size(), len(all.segments))
		p := testPage{granule: -1, serial: 7, seq: uint32(len(list)), segments: all.segments[:n]}
		if open {
			p.flags = oggContinued
		}
		bytes := 0
		for _, s := range p.segments {
			bytes += int(s)
			if open = s == 255; !open {
				p.granule = int64(len(list))
			}
		}
		p.body, all.body, all.segments = all.body[:bytes], all.body[bytes:], all.segments[n:]
		list = append(list, p)
	}
	return list
}

// TestOggPacketGaps leaves pages out: no packet is put together of parts that do not belong
// together, the gap is told once, and no packet is lost that need not be.
func TestOggPacketGaps(t *testing.T) {
	r := seeded(t)
	var packets [][]byte
	for i := range 200 {
		packets = append(packets, bytes.Repeat([]byte{byte(i)}, r.IntN(1200)))
	}
	pages := pagesOf(packets, func() int { return 1 + r.IntN(5) })
	for lost := 1; lost < len(pages)-10; lost++ { // a gap is told with the packets behind it
		file := joinPages(slices.Delete(slices.Clone(pages), lost, lost+1)...)
		pk := oggPackets{oggReader: *oggOf(file), serial: 7}
		gaps, n, next := 0, 0, 0
		for pk.nextPage() == nil {
			if pk.gap {
				gaps++
			}
			for _, p := range pk.packets {
				for next < len(packets) && !bytes.Equal(packets[next], p) {
					next++
				}
				if next == len(packets) {
					t.Fatalf("page %d lost: a packet of %d bytes that was none", lost, len(p))
				}
				n, next = n+1, next+1
			}
		}
		// A page of up to 5 segments holds up to 5 packets and touches one more on each side.
		if gaps != 1 || n < len(packets)-7 {
			t.Errorf("page %d lost: %d gaps, %d of %d packets", lost, gaps, n, len(packets))
		}
	}
}

// TestOggPacketStarts begins in the middle: what goes on from before is left out, without a gap.
func TestOggPacketStarts(t *testing.T) {
	packets := [][]byte{make([]byte, 2000), []byte("whole"), make([]byte, 900)}
	pages := pagesOf(packets, func() int { return 2 })
	file := joinPages(pages...)
	for i := range pages {
		pk := oggPackets{oggReader: *oggOf(file), serial: 7}
		pk.start(int64(len(joinPages(pages[:i]...))))
		if err := pk.nextPage(); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if pk.gap {
			t.Errorf("from page %d: a gap", i)
		}
		for _, p := range pk.packets {
			if !slices.ContainsFunc(packets, func(q []byte) bool { return bytes.Equal(p, q) }) {
				t.Errorf("from page %d: a packet of %d bytes", i, len(p))
			}
		}
	}
}

// TestOggPacketTooLong gives a packet without an end up.
func TestOggPacketTooLong(t *testing.T) {
	packets := [][]byte{[]byte("before"), make([]byte, oggMaxPacket+300000), []byte("behind")}
	pk := oggPackets{oggReader: *oggOf(joinPages(pagesOf(packets, func() int { return 255 })...)), serial: 7}
	var got [][]byte
	gaps := 0
	for pk.nextPage() == nil {
		if pk.gap {
			gaps++
		}
		for _, p := range pk.packets {
			got = append(got, bytes.Clone(p))
		}
	}
	samePackets(t, got, [][]byte{packets[0], packets[2]})
	if gaps != 1 || cap(pk.carry) > 2*oggMaxPacket {
		t.Errorf("%d gaps, %d bytes kept", gaps, cap(pk.carry))
	}
}

func TestOggNextLink(t *testing.T) {
	file := joinPages(
		packPage(0, 5, 7, 0, []byte("a")), packPage(oggLast, 6, 7, 1, []byte("b")),
		packPage(oggFirst, 0, 9, 0, []byte("c")), packPage(0, 5, 7, 2, []byte("d")))
	pk := oggPackets{oggReader: *oggOf(file), serial: 7}
	for range 2 {
		if err := pk.nextPage(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // and again
		if err := pk.nextPage(); err != errOggLink {
			t.Errorf("%v, want the next link", err)
		}
	}
}

func TestOggStreams(t *testing.T) {
	var pages []testPage
	names := []string{"Skeleton", "Theora", "Vorbis", "FLAC", "Opus", "Speex", ""}
	for i, first := range []string{"fishead\x00", "\x80theora", "\x01vorbis", "\x7fFLAC", "OpusHead", "Speex   ", "else"} {
		pages = append(pages, packPage(oggFirst, 0, uint32(10+i), 0, []byte(first)))
	}
	file := joinPages(append(pages, packPage(0, 0, 12, 1, []byte("x")))...)
	list, err := oggOf(file).begin()
	if err != nil || len(list) != len(names) {
		t.Fatalf("%d streams, %v", len(list), err)
	}
	for i, s := range list {
		if s.codec != names[i] || s.serial != uint32(10+i) {
			t.Errorf("stream %d is %q of number %d, want %q of %d", i, s.codec, s.serial, names[i], 10+i)
		}
	}
	for name, data := range map[string][]byte{
		"nothing":         nil,
		"rubbish":         bytes.Repeat([]byte("rubbish "), 1000),
		"from the middle": file[len(joinPages(pages...)):],
		"far behind":      append(make([]byte, oggMaxRubbish+1), file...),
	} {
		if _, err := oggOf(data).begin(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
	many := bytes.Repeat(pages[0].bytes(), 3*oggMaxStreams)
	if list, err := oggOf(many).begin(); len(list) > oggMaxStreams {
		t.Errorf("%d streams, %v", len(list), err)
	}
}
