// Package output holds the devices that play frames.
//
// [Open] names a device by a short text and opens it; nothing is heard yet. [Device.Start] hands
// over a [Fill], and from then on the device pulls interleaved stereo frames in its own time: the
// sound server's for pulse and speaker, the monotonic clock's for null, none at all for a WAV file,
// which takes frames as fast as they come. The sound is over when [Device.Done] closes, and
// [Device.Err] then says why: nil after a proper end or Close, or what was lost.
//
// The devices are
//
//	pulse       PulseAudio's native protocol, in pure Go; PipeWire answers it too. Not on windows, darwin.
//	speaker     the system's own: WASAPI or WinMM, Core Audio; ALSA on Linux with cgo and the tag alsa.
//	null        plays into nothing, in real time.
//	wav:FILE    16-bit PCM; wav24:FILE and wav32f:FILE hold 24-bit PCM and 32-bit float. FILE appears
//	            when it is complete, and - is the standard output.
//	auto        the first of pulse and speaker that can be had, else null with one warning.
//
// A device that goes away ends with [ErrLost] at once, or, with [Config.Reopen], is tried again
// while time goes on. Nothing here prints: what was survived is told to [Config.Warn].
//
// [CreateWAV] writes the same files without a device, block by block.
package output

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Errors that a caller can branch on. All others come from the operating system, wrapped.
var (
	ErrUnavailable = errors.New("device not available") // it is not there, or not in this build
	ErrLost        = errors.New("device lost")          // it went away while it was open
	ErrSpec        = errors.New("no such output")       // wrong usage: an unknown name, or a Config out of range
)

// Fill fills buf with interleaved stereo frames, full scale at -1 and 1, and returns how many frames
// it wrote. Fewer than len(buf)/2 is the end of the sound: the device plays out what it holds, then
// its Done closes. Fill is called by one goroutine at a time and does not block; buf is not to be
// kept.
type Fill func(buf []float32) (frames int)

// Config says what is wanted of a device. The zero value is right.
type Config struct {
	// Rate is in frames a second, 0 = 48000, at most 768000. A device may give another one: see
	// [Device.Rate].
	Rate int
	// Buffer is how much sound the device holds, 0 = 100 ms, at most 10 s; less than 5 ms counts as
	// 5 ms. It is the delay between a key and its sound, and also how late this process may be
	// before the sound breaks: on a loaded machine of two cores a goroutine is woken up to 55 ms
	// late. Take 200 ms where it must never break, and less than 50 ms only at that risk.
	Buffer time.Duration
	// Frames is Buffer for those who count in frames; 0 = as Buffer says, which must be 0 otherwise.
	// The default is 4800 at 48 kHz; see Buffer for why not the 512 that games like to ask for.
	Frames int
	// Name is shown by the sound server, "" = "sndpak".
	Name string
	// Reopen is for how long a device that went away is tried again, while fill goes on to be
	// called in real time and what it gives is thrown away. 0 = not at all.
	Reopen time.Duration
	// Warn is told of what was survived: a device lost, reopened, auto fallen back to null. It may
	// be called by any goroutine, one call at a time for each device; nil = nobody is told.
	Warn func(error)
}

// Device plays frames. All methods may be called by any goroutine.
//
// A device that can count the gaps it had to play, because frames came too late, also has a method
// Underruns() int64.
type Device interface {
	// Name is what the device is called in a specification: "pulse", "speaker", "null", "wav:FILE".
	Name() string
	// Rate is in frames a second.
	Rate() int
	// Start begins to pull from fill. It works once.
	Start(fill Fill) error
	// Pause holds the sound in the device, or lets it go on; time stands still in between. It works
	// before Start too.
	Pause(paused bool) error
	// Delay is what was pulled and is not yet heard. Two calls may differ by a few milliseconds more
	// or less than the time between them, since servers correct their estimates.
	Delay() time.Duration
	// Done closes after the end has been played out, on Close, or when the device is lost for good.
	Done() <-chan struct{}
	// Err says why Done closed: nil, or what was lost or could not be written.
	Err() error
	// Close ends the sound at once, what the device holds included, any number of times. It returns
	// when fill is not called any more and all goroutines are gone; called by fill itself, or while
	// a fill blocks that should not, it returns after a second without waiting for that. Its error
	// is that of completing a file.
	Close() error
}

// limits and defaults of a Config.
const (
	defaultRate   = 48000
	maxRate       = 768000 // PA_RATE_MAX, the most that a PulseAudio server takes
	defaultBuffer = 100 * time.Millisecond
	minBuffer     = 5 * time.Millisecond // below it the wake-ups cost more than the sound
	maxBuffer     = 10 * time.Second     // servers hold 4 MiB, 10.9 s at 48 kHz
	defaultName   = "sndpak"
	blockFrames   = 1024 // most frames asked of fill at a time; 21 ms at 48 kHz
)

