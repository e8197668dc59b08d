//go:build !windows && !darwin

package output

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseServers(t *testing.T) {
	host, err := os.Hostname()
	must(t, err)
	tests := []struct {
		s    string
		want string // the addresses, separated by spaces; ! is one that is wrong
	}{
		{"/run/native", "unix:/run/native"},
		{"unix:/run/native", "unix:/run/native"},
		{"unix:@abstract", "unix:@abstract"},
		{"tcp:host", "tcp:host:4713"},
		{"tcp:host:", "tcp:host:4713"},
		{"tcp:host:99", "tcp:host:99"},
		{"tcp4:1.2.3.4", "tcp4:1.2.3.4:4713"},
		{"tcp6:[::1]:99", "tcp6:[::1]:99"},
		{"tcp6:[::1]", "tcp6:[::1]:4713"},
		{"tcp6:::1", "tcp6:[::1]:4713"},
		{"host", "tcp:host:4713"},
		{"host:99", "tcp:host:99"},
		{"[::1]:99", "tcp:[::1]:99"},
		{"  a\t b\n", "tcp:a:4713 tcp:b:4713"},
		{"", ""},
		{"{" + host + "}unix:/a", "unix:/a"},
		{"{not-this-machine}unix:/a {" + host + "}/b", "unix:/b"},
		{"{not-this-machine}unix:/a", ""},
		{"{abc", "!"},
		{"{", "!"},
		{"{abc unix:/b", "! unix:/b"},
		{"{" + host + "}", "!"},
		{"unix:", "!"},
		{"tcp:", "!"},
		{"tcp6:", "!"},
		{":", "!"},
		{"::", "tcp:[::]:4713"},
		{"tcp:/a", "!"},
		{"tcp::99", "!"},
		{"}{", "tcp:}{:4713"},
		{"a/b", "!"},
		{"[", "!"},
		{"\x00\xff", "tcp:\x00\xff:4713"},
	}
	for i, tt := range tests {
		var got []string
		for _, a := range parseServers(tt.s) {
			if a.err != nil {
				got = append(got, "!")
			} else {
				got = append(got, a.String())
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%d: parseServers(%q): got %q, want %q", i, tt.s, s, tt.want)
		}
	}
}

func FuzzParseServers(f *testing.F) {
	for _, s := range []string{"unix:/a tcp:b:1", "{abc", "{a}b [::1]:x tcp6:", "\x00:{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, most := len(parseServers(s)), len(strings.Fields(s)); got > most {
			t.Errorf("%q: got %d addresses of %d words", s, got, most)
		}
	})
}

// A wrong PULSE_SERVER is an error that says what is wrong, on one line.
func TestOpenWrongServer(t *testing.T) {
	noLeak(t)
	noServer(t)
	for _, tt := range []struct{ server, want string }{
		{"{abc", "{abc: } is missing"},
		{"unix:", "unix:: names no server"},
		{"{not-this-machine}unix:/a", "no server is named for this machine"},
		{"/nowhere /neither", "unix:/nowhere: connect: no such file or directory, unix:/neither: connect: no such file"},
		{"unix:/" + strings.Repeat("x", 200), "invalid argument"},
	} {
		t.Setenv("PULSE_SERVER", tt.server)
		d, err := Open("pulse", Config{})
		if d != nil || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v and %v, want %q", tt.server, d, err, tt.want)
			continue
		}
		checkOneLine(t, err)
	}
}

func TestPulseServersOrder(t *testing.T) {
	dir := t.TempDir()
	conf := filepath.Join(dir, "client.conf")
	must(t, os.WriteFile(conf, []byte("; default-server = no\n# default-server = no\n default-server = unix:/conf\nautospawn=no\n"), 0o600))
	user := fmt.Sprintf("unix:/run/user/%d/pulse/native", os.Getuid())
	tests := []struct {
		server, conf, runtime, xdg string
		want                       []string
	}{
		{"unix:/s", conf, "/r", "/x", []string{"unix:/s"}},
		{" ", conf, "/r", "/x", []string{"unix:/conf"}},
		{"", filepath.Join(dir, "none"), "/r", "/x", []string{"unix:/r/native", "unix:/x/pulse/native", user, "unix:/var/run/pulse/native"}},
		{"", dir, "", "relative", []string{user, "unix:/var/run/pulse/native"}},
		{"", "/dev/zero", "", fmt.Sprintf("/run/user/%d", os.Getuid()), []string{user, "unix:/var/run/pulse/native"}},
	}
	for i, tt := range tests {
		t.Setenv("PULSE_SERVER", tt.server)
		t.Setenv("PULSE_CLIENTCONFIG", tt.conf)
		t.Setenv("PULSE_RUNTIME_PATH", tt.runtime)
		t.Setenv("XDG_RUNTIME_DIR", tt.xdg)
		var got []string
		for _, a := range pulseServers() {
			got = append(got, a.String())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%d: got %q, want %q", i, got, tt.want)
		}
	}
}

func TestPulseCookie(t *testing.T) {
	noServer(t)
	home := t.TempDir()
	write := func(name string, size int, b byte) string {
		path := filepath.Join(home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, bytes.Repeat([]byte{b}, size), 0o600))
		return path
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("PULSE_COOKIE", "")
	check := func(what string, want byte, tries int) {
		t.Helper()
		got, tried := pulseCookie()
		if len(got) != 256 || got[0] != want || len(tried) != tries {
			t.Errorf("%s: got %d bytes of %d, tried %q; want 256 of %d, %d tries", what, len(got), got[0], tried, want, tries)
		}
	}
	check("none", 0, 2)
	write(".pulse-cookie", 256, 1)
	check("the old place", 1, 0)
	write(".config/pulse/cookie", 256, 2)
	check("the new place", 2, 0)
	conf := filepath.Join(home, "client.conf")
	must(t, os.WriteFile(conf, []byte("cookie-file = \""+write("third", 256, 3)+"\""), 0o600))
	t.Setenv("PULSE_CLIENTCONFIG", conf)
	check("client.conf", 3, 0)
	t.Setenv("PULSE_COOKIE", write("fourth", 256, 4))
	check("PULSE_COOKIE", 4, 0)
	t.Setenv("PULSE_COOKIE", write("short", 255, 5))
	check("too short", 3, 0)
	t.Setenv("PULSE_COOKIE", home)
	check("a folder", 3, 0)
	t.Setenv("HOME", "")
	t.Setenv("PULSE_CLIENTCONFIG", "")
	t.Setenv("PULSE_COOKIE", "/dev/zero")
	check("no home, and a device", 0, 1)
}

func TestConfValue(t *testing.T) {
	tests := []struct{ conf, want string }{
		{"", ""},
		{"key=a", "a"},
		{" key = a b ", "a b"},
		{"key = \"a\"\r\n", "a"},
		{"key = a\nkey = b", "b"},
		{"#key = a\n;key = b\nkeys = c\nkey", ""},
		{strings.Repeat("x", 100000), ""},
	}
	for i, tt := range tests {
		if got := confValue([]byte(tt.conf), "key"); got != tt.want {
			t.Errorf("%d: got %q, want %q", i, got, tt.want)
		}
	}
}

// Many dead servers together take no longer than one may.
func TestOpenGivenUp(t *testing.T) {
	noLeak(t)
	noServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	t.Setenv("PULSE_SERVER", strings.Repeat("tcp:192.0.2.1 ", 50)) // TEST-NET-1: nobody answers there
	c, _ := Config{}.normal()
	if _, err := openPulse(ctx, c); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
