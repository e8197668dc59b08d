package soundpack

import (
	"fmt"
	"path/filepath"
	"testing"
)

// gib is a pack of 1 GiB in 500 entries whose bytes take no room on the disk.
func gib(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "music.data")
	recs := make([]rec, 500)
	size := uint32(1<<30) / 500
	for i := range recs {
		recs[i] = rec{fmt.Sprintf("sound %03d.wav", i), uint32(i) * size, size}
	}
	write(b, path, nil)
	must(b, sparse(path, 1<<30))
	write(b, filepath.Join(filepath.Dir(path), "music.inx"), encode(recs...))
	return path
}

// Adding 100 KB to a pack of 1 GiB: what it costs is those bytes, the index and the syncs.
func BenchmarkWriterAddToGiB(b *testing.B) {
	path := gib(b)
	body := pattern(100_000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		w, err := Edit(b.Context(), path, nil)
		must(b, err)
		must(b, w.Add(source(fmt.Sprintf("new %d", n), body)))
		must(b, w.Commit(b.Context()))
		must(b, w.Close())
		n++
	}
}

// One commit of a hundred files, and a hundred of one, on an open Writer.
func BenchmarkWriterCommit(b *testing.B) {
	for _, each := range []int{1, 100} {
		b.Run(fmt.Sprintf("%d_files", each), func(b *testing.B) {
			w := mustEdit(b, newPack(b, nil))
			body := pattern(4000)
			b.SetBytes(int64(len(body) * each))
			b.ReportAllocs()
			for b.Loop() {
				for i := range each {
					must(b, w.Replace(source(fmt.Sprint(i), body)))
				}
				must(b, w.Commit(b.Context()))
			}
		})
	}
}

// Compacting 64 MiB of which one entry in front has gone, so that all of it moves.
func BenchmarkWriterCompact(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(64 << 20)
	for b.Loop() {
		b.StopTimer()
		path := newPack(b, contents{{"gone", "x"}, {"kept", string(make([]byte, 64<<20))}})
		w, err := Edit(b.Context(), path, nil)
		must(b, err)
		if _, err := w.Remove("gone"); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		must(b, w.Compact(b.Context()))
		must(b, w.Close())
	}
}
