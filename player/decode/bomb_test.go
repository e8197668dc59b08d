package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The numbers F18 to F22 in the names of tests are those of the catalogue of faults that the decoders
// have to stand: a decoder that panics (F18), a bomb for memory (F19), a decoder that gives nothing
// (F20) or never ends (F21), a sound that changes on the way (F22).

// bombs are tiny files that claim much. Those of the first names made one library or another
// allocate gigabytes.
func bombs() map[string][]byte {
	pcm := wavGood()
	huge := func(f func(w *wavSpec)) []byte { w := pcm; f(&w); return w.bytes() }
	flacHead := flacGood(2, 16, 10).bytes()[:42]
	files := map[string][]byte{
		"WAV chunk of 2 GiB":      huge(func(w *wavSpec) { w.before = []testChunk{{id: "JUNK", claim: 0x7ffffffe}} }),
		"WAV fmt of 2 GiB":        append([]byte("RIFF\x00\x00\x00\x00WAVEfmt \xf0\xff\xff\x7f"), make([]byte, 200)...),
		"WAV data of 4 GiB":       huge(func(w *wavSpec) { w.claim = 0xfffffffe }),
		"WAV smpl of 4e9 loops":   huge(func(w *wavSpec) { c := smpl(); c.body[28], c.body[31] = 0xff, 0xff; w.before = []testChunk{c} }),
		"WAV blocks of 64 KiB":    huge(func(w *wavSpec) { w.tag, w.bits, w.align, w.ch = tagIMA, 4, 65535, 1 }),
		"RF64 of 2^60":            rf64(1<<60, 0xffffffff),
		"FLAC picture of 16 MiB":  append([]byte("fLaC\x00\x00\x00\x22"), append(bytes.Clone(flacHead[8:]), 0x86, 0xff, 0xff, 0xff)...),
		"FLAC 4e9 comments":       append([]byte("fLaC\x00\x00\x00\x22"), append(bytes.Clone(flacHead[8:]), 0x84, 0, 0, 8, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff)...),
		"FLAC 2^36 frames":        append(append([]byte(nil), flacHead[:21]...), append([]byte{0xff, 0xff, 0xff, 0xff, 0xff}, flacHead[26:]...)...),
		"ID3 of 256 MiB":          []byte("ID3\x03\x00\x00\x7f\x7f\x7f\x7f"),
		"ID3 with the high bits":  []byte("ID3\x03\x00\x00\xff\xff\xff\xff"),
		"ID3 in ID3":              bytes.Repeat([]byte("ID3\x03\x00\x00\x00\x00\x00\x00"), 1000),
		"MPEG sync and no more":   bytes.Repeat([]byte{0xff}, 3000),
		"Ogg page of nothing":     bytes.Repeat([]byte("OggS\x00\x02"), 200),
		"zeros":                   make([]byte, 5000),
		"RIFF and no more":        []byte("RIFF"),
		"WAV of one byte of data": huge(func(w *wavSpec) { w.data = []byte{1} }),
		"WAV data of 2 GiB":       huge(func(w *wavSpec) { w.claim = 0x7fffffff }),
		"WAV chunk of -2 GiB":     huge(func(w *wavSpec) { w.before = []testChunk{{id: "JUNK", claim: 0x80000000}} }),
		"WAV block align 0":       patched(pcm.bytes(), 32, 0, 0),
		"WAV block align 1":       patched(pcm.bytes(), 32, 1, 0),
		"WAV block align -1":      patched(pcm.bytes(), 32, 0xff, 0xff),
		"MP3 with rubbish behind": slices.Concat(mpegFrames(40), []byte("APETAGEX\xd0\x07\x00\x00\xff\xff\xff\x7f"), noise(60_000)),
		"APE tag of 2 GiB":        slices.Concat(mpegFrames(5), apeFooter(0x7fffffff)),
	}
	for name, data := range oggBombs() {
		files["Ogg "+name] = data
	}
	return files
}

// patched is b with other bytes at an offset.
func patched(b []byte, at int, with ...byte) []byte {
	b = bytes.Clone(b)
	copy(b[at:], with)
	return b
}

// mpegFrames are silent frames of 128 kbit/s.
func mpegFrames(n int) []byte {
	frame := append([]byte{0xff, 0xfb, 0x90, 0xc4}, make([]byte, 413)...)
	return bytes.Repeat(frame, n)
}

// apeFooter is the end of an APE tag that claims a size.
func apeFooter(size uint32) []byte {
	b := []byte("APETAGEX\xd0\x07\x00\x00")
	b = binary.LittleEndian.AppendUint32(b, size)
	return append(b, make([]byte, 16)...)
}

