package soundpack

// The manifest: what an index has no room for, kept as the body of one more ordinary entry, .sndpak,
// the last of the index. It is JSON in UTF-8:
//
//	{"sndpak":1,"check":"5d2ac9f1","entries":[
//	{"entry":"battle_th~k3x9.wav","back":48598,"size":4454,"name":"music/battle theme.wav","crc32c":"0b1f9a77"},
//	{"entry":"theme.ogg","back":44144,"size":44144,"crc32c":"…","format":"vorbis","frames":441000,"rate":44100,"channels":2}
//	]}
//
//	sndpak    version of this form; the body begins with these bytes, so that layouts whose
//	          entries have no names know it by them
//	check     CRC-32C of every byte behind this value's closing quote, 8 hex digits; a program
//	          that edits the manifest and does not renew it drops it
//	entry     the record's name as it is shown (see names.go), an alias where name stands too
//	back      where the body begins, in bytes counted back from the first byte of the manifest: so
//	          bodies and manifest can be moved together, which is how packs are compacted
//	size      of the body in bytes
//	name      the full name, folders parted by slashes, where the layout cannot hold it
//	crc32c    CRC-32C (Castagnoli, RFC 3720) of the body, 8 hex digits
//	sha256    SHA-256 (FIPS 180-4) of the body, 64 hex digits
//	format … gain, seek     the Facts; seek is base64
//	json      "table" where the body is a JSON table that is read as what it was made of (see tables.go)
//	plain     the length of that in bytes
//
// Members that are not known are kept when the manifest is written anew. The index is what counts: a
// line whose size or place is not the record's tells of other bytes, so another program has changed
// the pack; its name is still used, since that goes with the alias, and nothing else. A record without
// a line works in full.

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	manifestName    = ".sndpak"
	maxManifest     = 4 * maxIndex // bytes
	manifestVersion = 1
	manifestStart   = `{"sndpak":`
	manifestHead    = `{"sndpak":1,"check":"`
	maxPath         = 1024 // bytes of a full name
	maxDepth        = 32   // elements of a full name
	maxElement      = 255  // bytes of an element: what file systems can hold
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Facts are what is known of a sound without decoding it. Zero values mean that it is not known.
type Facts struct {
	Format   string   // "wav", "vorbis", "mp3", "flac"
	Encoding string   // for people: "16-bit PCM"
	Frames   int64    // length in frames, delay and padding not counted
	Rate     int      // frames a second
	Channels int      //
	Loop     [2]int64 // first frame of the loop, and the one behind its last
	Delay    int      // frames that the encoder put in front
	Padding  int      // frames that it put behind
	Gain     float64  // dB that the sound asks for
	Seek     []byte   // a decoder's own table for seeking
}

func (f *Facts) known() bool { return f.Format != "" }

// A note is what a manifest tells of one entry, beside where it lies.
type note struct {
	name   string // full name; "" where the record's says all
	crc    uint32
	hasCRC bool
	sha256 string // the 32 bytes; "" if not known
	facts  Facts
	table  int64    // the length of the JSON that a JSON table stands for; 0: it is none
	extra  []member // what is not understood, to be kept
}

// parseNote reads a line of a manifest.
func parseNote(text string) (n note) {
	table := false
	for key, val := range members(text) {
		if key == "json" && val == `"table"` {
			table = true
		} else if !n.take(key, val) {
			n.extra = append(n.extra, member{key, val})
		}
	}
	if !table {
		n.table = 0
	}
	return n
}

// take reads one member and tells whether it was understood.
func (n *note) take(key, val string) (ok bool) {
	f := &n.facts
	switch key {
	case "entry", "back", "size":
		return true // dealt with by the manifest
	case "name":
		n.name, ok = unquote(val)
	case "crc32c":
		if b := unhexString(val, 4); b != "" {
			n.crc, n.hasCRC = uint32(b[0])<<24|uint32(b[1])<<16|uint32(b[2])<<8|uint32(b[3]), true
		}
		return n.hasCRC
	case "sha256":
		n.sha256 = unhexString(val, 32)
		return n.sha256 != ""
	case "format":
		f.Format, ok = unquote(val)
	case "encoding":
		f.Encoding, ok = unquote(val)
	case "frames":
		return number(val, &f.Frames)
	case "rate":
		return number(val, &f.Rate)
	case "channels":
		return number(val, &f.Channels)
	case "delay":
		return number(val, &f.Delay)
	case "padding":
		return number(val, &f.Padding)
	case "plain":
		return number(val, &n.table)
	case "loop":
		return loop(val, &f.Loop)
	case "gain":
		g, err := strconv.ParseFloat(val, 64)
		if err != nil || math.IsInf(g, 0) {
			return false
		}
		f.Gain, ok = g, true
	case "seek":
		s, _ := unquote(val)
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil || len(b) == 0 {
			return false
		}
		f.Seek, ok = b, true
	}
	return ok
}

