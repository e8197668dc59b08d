package player

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/player/internal/streamtest"
	"github.com/sndpak/sndpak/player/mixer"
)

// script commands a player at random, and returns the mix.
func randomGame(t *testing.T, p *Player, seed uint64) []float32 {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	names := []string{"jaguar.wav", "drumloop.wav", "theme.ogg", "theme.mp3", "swish.wav"}
	bus, err := p.NewBus("music", nil)
	if err != nil {
		t.Fatal(err)
	}
	var voices []*Voice
	var out []float32
	for range 120 {
		s := load(t, p, names[rnd.IntN(len(names))], Mode(rnd.IntN(3)))
		o := Params{Gain: -rnd.Float64() * 20, Pan: rnd.Float64()*2 - 1, Priority: int8(rnd.IntN(3))}
		switch rnd.IntN(6) {
		case 0:
			o.Loop = &Loop{Start: 100, End: 9000, Count: rnd.IntN(4)}
		case 1:
			o.At = p.Time() + rnd.Int64N(5000)
		case 2:
			o.Start, o.FadeIn = rnd.Int64N(s.Frames()), 20*time.Millisecond
		case 3:
			o.Bus, o.Pitch, o.Interpolation = bus, 0.5+rnd.Float64(), mixer.Interpolation(rnd.IntN(2))
		case 4:
			if len(voices) > 0 {
				o.After = voices[rnd.IntN(len(voices))]
			}
		}
		if v, err := s.Play(o); err == nil {
			voices = append(voices, v)
		}
		v := voices[rnd.IntN(len(voices))]
		at := p.Time() + rnd.Int64N(3000)
		err := error(nil)
		switch rnd.IntN(8) {
		case 0:
			err = v.SeekAt(at, rnd.Int64N(20000))
		case 1:
			err = v.StopAt(at, 3*time.Millisecond)
		case 2:
			err = v.FadeAt(at, Fade{Gain: -12, Time: 50 * time.Millisecond, Curve: mixer.Curve(rnd.IntN(4))})
		case 3:
			err = errors.Join(v.Pause(), v.SeekTo(500), v.Resume())
		case 4:
			err = errors.Join(bus.SetGain(-rnd.Float64()*9), bus.Pause(rnd.IntN(3) == 0))
		case 5:
			err = s.SetLimit(Limit{Voices: 1 + rnd.IntN(3)})
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		out = append(out, pull(p, 1+rnd.IntN(3000))...)
	}
	return out
}

// What is recorded and replayed has the same bits, whatever was commanded.
func TestReplayGivesTheSameBits(t *testing.T) {
	for range streamtest.Fewer(3) {
		seed := rand.Uint64()
		var log bytes.Buffer
		p := New(sounds(), &Options{InStep: true, Voices: 20, Heard: 12, Record: &log})
		want := randomGame(t, p, seed)
		if err := p.Close(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		c := &countingFS{FS: sounds()}
		q, err := Replay(c, bytes.NewReader(log.Bytes()), nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := io.ReadAll(q.Float32())
		if err != nil || q.Err() != nil {
			t.Fatalf("seed %d: %v, %v", seed, err, q.Err())
		}
		if len(got) != 4*len(want) {
			t.Fatalf("seed %d: %d bytes, want %d", seed, len(got), 4*len(want))
		}
		for i, v := range want {
			if w := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])); w != v {
				t.Fatalf("seed %d: sample %d is %v, want %v", seed, i, w, v)
			}
		}
		if n := len(q.live); n != 0 {
			t.Errorf("%d playbacks", n)
		}
		if err := q.Close(); err != nil || c.open.Load() != 0 {
			t.Errorf("Close: %v, %d files open", err, c.open.Load())
		}
	}
}

