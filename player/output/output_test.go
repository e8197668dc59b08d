package output

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, leakOptions...) }

// patience bounds what must happen soon. It is long, since the machine may be busy, and only reached
// when something is wrong.
const patience = 2 * time.Minute

// noLeak fails the test if it leaves a goroutine or a descriptor behind.
func noLeak(t *testing.T) {
	t.Helper()
	options := append([]goleak.Option{goleak.IgnoreCurrent()}, leakOptions...)
	files := openFiles()
	t.Cleanup(func() {
		if err := goleak.Find(options...); err != nil {
			t.Error(err)
		}
		for end := time.Now().Add(time.Second); openFiles() > files && time.Now().Before(end); {
			runtime.Gosched() // the other end of a connection may take a moment
		}
		if got := openFiles(); got > files {
			t.Errorf("open descriptors: got %d, want at most %d", got, files)
		}
	})
}

// openFiles counts descriptors, where the system lists them.
func openFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// awaitDone fails the test when d does not end.
func awaitDone(t *testing.T, d Device) {
	t.Helper()
	select {
	case <-d.Done():
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		t.Fatalf("%s is not done after %v\n%s", d.Name(), patience, buf[:runtime.Stack(buf, true)])
	}
}

// eventually waits for what must come.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// ramp gives frames that all differ, n of them: frame i is (i+1)/2^24 and minus that. It counts what
// was taken.
type ramp struct {
	n     int64
	taken atomic.Int64
}

func (r *ramp) fill(buf []float32) int {
	at := r.taken.Load()
	n := min(int64(len(buf)/2), r.n-at)
	for i := range n {
		v := float32(at+i+1) / (1 << 24)
		buf[2*i], buf[2*i+1] = v, -v
	}
	r.taken.Add(n)
	return int(n)
}

const forever = int64(1) << 40

// warnings collects what a device tells.
type warnings struct {
	mu   sync.Mutex
	list []string
}

func (w *warnings) add(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, err.Error())
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.list...)
}

// checkDevice checks the contract of Device on devices that open gives.
func checkDevice(t *testing.T, open func(t *testing.T) Device) {
	t.Run("never started", func(t *testing.T) {
		noLeak(t)
		d := open(t)
		if err := d.Pause(true); err != nil {
			t.Errorf("Pause before Start: %v", err)
		}
		checkClosed(t, d)
	})
	t.Run("a short sound", func(t *testing.T) {
		noLeak(t)
		d, r := open(t), &ramp{n: 3000}
		start(t, d, r.fill)
		awaitDone(t, d)
		if got := r.taken.Load(); got != 3000 || d.Err() != nil {
			t.Errorf("frames taken: got %d, want 3000; Err: %v", got, d.Err())
		}
		checkClosed(t, d)
	})
	t.Run("no frame at all", func(t *testing.T) {
		noLeak(t)
		d := open(t)
		start(t, d, func([]float32) int { return 0 })
		awaitDone(t, d)
		checkClosed(t, d)
	})
	t.Run("counts out of range", func(t *testing.T) {
		noLeak(t)
		d, calls := open(t), 0
		start(t, d, func(buf []float32) int {
			if calls++; calls == 1 {
				return len(buf) // twice what there is room for
			}
			return -1
		})
		awaitDone(t, d)
		checkClosed(t, d)
	})
	t.Run("closed in play", func(t *testing.T) {
		noLeak(t)
		d, r := open(t), &ramp{n: forever}
		start(t, d, r.fill)
		if err := d.Start(r.fill); err == nil {
			t.Error("a second Start: got no error")
		}
		eventually(t, "frames", func() bool { return r.taken.Load() > 0 })
		checkClosed(t, d)
		got := r.taken.Load()
		runtime.Gosched()
		if again := r.taken.Load(); again != got {
			t.Errorf("frames taken after Close: %d", again-got)
		}
	})
	t.Run("closed by fill", func(t *testing.T) {
		noLeak(t)
		d := open(t)
		start(t, d, func(buf []float32) int {
			d.Close()
			return len(buf) / 2
		})
		awaitDone(t, d)
		checkClosed(t, d)
	})
	t.Run("paused before start", func(t *testing.T) {
		noLeak(t)
		d, r := open(t), &ramp{n: 3000}
		if err := d.Pause(true); err != nil {
			t.Fatal(err)
		}
		start(t, d, r.fill)
		if err := d.Pause(false); err != nil {
			t.Fatal(err)
		}
		awaitDone(t, d)
		if got := r.taken.Load(); got != 3000 {
			t.Errorf("frames taken: got %d, want 3000", got)
		}
		checkClosed(t, d)
	})
	t.Run("closed while paused", func(t *testing.T) {
		noLeak(t)
		d, r := open(t), &ramp{n: forever}
		start(t, d, r.fill)
		if err := d.Pause(true); err != nil {
			t.Fatal(err)
		}
		checkClosed(t, d)
	})
}

