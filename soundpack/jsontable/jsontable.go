// Package jsontable makes JSON small without changing what it says, the way packs of many small tables do.
//
// [Minify] takes the white space out. [Pack] also takes the keys out of an array of objects that all have
// the same ones, as a table of a game's items has:
//
//	[{"id":1,"name":"axe"},{"id":2,"name":"bow"}]
//	{"key":["id","name"],"list":[{"0":1,"1":"axe"},{"0":2,"1":"bow"}]}
//
// and [Plain] gives back the array: the same values and the same order of keys in each object, to the byte
// what Minify makes of it. Text is cut and put together again and never made into values on the way, so
// that numbers of any length and every escape stay as they were written. A [Table] reads single rows out
// of either form, when they are asked for.
//
// Whether a document is a table or only looks like one cannot be told from it; whoever keeps it has to
// know. All functions may be given any bytes.
package jsontable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// ErrSyntax: the bytes are not JSON (RFC 8259).
var ErrSyntax = errors.New("not JSON")

// ErrShape: the document is JSON and no table.
var ErrShape = errors.New("not a table")

// ErrTooLong: the document would be longer than the limit that was given.
var ErrTooLong = errors.New("over the limit")

// Minify is the document without white space between its tokens.
func Minify(src []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(src))
	if err := json.Compact(&b, src); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	return b.Bytes(), nil
}

// Pack is the document as a table, if it is an array of one object or more that all have the same keys,
// each once and spelled alike, in whatever order; else it is only minified. table tells which.
func Pack(src []byte) (out []byte, table bool, err error) {
	text, err := Minify(src)
	if err != nil {
		return nil, false, err
	}
	keys, numbers := keysOf(text)
	if len(keys) == 0 {
		return text, false, nil
	}
	out = append(make([]byte, 0, len(text)), `{"key":[`...)
	for i, k := range keys {
		out = comma(out, i)
		out = append(out, k...)
	}
	out = append(out, `],"list":[`...)
	rows := 0
	for row := range items(text) {
		if !sameKeys(row, numbers) {
			return text, false, nil
		}
		out = comma(out, rows)
		out = appendRow(out, row, numbers)
		rows++
	}
	return append(out, "]}"...), true, nil
}

// keysOf are the keys of an array's first object as they are spelled, and their numbers.
func keysOf(text []byte) (keys [][]byte, numbers map[string]int) {
	if len(text) == 0 || text[0] != '[' {
		return nil, nil
	}
	numbers = map[string]int{}
	for row := range items(text) {
		for k := range fields(row) {
			if _, twice := numbers[string(k)]; twice {
				return nil, nil
			}
			numbers[string(k)] = len(keys)
			keys = append(keys, k)
		}
		break
	}
	return keys, numbers
}

// sameKeys tells whether a row is an object that has each of the keys once and no other.
func sameKeys(row []byte, numbers map[string]int) bool {
	if row[0] != '{' {
		return false
	}
	seen := make([]bool, len(numbers))
	n := 0
	for k := range fields(row) {
		i, ok := numbers[string(k)]
		if !ok || seen[i] {
			return false
		}
		seen[i] = true
		n++
	}
	return n == len(numbers)
}

func appendRow(out, row []byte, numbers map[string]int) []byte {
	out = append(out, '{')
	n := 0
	for k, v := range fields(row) {
		out = comma(out, n)
		out = append(out, '"')
		out = strconv.AppendInt(out, int64(numbers[string(k)]), 10)
		out = append(out, `":`...)
		out = append(out, v...)
		n++
	}
	return append(out, '}')
}

func comma(b []byte, n int) []byte {
	if n > 0 {
		return append(b, ',')
	}
	return b
}

// Plain is the array that a table was made of, minified. A key may be long and named in every row, so that
// a small table can stand for very much: limit is the most bytes that are made of it.
func Plain(src []byte, limit int64) ([]byte, error) {
	t, err := openTable(src)
	if err != nil {
		return nil, err
	}
	size := int64(2 + max(len(t.rows)-1, 0))
	for i := range t.rows {
		n, err := t.size(i)
		if err != nil {
			return nil, err
		}
		if size += n; size > limit {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLong, limit)
		}
	}
	out := append(make([]byte, 0, size), '[')
	for i := range t.rows {
		out = comma(out, i)
		out = t.appendPlain(out, i)
	}
	return append(out, ']'), nil
}

