package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command has a page that groff takes without a warning, and that shows what --help does.
func TestManPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if status, _, errs := sndpak(t, "man", dir); status != 0 {
		t.Fatal(errs)
	}
	root := newRoot(streams{})
	commands := pages(root)
	if files, _ := os.ReadDir(dir); len(files) != len(commands)+1 {
		t.Errorf("%d pages of %d commands and the program", len(files), len(commands))
	}
	for _, c := range append([]*cobra.Command{root}, commands...) {
		page, err := os.ReadFile(filepath.Join(dir, pageName(c)+".1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS"} {
			if !strings.Contains(string(page), ".SH "+section+"\n") {
				t.Errorf("%s has no section %s", pageName(c), section)
			}
		}
	}
	if _, err := exec.LookPath("groff"); err != nil {
		if os.Getenv("SNDPAK_CI") == "1" {
			t.Fatal("groff is missing")
		}
		t.Skip("needs groff")
	}
	for _, c := range append([]*cobra.Command{root}, commands...) {
		cmd := exec.Command("groff", "-man", "-ww", "-Tutf8", "-P-c", filepath.Join(dir, pageName(c)+".1"))
		var warnings strings.Builder
		cmd.Stderr = &warnings
		shown, err := cmd.Output()
		if err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v %s", pageName(c), err, &warnings)
		}
		text := strings.Join(strings.Fields(string(shown)), " ")
		if c == root {
			continue
		}
		for line := range strings.SplitSeq(c.Example, "\n") {
			if line = strings.Join(strings.Fields(line), " "); !strings.Contains(text, line) {
				t.Errorf("%s does not show the example %q", pageName(c), line)
			}
		}
		if !strings.Contains(text, c.CommandPath()) {
			t.Errorf("%s does not show how to call it", pageName(c))
		}
	}
}
