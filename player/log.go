package player

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/player/mixer"
)

// The log of a player (Options.Record) is lines of JSON: a head, the commands of the mixer with the
// frames at which they were carried out (see mixer.Mixer.WriteLog), and an end:
//
//	{"log":"sndpak","version":1,"rate":48000,"voices":768,"queue":4096,"heard":0,"limiter":true}
//	{"frame":960,"order":3,"do":"start","voice":1,"start":{"sound":"clip jump.wav",...}}
//	{"frame":96000,"do":"end"}
//
// A sound is called "clip NAME" or "stream FROM,START,END,COUNT,FADE,LENGTH NAME": the frame that it
// begins at, its loop (END 0 = none), and over how many frames it fades out ahead of its end or of
// LENGTH, all in its own frames.

// logHead is the first line of a log.
type logHead struct {
	Log     string `json:"log"`
	Version int    `json:"version"`
	Rate    int    `json:"rate"`
	Voices  int    `json:"voices"`
	Queue   int    `json:"queue"`
	Heard   int    `json:"heard"`
	Limiter bool   `json:"limiter"`
}

// logNotes is how many commands may come between two looks at them.
const logNotes = 8192

// record begins the log.
func (p *Player) record() {
	if p.opt.Record == nil {
		return
	}
	m := p.opt.mixer()
	p.writeLine(logHead{"sndpak", 1, m.Rate, m.Voices, m.Queue, m.Heard, m.Limiter})
	p.mix.Record(logNotes)
}

func (p *Player) writeLine(line any) {
	b, err := json.Marshal(line)
	if err == nil {
		_, err = p.opt.Record.Write(append(b, '\n'))
	}
	p.logErr = errors.Join(p.logErr, err)
}

// writeLog writes what was commanded since the last time. Whoever pulls in step calls it, or the pump,
// and Close behind both.
func (p *Player) writeLog() {
	if p.opt.Record != nil && p.logErr == nil {
		p.logErr = p.mix.WriteLog(p.opt.Record)
	}
}

// endLog writes the last line.
func (p *Player) endLog() error {
	if p.opt.Record == nil {
		return nil
	}
	p.writeLog()
	end := p.Time()
	if d := p.drained.Load(); d > 0 {
		end = d - 1
	}
	p.writeLine(logEnd{end, "end"})
	if p.logErr != nil {
		return fmt.Errorf("player: record: %w", p.logErr)
	}
	return nil
}

type logEnd struct {
	Frame int64  `json:"frame"`
	Do    string `json:"do"`
}

// clipName is what the log calls a clip.
func clipName(name string) string { return "clip " + name }

// streamName is what it calls a stream.
func streamName(name string, from int64, l *Loop, way manner) string {
	if l == nil {
		l = &Loop{}
	}
	return fmt.Sprintf("stream %d,%d,%d,%d,%d,%d %s", from, l.Start, l.End, l.Count, way.fadeOut, way.length, name)
}

// parseStream is the way back from what follows "stream ".
func parseStream(s string) (name string, from int64, l *Loop, way manner, err error) {
	numbers, name, ok := strings.Cut(s, " ")
	var n [6]int64
	parts := strings.Split(numbers, ",")
	ok = ok && len(parts) == len(n)
	for i := range n {
		if ok {
			n[i], err = strconv.ParseInt(parts[i], 10, 64)
			ok = err == nil && n[i] >= 0 && n[i] <= manyFrames
		}
	}
	if !ok {
		return "", 0, nil, way, fmt.Errorf("%w: sound %q", mixer.ErrValue, "stream "+s)
	}
	if n[2] > 0 {
		l = &Loop{Start: n[1], End: n[2], Count: int(n[3])}
	}
	return name, n[0], l, manner{fadeOut: n[4], length: n[5]}, nil
}

// A replay is a log that is played back.
type replay struct {
	*mixer.Replay
	lines *bufio.Scanner
	rest  []byte // of a line, for the mixer to read
	end   int64  // of the player's time; below 0 = where the last voice ends
	over  bool   // all lines are carried out
	err   error

	loaded  map[string]*Sound // by their names in the log
	playing map[*stream]bool
}

