package console

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/sndpak/sndpak/player"
)

// ScreenConfig says what a full-screen console plays and where it is shown.
type ScreenConfig struct {
	Player  *player.Player
	Library Library
	Keys    *Keymap
	News    <-chan News // nil = there is none
	In      io.Reader   // a terminal
	Out     io.Writer   // the same
	Theme   string      // "auto", "dark", "light" or "none"
	Env     []string    // of the process: TERM, NO_COLOR, COLORFGBG, ...
	Loop    KeptLoop
}

// RunScreen shows the console on the whole of a terminal until the user quits, ctx is done or the
// device is lost, whose error it returns. Faults of sounds are shown on the screen alone.
func RunScreen(ctx context.Context, c ScreenConfig) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	d, err := newDeck(c.Player, c.Loop)
	if err != nil {
		return err
	}
	s := NewScreen(inner, c.Library, c.Keys, d, c.News, c.Theme)
	s.dark = darkByEnv(lookup(c.Env, "COLORFGBG"))
	s.theme = chooseTheme(c.Theme, manyColours, s.dark)
	if err := c.Player.Start(); err != nil {
		return err
	}
	p := tea.NewProgram(s, tea.WithContext(inner), tea.WithInput(c.In), tea.WithOutput(c.Out),
		tea.WithEnvironment(c.Env), tea.WithFPS(30), tea.WithoutSignalHandler())
	go func() { // a device that is gone leaves nothing to wait for
		select {
		case <-c.Player.Done():
			p.Quit()
		case <-inner.Done():
		}
	}()
	_, err = p.Run()
	d.StopAll()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, tea.ErrProgramKilled) && c.Player.Err() != nil {
		err = nil
	}
	return errors.Join(c.Player.Err(), err)
}

// lookup is a variable of an environment.
func lookup(env []string, name string) (value string) {
	for _, e := range env {
		if len(e) > len(name) && e[:len(name)] == name && e[len(name)] == '=' {
			value = e[len(name)+1:]
		}
	}
	return value
}
