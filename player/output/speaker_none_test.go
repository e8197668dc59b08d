//go:build !windows && !darwin && !(alsa && cgo)

package output

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

var leakOptions []goleak.Option

func TestSpeakerNotInBuild(t *testing.T) {
	d, err := Open("speaker", Config{})
	if d != nil || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "tag alsa") {
		t.Errorf("got %v, %v", d, err)
	}
	checkOneLine(t, err)
}
