//go:build !windows && !darwin

package output

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

// pulseTimes are how long a server may take.
type pulseTimes struct {
	login time.Duration // to accept a connection, and again to let us in and make a stream
	call  time.Duration // to answer a request; the second one in a row that it does not answer is the last
	write time.Duration // to take what we send
	tick  time.Duration // between two looks at the latency
	stall time.Duration // to ask for sound, beyond what it holds
}

var pulseDefaults = pulseTimes{
	login: 2 * time.Second,
	call:  2500 * time.Millisecond,
	write: 2 * time.Second,
	tick:  250 * time.Millisecond,
	stall: 5 * time.Second,
}

const (
	pulseWait       = 4 * time.Second // for all servers that are tried
	pulseMinVersion = 13              // of the protocol: the first with AdjustLatency, of 2008
	pulseFrame      = 8               // bytes: two float32
)

// errSlow is a request that was not answered in time.
var errSlow = errors.New("the server does not answer")

// lossError is how a stream was lost.
type lossError struct{ cause error }

func (e *lossError) Error() string   { return fmt.Sprintf("output: pulse: %v: %v", ErrLost, e.cause) }
func (e *lossError) Unwrap() []error { return []error{ErrLost, e.cause} }

// pulse plays to a sound server by PulseAudio's native protocol.
//
// The server asks for bytes and gets them: its requests add up in owed, and one goroutine pulls and
// sends as much. A second one asks for the latency from time to time, which tells what is heard now
// and also notices a server that is stopped or has lost its sink, for neither closes the
// connection. The third is the client's reader, behind a guard.
type pulse struct {
	core
	conf   Config
	times  pulseTimes
	conn   net.Conn
	client proto.Client
	guard  *guard
	read   chan struct{}  // closed when the client's reader is done
	calls  sync.WaitGroup // requests under way

	stream uint32        // its index
	held   time.Duration // how much the server holds

	owed      atomic.Int64  // bytes asked for and not sent
	asked     atomic.Bool   // the server asked since the watcher looked
	suspended atomic.Bool   // the sink is
	draining  atomic.Bool   // the last frame has been sent
	gaps      atomic.Int64  // underruns
	wake      chan struct{} // for the sender
	look      chan struct{} // for the watcher: ask for the latency now

	pauseMu sync.Mutex  // guards begun, and lets one Pause talk to the server at a time
	begun   bool        // the stream was uncorked, or left corked, by the sender
	paused  atomic.Bool // changed under pauseMu

	pulled atomic.Int64 // frames
	heard  playhead
}

// openPulse connects to the first server that answers.
func openPulse(ctx context.Context, c Config) (Device, error) {
	ctx, cancel := context.WithTimeout(ctx, pulseWait)
	defer cancel()
	var tried []string
	for _, a := range pulseServers() {
		d, err := dialPulse(ctx, a, c, pulseDefaults)
		if err == nil {
			return d, nil
		}
		tried = append(tried, fmt.Sprintf("%v: %v", a, err))
	}
	if tried == nil {
		tried = []string{"no server is named for this machine"}
	}
	return nil, fmt.Errorf("output: pulse: %w: %s", ErrUnavailable, strings.Join(tried, ", "))
}

// dialPulse connects to one server, logs in and makes a stream that stands still.
func dialPulse(ctx context.Context, a address, c Config, t pulseTimes) (*pulse, error) {
	if a.err != nil {
		return nil, a.err
	}
	dialer := net.Dialer{Timeout: t.login}
	conn, err := dialer.DialContext(ctx, a.network, a.addr)
	if err != nil {
		return nil, connErr(err)
	}
	d := newPulse(conn, c, t)
	if err := d.login(ctx); err != nil {
		d.Close()
		if loss, ok := errors.AsType[*lossError](err); ok {
			err = loss.cause
		}
		return nil, err
	}
	return d, nil
}

