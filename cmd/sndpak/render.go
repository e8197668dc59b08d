package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"
	"os"

	"github.com/sndpak/sndpak/player"
	"github.com/sndpak/sndpak/player/mixer"
	"github.com/sndpak/sndpak/player/output"
	"github.com/spf13/cobra"
)

// renderFlags say where the sound goes, and where it comes from if not from names.
type renderFlags struct {
	playFlags
	out, bits, record, replay string
	rate                      int
	hash                      bool
}

func newRender() *cobra.Command {
	var f renderFlags
	cmd := &cobra.Command{
		Use:   "render PACK... ENTRY... -o OUT.wav | FILE... -o OUT.wav",
		Short: "Mix sounds into a WAV file, as fast as it goes",
		Long: `Play entries of a pack, or sound files, through the mixer into a WAV file, as fast as it
goes. The same command gives the same bytes on any machine. - is standard output.

What a game told its player (player.Options.Record), or play --record wrote down, is played
back by --replay: the sounds come from the pack, and no names are given. With --hash the
SHA-256 of the mix (32-bit floats, little-endian) is printed: a test of a game's sound needs
no more.`,
		Example: `  sndpak render music.data swish.wav drumloop.wav --together -o both.wav
  sndpak render music.data theme.ogg --loop 3 --fade 2 -o long.wav --bits 32f
  sndpak render music.data --replay game.jsonl --hash`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return render(cmd, args, &f) },
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "the WAV `FILE` to write, - for standard output")
	cmd.Flags().StringVar(&f.bits, "bits", "16", "bits a sample: 16, 24 or 32f (float)")
	cmd.Flags().IntVar(&f.rate, "rate", 48000, "frames a second")
	cmd.Flags().BoolVar(&f.hash, "hash", false, "print the mix's SHA-256 and its frames")
	cmd.Flags().StringVar(&f.record, "record", "", "write what the player is told to this `FILE`")
	cmd.Flags().StringVar(&f.replay, "replay", "", "play back what was written to this `FILE`")
	return cmd
}

func (f *renderFlags) check(cmd *cobra.Command) error {
	switch {
	case f.out == "" && !f.hash:
		return usagef("render needs -o OUT.wav, or --hash")
	case wavBits[f.bits] == "":
		return usagef("--bits %s: 16, 24 or 32f", f.bits)
	case f.rate < 1 || f.rate > 768000:
		return usagef("--rate %d: from 1 to 768000", f.rate)
	}
	return errors.Join(f.playFlags.check(cmd.Flags()), f.endless(f.out))
}

func render(cmd *cobra.Command, args []string, f *renderFlags) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	src, names, err := openSounds(cmd.Context(), args, &f.packFlags.Options)
	if err != nil {
		return err
	}
	defer src.Close()
	switch {
	case f.replay != "" && len(names) > 0:
		return usagef("--replay takes packs alone: %q is none", names[0])
	case f.replay == "" && len(names) == 0:
		return usagef("%s is a pack: name an entry (sndpak list %s shows them)", args[0], args[0])
	}
	for _, file := range []string{f.out, f.record} {
		if err := src.spare(file, append(names, f.replay)); err != nil {
			return err
		}
	}
	if f.replay != "" {
		return f.playBack(cmd, src)
	}
	return f.mix(cmd, src, names)
}

// mix renders sounds by their names.
func (f *renderFlags) mix(cmd *cobra.Command, src *sounds, names []string) error {
	opt := player.Options{InStep: true, Rate: f.rate}
	rec, err := record(src, names, f.record, &opt)
	if err != nil {
		return err
	}
	p := player.New(src, &opt)
	s := newSession(cmd, p, src, &f.playFlags, names)
	s.next(nil)
	if s.over() { // nothing of it plays
		return errors.Join(s.failed(), p.Close(), rec.discard())
	}
	err = f.write(cmd, p)
	for _, w := range s.notes {
		s.warn(w)
	}
	return errors.Join(s.failed(), err, p.Close(), rec.close())
}

// playBack renders a log.
func (f *renderFlags) playBack(cmd *cobra.Command, src *sounds) error {
	log, err := openSide(cmd.Context(), f.replay)
	if err != nil {
		return err
	}
	defer log.Close()
	p, err := player.Replay(src, bufio.NewReader(log), nil)
	if err != nil {
		return fmt.Errorf("%s: %w", f.replay, err)
	}
	err = f.write(cmd, p)
	if fault := p.Err(); fault != nil {
		err = fmt.Errorf("%s: %w", f.replay, fault)
		if errors.Is(fault, mixer.ErrValue) {
			err = damagedError{err}
		}
	}
	return errors.Join(err, p.Close())
}

// write pulls the player until it ends, into the file and the hash.
func (f *renderFlags) write(cmd *cobra.Command, p *player.Player) error {
	sum := sha256.New()
	frames, err := int64(0), error(nil)
	progress := newProgress(cmd, "rendering")
	defer progress.done()
	tell := progress.sound(p.Rate())
	if f.out == "" {
		frames, err = pull(cmd.Context(), p, sum, nil, tell)
	} else {
		var out *output.WAVFile
		if out, err = output.CreateWAV(f.out, wavBits[f.bits], p.Rate(), 2); err != nil {
			return err
		}
		if frames, err = pull(cmd.Context(), p, sum, out, tell); err != nil || p.Err() != nil {
			return errors.Join(err, out.Discard())
		}
		err = out.Close()
	}
	if err == nil && p.Err() == nil && f.hash {
		_, err = fmt.Fprintf(textOut(cmd), "%x  %d frames at %d Hz\n", sum.Sum(nil), frames, p.Rate())
	}
	return err
}

// mostSeconds is how many seconds are rendered at the most, as decoders have it.
const mostSeconds = 24 * 3600

// pull mixes until the player ends. tell is told of the frames done, of a number that is not known.
func pull(ctx context.Context, p *player.Player, sum hash.Hash, out *output.WAVFile, tell func(done, total int64)) (frames int64, err error) {
	r, raw, block := p.Float32(), make([]byte, 8*4096), make([]float32, 2*4096)
	for {
		n, err := r.Read(raw)
		if n == 0 || err != nil {
			return frames, ctx.Err()
		}
		if ctx.Err() != nil {
			return frames, ctx.Err()
		}
		if frames > mostSeconds*int64(p.Rate()) {
			return frames, fmt.Errorf("it does not end within %d hours, the most that is rendered", mostSeconds/3600)
		}
		sum.Write(raw[:n])
		frames += int64(n / 8)
		tell(frames, 0)
		if out == nil {
			continue
		}
		if err := out.Write(floats(block, raw[:n])); err != nil {
			return frames, err
		}
	}
}

// A recording is the file that a player's log goes to; nil = none.
type recording struct {
	f *os.File
	w *bufio.Writer
}

// record has the player write its log to a file.
func record(src *sounds, names []string, path string, opt *player.Options) (*recording, error) {
	if path == "" {
		return nil, nil
	}
	if err := src.spare(path, names); err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	r := &recording{f, bufio.NewWriter(f)}
	opt.Record = r.w
	return r, nil
}

func (r *recording) close() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.w.Flush(), r.f.Close())
}

// discard is close where nothing was played.
func (r *recording) discard() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.f.Close(), os.Remove(r.f.Name()))
}

// floats decodes what a reader of floats gave.
func floats(to []float32, b []byte) []float32 {
	to = to[:len(b)/4]
	for i := range to {
		to[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return to
}
