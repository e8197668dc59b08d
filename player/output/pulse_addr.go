//go:build !windows && !darwin

package output

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// address is a place where a sound server may listen, or what is wrong with the text that should
// have named one.
type address struct {
	network string // "unix", "tcp", "tcp4" or "tcp6"
	addr    string
	err     error
}

func (a address) String() string {
	if a.err != nil {
		return a.addr
	}
	return a.network + ":" + a.addr
}

// pulsePort is where a server listens that was told no port.
const pulsePort = "4713"

// pulseServers lists where to look: what PULSE_SERVER names, else what client.conf does, else the
// sockets that servers make. What is named replaces all that follows, as in PulseAudio's own client.
func pulseServers() []address {
	if s := os.Getenv("PULSE_SERVER"); strings.TrimSpace(s) != "" {
		return parseServers(s)
	}
	if s := clientConf("default-server"); s != "" {
		return parseServers(s)
	}
	var list []address
	for _, path := range pulseSockets() {
		a := address{network: "unix", addr: path}
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}

// pulseSockets are the paths of the sockets that servers make when they are told nothing.
func pulseSockets() []string {
	var paths []string
	if dir := os.Getenv("PULSE_RUNTIME_PATH"); filepath.IsAbs(dir) {
		paths = append(paths, filepath.Join(dir, "native"))
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		paths = append(paths, filepath.Join(dir, "pulse/native"))
	}
	if uid := os.Getuid(); uid >= 0 {
		paths = append(paths, fmt.Sprintf("/run/user/%d/pulse/native", uid))
	}
	return append(paths, "/var/run/pulse/native")
}

// parseServers reads a list of server strings, separated by spaces. Entries of other machines are
// left out, and one that is wrong stands in the list with its error.
func parseServers(s string) []address {
	var list []address
	for _, word := range strings.Fields(s) {
		rest := word
		if strings.HasPrefix(word, "{") {
			id, after, closed := strings.Cut(word[1:], "}")
			if !closed {
				list = append(list, address{addr: word, err: errors.New("} is missing")})
				continue
			}
			if !isThisMachine(id) {
				continue
			}
			rest = after
		}
		list = append(list, parseServer(rest))
	}
	return list
}

// parseServer reads one server string: a path, unix:PATH, tcp:HOST[:PORT], tcp4:, tcp6:, or
// HOST[:PORT] alone.
func parseServer(s string) address {
	network, rest, found := strings.Cut(s, ":")
	switch {
	case strings.HasPrefix(s, "/"):
		network, rest = "unix", s
	case !found || !slices.Contains([]string{"unix", "tcp", "tcp4", "tcp6"}, network):
		network, rest = "tcp", s
	}
	if rest == "" {
		return address{addr: s, err: errors.New("names no server")}
	}
	if network == "unix" {
		return address{network: network, addr: rest}
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil { // no port; a bare IPv6 address has colons of its own
		host, port = strings.Trim(rest, "[]"), pulsePort
	}
	if strings.ContainsAny(host, "/[]") || host == "" {
		return address{addr: s, err: errors.New("names no server")}
	}
	return address{network: network, addr: net.JoinHostPort(host, cmp.Or(port, pulsePort))}
}

// isThisMachine reports whether id, from before a server string, is that of this machine: its
// machine id or, where it has none, its name.
func isThisMachine(id string) bool {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if b, err := readSmall(path); err == nil && id == string(bytes.TrimSpace(b)) {
			return true
		}
	}
	name, err := os.Hostname()
	return err == nil && id == name
}

// cookieSize is what a server compares of its cookie.
const cookieSize = 256

// pulseCookie returns the secret that a server may ask for, or zeros, which do where the server
// knows us by our user or lets anybody in, and where it was looked for in vain.
func pulseCookie() (cookie []byte, tried []string) {
	paths := []string{os.Getenv("PULSE_COOKIE"), clientConf("cookie-file"), below(configHome(), "pulse/cookie"), below(os.Getenv("HOME"), ".pulse-cookie")}
	for _, path := range paths {
		if path == "" {
			continue
		}
		b, err := readSmall(path)
		if err == nil && len(b) == cookieSize {
			return b, nil
		}
		tried = append(tried, path)
	}
	return make([]byte, cookieSize), tried
}

// clientConf looks up a key in PulseAudio's client.conf: the user's own, else the system's.
func clientConf(key string) string {
	paths := []string{below(configHome(), "pulse/client.conf"), below(os.Getenv("HOME"), ".pulse/client.conf"), "/etc/pulse/client.conf"}
	if p := os.Getenv("PULSE_CLIENTCONFIG"); p != "" {
		paths = []string{p}
	}
	for _, path := range paths {
		if b, err := readSmall(path); err == nil && path != "" {
			return confValue(b, key)
		}
	}
	return ""
}

// confValue finds the last "key = value" of a file; lines that begin with # or ; are comments.
func confValue(conf []byte, key string) string {
	var value string
	for lines := bufio.NewScanner(bytes.NewReader(conf)); lines.Scan(); {
		k, v, ok := strings.Cut(lines.Text(), "=")
		if ok && strings.TrimSpace(k) == key {
			value = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return value
}

// configHome is the user's folder of settings, "" where there is none.
func configHome() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return below(os.Getenv("HOME"), ".config")
}

// below joins a path to a folder, unless there is none.
func below(dir, path string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, path)
}

// readSmall reads a file that is no longer than such files are. Anything but a plain file is refused, for
// a pipe would block.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a plain file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 64<<10))
}
