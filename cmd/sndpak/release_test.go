//go:build unix

package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// releaseConfig is what .goreleaser.yaml uses of goreleaser's configuration, version 2. A field that is not
// here is an error: goreleaser itself takes minutes to build, so that only those who have it run it.
type releaseConfig struct {
	Version     int    `yaml:"version"`
	ProjectName string `yaml:"project_name"`
	Before      struct {
		Hooks []string `yaml:"hooks"`
	} `yaml:"before"`
	Builds []struct {
		Main         string   `yaml:"main"`
		Binary       string   `yaml:"binary"`
		Env          []string `yaml:"env"`
		Goos         []string `yaml:"goos"`
		Goarch       []string `yaml:"goarch"`
		Flags        []string `yaml:"flags"`
		Ldflags      []string `yaml:"ldflags"`
		ModTimestamp string   `yaml:"mod_timestamp"`
	} `yaml:"builds"`
	Archives []struct {
		NameTemplate    string `yaml:"name_template"`
		WrapInDirectory bool   `yaml:"wrap_in_directory"`
		FormatOverrides []struct {
			Goos    string   `yaml:"goos"`
			Formats []string `yaml:"formats"`
		} `yaml:"format_overrides"`
		Files []archived `yaml:"files"`
	} `yaml:"archives"`
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
	} `yaml:"checksum"`
	Changelog struct {
		Disable bool `yaml:"disable"`
	} `yaml:"changelog"`
}

// archived is a file in an archive: its path, or where it comes from and goes to.
type archived struct{ Src, Dst string }

func (a *archived) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&a.Src)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch n.Content[i].Value {
		case "src":
			a.Src = n.Content[i+1].Value
		case "dst":
			a.Dst = n.Content[i+1].Value
		default:
			return errors.New("unknown field " + n.Content[i].Value + " of a file")
		}
	}
	return nil
}

const root = "../.."

func readRelease(t *testing.T) *releaseConfig {
	t.Helper()
	f, err := os.Open(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var c releaseConfig
	dec := yaml.NewDecoder(f)
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return &c
}

// expand is a template of goreleaser's with the fields that ours use.
func expand(t *testing.T, text string, fields map[string]string) string {
	t.Helper()
	var b strings.Builder
	tmpl, err := template.New("").Option("missingkey=error").Parse(text)
	if err == nil {
		err = tmpl.Execute(&b, fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The configuration for goreleaser describes what the tree has.
func TestReleaseConfig(t *testing.T) {
	c := readRelease(t)
	if c.Version != 2 || c.ProjectName != "sndpak" || len(c.Builds) != 1 || len(c.Archives) != 1 || c.Checksum.NameTemplate != "checksums.txt" {
		t.Fatalf("%+v", c)
	}
	b, a := c.Builds[0], c.Archives[0]
	for _, want := range [][2][]string{{b.Goos, {"linux", "darwin", "windows"}}, {b.Goarch, {"amd64", "arm64"}}, {b.Env, {"CGO_ENABLED=0"}}, {b.Flags, {"-trimpath"}}} {
		if !slices.Equal(want[0], want[1]) {
			t.Errorf("%q, want %q", want[0], want[1])
		}
	}
	if _, err := os.Stat(filepath.Join(root, b.Main, "main.go")); err != nil || b.Binary != "sndpak" {
		t.Errorf("builds %s as %s: %v", b.Main, b.Binary, err)
	}
	if o := a.FormatOverrides; len(o) != 1 || o[0].Goos != "windows" || !slices.Equal(o[0].Formats, []string{"zip"}) || !a.WrapInDirectory {
		t.Errorf("archives: %+v", a)
	}
	fields := map[string]string{"Version": "1.2.3", "CommitTimestamp": "0"}
	expand(t, b.ModTimestamp, fields)
	if len(b.Ldflags) != 1 || !strings.Contains(expand(t, b.Ldflags[0], fields), "-X main.version=1.2.3") {
		t.Errorf("ldflags %q", b.Ldflags)
	}
	for _, f := range a.Files {
		releaseFiles(t, f.Src)
	}
}

// The archives that CI makes, without goreleaser, are those that its configuration describes: .ci/run says
// in SNDPAK_ARCHIVES where they are.
func TestReleaseArchives(t *testing.T) {
	dir := os.Getenv("SNDPAK_ARCHIVES")
	if testing.Short() {
		t.Skip("short: .ci/run tries them elsewhere")
	}
	needs(t, "the archives of .ci/run", dir != "")
	c := readRelease(t)
	b, a := c.Builds[0], c.Archives[0]
	left, err := filepath.Glob(filepath.Join(dir, "sndpak_*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, goos := range b.Goos {
		found := false
		for _, arch := range b.Goarch {
			name := expand(t, a.NameTemplate, map[string]string{"Version": "0.0.0-ci", "Os": goos, "Arch": arch})
			binary, file := b.Binary, filepath.Join(dir, name+".tar.gz")
			if goos == "windows" {
				binary, file = binary+".exe", filepath.Join(dir, name+".zip")
			}
			i := slices.Index(left, file)
			if i < 0 {
				continue // CI makes some of them
			}
			left, found = slices.Delete(left, i, i+1), true
			want := []string{name + "/" + binary}
			for _, f := range a.Files {
				for _, file := range releaseFiles(t, f.Src) {
					want = append(want, path.Join(name, f.Dst, file))
				}
			}
			slices.Sort(want)
			if got := packedFiles(t, file); !slices.Equal(got, want) {
				t.Errorf("%s has\n%q, want\n%q", file, got, want)
			}
		}
		if !found {
			t.Errorf("no archive for %s", goos)
		}
	}
	if len(left) > 0 {
		t.Errorf("of no target: %q", left)
	}
	if _, err := os.Stat(filepath.Join(dir, c.Checksum.NameTemplate)); err != nil {
		t.Error(err)
	}
}

// releaseFiles are the files of a pattern; those in build are made by the hooks in front of a release.
func releaseFiles(t *testing.T, pattern string) (names []string) {
	t.Helper()
	made := t.TempDir()
	switch pattern {
	case "build/man1/*":
		if status, _, errs := sndpak(t, "man", made); status != 0 {
			t.Fatal(errs)
		}
		pattern = filepath.Join(made, "*")
	case "build/completions/*":
		return []string{"sndpak.bash", "sndpak.fish", "sndpak.zsh"}
	default:
		pattern = filepath.Join(root, pattern)
	}
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: %q, %v", pattern, list, err)
	}
	for _, file := range list {
		names = append(names, filepath.Base(file))
	}
	return names
}

// packedFiles are the names of an archive's files, sorted.
func packedFiles(t *testing.T, file string) (names []string) {
	t.Helper()
	if strings.HasSuffix(file, ".zip") {
		z, err := zip.OpenReader(file)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, f := range z.File {
			if !f.FileInfo().IsDir() {
				names = append(names, f.Name)
			}
		}
		slices.Sort(names)
		return names
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			slices.Sort(names)
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			names = append(names, h.Name)
		}
	}
}

// Whoever has goreleaser sees what it says itself.
func TestGoreleaserCheck(t *testing.T) {
	if _, err := exec.LookPath("goreleaser"); err != nil || testing.Short() {
		t.Skip("goreleaser is not here: TestReleaseConfig reads what it would read")
	}
	cmd := exec.Command("goreleaser", "check")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
