package page

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testAddr  = "127.0.0.1:8080"
	testToken = "0123456789abcdef"
)

// rig is a server of a pack with the project's sounds, text, and HTML that is named as a sound.
type rig struct {
	*Server
	t      testing.TB
	path   string
	logged []error
}

func newRig(t testing.TB, c Config) *rig {
	t.Helper()
	return newRigOf(t, "*", c)
}

// newRigOf has those sounds alone that match a pattern.
func newRigOf(t testing.TB, pattern string, c Config) *rig {
	t.Helper()
	files := fstest.MapFS{"page.ogg": {Data: []byte("<html><script>alert(1)</script>")}, "notes.txt": {Data: []byte("to do")}, "empty.wav": {}}
	sounds := os.DirFS("../../../../testdata/sounds")
	names, err := fs.Glob(sounds, pattern)
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, n := range names {
		data, err := fs.ReadFile(sounds, n)
		if err != nil {
			t.Fatal(err)
		}
		files[n] = &fstest.MapFile{Data: data}
	}
	sources, err := soundpack.SourcesFS(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "music.data")}
	if err := soundpack.Create(context.Background(), r.path, sources, nil); err != nil {
		t.Fatal(err)
	}
	if c.Pack, err = soundpack.Open(r.path, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Pack.Close() })
	c.Token, c.Log = testToken, func(err error) { r.logged = append(r.logged, err) }
	if r.Server, err = New(testAddr, c); err != nil {
		t.Fatal(err)
	}
	return r
}

// index is the number of an entry.
func (r *rig) index(name string) int {
	r.t.Helper()
	e, ok := r.Pack.Lookup(name)
	if !ok {
		r.t.Fatalf("no entry %s", name)
	}
	return e.Index
}

// ask sends a request as it stands, with the cookie, and headers after its first line.
func (r *rig) ask(first string, headers ...string) *http.Response {
	r.t.Helper()
	return r.raw(first + " HTTP/1.1\r\nHost: " + testAddr + "\r\nCookie: " + r.cookie() + "=" + r.session + "\r\n" + strings.Join(headers, "\r\n"))
}

// raw sends a request; a body may stand behind an empty line. What is no request is answered as
// net/http does.
func (r *rig) raw(text string) *http.Response {
	head, body, _ := strings.Cut(text, "\r\n\r\n")
	head = strings.TrimRight(head, "\r\n")
	if body != "" {
		head += fmt.Sprintf("\r\nContent-Length: %d", len(body))
	}
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head + "\r\n\r\n" + body)))
	w := httptest.NewRecorder()
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return w.Result()
	}
	r.ServeHTTP(w, req)
	return w.Result()
}

func body(t testing.TB, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (r *rig) wants(res *http.Response, status int) string {
	r.t.Helper()
	text := body(r.t, res)
	if res.StatusCode != status {
		r.t.Fatalf("status %d, want %d: %.200s", res.StatusCode, status, text)
	}
	return text
}

const asJSON = "Content-Type: application/json"

func TestLogin(t *testing.T) {
	r := newRig(t, Config{})
	login := func(body string) *http.Response {
		return r.raw("POST /login HTTP/1.1\r\nHost: " + testAddr + "\r\n" + asJSON + "\r\n\r\n" + body)
	}
	for i, c := range []struct {
		body   string
		status int
	}{
		{`{"token":"` + testToken + `"}`, 204}, {`{"token":"` + testToken + `x"}`, 403}, {`{"token":""}`, 403}, {`{}`, 403}, {`[]`, 400}, {`x`, 400}, {"", 400},
		{`{"token":"` + testToken + `","more":1}`, 400}, {`{"token":"` + strings.Repeat("x", mostBody) + `"}`, 400},
	} {
		res := login(c.body)
		if res.StatusCode != c.status || (len(res.Cookies()) > 0) != (c.status == 204) {
			t.Errorf("%d: status %d, want %d; %d cookies", i, res.StatusCode, c.status, len(res.Cookies()))
		}
	}
	c := login(`{"token":"` + testToken + `"}`).Cookies()[0]
	if c.Name != "sndpak-8080" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Value == testToken {
		t.Errorf("cookie %v", c)
	}
	if !strings.HasSuffix(r.URL(), "/#t="+testToken) {
		t.Errorf("the token is not in the fragment of %s", r.URL())
	}
	a, _ := New(testAddr, Config{Pack: r.Pack})
	b, _ := New(testAddr, Config{Pack: r.Pack})
	if len(a.Token) < 22 || a.Token == b.Token || a.session == b.session {
		t.Errorf("tokens %q and %q", a.Token, b.Token)
	}
	if _, err := New(testAddr, Config{Pack: r.Pack, Token: "short"}); err == nil {
		t.Error("a short token was taken")
	}
}

func TestBytes(t *testing.T) {
	r := newRig(t, Config{})
	want, _ := r.Pack.ReadFile("theme.ogg")
	at := fmt.Sprintf("/e/%d", r.index("theme.ogg"))
	res := r.ask("GET " + at)
	if got := r.wants(res, 200); got != string(want) || res.Header.Get("Content-Type") != "audio/ogg" || res.Header.Get("Content-Disposition") != "" {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), res.Header)
	}
	tag := res.Header.Get("ETag")
	res = r.ask("GET "+at, "Range: bytes=100-299")
	if got := r.wants(res, 206); got != string(want[100:300]) || res.Header.Get("Content-Range") != fmt.Sprintf("bytes 100-299/%d", len(want)) {
		t.Errorf("range: %d bytes, %v", len(got), res.Header)
	}
	r.wants(r.ask("GET "+at, "Range: bytes=100-299", "If-Range: "+tag), 206)
	r.wants(r.ask("GET "+at, "Range: bytes=100-299", `If-Range: "another"`), 200)
	r.wants(r.ask("GET "+at, "If-None-Match: "+tag), 304)
	r.wants(r.ask("GET "+at, "Range: bytes=99999999-"), 416)
	r.wants(r.ask("GET "+at, "Range: bytes=0-0,2-2"), 416)
	if res := r.ask("HEAD " + at); r.wants(res, 200) != "" || res.Header.Get("Content-Length") != fmt.Sprint(len(want)) {
		t.Errorf("HEAD: %v", res.Header)
	}
}

