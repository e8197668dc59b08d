package soundpack

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// What a server may take and do. A server that is slower than a block in webTimes.body is as good as gone.
var usualTimes = webTimes{
	header: 10 * time.Second,
	body:   30 * time.Second,
	wait:   100 * time.Millisecond,
}

// webTimes are how long things may take.
type webTimes struct {
	header time.Duration // from the request to the end of the answer's header
	body   time.Duration // from there to the end of its body
	wait   time.Duration // before the second try, and twice as long before each further one
}

const (
	maxHops  = 3               // redirects one after another
	maxWait  = 2 * time.Second // between two tries, unless the server asks for more
	maxAsked = 10 * time.Second
)

// A web sends requests for the files of one pack.
type web struct {
	times   webTimes
	client  *http.Client
	own     bool // the client is ours
	sign    func(*http.Request) error
	show    func(address string) string // what it is called
	retries int
	blocks  int   // that a file keeps in memory
	whole   int64 // as RemoteOptions
	ctx     context.Context
	cancel  context.CancelFunc // also ends what is under way
	private atomic.Bool        // the address asked for itself is a private one
}

func newWeb(opt *RemoteOptions) *web {
	var o RemoteOptions
	if opt != nil {
		o = *opt
	}
	w := &web{times: o.times, sign: o.Sign, show: o.Show, retries: o.Retries, whole: o.Whole}
	if w.times == (webTimes{}) {
		w.times = usualTimes
	}
	if w.show == nil {
		w.show = func(address string) string { return address }
	}
	if w.retries == 0 {
		w.retries = 4
	}
	if o.Cache == 0 {
		o.Cache = 8 << 20
	}
	w.blocks = int(max(o.Cache, 1<<20) / blockSize)
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.client = &http.Client{}
	if w.own = o.Client == nil; w.own {
		w.client.Transport = w.transport()
	} else {
		*w.client = *o.Client
	}
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return w
}

func (w *web) transport() *http.Transport {
	dialer := &net.Dialer{Timeout: w.times.header, ControlContext: w.dialing}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		TLSHandshakeTimeout:    w.times.header,
		MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout:        time.Minute,
	}
}

// hopKey marks the context of a request that a redirect led to.
type hopKey struct{}

var errPrivate = errors.New("a redirect to a private address is not followed")

// dialing keeps a public server from having us ask what is within our own network. It sees the address
// that a name was resolved to, so that no name leads around it.
func (w *web) dialing(ctx context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil // no internet address
	}
	ip := at.Addr().Unmap()
	private := ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	if ctx.Value(hopKey{}) == nil {
		w.private.Store(private)
	} else if private && !w.private.Load() {
		return errPrivate
	}
	return nil
}

// close ends everything. The client, if it is not ours, stays usable.
func (w *web) close() {
	w.cancel()
	if w.own {
		w.client.CloseIdleConnections()
	}
}

// because is the reason of an error that came about as a context ended.
func (w *web) because(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ErrClosed) {
		return context.Cause(ctx)
	}
	return err
}

// passing is an error that may be gone when the request is sent again.
type passing struct {
	err  error
	wait time.Duration // that the server asks for
}

func (e *passing) Error() string { return e.err.Error() }
func (e *passing) Unwrap() error { return e.err }

// persist does something until it ends in success or in an error that stays, or its patience ends. Tries
// that got something count as none.
func (w *web) persist(try func() (progress bool, err error)) error {
	for n := 0; ; n++ {
		progress, err := try()
		pass, again := errors.AsType[*passing](err)
		if progress {
			n = 0
		}
		switch {
		case w.ctx.Err() != nil:
			return ErrClosed
		case err == nil:
			return nil
		case !again:
			return err
		case n >= w.retries:
			return fmt.Errorf("%w (tried %d times)", pass.err, n+1)
		}
		// Full jitter: many clients that failed together do not come back together.
		wait := min(w.times.wait<<min(n, 10), maxWait)
		wait = wait/4 + rand.N(wait)
		select {
		case <-time.After(max(wait, min(pass.wait, maxAsked))):
		case <-w.ctx.Done():
			return ErrClosed
		}
	}
}

// get sends one request, follows redirects and returns the answer with its header. Its body has to be
// closed. What fails on the way is passing.
func (w *web) get(u *url.URL, header http.Header) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(w.ctx)
	late := time.AfterFunc(w.times.header, func() { cancel(fmt.Errorf("no answer within %v", w.times.header)) })
	resp, err := w.follow(ctx, u, header)
	late.Stop()
	if err != nil {
		if ctx.Err() != nil {
			err = &passing{err: context.Cause(ctx)}
		}
		cancel(nil)
		return nil, err
	}
	b := &timedBody{ReadCloser: resp.Body, ctx: ctx, cancel: cancel}
	b.late = time.AfterFunc(w.times.body, func() { cancel(fmt.Errorf("not all of the answer within %v", w.times.body)) })
	resp.Body = b
	return resp, nil
}

