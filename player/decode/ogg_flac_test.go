package decode

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func demuxed(t testing.TB, data []byte) []byte {
	t.Helper()
	r, size, err := demuxFLAC(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil || int64(len(got)) != size {
		t.Fatalf("%d bytes of %d, %v", len(got), size, err)
	}
	return got
}

// flacByPages is the native stream as the test itself takes it out of the pages.
func flacByPages(t testing.TB, data []byte) []byte {
	t.Helper()
	var b []byte
	for _, p := range testPages(t, data) {
		b = append(b, p.body...)
	}
	return b[oggFLACHead:]
}

func TestOggFLAC(t *testing.T) {
	data := oggCase(t, "o12.ogg")
	got := demuxed(t, data)
	if want := flacByPages(t, data); !bytes.Equal(got, want) {
		t.Fatalf("%d bytes, want %d", len(got), len(want))
	}
	if !bytes.HasPrefix(got, []byte("fLaC\x00")) {
		t.Errorf("begins with %q", got[:8])
	}
	c, err := openFLAC(source{bytes.NewReader(got), int64(len(got))})
	if err != nil {
		t.Fatal(err)
	}
	if in := c.info(); in.Frames != 22050 || in.Channels != 2 {
		t.Errorf("got %+v, want 22050 frames of 2 channels", in)
	}
}

// TestOggFLACReader checks the reader as any io.ReaderAt is.
func TestOggFLACReader(t *testing.T) {
	data := oggCase(t, "o12.ogg")
	want := flacByPages(t, data)
	r, size, err := demuxFLAC(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(io.NewSectionReader(r, 0, size), want); err != nil {
		t.Error(err)
	}
	rnd := seeded(t)
	for range 2000 {
		off := rnd.IntN(len(want) + 10)
		b := make([]byte, rnd.IntN(70000))
		n, err := r.ReadAt(b, int64(off))
		exp := want[min(off, len(want)):min(off+len(b), len(want))]
		if !bytes.Equal(b[:n], exp) || (err == nil) != (n == len(b)) || err != nil && err != io.EOF {
			t.Fatalf("%d bytes at %d of %d: %d, %v", len(b), off, len(want), n, err)
		}
	}
	if _, err := r.ReadAt(make([]byte, 1), -1); err == nil || err == io.EOF {
		t.Errorf("read before the start: %v", err)
	}
}

// TestOggFLACOfEncoders decodes what flac and ffmpeg make to the samples that went in.
func TestOggFLACOfEncoders(t *testing.T) {
	pcm := testSound(70000, 2, 44100, 3)
	dir := t.TempDir()
	raw := filepath.Join(dir, "in.raw")
	var b []byte
	for _, v := range pcm {
		b = append(b, byte(v), byte(v>>8))
	}
	writeFile(t, raw, b)
	for name, command := range map[string]string{
		"flac":   "flac -s -f --ogg --force-raw-format --endian=little --sign=signed --channels=2 --bps=16 --sample-rate=44100 -o OUT " + raw,
		"ffmpeg": "ffmpeg -v error -y -f s16le -ar 44100 -ac 2 -i " + raw + " -c:a flac -f ogg OUT",
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(dir, name+".ogg")
			args := strings.Fields(strings.Replace(command, "OUT", out, 1))
			run(t, args[0], args[1:]...)
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			s := openBytes(t, data)
			same(t, name, shorts(t, s), pcm)
		})
	}
}

// TestOggFLACOverlap has pages whose length is wrong, so that the next one begins within them, and a
// page that holds another, with rubbish behind it.
func TestOggFLACOverlap(t *testing.T) {
	data := oggCase(t, "o12.ogg")
	want := flacByPages(t, data)
	pages := testPages(t, data)
	long := pages[1].bytes()
	long[oggFixed] = 255
	lying := slices.Concat(pages[0].bytes(), long, joinPages(pages[2:]...))
	if got := demuxed(t, lying); !bytes.Equal(got, want) {
		t.Errorf("a length too large: %d bytes, want %d", len(got), len(want))
	}
	inner := packPage(0, 9, pages[0].serial, 9, []byte("a page within")).bytes()
	nested := slices.Concat(pages[0].bytes(), packPage(0, 0, pages[0].serial, 1, inner).bytes(), make([]byte, 50), joinPages(pages[2:]...))
	want = slices.Concat(pages[0].body[oggFLACHead:], inner)
	for _, p := range pages[2:] {
		want = append(want, p.body...)
	}
	if got := demuxed(t, nested); !bytes.Equal(got, want) {
		t.Errorf("a page within a page: %d bytes, want %d", len(got), len(want))
	}
}

// TestOggFLACDamage has pages cut off, lost, between rubbish and beside others.
func TestOggFLACDamage(t *testing.T) {
	data := oggCase(t, "o12.ogg")
	want := flacByPages(t, data)
	pages := testPages(t, data)
	spaced := slices.Clone(pages[0].bytes())
	for _, p := range pages[1:] {
		spaced = slices.Concat(spaced, make([]byte, 700), packPage(0, 0, 99, 1, []byte("other")).bytes(), p.bytes())
	}
	if got := demuxed(t, spaced); !bytes.Equal(got, want) {
		t.Errorf("between rubbish: %d bytes, want %d", len(got), len(want))
	}
	if got := demuxed(t, slices.Concat(data, data)); !bytes.Equal(got, want) {
		t.Errorf("twice: %d bytes, want %d", len(got), len(want))
	}
	for n := 200; n < len(data); n += 997 {
		if got := demuxed(t, data[:n]); !bytes.HasPrefix(want, got) {
			t.Errorf("cut at %d: %d bytes that are not the first", n, len(got))
		}
	}
	for name, first := range map[string]string{"old": "fLaC\x00\x00\x00\x22", "version 2": "\x7fFLAC\x02\x00\x00\x00fLaC"} {
		bad := joinPages(packPage(oggFirst, 0, 1, 0, []byte(first)), packPage(0, 0, 1, 1, []byte("x")))
		if _, _, err := demuxFLAC(bytes.NewReader(bad), int64(len(bad))); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v, want ErrUnsupported", name, err)
		}
	}
	short := joinPages(packPage(oggFirst, 0, 1, 0, []byte("\x7fFLAC\x01\x00\x00\x00fLa")), packPage(0, 0, 1, 1, []byte("x")))
	if _, _, err := demuxFLAC(bytes.NewReader(short), int64(len(short))); !errors.Is(err, ErrCorrupt) {
		t.Errorf("short head: %v, want ErrCorrupt", err)
	}
	vorbis := theme(t)
	if _, _, err := demuxFLAC(bytes.NewReader(vorbis), int64(len(vorbis))); !errors.Is(err, ErrUnsupported) {
		t.Errorf("Vorbis: %v, want ErrUnsupported", err)
	}
}
