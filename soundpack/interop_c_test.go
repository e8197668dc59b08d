package soundpack_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/soundpack"
)

// readerC is what a game in C needs to read entry n of a pck pack, and one of a crc pack by its path.
const readerC = `#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t le32(const unsigned char *p) {
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static int put(FILE *data, uint32_t offset, uint32_t size) {
	if (fseek(data, (long)offset, SEEK_SET) != 0)
		return 1;
	for (int c; size > 0 && (c = getc(data)) != EOF; size--)
		putchar(c);
	return size > 0;
}

static int pck(const char *path, uint32_t n) {
	unsigned char b[8];
	FILE *f = fopen(path, "rb");
	if (!f || fread(b, 1, 8, f) != 8 || le32(b) != 1 || n >= le32(b + 4))
		return 1;
	if (fseek(f, 8 + 8 * (long)n, SEEK_SET) != 0 || fread(b, 1, 8, f) != 8)
		return 1;
	return put(f, le32(b), le32(b + 4));
}

static uint32_t crc32(const char *path) {
	uint32_t id = ~0u;
	for (; *path; path++) {
		id ^= (unsigned char)*path;
		for (int k = 0; k < 8; k++)
			id = id >> 1 ^ (id & 1 ? 0xedb88320u : 0);
	}
	return ~id;
}

static int crc(const char *data, const char *index, const char *path) {
	unsigned char b[12];
	uint32_t id = crc32(path);
	FILE *d = fopen(data, "rb"), *f = fopen(index, "rb");
	while (d && f && fread(b, 1, 12, f) == 12) /* or halve: ids ascend, unsigned */
		if (le32(b) == id)
			return put(d, le32(b + 4), le32(b + 8));
	return 1;
}

int main(int argc, char **argv) {
	return argc == 3 ? pck(argv[1], (uint32_t)strtoul(argv[2], 0, 10)) : argc == 4 ? crc(argv[1], argv[2], argv[3]) : 2;
}
`

// text is a file to be packed.
func text(name, body string) soundpack.Source {
	return soundpack.Source{Name: name, Path: name, Size: int64(len(body)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(body)), nil
	}}
}

// A game in C reads what Go wrote: readerC above, of 60 lines, takes an entry of a pck pack by its number
// and one of a crc pack by its path. It needs a C compiler.
func Example_readInC() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	sounds := []soundpack.Source{text("sfx/hit.wav", "a hit"), text("sfx/miss.wav", "a miss")}
	for layout, name := range map[string]string{"pck": "game.pck", "crc": "pack.dat"} {
		opt := &soundpack.CreateOptions{Layout: layout}
		if err := soundpack.Create(context.Background(), filepath.Join(dir, name), sounds, opt); err != nil {
			fmt.Println(err)
		}
	}
	for _, args := range [][]string{{"game.pck", "1"}, {"pack.dat", "pack.index", "sfx/hit.wav"}} {
		fmt.Println(inC(dir, args...)) // a miss, a hit
	}
}

// inC runs readerC in a folder.
func inC(dir string, args ...string) (string, error) {
	bin := filepath.Join(dir, "reader")
	if _, err := os.Stat(bin); err != nil {
		cc := exec.Command("cc", "-Wall", "-Wextra", "-Werror", "-O2", "-x", "c", "-o", bin, "-")
		cc.Stdin = strings.NewReader(readerC)
		if out, err := cc.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	return string(out), err
}

// The example above holds, where there is a compiler.
func TestReadInC(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		if os.Getenv("SNDPAK_CI") == "1" {
			t.Fatal("needs cc, and SNDPAK_CI=1 says that it is there")
		}
		t.Skip("needs cc")
	}
	dir := t.TempDir()
	sounds := []soundpack.Source{text("sfx/hit.wav", "a hit"), text("sfx/miss.wav", "a miss"), text("ünïcode", "x")}
	for layout, name := range map[string]string{"pck": "game.pck", "crc": "pack.dat"} {
		if err := soundpack.Create(t.Context(), filepath.Join(dir, name), sounds, &soundpack.CreateOptions{Layout: layout}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"a hit", []string{"game.pck", "0"}}, {"a miss", []string{"game.pck", "1"}}, {"x", []string{"game.pck", "2"}},
		{"a hit", []string{"pack.dat", "pack.index", "sfx/hit.wav"}}, {"a miss", []string{"pack.dat", "pack.index", "sfx/miss.wav"}},
		{"x", []string{"pack.dat", "pack.index", "ünïcode"}},
	} {
		if got, err := inC(dir, c.args...); err != nil || got != c.want {
			t.Errorf("%q: %q, %v; want %q", c.args, got, err, c.want)
		}
	}
	for _, args := range [][]string{{"game.pck", "9"}, {"pack.dat", "pack.index", "SFX/hit.wav"}} {
		if got, err := inC(dir, args...); err == nil {
			t.Errorf("%q: %q, and no error", args, got)
		}
	}
}
