package console

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/waveform"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// fakeEngine is an Engine that notes what it is told, and whose snapshot the test sets.
type fakeEngine struct {
	snap  Snapshot
	calls []string
	errs  []error
	fail  error // what every call returns
}

func (e *fakeEngine) note(format string, a ...any) error {
	e.calls = append(e.calls, fmt.Sprintf(format, a...))
	return e.fail
}

func (e *fakeEngine) Play(name string, from time.Duration, looped bool) error {
	return e.note("play %s from %s looped %v", name, clock(from), looped)
}
func (e *fakeEngine) Load(names []string) { e.note("load %v", names) }
func (e *fakeEngine) Folders([]string)    {}
func (e *fakeEngine) StopSound(name string) bool {
	e.note("stop %s", name)
	return slices.ContainsFunc(e.snap.Playing, func(v Voice) bool { return v.Name == name })
}
func (e *fakeEngine) StopAll()                       { e.note("stop all") }
func (e *fakeEngine) PauseAll(on bool) error         { e.snap.Paused = on; return e.note("pause all %v", on) }
func (e *fakeEngine) Stop(id uint64)                 { e.note("stop voice %d", id) }
func (e *fakeEngine) Pause(id uint64, on bool) error { return e.note("pause voice %d %v", id, on) }
func (e *fakeEngine) Seek(id uint64, to time.Duration) error {
	return e.note("seek voice %d to %s", id, clock(to))
}
func (e *fakeEngine) SetBusGain(bus int, dB float64) error {
	e.snap.Buses[bus].Gain = dB
	return e.note("bus %d gain %+.0f", bus, dB)
}
func (e *fakeEngine) Mute(bus int, on bool) error {
	e.snap.Buses[bus].Mute = on
	return e.note("bus %d mute %v", bus, on)
}
func (e *fakeEngine) Solo(bus int, on bool) error {
	e.snap.Buses[bus].Solo = on
	return e.note("bus %d solo %v", bus, on)
}
func (e *fakeEngine) Snapshot(s *Snapshot) {
	playing, buses := s.Playing[:0], s.Buses[:0]
	*s = e.snap
	s.Playing, s.Buses = append(playing, e.snap.Playing...), append(buses, e.snap.Buses...)
}
func (e *fakeEngine) Errors() []error { errs := e.errs; e.errs = nil; return errs }

func (e *fakeEngine) take() []string { c := e.calls; e.calls = nil; return c }

var testNames = []string{
	"readme.txt", "theme.ogg",
	"ui/click.wav", "ui/hover.wav", "ui/open window.wav",
	"weapons/jaguar.wav", "weapons/swish.wav", "weapons/far/thunder in the mountains, long.flac",
}

// testWave is a decaying tone of two channels that is at full scale once.
func testWave(d Details) *Wave {
	w := &Wave{Details: d, Lanes: make([][]waveform.Column, 2)}
	for ch := range w.Lanes {
		for x := range waveColumns {
			t := float64(x) / waveColumns
			v := float32(math.Exp(-3*t) * (0.6 + 0.4*math.Abs(math.Sin(40*t+float64(ch)))))
			w.Lanes[ch] = append(w.Lanes[ch], waveform.Column{Min: -v * 0.8, Max: v, RMS: v / 2, Clipped: x < 4})
		}
	}
	return w
}

func testDetails(name string) Details {
	switch {
	case name == "theme.ogg":
		return Details{10 * time.Second, "OGG Vorbis, 96 kbit/s, 44.1 kHz stereo", 118689, [2]time.Duration{time.Second, 8 * time.Second}}
	case strings.HasSuffix(name, ".txt"):
		return Details{Size: 12}
	}
	return Details{Length: time.Duration(len(name)) * 100 * time.Millisecond, What: "WAV, 16-bit PCM, 48 kHz mono", Size: 9644}
}

// newTestScreen is a console of the test's sounds, three of which play, in so many cells.
func newTestScreen(t testing.TB, names []string, w, h int) (*Screen, *fakeEngine) {
	t.Helper()
	e := &fakeEngine{snap: Snapshot{
		Output: "pulse", Rate: 48000, Voices: 3, Peak: 7, CPU: 0.034,
		Playing: []Voice{
			{ID: 4, Name: "theme.ogg", At: 4 * time.Second, Length: 10 * time.Second, Looped: true, LoopFrom: time.Second, LoopTo: 8 * time.Second},
			{ID: 5, Name: "ui/click.wav", At: 300 * time.Millisecond, Length: 1200 * time.Millisecond},
			{ID: 7, Name: "weapons/jaguar.wav", At: 900 * time.Millisecond, Length: 1800 * time.Millisecond, Paused: true},
		},
		Buses: []Bus{
			{Name: "master", Gain: -3, RMS: [2]float64{0.4, 0.25}, Hold: [2]float64{0.9, 0.8}},
			{Name: "ui", RMS: [2]float64{0.01, 0.02}, Hold: [2]float64{0.1, 0.1}, Solo: true},
			{Name: "weapons", Gain: 2, Mute: true},
		},
	}}
	lib := Library{Title: "music.data", Names: names, Details: testDetails}
	s := NewScreen(t.Context(), lib, NewKeymap(names), e, nil, "dark")
	s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return s, e
}

