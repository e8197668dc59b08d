package soundpack

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	blockSize = 128 << 10 // bytes that are asked for at the least, and kept together
	runBlocks = 8         // blocks that are asked for at once at the most
	atOnce    = 4         // requests under way for a file
)

// A remoteFile is the data on a server, an io.ReaderAt over blocks that are fetched as they are read,
// and ahead of whoever reads on. Blocks that were not used for longest go first.
type remoteFile struct {
	web  *web
	url  *url.URL
	name string // for messages
	etag string // pinned; "" for data that is in memory
	size int64
	time time.Time

	slots   chan struct{} // one for each request under way
	ahead   sync.WaitGroup
	changed atomic.Bool // the server has another version now

	mu      sync.Mutex // guards what follows
	closed  bool
	blocks  map[int64]*remoteBlock
	clock   int64     // counts uses
	streams [8]readOn // whoever reads on
}

// A remoteBlock is one block of the data, or the wait for it.
type remoteBlock struct {
	ready chan struct{} // closed once data or err is there; nil when it always was
	data  []byte
	err   error
	used  int64 // when, by the file's clock
}

// A readOn is a place at which somebody reads on.
type readOn struct {
	next   int64 // the block behind the last one read
	window int64 // blocks to have ready from there on
	used   int64
}

// open asks for the first block, and learns from the answer what the file is.
func (w *web) open(u *url.URL) (*remoteFile, error) {
	r := &remoteFile{web: w, url: u, name: w.show(shown(u)), slots: make(chan struct{}, atOnce), blocks: map[int64]*remoteBlock{}}
	err := w.persist(func() (bool, error) { return false, r.begin() })
	if err != nil {
		return nil, &farError{r.name, err}
	}
	return r, nil
}

func (r *remoteFile) begin() error {
	header := plainHeader()
	header.Set("Range", fmt.Sprintf("bytes=0-%d", blockSize-1))
	resp, err := r.web.get(r.url, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	r.time = modified(resp)
	switch resp.StatusCode {
	case http.StatusPartialContent:
		return r.beginRanges(resp)
	case http.StatusOK:
		return r.beginWhole(resp)
	case http.StatusRequestedRangeNotSatisfiable:
		if strings.TrimSpace(resp.Header.Get("Content-Range")) == "bytes */0" {
			return nil // an empty file has no first byte
		}
	}
	return refused(resp)
}

func (r *remoteFile) beginRanges(resp *http.Response) error {
	from, to, total, err := contentRange(resp)
	if err != nil {
		return err
	}
	if from != 0 || to != min(blockSize, total)-1 {
		return wrongRange(resp)
	}
	if total > maxData {
		return fmt.Errorf("%w: %d bytes, and %d is the most", ErrLimit, total, int64(maxData))
	}
	etag := resp.Header.Get("ETag")
	if len(etag) < 2 || etag[0] != '"' {
		return serverError{fmt.Sprintf("the server gives no strong ETag (%q), by which a change of the data is told", etag), errors.ErrUnsupported}
	}
	block, err := readBlock(resp, to+1)
	if err != nil {
		return err
	}
	r.etag, r.size = etag, total
	r.blocks[0] = &remoteBlock{data: block}
	return nil
}

// beginWhole is about a server that sends no ranges.
func (r *remoteFile) beginWhole(resp *http.Response) error {
	switch {
	case resp.ContentLength == 0:
		return nil
	case r.web.whole <= 0:
		return serverError{"the server sends no ranges (200 for a range), by which a pack is read", errors.ErrUnsupported}
	}
	text, err := readAnswer(resp, r.web.whole)
	if err != nil {
		return err
	}
	r.size = int64(len(text))
	for at := int64(0); at < r.size; at += blockSize {
		r.blocks[at/blockSize] = &remoteBlock{data: []byte(text[at:min(at+blockSize, r.size)])}
	}
	return nil
}

// readBlock reads n bytes of an answer.
func readBlock(resp *http.Response, n int64) ([]byte, error) {
	if err := encoded(resp); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if got, err := io.ReadFull(resp.Body, b); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, &passing{err: fmt.Errorf("after %d of %d bytes: %w", got, n, err)}
	}
	return b, nil
}

