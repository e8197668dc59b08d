package console

import (
	"fmt"
	"strings"
	"testing"
)

// said is what a parser makes of a text: keys as they are, commands in brackets.
func said(live bool, pieces ...string) string {
	p := parser{live: live}
	var b strings.Builder
	show := func(events []event) {
		for _, e := range events {
			if e.isLine {
				fmt.Fprintf(&b, "[%s]", e.command)
			} else {
				b.WriteByte(e.key)
			}
		}
	}
	for _, s := range pieces {
		show(p.take([]byte(s)))
	}
	show(p.end())
	return b.String()
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		live bool
		in   string
		want string
	}{
		{false, "12a", "12a"},
		{false, "s", "s"},
		{false, "s\nse\n", "sse"},
		{false, "seek 1.5\n", "[seek 1.5]"},
		{false, "seek 1.5", "[seek 1.5]"},
		{false, "stop\nseeks\n", "[stop]seeks"},
		{false, "1seek 2\n", "1seek 2"},
		{false, "12\nseek 2\n3", "12[seek 2]3"},
		{false, ":seek 2\n", "[seek 2]"},
		{false, "quitter", "quitter"},
		{false, "\r\n\n", ""},
		{true, "seek", "seek"},
		{true, "ab:seek 2\rc", "ab[seek 2]c"},
		{true, "a\x1b[Cb\x1b[1;5Dc\x1bOPd", "abcd"},
	} {
		if got := said(c.live, c.in); got != c.want {
			t.Errorf("%q (live %t): %q, want %q", c.in, c.live, got, c.want)
		}
		if got := said(c.live, strings.Split(c.in, "")...); got != c.want {
			t.Errorf("%q byte by byte (live %t): %q, want %q", c.in, c.live, got, c.want)
		}
	}
}

func TestParserHoldsBackLittle(t *testing.T) {
	p := parser{}
	p.take([]byte(":" + strings.Repeat("x", 100000)))
	if len(p.line) > 256 {
		t.Errorf("%d bytes held back", len(p.line))
	}
}
