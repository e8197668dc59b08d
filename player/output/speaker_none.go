//go:build !windows && !darwin && !(alsa && cgo)

package output

import (
	"context"
	"fmt"
)

// openSpeaker is left out where it would need a C compiler and the headers of ALSA, unless they are
// asked for by the build tag alsa.
func openSpeaker(context.Context, Config) (Device, error) {
	return nil, fmt.Errorf("output: speaker: %w: not in this build, which needs cgo and the tag alsa for it", ErrUnavailable)
}
