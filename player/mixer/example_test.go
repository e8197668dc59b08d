package mixer_test

import (
	"bytes"
	"fmt"
	"io"

	"github.com/sndpak/sndpak/player/mixer"
)

func Example() {
	m := mixer.New(mixer.Config{Rate: 48000})
	click := &mixer.PCM{Channels: 1, S16: []int16{16384, -16384}}
	voice, err := m.PlayPCM(click, mixer.Params{Loop: &mixer.Loop{Count: 2}, At: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	block := make([]float32, 2*6) // six stereo frames
	m.Mix(block)
	fmt.Println(block)
	fmt.Println(m.Time(), m.State(voice).Ended)
	// Output:
	// [0 0 0.5 0.5 -0.5 -0.5 0.5 0.5 -0.5 -0.5 0 0]
	// 6 true
}

func ExampleMixer_At() {
	m := mixer.New(mixer.Config{})
	tone := &mixer.PCM{Channels: 1, S16: make([]int16, 48000)}
	voice, _ := m.PlayPCM(tone, mixer.Params{})
	m.At(24000).Pause(voice) // half a second from the start, whatever the blocks are
	m.At(48000).Resume(voice)
	m.Mix(make([]float32, 2*36000))
	fmt.Println(m.State(voice).Paused, m.State(voice).Position)
	// Output: true 24240
}

func ExampleResample() {
	cd := &mixer.PCM{Channels: 2, S16: make([]int16, 2*44100)}
	samples, err := mixer.Resample(cd, 44100, 48000)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := mixer.New(mixer.Config{Rate: 48000})
	_, err = m.PlayPCM(&mixer.PCM{Channels: 2, F32: samples}, mixer.Params{})
	fmt.Println(len(samples)/2, err)
	// Output: 48000 <nil>
}

func ExampleMixer_NewBus() {
	m := mixer.New(mixer.Config{Rate: 48000})
	music, _ := m.NewBus(0)
	speech, _ := m.NewBus(0)
	// The music goes down by 12 dB while somebody speaks.
	err := m.SetDuck(music, &mixer.Duck{By: speech, Threshold: -40, Depth: -12, Attack: 480, Hold: 24000, Release: 24000})
	tone := &mixer.PCM{Channels: 1, S16: make([]int16, 48000)}
	voice, _ := m.PlayPCM(tone, mixer.Params{Bus: music, Loop: &mixer.Loop{}})
	m.PauseBus(music, true)
	m.Mix(make([]float32, 2*480))
	fmt.Println(m.State(voice).Paused, err)
	// Output: true <nil>
}

func ExampleMixer_NewGroup() {
	m := mixer.New(mixer.Config{})
	steps, _ := m.NewGroup(mixer.Limit{Voices: 2, Steal: true, Oldest: true})
	step := &mixer.PCM{Channels: 1, S16: make([]int16, 48000)}
	for range 5 {
		m.PlayPCM(step, mixer.Params{Groups: [2]mixer.Group{steps}})
		m.Mix(make([]float32, 2*480))
	}
	fmt.Println(m.Stats().Voices, m.Stats().Stolen)
	// Output: 2 3
}

func ExampleMixer_Replay() {
	click := &mixer.PCM{Channels: 1, S16: []int16{8192, 16384}, Name: "click"}
	block := make([]float32, 2*4)

	m := mixer.New(mixer.Config{})
	m.Record(1000)
	m.PlayPCM(click, mixer.Params{At: 1})
	m.Mix(block)
	var log bytes.Buffer
	m.WriteLog(&log)

	again := mixer.New(mixer.Config{})
	replay := again.Replay(&log, func(sound string) (*mixer.PCM, mixer.Feed, error) { return click, nil, nil })
	clear(block)
	if err := replay.Advance(4); err != io.EOF {
		fmt.Println(err)
	}
	again.Mix(block)
	fmt.Println(block)
	// Output: [0 0 0.25 0.25 0.5 0.5 0 0]
}
