package output

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// autoWait bounds what auto takes in all.
const autoWait = 6 * time.Second

// openAuto opens the first of the candidates that can be had, else null with one warning. It never
// fails: a program that is to make a sound should run on a machine that cannot.
func openAuto(c Config, from []candidate) Device {
	ctx, cancel := context.WithTimeout(context.Background(), autoWait)
	defer cancel()
	var why []string
	for _, k := range from {
		d, err := k.openOrTry(ctx, c)
		if err == nil {
			return d
		}
		why = append(why, reason(k.name, err))
	}
	c.warn(fmt.Errorf("output: %w, so nothing will be heard: %s", ErrUnavailable, strings.Join(why, "; ")))
	return newNull(c)
}

// reason says in short why a candidate failed: the warning that it becomes a part of has said the
// rest.
func reason(name string, err error) string {
	s := strings.TrimPrefix(err.Error(), "output: ")
	s = strings.TrimPrefix(s, name+": ")
	if errors.Is(err, ErrUnavailable) {
		s = strings.TrimPrefix(s, ErrUnavailable.Error()+": ")
	}
	return name + ": " + strings.Join(strings.Fields(s), " ")
}
