package mixer

import (
	"encoding/binary"
	"math"
	"testing"
)

// FuzzCommands drives a small mixer by bytes: whatever they ask for, the mix is made of finite
// numbers, every voice that started ends or is there, and nothing hangs.
func FuzzCommands(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
	f.Add([]byte("\x00\x10\x00\x20\x05\x80\xff\x00\x40\x09\x33\x00\x01\x0a\xc8\x00\x02\x0b\x11\x01\x03"))
	for _, by := range []uint32{2654435761, 2246822519} {
		seed := make([]byte, 0, 400)
		for i := range uint32(100) {
			seed = binary.LittleEndian.AppendUint32(seed, i*by)
		}
		f.Add(seed)
	}
	for kind := range byte(3) { // a sound of its own pitch in a loop, then one of half of it, and a feed
		f.Add([]byte{0, 0, 0, 128, 128, 0, 0, 0, 0, 0, 128, 1, 0, 0, 1, kind, 1, 2, 1, 0, 10, 60, 0, 200,
			0, 0, 10, 0, 64, 90, 0, 0, 0, 128, 128, 0, 0, 0, 0, 0, 64, 1, 0, 0, 1, kind, 1, 4, 0, 255})
	}
	sounds := []*PCM{noise16(1, 1, 300), noise16(2, 2, 50), float(noise16(3, 1, 1000)), count(1), {Channels: 2, F32: []float32{float32(math.NaN()), 3e38, 1, 2}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newRig(t, Config{Rate: 2000, Voices: 30, Queue: 60, Heard: 8, Limiter: len(data)%2 == 0})
		d := &driver{data: data, r: r, sounds: sounds, buses: []Bus{0}}
		for step := 0; len(d.data) > 0 && step < 400; step++ {
			d.act()
			for i, x := range r.mix(int(d.byte()) * 3) {
				if x-x != 0 {
					t.Fatalf("sample %d is %v", i, x)
				}
			}
			d.ended += int64(r.Ended(d.buf[:]))
		}
		s := r.Stats()
		if gone := d.ended + s.LostEnds; gone+int64(s.Voices) > d.started || gone+int64(s.Voices)+int64(len(r.desk.cmds.buf)) < d.started {
			t.Errorf("%d voices started, %d ended, %d are there", d.started, gone, s.Voices)
		}
	})
}

// A driver makes commands of bytes.
type driver struct {
	data           []byte
	r              rig
	sounds         []*PCM
	ids            []Voice
	buses          []Bus
	started, ended int64
	buf            [64]Voice
}

// byte is the next byte, 0 behind the last one.
func (d *driver) byte() (b byte) {
	if len(d.data) > 0 {
		b, d.data = d.data[0], d.data[1:]
	}
	return b
}

// real is a number that may be anything.
func (d *driver) real() float64 {
	switch b := d.byte(); {
	case b == 255:
		return math.NaN()
	case b == 254:
		return math.Inf(-1)
	case b > 240:
		return float64(b) * 1e6
	default:
		return float64(b)/64 - 2
	}
}

// whole is a number of frames, mostly one that makes sense.
func (d *driver) whole() int64 {
	b := int64(int8(d.byte()))
	if b == 127 {
		return math.MaxInt64
	}
	return b * b * b / 1000
}

func (d *driver) voice() Voice {
	if len(d.ids) == 0 {
		return Voice(d.byte())
	}
	return d.ids[int(d.byte())%len(d.ids)]
}

// act gives one command. That it is refused is no fault; what matters is what the mixer does then.
func (d *driver) act() {
	r := d.r
	c := r.At(r.Time() + d.whole())
	b := d.buses[int(d.byte())%len(d.buses)]
	switch op := d.byte() % 24; op {
	case 0, 1, 2, 3:
		d.play(b)
	case 4:
		c.SetGain(d.voice(), d.real())
	case 5:
		c.SetPan(d.voice(), d.real())
	case 6:
		c.Pause(d.voice())
	case 7:
		c.Resume(d.voice())
	case 8:
		c.Stop(d.voice(), int(d.whole()))
	case 9:
		c.Fade(d.voice(), Fade{Gain: d.real(), Frames: int(d.whole()), Curve: Curve(d.byte() % 5), Stop: d.byte()%2 == 0})
	case 10:
		c.SetPitch(d.voice(), math.Exp2(d.real()))
	case 11:
		c.Seek(d.voice(), d.whole())
	case 12:
		c.SetLoop(d.voice(), &Loop{d.whole(), d.whole(), int(d.whole())})
	case 13:
		c.SetLoop(d.voice(), nil)
	case 14:
		c.SetLimit(Group(d.byte()%4), Limit{int(d.whole()), int(d.whole()), d.byte()%2 == 0, d.byte()%2 == 0})
	case 15:
		if made, err := r.NewBus(b); err == nil {
			d.buses = append(d.buses, made)
		}
	case 16:
		c.SetBusGain(b, d.real())
	case 17:
		c.FadeBus(b, Fade{Gain: d.real(), Frames: int(d.whole()), Curve: Curve(d.byte() % 5)})
	case 18:
		c.MuteBus(b, d.byte()%2 == 0)
	case 19:
		c.SoloBus(b, d.byte()%2 == 0)
	case 20:
		c.PauseBus(b, d.byte()%2 == 0)
	case 21:
		c.StopBus(b, int(d.whole()))
	case 22:
		c.SetDuck(b, &Duck{By: Bus(d.byte() % 4), Threshold: d.real(), Depth: d.real(), Attack: int(d.whole()), Hold: int(d.whole()), Release: int(d.whole())})
	case 23:
		c.MeterBus(b, d.byte()%2 == 0)
	}
}

func (d *driver) play(b Bus) {
	o := Params{
		Gain: d.real(), Pan: d.real() / 2, Start: d.whole(), At: d.whole(), Length: d.whole(), FadeIn: int(d.whole()), Curve: Curve(d.byte() % 5),
		Pitch: math.Exp2(d.real()), Paused: d.byte()%4 == 0, Bus: b, Groups: [2]Group{Group(d.byte() % 4)}, Priority: int8(d.byte()), Protected: d.byte()%8 == 0, Interpolation: Interpolation(d.byte() % 3),
	}
	if d.byte()%3 == 0 {
		o.After = d.voice()
	}
	p := d.sounds[int(d.byte())%len(d.sounds)]
	id, err := Voice(0), error(nil)
	if d.byte()%3 == 0 {
		o.Start = 0
		id, err = d.r.PlayFeed(&soundFeed{p: p}, o)
	} else {
		if d.byte()%2 == 0 {
			o.Loop = &Loop{d.whole(), d.whole(), int(d.whole())}
		}
		id, err = d.r.PlayPCM(p, o)
	}
	if err == nil {
		d.started++
		d.ids = append(d.ids, id)
	}
}
