package mp3

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestTmpVectors(t *testing.T) {
	buildTables()
	files, _ := filepath.Glob("/work/shared/vectors/mp3/*.bit")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		pcm, _ := os.ReadFile(f[:len(f)-3] + "pcm")
		var d frameDecoder
		var out []float32
		p := 0
		if string(b[:3]) == "ID3" {
			p = 10 + int(b[6])<<21 + int(b[7])<<14 + int(b[8])<<7 + int(b[9])
		}
		var buf [2304]float32
		for p+4 <= len(b) {
			h := headerOf(b[p:])
			n := h.size(0)
			if p+n > len(b) {
				break
			}
			fr := b[p : p+n]
			p += n
			if !d.side.parse(h, fr[h.sideStart():h.mainStart()]) || d.side.mainBits(h) > 8*(n-h.mainStart()+d.side.mainDataBegin) {
				d.reset()
				continue
			}
			if d.side.mainDataBegin > d.mainLen {
				d.keep(h, fr)
				continue
			}
			d.decode(h, fr, buf[:])
			out = append(out, buf[:h.frames()*h.channels()]...)
		}
		var s, e float64
		m := 0.
		for i := range min(len(out), len(pcm)/2) {
			v := float64(int16(binary.LittleEndian.Uint16(pcm[2*i:])))
			o := math.RoundToEven(float64(out[i]) * 32768)
			o = max(-32768, min(32767, o))
			s += v * v
			e += (v - o) * (v - o)
			m = max(m, math.Abs(v-o))
		}
		t.Logf("%s: %d want %d SNR %.1f max %v", filepath.Base(f), len(out), len(pcm)/2, 10*math.Log10(s/e), m)
	}
}
