package main

import (
	"cmp"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sndpak/sndpak/soundpack"
)

// bodies has what entries share looked into once, and not once for each of their names: a small pack can
// name the same bytes a million times. What overlaps without being the same is looked into up to twice
// the data's length in all.
type bodies struct {
	mu     sync.Mutex // guards what follows
	shared map[span]map[string]*looked
	left   int64
}

type span struct{ off, size int64 }

// looked is what was found in bytes whose name has a certain extension.
type looked struct {
	once  sync.Once
	found []soundpack.Finding
}

func newBodies(p *soundpack.Pack) *bodies {
	all := make([]span, 0, p.Len())
	for e := range p.Entries() {
		all = append(all, span{e.Offset, e.Size})
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.size, b.size)) })
	b := &bodies{shared: map[span]map[string]*looked{}, left: max(2*p.DataSize(), 64<<20)}
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] && all[i].size > 0 {
			b.shared[all[i]] = nil
		}
	}
	return b
}

// isShared tells whether several entries have just these bytes.
func (b *bodies) isShared(s span) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.shared[s]
	return ok
}

// check looks into an entry, or remembers what was found in its bytes. What it says may depend on the
// name's extension and on no more of the name.
func (b *bodies) check(f *soundpack.File, look func(f *soundpack.File) []soundpack.Finding) []soundpack.Finding {
	e := f.Entry()
	s := span{e.Offset, e.Size}
	ext := strings.ToLower(path.Ext(e.Name))
	if extensions[ext] == nil {
		ext = ""
	}
	b.mu.Lock()
	known, isShared := b.shared[s]
	l := known[ext]
	if l == nil {
		if l = (&looked{}); isShared {
			if known == nil {
				known = map[string]*looked{}
				b.shared[s] = known
			}
			known[ext] = l
		}
		if len(known) <= 1 { // the same bytes under few extensions count once
			b.left -= e.Size
		}
		if b.left < 0 {
			l.once.Do(func() { l.found = []soundpack.Finding{tooMuch} })
		}
	}
	b.mu.Unlock()
	l.once.Do(func() { l.found = look(f) })
	return l.found
}

var tooMuch = soundpack.Finding{
	Severity: slog.LevelError, Kind: "sound",
	Text: "not looked into: with it more than twice the data would be",
}