// unhexString is the n bytes that a JSON string of hex digits stands for, "" if it does not.
func unhexString(val string, n int) string {
	s, _ := unquote(val)
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != n {
		return ""
	}
	return string(b)
}

// number reads a count that is not negative.
func number[T int | int64](val string, to *T) bool {
	n, err := strconv.ParseInt(val, 10, 64)
	if err != nil || n < 0 || int64(T(n)) != n {
		return false
	}
	*to = T(n)
	return true
}

func loop(val string, to *[2]int64) bool {
	var at [2]int64
	i := 0
	for v := range elements(val) {
		if i == 2 || !number(v, &at[i]) {
			return false
		}
		i++
	}
	if i != 2 || at[0] >= at[1] {
		return false
	}
	*to = at
	return true
}

// changed drops what was told of bytes that the entry no longer has. The full name and what is not
// understood stay: that may be what a person wrote.
func (n *note) changed() {
	var kept []member
	for _, m := range n.extra {
		if !noteKey(m.key) {
			kept = append(kept, m)
		}
	}
	*n = note{name: n.name, extra: kept}
}

// noteKey tells whether a member has a meaning in this version.
func noteKey(key string) bool {
	switch key {
	case "name", "crc32c", "sha256", "format", "encoding", "frames", "rate", "channels", "delay", "padding", "loop", "gain", "seek", "json", "plain":
		return true
	}
	return false
}

// append writes the line of a record in a manifest at off.
func (n *note) append(b []byte, r record, off int64) []byte {
	b = append(b, `{"entry":`...)
	b = quote(b, show(r.raw))
	b = fmt.Appendf(b, `,"back":%d,"size":%d`, off-r.off, r.size)
	b = appendText(b, "name", n.name)
	if n.hasCRC {
		b = fmt.Appendf(b, `,"crc32c":"%08x"`, n.crc)
	}
	b = appendText(b, "sha256", hex.EncodeToString([]byte(n.sha256)))
	b = n.facts.append(b)
	if n.table > 0 {
		b = fmt.Appendf(b, `,"json":"table","plain":%d`, n.table)
	}
	for _, m := range n.extra {
		b = m.append(b)
	}
	return append(b, '}')
}

func (f *Facts) append(b []byte) []byte {
	b = appendText(b, "format", f.Format)
	b = appendText(b, "encoding", f.Encoding)
	b = appendCount(b, "frames", f.Frames)
	b = appendCount(b, "rate", int64(f.Rate))
	b = appendCount(b, "channels", int64(f.Channels))
	if 0 <= f.Loop[0] && f.Loop[0] < f.Loop[1] {
		b = fmt.Appendf(b, `,"loop":[%d,%d]`, f.Loop[0], f.Loop[1])
	}
	b = appendCount(b, "delay", int64(f.Delay))
	b = appendCount(b, "padding", int64(f.Padding))
	if f.Gain != 0 && !math.IsInf(f.Gain, 0) && !math.IsNaN(f.Gain) {
		b = append(b, `,"gain":`...)
		b = strconv.AppendFloat(b, f.Gain, 'g', -1, 64)
	}
	return appendText(b, "seek", base64.StdEncoding.EncodeToString(f.Seek))
}

func appendText(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, key...)
	return quote(append(b, '"', ':'), s)
}

func appendCount(b []byte, key string, n int64) []byte {
	if n <= 0 {
		return b
	}
	return fmt.Appendf(b, `,"%s":%d`, key, n)
}