// A Table is an array of rows that is cut up and not parsed.
type Table struct {
	keys [][]byte // as they are spelled; nil: the rows are as they were
	rows [][]byte
}

// Open makes a Table of a document: of a table if packed, else of an array. It keeps parts of src.
func Open(src []byte, packed bool) (*Table, error) {
	if packed {
		return openTable(src)
	}
	text, err := Minify(src)
	if err != nil {
		return nil, err
	}
	if text[0] != '[' {
		return nil, fmt.Errorf("%w: not an array", ErrShape)
	}
	t := &Table{}
	for row := range items(text) {
		t.rows = append(t.rows, row)
	}
	return t, nil
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Row is the i-th row as JSON, made when it is asked for; the caller may keep it. It panics when i is out
// of range, as a slice does.
func (t *Table) Row(i int) ([]byte, error) {
	if t.keys == nil {
		return bytes.Clone(t.rows[i]), nil
	}
	n, err := t.size(i)
	if err != nil {
		return nil, err
	}
	return t.appendPlain(make([]byte, 0, n), i), nil
}

// Decode parses the i-th row into v, as json.Unmarshal does.
func (t *Table) Decode(i int, v any) error {
	row, err := t.Row(i)
	if err != nil {
		return err
	}
	return json.Unmarshal(row, v)
}

func openTable(src []byte) (*Table, error) {
	text, err := Minify(src)
	if err != nil {
		return nil, err
	}
	if text[0] != '{' {
		return nil, fmt.Errorf("%w: not an object", ErrShape)
	}
	t := &Table{keys: [][]byte{}}
	n := 0
	for name, val := range fields(text) {
		switch {
		case n == 0 && string(name) == `"key"` && val[0] == '[':
			err = t.takeKeys(val)
		case n == 1 && string(name) == `"list"` && val[0] == '[':
			for row := range items(val) {
				t.rows = append(t.rows, row)
			}
		default:
			err = fmt.Errorf(`%w: want the members "key" and "list"`, ErrShape)
		}
		if n++; err != nil {
			return nil, err
		}
	}
	if n != 2 {
		return nil, fmt.Errorf(`%w: want the members "key" and "list"`, ErrShape)
	}
	return t, nil
}

func (t *Table) takeKeys(list []byte) error {
	for k := range items(list) {
		if k[0] != '"' {
			return fmt.Errorf("%w: key %d is no string", ErrShape, len(t.keys))
		}
		t.keys = append(t.keys, k)
	}
	return nil
}

// size is the length of the i-th row as it was, and the check that it can be had.
func (t *Table) size(i int) (int64, error) {
	row := t.rows[i]
	if row[0] != '{' {
		return 0, fmt.Errorf("%w: row %d is no object", ErrShape, i)
	}
	size, n := int64(2), 0
	for k, v := range fields(row) {
		key := t.key(k)
		if key == nil {
			return 0, fmt.Errorf("%w: row %d has a member %.40s, and there are %d keys", ErrShape, i, k, len(t.keys))
		}
		size += int64(len(key) + 1 + len(v))
		n++
	}
	return size + int64(max(n-1, 0)), nil
}

// appendPlain writes the i-th row as it was; size has checked it.
func (t *Table) appendPlain(out []byte, i int) []byte {
	out = append(out, '{')
	n := 0
	for k, v := range fields(t.rows[i]) {
		out = comma(out, n)
		out = append(out, t.key(k)...)
		out = append(out, ':')
		out = append(out, v...)
		n++
	}
	return append(out, '}')
}

// key is the key whose number a member's name is, or nil.
func (t *Table) key(name []byte) []byte {
	name = name[1 : len(name)-1]
	if len(name) == 0 || len(name) > 9 || name[0] == '0' && len(name) > 1 {
		return nil
	}
	n := 0
	for _, c := range name {
		if c < '0' || c > '9' {
			return nil
		}
		n = n*10 + int(c-'0')
	}
	if n >= len(t.keys) {
		return nil
	}
	return t.keys[n]
}
