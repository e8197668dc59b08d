package main

import (
	"fmt"

	"github.com/sndpak/sndpak/soundpack/content"
)

// picture adds what the header of a picture tells, and tells whether the file is one.
func (f *facts) picture(src *sounds, name string) bool {
	file, err := src.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	in, err := content.Inspect(file)
	if err != nil {
		return false
	}
	title := map[string]string{"png": "PNG", "jpeg": "JPEG", "gif": "GIF", "bmp": "BMP", "webp": "WebP"}[in.Format]
	f.add("format", in.Format, "%s", title)
	f.add("width", in.Width, "")
	f.add("height", in.Height, "")
	f.add("pixels", fmt.Sprintf("%dx%d", in.Width, in.Height), "%d x %d", in.Width, in.Height)
	return true
}
