package soundpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newRand is a source of random numbers whose seed is told, so that a failure can be had again.
func newRand(t testing.TB) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d (-seed=%d)", seed, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// slowKey is the key of a name by its definition: cut at the first NUL, padded, folded by bytes.
func slowKey(name string) (k [splitName]byte) {
	name, _, _ = strings.Cut(name, "\x00")
	for i := range len(name) {
		if k[i] = name[i]; 'A' <= k[i] && k[i] <= 'Z' {
			k[i] += 'a' - 'A'
		}
	}
	return k
}

func (k nameKey) bytes() (b [splitName]byte) {
	binary.LittleEndian.PutUint64(b[:], k.a)
	binary.LittleEndian.PutUint64(b[8:], k.b)
	binary.LittleEndian.PutUint32(b[16:], k.c)
	return b
}

func TestFoldEveryByte(t *testing.T) {
	for pos := range 8 {
		for c := range 256 {
			b := bytes.Repeat([]byte{'z' + 1}, 8)
			b[pos] = byte(c)
			want := slices.Clone(b)
			if 'A' <= c && c <= 'Z' {
				want[pos] = byte(c) + 'a' - 'A'
			}
			got := binary.LittleEndian.AppendUint64(nil, fold(binary.LittleEndian.Uint64(b)))
			if !bytes.Equal(got, want) {
				t.Errorf("fold of %#x at byte %d: %x, want %x", c, pos, got, want)
			}
		}
	}
}

// The two ways to a key, from a record and from a name, agree with the definition for all lengths
// and for bytes chosen to make wide arithmetic go wrong.
func TestKeys(t *testing.T) {
	r := newRand(t)
	tricky := []byte{0, 0, 1, 0x7f, 0x80, 0x81, 0xff, '@', 'A', 'Z', '[', 'a', 'z', 0xc1, 0xda, ' '}
	for i := range 200_000 {
		rec := make([]byte, splitRecord)
		for j := range rec {
			rec[j] = tricky[r.IntN(len(tricky))]
		}
		for j := r.IntN(splitName + 1); r.IntN(2) == 0 && j < splitName; j++ {
			rec[j] = 0
		}
		want := slowKey(string(rec[:splitName]))
		if got := recordKey(string(rec), 0).bytes(); got != want {
			t.Fatalf("%d: record %x: key %x, want %x", i, rec[:splitName], got, want)
		}
		name, _, _ := bytes.Cut(rec[:splitName], []byte{0})
		if got := foldedKey(string(name)).bytes(); got != want {
			t.Fatalf("%d: name %x: key %x, want %x", i, name, got, want)
		}
	}
}

func TestSplitIndexForms(t *testing.T) {
	data := pattern(1000)
	two := encode(rec{"a.wav", 0, 10}, rec{"b.wav", 10, 20})
	count := func(n uint32, b []byte) []byte { return append(binary.LittleEndian.AppendUint32(nil, n), b...) }
	for _, c := range []struct {
		what  string
		index []byte
		n     int
		warn  []string
	}{
		{"records", two, 2, nil},
		{"none", nil, 0, nil},
		{"count in front", count(2, two), 2, nil},
		{"count of none", count(0, nil), 0, nil},
		{"wrong count", count(3, two), 2, []string{"60 bytes", "28", "2 records and 4 bytes"}},
		{"half a record", two[:42], 1, []string{"42 bytes", "28", "1 records and 14 bytes"}},
		{"one byte", two[:1], 0, []string{"1 bytes", "28"}},
		{"27 bytes", two[:27], 0, []string{"27 bytes", "28"}},
	} {
		p := mustOpen(t, writePack(t, c.index, data))
		if p.Len() != c.n {
			t.Errorf("%s: %d entries, want %d", c.what, p.Len(), c.n)
		}
		warn := strings.Join(p.Warnings(), "\n")
		contains(t, c.what, warn, c.warn...)
		if c.warn == nil && warn != "" {
			t.Errorf("%s: warns %q", c.what, warn)
		}
		r, err := p.Verify(t.Context(), nil)
		if err != nil || r.Damaged() != (c.warn != nil) {
			t.Errorf("%s: verify: damaged %v, error %v", c.what, r.Damaged(), err)
		}
		if e, ok := p.Lookup("B.WAV"); c.n == 2 && c.what != "wrong count" && (!ok || e.Offset != 10 || e.Size != 20) {
			t.Errorf("%s: Lookup: %+v %v", c.what, e, ok)
		}
	}
}

