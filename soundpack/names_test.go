package soundpack

import (
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestShow(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"jaguar.wav", "jaguar.wav"},
		{"Über uns.ogg", "Über uns.ogg"},
		{"音.wav", "音.wav"},
		{"", "%00"},
		{".", "%2E"}, {"..", "%2E%2E"}, {"...", "..."}, {".a", ".a"}, {"a.", "a."},
		{"sfx/hit.wav", "sfx/hit.wav"},
		{`sfx\hit.wav`, "sfx%5Chit.wav"},
		{"../evil", "%2E%2E/evil"}, {"a/../b", "a/%2E%2E/b"}, {"a/..", "a/%2E%2E"}, {"./a", "%2E/a"},
		{"/abs", "%2Fabs"}, {"dir/", "dir%2F"}, {"a//b", "a/%2Fb"}, {"/", "%2F"}, {"//", "%2F%2F"}, {"a//", "a/%2F"},
		{"/..", "%2F.."}, {"../", "..%2F"}, {"/./", "%2F.%2F"},
		{"100%", "100%"}, {"50%41.wav", "50%2541.wav"}, {"%zz", "%zz"}, {"%%41", "%%2541"}, {"%00", "%2500"},
		{"a\nb", "a%0Ab"}, {"\x1b[2J", "%1B[2J"}, {"a\x7f", "a%7F"}, {"\u202egnp.exe", "%E2%80%AEgnp.exe"},
		{"\xd5\xbd\xb6\xb7.ogg", "%D5%BD%B6%B7.ogg"}, // GBK; the first two bytes are an Armenian letter in UTF-8
		{"\u00a0", "%C2%A0"},
	} {
		if got := show(c.raw); got != c.want {
			t.Errorf("show(%q): %q, want %q", c.raw, got, c.want)
		}
		checkShown(t, c.raw)
	}
}

// checkShown states what holds for every name.
func checkShown(t *testing.T, raw string) {
	t.Helper()
	shown := show(raw)
	switch {
	case !fs.ValidPath(shown) || shown == ".":
		t.Errorf("show(%q): %q is no valid path", raw, shown)
	case strings.ContainsFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' }) || !utf8.ValidString(shown):
		t.Errorf("show(%q): %q does not print", raw, shown)
	case unshow(shown) != raw:
		t.Errorf("show(%q): %q, which is back %q", raw, shown, unshow(shown))
	case foldASCII(unshow(foldASCII(shown))) != foldASCII(raw):
		t.Errorf("show(%q): %q in lower case is back %q", raw, shown, unshow(foldASCII(shown)))
	}
	if unsafe(raw) != "" {
		return
	}
	for _, windows := range []bool{false, true} {
		name := fileName(raw, windows)
		if !fs.ValidPath(name) || unshow(name) != raw {
			t.Errorf("fileName(%q, %v): %q, which is back %q", raw, windows, name, unshow(name))
		}
		if level, text := judgeName(name); windows && level >= slog.LevelWarn && utf8.ValidString(raw) {
			t.Errorf("fileName(%q) for Windows: %q: %s", raw, name, text)
		}
	}
}

func FuzzShow(f *testing.F) {
	for _, s := range []string{"", "a", "../x", "a//b", "%41%", "con.wav", "\xd5\xbd", "a:b\\c", "x. /..", "%2e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if strings.IndexByte(raw, 0) < 0 { // NUL ends a name
			checkShown(t, raw)
		}
	})
}

