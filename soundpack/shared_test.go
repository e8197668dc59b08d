package soundpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// Bodies that are the same to the byte are written once, whatever lies between them, with a manifest
// or without, and each entry has its bytes.
func TestSameContentOnce(t *testing.T) {
	big, other := pattern(700_000), pattern(700_000)
	other[699_999] ^= 1 // the same but for the last byte
	sources := []Source{
		source("a.wav", big), source("b.wav", pattern(50)), source("c.wav", big), source("other.wav", other),
		source("long/name of another.wav", big), source("B2.wav", pattern(50)), source("empty", nil), source("empty2", nil), source("last.wav", other),
	}
	for _, plain := range []bool{true, false} {
		if plain {
			sources[4].Name = "d.wav"
		} else {
			sources[4].Name = "long/name of another.wav"
		}
		var done int64
		facts := 0
		p := create(t, sources, &CreateOptions{Plain: plain, Progress: func(d, total int64) { done = d }, Facts: func(r io.ReaderAt, size int64) (Facts, error) {
			facts++
			return Facts{Format: "wav", Frames: size}, nil
		}})
		checkPack(t, p.Path(), sources)
		m, _ := p.Lookup(manifestName)
		if got := p.DataSize() - m.Size; got != 1_400_050 {
			t.Errorf("plain %v: %d bytes of bodies, want %d", plain, got, 1_400_050)
		}
		if done != 3*700_000+2*700_000+100 {
			t.Errorf("progress ended at %d", done)
		}
		var names []string
		for _, e := range p.Shared(p.Entry(2)) {
			names = append(names, e.Name)
		}
		if want := []string{"a.wav", sources[4].Name}; !slices.Equal(names, want) {
			t.Errorf("shared with c.wav: %q, want %q", names, want)
		}
		if n := len(p.Shared(p.Entry(6))) + len(p.Shared(p.Entry(3))) - 1; n != 0 {
			t.Errorf("%d too many share", n)
		}
		_, said := found(t, p, nil)
		contains(t, "verify", said, `INFO shared: "c.wav" (entry 2, at 0x0): the very bytes of "a.wav" (entry 0)`, `INFO shared: "last.wav"`)
		if !plain {
			if facts != 5 { // each body once: two large, one small, two empty
				t.Errorf("asked for facts %d times", facts)
			}
			if f, ok := p.Facts(p.Entry(4)); !ok || f.Frames != 700_000 {
				t.Errorf("facts of one that shares: %+v", f)
			}
		}
		dir := t.TempDir()
		if err := p.Extract(t.Context(), dir, nil, nil); err != nil {
			t.Error(err)
		}
		if l := fileTree(t, dir); len(l) != len(sources) || l["last.wav"] != string(other) {
			t.Errorf("%d files extracted", len(l))
		}
	}
}

// Bodies whose checksums agree are compared all the same.
func TestSameSumOtherContent(t *testing.T) {
	b := newBodies([]Source{{Size: 10}, {Size: 10}})
	data := bytes.NewReader(append(pattern(10), "0123456789"...))
	for i, want := range []int{-1, -1} {
		if got, err := b.find(data, record{off: int64(10 * i), size: 10}, 77, i); got != want || err != nil {
			t.Errorf("body %d: %d, %v, want %d", i, got, err, want)
		}
	}
	if got, err := b.find(data, record{off: 0, size: 10}, 77, 2); got != 0 || err != nil {
		t.Errorf("the first again: %d, %v", got, err)
	}
	if _, err := b.find(data, record{off: 15, size: 10}, 77, 2); err == nil {
		t.Error("past the end: no error")
	}
}

// tiny is the split layout with room for 1000 bytes.
type tiny struct{ split }

func (tiny) name() string { return "tiny" }

func (tiny) plan(end int64, recs []record) error {
	for i := range recs {
		recs[i].off = end
		if end += recs[i].size; end > 1000 {
			return fmt.Errorf("%w: %q", ErrLimit, recs[i].raw)
		}
	}
	return nil
}

