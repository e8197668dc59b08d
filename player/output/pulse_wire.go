//go:build !windows && !darwin

package output

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

// A frame of PulseAudio's native protocol, big-endian (pulsecore/pstream.c):
//
//	u32 length of the payload, u32 channel, u64 offset, u32 flags, the payload
//
// A payload on the control channel is a tagstruct: values, each after a byte that tells its type
// (pulsecore/tagstruct.h). The first two are u32s: the command, and the tag that ties a reply to its
// request. Frames of sound go on the channel of their stream.
const (
	frameHead    = 20
	messageHead  = 10 // 'L' command 'L' tag
	control      = 0xFFFFFFFF
	maxMessage   = 64 << 10 // what a server tells us is at most some hundred bytes
	maxFrame     = 16 << 20 // FRAME_SIZE_MAX_ALLOW of pstream.c
	maxString    = 1023     // the client finds the end of a string within 1 KiB
	typeU32      = 'L'
	typeNoString = 'N'
)

// errProtocol is what a server is told apart by that is none.
var errProtocol = errors.New("the server does not keep to the protocol")

// guard stands between the socket and proto.Client, whose reading goroutine would bring the process
// down on a reply of the wrong shape, and prints what it does not know. So the client sees only
// frames that it expects, cut to what it will read of them: answers to requests under way, checked
// against the very types that they will be decoded into, and messages about our stream.
//
// Writes have a deadline, because the client holds a lock meanwhile, and drops their errors.
type guard struct {
	conn     net.Conn
	patience time.Duration // the longest that a write may take
	fail     func(error)   // told how the connection ended; may be called more than once

	version atomic.Uint32 // of the protocol, as agreed on

	// Read side; one goroutine.
	r      *bufio.Reader
	ready  []byte // checked, and not yet taken by the client
	stream bool   // there is a stream, so that messages about it are let through

	mu    sync.Mutex        // guards asked
	asked map[uint32]uint32 // the commands of requests under way, by tag

	// Write side; the client writes one frame at a time, its head first.
	head []byte
}

func newGuard(conn net.Conn, patience time.Duration, fail func(error)) *guard {
	g := &guard{conn: conn, patience: patience, fail: fail, r: bufio.NewReader(conn), asked: map[uint32]uint32{}}
	g.version.Store(uint32(32)) // what proto.Client starts with
	return g
}

// Write implements io.Writer for proto.Client, and sends a head together with its payload.
func (g *guard) Write(p []byte) (int, error) {
	switch {
	case len(p) == 0: // the client flushes its empty buffer at first
		return 0, nil
	case g.head == nil:
		g.head = bytes.Clone(p)
		return len(p), nil
	}
	g.note(g.head, p)
	frame := net.Buffers{g.head, p}
	g.head = nil
	g.conn.SetWriteDeadline(time.Now().Add(g.patience))
	if _, err := frame.WriteTo(g.conn); err != nil {
		g.fail(connErr(err))
		return 0, err
	}
	return len(p), nil
}

// note remembers a request before it is sent.
func (g *guard) note(head, payload []byte) {
	if len(head) == frameHead && binary.BigEndian.Uint32(head[4:]) == control && len(payload) >= messageHead {
		command, tag := messageOf(payload)
		g.mu.Lock()
		g.asked[tag] = command
		g.mu.Unlock()
	}
}

// answered takes a request off the list and returns its command.
func (g *guard) answered(tag uint32) (command uint32, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	command, ok = g.asked[tag]
	delete(g.asked, tag)
	return command, ok
}

// Read implements io.Reader for proto.Client. Whatever ends the connection is told to fail and looks
// to the client like the end of the stream, the one ending that it reports.
func (g *guard) Read(p []byte) (int, error) {
	for len(g.ready) == 0 {
		if err := g.next(); err != nil {
			g.fail(err)
			return 0, io.EOF
		}
	}
	n := copy(p, g.ready)
	g.ready = g.ready[n:]
	return n, nil
}

// next reads a frame, and makes it ready if it is for the client.
func (g *guard) next() error {
	var head [frameHead]byte
	if _, err := io.ReadFull(g.r, head[:]); err != nil {
		return connErr(err)
	}
	length, channel := binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint32(head[4:])
	if channel != control && length <= maxFrame { // sound that we never asked for
		_, err := io.CopyN(io.Discard, g.r, int64(length))
		return connErr(err)
	}
	if length < messageHead || length > maxMessage {
		return fmt.Errorf("%w: a frame of %d bytes", errProtocol, length)
	}
	payload := make([]byte, length)
	if _, err := io.ReadFull(g.r, payload); err != nil {
		return connErr(err)
	}
	n, err := g.check(payload)
	if n > 0 {
		binary.BigEndian.PutUint32(head[:], uint32(n))
		g.ready = append(head[:], payload[:n]...)
	}
	return err
}

// connErr says in words how the connection ended, whichever side noticed first.
func connErr(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe),
		errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return errors.New("the server closed the connection")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("the server takes no sound any more")
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err // without the addresses, which are not news
	}
	return err
}

// check returns how many bytes of a message the client will read, 0 for a message that it is not to
// see.
func (g *guard) check(payload []byte) (int, error) {
	command, tag := messageOf(payload)
	if payload[0] != typeU32 || payload[5] != typeU32 {
		return 0, fmt.Errorf("%w: a message without command and tag", errProtocol)
	}
	shape, known := messages[command]
	switch command {
	case proto.OpReply, proto.OpError:
		asked, ok := g.answered(tag)
		if !ok {
			return 0, nil // too late, or never asked for
		}
		shape = errorShape
		if command == proto.OpReply {
			shape = replies[asked]
			g.stream = g.stream || asked == proto.OpCreatePlaybackStream
		}
	default:
		if !known || !g.stream {
			return 0, nil
		}
	}
	n, ok := measure(payload[messageHead:], shape, int(g.version.Load()))
	if !ok {
		return 0, fmt.Errorf("%w: message %d is malformed", errProtocol, command)
	}
	return messageHead + n, nil
}

