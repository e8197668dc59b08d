package mp3

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// lyrics3 makes a tag of version 1 or 2.
func lyrics3(version int, text string) []byte {
	if version == 1 {
		return []byte(lyricsBegin + text + lyricsEndV1)
	}
	return []byte(lyricsBegin + text + fmt.Sprintf("%06d", len(lyricsBegin)+len(text)) + lyricsEndV2)
}

// Tags around the frames are no sound and shift nothing.
func TestTagsAround(t *testing.T) {
	m := makeStream(1, kinds[0], 12)
	want := decodeAll(t, m.out)
	falseSync := bytes.Repeat([]byte{0xff, 0xfb, 0x90, 0x64}, 5000)
	footer := join([]byte("3DI"), []byte{4, 0, 0x10, 0, 0, 7, 0x68})
	for name, c := range map[string]struct{ before, after []byte }{
		"ID3v2":               {before: id3(3, 0, make([]byte, 1000))},
		"ID3v2 false sync":    {before: id3(3, 0, falseSync)},
		"two ID3v2":           {before: join(id3(3, 0, falseSync), id3(4, 0, falseSync[:500]))},
		"five ID3v2":          {before: bytes.Repeat(id3(2, 0, falseSync[:100]), 5)},
		"ID3v2.4 footer":      {before: join(id3(4, 0x10, falseSync[:1000]), footer)},
		"APE in front":        {before: apeTag(apeItem("Title", "x", 0), 1)},
		"APE and ID3v2":       {before: join(apeTag(falseSync, 1), id3(3, 0, falseSync))},
		"ID3v1":               {after: id3v1()},
		"ID3v1 extended":      {after: join([]byte("TAG+"), make([]byte, id3v1PlusSize-4), id3v1())},
		"APE":                 {after: apeTag(falseSync, 1)},
		"APE without header":  {after: headless(apeTag(falseSync, 1))},
		"Lyrics3 v1":          {after: join(lyrics3(1, string(falseSync[:5000])), id3v1())},
		"Lyrics3 v2":          {after: lyrics3(2, string(falseSync))},
		"APE, Lyrics3, ID3v1": {after: join(apeTag(falseSync, 1), lyrics3(2, string(falseSync)), id3v1())},
		"ID3v2.4 at the end":  {after: join(id3(4, 0x10, falseSync[:1000]), footer)},
		"ID3v1 twice":         {after: join(id3v1(), id3v1())},
		"zeros":               {after: make([]byte, 3000)},
	} {
		b := join(c.before, m.out, c.after)
		d := mustOpen(t, b)
		sameSamples(t, name, readAll(t, d, 1000), want)
		if n := len(d.Warnings()); n > 0 && name != "zeros" {
			t.Errorf("%s: %q", name, d.Warnings())
		}
	}
}

// A tag that claims more than there is is noted, and the frames behind its header are found.
func TestLyingTags(t *testing.T) {
	m := makeStream(1, kinds[0], 12)
	want := decodeAll(t, m.out)
	long := id3(3, 0, nil)
	copy(long[6:], []byte{127, 127, 127, 127})
	notSafe := id3(3, 0, nil)
	copy(notSafe[6:], []byte{255, 255, 255, 255})
	ape := apeTag(nil, 0)[:apeHeaderSize]
	binary.LittleEndian.PutUint32(ape[12:], 0xffffffff)
	apeEnd := apeTag(nil, 0)[apeHeaderSize:]
	binary.LittleEndian.PutUint32(apeEnd[12:], 0xffffffff)
	for name, c := range map[string]struct{ before, after []byte }{
		"ID3v2 of 256 MiB":      {before: long},
		"ID3v2 of no such size": {before: notSafe},
		"ID3v2 with more":       {before: join(id3(3, 0, make([]byte, 50)), long, make([]byte, 100))},
		"APE of 4 GiB":          {before: ape},
		"APE end of 4 GiB":      {after: apeEnd},
		"Lyrics3 of 999999":     {after: []byte("999999" + lyricsEndV2)},
		"Lyrics3 of no size":    {after: []byte("xxxxxx" + lyricsEndV2)},
		"Lyrics3 of no begin":   {after: []byte(lyricsEndV1)},
	} {
		d := mustOpen(t, join(c.before, m.out, c.after))
		sameSamples(t, name, readAll(t, d, 1000), want)
		if len(d.Warnings()) == 0 && !strings.HasPrefix(name, "Lyrics3 of no begin") {
			t.Errorf("%s: no warning", name)
		}
	}
}

