package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Keys are the keys that sounds are put on, in order. q is missing: it quits.
const Keys = "123456789abcdefghijklmnoprstuvwxyz"

// maxKeymap is how large a key map's file may be: a name for each key, with room to spare.
const maxKeymap = 1 << 20

// A Keymap says which sound is on which key. It is kept in a JSON file that people can edit:
//
//	{"version": 1, "keys": {"1": "drumloop.wav", "a": "ui/click.wav"}}
//
// Names stay in it whether the pack at hand has them or not.
type Keymap struct {
	names   [len(Keys)]string // "" is a free key
	file    string            // "" keeps it in memory alone
	unknown map[string]json.RawMessage
	changed bool
}

// NewKeymap puts names on the keys, in order, as far as there are keys.
func NewKeymap(names []string) *Keymap {
	m := &Keymap{}
	copy(m.names[:], names)
	return m
}

// LoadKeymap reads a key map from a file, to which Save writes it back. Where there is no such file
// the names are put on the keys in order.
func LoadKeymap(file string, names []string) (*Keymap, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is not waited for
	if errors.Is(err, fs.ErrNotExist) {
		m := NewKeymap(names)
		m.file, m.changed = file, true
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxKeymap {
		return nil, fmt.Errorf("%s: no key map: it must be a file of at most %d bytes", file, maxKeymap)
	}
	b := make([]byte, info.Size())
	n, err := f.ReadAt(b, 0)
	if n < len(b) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	m := &Keymap{file: file}
	if err := m.parse(b); err != nil {
		return nil, fmt.Errorf("%s: no key map: %w", file, err)
	}
	return m, nil
}

func (m *Keymap) parse(b []byte) error {
	if err := json.Unmarshal(b, &m.unknown); err != nil {
		return err
	}
	var version int
	var keys map[string]string
	if err := field(m.unknown, "version", &version); err != nil {
		return err
	}
	if version != 1 {
		return fmt.Errorf("version %d, only 1 is known", version)
	}
	if err := field(m.unknown, "keys", &keys); err != nil {
		return err
	}
	for k, name := range keys {
		i := -1
		if len(k) == 1 {
			i = strings.IndexByte(Keys, k[0])
		}
		if i < 0 {
			return fmt.Errorf("%q is no key for a sound: those are 1 to 9 and a to z without q", k)
		}
		m.names[i] = name
	}
	return nil
}

// field takes one field out of an object.
func field(object map[string]json.RawMessage, name string, to any) error {
	raw, ok := object[name]
	if !ok {
		return fmt.Errorf("it has no %q", name)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	return nil
}

// Name is the sound on a key, "" where there is none.
func (m *Keymap) Name(key byte) string {
	if i := strings.IndexByte(Keys, key); i >= 0 {
		return m.names[i]
	}
	return ""
}

// indexOf is the place in Keys of the key that a sound is on, -1 without one.
func (m *Keymap) indexOf(name string) int {
	for i, n := range m.names {
		if n == name {
			return i
		}
	}
	return -1
}

// Put puts a sound on a key, instead of any other key that it was on; "" frees the key.
func (m *Keymap) Put(key byte, name string) {
	i := strings.IndexByte(Keys, key)
	if i < 0 || m.names[i] == name {
		return
	}
	for j := range m.names {
		if m.names[j] == name {
			m.names[j] = ""
		}
	}
	m.names[i], m.changed = name, true
}

// Fill puts names on all keys anew, in order; keys beyond them are free.
func (m *Keymap) Fill(names []string) {
	next := NewKeymap(names).names
	if next != m.names {
		m.names, m.changed = next, true
	}
}

// Changed reports that there is something to save.
func (m *Keymap) Changed() bool { return m.changed && m.file != "" }

// Save writes the key map to its file, the whole of it or nothing.
func (m *Keymap) Save() error {
	if m.file == "" {
		return errors.New("no file for the key map: name one with --keys FILE")
	}
	b, err := m.marshal()
	if err != nil {
		return err
	}
	target := m.file
	if real, err := filepath.EvalSymlinks(target); err == nil {
		target = real // a link stays one
	}
	tmp, err := os.CreateTemp(filepath.Dir(target), ".keys-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(b)
	err = errors.Join(err, tmp.Sync(), tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	m.changed = false
	return nil
}

// marshal keeps the order of the keyboard and whatever else the file held.
func (m *Keymap) marshal() ([]byte, error) {
	var keys bytes.Buffer
	keys.WriteByte('{')
	for i, name := range m.names {
		if name == "" {
			continue
		}
		if keys.Len() > 1 {
			keys.WriteByte(',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&keys, "%q:%s", Keys[i:i+1], quoted)
	}
	keys.WriteByte('}')
	object := map[string]json.RawMessage{}
	for k, v := range m.unknown {
		object[k] = v
	}
	object["version"] = json.RawMessage("1")
	object["keys"] = keys.Bytes()
	b, err := json.MarshalIndent(object, "", "  ")
	return append(b, '\n'), err
}
