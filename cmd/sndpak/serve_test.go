package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sndpak/sndpak/soundpack"
)

// servedTo runs serve and logs a client in.
func servedTo(t *testing.T, args ...string) (client *http.Client, base string) {
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
		if status := <-done; status != 0 {
			t.Errorf("serve: status %d, %s", status, errs.String())
		}
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("serve said nothing: %v", err)
	}
	base, token, ok := strings.Cut(strings.TrimSpace(line), "#t=")
	if !ok || !strings.HasPrefix(base, "http://127.0.0.1:") {
		t.Fatalf("serve said %q", line)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client = &http.Client{Jar: jar}
	t.Cleanup(client.CloseIdleConnections)
	asked(t, client, 204, base+"login", fmt.Sprintf(`{"token":%q}`, token))
	return client, base
}

// asked sends a POST, or a GET where there is no body, and returns the answer.
func asked(t *testing.T, client *http.Client, status int, url, body string) string {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		t.Fatalf("%s: status %d, want %d: %s (%v)", url, res.StatusCode, status, text, err)
	}
	return string(text)
}

// Loop points written by the page are in the manifest, count before those of the file, and change
// nothing else.
func TestServeWritesLoops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "music.data")
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"create", path, "../../testdata/sounds"}, streams{nil, &out, &errs}); status != 0 {
		t.Fatal(errs.String())
	}
	client, base := servedTo(t, path, "--write")
	before, err := soundpack.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	e, _ := before.Lookup("drumloop.wav")
	at := fmt.Sprintf("%se/%d/loop", base, e.Index)
	asked(t, client, 200, at, `{"generation":0,"start":1000,"end":20000}`)
	asked(t, client, 409, at, `{"generation":0,"start":1,"end":2}`)

	after, err := soundpack.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	if r, err := after.Verify(t.Context(), nil); err != nil || r.Errors > 0 || r.Checked != 5 {
		t.Errorf("verify: %+v, %v", r, err)
	}
	for i := range before.Len() {
		was, is := before.Entry(i), after.Entry(i)
		had, _ := before.Facts(was)
		has, _ := after.Facts(is)
		if was.Name == "drumloop.wav" {
			had.Loop = [2]int64{1000, 20000}
		}
		if was.Name != is.Name || was.Offset != is.Offset || was.Size != is.Size || fmt.Sprint(had) != fmt.Sprint(has) {
			t.Errorf("%d: %v %+v, was %v %+v", i, is, has, was, had)
		}
	}
	var list struct {
		Generation int
		Entries    []struct{ Loop []int64 }
	}
	if err := json.Unmarshal([]byte(asked(t, client, 200, base+"api/pack", "")), &list); err != nil || list.Generation != 1 || fmt.Sprint(list.Entries[e.Index].Loop) != "[1000 20000]" {
		t.Errorf("%+v, %v", list, err)
	}

	// play goes by them: twice 19,000 frames, and what comes before and behind, at 44.1 kHz.
	wav := filepath.Join(t.TempDir(), "loop.wav")
	out.Reset()
	if status := run(t.Context(), []string{"play", path, "drumloop.wav", "--loop", "2", "--output", "wav:" + wav}, streams{nil, &out, &errs}); status != 0 {
		t.Fatal(errs.String())
	}
	out.Reset()
	if status := run(t.Context(), []string{"info", wav, "--json"}, streams{nil, &out, &errs}); status != 0 {
		t.Fatal(errs.String())
	}
	var info struct{ Seconds float64 }
	if err := json.Unmarshal(out.Bytes(), &info); err != nil {
		t.Fatal(err)
	}
	if want := (55125.0 + 19000) / 44100; info.Seconds < want-0.01 || info.Seconds > want+0.01 {
		t.Errorf("looped once more it lasts %.3f s, want %.3f", info.Seconds, want)
	}
}

// A pack without a manifest has no place for loop points: that is said, and nothing is changed.
func TestServeWithoutManifest(t *testing.T) {
	client, base := servedTo(t, "../../testdata/music.data", "--write", "--output", "null")
	text := asked(t, client, 500, base+"e/0/loop", `{"generation":0,"start":1000,"end":20000}`)
	if !strings.Contains(text, "manifest") {
		t.Error(text)
	}
	asked(t, client, 204, base+"e/1/play", `{"loop":true}`)
	asked(t, client, 204, base+"api/stop", `{"id":0}`)
	asked(t, client, 200, base+"api/lint", "")
}
