package soundpack

// Which layout a file is. A pack of two files is known by the index beside the data, one of one file by
// its head, and either by its arithmetic. Where one answers, it is taken for what it is, so that damage
// is told in its terms; where several do, those count whose arithmetic holds for every record.

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// An opener opens a file to look into it.
type opener func(path string) (looked, error)

type looked interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

func openLook(path string) (looked, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err // not f, which would be an interface around nil
	}
	return f, nil
}

// A find is a layout and the index that it would have; "" where that is in the data.
type find struct {
	layout layout
	index  string
}

// detect finds the layout of the pack whose data is at path, unless name forces one; index is where its
// index is said to be, "" if it is not said. That something is missing is left to whoever opens it.
func detect(open opener, path, index, name string) (find, error) {
	if name != "" {
		return forced(path, index, name)
	}
	size := int64(-1)
	data, err := open(path)
	if err == nil {
		defer data.Close()
		if info, err := data.Stat(); err == nil {
			size = info.Size()
		}
	}
	beside, wrong := besides(open, path, index)
	var heads []find
	if index == "" && size >= 0 {
		heads = headings(data, size)
	}
	if index == "" {
		beside = notOfOthers(open, path, heads, beside)
	}
	switch all := append(heads, beside...); len(all) {
	case 1:
		return all[0], nil
	case 0:
		if wrong != nil {
			return find{}, wrong
		}
		return byName(path, index, data, size)
	default:
		return choose(open, all, len(heads), size, path)
	}
}

// forced is the layout of that name.
func forced(path, index, name string) (f find, err error) {
	if f.layout, err = pick(name); err != nil {
		return f, err
	}
	if f.layout.traits().head {
		if index != "" {
			return f, fmt.Errorf("the %s layout has no index beside the data: %w", name, fs.ErrInvalid)
		}
		return f, nil
	}
	if f.index = index; index == "" {
		f.index, err = f.layout.index(path)
	}
	return f, err
}

// besides are the layouts of two files whose index is there. wrong is why a path cannot be that of any
// data.
func besides(open opener, path, index string) (all []find, wrong error) {
	for _, l := range layouts {
		if l.traits().head {
			continue
		}
		at := index
		if at == "" {
			var err error
			if at, err = l.index(path); err != nil {
				wrong = err
				continue
			}
		}
		if f, err := open(at); err == nil {
			f.Close()
			all = append(all, find{l, at})
		}
	}
	return all, wrong
}

// usualData are the endings of data files of the layouts of two files.
var usualData = map[string]string{"split": ".data", "crc": ".dat"}

// isUsualData tells whether a file is called as data of two files.
func isUsualData(path string) bool {
	ext := filepath.Ext(path)
	return ext == usualData["split"] || ext == usualData["crc"]
}

// notOfOthers leaves out the indexes that belong to other data beside them, where something else can be
// meant: packs of several layouts may lie side by side. heads are the layouts of one file that fit.
func notOfOthers(open opener, path string, heads, all []find) []find {
	if len(all) == 0 || len(heads)+len(all) < 2 && !pickHead(hint(path, "")) {
		return all
	}
	var own []find
	for _, f := range all {
		data := strings.TrimSuffix(f.index, filepath.Ext(f.index)) + usualData[f.layout.name()]
		if filepath.Clean(data) != filepath.Clean(path) && owns(open, data, f, len(heads) > 0) {
			continue
		}
		own = append(own, f)
	}
	return own
}

// owns tells whether data is there for an index to belong to, and, if that counts, fits it.
func owns(open opener, data string, f find, fitting bool) bool {
	file, err := open(data)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	return err == nil && (!fitting || holds(open, f, info.Size()))
}

// headings are the layouts of one file whose arithmetic holds.
func headings(data io.ReaderAt, size int64) (all []find) {
	for _, l := range layouts {
		h, ok := l.(heading)
		if !ok || !h.probe(data, size) {
			continue
		}
		raw, err := h.read(data, size, maxIndex)
		if err != nil || h.sniff(raw, size) != nil {
			continue
		}
		if x, _, err := h.load(raw); err == nil && h.fits(x, raw, size) {
			all = append(all, find{layout: l})
		}
	}
	return all
}

// choose is the one of several whose arithmetic holds; the first n are known to.
func choose(open opener, all []find, n int, size int64, path string) (find, error) {
	fits := all[:n:n]
	for _, f := range all[n:] {
		if holds(open, f, size) {
			fits = append(fits, f)
		}
	}
	switch len(fits) {
	case 0:
		for _, f := range all { // all are damaged: go by the name
			if at, err := f.layout.index(path); err == nil && f.layout.name() == hint(path, at) {
				return f, nil
			}
		}
		return all[0], nil
	case 1:
		return fits[0], nil
	}
	var names []string
	for _, f := range fits {
		names = append(names, f.layout.name())
	}
	return find{}, fmt.Errorf("more than one layout fits (%s): say which with --layout: %w", strings.Join(names, ", "), fs.ErrInvalid)
}

// holds tells whether an index's arithmetic holds for every record.
func holds(open opener, f find, size int64) bool {
	file, err := open(f.index)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() > maxIndex {
		return false
	}
	raw, err := readString(io.NewSectionReader(file, 0, info.Size()), info.Size())
	if err != nil || f.layout.sniff(raw, size) != nil {
		return false
	}
	x, bad, err := f.layout.load(raw)
	if err != nil || len(bad) > 0 {
		return false
	}
	for i := range x.len() {
		if off, n := x.span(i); off+n > size || x.odd(i) != "" {
			return false
		}
	}
	return true
}

// byName is the layout of a file that looks like none: the one whose head comes close, or the one that
// files of its name have, which then says what is wrong.
func byName(path, index string, data io.ReaderAt, size int64) (find, error) {
	name := hint(path, index)
	for _, l := range layouts {
		h, ok := l.(heading)
		if ok && index == "" && size > 0 && (name == l.name() || h.probe(data, size)) {
			return find{layout: l}, nil
		}
	}
	if index != "" && name != "crc" {
		name = "split"
	}
	if name == "" || pickHead(name) {
		name = "split"
	}
	return forced(path, index, name)
}

func pickHead(name string) bool {
	l, err := pick(name)
	return err == nil && l.traits().head
}

// hint is the layout that files have that are called so; "" none.
func hint(path, index string) string {
	if strings.EqualFold(filepath.Ext(index), ".index") {
		return "crc"
	}
	base := strings.ToLower(filepath.Base(path))
	switch ext := filepath.Ext(base); {
	case ext == ".data":
		return "split"
	case ext == ".dat":
		return "crc"
	case ext == ".pck":
		return "pck"
	case strings.HasPrefix(base, "cfg_") && (ext == ".txt" || ext == ".bin"):
		return "cfg"
	}
	return ""
}