// Replay returns a Player that plays back what another one recorded (Options.Record), with the sounds
// in fsys: in step and without a device, for Mix, Stream and the readers, which end where the recording
// did. The same log and sounds give the same bits, those of a player that was in step itself, or whose
// streams never ran dry. Effects, Reload, and Voice.SetLoop of a stream that plays are not in the log.
//
// opt may be nil; what the log tells of it (Rate, Voices, Heard, NoLimiter) counts for more. The error
// is that of the head; Player.Err tells what goes wrong later, and names the line. Close it.
func Replay(fsys fs.FS, log io.Reader, opt *Options) (*Player, error) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	var head logHead
	if err := json.Unmarshal(lines.Bytes(), &head); err != nil || head.Log != "sndpak" || head.Version != 1 || head.Rate < 1 {
		return nil, fmt.Errorf("player: replay: line 1 is no head of a log: %w", cmp.Or(lines.Err(), decode.ErrCorrupt))
	}
	o := opt.withDefaults()
	o.Rate, o.Heard, o.NoLimiter = head.Rate, head.Heard, !head.Limiter
	o.InStep, o.Record, o.Ahead = true, nil, 4*inStepFrames*time.Second/time.Duration(min(head.Rate, 1<<20))
	o.replaying = true
	o.Voices = min(max(head.Voices, 1), 1<<16)
	p := New(fsys, &o)
	r := &replay{lines: lines, end: -1, loaded: map[string]*Sound{}, playing: map[*stream]bool{}}
	r.Replay = p.mix.Replay(r, func(sound string) (*mixer.PCM, mixer.Feed, error) { return r.open(p, sound) })
	p.replay = r
	return p, nil
}

// Read gives the mixer its lines, one at a time, without the end.
func (r *replay) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if !r.lines.Scan() {
			return 0, cmp.Or(r.lines.Err(), io.EOF)
		}
		var end logEnd
		line := r.lines.Bytes()
		if bytes.Contains(line, []byte(`"end"`)) && json.Unmarshal(line, &end) == nil && end.Do == "end" {
			r.end = max(end.Frame, 0)
			return 0, io.EOF
		}
		r.rest = append(append(r.rest, line...), '\n')
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// advance has the mixer told what falls into the next frames.
func (r *replay) advance(frames int) {
	if r == nil || r.over {
		return
	}
	err := r.Advance(frames)
	switch {
	case err == io.EOF:
		r.over = true
	case errors.Is(err, mixer.ErrFull), errors.Is(err, mixer.ErrVoices):
		r.err = errors.Join(r.err, fmt.Errorf("player: replay: %w", err))
	case err != nil:
		r.over, r.err = true, fmt.Errorf("player: replay: %w", err)
	}
}

// left is how many of the next frames are still to be given, ahead of the end.
func (r *replay) left(frames int, now, last int64, idle bool) int {
	switch {
	case r == nil || !r.over:
		return frames
	case r.end >= 0:
		return int(min(max(r.end-now, 0), int64(frames)))
	case idle:
		return int(min(max(last-now, 0), int64(frames)))
	}
	return frames
}

// open opens a sound of the log.
func (r *replay) open(p *Player, sound string) (*mixer.PCM, mixer.Feed, error) {
	kind, rest, _ := strings.Cut(sound, " ")
	switch kind {
	case "clip":
		s, err := r.load(p, rest, Memory)
		if err != nil {
			return nil, nil, err
		}
		c := s.Clip() // for good: the voices of a log hold nothing
		if c == nil {
			return nil, nil, ErrClosed
		}
		return &c.pcm, nil, nil
	case "stream":
		name, from, loop, way, err := parseStream(rest)
		if err != nil {
			return nil, nil, err
		}
		s, err := r.load(p, name, Stream)
		if err != nil {
			return nil, nil, err
		}
		a := s.asset()
		if loop, err = a.region(loop); err == nil && from <= a.length() {
			var st *stream
			if st, err = a.take(from, loop, way); err == nil {
				r.playing[st] = true
				return nil, eager{st}, nil
			}
		}
		return nil, nil, fmt.Errorf("%q from frame %d: %w", name, from, errors.Join(err, mixer.ErrValue))
	}
	return nil, nil, fmt.Errorf("%w: sound %q", mixer.ErrValue, sound)
}

// load keeps the sounds of the log loaded.
func (r *replay) load(p *Player, name string, mode Mode) (*Sound, error) {
	key := fmt.Sprint(mode, name)
	if s := r.loaded[key]; s != nil {
		return s, nil
	}
	s, err := p.Load(name, mode)
	if err == nil {
		r.loaded[key] = s
	}
	return s, err
}

// An eager stream decodes what it is asked for, for a player that replays.
type eager struct{ *stream }

func (e eager) Read(dst []float32) (int, bool) {
	e.fill(min(len(dst)/e.ring.ch, e.ring.size()))
	return e.stream.Read(dst)
}

// freed gives back the stream of a voice that is over.
func (r *replay) freed(id mixer.Voice) {
	if r == nil {
		return
	}
	if e, ok := r.Taken(id).(eager); ok {
		delete(r.playing, e.stream)
		e.asset.putBack(e.stream)
	}
}

// close gives back all streams.
func (r *replay) close() {
	if r == nil {
		return
	}
	for st := range r.playing {
		st.asset.putBack(st)
	}
	clear(r.playing)
}
