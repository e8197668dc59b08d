package decode

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// mendPages sets the checksums of all pages right, so that a change gets past the container.
func mendPages(data []byte) []byte {
	data = bytes.Clone(data)
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte(oggCapture))
		if i < 0 {
			return data
		}
		p := data[at+i:]
		at += i + 1
		if len(p) < oggFixed || len(p) < oggFixed+int(p[26]) {
			continue
		}
		n := oggFixed + int(p[26])
		for _, s := range p[oggFixed:n] {
			n += int(s)
		}
		if n > len(p) {
			continue
		}
		clear(p[22:26])
		binary.LittleEndian.PutUint32(p[22:], oggCRC(0, p[:n]))
		at += n - 1
	}
}

// oggSeeds adds the shared cases and files of our own.
func oggSeeds(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(sharedDir(f, "cases", "audio"), "o*.ogg"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 15_000 {
			f.Add(data)
		}
	}
	sound := [][]byte{{0, 1, 2, 3}, {2, 7, 7, 7}, {4, 9}, {0}, {6, 255, 255}}
	small := testFile(testIdent(2, 44100, 0x76), testComment("LOOPSTART=5", "LOOPEND=90"), goodSetup().bytes(), sound...)
	f.Add(small)
	f.Add(append(bytes.Clone(small), small...))
}

// FuzzVorbis opens, plays and seeks. Nothing may panic but the library, whose panics become
// ErrCorrupt, and what is read has to be as much as was told.
func FuzzVorbis(f *testing.F) {
	oggSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		data = mendPages(data)
		c, err := openVorbis(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if !ours(err) {
				t.Fatalf("open: %v", err)
			}
			return
		}
		in := c.info()
		if in.Format == "flac" { // not ours
			return
		}
		if in.Frames < 0 || in.Frames > int64(len(data))*vorbisMaxFrames || in.Channels < 1 || in.Channels > 8 {
			t.Fatalf("%d frames of %d channels in %d bytes", in.Frames, in.Channels, len(data))
		}
		const most = 50_000
		n, err := readMost(c, most)
		if n > in.Frames || err == io.EOF && n > c.info().Frames {
			t.Fatalf("%d frames of %d were read: %v", n, in.Frames, err)
		}
		if err != nil && err != io.EOF && !ours(err) {
			t.Fatalf("read: %v", err)
		}
		frames := c.info().Frames
		for _, at := range []int64{frames, frames / 2, frames - 1, 0} {
			at = max(0, at)
			if err := c.seek(at); err != nil {
				if !ours(err) {
					t.Fatalf("seek to %d: %v", at, err)
				}
				continue
			}
			if n, err := readMost(c, 5000); n > frames-at || err != nil && err != io.EOF && !ours(err) {
				t.Fatalf("%d frames at %d of %d: %v", n, at, frames, err)
			}
		}
		if w := c.info().Warnings; len(w) > vorbisMaxWarnings+20 {
			t.Fatalf("%d warnings", len(w))
		}
	})
}

// readMost reads up to most frames.
func readMost(c codec, most int64) (n int64, err error) {
	buf := make([]float32, 3000*c.info().Channels)
	for n < most && err == nil {
		var k int
		k, err = c.read(buf)
		n += int64(k)
	}
	return n, err
}

// FuzzOggFLAC takes FLAC out of pages.
func FuzzOggFLAC(f *testing.F) {
	f.Add(oggCase(f, "o12.ogg")[:3000])
	f.Fuzz(func(t *testing.T, data []byte) {
		r, size, err := demuxFLAC(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if !ours(err) {
				t.Fatalf("%v", err)
			}
			return
		}
		if size < 0 || size > int64(len(data)) {
			t.Fatalf("%d bytes out of %d", size, len(data))
		}
		if n, err := io.Copy(io.Discard, io.NewSectionReader(r, 0, size)); n != size || err != nil {
			t.Fatalf("%d bytes of %d: %v", n, size, err)
		}
	})
}

// TestMendPages keeps the fuzz harness honest: files whose checksums were broken open again.
func TestMendPages(t *testing.T) {
	data := theme(t)
	for i := range testPages(t, data) {
		bad := bytes.Clone(data)
		bad[len(joinPages(testPages(t, data)[:i]...))+23] ^= 0x5a
		if got := mendPages(bad); !bytes.Equal(got, data) {
			t.Errorf("page %d was not mended", i)
		}
	}
}
