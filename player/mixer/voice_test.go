package mixer

import (
	"math"
	"slices"
	"testing"
)

// All of these are stepped by hand at one frame a second, where a ramp is one frame.

func TestStartAt(t *testing.T) {
	r := seconds(t)
	r.play(count(3), Params{At: 2})
	r.play(count(3), Params{At: -5}) // has passed
	r.want("starts", 1, 2, 3+1, 2, 3, 0)
	r.play(count(2), Params{At: 100})
	r.mix(93)
	r.want("later", 0, 1, 2, 0)
}

func TestStartWithin(t *testing.T) {
	r := seconds(t)
	r.play(count(5), Params{Start: 2})
	r.want("start", 3, 4, 5, 0)
	id := r.play(count(5), Params{Start: 5})
	r.want("behind the end", 0)
	if !r.State(id).Ended {
		t.Error("a start behind the end should end at once")
	}
	r.play(count(0), Params{})
	r.want("no frames", 0)
}

func TestPauseResume(t *testing.T) {
	r := seconds(t)
	id := r.play(count(9), Params{})
	r.want("plays", 1, 2)
	r.ok(r.Pause(id))
	r.want("pauses within frame 3", 0, 0, 0)
	if s := r.State(id); !s.Paused || s.Playing || s.Position != 3 {
		t.Errorf("paused: %+v", s)
	}
	r.ok(r.Resume(id))
	r.want("goes on", 4, 5)
	r.ok(r.At(9).Pause(id))
	r.ok(r.At(11).Resume(id))
	r.want("planned", 6, 7, 0, 0, 9, 0)
}

func TestPausedStart(t *testing.T) {
	r := seconds(t)
	id := r.play(count(3), Params{Paused: true, At: 1})
	r.want("stands", 0, 0, 0)
	if s := r.State(id); !s.Paused || s.Playing || s.Waiting || s.Position != 0 {
		t.Errorf("paused: %+v", s)
	}
	r.ok(r.Resume(id))
	r.want("plays", 1, 2, 3, 0)
}

func TestStop(t *testing.T) {
	r := seconds(t)
	id := r.play(count(9), Params{})
	r.want("plays", 1, 2)
	r.ok(r.Stop(id, 0))
	r.want("stopped", 0, 0)
	if !r.State(id).Ended {
		t.Error("not ended")
	}
	id = r.play(&PCM{Channels: 1, F32: slices.Repeat([]float32{1}, 100)}, Params{})
	r.mix(1)
	r.ok(r.Stop(id, 4))
	got := r.left(6)
	for k := range got {
		want := math.Pow(math.Cos(math.Pi/2*math.Min(float64(k+1)/4, 1)), 2)
		if math.Abs(float64(got[k])-want) > 1e-6 {
			t.Errorf("frame %d of the fade: %v, want %v", k, got[k], want)
		}
	}
}

// What is not heard needs no fade.
func TestStopUnheard(t *testing.T) {
	r := seconds(t)
	waiting := r.play(count(9), Params{At: 100})
	paused := r.play(count(9), Params{Paused: true})
	fresh := r.play(count(9), Params{})
	for _, id := range []Voice{waiting, paused, fresh} {
		r.ok(r.Stop(id, 1000))
	}
	r.want("nothing", 0, 0)
	for i, id := range []Voice{waiting, paused, fresh} {
		if !r.State(id).Ended {
			t.Errorf("voice %d lives", i)
		}
	}
}

// A stop ends a voice that is being paused, too, itself or its bus, however long its fade: once
// paused it would stand still for ever.
func TestStopWhilePausing(t *testing.T) {
	for _, wait := range []int{0, 1, 100, 239, 240, 500} {
		r := newRig(t, Config{})
		b := r.bus(0)
		p := tone(100, 48000, 1, 48000)
		one, two := r.play(p, Params{}), r.play(p, Params{Bus: b})
		r.mix(100)
		r.ok(r.Pause(one))
		r.ok(r.PauseBus(b, true))
		r.mix(wait)
		r.ok(r.Stop(one, 48000))
		r.ok(r.Fade(two, Fade{Frames: 48000, Stop: true}))
		x := r.mix(250)
		if !r.State(one).Ended || !r.State(two).Ended {
			t.Errorf("%d frames after the pause: %+v, %+v; want both ended", wait, r.State(one), r.State(two))
		}
		if step, _ := largestStep(x); step > 0.03 {
			t.Errorf("%d frames after the pause: a step of %v", wait, step)
		}
	}
}

func TestSeek(t *testing.T) {
	r := seconds(t)
	id := r.play(count(9), Params{})
	r.want("plays", 1, 2)
	r.ok(r.Seek(id, 6))
	r.want("ahead", 7, 8)
	r.ok(r.Seek(id, 0))
	r.want("back", 1, 2)
	r.ok(r.Seek(id, -7))
	r.want("below 0", 1, 2)
	r.ok(r.At(10).Seek(id, 4))
	r.want("planned", 3, 4, 5, 6)
	r.ok(r.Pause(id))
	r.ok(r.Seek(id, 1))
	r.want("paused", 0, 0)
	r.ok(r.Seek(id, 3))
	r.ok(r.Resume(id))
	r.want("from there", 4, 5)
	r.ok(r.Seek(id, 9))
	r.want("behind the end", 0)
	if !r.State(id).Ended {
		t.Error("a seek behind the end should end the voice")
	}
}

