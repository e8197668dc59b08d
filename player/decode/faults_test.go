package decode

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// flaky is a reader that fails while broken is set, wherever it is read.
type flaky struct {
	b      []byte
	broken bool
	err    error
}

func (f *flaky) ReadAt(p []byte, off int64) (int, error) {
	if f.broken {
		return 0, f.err
	}
	return bytes.NewReader(f.b).ReadAt(p, off)
}

// TestReaderComesBack has the reader fail after the stream was opened, in reads and in seeks, and
// then work again, as a pack on a network drive does. The error has its identity, the position stays,
// and after a seek the stream plays on as if nothing had been.
func TestReaderComesBack(t *testing.T) {
	errDisk := errors.New("the disk is gone")
	for name, data := range oneOfEach(t) {
		t.Run(name, func(t *testing.T) {
			want := floats(t, openBytes(t, data))
			r := &flaky{b: data, err: errDisk}
			s, err := Open(r, int64(len(data)), nil)
			if err != nil {
				t.Fatal(err)
			}
			ch, n := s.Info().Channels, s.Len()
			rnd := seeded(t)
			failed := 0
			for range 40 {
				r.broken = true
				p := s.Position()
				if err := s.Seek(rnd.IntN(n)); err != nil {
					failed++
					if !errors.Is(err, errDisk) || s.Position() != p {
						t.Fatalf("Seek: %v, at %d, was at %d", err, s.Position(), p)
					}
				}
				if _, err := floatsUpTo(s); err != io.EOF {
					failed++
					if !errors.Is(err, errDisk) || !errors.Is(s.Err(), errDisk) {
						t.Fatalf("read: %v, Err %v", err, s.Err())
					}
				}
				r.broken = false
				p = rnd.IntN(n)
				if err := s.Seek(p); err != nil {
					t.Fatalf("Seek(%d) when the reader is back: %v", p, err)
				}
				buf := make([]float32, 300*ch)
				k, err := s.ReadFloat32(buf)
				if err != nil {
					t.Fatalf("read at %d when the reader is back: %v", p, err)
				}
				same(t, "after it came back", buf[:k*ch], want[p*ch:min((p+300)*ch, len(want))])
			}
			if failed == 0 && len(data) > 64<<10 {
				t.Error("the reader's error never came out")
			}
		})
	}
}

// TestReaderFailsInLen has the length be asked for while the reader fails: what was there before
// counts, and the error is told by the read that meets it.
func TestReaderFailsInLen(t *testing.T) {
	errDisk := errors.New("the disk is gone")
	spec := flacGood(2, 16, 200_000)
	spec.total = 7 // so that Len has to look
	data := spec.bytes()
	r := &flaky{b: data, err: errDisk}
	s, err := Open(r, int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.broken = true
	if n := s.Len(); n >= 200_000 {
		t.Errorf("Len %d of a stream that cannot be read", n)
	}
	if _, err := floatsUpTo(s); !errors.Is(err, errDisk) {
		t.Errorf("the read tells %v", err)
	}
}

// TestInt16AgreesWithFloats compares the two ways to read, sample by sample.
func TestInt16AgreesWithFloats(t *testing.T) {
	all := wavKinds(t)
	for name, data := range oneOfEach(t) {
		all[name] = data
	}
	for name, data := range all {
		s := openBytes(t, data)
		if !s.Int16() {
			continue
		}
		whole, parts := shorts(t, s), floats(t, openBytes(t, data))
		if len(whole) != len(parts) || len(whole) == 0 {
			t.Fatalf("%s: %d and %d samples", name, len(whole), len(parts))
		}
		for i, v := range whole {
			if parts[i] != float32(v)/32768 {
				t.Fatalf("%s: sample %d is %d and %g", name, i, v, parts[i]*32768)
			}
		}
	}
}
