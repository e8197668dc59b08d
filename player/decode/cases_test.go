package decode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopxl/beep/v2"

	"github.com/sndpak/sndpak/player/internal/streamtest"
)

// audioCase is one entry of the shared cases: an input after a public bug report and what is right
// for it.
type audioCase struct {
	ID     string
	Kind   string
	File   string
	Tests  string
	Expect json.RawMessage // of an audioCase an expectation, of others not
}

type expectation struct {
	Outcome  string
	Format   string
	Channels int
	Rate     int
	Bits     int
	Frames   *int64
	Tol      int64   `json:"frames_tol"`
	AnyOf    []int64 `json:"frames_any_of"`
	Range    []int64 `json:"frames_range"`
	Names    string  `json:"error_names"`
	Loop     *struct {
		Start, EndExclusive int64
		End                 int64 `json:"end_exclusive"`
		Mode                string
	}
	Seeks []int  `json:"seek_check"`
	U8    string `json:"native_u8_sha256"`
	S24   string `json:"native_s24le_sha256"`
	PCM   *struct {
		Compare string
		Ref     string
		MaxDiff int     `json:"max_abs_diff"`
		MinSNR  float64 `json:"min_snr_db"`
		Lag     int     `json:"lag_search"`
	}
}

func audioCases(t testing.TB) (list []audioCase) {
	t.Helper()
	var all struct{ Cases map[string]audioCase }
	if err := json.Unmarshal(readFile(t, sharedDir(t, "cases", "expected.json")), &all); err != nil {
		t.Fatal(err)
	}
	for _, id := range slices.Sorted(maps.Keys(all.Cases)) {
		if c := all.Cases[id]; c.Kind == "audio" {
			c.ID = id
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		t.Fatal("no audio case in expected.json")
	}
	return list
}

// caseSeeds are the bytes of all audio cases, for fuzz targets.
func caseSeeds(t testing.TB, pattern string) (seeds [][]byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(sharedDir(t, "cases", "audio"), pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no seed %s (%v)", pattern, err)
	}
	for _, f := range files {
		seeds = append(seeds, readFile(t, f))
	}
	return seeds
}

func TestCases(t *testing.T) {
	for _, c := range audioCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			var want expectation
			if err := json.Unmarshal(c.Expect, &want); err != nil {
				t.Fatal(err)
			}
			t.Log(c.Tests)
			data := readFile(t, sharedDir(t, "cases", filepath.FromSlash(c.File)))
			checkCase(t, data, want)
		})
	}
}

func checkCase(t *testing.T, data []byte, want expectation) {
	s, err := Open(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Logf("error: %v", err)
		if want.Outcome == "ok" {
			t.Fatalf("Open: %v", err)
		}
		if want.Names != "" && !namesOne(err.Error(), want.Names) {
			t.Errorf("error %q does not name %q", err, want.Names)
		}
		return
	}
	defer s.Close()
	if want.Outcome == "error" {
		t.Fatalf("opened as %+v, want an error", s.Info())
	}
	got, err := floatsUpTo(s)
	if err != io.EOF {
		if want.Outcome == "ok_or_error" {
			return
		}
		t.Fatalf("after %d samples: %v", len(got), err)
	}
	t.Logf("%+v", s.Info())
	checkInfo(t, s, len(got), want)
	checkLoop(t, s.Info(), want)
	checkNative(t, data, want)
	checkPCM(t, got, s.Info().Channels, want)
	if len(got) > 0 {
		seeksLikeStraight(t, data, 30)
		streamtest.Check(t, func() beep.Streamer { return openBytes(t, data) })
	}
	for _, p := range want.Seeks {
		checkSeek(t, s, got, p)
	}
}

func namesOne(text, names string) bool {
	for _, n := range strings.Split(names, " / ") {
		if strings.Contains(strings.ToLower(text), strings.ToLower(n)) {
			return true
		}
	}
	return false
}

func checkInfo(t *testing.T, s *Stream, samples int, want expectation) {
	in := s.Info()
	if want.Format != "" && in.Format != want.Format {
		t.Errorf("format is %q, want %q", in.Format, want.Format)
	}
	if want.Channels != 0 && in.Channels != want.Channels {
		t.Errorf("channels are %d, want %d", in.Channels, want.Channels)
	}
	if want.Rate != 0 && in.Rate != want.Rate {
		t.Errorf("rate is %d, want %d", in.Rate, want.Rate)
	}
	if want.Bits != 0 && in.Bits != want.Bits {
		t.Errorf("bits are %d, want %d", in.Bits, want.Bits)
	}
	frames := int64(samples / in.Channels)
	if in.Frames != frames {
		t.Errorf("Info tells %d frames, %d were read", in.Frames, frames)
	}
	if !framesFit(frames, want) {
		t.Errorf("%d frames, want %+v", frames, want)
	}
}

func framesFit(frames int64, want expectation) bool {
	switch {
	case len(want.Range) == 2:
		return frames >= want.Range[0] && frames <= want.Range[1]
	case want.AnyOf != nil:
		return slices.Contains(want.AnyOf, frames)
	case want.Frames != nil:
		return frames >= *want.Frames-want.Tol && frames <= *want.Frames+want.Tol
	}
	return true
}

