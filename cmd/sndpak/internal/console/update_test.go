package console

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

func TestKeysDoWhatTheySay(t *testing.T) {
	for _, c := range []struct {
		keys string
		want []string // calls of the engine, and "says ..." for the message
	}{
		{"3", []string{"play ui/click.wav from 0:00.0 looped false", "says play ui/click.wav"}},
		{"alt+4", []string{"stop ui/hover.wav", "play ui/hover.wav from 0:00.0 looped true", "says loop ui/hover.wav"}},
		{"$", []string{"stop ui/hover.wav", "play ui/hover.wav from 0:00.0 looped true"}},
		{"@", []string{"stop theme.ogg", "says stop theme.ogg"}}, // it plays: again stops
		{"9", []string{"says no sound on 9 (ctrl+k puts one there)"}},
		{"down enter", []string{"play theme.ogg from 0:00.0 looped false"}},
		{"alt+enter", []string{"stop readme.txt", "play readme.txt from 0:00.0 looped true"}},
		{"down shift+enter", []string{"stop theme.ogg"}},
		{"down delete", []string{"stop theme.ogg"}},
		{"space", []string{"pause all true", "says pause"}},
		{"space 3", []string{"pause all true", "play ui/click.wav from 0:00.0 looped false", "says play ui/click.wav waits: all is paused, space goes on"}},
		{"space space", []string{"pause all true", "pause all false", "says resume"}},
		{".", []string{"stop all"}},
		{"backspace", []string{"stop all"}},
		{"+ + -", []string{"bus 0 gain -2", "bus 0 gain -1", "bus 0 gain -2", "says master -2 dB"}},
		{"[", []string{"seek voice 7 to 0:00.0"}},
		{"]", []string{"seek voice 7 to 0:01.8"}},
		{"tab up right", []string{"seek voice 5 to 0:01.2"}},
		{"tab home left", []string{"seek voice 4 to 0:03.0"}},
		{"tab enter", []string{"pause voice 7 false"}},
		{"tab up enter", []string{"pause voice 5 true"}},
		{"tab end delete", []string{"stop voice 7"}},
		{"tab 3", []string{"play ui/click.wav from 0:00.0 looped false"}},
		{"tab tab m", []string{"bus 0 mute true", "says master is mute"}},
		{"tab tab m m", []string{"bus 0 mute true", "bus 0 mute false", "says master is heard"}},
		{"tab tab down s", []string{"bus 1 solo false", "says ui is not alone"}},
		{"tab tab down down left left", []string{"bus 2 gain +1", "bus 2 gain +0"}},
		{"shift+tab down right", []string{"bus 1 gain +1"}},
		{"ctrl+s", []string{"says no file for the key map: name one with --keys FILE"}},
		{"ctrl+k z z", []string{"play readme.txt from 0:00.0 looped false"}},
		{"ctrl+k q", []string{"says no key for a sound: those are 1 to 9 and a to z without q"}},
		{"ctrl+k delete 1", []string{"says no sound on 1 (ctrl+k puts one there)"}},
		{"ctrl+k esc 3", []string{"play ui/click.wav from 0:00.0 looped false"}},
		{"down down down ctrl+a 2", []string{"load [ui/click.wav ui/hover.wav ui/open window.wav weapons/jaguar.wav weapons/swish.wav weapons/far/thunder in the mountains, long.flac]", "play ui/hover.wav from 0:00.0 looped false"}},
		{"? down up x 3", []string{"play ui/click.wav from 0:00.0 looped false"}},
		{"/ s w i s h enter enter", []string{"play weapons/swish.wav from 0:00.0 looped false"}},
		{"/ 3", nil}, // a letter of the search, no sound
		{"ctrl+u F ctrl+7 é", []string{"says no sound on f (ctrl+k puts one there)"}},
	} {
		s, e := newTestScreen(t, testNames, 80, 24)
		press(t, s, strings.Fields(c.keys)...)
		got, want := e.take(), c.want
		if n := len(want); n > 0 && strings.HasPrefix(want[n-1], "says ") {
			if says := "says " + s.message.text; says != want[n-1] {
				t.Errorf("%s: it %s, want it %s", c.keys, says, want[n-1])
			}
			want = want[:n-1]
		}
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", c.keys, got, want)
		}
	}
}