// Twins make a pack fit that would not otherwise, and one that grows too large while it is written is
// refused and leaves nothing.
func TestTwinsAndTheLimit(t *testing.T) {
	all := layouts
	layouts = []layout{tiny{}} // alone: it is told from split by nothing
	defer func() { layouts = all }()
	a, b, c := pattern(400), pattern(401)[1:], pattern(402)[2:]
	for _, x := range []struct {
		bodies [][]byte
		plain  bool
		over   string // whose fault it is
	}{
		{[][]byte{a, a, a}, false, ""},
		{[][]byte{a, b, a, b}, true, ""},
		{[][]byte{a, b, a}, false, manifestName}, // there is no room for it
		{[][]byte{a, b, c}, true, "2.wav"},
		{[][]byte{a, a[:399], a[:398]}, true, "2.wav"}, // told before anything is read
	} {
		dir := t.TempDir()
		var src []Source
		for i, body := range x.bodies {
			src = append(src, source(fmt.Sprintf("%d.wav", i), body))
		}
		err := Create(t.Context(), filepath.Join(dir, "music.data"), src, &CreateOptions{Layout: "tiny", Plain: x.plain})
		switch {
		case x.over == "":
			if err != nil {
				t.Error(err)
			}
			checkPack(t, filepath.Join(dir, "music.data"), src)
		case !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), x.over):
			t.Errorf("error %v, want ErrLimit for %s", err, x.over)
		case len(listing(t, dir)) > 0:
			t.Errorf("left %q", listing(t, dir))
		}
	}
}

// Checksums find any byte that is not what it was, in entries that share it too, and only there.
func TestVerifyChecksums(t *testing.T) {
	sources := []Source{source("a.wav", pattern(300)), source("twin.wav", pattern(300)), source("long/name of b.wav", pattern(70)), source("c.wav", pattern(500_000))}
	for _, sha := range []bool{false, true} {
		p := create(t, sources, &CreateOptions{SHA256: sha})
		data, index := read(t, p.Path()), read(t, p.IndexPath())
		r := newRand(t)
		m, _ := p.Lookup(manifestName)
		for round := range 200 {
			bad := bytes.Clone(data)
			at := r.Int64N(m.Offset)
			if round < 100 {
				at = r.Int64N(370)
			}
			bad[at] ^= 1 << r.IntN(8)
			q, err := Open(writePack(t, index, bad), nil)
			if err != nil {
				t.Fatal(err)
			}
			rep, said := found(t, q, nil)
			var hit []string
			for e := range q.Entries() {
				if e.Offset <= at && at < e.Offset+e.Size {
					hit = append(hit, fmt.Sprintf("ERROR checksum: %q (entry %d,", e.Name, e.Index))
				}
			}
			contains(t, fmt.Sprintf("byte %d", at), said, hit...)
			if rep.Errors != len(hit) || rep.Checked != 4 || len(hit) == 0 {
				t.Errorf("byte %d: %d errors and %d checked, want %d:\n%s", at, rep.Errors, rep.Checked, len(hit), said)
			}
			q.Close()
		}
	}
	// A SHA-256 that does not agree where the CRC does.
	text := fmt.Sprintf(`{"sndpak":1,"entries":[{"entry":"a.wav","back":100,"size":60,"crc32c":"%08x","sha256":"%s"}]}`, crc32.Checksum(pattern(60), castagnoli), strings.Repeat("ab", 32))
	if _, said := found(t, edited(t, text), nil); !strings.Contains(said, "SHA-256") || !strings.Contains(said, "abababab… when it was packed") {
		t.Errorf("SHA-256:\n%s", said)
	}
}

