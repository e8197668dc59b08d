package decode

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"
)

// numbered is a file as another stream: with another serial number.
func numbered(t testing.TB, data []byte, serial uint32) []byte {
	t.Helper()
	pages := testPages(t, data)
	for i := range pages {
		pages[i].serial = serial
	}
	return joinPages(pages...)
}

// TestF22VorbisChain plays links one after the other, whether or not they have the same serial number
// and the same headers, and wherever the longer one is.
func TestF22VorbisChain(t *testing.T) {
	long, short := longVorbis(t, 3), excerpt(t)
	other := oggenc(t, testSound(50000, 2, 44100, 9), 2, 44100, "-q", "6")
	for name, files := range map[string][][]byte{
		"twice the same":     {short, short},
		"twice the same 500": {long, long},
		"other serial":       {short, numbered(t, short, 2), numbered(t, short, 3)},
		"short long":         {short, long},
		"long short":         {long, short},
		"long tiny":          {long, other},
		"tiny long":          {other, long},
		"tiny tiny long":     {other, other, long},
		"other headers":      {short, other, short},
		"cut in the middle":  {short[:20000], numbered(t, short, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			var want []float32
			for _, f := range files {
				c := openVorbisBytes(t, f)
				part, err := readCodec(c, 4096)
				if err != io.EOF {
					t.Fatal(err)
				}
				want = append(want, part...)
			}
			file := bytes.Join(files, nil)
			_, got := decodeVorbis(t, file)
			same(t, "decoded", got, want)
			checkSeeksIn(t, file, got, 60)
		})
	}
}

func TestVorbisChainOfMany(t *testing.T) {
	tiny := oggenc(t, testSound(3000, 1, 44100, 1), 1, 44100, "-q", "1")
	var file []byte
	for i := range 70 {
		file = append(file, numbered(t, tiny, uint32(1+i%3))...)
	}
	in, _ := decodeVorbis(t, file)
	if in.Frames != 3000*vorbisMaxLinks {
		t.Errorf("%d frames, want %d links of 3000", in.Frames, vorbisMaxLinks)
	}
	checkWarning(t, in, "more streams")
	checkSeeks(t, file, 100)
}

// TestVorbisChainEnds has links that cannot be played on: the sound ends there and says why.
func TestVorbisChainEnds(t *testing.T) {
	short := excerpt(t)
	_, want := decodeVorbis(t, short)
	opus := packPage(oggFirst, 0, 4, 0, []byte("OpusHead"))
	headless := testPages(t, numbered(t, short, 6))
	for _, c := range []struct {
		name, warning string
		next          []byte
	}{
		{"mono", "1 channels at 44100 Hz", oggenc(t, testSound(5000, 1, 44100, 1), 1, 44100)},
		{"22 kHz", "2 channels at 22050 Hz", oggenc(t, testSound(5000, 2, 22050, 1), 2, 22050)},
		{"Opus", "Opus", opus.bytes()},
		{"no headers", "headers", joinPages(headless[0])},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := slices.Concat(short, c.next)
			in, got := decodeVorbis(t, file)
			same(t, "decoded", got, want)
			checkWarning(t, in, "another stream begins at "+fmt.Sprintf("0x%x", len(short)))
			checkWarning(t, in, c.warning)
			checkSeeksIn(t, file, got, 40)
		})
	}
}