// Small files that claim much cost nothing and are no sound.
func TestTagBombs(t *testing.T) {
	buildTables()
	bomb := id3(3, 0, nil)
	copy(bomb[6:], []byte{127, 127, 127, 127})
	ape := apeTag(nil, 0)
	binary.LittleEndian.PutUint32(ape[12:], 0xffffffff)
	binary.LittleEndian.PutUint32(ape[apeHeaderSize+12:], 0xffffffff)
	for _, b := range [][]byte{nil, {0xff}, []byte("3DI"), []byte("TAG"), []byte("ID3"), []byte(lyricsEndV1), []byte(lyricsEndV2), []byte("APETAGEX"), bomb, bytes.Repeat(bomb, 200), ape, bytes.Repeat([]byte{0xff}, 1<<17), []byte(strings.Repeat(lyricsEndV1, 1000))} {
		r := bytes.NewReader(b)
		if got := allocated(func() {
			if _, err := New(r, int64(len(b))); !errors.Is(err, ErrFormat) {
				t.Errorf("%.20q: %v", b, err)
			}
		}); got > 100<<10 {
			t.Errorf("%.20q: %d bytes allocated", b, got)
		}
		if Sniff(r, int64(len(b))) {
			t.Errorf("%.20q is taken for MPEG audio", b)
		}
	}
}

// frames of ID3v2 for the tests of text.
func id3Frame(version int, name string, flags byte, body []byte) []byte {
	n := len(body)
	switch version {
	case 2:
		return join([]byte(name[:3]), []byte{byte(n >> 16), byte(n >> 8), byte(n)}, body)
	case 3:
		return join([]byte(name), []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 0, flags}, body)
	}
	return join([]byte(name), []byte{byte(n >> 21 & 127), byte(n >> 14 & 127), byte(n >> 7 & 127), byte(n & 127), 0, flags}, body)
}

func utf16Text(s string, order binary.AppendByteOrder, mark bool) []byte {
	var b []byte
	if mark {
		b = order.AppendUint16(b, 0xfeff)
	}
	for _, r := range s {
		b = order.AppendUint16(b, uint16(r))
	}
	return b
}

func tagsOf(t *testing.T, before, after []byte) []Tag {
	t.Helper()
	d := mustOpen(t, join(before, makeStream(1, kinds[0], 4).out, after))
	tags, err := d.Tags()
	if err != nil {
		t.Fatal(err)
	}
	return tags
}

// User text in all versions and encodings.
func TestID3Text(t *testing.T) {
	want := []Tag{{"LOOPSTART", "12345"}, {"Größe", "Ωß"}}
	latin := []Tag{{"LOOPSTART", "12345"}, {"Gr\u00f6\u00dfe", "\u00e9"}}
	for version := 2; version <= 4; version++ {
		name := "TXXX"
		if version == 2 {
			name = "TXX "
		}
		encode := map[string]func(a, b string) []byte{
			"latin 1": func(a, b string) []byte {
				body := []byte{0}
				for _, r := range a + "\x00" + b {
					body = append(body, byte(r))
				}
				return body
			},
			"UTF-16, little": func(a, b string) []byte {
				return join([]byte{1}, utf16Text(a, binary.LittleEndian, true), []byte{0, 0}, utf16Text(b, binary.LittleEndian, true))
			},
			"UTF-16, big, with mark": func(a, b string) []byte {
				return join([]byte{1}, utf16Text(a, binary.BigEndian, true), []byte{0, 0}, utf16Text(b, binary.BigEndian, true), []byte{0, 0})
			},
			"UTF-16, big": func(a, b string) []byte {
				return join([]byte{2}, utf16Text(a, binary.BigEndian, false), []byte{0, 0}, utf16Text(b, binary.BigEndian, false))
			},
			"UTF-8": func(a, b string) []byte { return []byte("\x03" + a + "\x00" + b + "\x00") },
		}
		for encoding, f := range encode {
			want := want
			if encoding == "latin 1" {
				want = latin
			}
			var body []byte
			for _, tag := range want {
				body = append(body, id3Frame(version, name, 0, f(tag.Key, tag.Value))...)
			}
			picture := id3Frame(version, "APIC", 0, bytes.Repeat([]byte{0xff, 0xfb}, 30000))
			for i, b := range [][]byte{body, join(body, make([]byte, 500)), join(picture, body)} {
				got := tagsOf(t, id3(byte(version), 0, b), nil)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("ID3v2.%d, %s, %d: %q, want %q", version, encoding, i, got, want)
				}
			}
		}
	}
}

