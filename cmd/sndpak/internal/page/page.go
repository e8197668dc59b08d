// Package page serves a pack as one web page: a list with search, waveform and spectrogram, playing in the
// browser, sounds on keys, loop points, what the player of this machine plays, and what lint finds.
//
// New makes a Server of a Config, and Serve answers on a listener until its context ends. Whoever
// opens the page must know the token: URL has it in the fragment, which no server ever sees, and the
// page exchanges it for a cookie.
//
// Any page in the user's browser can send requests here, so each is checked before anything else: its
// Host, Sec-Fetch-Site and Origin (see guard). Entries are addressed by their number alone, a GET
// changes nothing, and the pack is written only where Config.WriteLoop is given.
package page

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sndpak/sndpak/player"
	"github.com/sndpak/sndpak/soundpack"
)

// Config is what is served.
type Config struct {
	Pack   *soundpack.Pack
	Player *player.Player // plays on this machine; nil = only the browser plays
	Token  string         // 16 characters or more; "" = a new one

	// Lint judges the pack; what it returns is shown as JSON.
	Lint func(ctx context.Context, p *soundpack.Pack) (any, error)
	// WriteLoop writes the loop points of an entry into the pack, 0 and 0 taking them away, and opens
	// the new pack, which the Server closes; nil = nothing is written.
	WriteLoop func(ctx context.Context, p *soundpack.Pack, e soundpack.Entry, start, end int64) (*soundpack.Pack, error)
	// Hosts are names, besides those of the loopback, by which the server may be addressed.
	Hosts []string
	// Log is told of what went wrong inside; nil = nobody.
	Log func(error)
}

// The limits of a server.
const (
	mostHeader  = 16 << 10 // bytes of a request's header
	mostBody    = 4 << 10  // and of its body
	mostConns   = 64
	mostOfOne   = 48       // of them, for one client; a browser has some 6 for all of its tabs
	mostClients = 8        // of live news
	mostWAVs    = 8        // decoded to WAV at once
	workers     = 2        // waveforms and spectrograms at once
	cacheBytes  = 64 << 20 // of those that are kept
	leastToken  = 16       // characters
	shutdown    = 3 * time.Second
	headerTime  = 5 * time.Second
)

// Server is a page. Its handler may be used from any goroutine.
type Server struct {
	Config
	addr    string // host:port that it listens on
	port    string
	session string // value of the cookie
	handler http.Handler
	header  time.Duration // that the header of a request may take

	work  chan struct{} // tokens of the workers
	wavs  chan struct{}
	live  chan struct{}
	cache cache
	desk  desk // what plays on this machine

	door    atomic.Pointer[door] // nil until Serve
	pack    atomic.Pointer[shelf]
	writing sync.Mutex // one change at a time
	judging sync.Mutex // one lint at a time; guards judged
	judged  *verdict
	older   []*soundpack.Pack // guarded by writing
}

// shelf is a pack, and how often it was exchanged before.
type shelf struct {
	*soundpack.Pack
	generation int
}

// New returns a Server that will listen at addr, host and port.
func New(addr string, c Config) (*Server, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if c.Token == "" {
		c.Token = rand.Text()
	}
	if len(c.Token) < leastToken {
		return nil, fmt.Errorf("a token must have %d characters or more", leastToken)
	}
	s := &Server{
		Config: c, addr: addr, port: port, session: rand.Text(), header: headerTime,
		work: make(chan struct{}, workers), wavs: make(chan struct{}, mostWAVs), live: make(chan struct{}, mostClients),
	}
	s.pack.Store(&shelf{Pack: c.Pack})
	s.handler = s.guard(s.routes())
	return s, nil
}

// URL is where the page is, with the token.
func (s *Server) URL() string {
	host, _, _ := net.SplitHostPort(s.addr)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, s.port) + "/#t=" + s.Token
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers on ln until ctx ends, and closes it. Packs that took the place of Config.Pack are
// closed at the end; that one is not.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := s.httpServer(inner)
	failed := make(chan error, 1)
	in := newDoor(ln, mostConns, mostOfOne)
	s.door.Store(in)
	go func() { failed <- srv.Serve(in) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		cancel() // ends live news, which would never end by themselves
		soon, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdown)
		defer stop()
		if srv.Shutdown(soon) != nil {
			srv.Close()
		}
		<-failed
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	for _, p := range s.older {
		p.Close()
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// httpServer is the server with its limits.
func (s *Server) httpServer(ctx context.Context) *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: s.header, IdleTimeout: time.Minute, MaxHeaderBytes: mostHeader,
		ReadTimeout: 30 * time.Second, // bodies are small
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: withGuest,
		ErrorLog:    quietLog(s.log),
	}
}

