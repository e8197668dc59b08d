//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/sndpak/sndpak/soundpack"
)

// hostile is a name that would run as a script where it was taken for HTML.
const hostile = "<svg onload=a()>"

// hostilePack is a pack of the project's sounds and one with a hostile name, which only other programs
// give.
func hostilePack(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	stand := strings.Repeat("z", len(hostile))
	if err := os.WriteFile(filepath.Join(dir, stand), tone(8000, 4000, 440), 0o644); err != nil {
		t.Fatal(err)
	}
	pack := filepath.Join(dir, "music.data")
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"create", pack, "../../testdata/sounds", filepath.Join(dir, stand)}, streams{nil, &out, &errs}); status != 0 {
		t.Fatal(errs.String())
	}
	index := filepath.Join(dir, "music.inx")
	b, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(index, bytes.Replace(b, []byte(stand), []byte(hostile), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	return pack
}

// servedPage runs serve and returns the address that it prints.
func servedPage(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	var errs bytes.Buffer
	done := make(chan int, 1)
	go func() {
		status := run(ctx, append([]string{"serve"}, args...), streams{nil, w, &errs})
		w.Close()
		done <- status
	}()
	t.Cleanup(func() {
		cancel()
		status := <-done
		for line := range strings.Lines(errs.String()) {
			if !strings.Contains(line, "another program has changed the pack") { // hostilePack did
				t.Error(line)
			}
		}
		if status != 0 {
			t.Errorf("serve: status %d", status)
		}
	})
	url, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("serve said nothing: %v", err)
	}
	return strings.TrimSpace(url)
}

// tab is a page of a headless Chromium.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func newTab(t *testing.T) tab {
	t.Helper()
	needsProgram(t, "chromium")
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox)
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	return tab{t, ctx}
}

func (b tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// waitFor waits until an expression is true. It gives up after a minute, which no working page takes.
func (b tab) waitFor(expression string) {
	b.t.Helper()
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && ok {
			return
		}
		if time.Since(begun) > time.Minute {
			state, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.getElementById('status')?.textContent ?? ''"))
			b.t.Fatalf("never: %s (%v); the page says %q", expression, err, state)
		}
	}
}

func (b tab) text(expression string) string {
	b.t.Helper()
	s, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return s
}

