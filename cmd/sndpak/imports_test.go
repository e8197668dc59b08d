package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sndpak/sndpak/"

// arrows are the imports within the module that the design draws: each package may import what
// stands behind it and nothing else. The command is where everything is put together, so it may
// reach whatever its own arrows lead to.
var arrows = map[string][]string{
	"cmd/sndpak":                          {"player/tick", "cmd/sndpak/internal/console", "cmd/sndpak/internal/lint", "cmd/sndpak/internal/page", "cmd/sndpak/internal/picture", "cmd/sndpak/internal/termimage", "cmd/sndpak/internal/waveform", "player", "player/decode", "player/output", "player/mixer", "soundpack", "soundpack/content"},
	"cmd/sndpak/internal/console":         {"cmd/sndpak/internal/waveform", "player", "player/tick"},
	"cmd/sndpak/internal/lint":            {},
	"cmd/sndpak/internal/page":            {"cmd/sndpak/internal/picture", "cmd/sndpak/internal/waveform", "player", "player/decode", "soundpack"},
	"cmd/sndpak/internal/picture":         {"cmd/sndpak/internal/waveform", "player/decode"},
	"cmd/sndpak/internal/termimage":       {},
	"cmd/sndpak/internal/waveform":        {"player/decode", "player/mixer"},
	"soundpack":                           {"soundpack/internal/storage", "soundpack/jsontable"},
	"soundpack/content":                   {},
	"soundpack/internal/storage":          {},
	"soundpack/jsontable":                 {},
	"soundpack/internal/storage/crashsim": {"soundpack/internal/storage"}, // for tests alone: a file layer that fails and crashes
	"player":                              {"player/decode", "player/mixer", "player/output", "soundpack/content"},
	"player/decode":                       {"player/decode/mp3"},
	"player/decode/mp3":                   {},
	"player/mixer":                        {"player/tick"},
	"player/tick":                         {},
	"player/output":                       {},
	"player/internal/streamtest":          {}, // for tests alone: beep's contract, stated once for every stream
	"player/output/pulsetest":             {}, // for tests alone: a private PulseAudio
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestImportsFollowTheArrows(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for dec.More() {
		var p goPackage
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %s is not in the design", name)
			continue
		}
		seen++
		for _, i := range p.Imports {
			if to, ours := strings.CutPrefix(i, module); ours && !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s: no such arrow in the design", name, to)
			}
			if strings.HasSuffix(i, "streamtest") || strings.HasSuffix(i, "pulsetest") {
				t.Errorf("%s imports %s outside its tests", name, i)
			}
		}
	}
	if seen < len(arrows)-2 {
		t.Errorf("go list showed %d packages of %d", seen, len(arrows))
	}
}
