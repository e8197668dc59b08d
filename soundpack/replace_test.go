package soundpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sndpak/sndpak/soundpack/internal/storage/crashsim"
)

// replacements are packs, each of which is put in the place of the one before: larger and smaller ones,
// the same again, none of its entries the same, empty ones, and with more files behind the others.
func replacements() []contents {
	a := contents{{"a.wav", string(pattern(700))}, {"b.wav", "b"}, {"empty", ""}}
	more := append(slices.Clone(a), file{"c.wav", string(pattern(900))}, file{"twin of a.wav", a[0].body})
	return []contents{a, a, more, {{"z.wav", "small"}}, {}, {}, more, {{"b.wav", strings.Repeat("other ", 300)}, {"a.wav", "short"}}, a}
}

// F01, F02, F11, F12: a pack is put in the place of another, and stopped at each step: the old one or
// the new one, for readers that have one open too, and for those that open it meanwhile.
func TestCrashCreate(t *testing.T) {
	for _, full := range []bool{false, true} {
		x := newExplorer(t)
		x.full = full
		f := crashsim.New()
		var now contents
		for i, c := range replacements() {
			now = x.session(t, fmt.Sprintf("pack %d", i), f, edit{create: true, add: c}, now)
		}
		x.checkHolds()
		x.report(t, 500)
		fresh := crashsim.New()
		if err := x.once(t, fresh, edit{create: true, add: now}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{simData, simIndex} {
			if !bytes.Equal(f.Bytes(name), fresh.Bytes(name)) {
				t.Errorf("manifest %v: %s is not what it would be with no pack there", full, name)
			}
		}
	}
}

// Bytes that are there already in the right places are not written three times more.
func TestReplaceByTheSame(t *testing.T) {
	written := func(old, fresh contents, plain bool) int {
		f := crashsim.New()
		n := 0
		f.Inject = func(op crashsim.Op) *crashsim.Failure {
			if op.Kind == crashsim.Write {
				n++
			}
			return nil
		}
		for _, c := range []contents{old, fresh} {
			n = 0
			must(t, Create(t.Context(), simData, c.sources(), &CreateOptions{Force: true, Plain: plain, storage: f, pause: noPause}))
		}
		return n
	}
	r := replacements()
	if n := written(r[0], r[0], false); n > 4 { // two bodies that are not empty, the manifest, the index
		t.Errorf("the same again: %d writes", n)
	}
	if n := written(r[0], r[2], true); n > 5 { // the twin is written and found out
		t.Errorf("more behind it: %d writes", n)
	}
}

// A pack is not begun to be replaced if that could not be ended.
func TestReplaceWithoutRoom(t *testing.T) {
	old, fresh := replacements()[2], replacements()[7]
	for _, holes := range []bool{true, false} {
		f := crashsim.New()
		opt := &CreateOptions{Force: true, Plain: true, storage: f, pause: noPause}
		must(t, Create(t.Context(), simData, old.sources(), opt))
		data, index := f.Bytes(simData), f.Bytes(simIndex)
		f.FreeSpace, f.Holes = spareSpace+3*1800, holes
		err := Create(t.Context(), simData, fresh.sources(), opt)
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "create music.data: replacing the pack") {
			t.Errorf("holes %v: %v, want ENOSPC", holes, err)
		}
		if !bytes.Equal(f.Bytes(simData), data) || !bytes.Equal(f.Bytes(simIndex), index) || len(f.Names()) != 2 {
			t.Errorf("holes %v: the pack changed; files %q", holes, f.Names())
		}
		f.FreeSpace = 1 << 40
		must(t, Create(t.Context(), simData, fresh.sources(), opt))
	}
	path := newPack(t, old)
	must(t, sparse(path, maxData-100))
	before := read(t, filepath.Join(filepath.Dir(path), "music.inx"))
	err := Create(t.Context(), path, fresh.sources(), &CreateOptions{Force: true})
	if info, _ := os.Stat(path); !errors.Is(err, ErrLimit) || info.Size() != maxData-100 || !bytes.Equal(before, read(t, filepath.Join(filepath.Dir(path), "music.inx"))) {
		t.Errorf("4 GiB: %v, want ErrLimit, and data of %d bytes", err, info.Size())
	}
}

// An interrupt leaves the old pack; one that comes when the new one is in use is told as such.
func TestReplaceCancelled(t *testing.T) {
	old, fresh := replacements()[2], contents{{"new 1", string(pattern(300_000))}, {"new 2", string(pattern(5000))}}
	early, late := 0, 0
	for stop := 1; ; stop++ {
		path := newPack(t, old)
		ctx, cancel := context.WithCancel(t.Context())
		n, last := 0, int64(0)
		err := Create(ctx, path, fresh.sources(), &CreateOptions{Force: true, pause: noPause, Progress: func(done, total int64) {
			if done < last || done > total {
				t.Errorf("stop %d: progress %d of %d after %d", stop, done, total, last)
			}
			last = done
			if n++; n == stop {
				cancel()
			}
		}})
		ended := ctx.Err() == nil
		cancel()
		switch {
		case ended && err == nil:
			if early == 0 || late == 0 {
				t.Errorf("%d stops before the new pack was in use, %d after", early, late)
			}
			return
		case errors.Is(err, context.Canceled):
			early++
			checkContents(t, path, old)
		case err == nil || strings.Contains(err.Error(), "the new pack is in place"):
			late++
			must(t, sameContents(t.Context(), path, fresh))
		default:
			t.Fatalf("stop %d: %v", stop, err)
		}
		if l := listing(t, filepath.Dir(path)); !slices.Equal(l, []string{"music.data", "music.inx", "music.lock"}) {
			t.Errorf("stop %d: files %q", stop, l)
		}
	}
}

