package output

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestWAVContract(t *testing.T) {
	for kind := range wavFormats {
		t.Run(kind, func(t *testing.T) {
			checkDevice(t, func(t *testing.T) Device {
				d, err := Open(kind+":"+filepath.Join(t.TempDir(), "a.wav"), Config{})
				must(t, err)
				return d
			})
		})
	}
}

// giving returns a fill that gives samples once.
func giving(samples ...float32) Fill {
	return func(buf []float32) int {
		n := copy(buf, samples)
		samples = samples[n:]
		return n / 2
	}
}

// writeWAV plays fill into a file to its end, and returns the bytes.
func writeWAV(t *testing.T, kind string, c Config, fill Fill) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.wav")
	d, err := Open(kind+":"+path, c)
	must(t, err)
	start(t, d, fill)
	awaitDone(t, d)
	if d.Err() != nil || d.Close() != nil {
		t.Errorf("%s: Err %v, Close %v", kind, d.Err(), d.Close())
	}
	b, err := os.ReadFile(path)
	must(t, err)
	if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 1 {
		t.Errorf("%s: files: got %v, want one", kind, list)
	}
	return b
}

func TestWAVBytes(t *testing.T) {
	nan := float32(math.NaN())
	inf := float32(math.Inf(1))
	samples := []float32{0, 1, -1, 0.5, -0.5, 1.5 / 32768, 2.5 / 32768, -1.5 / 32768, inf, -inf, nan, 0.25}
	float := ""
	for _, v := range samples {
		float += string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
	}
	tests := []struct{ kind, want string }{
		{"wav", "RIFF\x3c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00\x44\xac\x00\x00\x10\xb1\x02\x00\x04\x00\x10\x00data\x18\x00\x00\x00" +
			"\x00\x00\xff\x7f\x00\x80\x00\x40\x00\xc0\x02\x00\x02\x00\xfe\xff\xff\x7f\x00\x80\x00\x00\x00\x20"},
		{"wav24", "RIFF\x48\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00\x44\xac\x00\x00\x98\x09\x04\x00\x06\x00\x18\x00data\x24\x00\x00\x00" +
			"\x00\x00\x00\xff\xff\x7f\x00\x00\x80\x00\x00\x40\x00\x00\xc0\x80\x01\x00\x80\x02\x00\x80\xfe\xff\xff\xff\x7f\x00\x00\x80\x00\x00\x00\x00\x00\x20"},
		{"wav32f", "RIFF\x62\x00\x00\x00WAVEfmt \x12\x00\x00\x00\x03\x00\x02\x00\x44\xac\x00\x00\x20\x62\x05\x00\x08\x00\x20\x00\x00\x00fact\x04\x00\x00\x00\x06\x00\x00\x00data\x30\x00\x00\x00" + float},
	}
	for _, tt := range tests {
		got := writeWAV(t, tt.kind, Config{Rate: 44100}, giving(samples...))
		if string(got) != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.kind, got, tt.want)
		}
	}
}

// Every 16-bit sample that came from a file goes back into one unchanged.
func TestWAVInt16RoundTrip(t *testing.T) {
	i := math.MinInt16
	got := writeWAV(t, "wav", Config{}, func(buf []float32) int {
		n := 0
		for ; n < len(buf) && i <= math.MaxInt16; n++ {
			buf[n] = float32(i) / 32768
			i++
		}
		return n / 2
	})[44:]
	if len(got) != 1<<17 {
		t.Fatalf("bytes: got %d, want %d", len(got), 1<<17)
	}
	for i := range 1 << 16 {
		if v := int16(binary.LittleEndian.Uint16(got[2*i:])); int(v) != i+math.MinInt16 {
			t.Fatalf("sample %d: got %d, want %d", i, v, i+math.MinInt16)
		}
	}
}

// A longer file goes through many blocks, and its sizes fit.
func TestWAVLong(t *testing.T) {
	for _, frames := range []int64{0, 1, blockFrames - 1, blockFrames, blockFrames + 1, 100000} {
		b := writeWAV(t, "wav32f", Config{}, (&ramp{n: frames}).fill)
		size, riff, fact := binary.LittleEndian.Uint32(b[54:]), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[46:])
		if int64(size) != frames*8 || int(riff) != len(b)-8 || int64(fact) != frames || int64(len(b)) != 58+frames*8 {
			t.Fatalf("%d frames: data %d, RIFF %d, fact %d, file %d", frames, size, riff, fact, len(b))
		}
		for i := range frames {
			if v := math.Float32frombits(binary.LittleEndian.Uint32(b[58+8*i:])); v != float32(i+1)/(1<<24) {
				t.Fatalf("%d frames: frame %d: got %g", frames, i, v)
			}
		}
	}
}

// A sound without end is ended by Close, and the file is whole.
func TestWAVEndless(t *testing.T) {
	noLeak(t)
	path := filepath.Join(t.TempDir(), "a.wav")
	d, err := Open("wav:"+path, Config{})
	must(t, err)
	r := &ramp{n: forever}
	start(t, d, r.fill)
	eventually(t, "frames", func() bool { return r.taken.Load() > 20000 })
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there before it is complete: %v", err)
	}
	must(t, d.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	if want := 44 + 4*r.taken.Load(); int64(len(b)) != want || int64(binary.LittleEndian.Uint32(b[40:])) != want-44 {
		t.Errorf("bytes: got %d, header %d, want %d", len(b), binary.LittleEndian.Uint32(b[40:]), want)
	}
}

