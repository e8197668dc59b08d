package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestToldBriefly has packs, archives and folders with a thousand bad entries of a kind: a few lines tell of
// them, with their number, and the exit status is what it is for one of them.
func TestToldBriefly(t *testing.T) {
	const n = 1200
	dir := t.TempDir()
	past, twice, archive, empty := filepath.Join(dir, "past.data"), filepath.Join(dir, "twice.dat"), filepath.Join(dir, "bad.zip"), filepath.Join(dir, "empty.zip")
	var inx, index []byte
	var members, empties []member
	for i := range n {
		inx = append(inx, fmt.Appendf(nil, "%-20s", fmt.Sprintf("%05d.bin\x00", i))...)
		inx = binary.LittleEndian.AppendUint32(inx, 0)
		inx = binary.LittleEndian.AppendUint32(inx, uint32(i+100)) // past the end
		for _, v := range [3]uint32{uint32(i / 2), 0, 1} {
			index = binary.LittleEndian.AppendUint32(index, v)
		}
		members = append(members, member{fmt.Sprintf("../%05d", i), "x", nil})
		empties = append(empties, member{fmt.Sprintf("%05d", i), "", nil})
	}
	for path, b := range map[string][]byte{
		past: []byte("xyz"), filepath.Join(dir, "past.inx"): []byte(strings.ReplaceAll(string(inx), " ", "\x00")),
		twice: []byte("xyz"), filepath.Join(dir, "twice.index"): index,
	} {
		writeTo(t, path, b)
	}
	makeZip(t, archive, append(members, member{"good", "x", nil})...)
	makeZip(t, empty, empties...)
	for _, c := range []struct {
		status int
		says   string
		args   []string
	}{
		{3, fmt.Sprintf("and %d more: left out", n-mostTold), []string{"convert", past, "OUT.pck"}},
		{3, fmt.Sprintf("and %d more: left out", n-mostTold), []string{"convert", past, "OUT.zip"}},
		{3, fmt.Sprintf("and %d more: damaged", 1000-mostTold), []string{"convert", past, "OUT"}},
		{3, fmt.Sprintf("%d more errors like these in past.data", n-1000), []string{"extract", past, "-C", "OUT"}},
		{3, fmt.Sprintf("and %d more: left out", n-mostTold), []string{"convert", twice, "OUT.data"}},
		{3, fmt.Sprintf("%d more like these", n-mostFound), []string{"verify", past}},
		{3, fmt.Sprintf("%d more like these", n-mostFound), []string{"verify", twice}},
		{3, fmt.Sprintf("%d more like these", n-mostRules), []string{"lint", past}},
		{1, fmt.Sprintf("and %d more: left out", n-mostTold), []string{"convert", archive, "OUT"}},
		{1, fmt.Sprintf("and %d more: left out", n-mostTold), []string{"convert", archive, "OUT.data"}},
		{0, fmt.Sprintf("and %d more: packed as", n-mostTold), []string{"convert", empty, "OUT.data"}},
	} {
		for i := range c.args {
			c.args[i] = strings.ReplaceAll(c.args[i], "OUT", filepath.Join(t.TempDir(), "out"))
		}
		status, out, errs := sndpak(t, c.args...)
		most := map[string]int{"lint": 3 * mostRules, "verify": 3 * mostFound}[c.args[0]]
		if lines := strings.Count(out+errs, "\n"); status != c.status || lines > max(most, 2*mostTold+3) || !strings.Contains(out+errs, c.says) {
			t.Errorf("%s: status %d, %d lines; want %d, and %q\n%.3000s", c.args, status, lines, c.status, c.says, out+errs)
		}
	}
	status, out, _ := sndpak(t, "verify", past, "--json")
	var report struct {
		Findings []json.RawMessage
		Errors   int
	}
	if err := json.Unmarshal([]byte(out), &report); status != 3 || err != nil || report.Errors != n || len(report.Findings) < 100 {
		t.Errorf("verify --json: status %d, %d findings, %d errors, %v", status, len(report.Findings), report.Errors, err)
	}
}

// TestToldWorst has an error of a rare kind behind many of another: it is told, and counts for the status.
func TestToldWorst(t *testing.T) {
	dir := t.TempDir()
	pack := filepath.Join(dir, "p.data")
	var inx []byte
	for i := range 1500 {
		name, size := "same.bin", uint32(1)
		if i == 1499 {
			name, size = "last.bin", 100
		}
		inx = append(inx, name+strings.Repeat("\x00", 20-len(name))...)
		inx = binary.LittleEndian.AppendUint32(inx, 0)
		inx = binary.LittleEndian.AppendUint32(inx, size)
	}
	writeTo(t, pack, []byte("xyz"))
	writeTo(t, filepath.Join(dir, "p.inx"), inx)
	status, _, errs := sndpak(t, "extract", pack, "-C", filepath.Join(dir, "out"))
	if status != statusDamaged || !strings.Contains(errs, `"last.bin"`) || strings.Count(errs, "\n") > mostTold+4 {
		t.Errorf("status %d, %s", status, errs)
	}
}

// TestDeepNames has paths in an archive that no file can have: they are left out before a folder is made.
func TestDeepNames(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "deep.zip")
	makeZip(t, archive, member{strings.Repeat("a/", 30000) + "b", "x", nil}, member{strings.Repeat("a/", 300) + "b", "x", nil}, member{"a/b", "x", nil})
	for _, to := range []string{"out", "out.zip", "out.data"} {
		status, _, errs := sndpak(t, "convert", archive, filepath.Join(dir, to))
		if status != statusFailed || !strings.Contains(errs, "written without 2 of 3 files") {
			t.Errorf("%s: status %d, %.500s", to, status, errs)
		}
	}
}

// An entry that shares its bytes with very many others is told so in one short line.
func TestSharedBriefly(t *testing.T) {
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("%02d.bin", i))
	}
	dir := t.TempDir()
	for _, name := range names {
		writeTo(t, filepath.Join(dir, name), []byte("the same"))
	}
	pack := filepath.Join(t.TempDir(), "p.data")
	if status, _, errs := sndpak(t, "create", pack, dir); status != 0 {
		t.Fatal(errs)
	}
	_, out, _ := sndpak(t, "info", pack, "00.bin")
	if !strings.Contains(out, "its bytes with 01.bin, 02.bin") || !strings.Contains(out, "10.bin and 39 more\n") {
		t.Errorf("info: %s", out)
	}
	if _, out, _ = sndpak(t, "info", pack, "00.bin", "--json"); strings.Count(out, ".bin") < 50 {
		t.Errorf("info --json: %s", out)
	}
}