// Nothing but three kinds of sound is ever told to be anything.
func TestContentTypes(t *testing.T) {
	r := newRig(t, Config{})
	for name, want := range map[string]string{
		"theme.ogg": "audio/ogg", "theme.mp3": "audio/mpeg", "jaguar.wav": "audio/wav", "page.ogg": octets, "notes.txt": octets, "empty.wav": octets,
	} {
		res := r.ask(fmt.Sprintf("GET /e/%d", r.index(name)))
		r.wants(res, 200)
		if got := res.Header.Get("Content-Type"); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
		saved := strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment") && strings.HasPrefix(res.Header.Get("Content-Security-Policy"), "sandbox")
		if saved != (want == octets) {
			t.Errorf("%s: %v", name, res.Header)
		}
	}
	for name, want := range map[string]string{
		"a b.txt": `attachment; filename="a b.txt"`, "../../x": "attachment; filename=x", "a\r\nb": "attachment", `q".txt`: `attachment; filename="q\".txt"`,
	} {
		if got := attachment(name); got != want && !(want == "attachment" && !strings.ContainsAny(got, "\r\n")) {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestWAV(t *testing.T) {
	r := newRig(t, Config{})
	for _, name := range []string{"theme.ogg", "theme.mp3", "jaguar.wav", "swish.wav"} {
		at := fmt.Sprintf("/e/%d/wav", r.index(name))
		whole := r.wants(r.ask("GET "+at), 200)
		s, err := decode.Open(strings.NewReader(whole), int64(len(whole)), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "jaguar.wav" {
			raw, _ := r.Pack.ReadFile(name)
			if want := string(raw[len(raw)-s.Len()*2:]); whole[44:] != want {
				t.Errorf("%s: its samples changed", name)
			}
		}
		for _, c := range [][2]int{{0, 43}, {10, 100}, {44, 44}, {45, 9001}, {20001, 40000}, {len(whole) - 3, len(whole) - 1}} {
			got := r.wants(r.ask("GET "+at, fmt.Sprintf("Range: bytes=%d-%d", c[0], c[1])), 206)
			if want := whole[c[0] : c[1]+1]; got != want {
				t.Errorf("%s, bytes %d to %d differ", name, c[0], c[1])
			}
		}
	}
	r.wants(r.ask(fmt.Sprintf("GET /e/%d/wav", r.index("notes.txt"))), 422)
	for range mostWAVs {
		r.wavs <- struct{}{}
	}
	r.wants(r.ask("GET /e/1/wav"), 503)
}

func TestListAndPictures(t *testing.T) {
	r := newRig(t, Config{})
	var list struct {
		Write   bool
		Entries []listed
	}
	if err := json.Unmarshal([]byte(r.wants(r.ask("GET /api/pack"), 200)), &list); err != nil {
		t.Fatal(err)
	}
	i := r.index("theme.ogg")
	if e := list.Entries[i]; list.Write || len(list.Entries) != r.Pack.Len() || e.Name != "theme.ogg" || e.Frames != 441000 || *e.Loop != [2]int64{0, 441000} {
		t.Errorf("%+v", list)
	}
	var peaks struct {
		Frames   int64
		Channels []band
	}
	if err := json.Unmarshal([]byte(r.wants(r.ask(fmt.Sprintf("GET /e/%d/peaks", i)), 200)), &peaks); err != nil {
		t.Fatal(err)
	}
	if peaks.Frames != 441000 || len(peaks.Channels) != 2 || len(peaks.Channels[0].Max) != columns {
		t.Errorf("%d frames, %d channels", peaks.Frames, len(peaks.Channels))
	}
	res := r.ask(fmt.Sprintf("GET /e/%d/spectrogram", i))
	if got := r.wants(res, 200); !strings.HasPrefix(got, "\x89PNG") || res.Header.Get("Content-Type") != "image/png" {
		t.Errorf("spectrogram: %.20q, %v", got, res.Header)
	}
	if _, ok := r.cache.get("peaks " + identity(r.pack.Load(), r.Pack.Entry(i))); !ok {
		t.Error("the waveform is not kept")
	}
	r.wants(r.ask(fmt.Sprintf("GET /e/%d/peaks", r.index("notes.txt"))), 422)
	r.wants(r.ask(fmt.Sprintf("GET /e/%d/spectrogram", r.index("empty.wav"))), 422)
}

func TestCacheStaysSmall(t *testing.T) {
	var c cache
	for i := range 100 {
		c.put(fmt.Sprint(i%90), make([]byte, 3<<20))
	}
	sum := 0
	for _, b := range c.data {
		sum += len(b)
	}
	if sum != c.bytes || sum > cacheBytes || len(c.order) != len(c.data) {
		t.Errorf("%d bytes are kept, told %d; %d of %d in order", sum, c.bytes, len(c.order), len(c.data))
	}
	if _, ok := c.get("9"); !ok {
		t.Error("what was used last is gone")
	}
}

func TestLoopIsWrittenOnRequestOnly(t *testing.T) {
	closed := newRig(t, Config{})
	closed.wants(closed.ask("POST /e/0/loop", asJSON, "", `{"generation":0,"start":1,"end":2}`), 404)

	var r *rig
	calls := ""
	r = newRig(t, Config{WriteLoop: func(_ context.Context, p *soundpack.Pack, e soundpack.Entry, start, end int64) (*soundpack.Pack, error) {
		calls += fmt.Sprintf("%s %d-%d;", e.Name, start, end)
		if end == 3 {
			return nil, errors.New("the disk is full")
		}
		return soundpack.Open(r.path, nil)
	}})
	at := fmt.Sprintf("POST /e/%d/loop", r.index("jaguar.wav"))
	for i, c := range []struct {
		body   string
		status int
	}{
		{`{"generation":0,"start":1,"end":2}`, 200}, // generation 1 from here on
		{`{"generation":0,"start":1,"end":2}`, 409},
		{`{"generation":1,"start":5,"end":5}`, 400}, {`{"generation":1,"start":-1,"end":5}`, 400}, {`{"generation":1,"start":0,"end":22051}`, 400},
		{`{"generation":1,"start":1e30,"end":5}`, 400}, {`{"generation":1,"start":"1","end":5}`, 400}, {`{"generation":1,"start":1,"end":3}`, 500},
		{`{"generation":1,"start":0,"end":22050}`, 200}, {`{"generation":2,"start":0,"end":0}`, 200},
	} {
		if res := r.ask(at, asJSON, "", c.body); res.StatusCode != c.status {
			t.Errorf("%d: status %d, want %d", i, res.StatusCode, c.status)
		}
	}
	if want := "jaguar.wav 1-2;jaguar.wav 1-3;jaguar.wav 0-22050;jaguar.wav 0-0;"; calls != want {
		t.Errorf("written: %s, want %s", calls, want)
	}
	r.wants(r.ask(fmt.Sprintf("POST /e/%d/loop", r.index("notes.txt")), asJSON, "", `{"generation":3,"start":0,"end":1}`), 422)
	for _, p := range r.older {
		p.Close()
	}
}

func TestPanicIs500(t *testing.T) {
	r := newRig(t, Config{Lint: func(context.Context, *soundpack.Pack) (any, error) { panic("secret") }})
	if text := r.wants(r.ask("GET /api/lint"), 500); strings.Contains(text, "secret") || strings.Contains(text, "goroutine") {
		t.Errorf("told: %s", text)
	}
	if len(r.logged) != 1 || !strings.Contains(r.logged[0].Error(), "secret") {
		t.Errorf("logged: %v", r.logged)
	}
	r.wants(r.ask("GET /api/pack"), 200)
}

func TestLintIsDoneOnce(t *testing.T) {
	calls := 0
	r := newRig(t, Config{Lint: func(context.Context, *soundpack.Pack) (any, error) { calls++; return map[string]int{"errors": 7}, nil }})
	for range 2 {
		if got := r.wants(r.ask("GET /api/lint"), 200); got != `{"errors":7}` {
			t.Error(got)
		}
	}
	p, err := soundpack.Open(r.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r.Swap(p)
	r.wants(r.ask("GET /api/lint"), 200)
	if calls != 2 {
		t.Errorf("%d calls for two packs", calls)
	}
	none := newRig(t, Config{})
	none.wants(none.ask("GET /api/lint"), 404)
}

// Data that another program cuts short is an error, not the death of the server.
func TestPackCutShort(t *testing.T) {
	r := newRig(t, Config{})
	i := r.index("theme.ogg")
	if err := os.Truncate(r.path, 4096); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"", "/wav", "/peaks", "/spectrogram"} {
		if res := r.ask(fmt.Sprintf("GET /e/%d%s", i, what)); res.StatusCode < 400 {
			t.Errorf("%q: status %d", what, res.StatusCode)
		}
	}
	r.wants(r.ask("GET /"), 200)
}

func TestAssets(t *testing.T) {
	r := newRig(t, Config{})
	for _, name := range assetNames() {
		path := "/" + name
		if name == "index.html" {
			path = "/"
		}
		res := r.raw("GET " + path + " HTTP/1.1\r\nHost: localhost:8080") // without the cookie
		text := r.wants(res, 200)
		if res.Header.Get("Content-Type") == "" {
			t.Errorf("%s has no type", name)
		}
		for _, bad := range []string{"http://", "https://", "innerHTML", "eval(", "style=\"", "onclick"} {
			if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), bad) {
				t.Errorf("%s has %s in it", name, bad)
			}
		}
	}
	if res := r.raw("GET / HTTP/1.1\r\nHost: localhost:8080"); res.Header.Get("Content-Security-Policy") != policy {
		t.Errorf("policy %q", res.Header.Get("Content-Security-Policy"))
	}
}

func TestOrdinal(t *testing.T) {
	for i, c := range []struct {
		text string
		n    int
		want int
		ok   bool
	}{
		{"0", 1, 0, true}, {"7", 8, 7, true}, {"8", 8, 8, false}, {"", 8, 0, false}, {"01", 8, 0, false}, {"+1", 8, 0, false}, {"-1", 8, 0, false},
		{"1e0", 8, 0, false}, {"١", 8, 0, false}, {"999999999", 1 << 30, 999999999, true}, {"9999999999", 1 << 30, 0, false},
	} {
		if got, ok := ordinal(c.text, c.n); ok != c.ok || ok && got != c.want {
			t.Errorf("%d: %q is %d, %v", i, c.text, got, ok)
		}
	}
}

func TestAllowedHost(t *testing.T) {
	for i, c := range []struct {
		addr, host string
		want       bool
	}{
		{"127.0.0.1:80", "127.0.0.1:80", true}, {"127.0.0.1:80", "localhost:80", true}, {"[::1]:80", "[::1]:80", true},
		{"127.0.0.1:80", "localhost", false}, {"127.0.0.1:80", "localhost:81", false}, {"127.0.0.1:80", "evil.example:80", false},
		{"127.0.0.1:80", "localhost.evil.example:80", false}, {"127.0.0.1:80", "10.0.0.1:80", false}, {"127.0.0.1:80", "", false},
		{"127.0.0.1:80", "box.lan:80", true}, // Config.Hosts
		{"10.0.0.1:80", "10.0.0.1:80", true}, {"10.0.0.1:80", "10.0.0.2:80", false},
		{"0.0.0.0:80", "10.0.0.2:80", true}, {"[::]:80", "[fd00::1]:80", true}, {"0.0.0.0:80", "evil.example:80", false},
	} {
		s, err := New(c.addr, Config{Hosts: []string{"box.lan"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.allowedHost(c.host); got != c.want {
			t.Errorf("%d: %s at %s is %v", i, c.host, c.addr, got)
		}
	}
}

func mustContain(t *testing.T, what string, b []byte, want string) {
	t.Helper()
	if !bytes.Contains(b, []byte(want)) {
		t.Errorf("%s: no %q in %.200q", what, want, b)
	}
}
