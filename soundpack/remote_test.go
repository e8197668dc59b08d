package soundpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"
)

// A store is a server of files with strong ETags, which counts what it sends.
type store struct {
	*httptest.Server
	files    map[string][]byte // by the last element of the path
	etag     atomic.Value      // string
	requests atomic.Int64
	moved    atomic.Int64                                      // bytes of bodies
	before   func(w http.ResponseWriter, r *http.Request) bool // true: it has answered; may be nil
}

func newStore(t testing.TB, files map[string][]byte) *store {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	s := &store{files: files}
	s.etag.Store(`"v1"`)
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		if err := goleak.Find(leaks); err != nil {
			t.Error(err)
		}
	})
	return s
}

type countedWriter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (w countedWriter) Write(b []byte) (int, error) {
	w.n.Add(int64(len(b)))
	return w.ResponseWriter.Write(b)
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	w = countedWriter{w, &s.moved}
	if s.before == nil || !s.before(w, r) {
		s.serve(w, r)
	}
}

func (s *store) serve(w http.ResponseWriter, r *http.Request) {
	b, ok := s.files[path.Base(r.URL.Path)]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", s.etag.Load().(string))
	http.ServeContent(w, r, "x.bin", time.Unix(1e9, 0), bytes.NewReader(b))
}

// unwaiting has tests not wait.
func unwaiting() *RemoteOptions {
	return &RemoteOptions{times: webTimes{header: time.Minute, body: time.Minute, wait: time.Microsecond}}
}

func (s *store) open(t testing.TB, name string, opt *Options, remote *RemoteOptions) *Pack {
	t.Helper()
	p, err := OpenRemote(context.Background(), s.URL+"/dir/"+name, opt, remote)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// packFiles makes a pack and returns its files by name.
func packFiles(t testing.TB, name string, bodies fs.FS) map[string][]byte {
	t.Helper()
	sources, err := SourcesFS(bodies, nil)
	if err != nil {
		t.Fatal(err)
	}
	data := path.Join(t.TempDir(), name)
	if err := Create(context.Background(), data, sources, nil); err != nil {
		t.Fatal(err)
	}
	p := mustOpen(t, data)
	files := map[string][]byte{name: read(t, data)}
	if p.IndexPath() != data {
		files[path.Base(p.IndexPath())] = read(t, p.IndexPath())
	}
	return files
}

func someBodies() fstest.MapFS {
	return fstest.MapFS{
		"jaguar.wav":                        {Data: pattern(3000)},
		"theme.ogg":                         {Data: bytes.Repeat(pattern(997), 700)}, // over several blocks
		"empty.txt":                         {},
		"a_name_too_long_for_the_index.mp3": {Data: []byte("ID3")},
	}
}

func TestRemoteIsTheSameAsLocal(t *testing.T) {
	bodies := someBodies()
	s := newStore(t, packFiles(t, "music.data", bodies))
	p := s.open(t, "music.data", nil, unwaiting())
	if got := s.requests.Load(); got > 4 {
		t.Errorf("opening took %d requests, want 2 for index and data and 1 for each end of the manifest at the most", got)
	}
	if p.Len() != len(bodies) || p.Path() != s.URL+"/dir/music.data" || p.IndexPath() != s.URL+"/dir/music.inx" {
		t.Errorf("%d entries, %s, %s", p.Len(), p.Path(), p.IndexPath())
	}
	for name, file := range bodies {
		got, err := fs.ReadFile(p, strings.ToUpper(name))
		if err != nil || !bytes.Equal(got, file.Data) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(file.Data))
		}
	}
	if err := fstest.TestFS(p, "jaguar.wav", "theme.ogg", "empty.txt", "a_name_too_long_for_the_index.mp3"); err != nil {
		t.Error(err)
	}
	r, err := p.Verify(context.Background(), nil)
	if err != nil || len(r.Findings) > 0 {
		t.Errorf("verify: %+v, %v", r, err)
	}
	if err := p.Watch(context.Background(), func(Change) {}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("watch: %v", err)
	}
}

