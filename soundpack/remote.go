package soundpack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// A pack on a server, read by HTTP ranges (RFC 9110, section 14). The data is one version from its
// opening on: the strong ETag of the first answer is pinned, every later request is conditional on it
// (If-Range), and an answer of another version, length or place is never taken for what was asked.

// RemoteOptions say how a pack is read from a server. The zero value, or a nil pointer, is right for
// most.
type RemoteOptions struct {
	// Cache is how many bytes of the data are kept in memory; 0 = 8 MiB, and 1 MiB is the least.
	Cache int64
	// Retries is how often a request that fails for a passing reason is sent again, each time after
	// a longer wait, as long as nothing comes; 0 = 4, negative = never.
	Retries int
	// Whole is the most bytes of data that are read as a whole, and kept in memory beside Cache, where
	// a server sends no ranges; 0 = none: that is an error.
	Whole int64
	// Client sends the requests; nil = one of our own, which takes a proxy from the environment, and
	// does not follow a redirect from a public address to a private one. Its CheckRedirect is not used.
	Client *http.Client
	// Sign is called for each request before it is sent, and may change its address and header: for
	// stores that want a signature or a token. It is not called for what a redirect leads to.
	Sign func(*http.Request) error
	// Show is what an address, which comes without its query, is called in messages, and by Path and
	// IndexPath; nil = as it is. For stores that users know by addresses of another kind.
	Show func(address string) string

	times webTimes // zero: the usual ones
}

// OpenRemote opens a pack at an http or https address, to be read by ranges as it is used; that of a
// presigned address is the data's, and Options.Index then has the index's. Without Options.Index the
// index is beside the data, with the same query; it may be a file, too. ctx is about the opening alone.
//
// The server has to send ranges and a strong ETag. Of an address that is not there the error is an
// fs.ErrNotExist, of one that is refused an fs.ErrPermission, of a server that cannot do what is needed
// an errors.ErrUnsupported. If the data changes while the pack is open, reads fail with ErrChanged.
// Addresses are shown without their query, which may hold a signature.
func OpenRemote(ctx context.Context, address string, opt *Options, remote *RemoteOptions) (*Pack, error) {
	o := opt.orZero()
	u, err := parseAddress(address)
	if err != nil {
		return nil, fmt.Errorf("soundpack: open: %w", err)
	}
	web := newWeb(remote)
	p := &Pack{opt: o, path: web.show(shown(u)), base: baseName(u.Path)}
	r := &remotePack{web: web, data: u, limit: o.maxIndex(), indexes: map[string]*remoteIndex{}}
	stop := context.AfterFunc(ctx, r.web.cancel)
	err = p.openRemote(r)
	if !stop() && err == nil {
		p.m.release()
		err = context.Cause(ctx)
	}
	if err != nil {
		if r.web.close(); r.file != nil {
			r.file.Close()
		}
		if far, ok := err.(*farError); ok && far.file == p.path {
			err = far.err // the name is there once
		}
		return nil, fmt.Errorf("soundpack: open %s: %w", p.path, r.web.because(ctx, err))
	}
	return p, nil
}

// IsRemote tells whether a path is an address that OpenRemote takes.
func IsRemote(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

func parseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("not an address") // err would show all of it
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Opaque != "":
		return nil, fmt.Errorf("%s: not an http or https address: %w", shown(u), fs.ErrInvalid)
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// shown is an address without what may be secret in it.
func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// farError is an error about a file on a server.
type farError struct {
	file string // as it is shown
	err  error
}

func (e *farError) Error() string { return e.file + ": " + e.err.Error() }
func (e *farError) Unwrap() error { return e.err }

// serverError is what a server said or lacks, and what that is an error of.
type serverError struct {
	text string
	is   error
}

func (e serverError) Error() string { return e.text }
func (e serverError) Unwrap() error { return e.is }

// A remotePack is what is known of a pack's files while it is opened.
type remotePack struct {
	web     *web
	data    *url.URL
	file    *remoteFile             // the data, once asked for
	fileErr error                   // or why not
	failed  error                   // why the server is of no use: it is not asked again
	indexes map[string]*remoteIndex // by address as it is shown
	limit   int64                   // bytes of index
}

type remoteIndex struct {
	text string
	time time.Time
	err  error
}

func (p *Pack) openRemote(r *remotePack) error {
	index, err := r.explicit(p.opt.Index)
	if err != nil {
		return err
	}
	found, err := r.find(shown(r.data), index, p.opt.Layout)
	if err != nil {
		return err
	}
	p.use(found)
	raw, err := r.table(p)
	if err != nil {
		return err
	}
	p.m = &mapping{far: r.file, size: r.file.size}
	p.m.refs.Store(1)
	p.modTime = r.file.time
	if IsRemote(p.indexPath) {
		p.indexPath = r.web.show(p.indexPath)
	}
	return p.load(raw)
}

// explicit is an index that was named: an address, whose query is kept, or a file.
func (r *remotePack) explicit(index string) (string, error) {
	if !IsRemote(index) {
		return index, nil
	}
	u, err := parseAddress(index)
	if err != nil {
		return "", err
	}
	at := shown(u)
	r.indexes[at] = r.fetchIndex(u)
	return at, r.indexes[at].err
}

// find is detect with fewer requests: the layout that files of that name have is tried alone first.
func (r *remotePack) find(path, index, name string) (find, error) {
	if likely := hint(path, index); name == "" && likely != "" {
		if f, err := forced(path, index, likely); err == nil && r.fits(f) {
			return f, nil
		}
	}
	f, err := detect(r.open, path, index, name)
	if r.failed != nil {
		return find{}, r.failed
	}
	return f, err
}

// judge takes note of an error that is about the server and not about one index.
func (r *remotePack) judge(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, ErrLimit) {
		r.failed = err
	}
}

