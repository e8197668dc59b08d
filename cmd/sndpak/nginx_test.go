package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sndpak/sndpak/soundpack"
)

// An nginx is a real server of a folder, on a port of loopback. /slow/ gives 512 KiB a second, and
// /plain/ sends no ranges; both are the same files as /.
type nginx struct {
	dir, files string
	port       int
	cmd        *exec.Cmd
}

const nginxConf = `daemon off;
worker_processes 1;
pid %[1]s/pid;
error_log %[1]s/error.log;
USER
events {}
http {
  log_format moved '$uri $bytes_sent';
  access_log %[1]s/access.log moved;
  client_body_temp_path %[1]s/t1; proxy_temp_path %[1]s/t2; fastcgi_temp_path %[1]s/t3;
  uwsgi_temp_path %[1]s/t4; scgi_temp_path %[1]s/t5;
  default_type application/octet-stream;
  server {
    listen 127.0.0.1:%[2]d;
    location / { root %[1]s/files; }
    location /plain/ { alias %[1]s/files/; max_ranges 0; }
    location /slow/ { alias %[1]s/files/; limit_rate 512k; }
    location /gzip/ { alias %[1]s/files/; gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any; }
  }
}
`

func newNginx(t *testing.T) *nginx {
	t.Helper()
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin") // which is not in everybody's
	}
	needsProgram(t, "nginx")
	n := &nginx{dir: t.TempDir()}
	n.files = filepath.Join(n.dir, "files")
	if err := os.Mkdir(n.files, 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;" // the folder of a test is its user's alone
	}
	conf := strings.Replace(fmt.Sprintf(nginxConf, n.dir, n.port), "USER", user, 1)
	if err := os.WriteFile(filepath.Join(n.dir, "nginx.conf"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	n.start(t)
	t.Cleanup(func() { n.stop(t) })
	return n
}

func (n *nginx) start(t *testing.T) {
	t.Helper()
	var said bytes.Buffer
	n.cmd = exec.Command("nginx", "-p", n.dir, "-e", filepath.Join(n.dir, "error.log"), "-c", filepath.Join(n.dir, "nginx.conf"))
	n.cmd.Stderr = &said
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 600 { // a minute; mostly some milliseconds
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", n.port)); err == nil {
			c.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("nginx does not answer: %s", said.String())
}

// stop ends the server at once, with what it is sending.
func (n *nginx) stop(t *testing.T) {
	t.Helper()
	if n.cmd == nil {
		return
	}
	n.cmd.Process.Signal(syscall.SIGTERM)
	n.cmd.Wait()
	n.cmd = nil
}

func (n *nginx) url(path string) string { return fmt.Sprintf("http://127.0.0.1:%d/%s", n.port, path) }

// moved is how many bytes the server has sent, headers included, by its own log.
func (n *nginx) moved(t *testing.T) (requests int, total int64) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(n.dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var path string
		var sent int64
		if _, err := fmt.Sscan(line, &path, &sent); err != nil {
			t.Fatal(err)
		}
		requests++
		total += sent
	}
	return requests, total
}

// bigPack writes a sparse pack of 500 MiB that has the sound at 400 MiB, between two others.
func bigPack(t *testing.T, dir, sound string) {
	t.Helper()
	body, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "big.data"))
	if err != nil {
		t.Fatal(err)
	}
	const size, at = 500 << 20, 400 << 20
	_, err = f.WriteAt(body, at)
	if err := errors.Join(err, f.Truncate(size), f.Close()); err != nil {
		t.Fatal(err)
	}
	var index []byte
	for _, e := range []struct {
		name      string
		off, size int
	}{{"first.bin", 0, at}, {filepath.Base(sound), at, len(body)}, {"last.bin", at + len(body), size - at - len(body)}} {
		index = append(index, e.name...)
		index = append(index, make([]byte, 20-len(e.name))...)
		index = binary.LittleEndian.AppendUint32(index, uint32(e.off))
		index = binary.LittleEndian.AppendUint32(index, uint32(e.size))
	}
	if err := os.WriteFile(filepath.Join(dir, "big.inx"), index, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNginxPlaysFromABigPack: the first sound of one entry in 500 MiB wants less than 2 MiB.
func TestNginxPlaysFromABigPack(t *testing.T) {
	n := newNginx(t)
	for _, name := range []string{"theme.ogg", "theme.mp3", "drumloop.wav"} {
		bigPack(t, n.files, filepath.Join(musicDir, "sounds", name))
		requests, before := n.moved(t)
		out := filepath.Join(t.TempDir(), "out.wav")
		status, _, errs := sndpak(t, "play", n.url("big.data"), name, "--duration", "0.1", "--output", "wav:"+out)
		if status != 0 {
			t.Fatalf("%s: %s", name, errs)
		}
		after, total := n.moved(t)
		t.Logf("%s: %d requests, %d bytes", name, after-requests, total-before)
		if total-before >= 2<<20 {
			t.Errorf("%s: %d bytes in %d requests before the first sound, want less than 2 MiB", name, total-before, after-requests)
		}
		if info, err := os.Stat(out); err != nil || info.Size() < 4*4000 {
			t.Errorf("%s: no sound: %v, %v", name, info, err)
		}
	}
}

func (n *nginx) copyMusic(t *testing.T) {
	t.Helper()
	for _, name := range []string{"music.data", "music.inx"} {
		b, err := os.ReadFile(filepath.Join(musicDir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(n.files, name), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestNginxWithAndWithoutRanges(t *testing.T) {
	n := newNginx(t)
	n.copyMusic(t)
	sameAsLocal(t, n.url("music.data"))
	sameAsLocal(t, n.url("gzip/music.data"))
	status, out, errs := sndpak(t, "play", n.url("plain/music.data"), "jaguar.wav", "--output", "null")
	if status != 1 || out != "" || !strings.Contains(errs, "the server sends no ranges (200 for a range)") {
		t.Errorf("without ranges: status %d, %s", status, errs)
	}
	p, err := soundpack.OpenRemote(context.Background(), n.url("plain/music.data"), nil, &soundpack.RemoteOptions{Whole: 10 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if b, err := p.ReadFile("jaguar.wav"); err != nil || len(b) != 44144 {
		t.Errorf("read whole: %d bytes, %v", len(b), err)
	}
}

func TestNginxSlow(t *testing.T) {
	n := newNginx(t)
	n.copyMusic(t)
	out := filepath.Join(t.TempDir(), "out.wav")
	status, _, errs := sndpak(t, "decode", n.url("slow/music.data"), "theme.mp3", "-o", out)
	if status != 0 {
		t.Fatal(errs)
	}
	want := filepath.Join(t.TempDir(), "want.wav")
	if status, _, errs := sndpak(t, "decode", filepath.Join(musicDir, "music.data"), "theme.mp3", "-o", want); status != 0 {
		t.Fatal(errs)
	}
	a, _ := os.ReadFile(out)
	b, _ := os.ReadFile(want)
	if len(b) == 0 || !bytes.Equal(a, b) {
		t.Errorf("decoded %d bytes, want %d, the same", len(a), len(b))
	}
}

// TestNginxIsCutAndComesBack: a server that is killed while it sends is an error that says so, and what
// was read before is right; once it is back, so is the pack.
func TestNginxIsCutAndComesBack(t *testing.T) {
	n := newNginx(t)
	data := bytes.Repeat([]byte("0123456789abcdef"), 4<<20/16)
	n.put(t, data)
	p, err := soundpack.OpenRemote(context.Background(), n.url("slow/cut.data"), nil, &soundpack.RemoteOptions{Retries: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f, err := p.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 300<<10)
	if _, err := io.ReadFull(f, head); err != nil || !bytes.Equal(head, data[:len(head)]) {
		t.Fatalf("head: %v", err)
	}
	n.stop(t)
	rest, err := io.ReadAll(f)
	if err == nil || !strings.Contains(err.Error(), "cut.data") || strings.Contains(err.Error(), "\n") {
		t.Errorf("cut: got %d bytes, %v", len(rest), err)
	}
	if got := append(head, rest...); !bytes.Equal(got, data[:len(got)]) {
		t.Errorf("wrong bytes among the %d read", len(got))
	}
	n.start(t)
	if got, err := p.ReadFile("a"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("back: got %d bytes, %v", len(got), err)
	}
}

func (n *nginx) put(t *testing.T, data []byte) {
	t.Helper()
	index := binary.LittleEndian.AppendUint32(append([]byte("a"), make([]byte, 23)...), uint32(len(data)))
	next := filepath.Join(n.files, "next")
	err := os.WriteFile(next, data, 0o644)
	if err := errors.Join(err, os.WriteFile(filepath.Join(n.files, "cut.inx"), index, 0o644), os.Rename(next, filepath.Join(n.files, "cut.data"))); err != nil {
		t.Fatal(err)
	}
}

// TestNginxChanges: a pack that is replaced while it is read is ErrChanged and never a mix.
func TestNginxChanges(t *testing.T) {
	n := newNginx(t)
	old := bytes.Repeat([]byte("old!"), 1<<20)
	n.put(t, old)
	p, err := soundpack.OpenRemote(context.Background(), n.url("cut.data"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f, err := p.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 1000)
	if _, err := io.ReadFull(f, head); err != nil {
		t.Fatal(err)
	}
	n.put(t, bytes.Repeat([]byte("new!"), 1<<20+1))
	rest, err := io.ReadAll(f)
	if !errors.Is(err, soundpack.ErrChanged) || !bytes.Equal(append(head, rest...), old[:len(head)+len(rest)]) {
		t.Errorf("got %d bytes, %v; want the old ones, then %v", len(rest), err, soundpack.ErrChanged)
	}
}