func TestUnsafeAndJudge(t *testing.T) {
	for _, c := range []struct {
		raw   string
		level slog.Level
		word  string
	}{
		{"good.wav", slog.LevelInfo, ""},
		{"sfx/hit.wav", slog.LevelInfo, ""},
		{"...", slog.LevelWarn, "dot at the end"},
		{"%41", slog.LevelInfo, ""},
		{"", slog.LevelError, "empty"},
		{".", slog.LevelError, "out of its folder"},
		{"..", slog.LevelError, "out of its folder"},
		{"../evil1.wav", slog.LevelError, "out of its folder"},
		{`..\evil2.wav`, slog.LevelError, "out of its folder"},
		{`a\..\..\b`, slog.LevelError, "out of its folder"},
		{"a/../../evil3.wav", slog.LevelError, "out of its folder"},
		{"/etc/passwd", slog.LevelError, "absolute"},
		{`\\server\x`, slog.LevelError, "absolute"},
		{"C:evil.wav", slog.LevelError, "drive"},
		{`c:\evil.wav`, slog.LevelError, "drive"},
		{"a//b", slog.LevelError, "empty element"},
		{"a/", slog.LevelError, "empty element"},
		{`sfx\hit.wav`, slog.LevelWarn, "portable"},
		{"a:b", slog.LevelError, "drive"},
		{"ab:c", slog.LevelWarn, "portable"},
		{"what?", slog.LevelWarn, "portable"},
		{"con.wav", slog.LevelWarn, "device"}, {"NUL", slog.LevelWarn, "device"}, {"Com1.mp3", slog.LevelWarn, "device"},
		{"sfx/aux.ogg", slog.LevelWarn, "device"}, {"lpt¹.wav", slog.LevelWarn, "device"}, {"con .wav", slog.LevelWarn, "device"},
		{"console.wav", slog.LevelInfo, ""}, {"com10.wav", slog.LevelInfo, ""}, {"com.wav", slog.LevelInfo, ""},
		{"end.", slog.LevelWarn, "at the end"}, {"end ", slog.LevelWarn, "at the end"},
		{"a\tb", slog.LevelWarn, "print"}, {"\xff", slog.LevelWarn, "UTF-8"},
	} {
		level, text := judgeName(c.raw)
		if level != c.level || !strings.Contains(text, c.word) || (text == "") != (c.word == "") {
			t.Errorf("judgeName(%q): %v %q, want %v and %q", c.raw, level, text, c.level, c.word)
		}
		if bad := unsafe(c.raw) != ""; bad != (c.level == slog.LevelError) {
			t.Errorf("unsafe(%q): %v", c.raw, bad)
		}
	}
}

func TestFileNameWindows(t *testing.T) {
	for raw, want := range map[string]string{
		"hit.wav": "hit.wav", "con.wav": "%63on.wav", "NUL": "%4EUL", "a/aux": "a/%61ux",
		"ab:c": "ab%3Ac", "what?": "what%3F", "end.": "end%2E", "end ": "end%20", "...": "..%2E", "con .x": "%63on .x",
	} {
		if got := fileName(raw, true); got != want {
			t.Errorf("fileName(%q): %q, want %q", raw, got, want)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, ok := range []string{"a", "nineteen bytes long", "über.wav", "a.b.c", "100%.wav", "x(1) [2].ogg", "~!@#$^&+=,;'"} {
		if err := checkName(ok, splitWrite); err != nil {
			t.Errorf("checkName(%q): %v", ok, err)
		}
	}
	for _, c := range []struct{ name, word string }{
		{"", "empty"},
		{"twenty bytes long ab", "20 bytes"},
		{"zehn Zeichen üüüüüü", "25 bytes"}, // 19 characters
		{"\xff.wav", "UTF-8"}, {"a\x00b", "print"}, {"a\tb", "print"}, {"a\u202eb", "print"},
		{"a/b", "portable"}, {`a\b`, "portable"}, {"a:b", "portable"}, {"a*", "portable"}, {"a?", "portable"},
		{`"a"`, "portable"}, {"<a", "portable"}, {"a>", "portable"}, {"a|b", "portable"},
		{" a", "space"}, {"a ", "space"}, {".a", "dot"}, {"a.", "dot"}, {".", "dot"}, {"..", "dot"},
		{"con", "device"}, {"Con.wav", "device"}, {"lpt9.x.y", "device"}, {"COM0", "device"},
	} {
		if err := checkName(c.name, splitWrite); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("checkName(%q): %v, want a word of %q", c.name, err, c.word)
		}
	}
}

func TestFoldASCII(t *testing.T) {
	for in, want := range map[string]string{"": "", "abc": "abc", "ABC.Wav": "abc.wav", "ÄB": "Äb", "\xc4A\xff": "\xc4a\xff", "@[`{": "@[`{"} {
		if got := foldASCII(in); got != want {
			t.Errorf("foldASCII(%q): %q, want %q", in, got, want)
		}
	}
}
