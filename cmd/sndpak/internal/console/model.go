package console

import (
	"context"
	"path"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A Screen is the full-screen console as a model: Update takes what happens, View draws what is. It
// belongs to one goroutine. It knows the player by its Engine and by snapshots alone.
type Screen struct {
	engine Engine
	keys   *Keymap
	news   <-chan News
	ctx    context.Context

	list    list
	lib     Library
	waves   waveCache
	details map[string]Details

	snap    Snapshot
	message message

	width, height int
	theme         *theme
	themeName     string
	have          colours
	dark          bool

	focus    focus
	mode     mode
	voice    uint64 // the chosen one of the voices; 0 = the latest
	bus      int    // the chosen one of the buses
	helpFrom int    // first line of the help that is shown
	quitting bool

	canvas canvas
	drawn  string // what View drew last, kept where nothing changed
}

// message is the line that says what happened last.
type message struct {
	text  string
	fault bool
}

type focus int

const (
	onList focus = iota
	onVoices
	onBuses
	panes // how many there are
)

type mode int

const (
	playing   mode = iota
	searching      // keys go into the search
	assigning      // the next key gets the chosen sound
	helping
)

// NewScreen returns the model of a console. ctx ends its work in the background. news may be nil.
func NewScreen(ctx context.Context, lib Library, keys *Keymap, engine Engine, news <-chan News, theme string) *Screen {
	s := &Screen{
		ctx: ctx, engine: engine, keys: keys, news: news, lib: lib, details: map[string]Details{},
		width: 80, height: 24, themeName: theme, dark: theme != "light",
	}
	s.theme = chooseTheme(theme, manyColours, s.dark)
	s.list.reset(lib.Names)
	s.engine.Folders(lib.Names)
	s.engine.Snapshot(&s.snap)
	return s
}

// Init implements tea.Model.
func (s *Screen) Init() tea.Cmd {
	return tea.Batch(s.tick(), s.awaitNews(), s.load(), s.lookThrough(), tea.RequestBackgroundColor)
}

// busy reports that something moves on the screen by itself.
func (s *Screen) busy() bool {
	if len(s.snap.Playing) > 0 {
		return true
	}
	for _, b := range s.snap.Buses {
		if max(b.Hold[0], b.Hold[1]) > 0.001 {
			return true
		}
	}
	return false
}

type tickMsg struct{}

// tick asks for the next look at the player: as often as eyes follow where something moves, and else
// just often enough for the status line.
func (s *Screen) tick() tea.Cmd {
	every := time.Second / 4
	if s.busy() {
		every = time.Second / 25
	}
	return tea.Tick(every, func(time.Time) tea.Msg { return tickMsg{} })
}

type newsMsg News

// awaitNews waits for the next news.
func (s *Screen) awaitNews() tea.Cmd {
	if s.news == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case n := <-s.news:
			return newsMsg(n)
		case <-s.ctx.Done():
			return nil
		}
	}
}

// load makes the sounds that have keys ready.
func (s *Screen) load() tea.Cmd {
	var names []string
	for _, name := range s.keys.names {
		if name != "" && s.list.has(name) {
			names = append(names, name)
		}
	}
	return func() tea.Msg {
		s.engine.Load(names)
		return nil
	}
}

// keyOf is the key that a sound is on, 0 without one.
func (s *Screen) keyOf(name string) byte {
	if i := s.keys.indexOf(name); i >= 0 {
		return Keys[i]
	}
	return 0
}

// detailsOf are kept, for the screen asks with every frame.
func (s *Screen) detailsOf(name string) Details {
	d, ok := s.details[name]
	if !ok {
		if s.lib.Details != nil {
			d = s.lib.Details(name)
		}
		s.details[name] = d
	}
	return d
}

func (s *Screen) say(fault bool, text string) { s.message = message{clean(text), fault} }

// list is the list of sounds as it is shown: grouped by folder, narrowed by the search.
type list struct {
	names  []string
	folded []string // names for the search, made when first needed
	index  map[string]int
	groups []group
	rows   []row
	shut   map[string]bool // folders whose sounds are not shown

	search string
	found  int
	cursor int // of rows
	top    int // first row shown
}

// group is a folder with its sounds, in the order of the library.
type group struct {
	folder string
	sounds []int
}

// row is a line of the list: a folder, or one of its sounds.
type row struct {
	group int
	sound int // index of names, -1 for the folder itself
}

