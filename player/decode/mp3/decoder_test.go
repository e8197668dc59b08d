package mp3

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// decodeFrames decodes frame by frame, without trimming, and lets the number of channels change: it
// gives what a conformance vector holds.
func decodeFrames(b []byte) []float32 {
	buildTables()
	var s stream
	if s.open(strings.NewReader(string(b)), int64(len(b))) != nil {
		return nil
	}
	var d frameDecoder
	var out []float32
	var buf [maxFrameSamples]float32
	held := 0
	for at := int(s.start); at+headerSize <= len(b); {
		h := headerOf(b[at:])
		size := h.size(s.free)
		if at+size > len(b) {
			break
		}
		f := b[at : at+size]
		at += size
		if parseInfo(h, f).present {
			continue
		}
		own := size - h.mainStart()
		side := checkSide(h, f[h.sideStart():h.mainStart()])
		switch {
		case !side.ok || side.bits > 8*(side.mainDataBegin+own):
			d.reset()
			held = 0
			continue
		case side.mainDataBegin > held:
			d.keep(h, f)
		default:
			d.decode(h, f, buf[:])
			out = append(out, buf[:h.frames()*h.channels()]...)
		}
		held += own
	}
	return out
}

// The conformance vectors. The reference has 16 bits, so what is decoded is rounded to them. In four
// of them it lacks the last frame, which is whole and is decoded here.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "vectors", "mp3"), "*.bit"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".bit"), func(t *testing.T) {
			b := readFile(t, name)
			want := shorts(readFile(t, strings.TrimSuffix(name, "bit")+"pcm"))
			raw := decodeFrames(b)
			got := rounded(raw)
			if extra := len(got) - len(want); extra != 0 && extra != 2*granuleSize {
				t.Errorf("%d samples, want %d", len(got), len(want))
			}
			step := 0.
			for i := range min(len(got), len(want)) {
				step = max(step, math.Abs(float64(got[i]-want[i]))*32768)
			}
			db := snr(got, want)
			t.Logf("%d of %d samples, %.1f dB, differs by %g steps at most", len(got), len(want), db, step)
			if step > 1 || db < 90 && step > 0 && loud(want) {
				t.Errorf("%.1f dB, differs by %g steps", db, step)
			}
			// The decoder itself gives the same as far as the channels stay the same.
			if ours := decodeAll(t, b); len(ours) > 0 {
				sameSamples(t, "Read", ours, raw[:len(ours)])
				if !strings.Contains(name, "he_mode") && len(ours) != len(raw) {
					t.Errorf("Read gives %d samples of %d", len(ours), len(raw))
				}
			}
		})
	}
}

// loud tells whether 90 dB can be asked of 16 bits: one vector never passes the first of them.
func loud(s []float32) bool {
	for _, v := range s {
		if math.Abs(float64(v)) > 2./32768 {
			return true
		}
	}
	return false
}

// expectation is a case of the shared test data.
type expectation struct {
	Outcome     string
	Channels    int
	Rate        int
	Frames      *int64
	FramesTol   int64   `json:"frames_tol"`
	FramesRange []int64 `json:"frames_range"`
	PCM         *struct {
		MinSNR    float64 `json:"min_snr_db"`
		Ref       string
		LagSearch int `json:"lag_search"`
	}
}

// TestCases decodes the files after public bug reports.
func TestCases(t *testing.T) {
	var all struct {
		Cases map[string]struct {
			File   string
			Expect json.RawMessage
		}
	}
	if err := json.Unmarshal(readFile(t, shared(t, "cases", "expected.json")), &all); err != nil {
		t.Fatal(err)
	}
	n := 0
	for id, c := range all.Cases {
		if !strings.HasSuffix(c.File, ".mp3") {
			continue
		}
		n++
		t.Run(id, func(t *testing.T) {
			var want expectation
			if err := json.Unmarshal(c.Expect, &want); err != nil {
				t.Fatal(err)
			}
			checkCase(t, readFile(t, shared(t, "cases", c.File)), &want)
		})
	}
	if n == 0 {
		t.Fatal("no cases")
	}
}