func start(t *testing.T, d Device, fill Fill) {
	t.Helper()
	select {
	case <-d.Done():
		t.Fatalf("%s was done before it was started: %v", d.Name(), d.Err())
	default:
	}
	if err := d.Start(fill); err != nil {
		t.Fatalf("Start: %v", err)
	}
}

// checkClosed closes d from several goroutines and checks what a closed device says.
func checkClosed(t *testing.T, d Device) {
	t.Helper()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if err := d.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	all.Wait()
	awaitDone(t, d)
	if d.Err() != nil {
		t.Errorf("Err after Close: %v", d.Err())
	}
	if err := d.Start(func([]float32) int { t.Error("fill was called after Close"); return 0 }); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Start after Close: got %v, want %v", err, fs.ErrClosed)
	}
	if err := d.Pause(true); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Pause after Close: got %v, want %v", err, fs.ErrClosed)
	}
	if d.Delay() < 0 {
		t.Errorf("Delay after Close: got %v", d.Delay())
	}
}

func TestOpenSpec(t *testing.T) {
	noLeak(t)
	noServer(t)
	dir := t.TempDir()
	tests := []struct {
		spec, name string
		err        error
	}{
		{"null", "null", nil},
		{"auto", "null", nil},
		{"", "null", nil},
		{"wav:" + dir + "/a.wav", "wav:" + dir + "/a.wav", nil},
		{"wav:" + dir + "/a:b.wav", "wav:" + dir + "/a:b.wav", nil},
		{"wav24:" + dir + "/a.wav", "wav24:" + dir + "/a.wav", nil},
		{"wav32f:" + dir + "/a.wav", "wav32f:" + dir + "/a.wav", nil},
		{"wav:" + dir + "/none/a.wav", "", fs.ErrNotExist},
		{"wav:", "", ErrSpec},
		{"wav", "", ErrSpec},
		{"wav8:a", "", ErrSpec},
		{"null:x", "", ErrSpec},
		{"Null", "", ErrSpec},
		{"pulse:x", "", ErrSpec},
		{" auto", "", ErrSpec},
		{"alsa", "", ErrSpec},
		{"\x00\n", "", ErrSpec},
	}
	for i, tt := range tests {
		if runtime.GOOS == "windows" && strings.HasPrefix(tt.spec, "wav") {
			continue
		}
		d, err := Open(tt.spec, Config{})
		if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
			t.Errorf("%d: Open(%q): got error %v, want %v", i, tt.spec, err, tt.err)
		}
		if err != nil {
			checkOneLine(t, err)
			continue
		}
		if d.Name() != tt.name || d.Rate() != 48000 {
			t.Errorf("%d: Open(%q): got %q at %d, want %q at 48000", i, tt.spec, d.Name(), d.Rate(), tt.name)
		}
		d.Close()
	}
	if list, _ := filepath.Glob(dir + "/.*"); list != nil {
		t.Errorf("files left behind: %v", list)
	}
}

func checkOneLine(t *testing.T, err error) {
	t.Helper()
	if s := err.Error(); strings.ContainsAny(s, "\n\r") || !strings.HasPrefix(s, "output: ") {
		t.Errorf("not one line from this package: %q", s)
	}
}

