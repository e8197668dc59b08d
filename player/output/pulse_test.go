//go:build !windows && !darwin

package output

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

// What a server may do instead of letting us in. Each ends in an error, in bounded time, and leaves
// nothing behind.
func TestPulseNoLogin(t *testing.T) {
	refuse := func(e proto.Error, of uint32) func(command, tag uint32) []byte {
		return func(command, tag uint32) []byte {
			if command == of {
				return message(proto.OpError, tag, values(nil).u32(uint32(e)))
			}
			return properReply(command, tag)
		}
	}
	silentAt := func(of uint32) func(command, tag uint32) []byte {
		return func(command, tag uint32) []byte {
			if command == of {
				return nil
			}
			return properReply(command, tag)
		}
	}
	says := func(s string) func(net.Conn) bool {
		return func(conn net.Conn) bool {
			io.WriteString(conn, s)
			io.Copy(io.Discard, conn)
			return false
		}
	}
	drip := func(conn net.Conn) bool {
		for range 1000 {
			if _, err := conn.Write([]byte{0}); err != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		return false
	}
	tests := []struct {
		name  string
		s     fakeServer
		hangs bool
		want  string
	}{
		{"accepts and closes", fakeServer{begin: func(net.Conn) bool { return false }}, false, ""},
		{"never answers", fakeServer{begin: says("")}, true, "does not answer"},
		{"answers a byte at a time", fakeServer{begin: drip}, true, ""},
		{"speaks another language", fakeServer{begin: says("220 mail.example ESMTP ready\r\n")}, false, "does not keep to the protocol"},
		{"answers zeros", fakeServer{begin: says(strings.Repeat("\x00", 1000))}, true, "does not answer"},
		{"refuses the cookie", fakeServer{answer: refuse(proto.ErrAccessDenied, proto.OpAuth)}, false, "access denied (no cookie of 256 bytes in "},
		{"refuses the name", fakeServer{answer: refuse(proto.ErrInvalidArgument, proto.OpSetClientName)}, false, "invalid argument"},
		{"has no sink", fakeServer{answer: refuse(proto.ErrNoSuchEntity, proto.OpCreatePlaybackStream)}, false, "no such entity"},
		{"gives an error unknown", fakeServer{answer: refuse(12345, proto.OpCreatePlaybackStream)}, false, "invalid error code"},
		{"forgets the name", fakeServer{answer: silentAt(proto.OpSetClientName)}, true, "does not answer"},
		{"forgets the stream", fakeServer{answer: silentAt(proto.OpCreatePlaybackStream)}, true, "does not answer"},
		{"is too old", fakeServer{answer: func(_, tag uint32) []byte {
			return message(proto.OpReply, tag, values(nil).u32(12))
		}}, false, "version 12 of the protocol is too old"},
		{"answers all with the same", fakeServer{answer: func(_, tag uint32) []byte {
			return message(proto.OpReply, tag, answers[proto.OpAuth])
		}}, false, "does not keep to the protocol"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			noServer(t)
			at := tt.s.listen(t)
			noLeak(t)
			times := slow
			if tt.hangs {
				times.login = 200 * time.Millisecond
			}
			d, err := dialFake(t, at, times)
			if err == nil {
				d.Close()
				t.Fatal("got a device")
			}
			if !strings.Contains(err.Error(), tt.want) || errors.Is(err, ErrLost) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want %q", err, tt.want)
			}
		})
	}
}

// tap counts and changes what a server sends.
type tap struct {
	net.Conn
	sent   int
	change func(at int, b []byte) []byte // nil = end here
}