func shown(s *Screen) (names []string) {
	for _, r := range s.list.rows {
		if r.sound < 0 {
			names = append(names, "["+s.list.groups[r.group].folder+"]")
		} else {
			names = append(names, filepath.Base(s.list.names[r.sound]))
		}
	}
	return names
}

func TestSearchNarrowsAsTyped(t *testing.T) {
	s, _ := newTestScreen(t, testNames, 80, 24)
	for _, step := range []struct{ keys, want string }{
		{"/ w", "[ui] click.wav hover.wav open window.wav [weapons] jaguar.wav swish.wav [weapons/far] thunder in the mountains, long.flac"},
		{"A V", "[ui] click.wav hover.wav open window.wav [weapons] jaguar.wav swish.wav"},
		{"space u i", "[ui] click.wav hover.wav open window.wav"},
		{"ctrl+w", "[ui] click.wav hover.wav open window.wav [weapons] jaguar.wav swish.wav"},
		{"j a", "[weapons] jaguar.wav"},
		{"x", ""},
		{"backspace", "[weapons] jaguar.wav"},
		{"ctrl+u", "readme.txt theme.ogg [ui] click.wav hover.wav open window.wav [weapons] jaguar.wav swish.wav [weapons/far] thunder in the mountains, long.flac"},
		{"o g g enter", "theme.ogg"},
		{"esc", "readme.txt theme.ogg [ui] click.wav hover.wav open window.wav [weapons] jaguar.wav swish.wav [weapons/far] thunder in the mountains, long.flac"},
	} {
		press(t, s, strings.Fields(step.keys)...)
		if got := strings.Join(shown(s), " "); got != step.want {
			t.Errorf("after %s:\n got %s\nwant %s", step.keys, got, step.want)
		}
	}
	if got := s.list.chosen(); got != "theme.ogg" {
		t.Errorf("the sound found is not chosen any more: %q is", got)
	}
}

func TestFoldersShutAndOpen(t *testing.T) {
	s, _ := newTestScreen(t, testNames, 80, 24)
	s.list.choose("ui/hover.wav")
	press(t, s, "left")
	if got, want := strings.Join(shown(s), " "), "readme.txt theme.ogg [ui] [weapons] jaguar.wav swish.wav [weapons/far] thunder in the mountains, long.flac"; got != want {
		t.Errorf("shut:\n got %s\nwant %s", got, want)
	}
	if s.list.chosen() != "" || shown(s)[s.list.cursor] != "[ui]" {
		t.Errorf("the folder that was shut is not chosen but %s", shown(s)[s.list.cursor])
	}
	press(t, s, "enter", "down")
	if s.list.chosen() != "ui/click.wav" {
		t.Errorf("opened and down: %q, want ui/click.wav", s.list.chosen())
	}
	press(t, s, "left", "/", "c", "l", "i", "c", "k")
	if s.list.chosen() != "ui/click.wav" {
		t.Errorf("the search does not find in a shut folder: %q", s.list.chosen())
	}
}

// Every row of the list can be chosen and is in sight then, whatever moves there.
func TestCursorStaysInSight(t *testing.T) {
	s, _ := newTestScreen(t, manyNames(1000), 80, 24)
	for _, k := range strings.Fields("down down pgdown pgdown end up pgup home up end down / 9 pgdown pgdown enter home") {
		press(t, s, k)
		s.View()
		h := s.arrange().list.h - 1
		if c := s.list.cursor; c < s.list.top || c >= s.list.top+h || c >= len(s.list.rows) {
			t.Errorf("%s: row %d of %d, shown from %d, %d of them", k, c, len(s.list.rows), s.list.top, h)
		}
	}
}

