package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/sndpak/sndpak/player/output"
	"github.com/spf13/cobra"
)

// wavBits are the widths that --bits takes, by the kinds of files that output writes.
var wavBits = map[string]string{"16": "wav", "24": "wav24", "32f": "wav32f"}

// decodeTo decodes all of s into a WAV file, which is there only if that worked.
func decodeTo(cmd *cobra.Command, s openSound, path, kind string) error {
	channels := min(s.Info().Channels, 2)
	out, err := output.CreateWAV(path, kind, s.Info().Rate, channels)
	if err != nil {
		return err
	}
	if err := copyFrames(cmd, out, s, channels); err != nil {
		return errors.Join(err, out.Discard())
	}
	for _, w := range s.Info().Warnings {
		warn(cmd, fmt.Errorf("%s: %s", s.title, w))
	}
	return out.Close()
}

func copyFrames(cmd *cobra.Command, out *output.WAVFile, s openSound, channels int) error {
	read := s.ReadStereo
	if channels == 1 {
		read = s.ReadFloat32
	}
	progress := newProgress(cmd, "decoding")
	defer progress.done()
	show := progress.sound(s.Info().Rate)
	total, done := int64(0), int64(0)
	if progress.live() {
		total = int64(s.Len()) // looks through some files: it is not for nothing
	}
	for block := make([]float32, 8192); ; {
		n, err := read(block)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", s.title, err)
		case cmd.Context().Err() != nil:
			return cmd.Context().Err()
		}
		if err := out.Write(block[:n*channels]); err != nil {
			return err
		}
		done += int64(n)
		show(done, total)
	}
}
