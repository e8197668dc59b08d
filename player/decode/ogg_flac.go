package decode

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sort"
)

// FLAC in Ogg (RFC 9639, section 10.1) is the native stream cut into packets, behind a head in the
// first one:
//
//	1  0x7f
//	4  "FLAC"
//	2  version of the mapping, 1.0
//	2  number of header packets behind this one, big-endian, 0 = not told
//	   "fLaC" and the STREAMINFO block: the native stream begins
//
// So the native stream is what the pages hold, one behind the other.
const oggFLACHead = 9

// demuxFLAC returns the native FLAC stream that an Ogg file holds, and its length. Of several the
// first is taken, up to where another link begins. Pages are taken by their lengths, not by their
// checksums, as FLAC frames have their own.
func demuxFLAC(r io.ReaderAt, size int64) (io.ReaderAt, int64, error) {
	o := newOggReader(source{r, size})
	list, err := o.begin()
	if err != nil {
		return nil, 0, err
	}
	i := slices.IndexFunc(list, func(s oggStream) bool { return s.codec == "FLAC" })
	if i < 0 {
		return nil, 0, fmt.Errorf("%w: %s in Ogg", ErrUnsupported, oggNameList(list))
	}
	first := list[i]
	switch {
	case !bytes.HasPrefix(first.first, []byte("\x7fFLAC\x01")):
		return nil, 0, fmt.Errorf("%w: FLAC in Ogg by an old mapping", ErrUnsupported)
	case len(first.first) < oggFLACHead+4 || string(first.first[oggFLACHead:][:4]) != "fLaC":
		return nil, 0, fmt.Errorf("%w: FLAC in Ogg without its head", ErrCorrupt)
	}
	d := &oggBodies{src: o.source}
	d.add(first.body+oggFLACHead, first.length-oggFLACHead)
	err = o.walk(o.at, func(p *oggPage) bool {
		if p.flags&oggFirst != 0 {
			return false
		}
		if p.serial == first.serial {
			head := int64(oggFixed + len(p.segments))
			d.cut(p.off)
			d.add(p.off+head, p.len-head)
		}
		return true
	})
	if err != nil {
		return nil, 0, err
	}
	return d, d.size, nil
}

// oggBodies reads the bodies of pages as one.
type oggBodies struct {
	src  source
	size int64
	at   []int64 // where each body begins in the whole
	off  []int64 // and in the file
}

// add appends a body, cut where the file ends.
func (d *oggBodies) add(off, n int64) {
	if n = min(n, d.src.size-off); n > 0 {
		d.at, d.off = append(d.at, d.size), append(d.off, off)
		d.size += n
	}
}

// cut ends the last body at off, where it runs into the page that begins there: its length was
// wrong.
func (d *oggBodies) cut(off int64) {
	last := len(d.at) - 1
	d.size = d.at[last] + max(0, min(d.size-d.at[last], off-d.off[last]))
}

// ReadAt implements io.ReaderAt.
func (d *oggBodies) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("ogg: read at %d", off)
	}
	n := 0
	i := sort.Search(len(d.at), func(i int) bool { return d.at[i] > off }) - 1
	for ; n < len(b) && off < d.size; i++ {
		end := d.size
		if i+1 < len(d.at) {
			end = d.at[i+1]
		}
		part := b[n:min(int64(len(b)), int64(n)+end-off)]
		k, err := d.src.readUpTo(part, d.off[i]+off-d.at[i])
		n += k
		if err != nil || k < len(part) {
			return n, oggEnd(err)
		}
		off += int64(k)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
