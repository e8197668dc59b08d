package mixer

import (
	"fmt"
	"math"
)

// Gains are given in decibels of amplitude: 20·log10 of the factor. maxGain bounds them, together
// with sampleMax, so that no sum of voices overflows; what lies below minGain is silence.
const (
	maxGain = 60
	minGain = -180
)

// amplitude is the factor 10^(dB/20).
func amplitude(dB float64) (float32, error) {
	switch {
	case dB != dB || dB > maxGain:
		return 0, fmt.Errorf("%w: gain of %v dB; at most %d dB", ErrValue, dB, maxGain)
	case dB < minGain:
		return 0, nil
	}
	return float32(math.Exp(dB * (math.Ln10 / 20))), nil
}

// panLaw is the gain of either side at a pan of -1 (left) to 1 (right), constant in power:
//
//	left = √2·cos(π/4·(1+pan))    right = √2·sin(π/4·(1+pan))
//
// This is the sine-cosine law (Blumlein's; Web Audio API 1.1, "Panner equal power"), scaled to
// unity at the centre, so that a sound that is not panned comes out as it is stored; one panned hard
// is 3 dB louder on its side. The law's usual scale, -3 dB at the centre, would take that from every
// sound. A stereo sound has its sides weighted by the same law, as a balance.
func panLaw(pan float64) (frame, error) {
	if !(pan >= -1 && pan <= 1) {
		return frame{}, fmt.Errorf("%w: pan of %v; -1 to 1", ErrValue, pan)
	}
	switch pan {
	case 0:
		return frame{1, 1}, nil
	case -1:
		return frame{math.Sqrt2, 0}, nil
	case 1:
		return frame{0, math.Sqrt2}, nil
	}
	s, c := math.Sincos(math.Pi / 4 * (1 + pan))
	return frame{float32(math.Sqrt2 * c), float32(math.Sqrt2 * s)}, nil
}
