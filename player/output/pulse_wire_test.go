//go:build !windows && !darwin

package output

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

func TestMeasure(t *testing.T) {
	type one[T any] struct{ V T }
	shape := func(v any) reflect.Type { return reflect.TypeOf(v) }
	long := strings.Repeat("x", maxString)
	tests := []struct {
		name  string
		b     values
		shape reflect.Type
		want  int // -1 is malformed
	}{
		{"nothing", values("rest"), nil, 0},
		{"u32", values(nil).u32(1), shape(one[uint32]{}), 5},
		{"u32 and more", values(nil).u32(1).u32(2), shape(one[uint32]{}), 5},
		{"u32 cut", values(nil).u32(1)[:4], shape(one[uint32]{}), -1},
		{"u32 missing", nil, shape(one[uint32]{}), -1},
		{"u32 is text", values(nil).text("a"), shape(one[uint32]{}), -1},
		{"u64", values(nil).u64(1), shape(one[uint64]{}), 9},
		{"u64 is s64", values(nil).s64(1), shape(one[uint64]{}), -1},
		{"s64", values(nil).s64(1), shape(one[int64]{}), 9},
		{"usec", values(nil).usec(1), shape(one[proto.Microseconds]{}), 9},
		{"usec is u64", values(nil).u64(1), shape(one[proto.Microseconds]{}), -1},
		{"true", values(nil).bool(true), shape(one[bool]{}), 1},
		{"false", values(nil).bool(false), shape(one[bool]{}), 1},
		{"bool is u32", values(nil).u32(1), shape(one[bool]{}), -1},
		{"time", values(nil).time(1, 2), shape(one[proto.Time]{}), 9},
		{"text", values(nil).text("abc"), shape(one[string]{}), 5},
		{"text is absent", values("N"), shape(one[string]{}), 1},
		{"text without end", values("tabc"), shape(one[string]{}), -1},
		{"text, longest", values(nil).text(long), shape(one[string]{}), maxString + 2},
		{"text, too long", values(nil).text(long + "x"), shape(one[string]{}), -1},
		{"text is bytes", values("x\x00\x00\x00\x00"), shape(one[string]{}), -1},
		{"map", values("m\x02\x01\x02"), shape(one[proto.ChannelMap]{}), 4},
		{"map cut", values("m\x03\x01\x02"), shape(one[[]byte]{}), -1},
		{"map is bytes", values("x\xff\xff\xff\xff"), shape(one[[]byte]{}), -1},
		{"spec", values("a\x05\x02\x00\x00\xbb\x80"), shape(one[proto.SampleSpec]{}), 7},
		{"format", values("fB\x01PN"), shape(one[proto.FormatInfo]{}), 5},
		{"format with a property", values("fB\x01P").prop("a", "bc").add('N'), shape(one[proto.FormatInfo]{}), 4 + 3 + 5 + 5 + 2 + 1},
		{"format, list without end", values("fB\x01P").prop("a", "bc"), shape(one[proto.FormatInfo]{}), -1},
		{"format, property of 4 GiB", values("fB\x01P").text("a").u32(1<<31).add('x', 0x80, 0, 0, 0).add('N'), shape(one[proto.FormatInfo]{}), -1},
		{"format, sizes differ", values("fB\x01P").text("a").u32(1).add('x', 0, 0, 0, 2, 'b', 'c', 'N'), shape(one[proto.FormatInfo]{}), -1},
		{"a type that no reply has", values("v"), shape(one[float32]{}), -1},
		{"reply", answers[proto.OpCreatePlaybackStream], replies[proto.OpCreatePlaybackStream], len(answers[proto.OpCreatePlaybackStream])},
	}
	for _, tt := range tests {
		n, ok := measure(tt.b, tt.shape, 32)
		if !ok {
			n = -1
		}
		if n != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, n, tt.want)
		}
	}
}

// Fields that a version does not have are not looked for.
func TestMeasureVersion(t *testing.T) {
	b := values(nil).u32(3).s64(4)
	for _, tt := range []struct{ version, want int }{{22, 5}, {23, 14}, {32, 14}} {
		if n, ok := measure(b, messages[proto.OpUnderflow], tt.version); n != tt.want || !ok {
			t.Errorf("version %d: got %d, %v, want %d", tt.version, n, ok, tt.want)
		}
	}
}

// Every prefix of a reply is malformed, and the whole of it is not.
func TestMeasurePrefixes(t *testing.T) {
	for command, b := range answers {
		for n := range b {
			if _, ok := measure(b[:n], replies[command], 32); ok {
				t.Errorf("command %d: %d of %d bytes pass", command, n, len(b))
			}
		}
		if n, ok := measure(b, replies[command], 32); n != len(b) || !ok {
			t.Errorf("command %d: got %d, %v, want %d", command, n, ok, len(b))
		}
	}
}

// wire is a guard whose other end the test holds.
func wire(t *testing.T) (g *guard, server net.Conn, failed chan error) {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close(); server.Close() })
	failed = make(chan error, 10)
	return newGuard(client, time.Second, func(err error) { failed <- err }), server, failed
}

