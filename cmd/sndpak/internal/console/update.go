package console

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Update implements tea.Model: it does what a key, the mouse, the clock or news ask for.
func (s *Screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	s.drawn = ""
	switch msg := msg.(type) {
	case tickMsg:
		s.look()
		return s, s.tick()
	case tea.KeyPressMsg:
		return s, tea.Batch(s.press(msg.Key()), s.lookThrough())
	case tea.PasteMsg:
		if s.mode == searching {
			s.list.find(s.list.search + clean(msg.Content))
		}
		return s, s.lookThrough()
	case tea.MouseClickMsg:
		return s, tea.Batch(s.click(msg.Mouse()), s.lookThrough())
	case tea.MouseWheelMsg:
		return s, tea.Batch(s.wheel(msg.Mouse()), s.lookThrough())
	case tea.MouseMotionMsg, tea.MouseReleaseMsg, tea.KeyReleaseMsg:
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		s.dark = msg.IsDark()
		s.theme = chooseTheme(s.themeName, s.have, s.dark)
	case tea.ColorProfileMsg:
		s.setColours(msg.Profile)
	case waveMsg:
		s.waves.keep(msg)
	case newsMsg:
		s.hear(News(msg))
		return s, tea.Batch(s.awaitNews(), s.load(), s.lookThrough())
	case doneMsg:
		s.say(msg.err != nil, msg.text())
		s.look()
	}
	return s, nil
}

func (s *Screen) setColours(p colorprofile.Profile) {
	switch p {
	case colorprofile.Ascii, colorprofile.NoTTY:
		s.have = noColours
	case colorprofile.ANSI:
		s.have = basicColours
	default:
		s.have = manyColours
	}
	s.theme = chooseTheme(s.themeName, s.have, s.dark)
}

// look takes a new snapshot, and tells the last of what went wrong meanwhile.
func (s *Screen) look() {
	s.engine.Snapshot(&s.snap)
	for _, err := range s.engine.Errors() {
		s.say(true, err.Error())
	}
	s.bus = min(s.bus, max(len(s.snap.Buses)-1, 0))
	if s.at(s.voice) < 0 {
		s.voice = 0
	}
}

// hear takes news in.
func (s *Screen) hear(n News) {
	if n.Library != nil {
		s.lib = *n.Library
		s.list.reset(s.lib.Names)
		s.engine.Folders(s.lib.Names)
		s.waves.forget()
		clear(s.details)
		s.say(false, fmt.Sprintf("%s has changed: %d sounds", s.lib.Title, len(s.lib.Names)))
	}
	if n.Err != nil {
		s.say(true, n.Err.Error())
	}
}

// doneMsg tells how something that was asked for went.
type doneMsg struct {
	what string
	err  error
}

func (d doneMsg) text() string {
	if d.err != nil {
		return d.err.Error()
	}
	return d.what
}

// do runs work that may take a moment beside the screen, and tells how it went.
func do(what string, work func() error) tea.Cmd {
	return func() tea.Msg { return doneMsg{what, work()} }
}

// press does what a key asks for.
func (s *Screen) press(k tea.Key) tea.Cmd {
	name := k.Keystroke()
	switch name {
	case "ctrl+c":
		return s.quit()
	case "ctrl+z":
		return tea.Suspend
	}
	switch s.mode {
	case searching:
		return s.pressSearch(name, k)
	case assigning:
		s.pressAssign(name, k)
		return nil
	case helping:
		s.pressHelp(name)
		return nil
	}
	if cmd, known := s.pressPane(name); known {
		return cmd
	}
	if cmd, known := s.pressCommand(name, k.Text); known {
		return cmd
	}
	return s.trigger(k)
}

// quit ends the console, its key map saved.
func (s *Screen) quit() tea.Cmd {
	if s.keys.Changed() {
		if err := s.keys.Save(); err != nil && !s.quitting {
			s.quitting = true // the second time it goes without
			s.say(true, err.Error()+" (q again quits without saving)")
			return nil
		}
	}
	return tea.Quit
}

// pressSearch takes a key of the search.
func (s *Screen) pressSearch(name string, k tea.Key) tea.Cmd {
	l := &s.list
	switch name {
	case "esc":
		s.mode = playing
		l.find("")
	case "enter", "tab":
		s.mode = playing
	case "up", "down", "pgup", "pgdown":
		s.moveList(name)
	case "backspace", "ctrl+h":
		r := []rune(l.search)
		l.find(string(r[:max(len(r)-1, 0)]))
	case "ctrl+u":
		l.find("")
	case "ctrl+w", "alt+backspace":
		text := strings.TrimRightFunc(l.search, unicode.IsSpace)
		l.find(text[:strings.LastIndexByte(text, ' ')+1])
	default:
		l.find(l.search + clean(k.Text))
	}
	return nil
}

