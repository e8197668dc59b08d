//go:build !windows && !darwin

package output

import (
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

// values writes a tagstruct. It is written apart from the code under test, after PulseAudio's
// pulsecore/tagstruct.c.
type values []byte

func (v values) u32(n uint32) values { return binary.BigEndian.AppendUint32(append(v, 'L'), n) }
func (v values) usec(n uint64) values {
	return binary.BigEndian.AppendUint64(append(v, 'U'), n)
}
func (v values) u64(n uint64) values { return binary.BigEndian.AppendUint64(append(v, 'R'), n) }
func (v values) s64(n int64) values  { return binary.BigEndian.AppendUint64(append(v, 'r'), uint64(n)) }
func (v values) time(s, us uint32) values {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(append(v, 'T'), s), us)
}
func (v values) text(s string) values { return append(append(append(v, 't'), s...), 0) }
func (v values) add(b ...byte) values { return append(v, b...) }
func (v values) bool(b bool) values   { return append(v, map[bool]byte{false: '0', true: '1'}[b]) }
func (v values) prop(k, s string) values {
	v = v.text(k).u32(uint32(len(s)))
	return append(binary.BigEndian.AppendUint32(append(v, 'x'), uint32(len(s))), s...)
}

// message makes a control frame.
func message(command, tag uint32, rest values) []byte {
	payload := append(values(nil).u32(command).u32(tag), rest...)
	return frame(control, payload)
}

func frame(channel uint32, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	b = binary.BigEndian.AppendUint32(b, channel)
	return append(append(b, make([]byte, 12)...), payload...)
}

const unasked = 0xFFFFFFFF // the tag of what a server says by itself

// answers are what a server of version 35 says to a login.
var answers = map[uint32]values{
	proto.OpAuth:          values(nil).u32(35),
	proto.OpSetClientName: values(nil).u32(7),
	proto.OpCreatePlaybackStream: values(nil).u32(3).u32(4).u32(9600). // stream, input, missing
										u32(4<<20).u32(38400).u32(28808).u32(9600).         // the buffer's sizes
										add('a', 5, 2, 0, 0, 0xBB, 0x80).add('m', 2, 1, 2). // float32le, 2, 48000; left, right
										u32(0).text("null0").bool(false).usec(20000).       // sink, suspended, latency
										add('f', 'B', 1, 'P').prop("format.rate", "48000\x00").add('N'),
	proto.OpGetPlaybackLatency: values(nil).usec(20000).usec(0).bool(true).time(1, 2).time(3, 4).
		s64(9600).s64(4800).u64(0).u64(4800),
	proto.OpCorkPlaybackStream:  nil,
	proto.OpDrainPlaybackStream: nil,
}

// fakeServer answers as a server should, or as its fields say.
type fakeServer struct {
	answer func(command, tag uint32) []byte // what to send; nil = as in answers
	sound  func(stream uint32, b []byte)    // told of what is to be played
	begin  func(net.Conn) bool              // instead of a login; false ends the connection
}

// listen runs s on a socket until the test ends, and returns where.
func (s fakeServer) listen(t *testing.T) address {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	must(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return address{network: "unix", addr: l.Addr().String()}
}

// serve answers until the client goes.
func (s fakeServer) serve(conn net.Conn) {
	defer conn.Close()
	if s.begin != nil && !s.begin(conn) {
		return
	}
	for {
		var head [frameHead]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return
		}
		payload := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(conn, payload); err != nil {
			return
		}
		if channel := binary.BigEndian.Uint32(head[4:]); channel != control {
			if s.sound != nil {
				s.sound(channel, payload)
			}
			continue
		}
		if _, err := conn.Write(s.reply(messageOf(payload))); err != nil {
			return
		}
	}
}

func (s fakeServer) reply(command, tag uint32) []byte {
	if s.answer != nil {
		return s.answer(command, tag)
	}
	return properReply(command, tag)
}

func properReply(command, tag uint32) []byte {
	if rest, ok := answers[command]; ok {
		return message(proto.OpReply, tag, rest)
	}
	return message(proto.OpError, tag, values(nil).u32(uint32(proto.ErrUnknownCommand)))
}

// quick are times for servers that do not answer.
var quick = pulseTimes{
	login: 200 * time.Millisecond,
	call:  100 * time.Millisecond,
	write: 100 * time.Millisecond,
	tick:  10 * time.Millisecond,
	stall: 200 * time.Millisecond,
}

// slow are times that are never reached.
var slow = pulseTimes{login: patience, call: patience, write: patience, tick: 10 * time.Millisecond, stall: patience}

func dialFake(t *testing.T, a address, times pulseTimes) (*pulse, error) {
	t.Helper()
	c, err := Config{}.normal()
	must(t, err)
	return dialPulse(t.Context(), a, c, times)
}

// freePort is a TCP port of this machine that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	must(t, err)
	return port
}
