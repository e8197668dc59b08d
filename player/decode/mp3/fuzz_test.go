package mp3

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// seedFiles adds the MP3 files of a folder of shared test data, up to a size. A folder that is there
// but holds none is a mistake.
func seedFiles(f *testing.F, pattern string, path ...string) {
	f.Helper()
	dir := filepath.Join(append([]string{moduleRoot(f), "..", "shared"}, path...)...)
	if _, err := os.Stat(dir); err != nil {
		return // the seeds that are made here remain
	}
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds in %s: %v", dir, err)
	}
	for _, name := range files {
		b := readFile(f, name)
		f.Add(b[:min(len(b), 12000)], uint32(len(b)))
	}
}

// FuzzDecode opens, decodes, seeks and decodes again. Whatever the bytes are, it neither panics nor
// hangs, errors are of the known kinds, and seeking agrees with straight decoding.
func FuzzDecode(f *testing.F) {
	for i, k := range kinds {
		m := makeStream(int64(i), k, 12)
		b := join(id3(3, 0, id3Frame(3, "TXXX", 0, []byte("\x00LOOPSTART\x0077"))), k.infoFrame("Xing", 12, len(m.out), 576, 700), m.out, apeTag(nil, 0))
		f.Add(b[:min(len(b), 12000)], uint32(i*1000))
		f.Add(m.out[m.start[2]:], uint32(i*100))
	}
	seedFiles(f, "m*.mp3", "cases", "audio")
	seedFiles(f, "*.bit", "vectors", "mp3")
	f.Fuzz(func(t *testing.T, b []byte, to uint32) {
		if len(b) > 1<<16 {
			return
		}
		Sniff(bytes.NewReader(b), int64(len(b)))
		d, err := New(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			checkError(t, err)
			return
		}
		if _, err := d.Tags(); err != nil {
			t.Fatalf("tags: %v", err)
		}
		out, ok := fuzzRead(t, d)
		length := int64(len(out) / d.Channels())
		n, err := d.Frames()
		if errors.Is(err, ErrCorrupt) && !ok && length == 0 {
			return // not one good frame
		}
		if err != nil || ok && n != length {
			t.Fatalf("Frames is %d, %v, %d were read", n, err, length)
		}
		for _, at := range []int64{int64(to) % (length + 1), 0, length / 2, length} {
			fuzzSeek(t, d, at, out)
		}
		if table, err := d.SeekTable(); err != nil {
			t.Fatalf("seek table: %v", err)
		} else if err := d.SetSeekTable(table); err != nil {
			checkError(t, err)
		}
		fuzzSeek(t, d, int64(to)%(length+1), out)
	})
}

// fuzzRead reads to the end, and tells whether it was one.
func fuzzRead(t *testing.T, d *Decoder) (out []float32, ok bool) {
	buf := make([]float32, 4000)
	for {
		n, err := d.Read(buf)
		for _, v := range buf[:n*d.Channels()] {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("a sample is %g", v)
			}
		}
		out = append(out, buf[:n*d.Channels()]...)
		if err == io.EOF {
			return out, true
		}
		if err != nil {
			checkError(t, err)
			return out, false
		}
	}
}

func fuzzSeek(t *testing.T, d *Decoder, at int64, out []float32) {
	if err := d.SeekTo(at); err != nil {
		t.Fatalf("seek to %d of %d: %v", at, len(out)/d.Channels(), err)
	}
	buf := make([]float32, 3000)
	n, err := d.Read(buf)
	if err != nil && err != io.EOF {
		checkError(t, err)
	}
	at *= int64(d.Channels())
	sameSamples(t, "after a seek", buf[:n*d.Channels()], out[at:min(at+int64(n*d.Channels()), int64(len(out)))])
}

func checkError(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrCorrupt) {
		t.Fatalf("error %v is of no known kind", err)
	}
}

// FuzzSeekTable gives a stream tables that are not its own.
func FuzzSeekTable(f *testing.F) {
	m := makeStream(1, kinds[0], 200)
	want := decodeAll(f, m.out)
	table, err := mustOpen(f, m.out).SeekTable()
	if err != nil {
		f.Fatal(err)
	}
	head := []byte(tableMagic)
	for _, v := range mustOpen(f, m.out).fingerprint() {
		head = binary.AppendUvarint(head, v)
	}
	f.Add(table[len(head):len(table)-4], uint32(1000))
	f.Add([]byte{}, uint32(0))
	f.Fuzz(func(t *testing.T, b []byte, to uint32) {
		d := mustOpen(t, m.out)
		b = append(bytes.Clone(head), b...) // with what is checked first, and the checksum
		b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
		if err := d.SetSeekTable(b); err != nil {
			checkError(t, err)
		}
		fuzzSeek(t, d, int64(to)%int64(len(want)/2), want)
	})
}
