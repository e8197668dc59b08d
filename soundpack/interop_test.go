package soundpack

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Packs go both ways through two programs that share no code with this one.

var interopSources = []Source{
	source("jaguar.wav", pattern(5000)), source("Theme.OGG", pattern(70_000)), source("empty", nil),
	source("nineteen bytes long", pattern(3)), source("100%41", pattern(4)), source("last", pattern(1)),
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, stderr.String())
	}
	return out
}

func tool(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no other program is run")
	}
	if own := "/usr/bin/" + name; name == "python3" && exec.Command(own, "-c", "").Run() == nil {
		return own // the system's starts in a tenth of the time of a version manager's
	}
	path, err := exec.LookPath(name)
	if err != nil {
		needs(t, name)
	}
	return path
}

// readers are commands that list a pack and that print an entry.
func readers(t *testing.T) map[string]func(t *testing.T) (list, get []string) {
	return map[string]func(t *testing.T) (list, get []string){
		"python": func(t *testing.T) ([]string, []string) {
			py, script := tool(t, "python3"), shared(t, "interop", "refpack.py")
			return []string{py, script, "list", "split", "DATA"}, []string{py, script, "extract", "split", "DATA", "NAME"}
		},
		"c": func(t *testing.T) ([]string, []string) {
			bin := filepath.Join(t.TempDir(), "inxread")
			run(t, tool(t, "cc"), "-O2", "-o", bin, shared(t, "interop", "inxread.c"))
			return []string{bin, "DATA", "INDEX"}, []string{bin, "DATA", "INDEX", "NAME"}
		},
	}
}

func TestInteropOthersReadOurs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "music.data")
	if err := Create(t.Context(), path, append(slices.Clone(interopSources), source("with/a long name.wav", pattern(9))), nil); err != nil {
		t.Fatal(err)
	}
	p := mustOpen(t, path)
	for name, reader := range readers(t) {
		t.Run(name, func(t *testing.T) {
			list, get := reader(t)
			call := func(cmd []string, entry string) []byte {
				r := strings.NewReplacer("DATA", path, "INDEX", p.IndexPath(), "NAME", entry)
				cmd = slices.Clone(cmd)
				for i := range cmd {
					cmd[i] = r.Replace(cmd[i])
				}
				return run(t, cmd[0], cmd[1:]...)
			}
			var want strings.Builder
			for i := range p.Len() + 1 { // the manifest is one more file to them
				e := p.Entry(i)
				fmt.Fprintf(&want, "%s\t%d\t%d\n", e.Raw(), e.Offset, e.Size)
			}
			e, _ := p.Lookup("with/a long name.wav")
			if got := call(get, strings.ToUpper(e.Raw())); !bytes.Equal(got, pattern(9)) {
				t.Errorf("by the alias %q: %q", e.Raw(), got)
			}
			if got := string(call(list, "")); got != want.String() {
				t.Errorf("list:\n%s, want\n%s", got, want.String())
			}
			for _, s := range interopSources {
				body, _ := p.ReadFile(strings.ReplaceAll(s.Name, "%41", "%2541"))
				for _, entry := range []string{s.Name, strings.ToUpper(s.Name)} {
					if entry != s.Name && s.Name[0] != 'j' {
						continue // one in another case will do
					}
					if got := call(get, entry); !bytes.Equal(got, body) || int64(len(got)) != s.Size {
						t.Errorf("%q: %d bytes, want %d", entry, len(got), s.Size)
					}
				}
			}
		})
	}
}

func TestInteropWeReadOthers(t *testing.T) {
	py, script := tool(t, "python3"), shared(t, "interop", "refpack.py")
	dir := t.TempDir()
	args := []string{script, "make", "split", filepath.Join(dir, "music.data")}
	for _, s := range interopSources {
		r, _ := s.Open()
		b, _ := io.ReadAll(r)
		write(t, filepath.Join(dir, s.Name), b)
		args = append(args, filepath.Join(dir, s.Name))
	}
	run(t, py, args...)
	ours := filepath.Join(t.TempDir(), "music.data")
	if err := Create(t.Context(), ours, interopSources, &CreateOptions{Plain: true}); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"music.data", "music.inx"} {
		if !bytes.Equal(read(t, filepath.Join(dir, f)), read(t, filepath.Join(filepath.Dir(ours), f))) {
			t.Errorf("%s: theirs differs from ours", f)
		}
	}
	p := mustOpen(t, filepath.Join(dir, "music.data"))
	out := t.TempDir()
	if err := p.Extract(t.Context(), out, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, s := range interopSources {
		if !bytes.Equal(read(t, filepath.Join(out, show(s.Name))), read(t, filepath.Join(dir, s.Name))) {
			t.Errorf("%q differs", s.Name)
		}
	}
}

// Sounds as distributions ship them, bit for bit into a pack and out again, and read by the C reader.
func TestRealSounds(t *testing.T) {
	for pkg, folder := range map[string]string{
		"alsa-utils":              "/usr/share/sounds/alsa",
		"sound-theme-freedesktop": "/usr/share/sounds/freedesktop/stereo",
	} {
		t.Run(pkg, func(t *testing.T) {
			if _, err := os.Stat(folder); err != nil {
				needs(t, pkg)
			}
			src, err := Sources([]string{folder}, nil)
			if err != nil {
				t.Fatal(err)
			}
			src = slices.DeleteFunc(src, func(s Source) bool { return checkName(s.Name, splitWrite) != nil })
			path := filepath.Join(t.TempDir(), "music.data")
			if err := Create(t.Context(), path, src, nil); err != nil {
				t.Fatal(err)
			}
			p, out := mustOpen(t, path), t.TempDir()
			if err := p.Extract(t.Context(), out, nil, nil); err != nil {
				t.Fatal(err)
			}
			if len(src) < 5 || p.Len() != len(src) {
				t.Fatalf("%d entries of %d sounds", p.Len(), len(src))
			}
			_, get := readers(t)["c"](t)
			for _, s := range src {
				want := read(t, s.Path)
				if !bytes.Equal(read(t, filepath.Join(out, s.Name)), want) {
					t.Errorf("%s: extracted, it differs", s.Name)
				}
				if !bytes.Equal(run(t, get[0], path, p.IndexPath(), s.Name), want) {
					t.Errorf("%s: read by C, it differs", s.Name)
				}
			}
			t.Logf("%d sounds", len(src))
		})
	}
}
