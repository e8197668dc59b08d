package tick_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"math"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	"github.com/sndpak/sndpak/player"
	"github.com/sndpak/sndpak/player/tick"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/sndpak/sndpak/soundpack/content"
)

func Example() {
	s := tick.New(tick.Config{Second: 1000}) // milliseconds
	sim, err := s.Add("sim", tick.Hz(20))
	if err != nil {
		log.Fatal(err)
	}
	ai, err := s.Add("ai", tick.Hz(10))
	if err != nil {
		log.Fatal(err)
	}
	s.Subscribe(sim|ai, func(t tick.Tick) { fmt.Println(t.Time, s.Names(t.Due)) })
	s.Draw(func(f tick.Frame) { fmt.Printf("%d drawn at %.2f\n", f.Time, f.Fraction(sim)) })
	for _, clock := range []int64{0, 16, 130} { // as a clock showed it
		s.Frame(clock)
	}
	// Output:
	// 0 [sim ai]
	// 0 drawn at 0.00
	// 16 drawn at 0.32
	// 50 [sim]
	// 100 [sim ai]
	// 130 drawn at 0.60
}

// A ball bounces between two walls: a whole game, whose picture and sound come out of one pack. It
// would be the same with the device of the machine (player.Open) and its clock (time.Since); here both
// are stepped by hand, so that it ends and prints the same each time.
func Example_gameLoop() {
	dir, err := os.MkdirTemp("", "game")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := run(writeGame(dir)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0.475 s: bounced at 100
	// 0.975 s: bounced at 0
	// 40 ticks, 60 pictures, 2 sounds
	// ball.png was drawn at 0 10 20 30 ...
	// everything released: true
}

// game is its state at a tick. Drawing shows what lies between before and now.
type game struct {
	before, now, speed float64
	bounced            []int64 // at which time
}

// step is one tick of the simulation, a fortieth of a second.
func (g *game) step(at int64) {
	g.before, g.now = g.now, g.now+g.speed
	if g.now >= 100 || g.now <= 0 {
		g.speed = -g.speed
		g.bounced = append(g.bounced, at)
	}
}

func run(path string) error {
	pack, err := soundpack.Open(path, nil)
	if err != nil {
		return err
	}
	defer pack.Close()
	cache := content.New(content.Options{Budget: 16 << 20})
	sprites := content.Images(cache, pack, content.ImageOptions{})
	ball, err := sprites.Get(context.Background(), "sprites/ball.png")
	if err != nil {
		return err
	}
	sound := player.New(pack, &player.Options{InStep: true})
	defer sound.Close()
	hit, err := sound.Load("sounds/hit.wav", player.Auto)
	if err != nil {
		return err
	}

	loop := tick.New(tick.Config{})
	sim, err := loop.Add("sim", tick.Hz(40))
	if err != nil {
		return err
	}
	g := &game{speed: 5}
	played := 0
	loop.Subscribe(sim, func(t tick.Tick) {
		g.step(t.Time)
		if n := len(g.bounced); n > played {
			played++
			hit.Play(player.Params{})
			fmt.Printf("%.3f s: bounced at %.0f\n", time.Duration(t.Time).Seconds(), g.now)
		}
	})
	screen := image.NewNRGBA(image.Rect(0, 0, 120, 20))
	var drawn []int
	loop.Draw(func(f tick.Frame) {
		x := int(g.before + (g.now-g.before)*f.Fraction(sim))
		paste(screen, ball.Value(), x)
		drawn = append(drawn, x)
	})

	frame := make([]float32, 2*sound.Rate()/60)
	for n := range int64(60) { // one second of a screen at 60 Hz
		loop.Frame(n * int64(time.Second) / 60)
		sound.Mix(frame)
	}
	fmt.Printf("%d ticks, %d pictures, %d sounds\n", loop.Ticks(sim), len(drawn), played)
	fmt.Println("ball.png was drawn at", drawn[0], drawn[3], drawn[6], drawn[9], "...")
	hit.Unload()
	ball.Release()
	fmt.Println("everything released:", cache.Close() == nil)
	return nil
}

// paste draws a sprite at x.
func paste(screen *image.NRGBA, sprite image.Image, x int) {
	for i := range sprite.Bounds().Dx() * sprite.Bounds().Dy() {
		dx, dy := i%sprite.Bounds().Dx(), i/sprite.Bounds().Dx()
		screen.Set(x+dx, dy, sprite.At(dx, dy))
	}
}

// writeGame makes the game's pack, as `sndpak create game.data assets` does, and returns its path.
func writeGame(dir string) string {
	ball := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := range 16 * 16 {
		if x, y := i%16-8, i/16-8; x*x+y*y < 64 {
			ball.Set(i%16, i/16, color.NRGBA{R: 255, A: 255})
		}
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, ball); err != nil {
		log.Fatal(err)
	}
	sources, err := soundpack.SourcesFS(fstest.MapFS{
		"sprites/ball.png": {Data: picture.Bytes()},
		"sounds/hit.wav":   {Data: beep(48000 / 10)},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "game.data")
	if err := soundpack.Create(context.Background(), path, sources, nil); err != nil {
		log.Fatal(err)
	}
	return path
}

// beep is a WAV file of a tone of n frames that dies away, 16-bit mono at 48 kHz.
func beep(n int) []byte {
	b := []byte("RIFF....WAVEfmt ")
	b = binary.LittleEndian.AppendUint32(b, 16)
	for _, v := range []uint16{1, 1, 48000, 0, 48000 * 2 & 0xffff, 48000 * 2 >> 16, 2, 16} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), uint32(2*n))
	for i := range n {
		v := 20000 * math.Sin(float64(i)*2*math.Pi*440/48000) * (1 - float64(i)/float64(n))
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(v)))
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}
