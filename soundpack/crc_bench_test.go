package soundpack

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// crcPack is a crc pack of n entries with paths as games have them, and the paths in no order.
func crcPack(tb testing.TB, n int) (path string, names []string) {
	tb.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	dirs := []string{"sfx/doors", "sfx/steps/stone", "music", "voice/hero/act1", "ui"}
	taken := make(map[uint32]bool, n)
	recs := make([]record, 0, n)
	for i := 0; len(recs) < n; i++ {
		name := fmt.Sprintf("%s/take_%07d.wav", dirs[r.IntN(len(dirs))], i)
		if id := pathID(name); !taken[id] {
			taken[id] = true
			recs = append(recs, record{crcText(id), int64(16 * len(recs)), 16})
			names = append(names, name)
		}
	}
	dir := tb.TempDir()
	path = filepath.Join(dir, "pack.dat")
	write(tb, filepath.Join(dir, "pack.index"), crc{}.encode(recs))
	write(tb, path, nil)
	if err := sparse(path, int64(16*n)); err != nil {
		tb.Fatal(err)
	}
	r.Shuffle(n, func(i, j int) { names[i], names[j] = names[j], names[i] })
	return path, names
}

// BenchmarkCRCOpen1000000 opens a pack of 1,000,000 entries, beside reading the index file alone, in turn;
// "times-read" is the ratio of the two, of which 3 is the most that is asked for.
func BenchmarkCRCOpen1000000(b *testing.B) {
	path, _ := crcPack(b, 1_000_000)
	index := strings.TrimSuffix(path, ".dat") + ".index"
	var reading, opening time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if _, err := os.ReadFile(index); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		p, err := Open(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		reading, opening = reading+middle.Sub(start), opening+time.Since(middle)
		p.Close()
	}
	b.ReportMetric(float64(opening)/float64(reading), "times-read")
	b.ReportMetric(float64(reading.Microseconds())/float64(b.N), "us-read/op")
}

// BenchmarkCRCLookup1000000 finds each of 1,000,000 entries by its path, in no order; 200 ns and no
// allocation are asked for. The index is never in the processor's cache. A caller has just read or made the
// path that it asks for: such are those at hand. Of the others each has to be fetched from memory first,
// which is counted too.
func BenchmarkCRCLookup1000000(b *testing.B) {
	path, names := crcPack(b, 1_000_000)
	p := mustOpen(b, path)
	p.Lookup(names[0])
	joined := strings.Join(names, "")
	atHand := make([]string, len(names))
	for i, n := range names {
		atHand[i], joined = joined[:len(n)], joined[len(n):]
	}
	for _, c := range []struct {
		what  string
		names []string
	}{{"at-hand", atHand}, {"anywhere", names}} {
		b.Run(c.what, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, ok := p.Lookup(c.names[i]); !ok {
					b.Fatal(c.names[i])
				}
				if i++; i == len(c.names) {
					i = 0
				}
			}
		})
	}
}

// A look-up by path allocates nothing, whether the path is there or not.
func TestCRCLookupAllocates(t *testing.T) {
	path, names := crcPack(t, 1000)
	p := mustOpen(t, path)
	p.Lookup(names[0]) // spells the ids
	for _, name := range []string{names[0], names[999], "no/such/path.wav", p.Entry(7).Name} {
		if n := testing.AllocsPerRun(100, func() { p.Lookup(name) }); n > 0 {
			t.Errorf("Lookup(%q): %v allocations", name, n)
		}
	}
	for i, name := range names {
		if e, ok := p.Lookup(name); !ok || e.Raw() != crcText(pathID(name)) || e.Name != name {
			t.Fatalf("path %d, %q: %+v, %v", i, name, e, ok)
		}
	}
}

// The hash is the standard library's.
func TestPathID(t *testing.T) {
	b := pattern(100)
	for n := range b {
		if got, want := pathID(string(b[:n])), crc32.ChecksumIEEE(b[:n]); got != want {
			t.Errorf("%d bytes: %08x, want %08x", n, got, want)
		}
	}
	if got := pathID("123456789"); got != 0xcbf43926 { // the check value of CRC-32/ISO-HDLC
		t.Errorf("%08x", got)
	}
}

// Ids are found that are spread evenly, that somebody chose close together, and that stand twice; those
// between them are not.
func TestCRCSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for name, next := range map[string]func() uint32{
		"even":      r.Uint32,
		"crowded":   func() uint32 { return 0x80000000 + r.Uint32N(5000) },
		"two heaps": func() uint32 { return r.Uint32N(2)<<31 | r.Uint32N(300) },
		"low":       func() uint32 { return r.Uint32() >> r.Uint32N(32) },
		"ends":      func() uint32 { return -r.Uint32N(2) },
	} {
		for _, n := range []int{0, 1, 2, 31, 32, 33, 1000, 5000} {
			ids := make([]uint32, n)
			for i := range ids {
				ids[i] = next()
			}
			slices.Sort(ids)
			raw := make([]byte, 0, n*crcRecord)
			for _, id := range ids {
				raw = append(binary.LittleEndian.AppendUint32(raw, id), 0, 0, 0, 0, 0, 0, 0, 0)
			}
			x, err := newCRCIndex(string(raw))
			if err != nil {
				t.Fatalf("%s, %d ids: %v", name, n, err)
			}
			for k := range 4 * n {
				id := r.Uint32()
				if k < n {
					id = ids[k]
				} else if k < 3*n {
					id = ids[k%n] + uint32(k&2) - 1
				}
				want, there := slices.BinarySearch(ids, id)
				if !there {
					want = -1
				}
				if got := x.search(id); got != want {
					t.Fatalf("%s, %d ids: search(%08x) = %d, want %d", name, n, id, got, want)
				}
			}
		}
	}
}
