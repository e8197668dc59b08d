package decode

import (
	"encoding/binary"
	"fmt"
	"math"
)

// WAVE files (Multimedia Programming Interface and Data Specifications 1.0, IBM and Microsoft 1991;
// RF64 is EBU Tech 3306). Little-endian, but RIFX, which is big-endian throughout:
//
//	4  "RIFF", "RIFX", "RF64" or "BW64"
//	4  size of what follows; not believed, many writers get it wrong
//	4  "WAVE"
//	then chunks, in any order:
//	4  id, four printable bytes
//	4  size of the body n
//	n  body, then a pad byte where n is odd (which some writers forget)
//
// Chunks that are read: "fmt " and "data" (both needed), "ds64", "fact", "smpl", "cue ". The first
// of each counts; all others are skipped by their size.
const (
	wavHead       = 12
	chunkHead     = 8
	maxChunks     = 1024
	maxFmt        = 4096
	maxFact       = 16
	sizeUnknown   = math.MaxUint32 // in RF64: see ds64; from a pipe: unknown
	maxWAVRate    = 384_000
	maxWAVChannel = 8
)

// isRIFF tells whether head is the head of a RIFF file of any kind.
func isRIFF(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	switch string(head[:4]) {
	case "RIFF", "RIFX", "RF64", "BW64":
		return true
	}
	return false
}

// wavFile is what the walk over the chunks found.
type wavFile struct {
	source
	order    binary.ByteOrder
	long     bool // RF64: sizes may stand in ds64
	longData int64
	chunks   map[string]chunk
	found    Info // the warnings of it
}

// chunk is where the body of a chunk lies, clamped to the entry.
type chunk struct{ off, size int64 }

func (w *wavFile) warn(format string, a ...any) {
	w.found.warn(fmt.Sprintf(format, a...))
}

// openWAV opens a RIFF file, if it is a WAVE file.
func openWAV(src source) (codec, error) {
	w := &wavFile{source: src, order: binary.LittleEndian, chunks: map[string]chunk{}}
	if err := w.readHead(); err != nil {
		return nil, err
	}
	if err := w.walk(); err != nil {
		return nil, err
	}
	f, err := w.readFmt()
	if err != nil {
		return nil, err
	}
	data, ok := w.chunks["data"]
	if !ok {
		return nil, fmt.Errorf("wav: %w: no data chunk", ErrCorrupt)
	}
	return w.open(f, data)
}

func (w *wavFile) readHead() error {
	var h [wavHead]byte
	if err := w.readFull(h[:], 0); err != nil {
		return fmt.Errorf("wav: %w", err)
	}
	switch form := string(h[8:12]); {
	case form == "WAVE":
	case riffNames[form] != "":
		return fmt.Errorf("%w: %s", ErrUnsupported, riffNames[form])
	default:
		return fmt.Errorf("%w: RIFF of the form %q", ErrFormat, form)
	}
	if h[3] == 'X' {
		w.order = binary.BigEndian
	}
	w.long = string(h[2:4]) == "64"
	return nil
}

// walk goes over the chunks and notes where each is.
func (w *wavFile) walk() error {
	at := int64(wavHead)
	for range maxChunks {
		id, size, err := w.header(at)
		if err != nil {
			return err
		}
		if id == "" {
			return w.rest(at)
		}
		body := at + chunkHead
		if size, err = w.check(id, body, size); err != nil {
			return err
		} else if size < 0 {
			return nil
		}
		if err := w.note(id, chunk{body, size}); err != nil {
			return err
		}
		if at, err = w.next(body+size, size); err != nil {
			return err
		}
	}
	if w.has("fmt ") && w.has("data") {
		w.warn("more than %d chunks, the rest is not looked at", maxChunks)
		return nil
	}
	return fmt.Errorf("wav: %w: more than %d chunks", ErrLimit, maxChunks)
}

func (w *wavFile) has(id string) bool { _, ok := w.chunks[id]; return ok }

// header reads the head of the chunk at at. id is "" where there is none: at the end, and where
// its bytes are no id.
func (w *wavFile) header(at int64) (id string, size int64, err error) {
	var h [chunkHead]byte
	n, err := w.readUpTo(h[:], at)
	if err != nil || n < chunkHead || !printable(h[:4]) {
		return "", 0, err
	}
	return string(h[:4]), int64(w.order.Uint32(h[4:])), nil
}

func printable(id []byte) bool {
	for _, b := range id {
		if b < 0x20 || b > 0x7e {
			return false
		}
	}
	return true
}