func TestLoop(t *testing.T) {
	r := seconds(t)
	r.play(count(4), Params{Loop: &Loop{Count: 3}})
	r.want("three times", 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 0)
	r.play(count(5), Params{Loop: &Loop{Start: 1, End: 3, Count: 2}})
	r.want("a region twice", 1, 2, 3, 2, 3, 4, 5, 0)
	r.play(count(5), Params{Loop: &Loop{Start: 1, End: 3, Count: 1}})
	r.want("a region once", 1, 2, 3, 4, 5, 0)
	r.play(count(3), Params{Loop: &Loop{Start: 1, End: 99, Count: 2}, Start: 2})
	r.want("an end beyond the end", 3, 2, 3, 0)
	r.play(count(5), Params{Loop: &Loop{Start: 1, End: 3}, Start: 3})
	r.want("a start behind the region", 4, 5, 0)
	r.play(count(3), Params{Loop: &Loop{Start: 5}})
	r.want("a region behind the end", 1, 2, 3, 0)
	id := r.play(count(2), Params{Loop: &Loop{Start: 1}})
	r.want("one frame for ever", 1, 2, 2, 2, 2)
	if s := r.State(id); s.Loops != 4 || s.Position != 1 {
		t.Errorf("%+v, want 4 loops, position 1", s)
	}
	r.ok(r.SetLoop(id, nil))
	r.want("left", 2, 0)
	if !r.State(id).Ended {
		t.Error("not ended")
	}
}

func TestSetLoop(t *testing.T) {
	r := seconds(t)
	id := r.play(count(9), Params{})
	r.want("no loop", 1, 2)
	r.ok(r.SetLoop(id, &Loop{Start: 1, End: 4, Count: 2}))
	r.want("a loop ahead", 3, 4, 2, 3, 4, 5)
	r.ok(r.SetLoop(id, &Loop{Start: 1, End: 4}))
	r.want("a loop behind", 6)
	r.ok(r.SetLoop(id, &Loop{Start: 1}))
	r.want("to the end", 7, 8, 9, 2, 3)
	r.ok(r.SetLoop(id, &Loop{Start: 50}))
	r.want("behind the end: none", 4, 5, 6, 7, 8, 9, 0)
}

func TestLength(t *testing.T) {
	r := seconds(t)
	id := r.play(count(9), Params{Length: 3})
	r.want("three frames", 1, 2, 3, 0)
	if !r.State(id).Ended {
		t.Error("not ended")
	}
	r.play(count(3), Params{Length: 5, Loop: &Loop{}})
	r.want("over loops", 1, 2, 3, 1, 2, 0)
	r.play(count(3), Params{Length: 5})
	r.want("longer than the sound", 1, 2, 3, 0)
	id = r.play(count(9), Params{Length: 4})
	r.want("paused in between", 1, 2)
	r.ok(r.Pause(id))
	r.want("does not count", 0, 0, 0)
	r.ok(r.Resume(id))
	r.want("the rest", 4, 0)
}

// At a real rate the last 5 ms of a length fade out, but not if the sound ends with it by itself.
func TestLengthFades(t *testing.T) {
	ones := &PCM{Channels: 1, F32: slices.Repeat([]float32{1}, 1000)}
	r := newRig(t, Config{})
	r.play(ones, Params{Length: 600})
	x := r.left(700)
	for i, v := range x {
		want := 1.0
		if i > 600-240 {
			want = math.Pow(math.Cos(math.Pi/2*math.Min(float64(i-360)/240, 1)), 2)
		}
		if math.Abs(float64(v)-want) > 1e-6 {
			t.Fatalf("frame %d: %v, want %v", i, v, want)
		}
	}
	r.play(ones, Params{Length: 1000})
	if x := r.left(1001); x[999] != 1 || x[1000] != 0 {
		t.Errorf("a length to the very end fades: %v", x[995:])
	}
	r.play(ones, Params{Length: 100})
	if x := r.left(101); x[99] == 0 || x[99] > 0.01 || x[100] != 0 {
		t.Errorf("100 frames end with %v", x[95:])
	}
}

func TestInertHandles(t *testing.T) {
	r := newRig(t, Config{Rate: 1, Voices: 1})
	r.ok(r.Stop(0, 0)) // no voice is none, not the one in the first slot
	r.want("nothing", 0)
	old := r.play(count(1), Params{})
	r.want("first", 1, 0)
	id := r.play(count(5), Params{})
	if old == id || old.slot() != id.slot() {
		t.Fatalf("handles %x and %x: the slot should be used again, the handle not", old, id)
	}
	for _, v := range []Voice{old, 0, 1 << 63, Voice(77)<<(slotBits+1) | 9} {
		r.ok(r.Stop(v, 0))
		r.ok(r.Pause(v))
		r.ok(r.SetGain(v, 20))
		r.ok(r.SetPan(v, 1))
		r.ok(r.Resume(v))
		if !v.feed() {
			r.ok(r.Seek(v, 3))
			r.ok(r.SetLoop(v, nil))
		}
	}
	r.want("untouched", 1, 2, 3, 4, 5, 0)
}

func TestSetGainAndPan(t *testing.T) {
	r := seconds(t)
	id := r.play(count(9), Params{})
	r.ok(r.SetGain(id, 20))
	r.want("before the first frame", 10, 20)
	r.ok(r.SetGain(id, 0))
	r.want("at once", 3)
	r.ok(r.SetPan(id, -1))
	if x := r.mix(1); x[0] != 4*math.Sqrt2 || x[1] != 0 {
		t.Errorf("hard left: %v", x)
	}
	r.ok(r.Pause(id))
	r.mix(1)
	r.ok(r.SetPan(id, 1))
	r.ok(r.SetGain(id, 20))
	r.ok(r.Resume(id))
	if x := r.mix(1); x[0] != 0 || math.Abs(float64(x[1]-60*math.Sqrt2)) > 1e-5 {
		t.Errorf("hard right: %v", x)
	}
}