func TestSplitNames(t *testing.T) {
	p := openRecs(t, pattern(100),
		rec{"twenty bytes_no_NUL.", 0, 1},
		rec{"twenty bytes_no_NUL", 1, 2},
		rec{"cut\x00rubbish", 2, 3},
		rec{"CUT", 3, 4}, // the same name
		rec{"\xc4\xc3.wav", 4, 5},
		rec{"\xe4\xe3.wav", 5, 6}, // another in Latin-1 case, not the same here
		rec{"\u212A.wav", 6, 7},   // KELVIN SIGN is no k
		rec{"k.wav", 7, 8},
	)
	for _, c := range []struct {
		name string
		size int64 // 0: not found
	}{
		{"TWENTY BYTES_NO_nul.", 1}, {"twenty bytes_no_NUL", 2}, {"twenty bytes_no_NUL.x", 0},
		{"cut", 3}, {"Cut", 3}, {"cut\x00rubbish", 0}, {"cut\x00", 0},
		{"\xc4\xc3.WAV", 5}, {"\xe4\xe3.wav", 6}, {"%C4%C3.wav", 5}, {"%e4%E3.Wav", 6},
		{"\u212a.wav", 7}, {"K.wav", 8}, {"", 0}, {"%", 0}, {"%00", 0}, {"%00a", 0},
	} {
		e, ok := p.Lookup(c.name)
		if ok != (c.size != 0) || e.Size != c.size {
			t.Errorf("Lookup(%q): size %d, found %v; want %d", c.name, e.Size, ok, c.size)
		}
	}
	r, err := p.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, f := range r.Findings {
		said = append(said, f.String())
	}
	contains(t, "verify", strings.Join(said, "\n"), `"twenty bytes_no_NUL."`, "no NUL", "behind the NUL that ends the name at 3", `"CUT" (entry 3`, `the same name as "cut" (entry 2)`)
}

// A text given as the index is told from one; an index that only looks like text is not refused.
func TestSplitSniff(t *testing.T) {
	text := strings.Repeat("; a list of sounds, one a line\r\n\t", 50)
	for _, c := range []struct {
		what, index string
		refused     bool
	}{
		{"text", text[:28*40], true},
		{"text of one record", text[:28], true},
		{"text with an odd end", text[:28*4+5], true},
		{"text shorter than a record", text[:20], false}, // reported as a remainder
		{"an index of printable bytes that fits", strings.Repeat("n", 20) + "    " + "    ", false},
	} {
		path := writePack(t, []byte(c.index), nil)
		if !c.refused {
			if err := sparse(path, 0x40404041); err != nil {
				t.Skip(err)
			}
		}
		p, err := Open(path, nil)
		if (err != nil) != c.refused {
			t.Errorf("%s: error %v", c.what, err)
		}
		if err == nil {
			p.Close()
			continue
		}
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v is no ErrFormat", c.what, err)
		}
		contains(t, c.what, err.Error(), "music.data", "music.inx", "does not look like an index")
	}
}

// Names written to collide under some fixed hash do not collide under ours, whose seed is secret:
// building takes steps in proportion to the entries, and so does an index of one name only.
func TestSplitHostileNames(t *testing.T) {
	const n = 1 << 16
	put := binary.LittleEndian.AppendUint32
	for what, name := range map[string]func(i uint32) string{
		"counter at the start":  func(i uint32) string { return string(put(nil, i|0x01010101)) + "aaaaaaaaaaaaaaaa" },
		"counter at the end":    func(i uint32) string { return "aaaaaaaaaaaaaaaa" + string(put(nil, i|0x80808080)) },
		"both halves alike":     func(i uint32) string { s := fmt.Sprintf("%08x", i); return s + s },
		"high bits only":        func(i uint32) string { return fmt.Sprintf("\x80\x81%05d\xff\xff\xff\xff\xff\xff", i) },
		"one name":              func(uint32) string { return "x.wav" },
		"one name in all cases": func(i uint32) string { return caseOf("abcdefghijklmnop", i) },
	} {
		recs := make([]rec, n)
		for i := range recs {
			recs[i] = rec{name: name(uint32(i))}
		}
		x := newSplitIndex(string(encode(recs...)))
		var longest, run, total int
		for _, s := range slices.Concat(x.slots, x.slots) {
			if run++; s == 0 {
				run = 0
			}
			longest = max(longest, run)
		}
		for i := range n {
			k := recordKey(x.raw, i*splitRecord)
			h := k.hash(&x.seed)
			total += int((x.probe(k, h)-h)&uint64(len(x.slots)-1)) + 1
		}
		if total > 4*n || longest > 300 {
			t.Errorf("%s: %d steps for %d look-ups, longest run %d", what, total, n, longest)
		}
	}
}

