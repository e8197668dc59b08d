package decode

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	mewkiz "github.com/mewkiz/flac"
)

// flacWants checks the samples and their sum.
func flacWants(t *testing.T, data []byte, spec *flacSpec) {
	t.Helper()
	s := openBytes(t, data)
	if in := s.Info(); in.Bits != spec.bits || in.Channels != spec.ch || in.Rate != spec.rate || in.Frames != int64(len(spec.samples)/spec.ch) {
		t.Errorf("info is %+v", in)
	}
	if len(s.Info().Warnings) > 0 {
		t.Errorf("warnings are %q", s.Info().Warnings)
	}
	want := make([]float32, len(spec.samples))
	for i, v := range spec.samples {
		want[i] = float32(v) / float32(math.Ldexp(1, spec.bits-1))
	}
	same(t, "floats", floats(t, s), want)
	if spec.bits <= 16 {
		var want []int16
		for _, v := range spec.samples {
			want = append(want, int16(v<<(16-spec.bits)))
		}
		same(t, "int16", shorts(t, openBytes(t, data)), want)
	}
	if _, err := Inspect(context.Background(), openBytes(t, data)); err != nil {
		t.Errorf("Inspect: %v", err)
	}
}

func TestFLACDepthsAndChannels(t *testing.T) {
	for depth := 4; depth <= 32; depth++ {
		for _, ch := range []int{1, 2, 3, 8} {
			spec := flacGood(ch, depth, 2500)
			spec.code = -depth % 2 // every other one leaves the depth to STREAMINFO
			flacWants(t, spec.bytes(), spec)
		}
	}
}

// TestFLACSubframes goes through all ways to code one, in blocks of a size that 4 divides and one
// that it does not.
func TestFLACSubframes(t *testing.T) {
	kinds := []string{"verbatim", "fixed0", "fixed1", "fixed2", "fixed3", "fixed4", "linear", "linear-rice2", "linear-escape"}
	for _, depth := range []int{8, 16, 24} {
		for _, block := range []int{16, 1023, 4096} {
			for _, variable := range []bool{false, true} {
				spec := flacGood(2, depth, 5000)
				spec.block, spec.variable = block, variable
				spec.kind = func(n, c int) string { return kinds[(n+c)%len(kinds)] }
				t.Run(fmt.Sprintf("%d bits, blocks of %d, %t", depth, block, variable), func(t *testing.T) {
					flacWants(t, spec.bytes(), spec)
					seeksLikeStraight(t, spec.bytes(), 40)
				})
			}
		}
	}
}

func TestFLACConstantAndWasted(t *testing.T) {
	spec := flacGood(2, 16, 3000)
	for i := range spec.samples {
		if spec.samples[i] <<= 3; i%2 == 0 {
			spec.samples[i] = -7 << 3
		}
	}
	for i, v := range spec.samples {
		spec.samples[i] = int64(int16(v)) &^ 7
	}
	spec.kind = func(_, c int) string { return []string{"constant", "wasted"}[c] }
	flacWants(t, spec.bytes(), spec)
}

// TestFLACSilence codes silence in ways that take no bits a sample.
func TestFLACSilence(t *testing.T) {
	for _, kind := range []string{"constant", "linear-escape", "fixed0", "linear"} {
		spec := flacGood(2, 16, 70000)
		clear(spec.samples)
		spec.block = 4096
		spec.kind = func(int, int) string { return kind }
		flacWants(t, spec.bytes(), spec)
	}
}

// TestFLACTooMuchDamage spoils so many frames in a row that the sound ends there; what comes before
// plays, and the length becomes what plays.
func TestFLACTooMuchDamage(t *testing.T) {
	spec := flacGood(1, 16, 400*64)
	spec.block = 64
	frames := spec.frames()
	for i := 10; i < 10+2*flacMaxTries; i++ {
		frames[i] = spoil(frames[i], "body")
	}
	data := append(spec.bytes()[:42:42], bytes.Join(frames, nil)...)
	s := openBytes(t, data)
	if got := shorts(t, s); len(got) != 640 || s.Len() != 640 {
		t.Errorf("%d frames, Len %d, want 640", len(got), s.Len())
	}
	if len(s.Info().Warnings) == 0 {
		t.Error("nothing is told")
	}
}

// TestFLACPairs codes left and right as a pair, at depths where the difference has up to 33 bits.
func TestFLACPairs(t *testing.T) {
	r := seeded(t)
	for _, depth := range []int{8, 16, 24, 32} {
		for _, pair := range []byte{8, 9, 10} {
			spec := flacGood(2, depth, 2000)
			for i := range spec.samples {
				spec.samples[i] = int64(r.Uint64()) >> (64 - depth)
			}
			top := int64(1) << (depth - 1)
			copy(spec.samples, []int64{-top, top - 1, top - 1, -top, -top, -top, top - 1, top - 1})
			spec.stereo = pair
			flacWants(t, spec.bytes(), spec)
		}
	}
}

