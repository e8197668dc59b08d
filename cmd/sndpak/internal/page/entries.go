package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/sndpak/sndpak/cmd/sndpak/internal/picture"
	"github.com/sndpak/sndpak/cmd/sndpak/internal/waveform"
	"github.com/sndpak/sndpak/player/decode"
	"github.com/sndpak/sndpak/soundpack"
)

// listed is an entry in the list. What is not known is left out.
type listed struct {
	Index    int       `json:"index"`
	Name     string    `json:"name"`
	Size     int64     `json:"size"`
	Format   string    `json:"format,omitempty"`
	Encoding string    `json:"encoding,omitempty"`
	Rate     int       `json:"rate,omitempty"`
	Channels int       `json:"channels,omitempty"`
	Frames   int64     `json:"frames,omitempty"`
	Loop     *[2]int64 `json:"loop,omitempty"`
	Error    string    `json:"error,omitempty"`
}

// list is the pack and all of its entries.
func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	p := s.pack.Load()
	data, err := s.kept(r.Context(), fmt.Sprintf("list %d", p.generation), func(ctx context.Context) ([]byte, error) {
		all := make([]listed, 0, p.Len())
		for e := range p.Entries() {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			all = append(all, look(p, e))
		}
		if err := p.Err(); err != nil {
			s.log(err)
		}
		output := ""
		if s.Player != nil {
			output = s.Player.Output()
		}
		return json.Marshal(map[string]any{
			"pack": p.Path(), "layout": p.Layout(), "size": p.DataSize(), "generation": p.generation,
			"write": s.WriteLoop != nil, "output": output, "entries": all,
		})
	})
	if err != nil {
		return err
	}
	return sendData(w, "application/json", data)
}

// look is what the manifest knows of an entry, or else what opening it tells.
func look(p *shelf, e soundpack.Entry) listed {
	l := listed{Index: e.Index, Name: strings.ToValidUTF8(e.Name, "\ufffd"), Size: e.Size}
	if f, ok := p.Facts(e); ok && f.Format != "" && f.Frames > 0 && f.Frames/8192 <= e.Size && f.Rate > 0 && f.Channels > 0 && f.Channels <= 8 {
		l.Format, l.Encoding, l.Rate, l.Channels, l.Frames = f.Format, f.Encoding, f.Rate, f.Channels, f.Frames
		if f.Loop[1] > f.Loop[0] {
			l.Loop = &f.Loop
		}
		return l
	}
	if p.Size(e) != e.Size {
		l.Error = "JSON" // a table, which has to be made into it to be opened
		return l
	}
	s, close, err := open(p, e)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	defer close()
	l.Frames = int64(s.Len())
	in := s.Info()
	l.Format, l.Encoding, l.Rate, l.Channels = in.Format, in.Encoding, in.Rate, in.Channels
	if len(in.Loops) > 0 {
		l.Loop = &[2]int64{in.Loops[0].Start, in.Loops[0].End}
	}
	return l
}

// open opens an entry as a sound; close lets go of it.
func open(p *shelf, e soundpack.Entry) (s *decode.Stream, close func(), err error) {
	f, err := p.OpenEntry(e)
	if err != nil {
		return nil, nil, err
	}
	s, err = decode.Open(f, f.Size(), nil)
	if err != nil {
		f.Close()
		return nil, nil, statusError{http.StatusUnprocessableEntity, err}
	}
	return s, func() { s.Close(); f.Close() }, nil
}

// kinds are what formats are served as; nothing else ever is, whatever an entry holds.
var kinds = map[string]string{"vorbis": "audio/ogg", "mp3": "audio/mpeg", "wav": "audio/wav"}

const octets = "application/octet-stream"

