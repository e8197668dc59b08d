package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/soundpack"
)

// pageAt is where page n of an Ogg file begins; its length for a number that is too high.
func pageAt(ogg []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(ogg); n-- {
		size := 27 + int(ogg[at+26])
		for _, s := range ogg[at+27 : at+size] {
			size += int(s)
		}
		at += size
	}
	return at
}

// spoiled is b with the byte at each of the places changed.
func spoiled(b []byte, at ...int) []byte {
	b = bytes.Clone(b)
	for _, i := range at {
		b[i] ^= 0x5a
	}
	return b
}

// everyPage has a byte near the end of every page from the first on spoiled.
func everyPage(ogg []byte, first int) []byte {
	var at []int
	for i := first; pageAt(ogg, i) < len(ogg); i++ {
		at = append(at, pageAt(ogg, i+1)-1)
	}
	return spoiled(ogg, at...)
}

// damagedSounds are the sounds of TestDamage, by the name of the entry.
func damagedSounds(t *testing.T) map[string][]byte {
	read := func(path ...string) []byte {
		b, err := os.ReadFile(filepath.Join(path...))
		if err != nil {
			t.Skipf("a sound is not here: %v", err)
		}
		return b
	}
	ogg, mp3 := read("..", "..", "testdata", "sounds", "theme.ogg"), read("..", "..", "testdata", "sounds", "theme.mp3")
	wav, flac := read("..", "..", "testdata", "sounds", "swish.wav"), read(casesDir, "audio", "f06.flac")
	heads := pageAt(ogg, 2)
	end := binary.LittleEndian.AppendUint32([]byte("OggS\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00"), binary.LittleEndian.Uint32(ogg[14:]))
	end = append(end, 2, 0, 0, 0, 0, 0, 0, 0, 0)
	noise := bytes.Clone(mp3)
	for i := range noise {
		if i%61 != 0 {
			noise[i] = byte(i * i >> 3)
		}
	}
	empty := bytes.Clone(wav[:44])
	clear(empty[40:])
	frames := flacFrames(flac)
	var all []int
	for i := frames + 20; i < len(flac); i += 40 {
		all = append(all, i)
	}
	return map[string][]byte{
		"whole.wav": wav, "whole.ogg": ogg, "whole.mp3": mp3, "whole.flac": flac,
		"empty.wav":      empty,
		"head.wav":       wav[:44],
		"cut.wav":        wav[:len(wav)/2],
		"head.flac":      flac[:frames],
		"first.flac":     flac[:frames+200],
		"frames.flac":    spoiled(flac, all...),
		"one-frame.flac": spoiled(flac, frames+(len(flac)-frames)/2),
		"cut.flac":       flac[:len(flac)*3/4],
		"md5.flac":       spoiled(flac, 30),
		"head.ogg":       ogg[:heads],
		"first.ogg":      ogg[:heads+300],
		"pages.ogg":      everyPage(ogg, 2),
		"one-page.ogg":   spoiled(ogg, pageAt(ogg, 5)-1),
		"cut.ogg":        ogg[:len(ogg)*3/4],
		"setup.ogg":      spoiled(ogg, heads-500),
		"rubbish.ogg":    append(bytes.Repeat([]byte("rubbish "), 500), ogg...),
		"cut.mp3":        mp3[:len(mp3)*3/4],
		"noise.mp3":      noise,
		"ended.ogg":      mendedPage(append(bytes.Clone(ogg[:heads]), end...), heads),
	}
}

// flacFrames is where the first frame of a FLAC file is.
func flacFrames(b []byte) int {
	at := 4
	for last := false; !last; {
		last = b[at]&0x80 != 0
		at += 4 + int(binary.BigEndian.Uint32(b[at:])&0xffffff)
	}
	return at
}

// mendedPage sets the checksum of the page that begins at an offset and ends with b.
func mendedPage(b []byte, at int) []byte {
	c := uint32(0)
	for _, x := range b[at:] {
		c ^= uint32(x) << 24
		for range 8 {
			c = c<<1 ^ 0x04c11db7&-(c>>31)
		}
	}
	binary.LittleEndian.PutUint32(b[at+22:], c)
	return b
}

