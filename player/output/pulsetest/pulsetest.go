//go:build unix

// Package pulsetest runs a private PulseAudio server for tests, with a sink that is heard by nobody
// and can be recorded to the sample.
//
// [Start] gives a server, whose Addr goes into PULSE_SERVER. It can be killed, stopped and started
// again, for players must survive all of it. The test's end takes it away.
package pulsetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The sink: 32-bit float, so that what goes in comes out unchanged at this rate.
const (
	Rate = 48000
	sink = "null0"
)

// wait bounds everything that is waited for. It is long, since the machine may be busy with other
// tests, and only reached when something is wrong.
const wait = 2 * time.Minute

// Server is a PulseAudio server of the test's own.
type Server struct {
	Addr string // for PULSE_SERVER, "unix:PATH"
	PID  int    // of the server that runs now

	dir string
	cmd *exec.Cmd
	log bytes.Buffer
}

// Start runs a server, or skips the test where there is none to run. With SNDPAK_CI=1 in the
// environment that is a failure.
func Start(t testing.TB) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no other program is run")
	}
	for _, tool := range []string{"pulseaudio", "pactl", "parec"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing(t, tool)
		}
	}
	s := &Server{dir: shortDir(t)}
	s.Addr = "unix:" + filepath.Join(s.dir, "native")
	t.Cleanup(s.Kill)
	s.Restart(t)
	return s
}

func missing(t testing.TB, tool string) {
	t.Helper()
	if os.Getenv("SNDPAK_CI") == "1" {
		t.Fatalf("needs pulseaudio: there is no %s", tool)
	}
	t.Skipf("needs pulseaudio: there is no %s", tool)
}

// shortDir is a folder for a socket, whose path may be no longer than 107 bytes.
func shortDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if len(dir) > 90 {
		var err error
		if dir, err = os.MkdirTemp("/tmp", "pulsetest"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	if err := os.Chmod(dir, 0o700); err != nil { // a server refuses a folder that others can read
		t.Fatal(err)
	}
	return dir
}

// environ is this process's environment, with everything in the server's folder that a server or its
// tools look for, so that those of the user are not touched.
func (s *Server) environ() []string {
	var env []string
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != "DISPLAY" && !strings.HasPrefix(name, "PULSE_") {
			env = append(env, e)
		}
	}
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "PULSE_RUNTIME_PATH", "PULSE_STATE_PATH"} {
		env = append(env, name+"="+s.dir)
	}
	return append(env, "DBUS_SESSION_BUS_ADDRESS=disabled:")
}

// Restart runs the server again, at the same address, after Kill.
//
// The sink never rewinds: with rewinds, a stream that starts waits for up to two seconds. A server
// that a killed test left behind ends by itself.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	socket := filepath.Join(s.dir, "native")
	os.Remove(socket)
	s.log.Reset()
	s.cmd = exec.Command("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=120", "--use-pid-file=no",
		"--disable-shm=yes", "--realtime=no", "--high-priority=no",
		"-L", "module-native-protocol-unix socket="+socket+" auth-anonymous=1",
		"-L", "module-null-sink "+strings.Join(sinkArgs(sink), " "))
	s.cmd.Env = s.environ()
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("pulseaudio: %v", err)
	}
	s.PID = s.cmd.Process.Pid
	s.until(t, "the server to answer", func() bool { return s.pactl("info").Run() == nil })
}

// until waits for a state of the server that must come.
func (s *Server) until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(wait); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.Kill()
			t.Fatalf("waited %v for %s; pulseaudio says:\n%s", wait, what, s.log.String())
		}
	}
}

// Kill ends the server as kill -9 does, and waits until it is gone.
func (s *Server) Kill() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	s.cmd.Process.Kill() // also ends a stopped process
	s.cmd.Wait()
	s.cmd = nil
}

// Stop freezes the server: its socket stays open, and it answers nothing.
func (s *Server) Stop(t testing.TB) { s.signal(t, syscall.SIGSTOP) }

// Cont lets a frozen server go on.
func (s *Server) Cont(t testing.TB) { s.signal(t, syscall.SIGCONT) }

func (s *Server) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatalf("%v to pulseaudio: %v", sig, err)
	}
}

func (s *Server) pactl(args ...string) *exec.Cmd {
	c := exec.Command("pactl", args...)
	c.Env = append(s.environ(), "PULSE_SERVER="+s.Addr)
	return c
}

// Pactl runs pactl with args on the server and returns what it prints.
func (s *Server) Pactl(t testing.TB, args ...string) string {
	t.Helper()
	out, err := s.pactl(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("pactl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func sinkArgs(name string) []string {
	return []string{"sink_name=" + name, fmt.Sprintf("rate=%d", Rate), "channels=2", "format=float32le", "norewinds=1"}
}

// AddSink puts another sink beside the first one, or that back under its name "null0".
func (s *Server) AddSink(t testing.TB, name string) {
	t.Helper()
	s.Pactl(t, append([]string{"load-module", "module-null-sink"}, sinkArgs(name)...)...)
}

// RemoveSink takes all sinks away, as when a card is unplugged.
func (s *Server) RemoveSink(t testing.TB) { s.Pactl(t, "unload-module", "module-null-sink") }

// Recording is what the sink plays.
type Recording struct {
	s    *Server
	cmd  *exec.Cmd
	path string
}

// Record begins to record the sink, and returns when it does.
func (s *Server) Record(t testing.TB) *Recording {
	t.Helper()
	return s.RecordSink(t, sink)
}

// RecordSink is Record of the sink of a name.
func (s *Server) RecordSink(t testing.TB, name string) *Recording {
	t.Helper()
	f, err := os.CreateTemp(s.dir, "rec")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := &Recording{s: s, path: f.Name()}
	r.cmd = exec.Command("parec", "--device="+name+".monitor", fmt.Sprintf("--rate=%d", Rate), "--channels=2",
		"--format=float32le", "--latency-msec=20", "--raw")
	r.cmd.Env = append(s.environ(), "PULSE_SERVER="+s.Addr)
	r.cmd.Stdout = f
	if err := r.cmd.Start(); err != nil {
		t.Fatalf("parec: %v", err)
	}
	t.Cleanup(r.end)
	s.until(t, "the recording to begin", func() bool { return r.size() > 0 })
	return r
}

func (r *Recording) size() int64 {
	info, err := os.Stat(r.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (r *Recording) end() {
	if r.cmd != nil {
		r.cmd.Process.Kill()
		r.cmd.Wait()
		r.cmd = nil
	}
}

// WaitFrames returns when so many more frames were recorded, silence too.
func (r *Recording) WaitFrames(t testing.TB, n int64) {
	t.Helper()
	end := r.size() + n*8
	r.s.until(t, "the recording to grow", func() bool { return r.size() >= end })
}

// Stop ends the recording and returns its samples, interleaved stereo. The last quarter of a second
// before it may be missing: wait for that many frames of silence.
func (r *Recording) Stop(t testing.TB) []float32 {
	t.Helper()
	r.end()
	return r.Samples(t)
}

// Samples is what was recorded so far.
func (r *Recording) Samples(t testing.TB) []float32 {
	t.Helper()
	b, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	samples := make([]float32, len(b)/8*2)
	for i := range samples {
		samples[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return samples
}

// Trim returns samples without the silent frames at both ends.
func Trim(samples []float32) []float32 {
	silent := func(frame int) bool { return samples[2*frame] == 0 && samples[2*frame+1] == 0 }
	from, to := 0, len(samples)/2
	for from < to && silent(from) {
		from++
	}
	for from < to && silent(to-1) {
		to--
	}
	return samples[2*from : 2*to]
}
