//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// spoken is what a screen reader gets of one element.
type spoken struct {
	role, name, value string
	state             map[string]string
}

func (s spoken) String() string { return fmt.Sprintf("%s %q %s %v", s.role, s.name, s.value, s.state) }

// tree is the browser's accessibility tree, which is all of the page that a screen reader has.
func (b tab) tree() (list []spoken) {
	b.t.Helper()
	got, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, n := range got.Nodes {
		if n.Ignored {
			continue
		}
		s := spoken{axText(n.Role), axText(n.Name), axText(n.Value), map[string]string{}}
		for _, p := range n.Properties {
			s.state[string(p.Name)] = axText(p.Value)
		}
		list = append(list, s)
	}
	return list
}

func axText(v *accessibility.Value) string {
	var x any
	if v == nil || json.Unmarshal(v.Value, &x) != nil || x == nil {
		return ""
	}
	return fmt.Sprint(x)
}

// controls are the roles of what can be used, or must be told in words.
var controls = []string{
	"button", "checkbox", "searchbox", "textbox", "combobox", "link", "listbox", "option", "slider", "meter", "progressbar",
	"ProgressIndicator", "image", "img", "Canvas", "Audio", "region", "group", "heading",
}

// reader looks at the page as a screen reader does.
func (b tab) reader() {
	b.text(rowOf("theme.ogg") + ".click()")
	b.waitFor("document.getElementById('canvas').ariaLabel?.startsWith('Waveform of theme.ogg:')")
	b.waitFor("document.querySelectorAll('#findings li').length > 0 && !document.getElementById('spectrogram').hidden")
	b.click("#play-here")
	b.waitFor("document.querySelector('#voices progress')")
	var list []spoken
	for range 50 { // the tree follows the page a little later
		if list = b.tree(); slices.ContainsFunc(list, func(s spoken) bool { return s.name == "Position of theme.ogg" }) {
			break
		}
	}
	for _, s := range list {
		if slices.Contains(controls, s.role) && s.name == "" {
			b.t.Errorf("without a name: %v", s)
		}
		if s.state["focusable"] == "true" && !slices.Contains(controls, s.role) && s.role != "RootWebArea" {
			b.t.Errorf("takes the focus and is no control: %v", s)
		}
	}
	for _, want := range []string{
		"banner", "main", "search", "heading music.data", "link Skip to the chosen sound", "searchbox Search sounds", "listbox Sounds 6",
		"option theme.ogg 0:10.00 OGG Vorbis", "option " + hostile, "heading theme.ogg",
		"image Waveform of theme.ogg: 0:10.00, 2 channels, largest value ", "image Spectrogram of theme.ogg, from 0 to 22.05 kHz",
		"slider Loop start", "slider Loop end", "checkbox Loop", "button No loop", "button Write loop to pack", "button Play on server",
		"group Keys", "button 5 theme.ogg", "meter Left level", "meter Right level", "Position of theme.ogg", "button Stop theme.ogg",
		"button Stop all", "button Check the pack", "list Findings", "button " + hostile, "region Lint",
	} {
		if !slices.ContainsFunc(list, func(s spoken) bool {
			return strings.HasPrefix(s.role+" "+s.name, want) || s.name == want
		}) {
			b.t.Errorf("no %s", want)
		}
	}
	chosen := slices.DeleteFunc(slices.Clone(list), func(s spoken) bool { return s.role != "option" || s.state["selected"] != "true" })
	if len(chosen) != 1 || !strings.HasPrefix(chosen[0].name, "theme.ogg ") {
		b.t.Errorf("chosen are %v", chosen)
	}
	live := slices.DeleteFunc(list, func(s spoken) bool { return s.role != "status" || s.state["live"] != "polite" })
	if len(live) != 3 {
		b.t.Errorf("%d live regions, want those of the status, of what is only said and of lint: %v", len(live), live)
	}
	b.is("document.querySelector('#list li:nth-child(2)').ariaPosInSet + ' of ' + document.querySelector('#list li').ariaSetSize", "2 of 6")
	b.click("#stop-all")
	b.waitFor("document.querySelectorAll('#voices li').length === 0")
}

