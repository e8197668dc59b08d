// Package console plays sounds by keys: each of them starts its sound, over all that play already.
//
// [Run] reads keys one by one, from a terminal in raw mode as from a pipe, and ends with q or with
// the end of its input. At the start of a line it also takes commands: a word such as "seek 1.5"
// from a pipe, the same behind a colon on a terminal, where a letter must sound at once.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/sndpak/sndpak/player"
)

// Config says what a console plays and where it reads and prints.
type Config struct {
	Player *player.Player
	Names  []string  // the sounds
	Map    *Keymap   // nil = the sounds on the keys in order; those beyond len(Keys) get none
	In     io.Reader // keys
	Out    io.Writer // what happens, one line each
	// Live says that In is a terminal in raw mode: lines end with CR and LF, and commands begin
	// with a colon.
	Live bool
	// Hold starts the player at the end of the input, for an output that does not run in real time.
	Hold bool
	Loop KeptLoop
}

// KeptLoop tells the loop points, in frames of the sound, that a pack keeps of an entry; they count
// before those in the file. nil knows of none.
type KeptLoop func(name string) (start, end int64, ok bool)

// of is where a sound loops.
func (k KeptLoop) of(name string, s *player.Sound) *player.Loop {
	l := s.Loop()
	if k == nil {
		return l
	}
	if start, end, ok := k(name); ok && end <= s.Frames() { // else it is of another sound
		l.Start, l.End = start, end
	}
	return l
}

// Run plays until q, the end of the input, or ctx is done. At the end of the input what plays is
// played out, loops left at their next end. It returns what went wrong with sounds that were asked
// for, or the error of the device that was lost.
func Run(ctx context.Context, c Config) error {
	if c.Map == nil {
		c.Map = NewKeymap(c.Names)
	}
	con := &console{Config: c, names: c.Map.names}
	for i, name := range con.names {
		if name != "" {
			con.sounds[i], con.faults[i] = c.Player.Load(name, player.Auto)
		}
	}
	con.help()
	if err := con.start(!c.Hold); err != nil {
		return err
	}
	quit, err := con.loop(ctx)
	if err != nil {
		return errors.Join(con.failed(), err)
	}
	con.leave(quit)
	if err := con.start(true); err != nil {
		return errors.Join(con.failed(), err)
	}
	return errors.Join(con.failed(), con.drain(ctx))
}

type console struct {
	Config
	names  [len(Keys)]string        // by key; "" where there is none
	sounds [len(Keys)]*player.Sound // nil where faults says why
	faults [len(Keys)]error
	parse  parser
	paused bool
	gain   float64

	mu     sync.Mutex // guards what follows
	voices []*player.Voice
	errs   []error
}

func (c *console) start(now bool) error {
	if !now {
		return nil
	}
	return c.Player.Start()
}

