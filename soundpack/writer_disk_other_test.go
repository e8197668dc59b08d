//go:build !linux

package soundpack

import "errors"

func limitFiles(uint64) error { return errors.ErrUnsupported }