// Create respects the lock, and leaves no lock of its own where there was none.
func TestCreateLocked(t *testing.T) {
	path := newPack(t, three)
	w, err := Edit(t.Context(), path, nil)
	must(t, err)
	if err = Create(t.Context(), path, nil, &CreateOptions{Force: true}); !errors.Is(err, ErrLocked) {
		t.Errorf("%v, want ErrLocked", err)
	}
	must(t, w.Close())
	checkContents(t, path, three)
	must(t, os.Remove(lockPath(path)))
	src := source("a.wav", []byte("x"))
	open := src.Open
	src.Open = func() (io.ReadCloser, error) {
		if _, err := Edit(t.Context(), path, nil); !errors.Is(err, ErrLocked) {
			t.Errorf("Edit while the pack is replaced: %v, want ErrLocked", err)
		}
		return open()
	}
	must(t, Create(t.Context(), path, []Source{src}, &CreateOptions{Force: true}))
	checkPack(t, path, []Source{source("a.wav", []byte("x"))})
	if _, err := os.Stat(lockPath(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock stays: %v", err)
	}
}

// The files that replace others have their permissions, and a link stays one.
func TestReplaceKeepsModeAndLink(t *testing.T) {
	path := newPack(t, three)
	must(t, os.Chmod(path, 0o640))
	link := filepath.Join(t.TempDir(), "music.data")
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("needs symbolic links: %v", err)
	}
	must(t, os.Symlink(filepath.Join(filepath.Dir(path), "music.inx"), filepath.Join(filepath.Dir(link), "music.inx")))
	must(t, Create(t.Context(), link, []Source{source("a.wav", []byte("x"))}, &CreateOptions{Force: true}))
	checkPack(t, path, []Source{source("a.wav", []byte("x"))})
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, want 0640", info.Mode())
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is now %v", info.Mode())
	}
}

// The same in every layout, and from one to another: there the old pack or the new one, or none.
func TestCrashCreateLayouts(t *testing.T) {
	dir := memDir(t)
	packs := replacements()
	for _, from := range layouts {
		for _, to := range layouts {
			old, fresh := packs[2], packs[7]
			f := crashsim.New()
			create := func(l layout, c contents) error {
				return Create(t.Context(), simData, inLayout(l, c).sources(), &CreateOptions{Layout: l.name(), Force: true, storage: f, pause: noPause})
			}
			must(t, create(from, old))
			seen := map[string]int{}
			look := func(what string, s crashsim.State) {
				state, err := layoutState(dir, s, from, inLayout(from, old), to, inLayout(to, fresh))
				if err != nil || state == "none" && from == to {
					t.Errorf("%s to %s, %s: %v: %s, %v", from.name(), to.name(), what, s, state, err)
				}
				seen[state]++
			}
			f.Before = func(op crashsim.Op) {
				if op.Kind.Mutates() {
					look(op.String(), f.Live())
					f.Cuts(func(path string) bool { return !strings.HasSuffix(path, tempSuffix) }, func(s crashsim.State) { look(op.String()+", power cut", s) })
				}
			}
			if err := create(to, fresh); err != nil {
				t.Errorf("%s to %s: %v", from.name(), to.name(), err)
			}
			f.Before = nil
			if state, err := layoutState(dir, f.Live(), from, nil, to, inLayout(to, fresh)); state != "new" || seen["old"] == 0 {
				t.Errorf("%s to %s: %s, %v; on the way %v", from.name(), to.name(), state, err, seen)
			}
		}
	}
}

// inLayout gives contents names that a layout has: numbers in pck.
func inLayout(l layout, c contents) contents {
	c = slices.Clone(c)
	for i := range c {
		if t := l.traits(); t.keyed && !t.hashed {
			c[i].name = fmt.Sprint(i)
		}
	}
	return c
}

// layoutState tells which of two packs a state is, or that it is none.
func layoutState(dir string, s crashsim.State, from layout, old contents, to layout, fresh contents) (string, error) {
	for _, name := range []string{"music.data", "music.inx", "music.index"} {
		os.Remove(filepath.Join(dir, name))
		if im := s["d/"+name]; im != nil {
			if err := os.WriteFile(filepath.Join(dir, name), im.Bytes, 0o644); err != nil {
				return "", err
			}
		}
	}
	p, err := Open(filepath.Join(dir, "music.data"), nil)
	if err != nil {
		if s[simIndex] != nil && s[simData] != nil {
			return "", err
		}
		return "none", nil
	}
	defer p.Close()
	for want, c := range map[string]contents{"old": old, "new": fresh} {
		if c == nil || p.Len() != len(c) {
			continue
		}
		same := p.Layout() == map[string]string{"old": from.name(), "new": to.name()}[want]
		for _, f := range c {
			b, err := p.ReadFile(f.name)
			same = same && err == nil && string(b) == f.body
		}
		if same {
			return want, nil
		}
	}
	return "", fmt.Errorf("neither pack: %d entries in %s", p.Len(), p.Layout())
}