// newPulse takes conn over and begins to read from it.
func newPulse(conn net.Conn, c Config, t pulseTimes) *pulse {
	d := &pulse{
		core: newCore(), conf: c, times: t, conn: conn, read: make(chan struct{}), held: c.Buffer,
		wake: make(chan struct{}, 1), look: make(chan struct{}, 1), heard: playhead{rate: c.Rate},
	}
	d.guard = newGuard(conn, t.write, d.lose)
	d.onStop = func() { conn.Close() }
	d.release = d.letGo
	d.client.Callback = d.on            // before Open, which calls it
	d.client.SetTimeout(24 * time.Hour) // ours counts, see request: this one cannot be changed later
	d.client.Open(d.guard)
	return d
}

// letGo waits for every goroutine but the one that calls it. The connection is closed by now, so
// that none takes long.
func (d *pulse) letGo() error {
	d.calls.Wait()
	<-d.read
	return nil
}

func (d *pulse) lose(cause error) { d.stop(&lossError{cause}) }

// on is told what the server says. It runs on the client's reader and so must neither block nor make
// a request. There is one stream, so that its index needs no look.
func (d *pulse) on(message any) {
	switch m := message.(type) {
	case *proto.Request:
		d.owed.Add(int64(m.Length))
		d.asked.Store(true)
		signal(d.wake)
	case *proto.Started:
		signal(d.look)
	case *proto.Underflow:
		if !d.draining.Load() && !d.paused.Load() {
			d.gaps.Add(1)
			d.heard.freeze(time.Now())
		}
		signal(d.look)
	case *proto.PlaybackStreamSuspended:
		d.suspended.Store(m.Suspended)
	case *proto.PlaybackStreamKilled:
		d.lose(errors.New("the server ended the stream"))
	case *proto.ConnectionClosed:
		close(d.read)
	}
}

// request asks the server and waits for its answer, until ctx is done or the device stops. reply
// may be read only where there is no error. The client's own waiting goes on in a goroutine that ends
// with the connection at the latest.
func (d *pulse) request(ctx context.Context, req proto.RequestArgs, reply proto.Reply) error {
	if err := d.join(&d.calls); err != nil {
		return err
	}
	answer := make(chan error, 1)
	go func() {
		defer d.calls.Done()
		answer <- d.call(req, reply)
	}()
	select {
	case err := <-answer:
		if stopped := d.alive(); err != nil && stopped != nil {
			return stopped // the cause, while the client says EOF to all
		}
		return err
	case <-d.quit:
		return d.alive()
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return errSlow
		}
		return ctx.Err()
	}
}

// call makes a request. The client encodes into 1 KiB and would panic beyond.
func (d *pulse) call(req proto.RequestArgs, reply proto.Reply) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("request: %v", p)
		}
	}()
	return d.client.Request(req, reply)
}

// login makes the server know us and sets up the stream.
func (d *pulse) login(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.times.login)
	defer cancel()
	cookie, tried := pulseCookie()
	var auth proto.AuthReply
	err := d.request(ctx, &proto.Auth{Version: d.client.Version(), Cookie: cookie}, &auth)
	if errors.Is(err, proto.ErrAccessDenied) && tried != nil {
		err = fmt.Errorf("%w (no cookie of %d bytes in %s)", err, cookieSize, strings.Join(tried, ", "))
	}
	if err != nil {
		return err
	}
	if v := auth.Version.Version(); v < pulseMinVersion {
		return fmt.Errorf("version %d of the protocol is too old, %d is needed", v, pulseMinVersion)
	}
	d.client.SetVersion(auth.Version)
	d.guard.version.Store(uint32(d.client.Version().Version()))
	props := proto.PropList{
		"application.name":           proto.PropListString(d.conf.Name),
		"application.process.id":     proto.PropListString(strconv.Itoa(os.Getpid())),
		"application.process.binary": proto.PropListString(cleanName(filepath.Base(os.Args[0]))),
	}
	if err := d.request(ctx, &proto.SetClientName{Props: props}, &proto.SetClientNameReply{}); err != nil {
		return err
	}
	return d.create(ctx)
}

