package decode

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

func oggOf(data []byte) *oggReader {
	o := newOggReader(source{bytes.NewReader(data), int64(len(data))})
	return &o
}

func TestOggCRC(t *testing.T) {
	r := seeded(t)
	for n := range 300 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		k := r.IntN(n + 1)
		if got, want := oggCRC(oggCRC(0, b[:k]), b[k:]), slowCRC(b); got != want {
			t.Fatalf("%d bytes in parts of %d: %08x, want %08x", n, k, got, want)
		}
	}
}

// randomPages are pages of random sizes, of some streams.
func randomPages(r *rand.Rand, n int) []testPage {
	var list []testPage
	for i := range n {
		p := testPage{granule: r.Int64(), serial: r.Uint32() % 3, seq: uint32(i)}
		for range r.IntN([]int{2, 20, 256}[r.IntN(3)]) {
			p.segments = append(p.segments, byte(r.Uint32()))
		}
		for _, s := range p.segments {
			for range s {
				p.body = append(p.body, byte(r.Uint32()))
			}
		}
		list = append(list, p)
	}
	return list
}

func samePage(got *oggPage, want testPage) bool {
	return got.flags == want.flags && got.granule == want.granule && got.serial == want.serial && got.seq == want.seq &&
		bytes.Equal(got.segments, want.segments) && bytes.Equal(got.body, want.body)
}

// TestOggPages finds pages between rubbish, forwards and backwards.
func TestOggPages(t *testing.T) {
	r := seeded(t)
	junks := [][]byte{nil, nil, nil, make([]byte, 77), []byte("OggS"), []byte("OggOggSOgg"), append([]byte("OggS\x00"), make([]byte, 30)...), make([]byte, 9000)}
	for range 30 {
		pages := randomPages(r, 30)
		var file []byte
		var at []int64
		for _, p := range pages {
			file = append(file, junks[r.IntN(len(junks))]...)
			at = append(at, int64(len(file)))
			file = append(file, p.bytes()...)
		}
		file = append(file, junks[r.IntN(len(junks))]...)
		forwards(t, file, pages, at)
		backwards(t, file, pages, at)
	}
}

func forwards(t *testing.T, file []byte, pages []testPage, at []int64) {
	t.Helper()
	o := oggOf(file)
	end := int64(0)
	for i, want := range pages {
		if err := o.next(); err != nil {
			t.Fatalf("page %d: %v", i, err)
		}
		if !samePage(&o.page, want) || o.page.off != at[i] {
			t.Fatalf("page %d is at 0x%x, number %d; want 0x%x", i, o.page.off, o.page.seq, at[i])
		}
		if o.skip.len != at[i]-end || o.skip.off != end {
			t.Errorf("page %d: skipped %+v, want %d at 0x%x", i, o.skip, at[i]-end, end)
		}
		end = at[i] + o.page.len
	}
	if err := o.next(); err != io.EOF {
		t.Errorf("behind the last page: %v, want EOF", err)
	}
	if want := int64(len(file)) - end; o.skip.len != want {
		t.Errorf("skipped %d at the end, want %d", o.skip.len, want)
	}
}

func backwards(t *testing.T, file []byte, pages []testPage, at []int64) {
	t.Helper()
	o := oggOf(file)
	to := int64(len(file))
	for i := len(pages) - 1; i >= 0; i-- {
		if pages[i].serial != 1 {
			continue
		}
		ok, err := o.previous(0, to, func(p *oggPage) bool { return p.serial == 1 })
		if !ok || err != nil || o.page.off != at[i] || !samePage(&o.page, pages[i]) {
			t.Fatalf("page %d backwards: %v, %v, at 0x%x, want 0x%x", i, ok, err, o.page.off, at[i])
		}
		to = o.page.off
	}
	if ok, err := o.previous(0, to, func(p *oggPage) bool { return p.serial == 1 }); ok || err != nil {
		t.Errorf("before the first page: %v, %v", ok, err)
	}
}