// encodeManifest is the manifest at off of the records, with a note for each. What it tells beside
// the entries is extra.
func encodeManifest(off int64, recs []record, notes []note, extra []member) []byte {
	b := make([]byte, 0, 64+128*len(recs))
	b = append(b, manifestHead+`00000000","entries":[`...)
	for i, r := range recs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '\n')
		b = notes[i].append(b, r, off)
	}
	b = append(b, "\n]"...)
	for _, m := range extra {
		b = m.append(b)
	}
	b = append(b, "}\n"...)
	copy(b[len(manifestHead):], fmt.Sprintf("%08x", manifestSum(b)))
	return b
}

// manifestSum is the checksum of a manifest that begins as ours do.
func manifestSum[T string | []byte](text T) uint32 {
	return crc32.Checksum([]byte(text[len(manifestHead)+9:]), castagnoli)
}

// A manifest is one as it was read, fitted to the index.
type manifest struct {
	layout  layout
	traits  traits           // of the layout
	lines   []line           // of each entry
	names   map[string]int32 // ordinals by full name, folded as the layout compares names
	folders bool             // whether a full name has a slash
	extra   []member
	err     error      // why it cannot be used at all
	faults  []problem  // what is wrong with it as a whole
	unfit   few        // entries whose bytes are others than it tells of
	refused few        // entries whose full name cannot be used
	why     []nameNote // of the refused, by ordinal
	absent  int        // lines without an entry
	unknown int        // entries without a line
}

// A line is what a manifest tells of an entry, left as text until it is asked for.
type line struct {
	name  string // the full name, if it can be used
	shown string // and as it is shown
	text  string // "" where there is no line
	n     int    // its place among the lines
	fits  bool   // it tells of the very bytes that the record names
}

type nameNote struct {
	entry int32
	text  string
}

// A few counts entries and names the first of them.
type few struct {
	n     int
	names []string
}

func (t *few) add(name string) {
	if t.n++; t.n <= 3 {
		t.names = append(t.names, strconv.Quote(name))
	}
}

func (t *few) String() string {
	s := strings.Join(t.names, ", ")
	if t.n > len(t.names) {
		s += ", …"
	}
	if t.n == 1 {
		return "entry " + s
	}
	return fmt.Sprintf("%d entries (%s)", t.n, s)
}

// parseManifest reads a manifest that lies at off and fits it to the index, whose layout tells which
// records may stand for longer names. It never fails in silence: what is wrong is in the result.
func parseManifest(text string, off int64, x index, l layout) *manifest {
	m := &manifest{layout: l, traits: l.traits()}
	switch {
	case !valid(text):
		m.err = fmt.Errorf("%w: not JSON", ErrFormat)
		return m
	case !strings.HasPrefix(text, manifestHead):
	case fmt.Sprintf("%08x", manifestSum(text)) != text[len(manifestHead):][:8]:
		m.fault(slog.LevelError, "%v: damaged, or edited by a program that did not renew its check", ErrChecksum)
	}
	m.lines = make([]line, x.len())
	checked := false
	m.names = map[string]int32{}
	for key, val := range members(text) {
		switch key {
		case "sndpak":
			if val != strconv.Itoa(manifestVersion) {
				return &manifest{err: fmt.Errorf("version %s of it is not known: %w", cutText(val), errors.ErrUnsupported)}
			}
		case "check":
			checked = true
			if !strings.HasPrefix(text, manifestHead) {
				m.fault(slog.LevelError, "edited by a program that did not renew its check")
			}
		case "entries":
			n := 0
			for obj := range elements(val) {
				m.fit(n, obj, off, x)
				n++
			}
		default:
			m.extra = append(m.extra, member{key, val})
		}
	}
	if !checked {
		m.fault(slog.LevelInfo, "it has no check of its own")
	}
	for i := range m.lines {
		if m.lines[i].text == "" {
			m.unknown++
		}
	}
	slices.SortStableFunc(m.why, func(a, b nameNote) int { return cmp.Compare(a.entry, b.entry) })
	return m
}

func (m *manifest) fault(level slog.Level, format string, args ...any) {
	m.faults = append(m.faults, problem{level, "manifest", fmt.Sprintf(format, args...)})
}

