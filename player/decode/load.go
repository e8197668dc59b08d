package decode

import (
	"fmt"
	"io"
)

// PCM is a sound in memory at its own rate: interleaved frames of one or two channels in exactly
// one of two widths.
type PCM struct {
	Rate     int
	Channels int
	S16      []int16   // the samples of the file, where Int16 was true and it has at most two channels
	F32      []float32 // else: full scale is 1 and -1
}

// Free gives the memory of the samples to sounds that are read later: memory that the process has
// already costs a copy, new memory several times that. Neither p nor anything that shares its samples
// may be used again.
func (p *PCM) Free() {
	spareS16.put(p.S16)
	spareF32.put(p.F32)
	*p = PCM{}
}

// Frames is the length.
func (p PCM) Frames() int64 { return int64(len(p.S16)+len(p.F32)) / int64(max(p.Channels, 1)) }

const (
	defaultBytes = 64 << 20 // ReadAll without a limit
	firstBytes   = 64 << 10 // what is allocated before anything is decoded, at least
	aheadRatio   = 10       // and at most, in terms of the bytes of the entry
)

// ReadAll decodes from the position to the end into memory, at most maxBytes of samples (0 = 64
// MiB); more is ErrLimit, found before anything is decoded where the length is known. The memory
// grows with what really came out, not with what the file claims. On an error the frames before it
// are returned too.
func (s *Stream) ReadAll(maxBytes int64) (PCM, error) {
	if maxBytes <= 0 {
		maxBytes = defaultBytes
	}
	p := PCM{Rate: s.rate, Channels: min(s.channels, 2)}
	var err error
	if s.Int16() && s.channels <= 2 {
		p.S16, err = readAll(s, 2, maxBytes, s.ReadInt16)
		return p, err
	}
	read := s.ReadFloat32
	if s.channels > 2 {
		read = s.ReadStereo
	}
	p.F32, err = readAll(s, 4, maxBytes, read)
	return p, err
}

// readAll collects what read gives, as samples of width bytes.
func readAll[T int16 | float32](s *Stream, width, maxBytes int64, read func([]T) (int, error)) ([]T, error) {
	ch := int64(min(s.channels, 2))
	most := maxBytes / (width * ch) // frames
	if s.frames >= 0 && s.frames-s.pos > most {
		return nil, fmt.Errorf("%w: %d frames decode to more than %d bytes", ErrLimit, s.frames-s.pos, maxBytes)
	}
	buf, fresh := room[T](ch * s.firstFrames(width*ch, most))
	n := int64(0)
	for {
		piece := buf[n:]
		if fresh {
			piece = faultIn(piece)
		}
		k, err := read(piece)
		if n += int64(k) * ch; err == nil && n == int64(len(buf)) {
			var one [2]T // to see whether there is more before memory for it is made
			if _, err = read(one[:ch]); err == nil {
				if n == most*ch {
					return buf, fmt.Errorf("%w: more than %d bytes of samples", ErrLimit, maxBytes)
				}
				buf, fresh = grow(buf, ch*min(most, s.nextFrames(n/ch)))
				n += int64(copy(buf[n:], one[:ch]))
			}
		}
		switch {
		case err == io.EOF:
			return trim(buf, n), nil
		case err != nil:
			return trim(buf, n), err
		}
	}
}

// nextFrames is the room to make where n frames were read and one more was found: twice as much,
// but not beyond the known end.
func (s *Stream) nextFrames(n int64) int64 {
	more := max(n, 1)
	if s.frames >= 0 {
		more = min(more, s.frames-s.pos+1)
	}
	return n + more
}

// firstFrames is how many frames of width bytes the first allocation is for.
func (s *Stream) firstFrames(width, most int64) int64 {
	if s.frames < 0 {
		return min(firstBytes/width, most)
	}
	left := s.frames - s.pos
	if e, ok := s.codec.(exactAlloc); ok && e.provenFrames() >= left {
		return left
	}
	return min(left, max(firstBytes, s.size*aheadRatio)/width)
}

// grow is buf with room for n samples, in new memory or in such as room tells.
func grow[T int16 | float32](buf []T, n int64) (more []T, fresh bool) {
	more, fresh = room[T](max(n, int64(len(buf))+1))
	copy(more, buf)
	sparesOf[T]().put(buf)
	return more, fresh
}

// trim gives back the memory behind n samples where that is much.
func trim[T int16 | float32](buf []T, n int64) []T {
	if int64(cap(buf))-n > n/8 {
		less := append([]T(nil), buf[:n]...)
		sparesOf[T]().put(buf)
		return less[:n:n]
	}
	return buf[:n:n]
}
