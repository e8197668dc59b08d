package player

import (
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A gate is a folder on a disk that stands still at times: reads of what is open wait then.
type gate struct {
	fs.FS
	mu      sync.Mutex // held while the disk stands still
	waiting atomic.Int64
}

func (g *gate) Open(name string) (fs.File, error) {
	f, err := g.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return gated{f, g}, nil
}

type gated struct {
	fs.File
	gate *gate
}

func (f gated) ReadAt(b []byte, off int64) (int, error) {
	f.gate.waiting.Add(1)
	f.gate.mu.Lock()
	f.gate.waiting.Add(-1)
	defer f.gate.mu.Unlock()
	return f.File.(io.ReaderAt).ReadAt(b, off)
}

// eventually waits for what must come, however slow the machine is.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

// Fault F23: the storage stands still. What was decoded ahead bridges 200 ms unheard; a longer stall is
// one underrun and silence, never an end. Nobody who asks or plays anything else waits meanwhile, and
// the sound goes on where it was with the first block behind the stall.
func TestStorageStandsStill(t *testing.T) {
	disk := &gate{FS: sounds()}
	p := New(disk, &Options{Rate: 44100, NoLimiter: true, Ahead: 250 * time.Millisecond})
	defer p.Close()
	want := decoded(t, "theme.ogg")
	music, blip := load(t, p, "theme.ogg", Stream), load(t, p, "drumloop.wav", Memory)
	v := start(t, music, Params{})
	stream := v.cur.Load().stream
	ring := stream.ring
	full := func() {
		eventually(t, "a full ring", func() bool { stream.poke(); return ring.held() > ring.size()-chunk })
	}
	at := 0
	for range 20 { // as long as the disk works
		full()
		equal(t, "before", pull(p, 2000), want[2*at:2*(at+2000)])
		at += 2000
	}
	full()
	disk.mu.Lock()
	equal(t, "a stall of 200 ms", pull(p, 8820), want[2*at:2*(at+8820)])
	at += 8820
	if st := p.Stats(); st.Underruns != 0 {
		t.Errorf("%d underruns within what was decoded ahead", st.Underruns)
	}
	for disk.waiting.Load() == 0 || ring.held() > 0 { // what had been read already is heard
		n := ring.held()
		equal(t, "what is left", pull(p, n), want[2*at:2*(at+n)])
		at += n
		stream.poke()
	}
	pull(p, 300) // fades out
	silent(t, "the stall", pull(p, 44100))
	if st := p.Stats(); st.Underruns != 1 || st.Voices != 1 {
		t.Errorf("%d underruns, %d voices, want one of each", st.Underruns, st.Voices)
	}
	beside := start(t, blip, Params{})
	if x := pull(p, 4410); loudest(x) == 0 {
		t.Error("a sound in memory is not heard while the disk stands still")
	}
	if err := beside.Stop(0); err != nil {
		t.Error(err)
	}
	pull(p, 300)
	select {
	case <-v.Done():
		t.Fatalf("the voice has ended: %v", v.Err())
	default:
	}
	disk.mu.Unlock()
	full()
	const ramp = 220 // fades in
	got := pull(p, 2000)
	equal(t, "behind the stall", got[2*ramp:], want[2*(at+ramp):2*(at+2000)])
}

func loudest(x []float32) (peak float32) {
	for _, v := range x {
		peak = max(peak, v, -v)
	}
	return peak
}
