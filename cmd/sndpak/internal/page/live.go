package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/sndpak/sndpak/player"
	"github.com/sndpak/sndpak/soundpack"
)

// desk numbers the voices of the player.
type desk struct {
	mu     sync.Mutex // guards the rest
	voices map[*player.Voice]int
	last   int
}

// numbers gives each voice a number that it keeps, and forgets those that have ended.
func (d *desk) numbers(now []*player.Voice) map[*player.Voice]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := map[*player.Voice]int{}
	for _, v := range now {
		n, ok := d.voices[v]
		if !ok {
			d.last++
			n = d.last
		}
		next[v] = n
	}
	d.voices = next
	return next
}

// news are what plays on this machine, as it goes on: server-sent events, one at a time.
type news struct {
	Generation int     `json:"generation"`
	Voices     []voice `json:"voices"`
	Meter      *meter  `json:"meter,omitempty"`
}

type voice struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Position int64  `json:"position"` // frames
	Frames   int64  `json:"frames"`
	Rate     int    `json:"rate"`
	Paused   bool   `json:"paused"`
}

// meter is in dB and LUFS; null is silence.
type meter struct {
	Peak      [2]*float64 `json:"peak"`
	RMS       [2]*float64 `json:"rms"`
	Momentary *float64    `json:"momentary"`
	ShortTerm *float64    `json:"shortTerm"`
}

func (s *Server) state() news {
	n := news{Generation: s.pack.Load().generation, Voices: []voice{}}
	if s.Player == nil {
		return n
	}
	now := s.Player.Voices()
	numbers := s.desk.numbers(now)
	for _, v := range now {
		sound := v.Sound()
		n.Voices = append(n.Voices, voice{numbers[v], sound.Name(), v.Position(), sound.Frames(), sound.Info().Rate, v.Paused()})
	}
	m := s.Player.Master().Meter()
	n.Meter = &meter{Momentary: finite(m.Momentary), ShortTerm: finite(m.ShortTerm)}
	for side := range m.Peak {
		n.Meter.Peak[side], n.Meter.RMS[side] = finite(20*math.Log10(m.Peak[side])), finite(20*math.Log10(m.RMS[side]))
	}
	return n
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	v = math.Round(v*10) / 10
	return &v
}

// How often news are told, and how long none may go by without a sign of life.
const (
	newsEvery = 100 * time.Millisecond
	heartbeat = 15 * time.Second
)

// news tells what changes until the client goes.
func (s *Server) news(w http.ResponseWriter, r *http.Request) error {
	select {
	case s.live <- struct{}{}:
		defer func() { <-s.live }()
	default:
		return statusError{http.StatusServiceUnavailable, errors.New("too many pages are open")}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	tick := time.NewTicker(newsEvery)
	defer tick.Stop()
	last, told := "", time.Now()
	for {
		data, err := json.Marshal(s.state())
		if err != nil {
			return err
		}
		line := ""
		if string(data) != last {
			line = fmt.Sprintf("data: %s\n\n", data)
		} else if time.Since(told) > heartbeat {
			line = ": \n\n"
		}
		if line != "" {
			last, told = string(data), time.Now()
			out.SetWriteDeadline(told.Add(5 * time.Second))
			if _, err := w.Write([]byte(line)); err != nil || out.Flush() != nil {
				return nil // it went
			}
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return nil
		}
	}
}

// play starts an entry on this machine.
func (s *Server) play(w http.ResponseWriter, r *http.Request, p *shelf, e soundpack.Entry) error {
	var body struct {
		Loop bool `json:"loop"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	if first, ok := p.Lookup(e.Name); !ok || first.Index != e.Index {
		return statusError{http.StatusConflict, errors.New("another entry has its name")}
	}
	sound, err := s.Player.Load(e.Name, player.Auto)
	if err != nil {
		return statusError{http.StatusUnprocessableEntity, err}
	}
	defer sound.Unload()
	o := player.Params{}
	if body.Loop {
		o.Loop = sound.Loop()
		if l := look(p, e).Loop; l != nil {
			o.Loop = &player.Loop{Start: l[0], End: l[1]}
		}
	}
	if _, err := sound.Play(o); err != nil {
		return statusError{http.StatusServiceUnavailable, err}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// stop ends one voice, or all of them.
func (s *Server) stop(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		ID int `json:"id"` // 0 = all
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	for v, n := range s.desk.numbers(s.Player.Voices()) {
		if body.ID == 0 || body.ID == n {
			if err := v.Stop(50 * time.Millisecond); err != nil {
				return err
			}
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
