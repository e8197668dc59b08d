package mixer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gopxl/beep/v2"
)

// A log played back into a new mixer gives the same bits, in blocks of other sizes too.
func TestReplay(t *testing.T) {
	for range 3 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		config := Config{Rate: 8000, Voices: 1000, Queue: 5000, Heard: 20, Limiter: rnd.IntN(2) == 0}
		sounds := []*PCM{noise16(1, 1, 2000), float(noise16(2, 2, 700)), noise16(3, 2, 50)}
		for i, p := range sounds {
			p.Name = strconv.Itoa(i)
		}
		r := newRig(t, config)
		r.Record(1 << 16)
		var log bytes.Buffer
		var want []float32
		live := &session{r: r, rnd: rnd, sounds: sounds}
		for len(want) < 2*8000 {
			live.act()
			want = append(want, r.mix(1+rnd.IntN(300))...)
			r.ok(r.WriteLog(&log))
		}
		for _, size := range []int{1, 64, 1000} {
			r := newRig(t, config)
			p := r.Replay(bytes.NewReader(log.Bytes()), func(name string) (*PCM, Feed, error) {
				i, err := strconv.Atoi(strings.TrimPrefix(name, "feed"))
				if strings.HasPrefix(name, "feed") {
					return nil, &soundFeed{p: sounds[i]}, err
				}
				return sounds[i], nil, err
			})
			var got []float32
			for len(got) < len(want) {
				n := min(size, (len(want)-len(got))/2)
				if err := p.Advance(n); err != nil && err != io.EOF {
					t.Fatalf("seed %d: %v", seed, err)
				}
				got = append(got, r.mix(n)...)
			}
			compareBits(t, seed, size, got, want)
		}
	}
}

// A session gives random commands at once and ahead, as a program does.
type session struct {
	r      rig
	rnd    *rand.Rand
	sounds []*PCM
	ids    []Voice
	buses  []Bus
	groups []Group
}

func (s *session) act() {
	rnd, r := s.rnd, s.r
	if len(s.buses) == 0 {
		s.buses = append(s.buses, 0)
		s.groups = append(s.groups, 0, r.group(Limit{Voices: 3, Steal: true}), r.group(Limit{Gap: 500}))
	}
	c := r.At(r.Time() + rnd.Int64N(400) - 200)
	for range rnd.IntN(4) {
		s.play()
	}
	id, b, on := s.ids, s.buses[rnd.IntN(len(s.buses))], rnd.IntN(2) == 0
	if len(id) == 0 {
		return
	}
	v := id[rnd.IntN(len(id))]
	switch rnd.IntN(18) {
	case 0:
		r.ok(c.SetGain(v, -rnd.Float64()*20))
	case 1:
		r.ok(c.SetPan(v, rnd.Float64()*2-1))
	case 2:
		r.ok(c.Pause(v))
	case 3:
		r.ok(c.Resume(v))
	case 4:
		r.ok(c.Stop(v, rnd.IntN(300)))
	case 5:
		r.ok(c.Fade(v, Fade{Gain: -rnd.Float64() * 20, Frames: rnd.IntN(500), Curve: Curve(rnd.IntN(4)), Stop: on}))
	case 6:
		r.ok(c.SetPitch(v, 0.3+rnd.Float64()))
	case 7:
		if !v.feed() {
			r.ok(c.Seek(v, rnd.Int64N(300)))
			r.ok(c.SetLoop(v, &Loop{Start: 10, Count: 3}))
		}
	case 8:
		if !v.feed() {
			r.ok(c.SetLoop(v, nil))
		}
	case 9:
		r.ok(c.SetLimit(s.groups[rnd.IntN(3)], Limit{Voices: 2 + rnd.IntN(5), Steal: true, Oldest: on}))
	case 10:
		if len(s.buses) < 8 {
			s.buses = append(s.buses, r.bus(b))
		}
	case 11:
		r.ok(c.SetBusGain(b, -rnd.Float64()*10))
	case 12:
		r.ok(c.FadeBus(b, Fade{Gain: -rnd.Float64() * 10, Frames: rnd.IntN(500)}))
	case 13:
		r.ok(c.MuteBus(b, on))
	case 14:
		r.ok(c.SoloBus(b, on))
	case 15:
		r.ok(c.PauseBus(b, on))
	case 16:
		r.ok(c.SetDuck(b, &Duck{By: s.buses[0], Threshold: -10, Depth: -6, Attack: 50, Release: 100}))
	case 17:
		r.ok(c.MeterBus(b, on))
		r.ok(c.StopBus(b, 100))
	}
}

