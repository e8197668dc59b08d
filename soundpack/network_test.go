package soundpack

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/soundpack/internal/storage/crashsim"
)

// Data on a network file system is read and not mapped, and Verify says why. It reads like any other, also once
// another computer has cut it short.
func TestNetworkIsNotMapped(t *testing.T) {
	data := pattern(10000)
	path := writePack(t, encode(rec{"a.wav", 0, 100}, rec{"b.wav", 100, 9900}), data)
	for _, on := range []string{"", "NFS"} {
		var asked []string
		p, err := Open(path, &Options{network: func(path string) string { asked = append(asked, path); return on }})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if mapped := p.m.r != nil; mapped != (on == "") || len(asked) == 0 || asked[0] != path {
			t.Errorf("%q: mapped %v; asked of %q", on, mapped, asked)
		}
		if b, err := p.ReadFile("b.wav"); err != nil || !bytes.Equal(b, data[100:]) {
			t.Errorf("%q: %d bytes, %v", on, len(b), err)
		}
		_, told := found(t, p, nil)
		if strings.Contains(told, "network file system (NFS)") != (on != "") || len(p.Warnings()) > 0 {
			t.Errorf("%q: verify says %s; warnings %q", on, told, p.Warnings())
		}
	}
	p, err := Open(path, &Options{network: func(string) string { return "SMB" }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := os.Truncate(path, 5000); err != nil {
		t.Fatal(err)
	}
	if _, err := p.ReadFile("b.wav"); !errors.Is(err, ErrChanged) || !errors.Is(p.Err(), ErrChanged) {
		t.Errorf("cut: %v; the pack says %v", err, p.Err())
	}
}

// Who writes there is told that the lock may not hold, once, and the pack is written.
func TestNetworkIsToldToWriters(t *testing.T) {
	for _, on := range []string{"", "SMB"} {
		fsys := crashsim.New()
		fsys.On = on
		var told []string
		notice := func(path, text string) { told = append(told, path+": "+text) }
		err := Create(t.Context(), "d/m.data", []Source{source("a.wav", []byte("AAAA"))}, &CreateOptions{Notice: notice, storage: fsys})
		checkNetwork(t, "create", on, told, err)
		told = nil
		w, err := Edit(t.Context(), "d/m.data", &WriterOptions{Notice: notice, storage: fsys})
		checkNetwork(t, "edit", on, told, err)
		if err == nil {
			err = errors.Join(w.Add(source("b.wav", []byte("BB"))), w.Commit(t.Context()), w.Close())
		}
		if err != nil {
			t.Errorf("%q: %v", on, err)
		}
	}
}

func checkNetwork(t *testing.T, what, on string, told []string, err error) {
	t.Helper()
	all := strings.Join(told, "\n")
	if err != nil || strings.Count(all, "d/m.data: on a network file system (SMB)") != map[string]int{"": 0, "SMB": 1}[on] || len(told) > 1 {
		t.Errorf("%s on %q: %v, told %q", what, on, err, told)
	}
}
