package mp3

import "math"

// The inverse modified cosine transforms (ISO/IEC 11172-3, 2.4.3.4, "IMDCT"):
//
//	x[i] = sum over k of X[k] cos(pi/2n (2i + 1 + n/2) (2k + 1)),  i below n, k below n/2
//
// with n = 36 for long blocks and 12 for short ones, and the windows. The n outputs are n/2 values
//
//	y[m] = sum over k of X[k] cos(pi/2n (2m + 1) (2k + 1))
//
// used twice: x[i] is y[i+n/4] in the first quarter, -y[3n/4-1-i] in the two in the middle and
// -y[i-3n/4] in the last. Multiplied with twice cos(pi/2n (2m+1)), the sum becomes one over cosines
// of whole multiples,
//
//	2 cos(pi/2n (2m + 1)) y[m] = sum over k of (X[k] + X[k-1]) cos(pi/n (2m + 1) k)
//
// whose even terms are such a sum of half the length, and whose odd terms the same trick makes one.
// The division comes free: it is in the window.

// windows are the four windows by block_type, for even and for odd subbands. In them are the sine
// windows of 2.4.3.4, the division of imdctLong, the signs of the four quarters, and the frequency
// inversion, that is a change of sign of every other sample of odd subbands. That of short blocks is
// in shortWindow.
var windows [4][2][2 * subbandLines]float32

// shortWindow is the window of the three short blocks, without the frequency inversion.
var shortWindow [12]float32

func buildWindows() {
	for kind := range windows {
		for i := range 2 * subbandLines {
			v := windowAt(kind, i) * quarterSign(i, 36) / (2 * math.Cos(math.Pi/72*float64(2*foldIndex(i, 36)+1)))
			windows[kind][0][i] = float32(v)
			windows[kind][1][i] = float32(v * float64(1-2*(i&1)))
		}
	}
	for i := range shortWindow {
		v := math.Sin(math.Pi/12*(float64(i)+.5)) * quarterSign(i, 12) / (2 * math.Cos(math.Pi/24*float64(2*foldIndex(i, 12)+1)))
		shortWindow[i] = float32(v)
	}
}

// windowAt is the window of a long block by block_type.
func windowAt(kind, i int) float64 {
	long := math.Sin(math.Pi / 36 * (float64(i) + .5))
	switch {
	case kind == blockStop && i < 18, kind == blockStart && i >= 18:
		if kind == blockStop {
			i = 35 - i // the two are mirror images
		}
		switch {
		case i < 24:
			return 1
		case i < 30:
			return math.Sin(math.Pi / 12 * (float64(i-18) + .5))
		}
		return 0
	}
	return long
}

// foldIndex tells which y becomes x[i] of a transform of n outputs, quarterSign with which sign.
func foldIndex(i, n int) int {
	switch {
	case i < n/4:
		return i + n/4
	case i < 3*n/4:
		return 3*n/4 - 1 - i
	}
	return i - 3*n/4
}

func quarterSign(i, n int) float64 {
	if i < n/4 {
		return 1
	}
	return -1
}

// imdctLong transforms the lines of subband sb with a window, adds the tail of the block before and
// leaves its own.
func imdctLong(x *[subbandLines]float32, win *[2 * subbandLines]float32, tail *[subbandLines]float32, sb int, out *slots) {
	for k := subbandLines - 1; k > 0; k-- {
		x[k] += x[k-1]
	}
	for k := subbandLines - 1; k > 1; k -= 2 {
		x[k] += x[k-2]
	}
	even := cosines9(x[0], x[2], x[4], x[6], x[8], x[10], x[12], x[14], x[16])
	odd := cosines9(x[1], x[3], x[5], x[7], x[9], x[11], x[13], x[15], x[17])
	var y [subbandLines]float32
	for m := range 9 {
		o := odd[m] * halfSecants[m]
		y[m], y[17-m] = even[m]+o, even[m]-o
	}
	for i := range 9 {
		out[i][sb] = tail[i] + y[9+i]*win[i]
		out[9+i][sb] = tail[9+i] + y[17-i]*win[9+i]
		tail[i] = y[8-i] * win[18+i]
		tail[9+i] = y[i] * win[27+i]
	}
}

