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

// The same for two voices: p's frame is added first, then q's.

func addMono2[S sample](dst []frame, p, q []S, g, h frame) {
	l, r, m, s := g[0], g[1], h[0], h[1]
	p, q = p[:len(dst)], q[:len(dst)]
	i := 0
	for ; i < len(dst)-1; i += 2 {
		a, b := float32(p[i]), float32(q[i])
		dst[i][0] = dst[i][0] + float32(a*l) + float32(b*m)
		dst[i][1] = dst[i][1] + float32(a*r) + float32(b*s)
		a, b = float32(p[i+1]), float32(q[i+1])
		dst[i+1][0] = dst[i+1][0] + float32(a*l) + float32(b*m)
		dst[i+1][1] = dst[i+1][1] + float32(a*r) + float32(b*s)
	}
	for ; i < len(dst); i++ {
		a, b := float32(p[i]), float32(q[i])
		dst[i][0] = dst[i][0] + float32(a*l) + float32(b*m)
		dst[i][1] = dst[i][1] + float32(a*r) + float32(b*s)
	}
}

func addStereo2[S sample](dst []frame, p, q []S, g, h frame) {
	l, r, m, s := g[0], g[1], h[0], h[1]
	for len(dst) >= 4 && len(p) >= 8 && len(q) >= 8 {
		d, a, b := (*[4]frame)(dst), (*[8]S)(p), (*[8]S)(q)
		d[0][0] = d[0][0] + float32(float32(a[0])*l) + float32(float32(b[0])*m)
		d[0][1] = d[0][1] + float32(float32(a[1])*r) + float32(float32(b[1])*s)
		d[1][0] = d[1][0] + float32(float32(a[2])*l) + float32(float32(b[2])*m)
		d[1][1] = d[1][1] + float32(float32(a[3])*r) + float32(float32(b[3])*s)
		d[2][0] = d[2][0] + float32(float32(a[4])*l) + float32(float32(b[4])*m)
		d[2][1] = d[2][1] + float32(float32(a[5])*r) + float32(float32(b[5])*s)
		d[3][0] = d[3][0] + float32(float32(a[6])*l) + float32(float32(b[6])*m)
		d[3][1] = d[3][1] + float32(float32(a[7])*r) + float32(float32(b[7])*s)
		dst, p, q = dst[4:], p[8:], q[8:]
	}
	p, q = p[:2*len(dst)], q[:2*len(dst)]
	for i := range dst {
		dst[i][0] = dst[i][0] + float32(float32(p[2*i])*l) + float32(float32(q[2*i])*m)
		dst[i][1] = dst[i][1] + float32(float32(p[2*i+1])*r) + float32(float32(q[2*i+1])*s)
	}
}

// A ramp of two takes blocks of 32, or the bounds checks eat what the pair saves.

func rampMono2[S sample](dst []frame, p, q []S, w []float32, from, by, from2, by2 frame) {
	l, r, dl, dr := from[0], from[1], by[0], by[1]
	m, s, dm, ds := from2[0], from2[1], by2[0], by2[1]
	for len(dst) >= 32 && len(p) >= 32 && len(q) >= 32 && len(w) >= 32 {
		d, x, y, k := (*[32]frame)(dst), (*[32]S)(p), (*[32]S)(q), (*[32]float32)(w)
		for i := 0; i <= 30; i += 2 {
			a, b := float32(x[i]), float32(y[i])
			d[i][0] = d[i][0] + float32(a*(l+float32(dl*k[i]))) + float32(b*(m+float32(dm*k[i])))
			d[i][1] = d[i][1] + float32(a*(r+float32(dr*k[i]))) + float32(b*(s+float32(ds*k[i])))
			a, b = float32(x[i+1]), float32(y[i+1])
			d[i+1][0] = d[i+1][0] + float32(a*(l+float32(dl*k[i+1]))) + float32(b*(m+float32(dm*k[i+1])))
			d[i+1][1] = d[i+1][1] + float32(a*(r+float32(dr*k[i+1]))) + float32(b*(s+float32(ds*k[i+1])))
		}
		dst, p, q, w = dst[32:], p[32:], q[32:], w[32:]
	}
	p, q, w = p[:len(dst)], q[:len(dst)], w[:len(dst)]
	for i := range dst {
		a, b, k := float32(p[i]), float32(q[i]), w[i]
		dst[i][0] = dst[i][0] + float32(a*(l+float32(dl*k))) + float32(b*(m+float32(dm*k)))
		dst[i][1] = dst[i][1] + float32(a*(r+float32(dr*k))) + float32(b*(s+float32(ds*k)))
	}
}

func rampStereo2[S sample](dst []frame, p, q []S, w []float32, from, by, from2, by2 frame) {
	l, r, dl, dr := from[0], from[1], by[0], by[1]
	m, s, dm, ds := from2[0], from2[1], by2[0], by2[1]
	for len(dst) >= 2 && len(p) >= 4 && len(q) >= 4 && len(w) >= 2 {
		d, x, y, k := (*[2]frame)(dst), (*[4]S)(p), (*[4]S)(q), (*[2]float32)(w)
		d[0][0] = d[0][0] + float32(float32(x[0])*(l+float32(dl*k[0]))) + float32(float32(y[0])*(m+float32(dm*k[0])))
		d[0][1] = d[0][1] + float32(float32(x[1])*(r+float32(dr*k[0]))) + float32(float32(y[1])*(s+float32(ds*k[0])))
		d[1][0] = d[1][0] + float32(float32(x[2])*(l+float32(dl*k[1]))) + float32(float32(y[2])*(m+float32(dm*k[1])))
		d[1][1] = d[1][1] + float32(float32(x[3])*(r+float32(dr*k[1]))) + float32(float32(y[3])*(s+float32(ds*k[1])))
		dst, p, q, w = dst[2:], p[4:], q[4:], w[2:]
	}
	p, q, w = p[:2*len(dst)], q[:2*len(dst)], w[:len(dst)]
	for i := range dst {
		dst[i][0] = dst[i][0] + float32(float32(p[2*i])*(l+float32(dl*w[i]))) + float32(float32(q[2*i])*(m+float32(dm*w[i])))
		dst[i][1] = dst[i][1] + float32(float32(p[2*i+1])*(r+float32(dr*w[i]))) + float32(float32(q[2*i+1])*(s+float32(ds*w[i])))
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
