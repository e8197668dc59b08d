package soundpack

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// F14, F15: the data is cut at every 512 bytes while it is open. A read gives the right bytes or
// ErrChanged, and those that are gone are never played as zeros.
func TestTruncated(t *testing.T) {
	const size = 64 << 10
	data := pattern(size)
	path := writePack(t, encode(rec{"all.wav", 0, size}, rec{"first.wav", 0, 100}), data)
	for cut := int64(0); cut < size; cut += 512 {
		for _, at := range []int64{cut, cut + 100, cut + 511} {
			checkTruncated(t, path, data, at)
			write(t, path, data)
		}
	}
}

func checkTruncated(t *testing.T, path string, data []byte, cut int64) {
	t.Helper()
	p, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f, err := p.Open("all.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, cut); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{1, 64, 4096, 5000, int64(len(data))} {
		for _, off := range []int64{0, cut - n, cut - 1, cut, cut + 1, cut - n/2, int64(len(data)) - n} {
			if off < 0 || off+n > int64(len(data)) {
				continue
			}
			b := make([]byte, n)
			_, err := f.(io.ReaderAt).ReadAt(b, off)
			switch {
			case off+n > cut && !errors.Is(err, ErrChanged):
				t.Errorf("cut at %d: %d bytes at %d: %v, want ErrChanged", cut, n, off, err)
			case off+n <= cut && (err != nil || !bytes.Equal(b, data[off:off+n])):
				t.Errorf("cut at %d: %d bytes at %d: %v, want the bytes", cut, n, off, err)
			case err != nil:
				contains(t, "error", err.Error(), `soundpack: read "all.wav" in music.data at 0x`, "changed under us")
			}
		}
	}
	for name, want := range map[string]bool{"first.wav": cut >= 100, "all.wav": false} {
		b, err := p.ReadFile(name)
		if want && (err != nil || !bytes.Equal(b, data[:100])) || !want && !errors.Is(err, ErrChanged) {
			t.Errorf("cut at %d: ReadFile(%q): %d bytes, %v", cut, name, len(b), err)
		}
	}
	if r, err := p.Verify(t.Context(), nil); err != nil || !r.Damaged() || r.Findings[0].Kind != "changed" {
		t.Errorf("cut at %d: verify: %+v, %v", cut, r, err)
	}
}

// The data is cut and grows again, over and over, under readers that never stop; none of them dies
// or gets bytes that were never there, but for the zeros of pages that came back.
func TestTruncatedUnderReaders(t *testing.T) {
	const size = 1 << 20
	data := pattern(size)
	path := writePack(t, encode(rec{"a.wav", 0, size}), data)
	p := mustOpen(t, path)
	cuts := 500
	if testing.Short() {
		cuts = 100
	}
	var stop atomic.Bool
	var changed atomic.Int64
	var wg sync.WaitGroup
	for g := range 4 {
		f, err := p.Open("a.wav")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		wg.Go(func() {
			b := make([]byte, 3000)
			for i := 0; !stop.Load(); i++ {
				off := int64((g*7919 + i*104729) % (size - len(b)))
				n, err := f.(io.ReaderAt).ReadAt(b, off)
				if errors.Is(err, ErrChanged) {
					changed.Add(1)
					continue
				}
				if err != nil {
					t.Errorf("at %d: %v", off, err)
					return
				}
				for j, c := range b[:n] {
					if c != 0 && c != data[off+int64(j)] {
						t.Errorf("at %d: %#x, want %#x", off+int64(j), c, data[off+int64(j)])
						return
					}
				}
			}
		})
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for i := range cuts {
		cut := int64(i) * 104729 % size
		if err := file.Truncate(cut); err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(data[cut:], cut); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	wg.Wait()
	t.Logf("%d reads found the data changed", changed.Load())
}

// Only a fault is turned into an error. Any other panic goes on, and the goroutine's own setting is
// what it was afterwards in each case.
func TestGuard(t *testing.T) {
	p := openRecs(t, pattern(8192), rec{"a.wav", 0, 8192})
	for _, setting := range []bool{false, true} {
		old := debug.SetPanicOnFault(setting)
		p.m.copyOut(make([]byte, 10), 0)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a panic that is no fault was swallowed")
				}
			}()
			broken := &mapping{} // its nil mapping is our own mistake
			broken.copyOut(make([]byte, 10), 0)
		}()
		if got := debug.SetPanicOnFault(old); got != setting {
			t.Errorf("SetPanicOnFault is %v after a read, want %v", got, setting)
		}
	}
	if err := os.Truncate(p.path, 0); err != nil {
		t.Fatal(err)
	}
	if n, err := p.m.copyOut(make([]byte, 10), 4096); n != 0 || err != ErrChanged {
		t.Errorf("a fault: %d, %v; want ErrChanged", n, err)
	}
	if debug.SetPanicOnFault(false) {
		t.Error("SetPanicOnFault is on after a fault")
	}
}

// Data that grew since, as an append makes it, is no change.
func TestGrown(t *testing.T) {
	data := make([]byte, 5000)
	path := writePack(t, encode(rec{"a.wav", 0, 5000}), data)
	p := mustOpen(t, path)
	write(t, path, append(slices.Clone(data), 1, 2, 3))
	b := make([]byte, 100)
	s, err := p.Section(p.Entry(0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadAt(b, 4900); err != nil {
		t.Error(err)
	}
}