// bytes serves an entry as it is, or a range of it.
func (s *Server) bytes(w http.ResponseWriter, r *http.Request, p *shelf, e soundpack.Entry) error {
	f, err := p.OpenEntry(e)
	if err != nil {
		return err
	}
	defer f.Close()
	kind := octets
	if d, err := decode.Open(f, f.Size(), nil); err == nil {
		if k := kinds[d.Info().Format]; k != "" {
			kind = k
		}
		d.Close()
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	if kind == octets {
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
		h.Set("Content-Disposition", attachment(e.Name))
	}
	h.Set("ETag", etag(p, e, ""))
	return content(w, r, f)
}

// attachment has a browser save what it must not show.
func attachment(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if v := mime.FormatMediaType("attachment", map[string]string{"filename": name}); v != "" {
		return v
	}
	return "attachment"
}

// etag changes whenever the bytes do.
func etag(p *shelf, e soundpack.Entry, what string) string {
	return fmt.Sprintf("%q", identity(p, e)+what)
}

// identity is the same for the same bytes, as far as the manifest tells.
func identity(p *shelf, e soundpack.Entry) string {
	if crc, ok := p.Checksum(e); ok {
		return fmt.Sprintf("%08x-%d", crc, e.Size)
	}
	return fmt.Sprintf("g%d-%d-%d", p.generation, e.Index, e.Size)
}

// content serves what can seek. Its first bytes are read before anything is answered, so that data that
// cannot be read is an error and not half an answer.
func content(w http.ResponseWriter, r *http.Request, c io.ReadSeeker) error {
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil && err != io.EOF {
		return err
	}
	http.ServeContent(w, r, "", time.Time{}, c)
	return nil
}

// wav serves an entry decoded to a WAV file of 16 bits, for browsers that cannot play what it is.
func (s *Server) wav(w http.ResponseWriter, r *http.Request, p *shelf, e soundpack.Entry) error {
	select {
	case s.wavs <- struct{}{}:
		defer func() { <-s.wavs }()
	default:
		return statusError{http.StatusServiceUnavailable, errors.New("too many sounds are decoded already")}
	}
	d, close, err := open(p, e)
	if err != nil {
		return err
	}
	defer close()
	c, err := newWAVFile(r.Context(), d)
	if err != nil {
		return statusError{http.StatusUnprocessableEntity, err}
	}
	w.Header().Set("Content-Type", "audio/wav")
	w.Header().Set("ETag", etag(p, e, "-wav"))
	return content(w, r, c)
}

// kept is what make returns, remembered. At most so many run at once as there are workers.
func (s *Server) kept(ctx context.Context, key string, make func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	if data, ok := s.cache.get(key); ok {
		return data, nil
	}
	select {
	case s.work <- struct{}{}:
		defer func() { <-s.work }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if data, ok := s.cache.get(key); ok { // made while we waited
		return data, nil
	}
	data, err := make(ctx)
	if err == nil {
		s.cache.put(key, data)
	}
	return data, err
}

// columns is how many a waveform and a spectrogram have; the page draws them as wide as it is.
const columns = 1000

// band is one channel of a waveform, in hundredths of full scale.
type band struct {
	Min  []int `json:"min"`
	Max  []int `json:"max"`
	RMS  []int `json:"rms"`
	Clip []int `json:"clip"` // columns that are clipped
}

// peaks is the waveform of an entry.
func (s *Server) peaks(w http.ResponseWriter, r *http.Request, p *shelf, e soundpack.Entry) error {
	data, err := s.kept(r.Context(), "peaks "+identity(p, e), func(ctx context.Context) ([]byte, error) {
		d, close, err := open(p, e)
		if err != nil {
			return nil, err
		}
		defer close()
		m := waveform.NewPeaks(d.Info())
		if err := waveform.Read(ctx, d, nil, m); err != nil && (ctx.Err() != nil || m.Frames() == 0) {
			return nil, statusError{http.StatusUnprocessableEntity, err}
		}
		bands := []band{}
		for ch := range m.Channels() {
			bands = append(bands, bandOf(m.Columns(ch, 0, m.Frames(), columns)))
		}
		return json.Marshal(map[string]any{"frames": m.Frames(), "rate": d.Info().Rate, "channels": bands})
	})
	if err != nil {
		return err
	}
	return sendData(w, "application/json", data)
}

func bandOf(list []waveform.Column) band {
	b := band{Clip: []int{}}
	for i, c := range list {
		b.Min = append(b.Min, percent(c.Min))
		b.Max = append(b.Max, percent(c.Max))
		b.RMS = append(b.RMS, percent(c.RMS))
		if c.Clipped {
			b.Clip = append(b.Clip, i)
		}
	}
	return b
}

func percent(v float32) int { return int(math.Round(float64(min(max(v, -1), 1)) * 100)) }

// spectrogram is a picture without scales.
func (s *Server) spectrogram(w http.ResponseWriter, r *http.Request, p *shelf, e soundpack.Entry) error {
	data, err := s.kept(r.Context(), "spectrogram "+identity(p, e), func(ctx context.Context) ([]byte, error) {
		d, close, err := open(p, e)
		if err != nil {
			return nil, err
		}
		defer close()
		style, wanted := picture.Style{Width: columns, Height: 180, Bare: true}, []picture.Kind{picture.Spectrogram}
		m, err := picture.Measure(ctx, d, wanted, style, nil)
		if err != nil {
			return nil, statusError{http.StatusUnprocessableEntity, err}
		}
		var b bytes.Buffer
		err = png.Encode(&b, m.Image(wanted, style))
		return b.Bytes(), err
	})
	if err != nil {
		return err
	}
	return sendData(w, "image/png", data)
}

// verdict is what lint said of a pack.
type verdict struct {
	generation int
	report     any
}

// lint judges the pack, once.
func (s *Server) lint(w http.ResponseWriter, r *http.Request) error {
	if s.Lint == nil {
		return statusError{http.StatusNotFound, errors.New("not found")}
	}
	s.judging.Lock()
	defer s.judging.Unlock()
	p := s.pack.Load()
	if s.judged == nil || s.judged.generation != p.generation {
		report, err := s.Lint(r.Context(), p.Pack)
		if err != nil {
			return err
		}
		s.judged = &verdict{p.generation, report}
	}
	return sendJSON(w, s.judged.report)
}

// writeLoop writes loop points into the pack.
func (s *Server) writeLoop(w http.ResponseWriter, r *http.Request, p *shelf, e soundpack.Entry) error {
	var body struct {
		Generation int   `json:"generation"`
		Start      int64 `json:"start"`
		End        int64 `json:"end"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if now := s.pack.Load(); body.Generation != now.generation || p != now {
		return statusError{http.StatusConflict, errors.New("the pack has changed: look again")}
	}
	d := look(p, e)
	if d.Error != "" {
		return statusError{http.StatusUnprocessableEntity, errors.New(d.Error)}
	}
	if (body.Start != 0 || body.End != 0) && (body.Start < 0 || body.Start >= body.End || body.End > d.Frames) {
		return statusError{http.StatusBadRequest, fmt.Errorf("a loop from %d to %d of %d frames", body.Start, body.End, d.Frames)}
	}
	newer, err := s.WriteLoop(r.Context(), p.Pack, e, body.Start, body.End)
	if err != nil {
		return err
	}
	s.swap(newer)
	return sendJSON(w, map[string]int{"generation": s.pack.Load().generation})
}