func TestConfig(t *testing.T) {
	tests := []struct {
		c    Config
		want Config
		err  error
	}{
		{Config{}, Config{Rate: 48000, Buffer: 100 * time.Millisecond, Name: "sndpak"}, nil},
		{Config{Rate: 1, Buffer: 1, Name: "x"}, Config{Rate: 1, Buffer: 5 * time.Millisecond, Name: "x"}, nil},
		{Config{Rate: 768000, Buffer: 10 * time.Second}, Config{Rate: 768000, Buffer: 10 * time.Second, Name: "sndpak"}, nil},
		{Config{Frames: 480}, Config{Rate: 48000, Buffer: 10 * time.Millisecond, Name: "sndpak"}, nil},
		{Config{Frames: 1}, Config{Rate: 48000, Buffer: 5 * time.Millisecond, Name: "sndpak"}, nil},
		{Config{Frames: -1}, Config{}, ErrSpec},
		{Config{Frames: 480001}, Config{}, ErrSpec},
		{Config{Frames: 1 << 40}, Config{}, ErrSpec},
		{Config{Frames: 480, Buffer: time.Second}, Config{}, ErrSpec},
		{Config{Rate: 768001}, Config{}, ErrSpec},
		{Config{Rate: -1}, Config{}, ErrSpec},
		{Config{Buffer: -1}, Config{}, ErrSpec},
		{Config{Buffer: 10*time.Second + 1}, Config{}, ErrSpec},
		{Config{Reopen: -1}, Config{}, ErrSpec},
	}
	for i, tt := range tests {
		got, err := tt.c.normal()
		if !errors.Is(err, tt.err) {
			t.Errorf("%d: got error %v, want %v", i, err, tt.err)
		}
		if err == nil && (got.Rate != tt.want.Rate || got.Buffer != tt.want.Buffer || got.Name != tt.want.Name) {
			t.Errorf("%d: got %+v, want %+v", i, got, tt.want)
		}
		if tt.err != nil {
			if _, err := Open("null", tt.c); !errors.Is(err, tt.err) {
				t.Errorf("%d: Open: got error %v, want %v", i, err, tt.err)
			}
		}
	}
}

func TestCleanName(t *testing.T) {
	tests := []struct{ name, want string }{
		{"", "sndpak"},
		{" \x00\n", "sndpak"},
		{"a\x00b\x7Fc", "a b c"},
		{"a\xFFb", "a?b"},
		{"Spiel für zwei", "Spiel für zwei"},
		{strings.Repeat("ü", 60), strings.Repeat("ü", 50)},
		{"x" + strings.Repeat("ü", 60), "x" + strings.Repeat("ü", 49)},
	}
	for i, tt := range tests {
		if got := cleanName(tt.name); got != tt.want {
			t.Errorf("%d: cleanName(%q): got %q, want %q", i, tt.name, got, tt.want)
		}
	}
}

func TestFramesAndTime(t *testing.T) {
	tests := []struct {
		d    time.Duration
		rate int
		want int64
	}{
		{0, 48000, 0},
		{time.Second, 48000, 48000},
		{time.Second - 1, 48000, 47999},
		{100 * time.Millisecond, 44100, 4410},
		{1000 * time.Hour, 768000, 1000 * 3600 * 768000},
		{-time.Second, 8000, -8000},
	}
	for i, tt := range tests {
		if got := framesIn(tt.d, tt.rate); got != tt.want {
			t.Errorf("%d: framesIn(%v, %d): got %d, want %d", i, tt.d, tt.rate, got, tt.want)
		}
	}
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	for i := range 10000 {
		rate := 1 + rnd.IntN(maxRate)
		n := rnd.Int64N(int64(rate) * 100 * 365 * 24 * 3600) // a Duration holds 292 years
		d := timeOf(n, rate)
		if got := framesIn(d, rate); got != n {
			t.Fatalf("seed %d, %d: framesIn(timeOf(%d, %d)): got %d", seed, i, n, rate, got)
		}
		if c, err := (Config{Rate: rate, Frames: int(min(n, 10*int64(rate)))}).normal(); err != nil || n > int64(rate)/100 && c.depth() != min(n, 10*int64(rate)) {
			t.Fatalf("seed %d, %d: a buffer of %d frames at %d Hz holds %d (%v)", seed, i, n, rate, c.depth(), err)
		}
		if n > 0 && framesIn(d-1, rate) >= n {
			t.Fatalf("seed %d, %d: timeOf(%d, %d) is longer than it need be: %v", seed, i, n, rate, d)
		}
	}
}

// fakeOpener is an opener that fails.
func fakeOpener(err error) opener {
	return func(context.Context, Config) (Device, error) { return nil, err }
}

// noServer makes this machine one without a sound server, which names nothing and holds no settings.
func noServer(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("this system has a speaker of its own")
	}
	dir := t.TempDir()
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "PULSE_RUNTIME_PATH"} {
		t.Setenv(name, dir)
	}
	for _, name := range []string{"PULSE_COOKIE", "PULSE_CLIENTCONFIG"} {
		t.Setenv(name, filepath.Join(dir, "none"))
	}
	t.Setenv("PULSE_SERVER", "unix:"+filepath.Join(dir, "none"))
}
