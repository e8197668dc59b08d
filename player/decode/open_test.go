package decode

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// padded is head and enough behind it to be a file.
func padded(head string) []byte { return append([]byte(head), make([]byte, 3000)...) }

// TestKnownByName lists what is refused by its name.
func TestKnownByName(t *testing.T) {
	at := func(n int, s string) string { return strings.Repeat("\x01", n) + s }
	for head, name := range map[string]string{
		"FORM\x00\x00\x10\x00AIFFCOMM":                         "AIFF",
		"FORM\x00\x00\x10\x00AIFCFVER":                         "AIFF-C",
		"FORM\x00\x00\x10\x008SVXVHDR":                         "8SVX",
		"FORM\x00\x00\x10\x00ILBM":                             "IFF",
		"MThd\x00\x00\x00\x06":                                 "MIDI",
		"\x00\x00\x00\x20ftypM4A ":                             "M4A",
		"\x00\x00\x00\x18ftypisom":                             "MP4",
		"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9":             "WMA",
		"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00": "W64",
		".snd\x00\x00\x00\x18":                                 "AU",
		"caff\x00\x01":                                         "CAF",
		"wvpk":                                                 "WavPack",
		"MAC \x96\x0f":                                         "Monkey",
		"\x1a\x45\xdf\xa3":                                     "WebM",
		"\xff\xf1\x50\x80":                                     "AAC",
		"RIFF\x00\x00\x00\x00sfbkLIST":                         "SoundFont",
		"RIFF\x00\x00\x00\x00RMIDdata":                         "MIDI",
		at(44, "SCRM"):                                         "S3M",
		at(1080, "M.K."):                                       "MOD",
		"Creative Voice File\x1a":                              "VOC",
		"ID3\x03\x00\x00\x00\x00\x00\x0a0123456789wvpk":        "WavPack",
	} {
		data := padded(head)
		_, err := Open(bytes.NewReader(data), int64(len(data)), nil)
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v, want it named %s", head[:4], err, name)
		}
	}
}