// Open opens the device that spec names: "auto", "pulse", "speaker", "null", "wav:FILE" (also
// "wav24:FILE" and "wav32f:FILE"); "" is "auto". It takes a few seconds at most, and with auto it
// fails only on a wrong Config. A device given by name that cannot be opened is an error that wraps
// [ErrUnavailable].
func Open(spec string, c Config) (Device, error) {
	c, err := c.normal()
	if err != nil {
		return nil, err
	}
	kind, file, _ := strings.Cut(spec, ":")
	if _, ok := wavFormats[kind]; ok && file != "" {
		d, err := openWAV(file, kind, c)
		if err != nil {
			return nil, err // and not a nil pointer in a Device
		}
		return d, nil
	}
	switch spec {
	case "", "auto":
		return openAuto(c, candidates), nil
	case "null":
		return newNull(c), nil
	}
	for _, k := range candidates {
		if k.name == spec {
			return k.openOrTry(context.Background(), c)
		}
	}
	return nil, fmt.Errorf("output: %w: %q: there are auto, pulse, speaker, null and wav:FILE", ErrSpec, spec)
}

// opener opens a device of the system's. It gives up when ctx is done.
type opener func(ctx context.Context, c Config) (Device, error)

// candidate is a device that auto may choose.
type candidate struct {
	name string
	open opener
}

// candidates are in the order in which auto tries them. On Linux pulse comes first, because a sound
// server shares the card and an ALSA device need not.
var candidates = []candidate{{"pulse", openPulse}, {"speaker", openSpeaker}}

// openOrTry opens the device, and puts the wrapper around it that opens it again where c asks so.
func (k candidate) openOrTry(ctx context.Context, c Config) (Device, error) {
	d, err := k.open(ctx, c)
	if err != nil || c.Reopen == 0 {
		return d, err
	}
	return newReopener(d, k.open, c), nil
}

// normal returns c with its zeros replaced, or what is wrong with it.
func (c Config) normal() (Config, error) {
	if c.Rate == 0 {
		c.Rate = defaultRate
	}
	switch {
	case c.Rate < 0 || c.Rate > maxRate:
		return c, fmt.Errorf("output: %w: a rate of %d frames a second is not within 1 to %d", ErrSpec, c.Rate, maxRate)
	case c.Frames < 0 || c.Frames > maxRate*int(maxBuffer/time.Second):
		return c, fmt.Errorf("output: %w: a buffer of %d frames", ErrSpec, c.Frames)
	case c.Frames > 0 && c.Buffer != 0:
		return c, fmt.Errorf("output: %w: a buffer both of %v and of %d frames", ErrSpec, c.Buffer, c.Frames)
	case c.Frames > 0:
		c.Buffer, c.Frames = timeOf(int64(c.Frames), c.Rate), 0
	case c.Buffer == 0:
		c.Buffer = defaultBuffer
	}
	switch {
	case c.Buffer < 0 || c.Buffer > maxBuffer:
		return c, fmt.Errorf("output: %w: a buffer of %v is not within 0 to %v", ErrSpec, c.Buffer, maxBuffer)
	case c.Reopen < 0:
		return c, fmt.Errorf("output: %w: cannot reopen for %v", ErrSpec, c.Reopen)
	}
	c.Buffer = max(c.Buffer, minBuffer)
	c.Name = cleanName(c.Name)
	return c, nil
}

// cleanName makes a name fit for a sound server: UTF-8 without control characters, since a server
// refuses anything else, and short, since the protocol's client has 1 KiB for a whole request.
func cleanName(s string) string {
	const most = 100 // bytes
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "?") {
		if r < ' ' || r == 0x7F {
			r = ' '
		}
		if b.Len()+len(string(r)) > most {
			break
		}
		b.WriteRune(r)
	}
	if strings.TrimSpace(b.String()) == "" {
		return defaultName
	}
	return b.String()
}

// warn tells whoever wants to know.
func (c Config) warn(err error) {
	if c.Warn != nil {
		c.Warn(err)
	}
}

// depth is how many frames the device holds, at least one.
func (c Config) depth() int64 { return max(framesIn(c.Buffer, c.Rate), 1) }

// framesIn is how many whole frames fit into d. Seconds are counted apart: nanoseconds times the
// rate overflow after three hours.
func framesIn(d time.Duration, rate int) int64 {
	s, rest := d/time.Second, d%time.Second
	return int64(s)*int64(rate) + int64(rest)*int64(rate)/int64(time.Second)
}

// timeOf is how long n frames last, rounded up, so that after it n frames have passed.
func timeOf(n int64, rate int) time.Duration {
	r := int64(rate)
	s, rest := n/r, n%r
	return time.Duration(s)*time.Second + time.Duration((rest*int64(time.Second)+r-1)/r)
}

// encodeFloats appends samples as sound servers take them: 32-bit float, little-endian.
func encodeFloats(b []byte, samples []float32) []byte {
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
