//go:build !purego

package mixer

// dotMono is plainMono, bit for bit, in a third of the time.
func dotMono(c, x []float32) float32 {
	n := min(len(c), len(x)) / 8
	if n == 0 {
		return 0
	}
	var s [4]float32
	sumMono(&c[0], &x[0], n, &s)
	return s[0] + s[1] + s[2] + s[3]
}

// dotStereo is plainStereo, bit for bit, in a third of the time.
func dotStereo(c, x []float32) (left, right float32) {
	n := min(len(c)/8, len(x)/16)
	if n == 0 {
		return 0, 0
	}
	var s [8]float32
	sumStereo(&c[0], &x[0], n, &s)
	return s[0] + s[2] + s[4] + s[6], s[1] + s[3] + s[5] + s[7]
}

// sumMono adds n blocks of eight products c[k]·x[k] to four sums: the k-th to the one of k modulo 4.
//
//go:noescape
func sumMono(c, x *float32, n int, s *[4]float32)

// sumStereo adds n blocks of eight products of c[k] with either side of the k-th frame of x to four sums a
// side, which lie like frames in s.
//
//go:noescape
func sumStereo(c, x *float32, n int, s *[8]float32)
