package decode

import (
	"math/bits"
	"sync"
)

// spares is the memory of sounds that were freed, by size. The collector empties it, so that a
// process which loads nothing any more does not keep it.
type spares[T int16 | float32] [classes]sync.Pool

var (
	spareS16 spares[int16]
	spareF32 spares[float32]
)

func sparesOf[T int16 | float32]() *spares[T] {
	var s any = &spareS16
	if same, ok := s.(*spares[T]); ok {
		return same
	}
	s = &spareF32
	return s.(*spares[T])
}

const (
	classes    = 64 * classSteps
	classSteps = 8       // classes from one power of two to the next
	leastSpare = 1 << 14 // samples: less than 32 KiB is small for the allocator too, and soon had
)

// class is where memory for n > 0 samples belongs: all in a class differ by less than an eighth.
func class(n int) int {
	top := bits.Len(uint(n)) - 1
	return top*classSteps + int(uint64(n)<<(63-top)>>60&(classSteps-1))
}

// put keeps buf for a later get. Nobody else may hold it.
func (s *spares[T]) put(buf []T) {
	if n := cap(buf); n >= leastSpare {
		s[class(n)].Put(&buf)
	}
}

// get is memory of n samples, which hold anything, or nil where there is none that is an eighth larger
// at most.
func (s *spares[T]) get(n int) []T {
	if n < leastSpare {
		return nil
	}
	most := n + n/8
	for c := class(n); c <= class(most); c++ {
		buf, _ := s[c].Get().(*[]T)
		switch {
		case buf == nil:
		case cap(*buf) >= n && cap(*buf) <= most:
			return (*buf)[:n]
		default:
			s[c].Put(buf)
		}
	}
	return nil
}

// room is memory for n samples, which hold anything. It is fresh where the system may not have backed
// it yet, and is to be had with faultIn then.
func room[T int16 | float32](n int64) (buf []T, fresh bool) {
	if buf = sparesOf[T]().get(int(n)); buf != nil {
		return buf, false
	}
	buf = uncleared[T](int(n))
	hugePages(bytesOf(buf))
	return buf, true
}

// faultIn is the next piece of buf to read into, backed with memory: small enough to be in the cache
// still when the samples come in, after the kernel has cleared it.
func faultIn[T int16 | float32](buf []T) []T {
	const piece = 256 << 10
	buf = buf[:min(len(buf), piece/width[T]())]
	prefault(bytesOf(buf))
	return buf
}

// bytesOf is the memory of buf, or nil where there is no such view of it.
func bytesOf[T int16 | float32](buf []T) []byte {
	if b, ok := any(buf).([]int16); ok {
		return int16Bytes(b)
	}
	return float32Bytes(any(buf).([]float32))
}

// width is the bytes of a sample.
func width[T int16 | float32]() int {
	if _, ok := any(T(0)).(int16); ok {
		return 2
	}
	return 4
}
