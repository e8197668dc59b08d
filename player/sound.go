package player

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sndpak/sndpak/player/decode"
)

// Mode says whether a sound is kept in memory.
type Mode int

const (
	Auto   Mode = iota // short WAV and FLAC in memory (see Options.ClipTime), all else streamed
	Memory             // decoded whole into a Clip when loaded
	Stream             // decoded while it plays
)

// A Sound is a loaded sound: a clip in memory, or a file that streams. It can be played many times
// at once. What it plays may be exchanged: see Player.Reload.
type Sound struct {
	p     *Player
	name  string
	mode  Mode
	ready chan struct{} // closed once cur and err are set for the first time

	mu   sync.Mutex // guards what follows
	cur  *asset
	err  error // why there is none; a reload may end that
	refs int   // loads not yet unloaded
}

// Load opens the sound called name and makes it ready to start with the next block: a clip is
// decoded, a stream has its first blocks decoded. Loading a name again gives the same Sound; each
// Load wants its Unload. The error names the sound.
func (p *Player) Load(name string, mode Mode) (*Sound, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	key, fsys := soundKey{name, mode}, p.fsys
	s, loaded := p.sounds[key]
	if loaded {
		s.retain()
	} else {
		s = &Sound{p: p, name: name, mode: mode, ready: make(chan struct{}), refs: 1}
		p.sounds[key] = s
	}
	p.mu.Unlock()
	if !loaded {
		s.set(p.open(fsys, name, mode))
		close(s.ready)
		p.dropIfClosed(s)
	}
	<-s.ready
	if err := s.fault(); err != nil {
		if p.forget(s) {
			s.drop() // what a reload may have brought meanwhile
		}
		return nil, fmt.Errorf("player: load %q: %w", name, err)
	}
	return s, nil
}

// set is what the load of a sound led to.
func (s *Sound) set(a *asset, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cur, s.err = a, err
}

// fault is why there is nothing to play.
func (s *Sound) fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// soundKey is what a loaded sound is found by.
type soundKey struct {
	name string
	mode Mode
}

// dropIfClosed gives up a sound that was loaded while the player closed.
func (p *Player) dropIfClosed(s *Sound) {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		s.drop()
	}
}

// asset is what the sound plays now. It stays what it is while the sound is exchanged.
func (s *Sound) asset() *asset {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cur
}

// Name is the name that the sound was loaded by.
func (s *Sound) Name() string { return s.name }

// Info is what is known of the sound; see decode.Info.
func (s *Sound) Info() decode.Info { return s.asset().info }

// Clip is the sound in memory, nil where it streams or is unloaded. It is good for ever, also when
// the sound is unloaded then.
func (s *Sound) Clip() *Clip { return s.asset().lend() }

// Frames is the sound's exact length in frames at its own rate. Where the file does not tell it,
// the first call looks through the whole file.
func (s *Sound) Frames() int64 { return s.asset().length() }

// Duration is the sound's length in time; it measures as Frames does.
func (s *Sound) Duration() time.Duration {
	a := s.asset()
	return time.Duration(float64(a.length()) / float64(a.info.Rate) * float64(time.Second))
}

// At is the frame that stands at a time of the sound.
func (s *Sound) At(t time.Duration) int64 { return s.asset().at(t) }

// Loop is the first loop region that the file tells, for Params.Loop; without one it is the whole
// sound. It plays for ever; set Count for a number of times.
func (s *Sound) Loop() *Loop {
	if loops := s.asset().info.Loops; len(loops) > 0 {
		return &Loop{Start: loops[0].Start, End: loops[0].End}
	}
	return &Loop{}
}

// Unload gives the sound up. Its memory and its file go with the last Unload and the last voice
// that plays it; voices play on.
func (s *Sound) Unload() {
	if s.p.forget(s) {
		s.drop()
	}
}

// forget takes back one reference, and with the last one the sound off the list, and reports that.
func (p *Player) forget(s *Sound) (last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refs == 0 {
		return false
	}
	if s.refs--; s.refs > 0 {
		return false
	}
	if key := (soundKey{s.name, s.mode}); p.sounds[key] == s {
		delete(p.sounds, key)
	}
	return true
}

func (s *Sound) retain() {
	s.mu.Lock()
	s.refs++
	s.mu.Unlock()
}

// drop takes back every reference.
func (s *Sound) drop() {
	s.mu.Lock()
	s.refs = 0
	a := s.cur
	s.mu.Unlock()
	if a != nil {
		a.retire()
	}
}

// ReloadOptions say what Player.Reload exchanges. The zero value exchanges everything, from its next
// start on.
type ReloadOptions struct {
	// Names are the sounds that have changed, without regard to the case of A-Z; nil = all.
	Names []string
	// Crossfade has streams that play go over to the new bytes, at the same place, within that time.
	// 0 lets them play on as they are.
	Crossfade time.Duration
}

// Reload has the player take sounds from fsys from now on: those loaded later, and those loaded
// already, which have been decoded anew when it returns. It is for packs that changed on disk. What
// plays plays on as it was. Sounds that fsys does not have, or that cannot be decoded, stay as they
// were; the error names them.
func (p *Player) Reload(fsys fs.FS, o ReloadOptions) error {
	var errs []error
	for _, s := range p.exchange(fsys, o.Names) {
		<-s.ready
		a, err := p.open(fsys, s.name, s.mode)
		if err != nil {
			errs = append(errs, fmt.Errorf("player: reload %q: %w", s.name, err))
			continue
		}
		old := s.swap(a)
		if o.Crossfade > 0 {
			errs = append(errs, p.crossfade(s, old, a, o.Crossfade))
		}
		if old != nil {
			old.retire()
		}
	}
	return errors.Join(errs...)
}

// exchange sets the file system, and returns the loaded sounds of the names.
func (p *Player) exchange(fsys fs.FS, names []string) (loaded []*Sound) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.fsys = fsys
	p.clips.Forget(func(name string) bool {
		return names == nil || slices.ContainsFunc(names, func(n string) bool { return sameName(n, name) })
	})
	for _, s := range p.sounds {
		if names == nil || slices.ContainsFunc(names, func(n string) bool { return sameName(n, s.name) }) {
			loaded = append(loaded, s)
		}
	}
	return loaded
}

// sameName compares by bytes but for the case of A-Z, as packs do.
func sameName(a, b string) bool {
	fold := func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r | 0x20
		}
		return r
	}
	return strings.Map(fold, a) == strings.Map(fold, b)
}

// swap makes a what the sound plays, and returns what it played before. A sound that was unloaded
// meanwhile gives a back at once.
func (s *Sound) swap(a *asset) (old *asset) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refs == 0 {
		return a
	}
	old, s.cur, s.err = s.cur, a, nil
	return old
}

// crossfade moves the streams that play old over to a.
func (p *Player) crossfade(s *Sound, old, a *asset, fade time.Duration) error {
	var errs []error
	for _, v := range p.voicesOf(s, old) {
		errs = append(errs, v.moveTo(a, fade))
	}
	return errors.Join(errs...)
}
