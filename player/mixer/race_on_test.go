//go:build race

package mixer

// underRace tells that the race detector is on, under which a million blocks take a minute.
const underRace = true