// reset takes another library; the search and the chosen sound stay.
func (l *list) reset(names []string) {
	chosen := l.chosen()
	l.names, l.folded = names, nil
	l.index = make(map[string]int, len(names))
	byFolder := map[string]int{}
	l.groups = l.groups[:0]
	for i, name := range names {
		l.index[name] = i
		folder := folderOf(name)
		g, ok := byFolder[folder]
		if !ok {
			g = len(l.groups)
			byFolder[folder] = g
			l.groups = append(l.groups, group{folder: folder})
		}
		l.groups[g].sounds = append(l.groups[g].sounds, i)
	}
	l.narrow()
	l.choose(chosen)
}

func folderOf(name string) string {
	if strings.IndexByte(name, '/') < 0 {
		return ""
	}
	return path.Dir(name)
}

func (l *list) has(name string) bool {
	_, ok := l.index[name]
	return ok
}

// narrow makes the rows anew: the sounds whose names have all words of the search, in any order.
func (l *list) narrow() {
	words := strings.Fields(strings.ToLower(l.search))
	if len(words) > 0 && l.folded == nil {
		l.folded = make([]string, len(l.names))
		for i, n := range l.names {
			l.folded[i] = strings.ToLower(n)
		}
	}
	l.rows, l.found = l.rows[:0], 0
	for g := range l.groups {
		l.addGroup(g, words)
	}
	l.cursor = min(l.cursor, max(len(l.rows)-1, 0))
}

func (l *list) addGroup(g int, words []string) {
	head := len(l.rows)
	if l.groups[g].folder != "" {
		l.rows = append(l.rows, row{g, -1})
	}
	before := l.found
	shut := l.shut[l.groups[g].folder] && len(words) == 0
	for _, i := range l.groups[g].sounds {
		if !hasAll(l.folded, i, words) {
			continue
		}
		l.found++
		if !shut {
			l.rows = append(l.rows, row{g, i})
		}
	}
	if l.found == before {
		l.rows = l.rows[:head]
	}
}

func hasAll(folded []string, i int, words []string) bool {
	for _, w := range words {
		if !strings.Contains(folded[i], w) {
			return false
		}
	}
	return true
}

// chosen is the name of the sound under the cursor, "" on a folder or an empty list.
func (l *list) chosen() string {
	if l.cursor < len(l.rows) && l.rows[l.cursor].sound >= 0 {
		return l.names[l.rows[l.cursor].sound]
	}
	return ""
}

// choose puts the cursor on a sound, or on the first one where that is not shown.
func (l *list) choose(name string) {
	first := -1
	for i, r := range l.rows {
		if r.sound < 0 {
			continue
		}
		if first < 0 {
			first = i
		}
		if l.names[r.sound] == name {
			l.cursor = i
			return
		}
	}
	l.cursor = max(first, 0)
}

// move moves the cursor by rows.
func (l *list) move(by int) {
	l.cursor = min(max(l.cursor+by, 0), max(len(l.rows)-1, 0))
}

// find sets the search and goes to the first sound found.
func (l *list) find(text string) {
	chosen := l.chosen()
	l.search = text
	l.narrow()
	l.choose(chosen)
}

// fold shuts the folder that the cursor is in, or opens it.
func (l *list) fold(shut bool) {
	if l.cursor >= len(l.rows) || l.search != "" {
		return
	}
	g := l.rows[l.cursor].group
	folder := l.groups[g].folder
	if folder == "" {
		return
	}
	if l.shut == nil {
		l.shut = map[string]bool{}
	}
	l.shut[folder] = shut
	onHead := l.rows[l.cursor].sound < 0
	chosen := l.chosen()
	l.narrow()
	for i, r := range l.rows {
		if r.group == g && (r.sound < 0 && (shut || onHead) || r.sound >= 0 && !onHead && l.names[r.sound] == chosen) {
			l.cursor = i
			return
		}
	}
}

// below are the sounds from the cursor on, as they are shown, at most so many.
func (l *list) below(most int) (names []string) {
	for _, r := range l.rows[min(l.cursor, len(l.rows)):] {
		if r.sound >= 0 && len(names) < most {
			names = append(names, l.names[r.sound])
		}
	}
	return names
}

// scroll brings the cursor into a window of so many rows.
func (l *list) scroll(height int) {
	l.top = min(l.top, l.cursor)
	l.top = max(l.top, l.cursor-height+1)
	l.top = max(min(l.top, len(l.rows)-height), 0)
}
