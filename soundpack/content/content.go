// Package content keeps what a game has loaded in memory, once, for as long as somebody holds it, and
// within a budget of bytes.
//
// [New] makes a [Cache], which has the budget. A [Kind] is one type of content in it and knows how to
// load it: [Images] and [JSON] load files of any fs.FS, [NewKind] takes any function, as a player does
// for its clips. [Kind.Get] gives a [Handle]:
//
//	cache := content.New(content.Options{Budget: 64 << 20})
//	sprites := content.Images(cache, pack, content.ImageOptions{})
//	ship, err := sprites.Get(ctx, "ship.png") // decoded now, or by whoever asked first
//	draw(ship.Value())
//	ship.Release()                            // may go when room is wanted; a later Get finds it if not
//
// Whoever asks for what is being loaded waits for that load, and one who stops waiting does not end it
// for the others. What fails to load is told to all who waited and is not kept: the next Get tries again.
//
// All that is loaded counts against the budget, before its memory is taken. What nobody holds stays
// until room is wanted, and goes in the order of its last use; what is held never goes. Where room
// cannot be made, a load fails with [ErrBudget].
//
// A Handle is released once. A second Release changes nothing and says so, and a Value taken after
// Release is the zero value; both count in [Stats]. [Cache.Leaks] tells what was not released.
//
// All methods may be called from any goroutine. The package starts one goroutine a load; after
// [Cache.Close] there is none.
//
// Left out: knowledge of packs and sounds, and any content that changes once loaded ([Kind.Forget] has
// it loaded anew).
package content

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Errors that a caller can branch on. They come wrapped with the kind and the key. What a load says is
// told as it is, beside fs.ErrNotExist and whatever else its file system returns.
var (
	// ErrBudget: what is held leaves no room for more.
	ErrBudget = errors.New("no room in the budget")
	// ErrLimit: a file or a picture is larger than the options of its kind allow.
	ErrLimit = errors.New("over the limit")
	// ErrFormat: the bytes are not what they should be.
	ErrFormat = errors.New("damaged or of no known format")
	// ErrReleased: the handle was released before.
	ErrReleased = errors.New("handle was released before")
	// ErrClosed: the cache was closed.
	ErrClosed = errors.New("cache is closed")
)

// Options are the settings of a Cache. The zero value is right for a game on a desktop.
type Options struct {
	// Budget is how many bytes everything loaded may take; 0 = 256 MiB, negative = no end.
	Budget int64
	// Track keeps where each handle was taken, for Leaks. It costs about a microsecond a handle, so
	// it is for tests and debugging.
	Track bool
}

const defaultBudget = 256 << 20

// A Cache holds content of several kinds within one budget. Close it.
type Cache struct {
	track bool

	mu      sync.Mutex // guards what follows, and all items and kinds of the cache
	closed  bool
	budget  int64 // negative: no end
	used    int64 // bytes of all items
	idle    list  // loaded and held by nobody, the one used last behind the others
	held    list  // loaded and held
	loading list
	stats   Stats // counters; the other fields are filled in by Stats

	loads sync.WaitGroup
}

// New returns an empty cache.
func New(o Options) *Cache {
	if o.Budget == 0 {
		o.Budget = defaultBudget
	}
	c := &Cache{track: o.Track, budget: o.Budget}
	for _, l := range []*list{&c.idle, &c.held, &c.loading} {
		l.init()
	}
	return c
}

// Stats tells what a cache holds and what it did.
type Stats struct {
	Budget, Used, Idle, Peak int64 // bytes: allowed, taken, of it held by nobody, and most ever taken

	Items   int // loaded
	Held    int // of them held by somebody
	Loading int // being loaded

	Loads    int64 // begun
	Failed   int64 // of them
	Hits     int64 // Gets that found their content loaded
	Waits    int64 // Gets that joined a load
	Evicted  int64 // items that went to make room
	Misused  int64 // second Releases, and Values and Clones of released handles
	Canceled int64 // loads that everybody stopped waiting for
}

// Stats is a snapshot.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Budget, s.Used, s.Idle = c.budget, c.used, c.idle.cost
	s.Items, s.Held, s.Loading = c.idle.n+c.held.n, c.held.n, c.loading.n
	return s
}