// TestFLACAgainstLibrary decodes what is coded here with another decoder, so that the writer of
// these tests and the decoder cannot be wrong together.
func TestFLACAgainstLibrary(t *testing.T) {
	for _, kind := range []string{"verbatim", "fixed2", "linear", "linear-rice2", "linear-escape"} {
		spec := flacGood(2, 16, 5000)
		spec.kind = func(int, int) string { return kind }
		got := openBytes(t, spec.bytes())
		s, err := mewkiz.New(bytes.NewReader(spec.bytes()))
		if err != nil {
			t.Fatal(err)
		}
		var want []int16
		for {
			f, err := s.ParseNext()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range f.Subframes[0].Samples {
				for _, sub := range f.Subframes {
					want = append(want, int16(sub.Samples[i]))
				}
			}
		}
		same(t, kind, shorts(t, got), want)
	}
}

// TestFLACAgainstEncoder has the reference encoder make streams at its levels.
func TestFLACAgainstEncoder(t *testing.T) {
	needs(t, "flac")
	dir := t.TempDir()
	src := filepath.Join(dir, "src.wav")
	for _, ch := range []int{1, 2, 6} {
		want := tone(ch, 30000)
		spec := wavSpec{tag: tagExtensible, ch: ch, bits: 16, data: le16(want...)}
		spec.ext = extension(binary.LittleEndian, 16, []uint32{1: 4, 2: 3, 6: 0x3f}[ch], tagPCM)
		if err := os.WriteFile(src, spec.bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"-0"}, {"-5"}, {"-8", "-p"}, {"-8", "-b", "4608", "-r", "8"}, {"-5", "-e", "-l", "32", "--lax"}, {"--no-seektable", "-b", "192"}} {
			out := filepath.Join(dir, "x.flac")
			run(t, "flac", append(append([]string{"-s", "-f", "-o", out}, args...), src)...)
			data := readFile(t, out)
			same(t, strings.Join(args, " "), shorts(t, openBytes(t, data)), want)
			seeksLikeStraight(t, data, 30)
		}
	}
}

// TestFLACHeads lists streams whose head is unusual but right.
func TestFLACHeads(t *testing.T) {
	tags := vorbisCommentBlock("LOOPSTART=100", "LOOPLENGTH=900", "WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x0003")
	plain := flacGood(2, 16, 5000)
	plain.extra = [][]byte{tags, append([]byte{1}, make([]byte, 9000)...), append([]byte{6}, make([]byte, 300000)...), {126, 1}}
	with := func(before, after []byte) []byte { return slices.Concat(before, plain.bytes(), after) }
	id3 := append([]byte("ID3\x03\x00\x00\x00\x00\x07\x68"), make([]byte, 1000)...)
	footer := append([]byte("ID3\x04\x00\x10\x00\x00\x00\x05"), make([]byte, 15)...)
	for name, c := range map[string]struct {
		data    []byte
		warning string
	}{
		"blocks":         {with(nil, nil), ""},
		"ID3v2":          {with(id3, nil), ""},
		"two ID3v2":      {with(append(footer, id3...), nil), ""},
		"ID3v1":          {with(nil, append([]byte("TAG"), make([]byte, 125)...)), ""},
		"rubbish behind": {with(nil, bytes.Repeat([]byte("rubbish"), 100)), "700 bytes behind the last whole frame"},
		"zeros behind":   {with(nil, make([]byte, 100000)), "100000 bytes behind"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openBytes(t, c.data)
			in := s.Info()
			if in.Frames != 5000 || in.Mask != 3 || len(in.Loops) != 1 || in.Loops[0] != (Loop{Start: 100, End: 1000}) {
				t.Errorf("info is %+v", in)
			}
			if text := strings.Join(in.Warnings, "; "); !strings.Contains(text, c.warning) || (text == "") != (c.warning == "") {
				t.Errorf("warnings are %q, want %q", text, c.warning)
			}
			if got := shorts(t, s); len(got) != 10000 {
				t.Errorf("%d samples", len(got))
			}
		})
	}
}

func vorbisCommentBlock(comments ...string) []byte {
	le := func(n int) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)} }
	b := append([]byte{4}, le(4)...)
	b = append(b, "test"...)
	b = append(b, le(len(comments))...)
	for _, c := range comments {
		b = append(append(b, le(len(c))...), c...)
	}
	return b
}

