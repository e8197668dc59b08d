//go:build windows || darwin

package output

import (
	"context"
	"fmt"
)

// openPulse is not for systems that have a speaker of their own.
func openPulse(context.Context, Config) (Device, error) {
	return nil, fmt.Errorf("output: pulse: %w: not on this system, try speaker", ErrUnavailable)
}
