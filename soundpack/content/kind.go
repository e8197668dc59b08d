package content

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
)

// A Reserve takes bytes of the budget for what is being loaded, before its memory is allocated; negative
// gives back. What it has taken when the load ends is what the content costs for as long as it stays,
// beside 512 bytes that each item costs.
// Its error (ErrBudget) is a reason to end the load, and is good to be returned as it is. It is only
// good while the load runs.
type Reserve func(bytes int64) error

// A Load makes the content of a key. The context ends when nobody waits any more and when the cache
// closes; a Load that sees that may stop. A panic in it is an error of that key. It may Get other
// content, as long as no two loads wait for each other.
type Load[K comparable, V any] func(ctx context.Context, key K, reserve Reserve) (V, error)

// A Kind is one type of content in a cache, found by keys of type K.
type Kind[K comparable, V any] struct {
	c     *Cache
	name  string
	load  Load[K, V]
	freed func(V)
	items map[K]*item[V] // guarded by c.mu
}

// itemCost is what an item takes beside its content, about: without it, any number of small ones would
// be within the budget.
const itemCost = 512

// An item is the content of a key.
type item[V any] struct {
	node
	value V // set before ready closes, as err is
	err   error
	ready chan struct{} // closed when the load ends
}

// NewKind adds a kind to a cache. Its name is for messages. free may be nil; else it is told each value
// that leaves the cache, once, when no handle holds it, from whichever goroutine made it go. It may
// release handles that the value has.
func NewKind[K comparable, V any](c *Cache, name string, load Load[K, V], free func(V)) *Kind[K, V] {
	return &Kind[K, V]{c: c, name: name, load: load, freed: free, items: map[K]*item[V]{}}
}

// Get gives a handle to the content of a key, and loads it if it is not there. It waits until the load
// ends or ctx does. The error names kind and key.
func (k *Kind[K, V]) Get(ctx context.Context, key K) (*Handle[V], error) {
	it, err := k.join(ctx, key)
	if err != nil {
		return nil, k.failed(key, err)
	}
	select {
	case <-it.ready:
	case <-ctx.Done():
		k.c.unref(&it.node)
		return nil, k.failed(key, context.Cause(ctx))
	}
	if it.err != nil {
		return nil, k.failed(key, it.err)
	}
	return newHandle(k.c, it, 1), nil
}

func (k *Kind[K, V]) failed(key K, err error) error {
	return fmt.Errorf("content: %s %q: %w", k.name, fmt.Sprint(key), err)
}

// join finds or begins a load, and counts the caller in.
func (k *Kind[K, V]) join(ctx context.Context, key K) (*item[V], error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c := k.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	it := k.items[key]
	switch {
	case it == nil:
		it = k.begin(key)
	case it.list == &c.loading:
		c.stats.Waits++
	default:
		c.stats.Hits++
		if it.refs == 0 {
			c.held.move(&it.node)
		}
	}
	it.refs++
	return it, nil
}

// begin starts a load. The caller has the lock.
func (k *Kind[K, V]) begin(key K) *item[V] {
	ctx, cancel := context.WithCancel(context.Background())
	it := &item[V]{ready: make(chan struct{})}
	it.node = node{kind: k.name, key: fmt.Sprint(key), listed: true, cancel: cancel}
	it.unlist = func() {
		if it.listed {
			delete(k.items, key)
			it.listed = false
		}
	}
	it.free = func() {
		if k.freed != nil {
			k.freed(it.value)
		}
	}
	k.items[key] = it
	k.c.loading.push(&it.node)
	k.c.stats.Loads++
	k.c.loads.Go(func() {
		defer cancel()
		k.run(ctx, key, it)
	})
	return it
}

// run loads an item and lets those who wait have it.
func (k *Kind[K, V]) run(ctx context.Context, key K, it *item[V]) {
	err := errors.New("load ended its goroutine") // by runtime.Goexit, which no recover tells
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("load panicked: %v", r)
		}
		k.ended(it, err)
	}()
	it.value, err = k.counted(ctx, key, func(bytes int64) error { return k.c.reserve(&it.node, bytes) })
}

// counted loads what itemCost has room for.
func (k *Kind[K, V]) counted(ctx context.Context, key K, reserve Reserve) (v V, err error) {
	if err = reserve(itemCost); err == nil {
		v, err = k.load(ctx, key, reserve)
	}
	return v, err
}