// caseOf writes s with the letters in upper case whose bits are set.
func caseOf(s string, bits uint32) string {
	b := []byte(s)
	for i := range b {
		b[i] -= byte(bits>>i&1) * ('a' - 'A')
	}
	return string(b)
}

// upper is s with a-z in upper case, by bytes.
func upper(s string) string {
	b := []byte(s)
	for i := range b {
		if 'a' <= b[i] && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// A pack answers as a map would to which only new names are added.
func TestSplitModel(t *testing.T) {
	r := newRand(t)
	for round := range 60 {
		alphabet := "abAB.\xe4\xc4 %0"[:1+r.IntN(9)]
		word := func() string {
			b := make([]byte, r.IntN(splitName+1))
			for i := range b {
				b[i] = alphabet[r.IntN(len(alphabet))]
			}
			return string(b)
		}
		recs := make([]rec, r.IntN(1+1<<r.IntN(12)))
		model := map[[splitName]byte]int{}
		for i := range recs {
			recs[i] = rec{word(), r.Uint32(), r.Uint32()}
			if k := slowKey(recs[i].name); model[k] == 0 {
				model[k] = i + 1
			}
		}
		x := newSplitIndex(string(encode(recs...)))
		for i, want := range recs {
			if got := x.at(i); got.raw != want.name || got.off != int64(want.off) || got.size != int64(want.size) {
				t.Fatalf("round %d: at(%d): %+v, want %+v", round, i, got, want)
			}
		}
		for range 2000 {
			name := word()
			if got, want := x.find(name), model[slowKey(name)]-1; got != want {
				t.Fatalf("round %d: find(%q) in %d: %d, want %d", round, name, len(recs), got, want)
			}
		}
		for k, want := range model {
			name := upper(strings.TrimRight(string(k[:]), "\x00"))
			if want--; x.find(name) != want {
				t.Fatalf("round %d: find(%q): %d, want %d", round, name, x.find(name), want)
			}
		}
	}
}

func TestSplitPlan(t *testing.T) {
	for _, c := range []struct {
		sizes []int64
		ok    bool
	}{
		{[]int64{maxData}, true},
		{[]int64{maxData, 0}, true},
		{[]int64{maxData, 1}, false},
		{[]int64{maxData + 1}, false},
		{[]int64{1 << 31, 1<<31 - 1}, true},
		{[]int64{1 << 31, 1 << 31}, false},
		{[]int64{1 << 62}, false},
	} {
		recs := make([]record, len(c.sizes))
		for i, s := range c.sizes {
			recs[i] = record{raw: fmt.Sprintf("%d.wav", i), size: s}
		}
		err := split{}.plan(0, recs)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrLimit) {
			t.Errorf("sizes %v: error %v, want ok %v", c.sizes, err, c.ok)
		}
	}
}

func TestSplitEncode(t *testing.T) {
	recs := []record{{raw: "A.wav", size: 5}, {raw: "b", size: 0}, {raw: "nineteen bytes long", size: 3}}
	if err := (split{}).plan(0, recs); err != nil {
		t.Fatal(err)
	}
	want := encode(rec{"A.wav", 0, 5}, rec{"b", 5, 0}, rec{"nineteen bytes long", 5, 3})
	if got := (split{}).encode(recs); !bytes.Equal(got, want) {
		t.Errorf("encode:\n%x, want\n%x", got, want)
	}
}

func TestSplitIndexPath(t *testing.T) {
	for data, want := range map[string]string{
		"music.data":                     "music.inx",
		filepath.Join("a.b", "music"):    filepath.Join("a.b", "music") + ".inx",
		filepath.Join("x", "UI.v2.DATA"): filepath.Join("x", "UI.v2.inx"),
		"music.inx":                      "",
		"MUSIC.INX":                      "",
	} {
		got, err := split{}.index(data)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("index(%q): %q, %v; want %q", data, got, err, want)
		}
	}
}
