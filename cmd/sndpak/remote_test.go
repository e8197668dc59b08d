package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const musicDir = "../../testdata"

// served are the files of testdata, with strong ETags.
func served(t *testing.T, deny func(*http.Request) bool) *httptest.Server {
	t.Helper()
	files := http.FileServer(http.Dir(musicDir))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if deny != nil && deny(r) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("ETag", `"1"`)
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// sameAsLocal runs what reads a pack, at an address and on this machine, and compares.
func sameAsLocal(t *testing.T, address string, flags ...string) {
	t.Helper()
	local := filepath.Join(musicDir, "music.data")
	shown := ""
	for _, args := range [][]string{
		{"info", "PACK"}, {"list", "PACK"}, {"list", "PACK", "--json"}, {"info", "PACK", "theme.ogg"}, {"verify", "PACK", "--deep"},
		{"extract", "PACK", "jaguar.wav", "--stdout"}, {"decode", "PACK", "theme.mp3", "-o", "OUT"},
		{"play", "PACK", "JAGUAR.WAV", "swish.wav", "--output", "wav:OUT"}, {"diff", "PACK", "LOCAL"},
	} {
		var outs [2]string
		for i, pack := range []string{local, address} {
			out := filepath.Join(t.TempDir(), "out.wav")
			var full []string
			for _, a := range args {
				full = append(full, strings.NewReplacer("PACK", pack, "OUT", out, "LOCAL", local).Replace(a))
			}
			if i == 1 && args[0] != "diff" {
				full = append(full, flags...)
			}
			if args[0] == "diff" && len(flags) > 0 {
				continue // takes no --index
			}
			status, text, errs := sndpak(t, full...)
			if status != 0 {
				t.Errorf("%s: status %d, %s", full, status, errs)
			}
			if b, err := os.ReadFile(out); err == nil {
				text += string(b)
			}
			outs[i] = text
			if i == 1 && args[0] == "info" && len(args) == 2 {
				for line := range strings.Lines(text) {
					if at, ok := strings.CutPrefix(line, "pack        "); ok {
						shown = strings.TrimSuffix(strings.TrimSpace(at), ".data")
					}
				}
			}
		}
		got := strings.ReplaceAll(outs[1], shown, filepath.Join(musicDir, "music"))
		if got != outs[0] {
			t.Errorf("%s: at the address it differs:\n%.600q\n%.600q", args, got, outs[0])
		}
	}
}

func TestRemotePack(t *testing.T) {
	sameAsLocal(t, served(t, nil).URL+"/music.data")
}

func TestRemotePresigned(t *testing.T) {
	s := served(t, func(r *http.Request) bool { return r.URL.Query().Get("sig") != "for"+filepath.Ext(r.URL.Path) })
	sameAsLocal(t, s.URL+"/music.data?sig=for.data", "--index", s.URL+"/music.inx?sig=for.inx")
	status, _, errs := sndpak(t, "list", s.URL+"/music.data?sig=for.data")
	if status != 1 || !strings.Contains(errs, "--index") || strings.Contains(errs, "sig=") {
		t.Errorf("without --index: status %d, %s", status, errs)
	}
}

func TestRemoteErrors(t *testing.T) {
	s := served(t, nil)
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{1, "404 Not Found", []string{"list", s.URL + "/none.data"}},
		{1, "404 Not Found", []string{"play", s.URL + "/none.data", "a.wav"}},
		{4, `no entry "none.wav"`, []string{"play", s.URL + "/music.data", "none.wav", "--output", "null"}},
		{2, "can only be read", []string{"add", s.URL + "/music.data?secret", filepath.Join(musicDir, "music.inx")}},
		{2, "can only be read", []string{"compact", s.URL + "/music.data"}},
		{2, "s3://BUCKET/KEY", []string{"list", "s3://bucket"}},
		{2, "s3://BUCKET/KEY", []string{"list", "s3://"}},
		{1, "no such host", []string{"list", "http://host.invalid/music.data"}},
	} {
		status, _, errs := sndpak(t, c.args...)
		if status != c.status || !strings.Contains(errs, c.want) || strings.Contains(errs, "secret") {
			t.Errorf("%s: status %d, %swant %d, %s", c.args, status, errs, c.status, c.want)
		}
	}
}

// TestS3 reads from a server that speaks S3: gofakes3 in this process. Its buckets want signatures of
// the right key here, but for the one called public.
func TestS3(t *testing.T) {
	store := s3mem.New()
	for _, name := range []string{"bucket", "public"} {
		if err := store.CreateBucket(name); err != nil {
			t.Fatal(err)
		}
		for _, ext := range []string{"data", "inx"} {
			b, err := os.ReadFile(filepath.Join(musicDir, "music."+ext))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := store.PutObject(name, "a game/music."+ext, nil, bytes.NewReader(b), int64(len(b)), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	fake := gofakes3.New(store).Server()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		signed := strings.HasPrefix(q.Get("X-Amz-Credential"), "key-id/") && len(q.Get("X-Amz-Signature")) == 64
		if !signed && !strings.HasPrefix(r.URL.Path, "/public/") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	defer s.Close()
	for _, v := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL_S3",
		"AWS_ACCESS_KEY", "AWS_SECRET_KEY", "MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD", "MINIO_ACCESS_KEY", "MINIO_SECRET_KEY"} {
		t.Setenv(v, "")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_ENDPOINT_URL", s.URL)
	t.Setenv("AWS_REGION", "us-east-1")
	sameAsLocal(t, "s3://public/a game/music.data")
	status, _, errs := sndpak(t, "list", "s3://bucket/a game/music.data")
	if status != 1 || !strings.Contains(errs, "open s3://bucket/a game/music.data: the server answers 403 Forbidden") || strings.Contains(errs, s.URL) {
		t.Errorf("without credentials: status %d, %s", status, errs)
	}
	t.Run("environment", func(t *testing.T) {
		t.Setenv("AWS_ACCESS_KEY_ID", "key-id")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
		sameAsLocal(t, "s3://bucket/a game/music.data")
		status, _, errs := sndpak(t, "list", "s3://bucket/none.data")
		if status != 1 || !strings.Contains(errs, "s3://bucket/none.data: the server answers 404 Not Found") || strings.Contains(errs, "X-Amz") || strings.Contains(errs, s.URL) {
			t.Errorf("no such object: status %d, %s", status, errs)
		}
		status, _, errs = sndpak(t, "decode", "s3://bucket/a game/music.data", "none.ogg", "-o", "none.wav")
		if status != 4 || !strings.Contains(errs, "sndpak list s3://bucket/a game/music.data") || strings.Contains(errs, s.URL) {
			t.Errorf("no such entry: status %d, %s", status, errs)
		}
	})
	t.Run("profile", func(t *testing.T) {
		profile := filepath.Join(t.TempDir(), "credentials")
		if err := os.WriteFile(profile, []byte("[game]\naws_access_key_id = key-id\naws_secret_access_key = secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("AWS_SHARED_CREDENTIALS_FILE", profile)
		t.Setenv("AWS_PROFILE", "game")
		sameAsLocal(t, "s3://bucket/a game/music.data", "--index", "s3://bucket/a game/music.inx")
	})
}
