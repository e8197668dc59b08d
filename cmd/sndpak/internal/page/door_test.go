package page

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sndpak/sndpak/player"
	"github.com/sndpak/sndpak/soundpack"
)

// standIn is a connection by its client, and a listener that has them come in order.
type standIn struct {
	net.Conn
	from   string
	closed bool
}

func (c *standIn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.from), Port: 1} }
func (c *standIn) Close() error         { c.closed = true; return nil }

type standIns struct {
	net.Listener
	left []*standIn
}

func (l *standIns) Close() error { return nil }
func (l *standIns) Accept() (net.Conn, error) {
	if len(l.left) == 0 {
		return nil, io.EOF
	}
	c := l.left[0]
	l.left = l.left[1:]
	return c, nil
}

// Who has to make room: the oldest of whoever has most, those with the cookie last, those that are being
// answered never.
func TestDoorMakesRoom(t *testing.T) {
	for _, c := range []struct {
		name, come string // clients in order; capitals are known, ! is busy
		out        string // the numbers of those that were closed
	}{
		{"room for all", "a b a b a b", ""},
		{"the oldest goes", "a b c d e f g", "0"},
		{"of whoever has most", "a b b b c d e", "1"},
		{"and again", "a b b b c d e f g", "0 1 2"}, // until all have one
		{"those with the cookie last", "A B c D E F g h", "2 6"},
		{"even if they are all", "A B C D E F g", "0"},
		{"the busy stay", "a! b! c d! e! f! g h", "2 6"},
		{"one client has four", "a a a a a b", "0"},
		{"and if all are busy no more", "a! a! a! a! a b", "4"},
		{"but others come", "a! a! a! a! b c d", "4"},
	} {
		ln := &standIns{}
		d := newDoor(ln, 6, 4)
		var all []*standIn
		for _, who := range strings.Fields(c.come) {
			name, busy := strings.CutSuffix(who, "!")
			ln.left = []*standIn{{from: fmt.Sprintf("10.0.0.%d", strings.ToLower(name)[0])}}
			all = append(all, ln.left[0])
			got, err := d.Accept()
			if err != nil {
				continue // turned away, and nobody comes after
			}
			g := got.(*guest)
			if g.known = busy || name != strings.ToLower(name); busy {
				g.set(true)
			}
		}
		var out []string
		for i, g := range all {
			if g.closed {
				out = append(out, fmt.Sprint(i))
			}
		}
		if got := strings.Join(out, " "); got != c.out {
			t.Errorf("%s: %s: closed %q, want %q", c.name, c.come, got, c.out)
		}
	}
}

// Where all are busy the next waits until one is not, or until the door is closed.
func TestDoorWaits(t *testing.T) {
	ln := &standIns{left: []*standIn{{from: "10.0.0.1"}, {from: "10.0.0.2"}, {from: "10.0.0.3"}}}
	d := newDoor(ln, 1, 1)
	next := func() (*guest, error) {
		c, err := d.Accept()
		if err != nil {
			return nil, err
		}
		return c.(*guest), nil
	}
	first, err := next()
	if err != nil {
		t.Fatal(err)
	}
	first.set(true)
	second := make(chan *guest)
	go func() { g, _ := next(); second <- g }()
	first.set(false)
	g := <-second
	if !first.Conn.(*standIn).closed || g == nil {
		t.Fatalf("the idle one did not make room: %v", g)
	}
	g.set(true)
	third := make(chan error)
	go func() { _, err := next(); third <- err }()
	d.Close()
	if err := <-third; err == nil {
		t.Error("a closed door let one in")
	}
}

// Three hundred connections whose headers never end are there, and more come as those are closed: whoever
// has the cookie is answered all the same. The time for headers is an hour here, so that nothing
// but the door makes room.
func TestSlowHeadersDelayNobody(t *testing.T) {
	r, addr := servingWith(t, Config{}, func(s *Server) { s.header = time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	var slow sync.WaitGroup
	defer slow.Wait()
	defer cancel()
	var opened atomic.Int32
	begun := make(chan struct{}, 300)
	for i := range 300 {
		slow.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				trickle(ctx, addr, &opened, func() {
					if n == 0 {
						begun <- struct{}{}
					}
				})
				wait(ctx, time.Duration(i+1)*time.Millisecond)
			}
		})
	}
	for range 300 {
		<-begun
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Minute}
	for i := range 50 {
		req, _ := http.NewRequest("GET", fmt.Sprintf("http://%s/e/%d", addr, r.index("jaguar.wav")), nil)
		req.Header.Set("Cookie", r.cookie()+"="+r.session)
		res, err := client.Do(req)
		if err != nil {
			t.Fatalf("request %d, after %d slow connections: %v", i, opened.Load(), err)
		}
		n, err := io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != 200 || n != 44144 || err != nil {
			t.Fatalf("request %d: status %d, %d bytes, %v", i, res.StatusCode, n, err)
		}
	}
	t.Logf("%d slow connections", opened.Load())
}

