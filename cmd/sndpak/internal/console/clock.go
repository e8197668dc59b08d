package console

import (
	"fmt"
	"time"
)

// clock shows a time as 0:01.2, or 1:02:03 from an hour on.
func clock(d time.Duration) string {
	d = max(d, 0).Round(100 * time.Millisecond)
	m, s := int64(d/time.Minute), (d % time.Minute).Seconds()
	if m >= 60 {
		return fmt.Sprintf("%d:%02d:%02d", m/60, m%60, int(s))
	}
	return fmt.Sprintf("%d:%04.1f", m, s)
}

// size shows bytes for people.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