// clickOn presses the left button on the first place of a text on the screen.
func clickOn(t *testing.T, s *Screen, text string, dx int) {
	t.Helper()
	for y, line := range strings.Split(plain(s), "\n") {
		if i := strings.Index(line, text); i >= 0 {
			_, cmd := s.Update(tea.MouseClickMsg{X: cells(line[:i]) + dx, Y: y, Button: tea.MouseLeft})
			runAll(s, cmd)
			return
		}
	}
	t.Fatalf("no %q on the screen:\n%s", text, plain(s))
}

func TestMouse(t *testing.T) {
	for _, c := range []struct {
		text string
		dx   int
		want []string
	}{
		{"hover.wav", 0, nil},
		{"4   hover.wav", 0, []string{"play ui/hover.wav from 0:00.0 looped false"}},
		{"2 ↻ theme.ogg", 4, []string{"play theme.ogg from 0:00.0 looped false"}}, // it is chosen already
		{"▾ ui", 0, nil},
		{"━", 1, []string{"seek voice 4 to 0:00.6"}},
		{"-0:00.9", 0, nil},
		{"  m S", 2, []string{"bus 1 mute true"}},
		{"  m S", 4, []string{"bus 1 solo false"}},
		{"  M s", 2, []string{"bus 2 mute false"}},
		{"├", 0, nil},
	} {
		s, e := newTestScreen(t, testNames, 80, 24)
		press(t, s, "down")
		clickOn(t, s, c.text, c.dx)
		if got := e.take(); len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
			t.Errorf("click on %q+%d:\n got %q\nwant %q", c.text, c.dx, got, c.want)
		}
	}
	s, e := newTestScreen(t, testNames, 80, 24)
	s.Update(waveMsg{name: "theme.ogg", wave: testWave(testDetails("theme.ogg"))})
	press(t, s, "down")
	a := s.arrange()
	in := a.waveRows()
	_, cmd := s.Update(tea.MouseClickMsg{X: in.x + in.w/2, Y: in.y + 1, Button: tea.MouseLeft})
	runAll(s, cmd)
	if got, want := e.take(), []string{"seek voice 4 to 0:04.9"}; !reflect.DeepEqual(got, want) {
		t.Errorf("click on the waveform: %q, want %q", got, want)
	}
	s.Update(tea.MouseWheelMsg{X: 3, Y: 5, Button: tea.MouseWheelDown})
	if s.list.cursor != 4 {
		t.Errorf("the wheel moves to row %d, want 4", s.list.cursor)
	}
	s.Update(tea.MouseWheelMsg{X: s.arrange().buses.x + 2, Y: s.arrange().buses.y + 2, Button: tea.MouseWheelUp})
	if got, want := e.take(), []string{"bus 1 gain +1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the wheel on a bus: %q, want %q", got, want)
	}
}

// Clicks anywhere, at any size, do no harm.
func TestClicksAnywhere(t *testing.T) {
	s, _ := newTestScreen(t, testNames, 80, 24)
	s.Update(waveMsg{name: "theme.ogg", wave: testWave(testDetails("theme.ogg"))})
	for _, size := range [][2]int{{80, 24}, {61, 12}, {20, 5}, {1, 1}} {
		s.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for x := -1; x <= size[0]; x++ {
			for y := -1; y <= size[1]; y++ {
				s.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
				s.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
				s.mode = playing
				s.View()
			}
		}
	}
}

// What fails is told in the message line, and a voice's fault too.
func TestFaultsAreTold(t *testing.T) {
	s, e := newTestScreen(t, testNames, 80, 24)
	e.fail = errors.New("no room\x1b[2J for it")
	for _, keys := range [][]string{{"3"}, {"+"}, {"space"}, {"["}, {"tab", "enter"}} {
		press(t, s, keys...)
		if s.message.text != "no room?[2J for it" || !s.message.fault {
			t.Errorf("%q: %+v", keys, s.message)
		}
		s.message = message{}
	}
	e.fail, e.errs = nil, []error{errors.New(`play "x": corrupt`)}
	s.Update(tickMsg{})
	if !strings.Contains(plain(s), `play "x": corrupt`) {
		t.Errorf("the fault of a voice is not on the screen:\n%s", plain(s))
	}
}