// TestFLACTagsCannotHurt has a comment count of 4 billion, in a block of a few bytes.
func TestFLACTagsCannotHurt(t *testing.T) {
	for _, block := range [][]byte{
		{4, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff},
		{4, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0},
		{4, 0, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f},
		{4},
	} {
		spec := flacGood(1, 16, 100)
		spec.extra = [][]byte{block}
		s := openBytes(t, spec.bytes())
		if got := shorts(t, s); len(got) != 100 {
			t.Errorf("%v: %d samples", block, len(got))
		}
		if len(s.Info().Warnings) != 1 {
			t.Errorf("%v: warnings are %q", block, s.Info().Warnings)
		}
	}
}

func TestFLACRefused(t *testing.T) {
	good := flacGood(2, 16, 3000).bytes()
	change := func(at int, v ...byte) []byte { b := bytes.Clone(good); copy(b[at:], v); return b }
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"magic alone":               {good[:4], "unexpected EOF"},
		"cut in STREAMINFO":         {good[:30], "claims 34 bytes"},
		"block too long":            {change(5, 0xff), "claims"},
		"no STREAMINFO first":       {change(4, 0x84), "type 4"},
		"short STREAMINFO":          {append([]byte("fLaC\x80\x00\x00\x10"), make([]byte, 40)...), "STREAMINFO"},
		"no frame":                  {append(bytes.Clone(good[:42]), bytes.Repeat([]byte{0x55}, 5000)...), "no whole frame"},
		"cut in the first frame":    {good[:1000], "no whole frame"},
		"head alone, and 0 Hz":      {append(append(bytes.Clone(good[:18]), 0, 0, 2), good[21:42]...), "0 Hz"},
		"two STREAMINFO":            {slices.Concat([]byte("fLaC"), append([]byte{0}, good[5:42]...), good[4:]), "type 0"},
		"too many metadata blocks?": {slices.Concat([]byte("fLaC"), append([]byte{0}, good[5:42]...), bytes.Repeat([]byte{1, 0, 0, 0}, 2000)), "1024"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(bytes.NewReader(c.data), int64(len(c.data)), nil)
			if err == nil {
				t.Fatalf("opened as %+v", s.Info())
			}
			wants(t, err, ErrCorrupt, ErrLimit)
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("error is %q, want %q in it", err, c.says)
			}
		})
	}
}

func TestFLACHeadAlone(t *testing.T) {
	spec := flacGood(2, 16, 0)
	s := openBytes(t, spec.bytes())
	if got := floats(t, s); len(got) != 0 || s.Len() != 0 || s.Seek(0) != nil {
		t.Errorf("%d samples, length %d", len(got), s.Len())
	}
}

// TestFLACLengths lists streams whose STREAMINFO does not tell the length, or lies.
func TestFLACLengths(t *testing.T) {
	full := flacGood(2, 16, 10000)
	for name, c := range map[string]struct {
		total  int64
		cut    int // frames of the file that are kept, 0 = all
		frames int
		told   bool // at once, by Info
		warns  bool
	}{
		"from a pipe":             {0, 0, 10000, true, false},
		"too short":               {4000, 0, 10000, false, true},
		"too long":                {1 << 35, 0, 10000, false, true},
		"cut":                     {10000, 5, 5 * 1024, false, true},
		"from a pipe, cut":        {0, 3, 3 * 1024, true, false},
		"one frame":               {10000, 1, 1024, false, true},
		"right, but a block less": {10000 - 784, 9, 9 * 1024, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			spec := *full
			spec.total = c.total
			data := spec.bytes()
			if c.cut > 0 {
				data = append(data[:42:42], bytes.Join(spec.frames()[:c.cut], nil)...)
			}
			s := openBytes(t, data)
			if told := s.Info().Frames; (told >= 0) != c.told {
				t.Errorf("Info tells %d frames", told)
			}
			if s.Len() != c.frames || s.Info().Frames != int64(c.frames) {
				t.Errorf("%d frames, want %d", s.Len(), c.frames)
			}
			if (len(s.Info().Warnings) > 0) != c.warns {
				t.Errorf("warnings are %q", s.Info().Warnings)
			}
			want := make([]int16, 2*c.frames)
			for i := range want {
				want[i] = int16(spec.samples[i])
			}
			same(t, "samples", shorts(t, s), want)
			same(t, "without asking the length", shorts(t, openBytes(t, data)), want)
			seeksLikeStraight(t, data, 40)
		})
	}
}

// TestFLACCutAnywhere cuts a file at every few bytes: the whole frames before the cut play.
func TestFLACCutAnywhere(t *testing.T) {
	spec := flacGood(1, 16, 3000)
	spec.block = 256
	spec.kind = func(int, int) string { return "fixed2" }
	data, frames := spec.bytes(), spec.frames()
	for n := 42 + len(frames[0]); n < len(data); n += 13 {
		whole, left := 0, n-42
		for left >= len(frames[whole]) {
			left -= len(frames[whole])
			whole++
		}
		if got := shorts(t, openBytes(t, data[:n])); len(got) != 256*whole {
			t.Fatalf("cut at %d: %d samples, want %d", n, len(got), 256*whole)
		}
	}
}

