package output

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// writeFile writes samples in parts into a file of so many channels, and returns its bytes.
func writeFile(t *testing.T, kind string, channels int, parts ...[]float32) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.wav")
	f, err := CreateWAV(path, kind, 48000, channels)
	must(t, err)
	for _, p := range parts {
		must(t, f.Write(p))
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there before it is complete: %v", err)
	}
	must(t, f.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// A chunk of an odd number of bytes is padded, and the pad byte is not counted as sound.
func TestWAVFileMono(t *testing.T) {
	head := "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\xbb\x00\x00"
	tests := []struct {
		kind string
		want string
	}{
		{"wav", "RIFF\x2a\x00\x00\x00" + head + "\x00\x77\x01\x00\x02\x00\x10\x00data\x06\x00\x00\x00" + "\x00\x40\x00\xc0\x00\x20"},
		{"wav24", "RIFF\x2e\x00\x00\x00" + head + "\x80\x32\x02\x00\x03\x00\x18\x00data\x09\x00\x00\x00" + "\x00\x00\x40\x00\x00\xc0\x00\x00\x20\x00"},
	}
	for _, tt := range tests {
		for _, parts := range [][][]float32{{{0.5, -0.5, 0.25}}, {{0.5}, {}, {-0.5, 0.25}}} {
			if got := writeFile(t, tt.kind, 1, parts...); string(got) != tt.want {
				t.Errorf("%s: %v:\n got %q\nwant %q", tt.kind, parts, got, tt.want)
			}
		}
	}
}

// Writes of any length come out as one sound.
func TestWAVFileBlocks(t *testing.T) {
	for channels := 1; channels <= 2; channels++ {
		for _, frames := range []int{0, 1, blockFrames, blockFrames + 1, 5*blockFrames - 1} {
			samples := make([]float32, frames*channels)
			for i := range samples {
				samples[i] = float32(i+1) / (1 << 24)
			}
			b := writeFile(t, "wav32f", channels, samples[:len(samples)/2/channels*channels], samples[len(samples)/2/channels*channels:])[58:]
			if len(b) != 4*len(samples) {
				t.Fatalf("%d channels, %d frames: got %d bytes, want %d", channels, frames, len(b), 4*len(samples))
			}
			for i, want := range samples {
				if got := math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])); got != want {
					t.Fatalf("%d channels, %d frames: sample %d: got %g, want %g", channels, frames, i, got, want)
				}
			}
		}
	}
}

// What is given up leaves the old file as it was.
func TestWAVFileDiscard(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.wav")
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	f, err := CreateWAV(path, "wav", 48000, 2)
	must(t, err)
	must(t, f.Write(make([]float32, 100000)))
	must(t, f.Discard())
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("the old file: got %q", b)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("files: got %v, want one", list)
	}
}

func TestWAVFileSpec(t *testing.T) {
	dir := t.TempDir()
	for i, tt := range []struct {
		kind           string
		rate, channels int
	}{{"wav8", 48000, 2}, {"", 48000, 2}, {"wav", 0, 2}, {"wav", -1, 2}, {"wav", maxRate + 1, 2}, {"wav", 48000, 0}, {"wav", 48000, 3}} {
		f, err := CreateWAV(filepath.Join(dir, fmt.Sprint(i)), tt.kind, tt.rate, tt.channels)
		if f != nil || !errors.Is(err, ErrSpec) {
			t.Errorf("%d: %+v: got %v, %v, want %v", i, tt, f, err, ErrSpec)
			continue
		}
		checkOneLine(t, err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("files: %v", list)
	}
}
