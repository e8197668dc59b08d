package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInfoOfAPicture(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"ship.png": b.Bytes(), "cut.png": b.Bytes()[:12]} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pack := filepath.Join(dir, "game.data")
	if status, _, errs := sndpak(t, "create", pack, filepath.Join(dir, "ship.png"), filepath.Join(dir, "cut.png")); status != 0 {
		t.Fatal(errs)
	}
	status, out, errs := sndpak(t, "info", pack, "SHIP.PNG")
	if status != 0 || !strings.Contains(out, "format      PNG\n") || !strings.Contains(out, "pixels      30 x 20\n") {
		t.Errorf("status %d, %s%s", status, out, errs)
	}
	var facts struct{ Width, Height, Size int }
	_, out, _ = sndpak(t, "info", pack, "ship.png", "--json")
	if err := json.Unmarshal([]byte(out), &facts); err != nil || facts.Width != 30 || facts.Height != 20 || facts.Size != b.Len() {
		t.Errorf("got %+v, %v; want 30 x 20 in %d bytes", facts, err, b.Len())
	}
	if status, out, errs := sndpak(t, "info", filepath.Join(dir, "ship.png")); status != 0 || !strings.Contains(out, "30 x 20") {
		t.Errorf("outside a pack: status %d, %s%s", status, out, errs)
	}
	if status, out, errs := sndpak(t, "info", pack, "cut.png"); status != 3 || !strings.Contains(errs, "cut.png") {
		t.Errorf("a picture cut short: status %d, %s%s", status, out, errs)
	}
}