// A game that runs in real time is recorded too.
func TestRecordBesideThePump(t *testing.T) {
	var log bytes.Buffer
	p := New(sounds(), &Options{Record: &log, Ahead: 20 * time.Second})
	ogg, wav := load(t, p, "theme.ogg", Stream), load(t, p, "jaguar.wav", Memory)
	start(t, ogg, Params{})
	block := make([]float32, 2*480)
	h := sha256.New()
	for i := range 100 {
		if i%10 == 3 {
			start(t, wav, Params{Gain: -float64(i) / 10})
		}
		p.Mix(block)
		binary.Write(h, binary.LittleEndian, block)
		time.Sleep(time.Millisecond) // for the pump; the ring has more than is pulled in any case
	}
	dry := p.Stats().Underruns
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if dry > 0 {
		t.Skip("the stream ran dry on this machine, so the bits differ")
	}
	q, err := Replay(sounds(), &log, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	g := sha256.New()
	if n, err := io.Copy(g, q.Float32()); n != 100*480*8 || err != nil || q.Err() != nil {
		t.Errorf("%d bytes: %v, %v", n, err, q.Err())
	}
	if !bytes.Equal(g.Sum(nil), h.Sum(nil)) {
		t.Error("other bits")
	}
}

func TestReplayRefusesNonsense(t *testing.T) {
	head := `{"log":"sndpak","version":1,"rate":48000,"voices":768,"queue":4096,"heard":0,"limiter":true}` + "\n"
	for _, log := range []string{"", "\n", "{}", "no log", strings.Replace(head, "1", "2", 1)} {
		if _, err := Replay(sounds(), strings.NewReader(log), nil); !errors.Is(err, decode.ErrCorrupt) {
			t.Errorf("%q: %v, want decode.ErrCorrupt", log, err)
		}
	}
	startOf := func(sound string) string {
		return head + fmt.Sprintf(`{"frame":0,"order":2,"do":"start","voice":1,"start":{"sound":%q,"at":0,"level":1,"law":[1,1],"step":4294967296,"groups":[0,0]}}`, sound)
	}
	for log, want := range map[string]error{
		head + "x": mixer.ErrValue, startOf("clip nosuch.wav"): fs.ErrNotExist, startOf("stream x theme.ogg"): mixer.ErrValue,
		startOf("stream 99999999,0,0,0,0,0 theme.ogg"): mixer.ErrValue, startOf("stream 0,5,4,1,0,0 theme.ogg"): nil, startOf("tape x"): mixer.ErrValue,
	} {
		q, err := Replay(sounds(), strings.NewReader(log), nil)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, q.Float32())
		if err := q.Err(); err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), "line") {
			t.Errorf("%s: %v, want %v and the line", log, err, want)
		}
		q.Close()
	}
	q, err := Replay(sounds(), strings.NewReader(startOf("clip swish.wav")), nil) // cut off: without its end
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if n, err := io.Copy(io.Discard, q.Int16()); n < 19200*4 || n > 21000*4 || err != nil || q.Err() != nil {
		t.Errorf("%d bytes, %v, %v, want the 19,200 frames of the sound", n, err, q.Err())
	}
}

// failingWriter fails from its second line on.
type failingWriter struct{ n int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.n++; w.n > 1 {
		return 0, fs.ErrPermission
	}
	return len(b), nil
}

func TestRecordTellsItsFault(t *testing.T) {
	p := New(sounds(), &Options{InStep: true, Record: &failingWriter{}})
	start(t, load(t, p, "swish.wav", Auto), Params{})
	pull(p, 5000)
	if err := p.Close(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Close: %v, want what the writer said", err)
	}
}

// The readers give what Mix gives, whatever the sizes of reads, and end after Drain.
func TestReaders(t *testing.T) {
	fsys := fstest.MapFS{"n.wav": {Data: floatWAV(48000, 2, []float32{0.5, -0.5, 1.5, -1.5, float32(math.NaN()), 0.25, 1.0 / 65536, 3.0 / 65536})}}
	for _, size := range []int{1, 3, 7, 8, 100, 5000} {
		p := New(fsys, &Options{InStep: true, NoLimiter: true})
		start(t, load(t, p, "n.wav", Memory), Params{})
		p.Drain()
		got := readIn(p.Int16(), size)
		var want []byte
		for _, v := range []int16{16384, -16384, 32767, -32768, 0, 8192, 0, 2} {
			want = binary.LittleEndian.AppendUint16(want, uint16(v))
		}
		if !bytes.Equal(got, want) {
			t.Errorf("reads of %d: %v, want %v", size, got, want)
		}
		start(t, load(t, p, "n.wav", Memory), Params{At: p.Time() + 100})
		got = readIn(p.Float32(), size)
		for i, v := range map[int]float32{0: 0, 199: 0, 200: 0.5, 203: -1.5} {
			if w := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])); w != v {
				t.Errorf("reads of %d: sample %d is %v, want %v", size, i, w, v)
			}
		}
		if len(got) != 104*8 {
			t.Errorf("reads of %d: %d bytes, want 104 frames", size, len(got))
		}
		p.Close()
		if n, err := p.Float32().Read(make([]byte, 8)); n != 0 || err != io.EOF {
			t.Errorf("after Close: %d, %v", n, err)
		}
		if n, ok := p.Stream(make([][2]float64, 8)); n != 0 || ok {
			t.Errorf("Stream after Close: %d, %v", n, ok)
		}
	}
}

func readIn(r io.Reader, size int) (all []byte) {
	for b := make([]byte, size); ; {
		n, err := r.Read(b)
		all = append(all, b[:n]...)
		if err != nil {
			return all
		}
	}
}

func TestStreamEndsAfterDrain(t *testing.T) {
	p := inStep(t, sounds(), 48000)
	start(t, load(t, p, "swish.wav", Auto), Params{})
	p.Drain()
	total := 0
	for b := make([][2]float64, 1000); ; {
		n, ok := p.Stream(b)
		if total += n; !ok {
			break
		}
	}
	if total != 19200 {
		t.Errorf("%d frames, want 19200", total)
	}
}
