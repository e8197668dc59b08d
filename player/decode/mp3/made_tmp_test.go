package mp3

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"
)

func tmpDecode(b []byte) ([]float32, int) {
	d, err := New(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		panic(err)
	}
	var out []float32
	buf := make([]float32, 4000)
	for {
		n, err := d.Read(buf)
		out = append(out, buf[:n*d.Channels()]...)
		if err != nil {
			return out, d.Channels()
		}
	}
}
func tmpSNR(ref []byte, out []float32) (float64, int) {
	var s, e float64
	first := -1
	for i := range min(len(out), len(ref)/4) {
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(ref[4*i:])))
		o := float64(out[i])
		s += v * v
		e += (v - o) * (v - o)
		if first < 0 && math.Abs(v-o) > 1e-4*math.Abs(v)+1e-4 {
			first = i
		}
	}
	return 10 * math.Log10(s/e), first
}
func TestTmpMade(t *testing.T) {
	for _, mod := range []string{"1","2","3","4"} {
		for i, k := range kinds {
			if i > 1 { break }
			k.noMixed = true
			tmpBT = int(mod[0]-'0')
			switch mod {
			case "nomixed":
				k.noMixed = true
			case "long":
				k.long = true
			case "longnores":
				k.long = true
				k.noReserve = true
			}
			m := makeStream(int64(i), k, 100)
			f := "/tmp/mp3work/made/x.mp3"
			os.WriteFile(f, m.out, 0644)
			ours, ch := tmpDecode(m.out)
			a, _ := exec.Command("/tmp/mp3work/m123", f).Output()
			b, _ := exec.Command("ffmpeg", "-v", "error", "-i", f, "-f", "f32le", "-").Output()
			s1, f1 := tmpSNR(a, ours)
			s2, f2 := tmpSNR(b, ours)
			fmt.Printf("%-10s %-20s len %d mpg123 %d: %.1f (%.3f) ffmpeg %d: %.1f (%.3f)\n", mod, k.name, len(ours), len(a)/4, s1, float64(f1)/float64(ch)/576, len(b)/4, s2, float64(f2)/float64(ch)/576)
		}
	}
}