// halfSecants are 1 / (2 cos(pi/36 (2m + 1))).
var halfSecants = [9]float32{
	0.5019099188, 0.5176380902, 0.5516889595, 0.6103872943, 0.7071067812,
	0.8717233978, 1.1831007915, 1.9318516526, 5.7368566123,
}

// Cosines of multiples of ten degrees.
const (
	cos10 = 0.984807753012208
	cos20 = 0.939692620785908
	cos30 = 0.866025403784439
	cos40 = 0.766044443118978
	cos50 = 0.642787609686539
	cos70 = 0.342020143325669
	cos80 = 0.173648177666930
)

// cosines9 returns the sums over k of z[k] cos(pi/18 (2m + 1) k), m below 9. Terms of even k are the
// same for m and 8-m, those of odd k have the other sign.
func cosines9(z0, z1, z2, z3, z4, z5, z6, z7, z8 float32) [9]float32 {
	a, b := z0+z6*0.5, z0-z6
	c, d := z2-z4-z8, z1-z5-z7
	e0 := z2*cos20 + z4*cos40 + z8*cos80
	e2 := z8*cos40 - z2*cos80 - z4*cos20
	p0, p1, p2, p3, p4 := a+e0, b+c*0.5, a+e2, a-e0-e2, b-c

	f := z3 * cos30
	o2 := z1*cos50 - z5*cos70 + z7*cos10
	o3 := z1*cos70 + z5*cos10 - z7*cos50
	q0, q1, q2, q3 := o2+o3+f, d*cos30, o2-f, o3-f
	return [9]float32{p0 + q0, p1 + q1, p2 + q2, p3 + q3, p4, p3 - q3, p2 - q2, p1 - q1, p0 - q0}
}

// imdctShort transforms the three short blocks of subband sb, which lie one after another in the
// middle of the long block's place, each shifted by 6: their lines are interleaved.
func imdctShort(x *[subbandLines]float32, tail *[subbandLines]float32, sb int, out *slots) {
	var sum [2 * subbandLines]float32
	for w := range 3 {
		y := cosines6(x[w], x[3+w], x[6+w], x[9+w], x[12+w], x[15+w])
		s := (*[12]float32)(sum[6+6*w:])
		for i := range 3 {
			s[i] += y[3+i] * shortWindow[i]
			s[3+i] += y[5-i] * shortWindow[3+i]
			s[6+i] += y[2-i] * shortWindow[6+i]
			s[9+i] += y[i] * shortWindow[9+i]
		}
	}
	sign := float32(1 - 2*(sb&1))
	for i := 0; i < subbandLines; i += 2 {
		out[i][sb] = tail[i] + sum[i]
		out[i+1][sb] = tail[i+1] + sum[i+1]*sign
		tail[i] = sum[18+i]
		tail[i+1] = sum[19+i] * sign
	}
}

// cosines6 returns 2 cos(pi/24 (2m + 1)) y[m] of a short block.
func cosines6(x0, x1, x2, x3, x4, x5 float32) [6]float32 {
	x5 += x4
	x4 += x3
	x3 += x2
	x2 += x1
	x1 += x0
	x5 += x3
	x3 += x1
	a, b := x0+x4*0.5, x2*cos30
	p0, p1, p2 := a+b, x0-x4, a-b
	a, b = x1+x5*0.5, x3*cos30
	const s0, s1, s2 = 0.517638090205041, 0.707106781186547, 1.931851652578137 // 1 / (2 cos(pi/12 (2m+1)))
	q0, q1, q2 := (a+b)*s0, (x1-x5)*s1, (a-b)*s2
	return [6]float32{p0 + q0, p1 + q1, p2 + q2, p2 - q2, p1 - q1, p0 - q0}
}
