package soundpack

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The model test: random sessions on real files, and what is refused among them, against the list that
// the pack shall be; read by two independent programs at the end of each run.
func TestWriterModel(t *testing.T) {
	runs, edits := 4, 40
	if testing.Short() {
		runs, edits = 1, 20
	}
	r := newRand(t)
	for run := range runs {
		path := newPack(t, nil)
		plain := run%2 == 0 // else there is a manifest, which the others read as one more entry
		edit := func() *Writer {
			w, err := Edit(t.Context(), path, &WriterOptions{Plain: plain, pause: noPause})
			must(t, err)
			return w
		}
		w, now := edit(), contents{}
		for k := range edits {
			if r.IntN(3) == 0 { // reopen
				must(t, w.Close())
				w = edit()
			}
			tryRefused(t, w, now)
			e := randomEdit(r, now, 5000)
			if err := e.do(t.Context(), w); err != nil {
				t.Fatalf("run %d, edit %d (%v): %v", run, k, e, err)
			}
			if now = e.apply(now); w.Len() != len(now) {
				t.Fatalf("run %d, edit %d: Len %d, want %d", run, k, w.Len(), len(now))
			}
			if err := sameContents(t.Context(), path, now); err != nil {
				t.Fatalf("run %d, edit %d (%v): %v", run, k, e, err)
			}
			if e.compact && plain {
				checkCompact(t, path, now)
			}
		}
		must(t, w.Close())
		if all, err := readPlain(read(t, path), read(t, strings.TrimSuffix(path, "data")+"inx")); err != nil || len(all) > 0 && (all[len(all)-1].name == manifestName) == plain {
			t.Errorf("run %d: plain is %v, holds %v, %v", run, plain, all, err)
		} else {
			readByOthers(t, path, all)
		}
	}
}

// tryRefused does what cannot be done.
func tryRefused(t *testing.T, w *Writer, now contents) {
	t.Helper()
	if _, err := w.Remove("no such entry"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed what is not there: %v", err)
	}
	if len(now) == 0 {
		return
	}
	if err := w.Add(source("fine.wav", nil), source(strings.ToUpper(now[0].name), nil)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("added what is there: %v", err)
	}
	if _, err := w.Remove(now[0].name, "no such entry"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed what is not there: %v", err)
	}
}

// checkCompact: no byte is left that no entry names.
func checkCompact(t *testing.T, path string, now contents) {
	t.Helper()
	size := 0
	for _, f := range now {
		size += len(f.body)
	}
	if n := len(read(t, path)); n != size {
		t.Errorf("compacted to %d bytes, want %d", n, size)
	}
}

// readByOthers lists and reads a pack with programs that share no code with this one.
func readByOthers(t *testing.T, path string, want contents) {
	t.Helper()
	for name, reader := range readers(t) {
		list, get := reader(t)
		call := func(cmd []string, entry string) []byte {
			args := make([]string, len(cmd))
			for i, a := range cmd {
				args[i] = strings.NewReplacer("DATA", path, "INDEX", strings.TrimSuffix(path, "data")+"inx", "NAME", entry).Replace(a)
			}
			return run(t, args[0], args[1:]...)
		}
		lines := strings.Split(strings.TrimSpace(string(call(list, ""))), "\n")
		if len(want) > 0 && len(lines) != len(want) {
			t.Errorf("%s lists %d entries, want %d", name, len(lines), len(want))
			continue
		}
		for i, f := range want {
			if !strings.HasPrefix(lines[i], f.name+"\t") || !strings.HasSuffix(lines[i], fmt.Sprintf("\t%d", len(f.body))) {
				t.Errorf("%s lists %q as entry %d, want %q of %d bytes", name, lines[i], i, f.name, len(f.body))
			}
			if i%5 == 0 && !bytes.Equal(call(get, f.name), []byte(f.body)) {
				t.Errorf("%s reads other bytes of %q", name, f.name)
			}
		}
	}
}

// X01: adding over a name that is there in another case is refused, or replaces it if asked to; there
// are never two.
func TestCaseAddOverAnotherCase(t *testing.T) {
	path := copyCase(t, "P01")
	before, _ := rawContents(t, path)
	at := before.find("hit.wav")
	if at < 0 {
		t.Fatal("the case has no hit.wav")
	}
	w := mustEdit(t, path)
	if err := w.Add(source("HIT.WAV", []byte("new"))); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Add: %v, want fs.ErrExist", err)
	}
	must(t, w.Replace(source("HIT.WAV", []byte("new"))))
	must(t, w.Commit(t.Context()))
	want := append(contents{}, before...)
	want[at] = file{"HIT.WAV", "new"}
	if after, _ := rawContents(t, path); after.key() != want.key() {
		t.Errorf("holds %v, want %v", after, want)
	}
	if r, err := mustOpen(t, path).Verify(t.Context(), nil); err != nil || r.Damaged() {
		t.Errorf("verify: %v %v", r.Findings, err)
	}
	if n, err := w.Remove("hit.wav"); n != 1 || err != nil {
		t.Errorf("Remove: %d, %v", n, err)
	}
	must(t, w.Commit(t.Context()))
	if _, ok := mustOpen(t, path).Lookup("hit.wav"); ok {
		t.Error("removed, and one is left")
	}
}

// X02: removing what is not there changes nothing.
func TestCaseRemoveMissing(t *testing.T) {
	path := copyCase(t, "P01")
	index := strings.TrimSuffix(path, "data") + "inx"
	data, inx := read(t, path), read(t, index)
	w := mustEdit(t, path)
	_, err := w.Remove("nosuch.wav")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want fs.ErrNotExist", err)
	}
	contains(t, "error", fmt.Sprint(err), "nosuch.wav", "music.data")
	must(t, w.Commit(t.Context()))
	must(t, w.Close())
	if !bytes.Equal(read(t, path), data) || !bytes.Equal(read(t, index), inx) {
		t.Error("the files changed")
	}
}

// A folder in place of a file: data, index, lock, and the temporary names. Each is an error that names
// it, nothing changes, and nothing of it is removed.
func TestWriterFolderInPlaceOfFile(t *testing.T) {
	for _, name := range []string{"music.data", "music.inx", "music.lock", "music.inx.tmp", "music.data.tmp"} {
		path := newPack(t, three)
		dir := filepath.Dir(path)
		replaceByFolder(t, filepath.Join(dir, name))
		w, err := Edit(t.Context(), path, nil)
		if err == nil {
			w.Close()
			t.Errorf("%s: no error", name)
			continue
		}
		contains(t, name, err.Error(), name, "edit music.data")
		if l := listing(t, filepath.Join(dir, name)); len(l) != 1 {
			t.Errorf("%s: its folder has %q", name, l)
		}
	}
}

func replaceByFolder(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	must(t, os.Mkdir(path, 0o777))
	write(t, filepath.Join(path, "inside"), []byte("precious"))
}
