package content_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sndpak/sndpak/soundpack"
	"github.com/sndpak/sndpak/soundpack/content"
	"golang.org/x/image/bmp"
)

// Two pictures of 1 x 1 pixel, for the standard library writes no WebP: lossy (VP8) and lossless (VP8L).
const (
	webpLossy    = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"
	webpLossless = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="
)

func unbase64(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		log.Fatal(err)
	}
	return b
}

// picture is w x h pixels, each of another colour.
func picture(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		m.Set(i%w, i/w, color.NRGBA{uint8(i * 7), uint8(i * 13), uint8(i * 29), 255})
	}
	return m
}

func encoded(t testing.TB, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pictures are files of every format, by name, and their sizes.
func pictures(t testing.TB) (fstest.MapFS, map[string]content.ImageInfo) {
	m := picture(30, 20)
	gray := image.NewGray16(m.Rect)
	files := fstest.MapFS{
		"a.png":         {Data: encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, m) })},
		"gray.png":      {Data: encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, gray) })},
		"b.jpg":         {Data: encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, m, nil) })},
		"c.gif":         {Data: encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, m, nil) })},
		"d.bmp":         {Data: encoded(t, func(b *bytes.Buffer) error { return bmp.Encode(b, m) })},
		"lossy.webp":    {Data: unbase64(webpLossy)},
		"lossless.webp": {Data: unbase64(webpLossless)},
	}
	sizes := map[string]content.ImageInfo{
		"a.png": {Format: "png", Width: 30, Height: 20}, "gray.png": {Format: "png", Width: 30, Height: 20},
		"b.jpg": {Format: "jpeg", Width: 30, Height: 20}, "c.gif": {Format: "gif", Width: 30, Height: 20},
		"d.bmp": {Format: "bmp", Width: 30, Height: 20}, "lossy.webp": {Format: "webp", Width: 1, Height: 1},
		"lossless.webp": {Format: "webp", Width: 1, Height: 1},
	}
	return files, sizes
}

// pack makes a pack of the files and opens it.
func pack(t testing.TB, files fs.FS) *soundpack.Pack {
	t.Helper()
	sources, err := soundpack.SourcesFS(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "game.data")
	if err := soundpack.Create(context.Background(), path, sources, nil); err != nil {
		t.Fatal(err)
	}
	p, err := soundpack.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestImagesOutOfAPack(t *testing.T) {
	files, sizes := pictures(t)
	p := pack(t, files)
	cache := content.New(content.Options{Track: true})
	images := content.Images(cache, p, content.ImageOptions{})
	for name, want := range sizes {
		h, err := images.Get(context.Background(), name)
		if err != nil {
			t.Error(err)
			continue
		}
		m := h.Value()
		if b := m.Bounds(); b.Dx() != want.Width || b.Dy() != want.Height {
			t.Errorf("%s: got %v, want %d x %d", name, b, want.Width, want.Height)
		}
		if min := int64(want.Width * want.Height); h.Size() < min || h.Size() > 4*min+4096 {
			t.Errorf("%s: costs %d bytes", name, h.Size())
		}
		if name == "a.png" {
			samePicture(t, m, picture(30, 20))
		}
		if err := h.Release(); err != nil {
			t.Error(err)
		}
		info, err := content.Inspect(bytes.NewReader(files[name].Data))
		if err != nil || info != want {
			t.Errorf("%s: inspected %+v, %v; want %+v", name, info, err, want)
		}
	}
	if err := cache.Close(); err != nil {
		t.Error(err)
	}
}

func samePicture(t *testing.T, got, want image.Image) {
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			if g, w := color.NRGBAModel.Convert(got.At(x, y)), color.NRGBAModel.Convert(want.At(x, y)); g != w {
				t.Fatalf("pixel %d,%d: got %v, want %v", x, y, g, w)
			}
		}
	}
}

// bomb is a PNG whose header claims w x h pixels, and which has none.
func bomb(w, h uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR........\x08\x06\x00\x00\x00....")
	binary.BigEndian.PutUint32(b[16:], w)
	binary.BigEndian.PutUint32(b[20:], h)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

func TestImagesRefused(t *testing.T) {
	good := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, picture(30, 20)) })
	files := fstest.MapFS{
		"text.png":  {Data: []byte("no picture")},
		"empty.png": {},
		"cut.png":   {Data: good[:len(good)/2]},
		"bomb.png":  {Data: bomb(60_000, 60_000)},
		"wide.png":  {Data: bomb(1<<31-1, 1<<31-1)},
		"fits.png":  {Data: bomb(8000, 8000)}, // within the limit, but not within the budget
		"long.png":  {Data: make([]byte, 5000)},
	}
	cache := content.New(content.Options{Budget: 1 << 20})
	images := content.Images(cache, files, content.ImageOptions{MaxBytes: 4000})
	for name, want := range map[string]error{
		"text.png": content.ErrFormat, "empty.png": content.ErrFormat, "cut.png": content.ErrFormat,
		"bomb.png": content.ErrLimit, "wide.png": content.ErrFormat, "fits.png": content.ErrBudget,
		"long.png": content.ErrLimit, "none.png": fs.ErrNotExist,
	} {
		_, err := images.Get(context.Background(), name)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	if s := cache.Stats(); s.Used != 0 || s.Peak > 1<<20 {
		t.Errorf("got %+v, want nothing kept", s)
	}
	if err := cache.Close(); err != nil {
		t.Error(err)
	}
}

