package decode

import (
	"bytes"
	"io"
	"testing"
)

// TestModel drives streams of every kind with random calls and compares each with a model: the
// frames in memory and a position.
func TestModel(t *testing.T) {
	for name, data := range oneOfEach(t) {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, data)
			r := seeded(t)
			for range 400 {
				m.step(r.IntN(8), r.IntN(m.frames+2)-1, 1+r.IntN(700))
			}
		})
	}
}

// model is what a stream should do.
type model struct {
	t      *testing.T
	s      *Stream
	native []float32
	stereo []float32
	shorts []int16
	ch     int
	frames int
	pos    int
}

func newModel(t *testing.T, data []byte) *model {
	m := &model{t: t, native: floats(t, openBytes(t, data)), s: openBytes(t, data)}
	m.ch = m.s.Info().Channels
	m.frames = len(m.native) / m.ch
	m.stereo = make([]float32, 2*m.frames)
	if n, err := openBytes(t, data).ReadStereo(m.stereo); n != m.frames || err != nil {
		t.Fatalf("stereo: %d frames of %d, %v", n, m.frames, err)
	}
	if s := openBytes(t, data); s.Int16() {
		m.shorts = shorts(t, s)
	}
	return m
}

// step does one call, of n frames or to frame p.
func (m *model) step(op, p, n int) {
	m.t.Helper()
	end := min(m.pos+n, m.frames)
	switch op {
	case 0, 1:
		m.seek(p)
		return
	case 2:
		buf := make([]float32, n*m.ch)
		m.took(m.s.ReadFloat32(buf))
		same(m.t, "ReadFloat32", buf[:(end-m.pos)*m.ch], m.native[m.pos*m.ch:end*m.ch])
	case 3:
		buf := make([]float32, 2*n)
		m.took(m.s.ReadStereo(buf))
		same(m.t, "ReadStereo", buf[:2*(end-m.pos)], m.stereo[2*m.pos:2*end])
	case 4:
		if m.shorts == nil {
			return
		}
		buf := make([]int16, n*m.ch)
		m.took(m.s.ReadInt16(buf))
		same(m.t, "ReadInt16", buf[:(end-m.pos)*m.ch], m.shorts[m.pos*m.ch:end*m.ch])
	case 5:
		m.stream(n, end)
	case 6:
		if m.s.Len() != m.frames || m.s.Position() != m.pos || m.s.Err() != nil {
			m.t.Fatalf("Len %d, position %d, Err %v; want %d, %d", m.s.Len(), m.s.Position(), m.s.Err(), m.frames, m.pos)
		}
		return
	case 7:
		m.s.Info()
		return
	}
	m.pos = end
}

func (m *model) seek(p int) {
	m.t.Helper()
	err := m.s.Seek(p)
	if ok := p >= 0 && p <= m.frames; ok != (err == nil) {
		m.t.Fatalf("Seek(%d) of %d: %v", p, m.frames, err)
	}
	if err == nil {
		m.pos = p
	}
}

// took checks what a read returned for the model's position; n is known to the caller.
func (m *model) took(frames int, err error) {
	m.t.Helper()
	if m.pos == m.frames {
		if frames != 0 || err != io.EOF {
			m.t.Fatalf("at the end: %d frames, %v", frames, err)
		}
		return
	}
	if err != nil || frames == 0 {
		m.t.Fatalf("at %d of %d: %d frames, %v", m.pos, m.frames, frames, err)
	}
}

func (m *model) stream(n, end int) {
	m.t.Helper()
	buf := make([][2]float64, n)
	k, ok := m.s.Stream(buf)
	if k != end-m.pos || ok != (k > 0) {
		m.t.Fatalf("Stream at %d of %d: %d, %t, want %d", m.pos, m.frames, k, ok, end-m.pos)
	}
	for i := range k {
		for side := range 2 {
			if want := float64(m.stereo[2*(m.pos+i)+side]); buf[i][side] != want {
				m.t.Fatalf("frame %d, side %d: %g, want %g", m.pos+i, side, buf[i][side], want)
			}
		}
	}
}

// TestWAVChunksInAnyOrder shuffles chunks, odd and even, with and without pad bytes before them.
func TestWAVChunksInAnyOrder(t *testing.T) {
	r := seeded(t)
	want := tone(2, 500)
	for range 300 {
		w := wavGood()
		list := []testChunk{{id: "fmt ", body: w.withOrder().format()}, {id: "data", body: w.data}, smpl([4]uint32{0, 5, 99, 2})}
		for range r.IntN(6) {
			id := []string{"LIST", "JUNK", "bext", "abcd", "note", "PAD "}[r.IntN(6)]
			list = append(list, testChunk{id: id, body: make([]byte, r.IntN(40))})
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		var b bytes.Buffer
		b.WriteString("RIFF\x00\x00\x00\x00WAVE")
		for _, c := range list {
			c.noPad = r.IntN(4) == 0
			c.write(&b, w.withOrder().order, false)
		}
		s := openBytes(t, b.Bytes())
		same(t, "samples", shorts(t, s), want)
		same(t, "loops", s.Info().Loops, []Loop{{5, 100, false, 2}})
	}
}
