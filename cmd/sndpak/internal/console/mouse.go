package console

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// click does what a press of the left button asks for.
func (s *Screen) click(m tea.Mouse) tea.Cmd {
	if m.Button != tea.MouseLeft {
		return nil
	}
	if s.mode == helping {
		s.mode = playing
		return nil
	}
	looped := m.Mod&(tea.ModShift|tea.ModAlt) != 0
	a := s.arrange()
	in := a.waveRows()
	switch {
	case a.list.has(m.X, m.Y):
		s.focus = onList
		return s.clickList(a.list, m.X, m.Y, looped)
	case in.has(m.X, m.Y):
		return s.clickWave(float64(m.X-in.x)/float64(max(in.w, 1)), looped)
	case a.voices.has(m.X, m.Y):
		s.focus = onVoices
		return s.clickVoice(a.voices, m.X, m.Y)
	case a.buses.has(m.X, m.Y):
		s.focus = onBuses
		s.clickBus(a.buses, m.X, m.Y)
	}
	return nil
}

func (s *Screen) clickList(r rect, x, y int, looped bool) tea.Cmd {
	if y == r.y {
		s.mode = searching
		return nil
	}
	l := &s.list
	i := l.top + y - r.y - 1
	if i >= len(l.rows) {
		return nil
	}
	was := l.cursor
	l.cursor = i
	name := l.chosen()
	switch {
	case name == "":
		s.toggleFolder()
	case was == i || x <= 3 && s.keyOf(name) != 0:
		return s.play(name, looped, 0)
	}
	return nil
}

// clickWave goes to a share of the chosen sound.
func (s *Screen) clickWave(share float64, looped bool) tea.Cmd {
	name := s.list.chosen()
	w := s.waves.done[name]
	if w == nil {
		return nil
	}
	to := time.Duration(share * float64(w.Length))
	for i := len(s.snap.Playing) - 1; i >= 0; i-- {
		if v := s.snap.Playing[i]; v.Name == name {
			return s.seek(v, true, to-v.At)
		}
	}
	return s.play(name, looped, to)
}

func (s *Screen) clickVoice(r rect, x, y int) tea.Cmd {
	i := s.firstVoice(r) + y - r.y - 1
	if y == r.y || i >= len(s.snap.Playing) {
		return nil
	}
	v := s.snap.Playing[i]
	s.voice = v.ID
	name, bar, _ := voiceColumns(r.w)
	if at := x - r.x - voiceLead - name - 1; at >= 0 && at < bar {
		return s.seek(v, true, time.Duration(float64(at)/float64(bar)*float64(v.Length))-v.At)
	}
	return nil
}

func (s *Screen) clickBus(r rect, x, y int) {
	i := s.firstBus(r) + y - r.y - 1
	if y == r.y || i >= len(s.snap.Buses) {
		return
	}
	s.bus = i
	name, gain, meter := busColumns(r.w)
	switch x - r.x - 1 - name - gain - 1 - meter {
	case 2:
		s.mute(i)
	case 4:
		s.solo(i)
	}
}

// wheel moves the list, or the gain of the bus below it.
func (s *Screen) wheel(m tea.Mouse) tea.Cmd {
	by := 0
	switch m.Button {
	case tea.MouseWheelUp:
		by = -1
	case tea.MouseWheelDown:
		by = 1
	}
	if s.mode == helping {
		s.helpFrom += by
		s.pressHelp("none")
		s.mode = helping
		return nil
	}
	a := s.arrange()
	if a.buses.has(m.X, m.Y) && m.Y > a.buses.y {
		if i := s.firstBus(a.buses) + m.Y - a.buses.y - 1; i < len(s.snap.Buses) {
			s.bus = i
			s.turn(i, float64(-by))
		}
		return nil
	}
	s.list.move(3 * by)
	return nil
}
