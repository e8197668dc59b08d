package soundpack

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watch calls tell each time that the pack on disk has come to have other entries than this one, or
// than it told of last, until ctx ends, whose error it returns. It blocks: run it in a goroutine. The
// new pack is the callee's, to be closed when it is done with; this one is never closed and reads on
// as it was.
//
// It wakes on what the operating system tells of the folder, and looks now and then besides. Folders on a
// network tell nothing of what other computers do: where one is known to be there, it looks each second. What it looks at are the files' identity and size and the index's
// bytes; times do not count. A change is told once the files have stopped changing and make a whole
// pack. If they do not within two seconds, what is there is told if it can be opened, and else, once,
// why not. Packs with the same names and contents, as before and after [Writer.Compact], are no change.
func (p *Pack) Watch(ctx context.Context, tell func(Change)) error {
	return p.watch(ctx, tell, pace{settle: 50 * time.Millisecond, patience: 2 * time.Second, poll: time.Second, look: 5 * time.Second, notify: true})
}

// pace is how often a watcher looks.
type pace struct {
	settle   time.Duration // files that are the same so long are taken to be done
	patience time.Duration // and what makes no whole pack so long will make none
	poll     time.Duration // between looks where the system tells nothing
	look     time.Duration // where it does
	notify   bool          // ask it
}

func (p *Pack) watch(ctx context.Context, tell func(Change), pace pace) error {
	if p.m.far != nil {
		return opened("watch", p.path, fmt.Errorf("it is on a server: %w", errors.ErrUnsupported))
	}
	if p.closed.Load() || !p.m.acquire() {
		return opened("watch", p.path, ErrClosed)
	}
	if p.opt.networkOf(p.path) != "" {
		pace.notify = false // it tells of no changes that other computers make
	}
	w := &watcher{pace: pace, path: p.path, indexPath: p.indexPath, tell: tell, cur: p, seed: maphash.MakeSeed()}
	w.told = w.stampOf(p)
	w.seen = w.told
	defer func() { w.cur.m.release() }()
	return w.run(ctx)
}

// A watcher follows the files of a pack.
type watcher struct {
	pace
	path, indexPath string
	tell            func(Change)
	cur             *Pack // what was told last, its data pinned
	seed            maphash.Seed
	told            stamp     // the files that the last decision was about
	seen            stamp     // the files as they were last seen
	since           time.Time // and since when they are so
}

// A stamp is what tells one state of the files from another.
type stamp struct {
	data, index fs.FileInfo // nil: not there, or not to be looked at
	sum         uint64      // of the index's bytes
}

func (s stamp) same(o stamp) bool {
	return s.sum == o.sum && sameFile(s.data, o.data) && sameFile(s.index, o.index)
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size()
}

// stampOf is that of the files that a pack was opened from. Its index may be another file by now.
func (w *watcher) stampOf(p *Pack) (s stamp) {
	s.data, _ = p.m.f.Stat()
	s.index, _ = os.Stat(p.indexPath)
	s.sum = maphash.String(w.seed, p.raw)
	return s
}

// look is the stamp of what is there now.
func (w *watcher) look() (s stamp) {
	s.data, _ = os.Stat(w.path)
	s.index, _ = os.Stat(w.indexPath)
	if raw, err := w.table(); err == nil {
		s.sum = maphash.String(w.seed, raw)
	}
	return s
}

// table is the index, or the table at the head of the data, as it is now.
func (w *watcher) table() (raw string, err error) {
	if !w.cur.traits.head {
		raw, _, err = readIndex(w.indexPath, w.cur.opt.maxIndex())
		return raw, err
	}
	data, err := openRegular(w.path)
	if err != nil {
		return "", err
	}
	defer data.Close()
	raw, _, err = w.cur.readTable(data, w.cur.opt.maxIndex())
	return raw, err
}