// oggBombs have headers that claim much.
func oggBombs() map[string][]byte {
	ident, comment, setup := testIdent(2, 44100, 0x76), testComment("a=b"), goodSetup().bytes()
	most := []byte{0xff, 0xff, 0xff, 0xff}
	books := func(n int, b testBook) []byte {
		s := goodSetup()
		for range n {
			s.books = append(s.books, b)
		}
		return s.bytes()
	}
	sound := []byte{0, 1, 2, 3}
	return map[string][]byte{
		"comment count":   testFile(ident, patched(comment, 15, most...), setup, sound),
		"comment length":  testFile(ident, patched(comment, 19, most...), setup, sound),
		"vendor length":   testFile(ident, patched(comment, 7, most...), setup, sound),
		"a book of 2^40":  testFile(ident, comment, books(1, testBook{dims: 65535, entries: 1<<24 - 1, ordered: true, lengths: depth(24)}), sound),
		"a book of 2^20":  testFile(ident, comment, books(1, testBook{dims: 1, entries: 1 << 20, ordered: true, lengths: depth(20), kind: 1, width: 1, values: []uint32{1}}), sound),
		"books of 2^20":   testFile(ident, comment, books(200, testBook{dims: 64, entries: 1 << 14, ordered: true, lengths: depth(14), kind: 1, width: 1, values: []uint32{1}}), sound),
		"255 channels":    testFile(testIdent(255, 44100, 0x76), comment, setup, sound),
		"the longest":     testFile(testIdent(8, 1<<31, 0xdd), comment, setup, bytes.Repeat([]byte{0, 255}, 9)),
		"an endless head": testFile(ident, bytes.Repeat(comment, 3000), setup, sound),
	}
}

// depth are the lengths of an ordered book whose words all have n bits.
func depth(n int) []uint32 {
	lengths := make([]uint32, n)
	lengths[n-1] = 1 << n
	return lengths
}

// TestF19Bombs opens and drains them: none may take memory out of proportion.
func TestF19Bombs(t *testing.T) {
	for name, data := range bombs() {
		t.Run(name, func(t *testing.T) {
			n := allocated(func() { drainAny(t, data) })
			most := 2<<20 + 10*int64(len(data))
			if strings.HasPrefix(name, "Ogg") {
				most += 4 * 4 << 22 // books may have 2^22 values in all, some of them in several tables
			}
			if n > most {
				t.Errorf("%d bytes were allocated for a file of %d", n, len(data))
			}
		})
	}
}

// bombFolder has the child of TestF19BombsUnderALimit open the files there.
const bombFolder = "SNDPAK_TEST_BOMBS"

// TestF19BombsUnderALimit opens them in a process that may have 1 GiB of address space: what is
// allocated only to be given back would end it. It has to do with 64 MiB of memory.
func TestF19BombsUnderALimit(t *testing.T) {
	if dir := os.Getenv(bombFolder); dir != "" {
		openBombs(t, dir)
		return
	}
	tool, dir := needs(t, "prlimit"), t.TempDir()
	files := bombs()
	for name, data := range files {
		writeFile(t, filepath.Join(dir, strings.ReplaceAll(name, " ", "-")), data)
	}
	child := func(run string) ([]byte, error) {
		cmd := exec.Command(tool, "--as=1073741824", os.Args[0], "-test.run", run, "-test.v")
		cmd.Env = append(os.Environ(), bombFolder+"="+dir)
		return cmd.CombinedOutput()
	}
	if out, err := child("^$"); err != nil { // the race detector takes more than that for itself
		if os.Getenv("SNDPAK_CI") == "1" {
			t.Fatalf("the child does not start: %v\n%s", err, out)
		}
		t.Skipf("needs a test binary that starts within 1 GiB: %v", err)
	}
	out, err := child("^TestF19BombsUnderALimit$")
	if n := bytes.Count(out, []byte("opened ")); err != nil || n != len(files) {
		t.Errorf("%d of %d files, %v:\n%s", n, len(files), err, out)
	}
}

// openBombs drains all files of a folder and looks at the greatest memory that the process had.
func openBombs(t *testing.T, dir string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	before := peakMemory(t)
	for _, f := range list {
		drainAny(t, readFile(t, filepath.Join(dir, f.Name())))
		fmt.Println("opened", f.Name())
	}
	if grew := peakMemory(t) - before; grew > 64<<10 {
		t.Errorf("memory grew by %d KiB", grew)
	}
}

// peakMemory is the greatest resident size of this process in KiB.
func peakMemory(t *testing.T) (kib int64) {
	for line := range strings.Lines(string(readFile(t, "/proc/self/status"))) {
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			return kib
		}
	}
	t.Skip("needs VmHWM in /proc/self/status")
	return 0
}
