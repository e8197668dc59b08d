package mixer_test

import (
	"fmt"

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