// SetBudget changes the budget, 0 and negative as in Options, and lets go of as much of what nobody
// holds as is over it. What is held may stay over it.
func (c *Cache) SetBudget(bytes int64) {
	if bytes == 0 {
		bytes = defaultBudget
	}
	c.mu.Lock()
	c.budget = bytes
	var gone []*node
	if bytes > 0 {
		gone = c.evict(bytes)
	}
	c.mu.Unlock()
	free(gone)
}

// Trim lets go of what nobody holds, what was used longest ago first, until no more than bytes are
// taken; 0 = all of it. It is for moments when memory is wanted elsewhere, as between levels.
func (c *Cache) Trim(bytes int64) {
	c.mu.Lock()
	gone := c.evict(max(bytes, 0))
	c.mu.Unlock()
	free(gone)
}

// evict takes idle items out of the cache until used is at most bytes. The caller frees them once the
// lock is released, for that runs code of the kind.
func (c *Cache) evict(bytes int64) (gone []*node) {
	for c.used > bytes && c.idle.n > 0 {
		it := c.idle.first()
		c.remove(it)
		c.stats.Evicted++
		gone = append(gone, it)
	}
	return gone
}

// remove takes an item out of its list and its table, and gives its bytes back.
func (c *Cache) remove(it *node) {
	it.list.remove(it)
	it.unlist()
	c.used -= it.cost
	it.cost = 0
}

func free(gone []*node) {
	for _, it := range gone {
		it.free()
	}
}

// reserve takes bytes for an item that is being loaded, and makes room for them. Nothing goes in
// vain: where all that is idle is not enough, all of it stays.
func (c *Cache) reserve(it *node, bytes int64) error {
	c.mu.Lock()
	if err := c.mayReserve(it, bytes); err != nil {
		c.mu.Unlock()
		return err
	}
	var gone []*node
	if bytes > 0 && c.budget >= 0 {
		gone = c.evict(c.budget - bytes)
	}
	c.addCost(it, max(bytes, -it.cost))
	c.mu.Unlock()
	free(gone)
	return nil
}

func (c *Cache) mayReserve(it *node, bytes int64) error {
	switch {
	case it.list != &c.loading:
		return errors.New("memory asked for after the load ended")
	case c.closed:
		return ErrClosed
	case it.refs == 0:
		return context.Canceled // nobody waits any more
	case bytes > 0 && c.budget >= 0 && bytes > c.budget-(c.used-c.idle.cost):
		return fmt.Errorf("%w: %d bytes wanted, %d of %d are held", ErrBudget, bytes, c.used-c.idle.cost, c.budget)
	}
	return nil
}

func (c *Cache) addCost(it *node, bytes int64) {
	it.cost += bytes
	it.list.cost += bytes
	c.used += bytes
	c.stats.Peak = max(c.stats.Peak, c.used)
}

// A Leak is content that is still held.
type Leak struct {
	Kind, Key string
	Handles   int
	Taken     []string // file:line of each Get and Clone; with Options.Track only
}

// String tells the leak in one line.
func (l Leak) String() string {
	s := fmt.Sprintf("%s %q is held %d times", l.Kind, l.Key, l.Handles)
	for i, t := range l.Taken {
		sep := ", "
		if i == 0 {
			sep = ", taken at "
		}
		s += sep + t
	}
	return s
}

// Leaks is what is held now, in the order of its first Get. A test that has released everything
// expects none.
func (c *Cache) Leaks() []Leak {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Leak
	for it := range c.held.all() {
		l := Leak{Kind: it.kind, Key: it.key, Handles: it.refs}
		for t := range it.taken {
			l.Taken = append(l.Taken, *t)
		}
		all = append(all, l)
	}
	return all
}

// Close ends the cache: Gets fail with ErrClosed, also those that wait, and what nobody holds goes. It
// returns once no load runs any more. What is held stays good and goes with its last Release; the error
// tells it, for by then all should have been released. A second Close does nothing.
func (c *Cache) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	gone := c.evict(-1)
	for it := range c.loading.all() {
		it.cancel()
	}
	c.mu.Unlock()
	free(gone)
	c.loads.Wait()
	leaks := c.Leaks()
	if len(leaks) == 0 {
		return nil
	}
	return fmt.Errorf("content: closed while %d items are held: %v", len(leaks), leaks[0])
}