// contentRange reads "bytes FROM-TO/TOTAL", and nothing else.
func contentRange(resp *http.Response) (from, to, total int64, err error) {
	s, ok := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes ")
	span, all, ok2 := strings.Cut(s, "/")
	first, last, ok3 := strings.Cut(span, "-")
	var errs [3]error
	from, errs[0] = digits(first)
	to, errs[1] = digits(last)
	total, errs[2] = digits(all)
	if !ok || !ok2 || !ok3 || errors.Join(errs[:]...) != nil || from > to || to >= total {
		return 0, 0, 0, wrongRange(resp)
	}
	if n := resp.ContentLength; n >= 0 && n != to-from+1 {
		return 0, 0, 0, &passing{err: fmt.Errorf("the server sends %d bytes for a range of %d", n, to-from+1)}
	}
	return from, to, total, nil
}

// digits takes no sign.
func digits(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err
}

// wrongRange may be what a confused cache in between sent.
func wrongRange(resp *http.Response) error {
	return &passing{err: fmt.Errorf("the server sends another range than was asked for (%q)", resp.Header.Get("Content-Range"))}
}

// load fetches the blocks from first to last, and has each there as soon as its bytes are. What came is
// kept when the rest fails, and not asked for again.
func (r *remoteFile) load(first, last int64) {
	next := first
	err := r.web.persist(func() (progress bool, err error) {
		before := next
		err = r.request(&next, last)
		return next > before, err
	})
	if err == nil {
		return
	}
	if errors.Is(err, ErrChanged) {
		r.changed.Store(true)
	}
	if !errors.Is(err, ErrClosed) {
		err = fmt.Errorf("%s: %w", r.name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for ; next <= last; next++ { // the next who wants one tries again
		b := r.blocks[next]
		delete(r.blocks, next)
		b.err = err
		close(b.ready)
	}
}

// request sends one request for the blocks from *next to last, and moves *next on with each that came.
func (r *remoteFile) request(next *int64, last int64) error {
	if r.changed.Load() {
		return ErrChanged
	}
	from, to := *next*blockSize, min((last+1)*blockSize, r.size)-1
	header := plainHeader()
	header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, to))
	header.Set("If-Range", r.etag)
	resp, err := r.web.get(r.url, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := r.check(resp, from, to); err != nil {
		return err
	}
	for *next <= last {
		data, err := readBlock(resp, min(blockSize, r.size-*next*blockSize))
		if err != nil {
			return err
		}
		r.mu.Lock()
		b := r.blocks[*next]
		b.data = data
		close(b.ready)
		r.mu.Unlock()
		*next++
	}
	return nil
}

// check tells whether an answer is the range that was asked for, of the pinned version.
func (r *remoteFile) check(resp *http.Response, from, to int64) error {
	etag := resp.Header.Get("ETag")
	switch {
	case resp.StatusCode == http.StatusOK && etag != r.etag, resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return fmt.Errorf("%w: the server has another version than when it was opened", ErrChanged)
	case resp.StatusCode == http.StatusOK:
		return &passing{err: errors.New("the server sends no ranges any more (200 for a range)")}
	case resp.StatusCode != http.StatusPartialContent:
		return refused(resp)
	case etag == "":
		return &passing{err: errors.New("the server sends a range without its ETag")}
	case etag != r.etag:
		return fmt.Errorf("%w: its ETag was %s, and is %s", ErrChanged, r.etag, etag)
	}
	gotFrom, gotTo, total, err := contentRange(resp)
	if err != nil {
		return err
	}
	if total != r.size {
		return fmt.Errorf("%w: %d bytes when opened, %d now", ErrChanged, r.size, total)
	}
	if gotFrom != from || gotTo != to {
		return wrongRange(resp)
	}
	return nil
}

// ReadAt waits for the blocks that are not there.
func (r *remoteFile) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("negative offset")
	}
	end := min(off+int64(len(p)), r.size)
	for off < end {
		b, err := r.block(off/blockSize, (end-1)/blockSize)
		if err != nil {
			return n, err
		}
		k := copy(p[n:], b[off%blockSize:])
		n, off = n+k, off+int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// block is the i-th block. Where it is not there, those behind it up to last are fetched with it.
func (r *remoteFile) block(i, last int64) ([]byte, error) {
	b := r.present(i)
	if b == nil {
		select {
		case r.slots <- struct{}{}:
		case <-r.web.ctx.Done():
			return nil, ErrClosed
		}
		b = r.demand(i, last)
		<-r.slots
	}
	if b.ready != nil {
		<-b.ready // load closes it in any case
	}
	if b.err != nil {
		return nil, b.err
	}
	r.readAhead(i)
	return b.data, nil
}

// present is the i-th block if it is there or on its way.
func (r *remoteFile) present(i int64) *remoteBlock {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.blocks[i]
	if b != nil {
		r.clock++
		b.used = r.clock
	}
	return b
}

// demand loads blocks from the i-th on, unless somebody else does by now.
func (r *remoteFile) demand(i, last int64) *remoteBlock {
	r.mu.Lock()
	b := r.blocks[i]
	if b != nil {
		r.mu.Unlock()
		return b
	}
	last = r.claim(i, min(last, i+runBlocks-1))
	b = r.blocks[i]
	r.mu.Unlock()
	r.load(i, last)
	return b
}

// claim makes places for the blocks from first on that are not there, last at the most, and returns the
// last of them. The caller has the lock, and fetches them.
func (r *remoteFile) claim(first, last int64) int64 {
	for i := first; i <= last; i++ {
		if r.blocks[i] != nil {
			return i - 1
		}
		if len(r.blocks) >= r.web.blocks {
			r.evict()
		}
		r.clock++
		r.blocks[i] = &remoteBlock{ready: make(chan struct{}), used: r.clock}
	}
	return last
}

// evict drops the block that was not used for longest. Data without an ETag is all there is.
func (r *remoteFile) evict() {
	oldest, when := int64(-1), r.clock+1
	for i, b := range r.blocks {
		if b.data != nil && b.used < when {
			oldest, when = i, b.used
		}
	}
	if oldest >= 0 && r.etag != "" {
		delete(r.blocks, oldest)
	}
}

// readAhead takes note of who reads on, and fetches what comes next: one block for who has read two, up
// to runBlocks for who goes on.
func (r *remoteFile) readAhead(i int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from, to := r.note(i)
	to = min(to, (r.size-1)/blockSize)
	for from <= to && r.blocks[from] != nil {
		from++
	}
	if r.closed || from > to || len(r.slots) >= atOnce/2 {
		return // there is enough under way, and who waits comes first
	}
	select {
	case r.slots <- struct{}{}:
	default:
		return
	}
	to = r.claim(from, to)
	r.ahead.Go(func() {
		defer func() { <-r.slots }()
		r.load(from, to)
	})
}

// note finds whoever reads on at the i-th block, and gives the blocks to have ready for them. It gives
// none until half of what was had ready is read, so that few requests fetch much each.
func (r *remoteFile) note(i int64) (from, to int64) {
	r.clock++
	oldest := &r.streams[0]
	for k := range r.streams {
		s := &r.streams[k]
		switch {
		case i == s.next-1 && s.used > 0: // still there
			s.used = r.clock
			return 0, -1
		case i == s.next && s.used > 0:
			s.used, s.next = r.clock, i+1
			s.window = min(max(2*s.window, 1), runBlocks)
			if r.blocks[i+1+s.window/2] != nil {
				return 0, -1
			}
			return i + 1, i + s.window
		case s.used < oldest.used:
			oldest = s
		}
	}
	*oldest = readOn{next: i + 1, used: r.clock}
	return 0, -1
}

// Close ends what is under way. Reads fail with ErrClosed.
func (r *remoteFile) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.web.close()
	r.ahead.Wait()
	return nil
}
