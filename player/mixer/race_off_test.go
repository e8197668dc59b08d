//go:build !race

package mixer

const underRace = false
