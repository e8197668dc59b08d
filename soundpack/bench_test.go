package soundpack

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// benchNames are names as games have them, the same in every run.
func benchNames(n int) []string {
	r := rand.New(rand.NewPCG(7, 7))
	kinds := []string{"door", "step", "wind", "ui", "gun", "Music", "Voice", "amb", "HIT", "sfx"}
	ends := []string{"wav", "ogg", "MP3"}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s_%06d.%s", kinds[r.IntN(len(kinds))], i, ends[r.IntN(len(ends))])
	}
	return names
}

// benchPack is a pack of 16-byte bodies, and a zip of the same.
func benchPack(tb testing.TB, names []string) (pack, archive string) {
	tb.Helper()
	body := "0123456789abcdef"
	recs := make([]rec, len(names))
	for i, name := range names {
		recs[i] = rec{name, uint32(i * len(body)), uint32(len(body))}
	}
	pack = writePack(tb, encode(recs...), bytes.Repeat([]byte(body), len(names)))
	archive = filepath.Join(filepath.Dir(pack), "music.zip")
	f, err := os.Create(archive)
	if err != nil {
		tb.Fatal(err)
	}
	w := zip.NewWriter(f)
	for _, name := range names {
		e, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			tb.Fatal(err)
		}
		io.WriteString(e, body)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return pack, archive
}

// BenchmarkOpen100000 opens a pack of 100,000 entries and finds one, without a manifest and with, beside
// archive/zip with the same names. Ten times faster is what is asked, and no more for the manifest.
func BenchmarkOpen100000(b *testing.B) {
	names := benchNames(100_000)
	pack, archive := benchPack(b, names)
	sources := make([]Source, len(names))
	for i, name := range names {
		sources[i] = source(name, []byte("0123456789abcdef"))
	}
	noted := filepath.Join(b.TempDir(), "music.data")
	if err := Create(b.Context(), noted, sources, nil); err != nil {
		b.Fatal(err)
	}
	for what, path := range map[string]string{"pack": pack, "manifest": noted} {
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := Open(path, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, ok := p.Lookup(names[len(names)-1]); !ok || p.loaded.Load() {
					b.Fatal("not found, or the manifest was loaded for it")
				}
				p.Close()
			}
		})
	}
	b.Run("zip", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			z, err := zip.OpenReader(archive)
			if err != nil {
				b.Fatal(err)
			}
			f, err := z.Open(names[len(names)-1])
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
			z.Close()
		}
	})
}

// BenchmarkLookup finds names among 100,000, beside a Go map whose key is lower-cased and beside
// archive/zip: "hot" is a thousand names over and over, as a game asks, "cold" is each name in turn,
// in an order that no cache foresees. The names that are asked for lie one after another in memory.
func BenchmarkLookup(b *testing.B) {
	names := benchNames(100_000)
	pack, archive := benchPack(b, names)
	p := mustOpen(b, pack)
	m := make(map[string]Entry, len(names))
	for e := range p.Entries() {
		m[strings.ToLower(e.Name)] = e
	}
	z, err := zip.OpenReader(archive)
	if err != nil {
		b.Fatal(err)
	}
	defer z.Close()
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i := range names {
		names[i] = strings.Clone(names[i])
	}
	run := func(name string, find func(string) bool) {
		for _, heat := range []struct {
			name string
			n    int
		}{{"hot", 1000}, {"cold", len(names)}} {
			b.Run(name+"/"+heat.name, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); {
					if !find(names[i]) {
						b.Fatal("not found")
					}
					if i++; i == heat.n {
						i = 0
					}
				}
			})
		}
	}
	run("pack", func(s string) bool { _, ok := p.Lookup(s); return ok })
	run("map", func(s string) bool { _, ok := m[strings.ToLower(s)]; return ok })
	run("zip", func(s string) bool {
		f, err := z.Open(s)
		if err == nil {
			f.Close()
		}
		return err == nil
	})
	run("pack-open", func(s string) bool {
		f, err := p.Open(s)
		if err == nil {
			f.Close()
		}
		return err == nil
	})
}

func BenchmarkReadAt(b *testing.B) {
	data := append(pattern(1<<20), make([]byte, 1<<20)...)
	path := writePack(b, encode(rec{"a.wav", 0, 2 << 20}), data)
	for _, noMap := range []bool{false, true} {
		p, err := Open(path, &Options{NoMap: noMap})
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close()
		e, _ := p.Lookup("a.wav")
		f, err := p.OpenEntry(e)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for _, n := range []int{64, 4 << 10, 64 << 10} {
			for _, silent := range []bool{false, true} {
				if noMap && silent {
					continue
				}
				base := int64(0)
				if silent { // the file's size is looked at
					base = 1 << 20
				}
				block := make([]byte, n)
				b.Run(fmt.Sprintf("map=%v/%d/silent=%v", !noMap, n, silent), func(b *testing.B) {
					b.ReportAllocs()
					b.SetBytes(int64(n))
					for i := int64(0); b.Loop(); i++ {
						if _, err := f.ReadAt(block, base+i*int64(n)%(1<<20-1<<16)); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	for i := range 100 {
		write(b, filepath.Join(dir, fmt.Sprintf("f%04d.wav", i)), pattern(1<<20))
	}
	src, err := Sources([]string{dir}, nil)
	if err != nil {
		b.Fatal(err)
	}
	out := filepath.Join(b.TempDir(), "music.data")
	b.SetBytes(100 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if err := Create(context.Background(), out, src, &CreateOptions{Force: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify100000(b *testing.B) {
	pack, _ := benchPack(b, benchNames(100_000))
	p := mustOpen(b, pack)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Verify(context.Background(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// An entry costs at most 45 bytes of heap while the pack is open.
func TestHeapPerEntry(t *testing.T) {
	const n, most = 100_000, 45
	pack, _ := benchPack(t, benchNames(n))
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	p, err := Open(pack, nil)
	if err != nil {
		t.Fatal(err)
	}
	after := heap()
	if got := float64(after-before) / n; got > most {
		t.Errorf("%.1f bytes an entry, want at most %d", got, most)
	} else {
		t.Logf("%.1f bytes an entry", got)
	}
	p.Close()
}

// A look-up allocates nothing, whatever the case of the name, and neither does one that misses.
func TestLookupAllocates(t *testing.T) {
	p := openRecs(t, pattern(100), rec{"jaguar.wav", 0, 10}, rec{"a name of 20 bytes.x", 10, 10})
	for _, name := range []string{"jaguar.wav", "JAGUAR.WAV", "a name of 20 bytes.X", "nosuch.wav", "", "a name of 20 bytes.xy"} {
		if n := testing.AllocsPerRun(100, func() { p.Lookup(name) }); n != 0 {
			t.Errorf("Lookup(%q): %v allocations, want 0", name, n)
		}
	}
}

// Reading allocates nothing, not even where the size of the file is looked at.
func TestReadAllocates(t *testing.T) {
	p := openRecs(t, make([]byte, 1<<16), rec{"a.wav", 0, 1 << 16})
	e, _ := p.Lookup("a.wav")
	f, err := p.OpenEntry(e)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 4096)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := f.ReadAt(b, 8192); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("ReadAt: %v allocations, want 0", n)
	}
}