// What a reader finds if the process dies: sizes that mean all the rest.
func TestWAVUnknownSizes(t *testing.T) {
	for kind, f := range wavFormats {
		b := f.header(48000, -1)
		if string(b[4:8]) != "\xff\xff\xff\xff" || string(b[len(b)-8:]) != "data\xff\xff\xff\xff" {
			t.Errorf("%s: got %q", kind, b)
		}
		if n := len(f.header(48000, 7)); n != len(b) {
			t.Errorf("%s: the final header has %d bytes, the first %d", kind, n, len(b))
		}
	}
}

func TestWAVNeverStarted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.wav")
	must(t, os.WriteFile(path, []byte("old"), 0o640))
	d, err := Open("wav:"+path, Config{})
	must(t, err)
	must(t, d.Close())
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("the old file: got %q", b)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("files: %v", list)
	}
}

func TestWAVReplaces(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other rights on windows")
	}
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link.wav")
	must(t, os.WriteFile(real, []byte("old"), 0o600))
	must(t, os.Symlink("real", link))
	d, err := Open("wav:"+link, Config{})
	must(t, err)
	start(t, d, giving(0, 0))
	awaitDone(t, d)
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	info, err := os.Stat(real)
	must(t, err)
	if info.Size() != 48 || info.Mode().Perm() != 0o600 {
		t.Errorf("got %d bytes and mode %v, want 48 and 0600", info.Size(), info.Mode())
	}
}

func TestWAVOpenErrors(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, path := range []string{dir, filepath.Join(dir, "none", "a.wav"), filepath.Join(dir, "file", "a.wav")} {
		d, err := Open("wav:"+path, Config{})
		if err == nil || d != nil {
			t.Fatalf("%s: got %v and no error", path, d)
		}
		checkOneLine(t, err)
		if strings.Count(err.Error(), path) != 1 {
			t.Errorf("the path should be named once: %q", err)
		}
	}
}

// Too long a sound ends at the limit, with a whole file and an error.
func TestWAVLimit(t *testing.T) {
	noLeak(t)
	path := filepath.Join(t.TempDir(), "a.wav")
	c, _ := Config{}.normal()
	d, err := openWAV(path, "wav24", c)
	must(t, err)
	d.file.limit = 100000
	r := &ramp{n: forever}
	start(t, d, r.fill)
	awaitDone(t, d)
	if !errors.Is(d.Err(), errTooLong) {
		t.Errorf("got %v, want %v", d.Err(), errTooLong)
	}
	checkOneLine(t, d.Err())
	b, err := os.ReadFile(path)
	must(t, err)
	want := 100000 / 6 / blockFrames * blockFrames * 6
	if len(b) != 44+want || int(binary.LittleEndian.Uint32(b[40:])) != want {
		t.Errorf("got %d bytes and a size of %d, want %d", len(b)-44, binary.LittleEndian.Uint32(b[40:]), want)
	}
	if wavLimit%8 > 8 || wavLimit+100 > math.MaxUint32 {
		t.Error("the limit leaves no room for the header")
	}
}

// A write that fails takes the file away again; here the descriptor is gone.
func TestWAVWriteFails(t *testing.T) {
	dir := t.TempDir()
	c, _ := Config{}.normal()
	d, err := openWAV(filepath.Join(dir, "a.wav"), "wav", c)
	must(t, err)
	must(t, d.file.place.f.Close())
	start(t, d, (&ramp{n: forever}).fill)
	awaitDone(t, d)
	if !errors.Is(d.Err(), fs.ErrClosed) {
		t.Errorf("got %v", d.Err())
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("files: %v", list)
	}
}

// Another file took the place of the folder while the sound was written.
func TestWAVFolderGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed there")
	}
	dir := filepath.Join(t.TempDir(), "d")
	must(t, os.Mkdir(dir, 0o700))
	d, err := Open("wav:"+dir+"/a.wav", Config{})
	must(t, err)
	must(t, os.RemoveAll(dir))
	start(t, d, giving(0, 0))
	awaitDone(t, d)
	if !errors.Is(d.Err(), fs.ErrNotExist) {
		t.Errorf("got %v", d.Err())
	}
}

func TestWAVToStdout(t *testing.T) {
	noLeak(t)
	r, w, err := os.Pipe()
	must(t, err)
	stdout := os.Stdout
	os.Stdout = w
	d, err := Open("wav:-", Config{})
	os.Stdout = stdout
	must(t, err)
	if d.Name() != "wav:-" {
		t.Errorf("name: got %q", d.Name())
	}
	start(t, d, giving(0.5, -0.5, 0, 1))
	awaitDone(t, d)
	must(t, d.Close())
	fmt.Fprint(w, "still open")
	w.Close()
	b, err := io.ReadAll(r)
	r.Close()
	must(t, err)
	want := append(wavFormats["wav"].header(48000, -1), "\x00\x40\x00\xc0\x00\x00\xff\x7fstill open"...)
	if !bytes.Equal(b, want) {
		t.Errorf("got %q\nwant %q", b, want)
	}
}

func TestWAVPausedTakesNothing(t *testing.T) {
	noLeak(t)
	d, err := Open("wav:"+filepath.Join(t.TempDir(), "a.wav"), Config{})
	must(t, err)
	r := &ramp{n: forever}
	must(t, d.Pause(true))
	start(t, d, r.fill)
	for range 1000 {
		runtime.Gosched()
	}
	if got := r.taken.Load(); got != 0 {
		t.Errorf("paused: %d frames were taken", got)
	}
	must(t, d.Pause(false))
	eventually(t, "frames", func() bool { return r.taken.Load() > 0 })
	must(t, d.Close())
}

func BenchmarkWAV(b *testing.B) {
	for kind, f := range wavFormats {
		b.Run(kind, func(b *testing.B) {
			raw, samples := make([]byte, blockFrames*f.frameSize()), make([]float32, 2*blockFrames)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				f.encode(raw, samples)
			}
		})
	}
}
