package soundpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A liar is a server that sends something wrong every other time, and at times has a new version.
type liar struct {
	size     int
	mu       sync.Mutex // guards what follows
	rnd      *rand.Rand
	version  int
	versions map[int][]byte
	faults   map[string]int
}

// body is the data of a version, of which no part is the same as in another.
func (l *liar) body(version int) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.versions[version] == nil {
		b := make([]byte, l.size)
		rand.NewChaCha8([32]byte{byte(version), byte(version >> 8)}).Read(b)
		l.versions = map[int][]byte{version: b, version - 1: l.versions[version-1]}
	}
	return l.versions[version]
}

// fault chooses what is wrong with an answer, "" nothing, and its version.
func (l *liar) fault() (kind string, version int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rnd.IntN(150) == 0 {
		l.version++
		l.faults["changed"]++
	}
	if l.rnd.IntN(2) == 0 {
		return "", l.version
	}
	kinds := []string{"whole", "short", "shifted", "other total", "length", "gzip", "status", "file", "loop", "no etag", "parts", "dropped", "other end"}
	kind = kinds[l.rnd.IntN(len(kinds))]
	if l.rnd.IntN(300) == 0 {
		kind = "slow"
	}
	l.faults[kind]++
	return kind, l.version
}

func (l *liar) answer(w http.ResponseWriter, r *http.Request) bool {
	if strings.HasSuffix(r.URL.Path, ".inx") {
		return false
	}
	kind, version := l.fault()
	data := l.body(version)
	var from, to int
	fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
	to = min(to, len(data)-1)
	h := w.Header()
	h.Set("ETag", fmt.Sprintf(`"%d"`, version))
	if inRange := r.Header.Get("If-Range"); inRange != "" && inRange != h.Get("ETag") {
		kind = "whole"
	}
	send := func(start, end, total, length int, body []byte) {
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, end, total))
		h.Set("Content-Length", strconv.Itoa(length))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(body)
	}
	body, n, size := data[from:to+1], to+1-from, len(data)
	other := make([]byte, n) // what must never be taken for the data
	switch kind {
	case "":
		send(from, to, size, n, body)
	case "whole":
		w.Write(other)
	case "short":
		send(from, to, size, n, body[:l.upTo(n)])
		panic(http.ErrAbortHandler)
	case "shifted":
		send(from+1, to+1, size+1, n, other)
	case "other end":
		send(from, to-1, size, n-1, other[1:])
	case "other total":
		if r.Header.Get("If-Range") == "" {
			to-- // the first answer's total is what all others are compared with: none can show it wrong
		}
		send(from, to, size+1, to+1-from, other[:to+1-from])
	case "length":
		send(from, to, size, n-1, other[1:])
	case "gzip":
		h.Set("Content-Encoding", "gzip")
		send(from, to, size, n, other)
	case "status":
		http.Error(w, "no", []int{500, 502, 503, 504, 429, 408}[l.upTo(6)])
	case "file":
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	case "loop":
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
	case "no etag":
		h.Del("ETag")
		send(from, to, size, n, other)
	case "parts":
		h.Set("Content-Type", "multipart/byteranges; boundary=x")
		w.WriteHeader(http.StatusPartialContent)
		w.Write(other)
	case "dropped":
		panic(http.ErrAbortHandler)
	case "slow":
		send(from, to, size, n, body[:n/2])
		w.(countedWriter).ResponseWriter.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	return true
}

func (l *liar) upTo(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rnd.IntN(n)
}

// TestRemoteFaults is fault F26: a thousand faulty answers and more, and not one wrong byte.
func TestRemoteFaults(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	want := 1000
	if testing.Short() || os.Getenv("SNDPAK_CI") == "" {
		want = 300
	}
	l := &liar{size: 3<<20 + 12345, rnd: rand.New(rand.NewPCG(seed, 1)), faults: map[string]int{}}
	s := newStore(t, map[string][]byte{"music.inx": encode(rec{"a", 0, uint32(l.size)})})
	s.before = l.answer
	opt := &RemoteOptions{Cache: 1 << 20, Retries: 2, times: webTimes{header: 5 * time.Second, body: 300 * time.Millisecond, wait: time.Microsecond}}
	rnd := rand.New(rand.NewPCG(seed, 2))
	good, bad, changed := 0, 0, 0
	for l.total() < want {
		p, err := OpenRemote(context.Background(), s.URL+"/music.data", nil, opt)
		if err != nil {
			bad++
			continue
		}
		version, _ := strconv.Atoi(strings.Trim(p.m.far.etag, `"`))
		data := l.body(version)
		f, err := p.OpenEntry(p.Entry(0))
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			off := rnd.IntN(l.size)
			b := make([]byte, min(1+rnd.IntN(400_000), l.size-off))
			n, err := f.ReadAt(b, int64(off))
			if !bytes.Equal(b[:n], data[off:off+n]) {
				i := 0
				for b[i] == data[off+i] {
					i++
				}
				t.Fatalf("%d bytes at %d of version %d: from %d on they are wrong: %x, want %x; zeros: %v; err %v", n, off, version, off+i, b[i:min(i+8, n)], data[off+i:][:8], bytes.Count(b[:n], []byte{0}), err)
			}
			switch {
			case err == nil || err == io.EOF && off+n == l.size:
				good++
			case errors.Is(err, ErrChanged):
				changed++
			default:
				bad++
			}
		}
		f.Close()
		p.Close()
	}
	t.Logf("%d faults %v; %d reads good, %d failed, %d of a pack that changed", l.total(), l.faults, good, bad, changed)
	if good == 0 || bad == 0 || changed == 0 {
		t.Errorf("%d reads good, %d failed, %d of a pack that changed: want some of each", good, bad, changed)
	}
}

func (l *liar) total() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.faults {
		n += k
	}
	return n
}