// hears waits until a text has been said since the last one.
func (b tab) hears(want string) {
	b.t.Helper()
	b.waitFor(fmt.Sprintf("window.heard.some((s) => s === %q)", want))
	b.text("window.heard = []")
}

// told checks what is said of what is done by the keyboard.
func (b tab) told() {
	b.text(`window.heard = [], new MutationObserver(() => { const s = document.getElementById('spoken').textContent; if (s) window.heard.push(s); })
		.observe(document.getElementById('spoken'), { childList: true, characterData: true, subtree: true })`)
	b.do(chromedp.Focus(chromedp.CSS("#search")))
	b.keys("theme")
	b.hears("2 of 6 sounds")
	b.keys("xx")
	b.hears("No sound found")
	b.is("document.getElementById('more').textContent", "No sound has that name.")
	b.keys(kb.Backspace)
	b.keys(kb.Backspace)
	b.hears("2 of 6 sounds")
	b.keys("\r")
	b.waitFor("document.activeElement.id === 'list'")
	b.keys("\r")
	b.hears("Playing theme.mp3")
	b.keys("\r")
	b.hears("Paused")
	b.text("document.getElementById('search').value = '', document.getElementById('search').dispatchEvent(new Event('input'))")
	b.hears("6 of 6 sounds")
	b.do(chromedp.Focus(chromedp.CSS("#pads button")))
	b.do(chromedp.KeyEvent("5", chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.hears("Looping theme.ogg")
	b.do(chromedp.KeyEvent("5", chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.hears("Stopped theme.ogg")
	b.text(rowOf("theme.ogg") + ".click()")
	b.waitFor("!document.getElementById('play-here').hidden")
	b.do(chromedp.Focus(chromedp.CSS("#play-here")))
	b.keys("\r")
	b.hears("Playing theme.ogg on the server")
	b.waitFor("document.querySelector('#voices button')")
	b.do(chromedp.Focus(chromedp.CSS("#voices button")))
	b.keys("\r")
	b.hears("Stopped theme.ogg on the server")
	b.waitFor("document.querySelectorAll('#voices li').length === 0 && document.activeElement.id === 'stop-all'")
}

// tabbed goes through the page with the tab key alone: in the order of the page, with the focus to be seen.
func (b tab) tabbed() {
	b.text(rowOf("theme.ogg") + ".click()")
	b.waitFor("!document.getElementById('loop-start').hidden")
	b.text("document.activeElement.blur(), window.getSelection().removeAllRanges(), document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex')")
	const at = `(() => {
		const e = document.activeElement, s = getComputedStyle(e);
		if (e === document.body) return '';
		return (e.id || e.closest('[id]')?.id || e.className) + (s.outlineStyle === 'none' || parseFloat(s.outlineWidth) < 2 ? ' without an outline' : '');
	})()`
	var order []string
	for range 60 {
		b.keys(kb.Tab)
		where := b.text(at)
		if where == "" {
			break
		}
		if len(order) == 0 || order[len(order)-1] != where { // the parts of the player are one
			order = append(order, where)
		}
	}
	got := strings.Join(order, " ")
	if want := "skip search list loop-start loop-end audio play looped loop-clear play-here pads stop-all lint-run findings"; got != want {
		b.t.Errorf("the tab key leads through\n%s, want\n%s", got, want)
	}

	// What takes the focus's place away gives it on.
	b.do(chromedp.Focus(chromedp.CSS("#loop-clear")))
	b.keys("\r")
	b.waitFor("document.activeElement.id === 'loop-set'")
	b.keys("\r")
	b.waitFor("document.activeElement.id === 'loop-start'")
	b.keys(kb.ArrowRight)
	b.do(chromedp.Focus(chromedp.CSS("#loop-write")))
	b.keys("\r")
	b.waitFor("document.getElementById('status').textContent === 'The loop of theme.ogg is written.'")
	b.waitFor("document.activeElement.id === 'loop-clear'")
	b.do(chromedp.Focus(chromedp.CSS("#lint-run")))
	b.keys("\r")
	b.waitFor("/errors/.test(document.getElementById('lint-sum').textContent) && document.activeElement.id === 'lint-run'")
}