// A library that changed keeps the chosen sound, the search and the keys.
func TestNewsOfALibrary(t *testing.T) {
	news := make(chan News, 1)
	s, e := newTestScreen(t, testNames, 80, 24)
	s.news = news
	s.list.choose("weapons/jaguar.wav")
	names := append(slices.Clone(testNames[:2]), "weapons/axe.wav", "weapons/jaguar.wav")
	news <- News{Library: &Library{Title: "music.data", Names: names, Details: testDetails}}
	_, cmd := s.Update(s.awaitNews()())
	if cmd == nil {
		t.Fatal("nobody waits for the next news")
	}
	if got := s.list.chosen(); got != "weapons/jaguar.wav" {
		t.Errorf("%q is chosen", got)
	}
	if !strings.Contains(plain(s), "axe.wav") || !strings.Contains(plain(s), "has changed: 4 sounds") {
		t.Errorf("the new sound is not there:\n%s", plain(s))
	}
	press(t, s, "3")
	if got := e.take(); len(got) != 0 || s.message.text != "3: music.data has no ui/click.wav" {
		t.Errorf("a key of a sound that went: %q, %q", got, s.message.text)
	}
	press(t, s, "6")
	if got, want := e.take(), []string{"play weapons/jaguar.wav from 0:00.0 looped false"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Update(newsMsg{Err: errors.New("music.data: damaged")})
	if !strings.Contains(plain(s), "music.data: damaged") {
		t.Error("a fault is not told")
	}
}

// One waveform is made at a time, and given up when another sound is chosen; what is late is dropped.
func TestWaveformsAreGivenUp(t *testing.T) {
	s, _ := newTestScreen(t, testNames, 80, 24)
	s.lib.Wave = cancelled
	first := s.lookThrough()
	if first == nil || s.lookThrough() != nil {
		t.Fatal("the waveform is not made just once")
	}
	done := make(chan tea.Msg)
	go func() { done <- first() }()
	s.Update(tea.KeyPressMsg(keyOf(t, "down")))
	select {
	case msg := <-done:
		if m := msg.(waveMsg); !errors.Is(m.err, context.Canceled) {
			t.Errorf("it ended with %v", m.err)
		}
		s.Update(msg)
	case <-time.After(time.Minute):
		t.Fatal("the first waveform goes on")
	}
	if s.waves.now != "theme.ogg" {
		t.Errorf("%q is being made", s.waves.now)
	}
	s.waves.forget()
	s.Update(waveMsg{name: "theme.ogg", wave: testWave(Details{})})
	if s.waves.done["theme.ogg"] != nil {
		t.Error("the waveform of a sound that was exchanged is kept")
	}
	for i := range 2 * maxWaves {
		s.Update(waveMsg{name: manyNames(200)[i], wave: &Wave{}, age: s.waves.age})
	}
	if n := len(s.waves.done); n != maxWaves {
		t.Errorf("%d waveforms are kept, want %d", n, maxWaves)
	}
	s.list.choose("readme.txt")
	s.Update(waveMsg{name: "readme.txt", err: errors.New("readme.txt: not a known sound format"), age: s.waves.age})
	if !strings.Contains(plain(s), "not a known sound format") {
		t.Errorf("the fault is not told:\n%s", plain(s))
	}
}

func TestLeavingSavesTheKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "music.keys")
	keys, err := LoadKeymap(file, testNames)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := newTestScreen(t, testNames, 80, 24)
	s.keys = keys
	press(t, s, "down", "ctrl+k", "z")
	_, cmd := s.Update(tea.KeyPressMsg(keyOf(t, "q")))
	if _, quits := cmd().(tea.QuitMsg); !quits {
		t.Error("q does not quit")
	}
	keys, err = LoadKeymap(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if keys.Name('z') != "theme.ogg" || keys.Name('2') != "" || keys.Name('3') != "ui/click.wav" {
		t.Errorf("kept: %q", keys.names)
	}

	s.keys.Put('y', "readme.txt")
	s.keys.file = filepath.Join(file, "no folder")
	for i, want := range []bool{false, true} { // a fault is told first
		_, cmd := s.Update(tea.KeyPressMsg(keyOf(t, "ctrl+c")))
		quits := false
		if cmd != nil {
			if msg := cmd(); msg != nil {
				_, quits = msg.(tea.QuitMsg)
			}
		}
		if quits != want {
			t.Errorf("press %d of ctrl+c with keys that cannot be saved: quits %v, want %v", i+1, quits, want)
		}
	}
}

func TestKeymapFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "keys")
	in := `{"version":1,"keys":{"1":"a <b>.wav","z":"\u001b[2J.wav"},"colour":{"x":[1,2]}}`
	if err := os.WriteFile(file, []byte(in), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := LoadKeymap(file, testNames)
	if err != nil {
		t.Fatal(err)
	}
	if m.Name('1') != "a <b>.wav" || m.Name('z') != "\x1b[2J.wav" || m.Name('2') != "" || m.Changed() {
		t.Errorf("read %q, changed %v", m.names, m.Changed())
	}
	m.Put('b', "a <b>.wav") // moves it
	if m.Name('1') != "" || !m.Changed() {
		t.Error("the sound is on two keys")
	}
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	again, err := LoadKeymap(file, nil)
	if err != nil || again.names != m.names {
		t.Errorf("read back %q, %v, want %q", again.names, err, m.names)
	}
	b, _ := os.ReadFile(file)
	if !strings.Contains(string(b), `"colour"`) {
		t.Errorf("what it does not know is lost:\n%s", b)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files in the folder, want 1", len(left))
	}
	for _, bad := range []string{"", "{}", "[]", "nonsense", `{"version":2,"keys":{}}`, `{"version":1}`, `{"version":1,"keys":{"q":"x"}}`,
		`{"version":1,"keys":{"12":"x"}}`, `{"version":1,"keys":{"1":7}}`, `{"version":"1","keys":{}}`, strings.Repeat(" ", maxKeymap+1)} {
		if err := os.WriteFile(file, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKeymap(file, nil); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%.40q: %v, want an error that names the file", bad, err)
		}
	}
	if _, err := LoadKeymap(dir, nil); err == nil {
		t.Error("a folder is taken as a key map")
	}
}

func FuzzKeymap(f *testing.F) {
	f.Add([]byte(`{"version":1,"keys":{"1":"a.wav"}}`))
	f.Add([]byte(`{"version":1,"keys":{"z":""},"more":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := &Keymap{}
		if m.parse(b) != nil {
			return
		}
		out, err := m.marshal()
		if err != nil {
			t.Fatal(err)
		}
		again := &Keymap{}
		if err := again.parse(out); err != nil || again.names != m.names {
			t.Errorf("%q is written as %q and read back as %q, %v", m.names, out, again.names, err)
		}
	})
}

func TestThemeGoesByTheBackground(t *testing.T) {
	for env, dark := range map[string]bool{"": true, "15;0": true, "0;15": false, "0;default;7": false, "0;8": true} {
		if got := darkByEnv(env); got != dark {
			t.Errorf("COLORFGBG=%q: dark %v, want %v", env, got, dark)
		}
	}
	if chooseTheme("auto", manyColours, false) != &lightTheme || chooseTheme("dark", manyColours, false) != &darkTheme ||
		chooseTheme("light", noColours, true) != &plainTheme || chooseTheme("auto", basicColours, true) != &basicTheme ||
		chooseTheme("none", manyColours, true) != &plainTheme {
		t.Error("a wrong theme")
	}
}