// TestFLACDamage spoils frames: what is left stays at its place, the rest is silent and told, and
// seeks agree with straight reading.
func TestFLACDamage(t *testing.T) {
	spec := flacGood(2, 16, 20000)
	spec.kind = func(int, int) string { return "fixed2" }
	for _, bad := range [][]int{{0}, {0, 1, 2}, {3}, {3, 4, 9}, {7, 8, 9, 10, 11, 12}, {18}, {19}} {
		for _, how := range []string{"body", "header", "lost"} {
			t.Run(fmt.Sprint(bad, how), func(t *testing.T) {
				frames := spec.frames()
				want := make([]int16, len(spec.samples))
				for i, v := range spec.samples {
					want[i] = int16(v)
				}
				for _, n := range bad {
					frames[n] = spoil(frames[n], how)
					clear(want[n*2048 : min((n+1)*2048, len(want))])
				}
				if last := len(frames) - 1; slices.Contains(bad, last) {
					want = want[:last*2048]
				}
				if how == "lost" && bad[0] == 0 { // the stream begins later then
					want = want[len(bad)*2048:]
				}
				data := append(spec.bytes()[:42:42], bytes.Join(frames, nil)...)
				s := openBytes(t, data)
				same(t, "samples", shorts(t, s), want)
				if len(s.Info().Warnings) == 0 {
					t.Error("nothing is told")
				}
				seeksLikeStraight(t, data, 40)
				if r := inspected(t, data); len(r.Info.Lost) == 0 {
					t.Errorf("no loss is told: %q", r.Info.Warnings)
				}
			})
		}
	}
}

func spoil(frame []byte, how string) []byte {
	b := bytes.Clone(frame)
	switch how {
	case "body":
		b[len(b)/2] ^= 0x40
	case "header":
		b[5] ^= 0x10
	case "lost":
		return nil
	}
	return b
}

// TestFLACForged has frames whose checksums are right and whose numbers or format are not.
func TestFLACForged(t *testing.T) {
	spec := flacGood(1, 16, 8192)
	far := *spec
	far.first, far.samples = 1<<30, spec.samples[:1024]
	other := flacGood(2, 16, 1024)
	for name, c := range map[string]struct {
		between []byte
		says    string
	}{
		"far away":       {far.frames()[0], "where 4096 was due"},
		"again":          {spec.frames()[1], "where 4096 was due"},
		"another format": {other.frames()[0], "left out"},
		"another stream": {spec.bytes(), "left out"},
	} {
		t.Run(name, func(t *testing.T) {
			f := spec.frames()
			data := slices.Concat(spec.bytes()[:42], bytes.Join(f[:4], nil), c.between, bytes.Join(f[4:], nil))
			s := openBytes(t, data)
			want := make([]int16, 8192)
			for i := range want {
				want[i] = int16(spec.samples[i])
			}
			same(t, "samples", shorts(t, s), want)
			if text := strings.Join(s.Info().Warnings, "; "); !strings.Contains(text, c.says) {
				t.Errorf("warnings are %q, want %q", text, c.says)
			}
		})
	}
}

// TestFLACStartsLate is a stream cut out of the middle of a longer one: its first frame is frame 0
// of the sound.
func TestFLACStartsLate(t *testing.T) {
	spec := flacGood(2, 16, 9000)
	spec.first, spec.total = 777, 0
	flacWants(t, spec.bytes(), spec)
	seeksLikeStraight(t, spec.bytes(), 40)
}

// TestFLACBombs are tiny streams that claim much. They must stay small and end.
func TestFLACBombs(t *testing.T) {
	silent := func(frames int, claim int64) []byte {
		spec := &flacSpec{ch: 8, bits: 24, rate: 44100, block: 65535, total: claim, noMD5: true}
		spec.samples = make([]int64, 8*65535)
		spec.kind = func(int, int) string { return "constant" }
		one := spec.frames()[0]
		return append(spec.bytes()[:42:42], bytes.Repeat(one, frames)...)
	}
	for name, data := range map[string][]byte{
		"one frame, claims 2^36":      silent(1, 1<<36-1),
		"the same frame 10,000 times": silent(10000, 0),
		"headers only":                append(silent(1, 0), bytes.Repeat(silent(1, 0)[42:52], 20000)...),
	} {
		t.Run(name, func(t *testing.T) { drainAny(t, data) })
	}
}
