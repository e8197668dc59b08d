package player

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sndpak/sndpak/player/mixer"
)

// busyPlayer plays 56 clips and 8 streams, looped.
func busyPlayer(t testing.TB, opt *Options) (*Player, []*Voice) {
	t.Helper()
	p := New(sounds(), opt)
	bus, err := p.NewBus("music", nil)
	if err != nil {
		t.Fatal(err)
	}
	var voices []*Voice
	for i := range 64 {
		name, mode := []string{"jaguar.wav", "drumloop.wav", "swish.wav"}[i%3], Memory
		if i%8 == 0 {
			name, mode = []string{"theme.ogg", "theme.mp3"}[i/8%2], Stream
		}
		s := load(t, p, name, mode)
		voices = append(voices, start(t, s, Params{Loop: &Loop{}, Gain: -30, Pan: float64(i%9)/4 - 1, Bus: []*Bus{nil, bus}[i%2], Pitch: []float64{1, 1, 1.25}[i%3]}))
	}
	return p, voices
}

// Mixing allocates nothing, with clips, streams, ramps, a bus and the limiter, and neither does what
// the player does around it.
func TestMixAllocatesNothing(t *testing.T) {
	p, voices := busyPlayer(t, &Options{Ahead: 4 * time.Second})
	defer p.Close()
	for _, v := range voices {
		if b := v.cur.Load(); b.stream != nil {
			for b.stream.ring.held() < 150000 {
				b.stream.poke()
				time.Sleep(time.Millisecond)
			}
		}
	}
	block := make([]float32, 2*256)
	p.mix.Mix(block) // what is to be heard first
	i := 0
	allocs := testing.AllocsPerRun(200, func() {
		if i++; i%16 == 0 {
			voices[i%64].SetGain(-30 + float64(i%7))
		}
		p.mix.Mix(block) // the pump beside it decodes, and decoders allocate
		p.load.note(time.Millisecond, 256, 48000)
	})
	if allocs != 0 {
		t.Errorf("%v allocations a block, want 0", allocs)
	}
	if n := p.mix.Stats().Underruns; n != 0 {
		t.Errorf("%d underruns", n)
	}
}

// commandAtRandom does something to a voice.
func commandAtRandom(rnd *rand.Rand, v *Voice) error {
	switch rnd.IntN(6) {
	case 0:
		return v.SeekTo(rnd.Int64N(v.sound.Frames() - 1000))
	case 1:
		return v.SetGain(-30 - rnd.Float64()*10)
	case 2:
		return v.SetPan(rnd.Float64()*2 - 1)
	case 3:
		return v.Fade(Fade{Gain: -rnd.Float64() * 10, Time: 20 * time.Millisecond, Curve: mixer.Linear})
	case 4:
		return errors.Join(v.Pause(), v.Resume())
	}
	return v.FadeAt(v.sound.p.Time()+1000, Fade{})
}

// A player that mixes 64 voices, 8 of them streams, in blocks of 256 frames, never runs dry and takes
// no more memory with time. Here a block is mixed as soon as the streams have one; with
// SNDPAK_SOAK=60s it goes on for that long by the clock, beside a busy core.
func TestSoak(t *testing.T) {
	soak, _ := time.ParseDuration(os.Getenv("SNDPAK_SOAK"))
	frames := int64(4 * 48000)
	if testing.Short() || raceEnabled {
		frames = 48000
	}
	if soak > 0 {
		frames = int64(soak.Seconds() * 48000)
		var stop atomic.Bool
		defer stop.Store(true)
		go func() {
			for !stop.Load() {
			}
		}()
	}
	p, voices := busyPlayer(t, nil)
	defer p.Close()
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	block := make([]float32, 2*256)
	began, heap := time.Now(), uint64(0)
	for p.Time() < frames {
		if soak > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(p.Time()) * time.Second / 48000)))
		} else {
			awaitStreams(voices, 512)
		}
		if rnd.IntN(8) == 0 {
			if err := commandAtRandom(rnd, voices[rnd.IntN(64)]); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		p.Mix(block)
		if heap == 0 && p.Time() > frames/3 {
			heap = heapNow()
		}
	}
	st := p.Stats()
	t.Logf("%d blocks, load: half %.2f %%, 99 %% %.2f %%, most %.2f %%, late %d, underruns %d", st.Blocks, 100*st.LoadP50, 100*st.LoadP99, 100*st.LoadMax, st.Late, st.Underruns)
	for _, v := range voices { // a machine on which decoding a block takes 5 s is not what this is about
		if errors.Is(v.Err(), ErrStalled) {
			st.Voices++
		}
	}
	if st.Underruns != 0 || st.Voices < 64 {
		t.Errorf("seed %d: %d underruns, %d voices, want none and 64", seed, st.Underruns, st.Voices)
	}
	if now := heapNow(); now > heap+1<<20 {
		t.Errorf("seed %d: the heap grew from %d to %d bytes", seed, heap, now)
	}
}

func heapNow() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// awaitStreams waits until all streams have so many frames of the mixer decoded, at any pitch.
func awaitStreams(voices []*Voice, frames int) {
	for _, v := range voices {
		for b := v.cur.Load(); b != nil && b.stream != nil && b.stream.ring.held() < 2*frames && !b.stream.ring.finished.Load(); b = v.cur.Load() {
			b.stream.poke()
			time.Sleep(100 * time.Microsecond)
		}
	}
}
