package soundpack_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/sndpak/sndpak/soundpack"
)

// makePack writes a small pack and returns the path of its data.
func makePack() (path string, done func()) {
	dir, err := os.MkdirTemp("", "soundpack")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, "music.data")
	sources, err := soundpack.SourcesFS(fstest.MapFS{
		"jaguar.wav": {Data: []byte("RIFF....WAVE")},
		"theme.ogg":  {Data: []byte("OggS")},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := soundpack.Create(context.Background(), path, sources, nil); err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

func ExampleOpen() {
	path, done := makePack()
	defer done()
	p, err := soundpack.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	f, err := p.Open("JAGUAR.WAV") // in any case
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	fmt.Println(string(b), err)
	_, err = p.Open("nosuch.wav")
	fmt.Println(err)
	// Output:
	// RIFF....WAVE <nil>
	// open nosuch.wav: no such entry in music.data
}

func ExamplePack_Entries() {
	path, done := makePack()
	defer done()
	p, err := soundpack.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	for e := range p.Entries() {
		fmt.Println(e.Index, e.Name, e.Offset, e.Size)
	}
	// Output:
	// 0 jaguar.wav 0 12
	// 1 theme.ogg 12 4
}

func ExampleCreate() {
	dir, err := os.MkdirTemp("", "soundpack")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	os.WriteFile(filepath.Join(dir, "jaguar.wav"), []byte("RIFF....WAVE"), 0o666)
	os.WriteFile(filepath.Join(dir, "Thumbs.db"), nil, 0o666)

	notice := func(path, text string) { fmt.Println(filepath.Base(path), text) }
	sources, err := soundpack.Sources([]string{dir}, notice)
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "music.data")
	err = soundpack.Create(context.Background(), path, sources, &soundpack.CreateOptions{Notice: notice})
	fmt.Println(err)
	err = soundpack.Create(context.Background(), path, sources, nil)
	fmt.Println(err != nil)
	// Output:
	// Thumbs.db skipped: left by an operating system
	// <nil>
	// true
}

func ExamplePack_Verify() {
	path, done := makePack()
	defer done()
	os.Truncate(path, 14) // half of theme.ogg, and all of the manifest
	p, err := soundpack.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	report, err := p.Verify(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report.Findings {
		fmt.Println(f.Severity, f)
	}
	// Output:
	// ERROR manifest: it is left aside, and full names and checksums with it: damaged: its 170 bytes at 0x10 reach past the end of the data (14 bytes)
	// ERROR bounds: "theme.ogg" (entry 1, at 0xc): damaged: its 4 bytes reach past the end of the data (14 bytes)
	// WARN gap: 2 bytes behind the last entry
}

func ExamplePack_Extract() {
	path, done := makePack()
	defer done()
	p, err := soundpack.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	dir := filepath.Join(filepath.Dir(path), "out")
	err = p.Extract(context.Background(), dir, []string{"theme.ogg"}, &soundpack.ExtractOptions{
		Written: func(e soundpack.Entry, path string) { fmt.Println(filepath.Base(path), e.Size) },
	})
	fmt.Println(err)
	// Output:
	// theme.ogg 4
	// <nil>
}
