package mp3

// The polyphase synthesis filter bank (ISO/IEC 11172-3, 2.4.3.2 and 2.4.3.4, figure A.2): each time
// slot of 32 subband samples becomes 32 samples of sound.
//
// The standard's matrixing makes 64 values V[i] = sum over k of cos(pi/64 (16 + i) (2k + 1)) S[k] of
// them. Those are the 32 values X[n] = sum over k of cos(pi/64 n (2k + 1)) S[k], of which each is
// used twice, with changes of sign:
//
//	V[i] = X[16+i]   for i below 16      V[16] = 0
//	V[i] = -X[48-i]  for i from 17 to 48
//	V[i] = -X[i-48]  for i from 49 on
//
// Only the X are kept, of 16 slots. Sample j of the newest slot is then, with the window D and X of
// the slot s before it as X(s),
//
//	out[j]    = sum over i below 8 of  D[64i+j]    X(2i)[16+j] - D[64i+32+j] X(2i+1)[16-j]
//	out[32-j] = sum over i below 8 of -D[64i+32-j] X(2i)[16+j] - D[64i+64-j] X(2i+1)[16-j]
//
// for j from 1 to 15; sample 0 is the first formula, and sample 16 has nothing of the even slots.

const (
	history = 16 // slots that a sample is made of
	// ring is twice that: each value is written twice, so that any 16 that follow one another lie
	// in one piece.
	ring = 2 * history
)

// synthesis is the state of one channel.
type synthesis struct {
	x  [subbands][ring]float32 // by n
	at int                     // where in the ring the newest slot is, below history
}

// synthesisWindow holds the factors of the formulas above with their signs, for j up to 16: four for
// each i.
var synthesisWindow [history + 1][4 * 8]float32

func buildSynthesis() {
	d := windowD()
	for j := range synthesisWindow {
		for i := range 8 {
			w := synthesisWindow[j][4*i:]
			w[0], w[1] = d[64*i+j], -d[64*i+32+j]
			w[2], w[3] = -d[64*i+32-j], -d[(64*i+64-j)%512]
		}
	}
}

// slot makes the samples of one time slot and writes them to out, stride apart.
func (s *synthesis) slot(in *[subbands]float32, out []float32, stride int) {
	s.at = (s.at - 1) & (history - 1)
	at := s.at
	var x [subbands]float32
	dct32(in, &x)
	for n, v := range x {
		s.x[n][at], s.x[n][at+history] = v, v
	}
	first := (*[history]float32)(s.x[16][at:])
	out[0], _ = windowed(&synthesisWindow[0], first, first)
	var zero [history]float32
	out[16*stride], _ = windowed(&synthesisWindow[16], &zero, (*[history]float32)(s.x[0][at:]))
	for j := 1; j < 16; j++ {
		above, below := (*[history]float32)(s.x[16+j][at:]), (*[history]float32)(s.x[16-j][at:])
		out[j*stride], out[(32-j)*stride] = windowed(&synthesisWindow[j], above, below)
	}
}

// windowed computes both formulas for one j. Written out, as two sums each of which no step waits for
// the other, it takes two thirds of the time of a loop.
func windowed(w *[4 * 8]float32, a, b *[history]float32) (lo, hi float32) {
	for i := range 8 {
		lo += w[4*i]*a[2*i] + w[4*i+1]*b[2*i+1]
		hi += w[4*i+2]*a[2*i] + w[4*i+3]*b[2*i+1]
	}
	return lo, hi
}
