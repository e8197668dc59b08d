package content

import (
	"context"
	"iter"
)

// A node is what the cache knows of an item of any kind. All of it is guarded by the cache's mutex but
// what never changes.
type node struct {
	kind, key string             // for people
	unlist    func()             // takes the item out of its kind's table, if it is there
	free      func()             // lets the kind know that the value is gone; called without the lock
	cancel    context.CancelFunc // of the load

	listed bool                 // in its kind's table
	cost   int64                // bytes
	refs   int                  // handles, and while it loads those who wait
	taken  map[*string]struct{} // where its handles were taken; with Options.Track only

	list       *list // nil once the item is gone
	prev, next *node
}

// A list is a ring of nodes through root, oldest first. It sums up what they cost.
type list struct {
	root node
	n    int
	cost int64
}

func (l *list) init() { l.root.prev, l.root.next = &l.root, &l.root }

func (l *list) first() *node { return l.root.next }

// push puts a node that is in no list behind the others.
func (l *list) push(it *node) {
	it.list, it.prev, it.next = l, l.root.prev, &l.root
	it.prev.next, it.next.prev = it, it
	l.n++
	l.cost += it.cost
}

func (l *list) remove(it *node) {
	it.prev.next, it.next.prev = it.next, it.prev
	it.list, it.prev, it.next = nil, nil, nil
	l.n--
	l.cost -= it.cost
}

// move takes a node out of whatever list it is in.
func (l *list) move(it *node) {
	it.list.remove(it)
	l.push(it)
}

// all may have the node that it gives taken out meanwhile.
func (l *list) all() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for it := l.root.next; it != &l.root; {
			next := it.next
			if !yield(it) {
				return
			}
			it = next
		}
	}
}