func TestRemoteOneRequestForACfgPack(t *testing.T) {
	table := "\x00\x02\x00\x01a\x00\x00\x00\x18\x00\x00\x00\x03\x00\x01b\x00\x00\x00\x1b\x00\x00\x00\x02"
	s := newStore(t, map[string][]byte{"cfg_0.txt": []byte(table + "oneto")})
	p := s.open(t, "cfg_0.txt", nil, unwaiting())
	for name, want := range map[string]string{"a": "one", "b": "to"} {
		if got, err := p.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if got := s.requests.Load(); got != 1 || p.Layout() != "cfg" {
		t.Errorf("%d requests, layout %s; want 1, cfg", got, p.Layout())
	}
}

func TestRemoteIndexElsewhere(t *testing.T) {
	files := packFiles(t, "music.data", someBodies())
	s := newStore(t, map[string][]byte{"d": files["music.data"], "i": files["music.inx"]})
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("sig") == "secret-"+path.Base(r.URL.Path) {
			return false
		}
		http.Error(w, "no", http.StatusForbidden)
		return true
	}
	p := s.open(t, "d?sig=secret-d", &Options{Index: s.URL + "/other/i?sig=secret-i"}, unwaiting())
	if got, err := p.ReadFile("jaguar.wav"); err != nil || len(got) != 3000 {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if p.Path() != s.URL+"/dir/d" || p.IndexPath() != s.URL+"/other/i" {
		t.Errorf("paths: %s, %s", p.Path(), p.IndexPath())
	}
	s.open(t, "d?sig=secret-d", &Options{Index: writeTemp(t, "i.inx", files["music.inx"])}, unwaiting())
	s.files["music.data"] = files["music.data"]
	s.files["music.inx"] = files["music.inx"]
	_, err := OpenRemote(context.Background(), s.URL+"/music.data?sig=secret-music.data", nil, unwaiting())
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "--index") || strings.Contains(err.Error(), "secret") {
		t.Errorf("index of the data's signature: %v", err)
	}
}

func writeTemp(t *testing.T, name string, b []byte) string {
	at := path.Join(t.TempDir(), name)
	write(t, at, b)
	return at
}