// A manifest that has ever more overlapping ranges summed up costs no more than reading twice.
func TestVerifyChecksumsHostile(t *testing.T) {
	const n, mib = 3000, 1 << 20
	var recs []rec
	var lines []string
	for i := range n {
		recs = append(recs, rec{fmt.Sprint(i), uint32(i), 64*mib - n})
		lines = append(lines, fmt.Sprintf(`{"entry":"%d","back":%d,"size":%d,"crc32c":"00000000"}`, i, 64*mib-i, 64*mib-n))
	}
	text := `{"sndpak":1,"entries":[` + strings.Join(lines, ",") + `]}`
	recs = append(recs, rec{manifestName, 64 * mib, uint32(len(text))})
	path := writePack(t, encode(recs...), nil)
	if err := sparse(path, 64*mib); err != nil {
		t.Skip(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(text)
	f.Close()
	var total int64
	r, said := found(t, mustOpen(t, path), &VerifyOptions{MaxFindings: 5, Progress: func(done, all int64) { total = all }})
	if r.Checked > 4 || total > 256*mib || !strings.Contains(said, "entries are not read") {
		t.Errorf("%d checked, %d bytes:\n%s", r.Checked, total, said)
	}
}

// Progress counts bytes, and the checks run beside each other.
func TestVerifyProgress(t *testing.T) {
	p := create(t, longSources(), nil)
	for _, check := range []bool{false, true} {
		var last, all int64
		opt := &VerifyOptions{Progress: func(done, total int64) {
			if done < last || done > total {
				t.Errorf("%d after %d of %d", done, last, total)
			}
			last, all = done, total
		}}
		var want int64
		for e := range p.Entries() {
			want += e.Size
		}
		if check {
			want *= 2
			opt.Check = func(f *File) []Finding { return []Finding{{Kind: "seen", Text: f.Entry().Name}} }
		}
		r, said := found(t, p, opt)
		if last != want || all != want {
			t.Errorf("check %v: progress ended at %d of %d, want %d", check, last, all, want)
		}
		if check {
			for i, f := range r.Findings {
				if f.Index != i || f.Text != show(longNames[i]) {
					t.Errorf("finding %d: %v:\n%s", i, f, said)
				}
			}
		}
	}
}

func TestVerifyCutShort(t *testing.T) {
	p := create(t, []Source{source("a.wav", pattern(100_000)), source("b.wav", pattern(5000))}, nil)
	p.Warnings() // loads the manifest
	if err := os.Truncate(p.Path(), 50_000); err != nil {
		t.Fatal(err)
	}
	_, said := found(t, p, nil)
	contains(t, "verify", said, "the data was cut short", `checksum: "a.wav"`, `checksum: "b.wav"`, "pack changed under us")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Verify(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// The file layer failing while bodies are compared and the manifest is written leaves nothing.
func TestCreateTruncateFails(t *testing.T) {
	dir := t.TempDir()
	f := &faulty{FS: storage.OS{}, at: -1}
	src := []Source{source("a.wav", pattern(100_000)), source("b.wav", pattern(100_000))}
	path := filepath.Join(dir, "music.data")
	if err := Create(t.Context(), path, src, &CreateOptions{storage: f}); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.ops, func(s string) bool { return strings.HasPrefix(s, "truncate") })
	if i < 0 {
		t.Fatalf("nothing was cut off: %q", f.ops)
	}
	other := filepath.Join(dir, "other.data")
	if err := Create(t.Context(), other, src, &CreateOptions{storage: &faulty{FS: storage.OS{}, at: i, err: syscall.EIO}}); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(other); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is there")
	}
	if l := listing(t, dir); len(l) != 2 {
		t.Errorf("files %q", l)
	}
}

// Memory stays flat where many bodies are alike.
func TestCreateTwinsMemory(t *testing.T) {
	used := func(n int, size int) uint64 {
		body := pattern(size)
		var src []Source
		for i := range n {
			src = append(src, source(fmt.Sprint(i), body))
		}
		path := filepath.Join(t.TempDir(), "m.data")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := Create(t.Context(), path, src, nil); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, big := used(100, 1000), used(100, 400_000); big > small+2<<20 {
		t.Errorf("small bodies take %d bytes of memory, large ones %d", small, big)
	}
}