// trickle opens a connection and sends a byte of a header now and then, until it is closed.
func trickle(ctx context.Context, addr string, opened *atomic.Int32, begun func()) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		begun()
		return
	}
	defer c.Close()
	opened.Add(1)
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nX-Slow: ", addr)
	begun()
	for wait(ctx, 200*time.Millisecond) {
		if _, err := c.Write([]byte("x")); err != nil {
			return
		}
	}
}

// wait waits, and tells whether ctx is still on.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// One client has so many requests running at once and no more.
func TestConnectionsOfOneClient(t *testing.T) {
	release, begun := make(chan struct{}), make(chan struct{}, 1)
	r, addr := serving(t, Config{Lint: func(context.Context, *soundpack.Pack) (any, error) {
		begun <- struct{}{}
		<-release
		return "judged", nil
	}})
	var conns []*bufio.Reader
	for range mostOfOne {
		_, in := r.dial(addr, "GET /api/lint")
		conns = append(conns, in)
	}
	<-begun
	for d := r.door.Load(); d.busy() < mostOfOne; time.Sleep(time.Millisecond) {
	}
	_, in := r.dial(addr, "GET /api/pack")
	if line, err := in.ReadString('\n'); err == nil {
		t.Errorf("connection %d was answered: %s", mostOfOne+1, line)
	}
	close(release)
	for i, in := range conns {
		if got := firstLine(t, in); got != "HTTP/1.1 200 OK" {
			t.Errorf("connection %d: %s", i, got)
		}
	}
	_, in = r.dial(addr, "GET /api/pack") // an idle one makes room
	if got := firstLine(t, in); got != "HTTP/1.1 200 OK" {
		t.Error(got)
	}
}

func (d *door) busy() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range d.guests {
		if g.busy {
			n++
		}
	}
	return n
}

// The server ends though a request of each kind is running: one that works, one whose answer nobody
// reads, news, and a header that has begun.
func TestShutdownWithRequestsRunning(t *testing.T) {
	silent := player.New(nil, nil)
	defer silent.Close()
	working := make(chan struct{})
	r, addr, end := servingUntil(t, Config{Player: silent, Lint: func(ctx context.Context, _ *soundpack.Pack) (any, error) {
		close(working)
		<-ctx.Done()
		return nil, ctx.Err()
	}}, nil)
	_, in := r.dial(addr, "GET /api/live")
	firstLine(t, in)
	for range 4 { // more than the buffers between hold
		c, in := r.dial(addr, fmt.Sprintf("GET /e/%d/wav", r.index("theme.ogg")))
		c.(*net.TCPConn).SetReadBuffer(4 << 10)
		firstLine(t, in)
	}
	r.dial(addr, "GET /api/lint")
	<-working
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET / HT")
	begun := time.Now()
	if err := end(); err != nil {
		t.Error(err)
	}
	t.Logf("ended after %v, of at most %v", time.Since(begun).Round(time.Millisecond), shutdown)
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("somebody still listens")
	}
}

// Waveforms and spectrograms are made by two workers, whoever asks, and who has gone no longer waits.
func TestTwoWorkers(t *testing.T) {
	r := newRigOf(t, "jaguar.wav", Config{})
	var now, most atomic.Int32
	release := make(chan struct{})
	work := func(context.Context) ([]byte, error) {
		n := now.Add(1)
		for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
		}
		<-release
		now.Add(-1)
		return []byte("made"), nil
	}
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			if data, err := r.kept(t.Context(), fmt.Sprint(i), work); string(data) != "made" || err != nil {
				t.Errorf("%d: %q, %v", i, data, err)
			}
		})
	}
	for most.Load() < workers {
		time.Sleep(time.Millisecond)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.kept(gone, "gone", work); err != context.Canceled {
		t.Errorf("one that has gone got %v", err)
	}
	close(release)
	all.Wait()
	if most.Load() != workers {
		t.Errorf("%d worked at once, want %d", most.Load(), workers)
	}
	if keys := slices.Clone(r.cache.order); slices.Contains(keys, "gone") || len(keys) != 12 {
		t.Errorf("kept %q", keys)
	}
}
