package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/soundpack"
)

// A member of an archive that is made by hand: what it says of itself need not be so.
type member struct {
	name, body string
	change     func(*zip.FileHeader)
}

func makeZip(t *testing.T, path string, all ...member) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range all {
		h := &zip.FileHeader{
			Name: m.name, Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(m.body)),
			CompressedSize64: uint64(len(m.body)), UncompressedSize64: uint64(len(m.body)),
		}
		if m.change != nil {
			m.change(h)
		}
		w, err := z.CreateRaw(h)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(m.body))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	writeTo(t, path, b.Bytes())
}

func writeTo(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// namesIn are the names in a target, whatever it is.
func namesIn(t *testing.T, path string) string {
	t.Helper()
	var names []string
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		all, _ := os.ReadDir(path)
		for _, e := range all {
			names = append(names, e.Name())
		}
	} else if z, err := zip.OpenReader(path); err == nil {
		defer z.Close()
		for _, f := range z.File {
			names = append(names, f.Name)
		}
	} else {
		names = listedNames(t, path)
	}
	return strings.Join(names, " ")
}

// converts runs convert and checks its status, what is in the target, and lines that it must say.
func converts(t *testing.T, status int, src, dst, names string, lines ...string) {
	t.Helper()
	got, _, errs := sndpak(t, "convert", src, dst)
	if got != status {
		t.Errorf("convert into %s: status %d, want %d: %s", filepath.Base(dst), got, status, errs)
	}
	if n := strings.Count(errs, "\n"); n > len(lines)+1 { // and the verdict
		t.Errorf("%d lines: %s", n, errs)
	}
	for _, line := range lines {
		found := false
		for l := range strings.Lines(errs) {
			all := true
			for word := range strings.FieldsSeq(line) {
				all = all && strings.Contains(l, word)
			}
			found = found || all
		}
		if !found {
			t.Errorf("convert into %s: no line with %q in\n%s", filepath.Base(dst), line, errs)
		}
	}
	if have := namesIn(t, dst); have != names {
		t.Errorf("%s has %q, want %q", filepath.Base(dst), have, names)
	}
}

// TestConvertKeepsDamage has a byte of an entry flipped: it is told wherever the entry goes, and the new
// pack is no cleaner than the old one.
func TestConvertKeepsDamage(t *testing.T) {
	dir := t.TempDir()
	a, b, pack := filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.json"), filepath.Join(dir, "p.data")
	writeTo(t, a, []byte("the first file"))
	writeTo(t, b, []byte(`{ "x": [1, 2, 3] }`))
	if status, _, errs := sndpak(t, "create", pack, a, b, "--sha256"); status != 0 {
		t.Fatal(errs)
	}
	for i, name := range []string{"a.txt", "b.json"} {
		data, err := os.ReadFile(pack)
		if err != nil {
			t.Fatal(err)
		}
		spoiltPack := filepath.Join(dir, name+".data")
		data[[]int{3, 14 + 8}[i]] ^= 1
		writeTo(t, spoiltPack, data)
		index, _ := os.ReadFile(filepath.Join(dir, "p.inx"))
		writeTo(t, filepath.Join(dir, name+".inx"), index)
		line := name + ".data " + name + " checksum mismatch"
		for _, to := range []string{"new.data", "new.dat", "new.bin", "new.zip", "folder"} {
			dst := filepath.Join(t.TempDir(), to)
			names := "a.txt b.json"
			if to == "new.dat" {
				names = strings.Join(listedNames(t, spoiltPack), " ")
			}
			got, _, errs := sndpak(t, "convert", spoiltPack, dst, "--json", map[bool]string{true: "table", false: "minify"}[to == "new.bin"])
			if got != statusDamaged || !strings.Contains(errs, name) || !strings.Contains(errs, "checksum mismatch") || strings.Count(errs, "checksum mismatch") != 1 {
				t.Errorf("%s: status %d, %q, want 3 and %q", to, got, errs, line)
			}
			if to == "zip" || to == "folder" || to == "new.zip" {
				if have := namesIn(t, dst); have != names {
					t.Errorf("%s has %q", to, have)
				}
				continue
			}
			if got, out, _ := sndpak(t, "verify", dst); got != statusDamaged || !strings.Contains(out, name) {
				t.Errorf("verify %s: status %d, %q", to, got, out)
			}
		}
		out := t.TempDir()
		if got, _, errs := sndpak(t, "extract", spoiltPack, "-C", out); got != statusDamaged || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "checksum mismatch") {
			t.Errorf("extract: status %d, %q", got, errs)
		}
		if have := namesIn(t, out); have != "a.txt b.json" {
			t.Errorf("extract wrote %q", have)
		}
		if got, o, errs := sndpak(t, "extract", spoiltPack, name, "--stdout"); got != statusDamaged || o == "" || strings.Count(errs, "\n") != 1 {
			t.Errorf("extract --stdout: status %d, %q%q", got, o, errs)
		}
		if got, _, errs := sndpak(t, "compact", spoiltPack, "--out", out); got != statusDamaged || !strings.Contains(errs, "checksum mismatch") {
			t.Errorf("compact --out: status %d, %q", got, errs)
		}
	}
}