// fit finds the record of the n-th line. Mostly it is the n-th too; a program that does not know the
// manifest may have removed some before it.
func (m *manifest) fit(n int, obj string, off int64, x index) {
	var raw, full string
	var back, size int64 = 0, -1
	for key, val := range members(obj) {
		switch key {
		case "entry":
			raw, _ = unquote(val)
			raw = unshow(raw)
		case "back":
			back, _ = strconv.ParseInt(val, 10, 64)
		case "size":
			number(val, &size)
		case "name":
			full, _ = unquote(val)
		}
	}
	i := n
	if i >= x.len() || x.at(i).raw != raw {
		if i = x.find(raw); i < 0 || i >= x.len() || x.at(i).raw != raw {
			m.absent++
			return
		}
	}
	l := &m.lines[i]
	if l.text != "" {
		m.absent++ // a second line of the entry
		return
	}
	r := x.at(i)
	*l = line{n: n, text: obj, fits: r.size == size && (size == 0 || off-back == r.off)}
	if !l.fits {
		m.unfit.add(show(raw))
	}
	if full != "" {
		if why := m.name(i, full, x, m.layout.aliased(raw)); why != "" {
			m.refused.add(show(raw))
			m.why = append(m.why, nameNote{int32(i), fmt.Sprintf("the full name %q cannot be used: %s", cutText(show(full)), why)})
		}
	}
}

// name takes the full name of an entry, or tells why not.
func (m *manifest) name(i int, full string, x index, aliased bool) string {
	key := m.traits.fold(full)
	other := x.find(full)
	switch {
	case !aliased:
		return "the record's name is no alias"
	case len(full) > maxPath || strings.Count(full, "/") >= maxDepth:
		return "it is too long"
	case !utf8.ValidString(full):
		return "it is not UTF-8"
	case unsafe(full) != "":
		return unsafe(full)
	case m.traits.hashed && other != i:
		return "the record's id is not that of the name"
	case other >= 0 && other != i:
		return "another entry has it"
	case !m.traits.hashed && other == i:
		return "it is the record's own"
	}
	if _, ok := m.names[key]; ok {
		return "another entry has it"
	}
	m.names[key] = int32(i)
	m.lines[i].name, m.lines[i].shown = full, show(full)
	m.folders = m.folders || strings.Contains(full, "/")
	return ""
}

// find is the ordinal of the entry of a full name, or -1. It does not allocate for names of up to 128
// bytes.
func (m *manifest) find(full string) int {
	if len(m.names) == 0 || len(full) > maxPath {
		return -1
	}
	if m.traits.exact {
		if i, ok := m.names[full]; ok {
			return int(i)
		}
		return -1
	}
	var short [128]byte
	key := append(short[:0], full...)
	for i, c := range key {
		if 'A' <= c && c <= 'Z' {
			key[i] = c | 0x20
		}
	}
	if i, ok := m.names[string(key)]; ok {
		return int(i)
	}
	return -1
}

// place is that of an entry's line; those without one come last.
func (m *manifest) place(i int) int {
	if i >= len(m.lines) || m.lines[i].text == "" {
		return math.MaxInt
	}
	return m.lines[i].n
}

// note is what is known of an entry's bytes; nothing where the line does not fit.
func (m *manifest) note(i int) note {
	if i < 0 || i >= len(m.lines) || m.lines[i].text == "" {
		return note{}
	}
	n := parseNote(m.lines[i].text)
	n.name = m.lines[i].name
	if !m.lines[i].fits {
		n.changed()
	}
	return n
}

// problems tells what is wrong, in few lines; those of single entries only if they are asked for.
func (m *manifest) problems(entries bool) []problem {
	if m.err != nil {
		level := slog.LevelError
		if errors.Is(m.err, errors.ErrUnsupported) {
			level = slog.LevelWarn
		}
		return []problem{{level, "manifest", fmt.Sprintf("it is left aside, and full names and checksums with it: %v", m.err)}}
	}
	all := m.faults
	tell := func(level slog.Level, n int, format string, args ...any) {
		if n > 0 {
			all = append(all[:len(all):len(all)], problem{level, "manifest", fmt.Sprintf(format, args...)})
		}
	}
	if entries {
		tell(slog.LevelWarn, m.unfit.n, "%s: other bytes than it tells of: another program has changed the pack", &m.unfit)
		tell(slog.LevelWarn, m.refused.n, "%s: a full name that cannot be used", &m.refused)
	}
	tell(slog.LevelWarn, m.absent, "it tells of %s that %s not there: another program has changed the pack", counted(m.absent), isOrAre(m.absent))
	tell(slog.LevelInfo, m.unknown, "%s that it does not tell of", counted(m.unknown))
	return all
}

// counted is so many entries in words.
func counted(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func cutText(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}