// TestDamage holds one rule in all commands: a sound without one good frame is damaged; one that lost
// some of them plays, decodes and is described with a warning, and verify --deep calls it damaged.
func TestDamage(t *testing.T) {
	const whole, warned, lossy, broken = "whole", "a warning", "a loss", "broken"
	want := map[string]string{
		"whole.wav": whole, "whole.ogg": whole, "whole.mp3": whole, "whole.flac": whole,
		"empty.wav": whole, "ended.ogg": warned, "rubbish.ogg": warned,
		"cut.wav": lossy, "cut.flac": lossy, "cut.ogg": lossy, "cut.mp3": lossy,
		"md5.flac": lossy, "one-frame.flac": lossy, "one-page.ogg": lossy,
		"head.wav": broken, "head.flac": broken, "first.flac": broken, "frames.flac": broken,
		"head.ogg": broken, "first.ogg": broken, "pages.ogg": broken, "setup.ogg": broken, "noise.mp3": broken,
	}
	sounds := damagedSounds(t)
	dir := t.TempDir()
	for name, data := range sounds {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	pack := filepath.Join(t.TempDir(), "p.data")
	if status, _, errs := sndpak(t, "create", pack, dir); status != 0 {
		t.Fatal(status, errs)
	}
	_, told, errs := sndpak(t, "verify", pack, "--deep", "--json") // all of it: to people the first of each kind are told
	var all soundpack.Report
	if err := json.Unmarshal([]byte(told), &all); err != nil {
		t.Fatal(err, errs)
	}
	report := ""
	for _, f := range all.Findings {
		report += fmt.Sprintf("%s: %s\n", severityName(f.Severity), f)
	}
	for name := range sounds {
		t.Run(name, func(t *testing.T) { checkDamage(t, pack, name, want[name], report) })
	}
}

func checkDamage(t *testing.T, pack, name, want, report string) {
	expect := 0
	if want == "broken" {
		expect = statusDamaged
	}
	out := filepath.Join(t.TempDir(), "o.wav")
	infoStatus, facts, infoErrs := sndpak(t, "info", pack, name, "--json")
	status, _, errs := sndpak(t, "decode", pack, name, "-o", out)
	played, _, playErrs := sndpak(t, "play", pack, name, "--output", "wav:"+out+"2")
	if status != expect || infoStatus != expect || played != expect {
		t.Errorf("decode %d, info %d, play %d, want %d: %s%s%s", status, infoStatus, played, expect, errs, infoErrs, playErrs)
	}
	if _, err := os.Stat(out); (err == nil) != (status == 0) {
		t.Errorf("the output is there: %v", err == nil)
	}
	for cmd, said := range map[string]string{"decode": errs, "info": infoErrs, "play": playErrs} {
		if expect != 0 && (strings.Count(said, "\n") != 1 || !strings.Contains(said, name)) {
			t.Errorf("%s says %q", cmd, said)
		}
	}
	if warns := want == "a warning" || want == "a loss"; strings.Contains(errs, "warning:") != warns {
		t.Errorf("decode says %q", errs)
	}
	var told struct{ Warnings []string }
	if expect == 0 && json.Unmarshal([]byte(facts), &told) != nil {
		t.Errorf("info says %q", facts)
	}
	severity := ""
	for line := range strings.Lines(report) {
		if strings.Contains(line, `"`+name+`"`) && severity != "error" {
			severity, _, _ = strings.Cut(line, ":")
		}
	}
	if (severity == "error") != (want == "a loss" || want == "broken") {
		t.Errorf("verify --deep finds %q in %s", severity, report)
	}
}

// TestDamagedIndex has a pack whose data begins with a sound, as most do, and whose index is damaged: it
// is no sound for that.
func TestDamagedIndex(t *testing.T) {
	dir := t.TempDir()
	sound, err := os.ReadFile("../../testdata/sounds/swish.wav")
	if err != nil {
		t.Fatal(err)
	}
	data, index := filepath.Join(dir, "p.data"), filepath.Join(dir, "p.inx")
	os.WriteFile(data, sound, 0o666)
	os.WriteFile(index, []byte("This is text, and no index.\n123"), 0o666)
	for _, cmd := range []string{"info", "list", "verify", "play", "decode", "extract"} {
		args := []string{cmd, data}
		if cmd == "decode" {
			args = append(args, "-o", filepath.Join(dir, "o.wav"))
		}
		if status, _, errs := sndpak(t, args...); status != statusDamaged || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "p.inx") {
			t.Errorf("%s: status %d, %q", cmd, status, errs)
		}
	}
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := sndpak(t, "info", data); status != 0 || !strings.Contains(out, "WAV") {
		t.Errorf("without an index: status %d, %q%q", status, out, errs)
	}
}
