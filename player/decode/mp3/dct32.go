package mp3

import "math"

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
