package mixer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The log of a mixer tells what it was told, with the frames at which it was carried out, as lines
// of JSON. Played back into a new mixer of the same Config it gives the same bits.
//
//	frame, order  when; order decides between commands of the same frame
//	do            start, gain, pan, pause, resume, stop, fade, pitch, seek, loop, unloop, limit, bus,
//	              busgain, busfade, mute, solo, pausebus, stopbus, duck, effect, meter
//	voice         number of the voice, counted from 1
//	bus, group    likewise, 0 being the master and all voices
//	gain          amplitudes: one for either side
//	args          stop, fade: frames, curve. pitch: 2^-32 frames a frame. seek: frame. loop: start,
//	              end, count. limit: voices, gap, 1 = steal + 2 = oldest. bus: parent. mute, solo,
//	              pausebus, effect, meter: 1 = on. stopbus: frames
//	start, duck   the rest of it
//
// An effect is noted, but what it does is not in the log; playing back leaves it out.

var opNames = [...]string{
	opStart: "start", opGain: "gain", opPan: "pan", opPause: "pause", opResume: "resume", opStop: "stop", opFade: "fade",
	opPitch: "pitch", opSeek: "seek", opLoop: "loop", opUnloop: "unloop", opLimit: "limit", opBus: "bus", opBusGain: "busgain",
	opBusFade: "busfade", opMute: "mute", opSolo: "solo", opPauseBus: "pausebus", opStopBus: "stopbus", opDuck: "duck",
	opEffect: "effect", opMeter: "meter",
}

// line is one line of the log.
type line struct {
	Frame int64      `json:"frame"`
	Order int64      `json:"order"`
	Do    string     `json:"do"`
	Voice uint64     `json:"voice,omitempty"`
	Bus   *Bus       `json:"bus,omitempty"`
	Group *Group     `json:"group,omitempty"`
	Gain  []float32  `json:"gain,omitempty"`
	Args  []int64    `json:"args,omitempty"`
	Start *startLine `json:"start,omitempty"`
	Duck  *Duck      `json:"duck,omitempty"`
}

type startLine struct {
	Sound     string     `json:"sound"`
	Feed      bool       `json:"feed,omitempty"`
	At        int64      `json:"at"` // frame at which it begins
	Level     float32    `json:"level"`
	Law       [2]float32 `json:"law"` // of the pan
	Loop      *Loop      `json:"loop,omitempty"`
	From      int64      `json:"from,omitempty"`
	Length    int64      `json:"length,omitempty"`
	FadeIn    int        `json:"fadein,omitempty"`
	Curve     Curve      `json:"curve,omitempty"`
	Faded     *float32   `json:"faded,omitempty"` // nil = 1
	Step      int64      `json:"step"`            // 2^-32 frames a frame
	Sinc      bool       `json:"sinc,omitempty"`  // how it interpolates
	Paused    bool       `json:"paused,omitempty"`
	After     uint64     `json:"after,omitempty"`
	Heir      bool       `json:"heir,omitempty"`
	Bus       Bus        `json:"bus,omitempty"`
	Groups    [2]Group   `json:"groups"`
	Priority  int8       `json:"priority,omitempty"`
	Protected bool       `json:"protected,omitempty"`
}

// A note is what Mix notes down.
type note struct {
	frame int64
	command
	setup setup // of a start
	duck  *Duck
}

// Record has the mixer note what it carries out, from the next block on, up to so many commands
// until WriteLog takes them; with 0 it stops. What does not find room is counted by WriteLog. Sounds
// are told apart by PCM.Name, feeds by what their method Name returns, if they have one.
func (m *Mixer) Record(commands int) {
	var r *ring[note]
	if commands > 0 {
		r = newRing[note](min(commands, 1<<20))
	}
	m.desk.notes.Store(r)
}

// note notes a command down.
func (m *Mixer) note(c *command, s *setup, d *Duck) {
	if m.notes == nil {
		return
	}
	n := m.notes.room()
	if n == nil {
		m.desk.unnoted.Add(1)
		return
	}
	*n = note{frame: m.now, command: *c, duck: d}
	if s != nil {
		n.setup = *s
	}
	m.notes.put()
}

