package decode

// A residue is what is left of the spectrum once the floor is taken off: partitions of vectors, in
// up to eight passes that come closer and closer (8).
type residue struct {
	kind       int
	begin, end int
	size       int // lines of a partition
	class      *codebook
	books      [][8]*codebook // by class and pass
	classes    []uint8        // of every partition, those of one channel behind those of another
}

// readResidue reads a residue out of the setup header (8.6.1).
func readResidue(b *vorbisBits, books []codebook) residue {
	x := residue{kind: int(b.read(16)), begin: int(b.read(24)), end: int(b.read(24)), size: int(b.read(24)) + 1}
	x.books = make([][8]*codebook, b.read(6)+1)
	x.class = &books[b.read(8)]
	cascade := make([]uint32, len(x.books))
	for i := range cascade {
		cascade[i] = b.read(3)
		if b.flag() {
			cascade[i] |= b.read(5) << 3
		}
	}
	for i, c := range cascade {
		for pass := range 8 {
			if c>>pass&1 != 0 {
				x.books[i][pass] = &books[b.read(8)]
			}
		}
	}
	return x
}

// decode adds the residue to the channels of out, all of the same length; silent tells which have
// none (8.6.2). Those of kind 2 are one interleaved channel, of which something is there where any
// channel has something (8.6.5).
func (x *residue) decode(r *vorbisReader, out [][]float32, silent []bool) {
	n, channels := len(out[0]), len(out)
	if x.kind == 2 {
		all := true
		for _, s := range silent {
			all = all && s
		}
		if all {
			return
		}
		n, channels, silent = n*channels, 1, nil
	}
	begin, end := min(x.begin, n), min(x.end, n)
	parts := (end - begin) / x.size
	if parts == 0 {
		return
	}
	if need := channels * parts; len(x.classes) < need {
		x.classes = make([]uint8, need)
	}
	x.passes(r, out, silent, begin, parts, channels)
}

// passes reads the classes of the partitions, as many at a time as a code has, and their vectors.
func (x *residue) passes(r *vorbisReader, out [][]float32, silent []bool, begin, parts, channels int) {
	for pass := range 8 {
		for first := 0; first < parts; first += x.class.dims {
			last := min(first+x.class.dims, parts)
			if pass == 0 {
				x.readClasses(r, silent, first, parts, channels)
			}
			for p := first; p < last; p++ {
				for c := range channels {
					if silent != nil && silent[c] {
						continue
					}
					if book := x.books[x.classes[c*parts+p]][pass]; book != nil {
						x.partition(r, book, out, c, begin+p*x.size)
					}
					if r.over {
						return
					}
				}
			}
		}
	}
}

// readClasses reads the classes of the partitions from first on, of each channel: the digits of a
// number, the highest first.
func (x *residue) readClasses(r *vorbisReader, silent []bool, first, parts, channels int) {
	n := x.class.dims
	for c := range channels {
		if silent != nil && silent[c] {
			continue
		}
		v := x.class.entry(r)
		for i := n - 1; i >= 0; i-- {
			if first+i < parts {
				x.classes[c*parts+first+i] = uint8(v % len(x.books))
			}
			v /= len(x.books)
		}
	}
}

// partition adds the vectors of one partition, which begins at a line of channel c.
func (x *residue) partition(r *vorbisReader, book *codebook, out [][]float32, c, at int) {
	dims := book.dims
	switch x.kind {
	case 0:
		addSpread(r, book, out[c][at:at+x.size])
	case 1:
		addVectors(r, book, out[c][at:at+x.size])
	default:
		if len(out) == 2 && dims&1 == 0 && at&1 == 0 {
			addPairs(r, book, out[0][at/2:(at+x.size)/2], out[1][at/2:(at+x.size)/2])
			return
		}
		for i := 0; i < x.size; i += dims {
			vector := book.vector(r)
			if r.over {
				return
			}
			for _, v := range vector {
				out[at%len(out)][at/len(out)] += v
				at++
			}
		}
	}
}

// vector reads a code and returns the vector that it stands for.
func (c *codebook) vector(r *vorbisReader) []float32 {
	at := c.entry(r) * c.dims
	return c.values[at : at+c.dims]
}

// addVectors adds vectors one behind the other (8.6.4).
func addVectors(r *vorbisReader, book *codebook, out []float32) {
	for len(out) > 0 {
		v := book.vector(r)
		if r.over {
			return
		}
		part := out[:len(v)]
		for i, x := range v {
			part[i] += x
		}
		out = out[len(v):]
	}
}

// addSpread adds vectors whose values lie as far apart as there are vectors (8.6.3).
func addSpread(r *vorbisReader, book *codebook, out []float32) {
	step := len(out) / book.dims
	for i := range step {
		v := book.vector(r)
		if r.over {
			return
		}
		for k, x := range v {
			out[i+k*step] += x
		}
	}
}

// addPairs adds vectors to two channels in turn.
func addPairs(r *vorbisReader, book *codebook, a, b []float32) {
	for len(a) > 0 {
		v := book.vector(r)
		if r.over {
			return
		}
		n := len(v) / 2
		pa, pb := a[:n], b[:n]
		for i := range pa {
			pa[i] += v[2*i]
			pb[i] += v[2*i+1]
		}
		a, b = a[n:], b[n:]
	}
}