// messageOf returns the command and the tag of a payload of at least messageHead bytes.
func messageOf(payload []byte) (command, tag uint32) {
	return binary.BigEndian.Uint32(payload[1:]), binary.BigEndian.Uint32(payload[6:])
}

// replies are what the client decodes answers into, by command; a command that is not here is
// answered by nothing but its head.
var replies = map[uint32]reflect.Type{
	proto.OpAuth:                 reflect.TypeFor[proto.AuthReply](),
	proto.OpSetClientName:        reflect.TypeFor[proto.SetClientNameReply](),
	proto.OpCreatePlaybackStream: reflect.TypeFor[proto.CreatePlaybackStreamReply](),
	proto.OpGetPlaybackLatency:   reflect.TypeFor[proto.GetPlaybackLatencyReply](),
}

// messages are what a server says unasked that matters here.
var messages = map[uint32]reflect.Type{
	proto.OpRequest:                 reflect.TypeFor[proto.Request](),
	proto.OpUnderflow:               reflect.TypeFor[proto.Underflow](),
	proto.OpPlaybackStreamKilled:    reflect.TypeFor[proto.PlaybackStreamKilled](),
	proto.OpPlaybackStreamSuspended: reflect.TypeFor[proto.PlaybackStreamSuspended](),
	proto.OpStarted:                 reflect.TypeFor[proto.Started](),
}

// errorShape is what follows the head of an error: its number.
var errorShape = reflect.TypeFor[struct{ Code uint32 }]()

// measure walks over the fields of a message as the client will, and returns how many bytes they
// take. It is not ok where the client would meet a value of another type than its field's, or the
// end of the message.
func measure(b []byte, shape reflect.Type, version int) (n int, ok bool) {
	if shape == nil {
		return 0, true
	}
	c := cursor{b: b}
	for i := range shape.NumField() {
		f := shape.Field(i)
		// The client's structs bear the version that brought a field as their whole tag.
		if since, err := strconv.Atoi(string(f.Tag)); err == nil && since > version {
			continue
		}
		c.field(f.Type)
	}
	return c.n, !c.bad
}

// cursor walks over a tagstruct.
type cursor struct {
	b   []byte
	n   int // bytes behind it
	bad bool
}

var (
	typeSampleSpec = reflect.TypeFor[proto.SampleSpec]()
	typeTime       = reflect.TypeFor[proto.Time]()
	typeFormat     = reflect.TypeFor[proto.FormatInfo]()
	typeUsec       = reflect.TypeFor[proto.Microseconds]()
)

// field steps over a value of the type of a field.
func (c *cursor) field(t reflect.Type) {
	switch t {
	case typeSampleSpec:
		c.value('a', 6) // format, channels, rate
	case typeTime:
		c.value('T', 8)
	case typeUsec:
		c.value('U', 8)
	case typeFormat:
		c.value('f', 0)
		c.value('B', 1)
		c.propList()
	default:
		c.plain(t.Kind())
	}
}

// plain steps over a value that has no type of its own.
func (c *cursor) plain(k reflect.Kind) {
	switch k {
	case reflect.String:
		c.text(true)
	case reflect.Uint32:
		c.value(typeU32, 4)
	case reflect.Uint64:
		c.value('R', 8)
	case reflect.Int64:
		c.value('r', 8)
	case reflect.Bool:
		if b := c.take(1); b != nil && b[0] != '0' && b[0] != '1' {
			c.bad = true
		}
	case reflect.Slice: // a channel map
		c.value('m', 0)
		if b := c.take(1); b != nil {
			c.take(int(b[0]))
		}
	default:
		c.bad = true
	}
}

// take steps over n bytes and returns them, nil where there are not so many.
func (c *cursor) take(n int) []byte {
	if c.bad || n > len(c.b)-c.n {
		c.bad = true
		return nil
	}
	c.n += n
	return c.b[c.n-n : c.n]
}

// value steps over a type byte and n bytes.
func (c *cursor) value(typ byte, n int) {
	if b := c.take(1); b != nil && b[0] != typ {
		c.bad = true
	}
	c.take(n)
}

// text steps over a string, which may be absent where none is true.
func (c *cursor) text(none bool) {
	b := c.take(1)
	if b == nil || none && b[0] == typeNoString {
		return
	}
	end := bytes.IndexByte(c.b[c.n:], 0)
	if b[0] != 't' || end < 0 || end > maxString {
		c.bad = true
		return
	}
	c.take(end + 1)
}

// propList steps over a list of properties: name, size, size again, bytes; an absent name ends it.
func (c *cursor) propList() {
	c.value('P', 0)
	for !c.bad {
		if c.n < len(c.b) && c.b[c.n] == typeNoString {
			c.take(1)
			return
		}
		c.text(false)
		size, again := c.u32(typeU32), c.u32('x')
		if size != again || size > maxMessage {
			c.bad = true
		}
		c.take(int(size))
	}
}

// u32 steps over a number after a type byte.
func (c *cursor) u32(typ byte) uint32 {
	c.value(typ, 0)
	if b := c.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}
