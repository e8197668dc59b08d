package soundpack

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names in an index are bytes. What people and io/fs see is the shown form, from which the bytes can
// be had back. Written as %XX are the bytes of each character that does not print, each backslash,
// each slash that does not part two elements, each dot of an element "." or "..", and a percent sign
// that two hex digits follow. In a name that is not UTF-8 as a whole, so are all bytes beyond ASCII:
// some GBK pairs happen to be UTF-8 and would show as letters that nobody wrote. The empty name is
// shown as %00, the NUL that ends it. A shown name is always a valid path for io/fs, never leads out
// of a folder and cannot steer a terminal.

const hexDigits = "0123456789ABCDEF"

// plain tells for each byte whether it is shown as it is wherever it stands.
var plain = func() (t [256]bool) {
	for c := ' '; c <= '~'; c++ {
		t[c] = !strings.ContainsRune(`%/\.`, c)
	}
	return t
}()

// show is the shown form of a raw name. It allocates only where the two differ.
func show(raw string) string {
	for i := range len(raw) {
		c := raw[i]
		if plain[c] {
			continue
		}
		inside := i > 0 && raw[i-1] != '/' // an element has begun
		if !inside || c != '.' && (c != '/' || i+1 == len(raw)) {
			return showOdd(raw)
		}
	}
	if raw == "" {
		return "%00"
	}
	return raw
}

// showOdd takes time in proportion to the name's length, which in the cfg layout may be 65,535 bytes.
func showOdd(raw string) string {
	b := make([]byte, 0, len(raw)+16)
	valid := utf8.ValidString(raw)
	elem := 0 // where in b the last element begins
	closeElem := func() {
		if e := b[elem:]; len(e) > 0 && len(e) <= 2 && e[0] == '.' && e[len(e)-1] == '.' {
			b = append(b[:elem], "%2E%2E"[:3*len(e)]...)
		}
	}
	for i := 0; i < len(raw); {
		r, n := rune(raw[i]), 1
		if valid {
			r, n = utf8.DecodeRuneInString(raw[i:])
		}
		switch {
		case r == '/' && len(b) > elem && i+1 < len(raw):
			closeElem()
			b = append(b, '/')
			elem = len(b)
		case !valid && r >= utf8.RuneSelf, r == '/', r == '\\', !unicode.IsPrint(r), r == '%' && isEscape(raw[i:]):
			for _, c := range []byte(raw[i : i+n]) {
				b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
			}
		default:
			b = append(b, raw[i:i+n]...)
		}
		i += n
	}
	closeElem()
	return string(b)
}

func isEscape(s string) bool {
	return len(s) >= 3 && s[0] == '%' && unhex(s[1]) >= 0 && unhex(s[2]) >= 0
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// unshow is the raw name whose shown form is name, up to case. It allocates only for an escape.
func unshow(name string) string {
	if strings.IndexByte(name, '%') < 0 {
		return name
	}
	if name == "%00" {
		return ""
	}
	b := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		c := name[i]
		if isEscape(name[i:]) {
			c = byte(unhex(name[i+1])<<4 | unhex(name[i+2]))
			i += 2
		}
		b = append(b, c)
	}
	return string(b)
}

// foldASCII lower-cases A-Z by bytes. It allocates only where there is one.
func foldASCII(s string) string {
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			b := []byte(s)
			for j := range b {
				if c := b[j]; 'A' <= c && c <= 'Z' {
					b[j] = c | 0x20
				}
			}
			return string(b)
		}
	}
	return s
}

// checkName is a writer's rule for a name of at most limit bytes: characters that print, in UTF-8 (a
// letter may take several bytes), and nothing that a file of the same name could not have on Linux,
// macOS and Windows alike.
func checkName(name string, limit int) error {
	switch {
	case name == "":
		return fmt.Errorf("empty name")
	case len(name) > limit:
		return fmt.Errorf("%d bytes, and %d is the most", len(name), limit)
	case !utf8.ValidString(name):
		return fmt.Errorf("not UTF-8")
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		return fmt.Errorf("character %+q does not print", name[i:i+1])
	}
	if c := strings.IndexAny(name, `\/:*?"<>|`); c >= 0 {
		return fmt.Errorf("%q is no part of a portable name", name[c])
	}
	if strings.Trim(name, " .") != name {
		return fmt.Errorf("a space or dot at its start or end")
	}
	if device(name) {
		return fmt.Errorf("the name of a device on Windows")
	}
	return nil
}

