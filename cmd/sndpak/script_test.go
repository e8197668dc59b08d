package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sndpak": main})
}

// TestScripts runs the command as a user does. $SOUNDS is the folder of the project's sounds, $MUSIC
// the pack of them. Beside testscript's own commands there is "status N ARGUMENTS...", which runs
// sndpak and checks its exit status.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SOUNDS", filepath.Join(root, "sounds"))
			env.Setenv("MUSIC", filepath.Join(root, "music.data"))
			env.Setenv("HOME", env.WorkDir)
			for _, v := range []string{"PULSE_SERVER", "XDG_RUNTIME_DIR", "PULSE_RUNTIME_PATH"} {
				env.Setenv(v, filepath.Join(env.WorkDir, "nowhere")) // no sound server of this machine
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"status": wantStatus},
	})
}

func wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: status N ARGUMENTS...")
	}
	got, err := 0, ts.Exec("sndpak", args[1:]...)
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		got = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}
