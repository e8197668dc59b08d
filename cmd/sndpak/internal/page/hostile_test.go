package page

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sndpak/sndpak/player"
	"github.com/sndpak/sndpak/soundpack"
)

// hostileRequests are what should get nothing, with the status that they get. %C stands for the cookie,
// %H for the host, which is added where there is none; %N for the end of a line.
var hostileRequests = []struct {
	text   string
	status int
}{
	// Somebody else's name for this machine.
	{"GET / HTTP/1.1%NHost: evil.example%N%C", 403},
	{"GET /api/pack HTTP/1.1%NHost: evil.example:8080%N%C", 403},
	{"GET /api/pack HTTP/1.1%NHost: 127.0.0.1%N%C", 403},
	{"GET /api/pack HTTP/1.1%NHost: 127.0.0.1:8081%N%C", 403},
	{"GET /api/pack HTTP/1.1%NHost: 127.0.0.1.evil.example:8080%N%C", 403},
	{"GET /api/pack HTTP/1.1%NHost: localhost:8080:8080%N%C", 403},
	{"GET http://evil.example:8080/api/pack HTTP/1.1%NHost: 127.0.0.1:8080%N%C", 403},
	{"GET /api/pack HTTP/1.1%NHost:%N%C", 403},
	// Other pages.
	{"GET /api/pack HTTP/1.1%N%H%N%C%NSec-Fetch-Site: cross-site", 403},
	{"GET /e/0 HTTP/1.1%N%H%N%C%NSec-Fetch-Site: same-site", 403},
	{"GET / HTTP/1.1%N%H%N%C%NSec-Fetch-Site: cross-site%NSec-Fetch-Mode: navigate", 403},
	{"GET /api/pack HTTP/1.1%N%H%N%C%NSec-Fetch-Site: anything", 403},
	{"GET /api/pack HTTP/1.1%N%H%N%C%NOrigin: http://evil.example", 403},
	{"GET /api/pack HTTP/1.1%N%H%N%C%NOrigin: null", 403},
	{"GET /api/pack HTTP/1.1%N%H%N%C%NOrigin: https://127.0.0.1:8080", 403},
	{"GET /api/pack HTTP/1.1%N%H%N%C%NOrigin: http://127.0.0.1:8080%NOrigin: http://evil.example", 403},
	{"POST /e/0/loop HTTP/1.1%N%H%N%C%NOrigin: http://127.0.0.1:9090%NContent-Type: application/json%N%N{}", 403},
	{"POST /e/0/loop HTTP/1.1%N%H%N%C%NContent-Type: text/plain%N%N{\"generation\":0,\"start\":1,\"end\":2}", 415},
	{"POST /e/0/loop HTTP/1.1%N%H%N%C%NContent-Type: application/x-www-form-urlencoded%N%Nstart=1", 415},
	{"POST /e/0/loop HTTP/1.1%N%H%N%C%N%N{}", 415},
	{"OPTIONS /api/pack HTTP/1.1%N%H%N%C%NOrigin: http://127.0.0.1:8080%NAccess-Control-Request-Method: POST", 405},
	// Without the cookie, or with another.
	{"GET /api/pack HTTP/1.1%N%H", 401},
	{"GET /e/0 HTTP/1.1%N%H", 401},
	{"GET /e/0/wav HTTP/1.1%N%H%NCookie: sndpak-8080=", 401},
	{"GET /api/live HTTP/1.1%N%H%NCookie: sndpak-8080=0123456789abcdef", 401},
	{"GET /api/lint HTTP/1.1%N%H%NAuthorization: Bearer 0123456789abcdef", 401},
	{"GET /api/pack?t=0123456789abcdef HTTP/1.1%N%H", 401},
	{"POST /e/0/loop HTTP/1.1%N%H%NContent-Type: application/json%N%N{\"generation\":0,\"start\":1,\"end\":2}", 401},
	{"POST /api/stop HTTP/1.1%N%H%NContent-Type: application/json%N%N{}", 401},
	// Paths.
	{"GET /../../../../etc/passwd HTTP/1.1%N%H%N%C", 404},
	{"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1%N%H%N%C", 404},
	{"GET /e/..%2f..%2fetc%2fpasswd HTTP/1.1%N%H%N%C", 404},
	{"GET /e/a%00b HTTP/1.1%N%H%N%C", 404},
	{"GET /e/\\..\\x HTTP/1.1%N%H%N%C", 404},
	{"GET //evil.example/ HTTP/1.1%N%H%N%C", 404},
	{"GET /e//0 HTTP/1.1%N%H%N%C", 404},
	{"GET /e/jaguar.wav HTTP/1.1%N%H%N%C", 404},
	{"GET /e/-1 HTTP/1.1%N%H%N%C", 404},
	{"GET /e/00 HTTP/1.1%N%H%N%C", 404},
	{"GET /e/99999999999999999999 HTTP/1.1%N%H%N%C", 404},
	{"GET /e/0/ HTTP/1.1%N%H%N%C", 404},
	{"GET /assets/index.html HTTP/1.1%N%H%N%C", 404},
	{"GET /debug/pprof/ HTTP/1.1%N%H%N%C", 404},
	{"GET /debug/vars HTTP/1.1%N%H%N%C", 404},
	// Methods.
	{"GET /e/0/loop HTTP/1.1%N%H%N%C", 405},
	{"GET /api/stop HTTP/1.1%N%H%N%C", 405},
	{"PUT /e/0 HTTP/1.1%N%H%N%C", 405},
	{"DELETE /e/0 HTTP/1.1%N%H%N%C", 405},
	{"TRACE / HTTP/1.1%N%H%N%C", 405},
	{"CONNECT 127.0.0.1:8080 HTTP/1.1%N%H%N%C", 405},
	{"POST /e/0 HTTP/1.1%N%H%N%C%NContent-Type: application/json%N%N{}", 405},
	// Ranges and bodies.
	{"GET /e/1 HTTP/1.1%N%H%N%C%NRange: bytes=0-0,0-0", 416},
	{"GET /e/1 HTTP/1.1%N%H%N%C%NRange: bytes=0-0%NRange: bytes=0-0", 416},
	{"GET /e/1/wav HTTP/1.1%N%H%N%C%NRange: bytes=" + strings.Repeat("0-0,", 3000) + "0-0", 416},
	{"GET /e/1 HTTP/1.1%N%H%N%C%NRange: bytes=99999999999999999999-", 416},
	{"GET /e/1 HTTP/1.1%N%H%N%C%NRange: lines=1-2", 416},
	{"POST /e/1/loop HTTP/1.1%N%H%N%C%NContent-Type: application/json%N%N{\"start\":" + strings.Repeat("1", mostBody) + "}", 400},
	{"POST /e/1/loop HTTP/1.1%N%H%N%C%NContent-Type: application/json%N%N" + strings.Repeat("[", mostBody), 400},
	{"POST /e/1/loop HTTP/1.1%N%H%N%C%NContent-Type: application/json%N%N{\"path\":\"/etc/passwd\"}", 400},
	{"GET / HTTP/1.1%N%H%N%C%NX: a\x00b", 400},
}

