//go:build unix && !linux && !darwin

package storage

import "errors"

func space(string) (Space, error) { return Space{}, errors.ErrUnsupported }
