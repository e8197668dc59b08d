package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// needs skips a test for want of a file or a program, by its reason. Where everything is to be there
// it fails instead.
func needs(t *testing.T, what string, there bool) {
	t.Helper()
	switch {
	case there:
	case os.Getenv("SNDPAK_CI") != "":
		t.Fatalf("needs %s", what)
	default:
		t.Skipf("needs %s", what)
	}
}

func needsProgram(t *testing.T, name string) {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no other program is run")
	}
	_, err := exec.LookPath(name)
	needs(t, name, err == nil)
}

// The sounds of Debian's alsa-utils and sound-theme-freedesktop, those whose names fit, go into a
// pack, come out bit for bit, and are as long as other programs say. The pack is read by the
// independent readers too.
func TestRealSets(t *testing.T) {
	for name, pattern := range map[string]string{
		"alsa-utils":              "/usr/share/sounds/alsa/*.wav",
		"sound-theme-freedesktop": "/usr/share/sounds/freedesktop/stereo/*.oga",
	} {
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			needs(t, name, len(files) > 0)
			var short []string
			for _, f := range files {
				if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() && len(filepath.Base(f)) <= 19 {
					short = append(short, f)
				}
			}
			if len(short) < 9 {
				t.Fatalf("%d files with short names, want 9 or more", len(short))
			}
			checkSet(t, short)
		})
	}
}

func checkSet(t *testing.T, files []string) {
	dir := t.TempDir()
	pack := filepath.Join(dir, "music.data")
	if status, _, errs := sndpak(t, append([]string{"create", pack}, files...)...); status != 0 {
		t.Fatalf("create: status %d: %s", status, errs)
	}
	if status, out, errs := sndpak(t, "verify", pack, "--deep"); status != 0 {
		t.Errorf("verify: status %d: %s%s", status, out, errs)
	}
	if status, _, errs := sndpak(t, "extract", pack, "-C", filepath.Join(dir, "out")); status != 0 {
		t.Fatalf("extract: status %d: %s", status, errs)
	}
	for _, f := range files {
		want, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "out", filepath.Base(f)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: came out with %d bytes, %d went in (%v)", f, len(got), len(want), err)
		}
	}
	checkLengths(t, pack, files)
	checkReaders(t, pack, files)
}

// checkLengths compares the frames of the listing with what soxi and oggdec count.
func checkLengths(t *testing.T, pack string, files []string) {
	_, list, _ := sndpak(t, "list", pack, "--json")
	var l struct{ Entries []listed }
	if err := json.Unmarshal([]byte(list), &l); err != nil {
		t.Fatal(err)
	}
	for i, e := range l.Entries {
		if e.Frames == nil {
			t.Errorf("%s: no frames", e.Name)
			continue
		}
		if want := counted(t, files[i], e.Channels); *e.Frames != want {
			t.Errorf("%s: %d frames, want %d", e.Name, *e.Frames, want)
		}
	}
}

// counted is how many frames an independent decoder finds in a file.
func counted(t *testing.T, file string, channels int) int64 {
	t.Helper()
	if filepath.Ext(file) == ".wav" {
		needsProgram(t, "soxi")
		out, err := exec.Command("soxi", "-s", file).Output()
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	needsProgram(t, "oggdec")
	out, err := exec.Command("oggdec", "--quiet", "--raw", "--bits", "16", "-o", "-", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	return int64(len(out) / 2 / channels)
}

// checkReaders has the C reader and the Python reader read the pack.
func checkReaders(t *testing.T, pack string, files []string) {
	interop := filepath.Join(casesDir, "..", "interop")
	if _, err := os.Stat(interop); err != nil {
		t.Skipf("the independent readers are not here: %v", err)
	}
	needsProgram(t, "cc")
	needsProgram(t, "python3")
	reader := filepath.Join(t.TempDir(), "inxread")
	if out, err := exec.Command("cc", "-O2", "-Wall", "-Wextra", "-o", reader, filepath.Join(interop, "inxread.c")).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	index := strings.TrimSuffix(pack, ".data") + ".inx"
	for _, f := range files {
		want, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(f)
		for what, cmd := range map[string]*exec.Cmd{
			"inxread.c":  exec.Command(reader, pack, index, strings.ToUpper(name)),
			"refpack.py": exec.Command(python(), filepath.Join(interop, "refpack.py"), "extract", "split", pack, name),
		} {
			if got, err := cmd.Output(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s reads %d bytes of %s, want %d (%v)", what, len(got), name, len(want), err)
			}
		}
	}
}

// python is the system's own, where there is one: it starts in a tenth of the time of a version manager's.
func python() string {
	if own := "/usr/bin/python3"; exec.Command(own, "-c", "").Run() == nil {
		return own
	}
	return "python3"
}