func (s *session) play() {
	rnd := s.rnd
	i := rnd.IntN(len(s.sounds))
	o := Params{
		Gain: -rnd.Float64() * 20, Pan: rnd.Float64()*2 - 1, At: s.r.Time() + rnd.Int64N(500) - 250, Bus: s.buses[rnd.IntN(len(s.buses))],
		Groups: [2]Group{s.groups[rnd.IntN(3)], s.groups[rnd.IntN(3)]}, Priority: int8(rnd.IntN(3)), Protected: rnd.IntN(9) == 0,
	}
	o.Interpolation = Interpolation(rnd.IntN(2))
	if len(s.ids) > 0 && rnd.IntN(3) == 0 {
		o.After = s.ids[rnd.IntN(len(s.ids))]
	}
	switch rnd.IntN(3) {
	case 0:
		s.ids = append(s.ids, s.r.feed(named{&soundFeed{p: s.sounds[i]}, "feed" + strconv.Itoa(i)}, o))
	case 1:
		o.Loop, o.Start, o.Pitch, o.Length = &Loop{Start: 5, End: 40, Count: rnd.IntN(5)}, rnd.Int64N(60), 1+rnd.Float64(), 3000
		fallthrough
	default:
		o.Paused = rnd.IntN(9) == 0
		s.ids = append(s.ids, s.r.play(s.sounds[i], o))
	}
}

// named is a feed with a name.
type named struct {
	Feed
	name string
}

func (n named) Name() string { return n.name }

func TestLogLines(t *testing.T) {
	r := seconds(t)
	r.Record(100)
	b := r.bus(0)
	p := count(9)
	p.Name = "jump.wav"
	id := r.play(p, Params{At: 2, Loop: &Loop{Start: 1}, Bus: b, Interpolation: Sinc})
	r.mix(1)
	r.ok(r.At(4).Seek(id, 3))
	r.ok(r.SetGain(id, 20))
	r.ok(r.SetEffect(b, func(in beep.Streamer) beep.Streamer { return in }))
	r.ok(r.Stop(1<<40, 0))         // nobody
	r.feed(&soundless{}, Params{}) // without a name
	r.mix(5)
	var log strings.Builder
	r.ok(r.WriteLog(&log))
	want := `{"frame":0,"order":1,"do":"bus","bus":1}
{"frame":0,"order":2,"do":"start","voice":1,"start":{"sound":"jump.wav","at":2,"level":1,"law":[1,1],"loop":{"Start":1,"End":0,"Count":0},"step":4294967296,"sinc":true,"bus":1,"groups":[0,0]}}
{"frame":1,"order":4,"do":"gain","voice":1,"gain":[10,10]}
{"frame":1,"order":5,"do":"effect","bus":1,"args":[1,0,0]}
{"frame":1,"order":7,"do":"start","voice":2,"start":{"sound":"","feed":true,"at":1,"level":1,"law":[1,1],"step":4294967296,"groups":[0,0]}}
{"frame":4,"order":3,"do":"seek","voice":1,"args":[3,0,0]}
`
	if log.String() != want {
		t.Errorf("got\n%swant\n%s", &log, want)
	}
	log.Reset()
	if r.ok(r.WriteLog(&log)); log.Len() != 0 {
		t.Errorf("told twice: %s", &log)
	}
}