// checkPath is a writer's rule for a full name: folders and a file, each with a name that is portable.
func checkPath(name string) error {
	if len(name) > maxPath {
		return fmt.Errorf("%d bytes, and %d is the most", len(name), maxPath)
	}
	if n := strings.Count(name, "/") + 1; n > maxDepth {
		return fmt.Errorf("%d elements, and %d is the most", n, maxDepth)
	}
	for e := range strings.SplitSeq(name, "/") {
		if err := checkName(e, maxElement); err != nil {
			if e == name || e == "" && name != "" {
				return err
			}
			return fmt.Errorf("%q: %w", e, err)
		}
	}
	return nil
}

// device tells whether Windows opens a device under this name, whatever the extension.
func device(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = foldASCII(strings.TrimRight(stem, " "))
	switch stem {
	case "con", "nul", "aux", "prn":
		return true
	}
	if len(stem) >= 4 && (stem[:3] == "com" || stem[:3] == "lpt") {
		switch stem[3:] {
		case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
			return true
		}
	}
	return false
}

// unsafe tells why a raw name must not become a file's name; "" if it may. A backslash counts as a
// separator here, since it is one on Windows.
func unsafe(raw string) string {
	if raw == "" {
		return "the name is empty"
	}
	if n := strings.Count(raw, "/") + strings.Count(raw, `\\`) + 1; n > maxDepth {
		return fmt.Sprintf("the name has %d elements, and %d is the most", n, maxDepth)
	}
	if len(raw) >= 2 && raw[1] == ':' && 'a' <= raw[0]|0x20 && raw[0]|0x20 <= 'z' {
		return "the name begins with a drive"
	}
	for e := range strings.FieldsFuncSeq(raw, isSeparator) {
		if e == "." || e == ".." {
			return "the name leads out of its folder"
		}
	}
	if isSeparator(rune(raw[0])) {
		return "the name is an absolute path"
	}
	for e := range strings.SplitSeq(show(raw), "/") {
		if len(e) > maxElement {
			return fmt.Sprintf("no file can have a name of %d bytes, and %d is the most", len(e), maxElement)
		}
	}
	if isSeparator(rune(raw[len(raw)-1])) || strings.Contains(strings.ReplaceAll(raw, `\`, "/"), "//") {
		return "the name has an empty element"
	}
	return ""
}

func isSeparator(r rune) bool { return r == '/' || r == '\\' }

// judgeName is verify's view of a raw name: unsafe is an error, not portable a warning.
func judgeName(raw string) (level slog.Level, text string) {
	if text := unsafe(raw); text != "" {
		return slog.LevelError, text
	}
	var odd []string
	for e := range strings.SplitSeq(raw, "/") {
		switch {
		case device(e):
			odd = append(odd, "the name of a device on Windows")
		case strings.TrimRight(e, " .") != e:
			odd = append(odd, "Windows drops the space or dot at the end")
		}
	}
	switch {
	case !utf8.ValidString(raw):
		odd = append(odd, "the name is not UTF-8")
	case strings.ContainsFunc(raw, func(r rune) bool { return !unicode.IsPrint(r) }):
		odd = append(odd, "the name has characters that do not print")
	}
	if i := strings.IndexAny(raw, `\:*?"<>|`); i >= 0 {
		odd = append(odd, fmt.Sprintf("%q is no part of a portable name", raw[i]))
	}
	if len(odd) == 0 {
		return slog.LevelInfo, ""
	}
	return slog.LevelWarn, strings.Join(odd, "; ")
}

// fileName is the path, below a folder, of the file that an entry is extracted to: the shown form,
// and for Windows what that system would misread escaped the same way. The raw name is not unsafe.
func fileName(raw string, windows bool) string {
	name := show(raw)
	if !windows {
		return name
	}
	elems := strings.Split(name, "/")
	for i, e := range elems {
		if device(e) {
			e = fmt.Sprintf("%%%02X%s", e[0], e[1:])
		}
		if last := len(e) - 1; e[last] == '.' || e[last] == ' ' {
			e = fmt.Sprintf("%s%%%02X", e[:last], e[last])
		}
		for _, c := range `:*?"<>|` {
			e = strings.ReplaceAll(e, string(c), fmt.Sprintf("%%%02X", c))
		}
		elems[i] = e
	}
	return strings.Join(elems, "/")
}
