package console

import (
	"sync"
	"time"

	"github.com/sndpak/sndpak/player/tick"
)

// cpuMeter measures how much of one core this process takes, anew twice a second.
type cpuMeter struct {
	mu    sync.Mutex // guards what follows
	start time.Time
	clock *tick.Scheduler // nil until share is called first
	used  time.Duration
	at    time.Time
	last  float64
}

// begin starts the clock. A process that was not asked for long is measured once for all of the time.
func (m *cpuMeter) begin() {
	m.start = time.Now()
	m.clock = tick.New(tick.Config{Second: int64(time.Second), CatchUp: int64(time.Second / 2)})
	rate, err := m.clock.Add("cpu", tick.Hz(2))
	if err == nil {
		m.clock.Subscribe(rate, func(tick.Tick) { m.measure() })
	}
	m.measure()
}

func (m *cpuMeter) measure() {
	now := time.Now()
	spent := now.Sub(m.at)
	used, ok := cpuTime()
	switch {
	case !ok:
		m.last = -1
	case m.at.IsZero():
	case spent < time.Second/10: // two ticks at once: there is nothing to see between them
		return
	default:
		m.last = float64(used-m.used) / float64(spent)
	}
	m.used, m.at = used, now
}

func (m *cpuMeter) share() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clock == nil {
		m.begin()
	}
	m.clock.Frame(int64(time.Since(m.start)))
	return m.last
}