func checkCase(t *testing.T, b []byte, want *expectation) {
	d := mustOpen(t, b)
	if want.Outcome != "ok" {
		if _, err := io.Copy(io.Discard, sampleReader{d}); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("error %v is not ErrCorrupt", err)
		}
		return
	}
	got := readAll(t, d, 512)
	frames := int64(len(got) / d.Channels())
	if d.Channels() != want.Channels || d.Rate() != want.Rate {
		t.Errorf("%d channels, %d Hz, want %d, %d", d.Channels(), d.Rate(), want.Channels, want.Rate)
	}
	if n, err := d.Frames(); err != nil || n != frames {
		t.Errorf("Frames = %d, %v, read %d", n, err, frames)
	}
	if want.Frames != nil && max(frames-*want.Frames, *want.Frames-frames) > want.FramesTol {
		t.Errorf("%d frames, want %d", frames, *want.Frames)
	}
	if r := want.FramesRange; r != nil && (frames < r[0] || frames > r[1]) {
		t.Errorf("%d frames, want %v", frames, r)
	}
	if want.PCM == nil {
		return
	}
	ref := shorts(readFile(t, shared(t, "cases", want.PCM.Ref)))
	best := math.Inf(-1)
	for lag := -want.PCM.LagSearch; lag <= want.PCM.LagSearch; lag++ {
		a, b := got, ref
		if lag < 0 {
			a = a[min(-lag*d.Channels(), len(a)):]
		} else {
			b = b[min(lag*d.Channels(), len(b)):]
		}
		if lag == 0 || best < want.PCM.MinSNR {
			best = max(best, snr(rounded(a), b))
		}
	}
	t.Logf("%d frames, %.1f dB", frames, best)
	if best < want.PCM.MinSNR {
		t.Errorf("%.1f dB, want %g", best, want.PCM.MinSNR)
	}
}

// sampleReader reads samples as if they were bytes, to see how it ends.
type sampleReader struct{ d *Decoder }

func (r sampleReader) Read(p []byte) (int, error) {
	var buf [512]float32
	n, err := r.d.Read(buf[:])
	return min(n, len(p)), err
}

// The size of the blocks in which it is read makes no difference.
func TestReadBlocks(t *testing.T) {
	b := makeStream(3, kinds[3], 20).out
	want := decodeAll(t, b)
	for _, block := range []int{1, 2, 31, 576, 1152, 1153, 5000, 1 << 16} {
		sameSamples(t, fmt.Sprintf("blocks of %d", block), readAll(t, mustOpen(t, b), block), want)
	}
	d := mustOpen(t, b)
	odd := make([]float32, 7) // three frames and a half
	if n, err := d.Read(odd); n != 3 || err != nil || odd[6] != 0 {
		t.Errorf("Read of 7 samples gives %d frames, %v, %v", n, err, odd)
	}
	if n, err := d.Read(odd[:1]); n != 0 || !errors.Is(err, io.ErrShortBuffer) {
		t.Errorf("Read of 1 sample gives %d frames, %v", n, err)
	}
}

func TestReadAfterEnd(t *testing.T) {
	for _, k := range kinds[:2] {
		m := makeStream(3, k, 5)
		d := mustOpen(t, join(k.infoFrame("Info", 5, len(m.out), 576, 300), m.out))
		want := readAll(t, d, 1000)
		for range 3 {
			if n, err := d.Read(make([]float32, 10)); n != 0 || err != io.EOF {
				t.Errorf("%s: Read behind the end gives %d, %v", k.name, n, err)
			}
		}
		if err := d.SeekTo(0); err != nil {
			t.Fatal(err)
		}
		sameSamples(t, k.name+" again", readAll(t, d, 1000), want)
	}
}

