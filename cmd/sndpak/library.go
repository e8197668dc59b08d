package main

import "github.com/spf13/cobra"

// newLibrary is a help topic: how a program plays what the command does.
func newLibrary() *cobra.Command {
	return &cobra.Command{
		Use:   "library",
		Short: "How a Go program plays from a pack: alone, with beep, with Ebitengine",
		Long: `A program that plays by itself:

  pack, err := soundpack.Open("music.data", nil)  // github.com/sndpak/sndpak/soundpack
  p, err := player.Open(pack, nil)                // .../player; any fs.FS will do
  jump, err := p.Load("jump.wav", player.Auto)    // once, while the level loads
  v, err := jump.Play(player.Params{Gain: -6, Pan: 0.3})
  <-v.Done()

With beep a Player is one more Streamer:

  p := player.New(pack, &player.Options{Rate: 44100})
  speaker.Init(44100, 4410)
  speaker.Play(p)

With Ebitengine one audio player pulls all of it, for as long as the game runs:

  p := player.New(pack, &player.Options{Buffer: 50 * time.Millisecond})
  out, err := audio.NewContext(p.Rate()).NewPlayerF32(p.Float32())
  out.SetBufferSize(50 * time.Millisecond)
  out.Play()

With oto, or whatever else takes PCM, read p.Float32() or p.Int16() likewise.

Music that goes down under speech, shots that do not pile up:

  music, err := p.NewBus("music", nil)
  speech, err := p.NewBus("speech", nil)
  music.Duck(&player.Duck{By: speech})
  shot.SetLimit(player.Limit{Voices: 4, Gap: 30 * time.Millisecond})

A test of a game's sound: let it run with Options{InStep: true, Record: file}, then

  sndpak render music.data --replay file --hash

All of it, with examples: go doc github.com/sndpak/sndpak/player, or pkg.go.dev.`,
	}
}