// loop takes keys until q (true) or the end of the input.
func (c *console) loop(ctx context.Context) (quit bool, err error) {
	c.parse.live = c.Live
	input := make(chan []byte)
	stop := make(chan struct{})
	defer close(stop)
	go feed(c.In, input, stop)
	for {
		select {
		case b, more := <-input:
			if !more {
				return c.act(c.parse.end()), nil
			}
			if c.act(c.parse.take(b)) {
				return true, nil
			}
		case <-c.Player.Done():
			return false, c.Player.Err()
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// feed passes on what in gives. A read under way cannot be taken back: it ends with the program.
func feed(in io.Reader, to chan<- []byte, stop <-chan struct{}) {
	defer close(to)
	for {
		buf := make([]byte, 256)
		n, err := in.Read(buf)
		if n > 0 {
			select {
			case to <- buf[:n]:
			case <-stop:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// act does what was read, and reports whether that is to quit.
func (c *console) act(events []event) (quit bool) {
	for _, e := range events {
		if e.isLine {
			quit = c.command(e.command)
		} else {
			quit = c.key(e.key)
		}
		if quit {
			return true
		}
	}
	return false
}

// key does what one key asks for.
func (c *console) key(k byte) (quit bool) {
	switch k {
	case 'q', 3, 4: // also ^C and ^D of a terminal in raw mode
		return true
	case ' ':
		c.pause(!c.paused)
	case '.', 0x7f, 8:
		c.stopAll()
	case '+', '=':
		c.setGain(c.gain + 1)
	case '-', '_':
		c.setGain(c.gain - 1)
	case '?':
		c.help()
	case '\n', '\r', '\t':
	default:
		c.trigger(k)
	}
	return false
}

// trigger starts the sound of a key; a capital letter plays it looped, and again stops it.
func (c *console) trigger(k byte) {
	looped := 'A' <= k && k <= 'Z'
	i := strings.IndexByte(Keys, k|0x20)
	if !looped {
		i = strings.IndexByte(Keys, k)
	}
	if i < 0 || c.names[i] == "" {
		c.say("%q: no sound on this key", string(rune(k)))
		return
	}
	s, err := c.sounds[i], c.faults[i]
	if err == nil && looped && c.stopSound(s) {
		c.say("%c stop %s", k, c.names[i])
		return
	}
	if err == nil {
		err = c.play(c.names[i], s, looped)
	}
	if err != nil {
		c.fail(err)
		return
	}
	if c.paused {
		c.say("%c %s waits: all is paused, space goes on", k, c.names[i])
		return
	}
	c.say("%c %s", k, c.names[i])
}

func (c *console) play(name string, s *player.Sound, looped bool) error {
	o := player.Params{OnEnd: c.ended, Paused: c.paused}
	if looped {
		o.Loop = c.Loop.of(name, s)
	}
	c.mu.Lock() // so that ended finds the voice
	defer c.mu.Unlock()
	v, err := s.Play(o)
	if err == nil {
		c.voices = append(c.voices, v)
	}
	return err
}

func (c *console) ended(v *player.Voice, err error) {
	c.mu.Lock()
	for i, w := range c.voices {
		if w == v {
			c.voices = append(c.voices[:i], c.voices[i+1:]...)
			break
		}
	}
	c.mu.Unlock()
	if err != nil && !errors.Is(err, player.ErrClosed) {
		c.fail(fmt.Errorf("play %q: %w", v.Sound().Name(), err))
	}
}

// each runs do on every voice.
func (c *console) each(do func(v *player.Voice) error) {
	c.mu.Lock()
	voices := append([]*player.Voice(nil), c.voices...)
	c.mu.Unlock()
	for _, v := range voices {
		if err := do(v); err != nil {
			c.fail(err)
		}
	}
}

// stopSound stops the voices of a sound and reports whether there were any.
func (c *console) stopSound(s *player.Sound) (any bool) {
	c.each(func(v *player.Voice) error {
		if v.Sound() != s {
			return nil
		}
		any = true
		return v.Stop(0)
	})
	return any
}

func (c *console) stopAll() {
	c.each(func(v *player.Voice) error { return v.Stop(0) })
	c.say("stop")
}

func (c *console) pause(on bool) {
	c.paused = on
	c.each(func(v *player.Voice) error {
		if on {
			return v.Pause()
		}
		return v.Resume()
	})
	c.say("%s", map[bool]string{true: "pause", false: "resume"}[on])
}

func (c *console) setGain(dB float64) {
	c.gain = min(max(dB, -120), 24)
	if err := c.Player.SetGain(c.gain); err != nil {
		c.fail(err)
	}
	c.say("gain %+.0f dB", c.gain)
}

// seek moves the voice that was started last to a time of its sound.
func (c *console) seek(t time.Duration) {
	c.mu.Lock()
	var v *player.Voice
	if n := len(c.voices); n > 0 {
		v = c.voices[n-1]
	}
	c.mu.Unlock()
	if v == nil {
		c.say("nothing plays")
		return
	}
	if err := v.SeekTo(v.Sound().At(t)); err != nil {
		c.fail(err)
		return
	}
	c.say("seek %s", v.Sound().Name())
}

// leave ends the voices: at once, or, at the end of the input, in their own time.
func (c *console) leave(now bool) {
	if now {
		c.each(func(v *player.Voice) error { return v.Stop(0) })
	} else {
		c.each(func(v *player.Voice) error { return errors.Join(v.SetLoop(nil), v.Resume()) })
	}
	c.Player.Drain()
}

// drain waits until all has been heard.
func (c *console) drain(ctx context.Context) error {
	select {
	case <-c.Player.Done():
		return c.Player.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *console) fail(err error) {
	c.mu.Lock()
	c.errs = append(c.errs, err)
	c.mu.Unlock()
	c.say("error: %v", err)
}

func (c *console) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.errs...)
}

// help shows which key plays what.
func (c *console) help() {
	on := 0
	for i, what := range c.names {
		if what == "" {
			continue
		}
		on++
		if c.faults[i] != nil {
			what = fmt.Sprintf("%s (%v)", what, c.faults[i])
		}
		c.say("%c  %s", Keys[i], what)
	}
	if more := len(c.Names) - on; more > 0 {
		c.say("%d more have no key: name the ones to play on the command line", more)
	}
	c.say("capital letter: looped; space: pause; . stop; + - gain; ? help; q quit; %sseek SECONDS",
		map[bool]string{true: ":", false: ""}[c.Live])
}

// say prints one line.
func (c *console) say(format string, a ...any) {
	line := fmt.Sprintf(format, a...)
	line = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, line)
	end := "\n"
	if c.Live {
		end = "\r\n"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	io.WriteString(c.Out, line+end)
}
