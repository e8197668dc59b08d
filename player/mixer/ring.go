package mixer

import "sync/atomic"

// A ring passes values from one goroutine to another without a lock. Either end may be shared if
// those at that end exclude each other. It is bounded: push fails rather than waits.
type ring[T any] struct {
	buf  []T           // its length is a power of two
	_    [64]byte      // the two ends are written by different processors
	head atomic.Uint64 // values taken so far
	_    [64]byte
	tail atomic.Uint64 // values put in so far
}

// newRing returns a ring that holds at least n values.
func newRing[T any](n int) *ring[T] {
	size := 1
	for size < n {
		size *= 2
	}
	return &ring[T]{buf: make([]T, size)}
}

func (r *ring[T]) at(i uint64) *T { return &r.buf[i&uint64(len(r.buf)-1)] }

// push puts x in, if there is room.
func (r *ring[T]) push(x T) bool {
	p := r.room()
	if p == nil {
		return false
	}
	*p = x
	r.put()
	return true
}

// room is the place of the next value to be put in, nil if there is none. Once it is filled, put
// hands it over.
func (r *ring[T]) room() *T {
	t := r.tail.Load()
	if t-r.head.Load() == uint64(len(r.buf)) {
		return nil
	}
	return r.at(t)
}

func (r *ring[T]) put() { r.tail.Store(r.tail.Load() + 1) }

// pop takes the oldest value out, if there is one.
func (r *ring[T]) pop() (x T, ok bool) {
	h := r.head.Load()
	if h == r.tail.Load() {
		return x, false
	}
	x = *r.at(h)
	r.head.Store(h + 1)
	return x, true
}