func (r *rig) fill(text string) string {
	text = strings.NewReplacer("%C", "Cookie: "+r.cookie()+"="+r.session, "%H", "Host: "+testAddr, "%N", "\r\n").Replace(text)
	return text
}

// hostileRig can do all there is, and notes what it should not have done.
func hostileRig(t testing.TB, sounds string) (r *rig, touched *bool) {
	touched = new(bool)
	r = newRigOf(t, sounds, Config{
		Lint: func(context.Context, *soundpack.Pack) (any, error) { return map[string]string{}, nil },
		WriteLoop: func(context.Context, *soundpack.Pack, soundpack.Entry, int64, int64) (*soundpack.Pack, error) {
			*touched = true
			return nil, fmt.Errorf("touched")
		},
		Player: player.New(nil, nil),
	})
	t.Cleanup(func() { r.Player.Close() })
	return r, touched
}

func TestHostileRequests(t *testing.T) {
	if len(hostileRequests) < 40 {
		t.Fatalf("%d requests", len(hostileRequests))
	}
	r, touched := hostileRig(t, "*")
	for i, c := range hostileRequests {
		res := r.raw(r.fill(c.text))
		text := body(t, res)
		if res.StatusCode != c.status {
			t.Errorf("%d: %.100q: status %d, want %d: %.100s", i, c.text, res.StatusCode, c.status, text)
		}
		for _, secret := range []string{"root:", "RIFF", "OggS", "jaguar", filepath.Dir(r.path), "goroutine", testToken, r.session} {
			if strings.Contains(text, secret) {
				t.Errorf("%d: %.100q: the answer has %q in it", i, c.text, secret)
			}
		}
		for name := range res.Header {
			if strings.HasPrefix(name, "Access-Control-") || name == "Location" || name == "Set-Cookie" {
				t.Errorf("%d: %.100q: %s: %s", i, c.text, name, res.Header.Get(name))
			}
		}
		if c.status != 400 && (res.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'none'")) {
			t.Errorf("%d: %.100q: %v", i, c.text, res.Header)
		}
	}
	if *touched {
		t.Error("the pack was written")
	}
	r.wants(r.ask("GET /api/pack"), 200) // it lives
}

