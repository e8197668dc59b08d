package console

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used so far, in all its threads.
func cpuTime() (time.Duration, bool) {
	var begun, ended, kernel, user syscall.Filetime
	self, err := syscall.GetCurrentProcess()
	if err == nil {
		err = syscall.GetProcessTimes(self, &begun, &ended, &kernel, &user)
	}
	// A Filetime of a duration counts 100 ns; its method Nanoseconds is for dates.
	ticks := func(f syscall.Filetime) time.Duration {
		return time.Duration(int64(f.HighDateTime)<<32+int64(f.LowDateTime)) * 100
	}
	return ticks(kernel) + ticks(user), err == nil
}