// rest tells of bytes behind the last chunk, which is damage only where the sound is not there yet.
func (w *wavFile) rest(at int64) error {
	switch {
	case w.has("fmt ") && w.has("data"):
		return nil
	case w.size-at < chunkHead:
		return fmt.Errorf("wav: %w: the file ends at 0x%x, before its data", ErrCorrupt, w.size)
	}
	return fmt.Errorf("wav: %w: no chunk at 0x%x", ErrCorrupt, at)
}

// check clamps the size of a chunk to the bytes that are there, which is right for data alone. It
// returns -1 where the chunk is rubbish behind the sound.
func (w *wavFile) check(id string, body, size int64) (int64, error) {
	left := w.size - body
	switch {
	case id == "data" && !w.has("data"):
		return w.dataSize(body, size, left)
	case size <= left:
		return size, nil
	case w.has("fmt ") && w.has("data"):
		return -1, nil
	}
	return 0, fmt.Errorf("wav: %w: chunk %q at 0x%x claims %d bytes, %d are left", ErrCorrupt, id, body-chunkHead, size, left)
}

// dataSize is how much of the rest of the file is sound. Writers that cannot go back leave 0 or the
// greatest size, and a cut file has less than it says.
func (w *wavFile) dataSize(body, size, left int64) (int64, error) {
	if w.long && size == sizeUnknown && w.longData >= 0 {
		size = w.longData
	}
	switch {
	case size == 0 && left > 0:
		whole, err := w.chunksFrom(body)
		if err != nil || whole {
			return 0, err
		}
		w.warn("the data chunk claims 0 bytes; the %d behind it are taken as sound", left)
		return left, nil
	case size > left && size == sizeUnknown:
		w.warn("the data chunk claims %d bytes, %d are there", size, left)
		return left, nil
	case size > left && left == 0:
		return 0, fmt.Errorf("wav: %w: the data chunk claims %d bytes, none is there", ErrCorrupt, size)
	case size > left:
		w.found.lose(fmt.Sprintf("the data chunk claims %d bytes, %d are there", size, left))
		return left, nil
	}
	return size, nil
}

// chunksFrom tells whether nothing but whole chunks lies between at and the end.
func (w *wavFile) chunksFrom(at int64) (bool, error) {
	for range maxChunks {
		if at >= w.size {
			return true, nil
		}
		id, size, err := w.header(at)
		if err != nil || id == "" || size > w.size-at-chunkHead {
			return false, err
		}
		at += chunkHead + size + size&1
	}
	return false, nil
}

// note keeps the first chunk of each kind that matters.
func (w *wavFile) note(id string, c chunk) error {
	switch id {
	case "ds64":
		return w.readLong(c)
	case "fmt ", "data", "fact", "smpl", "cue ":
		if w.has(id) {
			w.warn("a second %q chunk at 0x%x is not used", id, c.off-chunkHead)
			return nil
		}
		w.chunks[id] = c
	}
	return nil
}

// readLong reads ds64: 8 bytes for the RIFF size, then 8 for that of data.
func (w *wavFile) readLong(c chunk) error {
	b := make([]byte, min(c.size, 16))
	if err := w.readFull(b, c.off); err != nil {
		return fmt.Errorf("wav: %w", err)
	}
	cur := cursor{b: b, order: w.order}
	cur.u64()
	size := cur.u64()
	if cur.short || size > math.MaxInt64 {
		return fmt.Errorf("wav: %w: ds64 chunk of %d bytes, data of %d", ErrCorrupt, c.size, size)
	}
	w.longData = int64(size)
	return nil
}

// next is where the chunk behind a body of size bytes that ends at end begins: behind the pad byte
// of an odd body, but for writers that leave it out.
func (w *wavFile) next(end, size int64) (int64, error) {
	if size&1 == 0 {
		return end, nil
	}
	var pad [1]byte
	if _, err := w.readUpTo(pad[:], end); err != nil || pad[0] == 0 {
		return end + 1, err
	}
	id, size, err := w.header(end)
	if err != nil {
		return 0, err
	}
	padded, _, err := w.header(end + 1)
	if id != "" && !common[padded] && (common[id] || size <= w.size-end-chunkHead) {
		w.warn("the pad byte before the chunk %q at 0x%x is missing", id, end)
		return end, err
	}
	return end + 1, err
}

// common are chunks that are often met, to find the next chunk where a pad byte may be missing.
var common = map[string]bool{
	"fmt ": true, "data": true, "fact": true, "LIST": true, "smpl": true, "inst": true, "cue ": true,
	"plst": true, "note": true, "labl": true, "bext": true, "iXML": true, "JUNK": true, "junk": true,
	"PAD ": true, "FLLR": true, "PEAK": true, "DISP": true, "id3 ": true, "ID3 ": true, "_PMX": true,
}