// TestConvertBadMembers leaves out what is bad in an archive, and nothing else.
func TestConvertBadMembers(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "old.zip")
	makeZip(t, src, member{"good", "x", nil},
		member{"sum", "y", func(h *zip.FileHeader) { h.CRC32++ }},
		member{"size", "z", func(h *zip.FileHeader) { h.UncompressedSize64 = 100 }},
		member{"short", "long", func(h *zip.FileHeader) { h.UncompressedSize64 = 1 }},
		member{"last", "w", nil})
	for _, to := range []string{"n.data", "n.bin", "n.zip", "n"} {
		names := "good last"
		converts(t, statusDamaged, src, filepath.Join(dir, to), names,
			"old.zip: sum: checksum left out", "old.zip: size: left out", "old.zip: short: left out", "3 of 5 files")
	}
	makeZip(t, src, member{"good", "x", nil}, member{"strange", "y", func(h *zip.FileHeader) { h.Method = 77 }})
	converts(t, statusFailed, src, filepath.Join(dir, "m.data"), "good", "old.zip: strange: unsupported left out", "1 of 2 files")
	makeZip(t, src, member{"good", "x", nil}, member{"secret", "y", func(h *zip.FileHeader) { h.Flags |= 1 }})
	converts(t, statusFailed, src, filepath.Join(dir, "e.data"), "good", "old.zip: secret: encrypted", "1 of 2 files")
	makeZip(t, src, member{"a/b", "x", nil}, member{"a", "y", nil}, member{"c", "z", nil}, member{"c", "z", nil})
	converts(t, statusFailed, src, filepath.Join(dir, "f"), "a c", "old.zip: a: left out: folder", "old.zip: c: left out: another", "2 of 4 files")
}

// TestConvertBadEntries does so with a pack.
func TestConvertBadEntries(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "old.dat")
	var index []byte
	for _, r := range [][3]uint32{{1, 0, 2}, {7, 0, 1}, {7, 1, 1}, {9, 1, 0xfffffff0}} {
		for _, x := range r {
			index = binary.LittleEndian.AppendUint32(index, x)
		}
	}
	writeTo(t, src, []byte("xyz"))
	writeTo(t, filepath.Join(dir, "old.index"), index)
	for _, to := range []string{"n.data", "n.zip", "n"} {
		got, _, errs := sndpak(t, "convert", src, filepath.Join(dir, to))
		if have := namesIn(t, filepath.Join(dir, to)); got != statusDamaged || have != "00000001" || !strings.Contains(errs, "past the end") || !strings.Contains(errs, "there twice") {
			t.Errorf("%s: status %d, %q in it: %s", to, got, have, errs)
		}
		if to != "n" && !strings.Contains(errs, "3 of 4 files") {
			t.Errorf("%s: %s", to, errs)
		}
	}
}