// WriteLog takes what was noted since the last time and writes it to w. It belongs to one goroutine
// at a time, any. Where commands found no room it returns ErrFull at the end.
func (m *Mixer) WriteLog(w io.Writer) error {
	r := m.desk.notes.Load()
	if r == nil {
		return nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for n, ok := r.pop(); ok; n, ok = r.pop() {
		if err := enc.Encode(n.line()); err != nil {
			return fmt.Errorf("mixer: log: %w", err)
		}
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("mixer: log: %w", err)
	}
	if lost := m.desk.unnoted.Swap(0); lost > 0 {
		return fmt.Errorf("%w: %d commands are missing from the log", ErrFull, lost)
	}
	return nil
}

// line puts a note into the terms of the log.
func (n *note) line() *line {
	l := &line{Frame: n.frame, Order: n.order, Do: opNames[n.op], Duck: n.duck}
	switch {
	case n.op >= opBus:
		b := Bus(n.voice)
		l.Bus = &b
	case n.op == opLimit:
		g := Group(n.voice)
		l.Group = &g
	default:
		l.Voice = n.voice.number()
	}
	if n.gain != (frame{}) || n.op == opGain || n.op == opFade || n.op == opBusGain || n.op == opBusFade {
		l.Gain = n.gain[:]
	}
	switch {
	case n.op == opStart:
		l.Start = n.setup.line(max(n.n[0], n.frame))
	case n.n != [3]int64{}:
		l.Args = n.n[:]
	}
	return l
}

func (s *setup) line(at int64) *startLine {
	l := &startLine{
		Sound: s.name(), Feed: s.feed != nil, At: at, Level: s.level, Law: s.law, From: s.start, Length: s.length, FadeIn: s.fadeIn,
		Curve: s.curve, Step: s.step, Sinc: s.interpolation == Sinc, Paused: s.paused, After: s.after.number(), Heir: s.heir, Bus: s.bus, Groups: s.groups, Priority: s.priority,
		Protected: s.protected,
	}
	if s.loops {
		l.Loop = &s.loop
	}
	if s.faded != 1 {
		l.Faded = &s.faded
	}
	return l
}

// name is what the sound is called: the Name of a PCM, or that of a feed that has such a method.
func (s *setup) name() string {
	if s.pcm != nil {
		return s.pcm.Name
	}
	if f, ok := s.feed.(interface{ Name() string }); ok {
		return f.Name()
	}
	return ""
}

// A Replay plays a log back into a mixer.
type Replay struct {
	m      *Mixer
	lines  *bufio.Scanner
	number int // of the line
	open   func(sound string) (*PCM, Feed, error)
	until  int64 // frame up to which everything was sent
	next   *line // read and not sent yet
	voices map[uint64]Voice
	feeds  map[Voice]Feed
}

// Replay returns what plays back the log in r. open returns the sound of a name, as a PCM or a Feed;
// it is called from Advance. The mixer should be new; groups and buses get the numbers they had.
func (m *Mixer) Replay(r io.Reader, open func(sound string) (*PCM, Feed, error)) *Replay {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	return &Replay{m: m, lines: s, open: open, until: m.Time() + int64(m.limiter.look()), voices: map[uint64]Voice{}, feeds: map[Voice]Feed{}}
}

// Advance sends the mixer the commands of the next so many frames, which are to be mixed then. It
// returns io.EOF once none is left. Commands to voices that are not in the log are left out. Other
// errors tell the line: ErrValue where it makes no sense, ErrFull and ErrVoices where the mixer has
// no room, after which Advance(0) tries again.
func (p *Replay) Advance(frames int) error {
	p.until += int64(frames)
	for {
		if err := p.read(); err != nil {
			return err
		}
		if p.next.Frame >= p.until {
			return nil
		}
		if err := p.send(p.next); err != nil {
			return fmt.Errorf("mixer: log, line %d: %w", p.number, err)
		}
		p.next = nil
	}
}

// read sees to it that there is a next line.
func (p *Replay) read() error {
	for p.next == nil {
		if !p.lines.Scan() {
			if err := p.lines.Err(); err != nil {
				return fmt.Errorf("mixer: log, line %d: %w", p.number+1, err)
			}
			return io.EOF
		}
		p.number++
		if len(bytes.TrimSpace(p.lines.Bytes())) == 0 {
			continue
		}
		l := &line{}
		if err := json.Unmarshal(p.lines.Bytes(), l); err != nil {
			return fmt.Errorf("mixer: log, line %d: %w: %w", p.number, ErrValue, err)
		}
		p.next = l
	}
	return nil
}

// send gives the mixer a line's command.
func (p *Replay) send(l *line) error {
	x, err := l.command()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrValue, err)
	}
	c := Commands{p.m, l.Frame, l.Order}
	switch {
	case x.op == opStart:
		return p.start(l)
	case x.op == opLimit:
		p.m.desk.knowGroup(*l.Group)
		x.voice = Voice(*l.Group)
	case x.op == opBus:
		b, err := c.newBus(Bus(x.n[0]))
		if err == nil && b != *l.Bus {
			err = fmt.Errorf("%w: bus %d is bus %d here", ErrValue, *l.Bus, b)
		}
		return err
	case x.op == opDuck:
		return c.SetDuck(*l.Bus, l.Duck)
	case x.op == opMeter:
		return c.MeterBus(*l.Bus, x.n[0] != 0)
	case x.op == opEffect:
		return nil
	case x.op > opBus:
		return c.sendBus(*l.Bus, x)
	default:
		if x.voice = p.voices[l.Voice]; x.voice == 0 {
			return nil
		}
	}
	return c.send(&x)
}