func (w *watcher) run(ctx context.Context) error {
	events, every, stop := w.listen()
	defer stop()
	timer := time.NewTimer(0) // something may have changed since the pack was opened
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case _, ok := <-events:
			if !ok {
				events, every = nil, w.poll
			}
		case <-timer.C:
		}
		again := every
		if w.check(ctx) {
			again = w.settle
		}
		timer.Reset(again)
	}
}

// listen asks the operating system to tell of the files. events is closed when it does not, or does no
// longer.
func (w *watcher) listen() (events <-chan struct{}, every time.Duration, stop func()) {
	wake := make(chan struct{}, 1)
	n, err := fsnotify.NewWatcher()
	if err == nil {
		for _, dir := range w.dirs() {
			err = errors.Join(err, n.Add(dir))
		}
		if err != nil {
			n.Close()
		}
	}
	if err != nil || !w.notify {
		if err == nil {
			n.Close()
		}
		return nil, w.poll, func() {}
	}
	go func() {
		defer close(wake)
		for {
			select {
			case e, ok := <-n.Events:
				if !ok {
					return
				}
				if !w.concerns(e.Name) {
					continue
				}
			case _, ok := <-n.Errors: // events that were lost, say
				if !ok {
					return
				}
			}
			select {
			case wake <- struct{}{}:
			default:
			}
		}
	}()
	return wake, w.pace.look, func() {
		n.Close()
		for range wake { // until the goroutine has ended
		}
	}
}

// dirs are the folders of both files, and of what they are links to.
func (w *watcher) dirs() []string {
	var all []string
	for _, path := range []string{w.path, w.indexPath} {
		all = append(all, filepath.Dir(path))
		if real, err := filepath.EvalSymlinks(path); err == nil {
			all = append(all, filepath.Dir(real))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// concerns tells whether an event can be about the pack. A file behind a link may have any name.
func (w *watcher) concerns(path string) bool {
	for _, own := range []string{w.path, w.indexPath} {
		if filepath.Base(own) == filepath.Base(path) {
			return true
		}
		if real, err := filepath.EvalSymlinks(own); err != nil || filepath.Base(real) == filepath.Base(path) {
			return true
		}
	}
	return false
}

// check looks at the files and tells whether it must look again soon.
func (w *watcher) check(ctx context.Context) (soon bool) {
	now := w.look()
	if !now.same(w.seen) {
		w.seen, w.since = now, time.Now()
	}
	age := time.Since(w.since)
	switch {
	case now.same(w.told):
		return false
	case age < w.settle:
		return true
	}
	late := age >= w.patience
	p, err := Open(w.path, w.options())
	if err == nil && !w.look().same(now) {
		p.Close()
		return true // it went on
	}
	switch {
	case err != nil && !late, err == nil && !late && !whole(p):
		if err == nil {
			p.Close()
		}
		return true
	case err != nil:
		w.told = now
		w.tell(Change{Err: err})
		return false
	}
	w.told = now
	w.adopt(ctx, p)
	return false
}

// options are those that the pack was opened with.
func (w *watcher) options() *Options {
	o := w.cur.opt
	if o.Layout = w.cur.Layout(); !w.cur.traits.head {
		o.Index = w.indexPath
	}
	return &o
}

// whole tells whether a pack does not look half written.
func whole(p *Pack) bool {
	for _, b := range p.problems {
		if b.level >= slog.LevelError {
			return false
		}
	}
	all := p.index.len()
	if p.noted {
		all++
	}
	for i := range all {
		if r := p.index.at(i); r.size > 0 && r.off+r.size > p.m.size {
			return false
		}
	}
	return true
}

// adopt tells of a new pack, unless it is the old one in other files.
func (w *watcher) adopt(ctx context.Context, p *Pack) {
	c, err := Diff(ctx, w.cur, p)
	if err != nil || c.Empty() || !p.m.acquire() {
		p.Close() // and if ctx has ended, nobody wants to know
		return
	}
	w.cur.m.release()
	w.cur = p
	w.tell(*c)
}