func (c *tap) Write(b []byte) (int, error) {
	out := c.change(c.sent, bytes.Clone(b))
	c.sent += len(b)
	if _, err := c.Conn.Write(out); err != nil || len(out) < len(b) {
		c.Conn.Close()
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// loginThrough logs in to a server whose words go through change, and plays a bit if that works. It
// returns how many bytes the server sent up to the end of the login.
func loginThrough(t *testing.T, times pulseTimes, change func(at int, b []byte) []byte) (sent int, err error) {
	t.Helper()
	client, server := net.Pipe()
	c := &tap{Conn: server, change: change}
	served := make(chan struct{})
	go func() {
		defer close(served)
		fakeServer{}.serve(c)
	}()
	conf, _ := Config{}.normal()
	d := newPulse(client, conf, times)
	if err = d.login(t.Context()); err == nil {
		sent = c.sent
		start(t, d, (&ramp{n: 10}).fill)
		d.Pause(true)
	}
	d.Close()
	awaitDone(t, d)
	<-served
	return sent, err
}

func unchanged(_ int, b []byte) []byte { return b }

// The server dies after every single byte of the login.
func TestPulseDiesInLogin(t *testing.T) {
	noLeak(t)
	total, err := loginThrough(t, slow, unchanged)
	if err != nil || total < 200 {
		t.Fatalf("a proper login: %d bytes, %v", total, err)
	}
	for n := range total {
		_, err := loginThrough(t, slow, func(at int, b []byte) []byte { return b[:min(max(n-at, 0), len(b))] })
		if loss := new(lossError); !errors.As(err, &loss) {
			t.Errorf("cut after %d of %d bytes: got %v", n, total, err)
		}
	}
}

// Every byte of the login is wrong in turn, in several ways. Some of it may pass for a login; nothing
// may panic, hang or leak.
func TestPulseRubbishInLogin(t *testing.T) {
	noLeak(t)
	total, err := loginThrough(t, slow, unchanged)
	must(t, err)
	times := quick
	times.login = 20 * time.Millisecond // where a length is wrong, the client waits for the rest
	var failed int
	for n := range total {
		for _, x := range []byte{0x01, 0x80, 0xFF} {
			_, err := loginThrough(t, times, func(at int, b []byte) []byte {
				if n >= at && n < at+len(b) {
					b[n-at] ^= x
				}
				return b
			})
			if err != nil {
				failed++
			}
		}
	}
	if failed < total/2 {
		t.Errorf("%d of %d wrong logins failed", failed, 3*total)
	}
}

// player dials s and starts a sound.
func player(t *testing.T, s fakeServer, times pulseTimes, fill Fill) *pulse {
	t.Helper()
	at := s.listen(t)
	d, err := dialFake(t, at, times)
	must(t, err)
	t.Cleanup(func() { d.Close() })
	start(t, d, fill)
	return d
}

// after answers properly, and says more after a reply to one command.
func after(of uint32, more ...[]byte) func(command, tag uint32) []byte {
	return func(command, tag uint32) []byte {
		b := properReply(command, tag)
		if command == of {
			b = append(b, bytes.Join(more, nil)...)
		}
		return b
	}
}

func ask(bytes uint32) []byte {
	return message(proto.OpRequest, unasked, values(nil).u32(3).u32(bytes))
}

// lostBy checks that d is lost, and why.
func lostBy(t *testing.T, d *pulse, want string) {
	t.Helper()
	awaitDone(t, d)
	if err := d.Err(); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %v: ... %s", err, ErrLost, want)
	} else {
		checkOneLine(t, err)
	}
	if err := d.Pause(true); !errors.Is(err, ErrLost) {
		t.Errorf("Pause after the loss: got %v", err)
	}
}

// What a server may do later.
func TestPulseLost(t *testing.T) {
	killed := message(proto.OpPlaybackStreamKilled, unasked, values(nil).u32(3))
	suspended := message(proto.OpPlaybackStreamSuspended, unasked, values(nil).u32(3).bool(true))
	silent := func(of uint32) func(command, tag uint32) []byte {
		return func(command, tag uint32) []byte {
			if command == of {
				return nil
			}
			return properReply(command, tag)
		}
	}
	stall, call := slow, slow
	stall.stall, call.call = 200*time.Millisecond, 50*time.Millisecond
	tests := []struct {
		name, want string
		times      pulseTimes
		answer     func(command, tag uint32) []byte
	}{
		{"ends the stream", "ended the stream", slow, after(proto.OpCorkPlaybackStream, killed)},
		{"asks for nothing", "asked for nothing for 300ms", stall, properReply},
		{"suspends the sink", "suspended the sink", stall, after(proto.OpCorkPlaybackStream, suspended)},
		{"tells no latency", "does not answer", call, silent(proto.OpGetPlaybackLatency)},
		{"starts nothing", "does not answer", call, silent(proto.OpCorkPlaybackStream)},
		{"talks rubbish", "protocol", slow, after(proto.OpCorkPlaybackStream, []byte(strings.Repeat("rubbish ", 10)))},
		{"asks in another shape", "protocol", slow, after(proto.OpCorkPlaybackStream, message(proto.OpRequest, unasked, nil))},
		{"tells a latency in another shape", "protocol", slow, func(command, tag uint32) []byte {
			if command == proto.OpGetPlaybackLatency {
				return message(proto.OpReply, tag, values(nil).u32(1))
			}
			return properReply(command, tag)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			noLeak(t)
			d := player(t, fakeServer{answer: tt.answer}, tt.times, (&ramp{n: forever}).fill)
			lostBy(t, d, tt.want)
		})
	}
}

// A server that takes nothing any more: the write comes back, Done closes and so does Close.
func TestPulseServerTakesNothing(t *testing.T) {
	noLeak(t)
	client, server := net.Pipe()
	defer server.Close()
	stuck := make(chan struct{})
	go fakeServer{sound: func(uint32, []byte) { <-stuck }}.serve(server)
	defer close(stuck)
	c, _ := Config{}.normal()
	times := slow
	times.write = 50 * time.Millisecond
	d := newPulse(client, c, times)
	must(t, d.login(t.Context()))
	start(t, d, (&ramp{n: forever}).fill)
	lostBy(t, d, "takes no sound any more")
}

func TestPulseClosedByServer(t *testing.T) {
	noLeak(t)
	conns := make(chan net.Conn, 1)
	d := player(t, fakeServer{begin: func(c net.Conn) bool { conns <- c; return true }}, slow, (&ramp{n: forever}).fill)
	(<-conns).Close()
	lostBy(t, d, "the server closed the connection")
}

// What is asked for is sent, in order and no more.
func TestPulseSendsWhatIsAsked(t *testing.T) {
	noLeak(t)
	var mu sync.Mutex
	var got []byte
	s := fakeServer{
		answer: after(proto.OpCorkPlaybackStream, ask(8), ask(7), ask(1), ask(100000)),
		sound: func(stream uint32, b []byte) {
			mu.Lock()
			defer mu.Unlock()
			if got = append(got, b...); stream != 3 {
				t.Errorf("stream: got %d, want 3", stream)
			}
		},
	}
	r := &ramp{n: forever}
	d := player(t, s, slow, r.fill)
	const want = 9600 + 8 + 7 + 1 + 100000
	eventually(t, "the sound", func() bool { mu.Lock(); defer mu.Unlock(); return len(got) >= want })
	must(t, d.Close())
	mu.Lock()
	defer mu.Unlock()
	if len(got) != want || r.taken.Load() != want/8 {
		t.Fatalf("got %d bytes and %d frames, want %d and %d", len(got), r.taken.Load(), want, want/8)
	}
	samples := make([]float32, want/4)
	(&ramp{n: forever}).fill(samples)
	if !bytes.Equal(got, encodeFloats(nil, samples)) {
		t.Error("the samples differ")
	}
}

// Pause is told to the server once for each change, and nothing is pulled in between.
func TestPulsePause(t *testing.T) {
	noLeak(t)
	var corks atomic.Int64
	s := fakeServer{answer: func(command, tag uint32) []byte {
		if command == proto.OpCorkPlaybackStream {
			corks.Add(1)
			return append(properReply(command, tag), ask(8000)...)
		}
		return properReply(command, tag)
	}}
	r := &ramp{n: forever}
	d := player(t, s, slow, r.fill)
	eventually(t, "1000 + 1200 frames", func() bool { return r.taken.Load() == 2200 })
	must(t, d.Pause(true))
	must(t, d.Pause(true))
	eventually(t, "two looks at the latency", func() bool { return corks.Load() == 2 })
	if got := r.taken.Load(); got != 2200 {
		t.Errorf("while paused: got %d frames, want 2200", got)
	}
	must(t, d.Pause(false))
	must(t, d.Pause(false))
	eventually(t, "two more thousand frames", func() bool { return r.taken.Load() == 4200 })
	if got := corks.Load(); got != 3 {
		t.Errorf("cork requests: got %d, want 3", got)
	}
}

// Close does not wait for a server that does not answer a Pause.
func TestPulseCloseInPause(t *testing.T) {
	noLeak(t)
	corks := 0
	s := fakeServer{answer: func(command, tag uint32) []byte {
		if command == proto.OpCorkPlaybackStream {
			if corks++; corks > 1 {
				return nil
			}
		}
		return properReply(command, tag)
	}}
	r := &ramp{n: forever}
	d := player(t, s, slow, r.fill)
	eventually(t, "frames", func() bool { return r.taken.Load() > 0 })
	paused := make(chan error, 1)
	go func() { paused <- d.Pause(true) }()
	eventually(t, "the pause", d.paused.Load)
	must(t, d.Close())
	if err := <-paused; err == nil {
		t.Error("Pause: got no error")
	}
	awaitDone(t, d)
}

// The end of a sound waits for the server to say that it was played.
func TestPulseDrain(t *testing.T) {
	noLeak(t)
	drained := make(chan struct{})
	s := fakeServer{answer: func(command, tag uint32) []byte {
		if command == proto.OpDrainPlaybackStream {
			<-drained
		}
		return properReply(command, tag)
	}}
	d := player(t, s, slow, (&ramp{n: 100}).fill)
	eventually(t, "the drain", d.draining.Load)
	select {
	case <-d.Done():
		t.Error("done before the server said so")
	default:
	}
	close(drained)
	awaitDone(t, d)
	if d.Err() != nil {
		t.Error(d.Err())
	}
}

// A server that never says so is given up, though it asks for more all the time.
func TestPulseDrainNeverEnds(t *testing.T) {
	noLeak(t)
	s := fakeServer{answer: func(command, tag uint32) []byte {
		if command == proto.OpDrainPlaybackStream {
			return nil
		}
		return append(properReply(command, tag), ask(8)...)
	}}
	times := slow
	times.stall = 200 * time.Millisecond
	d := player(t, s, times, (&ramp{n: 100}).fill)
	lostBy(t, d, "asked for nothing")
}

// A paused server has nothing to ask for, for as long as it likes.
func TestPulsePausedForLong(t *testing.T) {
	noLeak(t)
	var looks atomic.Int64
	s := fakeServer{answer: func(command, tag uint32) []byte {
		if command == proto.OpGetPlaybackLatency {
			looks.Add(1)
		}
		return properReply(command, tag)
	}}
	times := slow
	times.stall = 2 * time.Second // 200 looks; it asks for nothing from the start
	r := &ramp{n: forever}
	d := player(t, s, times, r.fill)
	eventually(t, "all that was asked for", func() bool { return r.taken.Load() == 1200 })
	must(t, d.Pause(true))
	since := looks.Load()
	eventually(t, "many looks", func() bool { return looks.Load() > since+250 })
	must(t, d.alive())
	must(t, d.Pause(false))
	lostBy(t, d, "asked for nothing")
}

// One request without an answer is forgiven: it may have been us who stood still.
func TestPulseForgives(t *testing.T) {
	noLeak(t)
	var looks atomic.Int64
	s := fakeServer{answer: func(command, tag uint32) []byte {
		if command == proto.OpGetPlaybackLatency {
			if n := looks.Add(1); n == 3 || n == 5 || n == 7 {
				return nil
			}
		}
		return properReply(command, tag)
	}}
	times := slow
	times.call = 500 * time.Millisecond
	d := player(t, s, times, (&ramp{n: forever}).fill)
	eventually(t, "ten looks", func() bool { return looks.Load() > 10 })
	must(t, d.alive())
}

// Gaps are counted while there should be none.
func TestPulseUnderruns(t *testing.T) {
	noLeak(t)
	under := message(proto.OpUnderflow, unasked, values(nil).u32(3).s64(0))
	d := player(t, fakeServer{answer: after(proto.OpCorkPlaybackStream, under, under, under)}, slow, (&ramp{n: forever}).fill)
	eventually(t, "three underruns", func() bool { return d.Underruns() == 3 })
}

// In a gap nothing is heard, until the server says otherwise.
func TestPulseUnderrunStopsTheClock(t *testing.T) {
	d := &pulse{look: make(chan struct{}, 1), heard: playhead{rate: 48000}}
	d.heard.set(1000, time.Now().Add(time.Hour), true)
	d.on(&proto.Underflow{})
	if got := d.heard.at(time.Now().Add(2 * time.Hour)); got != 1000 || d.Underruns() != 1 || len(d.look) != 1 {
		t.Errorf("got %d frames heard, %d underruns, %d looks, want 1000, 1, 1", got, d.Underruns(), len(d.look))
	}
	d.paused.Store(true)
	d.on(&proto.Underflow{})
	d.paused.Store(false)
	d.draining.Store(true)
	d.on(&proto.Underflow{})
	if d.Underruns() != 1 {
		t.Errorf("underruns while paused or at the end were counted: %d", d.Underruns())
	}
}

// The delay is what was pulled less what the server says is heard.
func TestPulseDelay(t *testing.T) {
	noLeak(t)
	var running atomic.Bool
	s := fakeServer{answer: func(command, tag uint32) []byte {
		if command == proto.OpGetPlaybackLatency {
			// 9000 bytes were read, 1125 frames, of which 20 ms or 960 frames are on the way.
			return message(proto.OpReply, tag, values(nil).usec(20000).usec(0).bool(running.Load()).time(0, 0).time(0, 0).s64(9600).s64(9000).u64(0).u64(0))
		}
		return properReply(command, tag)
	}}
	r := &ramp{n: forever}
	d := player(t, s, slow, r.fill)
	want := timeOf(1200-(1125-960), 48000)
	eventually(t, "the right delay", func() bool { return d.Delay() == want })
	running.Store(true)
	eventually(t, "a delay that shrinks", func() bool { return d.Delay() < want })
}

// Numbers that cannot be do no harm.
func TestPulseDelayAbsurd(t *testing.T) {
	noLeak(t)
	var looks atomic.Int64
	s := fakeServer{answer: func(command, tag uint32) []byte {
		if command == proto.OpGetPlaybackLatency {
			n := looks.Add(1)
			at := []int64{-1 << 63, 1<<63 - 1, 0, -1}[n%4]
			return message(proto.OpReply, tag, values(nil).usec(uint64(at)).usec(0).bool(true).time(0, 0).time(0, 0).s64(at).s64(at).u64(0).u64(0))
		}
		return properReply(command, tag)
	}}
	d := player(t, s, slow, (&ramp{n: forever}).fill)
	for looks.Load() < 20 {
		if got := d.Delay(); got < 0 || got > timeOf(1200, 48000) {
			t.Fatalf("got %v, want 0 to what was pulled", got)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestPulseFakeContract(t *testing.T) {
	at := fakeServer{answer: func(command, tag uint32) []byte {
		if command == proto.OpGetPlaybackLatency { // asks for more as time goes on
			return append(properReply(command, tag), ask(9600)...)
		}
		return properReply(command, tag)
	}}.listen(t)
	checkDevice(t, func(t *testing.T) Device {
		d, err := dialFake(t, at, slow)
		must(t, err)
		return d
	})
}

func TestPlayhead(t *testing.T) {
	now := time.Now()
	p := playhead{rate: 1000}
	steps := []struct {
		do   func()
		at   time.Duration
		want int64
	}{
		{func() {}, time.Second, 0},
		{func() { p.set(500, now.Add(time.Second), true) }, time.Second, 500},
		{func() {}, 2 * time.Second, 1500},
		{func() {}, 0, 1500}, // it does not go back
		{func() { p.freeze(now.Add(3 * time.Second)) }, 9 * time.Second, 2500},
		{func() { p.set(2400, now.Add(10*time.Second), false) }, 20 * time.Second, 2500},
		{func() { p.freeze(now.Add(30 * time.Second)) }, 40 * time.Second, 2500},
		{func() { p.set(2400, now.Add(40*time.Second), true) }, 41 * time.Second, 3400},
	}
	for i, s := range steps {
		s.do()
		if got := p.at(now.Add(s.at)); got != s.want {
			t.Errorf("%d: got %d, want %d", i, got, s.want)
		}
	}
}
