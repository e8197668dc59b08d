package waveform

import (
	"math"

	"github.com/sndpak/sndpak/player/decode"
)

// Spectrum measures a spectrogram: Hann windows over both sides in one, each column being the loudest
// of the windows that it has. The columns lie evenly over a length that must be known beforehand
// (decode.Stream.Len).
type Spectrum struct {
	rate    int
	frames  int64
	size    int // of a window, in frames
	columns [][]float64
	hop     float64 // frames from one window to the next
	each    int     // windows of a column
	next    int     // window that is to come

	fold   func(block []float32) []float32
	ring   []float64 // the last size samples, the oldest at at%size
	at     int64     // samples so far
	window []float64
	input  []float64
	power  []float64
	fft    *fft
}

// mostWindows is how many windows there are in one column at the most: of a sound so long that they
// would lie further apart, parts are passed over.
const mostWindows = 8

// NewSpectrum returns a Spectrum of n columns of a sound of so many frames.
func NewSpectrum(in decode.Info, frames int64, n int) *Spectrum {
	size := 4096
	if in.Rate < 32000 {
		size = 2048
	}
	for size > 256 && int64(size) > frames/4 { // a short sound shows when, and less what
		size /= 2
	}
	s := &Spectrum{rate: in.Rate, frames: frames, size: size, fold: in.Fold(), columns: make([][]float64, n)}
	s.each = int(min(max(2*frames/int64(n)/int64(size), 1), mostWindows))
	s.hop = float64(frames) / float64(n*s.each)
	s.ring, s.input = make([]float64, size), make([]float64, size)
	s.power, s.fft = make([]float64, size/2+1), newFFT(size)
	s.window = make([]float64, size)
	for i := range s.window { // so that a tone at full scale comes out as 1
		s.window[i] = (1 - math.Cos(2*math.Pi*float64(i)/float64(size))) / float64(size) * 2
	}
	s.at = -int64(size) / 2
	return s
}

// Add implements Sink.
func (s *Spectrum) Add(block []float32) {
	block = s.fold(block)
	for i := 0; i+1 < len(block); i += 2 {
		s.put((float64(block[i]) + float64(block[i+1])) / 2)
	}
}

// put takes one sample, and a window where one is centred half a window ago.
func (s *Spectrum) put(v float64) {
	half := int64(s.size) / 2
	s.ring[(s.at+half)%int64(s.size)] = v
	s.at++
	for s.next < len(s.columns)*s.each && int64((float64(s.next)+0.5)*s.hop) <= s.at {
		s.measure()
		s.next++
	}
}

// measure is the window that ends here.
func (s *Spectrum) measure() {
	from := int((s.at + int64(s.size)/2) % int64(s.size))
	for i := range s.input {
		s.input[i] = s.ring[(from+i)%s.size] * s.window[i]
	}
	s.fft.power(s.power, s.input)
	c := s.next / s.each
	if s.columns[c] == nil {
		s.columns[c] = make([]float64, len(s.power))
	}
	for i, p := range s.power {
		s.columns[c][i] = max(s.columns[c][i], p)
	}
}

// Columns are the powers of each column, of bins that lie evenly from 0 to Top; 1 is a tone at full
// scale. Ask behind the end.
func (s *Spectrum) Columns() [][]float64 {
	for s.next < len(s.columns)*s.each && s.at < s.frames+int64(s.size) {
		s.put(0)
	}
	for i := range s.columns {
		if s.columns[i] == nil { // the sound ended before its time
			s.columns[i] = make([]float64, len(s.power))
		}
	}
	return s.columns
}

// Top is the frequency of the last bin in Hz.
func (s *Spectrum) Top() float64 { return float64(s.rate) / 2 }