// timedBody is the body of an answer that has to come in time.
type timedBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	late   *time.Timer
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && b.ctx.Err() != nil {
		err = context.Cause(b.ctx)
	}
	return n, err
}

func (b *timedBody) Close() error {
	b.late.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

func (w *web) follow(ctx context.Context, u *url.URL, header http.Header) (*http.Response, error) {
	for hop := 0; ; hop++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, fmt.Errorf("%s: not an address", w.show(shown(u)))
		}
		req.Header = header.Clone()
		if hop == 0 && w.sign != nil {
			if err := w.sign(req); err != nil {
				return nil, fmt.Errorf("sign: %w", err)
			}
		}
		resp, err := w.client.Do(req)
		if err != nil {
			return nil, failedRequest(err)
		}
		next, err := redirected(resp, u, hop)
		if next == nil && err == nil {
			return resp, nil
		}
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
		u, ctx = next, context.WithValue(ctx, hopKey{}, true)
	}
}

// failedRequest is what went wrong, without the address that net/http puts in front of it.
func failedRequest(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return fmt.Errorf("no such host: %s", dns.Name)
	}
	if errors.Is(err, errPrivate) {
		return errPrivate
	}
	if cert, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return cert
	}
	return &passing{err: err}
}

// redirected is where an answer leads on to; nil nowhere.
func redirected(resp *http.Response, u *url.URL, hop int) (*url.URL, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	if hop == maxHops {
		return nil, fmt.Errorf("more than %d redirects", maxHops)
	}
	next, err := u.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return nil, errors.New("a redirect to nowhere")
	}
	if next.Scheme != "https" && (next.Scheme != "http" || u.Scheme == "https") || next.Host == "" {
		return nil, fmt.Errorf("a redirect from %s to %s is not followed", u.Scheme, next.Scheme)
	}
	if next.Host == u.Host {
		next.User = u.User
	}
	return next, nil
}

// refused is what a status means that is none of success.
func refused(resp *http.Response) error {
	err := errors.New(oneStatus(resp.StatusCode))
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return serverError{err.Error(), fs.ErrNotExist}
	case http.StatusUnauthorized, http.StatusForbidden:
		return serverError{err.Error(), fs.ErrPermission}
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return &passing{err, time.Duration(min(max(seconds, 0), 3600)) * time.Second}
	}
	return err
}

func oneStatus(code int) string {
	return strings.TrimSpace(fmt.Sprintf("the server answers %d %s", code, http.StatusText(code)))
}

// encoded tells why the bytes of an answer are not those of the file.
func encoded(resp *http.Response) error {
	if c := resp.Header.Get("Content-Encoding"); c != "" && !strings.EqualFold(c, "identity") {
		return &passing{err: fmt.Errorf("the server sends it encoded (%q) although asked not to", c)}
	}
	return nil
}

func plainHeader() http.Header {
	return http.Header{"Accept-Encoding": {"identity"}, "User-Agent": {"sndpak"}}
}

// modified is when a file changed as the server tells it; zero if it does not.
func modified(resp *http.Response) time.Time {
	t, err := http.ParseTime(resp.Header.Get("Last-Modified"))
	if err != nil {
		return time.Time{}
	}
	return t
}

// fetch gets a whole file of at most limit bytes with one request.
func (w *web) fetch(u *url.URL, limit int64) (text string, written time.Time, err error) {
	err = w.persist(func() (bool, error) {
		resp, err := w.get(u, plainHeader())
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return false, refused(resp)
		}
		written = modified(resp)
		text, err = readAnswer(resp, limit)
		return false, err
	})
	if err != nil {
		err = &farError{w.show(shown(u)), err}
	}
	return text, written, err
}

// readAnswer reads the body of an answer that has all of a file.
func readAnswer(resp *http.Response, limit int64) (string, error) {
	if err := encoded(resp); err != nil {
		return "", err
	}
	if resp.ContentLength > limit {
		return "", fmt.Errorf("%w: %d bytes, and %d is the most", ErrLimit, resp.ContentLength, limit)
	}
	if resp.ContentLength < 0 && resp.ProtoMajor == 1 && len(resp.TransferEncoding) == 0 {
		return "", &passing{err: errors.New("the server tells no length, so that an end too early could not be told")}
	}
	var b strings.Builder
	b.Grow(int(max(0, min(resp.ContentLength, 1<<20))))
	n, err := io.Copy(&b, io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return "", &passing{err: fmt.Errorf("after %d bytes: %w", n, err)}
	case n > limit:
		return "", fmt.Errorf("%w: more than %d bytes", ErrLimit, limit)
	}
	return b.String(), nil
}
