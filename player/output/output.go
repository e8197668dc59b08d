// Package output holds the devices that play frames.
//
// CONTRACT SKETCH, to be filled in: names and signatures below are fixed, bodies are not there yet.
package output

/*
// Fill fills buf with interleaved stereo frames and returns how many frames it wrote. Fewer than
// len(buf)/2 is the end of the sound: the device plays out what it holds, then its Done closes.
// It is called from one goroutine of the device and does not block.
type Fill func(buf []float32) (frames int)

type Config struct {
	Rate    int           // frames a second asked for, 0 = 48000; the device may give another: see Device.Rate
	Buffer  time.Duration // how much the device holds, 0 = 100 ms
	Name    string        // shown by the sound server, "" = "sndpak"
	Reopen  time.Duration // a device that goes away is tried again for so long while time goes on (fill is called in real time), 0 = the end at once
	Warn    func(error)   // told of what was survived (lost, reopened, auto fell back to null); nil = nobody
}

type Device interface {
	Name() string               // "pulse", "speaker", "null", "wav:FILE"
	Rate() int
	Start(fill Fill) error      // once; begins to pull
	Pause(paused bool) error    // holds the sound in the device; time stands still
	Delay() time.Duration       // what was pulled and is not yet heard
	Done() <-chan struct{}      // closed after the end has been played out, on Close, or when the device is lost for good
	Err() error                 // why Done closed: nil, or what was lost
	Close() error               // at once; any goroutine, any number of times; leaves no goroutine behind
}

// Open opens the device that spec names: "auto", "pulse", "speaker", "null", "wav:FILE".
// "" is "auto".
func Open(spec string, c Config) (Device, error)

var (
	ErrUnavailable // the device is not there, or not in this build
	ErrLost        // the device went away
	ErrSpec        // no such output (wrong usage)
)
*/
