package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// opusHead is the first page of an Ogg file of a kind that is known only by name.
func opusHead() []byte {
	page := append([]byte("OggS\x00\x02"), make([]byte, 20)...)
	page = append(page, 1, 19)
	page = append(page, "OpusHead\x01\x02\x00\x00\x80\xbb\x00\x00\x00\x00\x00"...)
	return mendedPage(page, 0)
}

// otherFiles makes a folder of a sound and of what is none.
func otherFiles(t *testing.T) (dir string) {
	swish, err := os.ReadFile("../../testdata/sounds/swish.wav")
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "my")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"sw.wav": swish, "readme.txt": []byte("hello there\n"), "voice.opus": opusHead(), "empty.wav": nil, "text.wav": []byte("hello"),
		"copy.txt": []byte("hello there\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestOtherFiles holds one rule of what is in a pack beside sounds: it is no damage unless it is called a
// sound, and a kind of sound that is not supported is none either. What the pack knows is told in any case.
func TestOtherFiles(t *testing.T) {
	dir := otherFiles(t)
	pack := filepath.Join(t.TempDir(), "my.data")
	if status, _, errs := sndpak(t, "create", pack, dir); status != 0 {
		t.Fatal(errs)
	}
	for _, c := range []struct {
		name         string
		info, decode int
		says         string
	}{
		{"readme.txt", 0, statusFailed, "not a known sound format"},
		{"voice.opus", statusFailed, statusFailed, "unsupported"},
		{"empty.wav", statusDamaged, statusDamaged, "empty"},
		{"text.wav", statusDamaged, statusDamaged, "not a known sound format"},
	} {
		status, out, errs := sndpak(t, "info", pack, c.name)
		if status != c.info || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.name) || !strings.Contains(errs, c.says) {
			t.Errorf("info %s: status %d, want %d; %q", c.name, status, c.info, errs)
		}
		for _, key := range []string{"name", "offset", "size", "crc32c"} {
			if !strings.Contains("\n"+out, "\n"+key+" ") {
				t.Errorf("info %s tells no %s: %q", c.name, key, out)
			}
		}
		if shared := strings.Contains(out, "copy.txt"); shared != (c.name == "readme.txt") {
			t.Errorf("info %s: %q", c.name, out)
		}
		var told struct{ Name, Error string }
		if _, out, _ := sndpak(t, "info", pack, c.name, "--json"); json.Unmarshal([]byte(out), &told) != nil || !strings.Contains(told.Error, c.says) {
			t.Errorf("info %s --json: %q", c.name, out)
		}
		for _, args := range [][]string{{"decode", pack, c.name, "-o", filepath.Join(t.TempDir(), "o.wav")}, {"play", pack, c.name, "--output", "null"}} {
			if status, _, errs := sndpak(t, args...); status != c.decode || !strings.Contains(errs, c.says) {
				t.Errorf("%s %s: status %d, want %d; %q", args[0], c.name, status, c.decode, errs)
			}
		}
	}
	if status, out, _ := sndpak(t, "verify", pack); status != 0 {
		t.Errorf("verify: status %d, %s", status, out)
	}
}

// TestNoPack has files and folders that are no packs: what they are is said.
func TestNoPack(t *testing.T) {
	dir := otherFiles(t)
	for _, c := range []struct {
		args string
		says string
	}{
		{"list DIR", "a folder, and no pack (sndpak create PACK"},
		{"verify DIR", "a folder, and no pack"},
		{"verify DIR/sw.wav", "a sound, and no pack"},
		{"list DIR/voice.opus", "a sound, and no pack"},
		{"info DIR/readme.txt", "readme.txt: not a known sound format"},
		{"play DIR/readme.txt --output null", "readme.txt: not a known sound format"},
		{"info DIR/voice.opus", "unsupported"},
		{"list DIR/nosuch.data", "no such file"},
		{"info DIR/nosuch.txt", "no such file"},
	} {
		args := strings.Fields(c.args)
		for i := range args {
			args[i] = strings.Replace(args[i], "DIR", dir, 1)
		}
		status, out, errs := sndpak(t, args...)
		if status != statusFailed || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("%s: status %d, %q%q; want %d, %q", c.args, status, out, errs, statusFailed, c.says)
		}
	}
}
