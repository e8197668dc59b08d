package main

import (
	"context"
	"errors"
	"strings"

	"github.com/sndpak/sndpak/soundpack"
)

// isAddress tells whether an argument is no path of this machine.
func isAddress(arg string) bool { return soundpack.IsRemote(arg) || isS3(arg) }

// isS3 tells whether an argument is an object of a store that speaks S3.
func isS3(arg string) bool { return len(arg) >= 5 && strings.EqualFold(arg[:5], "s3://") }

// openPack opens a pack for reading, on this machine or on a server.
func openPack(ctx context.Context, arg string, opt *soundpack.Options) (*soundpack.Pack, error) {
	switch {
	case isS3(arg):
		return openS3(ctx, arg, opt)
	case soundpack.IsRemote(arg):
		return soundpack.OpenRemote(ctx, arg, opt, nil)
	}
	p, err := soundpack.Open(arg, opt)
	if err != nil {
		return nil, notPack(arg, opt, err)
	}
	return p, nil
}

// broken is why nothing more is to be had of a pack: its data has changed, or its server does not give it.
func broken(p *soundpack.Pack) error {
	if err := p.Err(); err != nil && (errors.Is(err, soundpack.ErrChanged) || isAddress(p.Path())) {
		return err
	}
	return nil
}

// broken is the first of the packs of which that is so.
func (s *sounds) broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.packs {
		if err := broken(p); err != nil {
			return err
		}
	}
	return nil
}

// mountRemote adds a pack on a server as a layer.
func (s *sounds) mountRemote(ctx context.Context, arg string, opt *soundpack.Options) error {
	pack, err := openPack(ctx, arg, opt)
	if err != nil {
		return err
	}
	s.add(pack.Path(), pack) // without the signature that arg may have
	s.packs = append(s.packs, pack)
	return nil
}

// hideQuery is an address without the signature that it may have.
func hideQuery(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address
}