// TestRemoteRefused: what cannot work is told in one line, without the query.
func TestRemoteRefused(t *testing.T) {
	header := func(kv ...string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			for i := 0; i < len(kv); i += 2 {
				w.Header().Set(kv[i], kv[i+1])
			}
			return false
		}
	}
	redirect := func(to string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
			return true
		}
	}
	answer := func(code int, body string, kv ...string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			header(kv...)(w, r)
			w.WriteHeader(code)
			io.WriteString(w, body)
			return true
		}
	}
	for _, c := range []struct {
		what   string
		before func(http.ResponseWriter, *http.Request) bool
		want   error
		text   string
	}{
		{"no ranges", func(w http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false }, errors.ErrUnsupported, "sends no ranges"},
		{"not there", answer(404, ""), fs.ErrNotExist, "404 Not Found"},
		{"forbidden", answer(403, ""), fs.ErrPermission, "403 Forbidden"},
		{"broken", answer(500, ""), nil, "500 Internal Server Error (tried 5 times)"},
		{"odd", answer(299, ""), nil, "299"},
		{"redirect to a file", redirect("file:///etc/passwd"), nil, "a redirect from http to file is not followed"},
		{"redirect to nowhere", redirect(""), nil, "a redirect to nowhere"},
		{"redirects without end", redirect("/dir/music.data"), nil, "more than 3 redirects"},
		{"too large", answer(206, "", "ETag", `"x"`, "Content-Range", "bytes 0-131071/4294967296", "Content-Length", "131072"), ErrLimit, "4294967295 is the most"},
		{"another range", answer(206, "x", "ETag", `"x"`, "Content-Range", "bytes 1-1/5"), nil, "another range"},
		{"no number", answer(206, "x", "ETag", `"x"`, "Content-Range", "bytes 0-+4/5"), nil, "another range"},
		{"unknown length", answer(206, "x", "ETag", `"x"`, "Content-Range", "bytes 0-0/*"), nil, "another range"},
		{"cut", answer(206, "x", "ETag", `"x"`, "Content-Range", "bytes 0-4/5"), nil, "1 bytes for a range of 5"},
		{"gzip", answer(206, "xxxxx", "ETag", `"x"`, "Content-Range", "bytes 0-4/5", "Content-Encoding", "gzip"), nil, "encoded"},
		{"weak", answer(206, "xxxxx", "ETag", `W/"x"`, "Content-Range", "bytes 0-4/5"), errors.ErrUnsupported, "no strong ETag"},
		{"no ETag", answer(206, "xxxxx", "Content-Range", "bytes 0-4/5"), errors.ErrUnsupported, "no strong ETag"},
	} {
		s := newStore(t, map[string][]byte{"music.data": pattern(5)})
		s.before = func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, ".inx") {
				return false
			}
			return c.before(w, r)
		}
		s.files["music.inx"] = encode(rec{"a", 0, 5})
		_, err := OpenRemote(context.Background(), s.URL+"/dir/music.data?token=secret", nil, unwaiting())
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %v, %q", c.what, err, c.want, c.text)
			continue
		}
		if strings.Count(err.Error(), "music.data") != 1 || strings.Contains(err.Error(), "unsupported operation") {
			t.Errorf("%s: %q", c.what, err)
		}
		if strings.Contains(err.Error(), "secret") || strings.ContainsAny(err.Error(), "\n\r") || !strings.Contains(err.Error(), "music.data") {
			t.Errorf("%s: %q", c.what, err)
		}
	}
	for _, address := range []string{"ftp://host/music.data", "http:///music.data", "http://[::1/x", "music.data", "https:music.data"} {
		if _, err := OpenRemote(context.Background(), address, nil, nil); err == nil {
			t.Errorf("%s was opened", address)
		}
	}
}

// A server that fails is not asked for one file after the other.
func TestRemoteServerFails(t *testing.T) {
	s := newStore(t, nil)
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusBadGateway)
		return true
	}
	for _, name := range []string{"music.data", "cfg_0.txt", "x"} {
		s.requests.Store(0)
		_, err := OpenRemote(context.Background(), s.URL+"/"+name, nil, unwaiting())
		if got := s.requests.Load(); err == nil || !strings.Contains(err.Error(), "502 Bad Gateway (tried 5 times)") || got != 5 {
			t.Errorf("%s: %d requests, want 5; %v", name, got, err)
		}
	}
}

func TestRemoteServerIsGone(t *testing.T) {
	s := newStore(t, nil)
	at := s.URL + "/music.data"
	s.Close()
	if _, err := OpenRemote(context.Background(), at, nil, unwaiting()); err == nil || !strings.Contains(err.Error(), "tried 5 times") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	if _, err := OpenRemote(ctx, at, nil, nil); !errors.Is(err, why) {
		t.Errorf("with a context that ended: %v", err)
	}
}

func TestRemoteRedirectsAreFollowed(t *testing.T) {
	s := newStore(t, packFiles(t, "music.data", someBodies()))
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		hops := strings.Count(r.URL.Path, "/hop")
		if hops == 3 {
			return false
		}
		http.Redirect(w, r, "/hop"+r.URL.Path, http.StatusTemporaryRedirect)
		return true
	}
	p := s.open(t, "music.data", nil, unwaiting())
	if got, err := p.ReadFile("jaguar.wav"); err != nil || !bytes.Equal(got, pattern(3000)) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestRemoteRedirectFromHTTPS(t *testing.T) {
	plain := newStore(t, packFiles(t, "music.data", someBodies()))
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL+"/music.data", http.StatusFound))
	defer secure.Close()
	o := unwaiting()
	o.Client = secure.Client()
	_, err := OpenRemote(context.Background(), secure.URL+"/music.data", nil, o)
	if err == nil || !strings.Contains(err.Error(), "a redirect from https to http is not followed") || plain.requests.Load() > 0 {
		t.Errorf("got %v, %d requests", err, plain.requests.Load())
	}
}