// create makes the stream, corked: it plays from Start on. AdjustLatency makes the buffer that was
// asked for the whole way to the ear, the sink's own part included.
func (d *pulse) create(ctx context.Context) error {
	volume := uint32(proto.VolumeNorm)
	var reply proto.CreatePlaybackStreamReply
	err := d.request(ctx, &proto.CreatePlaybackStream{
		SampleSpec:            proto.SampleSpec{Format: proto.FormatFloat32LE, Channels: 2, Rate: uint32(d.conf.Rate)},
		ChannelMap:            proto.ChannelMap{proto.ChannelLeft, proto.ChannelRight},
		SinkIndex:             proto.Undefined,
		BufferMaxLength:       proto.Undefined,
		Corked:                true,
		BufferTargetLength:    uint32(d.conf.depth() * pulseFrame),
		BufferPrebufferLength: proto.Undefined,
		BufferMinimumRequest:  proto.Undefined,
		ChannelVolumes:        proto.ChannelVolumes{volume, volume},
		AdjustLatency:         true,
		Properties:            proto.PropList{"media.name": proto.PropListString(d.conf.Name)},
	}, &reply)
	if err != nil {
		return err
	}
	d.stream = reply.StreamIndex
	d.suspended.Store(reply.SinkSuspended)
	d.held = max(d.held, timeOf(int64(min(reply.BufferTargetLength, maxFrame))/pulseFrame, d.conf.Rate))
	d.owed.Add(int64(reply.Missing))
	return nil
}

// Name implements [Device].
func (d *pulse) Name() string { return "pulse" }

// Rate implements [Device]: what was asked for, since the server resamples.
func (d *pulse) Rate() int { return d.conf.Rate }

// Underruns counts the gaps that were heard because frames came too late.
func (d *pulse) Underruns() int64 { return d.gaps.Load() }

// Delay implements [Device].
func (d *pulse) Delay() time.Duration {
	return timeOf(max(d.pulled.Load()-d.heard.at(time.Now()), 0), d.conf.Rate)
}

// Start implements [Device].
func (d *pulse) Start(fill Fill) error {
	return d.start(func() { d.run(fill) })
}

// Pause implements [Device].
func (d *pulse) Pause(paused bool) error {
	d.pauseMu.Lock()
	defer d.pauseMu.Unlock()
	if err := d.alive(); err != nil {
		return err
	}
	changed := d.paused.Swap(paused) != paused
	if !d.begun || !changed {
		return nil
	}
	if err := d.cork(paused); err != nil {
		return err
	}
	signal(d.wake)
	signal(d.look)
	return nil
}

// cork stops or starts the stream in the server. The caller holds pauseMu.
func (d *pulse) cork(corked bool) error {
	err := d.insist(func(ctx context.Context) error {
		return d.request(ctx, &proto.CorkPlaybackStream{StreamIndex: d.stream, Corked: corked}, nil)
	})
	if err == nil && corked {
		d.heard.freeze(time.Now())
	}
	return err
}

// insist asks a second time where the first is not answered, for it may have been this process that
// was stopped in between. What fails then ends the stream.
func (d *pulse) insist(ask func(context.Context) error) error {
	err := errSlow
	for try := 0; try < 2 && err == errSlow; try++ {
		ctx, cancel := context.WithTimeout(context.Background(), d.times.call)
		err = ask(ctx)
		cancel()
	}
	if err != nil {
		d.lose(err)
		return d.alive()
	}
	return nil
}

// run sends what the server asks for until the sound ends.
func (d *pulse) run(fill Fill) {
	var watcher sync.WaitGroup
	watcher.Go(d.watch)
	defer watcher.Wait()
	defer d.stop(nil)
	if d.begin() != nil {
		return
	}
	buf := make([]float32, 2*blockFrames)
	raw := make([]byte, 0, blockFrames*pulseFrame)
	for n := d.await(); n > 0; n = d.await() {
		got := d.pull(fill, buf[:2*n])
		d.pulled.Add(int64(got))
		if got > 0 {
			raw = encodeFloats(raw[:0], buf[:2*got])
			d.owed.Add(-int64(len(raw)))
			if err := d.client.Send(d.stream, raw); err != nil {
				d.lose(err)
				return
			}
		}
		if got < n {
			d.drain()
			return
		}
	}
}