// fits tells whether the files are those of a layout.
func (r *remotePack) fits(f find) bool {
	if h, ok := f.layout.(heading); ok {
		data, err := r.opened()
		return err == nil && h.probe(data, data.size)
	}
	x, err := r.index(f.index)
	if err != nil {
		return false
	}
	data, err := r.opened()
	return err == nil && f.layout.sniff(x.text, data.size) == nil
}

// table is the index's text, or the table at the head of the data.
func (r *remotePack) table(p *Pack) (string, error) {
	if h, ok := p.layout.(heading); ok {
		data, err := r.opened()
		if err != nil {
			return "", err
		}
		return h.read(data, data.size, r.limit)
	}
	x, err := r.index(p.indexPath)
	if err != nil {
		return "", fmt.Errorf("index: %w", err)
	}
	data, err := r.opened()
	if err != nil {
		return "", err
	}
	p.indexNewer = !data.time.IsZero() && x.time.After(data.time.Add(2*time.Second))
	return x.text, nil
}

// opened is the data.
func (r *remotePack) opened() (*remoteFile, error) {
	if r.file == nil && r.fileErr == nil {
		if r.fileErr = r.failed; r.failed == nil {
			r.file, r.fileErr = r.web.open(r.data)
			r.failed = r.fileErr // without the data there is no pack
		}
	}
	return r.file, r.fileErr
}

// index is the text of an index, fetched once whether it is there or not.
func (r *remotePack) index(at string) (*remoteIndex, error) {
	if x, ok := r.indexes[at]; ok {
		return x, x.err
	}
	x := &remoteIndex{}
	if IsRemote(at) {
		u, err := r.beside(at)
		if err != nil {
			return nil, err
		}
		if x = (&remoteIndex{err: r.failed}); r.failed == nil {
			x = r.fetchIndex(u)
			r.judge(x.err)
		}
	} else {
		x.text, x.time, x.err = readIndex(at, r.limit)
	}
	r.indexes[at] = x
	return x, x.err
}

func (r *remotePack) fetchIndex(u *url.URL) *remoteIndex {
	x := &remoteIndex{}
	x.text, x.time, x.err = r.web.fetch(u, r.limit)
	if errors.Is(x.err, fs.ErrPermission) && u.RawQuery != "" {
		x.err = fmt.Errorf("%w (a presigned address is good for one file: name the index's with --index)", x.err)
	}
	return x
}

// open is an opener over what is fetched.
func (r *remotePack) open(at string) (looked, error) {
	if at == shown(r.data) {
		f, err := r.opened()
		if err != nil {
			return nil, err
		}
		return &lookedAt{f, f.size, f.time, f.url.Path}, nil
	}
	if IsRemote(at) && isUsualData(at) {
		return r.peek(at)
	}
	x, err := r.index(at)
	if err != nil {
		return nil, err
	}
	return &lookedAt{strings.NewReader(x.text), int64(len(x.text)), x.time, at}, nil
}

// peek opens other data beside ours, of which only the first block is fetched.
func (r *remotePack) peek(at string) (looked, error) {
	u, err := r.beside(at)
	if err != nil {
		return nil, err
	}
	f, err := r.web.open(u)
	if err != nil {
		return nil, err
	}
	return &lookedAt{f, f.size, f.time, u.Path}, nil
}

// beside is the address of another file on the server, with the query of the data.
func (r *remotePack) beside(at string) (*url.URL, error) {
	named, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	u := *r.data
	u.Path, u.RawPath = named.Path, named.RawPath
	return &u, nil
}

// lookedAt is something that was fetched, and its own fs.FileInfo.
type lookedAt struct {
	io.ReaderAt
	size int64
	time time.Time
	path string
}

func (l *lookedAt) Close() error               { return nil }
func (l *lookedAt) Stat() (fs.FileInfo, error) { return l, nil }
func (l *lookedAt) Name() string               { return path.Base(l.path) }
func (l *lookedAt) Size() int64                { return l.size }
func (l *lookedAt) Mode() fs.FileMode          { return 0o444 }
func (l *lookedAt) ModTime() time.Time         { return l.time }
func (l *lookedAt) IsDir() bool                { return false }
func (l *lookedAt) Sys() any                   { return nil }