// What the client is not to see is dropped, and what it sees is cut to what it reads.
func TestGuardFilters(t *testing.T) {
	g, server, _ := wire(t)
	g.asked[1], g.asked[2], g.asked[3], g.asked[4] = proto.OpAuth, proto.OpCreatePlaybackStream, proto.OpCorkPlaybackStream, proto.OpDrainPlaybackStream
	request := message(proto.OpRequest, unasked, values(nil).u32(3).u32(8))
	create := message(proto.OpReply, 2, answers[proto.OpCreatePlaybackStream])
	frames := []struct {
		name       string
		sent, want []byte
	}{
		{"sound that nobody wants", frame(0, make([]byte, 100000)), nil},
		{"empty sound", frame(5, nil), nil},
		{"a message before there is a stream", request, nil},
		{"a reply that nobody asked for", message(proto.OpReply, 9, nil), nil},
		{"an error that nobody asked for", message(proto.OpError, 9, values(nil).u32(1)), nil},
		{"a reply with more than is known", message(proto.OpReply, 1, values(nil).u32(35).u32(36)), message(proto.OpReply, 1, values(nil).u32(35))},
		{"the same reply again", message(proto.OpReply, 1, values(nil).u32(35)), nil},
		{"the reply that makes the stream", create, create},
		{"a message about the stream", request, request},
		{"an unknown command", message(12345, unasked, values(nil).u32(1)), nil},
		{"a timeout", message(proto.OpTimeout, 3, nil), nil},
		{"an empty reply", message(proto.OpReply, 3, values("rest")), message(proto.OpReply, 3, nil)},
		{"an error", message(proto.OpError, 4, values(nil).u32(5)), message(proto.OpError, 4, values(nil).u32(5))},
	}
	var want []byte
	go func() {
		for _, f := range frames {
			server.Write(f.sent)
		}
		server.Close()
	}()
	for _, f := range frames {
		want = append(want, f.want...)
	}
	var got []byte
	for {
		b := make([]byte, 1+rand.IntN(40))
		n, err := g.Read(b)
		got = append(got, b[:n]...)
		if err != nil {
			break
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestGuardRefuses(t *testing.T) {
	long := frame(control, make([]byte, maxMessage+1))
	tests := []struct {
		name string
		sent []byte
		want error
	}{
		{"text", []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), errProtocol},
		{"a message of no bytes", frame(control, nil), errProtocol},
		{"a message shorter than its head", frame(control, make([]byte, messageHead-1)), errProtocol},
		{"a message too long", long, errProtocol},
		{"sound too long", binary.BigEndian.AppendUint32([]byte{0x7F, 0, 0, 0, 0, 0, 0, 1}, 0), nil},
		{"no command", frame(control, make([]byte, messageHead)), errProtocol},
		{"a reply of another shape", message(proto.OpReply, 1, values(nil).text("x")), errProtocol},
		{"a reply cut", message(proto.OpReply, 1, values(nil).u32(35)[:3]), errProtocol},
		{"an error without a number", message(proto.OpError, 1, nil), errProtocol},
		{"the end", nil, nil},
		{"the end in a head", make([]byte, 7), nil},
		{"the end in a message", message(proto.OpReply, 1, values(nil).u32(35))[:33], nil},
	}
	for _, tt := range tests {
		g, server, failed := wire(t)
		g.asked[1] = proto.OpAuth
		go func() {
			server.Write(tt.sent)
			server.Close()
		}()
		n, err := g.Read(make([]byte, 100))
		if n != 0 || err == nil || err.Error() != "EOF" {
			t.Errorf("%s: Read: got %d, %v, want 0, EOF", tt.name, n, err)
		}
		if cause := <-failed; tt.want != nil && !errors.Is(cause, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, cause, tt.want)
		}
	}
}

// A write that nobody takes comes back, and is told.
func TestGuardWriteDeadline(t *testing.T) {
	g, _, failed := wire(t)
	g.patience = 10 * time.Millisecond
	head := frame(3, make([]byte, 8))
	if n, err := g.Write(head[:frameHead]); n != frameHead || err != nil {
		t.Fatalf("the head: got %d, %v", n, err)
	}
	if _, err := g.Write(head[frameHead:]); err == nil {
		t.Error("got no error")
	}
	if err := <-failed; err == nil || err.Error() != "the server takes no sound any more" {
		t.Errorf("told: %v", err)
	}
}

// FuzzPulseServer lets a server answer a login and then play with anything. What must not happen is a
// panic in the client's goroutine, which would end the process, or a device that does not end.
func FuzzPulseServer(f *testing.F) {
	auth, name, create := answers[proto.OpAuth], answers[proto.OpSetClientName], answers[proto.OpCreatePlaybackStream]
	request := message(proto.OpRequest, unasked, values(nil).u32(3).u32(16))
	f.Add([]byte(auth), []byte(name), []byte(create), []byte(answers[proto.OpGetPlaybackLatency]), request)
	f.Add([]byte(auth), []byte(name), []byte(create), []byte("U"), message(proto.OpUnderflow, unasked, values(nil).u32(3).s64(1)))
	f.Add([]byte(values(nil).u32(13)), []byte(name), []byte(create[:90]), []byte{}, message(proto.OpPlaybackStreamKilled, unasked, values(nil).u32(3)))
	f.Add([]byte{}, []byte("t"), []byte("N"), []byte{}, []byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Fuzz(func(t *testing.T, auth, name, create, latency, rest []byte) {
		said := map[uint32][]byte{proto.OpAuth: auth, proto.OpSetClientName: name, proto.OpCreatePlaybackStream: create, proto.OpGetPlaybackLatency: latency}
		s := fakeServer{answer: func(command, tag uint32) []byte {
			reply := message(proto.OpReply, tag, said[command])
			if command == proto.OpCorkPlaybackStream {
				reply = append(reply, rest...)
			}
			return reply
		}}
		client, server := net.Pipe()
		served := make(chan struct{})
		go func() {
			defer close(served)
			s.serve(server)
		}()
		c, _ := Config{}.normal()
		d := newPulse(client, c, quick)
		if d.login(t.Context()) == nil {
			if d.Start((&ramp{n: 100}).fill) == nil {
				d.Pause(true)
				d.Delay()
			}
		}
		if d.Close(); d.Delay() < 0 {
			t.Errorf("delay: got %v", d.Delay())
		}
		awaitDone(t, d)
		<-served
	})
}