// A public server must not have us look into our own network, by whatever name.
func TestRemoteRedirectToAPrivateAddress(t *testing.T) {
	w := newWeb(nil)
	defer w.close()
	hop := context.WithValue(context.Background(), hopKey{}, true)
	for _, private := range []string{"127.0.0.1:80", "10.1.2.3:80", "192.168.0.1:443", "169.254.169.254:80", "[::1]:80", "[fe80::1]:80", "[fd00::1]:80", "[::ffff:10.0.0.1]:80", "0.0.0.0:80"} {
		w.dialing(context.Background(), "tcp", "93.184.216.34:443", nil)
		if err := w.dialing(hop, "tcp", private, nil); !errors.Is(err, errPrivate) {
			t.Errorf("from a public address to %s: %v", private, err)
		}
		if err := w.dialing(hop, "tcp", "93.184.216.35:443", nil); err != nil {
			t.Errorf("from one public address to another: %v", err)
		}
		w.dialing(context.Background(), "tcp", private, nil)
		if err := w.dialing(hop, "tcp", "127.0.0.1:80", nil); err != nil {
			t.Errorf("from %s, private itself: %v", private, err)
		}
	}
}

func TestRemoteWhole(t *testing.T) {
	bodies := someBodies()
	s := newStore(t, packFiles(t, "music.data", bodies))
	s.before = func(_ http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false }
	o := unwaiting()
	o.Whole = 10 << 20
	p := s.open(t, "music.data", nil, o)
	if got, err := p.ReadFile("theme.ogg"); err != nil || !bytes.Equal(got, bodies["theme.ogg"].Data) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if got := s.requests.Load(); got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
	o.Whole = 1000
	if _, err := OpenRemote(context.Background(), s.URL+"/music.data", nil, o); !errors.Is(err, ErrLimit) {
		t.Errorf("over the limit: %v", err)
	}
}

func TestRemoteSign(t *testing.T) {
	s := newStore(t, packFiles(t, "music.data", someBodies()))
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "Bearer x" {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	o := unwaiting()
	o.Sign = func(r *http.Request) error { r.Header.Set("Authorization", "Bearer x"); return nil }
	s.open(t, "music.data", nil, o)
	o.Sign = func(*http.Request) error { return errors.New("no credentials") }
	if _, err := OpenRemote(context.Background(), s.URL+"/music.data", nil, o); err == nil || !strings.Contains(err.Error(), "sign: no credentials") {
		t.Errorf("got %v", err)
	}
}

// TestRemoteChanges: after the data became another, what is read is the old version or ErrChanged.
func TestRemoteChanges(t *testing.T) {
	old := bytes.Repeat([]byte("old!"), 1<<18)
	for what, change := range map[string]func(*store){
		"another version":   func(s *store) { s.etag.Store(`"v2"`); s.files["music.data"] = bytes.Repeat([]byte("new!"), 1<<18) },
		"shorter":           func(s *store) { s.etag.Store(`"v2"`); s.files["music.data"] = old[:100] },
		"same ETag, longer": func(s *store) { s.files["music.data"] = append(bytes.Clone(old), 'x') },
		"If-Range is ignored": func(s *store) {
			s.etag.Store(`"v2"`)
			s.before = func(_ http.ResponseWriter, r *http.Request) bool { r.Header.Del("If-Range"); return false }
		},
	} {
		s := newStore(t, map[string][]byte{"music.data": old, "music.inx": encode(rec{"a", 0, uint32(len(old))})})
		p := s.open(t, "music.data", nil, unwaiting())
		f, err := p.OpenEntry(p.Entry(0))
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 4)
		if _, err := f.ReadAt(head, 0); err != nil || string(head) != "old!" {
			t.Fatalf("%s: before: %q, %v", what, head, err)
		}
		change(s)
		for off := range int64(8) {
			n, err := f.ReadAt(head, off*blockSize)
			if n == 4 && string(head) == "old!" && err == nil && off == 0 {
				continue // is in memory
			}
			if !errors.Is(err, ErrChanged) || !strings.HasPrefix(err.Error(), `soundpack: read "a" in music.data at 0x`) {
				t.Errorf("%s: block %d: got %d bytes %q, %v", what, off, n, head, err)
			}
		}
		f.Close()
	}
}

