package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/sndpak/sndpak/player/output"
	"github.com/spf13/cobra"
)

func newDoctor() *cobra.Command {
	var out outputFlags
	var tone, asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Tell where sound can go, and why it goes where it does",
		Long: `Try every output that this build has, and tell which ones answer, which one auto
chooses and why, and what in the environment decides about it. --tone plays a tone of one
second, so that an ear can tell the rest.

With --tone the exit status is 1 where nothing could be heard.`,
		Example: "  sndpak doctor\n  sndpak doctor --tone\n  sndpak doctor --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := diagnose(&out)
			var err error
			if tone {
				err = d.play(cmd, &out)
			}
			return errors.Join(d.print(cmd.OutOrStdout(), asJSON), err)
		},
	}
	out.add(cmd.Flags())
	cmd.Flags().BoolVar(&tone, "tone", false, "play a tone of 440 Hz for one second")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// diagnosis is what doctor finds.
type diagnosis struct {
	Version     string            `json:"version"`
	System      string            `json:"system"`
	Cores       int               `json:"cores"`
	Outputs     []foundOutput     `json:"outputs"`
	Auto        string            `json:"auto"` // what it chooses
	Why         string            `json:"why"`
	Environment map[string]string `json:"environment"` // of what decides about outputs and the screen, what is set
	LateMS      float64           `json:"late_ms"`     // how late a sleep of 5 ms ended, at the worst of some
	Tone        string            `json:"tone,omitempty"`
}

type foundOutput struct {
	Name  string `json:"name"`
	Works bool   `json:"works"`
	Rate  int    `json:"rate,omitempty"` // frames a second
	Error string `json:"error,omitempty"`
}

// deciding are the variables that decide where sound goes and how the screen looks.
var deciding = []string{
	"PULSE_SERVER", "PULSE_RUNTIME_PATH", "PULSE_COOKIE", "PULSE_SINK", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
	"TERM", "COLORTERM", "NO_COLOR",
}

func diagnose(out *outputFlags) *diagnosis {
	d := &diagnosis{
		Version: programVersion(), System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(),
		Environment: map[string]string{}, LateMS: lateness(20),
	}
	for _, name := range deciding {
		if v, ok := os.LookupEnv(name); ok {
			d.Environment[name] = v
		}
	}
	for _, name := range []string{"pulse", "speaker", "null"} {
		d.Outputs = append(d.Outputs, try(name, out))
	}
	for _, o := range d.Outputs {
		if o.Works {
			d.Auto = o.Name
			break
		}
	}
	switch d.Auto {
	case "null":
		d.Why = "no device answers, so it keeps time in silence"
	default:
		d.Why = "the first that answers"
	}
	return d
}

// try opens an output and closes it again, without a sound.
func try(name string, out *outputFlags) foundOutput {
	dev, err := output.Open(name, output.Config{Rate: 48000, Buffer: out.buffer})
	if err != nil {
		return foundOutput{Name: name, Error: oneLine(err.Error())}
	}
	f := foundOutput{Name: name, Works: true, Rate: dev.Rate()}
	if err := dev.Close(); err != nil {
		f.Works, f.Error = false, oneLine(err.Error())
	}
	return f
}

// lateness is how late a sleep of 5 ms ended at the worst, in ms: this is what the buffer must outlast.
func lateness(times int) float64 {
	worst := time.Duration(0)
	for range times {
		begun := time.Now()
		time.Sleep(5 * time.Millisecond)
		worst = max(worst, time.Since(begun)-5*time.Millisecond)
	}
	return math.Round(float64(worst)/float64(time.Millisecond)*10) / 10
}

// play plays the tone.
func (d *diagnosis) play(cmd *cobra.Command, out *outputFlags) error {
	dev, err := output.Open(out.output, output.Config{Rate: 48000, Buffer: out.buffer})
	if err != nil {
		d.Tone = oneLine(err.Error())
		return err
	}
	name := dev.Name()
	if err = dev.Start(sine(dev.Rate(), 440)); err == nil {
		select {
		case <-dev.Done():
			err = dev.Err()
		case <-cmd.Context().Done():
			err = cmd.Context().Err()
		}
	}
	err = errors.Join(err, dev.Close())
	switch {
	case err != nil:
		d.Tone = oneLine(err.Error())
	case name == "null":
		d.Tone = "played into nothing"
		err = errors.New("no device: nothing can be heard")
	default:
		d.Tone = "1 s of 440 Hz went to " + name
	}
	return err
}

// sine is a tone of one second at a quarter of full scale, that fades in and out over 10 ms.
func sine(rate int, hz float64) output.Fill {
	at := 0
	return func(buf []float32) int {
		n := min(len(buf)/2, rate-at)
		for i := range n {
			t := float64(at + i)
			edge := min(t, float64(rate)-t) / (0.01 * float64(rate))
			v := float32(0.25 * min(edge, 1) * math.Sin(2*math.Pi*hz*t/float64(rate)))
			buf[2*i], buf[2*i+1] = v, v
		}
		at += n
		return n
	}
}

func (d *diagnosis) print(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		return enc.Encode(d)
	}
	var b strings.Builder
	row := func(key, format string, a ...any) {
		fmt.Fprintf(&b, "%-11s %s\n", key, oneLine(fmt.Sprintf(format, a...)))
	}
	row("sndpak", "%s, %s, %d cores", d.Version, d.System, d.Cores)
	for _, o := range d.Outputs {
		if o.Works {
			row(o.Name, "works, %g kHz", float64(o.Rate)/1000)
		} else {
			row(o.Name, "no: %s", strings.TrimPrefix(o.Error, "output: "+o.Name+": "))
		}
	}
	row("auto", "%s: %s", d.Auto, d.Why)
	row("wake-ups", "up to %.1f ms late; the device must hold more than that (--buffer, 100 ms unless told otherwise)", d.LateMS)
	for _, name := range deciding {
		if v, ok := d.Environment[name]; ok {
			row(name, "%s", v)
		}
	}
	if d.Tone != "" {
		row("tone", "%s", d.Tone)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
