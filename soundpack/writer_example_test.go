package soundpack_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/sndpak/sndpak/soundpack"
)

func ExampleEdit() {
	path, done := makePack() // jaguar.wav and theme.ogg
	defer done()
	ctx := context.Background()
	w, err := soundpack.Edit(ctx, path, nil)
	if err != nil {
		log.Fatal(err) // ErrLocked: another process has it, and the text says which
	}
	defer w.Close()

	file := filepath.Join(filepath.Dir(path), "Theme.ogg")
	os.WriteFile(file, []byte("OggS, another theme"), 0o666)
	sources, err := soundpack.Sources([]string{file}, nil)
	if err != nil {
		log.Fatal(err)
	}
	err = w.Add(sources...)
	fmt.Println("there already:", errors.Is(err, fs.ErrExist))
	if err := w.Replace(sources...); err != nil {
		log.Fatal(err)
	}
	if _, err := w.Remove("jaguar.wav"); err != nil {
		log.Fatal(err)
	}
	if err := w.Commit(ctx); err != nil { // both, or neither
		log.Fatal(err)
	}
	before := w.DataSize()
	if err := w.Compact(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Len(), "entry; smaller:", w.DataSize() < before)
	// Output:
	// there already: true
	// 1 entry; smaller: true
}