// TestNotASound lists what is none, and that it is told in so many words.
func TestNotASound(t *testing.T) {
	for name, data := range map[string][]byte{
		"text":     bytes.Repeat([]byte("This is no sound, but a text.\n"), 200),
		"a letter": {'x'},
		"zeros":    make([]byte, 10000),
		"PNG":      padded("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"),
		"zip":      padded("PK\x03\x04"),
		"JSON":     []byte(`{"sndpak":1}`),
		"noise":    noise(20000),
	} {
		_, err := Open(bytes.NewReader(data), int64(len(data)), nil)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "not a known sound format") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// noise is rubbish that is always the same.
func noise(n int) []byte {
	b, x := make([]byte, n), uint32(1)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

func TestEmptyEntry(t *testing.T) {
	for _, size := range []int64{0, -1} {
		_, err := Open(bytes.NewReader(nil), size, nil)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "empty entry") {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

// TestID3BeforeAnything puts tags before a WAV and a FLAC.
func TestID3BeforeAnything(t *testing.T) {
	tag := append([]byte("ID3\x04\x00\x00\x00\x00\x01\x00"), bytes.Repeat([]byte("fLaC"), 32)...)
	for format, data := range map[string][]byte{"wav": wavGood().bytes(), "flac": flacGood(1, 16, 500).bytes()} {
		s := openBytes(t, append(append(bytes.Clone(tag), tag...), data...))
		if in := s.Info(); in.Format != format || in.Frames != 500 {
			t.Errorf("%s: %+v", format, in)
		}
	}
}

// TestOggBehindRubbish finds the stream, and tells of the rubbish.
func TestOggBehindRubbish(t *testing.T) {
	good := readFile(t, sharedDir(t, "cases", "audio", "o17.ogg"))
	want := floats(t, openBytes(t, good))
	s := openBytes(t, append(bytes.Repeat([]byte("xyz"), 500), good...))
	same(t, "samples", floats(t, s), want)
	if w := s.Info().Warnings; len(w) == 0 || !strings.Contains(w[len(w)-1], "1500 bytes before the Ogg stream") {
		t.Errorf("warnings are %q", w)
	}
}

// TestReadsWithinTheEntry opens a sound in the middle of a pack whose neighbours look like sounds: no
// read may leave the entry.
func TestReadsWithinTheEntry(t *testing.T) {
	for name, data := range oneOfEach(t) {
		r := &bounded{data: data, t: t}
		s, err := Open(r, int64(len(data)), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.Len()
		floats(t, s)
		if err := s.Seek(s.Len() / 2); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.ReadFloat32(make([]float32, 800))
	}
}

// bounded fails the test where a read goes beyond its bytes.
type bounded struct {
	data []byte
	t    *testing.T
}

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off+int64(len(p)) > int64(len(b.data)) {
		b.t.Errorf("read of %d bytes at %d, the entry has %d", len(p), off, len(b.data))
	}
	return bytes.NewReader(b.data).ReadAt(p, off)
}

func TestOptions(t *testing.T) {
	data := wavGood().bytes()
	_, err := Open(bytes.NewReader(data), int64(len(data)), &Options{MaxDuration: 5e6}) // 5 ms
	wants(t, err, ErrLimit)
	if _, err := Open(bytes.NewReader(data), int64(len(data)), &Options{MaxDuration: 12e6}); err != nil {
		t.Error(err)
	}
}

func FuzzOpen(f *testing.F) {
	for _, p := range []string{"w*.wav", "f*.flac", "o*.ogg", "m*.mp3"} {
		for _, b := range caseSeeds(f, p) {
			f.Add(b[:min(len(b), 20000)])
		}
	}
	f.Add([]byte("ID3\x04\x00\x00\x00\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, data []byte) { exercise(t, data) })
}

func FuzzWAV(f *testing.F) {
	for _, b := range caseSeeds(f, "w*.wav") {
		f.Add(b[:min(len(b), 3000)])
	}
	for _, b := range wavKinds(f) {
		f.Add(b[:min(len(b), 1500)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4 && isRIFF(data) {
			exercise(t, data)
		}
	})
}

func FuzzFLAC(f *testing.F) {
	for _, b := range caseSeeds(f, "f*.flac") {
		f.Add(b[:min(len(b), 20000)])
	}
	for _, kind := range []string{"verbatim", "fixed3", "linear", "linear-rice2", "linear-escape"} {
		spec := flacGood(2, 16, 300)
		spec.block = 64
		spec.kind = func(int, int) string { return kind }
		f.Add(spec.bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		exercise(t, data)
		if len(data) > 42 && string(data[:4]) == "fLaC" {
			exercise(t, mendFLAC(data))
		}
	})
}

// mendFLAC gives every frame header the checksum that is right for it, so that the fuzzer gets
// behind it, and what follows the header up to the next one its own.
func mendFLAC(data []byte) []byte {
	b := bytes.Clone(data)
	last := -1
	for i := 42; i+16 < len(b); i++ {
		if b[i] != 0xff || b[i+1]&0xfe != 0xf8 {
			continue
		}
		for n := flacMinHeader; n < flacMaxHeader; n++ {
			b[i+n-1] = crc8(b[i : i+n-1])
			if h, err := parseFLACHeader(b[i:]); err == nil && h.size == n {
				break
			}
		}
		mendFrame(b, last, i)
		last = i
	}
	mendFrame(b, last, len(b))
	return b
}

func mendFrame(b []byte, from, to int) {
	if from >= 0 && to-from > 10 {
		c := crc16(b[from : to-2])
		b[to-2], b[to-1] = byte(c>>8), byte(c)
	}
}

// exercise does with data what a player would: opens, measures, reads, seeks, and asks for all. Panics
// behind the gate are failures here too.
func exercise(t *testing.T, data []byte) {
	s, err := Open(bytes.NewReader(data), int64(len(data)), &Options{MaxRatio: 512})
	if err != nil {
		if !ours(err) {
			t.Fatalf("the error %v is none of ours", err)
		}
		noPanic(t, err)
		return
	}
	defer s.Close()
	got, err := floatsUpTo(s)
	noPanic(t, err)
	ch := s.Info().Channels
	n := s.Len()
	if len(got)/ch != n {
		t.Fatalf("Len %d, %d frames were read (%v)", n, len(got)/ch, err)
	}
	for _, p := range []int{n / 2, 0, n, n / 3} {
		if err := s.Seek(p); err != nil {
			noPanic(t, err)
			continue
		}
		buf := make([]float32, 64*ch)
		k, err := s.ReadFloat32(buf)
		noPanic(t, err)
		if err == nil {
			same(t, "after a seek", buf[:k*ch], got[p*ch:min((p+64)*ch, len(got))])
		}
	}
}

func noPanic(t *testing.T, err error) {
	if err != nil && strings.Contains(err.Error(), "the decoder failed at") {
		t.Fatalf("a panic was caught: %v", err)
	}
}