func TestRemoteReadsAhead(t *testing.T) {
	const size = 8 << 20
	data := bytes.Repeat(pattern(1<<16), size>>16)
	s := newStore(t, map[string][]byte{"music.data": data, "music.inx": encode(rec{"a", 0, size})})
	p := s.open(t, "music.data", nil, &RemoteOptions{Cache: 2 << 20})
	f, err := p.OpenEntry(p.Entry(0))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := io.ReadAll(f) // in small steps
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("got %d bytes, %v", len(got), err)
	}
	// 64 blocks: one, one, two, four, and then eight at a time, but where the reader overtakes.
	if n := s.requests.Load(); n > 40 {
		t.Errorf("%d requests for 64 blocks", n)
	}
	if n := s.moved.Load(); n > size+size/8 {
		t.Errorf("%d bytes moved of %d", n, size)
	}
	before := s.moved.Load()
	far := p.m.far
	one := make([]byte, 1)
	for i := int64(0); i < 60; i += 7 { // jumps fetch nothing ahead
		if _, err := far.ReadAt(one, i*blockSize); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.moved.Load() - before; n > 9*blockSize {
		t.Errorf("%d bytes moved for 9 jumps", n)
	}
	far.mu.Lock()
	defer far.mu.Unlock()
	if n := len(far.blocks); n > 16 {
		t.Errorf("%d blocks in memory, want 16 at the most", n)
	}
}

func TestRemoteCrowd(t *testing.T) {
	const size = 4 << 20
	data := bytes.Repeat(pattern(65521), size/65521+1)[:size]
	s := newStore(t, map[string][]byte{"music.data": data, "music.inx": encode(rec{"a", 0, size})})
	p := s.open(t, "music.data", nil, &RemoteOptions{Cache: 1 << 20})
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(g)))
			for range 40 {
				off := rnd.IntN(size)
				b := make([]byte, min(1+rnd.IntN(300_000), size-off))
				if _, err := p.m.ReadAt(b, int64(off)); err != nil || !bytes.Equal(b, data[off:off+len(b)]) {
					t.Errorf("%d bytes at %d: %v", len(b), off, err)
				}
			}
		})
	}
	all.Wait()
}

func TestRemoteCloseEndsReads(t *testing.T) {
	data := pattern(1 << 20)
	s := newStore(t, map[string][]byte{"music.data": data, "music.inx": encode(rec{"a", 0, 1 << 20})})
	p := s.open(t, "music.data", nil, nil)
	asked := make(chan struct{})
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		close(asked)
		<-r.Context().Done()
		return true
	}
	read := make(chan error)
	far := p.m.far
	go func() {
		_, err := far.ReadAt(make([]byte, 1), 5*blockSize)
		read <- err
	}()
	<-asked
	p.Close()
	if err := <-read; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
}

func TestContentRange(t *testing.T) {
	for header, want := range map[string]string{
		"bytes 0-4/5": "0 4 5", "bytes 10-10/4294967295": "10 10 4294967295",
		"": "", "bytes": "", "bytes 0-5/5": "", "bytes 4-3/5": "", "bytes -1-3/5": "", "bytes 0-4/*": "", "items 0-4/5": "",
		"bytes 0-4/5/6": "", "bytes 0-4-5/6": "", "bytes +0-4/5": "", "bytes 0-4/99999999999999999999": "", "bytes */5": "", "bytes  0-4/5": "",
	} {
		from, to, total, err := contentRange(&http.Response{Header: http.Header{"Content-Range": {header}}, ContentLength: -1})
		got := fmt.Sprint(from, to, total)
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}
