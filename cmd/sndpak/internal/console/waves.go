package console

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
)

// waveColumns is how many columns a waveform is asked for: as many as the widest screen of use has
// dots, so that a resized screen needs no other.
const waveColumns = 512

// maxWaves is how many waveforms are kept: a screen of them is 32 KiB with two channels.
const maxWaves = 64

// waveCache keeps the waveforms that were looked at last.
type waveCache struct {
	done   map[string]*Wave
	faults map[string]error
	order  []string // oldest first
	now    string   // which is being made
	stop   context.CancelFunc
	age    int // counts the times that all was forgotten
}

type waveMsg struct {
	name string
	wave *Wave
	err  error
	age  int
}

// lookThrough makes the waveform of the chosen sound, and gives up any other that is being made.
func (s *Screen) lookThrough() tea.Cmd {
	name := s.list.chosen()
	w := &s.waves
	if name == w.now || name == "" || s.lib.Wave == nil || w.done[name] != nil || w.faults[name] != nil {
		return nil
	}
	if w.stop != nil {
		w.stop()
	}
	ctx, stop := context.WithCancel(s.ctx)
	w.now, w.stop = name, stop
	make, age := s.lib.Wave, w.age
	return func() tea.Msg {
		wave, err := make(ctx, name, waveColumns)
		return waveMsg{name, wave, err, age}
	}
}

// keep takes a waveform that is done.
func (w *waveCache) keep(m waveMsg) {
	if m.age != w.age {
		return
	}
	if m.name == w.now {
		w.now = ""
	}
	if errors.Is(m.err, context.Canceled) {
		return
	}
	if w.done == nil {
		w.done, w.faults = map[string]*Wave{}, map[string]error{}
	}
	if len(w.order) >= maxWaves {
		delete(w.done, w.order[0])
		delete(w.faults, w.order[0])
		w.order = w.order[1:]
	}
	w.order = append(w.order, m.name)
	if m.err != nil {
		w.faults[m.name] = m.err
		return
	}
	w.done[m.name] = m.wave
}

// forget drops all: the sounds may be others now.
func (w *waveCache) forget() {
	if w.stop != nil {
		w.stop()
	}
	*w = waveCache{age: w.age + 1}
}
