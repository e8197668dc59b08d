package mixer

import (
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gopxl/beep/v2"
)

// Ten goroutines start, steer and watch voices while one mixes. What they do is checked for sense
// only: a snapshot never mixes two moments, a voice that was stopped ends, and every end is told.
func TestTenGoroutines(t *testing.T) {
	m := New(Config{Rate: 8000, Voices: 64, Queue: 256, Heard: 20, Limiter: true})
	m.Record(1 << 10)
	sounds := []*PCM{noise16(1, 1, 500), noise16(2, 2, 3000), float(noise16(3, 1, 2000)), float(noise16(4, 2, 100))}
	var started, told atomic.Int64
	var done atomic.Bool
	var senders, mixing sync.WaitGroup
	mixing.Go(func() {
		block := make([]float32, 2*160)
		for !done.Load() {
			m.Mix(block)
		}
	})
	mixing.Go(func() {
		var ends [16]Voice
		for !done.Load() {
			told.Add(int64(m.Ended(ends[:])))
			if err := m.WriteLog(io.Discard); err != nil && !errors.Is(err, ErrFull) {
				t.Error(err)
			}
			m.Meter(1)
		}
	})
	for g := range uint64(10) {
		senders.Go(func() { started.Add(commandAway(t, m, rand.New(rand.NewPCG(g, 0)), sounds)) })
	}
	senders.Wait()
	for end := m.Time() + 10*3000; m.Time() < end; {
	}
	done.Store(true)
	mixing.Wait()
	var ends [4096]Voice
	told.Add(int64(m.Ended(ends[:])))
	s := m.Stats()
	if s.Voices != 0 || told.Load()+s.LostEnds != started.Load() {
		t.Errorf("%d voices started, %d ends told, %d lost, %d left", started.Load(), told.Load(), s.LostEnds, s.Voices)
	}
}

// commandAway is one of the goroutines; it returns how many voices it has started.
func commandAway(t *testing.T, m *Mixer, rnd *rand.Rand, sounds []*PCM) (started int64) {
	var mine []Voice
	bus, _ := m.NewBus(0)
	group, _ := m.NewGroup(Limit{Voices: 5, Steal: true})
	for range 1000 {
		if rnd.IntN(4) == 0 || len(mine) == 0 {
			v, err := m.PlayPCM(sounds[rnd.IntN(len(sounds))], Params{Gain: -10, Interpolation: Interpolation(rnd.IntN(2)), At: m.Time() + rnd.Int64N(300), Start: rnd.Int64N(50), After: Voice(rnd.Uint64N(2)) * last(mine), Bus: bus, Groups: [2]Group{group}})
			if err == nil {
				mine = append(mine, v)
				started++
			}
			continue
		}
		v := mine[rnd.IntN(len(mine))]
		switch rnd.IntN(14) {
		case 0:
			m.SetGain(v, -rnd.Float64()*20)
		case 1:
			m.SetPan(v, rnd.Float64()*2-1)
		case 2:
			m.At(m.Time()+rnd.Int64N(500)).Seek(v, rnd.Int64N(100))
		case 3:
			m.Stop(v, rnd.IntN(100))
		case 4:
			m.Pause(v)
			m.Resume(v)
		case 5:
			m.SetMaster(-rnd.Float64())
		case 6:
			m.SetPitch(v, 0.1+rnd.Float64())
		case 7:
			m.Fade(v, Fade{Gain: -rnd.Float64(), Frames: rnd.IntN(500), Curve: Curve(rnd.IntN(4))})
		case 8:
			m.SetBusGain(bus, -rnd.Float64())
			m.PauseBus(bus, true)
			m.PauseBus(bus, false)
		case 9:
			m.SetDuck(bus, &Duck{By: bus, Threshold: -1, Depth: -1})
		case 10:
			m.SetEffect(bus, func(in beep.Streamer) beep.Streamer { return in })
		case 11:
			m.MeterBus(bus, true)
			m.SetLimit(group, Limit{Voices: 1 + rnd.IntN(9), Steal: true})
		default:
			if s := m.State(v); s.Ended && (s.Playing || s.Paused || s.Waiting || s.Position != 0) || s.Playing && s.Paused || s.Position > 3000 {
				t.Errorf("a state that cannot be: %+v", s)
				return started
			}
		}
	}
	for _, v := range mine {
		for m.Resume(v) != nil || m.Stop(v, 0) != nil { // the queue is full at times
		}
	}
	return started
}

// A snapshot is of one moment: voices that play the same sound from the same frame always stand at
// the same position, and Time agrees with them.
func TestSnapshotIsConsistent(t *testing.T) {
	m := New(Config{Rate: 8000})
	p := noise16(1, 1, 100)
	var ids [8]Voice
	for i := range ids {
		ids[i], _ = m.PlayPCM(p, Params{Loop: &Loop{}})
	}
	block := make([]float32, 2*7)
	m.Mix(block)
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			last := int64(0)
			for !done.Load() {
				s := m.State(ids[3])
				now := s.Loops*100 + s.Position
				if now < last || now%7 != 0 {
					t.Errorf("position %d after %d in blocks of 7", now, last)
					return
				}
				last = now
			}
		})
	}
	for range 5000 {
		m.Mix(block)
	}
	done.Store(true)
	readers.Wait()
}

// last is the newest of the voices, 0 if there is none.
func last(mine []Voice) Voice {
	if len(mine) == 0 {
		return 0
	}
	return mine[len(mine)-1]
}