// begin lets the stream run, unless it was paused before it was started.
func (d *pulse) begin() error {
	d.pauseMu.Lock()
	defer d.pauseMu.Unlock()
	d.begun = true
	if d.paused.Load() {
		return nil
	}
	return d.cork(false)
}

// await waits until frames are to be sent and returns how many at most; 0 means to stop.
func (d *pulse) await() int {
	for d.alive() == nil {
		if n := d.owed.Load() / pulseFrame; n > 0 && !d.paused.Load() {
			return int(min(n, blockFrames))
		}
		d.sleep(-1, d.wake)
	}
	return 0
}

// drain waits until the server has played what it holds. How long that may take is the watcher's
// matter, because a pause stretches it.
func (d *pulse) drain() {
	d.draining.Store(true)
	if err := d.request(context.Background(), &proto.DrainPlaybackStream{StreamIndex: d.stream}, nil); err != nil {
		d.lose(err)
	}
}

// watch keeps the latency up to date and gives a silent server up. It counts ticks and not time, for
// if this whole process is stopped, the server is not to blame.
func (d *pulse) watch() {
	tick := time.NewTicker(d.times.tick)
	defer tick.Stop()
	limit := int((d.times.stall + d.held + d.times.tick - 1) / d.times.tick)
	for quiet := 0; ; {
		select {
		case <-d.quit:
			return
		case <-tick.C:
			quiet++
		case <-d.look:
		}
		if d.insist(d.measure) != nil {
			return
		}
		if d.busy() {
			quiet = 0
		}
		if quiet >= limit {
			d.lose(d.silence())
			return
		}
	}
}

// busy reports whether there is no reason to complain: the server asked for sound, or we owe it
// some, or it is to stand still.
func (d *pulse) busy() bool {
	asked := d.asked.Swap(false)
	if d.paused.Load() {
		return true
	}
	return !d.draining.Load() && (asked || d.owed.Load() >= pulseFrame)
}

// silence is why a server asks for nothing.
func (d *pulse) silence() error {
	if d.suspended.Load() {
		return errors.New("the server has suspended the sink")
	}
	return fmt.Errorf("the server has asked for nothing for %v", d.times.stall+d.held)
}

// measure asks the server what is heard now: what it has taken from the stream, less what is still
// on the way through the sink. Its answer holds for the middle of the time that it took.
func (d *pulse) measure(ctx context.Context) error {
	var r proto.GetPlaybackLatencyReply
	sent := time.Now()
	if err := d.request(ctx, &proto.GetPlaybackLatency{StreamIndex: d.stream}, &r); err != nil {
		return err
	}
	way := time.Duration(min(r.Latency, proto.Microseconds(maxBuffer.Microseconds()))) * time.Microsecond
	frames := r.ReadIndex/pulseFrame - framesIn(way, d.conf.Rate)
	frames = min(max(frames, 0), d.pulled.Load())
	d.heard.set(frames, sent.Add(time.Since(sent)/2), r.Running && !d.paused.Load())
	return nil
}

// playhead is what is heard, carried on from the last time that somebody knew. It never goes back:
// where it was ahead of the truth, it waits.
type playhead struct {
	rate int

	mu      sync.Mutex // guards what follows
	frames  int64      // heard at since
	since   time.Time
	running bool
	told    int64 // the most that at has returned
}

// set is told the truth.
func (p *playhead) set(frames int64, since time.Time, running bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frames, p.since, p.running = frames, since, running
}

// freeze stops it where it is.
func (p *playhead) freeze(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frames, p.since, p.running = p.count(now), now, false
}

// at is how many frames were heard by now.
func (p *playhead) at(now time.Time) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = max(p.told, p.count(now))
	return p.told
}

// count carries the last truth on. The caller holds mu.
func (p *playhead) count(now time.Time) int64 {
	if !p.running {
		return p.frames
	}
	return p.frames + max(framesIn(now.Sub(p.since), p.rate), 0)
}
