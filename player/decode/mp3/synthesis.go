package mp3

import "math"

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

// The sums over cosines of the synthesis filter bank, by the recursion of B. G. Lee ("A new algorithm
// to compute the discrete cosine transform", 1984). With n values s[k] and
//
//	x[m] = sum over k of cos(pi/2n m (2k + 1)) s[k]
//
// the even x are the same sum over the n/2 values s[k] + s[n-1-k], and the odd ones x[2m+1] are
// y[m] + y[m+1], where y is the same sum over (s[k] - s[n-1-k]) / (2 cos(pi/2n (2k + 1))), y[n/2] = 0.

// The divisors of the first two steps; those of the last three are constants of dct8.
var (
	lee32 = leeFactors[[16]float32](32)
	lee16 = leeFactors[[8]float32](16)
)

func leeFactors[T [16]float32 | [8]float32](n int) (f T) {
	for k := range len(f) {
		f[k] = float32(1 / (2 * math.Cos(math.Pi/float64(2*n)*float64(2*k+1))))
	}
	return f
}

// dct32 computes the 32 sums x over the values of s. What it hands to the steps of the recursion is
// named after their turns: even-odd are the odd sums of the even ones.
func dct32(s, x *[subbands]float32) {
	var even, odd [16]float32
	for k := range 16 {
		even[k] = s[k] + s[31-k]
		odd[k] = (s[k] - s[31-k]) * lee32[k]
	}
	// The ninth value of each is y[n/2].
	var evenEven, evenOdd, oddEven, oddOdd [9]float32
	for k := range 8 {
		evenEven[k] = even[k] + even[15-k]
		evenOdd[k] = (even[k] - even[15-k]) * lee16[k]
		oddEven[k] = odd[k] + odd[15-k]
		oddOdd[k] = (odd[k] - odd[15-k]) * lee16[k]
	}
	dct8(&evenEven)
	dct8(&evenOdd)
	dct8(&oddEven)
	dct8(&oddOdd)
	for k := range 8 {
		odd := oddOdd[k] + oddOdd[k+1]
		x[4*k] = evenEven[k]
		x[4*k+1] = oddEven[k] + odd
		x[4*k+2] = evenOdd[k] + evenOdd[k+1]
		x[4*k+3] = odd + oddEven[k+1]
	}
}

// 1 / (2 cos) of pi/16, 3 pi/16, 5 pi/16 and 7 pi/16; of pi/8 and 3 pi/8; of pi/4.
const (
	lee8a, lee8b, lee8c, lee8d = 0.5097955791041592, 0.6013448869350453, 0.8999762231364156, 2.5629154477415055
	lee4a, lee4b               = 0.541196100146197, 1.3065629648763764
	lee2a                      = 0.7071067811865476
)

// dct8 does the last three steps on the first eight values of x.
func dct8(x *[9]float32) {
	a0, a1, a2, a3 := x[0]+x[7], x[1]+x[6], x[2]+x[5], x[3]+x[4]
	b0, b1, b2, b3 := (x[0]-x[7])*lee8a, (x[1]-x[6])*lee8b, (x[2]-x[5])*lee8c, (x[3]-x[4])*lee8d

	c0, c1, d0, d1 := a0+a3, a1+a2, (a0-a3)*lee4a, (a1-a2)*lee4b
	d2 := (d0 - d1) * lee2a
	x[0], x[2], x[4], x[6] = c0+c1, d0+d1+d2, (c0-c1)*lee2a, d2

	c0, c1, d0, d1 = b0+b3, b1+b2, (b0-b3)*lee4a, (b1-b2)*lee4b
	d2 = (d0 - d1) * lee2a
	y0, y1, y2, y3 := c0+c1, d0+d1+d2, (c0-c1)*lee2a, d2
	x[1], x[3], x[5], x[7] = y0+y1, y1+y2, y2+y3, y3
}

// halfD is the first half of the synthesis window D of ISO/IEC 11172-3, Annex B, table 3-B.3, and its
// middle, in units of 1/65536, of which all its values are whole multiples.
var halfD = [257]int32{
	0, -1, -1, -1, -1, -1, -1, -2, -2, -2, -2, -3, -3, -4, -4, -5,
	-5, -6, -7, -7, -8, -9, -10, -11, -13, -14, -16, -17, -19, -21, -24, -26,
	-29, -31, -35, -38, -41, -45, -49, -53, -58, -63, -68, -73, -79, -85, -91, -97,
	-104, -111, -117, -125, -132, -139, -147, -154, -161, -169, -176, -183, -190, -196, -202, -208,
	213, 218, 222, 225, 227, 228, 228, 227, 224, 221, 215, 208, 200, 189, 177, 163,
	146, 127, 106, 83, 57, 29, -2, -36, -72, -111, -153, -197, -244, -294, -347, -401,
	-459, -519, -581, -645, -711, -779, -848, -919, -991, -1064, -1137, -1210, -1283, -1356, -1428, -1498,
	-1567, -1634, -1698, -1759, -1817, -1870, -1919, -1962, -2001, -2032, -2057, -2075, -2085, -2087, -2080, -2063,
	2037, 2000, 1952, 1893, 1822, 1739, 1644, 1535, 1414, 1280, 1131, 970, 794, 605, 402, 185,
	-45, -288, -545, -814, -1095, -1388, -1692, -2006, -2330, -2663, -3004, -3351, -3705, -4063, -4425, -4788,
	-5153, -5517, -5879, -6237, -6589, -6935, -7271, -7597, -7910, -8209, -8491, -8755, -8998, -9219, -9416, -9585,
	-9727, -9838, -9916, -9959, -9966, -9935, -9863, -9750, -9592, -9389, -9139, -8840, -8492, -8092, -7640, -7134,
	6574, 5959, 5288, 4561, 3776, 2935, 2037, 1082, 70, -998, -2122, -3300, -4533, -5818, -7154, -8540,
	-9975, -11455, -12980, -14548, -16155, -17799, -19478, -21189, -22929, -24694, -26482, -28289, -30112, -31947, -33791, -35640,
	-37489, -39336, -41176, -43006, -44821, -46617, -48390, -50137, -51853, -53534, -55178, -56778, -58333, -59838, -61289, -62684,
	-64019, -65290, -66494, -67629, -68692, -69679, -70590, -71420, -72169, -72835, -73415, -73908, -74313, -74630, -74856, -74992,
	75038,
}

// windowD is the whole window: the other half is the first one mirrored, with the other sign save at
// the multiples of 64.
func windowD() (d [512]float32) {
	for i, v := range halfD {
		d[i] = float32(v) / 65536
		if i == 0 {
			continue
		}
		if i%64 != 0 {
			v = -v
		}
		d[512-i] = float32(v) / 65536
	}
	return d
}