// press sends keys, written as bubbletea writes them, and runs what they ask for.
func press(t testing.TB, s *Screen, keys ...string) {
	t.Helper()
	for _, k := range keys {
		_, cmd := s.Update(tea.KeyPressMsg(keyOf(t, k)))
		runAll(s, cmd)
	}
}

// runAll runs a command and those in it, but clocks.
func runAll(s *Screen, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			runAll(s, c)
		}
	case nil, tickMsg:
	default:
		_, next := s.Update(msg)
		_ = next
	}
}

var namedKeys = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"tab": tea.KeyTab, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "home": tea.KeyHome, "end": tea.KeyEnd,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "f1": tea.KeyF1, "space": ' ',
}

func keyOf(t testing.TB, name string) tea.Key {
	t.Helper()
	var k tea.Key
	for _, m := range []struct {
		prefix string
		mod    tea.KeyMod
	}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}} {
		if rest, ok := strings.CutPrefix(name, m.prefix); ok {
			name, k.Mod = rest, k.Mod|m.mod
		}
	}
	if code, ok := namedKeys[name]; ok {
		k.Code = code
		if name == "space" {
			k.Text = " "
		}
		return k
	}
	r := []rune(name)
	if len(r) != 1 {
		t.Fatalf("%q is no key", name)
	}
	k.Code = r[0]
	if k.Mod&^tea.ModShift == 0 {
		k.Text = name
	}
	if unicode.IsUpper(r[0]) { // as the input reader tells it
		k.Code, k.Mod, k.ShiftedCode = unicode.ToLower(r[0]), k.Mod|tea.ModShift, r[0]
	}
	return k
}

// plain is the screen as text, without the spaces at the ends of its lines.
func plain(s *Screen) string {
	lines := strings.Split(ansi.Strip(s.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Errorf("line %d of %s:\n got %q\nwant %q", i+1, name, a, b)
		}
	}
}

func TestGoldenScreens(t *testing.T) {
	for _, c := range []struct {
		name  string
		w, h  int
		keys  []string
		names []string
	}{
		{"play-80x24", 80, 24, []string{"down"}, testNames},
		{"play-160x48", 160, 48, []string{"down"}, testNames},
		{"search-80x24", 80, 24, []string{"/", "w", "a", "v", "space", "u", "i"}, testNames},
		{"found-80x24", 80, 24, []string{"/", "w", "a", "v", "enter"}, testNames},
		{"none-80x24", 80, 24, []string{"/", "x", "x"}, testNames},
		{"help-80x24", 80, 24, []string{"?"}, testNames},
		{"help-160x48", 160, 48, []string{"?"}, testNames},
		{"buses-80x24", 80, 24, []string{"tab", "tab", "down", "left"}, testNames},
		{"voices-80x24", 80, 24, []string{"tab", "up", "left"}, testNames},
		{"fold-80x24", 80, 24, []string{"end", "left", "up", "left"}, testNames},
		{"assign-80x24", 80, 24, []string{"ctrl+k"}, testNames},
		{"empty-80x24", 80, 24, nil, nil},
		{"small-40x10", 40, 10, nil, testNames},
		{"hostile-80x24", 80, 24, nil, hostileNames},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := newTestScreen(t, c.names, c.w, c.h)
			s.Update(waveMsg{name: "theme.ogg", wave: testWave(testDetails("theme.ogg"))})
			press(t, s, c.keys...)
			golden(t, c.name+".golden", plain(s))
		})
	}
}

// The themes differ in colour alone; without colours the chosen row, mute and solo still show.
func TestGoldenColours(t *testing.T) {
	var texts []string
	for _, theme := range []string{"dark", "light", "none"} {
		s, _ := newTestScreen(t, testNames, 80, 24)
		s.themeName, s.theme = theme, chooseTheme(theme, manyColours, true)
		s.Update(waveMsg{name: "theme.ogg", wave: testWave(testDetails("theme.ogg"))})
		press(t, s, "down")
		content := s.View().Content
		golden(t, theme+"-80x24.ansi", content)
		texts = append(texts, ansi.Strip(content))
		if theme == "none" && strings.Contains(content, "\x1b[3") {
			t.Error("the theme without colours has colours")
		}
	}
	if texts[0] != texts[1] || texts[0] != texts[2] {
		t.Error("the themes do not show the same text")
	}
}

