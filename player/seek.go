package player

import (
	"fmt"
	"slices"
	"time"

	"github.com/sndpak/sndpak/player/mixer"
)

// A seek within a clip is the mixer's. A stream is sought by starting another one, which takes the
// place of the first: that fades out along a quarter of a cosine, and behind its last, silent frame
// the other one fades in along a quarter of a sine, so that the wave is nowhere steeper than by itself
// (a cross-fade of two phases of one tone would be). Both together take 5 ms, of which each frame
// counts as played.

// SeekTo goes to a frame of the sound within 5 ms; one out of range goes to the nearest end. The
// error is that of the stream that cannot be read there; the voice then plays on. A voice that is
// being stopped is not sought any more if it streams.
func (v *Voice) SeekTo(frame int64) error { return v.SeekAt(0, frame) }

// SeekAt goes there at a frame of the player's time. Of a stream the last seek counts: one that is
// planned for later is given up for it.
func (v *Voice) SeekAt(at, frame int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.retract()
	old, a := v.cur.Load(), v.asset
	if old == nil || v.stopping && a.clip == nil {
		return nil
	}
	frame = min(max(frame, 0), a.length())
	if a.clip != nil {
		return a.p.mix.At(at).Seek(old.mixed(), min(a.scaled(frame), a.clip.pcm.Frames()))
	}
	if err := v.jump(old, a, frame, at, v.dip(old, at)); err != nil {
		return fmt.Errorf("player: seek %q to frame %d: %w", v.sound.name, frame, err)
	}
	return nil
}

// A pass is the way from one stream to another: one after the other, or both at a time.
type pass struct {
	out, in int // frames of either fade
	cross   bool
	curve   mixer.Curve
}

// dip is the way of a seek away from old. Either half takes no less than a quarter of the period of
// 100 Hz; the first one is no way at all where old is not heard by then.
func (v *Voice) dip(old *playback, at int64) pass {
	half := (v.sound.p.Rate() + 399) / 400
	if v.paused || v.sound.p.mix.State(old.mixed()).Waiting && at <= v.now.At {
		return pass{0, half, false, mixer.EqualPower}
	}
	return pass{half, half, false, mixer.EqualPower}
}

// moveTo goes over to another asset of the sound, at the place where it stands. Both are heard on
// the way, unless something is queued up behind the voice, which must follow the second one.
func (v *Voice) moveTo(a *asset, fade time.Duration) error {
	at := v.place()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.retract()
	old := v.cur.Load()
	if old == nil || a.clip != nil || v.stopping {
		return nil
	}
	at = at * int64(a.info.Rate) / int64(v.asset.info.Rate)
	if loop := v.loop; loop != nil && loop.End > a.length() {
		v.loop = nil
	}
	way := v.dip(old, 0)
	if n := int(a.p.frames(fade)); !v.followed {
		way = pass{n, n, true, mixer.Smooth}
	}
	if err := v.jump(old, a, min(at, a.length()), 0, way); err != nil {
		return fmt.Errorf("player: reload %q while it plays: %w", v.sound.name, err)
	}
	v.asset = a
	return nil
}

// jump has another stream take over from old at a frame of the player's time.
func (v *Voice) jump(old *playback, a *asset, frame, at int64, way pass) error {
	m := v.now
	m.At, m.Paused, m.Length = 0, v.paused, v.rest(old)
	m.After, m.FadeIn, m.Curve = 0, way.in, way.curve
	from := frame
	if !way.cross {
		m.After, m.Heir = old.mixed(), true
		from = v.ahead(a, frame, int64(way.out))
	}
	st, err := a.take(from, v.loop, v.manner)
	if err != nil {
		return err
	}
	b := &playback{voice: v, asset: a, stream: st, from: from, shown: frame, at: at}
	if !v.cur.CompareAndSwap(old, b) { // it ended meanwhile
		a.putBack(st)
		return nil
	}
	if err := a.p.start(b, m); err != nil {
		a.putBack(st)
		v.backTo(old, b)
		return err
	}
	v.prune()
	v.line = append(v.line, b)
	if err := v.tell(b); err != nil {
		return err
	}
	stop := mixer.Fade{Stop: true, Frames: way.out, Curve: way.curve}
	return a.p.mix.At(max(at, v.begins(old))).Fade(old.mixed(), stop)
}

// ahead is the source frame that stands n of the mixer's frames behind frame, around the loop.
func (v *Voice) ahead(a *asset, frame, n int64) int64 {
	to := frame + n*int64(a.info.Rate)/int64(a.p.Rate())
	if l := v.loop; l != nil && frame < l.End && to >= l.End {
		return min(l.Start+to-l.End, l.End-1)
	}
	return min(to, a.length())
}

// rest is the length left to a playback that takes over from old.
func (v *Voice) rest(old *playback) int64 {
	if v.now.Length == 0 {
		return 0
	}
	st := v.sound.p.mix.State(old.mixed())
	played := st.Position
	if p := v.now.Pitch; p != 0 {
		played = int64(float64(played) / p)
	}
	v.now.Length = max(v.now.Length-played, 1)
	return v.now.Length
}

// begins is the frame at which a playback that waits for it does, 0 where it does not.
func (v *Voice) begins(b *playback) int64 {
	if v.sound.p.mix.State(b.mixed()).Waiting {
		return v.now.At
	}
	return 0
}

// tell gives a playback the commands that are planned.
func (v *Voice) tell(b *playback) error {
	now := v.sound.p.Time()
	for _, o := range v.planned {
		if o.at > now {
			if err := o.do(v.sound.p.mix.At(o.at), b.mixed()); err != nil {
				return err
			}
		}
	}
	return nil
}

// retract gives up a seek that is planned for later; mu is held.
func (v *Voice) retract() {
	p := v.sound.p
	for len(v.line) > 1 {
		n := len(v.line) - 1
		b, old := v.line[n], v.line[n-1]
		if b.at <= p.Time() || !p.mix.State(b.mixed()).Waiting || !v.backTo(old, b) {
			return
		}
		v.line = v.line[:n]
		p.mix.Stop(b.mixed(), 0)
	}
}

// backTo makes old the voice's playback again in the place of b, if it is not over, and reports that.
// If it is and b never started, so is the voice.
func (v *Voice) backTo(old, b *playback) bool {
	p := v.sound.p
	p.mu.Lock()
	alive := p.live[old.mixed()] == old && v.cur.CompareAndSwap(b, old)
	p.mu.Unlock()
	if !alive && b.mixed() == 0 {
		v.over(b, nil, nil)
	}
	return alive
}

// isOf reports whether the playback is one of an asset's streams.
func (b *playback) isOf(a *asset) bool { return b.asset == a && b.stream != nil }

// voicesOf are the voices of a sound that stream an asset.
func (p *Player) voicesOf(s *Sound, a *asset) (voices []*Voice) {
	for _, v := range p.Voices() {
		if b := v.cur.Load(); v.sound == s && b != nil && b.isOf(a) && !slices.Contains(voices, v) {
			voices = append(voices, v)
		}
	}
	return voices
}
