package mixer

// The inner loops. Each adds one voice to the accumulator, and is compiled once for int16 and once
// for float32. They are unrolled by four through array pointers, which leaves one bounds check for
// four frames; that is worth a third of their time.
//
// Every product is rounded to float32 by a conversion before it is added. Without it the compiler
// may fuse the two on some machines (Go specification, "Floating-point operators"), and the same
// mix would differ in its last bit between them.

// frame is one stereo frame, or one gain for either side.
type frame = [2]float32

// sample is what a sound is stored in. Gains for int16 carry the factor of scale16.
type sample interface{ int16 | float32 }

// scale16 takes int16 to [-1, 1). It is a power of two, so gain 1 loses nothing.
const scale16 = 1.0 / 32768

// scaled is both sides times one factor.
func scaled(f frame, by float32) frame { return frame{f[0] * by, f[1] * by} }

func addMono[S sample](dst []frame, src []S, g frame) {
	l, r := g[0], g[1]
	for len(dst) >= 4 && len(src) >= 4 {
		d, s := (*[4]frame)(dst), (*[4]S)(src)
		a, b, c, e := float32(s[0]), float32(s[1]), float32(s[2]), float32(s[3])
		d[0][0] += float32(a * l)
		d[0][1] += float32(a * r)
		d[1][0] += float32(b * l)
		d[1][1] += float32(b * r)
		d[2][0] += float32(c * l)
		d[2][1] += float32(c * r)
		d[3][0] += float32(e * l)
		d[3][1] += float32(e * r)
		dst, src = dst[4:], src[4:]
	}
	src = src[:len(dst)]
	for i := range dst {
		dst[i][0] += float32(float32(src[i]) * l)
		dst[i][1] += float32(float32(src[i]) * r)
	}
}

func addStereo[S sample](dst []frame, src []S, g frame) {
	l, r := g[0], g[1]
	for len(dst) >= 4 && len(src) >= 8 {
		d, s := (*[4]frame)(dst), (*[8]S)(src)
		d[0][0] += float32(float32(s[0]) * l)
		d[0][1] += float32(float32(s[1]) * r)
		d[1][0] += float32(float32(s[2]) * l)
		d[1][1] += float32(float32(s[3]) * r)
		d[2][0] += float32(float32(s[4]) * l)
		d[2][1] += float32(float32(s[5]) * r)
		d[3][0] += float32(float32(s[6]) * l)
		d[3][1] += float32(float32(s[7]) * r)
		dst, src = dst[4:], src[8:]
	}
	src = src[:2*len(dst)]
	for i := range dst {
		dst[i][0] += float32(float32(src[2*i]) * l)
		dst[i][1] += float32(float32(src[2*i+1]) * r)
	}
}

// The ramps: the gain of frame i is from + by*w[i].

func rampMono[S sample](dst []frame, src []S, w []float32, from, by frame) {
	l, r, dl, dr := from[0], from[1], by[0], by[1]
	for len(dst) >= 4 && len(src) >= 4 && len(w) >= 4 {
		d, s, k := (*[4]frame)(dst), (*[4]S)(src), (*[4]float32)(w)
		a, b, c, e := float32(s[0]), float32(s[1]), float32(s[2]), float32(s[3])
		d[0][0] += float32(a * (l + float32(dl*k[0])))
		d[0][1] += float32(a * (r + float32(dr*k[0])))
		d[1][0] += float32(b * (l + float32(dl*k[1])))
		d[1][1] += float32(b * (r + float32(dr*k[1])))
		d[2][0] += float32(c * (l + float32(dl*k[2])))
		d[2][1] += float32(c * (r + float32(dr*k[2])))
		d[3][0] += float32(e * (l + float32(dl*k[3])))
		d[3][1] += float32(e * (r + float32(dr*k[3])))
		dst, src, w = dst[4:], src[4:], w[4:]
	}
	src, w = src[:len(dst)], w[:len(dst)]
	for i := range dst {
		dst[i][0] += float32(float32(src[i]) * (l + float32(dl*w[i])))
		dst[i][1] += float32(float32(src[i]) * (r + float32(dr*w[i])))
	}
}

func rampStereo[S sample](dst []frame, src []S, w []float32, from, by frame) {
	l, r, dl, dr := from[0], from[1], by[0], by[1]
	for len(dst) >= 4 && len(src) >= 8 && len(w) >= 4 {
		d, s, k := (*[4]frame)(dst), (*[8]S)(src), (*[4]float32)(w)
		d[0][0] += float32(float32(s[0]) * (l + float32(dl*k[0])))
		d[0][1] += float32(float32(s[1]) * (r + float32(dr*k[0])))
		d[1][0] += float32(float32(s[2]) * (l + float32(dl*k[1])))
		d[1][1] += float32(float32(s[3]) * (r + float32(dr*k[1])))
		d[2][0] += float32(float32(s[4]) * (l + float32(dl*k[2])))
		d[2][1] += float32(float32(s[5]) * (r + float32(dr*k[2])))
		d[3][0] += float32(float32(s[6]) * (l + float32(dl*k[3])))
		d[3][1] += float32(float32(s[7]) * (r + float32(dr*k[3])))
		dst, src, w = dst[4:], src[8:], w[4:]
	}
	src, w = src[:2*len(dst)], w[:len(dst)]
	for i := range dst {
		dst[i][0] += float32(float32(src[2*i]) * (l + float32(dl*w[i])))
		dst[i][1] += float32(float32(src[2*i+1]) * (r + float32(dr*w[i])))
	}
}

// The curves: frame i has a gain of its own. They serve the few milliseconds in which more than one
// thing moves, and long fades, so they are kept plain.

func curveMono[S sample](dst []frame, src []S, g []frame) {
	src, g = src[:len(dst)], g[:len(dst)]
	for i := range dst {
		dst[i][0] += float32(float32(src[i]) * g[i][0])
		dst[i][1] += float32(float32(src[i]) * g[i][1])
	}
}

func curveStereo[S sample](dst []frame, src []S, g []frame) {
	src, g = src[:2*len(dst)], g[:len(dst)]
	for i := range dst {
		dst[i][0] += float32(float32(src[2*i]) * g[i][0])
		dst[i][1] += float32(float32(src[2*i+1]) * g[i][1])
	}
}