// FuzzRouter: whatever is asked, nothing panics, nothing but the page's own files is told without the
// cookie, and nothing is written.
func FuzzRouter(f *testing.F) {
	for _, c := range hostileRequests {
		f.Add(c.text)
	}
	for _, path := range []string{"/", "/app.js", "/api/pack", "/e/1", "/e/1/wav", "/e/1/peaks", "/api/lint"} {
		f.Add("GET " + path + " HTTP/1.1%N%H%N%C")
		f.Add("HEAD " + path + " HTTP/1.1%N%H")
	}
	r, touched := hostileRig(f, "jaguar.wav") // alone, so that decoding takes no time
	open := []string{"/"}
	for _, n := range assetNames() {
		open = append(open, "/"+n)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "/api/live") || strings.Contains(text, "/play") {
			return // the one does not end, the other is allowed to do something
		}
		r.logged, *touched = nil, false
		res := r.raw(r.fill(text))
		for _, err := range r.logged {
			if strings.Contains(err.Error(), "panic") {
				t.Fatal(err)
			}
		}
		if *touched && !strings.Contains(text, "%C") {
			t.Fatal("the pack was written without the cookie")
		}
		if res.StatusCode < 300 && !strings.Contains(text, "%C") && !strings.Contains(text, r.session) {
			req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(r.fill(text) + "\r\n\r\n")))
			if err == nil && !slices.Contains(open, req.URL.Path) && req.URL.Path != "/login" {
				t.Fatalf("%q: status %d", text, res.StatusCode)
			}
		}
	})
}

// serving answers on a listener of its own until the test ends.
func serving(t *testing.T, c Config) (r *rig, addr string) {
	t.Helper()
	return servingWith(t, c, nil)
}

// servingWith has a server that change has changed.
func servingWith(t *testing.T, c Config, change func(*Server)) (r *rig, addr string) {
	t.Helper()
	r, addr, end := servingUntil(t, c, change)
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return r, addr
}

// servingUntil serves until end, which the test must call.
func servingUntil(t *testing.T, c Config, change func(*Server)) (r *rig, addr string, end func() error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r = newRig(t, c)
	addr = ln.Addr().String()
	r.addr = addr
	_, r.port, _ = net.SplitHostPort(addr)
	if change != nil {
		change(r.Server)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Serve(ctx, ln) }()
	return r, addr, func() error { cancel(); return <-done }
}

func (r *rig) dial(addr, text string) (net.Conn, *bufio.Reader) {
	r.t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\n\r\n", text, addr, r.cookie(), r.session)
	return c, bufio.NewReader(c)
}

func firstLine(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	line, err := in.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func TestLimitsOfTheServer(t *testing.T) {
	r := newRig(t, Config{})
	srv := r.httpServer(context.Background())
	if srv.ReadHeaderTimeout != 5*time.Second || srv.IdleTimeout != time.Minute || srv.MaxHeaderBytes != 16<<10 || srv.ReadTimeout == 0 {
		t.Errorf("%+v", srv)
	}
	r, addr := serving(t, Config{})
	_, in := r.dial(addr, "GET /"+strings.Repeat("x", 40<<10))
	if got := firstLine(t, in); !strings.HasPrefix(got, "HTTP/1.1 431 ") {
		t.Errorf("a header of 40 KiB: %s", got)
	}
}

func TestLiveNews(t *testing.T) {
	silent := player.New(nil, nil)
	defer silent.Close()
	r, addr := serving(t, Config{Player: silent})
	for i := range mostClients {
		_, in := r.dial(addr, "GET /api/live")
		if got := firstLine(t, in); got != "HTTP/1.1 200 OK" {
			t.Fatalf("client %d: %s", i, got)
		}
		for {
			if line := firstLine(t, in); strings.HasPrefix(line, "data: ") {
				mustContain(t, "news", []byte(line), `"voices":[]`)
				break
			}
		}
	}
	_, in := r.dial(addr, "GET /api/live")
	if got := firstLine(t, in); !strings.HasPrefix(got, "HTTP/1.1 503 ") {
		t.Errorf("client %d: %s", mostClients+1, got)
	}
	// serving's end sees that Serve returns though eight clients listen.
}