func (b tab) is(expression, want string) {
	b.t.Helper()
	if got := b.text(expression); got != want {
		b.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

func (b tab) click(selector string) { b.t.Helper(); b.do(chromedp.Click(chromedp.CSS(selector))) }
func (b tab) keys(keys string)      { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }

// shot keeps a picture of the page where SNDPAK_SHOTS names a folder, for people to look at.
func (b tab) shot(name string) {
	dir := os.Getenv("SNDPAK_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, name), png, 0o644)); err != nil {
		b.t.Error(err)
	}
}

// rowOf is the row of an entry in the list.
func rowOf(name string) string {
	return fmt.Sprintf("[...document.querySelectorAll('#list li')].find((r) => r.querySelector('.n').textContent === %q)", name)
}

func TestPageInBrowser(t *testing.T) {
	pack := hostilePack(t)
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(servedPage(t, pack, "--write", "--output", "null")))
	b.waitFor("document.querySelectorAll('#list li').length === 6")
	b.waitFor("!document.getElementById('spectrogram').hidden")
	b.is("location.hash", "")
	b.shot("start.png")

	t.Run("a hostile name is text", func(t *testing.T) { b.with(t).hostile() })
	t.Run("search", func(t *testing.T) { b.with(t).search() })
	t.Run("play", func(t *testing.T) { b.with(t).play() })
	t.Run("keys", func(t *testing.T) { b.with(t).pads() })
	t.Run("on the server", func(t *testing.T) { b.with(t).here() })
	t.Run("lint", func(t *testing.T) { b.with(t).lint() })
	t.Run("loop", func(t *testing.T) { b.with(t).loop(pack) })
	t.Run("names for a screen reader", func(t *testing.T) { b.with(t).named() })
	t.Run("what a screen reader gets", func(t *testing.T) { b.with(t).reader() })
	t.Run("what is said", func(t *testing.T) { b.with(t).told() })
	t.Run("the keyboard alone", func(t *testing.T) { b.with(t).tabbed() })
}

func (b tab) with(t *testing.T) tab { b.t = t; return b }

func (b tab) hostile() {
	b.waitFor(rowOf(hostile))
	b.do(chromedp.Focus(chromedp.CSS("#list")))
	b.text(rowOf(hostile) + ".click()")
	b.waitFor(fmt.Sprintf("document.getElementById('name').textContent === %q", hostile))
	b.is("document.querySelectorAll('svg').length", "0")
	b.waitFor("document.getElementById('canvas').width > 100")
}

func (b tab) search() {
	b.keys("/") // from anywhere; the driver types it though the page took the key
	b.waitFor("document.activeElement.id === 'search'")
	b.text("document.getElementById('search').value = ''")
	b.keys("THEME")
	b.waitFor("document.querySelectorAll('#list li').length === 2")
	b.is("document.getElementById('count').textContent", "2 of 6")
	b.keys("\r") // chooses the first and goes to the list
	b.waitFor("document.activeElement.id === 'list'")
	b.is("document.getElementById('name').textContent", "theme.mp3")
	b.keys(kb.ArrowDown)
	b.waitFor("document.getElementById('name').textContent === 'theme.ogg'")
}

// play plays what search chose, by the keyboard alone.
func (b tab) play() {
	b.keys("\r")
	b.waitFor("document.getElementById('audio').currentTime > 0.2")
	was := b.text("document.getElementById('audio').currentTime")
	b.waitFor("document.getElementById('audio').currentTime > " + was)
	b.is("document.getElementById('audio').error", "null")
	b.waitFor("document.getElementById('playhead').style.left !== '0%'")
	b.shot("playing.png")
	b.keys("\r")
	b.waitFor("document.getElementById('audio').paused")
}

// pads plays by keys: looped, so that it is still playing when it is looked at, until pressed again.
func (b tab) pads() {
	b.text("document.getElementById('search').value = '', document.getElementById('search').dispatchEvent(new Event('input'))")
	b.waitFor("document.querySelectorAll('#pads button').length === 6")
	b.do(chromedp.Focus(chromedp.CSS("#pads button")))
	pressed := "document.querySelectorAll('#pads [aria-pressed=true]').length"
	b.do(chromedp.KeyEvent("2", chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.waitFor(pressed + " === 1")
	b.do(chromedp.KeyEvent("3", chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.waitFor(pressed + " === 2")
	b.shot("keys.png")
	b.do(chromedp.KeyEvent("2", chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.waitFor(pressed + " === 1")
	b.is("document.querySelector('#pads [aria-pressed=true] span').textContent", "swish.wav")
	b.keys("\x1b")
	b.waitFor(pressed + " === 0")
}

// here plays on the server's player.
func (b tab) here() {
	b.text(rowOf("theme.ogg") + ".click()")
	b.waitFor("!document.getElementById('play-here').hidden")
	b.click("#play-here")
	b.waitFor("document.querySelector('#voices li .n')?.textContent === 'theme.ogg'")
	b.waitFor("document.querySelector('#voices progress').value > 0")
	b.waitFor("document.getElementById('meter-l').value > -60")
	b.shot("live.png")
	b.click("#voices button")
	b.waitFor("document.querySelectorAll('#voices li').length === 0")
}

func (b tab) lint() {
	b.click("#lint-run")
	b.waitFor("/errors/.test(document.getElementById('lint-sum').textContent)")
	b.waitFor("document.querySelectorAll('#findings li').length > 0")
	b.is("document.querySelectorAll('svg').length", "0")
}

// loop moves the loop's start by the keyboard and its end by the mouse, and writes it into the pack.
func (b tab) loop(pack string) {
	b.text(rowOf("drumloop.wav") + ".click()")
	b.waitFor("document.getElementById('name').textContent === 'drumloop.wav' && !document.getElementById('loop-start').hidden")
	b.is("document.getElementById('loop-write').disabled", "true")
	b.do(chromedp.Focus(chromedp.CSS("#loop-start")))
	b.keys(kb.ArrowRight) // a hundredth of the width
	b.waitFor("document.getElementById('loop-start').getAttribute('aria-valuenow') === '551'")
	x, y := b.number("document.getElementById('loop-end').getBoundingClientRect().left + 7"), b.number("document.getElementById('wave').getBoundingClientRect().top + 60")
	to := b.number("document.getElementById('wave').getBoundingClientRect().left + document.getElementById('wave').clientWidth / 2")
	b.do(chromedp.DragAndDropXY(x-3, y, to, y))
	b.waitFor("Math.abs(document.getElementById('loop-end').getAttribute('aria-valuenow') - 55125 / 2) < 500")
	end := b.text("document.getElementById('loop-end').getAttribute('aria-valuenow')")
	b.shot("loop.png")
	b.click("#loop-write")
	b.waitFor("document.getElementById('status').textContent === 'The loop of drumloop.wav is written.'")
	b.is("document.getElementById('loop-write').disabled", "true")
	p, err := soundpack.Open(pack, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	defer p.Close()
	e, _ := p.Lookup("drumloop.wav")
	if f, _ := p.Facts(e); fmt.Sprint(f.Loop) != "[551 "+end+"]" || f.Frames != 55125 {
		b.t.Errorf("the pack has loop %v of %d frames, want [551 %s] of 55125", f.Loop, f.Frames, end)
	}
	if got, err := p.ReadFile("drumloop.wav"); err != nil || !bytes.Equal(got, mustRead(b.t, "../../testdata/sounds/drumloop.wav")) {
		b.t.Errorf("its bytes changed (%v)", err)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (b tab) number(expression string) float64 {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[float64](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// named checks that whatever takes the focus has a name, and that nothing takes it out of order.
func (b tab) named() {
	b.is(`[...document.querySelectorAll('button, input, [tabindex="0"], audio, meter, progress, img:not([alt=""])')]
		.filter((e) => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.alt || e.labels?.length || e.textContent.trim()))
		.map((e) => e.outerHTML).join()`, "")
	b.is("document.querySelectorAll('[tabindex]:not([tabindex=\"0\"]):not([tabindex=\"-1\"])').length", "0")
	b.is("document.documentElement.lang", "en")
}

// A page of another origin in the same browser, in which the pack's page is open and logged in, gets
// nothing and changes nothing.
func TestPageDriveBy(t *testing.T) {
	pack := hostilePack(t)
	before := mustRead(t, strings.TrimSuffix(pack, ".data")+".inx")
	b := newTab(t)
	url := servedPage(t, pack, "--write", "--output", "null")
	b.do(chromedp.Navigate(url))
	b.waitFor("document.querySelectorAll('#list li').length === 6")
	base, _, _ := strings.Cut(url, "#")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, driveBy, base)
	}))
	defer other.Close()
	b.do(chromedp.Navigate(other.URL))
	b.waitFor("window.finished")
	b.is("JSON.stringify(got)", "[]")
	if after := mustRead(t, strings.TrimSuffix(pack, ".data")+".inx"); !bytes.Equal(before, after) {
		t.Error("the pack was changed")
	}
}

// driveBy tries what a page can try, and notes in got what it could read.
const driveBy = `<!doctype html><script>
const base = %q, got = [];
const attempt = async (name, f) => { try { const v = await f(); if (v) got.push(name + ': ' + v); } catch {} };
const element = (tag, attributes) => new Promise((done) => {
  const e = document.createElement(tag);
  e.onload = () => done(tag === 'iframe' ? (() => { try { return e.contentDocument?.title; } catch { return ''; } })() : 'loaded');
  e.onerror = () => done('');
  e.onloadedmetadata = () => done('loaded');
  Object.assign(e, attributes);
  document.documentElement.append(e);
});
(async () => {
  for (const path of ['', 'api/pack', 'api/lint', 'e/0', 'e/0/wav', 'e/0/peaks', 'app.js'])
    for (const mode of ['cors', 'no-cors'])
      await attempt('fetch ' + mode + ' ' + path, async () => (await fetch(base + path, { mode, credentials: 'include' })).text());
  for (const type of ['application/json', 'text/plain'])
    for (const path of ['e/0/loop', 'e/0/play', 'api/stop', 'login'])
      await attempt('post ' + path, async () => (await fetch(base + path, { method: 'POST', credentials: 'include', headers: { 'Content-Type': type }, body: '{"generation":0,"start":1,"end":2}' })).text());
  await attempt('img', () => element('img', { src: base + 'e/0/spectrogram' }));
  await attempt('audio', () => element('audio', { src: base + 'e/0', preload: 'metadata' }));
  await attempt('script', () => element('script', { src: base + 'app.js', type: 'module' }));
  await attempt('frame', () => element('iframe', { src: base }));
  window.finished = true;
})();
</script>`
