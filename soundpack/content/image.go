package content

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"
)

// ImageOptions are the settings of a kind of pictures. The zero value is right.
type ImageOptions struct {
	// MaxPixels is the most that width times height may be, looked at before anything is decoded;
	// 0 = 64 Mi, which is 8192 x 8192.
	MaxPixels int64
	// MaxBytes is the most that a file may have; 0 = 64 MiB.
	MaxBytes int64
}

func (o ImageOptions) orDefault() ImageOptions {
	if o.MaxPixels <= 0 {
		o.MaxPixels = 64 << 20
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	return o
}

// Images is a kind whose keys are files of fsys: PNG, JPEG, GIF (the first picture of it), BMP and
// WebP (not animated), told by their content. The values are of the types that the standard library's
// decoders return, so a caller that wants one certain type draws the picture into it.
func Images(c *Cache, fsys fs.FS, o ImageOptions) *Kind[string, image.Image] {
	o = o.orDefault()
	return NewKind(c, "image", func(_ context.Context, name string, reserve Reserve) (image.Image, error) {
		b, err := readFile(fsys, name, o.MaxBytes)
		if err != nil {
			return nil, err
		}
		return decodeImage(b, o, reserve)
	}, nil)
}

// decodeImage takes the memory of a picture as its header tells it, decodes it, and sets right what
// was taken.
func decodeImage(b []byte, o ImageOptions, reserve Reserve) (image.Image, error) {
	d := codecOf(b)
	if d == nil {
		return nil, errNoImage
	}
	head, err := d.config(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	w, h := int64(head.Width), int64(head.Height)
	if w <= 0 || h <= 0 {
		return nil, fmt.Errorf("%w: %s of %d x %d pixels", ErrFormat, d.name, w, h)
	}
	if w > o.MaxPixels/h {
		return nil, fmt.Errorf("%w: %d x %d pixels, and %d is the most", ErrLimit, w, h, o.MaxPixels)
	}
	guess := w * h * pixelBytes(head.ColorModel)
	if err := reserve(guess); err != nil {
		return nil, err
	}
	m, err := d.decode(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return m, reserve(imageBytes(m) - guess)
}

// ImageInfo is what the header of a picture tells.
type ImageInfo struct {
	Format        string // "png", "jpeg", "gif", "bmp" or "webp"
	Width, Height int    // in pixels
}

var errNoImage = fmt.Errorf("%w: no PNG, JPEG, GIF, BMP or WebP", ErrFormat)

// maxHead is how much of a file is read for its header: a JPEG may have long comments in front of it.
const maxHead = 1 << 20

// Inspect reads the header of a picture. ErrFormat means that it is none.
func Inspect(r io.Reader) (ImageInfo, error) {
	r = io.LimitReader(r, maxHead)
	magic := make([]byte, magicBytes)
	n, err := io.ReadFull(r, magic)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return ImageInfo{}, fmt.Errorf("content: %w", err)
	}
	d := codecOf(magic[:n])
	if d == nil {
		return ImageInfo{}, fmt.Errorf("content: %w", errNoImage)
	}
	c, err := d.config(io.MultiReader(bytes.NewReader(magic[:n]), r))
	if err != nil {
		return ImageInfo{}, fmt.Errorf("content: %w: %w", ErrFormat, err)
	}
	return ImageInfo{d.name, c.Width, c.Height}, nil
}

// A codec is one format of pictures.
type codec struct {
	name   string
	magic  string // ? is any byte
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

// magicBytes is the length of the longest magic.
const magicBytes = 15

var codecs = []codec{
	{"png", "\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
	{"jpeg", "\xff\xd8", jpeg.DecodeConfig, jpeg.Decode},
	{"gif", "GIF8?a", gif.DecodeConfig, gif.Decode},
	{"bmp", "BM????\x00\x00\x00\x00", bmp.DecodeConfig, bmp.Decode},
	{"webp", "RIFF????WEBPVP8", webp.DecodeConfig, webp.Decode},
}

// codecOf finds the format of a file by its first bytes; nil if it is none of them.
func codecOf(b []byte) *codec {
	for i := range codecs {
		if codecs[i].matches(b) {
			return &codecs[i]
		}
	}
	return nil
}

func (d *codec) matches(b []byte) bool {
	if len(b) < len(d.magic) {
		return false
	}
	for i := range len(d.magic) {
		if c := d.magic[i]; c != '?' && c != b[i] {
			return false
		}
	}
	return true
}

// pixelBytes is how many bytes a pixel takes while it is decoded. Colours that the decoders keep
// subsampled are counted as if they were not, and JPEGs have coefficients beside their pixels.
func pixelBytes(m color.Model) int64 {
	switch m {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	if _, ok := m.(color.Palette); ok {
		return 1
	}
	return 4
}

// imageBytes is what a picture of the standard library's types takes.
func imageBytes(m image.Image) int64 {
	switch m := m.(type) {
	case *image.Gray:
		return int64(cap(m.Pix))
	case *image.Gray16:
		return int64(cap(m.Pix))
	case *image.Paletted:
		return int64(cap(m.Pix)) + 16*int64(len(m.Palette))
	case *image.RGBA:
		return int64(cap(m.Pix))
	case *image.NRGBA:
		return int64(cap(m.Pix))
	case *image.RGBA64:
		return int64(cap(m.Pix))
	case *image.NRGBA64:
		return int64(cap(m.Pix))
	case *image.CMYK:
		return int64(cap(m.Pix))
	case *image.YCbCr:
		return int64(cap(m.Y) + cap(m.Cb) + cap(m.Cr))
	case *image.NYCbCrA:
		return int64(cap(m.Y) + cap(m.Cb) + cap(m.Cr) + cap(m.A))
	}
	b := m.Bounds()
	return 8 * int64(b.Dx()) * int64(b.Dy())
}
