package console

import (
	"sync"
	"time"
)

// cpuMeter measures how much of one core this process takes, over half a second at the least.
type cpuMeter struct {
	mu    sync.Mutex // guards what follows
	begun bool
	used  time.Duration
	at    time.Time
	last  float64
}

func (m *cpuMeter) share() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	spent := now.Sub(m.at)
	if m.begun && spent < time.Second/2 {
		return m.last
	}
	used, ok := cpuTime()
	switch {
	case !ok:
		m.last = -1
	case m.begun:
		m.last = float64(used-m.used) / float64(spent)
	}
	m.begun, m.used, m.at = true, used, now
	return m.last
}