// start starts a line's voice.
func (p *Replay) start(l *line) error {
	o := l.Start
	s := &setup{
		level: o.Level, law: o.Law, loops: o.Loop != nil, paused: o.Paused, start: o.From, length: o.Length,
		fadeIn: o.FadeIn, curve: o.Curve, faded: 1, step: o.Step, after: p.voices[o.After], heir: o.Heir, bus: o.Bus, rank: rank{o.Groups, o.Priority, o.Protected},
	}
	if s.loops {
		s.loop = *o.Loop
	}
	if o.Sinc {
		s.interpolation = Sinc
	}
	if o.Faded != nil {
		s.faded = *o.Faded
	}
	var err error
	if s.pcm, s.feed, err = p.open(o.Sound); err != nil {
		return err
	}
	if (s.pcm == nil) == (s.feed == nil) || s.feed != nil && s.loops {
		return fmt.Errorf("%w: %q is neither a PCM nor a feed", ErrValue, o.Sound)
	}
	if s.pcm != nil {
		if err := s.pcm.Check(); err != nil {
			return err
		}
	}
	id, err := p.m.desk.start(s, &command{op: opStart, at: l.Frame, order: l.Order, n: [3]int64{o.At}})
	if err == nil {
		p.voices[l.Voice] = id
		if s.feed != nil {
			p.feeds[id] = s.feed
		}
	}
	return err
}

// Taken is the feed that a voice of the log played, told once, for whoever takes end notices; nil for
// other voices.
func (p *Replay) Taken(v Voice) Feed {
	f := p.feeds[v]
	delete(p.feeds, v)
	return f
}

var errLine = errors.New("not a command")

// command is what a line has in common with a command. Its values are within what Commands would
// have let through.
func (l *line) command() (c command, err error) {
	for i, name := range opNames {
		if name == l.Do {
			c.op = op(i)
		}
	}
	copy(c.gain[:], l.Gain)
	copy(c.n[:], l.Args)
	switch {
	case opNames[c.op] != l.Do || l.Do == "" || len(l.Args) > 3 || l.Frame < 0 || !c.sane() || c.op == opStart && l.Start == nil:
		return c, errLine
	case c.op == opStart:
		return c, l.Start.check()
	case c.op == opLimit && (l.Group == nil || *l.Group >= maxGroups), c.op >= opBus && l.Bus == nil:
		return c, errLine
	}
	return c, nil
}

// sane reports whether the values of a command can do no harm.
func (c *command) sane() bool {
	const top = 1001 // a bit more than maxGain
	n := c.n
	ok := c.gain[0] >= 0 && c.gain[0] < top && c.gain[1] >= 0 && c.gain[1] < top
	switch c.op {
	case opStop, opFade, opBusFade:
		return ok && n[0] >= 0 && n[1] >= 0 && n[1] <= int64(Decibels)
	case opPitch:
		return ok && n[0] >= minPitch*one && n[0] <= maxPitch*one
	case opLoop:
		l := Loop{n[0], n[1], int(n[2])}
		return ok && l.check() == nil
	}
	return ok && n[0] >= 0 && n[1] >= 0
}

func (s *startLine) check() error {
	p := Params{Loop: s.Loop, Start: s.From, Length: s.Length, FadeIn: s.FadeIn, Curve: s.Curve, Groups: s.Groups}
	law := command{gain: s.Law, op: opGain}
	level := command{gain: frame{s.Level, 0}, op: opGain}
	pitch := command{n: [3]int64{s.Step}, op: opPitch}
	if s.Faded != nil {
		level.gain[1] = *s.Faded
	}
	if !law.sane() || !level.sane() || !pitch.sane() {
		return errLine
	}
	return p.check()
}

// knowGroup sees to it that no other group gets the number of g.
func (d *desk) knowGroup(g Group) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.groups = max(d.groups, g)
}
