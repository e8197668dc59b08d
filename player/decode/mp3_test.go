package decode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/player/decode/mp3"
)

// mp3Case is an MP3 out of the shared cases.
func mp3Case(t testing.TB, name string) []byte {
	t.Helper()
	return readFile(t, sharedDir(t, "cases", "audio", name))
}

// text is a TXXX frame of ID3v2.3.
func txxx(key, value string) []byte {
	body := append([]byte{0}, key+"\x00"+value...)
	return append(append([]byte("TXXX"), 0, 0, 0, byte(len(body)), 0, 0), body...)
}

func id3(frames ...[]byte) []byte {
	body := bytes.Join(frames, nil)
	return append(append([]byte("ID3\x03\x00\x00"), 0, 0, byte(len(body)>>7), byte(len(body)&0x7f)), body...)
}

func TestMP3Loops(t *testing.T) {
	data := append(id3(txxx("LOOPSTART", "1000"), txxx("LOOPLENGTH", "5000")), mp3Case(t, "m06.mp3")...)
	s := openBytes(t, data)
	in := s.Info()
	same(t, "loops", in.Loops, []Loop{{Start: 1000, End: 6000}})
	if in.Frames != 22050 || in.Format != "mp3" || len(in.Warnings) != 0 {
		t.Errorf("info is %+v", in)
	}
}

func TestMP3LoopBeyondTheEnd(t *testing.T) {
	data := append(id3(txxx("LOOPSTART", "1000"), txxx("LOOPEND", "99999999")), mp3Case(t, "m06.mp3")...)
	in := openBytes(t, data).Info()
	if len(in.Loops) != 1 || in.Loops[0].End > 22050 || len(in.Warnings) == 0 {
		t.Errorf("loops %+v, warnings %q", in.Loops, in.Warnings)
	}
}

// TestMP3InWAV wraps a stream as format 0x55, with loop points and marks.
func TestMP3InWAV(t *testing.T) {
	raw := mp3Case(t, "m06.mp3")
	cue := testChunk{id: "cue ", body: append(append([]byte{1, 0, 0, 0}, make([]byte, 20)...), 0x10, 0x27, 0, 0)}
	w := wavSpec{tag: tagMP3, ch: 1, align: 1, data: raw, after: []testChunk{smpl([4]uint32{0, 100, 50000, 0}), cue}}
	s := openBytes(t, w.bytes())
	in := s.Info()
	if in.Format != "mp3" || !strings.HasSuffix(in.Encoding, " in WAV") || in.Rate != 44100 || in.Channels != 1 || in.Frames != 22050 {
		t.Errorf("info is %+v", in)
	}
	same(t, "loops", in.Loops, []Loop{{Start: 100, End: 22050}})
	same(t, "cues", in.Cues, []int64{10000})
	if len(in.Warnings) != 1 {
		t.Errorf("warnings are %q", in.Warnings)
	}
	same(t, "samples", floats(t, s), floats(t, openBytes(t, raw)))
	seeksLikeStraight(t, w.bytes(), 20)
}

func TestMP3InWAVIsNone(t *testing.T) {
	w := wavSpec{tag: tagMP3, ch: 1, align: 1, data: bytes.Repeat([]byte("no sound"), 100)}
	_, err := Open(bytes.NewReader(w.bytes()), int64(len(w.bytes())), nil)
	if !ours(err) || !strings.Contains(err.Error(), "wav: format 85") {
		t.Errorf("error is %v", err)
	}
}

// TestMP3SeekTable hands a table from one stream to another of the same bytes, and to one of others.
func TestMP3SeekTable(t *testing.T) {
	data := mp3Case(t, "m12.mp3")
	first := openBytes(t, data)
	want := floats(t, first)
	table := first.SeekTable()
	if len(table) == 0 {
		t.Fatal("no table after reading everything")
	}
	second := openBytes(t, data)
	if err := second.SetSeekTable(table); err != nil {
		t.Fatal(err)
	}
	if second.Len() != len(want)/2 {
		t.Errorf("Len %d, want %d", second.Len(), len(want)/2)
	}
	for _, p := range []int{40000, 3, 70000} {
		checkSeek(t, second, want, p)
	}
	other := openBytes(t, mp3Case(t, "m06.mp3"))
	if err := other.SetSeekTable(table); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a table of other bytes: %v", err)
	}
	if n := len(floats(t, other)); n != 22050 {
		t.Errorf("%d frames after the refused table", n)
	}
}

func TestSeekTableWhereThereIsNone(t *testing.T) {
	s := openBytes(t, wavGood().bytes())
	if s.SeekTable() != nil || s.SetSeekTable([]byte("anything")) != nil || s.SetSeekTable(nil) != nil {
		t.Error("a WAV takes a seek table to heart")
	}
}

// TestMP3ErrorKinds checks that errors of the decoder become ours without losing what they are.
func TestMP3ErrorKinds(t *testing.T) {
	errDisk := errors.New("disk")
	for _, c := range []struct{ in, want error }{
		{fmt.Errorf("x: %w", mp3.ErrFormat), ErrFormat},
		{fmt.Errorf("x: %w", mp3.ErrUnsupported), ErrUnsupported},
		{fmt.Errorf("x: %w", mp3.ErrCorrupt), ErrCorrupt},
		{io.ErrUnexpectedEOF, ErrCorrupt},
	} {
		got := mpegError(c.in)
		if !errors.Is(got, c.want) || !errors.Is(got, c.in) || got.Error() != c.in.Error() {
			t.Errorf("%v became %v", c.in, got)
		}
	}
	for _, err := range []error{nil, io.EOF, errDisk} {
		if got := mpegError(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestMP3Inspect(t *testing.T) {
	r, err := Inspect(context.Background(), openBytes(t, mp3Case(t, "m06.mp3")))
	if err != nil || r.Frames != 22050 || r.Peak == 0 || r.Claimed != -1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestMPEGSync(t *testing.T) {
	for head, want := range map[string]bool{
		"\xff\xfb\x90\x64": true, "\xff\xf3\x40\xc4": true, "\xff\xe3\x18\xc4": true, // MPEG-1, 2 and 2.5
		"\xff\xfd\x90\x64": true,                             // Layer II
		"\xff\xf1\x50\x80": false,                            // AAC
		"\xff\xeb\x90\x64": false,                            // a version that is reserved
		"\xff\xfb\xf0\x64": false, "\xff\xfb\x9c\x64": false, // a bit rate and a sample rate that are none
		"\xff\xfb": false, "RIFF": false, "": false,
	} {
		if got := mpegSync([]byte(head)); got != want {
			t.Errorf("% x: %t", head, got)
		}
	}
}
