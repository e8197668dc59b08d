package mixer

import (
	"slices"
	"testing"
)

func TestState(t *testing.T) {
	r := seconds(t)
	id := r.play(count(4), Params{At: 2})
	if s := r.State(id); s != (State{Waiting: true}) {
		t.Errorf("before any block: %+v", s)
	}
	r.mix(1)
	if s := r.State(id); s != (State{Waiting: true}) {
		t.Errorf("before its frame: %+v", s)
	}
	r.mix(3)
	if s := r.State(id); s != (State{Playing: true, Position: 2}) {
		t.Errorf("under way: %+v", s)
	}
	r.ok(r.Pause(id))
	if s := r.State(id); s.Paused {
		t.Errorf("a command shows before its block: %+v", s)
	}
	r.mix(1)
	if s := r.State(id); s != (State{Paused: true, Position: 3}) {
		t.Errorf("paused: %+v", s)
	}
	r.ok(r.Resume(id))
	r.mix(1)
	if s := r.State(id); s != (State{Ended: true}) {
		t.Errorf("ended: %+v", s)
	}
	for _, v := range []Voice{0, 1, id} {
		if s := r.State(v); s != (State{Ended: true}) {
			t.Errorf("handle %x: %+v", v, s)
		}
	}
}

func TestPositionFollowsSeek(t *testing.T) {
	r := newRig(t, Config{})
	id := r.play(noise16(1, 1, 10000), Params{})
	r.mix(1000)
	r.ok(r.Seek(id, 5000))
	r.mix(10) // the old place still fades out
	if s := r.State(id); s.Position != 5010 {
		t.Errorf("position %d, want 5010", s.Position)
	}
	r.mix(1000)
	if s := r.State(id); s.Position != 6010 {
		t.Errorf("position %d, want 6010", s.Position)
	}
}

// Behind its fades a seek is exact to the frame.
func TestSeekIsExact(t *testing.T) {
	p := noise16(1, 2, 10000)
	r := newRig(t, Config{})
	id := r.play(p, Params{})
	r.ok(r.At(300).Seek(id, 7000))
	x := r.mix(1000)
	for i := range x {
		want := float32(0)
		switch n := i / 2; {
		case n < 300:
			want = float32(p.S16[i]) / 32768
		case n >= 540:
			want = float32(p.S16[i+2*6700]) / 32768
		default:
			continue
		}
		if x[i] != want {
			t.Fatalf("sample %d: %v, want %v", i, x[i], want)
		}
	}
}

func TestEnded(t *testing.T) {
	r := seconds(t)
	a := r.play(count(3), Params{})
	b := r.play(count(1), Params{})
	c := r.play(count(9), Params{})
	r.mix(2)
	var buf [2]Voice
	if n := r.Ended(buf[:]); n != 1 || buf[0] != b {
		t.Errorf("%d ends: %v, want %v", n, buf[:n], b)
	}
	r.ok(r.Stop(c, 0))
	r.mix(5)
	if n := r.Ended(buf[:]); n != 2 || !slices.Contains(buf[:], a) || !slices.Contains(buf[:], c) {
		t.Errorf("%d ends: %v, want %v and %v", n, buf[:n], a, c)
	}
	if n := r.Ended(buf[:]); n != 0 {
		t.Errorf("%d ends are told twice", n)
	}
	if last, idle := r.Idle(); last != 3 || !idle {
		t.Errorf("idle %v since %d, want since 3", idle, last)
	}
}

// Nobody takes the notices: they are counted as lost, and voices play on.
func TestLostEnds(t *testing.T) {
	r := newRig(t, Config{Rate: 1, Voices: 2, Queue: 4})
	const rounds = 50
	for range rounds {
		r.play(count(1), Params{})
		r.play(count(1), Params{})
		r.want("two voices", 2, 0)
	}
	s := r.Stats()
	if kept := int64(len(r.board.ended.buf)); s.LostEnds != 2*rounds-kept {
		t.Errorf("%d notices lost, want %d", s.LostEnds, 2*rounds-kept)
	}
}

func TestStats(t *testing.T) {
	r := seconds(t)
	for i := range 5 {
		r.play(count(i+1), Params{})
	}
	r.mix(3)
	if s := r.Stats(); s.Voices != 2 || s.Peak != 5 || s.Time != 3 {
		t.Errorf("%+v, want 2 voices of 5, time 3", s)
	}
	if last, idle := r.Idle(); idle || last != 3 {
		t.Errorf("idle %v since %d", idle, last)
	}
}
