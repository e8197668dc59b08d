package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/sndpak/sndpak/player/decode"
	"github.com/spf13/cobra"
)

func newDecode() *cobra.Command {
	var pack packFlags
	var out, bits string
	cmd := &cobra.Command{
		Use:   "decode PACK ENTRY -o OUT.wav | FILE -o OUT.wav",
		Short: "Decode a sound to a WAV file",
		Long: `Decode an entry, or a sound file, to a WAV file at its own rate. One channel stays one;
more than two are folded to stereo by ITU-R BS.775. - is standard output.

What is damaged but plays on is decoded with a warning; a sound without one good frame is
an error (exit status 3). sndpak verify --deep counts both as damage.`,
		Example: "  sndpak decode music.data theme.ogg -o theme.wav\n  sndpak decode song.flac -o song.wav --bits 24",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("decode needs -o OUT.wav")
			}
			kind, ok := wavBits[bits]
			if !ok {
				return usagef("--bits %s: 16, 24 or 32f", bits)
			}
			src, names, err := openSounds(cmd.Context(), args, &pack.Options)
			if err != nil {
				return err
			}
			defer src.Close()
			if len(names) != 1 {
				return usagef("decode takes one entry")
			}
			if err := src.spare(out, names); err != nil {
				return err
			}
			s, err := src.decode(names[0])
			if err != nil {
				return err
			}
			defer s.Close()
			return decodeTo(cmd, s, out, kind)
		},
	}
	pack.add(cmd.Flags())
	cmd.Flags().StringVarP(&out, "output", "o", "", "the WAV `FILE` to write, - for standard output")
	cmd.Flags().StringVar(&bits, "bits", "16", "bits a sample: 16, 24 or 32f (float)")
	return cmd
}

// openSound is a sound with the file that it is read from.
type openSound struct {
	*decode.Stream
	file  io.Closer
	title string // for messages
}

func (s openSound) Close() error { return errors.Join(s.Stream.Close(), s.file.Close()) }

// noSound is why a name does not open as a sound, with the name.
func (s *sounds) noSound(name string, err error) error {
	err = fmt.Errorf("%s: %w", s.title(name), err)
	if errors.Is(err, decode.ErrFormat) && promised(name) == nil {
		return notSoundError{err}
	}
	return err
}

// decode opens a name as a sound.
func (s *sounds) decode(name string) (openSound, error) {
	f, err := s.Open(name)
	if err != nil {
		return openSound{}, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return openSound{}, err
	}
	r, ok := f.(io.ReaderAt)
	if !ok || info.IsDir() {
		f.Close()
		return openSound{}, fmt.Errorf("%s: not a file", s.title(name))
	}
	d, err := decode.Open(r, info.Size(), &decode.Options{CheckSum: true})
	if err != nil {
		f.Close()
		return openSound{}, s.noSound(name, err)
	}
	return openSound{d, f, s.title(name)}, nil
}
