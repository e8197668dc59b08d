package decode

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// tag is one "key=value" of a file's metadata: a Vorbis comment, of FLAC too, or a TXXX frame of ID3.
type tag struct{ key, value string }

// loopNames are the keys that loop points go by, in capitals and without separators. RPG Maker
// writes LOOPSTART with LOOPLENGTH, others LOOPSTART with LOOPEND; LOOP_BEGIN, LOOPPOINT and
// the longer ones come from other engines.
var loopNames = map[string]string{
	"LOOPSTART": "start", "LOOPBEGIN": "start", "LOOPPOINT": "start", "LOOPFROM": "start", "LOOPPOINTSTART": "start",
	"LOOPLENGTH": "length", "LOOPLEN": "length",
	"LOOPEND": "end", "LOOPSTOP": "end", "LOOPTO": "end", "LOOPPOINTEND": "end",
}

// loopPrefixes stand in front of the name in the tags of some tools.
var loopPrefixes = []string{"XIPHCUE", "UM3STREAM"}

// loopsFromTags finds the loop that tags tell for a sound of frames frames (-1 = not known) at rate,
// and what is wrong with it. A position is a whole number of frames, a number of seconds with a
// decimal point, or a time such as 1:02.5 or 00:01:02.500. Without a start a loop begins at 0,
// without an end and a length it goes on to the end of the sound. The end is exclusive. Of a key
// that comes twice the first counts.
func loopsFromTags(tags []tag, rate int, frames int64) (loops []Loop, warnings []string) {
	at := map[string]int64{}
	for _, t := range tags {
		what, value := loopKey(t)
		if what == "" {
			continue
		}
		pos, err := loopPosition(value, rate)
		if err != nil && len(warnings) < len(loopNames) {
			warnings = append(warnings, fmt.Sprintf("loop tag %s=%q: %v", clipText(t.key), clipText(t.value), err))
		}
		if _, twice := at[what]; err == nil && !twice {
			at[what] = pos
		}
	}
	if len(at) == 0 {
		return nil, warnings
	}
	loop, warning := loopOf(at, frames)
	if warning != "" {
		warnings = append(warnings, warning)
	}
	if loop.End > loop.Start {
		loops = []Loop{loop}
	}
	return loops, warnings
}

// loopKey tells which loop point a tag is for, "" for none, and its value. A tool that knows no
// other tag writes COMMENT=LOOPSTART=123.
func loopKey(t tag) (what, value string) {
	key, value := t.key, t.value
	if strings.EqualFold(key, "COMMENT") {
		key, value, _ = strings.Cut(value, "=")
	}
	if len(key) > 40 {
		return "", ""
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("_- .:", r):
			return -1
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		}
		return r
	}, key)
	for _, p := range loopPrefixes {
		name = strings.TrimPrefix(name, p)
	}
	return loopNames[name], value
}

// loopPosition reads a position in frames.
func loopPosition(s string, rate int) (int64, error) {
	s = strings.TrimSpace(s)
	if !strings.ContainsAny(s, ":.") {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return 0, errors.New("not a position")
		}
		return n, nil
	}
	parts := strings.Split(s, ":")
	if len(parts) > 3 {
		return 0, errors.New("not a time")
	}
	seconds := 0.0
	for i, p := range parts {
		v, err := strconv.ParseFloat(p, 64)
		whole := i < len(parts)-1
		if err != nil || !(v >= 0 && v <= 1e9) || strings.ContainsAny(p, "+xXeEpP_") || whole && v != math.Trunc(v) {
			return 0, errors.New("not a time")
		}
		seconds = seconds*60 + v
	}
	return int64(math.Round(seconds * float64(rate))), nil
}

// loopOf puts the points together. The loop is empty where they make no sense, and the warning
// tells why.
func loopOf(at map[string]int64, frames int64) (Loop, string) {
	start, warning := at["start"], ""
	end, ended := at["end"]
	if length, ok := at["length"]; ok {
		if length > math.MaxInt64-start {
			length = math.MaxInt64 - start
		}
		if ended && end != start+length {
			warning = fmt.Sprintf("loop: the tags give an end at %d and at %d, the length counts", end, start+length)
		}
		end, ended = start+length, true
	}
	switch {
	case !ended && frames < 0:
		return Loop{}, "loop without an end in a sound of unknown length"
	case !ended:
		end = frames
	case frames >= 0 && end > frames:
		warning = fmt.Sprintf("loop to frame %d of %d, cut at the end", end, frames)
		end = frames
	}
	if start >= end {
		return Loop{}, fmt.Sprintf("loop from frame %d to %d left out", start, end)
	}
	return Loop{Start: start, End: end}, warning
}

// clipText shortens text of a file for a message.
func clipText(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
