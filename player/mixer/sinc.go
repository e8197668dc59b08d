package mixer

import (
	"math"
	"sync"
)

// A filter is a low-pass for changing rates: a sinc under a Kaiser window, sampled at the fractions
// of an input frame at which output frames can lie, one row of the table each.
//
// Its transition band ends at half of the lower rate, so that nothing folds back, where that rate is
// below 42 kHz. Above, it lies astride of it, from 20 kHz to its mirror image: what folds back
// stays above 20 kHz, where nobody hears it, and the filter needs half the taps.
type filter struct {
	up, down int       // the ratio, in lowest terms
	taps     int       // of a row, a multiple of 8
	rows     int       // fractions of an input frame; fewer than up where they are interpolated
	table    []float32 // rows+1 rows
}

const (
	stopband    = 101   // dB
	passband    = 0.907 // of half the lower rate, where that is below 42 kHz: 10 kHz for 22,050
	audible     = 20000 // Hz
	fineRows    = 1024  // a filter as wide as the lower rate's period has so many, if interpolated
	mostTable   = 1 << 18
	mostFilters = 32
)

// Interpolating a row linearly from two that are d of a lower rate's period apart errs by d²/8 of
// the curvature, at most π²/3 of the peak: 4e-7 or -128 dB for fineRows.

// kaiser is the Kaiser window for attenuation a in dB: the half-width in periods of a signal of
// rate 1 that makes the transition band as narrow as width, and the shape β (Kaiser and Schafer,
// "On the use of the I0-sinh window for spectrum analysis", 1980, eqs. 4 and 5, for a > 50 dB).
func kaiser(a, width float64) (half, beta float64) {
	return (a - 7.95) / 14.36 / width / 2, 0.1102 * (a - 8.7)
}

// bessel is the modified Bessel function of order 0, by its power series.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > 1e-12*sum; k++ {
		f := x / (2 * k)
		term *= f * f
		sum += term
	}
	return sum
}

// windowSteps intervals of the window are enough: linear between them it errs by 2e-7 or -134 dB.
const windowSteps = 4096

// window is the Kaiser window for stopband.
var window = sync.OnceValue(func() []float64 { return kaiserWindow(stopband) })

// kaiserWindow is the Kaiser window for attenuation a in dB, by the square of the distance from its
// middle, from 0 to 1 in windowSteps, and one more entry so that the last interval needs no test.
func kaiserWindow(a float64) []float64 {
	_, beta := kaiser(a, 1)
	w := make([]float64, windowSteps+2)
	for i := range windowSteps + 1 {
		w[i] = bessel(beta*math.Sqrt(1-float64(i)/windowSteps)) / bessel(beta)
	}
	return w
}

// newFilter designs the filter from rate in to rate out.
func newFilter(in, out int) *filter {
	low := float64(min(in, out))
	pass, stop := passband*low/2, low/2
	if (low-2*audible)/low > (stop-pass)/low {
		pass, stop = audible, low-audible
	}
	half, _ := kaiser(stopband, (stop-pass)/low)
	half *= float64(in) / low // from now on in input frames
	g := gcd(in, out)
	f := &filter{up: out / g, down: in / g, taps: 2 * int(math.Ceil(half))}
	f.taps = (f.taps + 7) &^ 7
	f.rows = f.up
	if (f.up+1)*f.taps > mostTable {
		f.rows = int(math.Ceil(fineRows * low / float64(in)))
	}
	f.table = make([]float32, (f.rows+1)*f.taps)
	f.fill((pass+stop)/float64(in), half, window())
	return f
}

// fill computes the table: rows of the sinc with cut-off c, in halves of the input rate, under the
// window w of so many input frames to either side, each scaled to sum to 1, so that a constant stays one. The filter is even, so the second half of the rows is
// the first backwards.
func (f *filter) fill(c, half float64, w []float64) {
	row := make([]float64, f.taps)
	for r := 0; r <= f.rows/2; r++ {
		sum := 0.0
		for k := range row {
			u := float64(k-f.taps/2+1) - float64(r)/float64(f.rows)
			row[k] = 0
			if x := u * u / (half * half) * windowSteps; x < windowSteps {
				i := int(x)
				row[k] = sinc(c*u) * (w[i] + (x-float64(i))*(w[i+1]-w[i]))
			}
			sum += row[k]
		}
		a, b := f.row(r), f.row(f.rows-r)
		for k := range row {
			x := float32(row[k] / sum)
			a[k], b[f.taps-1-k] = x, x
		}
	}
}

func (f *filter) row(r int) []float32 { return f.table[r*f.taps : (r+1)*f.taps] }

// sinc is sin(πx)/(πx).
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// filters are shared between all resamplers of a ratio.
var filters struct {
	mu   sync.Mutex // guards what follows
	made map[[2]int]*filter
}

// filterFor returns the filter from rate in to rate out. It keeps a few: a game has two or three
// rates, and files that lie about theirs must not fill the memory.
func filterFor(in, out int) *filter {
	filters.mu.Lock()
	defer filters.mu.Unlock()
	key := [2]int{in, out}
	f := filters.made[key]
	if f == nil {
		if len(filters.made) >= mostFilters || filters.made == nil {
			filters.made = map[[2]int]*filter{}
		}
		f = newFilter(in, out)
		filters.made[key] = f
	}
	return f
}
