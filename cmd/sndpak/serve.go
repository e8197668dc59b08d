package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/page"
	"github.com/sndpak/sndpak/player"
	"github.com/sndpak/sndpak/soundpack"
	"github.com/spf13/cobra"
)

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve PACK",
		Short: "Show a pack as a page in the browser",
		Long: `Show a pack as a page in the browser: list and search, waveform and spectrogram, playing,
sounds on keys, and what lint finds. The page is for this machine alone; its address, with
a token that is new each time, is printed.

--output has sounds also play here, with voices and meters on the page. --write lets loop
points that are dragged on the page be written into the pack.`,
		Example: `  sndpak serve music.data
  sndpak serve music.data --write --output auto
  sndpak serve music.data --listen 0.0.0.0:8080 --token "$(openssl rand -hex 16)"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return serve(cmd, args[0], &f) },
	}
	f.pack.add(cmd.Flags())
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "the `ADDRESS` to listen on; one that is not of this machine alone wants --token")
	cmd.Flags().StringVar(&f.token, "token", "", "the token in the page's address, 16 characters or more (default: a new one)")
	cmd.Flags().StringSliceVar(&f.hosts, "host", nil, "a `NAME` by which browsers may address this machine, besides localhost")
	cmd.Flags().BoolVar(&f.write, "write", false, "let the page write loop points into the pack")
	cmd.Flags().StringVar(&f.output, "output", "", "play on this machine too: auto, pulse, speaker, null")
	return cmd
}

type serveFlags struct {
	pack                  packFlags
	listen, token, output string
	hosts                 []string
	write                 bool
}

// listener listens where the flags say, if they may.
func (f *serveFlags) listener() (net.Listener, error) {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return nil, usagef("--listen %s: an address and a port, such as 127.0.0.1:8080", f.listen)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && f.token == "" {
		return nil, usagef("--listen %s: others than this machine can reach that; it wants --token", f.listen)
	}
	return net.Listen("tcp", f.listen)
}

func serve(cmd *cobra.Command, path string, f *serveFlags) (err error) {
	p, err := f.pack.open(cmd, path)
	if err != nil {
		return err
	}
	defer p.Close()
	ln, err := f.listener()
	if err != nil {
		return err
	}
	defer ln.Close()
	c := page.Config{Pack: p, Token: f.token, Hosts: f.hosts, Log: func(err error) { warn(cmd, err) }}
	c.Lint = func(ctx context.Context, p *soundpack.Pack) (any, error) { return lintPack(ctx, p, nil, nil) }
	if f.write {
		c.WriteLoop = f.writeLoop
	}
	if f.output != "" {
		if c.Player, err = f.player(cmd, p); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.Player.Close()) }()
	}
	srv, err := page.New(ln.Addr().String(), c)
	if err != nil {
		return usage(err)
	}
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), srv.URL()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		p.Watch(ctx, func(change soundpack.Change) { f.changed(cmd, srv, change) })
	}()
	err = srv.Serve(ctx, ln)
	cancel()
	<-watched
	return err
}

// player opens the device, with a meter on all that it plays.
func (f *serveFlags) player(cmd *cobra.Command, p *soundpack.Pack) (*player.Player, error) {
	out := outputFlags{output: f.output}
	opt := out.options(cmd)
	pl, err := player.Open(p, &opt)
	if err != nil {
		return nil, err
	}
	if err := pl.Master().Measure(true); err != nil {
		return nil, errors.Join(err, pl.Close())
	}
	return pl, nil
}

// changed serves a pack that another program has changed.
func (f *serveFlags) changed(cmd *cobra.Command, srv *page.Server, c soundpack.Change) {
	if c.Pack == nil {
		warn(cmd, c.Err)
		return
	}
	srv.Swap(c.Pack)
	if srv.Player != nil {
		if err := srv.Player.Reload(c.Pack, player.ReloadOptions{}); err != nil {
			warn(cmd, err)
		}
	}
}

// writeLoop puts an entry in its own place again, with the loop in what the manifest tells of it. Its
// bytes are there already and are not written a second time.
func (f *serveFlags) writeLoop(ctx context.Context, p *soundpack.Pack, e soundpack.Entry, start, end int64) (*soundpack.Pack, error) {
	if first, ok := p.Lookup(e.Name); !ok || first.Index != e.Index {
		return nil, fmt.Errorf("%s: another entry has the name %q", p.Path(), e.Name)
	}
	if _, ok := p.Checksum(e); !ok {
		return nil, fmt.Errorf("%s: loop points are kept in the manifest, which has nothing of %q: create the pack anew without --plain", p.Path(), e.Name)
	}
	opt := soundpack.WriterOptions{Index: f.pack.Index, Layout: f.pack.Layout}
	opt.Facts = func(r io.ReaderAt, size int64) (soundpack.Facts, error) {
		facts, err := soundFacts(r, size)
		facts.Loop = [2]int64{start, end}
		return facts, err
	}
	w, err := soundpack.Edit(ctx, p.Path(), &opt)
	if err != nil {
		return nil, err
	}
	source := soundpack.Source{Name: e.Name, Path: p.Path(), Size: e.Size, Open: func() (io.ReadCloser, error) {
		r, err := p.Section(e)
		return io.NopCloser(r), err
	}}
	err = w.Replace(source)
	if err == nil {
		err = w.Commit(ctx)
	}
	if errors.Is(err, soundpack.ErrDurability) {
		err = nil // it is in place
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return soundpack.Open(p.Path(), &f.pack.Options)
}
