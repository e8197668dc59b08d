package page

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log"
	"mime"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
)

// policy lets the page have what comes from here and nothing else, and no other page frame it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard checks each request before anything else looks at it.
func (s *Server) guard(next http.Handler) http.Handler {
	next = http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.survive(w, r)
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if status, why := s.judge(r); status != 0 {
			http.Error(w, why, status)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostBody)
		next.ServeHTTP(w, r)
	})
}

// judge tells why a request is refused, 0 where it is not.
func (s *Server) judge(r *http.Request) (status int, why string) {
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case !s.allowedHost(r.Host): // a name that leads here but is not ours: DNS rebinding
		return http.StatusForbidden, "unknown host"
	case site != "" && site != "same-origin" && site != "none":
		return http.StatusForbidden, "asked by another site"
	case len(r.Header.Values("Origin")) > 1, r.Header.Get("Origin") != "" && r.Header.Get("Origin") != "http://"+r.Host:
		return http.StatusForbidden, "asked by another origin"
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "GET, HEAD or POST"
	case r.URL.Path == "" || r.URL.Path[0] != '/' || path.Clean(r.URL.Path) != r.URL.Path || r.URL.RawPath != "":
		return http.StatusNotFound, "not found"
	case strings.Contains(r.Header.Get("Range"), ",") || len(r.Header.Values("Range")) > 1:
		return http.StatusRequestedRangeNotSatisfiable, "one range"
	case r.Method == http.MethodPost && !isJSON(r):
		return http.StatusUnsupportedMediaType, "application/json"
	}
	return 0, ""
}

func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// allowedHost tells whether a Host is one of ours: with our port, a name or an address of the loopback,
// or what Config.Hosts has. Where we listen elsewhere too, an address is as good, for only names can be
// made to lead here.
func (s *Server) allowedHost(hostport string) bool {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil || port != s.port {
		return false
	}
	if slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, host) || slices.Contains(s.Hosts, host) {
		return true
	}
	own, _, _ := net.SplitHostPort(s.addr)
	ip := net.ParseIP(own)
	if ip != nil && !ip.IsUnspecified() {
		return host == own
	}
	return ip != nil && net.ParseIP(host) != nil
}

// survive answers 500 where a handler panicked; the server lives.
func (s *Server) survive(w http.ResponseWriter, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	s.log(fmt.Errorf("%s %s: panic: %v\n%s", r.Method, r.URL.Path, v, debug.Stack()))
	http.Error(w, "internal error", http.StatusInternalServerError)
}

// cookie is its name: cookies are shared by all ports of a host.
func (s *Server) cookie() string { return "sndpak-" + s.port }

func (s *Server) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(s.cookie())
	return err == nil && same(c.Value, s.session)
}

// same compares in a time that tells nothing, not even lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// login exchanges the token for the cookie.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Token string `json:"token"`
	}
	if err := readJSON(r, &body); err != nil {
		s.refuse(w, r, err)
		return
	}
	if !same(body.Token, s.Token) {
		http.Error(w, "wrong token", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: s.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}

// quietLog passes on what net/http has to say.
func quietLog(to func(error)) *log.Logger {
	return log.New(writerFunc(func(b []byte) (int, error) {
		if text := string(b); !strings.Contains(text, "TLS handshake") {
			to(fmt.Errorf("%s", strings.TrimSpace(text)))
		}
		return len(b), nil
	}), "", 0)
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
