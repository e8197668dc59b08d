package soundpack

// As much JSON as the manifest needs (RFC 8259): a text that encoding/json has found valid is cut into
// members and elements without being taken apart further, so that what is not understood can be kept
// to the byte, and a manifest of 100,000 lines is read without a value being made of each.

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"
)

// A member is a name of an object and its value as text.
type member struct{ key, val string }

func (m member) append(b []byte) []byte {
	b = quote(append(b, ','), m.key)
	return append(append(b, ':'), m.val...)
}

// valid tells whether text is one JSON object.
func valid(text string) bool {
	b := []byte(text)
	return json.Valid(b) && bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{"))
}

// members are those of an object, in order. Of anything else there are none.
func members(obj string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := open(obj, '{'); i < len(obj) && obj[i] != '}'; i = next(obj, i) {
			end := skip(obj, i)
			key, _ := unquote(obj[i:end])
			i = space(obj, space(obj, end)+1) // behind the colon
			end = skip(obj, i)
			if !yield(key, obj[i:end]) {
				return
			}
			i = end
		}
	}
}

// elements are those of an array, in order.
func elements(arr string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := open(arr, '['); i < len(arr) && arr[i] != ']'; i = next(arr, i) {
			end := skip(arr, i)
			if !yield(arr[i:end]) {
				return
			}
			i = end
		}
	}
}

// open is where the content of an object or array begins.
func open(s string, bracket byte) int {
	i := space(s, 0)
	if i >= len(s) || s[i] != bracket {
		return len(s)
	}
	return space(s, i+1)
}

// next goes on from the end of a value to the next, or to the closing bracket.
func next(s string, i int) int {
	if i = space(s, i); i < len(s) && s[i] == ',' {
		i = space(s, i+1)
	}
	return i
}

func space(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// skip is the end of the value that begins at i.
func skip(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return min(i+1, len(s))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\t', '\r', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// unquote is the string that a JSON value is, if it is one.
func unquote(val string) (string, bool) {
	if len(val) < 2 || val[0] != '"' {
		return "", false
	}
	if s := val[1 : len(val)-1]; strings.IndexByte(s, '\\') < 0 && utf8.ValidString(s) {
		return s, true
	}
	var s string
	err := json.Unmarshal([]byte(val), &s)
	return s, err == nil
}

// quote appends a JSON string.
func quote(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			var w bytes.Buffer
			enc := json.NewEncoder(&w)
			enc.SetEscapeHTML(false)
			if enc.Encode(s) != nil { // a string always can
				return append(b, `""`...)
			}
			return append(b, bytes.TrimSuffix(w.Bytes(), []byte("\n"))...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