// TestOggBadPages passes over every page that a flipped bit has damaged, and over no other.
func TestOggBadPages(t *testing.T) {
	r := seeded(t)
	pages := randomPages(r, 8)
	for i := range pages {
		pages[i].body, pages[i].segments = []byte("some bytes"), []byte{10}
	}
	whole := joinPages(pages...)
	size := len(pages[0].bytes())
	for bit := range 8 * size {
		bad := slices.Clone(whole)
		bad[3*size+bit/8] ^= 1 << (bit % 8)
		o := oggOf(bad)
		for i, want := range pages {
			if i == 3 {
				continue
			}
			if err := o.next(); err != nil || !samePage(&o.page, want) {
				t.Fatalf("bit %d: page %d: %v, number %d", bit, i, err, o.page.seq)
			}
			if i == 4 && o.skip.len != int64(size) {
				t.Errorf("bit %d: skipped %+v, want %d", bit, o.skip, size)
			}
		}
	}
}

// TestOggFalsePages has nothing but heads of pages whose checksums are wrong. Each claims 64 KiB, so
// that to sum them all would take hours in a large file.
func TestOggFalsePages(t *testing.T) {
	head := append([]byte("OggS\x00\x00"), make([]byte, 20)...)
	head = append(append(head, 255), bytes.Repeat([]byte{255}, 255)...)
	file := bytes.Repeat(head, 8000)
	o := oggOf(file)
	if err := o.next(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("next: %v, want ErrCorrupt", err)
	}
	if limit := 17<<20 + 4*int64(len(file)); o.waste > limit {
		t.Errorf("%d bytes were summed", o.waste)
	}
	o.waste = 0
	if _, err := o.previous(0, o.size, func(*oggPage) bool { return true }); !errors.Is(err, ErrCorrupt) {
		t.Errorf("previous: %v, want ErrCorrupt", err)
	}
}

// TestOggCutPage cuts a page off at every byte.
func TestOggCutPage(t *testing.T) {
	first, second := packPage(0, 5, 1, 0, []byte("first")).bytes(), packPage(0, 9, 1, 1, []byte("second")).bytes()
	for n := range second {
		o := oggOf(slices.Concat(first, second[:n]))
		if err := o.next(); err != nil {
			t.Fatal(err)
		}
		if err := o.next(); err != io.EOF {
			t.Fatalf("%d bytes of a page: %v, want EOF", n, err)
		}
		if o.torn != (n >= oggFixed+1) {
			t.Errorf("%d bytes of a page: torn is %v", n, o.torn)
		}
	}
}

func TestOggVersion(t *testing.T) {
	p := packPage(0, 5, 1, 0, []byte("x")).bytes()
	p[4] = 1
	clear(p[22:26])
	crc := slowCRC(p)
	p[22], p[23], p[24], p[25] = byte(crc), byte(crc>>8), byte(crc>>16), byte(crc>>24)
	if err := oggOf(p).next(); err != io.EOF {
		t.Errorf("a page of version 1: %v, want EOF", err)
	}
}

// TestOggLyingSize has fewer bytes than it says.
func TestOggLyingSize(t *testing.T) {
	data := packPage(0, 5, 1, 0, []byte("first")).bytes()
	o := newOggReader(source{bytes.NewReader(data), 1 << 40})
	if err := o.next(); err != nil {
		t.Fatal(err)
	}
	if err := o.next(); err != io.EOF {
		t.Errorf("behind the bytes: %v, want EOF", err)
	}
}

// TestOggWalk goes by heads alone, and past damage.
func TestOggWalk(t *testing.T) {
	r := seeded(t)
	pages := randomPages(r, 60)
	var file []byte
	var want []int64
	for i, p := range pages {
		p.flags = 0
		if i%10 == 0 {
			p.flags = oggFirst
		}
		if i%7 == 3 {
			file = append(file, make([]byte, r.IntN(3000))...)
		}
		want = append(want, int64(len(file)))
		file = append(file, p.bytes()...)
	}
	var got []int64
	if err := oggOf(file).walk(0, func(p *oggPage) bool { got = append(got, p.off); return true }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages at %v, want %v", got, want)
	}
	heads, err := oggOf(file).heads(1)
	if want := []int64{want[10], want[20], want[30], want[40], want[50]}; err != nil || !slices.Equal(heads, want) {
		t.Errorf("first pages at %v, %v, want %v", heads, err, want)
	}
	bad := slices.Clone(file)
	bad[want[20]+14] ^= 1 // its checksum is wrong, so it is no first page
	if heads, err = oggOf(bad).heads(1); err != nil || len(heads) != 4 {
		t.Errorf("first pages at %v, %v, want 4", heads, err)
	}
}
