package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestRemoteLost reads packs whose server has another version of the data, or refuses it, from the second
// answer on. Every command says so in one error that names the pack, and nothing of the entries, the
// manifest or the names that it could not read.
func TestRemoteLost(t *testing.T) {
	dir := t.TempDir()
	noted := filepath.Join(dir, "noted.data")
	const long = "a theme that has a long name.ogg"
	theme, err := os.ReadFile(filepath.Join(musicDir, "sounds", "theme.ogg"))
	if err != nil {
		t.Fatal(err)
	}
	writeTo(t, filepath.Join(dir, long), append(theme, 0)) // not the same bytes
	if status, _, errs := sndpak(t, "create", noted, filepath.Join(musicDir, "sounds"), filepath.Join(dir, long)); status != 0 {
		t.Fatal(errs)
	}
	for _, kind := range []struct {
		name, says string
		status     int
		refuses    bool
	}{
		{"another version", "pack changed under us", 3, false},
		{"refused", "403 Forbidden", 1, true},
	} {
		for _, pack := range []string{filepath.Join(musicDir, "music.data"), noted} {
			for _, args := range [][]string{
				{"list", "PACK"}, {"list", "PACK", "--json"}, {"info", "PACK"}, {"info", "PACK", "theme.ogg"},
				{"verify", "PACK"}, {"verify", "PACK", "--json"}, {"lint", "PACK"}, {"diff", "PACK", "LOCAL"}, {"diff", "LOCAL", "PACK"},
				{"convert", "PACK", "OUT"}, {"convert", "PACK", "OUT.zip"}, {"convert", "PACK", "OUT.pck"},
				{"extract", "PACK", "-C", "OUT"}, {"extract", "PACK", "theme.ogg", "--stdout"}, {"extract", "PACK", long, "-C", "OUT"},
				{"decode", "PACK", "theme.ogg", "-o", "OUT.wav"}, {"play", "PACK", long, "--output", "wav:OUT.wav"}, {"info", "PACK", long},
				{"plot", "PACK", "-o", "OUT.svg"}, {"plot", "PACK", long, "-o", "OUT.svg"}, {"console", "PACK", "--output", "null"},
			} {
				if pack != noted && strings.Contains(strings.Join(args, " "), long) {
					continue
				}
				t.Run(kind.name+"/"+filepath.Base(pack)+"/"+strings.Join(args, " "), func(t *testing.T) {
					var n atomic.Int64
					s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						at := filepath.Join(filepath.Dir(pack), filepath.Base(r.URL.Path))
						version := int64(0)
						if filepath.Ext(at) == ".data" {
							version = n.Add(1)
						}
						if kind.refuses && version > 1 {
							w.WriteHeader(http.StatusForbidden)
							return
						}
						w.Header().Set("ETag", fmt.Sprintf(`"%d"`, version))
						http.ServeFile(w, r, at)
					}))
					defer s.Close()
					address := s.URL + "/" + filepath.Base(pack)
					full := make([]string, len(args))
					for i, a := range args {
						full[i] = strings.NewReplacer("PACK", address, "OUT", filepath.Join(t.TempDir(), "out"), "LOCAL", pack).Replace(a)
					}
					status, _, errs := sndpak(t, full...)
					if status != kind.status || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, address) || !strings.Contains(errs, kind.says) {
						t.Errorf("status %d, %q\nwant %d, and one line with %s and %q", status, errs, kind.status, address, kind.says)
					}
				})
			}
		}
	}
}
