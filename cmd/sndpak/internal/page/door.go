package page

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// A door is a listener that lets at most so many connections be open, and fewer of one client. Those
// that are not answering somebody with the cookie have to make room for the next: who opens hundreds
// and sends a byte now and then keeps nobody out.
type door struct {
	net.Listener
	most, ofOne int

	mu     sync.Mutex // guards the rest, and the guests
	left   *sync.Cond // a guest went, or is idle
	guests []*guest   // the oldest first
	closed bool
}

// A guest is an open connection.
type guest struct {
	net.Conn
	door   *door
	client string // its address, without the port
	known  bool   // it had the cookie once
	busy   bool   // it is being answered, and has the cookie
}

func newDoor(ln net.Listener, most, ofOne int) *door {
	d := &door{Listener: ln, most: most, ofOne: ofOne}
	d.left = sync.NewCond(&d.mu)
	return d
}

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		g := &guest{Conn: c, door: d, client: client}
		if d.admit(g) {
			return g, nil
		}
		c.Close()
	}
}

// admit makes room for a guest, and waits for it where all the others are busy. A client that has all
// that one may have, and all of them busy, is turned away.
func (d *door) admit(g *guest) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if count := d.counts()[g.client]; count >= d.ofOne && !d.turnOut(g.client) {
		return false
	}
	for len(d.guests) >= d.most && !d.turnOut("") && !d.closed {
		d.left.Wait()
	}
	if d.closed {
		return false
	}
	d.guests = append(d.guests, g)
	return true
}

func (d *door) counts() map[string]int {
	n := map[string]int{}
	for _, g := range d.guests {
		n[g.client]++
	}
	return n
}

// turnOut closes a connection of a client, of any where it is "", and tells whether there was one to be
// closed: first those that never had the cookie, then of the client that has most, the oldest.
func (d *door) turnOut(client string) bool {
	var out *guest
	counts := d.counts()
	for _, g := range d.guests {
		switch {
		case g.busy || client != "" && g.client != client:
		case out == nil, out.known && !g.known, out.known == g.known && counts[g.client] > counts[out.client]:
			out = g
		}
	}
	if out == nil {
		return false
	}
	out.Conn.Close()
	d.forget(out)
	return true
}

// forget takes a guest off the list; mu is held.
func (d *door) forget(g *guest) {
	for i, other := range d.guests {
		if other == g {
			d.guests = append(d.guests[:i], d.guests[i+1:]...)
			d.left.Broadcast()
			return
		}
	}
}

// Close implements net.Listener.
func (d *door) Close() error {
	d.mu.Lock()
	d.closed = true
	d.left.Broadcast()
	d.mu.Unlock()
	return d.Listener.Close()
}

// Close implements net.Conn.
func (g *guest) Close() error {
	g.door.mu.Lock()
	g.door.forget(g)
	g.door.mu.Unlock()
	return g.Conn.Close()
}

// guestKey is the key of a guest in the context of its requests.
type guestKey struct{}

func withGuest(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, c)
}

// serveKnown is while somebody with the cookie is answered: nobody takes the place of that connection.
func serveKnown(r *http.Request) (done func()) {
	g, ok := r.Context().Value(guestKey{}).(*guest)
	if !ok {
		return func() {}
	}
	g.set(true)
	return func() { g.set(false) }
}

func (g *guest) set(busy bool) {
	g.door.mu.Lock()
	defer g.door.mu.Unlock()
	g.known, g.busy = true, busy
	if !busy {
		g.door.left.Broadcast()
	}
}