// A mono stream has one channel, and the kind of every stream is told right.
func TestDescription(t *testing.T) {
	want := map[string]string{
		"mpeg1 stereo":    "MPEG-1 Layer III, 128 kbit/s",
		"mpeg1 free":      "MPEG-1 Layer III, free format 400 kbit/s",
		"mpeg2 stereo":    "MPEG-2 Layer III, 64 kbit/s",
		"mpeg2.5 mono 8k": "MPEG-2.5 Layer III, ",
	}
	for i, k := range kinds {
		d := mustOpen(t, makeStream(int64(i), k, 8).out)
		h := k.header()
		if d.Rate() != h.rate() || d.Channels() != h.channels() {
			t.Errorf("%s: %d Hz, %d channels", k.name, d.Rate(), d.Channels())
		}
		if got := d.Description(); !strings.HasPrefix(got, want[k.name]) {
			t.Errorf("%s: %q, want %q", k.name, got, want[k.name])
		}
		if d.Delay() != -1 || d.Padding() != -1 {
			t.Errorf("%s: delay %d, padding %d without being told", k.name, d.Delay(), d.Padding())
		}
		if w := d.Warnings(); len(w) != 0 {
			t.Errorf("%s: warnings %q", k.name, w)
		}
	}
	m := makeStream(1, kinds[3], 100)
	d := mustOpen(t, join(kinds[3].infoFrame("Xing", 100, len(m.out), 576, 600), m.out))
	average := len(m.out) * 8 * 44100 / (100 * 1152)
	if got := d.Bitrate(); got < average-1 || got > average+1 {
		t.Errorf("bit rate %d, want %d", got, average)
	}
	if got, want := d.Description(), fmt.Sprintf("MPEG-1 Layer III, VBR %d kbit/s", (average+500)/1000); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// failing is a reader that fails from one offset up to another.
type failing struct {
	b        []byte
	from, to int64
	err      error
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if off < f.to && off+int64(len(p)) > f.from {
		n := 0
		if off < f.from {
			n = copy(p, f.b[off:f.from])
		}
		return n, f.err
	}
	n := copy(p, f.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// An error of the reader comes out as it is, costs nothing of what was there before, and when it is
// gone decoding goes on where it was, with or without a seek.
func TestReadError(t *testing.T) {
	b := makeStream(5, kinds[3], 60).out
	size := int64(len(b))
	want := decodeAll(t, b)
	buf := make([]float32, 500)
	for _, seek := range []bool{false, true} {
		r := &failing{b, size / 2, size/2 + 100, os.ErrDeadlineExceeded}
		d, err := New(r, size)
		if err != nil {
			t.Fatal(err)
		}
		var got []float32
		for err == nil {
			var n int
			n, err = d.Read(buf)
			got = append(got, buf[:2*n]...)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || !strings.HasPrefix(err.Error(), "mp3: reading at 0x") {
			t.Fatalf("error %v", err)
		}
		sameSamples(t, "before the error", got, want[:len(got)])
		if len(got) < len(want)/3 {
			t.Errorf("only %d samples of %d before byte %d of %d", len(got), len(want), r.from, size)
		}
		if seek {
			if err := d.SeekTo(int64(len(want)) / 2 * 3 / 4); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("seek behind the error: %v", err)
			}
		}
		r.to = 0
		got = append(got, readAll(t, d, 100)...)
		sameSamples(t, "with what came after", got, want)
	}
}

// A reader that ends before its size is an error, not the end of the sound.
func TestShortSource(t *testing.T) {
	b := makeStream(5, kinds[3], 60).out
	size := int64(len(b))
	_, err := New(&failing{b, size / 2, size, io.EOF}, size)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("New: %v, want unexpected EOF", err)
	}
	d, err := New(&failing{b, size / 2, size - 1000, io.EOF}, size)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = d.Read(make([]float32, 1000))
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Read: %v, want unexpected EOF", err)
	}
}
