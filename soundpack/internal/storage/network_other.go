//go:build !linux && !darwin

package storage

func networkOf(string) string { return "" }