// TestConvertBombs refuses what is out of proportion, before anything is written.
func TestConvertBombs(t *testing.T) {
	dir := t.TempDir()
	src, many := filepath.Join(dir, "bomb.zip"), filepath.Join(dir, "many.dat")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create("zeros")
	w.Write(make([]byte, 65<<20))
	z.Close()
	writeTo(t, src, b.Bytes())
	writeTo(t, many, make([]byte, 1<<20))
	var index []byte
	for i := range uint32(66) {
		for _, x := range []uint32{i, 0, 1 << 20} {
			index = binary.LittleEndian.AppendUint32(index, x)
		}
	}
	writeTo(t, filepath.Join(dir, "many.index"), index)
	for _, from := range []string{src, many} {
		for _, to := range []string{"n.data", "n.zip"} {
			dst := filepath.Join(dir, to)
			got, _, errs := sndpak(t, "convert", from, dst)
			if got != statusFailed || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "--max-bytes") {
				t.Errorf("%s into %s: status %d, %q", filepath.Base(from), to, got, errs)
			}
			if _, err := os.Lstat(dst); err == nil {
				t.Errorf("%s is there", to)
			}
		}
	}
	if got, _, errs := sndpak(t, "convert", src, filepath.Join(dir, "n.data"), "--max-bytes", "66M"); got != 0 {
		t.Errorf("with --max-bytes: status %d, %q", got, errs)
	}
}

