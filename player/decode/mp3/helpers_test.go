package mp3

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// moduleRoot finds the folder of go.mod.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// shared returns a path in the folder of shared test data, and skips the test where there is none.
func shared(t testing.TB, path ...string) string {
	t.Helper()
	name := filepath.Join(append([]string{moduleRoot(t), "..", "shared"}, path...)...)
	if _, err := os.Stat(name); err != nil {
		t.Skipf("no shared test data: %v", err)
	}
	return name
}

// needs skips the test where a tool is missing, and fails it instead where all of them must be there.
func needs(t testing.TB, tool string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no other program is run")
	}
	path, err := exec.LookPath(tool)
	if err != nil {
		missing(t, tool)
	}
	return path
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("SNDPAK_CI") == "1" {
		t.Fatalf("needs %s", what)
	}
	t.Skipf("needs %s", what)
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustOpen(t testing.TB, b []byte) *Decoder {
	t.Helper()
	d, err := New(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// readAll reads to the end in blocks of the size given, and checks what Read promises.
func readAll(t testing.TB, d *Decoder, block int) []float32 {
	t.Helper()
	var out []float32
	buf := make([]float32, block*d.Channels())
	for {
		n, err := d.Read(buf)
		if n < 0 || n > block || n == 0 && err == nil || n > 0 && err != nil {
			t.Fatalf("Read of %d frames gives %d, %v", block, n, err)
		}
		out = append(out, buf[:n*d.Channels()]...)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("after %d frames: %v", len(out)/d.Channels(), err)
		}
	}
}

// decodeAll decodes a whole file.
func decodeAll(t testing.TB, b []byte) []float32 {
	t.Helper()
	return readAll(t, mustOpen(t, b), 1000)
}

// sameSamples fails at the first sample that is not bit for bit the same.
func sameSamples(t testing.TB, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d samples, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: sample %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

// snr is the signal-to-noise ratio in dB of got against want.
func snr(got, want []float32) float64 {
	var signal, noise float64
	for i := range min(len(got), len(want)) {
		w := float64(want[i])
		e := float64(got[i]) - w
		signal += w * w
		noise += e * e
	}
	if noise == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(signal/noise)
}

func floats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func shorts(b []byte) []float32 {
	out := make([]float32, len(b)/2)
	for i := range out {
		out[i] = float32(int16(binary.LittleEndian.Uint16(b[2*i:]))) / 32768
	}
	return out
}

// rounded rounds samples to 16 bits.
func rounded(in []float32) []float32 {
	out := make([]float32, len(in))
	for i, v := range in {
		out[i] = float32(max(-32768, min(32767, math.RoundToEven(float64(v)*32768)))) / 32768
	}
	return out
}

func random(seed int64, n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(seed)).Read(b)
	return b
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// id3 makes an ID3v2 tag around its frames.
func id3(version byte, flags byte, body []byte) []byte {
	n := len(body)
	return append([]byte{'I', 'D', '3', version, 0, flags, byte(n >> 21 & 127), byte(n >> 14 & 127), byte(n >> 7 & 127), byte(n & 127)}, body...)
}

// apeTag makes an APE tag with header and footer around its items.
func apeTag(items []byte, count int) []byte {
	ends := func(flags uint32) []byte {
		b := append([]byte("APETAGEX"), make([]byte, 24)...)
		binary.LittleEndian.PutUint32(b[8:], 2000)
		binary.LittleEndian.PutUint32(b[12:], uint32(len(items)+apeHeaderSize))
		binary.LittleEndian.PutUint32(b[16:], uint32(count))
		binary.LittleEndian.PutUint32(b[20:], flags)
		return b
	}
	return join(ends(1<<31|1<<29), items, ends(1<<31))
}

func apeItem(key, value string, flags uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(value)))
	b = binary.LittleEndian.AppendUint32(b, flags)
	return append(append(append(b, key...), 0), value...)
}

func id3v1() []byte { return append([]byte("TAGtitle"), make([]byte, id3v1Size-8)...) }

// headless takes the header off an APE tag.
func headless(tag []byte) []byte {
	tag = bytes.Clone(tag[apeHeaderSize:])
	tag[len(tag)-apeHeaderSize+23] = 0
	return tag
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// someKinds are all kinds, or with -short one of each version of MPEG.
func someKinds() []kind {
	if !testing.Short() {
		return kinds
	}
	var some []kind
	for _, k := range kinds {
		if len(some) == 0 || some[len(some)-1].version != k.version {
			some = append(some, k)
		}
	}
	return some
}