// ended puts a loaded item among the held ones, or drops it where the load failed or nobody waits.
func (k *Kind[K, V]) ended(it *item[V], err error) {
	c := k.c
	c.mu.Lock()
	if err != nil && c.closed {
		err = ErrClosed
	}
	switch it.err = err; {
	case it.refs == 0:
		c.stats.Canceled++
		c.remove(&it.node)
	case err != nil:
		c.stats.Failed++
		c.remove(&it.node)
	default:
		c.held.move(&it.node)
	}
	gone := it.list == nil && err == nil
	c.mu.Unlock()
	close(it.ready)
	if gone {
		it.free()
	}
}

// unref takes back one handle, or one who waits.
func (c *Cache) unref(it *node) {
	c.mu.Lock()
	gone := c.unrefLocked(it)
	c.mu.Unlock()
	if gone {
		it.free()
	}
}

func (c *Cache) unrefLocked(it *node) (gone bool) {
	it.refs--
	switch {
	case it.refs > 0 || it.list == nil: // others have it, or its load failed
		return false
	case it.list == &c.loading:
		it.unlist() // who comes now must not be told that it was given up
		it.cancel()
		return false
	case it.listed && !c.closed:
		c.idle.move(it)
		return c.budget >= 0 && c.used > c.budget && c.dropIdle(it)
	}
	c.remove(it)
	return true
}

// dropIdle lets an item go at once that is over a budget that was made smaller.
func (c *Cache) dropIdle(it *node) bool {
	c.remove(it)
	c.stats.Evicted++
	return true
}

// Forget has content loaded anew by the next Get: of all keys that match tells, of all for nil. It
// returns how many there were. Who holds the old content keeps it, and who waits for it gets it.
func (k *Kind[K, V]) Forget(match func(K) bool) int {
	c := k.c
	c.mu.Lock()
	var gone []*node
	n := 0
	for key, it := range k.items {
		if match != nil && !match(key) {
			continue
		}
		n++
		if it.list == &c.idle {
			c.remove(&it.node)
			gone = append(gone, &it.node)
		}
		it.unlist()
	}
	c.mu.Unlock()
	free(gone)
	return n
}

// A Handle holds content: it stays loaded until Release. Each handle belongs to whoever got it; others
// take one of their own, by Get or Clone.
type Handle[V any] struct {
	c        *Cache
	it       *item[V]
	taken    *string // with Options.Track only
	released atomic.Bool
}

// newHandle is for an item that counts the handle already. skip is how many functions lie between it
// and who is to be named as its taker.
func newHandle[V any](c *Cache, it *item[V], skip int) *Handle[V] {
	h := &Handle[V]{c: c, it: it}
	if c.track {
		_, file, line, _ := runtime.Caller(1 + skip)
		at := fmt.Sprintf("%s:%d", file, line)
		h.taken = &at
		c.mu.Lock()
		if it.taken == nil {
			it.taken = map[*string]struct{}{}
		}
		it.taken[h.taken] = struct{}{}
		c.mu.Unlock()
	}
	return h
}

// Value is the content, or the zero value once the handle was released. It is good until Release; what
// it points to is shared, and not to be changed.
func (h *Handle[V]) Value() V {
	if h.released.Load() {
		h.misused()
		var none V
		return none
	}
	return h.it.value
}

func (h *Handle[V]) misused() {
	h.c.mu.Lock()
	h.c.stats.Misused++
	h.c.mu.Unlock()
}

// Size is how many bytes of the budget the content takes.
func (h *Handle[V]) Size() int64 {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	return h.it.cost
}

// Clone is one more handle to the same content, to be released by itself.
func (h *Handle[V]) Clone() (*Handle[V], error) {
	h.c.mu.Lock()
	if h.released.Load() {
		h.c.stats.Misused++
		h.c.mu.Unlock()
		return nil, h.fault("clone")
	}
	h.it.refs++
	h.c.mu.Unlock()
	return newHandle(h.c, h.it, 1), nil
}

func (h *Handle[V]) fault(op string) error {
	return fmt.Errorf("content: %s %s %q: %w", op, h.it.kind, h.it.key, ErrReleased)
}

// Release gives the content up. Released a second time, it does nothing but return ErrReleased: no
// other handle is touched.
func (h *Handle[V]) Release() error {
	h.c.mu.Lock()
	if h.released.Swap(true) {
		h.c.stats.Misused++
		h.c.mu.Unlock()
		return h.fault("release")
	}
	delete(h.it.taken, h.taken)
	gone := h.c.unrefLocked(&h.it.node)
	h.c.mu.Unlock()
	if gone {
		h.it.free()
	}
	return nil
}
