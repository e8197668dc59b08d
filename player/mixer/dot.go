package mixer

// The sums that changing the rate consists of, in plain Go. Where there are others (dot_amd64.s) they give
// the same bits: the same four sums a side, added up in the same order.

// plainMono is the sum of c[k]·x[k]; len(c) is a multiple of 8. Four sums run side by side, for an
// addition takes four times as long as it keeps the adder busy.
func plainMono(c, x []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(c) >= 8 && len(x) >= 8 {
		k, y := (*[8]float32)(c), (*[8]float32)(x)
		s0 += float32(k[0] * y[0])
		s1 += float32(k[1] * y[1])
		s2 += float32(k[2] * y[2])
		s3 += float32(k[3] * y[3])
		s0 += float32(k[4] * y[4])
		s1 += float32(k[5] * y[5])
		s2 += float32(k[6] * y[6])
		s3 += float32(k[7] * y[7])
		c, x = c[8:], x[8:]
	}
	return s0 + s1 + s2 + s3
}

// plainStereo is plainMono of either side of interleaved frames x.
func plainStereo(c, x []float32) (left, right float32) {
	var l0, l1, l2, l3, r0, r1, r2, r3 float32
	for len(c) >= 8 && len(x) >= 16 {
		k, y := (*[8]float32)(c), (*[16]float32)(x)
		l0 += float32(k[0] * y[0])
		r0 += float32(k[0] * y[1])
		l1 += float32(k[1] * y[2])
		r1 += float32(k[1] * y[3])
		l2 += float32(k[2] * y[4])
		r2 += float32(k[2] * y[5])
		l3 += float32(k[3] * y[6])
		r3 += float32(k[3] * y[7])
		l0 += float32(k[4] * y[8])
		r0 += float32(k[4] * y[9])
		l1 += float32(k[5] * y[10])
		r1 += float32(k[5] * y[11])
		l2 += float32(k[6] * y[12])
		r2 += float32(k[6] * y[13])
		l3 += float32(k[7] * y[14])
		r3 += float32(k[7] * y[15])
		c, x = c[8:], x[16:]
	}
	return l0 + l1 + l2 + l3, r0 + r1 + r2 + r3
}