// pressAssign puts the chosen sound on the key that was pressed.
func (s *Screen) pressAssign(name string, k tea.Key) {
	s.mode = playing
	sound := s.list.chosen()
	key, _ := soundKey(k)
	switch {
	case name == "backspace" || name == "delete":
		if key := s.keyOf(sound); key != 0 {
			s.keys.Put(key, "")
			s.say(false, sound+" has no key now")
		}
	case key == 0:
		s.say(name != "esc", map[bool]string{true: "no key for a sound: those are 1 to 9 and a to z without q"}[name != "esc"])
	default:
		s.keys.Put(key, sound)
		s.say(false, fmt.Sprintf("%c plays %s", key, sound))
	}
}

// pressPane takes the keys whose meaning goes with the pane.
func (s *Screen) pressPane(name string) (cmd tea.Cmd, known bool) {
	switch s.focus {
	case onVoices:
		return s.pressVoices(name)
	case onBuses:
		return s.pressBuses(name)
	}
	return s.pressList(name)
}

func (s *Screen) pressList(name string) (tea.Cmd, bool) {
	sound := s.list.chosen()
	switch name {
	case "left":
		s.list.fold(true)
	case "right":
		s.list.fold(false)
	case "enter", "shift+enter", "alt+enter":
		if sound == "" {
			s.toggleFolder()
			return nil, true
		}
		return s.play(sound, name != "enter", 0), true
	case "delete":
		s.engine.StopSound(sound)
	default:
		return nil, s.moveList(name)
	}
	return nil, true
}

func (s *Screen) toggleFolder() {
	l := &s.list
	if l.cursor < len(l.rows) {
		l.fold(!l.shut[l.groups[l.rows[l.cursor].group].folder])
	}
}

// moveList moves the cursor of the list, and reports whether the key does.
func (s *Screen) moveList(name string) bool {
	page := max(s.arrange().list.h-1, 1)
	by, ok := map[string]int{
		"up": -1, "down": 1, "pgup": -page, "pgdown": page, "home": -len(s.list.rows), "end": len(s.list.rows),
	}[name]
	s.list.move(by)
	return ok
}

// at is the place of a voice among those that play, -1 where it has ended.
func (s *Screen) at(id uint64) int {
	for i, v := range s.snap.Playing {
		if v.ID == id {
			return i
		}
	}
	return -1
}

// chosenVoice is the one that keys act on: the one chosen, else the latest.
func (s *Screen) chosenVoice() (v Voice, ok bool) {
	if i := s.at(s.voice); i >= 0 {
		return s.snap.Playing[i], true
	}
	if n := len(s.snap.Playing); n > 0 {
		return s.snap.Playing[n-1], true
	}
	return v, false
}

func (s *Screen) pressVoices(name string) (tea.Cmd, bool) {
	v, ok := s.chosenVoice()
	switch name {
	case "up", "down", "home", "end":
		if i := s.at(v.ID); ok {
			by := map[string]int{"up": -1, "down": 1, "home": -i, "end": len(s.snap.Playing)}[name]
			s.voice = s.snap.Playing[min(max(i+by, 0), len(s.snap.Playing)-1)].ID
		}
	case "left", "right":
		return s.seek(v, ok, map[string]time.Duration{"left": -time.Second, "right": time.Second}[name]), true
	case "enter":
		if ok {
			return do("", func() error { return s.engine.Pause(v.ID, !v.Paused) }), true
		}
	case "delete":
		if ok {
			s.engine.Stop(v.ID)
		}
	default:
		return nil, false
	}
	return nil, true
}

// seek moves a voice by a time.
func (s *Screen) seek(v Voice, ok bool, by time.Duration) tea.Cmd {
	if !ok {
		s.say(false, "nothing plays")
		return nil
	}
	to := min(max(v.At+by, 0), v.Length)
	return do("seek "+v.Name+" "+clock(to), func() error { return s.engine.Seek(v.ID, to) })
}

func (s *Screen) pressBuses(name string) (tea.Cmd, bool) {
	switch name {
	case "up":
		s.bus = max(s.bus-1, 0)
	case "down":
		s.bus = min(s.bus+1, max(len(s.snap.Buses)-1, 0))
	case "left":
		s.turn(s.bus, -1)
	case "right":
		s.turn(s.bus, 1)
	case "m", "enter":
		s.mute(s.bus)
	case "s":
		s.solo(s.bus)
	default:
		return nil, false
	}
	return nil, true
}

// minGain and maxGain are what a bus can be turned down and up to, in dB.
const (
	minGain = -60
	maxGain = 12
)

// turn changes the gain of a bus.
func (s *Screen) turn(bus int, by float64) {
	if bus >= len(s.snap.Buses) {
		return
	}
	b := s.snap.Buses[bus]
	gain := min(max(b.Gain+by, minGain), maxGain)
	s.told(s.engine.SetBusGain(bus, gain), fmt.Sprintf("%s %+.0f dB", b.Name, gain))
}

func (s *Screen) mute(bus int) {
	if bus < len(s.snap.Buses) {
		b := s.snap.Buses[bus]
		s.told(s.engine.Mute(bus, !b.Mute), b.Name+map[bool]string{true: " is heard", false: " is mute"}[b.Mute])
	}
}

