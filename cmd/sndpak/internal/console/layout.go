package console

// rect is a part of the screen in cells; its first row is the title.
type rect struct{ x, y, w, h int }

func (r rect) has(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// arrangement is where everything is on the screen. A pane of height 0 has no room.
type arrangement struct {
	list, wave, voices, buses rect
	foot                      int // rows below the panes
}

// The least screen that has room for the panes beside the list.
const (
	leastWidth  = 60
	leastHeight = 12
)

// arrange divides the screen: the list on the left, on the right waveform, voices and buses below
// each other.
func (s *Screen) arrange() (a arrangement) {
	w, h := s.width, s.height
	a.foot = 2
	if h < leastHeight {
		a.foot = 1
	}
	main := max(h-1-a.foot, 0)
	if w < leastWidth || h < leastHeight {
		a.list = rect{0, 1, w, main}
		return a
	}
	left := min(max(w*2/5, 32), 64)
	a.list = rect{0, 1, left, main}
	x, right := left+1, w-left-1
	buses := min(len(s.snap.Buses)+1, main*3/10)
	wave := (main - buses) * 9 / 16
	a.wave = rect{x, 1, right, wave}
	a.voices = rect{x, 1 + wave, right, main - wave - buses}
	a.buses = rect{x, 1 + main - buses, right, buses}
	return a
}

// waveRows is where the waveform itself is within its pane: below title and facts, above the ruler.
func (a *arrangement) waveRows() rect {
	r := a.wave
	return rect{r.x + 1, r.y + 2, max(r.w-2, 0), max(r.h-3, 0)}
}

// voiceColumns are the widths of a voice's line: name, bar, time; the columns before the name are
// voiceLead.
const voiceLead = 3

func voiceColumns(w int) (name, bar, clock int) {
	clock = 10
	name = min(max(w/3, 10), 32)
	return name, max(w-voiceLead-name-1-clock-1, 0), clock
}

// busColumns are the widths of a bus's line: name, gain, meter; behind them are busTail columns.
const busTail = 6

func busColumns(w int) (name, gain, meter int) {
	gain = 8
	name = min(max(w/4, 8), 20)
	return name, gain, max(w-1-name-gain-1-busTail, 0)
}
