package content

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
)

// JSONOptions are the settings of a kind of JSON. The zero value is right.
type JSONOptions struct {
	// MaxBytes is the most that a file may have; 0 = 16 MiB.
	MaxBytes int64
	// Cost is how many bytes of memory a byte of JSON takes once parsed; 0 = 8. Structs of numbers
	// take less, any and maps up to 20.
	Cost int
	// Strict refuses fields that V does not have.
	Strict bool
}

// JSON is a kind whose keys are files of fsys and whose values are what is parsed of them. Numbers in
// an any are a json.Number, so that they stay what they are beyond 2^53.
func JSON[V any](c *Cache, fsys fs.FS, o JSONOptions) *Kind[string, V] {
	limit, cost := o.MaxBytes, int64(o.Cost)
	if limit <= 0 {
		limit = 16 << 20
	}
	if cost <= 0 {
		cost = 8
	}
	return NewKind(c, "JSON", func(_ context.Context, name string, reserve Reserve) (v V, err error) {
		b, err := readFile(fsys, name, limit)
		if err != nil {
			return v, err
		}
		if err = reserve(cost * int64(len(b))); err != nil {
			return v, err
		}
		return v, parse(b, &v, o.Strict)
	}, nil)
}

// parse takes one JSON value and nothing behind it.
func parse(b []byte, v any, strict bool) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: at byte %d: %w", ErrFormat, d.InputOffset(), err)
	}
	if at := d.InputOffset(); len(bytes.TrimSpace(b[at:])) > 0 {
		return fmt.Errorf("%w: at byte %d: more behind the value", ErrFormat, at)
	}
	return nil
}

// readFile reads a file of at most limit bytes. It does not believe what Stat says beyond what to
// allocate first.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: it has %d bytes, and %d is the most", ErrLimit, info.Size(), limit)
	}
	var b bytes.Buffer
	b.Grow(int(max(info.Size(), 0)) + bytes.MinRead) // so that nothing grows where Stat is right
	n, err := b.ReadFrom(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrLimit, limit)
	}
	return b.Bytes(), nil
}
