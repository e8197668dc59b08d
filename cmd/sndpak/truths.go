package main

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack"
)

// mostFrames is how many frames a byte stands for at the most, whatever the format.
const mostFrames = 8192

// credible tells whether what a manifest says can be so of any sound of that size.
func credible(f soundpack.Facts, e soundpack.Entry) bool {
	return f.Format != "" && f.Frames > 0 && f.Frames/mostFrames <= e.Size && f.Rate > 0 && f.Rate < 1<<20 && f.Channels > 0 && f.Channels <= 8
}

// truths are what opening sounds tells of them, to compare what a pack's manifest says: that may be of another
// sound, or made up, and list and the console go by it.
type truths struct {
	p      *soundpack.Pack
	bodies *bodies

	mu sync.Mutex // guards of
	of map[span]truth
}

type truth struct {
	format   string
	frames   int64
	rate     int
	channels int
}

func (t truth) String() string {
	return fmt.Sprintf("%s of %d frames at %d Hz, %s", formatTitle(t.format), t.frames, t.rate, layoutName(t.channels))
}

// heard notes what an entry is, if the manifest says anything of it.
func (t *truths) heard(e soundpack.Entry, s *decode.Stream) {
	if _, ok := t.p.Facts(e); !ok {
		return
	}
	in := s.Info()
	is := truth{in.Format, int64(s.Len()), in.Rate, in.Channels}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of[span{e.Offset, e.Size}] = is
}

// compare tells where the manifest says otherwise.
func (t *truths) compare(e soundpack.Entry) []soundpack.Finding {
	at := span{e.Offset, e.Size}
	t.mu.Lock()
	is, ok := t.of[at]
	if !t.bodies.isShared(at) {
		delete(t.of, at)
	}
	t.mu.Unlock()
	f, told := t.p.Facts(e)
	says := truth{f.Format, f.Frames, f.Rate, f.Channels}
	if !ok || !told || says == is {
		return nil
	}
	says.format = cutName(says.format)
	return []soundpack.Finding{{
		Severity: slog.LevelWarn, Kind: "manifest", Text: fmt.Sprintf("the manifest tells of another sound: %s; it is %s", says, is),
	}}
}