func TestLogOverflow(t *testing.T) {
	r := seconds(t)
	r.Record(2)
	for range 5 {
		r.ok(r.SetMaster(0))
	}
	r.mix(1)
	var log strings.Builder
	if err := r.WriteLog(&log); !errors.Is(err, ErrFull) || strings.Count(log.String(), "\n") != 2 {
		t.Errorf("%v after %q", err, log.String())
	}
	r.ok(r.WriteLog(&log))
	r.Record(0)
	r.ok(r.SetMaster(0))
	r.mix(1)
	if r.ok(r.WriteLog(&log)); strings.Count(log.String(), "\n") != 2 {
		t.Errorf("recorded though it is off: %q", log.String())
	}
	r.Record(9)
	r.ok(r.SetMaster(0))
	r.mix(1)
	if err := r.WriteLog(brokenPipe{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

var hostileLines = []string{
	`{`, `[]`, `{}`, `{"do":"jump"}`, `{"do":""}`, `{"frame":-1,"do":"gain"}`, `{"do":"start"}`, `{"do":"limit"}`, `{"do":"limit","group":4096}`,
	`{"do":"mute"}`, `{"do":"bus","bus":2,"args":[0]}`, `{"do":"bus","bus":1,"args":[9]}`, `{"do":"bus","bus":1,"args":[-1]}`, `{"do":"mute","bus":31}`,
	`{"do":"gain","voice":1,"gain":[1e30,1]}`, `{"do":"gain","voice":1,"gain":[-1,1]}`, `{"do":"pitch","voice":1,"args":[0]}`,
	`{"do":"pitch","voice":1,"args":[9223372036854775807]}`, `{"do":"fade","voice":1,"args":[1,9]}`, `{"do":"stop","voice":1,"args":[-1]}`,
	`{"do":"loop","voice":1,"args":[5,5,0]}`, `{"do":"seek","voice":1,"args":[-5]}`, `{"do":"seek","args":[1,2,3,4]}`, `{"do":"duck","bus":0,"duck":{"By":9}}`,
	`{"do":"duck","bus":0,"duck":{"Depth":1}}`, `{"do":"start","start":{"level":-1,"step":4294967296}}`, `{"do":"start","start":{"level":1,"step":1}}`,
	`{"do":"start","start":{"level":1,"law":[1,1e9],"step":4294967296}}`, `{"do":"start","start":{"level":1,"step":4294967296,"from":-1}}`,
	`{"do":"start","start":{"level":1,"step":4294967296,"bus":7}}`, `{"do":"start","start":{"level":1,"step":4294967296,"sound":"none"}}`,
	`{"do":"start","start":{"level":1,"step":4294967296,"sound":"nil"}}`, `{"do":"start","start":{"level":1,"step":4294967296,"sound":"bad"}}`,
	`{"do":"start","start":{"level":1,"step":4294967296,"groups":[4096,0]}}`, `{"do":"start","start":{"level":1,"step":4294967296,"sound":"feed","loop":{}}}`,
}

var errNoSound = errors.New("no such sound")

func openForTest(name string) (*PCM, Feed, error) {
	switch name {
	case "none":
		return nil, nil, errNoSound
	case "nil":
		return nil, nil, nil
	case "bad":
		return &PCM{}, nil, nil
	case "feed":
		return nil, &soundless{}, nil
	}
	return noise16(1, 1, 100), nil, nil
}

func TestReplayHostile(t *testing.T) {
	for _, l := range hostileLines {
		m := New(Config{Rate: 8000})
		err := m.Replay(strings.NewReader("\n"+l), openForTest).Advance(1000)
		if !errors.Is(err, ErrValue) && !errors.Is(err, errNoSound) || !strings.Contains(fmt.Sprint(err), "line 2") {
			t.Errorf("%s: %v, want ErrValue and the line", l, err)
		}
	}
	m := New(Config{Rate: 8000})
	if err := m.Replay(strings.NewReader(strings.Repeat("x", 1<<21)), openForTest).Advance(0); err == nil || err == io.EOF {
		t.Errorf("a line without end: %v", err)
	}
	p := m.Replay(strings.NewReader(`{"do":"gain","voice":7,"gain":[1,1]}`), openForTest)
	if err := p.Advance(1); err != io.EOF {
		t.Errorf("a voice from before the log: %v", err)
	}
}

// A replay that finds no room goes on when there is some.
func TestReplayFull(t *testing.T) {
	m := New(Config{Rate: 1, Queue: 1})
	line := `{"do":"busgain","bus":0,"gain":[2,2],"frame":0}` + "\n"
	p := m.Replay(strings.NewReader(line+line+line), openForTest)
	for i, want := range []error{ErrFull, ErrFull, io.EOF} {
		if err := p.Advance(0 + 1&(1-min(i, 1))); !errors.Is(err, want) {
			t.Errorf("step %d: %v, want %v", i, err, want)
		}
		m.Mix(make([]float32, 2))
	}
}

func FuzzReplay(f *testing.F) {
	if len(hostileLines) == 0 {
		f.Fatal("no seeds")
	}
	for _, l := range hostileLines {
		f.Add([]byte(l))
	}
	f.Add([]byte(`{"frame":1,"order":2,"do":"start","voice":1,"start":{"sound":"a","at":2,"level":1,"law":[1,1],"loop":{"Start":1,"End":5,"Count":0},"step":9294967296,"sinc":true,"groups":[0,0]}}
{"frame":3,"order":3,"do":"seek","voice":1,"args":[7]}
{"frame":3,"order":4,"do":"loop","voice":1,"args":[1,99,3]}
{"frame":5,"order":5,"do":"pitch","voice":1,"args":[200000000000]}`))
	f.Fuzz(func(t *testing.T, log []byte) {
		m := New(Config{Rate: 8000, Voices: 20, Queue: 50})
		p := m.Replay(bytes.NewReader(log), openForTest)
		block := make([]float32, 2*100)
		for range 20 {
			if err := p.Advance(100); err != nil && err != io.EOF && !errors.Is(err, ErrFull) && !errors.Is(err, ErrVoices) {
				return
			}
			m.Mix(block)
			for i, x := range block {
				if x-x != 0 {
					t.Fatalf("sample %d is %v", i, x)
				}
			}
		}
	})
}
