package main

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sndpak/sndpak/soundpack/content"
)

// pictures are the file name extensions that promise a picture.
var pictures = []string{".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp"}

// picture adds what the header of a picture tells, and tells whether the file is one. A file that is called
// one and is none is damaged.
func (f *facts) picture(src *sounds, name string) (bool, error) {
	file, err := src.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	in, err := content.Inspect(file)
	if err != nil {
		if slices.Contains(pictures, strings.ToLower(path.Ext(filepath.ToSlash(name)))) {
			return false, damagedError{fmt.Errorf("%s: damaged: no picture by its first bytes", src.title(name))}
		}
		return false, nil
	}
	title := map[string]string{"png": "PNG", "jpeg": "JPEG", "gif": "GIF", "bmp": "BMP", "webp": "WebP"}[in.Format]
	f.add("format", in.Format, "%s", title)
	f.add("width", in.Width, "")
	f.add("height", in.Height, "")
	f.add("pixels", fmt.Sprintf("%dx%d", in.Width, in.Height), "%d x %d", in.Width, in.Height)
	return true, nil
}