// Swap serves a newer pack from now on. The Server closes it at its end.
func (s *Server) Swap(p *soundpack.Pack) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.swap(p)
}

// swap is Swap; writing is held.
func (s *Server) swap(p *soundpack.Pack) {
	s.older = append(s.older, p)
	s.pack.Store(&shelf{p, s.pack.Load().generation + 1})
}

func (s *Server) log(err error) {
	if s.Log != nil {
		s.Log(err)
	}
}

// routes are all that there is. What is not among them is not found.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", serveAsset("index.html"))
	for _, name := range assetNames() {
		if name != "index.html" {
			mux.HandleFunc("GET /"+name, serveAsset(name))
		}
	}
	mux.HandleFunc("POST /login", s.login)
	mux.Handle("GET /api/pack", s.known(s.list))
	mux.Handle("GET /api/lint", s.known(s.lint))
	mux.Handle("GET /api/live", s.known(s.news))
	mux.Handle("GET /e/{i}", s.entry(s.bytes))
	mux.Handle("GET /e/{i}/wav", s.entry(s.wav))
	mux.Handle("GET /e/{i}/peaks", s.entry(s.peaks))
	mux.Handle("GET /e/{i}/spectrogram", s.entry(s.spectrogram))
	if s.Player != nil {
		mux.Handle("POST /e/{i}/play", s.entry(s.play))
		mux.Handle("POST /api/stop", s.known(s.stop))
	}
	if s.WriteLoop != nil {
		mux.Handle("POST /e/{i}/loop", s.entry(s.writeLoop))
	}
	return mux
}

// answer is a handler that may fail.
type answer func(w http.ResponseWriter, r *http.Request) error

// known lets in whoever has the cookie.
func (s *Server) known(h answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.hasCookie(r) {
			http.Error(w, "open the page by the address that was printed", http.StatusUnauthorized)
			return
		}
		defer serveKnown(r)()
		if err := h(w, r); err != nil {
			s.refuse(w, r, err)
		}
	})
}

// entry is known for what concerns one entry.
func (s *Server) entry(h func(w http.ResponseWriter, r *http.Request, p *shelf, e soundpack.Entry) error) http.Handler {
	return s.known(func(w http.ResponseWriter, r *http.Request) error {
		p := s.pack.Load()
		i, ok := ordinal(r.PathValue("i"), p.Len())
		if !ok {
			return statusError{http.StatusNotFound, errors.New("no such entry")}
		}
		return h(w, r, p, p.Entry(i))
	})
}

// ordinal reads a number below n, written as numbers are.
func ordinal(text string, n int) (i int, ok bool) {
	if text == "" || len(text) > 9 || text[0] == '0' && len(text) > 1 {
		return 0, false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		i = 10*i + int(c-'0')
	}
	return i, i < n
}

// statusError is an error with the status that tells it.
type statusError struct {
	status int
	error
}

func (e statusError) Unwrap() error { return e.error }

// refuse answers with an error in one line. Nothing of the machine is told but what the pack says.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody listens
	}
	var told statusError
	if !errors.As(err, &told) {
		told = statusError{http.StatusInternalServerError, err}
		s.log(fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err))
	}
	w.Header().Del("Content-Disposition")
	http.Error(w, strings.ToValidUTF8(told.Error(), "\ufffd"), told.status)
}

// sendJSON answers with JSON.
func sendJSON(w http.ResponseWriter, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return sendData(w, "application/json", data)
}

func sendData(w http.ResponseWriter, kind string, data []byte) error {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	w.Write(data) // that nobody listens any more is nobody's error
	return nil
}

// readJSON reads a request's body.
func readJSON(r *http.Request, v any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return statusError{http.StatusBadRequest, errors.New("not the JSON that is expected")}
	}
	return nil
}
