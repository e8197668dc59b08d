package player

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"
)

func file(t testing.TB, name string) *fstest.MapFile {
	t.Helper()
	b, err := fs.ReadFile(sounds(), name)
	if err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b}
}

// A sound that is reloaded plays its new bytes from its next start on; what plays goes on.
func TestReload(t *testing.T) {
	for _, c := range []struct{ was, is string }{{"drumloop.wav", "theme.ogg"}, {"theme.ogg", "drumloop.wav"}, {"theme.ogg", "theme.mp3"}} {
		p := inStep(t, fstest.MapFS{"a": file(t, c.was), "b": file(t, c.was)}, 44100)
		s, other := load(t, p, "a", Auto), load(t, p, "b", Auto)
		v := start(t, s, Params{})
		pull(p, 1000)
		if err := p.Reload(fstest.MapFS{"a": file(t, c.is), "b": file(t, c.is)}, ReloadOptions{Names: []string{"A"}}); err != nil {
			t.Fatal(err)
		}
		was, is := decoded(t, c.was), decoded(t, c.is)
		equal(t, c.was+" plays on", pull(p, 1000), was[2000:4000])
		v.Stop(0)
		pull(p, 1000)
		start(t, s, Params{})
		equal(t, c.is+" is heard next", pull(p, 3000), is[:6000])
		if other.Frames() != int64(len(was)/2) {
			t.Errorf("b was reloaded too: %d frames", other.Frames())
		}
	}
}

// Asked for, a stream goes over to its new bytes at the same place, and loops on as it did.
func TestReloadCrossfades(t *testing.T) {
	p := inStep(t, fstest.MapFS{"a": file(t, "theme.ogg")}, 44100)
	s := load(t, p, "a", Auto)
	v := start(t, s, Params{Loop: &Loop{Start: 0, End: 20000}})
	pull(p, 10000)
	if err := p.Reload(fstest.MapFS{"a": file(t, "theme.mp3")}, ReloadOptions{Crossfade: 50 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	got, want := pull(p, 15000), decoded(t, "theme.mp3")
	equal(t, "after the fade", got[2*3000:2*9000], want[2*13000:2*19000])
	equal(t, "after the loop", got[2*10500:], want[2*500:2*5000])
	if v.Position() != 5000 {
		t.Errorf("Position %d, want 5000", v.Position())
	}
}

func TestReloadKeepsWhatIsMissing(t *testing.T) {
	p := inStep(t, sounds(), 44100)
	s := load(t, p, "jaguar.wav", Auto)
	err := p.Reload(fstest.MapFS{}, ReloadOptions{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Reload: %v, want fs.ErrNotExist", err)
	}
	start(t, s, Params{})
	if s.Frames() != 22050 {
		t.Errorf("%d frames, want those of before", s.Frames())
	}
}

// Files that a reload leaves behind are closed with the last voice that reads them.
func TestReloadClosesTheOldFile(t *testing.T) {
	was := &countingFS{FS: fstest.MapFS{"a": file(t, "theme.ogg")}}
	p := inStep(t, was, 44100)
	s := load(t, p, "a", Auto)
	v := start(t, s, Params{})
	pull(p, 100)
	if err := p.Reload(fstest.MapFS{"a": file(t, "theme.ogg")}, ReloadOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := was.open.Load(); n != 1 {
		t.Errorf("%d old files open while the voice plays, want 1", n)
	}
	v.Stop(0)
	pull(p, 1000)
	if n := was.open.Load(); n != 0 {
		t.Errorf("%d old files open in the end", n)
	}
}