func (s *Screen) solo(bus int) {
	if bus < len(s.snap.Buses) {
		b := s.snap.Buses[bus]
		s.told(s.engine.Solo(bus, !b.Solo), b.Name+map[bool]string{true: " is not alone", false: " alone"}[b.Solo])
	}
}

// told says what was done, or the fault, and looks at once so that the next key builds on it.
func (s *Screen) told(err error, what string) {
	if err != nil {
		s.say(true, err.Error())
	} else {
		s.say(false, what)
	}
	s.engine.Snapshot(&s.snap)
}

// pressCommand takes the keys that mean the same in every pane.
func (s *Screen) pressCommand(name, text string) (cmd tea.Cmd, known bool) {
	switch text {
	case "q":
		return s.quit(), true
	case "?":
		s.mode, s.helpFrom = helping, 0
	case "/":
		s.mode, s.focus = searching, onList
	case " ":
		return s.pauseAll(), true
	case ".":
		s.engine.StopAll()
		s.say(false, "stop")
	case "+", "=":
		s.turn(0, 1)
	case "-", "_":
		s.turn(0, -1)
	case "[", "]":
		v, ok := s.chosenVoice()
		return s.seek(v, ok, map[string]time.Duration{"[": -5 * time.Second, "]": 5 * time.Second}[text]), true
	default:
		return s.pressControl(name)
	}
	return nil, true
}

func (s *Screen) pressControl(name string) (cmd tea.Cmd, known bool) {
	switch name {
	case "f1":
		s.mode, s.helpFrom = helping, 0
	case "esc":
		s.list.find("")
		s.say(false, "")
	case "tab":
		s.focus = (s.focus + 1) % panes
	case "shift+tab":
		s.focus = (s.focus + panes - 1) % panes
	case "backspace":
		s.engine.StopAll()
		s.say(false, "stop")
	case "ctrl+k":
		if s.list.chosen() != "" {
			s.mode = assigning
		}
	case "ctrl+a":
		names := s.list.below(len(Keys))
		s.keys.Fill(names)
		s.say(false, fmt.Sprintf("%d sounds have keys", len(names)))
		return s.load(), true
	case "ctrl+s":
		s.told(s.keys.Save(), "key map saved")
	default:
		return nil, false
	}
	return nil, true
}

func (s *Screen) pauseAll() tea.Cmd {
	on := !s.snap.Paused
	s.told(s.engine.PauseAll(on), map[bool]string{true: "pause", false: "resume"}[on])
	return nil
}

// shifted are the digits' characters with Shift on a US keyboard, for terminals that tell no more.
const shifted = "!@#$%^&*("

// soundKey is the key of a sound that a key press means, 0 for none, and whether it is to be looped:
// with Shift, or with Alt, which tells digits on every keyboard.
func soundKey(k tea.Key) (key byte, looped bool) {
	r := k.Code
	if r == 0 || r >= 0x80 || k.Mod&(tea.ModCtrl|tea.ModMeta|tea.ModSuper) != 0 {
		return 0, false
	}
	looped = k.Mod&(tea.ModShift|tea.ModAlt) != 0
	if i := strings.IndexRune(shifted, r); i >= 0 {
		return byte('1' + i), true
	}
	if 'A' <= r && r <= 'Z' {
		r, looped = r|0x20, true
	}
	if strings.IndexByte(Keys, byte(r)) < 0 {
		return 0, false
	}
	return byte(r), looped
}

// trigger plays the sound on a key.
func (s *Screen) trigger(k tea.Key) tea.Cmd {
	key, looped := soundKey(k)
	if key == 0 || k.IsRepeat {
		return nil
	}
	name := s.keys.Name(key)
	switch {
	case name == "":
		s.say(false, fmt.Sprintf("no sound on %c (ctrl+k puts one there)", key))
		return nil
	case !s.list.has(name):
		s.say(true, fmt.Sprintf("%c: %s has no %s", key, s.lib.Title, name))
		return nil
	}
	return s.play(name, looped, 0)
}

// play starts a sound; one that is asked for looped while it plays is stopped.
func (s *Screen) play(name string, looped bool, from time.Duration) tea.Cmd {
	if looped && s.engine.StopSound(name) {
		s.say(false, "stop "+name)
		return nil
	}
	what := "play " + name
	if looped {
		what = "loop " + name
	}
	if s.snap.Paused {
		what += " waits: all is paused, space goes on"
	}
	return do(what, func() error { return s.engine.Play(name, from, looped) })
}

// pressHelp moves through the help or leaves it.
func (s *Screen) pressHelp(name string) {
	switch name {
	case "up":
		s.helpFrom--
	case "down":
		s.helpFrom++
	case "pgup":
		s.helpFrom -= s.height - 3
	case "pgdown", "space":
		s.helpFrom += s.height - 3
	default:
		s.mode = playing
	}
	s.helpFrom = max(min(s.helpFrom, len(helpText)-(s.height-2-s.arrange().foot)), 0)
}