type level struct {
	Name    string
	Seed    int64
	Sprites []string
}

func TestJSON(t *testing.T) {
	files := fstest.MapFS{
		"level.json": {Data: []byte(`{"name":"one","seed":9007199254740993,"sprites":["a.png"]}` + "\n")},
		"more.json":  {Data: []byte(`{} {}`)},
		"cut.json":   {Data: []byte(`{"name":`)},
		"type.json":  {Data: []byte(`{"seed":1.5}`)},
		"field.json": {Data: []byte(`{"speed":1}`)},
		"long.json":  {Data: bytes.Repeat([]byte(" "), 200)},
	}
	cache := content.New(content.Options{})
	levels := content.JSON[level](cache, files, content.JSONOptions{MaxBytes: 100, Strict: true})
	h, err := levels.Get(context.Background(), "level.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Value(); got.Seed != 1<<53+1 || got.Name != "one" || len(got.Sprites) != 1 {
		t.Errorf("got %+v", got)
	}
	if err := h.Release(); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]error{
		"more.json": content.ErrFormat, "cut.json": content.ErrFormat, "type.json": content.ErrFormat,
		"field.json": content.ErrFormat, "long.json": content.ErrLimit, "none.json": fs.ErrNotExist,
	} {
		if _, err := levels.Get(context.Background(), name); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	anything := content.JSON[map[string]any](cache, files, content.JSONOptions{})
	a, err := anything.Get(context.Background(), "level.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Value()["seed"]; got != json.Number("9007199254740993") {
		t.Errorf("seed: got %v", got)
	}
	if err := a.Release(); err != nil {
		t.Error(err)
	}
	if err := cache.Close(); err != nil {
		t.Error(err)
	}
}

// FuzzImage: whatever the bytes, a picture that decodes is what its header said, within the budget.
func FuzzImage(f *testing.F) {
	files, _ := pictures(f)
	if len(files) == 0 {
		f.Fatal("no seeds")
	}
	for _, file := range files {
		f.Add(file.Data)
	}
	f.Add(bomb(60_000, 60_000))
	f.Fuzz(func(t *testing.T, b []byte) {
		cache := content.New(content.Options{Budget: 4 << 20})
		defer cache.Close()
		images := content.Images(cache, fstest.MapFS{"x": {Data: b}}, content.ImageOptions{MaxPixels: 1 << 20})
		h, err := images.Get(context.Background(), "x")
		if err != nil {
			if strings.Contains(err.Error(), "panicked") {
				t.Error(err) // survived, but worth a report to whoever keeps the decoder
			}
			return
		}
		defer h.Release()
		info, err := content.Inspect(bytes.NewReader(b))
		size := h.Value().Bounds().Size()
		// A GIF's first picture may be smaller than its screen.
		if err != nil || size.X > info.Width || size.Y > info.Height || info.Format != "gif" && size != image.Pt(info.Width, info.Height) {
			t.Errorf("inspected %+v, %v; decoded %v", info, err, size)
		}
	})
}

func ExampleImages() {
	var ship bytes.Buffer
	if err := png.Encode(&ship, picture(64, 32)); err != nil {
		log.Fatal(err)
	}
	game := fstest.MapFS{"ship.png": {Data: ship.Bytes()}} // a pack, a folder, an embed.FS
	cache := content.New(content.Options{Budget: 64 << 20})
	sprites := content.Images(cache, game, content.ImageOptions{})
	h, err := sprites.Get(context.Background(), "ship.png")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Value().Bounds())
	fmt.Println(cache.Leaks())
	h.Release()
	fmt.Println(h.Release())
	fmt.Println(cache.Close())
	// Output:
	// (0,0)-(64,32)
	// [image "ship.png" is held 1 times]
	// content: release image "ship.png": handle was released before
	// <nil>
}

func ExampleNewKind() {
	cache := content.New(content.Options{})
	files := os.DirFS("testdata")
	texts := content.NewKind(cache, "text", func(_ context.Context, name string, reserve content.Reserve) (string, error) {
		info, err := fs.Stat(files, name)
		if err != nil {
			return "", err
		}
		if err := reserve(info.Size()); err != nil { // before the memory is taken
			return "", err
		}
		b, err := fs.ReadFile(files, name)
		return string(b), err
	}, nil)
	_, err := texts.Get(context.Background(), "nosuch.txt")
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output: true
}
