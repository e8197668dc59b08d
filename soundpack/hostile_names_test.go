package soundpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
)

// cfgOf is a cfg pack of one-byte bodies with names of any kind.
func cfgOf(names ...string) []byte {
	head := 2
	for _, name := range names {
		head += cfgRecord + len(name)
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(len(names)))
	for i, name := range names {
		b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
		b = append(b, name...)
		b = binary.BigEndian.AppendUint32(b, uint32(head+i))
		b = binary.BigEndian.AppendUint32(b, 1)
	}
	return append(b, bytes.Repeat([]byte{'x'}, len(names))...)
}

// Names of 65,535 bytes with tens of thousands of elements are shown, judged, refused and edited in time that
// goes with their length: no folder is made of each element, and nothing is copied for each.
func TestNamesOfManyElements(t *testing.T) {
	const n = 12
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%s%d", strings.Repeat("../", 21000), i), fmt.Sprintf("%d/%sb", i, strings.Repeat("a/", 31000)))
	}
	dots := strings.Repeat("../", 21000) + "x"
	if allocs := testing.AllocsPerRun(1, func() { show(dots) }); allocs > 40 || show(dots) != strings.Repeat("%2E%2E/", 21000)+"x" {
		t.Errorf("%v allocations to show %.20q", allocs, show(dots))
	}
	path := filepath.Join(t.TempDir(), "cfg_0.bin")
	write(t, path, cfgOf(append(names, "a/good")...))
	p := mustOpen(t, path)
	r, told := found(t, p, &VerifyOptions{MaxFindings: 3})
	contains(t, "verify", told, "elements, and 32 is the most")
	if r.Errors != len(names) {
		t.Errorf("verify: %d errors, want %d", r.Errors, len(names))
	}
	all := 0
	if err := fs.WalkDir(p, ".", func(string, fs.DirEntry, error) error { all++; return nil }); err != nil || all != 3 {
		t.Errorf("walked over %d, want 3: %v", all, err)
	}
	for i := range p.Len() {
		if b, err := p.ReadFile(p.Entry(i).Name); err != nil || string(b) != "x" {
			t.Errorf("entry %d: %q, %v", i, b, err)
		}
	}
	dir := t.TempDir()
	if err := p.Extract(t.Context(), dir, nil, nil); !errors.Is(err, ErrFormat) || len(fileTree(t, dir)) != 1 {
		t.Errorf("extract: %d files, %.200v", len(fileTree(t, dir)), err)
	}
	w, err := Edit(t.Context(), path, &WriterOptions{Plain: true})
	must(t, err)
	_, err = w.Remove(p.Entry(0).Name)
	must(t, errors.Join(err, w.Add(source("a/new", []byte("new"))), w.Commit(t.Context()), w.Close()))
	if q := mustOpen(t, path); q.Len() != len(names)+1 {
		t.Errorf("%d entries, want %d", q.Len(), len(names)+1)
	}
}

// Many entries may share one small table that stands for very much: no more is made of them than could be
// extracted, and the rest is told.
func TestTablesOutOfProportion(t *testing.T) {
	const n, rows = 9, 128
	key := `"` + strings.Repeat("k", 64<<10) + `"`
	var list, names, lines []string
	plain := len("[]") + rows - 1
	for i := range rows {
		list = append(list, fmt.Sprintf(`{"0":%d}`, i))
		plain += len(fmt.Sprintf(`{%s:%d}`, key, i))
	}
	body := fmt.Sprintf(`{"key":[%s],"list":[%s]}`, key, strings.Join(list, ","))
	for i := range n {
		names = append(names, fmt.Sprintf("%d.json", i))
		lines = append(lines, fmt.Sprintf(`{"entry":"%d.json","back":%d,"size":%d,"json":"table","plain":%d}`, i, len(body), len(body), plain))
	}
	own := fmt.Sprintf(`{"sndpak":1,"entries":[%s]}`, strings.Join(lines, ","))
	head := cfgOf(append(names, manifestName)...)
	head = head[:len(head)-n-1] // without bodies
	for i := range n + 1 {
		at := 2 + i*(cfgRecord+len("0.json")) + 2 + len("0.json")
		off, size := len(head), len(body)
		if i == n {
			at, off, size = len(head)-8, len(head)+len(body), len(own)
		}
		binary.BigEndian.PutUint32(head[at:], uint32(off))
		binary.BigEndian.PutUint32(head[at+4:], uint32(size))
	}
	path := filepath.Join(t.TempDir(), "cfg_0.bin")
	write(t, path, append(append(head, body...), own...))
	p := mustOpen(t, path)
	if e := p.Entry(n - 1); p.Len() != n || p.Size(e) != int64(plain) || e.Size != int64(len(body)) || plain < 8<<20 {
		t.Fatalf("%d entries, one of %d bytes read as %d; want %d, %d, %d", p.Len(), e.Size, p.Size(e), n, len(body), plain)
	}
	r, told := found(t, p, &VerifyOptions{Check: func(f *File) []Finding {
		if f.Size() != int64(plain) {
			return []Finding{{Severity: slog.LevelError, Kind: "sound", Text: "another size"}}
		}
		return nil
	}})
	contains(t, "verify", told, "not looked into: with it more than 64 times the data would be")
	if r.Errors != 2 { // 9 of 8 MiB and some, where 64 MiB are the most
		t.Errorf("%d errors: %s", r.Errors, told)
	}
}