// A loop that only the pack keeps is lost where there are only files, and that is said; one that is the
// file's own is not.
func TestConvertTellsLostLoops(t *testing.T) {
	dir := t.TempDir()
	pack := filepath.Join(dir, "p.data")
	src, err := soundpack.Sources([]string{filepath.Join("..", "..", "testdata", "sounds")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	moved := func(r io.ReaderAt, size int64) (soundpack.Facts, error) {
		f, err := soundFacts(r, size)
		if f.Format == "wav" && f.Loop[1] == 0 && f.Rate == 22050 {
			f.Loop = [2]int64{100, 200}
		}
		return f, err
	}
	if err := soundpack.Create(t.Context(), pack, src, &soundpack.CreateOptions{Facts: moved}); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"z.zip", "folder"} {
		status, _, errs := sndpak(t, "convert", pack, filepath.Join(dir, to))
		if status != 0 || strings.Count(errs, "is not kept") != 1 || !strings.Contains(errs, "jaguar.wav: its loop from 100 to 200 is not kept") {
			t.Errorf("%s: status %d, %q; want one line about the loop of jaguar.wav", to, status, errs)
		}
	}
	if status, _, errs := sndpak(t, "convert", pack, filepath.Join(dir, "p.pck")); status != 0 || strings.Contains(errs, "not kept") {
		t.Errorf("a pack: status %d, %q", status, errs)
	}
}

// What a newer version, or a person, has put into a manifest is kept by packs and told where there are only
// files.
func TestConvertTellsUnknownMembers(t *testing.T) {
	dir := t.TempDir()
	a, pack := filepath.Join(dir, "a.txt"), filepath.Join(dir, "p.data")
	writeTo(t, a, []byte("the first file"))
	if status, _, errs := sndpak(t, "create", pack, a); status != 0 {
		t.Fatal(errs)
	}
	b, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	own := bytes.Replace(bytes.Replace(b[14:], []byte(`{"entry":`), []byte(`{"mood":"dark","x":[1],"entry":`), 1),
		[]byte(`"entries"`), []byte(`"author":{"name":"A. N."},"mood":1,"yy":2,"entries"`), 1)
	sum := own[len(`{"sndpak":1,"check":"`):]
	copy(sum, fmt.Sprintf("%08x", crc32.Checksum(sum[9:], crc32.MakeTable(crc32.Castagnoli))))
	writeTo(t, pack, append(b[:14:14], own...))
	index, err := os.ReadFile(filepath.Join(dir, "p.inx"))
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(index[28+24:], uint32(len(own)))
	writeTo(t, filepath.Join(dir, "p.inx"), index)
	const line = `p.data: what else its manifest tells is not kept (5 members that this version does not know: "author", "mood", "yy", …)`
	for _, to := range []string{"z.zip", "folder", "q.pck", "q.dat", "q.bin"} {
		status, _, errs := sndpak(t, "convert", pack, filepath.Join(dir, to))
		lost := to == "z.zip" || to == "folder"
		if status != 0 || lost != strings.Contains(errs, line) || strings.Count(errs, "\n") > 1 || !lost && errs != "" {
			t.Errorf("%s: status %d, %q; lost: %v", to, status, errs, lost)
		}
		if b, err := os.ReadFile(filepath.Join(dir, to)); !lost && (err != nil || !bytes.Contains(b, []byte(`"author":{"name":"A. N."}`)) || !bytes.Contains(b, []byte(`"mood":"dark"`))) {
			t.Errorf("%s has not what the manifest told: %v", to, err)
		}
	}
}

// A byte of a JSON table flipped so that it still reads, and one so that it does not: both are told wherever
// the entries go, by the checksum of the table, and the others are as they were.
func TestConvertBadTable(t *testing.T) {
	dir := t.TempDir()
	var rows []string
	for i := range 40 {
		rows = append(rows, fmt.Sprintf(`{"name":"item %d","price":%d}`, i, 3*i))
	}
	table, other, pack := filepath.Join(dir, "table.json"), filepath.Join(dir, "b.json"), filepath.Join(dir, "cfg_0.bin")
	writeTo(t, table, []byte("["+strings.Join(rows, ",")+"]"))
	writeTo(t, other, []byte(`[{"x":1,"yyyyyy":2},{"x":3,"yyyyyy":4},{"x":5,"yyyyyy":6}]`))
	if status, _, errs := sndpak(t, "create", pack, table, other, "--json", "table", "--layout", "cfg"); status != 0 {
		t.Fatal(errs)
	}
	whole, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, at, says, has string
	}{
		{"reads.bin", "item 7", "checksum mismatch", "b.json table.json"},
		{"broken.bin", `"list"`, "damaged: JSON table", "b.json"},
	} {
		b := bytes.Clone(whole)
		b[bytes.Index(b, []byte(c.at))] ^= 1
		bad := filepath.Join(dir, c.name)
		writeTo(t, bad, b)
		for _, args := range [][]string{
			{"convert", bad, "OUT/z.zip"}, {"convert", bad, "OUT/folder"}, {"convert", bad, "OUT/p.data"}, {"convert", bad, "OUT/p.pck"},
			{"extract", bad, "-C", "OUT/files"}, {"extract", bad, "table.json", "--stdout"},
		} {
			out := t.TempDir()
			full := slices.Clone(args)
			for i := range full {
				full[i] = strings.ReplaceAll(full[i], "OUT", out)
			}
			status, _, errs := sndpak(t, full...)
			if status != statusDamaged || strings.Count(errs, c.says) != 1 || !strings.Contains(errs, "table.json") || strings.Contains(errs, "b.json") {
				t.Errorf("%s: status %d, %q; want 3 and one line with %q", args, status, errs, c.says)
			}
			if _, first, _ := strings.Cut(errs, "CRC-32C "); c.name == "reads.bin" && !strings.HasPrefix(first, fmt.Sprintf("%08x", bodySum(t, bad, "table.json"))) {
				t.Errorf("%s: %q has not the checksum of the table", args, errs)
			}
			if to := full[len(full)-1]; to != "--stdout" && filepath.Ext(to) != ".pck" {
				have := strings.Fields(namesIn(t, to))
				slices.Sort(have)
				if strings.Join(have, " ") != c.has {
					t.Errorf("%s: %q in it, want %q", args, have, c.has)
				}
			}
		}
	}
	if status, _, errs := sndpak(t, "convert", pack, filepath.Join(dir, "whole.zip")); status != 0 || errs != "" {
		t.Errorf("whole: status %d, %q", status, errs)
	}
}

// bodySum is the CRC-32C of an entry's bytes where they lie.
func bodySum(t *testing.T, pack, name string) uint32 {
	t.Helper()
	p, err := soundpack.Open(pack, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	e, _ := p.Lookup(name)
	b, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	return crc32.Checksum(b[e.Offset:e.Offset+e.Size], crc32.MakeTable(crc32.Castagnoli))
}
