package player_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"expvar"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math"
	"os"
	"time"

	"github.com/gopxl/beep/v2"
	"github.com/gopxl/beep/v2/effects"
	"github.com/sndpak/sndpak/player"
	"github.com/sndpak/sndpak/player/mixer"
)

// files are the sounds of the examples: any fs.FS will do, as a soundpack.Pack, an embed.FS or a zip.
func files() fs.FS { return os.DirFS("../testdata/sounds") }

// A game plays through the device of its machine; here into nothing, in real time.
func ExampleOpen() {
	p, err := player.Open(files(), &player.Options{Output: "null"})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	swish, err := p.Load("swish.wav", player.Auto) // once, while the level loads
	if err != nil {
		log.Fatal(err)
	}
	v, err := swish.Play(player.Params{Gain: -6, Pan: 0.3})
	if err != nil {
		log.Fatal(err)
	}
	<-v.Done()
	fmt.Println(v.Err(), swish.Duration())
	// Output: <nil> 400ms
}

// In a program that plays with beep a Player is one more Streamer, for speaker.Play or any other; and
// beep's effects go on top of it.
func ExamplePlayer_Stream() {
	p := player.New(files(), &player.Options{Rate: 44100})
	defer p.Close()
	loop, err := p.Load("drumloop.wav", player.Auto)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := loop.Play(player.Params{Loop: loop.Loop()}); err != nil {
		log.Fatal(err)
	}
	var s beep.Streamer = &effects.Volume{Streamer: p, Base: 10, Volume: -0.5}
	// speaker.Play(s)
	n, ok := s.Stream(make([][2]float64, 512))
	fmt.Println(n, ok)
	// Output: 512 true
}

// ebitenContext stands for Ebitengine's audio.Context, whose NewPlayerF32 takes 32-bit floats,
// little-endian, in stereo, at the context's rate:
//
//	context := audio.NewContext(p.Rate())
//	out, err := context.NewPlayerF32(p.Float32())
//	out.SetBufferSize(50 * time.Millisecond)
//	out.Play()
type ebitenContext struct{}

func (ebitenContext) NewPlayerF32(src io.Reader) (peak float32, err error) {
	b := make([]byte, 8*4800)
	if _, err := io.ReadFull(src, b); err != nil {
		return 0, err
	}
	for i := 0; i < len(b); i += 4 {
		peak = max(peak, math.Float32frombits(binary.LittleEndian.Uint32(b[i:])))
	}
	return peak, nil
}

// In Ebitengine one audio player pulls the whole Player, for as long as the game runs. Player.Int16 is
// for audio.NewPlayer, and for oto.
func ExamplePlayer_Float32() {
	p := player.New(files(), &player.Options{Buffer: 50 * time.Millisecond}) // of what reads
	defer p.Close()
	jaguar, err := p.Load("jaguar.wav", player.Auto)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := jaguar.Play(player.Params{}); err != nil {
		log.Fatal(err)
	}
	peak, err := ebitenContext{}.NewPlayerF32(p.Float32())
	fmt.Println(peak > 0, err)
	// Output: true <nil>
}

// Music goes down under speech, and effects never pile up.
func ExampleBus() {
	p := player.New(files(), nil)
	defer p.Close()
	music, err := p.NewBus("music", nil)
	if err != nil {
		log.Fatal(err)
	}
	speech, err := p.NewBus("speech", nil)
	if err != nil {
		log.Fatal(err)
	}
	music.Duck(&player.Duck{By: speech, Depth: -15})
	music.SetEffect(func(in beep.Streamer) beep.Streamer { return effects.Mono(in) })
	swish, err := p.Load("swish.wav", player.Auto)
	if err != nil {
		log.Fatal(err)
	}
	swish.SetLimit(player.Limit{Voices: 4, Gap: 30 * time.Millisecond, Steal: player.StealOldest})
	theme, err := p.Load("theme.ogg", player.Auto)
	if err != nil {
		log.Fatal(err)
	}
	v, err := theme.Play(player.Params{Bus: music, Loop: theme.Loop(), FadeIn: time.Second, Curve: mixer.EqualPower})
	if err != nil {
		log.Fatal(err)
	}
	v.FadeAt(10*48000, player.Fade{Gain: math.Inf(-1), Time: 2 * time.Second, Stop: true}) // after ten seconds exactly
	for _, b := range p.Buses() {
		fmt.Println(b.Name())
	}
	// Output:
	// master
	// music
	// speech
}

// A voice that follows another one does so without a frame between them.
func ExampleParams_after() {
	p := player.New(files(), &player.Options{InStep: true})
	defer p.Close()
	swish, err := p.Load("swish.wav", player.Auto)
	if err != nil {
		log.Fatal(err)
	}
	first, err := swish.Play(player.Params{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := swish.Play(player.Params{After: first}); err != nil {
		log.Fatal(err)
	}
	p.Drain()
	n, err := io.Copy(io.Discard, p.Int16())
	fmt.Println(n/4, "frames,", err)
	// Output: 38400 frames, <nil>
}

// A golden test of a game's sound: what it told the player is played back, and the bits must be the same.
func ExampleReplay() {
	var told bytes.Buffer
	p := player.New(files(), &player.Options{InStep: true, Record: &told})
	jaguar, err := p.Load("jaguar.wav", player.Auto)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := jaguar.Play(player.Params{Pitch: 1.5, At: 1000}); err != nil {
		log.Fatal(err)
	}
	p.Drain()
	game := sha256.New()
	io.Copy(game, p.Float32())
	if err := p.Close(); err != nil {
		log.Fatal(err)
	}

	q, err := player.Replay(files(), &told, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer q.Close()
	again := sha256.New()
	io.Copy(again, q.Float32())
	fmt.Println(bytes.Equal(game.Sum(nil), again.Sum(nil)), q.Err())
	// Output: true <nil>
}

// A level decodes its sounds while a loading screen shows how far it is.
func ExamplePlayer_Preload() {
	p := player.New(files(), &player.Options{Budget: 64 << 20})
	defer p.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := p.Preload(ctx, []string{"swish.wav", "jaguar.wav", "drumloop.wav"}, player.Auto, func(done, total int) {
		fmt.Printf("%d of %d\n", done, total)
	})
	fmt.Println(err, p.Stats().Clips.Items)
	// Output:
	// 1 of 3
	// 2 of 3
	// 3 of 3
	// <nil> 3
}

// What a player tells of itself can be published.
func ExamplePlayer_Stats() {
	p := player.New(files(), nil)
	defer p.Close()
	expvar.Publish("player", expvar.Func(func() any { return p.Stats() }))
	p.Mix(make([]float32, 2*512))
	fmt.Println(p.Stats().Blocks, p.Stats().Underruns)
	// Output: 1 0
}