// At any size the screen has at most as many lines and cells as there are, and nothing panics.
func TestAnySizeFits(t *testing.T) {
	for _, names := range [][]string{testNames, hostileNames, nil} {
		s, _ := newTestScreen(t, names, 80, 24)
		s.Update(waveMsg{name: "theme.ogg", wave: testWave(testDetails("theme.ogg"))})
		s.list.choose("theme.ogg")
		for w := 0; w < 190; w += 1 + w/8 {
			for h := 0; h < 70; h += 1 + h/8 {
				for _, m := range []mode{playing, searching, assigning, helping} {
					s.mode, s.list.search = m, strings.Repeat("long search ", int(m)%2*20)
					s.Update(tea.WindowSizeMsg{Width: w, Height: h})
					checkFits(t, s, w, h)
				}
			}
		}
	}
}

func checkFits(t *testing.T, s *Screen, w, h int) {
	t.Helper()
	lines := strings.Split(s.View().Content, "\n")
	if len(lines) > max(h, 1) {
		t.Fatalf("%d lines at %dx%d in mode %d", len(lines), w, h, s.mode)
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got > w {
			t.Fatalf("line %d of %dx%d in mode %d has %d cells: %q", i, w, h, s.mode, got, ansi.Strip(l))
		}
	}
}

// hostileNames would steer a terminal, hide themselves or turn the line round.
var hostileNames = []string{
	"\x1b[2J\x1b[31mred.wav", "\x1b]0;title\x07.wav", "tab\tnew\nline.wav", "\u202egpj.exe.wav", "zero\u200bwidth.wav",
	"\xff\xfe.wav", "c1\u009b31m.wav", "日本語の長い名前のとても長い音.wav", "a/\x1b[H/deep.wav", "👩‍👩‍👧.wav", "e\u0301.wav", "",
}

func TestHostileNamesStayText(t *testing.T) {
	for _, name := range hostileNames {
		s, e := newTestScreen(t, []string{name}, 80, 24)
		e.snap.Playing = []Voice{{ID: 1, Name: name, Length: time.Second}}
		e.snap.Buses = append(e.snap.Buses, Bus{Name: name})
		s.lib.Title = name
		s.Update(newsMsg{Err: errors.New(name)})
		s.Update(tickMsg{})
		for _, mode := range []mode{playing, assigning, searching} {
			s.mode = mode
			s.Update(tea.PasteMsg{Content: name})
			v := s.View()
			for _, text := range []string{ansi.Strip(v.Content), v.WindowTitle} {
				for _, r := range text {
					if r != '\n' && !unicode.IsPrint(r) {
						t.Errorf("%q is shown with %q", name, r)
					}
				}
			}
			for rest := v.Content; ; {
				i := strings.IndexByte(rest, 0x1b)
				if i < 0 {
					break
				}
				end := strings.IndexFunc(rest[i+2:], func(r rune) bool { return r >= 0x40 })
				if seq := rest[i : i+2+end+1]; seq[1] != '[' || seq[len(seq)-1] != 'm' {
					t.Errorf("%q is shown with %q", name, seq)
				}
				rest = rest[i+1:]
			}
		}
	}
}

// A frame makes no garbage to speak of, so that the collector has nothing to do beside the sound.
func TestFrameAllocatesLittle(t *testing.T) {
	s, _ := newTestScreen(t, testNames, 160, 48)
	s.Update(waveMsg{name: "theme.ogg", wave: testWave(testDetails("theme.ogg"))})
	press(t, s, "down")
	s.View()
	n := testing.AllocsPerRun(20, func() { s.Update(tickMsg{}); s.View() })
	const most = 120 // 45 to 60 in fact, and 70 under the race detector; one a cell would be thousands
	if n > most {
		t.Errorf("a frame makes %.0f allocations, want %d at the most", n, most)
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, c := range [][2]int{{80, 24}, {160, 48}} {
		b.Run(fmt.Sprintf("%dx%d", c[0], c[1]), func(b *testing.B) {
			s, _ := newTestScreen(b, manyNames(10000), c[0], c[1])
			s.Update(waveMsg{name: s.list.chosen(), wave: testWave(testDetails("theme.ogg"))})
			b.ReportAllocs()
			for b.Loop() {
				s.Update(tickMsg{})
				s.View()
			}
		})
	}
}

// BenchmarkStart makes a console of 10,000 sounds and draws it once.
func BenchmarkStart(b *testing.B) {
	names := manyNames(10000)
	b.ReportAllocs()
	for b.Loop() {
		s, _ := newTestScreen(b, names, 160, 48)
		s.View()
	}
}

// BenchmarkSearch types a search through 10,000 sounds.
func BenchmarkSearch(b *testing.B) {
	s, _ := newTestScreen(b, manyNames(10000), 80, 24)
	b.ReportAllocs()
	for b.Loop() {
		s.list.find("7")
		s.list.find("77 dir")
	}
}

func manyNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("dir%02d/sound %05d.wav", i/250, i))
	}
	return names
}

// cancelled is a waveform that takes for ever.
func cancelled(ctx context.Context, _ string, _ int) (*Wave, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