// What flags put before, between or behind the text.
func TestID3Flags(t *testing.T) {
	want := []Tag{{"LOOPSTART", "1"}, {"TIT2", "ÿ\u0000"[:2] + "x"}}
	text := []byte("\x00LOOPSTART\x001")
	title := []byte{0, 0xff, 'x'}
	plain := func(v int) []byte { return join(id3Frame(v, "TXXX", 0, text), id3Frame(v, "TIT2", 0, title)) }
	unsync := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte{0xff}, []byte{0xff, 0}) }
	for name, tag := range map[string][]byte{
		"plain 2.3":          id3(3, 0, plain(3)),
		"plain 2.4":          id3(4, 0, plain(4)),
		"extended 2.3":       id3(3, id3Extended, join([]byte{0, 0, 0, 6}, make([]byte, 6), plain(3))),
		"extended 2.4":       id3(4, id3Extended, join([]byte{0, 0, 0, 6, 1, 0}, plain(4))),
		"unsynchronised 2.3": id3(3, id3Unsync, unsync(plain(3))),
		"unsynchronised 2.4": id3(4, 0, join(id3Frame(4, "TXXX", 0, text), id3Frame(4, "TIT2", 2, unsync(title)))),
		"group 2.3":          id3(3, 0, join(id3Frame(3, "TXXX", 0x20, join([]byte{9}, text)), id3Frame(3, "TIT2", 0, title))),
		"group, length 2.4":  id3(4, 0, join(id3Frame(4, "TXXX", 0x41, join([]byte{9, 0, 0, 0, 12}, text)), id3Frame(4, "TIT2", 0, title))),
		"compressed 2.3":     id3(3, 0, join(id3Frame(3, "TPE1", 0x80, text), plain(3))),
		"encrypted 2.4":      id3(4, 0, join(id3Frame(4, "TPE1", 0x04, text), plain(4))),
		"empty text":         id3(3, 0, join(id3Frame(3, "TPE1", 0, nil), plain(3))),
		"frame past the end": id3(3, 0, join(plain(3), id3Frame(3, "TPE1", 0, make([]byte, 99))[:20])),
		"two tags":           join(id3(3, 0, id3Frame(3, "TXXX", 0, text)), id3(4, 0, id3Frame(4, "TIT2", 0, title))),
	} {
		if got := tagsOf(t, tag, nil); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := tagsOf(t, id3(5, 0, plain(4)), nil); got != nil {
		t.Errorf("unknown version: %q", got)
	}
}

// ID3v2.4 with sizes as in ID3v2.3, as some writers have them.
func TestID3PlainSizes(t *testing.T) {
	long := strings.Repeat("a", 200)
	body := id3Frame(3, "TXXX", 0, []byte("\x00KEY\x00"+long)) // 0xcd has the high bit set
	if got := tagsOf(t, id3(4, 0, body), nil); len(got) != 1 || got[0].Value != long {
		t.Errorf("%.60q", got)
	}
}

func TestAPEText(t *testing.T) {
	items := join(apeItem("LOOPSTART", "77", 0), apeItem("Cover", "\xff\xd8", 2), apeItem("Title", "x\xffy", 0))
	want := []Tag{{"LOOPSTART", "77"}, {"Title", "x\ufffdy"}}
	whole := apeTag(items, 3)
	for name, c := range map[string]struct{ before, after []byte }{
		"behind":         {nil, join(whole, id3v1())},
		"without header": {nil, headless(whole)},
		"in front":       {whole, nil},
	} {
		if got := tagsOf(t, c.before, c.after); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	lying := apeItem("KEY", "abc", 0)
	binary.LittleEndian.PutUint32(lying, 0xfffffff0)
	if got := tagsOf(t, nil, apeTag(lying, 1)); got != nil {
		t.Errorf("item of 4 GiB: %q", got)
	}
}

// Text is read up to a limit, in bytes and in frames.
func TestTextLimits(t *testing.T) {
	big := id3Frame(3, "TIT2", 0, append([]byte{0}, bytes.Repeat([]byte{'a'}, 600<<10)...))
	got := tagsOf(t, id3(3, 0, join(big, big, big)), nil)
	total := 0
	for _, tag := range got {
		total += len(tag.Value)
	}
	if len(got) == 0 || total > maxTagText {
		t.Errorf("%d tags of %d bytes", len(got), total)
	}
	many := bytes.Repeat(id3Frame(3, "TIT2", 0, []byte{0, 'a'}), 5000)
	if got := tagsOf(t, id3(3, 0, many), nil); len(got) != maxTagFrames {
		t.Errorf("%d tags, want %d", len(got), maxTagFrames)
	}
}
