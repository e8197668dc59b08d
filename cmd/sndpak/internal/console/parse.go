package console

import (
	"strconv"
	"strings"
	"time"
)

// An event is a key, or a command line.
type event struct {
	key     byte
	isLine  bool
	command string // the line without its colon
}

// commands are the words that begin a command line.
var commands = []string{"seek", "stop", "pause", "resume", "gain", "help", "quit"}

// A parser makes events of bytes as they come. Letters at the start of a line that may yet become a
// command are held back until they cannot, or the line ends.
type parser struct {
	live bool // commands need a colon, so that a letter is never held back
	line []byte
	skip bool // inside an escape sequence, up to its last byte
	mid  bool // something stands in the line before what is held
}

func (p *parser) take(b []byte) (events []event) {
	for _, c := range b {
		events = append(events, p.one(c)...)
	}
	return events
}

// end is what the end of the input makes of what is held back.
func (p *parser) end() []event {
	return p.one('\n')
}

func (p *parser) one(c byte) []event {
	switch {
	case p.skip: // ECMA-48, 5.4: a control sequence ends with a byte from 0x40 on, "[" its second aside
		p.skip = c == '[' || c == 'O' || c < 0x40
		return nil
	case c == 0x1b:
		p.skip = true
		return nil
	case c == '\n' || c == '\r':
		return p.endLine()
	case p.mid && !(p.live && (c == ':' || len(p.line) > 0)): // live keys are no lines: a command may follow any of them
		return []event{{key: c}}
	}
	p.line = append(p.line, c)
	if p.open() {
		return nil
	}
	p.mid = true
	return p.release()
}

// open reports whether the line may still be a command.
func (p *parser) open() bool {
	line := string(p.line)
	if line[0] == ':' {
		return len(line) < 256
	}
	if p.live || len(line) >= 256 {
		return false
	}
	for _, w := range commands {
		if strings.HasPrefix(w, line) || strings.HasPrefix(line, w+" ") {
			return true
		}
	}
	return false
}

// release gives up holding: what was held are keys.
func (p *parser) release() (events []event) {
	for _, c := range p.line {
		events = append(events, event{key: c})
	}
	p.line = p.line[:0]
	return events
}

func (p *parser) endLine() []event {
	line := string(p.line)
	p.mid = false
	if strings.HasPrefix(line, ":") {
		p.line = p.line[:0]
		return []event{{isLine: true, command: line[1:]}}
	}
	word, _, _ := strings.Cut(line, " ")
	for _, w := range commands {
		if w == word && !p.live {
			p.line = p.line[:0]
			return []event{{isLine: true, command: line}}
		}
	}
	return p.release()
}

// command does what a command line asks for.
func (c *console) command(line string) (quit bool) {
	word, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
	arg = strings.TrimSpace(arg)
	switch word {
	case "":
	case "quit":
		return true
	case "help":
		c.help()
	case "stop":
		c.stopAll()
	case "pause", "resume":
		c.pause(word == "pause")
	case "gain", "seek":
		v, err := strconv.ParseFloat(arg, 64)
		if err != nil || !(v > -1e9 && v < 1e9) {
			c.say("%s: %q is no number", word, arg)
			break
		}
		if word == "gain" {
			c.setGain(v)
		} else {
			c.seek(time.Duration(v * float64(time.Second)))
		}
	default:
		c.say("%q: the commands are %s", word, strings.Join(commands, ", "))
	}
	return false
}