func checkLoop(t *testing.T, in Info, want expectation) {
	if want.Loop == nil || len(in.Loops) == 0 && strings.Contains(want.Loop.Mode, "none") {
		return
	}
	if len(in.Loops) != 1 || in.Loops[0].Start != want.Loop.Start || in.Loops[0].End != want.Loop.End {
		t.Errorf("loops are %+v, want %+v", in.Loops, *want.Loop)
	}
}

// checkNative compares what ReadInt16 and the floats give with the file's own samples.
func checkNative(t *testing.T, data []byte, want expectation) {
	if want.U8 != "" {
		var b []byte
		for _, v := range shorts(t, openBytes(t, data)) {
			b = append(b, byte(v>>8)^0x80)
		}
		checkSum(t, "8-bit", b, want.U8)
	}
	if want.S24 != "" {
		var b []byte
		for _, v := range floats(t, openBytes(t, data)) {
			n := int32(v * (1 << 23))
			b = append(b, byte(n), byte(n>>8), byte(n>>16))
		}
		checkSum(t, "24-bit", b, want.S24)
	}
}

func checkSum(t *testing.T, what string, b []byte, want string) {
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != want {
		t.Errorf("%s samples have the sum %x, want %s", what, sum, want)
	}
}

func checkPCM(t *testing.T, got []float32, channels int, want expectation) {
	if want.PCM == nil {
		return
	}
	ref := toShorts(readFile(t, sharedDir(t, "cases", filepath.FromSlash(want.PCM.Ref))))
	switch want.PCM.Compare {
	case "exact":
		checkDiff(t, got, ref, 0)
	case "max_abs_diff":
		checkDiff(t, got, ref, want.PCM.MaxDiff)
	case "snr":
		if snr := bestSNR(got, ref, channels, want.PCM.Lag); snr < want.PCM.MinSNR {
			t.Errorf("SNR is %.1f dB, want %.0f", snr, want.PCM.MinSNR)
		} else {
			t.Logf("SNR %.1f dB", snr)
		}
	default:
		t.Errorf("unknown comparison %q", want.PCM.Compare)
	}
}

func checkDiff(t *testing.T, got []float32, ref []int16, most int) {
	if len(got) != len(ref) {
		t.Fatalf("%d samples, want %d", len(got), len(ref))
	}
	for i, v := range got {
		n := int(math.Round(float64(v) * 32768))
		if d := n - int(ref[i]); d > most || d < -most {
			t.Fatalf("sample %d is %d, want %d", i, n, ref[i])
		}
	}
}

// bestSNR is the ratio of ref to the difference in dB, at the best shift of up to lag frames.
func bestSNR(got []float32, ref []int16, channels, lag int) float64 {
	best := snr(got, ref)
	for l := 1; l <= lag && best < 60; l++ {
		best = max(best, snr(got[min(l*channels, len(got)):], ref), snr(got, ref[min(l*channels, len(ref)):]))
	}
	return best
}

func snr(got []float32, ref []int16) float64 {
	var signal, noise float64
	n := min(len(got), len(ref))
	for i := range n {
		r := float64(ref[i]) / 32768
		signal += r * r
		// The reference is rounded to 16 bits: what rounds to it is equal.
		if d := math.Abs(float64(got[i]) - r); d > 1.01/65536 {
			noise += d * d
		}
	}
	if n == 0 || noise == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(signal/noise)
}

func checkSeek(t *testing.T, s *Stream, want []float32, p int) {
	ch := s.Info().Channels
	if err := s.Seek(p); err != nil {
		t.Fatalf("Seek(%d): %v", p, err)
	}
	buf := make([]float32, 500*ch)
	n, err := s.ReadFloat32(buf)
	if err != nil {
		t.Fatalf("read at %d: %v", p, err)
	}
	same(t, fmt.Sprintf("after Seek(%d)", p), buf[:n*ch], want[p*ch:min((p+500)*ch, len(want))])
}

// TestCasesCutAnywhere cuts every case at many places: an error or a stream, but never a panic, and
// the stream ends.
func TestCasesCutAnywhere(t *testing.T) {
	for _, pattern := range []string{"w*.wav", "f*.flac", "o*.ogg", "m*.mp3"} {
		for _, data := range caseSeeds(t, pattern) {
			for _, n := range []int{1, 3, 4, 11, 12, 27, 40, 43, 44, 45, 100, len(data) / 3, len(data) - 1} {
				if n < len(data) {
					drainAny(t, data[:n])
				}
			}
		}
	}
}

// drainAny opens and reads whatever data is. Only our own kinds of errors may come out.
func drainAny(t testing.TB, data []byte) {
	t.Helper()
	s, err := Open(bytes.NewReader(data), int64(len(data)), nil)
	if err == nil {
		defer s.Close()
		_, err = floatsUpTo(s)
	}
	if err != io.EOF && !ours(err) && !errors.Is(err, ErrClosed) {
		t.Fatalf("%d bytes: the error %v is none of ours", len(data), err)
	}
}
